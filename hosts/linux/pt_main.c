// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * hwt_pt.ko: the PT backend on silicon.
 *
 * perf's intel_pt driver programs the same MSRs.  Its PMU is exclusive: an event
 * on a CPU refuses every other that could run there.  So a kernel counter that is
 * never enabled holds each CPU's unit for us, and perf's interrupt handler goes
 * on acknowledging the unit's PMI (IA32_PERF_GLOBAL_STATUS bit 55, SDM 33.2.7.2)
 * and does nothing else about it.  Where perf has no such PMU it found the unit
 * unusable, and so do we.
 *
 * The PMI is an NMI: it may come in the middle of anything, also of a driver's
 * sequence under a lock.  It only queues work for this CPU; what to do is then
 * decided by OUTPUT_MASK_PTRS.
 */
#include <linux/cpu.h>
#include <linux/cpuhotplug.h>
#include <linux/fs.h>
#include <linux/irq_work.h>
#include <linux/kstrtox.h>
#include <linux/module.h>
#include <linux/percpu.h>
#include <linux/perf_event.h>
#include <asm/cpu_device_id.h>
#include <asm/cpufeature.h>
#include <asm/msr.h>
#include <asm/nmi.h>
#include <asm/processor.h>
#include <asm/tsc.h>

#include "../../backends/pt/pt_backend.h"
#include "hwt_module.h"

#undef pr_fmt
#define pr_fmt(fmt) "hwt_pt: " fmt

#define CPUID_PT	0x14
#define CPUID_TSC	0x15
#define PMU_TYPE	"/sys/bus/event_source/devices/intel_pt/type"

struct cpu_unit {
	struct perf_event	*hold;	/* perf's counter that keeps others away */
	struct irq_work		look;
	bool			on;	/* TraceEn is set, by us */
	/* As last read or written on that CPU: what others can know of it. */
	uint64_t		seen[MSR_RTIT_LAST - MSR_RTIT_FIRST + 1];
};

static DEFINE_PER_CPU(struct cpu_unit, cpu_units);
static struct hwt_backend backend;
static int pmu_type;
static int cpuhp;

/* ---- the bus ---- */

/*
 * core may ask from any CPU where a unit is, with interrupts off: no time for a
 * call across.  The answer is as of that CPU's last look, which each PMI is.
 */
static uint64_t bus_read(struct hwt_bus *bus, int unit, uint32_t reg)
{
	uint64_t *seen = &per_cpu_ptr(&cpu_units, unit)->seen[reg - MSR_RTIT_FIRST];
	unsigned long flags;
	u64 value;

	local_irq_save(flags);
	if (unit == smp_processor_id()) {
		if (!rdmsrl_safe(reg, &value))
			WRITE_ONCE(*seen, value);
		else
			pr_warn_ratelimited("CPU %d: cannot read MSR %#x\n", unit, reg);
	}
	local_irq_restore(flags);
	return READ_ONCE(*seen);
}

/* core calls it with interrupts off, on the unit's CPU. */
static void bus_write(struct hwt_bus *bus, int unit, uint32_t reg, uint64_t value)
{
	struct cpu_unit *u = this_cpu_ptr(&cpu_units);

	if (WARN_ON_ONCE(unit != smp_processor_id()))
		return;
	if (reg == MSR_RTIT_CTL)
		WRITE_ONCE(u->on, value & RTIT_CTL_TRACEEN);
	if (wrmsrl_safe(reg, value))
		pr_warn_ratelimited("CPU %d: MSR %#x does not take %#llx\n", unit, reg,
				    value);
	else
		WRITE_ONCE(u->seen[reg - MSR_RTIT_FIRST], value);
}

/* WRMSR to these MSRs serializes; the trace is globally visible after a fence. */
static void bus_barrier(struct hwt_bus *bus, int unit, enum hwt_barrier kind)
{
	if (kind == HWT_BARRIER_DATA)
		mb();
}

static int bus_poll(struct hwt_bus *bus, int unit, uint32_t reg, uint64_t mask,
		    uint64_t value)
{
	int i;

	for (i = 0; i < 1000; i++) {
		if ((bus_read(bus, unit, reg) & mask) == value)
			return 0;
		cpu_relax();
	}
	return -ETIMEDOUT;
}

static uint64_t bus_now(struct hwt_bus *bus, int unit)
{
	return rdtsc_ordered();
}

/* A leaf beyond the maximum answers with the last one's values: no such leaf. */
static uint32_t cpuid_word(unsigned int leaf, unsigned int subleaf, unsigned int reg)
{
	uint32_t r[4] = {0};

	if (boot_cpu_data.cpuid_level >= (int)leaf)
		cpuid_count(leaf, subleaf, &r[0], &r[1], &r[2], &r[3]);
	return r[reg];
}

static uint32_t bus_cap(struct hwt_bus *bus, uint32_t index)
{
	uint32_t subleaf = index / 4, last = cpuid_word(CPUID_PT, 0, 0);

	if (index >= PT_CAP_15_EAX)
		return index < PT_CAP_COUNT ?
			       cpuid_word(CPUID_TSC, 0, index - PT_CAP_15_EAX) : 0;
	return subleaf <= last ? cpuid_word(CPUID_PT, subleaf, index % 4) : 0;
}

