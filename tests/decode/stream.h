/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Hand-made PT streams over hand-made code, and what a decoder says of them
 * as one line of text:
 *
 *	1000 1005		addresses of executed instructions
 *	[sync] [on IP] [off IP] [async IP to TO] [mode N] [stop]
 *	[gap WHY IP VALUE] [error WHY IP @OFFSET]
 *	[cbr N] [pip N] [ptw N IP] [NAME IP]	other packets by name
 */
#ifndef TESTS_DECODE_STREAM_H
#define TESTS_DECODE_STREAM_H

#include "decode/pt/pt_decoder.h"

struct stream {
	uint8_t		b[1 << 16];
	size_t		n;
	/* Code: copied in at addresses below 64 KiB past base. */
	uint64_t	base;
	uint8_t		code[1 << 16];
	bool		known[1 << 16];
	size_t		outside;	/* code asked for where none is known */
	struct pt_decoder_config config;
};

/* An empty stream; code begins at base. */
struct stream *stream_new(uint64_t base);
/* Hexadecimal bytes of code, spaces allowed. */
void stream_code(struct stream *s, uint64_t addr, const char *hex);
void stream_forget(struct stream *s, uint64_t addr, size_t n);

void put_hex(struct stream *s, const char *hex);
void put_psb(struct stream *s);
void put_psbend(struct stream *s);
void put_mode(struct stream *s, unsigned int bits);	/* 64, 32, 16 */
/* IP packets with six bytes, sign-extended. */
void put_fup(struct stream *s, uint64_t ip);
void put_tip(struct stream *s, uint64_t ip);
void put_pge(struct stream *s, uint64_t ip);
void put_pgd(struct stream *s, uint64_t ip);
void put_pgd_noip(struct stream *s);
void put_tnt(struct stream *s, const char *bits);	/* "TNT...": up to 47 */
void put_ovf(struct stream *s);
void put_tsc(struct stream *s, uint64_t tsc);
void put_tma(struct stream *s, uint32_t ctc, uint32_t fast);
void put_mtc(struct stream *s, uint8_t mtc);
void put_cyc(struct stream *s, uint64_t cycles);
void put_cbr(struct stream *s, uint8_t ratio);
/* PSB, MODE.Exec 64, FUP (if ip), PSBEND. */
void put_sync(struct stream *s, uint64_t ip);

/*
 * Decodes the stream whole and in pieces of 1, 17 and 4096 bytes, asking for
 * 1, 3 and 64 events; all must say the same, which is returned (static).
 */
const char *stream_text(struct stream *s);
/* stream_text is `want`; frees s. */
void expect(struct stream *s, const char *want);
/* As expect; libipt's instruction decoder gives the same addresses, no error. */
void expect_ipt(struct stream *s, const char *want);
/* What libipt's instruction decoder says: addresses, and its error if any. */
void stream_ipt_text(struct stream *s, char *text, size_t room);
/* The events themselves (whole, at most max). */
int stream_events(struct stream *s, struct trace_event *ev, int max);

/*
 * 1000	call 1010		1010 jz 1014		1020 nop
 * 1005	nop			1012 nop		1021 syscall
 * 1006	jmp *%rax		1013 nop		1023 nop
 *				1014 nop		1024 jmp 1024
 *				1015 ret
 */
struct stream *stream_calls(void);
/* What every stream of it that begins with put_sync(s, 0x1000) gives first. */
#define ON "[sync] [on 1000] "

#endif
