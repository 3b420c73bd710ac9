// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Tables of physical addresses (SDM 33.2.7.2). */
#include "pt_backend.h"

#define GRANULES	16			/* a buffer is cut into about so many */
#define MAX_REGION	(128ull << 20)		/* largest ToPA region: size field 15 */
#define NO_ENTRY	(~0ull)

static uint64_t floor_pow2(uint64_t x)
{
	while (x & (x - 1))
		x &= x - 1;
	return x;
}

static const struct hwt_host_ops *host_ops(const struct hwt_buffer *b)
{
	return hwt_core_host_ops(b->core);
}

static uint64_t unit_addr(const struct hwt_buffer *b, struct hwt_pages *pages, uint64_t page)
{
	struct hwt_bus *bus = b->backend->bus;

	return bus->ops->buf_addr(bus, host_ops(b)->page_addr(hwt_core_host(b->core), pages,
							      page));
}

static uint64_t granule_size(const struct hwt_buffer *b)
{
	uint64_t g = floor_pow2(b->bufsize / GRANULES ? b->bufsize / GRANULES : 1);

	if (g < HWT_PAGE_SIZE)
		g = HWT_PAGE_SIZE;
	return g > MAX_REGION ? MAX_REGION : g;
}

/*
 * Bytes of the region that begins at `off`: physically contiguous, a power of
 * two, aligned to itself, inside its granule.
 */
static uint64_t region_size(const struct hwt_buffer *b, uint64_t granule, uint64_t off)
{
	uint64_t limit = granule - off % granule, addr, n, size;

	if (limit > b->bufsize - off)
		limit = b->bufsize - off;
	addr = unit_addr(b, b->pages, off / HWT_PAGE_SIZE);
	for (n = HWT_PAGE_SIZE; n < limit; n += HWT_PAGE_SIZE)
		if (unit_addr(b, b->pages, (off + n) / HWT_PAGE_SIZE) != addr + n)
			break;
	size = floor_pow2(n);
	while (addr & (size - 1))
		size /= 2;
	return size;
}

static uint64_t entry_size_field(uint64_t size)
{
	uint64_t field = 0;

	while ((uint64_t)HWT_PAGE_SIZE << field < size)
		field++;
	return field << TOPA_SIZE_SHIFT;
}

static uint64_t entry_start(const struct pt_topa *t, uint64_t i)
{
	return i ? t->entry_end[i - 1] : 0;
}

static bool ends_granule(const struct pt_topa *t, const struct hwt_buffer *b, uint64_t i)
{
	return t->entry_end[i] % t->granule == 0 || t->entry_end[i] == b->bufsize;
}

/* Entry i as the unit reads it. */
static uint64_t entry_value(const struct pt_topa *t, const struct hwt_buffer *b, uint64_t i)
{
	uint64_t start = entry_start(t, i);
	uint64_t v = unit_addr(b, b->pages, start / HWT_PAGE_SIZE) |
		     entry_size_field(t->entry_end[i] - start);

	if (ends_granule(t, b, i))
		v |= TOPA_INT;
	if (i == t->stop_entry)
		v |= TOPA_STOP;
	return v;
}

/* Byte offset of entry i in the block of tables: each table is one page. */
static uint64_t entry_place(const struct pt_topa *t, uint64_t i)
{
	return i / t->per_table * HWT_PAGE_SIZE + i % t->per_table * sizeof(uint64_t);
}

static void put_word(struct pt_topa *t, struct hwt_buffer *b, uint64_t place, uint64_t v)
{
	host_ops(b)->page_write64(hwt_core_host(b->core), t->tables, place, v);
}

static void write_tables(struct pt_topa *t, struct hwt_buffer *b)
{
	uint64_t i, table, used;

	for (i = 0; i < t->nentries; i++)
		put_word(t, b, entry_place(t, i), entry_value(t, b, i));
	/* Each table ends in a link; the last one's closes the ring. */
	for (table = 0; table < t->ntables; table++) {
		used = t->nentries - table * t->per_table;
		if (used > t->per_table)
			used = t->per_table;
		put_word(t, b, table * HWT_PAGE_SIZE + used * sizeof(uint64_t),
			 unit_addr(b, t->tables, (table + 1) % t->ntables) | TOPA_END);
	}
}

