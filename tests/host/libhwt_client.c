// SPDX-License-Identifier: BSD-2-Clause
/* A program outside of the tree: installed headers, the shared library, no more. */
#include <hwt/libhwt.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

int main(void)
{
	struct hwt_host_options options = {.kind = "no such host"};
	struct hwt_host *host;
	struct hwt_dev *dev;
	struct hwt_query q = {.index = 99};
	char *error = NULL;

	if (hwt_host_open(&options, &host, &error) != -EINVAL || !error)
		return 1;
	free(error);
	options.kind = "embedded";
	switch (hwt_host_open(&options, &host, &error)) {
	case 0:
		break;
	case -ENOENT:
		printf("skipped: %s\n", error);
		return 77;
	default:
		return 2;
	}
	if (hwt_dev_open(host, "/dev/hwt_1_1", &dev) != -ENOENT ||
	    hwt_dev_open(host, "/dev/hwt", &dev) != 0)
		return 3;
	if (hwt_dev_ioctl(dev, HWT_IOC_QUERY, &q) != -ENOENT ||
	    hwt_dev_ioctl(dev, 0, NULL) != -ENOTTY)
		return 4;
	hwt_dev_close(dev);
	hwt_host_close(host);
	return 0;
}
