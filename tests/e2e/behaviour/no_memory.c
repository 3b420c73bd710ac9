// SPDX-License-Identifier: BSD-2-Clause
/*
 * Preloaded into hwt: the allocation number $NO_MEMORY_AT that hwt's own code asks for
 * fails (0: none); at the end, how many there were is written to file $NO_MEMORY_COUNT.
 * Those of libraries are theirs, and not counted.  Programs that hwt starts have neither.
 */
#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define EXPORT __attribute__((visibility("default")))
#define CALLER ((uintptr_t)__builtin_return_address(0))

/* glibc's own, under the names that do not come back here. */
void *__libc_malloc(size_t size);
void *__libc_calloc(size_t n, size_t size);
void *__libc_realloc(void *p, size_t size);
void *__libc_memalign(size_t align, size_t size);

static uintptr_t code, code_end;	/* of the executable */
static unsigned long fails_at, count;
static const char *count_file;

/* The executable is the first that is told. */
static int executable(struct dl_phdr_info *info, size_t size, void *ctx)
{
	const ElfW(Phdr) *ph = info->dlpi_phdr, *end = ph + info->dlpi_phnum;

	for (; ph < end; ph++) {
		if (ph->p_type != PT_LOAD || !(ph->p_flags & PF_X))
			continue;
		code = info->dlpi_addr + ph->p_vaddr;
		code_end = code + ph->p_memsz;
	}
	return 1;
}

__attribute__((constructor)) static void begin(void)
{
	const char *at = getenv("NO_MEMORY_AT"), *file = getenv("NO_MEMORY_COUNT");

	fails_at = at ? strtoul(at, NULL, 10) : 0;
	count_file = file ? strdup(file) : NULL;
	unsetenv("NO_MEMORY_AT");
	unsetenv("NO_MEMORY_COUNT");
	unsetenv("LD_PRELOAD");
	dl_iterate_phdr(executable, NULL);
}

__attribute__((destructor)) static void end(void)
{
	FILE *f = count_file ? fopen(count_file, "w") : NULL;

	if (!f)
		return;
	fprintf(f, "%lu\n", count);
	fclose(f);
}

static bool fails(uintptr_t caller)
{
	if (caller - code >= code_end - code ||
	    __atomic_add_fetch(&count, 1, __ATOMIC_RELAXED) != fails_at)
		return false;
	errno = ENOMEM;
	return true;
}

EXPORT void *malloc(size_t size)
{
	return fails(CALLER) ? NULL : __libc_malloc(size);
}

EXPORT void *calloc(size_t n, size_t size)
{
	return fails(CALLER) ? NULL : __libc_calloc(n, size);
}

EXPORT void *realloc(void *p, size_t size)
{
	return fails(CALLER) ? NULL : __libc_realloc(p, size);
}

EXPORT void *reallocarray(void *p, size_t n, size_t size)
{
	size_t bytes;

	if (__builtin_mul_overflow(n, size, &bytes)) {
		errno = ENOMEM;
		return NULL;
	}
	return fails(CALLER) ? NULL : __libc_realloc(p, bytes);
}

EXPORT void *aligned_alloc(size_t align, size_t size)
{
	return fails(CALLER) ? NULL : __libc_memalign(align, size);
}

static char *copy(const char *s, size_t n)
{
	char *p = __libc_malloc(n + 1);

	if (p) {
		memcpy(p, s, n);
		p[n] = 0;
	}
	return p;
}

EXPORT char *strdup(const char *s)
{
	return fails(CALLER) ? NULL : copy(s, strlen(s));
}

EXPORT char *strndup(const char *s, size_t n)
{
	return fails(CALLER) ? NULL : copy(s, strnlen(s, n));
}

static int print(char **out, const char *fmt, va_list ap)
{
	int (*next)(char **, const char *, va_list) = NULL;

	*(void **)&next = dlsym(RTLD_NEXT, "vasprintf");
	return next(out, fmt, ap);
}

EXPORT int vasprintf(char **out, const char *fmt, va_list ap)
{
	return fails(CALLER) ? -1 : print(out, fmt, ap);
}

EXPORT int asprintf(char **out, const char *fmt, ...)
{
	bool failed = fails(CALLER);
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = failed ? -1 : print(out, fmt, ap);
	va_end(ap);
	return n;
}
