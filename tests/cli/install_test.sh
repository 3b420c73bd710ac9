#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# What is installed is where it is looked for, and enough for programs of others.
# usage: install_test.sh SOURCE BUILD
set -eu
source=$1 build=$2
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
failed=0
# Nothing of the make that runs the tests.
unset MAKEFLAGS MAKEOVERRIDES MFLAGS DESTDIR PREFIX HWT_PLUGIN 2>/dev/null || :

expect() # what, command...
{
	what=$1
	shift
	"$@" || {
		echo "FAILED: $what"
		[ ! -s "$dir/said" ] || sed 's/^/    /' "$dir/said"
		failed=1
	}
}

# The door: meson and ninja that only say what they were asked for.
mkdir "$dir/bin"
for name in meson ninja; do
	cat >"$dir/bin/$name" <<'END'
#!/bin/sh
echo "$(basename "$0") $*" >>"$FAKE/said"
[ "$1" != setup ] || { mkdir -p "$FAKE/b" && : >"$FAKE/b/build.ninja"; }
END
	chmod +x "$dir/bin/$name"
done

asked() # expected lines; arguments of make...
{
	want=$1
	shift
	: >"$dir/said"
	FAKE=$dir PATH=$dir/bin:$PATH make -s -C "$source" BUILD="$dir/b" "$@" >/dev/null
	expect "make $*" [ "$(sed "s|$dir/||g" "$dir/said")" = "$want" ]
}

ready="ninja -C b
meson install -C b --no-rebuild"
asked "meson setup --prefix /opt/x b
meson configure b -Dprefix=/opt/x
$ready" install PREFIX=/opt/x
asked "$ready" install
asked "meson configure b -Dprefix=/opt/y
$ready" install PREFIX=/opt/y
rm -r "$dir/b"
asked "meson setup --prefix /usr/local b
$ready" install
: >"$dir/said"

# The installed files.
root=$dir/root
DESTDIR=$root meson install -C "$build" --no-rebuild --quiet >"$dir/said" 2>&1
plugin=$(find "$root" -name hwt-vtu.so)
expect "one plugin" [ -f "$plugin" ]
hwt=$(find "$root" -path '*/bin/hwt')
expect "one command" [ -x "$hwt" ]
expect "the command knows the plugin's place" grep -qF "${plugin#"$root"}" "$hwt"
expect "completion for bash" [ -s "$(find "$root" -path '*completions/hwt.bash')" ]
for page in "$source"/man/*.[0-9]; do
	name=$(basename "$page")
	expect "$name" [ -f "$(find "$root" -path "*/man${name##*.}/$name")" ]
done

# A program of others: what the manual says to include, and FreeBSD's names.
include=$(find "$root" -type d -path '*/include')
compiles() # file
{
	cc -D_GNU_SOURCE -Wall -Werror -fsyntax-only -I"$include/hwt/compat" -I"$include" \
		"$1" 2>"$dir/said"
}
headers=$(sed -n 's/^\.In \([^ ]*\).*/\1/p' "$source/man/hwt.4" "$source/man/libhwt.3" |
	sort -u)
expect "the manual names headers" [ -n "$headers" ]
for header in $headers; do
	echo "#include <$header>" >"$dir/one.c"
	expect "$header by itself" compiles "$dir/one.c"
done
expect "a client of FreeBSD's headers" compiles "$source/tests/core/freebsd_client.c"
pc=$(find "$root" -name libhwt.pc)
library=$(sed -n "s/^Libs:.* -l\([a-z]*\).*/\1/p" "$pc")
expect "the library that pkg-config names" [ -e "$(dirname "$pc")/../lib$library.so" ]
[ "$failed" = 0 ] && echo "installed: $(find "$root" -type f | wc -l) files"
exit "$failed"
