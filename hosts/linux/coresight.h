/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * CoreSight components of a machine of silicon, for hwt_coresight.ko.
 *
 *   coresight_parts.c  components and ways between them, as the devicetree has them
 *   coresight_main.c   bus, CPUs, module
 */
#ifndef HWT_CORESIGHT_PARTS_H
#define HWT_CORESIGHT_PARTS_H

#include <linux/device.h>
#include <linux/io.h>
#include <linux/list.h>

/* A component that this module drives. */
struct cs_part {
	struct list_head	link;
	struct device		*dev;
	void __iomem		*base;
	uint32_t		devtype;
};

/* Binds to all components; 0 or -errno.  -EBUSY, said whose: others have some. */
int cs_parts_get(void);
void cs_parts_put(void);

/* The CPU's trace unit; NULL: there is none here. */
struct cs_part *cs_part_of_cpu(int cpu);
/*
 * Opens the way from a trace unit to its ETR: funnels, FIFOs and replicators in
 * between stay so until cs_parts_put.  NULL, said why: there is none.
 */
struct cs_part *cs_way_open(struct cs_part *etm);

#endif
