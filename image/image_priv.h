/* SPDX-License-Identifier: BSD-2-Clause */
/* What the parts of image/ share; nothing outside includes it. */
#ifndef IMAGE_IMAGE_PRIV_H
#define IMAGE_IMAGE_PRIV_H

#include <libelf.h>
#include <gelf.h>
#include <pthread.h>
#include <sys/types.h>
#include "image.h"

#define IMAGE_BUILD_ID_MAX 64u
#define IMAGE_PHDRS_MAX	   512u
/* Larger tables are taken as damage: no program has half a gigabyte of names. */
#define IMAGE_TABLE_MAX	   (512u << 20)

struct image_phdr {
	uint64_t offset, vaddr, filesz, memsz, align;
	uint32_t type, flags;
};

struct image_sym {
	uint64_t start;	    /* ELF virtual address */
	uint64_t size;	    /* 0: the table does not say */
	uint64_t end;	    /* up to where addresses are given to it */
	const char *raw;    /* in the ELF's string table or `owned` */
	const char *name;   /* demangled; NULL: not tried yet */
	uint8_t bind, type; /* STB_*, STT_* */
	bool old_version;   /* kept for programs linked long ago */
};

/* Symbols of one file. */
struct image_symtab {
	struct image_sym *all; /* by start, then by preference */
	size_t nall, room;
	uint32_t *best;	   /* indices into all: one for each start */
	uint64_t *max_end; /* of best[0..i]: bounds the walk outwards */
	size_t nbest;
	char **owned; /* strings made here */
	size_t nowned, owned_room;
	Elf *inner; /* where the strings are, if not in the file's own ELF */
	uint8_t *debugdata_bytes;
	int inner_fd; /* valid if inner is a file: debugdata_bytes is NULL */
};

struct image_lines;

/* An opened file: bytes by offset, and an ELF where it is one. */
struct image_file {
	struct image_store *store;
	struct image_file *next; /* in the store */
	const char *path;	 /* as recorded, interned */
	uint32_t id;		 /* 1, 2, ... */
	int fd;
	int err; /* of open: -errno */
	uint64_t size, ino;
	struct timespec mtime;
	uint32_t dev_major, dev_minor;
	Elf *elf; /* NULL: not an ELF */
	int machine, bits, elf_type;
	struct image_phdr *phdr;
	size_t nphdr;
	uint8_t build_id[IMAGE_BUILD_ID_MAX];
	size_t build_id_size;
	bool symbols_read, lines_tried;
	int names_err; /* what kept symbols, functions or lines from being read; or 0 */
	struct image_symtab symtab;
	struct image_lines *lines;
	int32_t (*fdes)[2]; /* search table of .eh_frame, in memory */
	size_t nfdes;
	uint64_t fde_base; /* what its entries are relative to */
	bool fdes_read;
	uint32_t said[2]; /* bits of enum image_problem already reported; [1]: kept */
	uint8_t *window; /* last bytes read, at window_offset */
	uint64_t window_offset;
	size_t window_len;
};

struct image_string {
	struct image_string *next;
	size_t len;
	char text[];
};

#define IMAGE_STRING_BUCKETS 1024u

/*
 * A file of n mappings and n forks asks for n * n entries.  A kernel's build, of a
 * hundred thousand forks, needs some six million.
 */
#define IMAGE_INHERIT_MAX    ((size_t)1 << 25)

struct image_store {
	pthread_mutex_t lock;
	char *sysroot;
	struct image_file *files;
	uint32_t nfiles;
	uint32_t nmaps; /* perf maps read, for symbol ids */
	struct timespec written; /* the recording; 0: not known */
	size_t inherit_room; /* entries that forks may still copy */
	struct image_string *strings[IMAGE_STRING_BUCKETS];
	struct image_perf_map *perf_maps;
	struct image_kallsyms *kallsyms; /* NULL: none added */
};

/* store.c; the caller holds the lock */
const char *store_intern(struct image_store *st, const char *text, size_t len);
/* Never fails but for memory (NULL): a file that cannot be opened has ->err. */
struct image_file *store_file(struct image_store *st, const char *path);
/* A descriptor of a regular file, under the sysroot; or -errno. */
int store_open(const struct image_store *st, const char *path);
struct image_file *file_open(struct image_store *st, const char *path);
void file_close(struct image_file *f);
/*
 * One question about one file: what `ask` returns for it; or -errno, and what is
 * no ELF file is -ENOEXEC, without asking.
 */
int elf_ask(const char *path, int (*ask)(struct image_file *f, void *ctx), void *ctx);
/* Copies at most len bytes at offset; how many. */
size_t file_bytes(struct image_file *f, uint64_t offset, uint8_t *buf, size_t len);
/* Copies len bytes at virtual address addr; false if the file holds fewer. */
bool file_read_vaddr(struct image_file *f, uint64_t addr, void *buf, size_t len);
bool file_vaddr_to_offset(const struct image_file *f, uint64_t addr, uint64_t *offset,
			  uint64_t *left);
