// SPDX-License-Identifier: BSD-2-Clause
/* .gnu_debugdata ("MiniDebugInfo"): an ELF with a .symtab, compressed by xz. */
#include <stdlib.h>
#include <string.h>
#include "image_priv.h"

#ifdef HAVE_LZMA
#include <lzma.h>

/* Far above any real one; a small section must not grow without end. */
#define INFLATED_MAX (256u << 20)
#define MEMORY_MAX   (128u << 20)

static uint8_t *inflate(const uint8_t *in, size_t n, size_t *out_size)
{
	lzma_stream s = LZMA_STREAM_INIT;
	size_t room = n * 4 + 65536;
	uint8_t *out = NULL, *p;
	lzma_ret ret = LZMA_OK;

	if (lzma_stream_decoder(&s, MEMORY_MAX, 0) != LZMA_OK)
		return NULL;
	s.next_in = in;
	s.avail_in = n;
	while (ret == LZMA_OK) {
		if (room > INFLATED_MAX)
			break;
		p = realloc(out, room);
		if (!p)
			break;
		out = p;
		s.next_out = out + s.total_out;
		s.avail_out = room - (size_t)s.total_out;
		ret = lzma_code(&s, LZMA_FINISH);
		if (ret == LZMA_OK && s.avail_out)
			break;
		room *= 2;
	}
	*out_size = (size_t)s.total_out;
	lzma_end(&s);
	if (ret == LZMA_STREAM_END)
		return out;
	free(out);
	return NULL;
}

Elf *debugdata_open(Elf *elf, uint8_t **bytes)
{
	Elf *inner = NULL;
	Elf_Data *data;
	GElf_Shdr sh;
	Elf_Scn *scn;
	size_t n;

	scn = elf_section(elf, ".gnu_debugdata", &sh);
	data = scn ? elf_section_data(scn, &sh) : NULL;
	*bytes = data ? inflate(data->d_buf, data->d_size, &n) : NULL;
	if (*bytes)
		inner = elf_memory((char *)*bytes, n);
	if (inner && elf_kind(inner) == ELF_K_ELF)
		return inner;
	if (inner)
		elf_end(inner);
	free(*bytes);
	*bytes = NULL;
	return NULL;
}

#else

Elf *debugdata_open(Elf *elf, uint8_t **bytes)
{
	*bytes = NULL;
	return NULL;
}

#endif
