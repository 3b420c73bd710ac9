#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# Manual pages without a complaint of mandoc's.
# usage: man_lint.sh PAGE...
command -v mandoc >/dev/null || { echo "mandoc is not installed"; exit 77; }
# Other packages' pages may not be indexed, and ours are not installed yet.  One stream
# at a time: in one pipe a line of the other may stand in the middle of a line.
found=$({
	mandoc -Tlint -Wstyle "$@" 2>/dev/null
	mandoc -Tlint -Wstyle "$@" 2>&1 >/dev/null
} | grep -v -e 'mandoc\.db' -e 'referenced manual not found')
[ -z "$found" ] || { echo "$found"; exit 1; }
