// SPDX-License-Identifier: BSD-2-Clause
/*
 * Function bounds by .eh_frame, for functions that have no symbol.  The search
 * table of PT_GNU_EH_FRAME (LSB Core, 10.6.2) finds the frame description.
 */
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

struct row {
	int32_t start, fde; /* relative to the header */
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

bool fde_find(struct image_file *f, uint64_t vaddr, uint64_t *start, uint64_t *end)
{
	const struct image_phdr *p = NULL;
	uint64_t table, lo = 0, hi, mid;
	struct row row;
	struct hdr h;
	size_t i;

	for (i = 0; i < f->nphdr; i++) {
		if (f->phdr[i].type == PT_GNU_EH_FRAME)
			p = &f->phdr[i];
	}
	if (!p || !file_read_vaddr(f, p->vaddr, &h, sizeof(h)) || h.version != 1 ||
	    h.fde_count_enc != DW_EH_PE_UDATA4 ||
	    h.table_enc != (DW_EH_PE_DATAREL | DW_EH_PE_SDATA4))
		return false;
	table = p->vaddr + sizeof(h);
	hi = h.fde_count;
	while (lo < hi) {
		mid = lo + (hi - lo) / 2;
		if (!file_read_vaddr(f, table + mid * sizeof(row), &row, sizeof(row)))
			return false;
		if (p->vaddr + (uint64_t)(int64_t)row.start <= vaddr)
			lo = mid + 1;
		else
			hi = mid;
	}
	if (!lo || !file_read_vaddr(f, table + (lo - 1) * sizeof(row), &row, sizeof(row)))
		return false;
	return read_fde(f, p->vaddr + (uint64_t)(int64_t)row.fde, start, end) &&
	       vaddr >= *start && vaddr < *end;
}
