// SPDX-License-Identifier: BSD-2-Clause
/*
 * Symbols in a file of their own, by build-id: where Debian's -dbgsym packages
 * put them, /usr/lib/debug/.build-id/xx/rest.debug.
 */
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include "image_priv.h"

#define DEBUG_DIR "/usr/lib/debug/.build-id/"

static void debug_path(const struct image_file *f, char *out, size_t n)
{
	size_t at = (size_t)snprintf(out, n, "%s%02x/", DEBUG_DIR, f->build_id[0]), i;

	for (i = 1; i < f->build_id_size; i++)
		at += (size_t)snprintf(out + at, n - at, "%02x", f->build_id[i]);
	snprintf(out + at, n - at, ".debug");
}

Elf *debugfile_open(struct image_file *f, int *fd)
{
	char path[sizeof(DEBUG_DIR) + 2 * IMAGE_BUILD_ID_MAX + 16];
	uint8_t id[IMAGE_BUILD_ID_MAX];
	Elf *elf;

	if (f->build_id_size < 2)
		return NULL;
	debug_path(f, path, sizeof(path));
	*fd = store_open(f->store, path);
	if (*fd < 0)
		return NULL;
	elf = elf_begin(*fd, ELF_C_READ, NULL);
	if (elf && elf_kind(elf) == ELF_K_ELF &&
	    elf_build_id_of(elf, id, sizeof(id)) == f->build_id_size &&
	    !memcmp(id, f->build_id, f->build_id_size))
		return elf;
	if (elf)
		elf_end(elf);
	close(*fd);
	return NULL;
}
