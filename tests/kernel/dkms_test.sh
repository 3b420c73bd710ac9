#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# What dkms-install lays out is whole, stands by itself and names every module.
# usage: dkms_test.sh SOURCE
set -eu
source=$1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

modules()
{
	MACHINE=$1 DESTDIR=$work "$source/tools/dkms-install" 9.9
	sed -n 's/^BUILT_MODULE_NAME.*"\(.*\)"/\1/p' "$work/usr/src/hwt-9.9/dkms.conf" |
		sort | tr '\n' ' '
}

# Drivers of silicon where it can be.
[ "$(modules aarch64)" = "hwt hwt_coresight hwt_spe hwt_vtu " ]
[ "$(modules x86_64)" = "hwt hwt_pt hwt_vtu " ]
tree=$work/usr/src/hwt-9.9

links=$(find "$work" -type l)
[ -z "$links" ] || { echo "links out of the tree: $links"; exit 1; }
grep -q '^PACKAGE_VERSION="9.9"$' "$tree/dkms.conf"
grep -q '^AUTOINSTALL="yes"$' "$tree/dkms.conf"
# Every object that Kbuild names has its source here.
for object in $(grep -o 'hosts/linux/[a-z_]*\.o\|vtu/bus\.o' "$tree/Kbuild" | sort -u); do
	[ -f "$tree/${object%.o}.c" ] || { echo "no source of $object"; exit 1; }
done
for file in usr/lib/udev/rules.d/60-hwt.rules usr/lib/sysusers.d/hwt.conf \
	usr/lib/modules-load.d/hwt.conf; do
	[ -s "$work/$file" ] || { echo "missing: $file"; exit 1; }
done
