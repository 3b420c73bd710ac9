/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Code images: which bytes and which names stand at an address of a process,
 * as a function of (code generation, time).  Uses elfutils; no type of theirs
 * leaks, no trace bytes or files of ours are known here.
 *
 * An image_space is one process's address space through its whole life.
 * Changes are entered in the order in which they happened, each with the
 * moment from which it holds; readers ask through a view of one moment.
 */
#ifndef IMAGE_IMAGE_H
#define IMAGE_IMAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

/* A moment: generations order changes in our recordings, time elsewhere. */
struct image_moment {
	uint64_t	generation;
	uint64_t	time;
};
bool image_moment_before(const struct image_moment *a, const struct image_moment *b);

/* Cache of opened files; one a session. */
struct image_store;
/* sysroot: prefix put before paths (NULL: none), as hwt -R. */
struct image_store *image_store_new(const char *sysroot);
void image_store_free(struct image_store *store);
/*
 * When the recording was written, as its file says: what has no build-id and was
 * written later is IMAGE_CHANGED.
 */
void image_store_set_written(struct image_store *store, struct timespec written);

/*
 * Why a mapping's file may not be trusted or found.  Each is said once, and once more for
 * code that was captured (kept): of that only names and lines are wanted.
 */
enum image_problem {
	IMAGE_OK, IMAGE_MISSING, IMAGE_NOT_ELF, IMAGE_BUILD_ID_DIFFERS,
	IMAGE_CHANGED,		/* no build-id; another inode, or written since */
	IMAGE_UNREADABLE,
	IMAGE_NAMELESS,		/* its symbols or lines were not read: no memory */
	IMAGE_PROBLEM_MAX
};
typedef void (*image_problem_fn)(void *ctx, const char *path, enum image_problem problem,
				 bool kept, int err);
const char *image_problem_text(enum image_problem p);

struct image_map {
	uint64_t	addr, len, pgoff;
	uint64_t	ino;
	uint32_t	dev_major, dev_minor;
	uint32_t	prot;		/* PROT_*; 0: unknown, taken as executable */
	const char	*path;		/* as recorded; "" or "//anon" or "[...]": no file */
	const uint8_t	*build_id;	/* NULL: none recorded */
	size_t		build_id_size;
};

struct image_space *image_space_new(struct image_store *store);
/*
 * A copy of what `parent` is at `at`, for a fork.  NULL: no memory, or the forks of the
 * store have copied as many changes as all of them may (a bound on hostile files).
 */
struct image_space *image_space_fork(struct image_space *parent, struct image_moment at);
void image_space_free(struct image_space *s);
void image_space_on_problem(struct image_space *s, image_problem_fn fn, void *ctx);
/* Names from /tmp/perf-PID.map for code that no file holds; 0 (at first): none. */
void image_space_set_pid(struct image_space *s, uint32_t pid);

/* This is a kernel's: names where no file is are those of image_store_add_symbols. */
void image_space_set_kernel(struct image_space *s);
/*
 * Adds symbols of the session's kernel: lines of /proc/kallsyms, copied; others are
 * left out.  0 or -ENOMEM.
 */
int image_store_add_symbols(struct image_store *st, const char *text, size_t n);

/* 0 or -ENOMEM, -EINVAL (wraps, zero length).  Strings and bytes are copied. */
int image_space_map(struct image_space *s, struct image_moment from,
		    const struct image_map *map);
int image_space_unmap(struct image_space *s, struct image_moment from,
		      uint64_t addr, uint64_t len);
/*
 * Maps a file as a loader would: every loadable segment of an ELF, so that its
 * lowest page stands at *addr (NULL: where its program headers say).  A file
 * that is no ELF is mapped whole, and needs addr.  0, -errno of the file,
 * -ENOEXEC: neither an ELF nor addr; -ENOMEM.
 */
int image_space_map_elf(struct image_space *s, struct image_moment from,
			const char *path, const uint64_t *addr);
