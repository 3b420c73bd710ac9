/* SPDX-License-Identifier: BSD-2-Clause */
/* Bytes to memory: ToPA and single-range output (33.2.7). */
#include "pt_unit_priv.h"

#define TOPA_RESERVED	(1ull << 1 | 1ull << 3 | 1ull << 5 | 3ull << 10 | 0xfffull << 52)

/*
 * Moves the position in the registers.  The bytes before it are stored first:
 * a reader in another process looks at it at any time.
 */
static inline void publish_offset(struct pt_unit *u)
{
	uint32_t *reg = (uint32_t *)pt_msr(u, MSR_RTIT_OUTPUT_MASK_PTRS);

	/* The upper half is OutputOffset (33.2.8.7); little endian. */
	__atomic_store_n(reg + 1, (uint32_t)u->off, __ATOMIC_RELEASE);
}

/*
 * Base and offset in one store, so that whoever dies or looks between two
 * stores never leaves or sees the one without the other.
 */
static void publish_table(struct pt_unit *u, uint64_t base, uint64_t ptrs)
{
	typedef uint64_t pair __attribute__((vector_size(16), aligned(8)));

	__atomic_thread_fence(__ATOMIC_RELEASE);
	*(volatile pair *)pt_msr(u, MSR_RTIT_OUTPUT_BASE) = (pair){base, ptrs};
}

void pt_operational_error(struct pt_unit *u)
{
	*pt_msr(u, MSR_RTIT_STATUS) |= RTIT_STATUS_ERROR;
	u->trigger_en = false;
	u->packet_en = false;
	pt_output_block(u);
	pt_status_update(u);
	pt_mode_update(u);
}

void pt_output_block(struct pt_unit *u)
{
	u->wend = u->wp;
}

/* Packets are also held up one by one where the test FIFO counts them. */
void pt_output_unblock(struct pt_unit *u)
{
	u->wp = u->region + u->off;
	u->wend = u->fifo ? u->wp : u->region + u->region_size;
}

static bool region_set(struct pt_unit *u, uint64_t base, uint64_t size, uint8_t flags)
{
	u->region = NULL;
	if (!(base & (size - 1)))
		u->region = u->host.memory(u->host.ctx, base, size);
	if (!u->region)
		return false;
	u->region_size = size;
	u->region_flags = flags;
	pt_output_unblock(u);
	return true;
}

/* The entry at index. */
static uint64_t topa_read(struct pt_unit *u, uint64_t base, uint64_t index, bool *valid)
{
	const uint64_t *slot = NULL;
	uint64_t entry;

	*valid = false;
	if (!(base & 0xfff))
		slot = u->host.memory(u->host.ctx, base + index * 8, 8);
	if (!slot)
		return 0;
	entry = *(const volatile uint64_t *)slot;
	/* END in a table's first entry, or with INT or STOP, is an error. */
	*valid = !(entry & TOPA_RESERVED) &&
		 (!(entry & TOPA_END) || (index && !(entry & (TOPA_INT | TOPA_STOP))));
	return entry;
}

/* Takes up the ToPA entry at index (33.2.7.2); at a fault registers point at it. */
static bool topa_open(struct pt_unit *u, uint64_t base, uint64_t index)
{
	uint64_t entry;
	bool valid;

	entry = topa_read(u, base, index, &valid);
	if (valid && (entry & TOPA_END)) {
		base = entry & TOPA_BASE_MASK;
		index = 0;
		u->off = 0;
		entry = topa_read(u, base, index, &valid);
	}
	publish_table(u, base, u->off << RTIT_MASK_OFFSET_SHIFT |
		      index << RTIT_MASK_TABLE_SHIFT | RTIT_MASK_LOWER);
	return valid &&
	       region_set(u, entry & TOPA_BASE_MASK,
			  0x1000ull << ((entry & TOPA_SIZE_MASK) >> TOPA_SIZE_SHIFT),
			  entry & (TOPA_INT | TOPA_STOP));
}

