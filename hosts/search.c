// SPDX-License-Identifier: BSD-2-Clause
#include "search.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

int host_fail(char **error, int err, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	if (vasprintf(error, fmt, ap) < 0)
		*error = NULL;
	va_end(ap);
	return err;
}

/* 0, or what execvp(3) goes on from: a folder may be searched, but is no program. */
static int can_execute(const char *file)
{
	struct stat st;

	if (access(file, X_OK) || stat(file, &st))
		return -errno;
	return S_ISREG(st.st_mode) ? 0 : -EACCES;
}

int path_search(const char *name, char **out)
{
	const char *p = getenv("PATH"), *end;
	int err = -ENOENT, got;

	*out = NULL;
	if (!*name)
		return -ENOENT;
	if (strchr(name, '/')) {
		*out = strdup(name);
		return *out ? 0 : -ENOMEM;
	}
	for (p = p ? p : "/usr/local/bin:/usr/bin:/bin"; *p; p = *end ? end + 1 : end) {
		end = strchrnul(p, ':');
		if (asprintf(out, "%.*s/%s", end == p ? 1 : (int)(end - p), end == p ? "." : p,
			     name) < 0) {
			*out = NULL;
			return -ENOMEM;
		}
		got = can_execute(*out);
		if (!got)
			return 0;
		if (got == -EACCES)
			err = got;
		free(*out);
		*out = NULL;
	}
	return err;
}
