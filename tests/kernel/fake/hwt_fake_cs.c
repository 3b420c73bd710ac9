// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * A CoreSight component (a funnel) with a driver bound to it, on a machine that has none.
 * Nobody reads its registers: there is nothing at that address.
 */
#include <linux/amba/bus.h>
#include <linux/clk.h>
#include <linux/clk-provider.h>
#include <linux/clkdev.h>
#include <linux/ioport.h>
#include <linux/module.h>

#define NAME	"hwt_fake_funnel"
#define ADDRESS	0x3fff000000ull
#define SIZE	0x1000
#define FUNNEL	0x12	/* DEVTYPE */
#define ID	0x000bb908

static struct clk *clock;		/* the bus wants one */
static struct clk_lookup *lookup;
static struct amba_device *device;

static int fake_probe(struct amba_device *adev, const struct amba_id *id)
{
	return 0;
}

static void fake_remove(struct amba_device *adev)
{
}

static const struct amba_id fake_ids[] = {
	{.id = ID, .mask = 0x000fffff},
	{}
};

static struct amba_driver fake_driver = {
	.drv = {.name = "hwt_fake_cs", .owner = THIS_MODULE},
	.probe = fake_probe,
	.remove = fake_remove,
	.id_table = fake_ids,
};

static int add_device(void)
{
	int rc;

	device = amba_device_alloc(NAME, ADDRESS, SIZE);
	if (!device)
		return -ENOMEM;
	device->periphid = ID;
	device->cid = CORESIGHT_CID;
	device->uci.devtype = FUNNEL;
	rc = amba_device_add(device, &iomem_resource);
	if (rc)
		amba_device_put(device);
	return rc;
}

static int __init fake_init(void)
{
	int rc;

	clock = clk_register_fixed_rate(NULL, NAME, NULL, 0, 1000000);
	if (IS_ERR(clock))
		return PTR_ERR(clock);
	rc = -ENOMEM;
	lookup = clkdev_create(clock, "apb_pclk", NAME);
	if (!lookup)
		goto no_clock;
	rc = amba_driver_register(&fake_driver);
	if (rc)
		goto no_lookup;
	rc = add_device();
	if (!rc)
		return 0;
	amba_driver_unregister(&fake_driver);
no_lookup:
	clkdev_drop(lookup);
no_clock:
	clk_unregister_fixed_rate(clock);
	return rc;
}

static void __exit fake_exit(void)
{
	amba_device_unregister(device);
	amba_driver_unregister(&fake_driver);
	clkdev_drop(lookup);
	clk_unregister_fixed_rate(clock);
}

module_init(fake_init);
module_exit(fake_exit);
MODULE_LICENSE("Dual BSD/GPL");
MODULE_DESCRIPTION("A CoreSight component that is not there, for tests");