static uint64_t count_entries(const struct hwt_buffer *b, uint64_t granule, uint64_t *ends)
{
	uint64_t off = 0, n = 0;

	while (off < b->bufsize) {
		off += region_size(b, granule, off);
		if (ends)
			ends[n] = off;
		n++;
	}
	return n;
}

int pt_topa_init(struct pt_topa *t, struct hwt_buffer *b, bool multi_entry)
{
	t->granule = granule_size(b);
	t->ngranules = (b->bufsize + t->granule - 1) / t->granule;
	t->stop_entry = NO_ENTRY;
	t->nentries = count_entries(b, t->granule, NULL);
	/* A unit without ToPA_MULTI takes one entry and its END link a table. */
	t->per_table = multi_entry ? TOPA_TABLE_ENTRIES - 1 : 1;
	t->ntables = (t->nentries + t->per_table - 1) / t->per_table;
	t->entry_end = hwt_alloc(t->nentries * sizeof(*t->entry_end), HWT_MAY_SLEEP);
	if (!t->entry_end)
		return -ENOMEM;
	count_entries(b, t->granule, t->entry_end);
	t->tables = host_ops(b)->pages_alloc(hwt_core_host(b->core), t->ntables,
					      HWT_PAGES_ANY);
	if (!t->tables)
		return -ENOMEM;	/* fini frees the rest */
	write_tables(t, b);
	return 0;
}

void pt_topa_fini(struct pt_topa *t, struct hwt_buffer *b)
{
	if (t->tables)
		host_ops(b)->pages_free(hwt_core_host(b->core), t->tables);
	hwt_free(t->entry_end);
	t->tables = NULL;
	t->entry_end = NULL;
}

uint64_t pt_topa_base(const struct pt_topa *t, const struct hwt_buffer *b)
{
	return unit_addr(b, t->tables, 0);
}

static uint64_t table_index(const struct pt_topa *t, const struct hwt_buffer *b, uint64_t base)
{
	uint64_t i;

	for (i = 0; i < t->ntables; i++)
		if (unit_addr(b, t->tables, i) == base)
			return i;
	return NO_ENTRY;
}

uint64_t pt_topa_offset(const struct pt_topa *t, const struct hwt_buffer *b,
			uint64_t base, uint64_t mask_ptrs)
{
	uint64_t table = table_index(t, b, base);
	uint64_t index = (mask_ptrs & RTIT_MASK_TABLE_MASK) >> RTIT_MASK_TABLE_SHIFT;
	uint64_t i, off;

	if (table == NO_ENTRY || index > t->per_table)
		return NO_ENTRY;
	i = table * t->per_table + index;
	if (i > t->nentries)
		return NO_ENTRY;
	/* On the END link: the unit has not followed it yet. */
	off = entry_start(t, i) + (mask_ptrs >> RTIT_MASK_OFFSET_SHIFT);
	return off >= b->bufsize ? 0 : off;
}

static uint64_t granule_last_entry(const struct pt_topa *t, const struct hwt_buffer *b,
				   uint64_t g)
{
	uint64_t end = (g + 1) * t->granule, lo = 0, hi = t->nentries - 1, mid;

	if (end > b->bufsize)
		end = b->bufsize;
	while (lo < hi) {
		mid = (lo + hi) / 2;
		if (t->entry_end[mid] < end)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

void pt_topa_set_stop(struct pt_topa *t, struct hwt_buffer *b, uint64_t g)
{
	uint64_t old = t->stop_entry;
	uint64_t now = g == NO_ENTRY ? NO_ENTRY : granule_last_entry(t, b, g);

	if (now == old)
		return;
	t->stop_entry = now;
	if (old != NO_ENTRY)
		put_word(t, b, entry_place(t, old), entry_value(t, b, old));
	if (now != NO_ENTRY)
		put_word(t, b, entry_place(t, now), entry_value(t, b, now));
}
