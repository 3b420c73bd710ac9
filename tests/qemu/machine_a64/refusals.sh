#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# What machines the plugin refuses, each with one line that says why.
# usage: refusals.sh QEMU_AARCH64 QEMU_X86_64 PLUGIN MACHINE
set -eu
qemu=$1 x86=$2 plugin=$3 machine=$4
for program in "$qemu" "$x86"; do
	[ -x "$program" ] || { echo "skipped: $program is not installed"; exit 77; }
done
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
failed=0

# refused WHY OPTIONS QEMU ARGUMENTS...
refused()
{
	why=$1 options=$2
	shift 2
	status=0
	timeout 60 env ${HWT_EMULATOR_PRELOAD:+"LD_PRELOAD=$HWT_EMULATOR_PRELOAD"} \
		"$@" -m 256M -nodefaults -display none \
		-object "memory-backend-file,id=ram,size=256M,share=on,mem-path=$dir/ram" \
		-object "memory-backend-file,id=reg,size=128K,share=on,mem-path=$dir/reg" \
		-device ivshmem-plain,memdev=reg -kernel "$machine" \
		-plugin "$plugin$options" >"$dir/said" 2>&1 || status=$?
	# A sanitizer's remarks about the emulator's coroutines.
	sed -i '/^==[0-9]*==WARNING: ASan /d; /^False positive error reports/d
		/sanitizers\/issues\/189$/d' "$dir/said"
	if [ "$status" != 1 ] || [ "$(grep -c . "$dir/said")" != 1 ] ||
		! grep -q "^hwt-vtu: .*$why" "$dir/said"; then
		echo "not '$why', but status $status and:"
		cat "$dir/said"
		failed=1
	fi
}

files=",ram=$dir/ram,reg=$dir/reg"
virt="-machine virt,memory-backend=ram -cpu max"
refused "ram= and reg= must be given" ",ram=$dir/ram" $qemu $virt
refused "bad option 'unit='" "$files,unit=" $qemu $virt
refused "an aarch64 CPU has no trace unit 'pt'" "$files,unit=pt" $qemu $virt
refused "an aarch64 CPU has no trace unit 'ete'" "$files,unit=ete" $qemu $virt
refused "an x86_64 CPU has no trace unit 'spe'" "$files,unit=spe" \
	$x86 -machine q35,memory-backend=ram
refused "2 CPUs need 196608" "$files" $qemu $virt -smp 2
refused "does not begin at EL1" "$files" \
	$qemu -machine virt,virtualization=on,memory-backend=ram -cpu max
refused "does not begin at EL1" "$files" \
	$qemu -machine virt,secure=on,memory-backend=ram -cpu max
exit $failed
