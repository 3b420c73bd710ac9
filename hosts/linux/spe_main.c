// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * hwt_spe.ko: the SPE backend on silicon, arm64 only.
 *
 * Linux's arm_spe_pmu programs the same registers.  Both are drivers of the one
 * device that firmware describes (devicetree, or ACPI's MADT), which belongs to
 * whichever is bound to it.  While that is arm_spe_pmu this module refuses to load;
 * nor is it loaded by itself where there is such a device.
 *
 * The unit writes to virtual addresses of the exception level that owns it, also
 * while user code runs.  With the kernel unmapped there (KPTI) every record would
 * fault, so unless the unit takes physical addresses that is refused, too.
 *
 * PMBIRQ is a PPI, level triggered: it stays raised until PMBSR.S is cleared, which
 * the driver does when it has looked.
 */
#include <linux/cpuhotplug.h>
#include <linux/cpumask.h>
#include <linux/interrupt.h>
#include <linux/irqdesc.h>
#include <linux/module.h>
#include <linux/of.h>
#include <linux/percpu.h>
#include <linux/perf/arm_pmu.h>
#include <linux/platform_device.h>
#include <linux/smp.h>
#include <asm/arch_timer.h>
#include <asm/barrier.h>
#include <asm/cpufeature.h>
#include <asm/mmu.h>
#include <asm/sysreg.h>

#include "../../backends/spe/spe_backend.h"
#include "compat.h"
#include "hwt_module.h"

#undef pr_fmt
#define pr_fmt(fmt) "hwt_spe: " fmt

#define PMSVER_SHIFT	32	/* of ID_AA64DFR0_EL1 (D13.2.59) */

/* An MSR or MRS has its register's encoding in it. */
#define REGISTERS(x)                                                                     \
	x(PMSCR_EL1) x(PMSNEVFR_EL1) x(PMSICR_EL1) x(PMSIRR_EL1) x(PMSFCR_EL1)           \
	x(PMSEVFR_EL1) x(PMSLATFR_EL1) x(PMSIDR_EL1) x(PMBLIMITR_EL1) x(PMBPTR_EL1)      \
	x(PMBSR_EL1) x(PMBIDR_EL1)

struct cpu_unit {
	/* As last read or written on that CPU: what others can know of it. */
	uint64_t	seen[SPE_REG_COUNT];
};

static DEFINE_PER_CPU(struct cpu_unit, cpu_units);
static struct hwt_backend backend;
static struct identity {
	uint64_t	pmsidr, pmbidr;
	uint64_t	events;		/* that it can filter by */
} identity;	/* of all CPUs */
static int irq, cpuhp;
static int probe_result;	/* the device's; nobody else tells of it */

/* ---- the bus ---- */

static uint64_t register_get(uint32_t reg)
{
	switch (reg) {
#define GET(name) case name: return read_sysreg_s(name);
	REGISTERS(GET)
#undef GET
	}
	return 0;
}

static void register_set(uint32_t reg, uint64_t value)
{
	switch (reg) {
#define SET(name) case name: write_sysreg_s(value, name); break;
	REGISTERS(SET)
#undef SET
	}
}

/* core may ask from any CPU where a unit is: as of that CPU's own last look. */
static uint64_t bus_read(struct hwt_bus *bus, int unit, uint32_t reg)
{
	uint64_t *seen = &per_cpu_ptr(&cpu_units, unit)->seen[SPE_REG_INDEX(reg)];
	unsigned long flags;

	local_irq_save(flags);
	if (unit == smp_processor_id())
		WRITE_ONCE(*seen, register_get(reg));
	local_irq_restore(flags);
	return READ_ONCE(*seen);
}

/* core calls it with interrupts off, on the unit's CPU. */
static void bus_write(struct hwt_bus *bus, int unit, uint32_t reg, uint64_t value)
{
	if (WARN_ON_ONCE(unit != smp_processor_id()))
		return;
	register_set(reg, value);
	WRITE_ONCE(this_cpu_ptr(&cpu_units)->seen[SPE_REG_INDEX(reg)], value);
}

/* Records are written out (PSB CSYNC), and then they can be read. */
static void bus_barrier(struct hwt_bus *bus, int unit, enum hwt_barrier kind)
{
	if (kind == HWT_BARRIER_CONTEXT) {
		isb();
		return;
	}
	psb_csync();
	dsb(nsh);
}

static int bus_poll(struct hwt_bus *bus, int unit, uint32_t reg, uint64_t mask,
		    uint64_t value)
{
	return (bus_read(bus, unit, reg) & mask) == value ? 0 : -ETIMEDOUT;
}

/* PMSCR.PCT is 0: packets have the virtual counter. */
static uint64_t bus_now(struct hwt_bus *bus, int unit)
{
	return __arch_counter_get_cntvct();
}

static uint32_t bus_cap(struct hwt_bus *bus, uint32_t index)
{
	const uint64_t id[] = {identity.pmsidr, identity.pmbidr, identity.events};

	return index < SPE_CAP_COUNT ? (uint32_t)(id[index / 2] >> 32 * (index % 2)) : 0;
}

static uint64_t bus_buf_addr(struct hwt_bus *bus, uint64_t addr)
{
	return addr;	/* physical, where the unit takes such */
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

static struct hwt_bus silicon = {.ops = &bus_ops, .name = "Arm SPE"};

/* ---- the interrupt ---- */

/* Nobody's buffer: the unit stays off, and quiet. */
static void quiet(void)
{
	register_set(PMSCR_EL1, 0);
	isb();
	psb_csync();
	dsb(nsh);
	register_set(PMBLIMITR_EL1, 0);
	isb();
	register_set(PMBSR_EL1, 0);
	isb();
}

static irqreturn_t on_irq(int number, void *cpu_unit)
{
	if (!(register_get(PMBSR_EL1) & PMBSR_S))
		return IRQ_NONE;
	hwt_module_irq();
	if (register_get(PMBSR_EL1) & PMBSR_S)
		quiet();
	return IRQ_HANDLED;
}

/* ---- what the CPUs have ---- */

struct look {
	int		cpus, without, barred, different;
	struct identity	id;
};

#ifdef HWT_TEST
/* PMSIDR and PMBIDR of CPU 0, of CPU 1 ..., instead of what the CPUs say. */
static unsigned long long pretended[8];
static int npretended;
module_param_array_named(pretend, pretended, ullong, &npretended, 0400);

static bool pretend(int cpu, struct identity *id)
{
	if (2 * cpu + 1 >= npretended)
		return false;
	id->pmsidr = pretended[2 * cpu];
	id->pmbidr = pretended[2 * cpu + 1];
	return true;
}
#endif

/* Sampling is off: the register may be written. */
static uint64_t filtered_events(void)
{
	uint64_t kept;

	register_set(PMSEVFR_EL1, ~PMSEVFR_RES0);
	isb();
	kept = register_get(PMSEVFR_EL1);
	register_set(PMSEVFR_EL1, 0);
	return kept & ~PMSEVFR_RES0;
}

/* This CPU's; false: it has no SPE. */
static bool identify(struct identity *id)
{
	memset(id, 0, sizeof(*id));
#ifdef HWT_TEST
	if (npretended)
		return pretend(smp_processor_id(), id);
#endif
	if (!(read_sysreg(id_aa64dfr0_el1) >> PMSVER_SHIFT & 0xf))
		return false;
	id->pmsidr = register_get(PMSIDR_EL1);
	id->pmbidr = register_get(PMBIDR_EL1);
	if (id->pmsidr & PMSIDR_FE && !(id->pmbidr & PMBIDR_P))
		id->events = filtered_events();
	return true;
}

/* One CPU after the other. */
static void look_at_cpu(void *arg)
{
	struct look *l = arg;
	struct identity id;

	if (!identify(&id)) {
		l->without++;
		return;
	}
	l->barred += !!(id.pmbidr & PMBIDR_P);
	if (l->cpus && memcmp(&id, &l->id, sizeof(id)))
		l->different++;
	l->id = id;
	l->cpus++;
}

static int check_cpus(void)
{
	struct look l = {0};
	int cpu;

	for_each_online_cpu(cpu)
		smp_call_function_single(cpu, look_at_cpu, &l, 1);
	if (!l.cpus) {
		pr_err("the CPUs have no SPE, whatever firmware says\n");
		return -ENODEV;
	}
	if (l.without || l.different) {
		pr_err("the CPUs differ in SPE: that is not supported\n");
		return -EOPNOTSUPP;
	}
	if (l.barred) {
		pr_err("a hypervisor or firmware keeps SPE for itself\n");
		return -EPERM;
	}
	if (arm64_kernel_unmapped_at_el0() && !(l.id.pmbidr & PMBIDR_ADDRMODE_MASK)) {
		pr_err("the kernel is not mapped while user code runs (KPTI), so SPE cannot write then: boot with kpti=off\n");
		return -EPERM;
	}
	identity = l.id;
	return 0;
}

/* ---- CPUs come and go ---- */

static int cpu_up(unsigned int cpu)
{
	struct look l = {.cpus = 1, .id = identity};
	unsigned long flags;

	/* It was offline when the others were looked at. */
	look_at_cpu(&l);
	if (l.without || l.different || l.barred) {
		pr_err("CPU %u differs from the others in SPE: it stays offline\n", cpu);
		return -EOPNOTSUPP;
	}
	local_irq_save(flags);
	quiet();
	hwt_module_cpu_online(cpu);
	local_irq_restore(flags);
	enable_percpu_irq(irq, IRQ_TYPE_NONE);
	return 0;
}

static int cpu_down(unsigned int cpu)
{
	unsigned long flags;

	disable_percpu_irq(irq);
	local_irq_save(flags);
	hwt_module_cpu_offline(cpu);
	quiet();
	local_irq_restore(flags);
	return 0;
}

/* ---- the device ---- */

static int find_irq(struct platform_device *pdev)
{
	cpumask_t cpus;
	int number = platform_get_irq(pdev, 0);

	if (number < 0)
		return number;
	if (!irq_is_percpu(number) || irq_get_percpu_devid_partition(number, &cpus)) {
		pr_err("interrupt %d is not each CPU's own\n", number);
		return -EINVAL;
	}
	if (!cpumask_subset(cpu_possible_mask, &cpus)) {
		pr_err("firmware gives SPE to some CPUs only: that is not supported\n");
		return -EOPNOTSUPP;
	}
	return number;
}

static int start(void)
{
	int rc = request_percpu_irq(irq, on_irq, "hwt_spe", &cpu_units);

	if (rc)
		return rc;
	rc = cpuhp_setup_state(CPUHP_AP_ONLINE_DYN, "hwt/spe:online", cpu_up, cpu_down);
	if (rc < 0)
		goto free_irq;
	cpuhp = rc;
	silicon.time_hz = arch_timer_get_cntfrq();
	spe_backend_init(&backend, &silicon);
	rc = hwt_module_backend_register(&backend, THIS_MODULE);
	if (!rc)
		return 0;
	cpuhp_remove_state(cpuhp);
free_irq:
	free_percpu_irq(irq, &cpu_units);
	return rc;
}

static int spe_probe(struct platform_device *pdev)
{
	int rc = check_cpus();

	if (!rc) {
		irq = find_irq(pdev);
		rc = irq < 0 ? irq : start();
	}
	probe_result = rc;
	return rc;
}

static hwt_compat_removed spe_remove(struct platform_device *pdev)
{
	hwt_module_backend_unregister(&backend);
	cpuhp_remove_state(cpuhp);
	free_percpu_irq(irq, &cpu_units);
	return HWT_COMPAT_REMOVED;
}

static const struct of_device_id spe_nodes[] = {
	{.compatible = "arm,statistical-profiling-extension-v1"},
	{}
};

static const struct platform_device_id spe_devices[] = {
	{ARMV8_SPE_PDEV_NAME},
	{}
};

static struct platform_driver spe_driver = {
	.id_table = spe_devices,
	.probe = spe_probe,
	.remove = spe_remove,
	.driver = {
		.name = "hwt_spe",
		.of_match_table = spe_nodes,
		.suppress_bind_attrs = true,
		.probe_type = PROBE_FORCE_SYNCHRONOUS,	/* its result is waited for */
	},
};

static int is_spe(struct device *dev, const void *unused)
{
	return of_match_node(spe_nodes, dev->of_node) ||
	       !strcmp(to_platform_device(dev)->name, ARMV8_SPE_PDEV_NAME);
}

static int check_device(void)
{
	struct device *dev = bus_find_device(&platform_bus_type, NULL, NULL, is_spe);
	int rc = 0;

	if (!dev) {
		pr_info("firmware describes no SPE\n");
		return -ENODEV;
	}
	device_lock(dev);
	if (dev->driver) {
		pr_err("SPE belongs to %s: unload that first\n", dev->driver->name);
		rc = -EBUSY;
	}
	device_unlock(dev);
	put_device(dev);
	return rc;
}

static int __init spe_init(void)
{
	int rc = check_device();

	if (rc)
		return rc;
	probe_result = -EBUSY;
	rc = platform_driver_register(&spe_driver);
	if (rc || !probe_result)
		return rc;
	platform_driver_unregister(&spe_driver);
	return probe_result;
}

static void __exit spe_exit(void)
{
	platform_driver_unregister(&spe_driver);
}

module_init(spe_init);
module_exit(spe_exit);
MODULE_LICENSE("Dual BSD/GPL");
MODULE_DESCRIPTION("SPE backend on the CPU's own profiling unit");
