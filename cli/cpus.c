/* SPDX-License-Identifier: BSD-2-Clause */
#include "cpus.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>

/* A number at *at, which moves behind it. */
static int number(const char **at, unsigned long *out)
{
	char *end;

	if (!isdigit((unsigned char)**at))
		return -EINVAL;
	errno = 0;
	*out = strtoul(*at, &end, 10);
	*at = end;
	return errno || *out >= CPU_SETSIZE ? -ERANGE : 0;
}

int cpus_parse(const char *text, cpu_set_t *out)
{
	unsigned long first, last;
	int err;

	CPU_ZERO(out);
	for (;;) {
		err = number(&text, &first);
		last = first;
		if (!err && *text == '-') {
			text++;
			err = number(&text, &last);
		}
		if (err)
			return err;
		if (last < first)
			return -EINVAL;
		for (; first <= last; first++)
			CPU_SET(first, out);
		if (*text == '\0')
			return 0;
		if (*text++ != ',')
			return -EINVAL;
	}
}
