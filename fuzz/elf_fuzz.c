/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Images: any file as the program that was traced.  Whatever it says of itself,
 * code is the file's bytes, symbols hold the address that was asked for, and
 * ids do not depend on it.
 */
#include "fuzz.h"
#include "image/image.h"

#include <stdlib.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static void require(int condition)
{
	if (!condition)
		abort();
}

static void file_questions(const char *path)
{
	static const char *const names[] = {"main", "pick", "_start", "foo@plt", "ns::f"};
	struct image_range r[4];
	uint8_t id[64];
	uint64_t vaddr;
	char text[128];
	int machine, bits, n, i;
	size_t k;

	image_describe(path, text, sizeof(text), &machine, &bits);
	require(memchr(text, 0, sizeof(text)) != NULL);
	require(image_build_id(path, id, sizeof(id)) <= (int)sizeof(id));
	image_offset_to_vaddr(path, 0x1000, &vaddr);
	for (k = 0; k < sizeof(names) / sizeof(names[0]); k++) {
		n = image_function_ranges(path, names[k], r, 4);
		for (i = 0; i < n && i < 4; i++)
			require(r[i].start <= r[i].end);
	}
}

static void ask(struct image_view *v, const uint8_t *data, size_t size, uint64_t addr,
		uint64_t pgoff)
{
	struct image_symbol sym, again;
	struct image_line line;
	uint8_t buf[32];
	size_t n;

	n = image_view_code(v, addr, buf, sizeof(buf));
	require(n <= sizeof(buf));
	if (pgoff != UINT64_MAX)
		require(pgoff < size ? n <= size - pgoff && !memcmp(buf, data + pgoff, n)
				     : !n);
	require(image_view_symbol(v, addr, &sym) == (sym.name != NULL));
	require(sym.id && sym.image);
	if (sym.name)
		require(sym.start <= addr && (!sym.end || addr < sym.end));
	image_view_symbol(v, addr, &again);
	require(sym.id == again.id && sym.name == again.name);
	if (image_view_line(v, addr, &line))
		require(line.file && line.line > 0);
}

static void mapped(const char *path, const uint8_t *data, size_t size)
{
	struct image_moment at = {1, 0};
	struct image_store *store = image_store_new("/");
	struct image_space *space = image_space_new(store);
	struct image_view *v = image_view_new(space);
	struct image_map m = {.addr = 0x10000, .len = size + 4096, .path = path};
	uint64_t low = 0x700000000000ull, i;

	image_space_map_elf(space, at, path, &low);
	at.generation = 2;
	require(!image_space_map(space, at, &m));
	image_view_set(v, at);
	for (i = 0; i < size + 4096 && i < 32768; i += 61) {
		ask(v, data, size, 0x10000 + i, i);
		ask(v, data, size, low + i, UINT64_MAX);
	}
	image_view_free(v);
	image_space_free(space);
	image_store_free(store);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char path[64];
	int fd = memfd_create("elf", MFD_CLOEXEC);

	require(fd >= 0 && write(fd, data, size) == (ssize_t)size);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	file_questions(path);
	mapped(path, data, size);
	close(fd);
	return 0;
}
