#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# tools/setup with a package manager that only says what it was asked for.
# usage: setup_test.sh SETUP
set -eu
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
mkdir "$dir/bin" "$dir/tools"
# A tree of its own: the script touches its meson.build.
setup=$dir/tools/setup
cp "$1" "$setup"
touch -d @1 "$dir/meson.build"
failed=0

# installed: names in $dir/installed; apt-get adds to it, but never clang or mandoc.
cat >"$dir/bin/dpkg-query" <<'END'
#!/bin/sh
for package; do :; done
grep -qx "$package" "$FAKE/installed" && printf installed
END
cat >"$dir/bin/apt-get" <<'END'
#!/bin/sh
echo "apt-get $*" >>"$FAKE/asked"
[ "$1" = install ] || exit 0
for word; do case $word in clang|mandoc) exit 100 ;; esac; done
for word; do case $word in install|-*) ;; *) echo "$word" >>"$FAKE/installed" ;; esac; done
END
cat >"$dir/bin/id" <<'END'
#!/bin/sh
echo "$FAKE_UID"
END
cat >"$dir/bin/sudo" <<'END'
#!/bin/sh
echo "sudo" >>"$FAKE/asked"
exec "$@"
END
chmod +x "$dir"/bin/*

run() # uid, sets...
{
	uid=$1
	shift
	: >"$dir/asked"
	status=0
	FAKE=$dir FAKE_UID=$uid PATH=$dir/bin:$PATH sh "$setup" "$@" >"$dir/out" 2>&1 ||
		status=$?
}

expect() # what, command...
{
	what=$1
	shift
	"$@" || {
		echo "FAILED: $what"
		sed 's/^/    /' "$dir/out" "$dir/asked"
		failed=1
	}
}

: >"$dir/installed"
run 0 build
expect "everything is missing: it succeeds" [ "$status" = 0 ]
expect "says what it does" grep -q "installing from Debian's archive: build-essential" "$dir/out"
expect "installs QEMU" grep -qx qemu-user "$dir/installed"
expect "the build is told to look again" [ "$dir/meson.build" -nt "$setup" ]
expect "no sudo for root" [ "$(grep -c sudo "$dir/asked")" = 0 ]

touch -d @1 "$dir/meson.build"
run 0 build
expect "nothing is missing: it succeeds" [ "$status" = 0 ]
expect "and the build is left alone" [ "$setup" -nt "$dir/meson.build" ]
expect "asks nobody" [ ! -s "$dir/asked" ]
expect "says nothing" [ ! -s "$dir/out" ]

run 1000 build check
expect "optional packages that cannot be had are skipped" [ "$status" = 0 ]
expect "and named" grep -q "left out: mandoc" "$dir/out"
expect "the others are installed" grep -qx libipt-dev "$dir/installed"
expect "sudo where not root" grep -qx sudo "$dir/asked"

touch -d @1 "$dir/meson.build"
run 1000 build check
expect "asked for again: it succeeds" [ "$status" = 0 ]
expect "and the build is left alone: nothing came" [ "$setup" -nt "$dir/meson.build" ]

run 0 build fuzz
expect "required packages that cannot be had fail" [ "$status" = 1 ]
expect "and are named" grep -q "could not install: clang" "$dir/out"

run 0 nonsense
expect "unknown sets are refused" [ "$status" = 1 ]
exit $failed
