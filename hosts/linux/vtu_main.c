// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * hwt_vtu.ko: the virtual trace unit of a machine under QEMU (vtu/window.h, "System
 * mode"), and the driver of whichever technology it is (vtu_units.c).
 *
 * The unit has no interrupt line: while it traces, a timer on its CPU looks
 * whether the interrupt was raised.  The timer starts with a doorbell that leaves
 * the unit tracing, and ends by itself when it finds the unit off.
 */
#include <linux/cpu.h>
#include <linux/hrtimer.h>
#include <linux/io.h>
#include <linux/module.h>
#include <linux/pci.h>
#include <linux/percpu.h>
#include <linux/slab.h>

#include "compat.h"
#include "hwt_module.h"
#include "vtu_units.h"

#define LOOK_NS		(1 * NSEC_PER_MSEC)
#define PCI_BAR_WINDOW	2

struct look_timer {
	struct hrtimer	timer;
	uint32_t	irqs;		/* of the block's, that were looked at */
};

struct unit {
	struct vtu_bus		bus;
	const struct vtu_unit	*what;
	union vtu_backend	backend;
	struct vtu_header	*window;
	int			cpuhp;	/* state of the hotplug callbacks */
};

static struct unit *the_unit;	/* a name of a backend is there once */
static DEFINE_PER_CPU(struct look_timer, cpu_timers);
static DECLARE_BITMAP(sinks_taken, NR_CPUS);	/* of blocks */

static struct vtu_block *block_of(int cpu)
{
	return vtu_block(the_unit->window, cpu);
}

static bool is_tracing(const struct vtu_block *b)
{
	return vtu_unit_traces(the_unit->what, b);
}

static enum hrtimer_restart timer_look(struct hrtimer *timer)
{
	struct look_timer *t = container_of(timer, struct look_timer, timer);
	struct vtu_block *b = block_of(smp_processor_id());
	uint32_t irqs = READ_ONCE(b->irqs);

	/* A sink that others feed, too, interrupts only the one that filled it. */
	if (irqs != t->irqs || the_unit->what->route) {
		t->irqs = irqs;
		hwt_module_irq();
	}
	if (!is_tracing(b))
		return HRTIMER_NORESTART;
	hrtimer_forward_now(timer, ns_to_ktime(LOOK_NS));
	return HRTIMER_RESTART;
}

static void timer_want(struct vtu_block *b)
{
	struct look_timer *t = this_cpu_ptr(&cpu_timers);

	if (!is_tracing(b) || hrtimer_active(&t->timer))
		return;
	hrtimer_start(&t->timer, ns_to_ktime(LOOK_NS), HRTIMER_MODE_REL_PINNED_HARD);
}

/* On the block's CPU, interrupts off: the answer comes within the loop. */
static void doorbell(struct vtu_bus *vb, struct vtu_block *b, uint32_t seq)
{
	__atomic_fetch_or(&b->attention, VTU_ATTN_RING, __ATOMIC_SEQ_CST);
	while (__atomic_load_n(&b->ack, __ATOMIC_ACQUIRE) != seq)
		cpu_relax();
	timer_want(b);
}

/* ---- the bus: core's calls may come from a CPU that is not the unit's ---- */

/* What another CPU's unit does meanwhile is for that CPU to ask; its ring is in use. */
static void settle(struct hwt_bus *bus, int unit, bool always)
{
	unsigned long flags;

	local_irq_save(flags);
	if (unit == smp_processor_id() && (always || is_tracing(block_of(unit))))
		vtu_bus_flush(bus, unit);
	else if (unit == smp_processor_id())
		(vtu_bus_ops.barrier)(bus, unit, HWT_BARRIER_CONTEXT);
	local_irq_restore(flags);
}

static uint64_t bus_read(struct hwt_bus *bus, int unit, uint32_t reg)
{
	settle(bus, unit, false);
	return vtu_bus_load(bus, unit, reg);
}

static int bus_poll(struct hwt_bus *bus, int unit, uint32_t reg, uint64_t mask,
		    uint64_t value)
{
	return (bus_read(bus, unit, reg) & mask) == value ? 0 : -ETIMEDOUT;
}

static uint64_t bus_now(struct hwt_bus *bus, int unit)
{
	settle(bus, unit, true);
	return vtu_bus_ops.now(bus, unit);
}

/* core calls it with interrupts off, on the unit's CPU. */
static void bus_write(struct hwt_bus *bus, int unit, uint32_t reg, uint64_t value)
{
	if (!WARN_ON_ONCE(unit != smp_processor_id()))
		vtu_bus_ops.write(bus, unit, reg, value);
}

/*
 * A context has one sink, or a further one for each 111 CPUs or threads that run, and
 * those CPUs to itself: there is always one left.
 */
static int bus_sink_get(struct hwt_bus *bus, int unit)
{
	unsigned int i, n;

	for (i = 0; i < nr_cpu_ids; i++) {
		n = ((unsigned int)unit + i) % nr_cpu_ids;
		if (READ_ONCE(block_of(n)->state) == VTU_RUNNING &&
		    !test_and_set_bit(n, sinks_taken))
			return n;
	}
	return -EBUSY;
}

static void bus_sink_put(struct hwt_bus *bus, int unit)
{
	clear_bit_unlock(unit, sinks_taken);
}

static struct hwt_bus_ops machine_ops;

static void bus_init(struct unit *u)
{
	vtu_bus_init(&u->bus, u->window, u->window->unit_name);
	machine_ops = vtu_bus_ops;
	machine_ops.read = bus_read;
	machine_ops.write = bus_write;
	machine_ops.poll = bus_poll;
	machine_ops.now = bus_now;
	machine_ops.sink_get = bus_sink_get;
	machine_ops.sink_put = bus_sink_put;
	machine_ops.this_cpu = hwt_module_this_cpu;
	u->bus.bus.ops = &machine_ops;
	u->bus.doorbell = doorbell;
	u->bus.kind = u->what->kind;
	u->bus.reg_offset = u->what->offset;
	u->bus.words = u->what->words;
}

