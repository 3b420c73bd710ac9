#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# What dkms-install lays out is whole, stands by itself and names every module.
# usage: dkms_test.sh SOURCE
set -eu
source=$1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

DESTDIR=$work "$source/tools/dkms-install" 9.9
tree=$work/usr/src/hwt-9.9

links=$(find "$work" -type l)
[ -z "$links" ] || { echo "links out of the tree: $links"; exit 1; }
grep -q '^PACKAGE_VERSION="9.9"$' "$tree/dkms.conf"
grep -q '^AUTOINSTALL="yes"$' "$tree/dkms.conf"
# Every object that Kbuild names has its source here.
for object in $(grep -o 'hosts/linux/[a-z_]*\.o\|[a-z_]*\.o\|vtu/bus\.o' "$tree/Kbuild" | sort -u); do
	case $object in
	hwt.o | hwt_*.o) module=${object%.o}
		[ "$module" = hwt_pt ] && [ "$(uname -m)" != x86_64 ] && continue
		grep -q "^BUILT_MODULE_NAME\[[0-9]*\]=\"$module\"$" "$tree/dkms.conf" ||
			{ echo "dkms.conf does not name $module"; exit 1; } ;;
	*/*) [ -f "$tree/${object%.o}.c" ] || { echo "no source of $object"; exit 1; } ;;
	esac
done
for file in usr/lib/udev/rules.d/60-hwt.rules usr/lib/sysusers.d/hwt.conf \
	usr/lib/modules-load.d/hwt.conf; do
	[ -s "$work/$file" ] || { echo "missing: $file"; exit 1; }
done