static uint64_t bus_buf_addr(struct hwt_bus *bus, uint64_t addr)
{
	return addr;	/* the unit uses physical addresses */
}

static const struct hwt_bus_ops bus_ops = {
	.write = bus_write,
	.read = bus_read,
	.barrier = bus_barrier,
	.poll = bus_poll,
	.now = bus_now,
	.cap = bus_cap,
	.buf_addr = bus_buf_addr,
	.this_cpu = hwt_module_this_cpu,
};

static struct hwt_bus silicon = {.ops = &bus_ops, .name = "Intel Processor Trace"};

/* ---- the interrupt ---- */

static void look(struct irq_work *work)
{
	hwt_module_irq();
}

/* perf's handler claims and acknowledges the PMI; others' NMIs come here too. */
static int pmi(unsigned int type, struct pt_regs *regs)
{
	struct cpu_unit *u = this_cpu_ptr(&cpu_units);

	if (READ_ONCE(u->on))
		irq_work_queue(&u->look);
	return NMI_DONE;
}

/* ---- holding the units ---- */

static int find_pmu(void)
{
	struct file *file = filp_open(PMU_TYPE, O_RDONLY, 0);
	char text[16] = "";
	loff_t at = 0;
	ssize_t n;

	if (IS_ERR(file))
		return PTR_ERR(file);
	n = kernel_read(file, text, sizeof(text) - 1, &at);
	filp_close(file, NULL);
	return n < 0 ? n : kstrtoint(text, 10, &pmu_type);
}

/* CPUID may claim a unit that a hypervisor does not let us reach. */
static int check_unit(unsigned int cpu)
{
	u64 ctl;

	if (rdmsrl_safe_on_cpu(cpu, MSR_RTIT_CTL, &ctl))
		return -ENODEV;
	if (ctl & RTIT_CTL_TRACEEN) {
		pr_err("CPU %u is being traced by somebody else\n", cpu);
		return -EBUSY;
	}
	return 0;
}

static int cpu_up(unsigned int cpu)
{
	struct perf_event_attr attr = {
		.type = pmu_type, .size = sizeof(attr), .disabled = 1,
	};
	struct cpu_unit *u = per_cpu_ptr(&cpu_units, cpu);
	struct perf_event *hold;
	unsigned long flags;
	int rc = check_unit(cpu);

	if (rc)
		return rc;
	init_irq_work(&u->look, look);
	hold = perf_event_create_kernel_counter(&attr, cpu, NULL, NULL, NULL);
	if (IS_ERR(hold)) {
		if (PTR_ERR(hold) == -EBUSY)
			pr_err("CPU %u: perf uses intel_pt\n", cpu);
		return PTR_ERR(hold);
	}
	u->hold = hold;
	local_irq_save(flags);
	hwt_module_cpu_online(cpu);
	local_irq_restore(flags);
	return 0;
}

static int cpu_down(unsigned int cpu)
{
	struct cpu_unit *u = per_cpu_ptr(&cpu_units, cpu);
	unsigned long flags;

	local_irq_save(flags);
	hwt_module_cpu_offline(cpu);
	local_irq_restore(flags);
	irq_work_sync(&u->look);
	if (u->hold)
		perf_event_release_kernel(u->hold);
	u->hold = NULL;
	return 0;
}

static bool usable(void)
{
	return boot_cpu_data.x86_vendor == X86_VENDOR_INTEL &&
	       boot_cpu_has(X86_FEATURE_INTEL_PT) &&
	       boot_cpu_data.cpuid_level >= CPUID_PT &&
	       (bus_cap(&silicon, PT_CAP_0_ECX) & PT_CAP0C_TOPA);
}

static int __init pt_init(void)
{
	int rc;

	if (!usable()) {
		pr_info("this CPU has no Processor Trace with ToPA output\n");
		return -ENODEV;
	}
	if (find_pmu()) {
		pr_info("perf found no usable intel_pt unit, so there is none\n");
		return -ENODEV;
	}
	silicon.time_hz = (uint64_t)tsc_khz * 1000;
	rc = register_nmi_handler(NMI_LOCAL, pmi, 0, "hwt_pt");
	if (rc)
		return rc;
	rc = cpuhp_setup_state(CPUHP_AP_ONLINE_DYN, "hwt/pt:online", cpu_up, cpu_down);
	if (rc < 0)
		goto unregister_nmi;
	cpuhp = rc;
	pt_backend_init(&backend, &silicon);
	rc = hwt_module_backend_register(&backend, THIS_MODULE);
	if (rc)
		goto remove_state;
	return 0;

remove_state:
	cpuhp_remove_state(cpuhp);
unregister_nmi:
	unregister_nmi_handler(NMI_LOCAL, "hwt_pt");
	return rc;
}

static void __exit pt_exit(void)
{
	hwt_module_backend_unregister(&backend);
	unregister_nmi_handler(NMI_LOCAL, "hwt_pt");
	cpuhp_remove_state(cpuhp);
}

static const struct x86_cpu_id pt_cpus[] = {
	X86_MATCH_FEATURE(X86_FEATURE_INTEL_PT, NULL),
	{}
};
MODULE_DEVICE_TABLE(x86cpu, pt_cpus);

module_init(pt_init);
module_exit(pt_exit);
MODULE_LICENSE("Dual BSD/GPL");
MODULE_DESCRIPTION("Intel PT backend on the CPU's own trace unit");