/* ---- CPUs come and go ---- */

static void write_all(int cpu, const struct vtu_write *w, uint32_t n)
{
	for (; n--; w++)
		bus_write(&the_unit->bus.bus, cpu, w->reg, w->value);
}

/* sink: its own, too, unless others feed it already: then it is theirs. */
static void turn_off(int cpu, bool sink)
{
	const struct vtu_unit *what = the_unit->what;
	bool mine = sink && !test_and_set_bit(cpu, sinks_taken);

	write_all(cpu, what->off, what->noff);
	if (what->route)
		bus_write(&the_unit->bus.bus, cpu, what->route, cpu);
	if (mine)
		write_all(cpu, what->sink_off, what->nsink_off);
	vtu_bus_flush(&the_unit->bus.bus, cpu);
	if (mine)
		bus_sink_put(&the_unit->bus.bus, cpu);
}

/* Whoever had the unit before (a kernel before a reboot) may have left it on. */
static int cpu_up(unsigned int cpu)
{
	struct look_timer *t = per_cpu_ptr(&cpu_timers, cpu);
	struct vtu_block *b = block_of(cpu);
	unsigned long flags;

	hwt_compat_hrtimer_setup(&t->timer, timer_look, HRTIMER_MODE_REL_PINNED_HARD);
	local_irq_save(flags);
	t->irqs = READ_ONCE(b->irqs);
	b->ring_done = b->ring_tail;
	turn_off(cpu, true);
	hwt_module_cpu_online(cpu);
	local_irq_restore(flags);
	return 0;
}

static int cpu_down(unsigned int cpu)
{
	unsigned long flags;

	local_irq_save(flags);
	hwt_module_cpu_offline(cpu);
	turn_off(cpu, false);
	local_irq_restore(flags);
	hrtimer_cancel(&per_cpu_ptr(&cpu_timers, cpu)->timer);
	return 0;
}

/* ---- the device ---- */

static int window_check(struct device *dev, const struct vtu_header *h, u64 size)
{
	if (h->magic != VTU_MAGIC)
		return -ENODEV;	/* somebody else's shared memory */
	if (h->version != VTU_VERSION || h->header_size != VTU_HEADER_SIZE ||
	    h->block_size != VTU_BLOCK_SIZE || !vtu_unit_of_kind(h->unit_kind) ||
	    !(h->flags & VTU_F_SYSTEM)) {
		dev_err(dev, "window version %u, unit %u, flags %#x: not known here\n",
			h->version, h->unit_kind, h->flags);
		return -ENODEV;
	}
	if (h->nblocks < nr_cpu_ids || VTU_WINDOW_SIZE(h->nblocks) > size) {
		dev_err(dev, "window of %u units for %u CPUs\n", h->nblocks, nr_cpu_ids);
		return -ENODEV;
	}
	return 0;
}

static int unit_start(struct unit *u)
{
	int rc;

	the_unit = u;
	u->what = vtu_unit_of_kind(u->window->unit_kind);
	bus_init(u);
	rc = cpuhp_setup_state(CPUHP_AP_ONLINE_DYN, "hwt/vtu:online", cpu_up, cpu_down);
	if (rc < 0)
		goto clear;
	u->cpuhp = rc;
	u->what->init(&u->backend, &u->bus.bus);
	rc = hwt_module_backend_register(&u->backend.be, THIS_MODULE);
	if (!rc)
		return 0;
	cpuhp_remove_state(u->cpuhp);
clear:
	the_unit = NULL;
	return rc;
}

static int vtu_probe(struct pci_dev *pdev, const struct pci_device_id *id)
{
	struct unit *u;
	int rc;

	if (the_unit)
		return -EBUSY;
	u = devm_kzalloc(&pdev->dev, sizeof(*u), GFP_KERNEL);
	if (!u)
		return -ENOMEM;
	rc = pcim_enable_device(pdev);
	if (rc)
		return rc;
	/* The BAR is memory of this machine's process: cached like memory. */
	u->window = devm_memremap(&pdev->dev, pci_resource_start(pdev, PCI_BAR_WINDOW),
				  pci_resource_len(pdev, PCI_BAR_WINDOW), MEMREMAP_WB);
	if (IS_ERR(u->window))
		return PTR_ERR(u->window);
	rc = window_check(&pdev->dev, u->window, pci_resource_len(pdev, PCI_BAR_WINDOW));
	if (!rc)
		rc = unit_start(u);
	if (!rc)
		pci_set_drvdata(pdev, u);
	return rc;
}

static void vtu_remove(struct pci_dev *pdev)
{
	struct unit *u = pci_get_drvdata(pdev);

	hwt_module_backend_unregister(&u->backend.be);
	cpuhp_remove_state(u->cpuhp);
	the_unit = NULL;
}

static const struct pci_device_id vtu_ids[] = {
	{PCI_DEVICE(PCI_VENDOR_ID_REDHAT_QUMRANET, 0x1110)},	/* ivshmem */
	{}
};
MODULE_DEVICE_TABLE(pci, vtu_ids);

static struct pci_driver vtu_driver = {
	.name = "hwt_vtu",
	.id_table = vtu_ids,
	.probe = vtu_probe,
	.remove = vtu_remove,
	.driver = {.suppress_bind_attrs = true},
};

module_pci_driver(vtu_driver);
MODULE_LICENSE("Dual BSD/GPL");
MODULE_DESCRIPTION("Trace backends on QEMU's virtual trace unit");
