#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# make_programs.sh CC SOURCE-DIR OUT-DIR: prog.c linked in every way that
# changes how file, addresses and symbols belong together.
set -eu
cc=$1 src=$2 out=$3
mkdir -p "$out"
cd "$out"
flags="-g -O1 -rdynamic -fno-stack-protector -fcf-protection=none -w"

link() { # NAME FLAGS...
	name=$1
	shift
	$cc $flags "$@" "$src/prog.c" -o "$name"
}

link pie -pie -fPIE
link exec -no-pie -fno-pie
link static -static -no-pie -fno-pie
link static_pie -static-pie -fPIE
link prelinked -pie -fPIE -Wl,-Ttext-segment=0x7000000000
link page64k -pie -fPIE -Wl,-z,max-page-size=65536 -Wl,-z,common-page-size=65536
link noseparate -pie -fPIE -Wl,-z,noseparate-code
link two_texts -no-pie -fno-pie -Wl,--section-start=.far=0x900000
link far_pie -pie -fPIE -Wl,--section-start=.far=0x900000
link no_build_id -pie -fPIE -Wl,--build-id=none
strip -o stripped pie
# Symbols in .gnu_debugdata only.
objcopy --only-keep-debug pie mini
strip --strip-debug mini
rm -f mini.xz debugdata
if command -v xz >/dev/null; then
	xz -f mini
	objcopy --add-section .gnu_debugdata=mini.xz stripped debugdata
fi
# Symbols in a file of their own, under a root where Debian would put it.
mkdir -p root/bin
cp stripped root/bin/prog
id=$(readelf -n stripped | sed -n 's/.*Build ID: //p')
dir=root/usr/lib/debug/.build-id/$(echo "$id" | cut -c1-2)
mkdir -p "$dir"
objcopy --only-keep-debug pie "$dir/$(echo "$id" | cut -c3-).debug"
# No section headers: e_shoff, e_shnum and e_shstrndx are zeroed.
cp stripped no_sections
dd if=/dev/zero of=no_sections bs=1 seek=40 count=8 conv=notrunc 2>/dev/null
dd if=/dev/zero of=no_sections bs=1 seek=60 count=4 conv=notrunc 2>/dev/null
# Another build under the same name, for the build-id check.
$cc $flags -pie -fPIE -DOTHER=1 -O2 "$src/prog.c" -o other
$cc -O1 -w "$src/ifunc.c" -o ifunc
$cc -O1 -w -static "$src/ifunc.c" -o ifunc_static
strip -o ifunc_stripped ifunc
touch stamp
