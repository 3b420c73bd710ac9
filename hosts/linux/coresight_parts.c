// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Components are devices of the AMBA bus, told apart by DEVTYPE, which is
 * architected; the bus has them powered and clocked while they are bound.  What is
 * bound to Linux's own drivers stays theirs, and is in the way.  The graph between
 * them is the devicetree's (in-ports and out-ports).
 */
#include <linux/amba/bus.h>
#include <linux/iopoll.h>
#include <linux/of.h>
#include <linux/of_graph.h>

/* <hwt/coresight.h> has something else by that name. */
enum { CLASS_CORESIGHT = CORESIGHT_CID };
#undef CORESIGHT_CID

#include "../../backends/coresight/cs_backend.h"
#include "coresight.h"

#undef pr_fmt
#define pr_fmt(fmt) "hwt_coresight: " fmt

#define MAX_DEPTH	8
#define READY_US	1000

static LIST_HEAD(parts);

static bool is_known(uint32_t devtype)
{
	switch (devtype) {
	case CS_DEVTYPE_SOURCE_PE:
	case CS_DEVTYPE_LINK_MERGE:
	case CS_DEVTYPE_LINK_SPLIT:
	case CS_DEVTYPE_LINK_FIFO:
	case CS_DEVTYPE_SINK_BUFFER:
		return true;
	}
	return false;
}

static int part_probe(struct amba_device *adev, const struct amba_id *id)
{
	struct cs_part *p = devm_kzalloc(&adev->dev, sizeof(*p), GFP_KERNEL);

	if (adev->cid != CLASS_CORESIGHT)
		return -ENODEV;
	if (!p)
		return -ENOMEM;
	p->dev = &adev->dev;
	p->base = devm_ioremap_resource(&adev->dev, &adev->res);
	if (IS_ERR(p->base))
		return PTR_ERR(p->base);
	p->devtype = readl_relaxed(p->base + CS_DEVTYPE) & 0xff;
	if (!is_known(p->devtype))
		return -ENODEV;
	amba_set_drvdata(adev, p);
	list_add(&p->link, &parts);
	return 0;
}

static void part_remove(struct amba_device *adev)
{
	struct cs_part *p = amba_get_drvdata(adev);

	list_del(&p->link);
}

/* Arm's own by JEP106: DEVTYPE says which they are. */
static const struct amba_id part_ids[] = {
	{.id = 0x000bb000, .mask = 0x000ff000},
	{}
};

static struct amba_driver part_driver = {
	.drv = {
		.name = "hwt_coresight",
		.owner = THIS_MODULE,
		.suppress_bind_attrs = true,
		.probe_type = PROBE_FORCE_SYNCHRONOUS,	/* all are there once it is registered */
	},
	.probe = part_probe,
	.remove = part_remove,
	.id_table = part_ids,
};

static int taken(struct device *dev, void *unused)
{
	struct amba_device *adev = to_amba_device(dev);
	int rc = 0;

	device_lock(dev);
	if (adev->cid == CLASS_CORESIGHT && is_known(adev->uci.devtype & 0xff) &&
	    dev->driver) {
		pr_err("%s belongs to %s: unload that first\n", dev_name(dev),
		       dev->driver->name);
		rc = -EBUSY;
	}
	device_unlock(dev);
	return rc;
}

int cs_parts_get(void)
{
	int rc = bus_for_each_dev(&amba_bustype, NULL, NULL, taken);

	return rc ? rc : amba_driver_register(&part_driver);
}

/* Funnels and replicators of nobody pass nothing on. */
void cs_parts_put(void)
{
	struct cs_part *p;

	list_for_each_entry(p, &parts, link) {
		if (p->devtype == CS_DEVTYPE_LINK_MERGE)
			writel_relaxed(0, p->base + CSTF_CTRL);
		if (p->devtype == CS_DEVTYPE_LINK_FIFO)
			writel_relaxed(0, p->base + TMC_CTL);
	}
	amba_driver_unregister(&part_driver);
}

static struct cs_part *part_of_node(const struct device_node *node)
{
	struct cs_part *p;

	list_for_each_entry(p, &parts, link)
		if (p->dev->of_node == node)
			return p;
	return NULL;
}

struct cs_part *cs_part_of_cpu(int cpu)
{
	struct device_node *of_cpu;
	struct cs_part *p;
	bool found;

	list_for_each_entry(p, &parts, link) {
		of_cpu = of_parse_phandle(p->dev->of_node, "cpu", 0);
		found = of_cpu && of_cpu_node_to_id(of_cpu) == cpu;
		of_node_put(of_cpu);
		if (found && p->devtype == CS_DEVTYPE_SOURCE_PE)
			return p;
	}
	return NULL;
}