/* The region is full: to the next one, or stop.  False: no more output. */
static bool region_next(struct pt_unit *u)
{
	uint64_t ptrs = *pt_msr(u, MSR_RTIT_OUTPUT_MASK_PTRS);

	if (u->region_flags & TOPA_STOP) {
		/* OutputOffset stays at the region's size. */
		*pt_msr(u, MSR_RTIT_STATUS) |= RTIT_STATUS_STOPPED;
		u->trigger_en = false;
		u->packet_en = false;
		pt_output_block(u);
		pt_status_update(u);
		pt_mode_update(u);
		return false;
	}
	u->off = 0;
	if (!(u->ctl & RTIT_CTL_TOPA)) {
		publish_offset(u);
		pt_output_unblock(u);
		return true;
	}
	if (topa_open(u, *pt_msr(u, MSR_RTIT_OUTPUT_BASE),
		      ((ptrs & RTIT_MASK_TABLE_MASK) >> RTIT_MASK_TABLE_SHIFT) + 1))
		return true;
	pt_operational_error(u);
	return false;
}

bool pt_output_open(struct pt_unit *u)
{
	uint64_t ptrs = *pt_msr(u, MSR_RTIT_OUTPUT_MASK_PTRS);
	uint64_t base = *pt_msr(u, MSR_RTIT_OUTPUT_BASE);
	uint64_t size = (ptrs & 0xffffffff) + 1;
	bool ok;

	u->off = ptrs >> RTIT_MASK_OFFSET_SHIFT;
	if (u->ctl & RTIT_CTL_TOPA)
		ok = topa_open(u, base,
			       (ptrs & RTIT_MASK_TABLE_MASK) >> RTIT_MASK_TABLE_SHIFT);
	else	/* a mask of ones from bit 0 up; 128 bytes to 4 GiB */
		ok = !(size & (size - 1)) && region_set(u, base, size, 0);
	if (!ok || u->off > u->region_size) {
		pt_operational_error(u);
		return false;
	}
	if (u->off == u->region_size)	/* saved after STOP */
		return region_next(u);
	return true;
}

static inline void moved(struct pt_unit *u, size_t n)
{
	u->wp += n;
	u->off += n;
	u->count += n;
	publish_offset(u);
}

void pt_fifo_overflow(struct pt_unit *u)
{
	u->fifo_overflow = true;
	pt_unit_overflow_begin(u);
}

/* True: this packet is lost, the test FIFO is full. */
static bool fifo_full(struct pt_unit *u)
{
	if (!u->fifo || u->fifo_fill < u->fifo) {
		u->fifo_fill++;
		return false;
	}
	pt_fifo_overflow(u);
	return true;
}

static __attribute__((noinline)) void out_slow(struct pt_unit *u, const uint8_t *p,
					       size_t n)
{
	uint8_t *end;
	size_t k;

	if (!u->trigger_en || u->overflow || fifo_full(u))
		return;
	end = u->region + u->region_size;
	for (;;) {
		k = (size_t)(end - u->wp) < n ? (size_t)(end - u->wp) : n;
		memcpy(u->wp, p, k);
		moved(u, k);
		p += k;
		n -= k;
		if (u->wp == end) {
			u->pmi |= (u->region_flags & TOPA_INT) != 0;
			if (!region_next(u))
				return;
			end = u->region + u->region_size;
		}
		if (!n)
			break;
	}
	if (u->fifo)
		pt_output_block(u);
}

/* One packet of n bytes.  A region that is filled exactly is left at once. */
void pt_out(struct pt_unit *u, const uint8_t *p, size_t n)
{
	if (__builtin_expect(n < (size_t)(u->wend - u->wp), 1)) {
		memcpy(u->wp, p, n);
		moved(u, n);
	} else {
		out_slow(u, p, n);
	}
}

/* A packet of up to 8 bytes, first byte lowest; nothing beyond it is touched. */
void pt_out_short(struct pt_unit *u, uint64_t bytes, unsigned int n)
{
	uint8_t *w = u->wp;
	uint8_t buf[8];
	uint32_t word;

	if (__builtin_expect(n >= (size_t)(u->wend - w), 0)) {
		memcpy(buf, &bytes, 8);
		out_slow(u, buf, n);
		return;
	}
	if (n == 8) {
		memcpy(w, &bytes, 8);
	} else if (n >= 4) {
		memcpy(w, &bytes, 4);
		word = bytes >> (8 * (n - 4));
		memcpy(w + n - 4, &word, 4);
	} else {
		w[0] = bytes;
		w[n >> 1] = bytes >> 8 * (n >> 1);
		w[n - 1] = bytes >> 8 * (n - 1);
	}
	moved(u, n);
}
