// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * A device as firmware describes the SPE of Arm's CPUs, on a machine that has none;
 * taken=1: with a driver bound to it.
 */
#include <linux/mod_devicetable.h>
#include <linux/module.h>
#include <linux/platform_device.h>

static bool taken;
module_param(taken, bool, 0400);

static struct platform_device *device;

static int fake_probe(struct platform_device *pdev)
{
	return 0;
}

static const struct platform_device_id fake_devices[] = {
	{"arm,spe-v1"},
	{}
};

static struct platform_driver fake_driver = {
	.id_table = fake_devices,
	.probe = fake_probe,
	.driver = {.name = "hwt_fake"},
};

static int __init fake_init(void)
{
	int rc = taken ? platform_driver_register(&fake_driver) : 0;

	if (rc)
		return rc;
	device = platform_device_register_simple("arm,spe-v1", -1, NULL, 0);
	if (!IS_ERR(device))
		return 0;
	if (taken)
		platform_driver_unregister(&fake_driver);
	return PTR_ERR(device);
}

static void __exit fake_exit(void)
{
	platform_device_unregister(device);
	if (taken)
		platform_driver_unregister(&fake_driver);
}

module_init(fake_init);
module_exit(fake_exit);
MODULE_LICENSE("Dual BSD/GPL");
MODULE_DESCRIPTION("A device that is not there, for tests");
