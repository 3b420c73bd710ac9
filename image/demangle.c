// SPDX-License-Identifier: BSD-2-Clause
/* Names as their language writes them: C++ (Itanium) and Rust (legacy and v0). */
#include <stdlib.h>
#include <string.h>
#include "image_priv.h"

#ifdef HAVE_LIBIBERTY
#include <libiberty/demangle.h>
#endif

/* Demanglers recurse and expand; no compiler writes names as long as this. */
#define MANGLED_MAX 16384

char *image_demangle(const char *raw)
{
	char *out = NULL;

#ifdef HAVE_LIBIBERTY
	if (!raw || raw[0] != '_' || (raw[1] != 'Z' && raw[1] != 'R') ||
	    strnlen(raw, MANGLED_MAX) == MANGLED_MAX)
		return NULL;
	/* Rust's legacy names are valid C++ names too: it goes first. */
	out = rust_demangle(raw, DMGL_PARAMS);
	if (!out && raw[1] == 'Z')
		out = cplus_demangle_v3(raw, DMGL_PARAMS | DMGL_ANSI);
#endif
	return out;
}
