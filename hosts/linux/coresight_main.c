// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * hwt_coresight.ko: the CoreSight backend on silicon, arm64 only: an ETMv4 beside each
 * CPU, one ETR for all that can run as a FIFO (MODE.SWF2: SoC-600's).
 *
 * The backend's names of components (vtu/window.h has the same) are the CPU's ETM and
 * the ETR; what lies in between is open while the module is loaded.  There is one ETR,
 * so one buffer at a time, which the threads of one process or the CPUs of one context
 * share by their trace IDs.  Whoever wants another gets EBUSY.
 *
 * The ETR's interrupt is in few devicetrees: while a trace unit is on, a timer on its
 * CPU looks.  Trace units lose their state where an idle CPU is switched off, so idle
 * states that take long to leave are not entered while the module is loaded.
 */
#include <linux/cpuhotplug.h>
#include <linux/delay.h>
#include <linux/dma-mapping.h>
#include <linux/hrtimer.h>
#include <linux/module.h>
#include <linux/percpu.h>
#include <linux/pm_qos.h>
#include <linux/smp.h>
#include <asm/arch_timer.h>
#include <asm/barrier.h>

#include "../../backends/coresight/cs_backend.h"
#include "compat.h"
#include "coresight.h"
#include "hwt_module.h"

#undef pr_fmt
#define pr_fmt(fmt) "hwt_coresight: " fmt

#define LOOK_NS		(1 * NSEC_PER_MSEC)
#define NAME_ETM	0x0000u
#define NAME_FUNNEL	0x1000u
#define NAME_ETR	0x2000u
#define NAME_ROUTE	0x3000u
#define OFFSET_MASK	0xfffu
#define ETR_PART	0x9e8u	/* SoC-600's (100806 4.9.47) */
#define ETR_BITS	40	/* of its addresses: DBAHI has 8 */

struct cpu_unit {
	struct cs_part	*etm;
	struct hrtimer	timer;
	bool		on;
};

/* The ETR, the owner's buffer as both sides address it, and the window as last programmed. */
static struct {
	struct cs_part	*part;
	phys_addr_t	phys;
	dma_addr_t	dma;
	uint64_t	base, size;
	uint64_t	synced;		/* offset that the CPUs can read up to */
} etr;

static DEFINE_PER_CPU(struct cpu_unit, cpu_units);
static struct cs_backend backend;
static struct hwt_backend_ops ops;	/* the driver's, for one buffer at a time */
static const struct hwt_backend_ops *driver_ops;
static struct hwt_buffer *owner;	/* the buffer that has the ETR */
static uint32_t caps[ETM4_NUM_IDR];
static struct pm_qos_request no_deep_idle;
static int cpuhp;

/* ---- memory: an ETR may see past the caches ---- */

static uint64_t etr_read64(uint32_t low, uint32_t high)
{
	return readl_relaxed(etr.part->base + low) |
	       (uint64_t)readl_relaxed(etr.part->base + high) << 32;
}

static void sync_range(uint64_t from, uint64_t to)
{
	if (from < to)
		dma_sync_single_for_cpu(etr.part->dev, etr.base + from, to - from,
					DMA_FROM_DEVICE);
}

/*
 * What was written since the last look; the driver then says that it is there.  Pointers
 * that are equal say that nothing was, or, of a FIFO that is full, everything may have
 * been: whether it is, is asked behind where it is, for it may fill up meanwhile.
 */
static void sync_written(void)
{
	uint64_t at = etr_read64(TMC_RWP, TMC_RWPHI) - etr.base;
	uint64_t level = readl(etr.part->base + TMC_CBUFLEVEL) * 4ull;

	if (at >= etr.size)
		at = 0;
	if (at < etr.synced || (at == etr.synced && level == etr.size)) {
		sync_range(etr.synced, etr.size);
		etr.synced = 0;
	}
	sync_range(etr.synced, at);
	etr.synced = at;
}

/* ---- the bus ---- */

static void note_etr(uint32_t offset, uint32_t value)
{
	switch (offset) {
	case TMC_RSZ:
		etr.size = value * 4ull;
		break;
	case TMC_DBALO:
		etr.base = (etr.base & ~0xffffffffull) | value;
		break;
	case TMC_DBAHI:
		etr.base = (etr.base & 0xffffffffull) | (uint64_t)value << 32;
		break;
	case TMC_CTL:
		if (value & TMC_CTL_CAPTURE)
			etr.synced = etr_read64(TMC_RWP, TMC_RWPHI) - etr.base;
		break;
	}
}

static void write_etr(uint32_t offset, uint32_t value)
{
	if (offset == TMC_AXICTL)
		value |= TMC_AXICTL_CACHE;
	writel(value, etr.part->base + offset);
	note_etr(offset, value);
}

static void timer_want(struct cpu_unit *u)
{
	if (u->on && !hrtimer_active(&u->timer))
		hrtimer_start(&u->timer, ns_to_ktime(LOOK_NS), HRTIMER_MODE_REL_PINNED_HARD);
}

/* Comparators have 64 bits (7.3.1, 7.3.2). */
static void write_etm(struct cpu_unit *u, uint32_t offset, uint64_t value)
{
	writel((uint32_t)value, u->etm->base + offset);
	if (offset >= TRCACVR(0) && offset < TRCACATR(ETM4_MAX_ACS))
		writel((uint32_t)(value >> 32), u->etm->base + offset + 4);
	if (offset != TRCPRGCTLR)
		return;
	WRITE_ONCE(u->on, value & TRCPRGCTLR_EN);
	timer_want(u);
}

/* core calls it with interrupts off, on the unit's CPU. */
static void bus_write(struct hwt_bus *bus, int unit, uint32_t reg, uint64_t value)
{
	if (WARN_ON_ONCE(unit != smp_processor_id()))
		return;
	if ((reg & ~OFFSET_MASK) == NAME_ETM)
		write_etm(this_cpu_ptr(&cpu_units), reg, value);
	else if ((reg & ~OFFSET_MASK) == NAME_ETR)
		write_etr(reg & OFFSET_MASK, (uint32_t)value);
	/* Funnels are open, and all of them lead to the one ETR. */
}

/* Of an ETM only its own CPU asks. */
static uint64_t bus_read(struct hwt_bus *bus, int unit, uint32_t reg)
{
	uint32_t offset = reg & OFFSET_MASK, value;

	if ((reg & ~OFFSET_MASK) == NAME_ETM)
		return readl(per_cpu_ptr(&cpu_units, unit)->etm->base + offset);
	if ((reg & ~OFFSET_MASK) != NAME_ETR)
		return 0;
	value = readl(etr.part->base + offset);
	if (offset == TMC_CBUFLEVEL)
		sync_written();
	return value;
}

static void bus_barrier(struct hwt_bus *bus, int unit, enum hwt_barrier kind)
{
	dsb(sy);
	isb();
}

static int bus_poll(struct hwt_bus *bus, int unit, uint32_t reg, uint64_t mask,
		    uint64_t value)
{
	if ((bus_read(bus, unit, reg) & mask) == value)
		return 0;
	udelay(1);
	return -ETIMEDOUT;
}

static uint64_t bus_now(struct hwt_bus *bus, int unit)
{
	return __arch_counter_get_cntvct();
}

static uint32_t bus_cap(struct hwt_bus *bus, uint32_t index)
{
	return index < ETM4_NUM_IDR ? caps[index] : 0;
}

/* Of the owner's buffer, which is mapped. */
static uint64_t bus_buf_addr(struct hwt_bus *bus, uint64_t addr)
{
	return etr.dma + (addr - etr.phys);
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

static struct hwt_bus silicon = {.ops = &bus_ops, .name = "Arm CoreSight ETMv4"};
static const struct cs_path path = {NAME_ETM, NAME_FUNNEL, NAME_ETR, NAME_ROUTE};

/* ---- one buffer at a time ---- */

/*
 * A streaming mapping of the buffer, which is one run of pages, for as long as it lives.
 * The CPUs only read it, so what they looked at needs no sync before the ETR comes round
 * again (core-api/dma-api-howto, dma_sync_single_for_device).
 */
static int etr_take(struct hwt_buffer *b)
{
	const struct hwt_host_ops *host = hwt_core_host_ops(b->core);
	struct device *dev = etr.part->dev;

	if (cmpxchg(&owner, NULL, b))
		return -EBUSY;
	etr.phys = host->page_addr(hwt_core_host(b->core), b->pages, 0);
	etr.dma = dma_map_page(dev, pfn_to_page(PHYS_PFN(etr.phys)), 0, b->bufsize,
			       DMA_FROM_DEVICE);
	if (!dma_mapping_error(dev, etr.dma))
		return 0;
	pr_warn("%s: a buffer of %llu bytes cannot be mapped for it\n", dev_name(dev),
		(unsigned long long)b->bufsize);
	smp_store_release(&owner, NULL);
	return -ENOMEM;
}

static void etr_give(struct hwt_buffer *b)
{
	if (READ_ONCE(owner) != b)
		return;
	dma_unmap_page(etr.part->dev, etr.dma, b->bufsize, DMA_FROM_DEVICE);
	smp_store_release(&owner, NULL);
}

static int buffer_init(struct hwt_buffer *b)
{
	int rc = b->sink == b ? etr_take(b) : 0;

	if (rc)
		return rc;
	rc = driver_ops->buffer_init(b);
	/* fini is for what has a save area. */
	if (rc && !b->priv)
		etr_give(b);
	return rc;
}

static void buffer_fini(struct hwt_buffer *b)
{
	driver_ops->buffer_fini(b);
	etr_give(b);
}

/* ---- CPUs ---- */

static enum hrtimer_restart timer_look(struct hrtimer *timer)
{
	struct cpu_unit *u = container_of(timer, struct cpu_unit, timer);

	if (READ_ONCE(u->on))
		hwt_module_irq();
	if (!READ_ONCE(u->on))
		return HRTIMER_NORESTART;
	hrtimer_forward_now(timer, ns_to_ktime(LOOK_NS));
	return HRTIMER_RESTART;
}

/*
 * On the ETM's own CPU: powered, unlocked and off.  What the driver never writes is
 * UNKNOWN after reset: comparators of the PE's, and the implementation's own.
 */
static void etm_reset(struct cs_part *etm)
{
	writel_relaxed(CS_LAR_KEY, etm->base + CS_LAR);
	writel(0, etm->base + TRCOSLAR);
	writel_relaxed(readl_relaxed(etm->base + TRCPDCR) | TRCPDCR_PU, etm->base + TRCPDCR);
	writel(0, etm->base + TRCPRGCTLR);
	isb();
	writel_relaxed(0, etm->base + TRCVIPCSSCTLR);
	writel(0, etm->base + TRCAUXCTLR);
}

static int cpu_up(unsigned int cpu)
{
	struct cpu_unit *u = per_cpu_ptr(&cpu_units, cpu);
	unsigned long flags;

	if (!u->etm)
		return -ENODEV;
	hwt_compat_hrtimer_setup(&u->timer, timer_look, HRTIMER_MODE_REL_PINNED_HARD);
	local_irq_save(flags);
	etm_reset(u->etm);
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
	write_etm(u, TRCPRGCTLR, 0);
	local_irq_restore(flags);
	hrtimer_cancel(&u->timer);
	return 0;
}

/* ---- what there is ---- */

struct look {
	int		cpus, different;
};

/* One CPU after the other: what its unit is able to do. */
static void look_at_cpu(void *arg)
{
	struct cpu_unit *u = this_cpu_ptr(&cpu_units);
	struct look *l = arg;
	uint32_t i, value;

	etm_reset(u->etm);
	for (i = 0; i < ETM4_NUM_IDR; i++) {
		value = readl_relaxed(u->etm->base + TRCIDR(i));
		/* IDR1 is the revision. */
		if (l->cpus && i != 1 && value != caps[i])
			l->different++;
		caps[i] = value;
	}
	l->cpus++;
}

static int check_cpus(void)
{
	struct look l = {0};
	int cpu;

	for_each_online_cpu(cpu)
		smp_call_function_single(cpu, look_at_cpu, &l, 1);
	if (!l.different)
		return 0;
	pr_err("the CPUs' trace units differ: that is not supported\n");
	return -EOPNOTSUPP;
}

static uint32_t part_number(const struct cs_part *p)
{
	return (readl_relaxed(p->base + CS_PIDR0) & 0xff) |
	       (readl_relaxed(p->base + CS_PIDR1) & 0xf) << 8;
}

static int check_etr(void)
{
	int rc;

	if (part_number(etr.part) != ETR_PART) {
		pr_err("%s cannot run as a FIFO in memory (it is no SoC-600's)\n",
		       dev_name(etr.part->dev));
		return -EOPNOTSUPP;
	}
	rc = dma_set_mask_and_coherent(etr.part->dev, DMA_BIT_MASK(ETR_BITS));
	if (rc)
		pr_err("%s: no memory that %d bits address can be mapped for it\n",
		       dev_name(etr.part->dev), ETR_BITS);
	return rc;
}

static int find_parts(void)
{
	struct cs_part *sink;
	struct cpu_unit *u;
	int cpu;

	for_each_possible_cpu(cpu) {
		u = per_cpu_ptr(&cpu_units, cpu);
		u->etm = cs_part_of_cpu(cpu);
		if (!u->etm) {
			pr_info("CPU %d has no CoreSight trace unit in the devicetree\n",
				cpu);
			return -ENODEV;
		}
		sink = cs_way_open(u->etm);
		if (!sink)
			return -ENODEV;
		if (etr.part && etr.part != sink) {
			pr_err("trace units lead to different ETRs: that is not supported\n");
			return -EOPNOTSUPP;
		}
		etr.part = sink;
	}
	return 0;
}

static int offer(void)
{
	int rc = cpuhp_setup_state(CPUHP_AP_ONLINE_DYN, "hwt/coresight:online", cpu_up,
				   cpu_down);

	if (rc < 0)
		return rc;
	cpuhp = rc;
	silicon.time_hz = arch_timer_get_cntfrq();
	cs_backend_init(&backend, &silicon, &path);
	driver_ops = backend.be.ops;
	ops = *driver_ops;
	ops.buffer_init = buffer_init;
	ops.buffer_fini = buffer_fini;
	backend.be.ops = &ops;
	rc = hwt_module_backend_register(&backend.be, THIS_MODULE);
	if (rc)
		cpuhp_remove_state(cpuhp);
	return rc;
}

static int __init coresight_init(void)
{
	int rc = cs_parts_get();

	if (rc)
		return rc;
	rc = find_parts();
	if (!rc)
		rc = check_etr();
	if (rc)
		goto put_parts;
	cpu_latency_qos_add_request(&no_deep_idle, 0);
	rc = check_cpus();
	if (!rc)
		rc = offer();
	if (!rc)
		return 0;
	cpu_latency_qos_remove_request(&no_deep_idle);
put_parts:
	cs_parts_put();
	return rc;
}

static void __exit coresight_exit(void)
{
	hwt_module_backend_unregister(&backend.be);
	cpuhp_remove_state(cpuhp);
	cpu_latency_qos_remove_request(&no_deep_idle);
	cs_parts_put();
}

module_init(coresight_init);
module_exit(coresight_exit);
MODULE_LICENSE("Dual BSD/GPL");
MODULE_DESCRIPTION("CoreSight backend on the machine's own trace units");
