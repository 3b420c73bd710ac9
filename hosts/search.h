/* SPDX-License-Identifier: BSD-2-Clause */
/* What every host needs that starts programs. */
#ifndef HOSTS_SEARCH_H
#define HOSTS_SEARCH_H

/* execvp(3)'s search; *out is the caller's. -ENOENT, -EACCES, -ENOMEM: *out is NULL. */
int path_search(const char *name, char **out);
/* *error becomes a malloc'd sentence, or NULL; returns err. */
int host_fail(char **error, int err, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

#endif