/*
 * Virtual address of file offset `offset` seen through a mapping that begins
 * at file offset `pgoff`.
 */
bool file_offset_to_vaddr(const struct image_file *f, uint64_t pgoff, uint64_t offset,
			  uint64_t *vaddr);
bool file_is_code(const struct image_file *f, uint64_t vaddr);

#define VDSO_PATH "[vdso]"
/* vdso.c: a descriptor with the bytes of our own vDSO, or -errno */
int vdso_open(void);

/* elf_file.c */
void elf_file_load(struct image_file *f);
size_t elf_build_id_of(Elf *elf, uint8_t *out, size_t max);
/* The named section, or NULL; *shdr filled. */
Elf_Scn *elf_section(Elf *elf, const char *name, GElf_Shdr *shdr);
/* Its bytes if they lie in the file and are not compressed, else NULL. */
Elf_Data *elf_section_data(Elf_Scn *scn, const GElf_Shdr *shdr);

/* symtab.c */
int symtab_load(struct image_file *f);
void symtab_free(struct image_symtab *t);
int symtab_add(struct image_symtab *t, const struct image_sym *sym);
/* A copy that lives as long as the table. */
const char *symtab_string(struct image_symtab *t, const char *text);
struct image_sym *symtab_find(struct image_symtab *t, uint64_t vaddr);
const char *symtab_name(struct image_store *st, struct image_sym *sym);
void symtab_sort(struct image_symtab *t);

/* dynsym.c: symbols by PT_DYNAMIC, for files without section headers */
int dynsym_load(struct image_file *f);
/* debugdata.c: .gnu_debugdata */
Elf *debugdata_open(Elf *elf, uint8_t **bytes);
/* debugfile.c: a file of its own with the symbols; *fd goes with it */
Elf *debugfile_open(struct image_file *f, int *fd);
/* plt.c: a name for each entry of the procedure linkage tables */
int plt_load(struct image_file *f);

/* fde.c: the function that .eh_frame says holds vaddr */
bool fde_find(struct image_file *f, uint64_t vaddr, uint64_t *start, uint64_t *end);
/* ifunc.c: code addresses that a resolver may return; how many, at most max */
int ifunc_targets(struct image_file *f, uint64_t start, uint64_t end, uint64_t *out,
		  int max);

/* lines.c */
bool lines_find(struct image_file *f, uint64_t vaddr, struct image_line *out);
void lines_free(struct image_lines *l);

/* perfmap.c */
struct image_perf_map;
const struct image_sym *perfmap_find(struct image_store *st, uint32_t pid, uint64_t ip,
				     uint64_t *id);
void perfmap_free(struct image_store *st);

/* kallsyms.c: name, bounds and id of the symbol at or before ip */
bool kallsyms_find(struct image_store *st, uint64_t ip, struct image_symbol *out);
void kallsyms_free(struct image_store *st);

/* ---- space.c ---- */
enum change_kind { CHANGE_MAP, CHANGE_UNMAP, CHANGE_CLEAR, CHANGE_CODE };

struct image_change {
	uint32_t refs;
	enum change_kind kind;
	uint64_t addr, len; /* CLEAR: 0, UINT64_MAX */
	/* MAP */
	uint64_t pgoff, ino;
	uint32_t dev_major, dev_minor, prot;
	const char *path;	    /* interned; NULL: no file */
	const char *label;	    /* what to call it where there is no file */
	struct image_file *file;    /* set by the first view that needs it */
	enum image_problem problem; /* valid once `checked` */
	bool checked;
	uint8_t build_id_size;
	uint8_t build_id[IMAGE_BUILD_ID_MAX];
	uint8_t bytes[]; /* CODE */
};

struct image_entry {
	struct image_moment from;
	struct image_change *change;
};

struct image_space {
	struct image_store *store;
	struct image_entry *log; /* by moment; the first `inherited` always hold */
	size_t nlog, room, inherited;
	uint64_t version; /* bumped by an entry that is not the last */
	uint32_t pid;	  /* 0: unknown */
	bool kernel;	  /* names are the store's kernel symbols */
	image_problem_fn problem;
	void *problem_ctx;
};

/* Entries that hold at `at`. */
size_t space_upto(const struct image_space *s, const struct image_moment *at);
/* The file behind a mapping, checked; NULL: not to be used.  kept: for names only. */
struct image_file *space_file(struct image_space *s, struct image_change *c, bool kept);
/* Hands a file's problem to whoever asked for it, once. */
void space_tell(struct image_space *s, struct image_file *f, enum image_problem problem,
		bool kept, int err);

#endif