/* exec: everything before is gone. */
int image_space_clear(struct image_space *s, struct image_moment from);
/*
 * Captured code bytes; they win over files under them, also over ones mapped
 * later, until they are captured anew or unmapped.
 */
int image_space_code(struct image_space *s, struct image_moment from,
		     uint64_t addr, const void *bytes, size_t len);
/* Calls fn for each range that differs between two moments (for invalidate). */
void image_space_changes(struct image_space *s, struct image_moment after,
			 struct image_moment upto,
			 void (*fn)(void *ctx, uint64_t addr, uint64_t len),
			 void *ctx);

/* A view of one moment, with its own look-up cache. */
struct image_view;
struct image_view *image_view_new(struct image_space *s);
void image_view_free(struct image_view *v);
void image_view_set(struct image_view *v, struct image_moment at);
/*
 * Where nothing is mapped or captured in v, `ahead` answers in its place (a
 * view of a later moment, for traces whose time is coarse); NULL: nobody.
 */
void image_view_fall_back(struct image_view *v, struct image_view *ahead);
/* trace_code_fn's contract; ctx is a struct image_view. */
size_t image_view_code(void *view, uint64_t ip, uint8_t *buf, size_t len);

/*
 * Calls fn for each run of addresses where bytes [offset, offset + len) of the
 * file at `path` (as recorded) are mapped.
 */
void image_view_places(struct image_view *v, const char *path, uint64_t offset,
		       uint64_t len, void (*fn)(void *ctx, uint64_t addr, uint64_t len),
		       void *ctx);

/* Who is at an address.  Strings live as long as the store. */
struct image_symbol {
	const char	*name;		/* demangled; NULL: no symbol */
	const char	*raw_name;	/* as in the symbol table */
	const char	*image;		/* path, "[vdso]", "[code]", "?" */
	/*
	 * Of the symbol, as run-time addresses; end 0: size unknown.  Without a
	 * symbol, of the function that .eh_frame bounds there; else 0.
	 */
	uint64_t	start, end;
	/* Load bias: address - bias is the ELF's, or the offset if there is no file. */
	uint64_t	image_base;
	/* The same for every address of the same symbol or function, never 0. */
	uint64_t	id;
};
/* Always fills *out; true if a symbol was found. */
bool image_view_symbol(struct image_view *v, uint64_t ip, struct image_symbol *out);
struct image_line { const char *file; int line, column; };
bool image_view_line(struct image_view *v, uint64_t ip, struct image_line *out);

/*
 * Address ranges of function `name` (raw or demangled) in the ELF file `path`,
 * as ELF virtual addresses; end inclusive.  An IFUNC stands for its
 * implementations (all local functions that its resolver returns the
 * addresses of).  Returns how many (at most max are filled), 0: none,
 * or -ENOENT, -ENOEXEC, -errno.
 */
struct image_range { uint64_t start, end; };
int image_function_ranges(const char *path, const char *name,
			  struct image_range *out, int max);
/*
 * As above, in the running kernel (module NULL) or one of its modules, as run-time
 * addresses; path: NULL for /proc/kallsyms.  A symbol ends where the next one begins.
 * -ENOENT: path cannot be read.
 */
int image_kernel_ranges(const char *path, const char *module, const char *name,
			struct image_range *out, int max);
/* Virtual address that file offset `pgoff` is loaded at (executable PT_LOAD). */
int image_offset_to_vaddr(const char *path, uint64_t pgoff, uint64_t *vaddr);
/* Build-id note of an ELF file: its size, 0: none, -errno. */
int image_build_id(const char *path, uint8_t *out, size_t max);
/* What kind of ELF a file is, for error messages: "ELF 32-bit Intel 80386" … */
int image_describe(const char *path, char *buf, size_t n, int *machine, int *bits);
/* Demangles (C++, Rust) into malloc'd memory, or NULL if it is no mangled name. */
char *image_demangle(const char *raw);

#endif
