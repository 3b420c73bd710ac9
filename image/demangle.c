// SPDX-License-Identifier: BSD-2-Clause
/* Names as their language writes them: C++ (Itanium) and Rust (legacy and v0). */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "image_priv.h"

#ifdef HAVE_LIBIBERTY
#include <libiberty/demangle.h>
#endif

/* Demanglers recurse and expand; no compiler writes names as long as this. */
#define MANGLED_MAX 16384

#ifdef HAVE_LIBIBERTY
static char *demangle_plain(const char *raw)
{
	char *out;

	/* Rust's legacy names are valid C++ names too: it goes first. */
	out = rust_demangle(raw, DMGL_PARAMS);
	if (!out && raw[1] == 'Z')
		out = cplus_demangle_v3(raw, DMGL_PARAMS | DMGL_ANSI);
	return out;
}

/* "name@plt", "name@@VERSION": what follows the name stays as it is. */
static char *demangle_suffixed(const char *raw, const char *at)
{
	char *plain = strndup(raw, (size_t)(at - raw)), *name, *out = NULL;

	name = plain ? demangle_plain(plain) : NULL;
	if (name && asprintf(&out, "%s%s", name, at) < 0)
		out = NULL;
	free(name);
	free(plain);
	return out;
}
#endif

char *image_demangle(const char *raw)
{
#ifdef HAVE_LIBIBERTY
	const char *at;

	if (!raw || raw[0] != '_' || (raw[1] != 'Z' && raw[1] != 'R') ||
	    strnlen(raw, MANGLED_MAX) == MANGLED_MAX)
		return NULL;
	at = strchr(raw, '@');
	return at ? demangle_suffixed(raw, at) : demangle_plain(raw);
#else
	return NULL;
#endif
}
