#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# usage: missing.sh WHAT TESTS: says that TESTS were left out for want of WHAT.
echo "$1 is missing: without it there are no tests of $2"
exit 77
