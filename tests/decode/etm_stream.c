/* SPDX-License-Identifier: BSD-2-Clause */
#include "etm_stream.h"

#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

struct etm_stream s;

static const uint32_t code[] = {
	/* 4000 */ 0xd503201f,		/* nop */
	/* 4004 */ 0x94000003,		/* bl 4010 */
	/* 4008 */ 0xd4000001,		/* svc #0 */
	/* 400c */ 0x17fffffd,		/* b 4000 */
	/* 4010 */ 0xd503201f,		/* nop */
	/* 4014 */ 0x54000040,		/* b.eq 401c */
	/* 4018 */ 0xd65f03c0,		/* ret */
	/* 401c */ 0xd61f0200,		/* br x16 */
	/* 4020 */ 0xd503201f,		/* nop */
	/* 4024 */ 0xd69f03e0,		/* eret */
	/* 4028 */ 0xd503201f,		/* nop */
	/* 402c */ 0x17ffffff,		/* b 4028 */
};

bool nops;

static size_t read_code(void *ctx, uint64_t ip, uint8_t *buf, size_t len)
{
	if (nops) {
		memcpy(buf, &code[0], len < 4 ? len : 4);
		return len < 4 ? len : 4;
	}
	if (ip - BASE >= sizeof(code))
		return 0;
	if (len > sizeof(code) - (ip - BASE))
		len = sizeof(code) - (ip - BASE);
	memcpy(buf, (const uint8_t *)code + (ip - BASE), len);
	return len;
}

void begin(void)
{
	memset(&s, 0, sizeof(s));
	nops = false;
	s.source = (struct etm_source){
		.traceidr = 0x10,
		.configr = TRCCONFIGR_RES1,
		.idr = {0x280002a1, 0x4100f433, 0x90000088},
		.devarch = 0x47705a13,
	};
}

void put(const char *hex)
{
	unsigned int v;

	for (; *hex; hex += 2) {
		while (*hex == ' ')
			hex++;
		assert_int_equal(sscanf(hex, "%2x", &v), 1);
		s.b[s.n++] = v;
	}
}

static const char *gap_name(unsigned int gap)
{
	static const char *const names[TRACE_GAP_MAX] = {
		[TRACE_GAP_OVERFLOW] = "overflow", [TRACE_GAP_NO_CODE] = "no-code",
		[TRACE_GAP_NO_SYNC] = "no-sync", [TRACE_GAP_LOST] = "lost",
		[TRACE_ERR_PACKET] = "packet", [TRACE_ERR_UNEXPECTED] = "unexpected",
		[TRACE_ERR_RETURN] = "return", [TRACE_ERR_MODE] = "mode",
		[TRACE_ERR_TRUNCATED] = "truncated", [TRACE_ERR_FUP] = "fup", [TRACE_ERR_OTHER] = "other",
	};

	return names[gap] ? names[gap] : "?";
}

static void event_text(char *t, size_t room, const struct trace_event *ev)
{
	size_t n = strlen(t);
	uint32_t i;

	t += n;
	room -= n;
	switch (ev->type) {
	case TRACE_RUN:
		for (i = 0; i < ev->ninsn; i++)
			n = snprintf(t, room, "%llx ", (unsigned long long)ev->ip + 4 * i),
			t += n, room -= n;
		break;
	case TRACE_ENABLED:
		snprintf(t, room, "[on %llx] ", (unsigned long long)ev->ip);
		break;
	case TRACE_DISABLED:
		snprintf(t, room, "[off %llx] ", (unsigned long long)ev->ip);
		break;
	case TRACE_ASYNC:
		snprintf(t, room, "[exc %llx %llx to %llx] ", (unsigned long long)ev->value,
			 (unsigned long long)ev->ip, (unsigned long long)ev->to);
		break;
	case TRACE_GAP:
		snprintf(t, room, "[gap %s %llu] ", gap_name(ev->error),
			 (unsigned long long)ev->value);
		break;
	case TRACE_ERROR:
		snprintf(t, room, "[error %s] ", gap_name(ev->error));
		break;
	case TRACE_CONTEXT:
		snprintf(t, room, "[ctx %llx] ", (unsigned long long)ev->value);
		break;
	}
}

static void decode(char *text, size_t room, size_t chunk, uint64_t *time)
{
	const struct etm_decoder_config config = {
		.source = s.source,
		.code = read_code,
		.formatted = s.formatted,
		.max_walk = 1 << 16,
	};
	struct etm_decoder *d = etm_decoder_new(&config);
	struct trace_event ev[3];
	size_t at, k;
	int n, i;

	assert_non_null(d);
	*text = '\0';
	for (at = 0;; at += k) {
		k = s.n - at < chunk ? s.n - at : chunk;
		if (at < s.lost_at && at + k > s.lost_at)
			k = s.lost_at - at;
		if (at && at == s.lost_at)
			etm_decoder_lost(d, 7);
		if (k)
			assert_int_equal(etm_decoder_feed(d, s.b + at, k), 0);
		else
			etm_decoder_finish(d);
		while ((n = etm_decoder_next(d, ev, 3)) > 0)
			for (i = 0; i < n; i++) {
				event_text(text, room, &ev[i]);
				if (ev[i].flags & TRACE_F_TIME)
					*time = ev[i].time;
			}
		assert_int_equal(n, 0);
		if (!k)
			break;
	}
	n = strlen(text);
	if (n)
		text[n - 1] = '\0';
	etm_decoder_free(d);
}

const char *text_of(void)
{
	static char text[4096];
	uint64_t time;

	decode(text, sizeof(text), 4096, &time);
	return text;
}

uint64_t expect(const char *want)
{
	static const size_t chunks[] = {4096, 17, 1};
	char text[4096];
	uint64_t time = 0;
	size_t i;

	for (i = 0; i < 3; i++) {
		decode(text, sizeof(text), chunks[i], &time);
		if (strcmp(text, want)) {
			print_error("in pieces of %zu:\n  %s\nnot\n  %s\n", chunks[i], text,
				    want);
			fail();
		}
	}
	return time;
}