/* ---- the way ---- */

static uint32_t devid_config(const struct cs_part *p)
{
	return (readl_relaxed(p->base + CS_DEVID) & TMC_DEVID_CONFIG_MASK) >>
	       TMC_DEVID_CONFIG_SHIFT;
}

static void open_fifo(struct cs_part *p)
{
	uint32_t sts;

	writel_relaxed(0, p->base + TMC_CTL);
	if (readl_poll_timeout(p->base + TMC_STS, sts, sts & TMC_STS_READY, 1, READY_US))
		pr_warn("%s does not become ready\n", dev_name(p->dev));
	writel_relaxed(TMC_MODE_HWF, p->base + TMC_MODE);
	writel_relaxed(TMC_FFCR_ENFT | TMC_FFCR_ENTI, p->base + TMC_FFCR);
	writel_relaxed(0, p->base + TMC_BUFWM);
	writel_relaxed(TMC_CTL_CAPTURE, p->base + TMC_CTL);
}

/* What comes in at port `in` of it leaves at `out`. */
static void open_part(struct cs_part *p, uint32_t in, uint32_t out)
{
	uint32_t i;

	writel_relaxed(CS_LAR_KEY, p->base + CS_LAR);
	if (p->devtype == CS_DEVTYPE_LINK_MERGE)
		writel_relaxed(readl_relaxed(p->base + CSTF_CTRL) | CSTF_CTRL_ENS(in),
			       p->base + CSTF_CTRL);
	if (p->devtype == CS_DEVTYPE_LINK_FIFO)
		open_fifo(p);
	for (i = 0; p->devtype == CS_DEVTYPE_LINK_SPLIT && i < CSTR_OUTPUTS; i++)
		writel_relaxed(i == out ? 0 : CSTR_IDFILTER_ALL,
			       p->base + CSTR_IDFILTER(i));
}

static bool is_etr(const struct cs_part *p)
{
	return p && p->devtype == CS_DEVTYPE_SINK_BUFFER &&
	       devid_config(p) == TMC_CONFIG_ETR;
}

/* The component behind an endpoint, referenced; *port: its input. */
static struct device_node *remote_of(struct device_node *ep, uint32_t *port)
{
	struct device_node *remote = of_graph_get_remote_endpoint(ep), *node;
	struct of_endpoint end = {0};

	if (!remote)
		return NULL;
	of_graph_parse_endpoint(remote, &end);
	*port = end.port;
	node = of_graph_get_port_parent(remote);
	of_node_put(remote);
	if (of_node_name_eq(node, "in-ports"))
		node = of_get_next_parent(node);
	return node;
}

/* Links without registers ("static") have no device: they are always open. */
static bool may_pass(const struct device_node *node, const struct cs_part *p)
{
	return p ? p->devtype != CS_DEVTYPE_SINK_BUFFER :
		   of_device_is_compatible(node, "arm,coresight-static-funnel") ||
		   of_device_is_compatible(node, "arm,coresight-static-replicator");
}

static struct cs_part *way_from(struct device_node *node, struct cs_part *here, uint32_t in,
				int depth);

static struct cs_part *way_by(struct device_node *ep, struct cs_part *here, uint32_t in,
			      int depth)
{
	struct of_endpoint end = {0};
	struct device_node *next;
	struct cs_part *etr;
	uint32_t port = 0;

	next = remote_of(ep, &port);
	if (!next)
		return NULL;
	etr = way_from(next, part_of_node(next), port, depth + 1);
	of_node_put(next);
	of_graph_parse_endpoint(ep, &end);
	if (etr && here)
		open_part(here, in, end.port);
	return etr;
}

static struct cs_part *way_from(struct device_node *node, struct cs_part *here, uint32_t in,
				int depth)
{
	struct device_node *ports, *ep = NULL;
	struct cs_part *etr = NULL;

	if (is_etr(here))
		return here;
	if (depth == MAX_DEPTH || !may_pass(node, here))
		return NULL;
	ports = of_get_child_by_name(node, "out-ports");
	while (ports && !etr && (ep = of_graph_get_next_endpoint(ports, ep)))
		etr = way_by(ep, here, in, depth);
	of_node_put(ep);
	of_node_put(ports);
	return etr;
}

struct cs_part *cs_way_open(struct cs_part *etm)
{
	struct cs_part *etr = way_from(etm->dev->of_node, etm, 0, 0);

	if (!etr)
		pr_err("no way leads from %s to an ETR, or another driver has a part of it\n",
		       dev_name(etm->dev));
	return etr;
}
