/* SPDX-License-Identifier: BSD-2-Clause */
/* What writer and reader share: the shape of a record, and time. */
#include <errno.h>
#include <string.h>
#include "perf_format.h"

/* What a record of each type must hold: fixed bytes, then a string or code. */
enum tail { TAIL_NONE, TAIL_STRING, TAIL_CODE };
static const struct {
	uint16_t min;
	uint16_t tail;
} shapes[HWT_REC_TYPE_MAX] = {
	[HWT_REC_MMAP] = {sizeof(struct hwt_rec_mmap), TAIL_STRING},
	[HWT_REC_MUNMAP] = {sizeof(struct hwt_rec_munmap), TAIL_NONE},
	[HWT_REC_MPROTECT] = {sizeof(struct hwt_rec_mprotect), TAIL_NONE},
	[HWT_REC_EXEC] = {sizeof(struct hwt_rec_exec), TAIL_STRING},
	[HWT_REC_THREAD_CREATE] = {sizeof(struct hwt_rec_thread), TAIL_NONE},
	[HWT_REC_THREAD_EXIT] = {sizeof(struct hwt_rec_thread), TAIL_NONE},
	[HWT_REC_THREAD_NAME] = {sizeof(struct hwt_rec_name), TAIL_NONE},
	[HWT_REC_FORK] = {sizeof(struct hwt_rec_fork), TAIL_NONE},
	[HWT_REC_BUFFER] = {sizeof(struct hwt_rec_buffer), TAIL_NONE},
	[HWT_REC_KERNEL] = {sizeof(struct hwt_rec_kernel), TAIL_STRING},
	[HWT_REC_TEXT_POKE] = {sizeof(struct hwt_rec_code), TAIL_CODE},
	[HWT_REC_LOST] = {sizeof(struct hwt_rec_lost), TAIL_NONE},
	[HWT_REC_EXIT] = {sizeof(struct hwt_rec_exit), TAIL_NONE},
	[HWT_REC_CODE] = {sizeof(struct hwt_rec_code), TAIL_CODE},
	[HWT_REC_GENERATION] = {sizeof(struct hwt_rec_generation), TAIL_NONE},
	[HWT_REC_SOURCE] = {sizeof(struct hwt_rec_source), TAIL_NONE},
	[HWT_REC_NATIVE] = {sizeof(struct hwt_rec_native), TAIL_STRING},
};

int hwt_rec_check(const struct hwt_rec *rec, size_t avail)
{
	const uint8_t *payload;
	struct hwt_rec_code code;
	size_t n;

	if (avail < sizeof(*rec) || rec->size < sizeof(*rec) || rec->size % 8 ||
	    rec->size > avail || rec->size > HWT_PART_MAX || !rec->type)
		return -EINVAL;
	if (rec->type >= HWT_REC_TYPE_MAX)
		return 0;
	n = rec->size - sizeof(*rec);
	if (n < shapes[rec->type].min)
		return -EINVAL;
	payload = (const uint8_t *)(rec + 1) + shapes[rec->type].min;
	n -= shapes[rec->type].min;
	if (shapes[rec->type].tail == TAIL_STRING)
		return n && memchr(payload, 0, n) ? 0 : -EINVAL;
	if (shapes[rec->type].tail == TAIL_CODE) {
		memcpy(&code, payload - sizeof(code), sizeof(code));
		return code.len <= n ? 0 : -EINVAL;
	}
	return 0;
}

/* The most precise multiplier of 32 bits, without the zeros that add nothing. */
void time_conv_init(struct time_conv *tc, uint64_t hz)
{
	const uint64_t ns = 1000000000;
	unsigned int shift = 32;
	uint64_t mult;

	if (!hz)
		hz = ns;
	do {
		shift--;
		mult = (uint64_t)(((unsigned __int128)ns << shift) / hz);
	} while (shift && mult > UINT32_MAX);
	if (mult > UINT32_MAX)
		mult = UINT32_MAX;
	if (!mult)
		mult = 1;
	while (shift && !(mult & 1)) {
		mult >>= 1;
		shift--;
	}
	tc->zero = 0;
	tc->mult = (uint32_t)mult;
	tc->shift = (uint16_t)shift;
}

uint64_t time_conv_ns(const struct time_conv *tc, uint64_t ticks)
{
	unsigned __int128 ns = (unsigned __int128)ticks * tc->mult;

	ns = tc->shift < 64 ? ns >> tc->shift : 0;
	ns += tc->zero;
	return ns > UINT64_MAX ? UINT64_MAX : (uint64_t)ns;
}

uint64_t time_conv_ticks(const struct time_conv *tc, uint64_t ns)
{
	unsigned __int128 ticks;

	if (ns <= tc->zero || !tc->mult)
		return 0;
	if (tc->shift >= 64)
		return UINT64_MAX;
	ticks = ((unsigned __int128)(ns - tc->zero) << tc->shift) / tc->mult;
	return ticks > UINT64_MAX ? UINT64_MAX : (uint64_t)ticks;
}
