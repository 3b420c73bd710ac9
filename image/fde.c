// SPDX-License-Identifier: BSD-2-Clause
/*
 * Function bounds by .eh_frame, for functions that have no symbol.  The search
 * table of PT_GNU_EH_FRAME (LSB Core, 10.6.2) finds the frame description.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "image_priv.h"

/* DWARF pointer encodings; the only ones that linkers write here. */
#define DW_EH_PE_UDATA4	 0x03
#define DW_EH_PE_SDATA4	 0x0b
#define DW_EH_PE_PCREL	 0x10
#define DW_EH_PE_DATAREL 0x30

struct hdr {
	uint8_t version, eh_frame_ptr_enc, fde_count_enc, table_enc;
	int32_t eh_frame_ptr;
	uint32_t fde_count;
};

/* The encoding of code pointers, from the CIE: true if it is pcrel | sdata4. */
static bool cie_is_pcrel4(struct image_file *f, uint64_t cie)
{
	uint8_t b[32];
	size_t i = 9, n;

	if (!file_read_vaddr(f, cie, b, sizeof(b)) || (b[8] != 1 && b[8] != 3))
		return false;
	n = strnlen((char *)b + i, sizeof(b) - i);
	if (n == sizeof(b) - i || b[i] != 'z')
		return false;
	if (!memchr(b + i, 'R', n))
		return false;
	/* Augmentations P and L come with data of their own: only "zR.." is read. */
	if (b[i + 1] != 'R')
		return true;
	i += n + 1;
	while (i < sizeof(b) && b[i++] & 0x80) /* code alignment */
		;
	while (i < sizeof(b) && b[i++] & 0x80) /* data alignment */
		;
	while (i < sizeof(b) && b[i++] & 0x80) /* return address column */
		;
	while (i < sizeof(b) && b[i++] & 0x80) /* augmentation's length */
		;
	return i < sizeof(b) && b[i] == (DW_EH_PE_PCREL | DW_EH_PE_SDATA4);
}

/* The bounds that the FDE at address `fde` holds. */
static bool read_fde(struct image_file *f, uint64_t fde, uint64_t *start, uint64_t *end)
{
	struct {
		uint32_t length, cie;
		int32_t begin;
		uint32_t range;
	} h;

	if (!file_read_vaddr(f, fde, &h, sizeof(h)) || h.length < 12 || !h.cie ||
	    h.length == UINT32_MAX)
		return false;
	if (!cie_is_pcrel4(f, fde + 4 - h.cie))
		return false;
	*start = fde + 8 + (uint64_t)(int64_t)h.begin;
	*end = *start + h.range;
	return h.range > 0 && *end > *start;
}

/* Rows of the search table: start of a function, its FDE; relative to the header. */
static void read_table(struct image_file *f)
{
	const struct image_phdr *p = NULL;
	uint64_t room;
	struct hdr h;
	size_t i;

	f->fdes_read = true;
	for (i = 0; i < f->nphdr; i++) {
		if (f->phdr[i].type == PT_GNU_EH_FRAME)
			p = &f->phdr[i];
	}
	if (!p || !file_read_vaddr(f, p->vaddr, &h, sizeof(h)) || h.version != 1 ||
	    h.fde_count_enc != DW_EH_PE_UDATA4 ||
	    h.table_enc != (DW_EH_PE_DATAREL | DW_EH_PE_SDATA4))
		return;
	room = p->filesz > sizeof(h) ? (p->filesz - sizeof(h)) / sizeof(*f->fdes) : 0;
	if (h.fde_count > room || !h.fde_count || p->filesz > IMAGE_TABLE_MAX)
		return;
	f->fdes = malloc(h.fde_count * sizeof(*f->fdes));
	if (!f->fdes)
		f->names_err = -ENOMEM;
	if (!f->fdes || !file_read_vaddr(f, p->vaddr + sizeof(h), f->fdes,
					 h.fde_count * sizeof(*f->fdes)))
		return;
	f->fde_base = p->vaddr;
	f->nfdes = h.fde_count;
}

bool fde_find(struct image_file *f, uint64_t vaddr, uint64_t *start, uint64_t *end)
{
	size_t lo = 0, hi, mid;

	if (!f->fdes_read)
		read_table(f);
	hi = f->nfdes;
	while (lo < hi) {
		mid = lo + (hi - lo) / 2;
		if (f->fde_base + (uint64_t)(int64_t)f->fdes[mid][0] <= vaddr)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo &&
	       read_fde(f, f->fde_base + (uint64_t)(int64_t)f->fdes[lo - 1][1], start,
			end) &&
	       vaddr >= *start && vaddr < *end;
}
