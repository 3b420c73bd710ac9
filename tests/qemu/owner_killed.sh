#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# The owner is killed while its program runs: the program goes on to its end.
# owner_killed.sh VTU_E2E QEMU PLUGIN LOOP
set -u
[ -x "$2" ] || { echo "SKIP: no $2"; exit 77; }
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
bad=0 begun=0
for delay in 0.02 0.05 0.1 0.2 0.4 1.5; do
	rm -f "$dir/begun" "$dir/done"
	timeout --foreground -s KILL $delay "$1" -n -f -r 4096 "$2" "$3" \
		/bin/sh -c ": > $dir/begun; $4; : > $dir/done" 2>/dev/null
	n=0
	while [ ! -e "$dir/done" ] && [ $n -lt 150 ]; do sleep 0.1; n=$((n + 1)); done
	# On a busy machine the owner may be gone before it started anything.
	[ -e "$dir/begun" ] || continue
	begun=$((begun + 1))
	[ -e "$dir/done" ] || { echo "killed after $delay s: the program never ended"; bad=1; }
done
[ $begun -gt 0 ] || { echo "no program ever began"; exit 1; }
exit $bad
