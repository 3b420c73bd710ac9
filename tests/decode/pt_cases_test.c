/* SPDX-License-Identifier: BSD-2-Clause */
/* Hand-made streams, one for each way in which tracing has gone wrong for others. */
#include "stream.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

static void a01_return_after_break(void **state)
{
	struct stream *s = stream_calls();

	put_sync(s, 0x1000);
	put_tnt(s, "T");
	put_fup(s, 0x1014);
	put_pgd_noip(s);
	put_pge(s, 0x1014);
	put_tnt(s, "T");
	put_fup(s, 0x1006);
	put_pgd_noip(s);
	expect_ipt(s, ON "1000 1010 [async 1014 to 0] [off 1014] [on 1014] "
		   "1014 1015 1005 [async 1006 to 0] [off 1006]");
}

static void a01_return_after_psb(void **state)
{
	struct stream *s = stream_calls();

	put_sync(s, 0x1000);
	put_tnt(s, "T");
	put_sync(s, 0x1014);
	put_tnt(s, "T");
	expect(s, ON "1000 1010 [sync] 1014 [error return 1015 @55]");
}

static void a03_return_bit_not_taken(void **state)
{
	struct stream *s = stream_calls();

	put_sync(s, 0x1000);
	put_tnt(s, "TN");
	put_tnt(s, "TTTT");
	put_sync(s, 0x1020);
	put_pgd_noip(s);
	expect(s, ON "1000 1010 1014 [error return 1015 @27] [gap nosync 0 1] [sync] "
		  "[on 1020] 1020 1021 [off 0]");
}

static void a04_deferred_tip(void **state)
{
	struct stream *s = stream_new(0x1000);

	/* call *%rbx; jz 1008; ret; hlt; 1008 nop; nop */
	stream_code(s, 0x1000, "ff d3  74 04  90  c3  f4 f4  90 90");
	put_sync(s, 0x1000);
	put_tnt(s, "TT");
	put_tip(s, 0x1005);
	put_fup(s, 0x1008);
	put_pgd_noip(s);
	expect_ipt(s, ON "1000 1005 1002 [async 1008 to 0] [off 1008]");
}

static void a04_deferred_tip_missing(void **state)
{
	struct stream *s = stream_new(0x1000);

	stream_code(s, 0x1000, "ff d3  74 04  90  c3");
	put_sync(s, 0x1000);
	put_tnt(s, "TT");
	put_tnt(s, "T");
	expect(s, ON "[error unexpected 1000 @28]");
	s = stream_new(0x1000);
	stream_code(s, 0x1000, "ff d3  74 04  90  c3");
	put_sync(s, 0x1000);
	put_tnt(s, "TT");
	expect(s, ON "[error truncated 1000 @28]");
}

static void a05_no_sync_point(void **state)
{
	struct stream *s = stream_calls();

	put_pge(s, 0x1000);
	put_tnt(s, "T");
	expect(s, "[gap nosync 0 8]");
	s = stream_calls();
	expect(s, "");
}

static void a05_second_start(void **state)
{
	struct stream *s = stream_calls();

	put_sync(s, 0);
	put_pge(s, 0x1020);
	put_pgd_noip(s);
	put_pge(s, 0x1000);
	put_tnt(s, "T");
	put_fup(s, 0x1015);
	put_pgd_noip(s);
	expect_ipt(s, "[sync] [on 1020] 1020 1021 [off 0] [on 1000] 1000 1010 1014 "
		   "[async 1015 to 0] [off 1015]");
}

static void a06_psb_not_closed(void **state)
{
	struct stream *s = stream_calls();

	put_psb(s);
	put_mode(s, 64);
	put_fup(s, 0x1000);
	put_tnt(s, "T");
	put_tnt(s, "T");
	put_sync(s, 0x1020);
	put_pgd_noip(s);
	expect(s, "[sync] [error psb 0 @0] [gap nosync 0 1] [sync] [on 1020] 1020 1021 [off 0]");
}

static void a06_psb_in_psb(void **state)
{
	struct stream *s = stream_calls();

	put_psb(s);
	put_mode(s, 64);
	put_sync(s, 0x1020);
	put_pgd_noip(s);
	expect(s, "[sync] [error psb 0 @0] [sync] [on 1020] 1020 1021 [off 0]");
}

static void a06_branch_in_psb(void **state)
{
	struct stream *s = stream_calls();

	put_psb(s);
	put_pge(s, 0x1000);
	put_psbend(s);
	put_sync(s, 0x1020);
	put_pgd_noip(s);
	expect(s, "[sync] [error psb 0 @0] [gap nosync 0 2] [sync] [on 1020] 1020 1021 [off 0]");
}

static void a08_enable_missing(void **state)
{
	struct stream *s = stream_calls();

	put_sync(s, 0x1020);
	put_pgd_noip(s);
	put_tnt(s, "T");	/* TIP.PGE 1000 is missing */
	put_tnt(s, "TT");
	put_tip(s, 0x1020);
	put_pgd_noip(s);
	expect(s, "[sync] [on 1020] 1020 1021 [off 0] [error disabled 0 @28] "
		  "[on 1020] 1020 1021 [off 0]");
	s = stream_calls();
	put_sync(s, 0);
	put_pgd_noip(s);
	put_fup(s, 0x1020);
	put_pgd_noip(s);
	expect(s, "[sync] [error disabled 0 @20] [error disabled 0 @21] [on 1020] "
		  "[async 1020 to 0] [off 1020]");
}

static void a08_disable_missing(void **state)
{
	struct stream *s = stream_calls();

	put_sync(s, 0x1000);
	put_pge(s, 0x1020);
	put_pgd_noip(s);
	expect(s, ON "[error unexpected 1000 @27] [on 1020] 1020 1021 [off 0]");
}

/* main 1000: call 2000; nop; jmp *%rax.  The call leaves the filter range. */
static struct stream *filtered(void)
{
	struct stream *s = stream_new(0x1000);

	stream_code(s, 0x1000, "90  e8 fa 0f 00 00  90  ff e0");
	s->config.nranges = 1;
	s->config.ranges[0].first = 0x1000;
	s->config.ranges[0].last = 0x100f;
	return s;
}

static void a10_call_out_of_filter(void **state)
{
	struct stream *s = filtered();

	put_sync(s, 0x1000);
	put_pgd(s, 0x2000);
	expect_ipt(s, ON "1000 1001 [off 2000]");
	/* The same without an address; and without known ranges it is no guess. */
	s = filtered();
	put_sync(s, 0x1000);
	put_pgd_noip(s);
	assert_string_equal(stream_text(s), ON "1000 1001 [off 0]");
	assert_int_equal(s->outside, 0);
	s->config.nranges = 0;
	expect(s, ON "1000 1001 [gap nocode 2000 0] [off 0]");
}

static void a11_fall_out_of_filter(void **state)
{
	struct stream *s = filtered();

	/* main ends at 1008, inside a block that goes on */
	stream_code(s, 0x1006, "90 90");
	stream_forget(s, 0x1008, 8);
	s->config.ranges[0].last = 0x1007;
	put_sync(s, 0x1006);
	put_pgd(s, 0x1008);
	put_pge(s, 0x1000);
	put_pgd(s, 0x2000);
	put_pge(s, 0x1006);
	put_pgd(s, 0x1008);
	assert_string_equal(stream_text(s),
			    "[sync] [on 1006] 1006 1007 [off 1008] [on 1000] 1000 1001 "
			    "[off 2000] [on 1006] 1006 1007 [off 1008]");
	/* Reading ahead within a block is all that met the end of the code. */
	assert_true(s->outside <= 1);
	free(s);
	s = filtered();
	stream_code(s, 0x1006, "90 90 90 90");
	s->config.ranges[0].last = 0x1007;
	put_sync(s, 0x1006);
	put_pgd_noip(s);
	expect(s, "[sync] [on 1006] 1006 1007 [off 0]");
}

static void a11_branches_out_of_filter(void **state)
{
	struct stream *s = stream_calls();

	/* Conditional: TIP.PGD in place of the bit, either way. */
	put_sync(s, 0x1010);
	put_pgd(s, 0x1014);
	expect_ipt(s, "[sync] [on 1010] 1010 [off 1014]");
	s = stream_calls();
	put_sync(s, 0x1010);
	put_pgd(s, 0x1012);
	expect_ipt(s, "[sync] [on 1010] 1010 [off 1012]");
	s = stream_calls();
	put_sync(s, 0x1010);
	put_pgd(s, 0x1013);
	expect(s, "[sync] [on 1010] [error unexpected 1010 @27]");
	/* Indirect, return, far: they went there. */
	s = stream_calls();
	put_sync(s, 0x1005);
	put_pgd(s, 0x9000);
	expect_ipt(s, "[sync] [on 1005] 1005 1006 [off 9000]");
	s = stream_calls();
	put_sync(s, 0x1015);
	put_pgd(s, 0x9000);
	expect_ipt(s, "[sync] [on 1015] 1015 [off 9000]");
	s = stream_calls();
	put_sync(s, 0x1010);
	s->config.nranges = 1;
	s->config.ranges[0].first = 0x1010;
	s->config.ranges[0].last = 0x1012;
	put_pgd_noip(s);
	expect(s, "[sync] [on 1010] 1010 [off 0]");
}

static void a10_indirect_branch_without_address(void **state)
{
	struct stream *s = filtered();

	/* Out of a known range: that is where it went.  Else no such packet exists. */
	put_sync(s, 0x1006);
	put_pgd_noip(s);
	expect(s, "[sync] [on 1006] 1006 1007 [off 0]");
	s = filtered();
	s->config.nranges = 0;
	put_sync(s, 0x1006);
	put_pgd_noip(s);
	expect(s, "[sync] [on 1006] [error unexpected 1007 @27]");
}

static void a12_entry_has_no_source(void **state)
{
	struct stream *s = stream_calls();
	struct trace_event ev[16];
	int n, i, runs = 0;

	put_sync(s, 0);
	put_pge(s, 0x1020);
	put_pgd_noip(s);
	put_pge(s, 0x1014);
	put_tip(s, 0x1020);
	put_pgd_noip(s);
	n = stream_events(s, ev, 16);
	for (i = 0; i < n; i++) {
		if (ev[i].type != TRACE_RUN)
			continue;
		assert_int_equal(!!(ev[i].flags & TRACE_F_ENTRY), runs != 2);
		assert_true(ev[i].flags & TRACE_F_BRANCH);
		runs++;
	}
	assert_int_equal(runs, 3);
	free(s);
}

static void a14_ip_compression(void **state)
{
	struct stream *s = stream_new(0x7fff00401000);

	stream_code(s, 0x7fff00401000, "ff e0");
	stream_code(s, 0x7fff00402000, "ff e0");
	stream_code(s, 0x7fff0040f000, "ff e0");
	put_sync(s, 0x7fff00401000);
	put_hex(s, "2d 00 20");				/* low 16 */
	put_hex(s, "4d 00 f0 40 00");			/* low 32 */
	put_hex(s, "8d 00 10 40 00 ff 7f");		/* low 48 */
	put_hex(s, "cd 00 20 40 00 ff 7f 00 00");	/* all */
	put_hex(s, "3d 00 20 01");			/* FUP, TIP.PGD */
	expect_ipt(s, "[sync] [on 7fff00401000] 7fff00401000 7fff00402000 7fff0040f000 "
		   "7fff00401000 [async 7fff00402000 to 0] [off 7fff00402000]");
	s = stream_new(0xffffffff81000000);
	stream_code(s, 0xffffffff81000000, "ff e0 90");
	put_sync(s, 0xffffffff81000000);
	put_tip(s, 0xffffffff81000002);
	put_fup(s, 0xffffffff81000002);
	put_pgd_noip(s);
	expect_ipt(s, "[sync] [on ffffffff81000000] ffffffff81000000 "
		   "[async ffffffff81000002 to 0] [off ffffffff81000002]");
}

static void a15_overflow_then_fup(void **state)
{
	struct stream *s = stream_calls();

	put_sync(s, 0x1000);
	put_tnt(s, "T");
	put_ovf(s);
	put_fup(s, 0x1000);
	put_tnt(s, "TT");
	put_fup(s, 0x1005);
	put_pgd_noip(s);
	expect_ipt(s, ON "1000 1010 [gap overflow 1014 0] [on 1000] 1000 1010 1014 1015 "
		   "[async 1005 to 0] [off 1005]");
}

static void a15_overflow_clears_calls(void **state)
{
	struct stream *s = stream_calls();

	put_sync(s, 0x1000);
	put_tnt(s, "T");
	put_ovf(s);
	put_fup(s, 0x1014);
	put_tnt(s, "T");
	expect(s, ON "1000 1010 [gap overflow 1014 0] [on 1014] 1014 [error return 1015 @37]");
}

static void a15_overflow_then_enable(void **state)
{
	struct stream *s = stream_calls();

	put_sync(s, 0x1000);
	put_ovf(s);
	put_pge(s, 0x1000);
	put_tnt(s, "T");
	put_fup(s, 0x1014);
	put_pgd_noip(s);
	expect_ipt(s, ON "[gap overflow 1000 0] [on 1000] 1000 1010 [async 1014 to 0] "
		   "[off 1014]");
}

static void a15_overflow_while_off(void **state)
{
	struct stream *s = stream_calls();

	put_sync(s, 0);
	put_ovf(s);
	put_pge(s, 0x1000);
	put_tnt(s, "T");
	put_ovf(s);
	put_tnt(s, "T");
	put_tip(s, 0x1020);
	put_pgd_noip(s);
	expect(s, "[sync] [gap overflow 0 0] [on 1000] 1000 1010 [gap overflow 1014 0] "
		  "[error disabled 0 @32] [on 1020] 1020 1021 [off 0]");
}

static void a15_overflow_in_psb(void **state)
{
	struct stream *s = stream_calls();

	put_psb(s);
	put_mode(s, 64);
	put_ovf(s);
	put_fup(s, 0x1000);
	put_tnt(s, "T");
	put_fup(s, 0x1014);
	put_pgd_noip(s);
	expect_ipt(s, "[sync] [gap overflow 0 0] [on 1000] 1000 1010 [async 1014 to 0] "
		   "[off 1014]");
	s = stream_calls();
	put_sync(s, 0x1000);
	put_ovf(s);
	put_psb(s);
	put_psbend(s);
	put_fup(s, 0x1010);
	put_tnt(s, "T");
	put_fup(s, 0x1014);
	put_pgd_noip(s);
	expect(s, ON "[gap overflow 1000 0] [sync] [on 1010] 1010 [async 1014 to 0] [off 1014]");
}

static void a17_items_are_no_branches(void **state)
{
	struct stream *s = stream_calls();

	put_sync(s, 0x1000);
	put_hex(s, "026380 0401020304 0c01020304 0233");
	put_tnt(s, "T");
	put_hex(s, "026300 040102030405060708 02f3");	/* OVF closes it */
	put_fup(s, 0x1000);
	put_hex(s, "04");				/* and this is TNT N */
	put_hex(s, "026380 0401020304");		/* no BEP: PSB closes it */
	put_sync(s, 0x1012);
	put_hex(s, "06");				/* TNT T: a ret after a PSB */
	expect(s, ON "[BBP 0] [BIP 0] [BIP 0] [BEP 0] 1000 1010 [BBP 0] [BIP 0] "
		  "[gap overflow 1014 0] [on 1000] 1000 1010 [BBP 0] [BIP 0] [sync] 1012 1013 "
		  "1014 [error return 1015 @100]");
}

static void a18_missing_code(void **state)
{
	struct stream *s = stream_calls();

	/* 1000 calls 1010, which is not there; the return has a TIP. */
	stream_forget(s, 0x1010, 6);
	put_sync(s, 0x1000);
	put_tnt(s, "T");
	put_tnt(s, "TN");
	put_tip(s, 0x1005);
	put_tip(s, 0x1012);		/* a known target without code */
	put_tip(s, 0x1020);
	put_pgd_noip(s);
	expect(s, ON "1000 [gap nocode 1010 2] [on 1005] 1005 1006 "
		  "[gap nocode 1012 0] [on 1020] 1020 1021 [off 0]");
}

static void a18_return_to_before_the_gap(void **state)
{
	struct stream *s = stream_calls();

	/* The call is made inside the gap: its compressed return cannot be known. */
	stream_forget(s, 0x1000, 8);
	put_sync(s, 0x1000);
	put_tnt(s, "T");
	put_tip(s, 0x1010);
	put_tnt(s, "TTTNT");
	put_tip(s, 0x1020);
	put_pgd_noip(s);
	expect(s, "[sync] [on 1000] [gap nocode 1000 1] [on 1010] 1010 1014 1015 "
		  "[gap return 1015 1] [on 1020] 1020 1021 [off 0]");
}

static void a18_event_in_missing_code(void **state)
{
	struct stream *s = stream_calls();

	stream_forget(s, 0x1010, 6);
	put_sync(s, 0x1000);
	put_fup(s, 0x1012);
	put_tip(s, 0x1020);
	put_pgd_noip(s);
	expect(s, ON "1000 [gap nocode 1010 0] [on 1012] [async 1012 to 1020] 1020 1021 [off 0]");
}

static void a18_bad_instruction(void **state)
{
	struct stream *s = stream_calls();

	stream_code(s, 0x1010, "06");		/* not in 64-bit mode */
	put_sync(s, 0x1000);
	put_tnt(s, "T");
	put_sync(s, 0x1020);
	put_pgd_noip(s);
	expect(s, ON "1000 [error badinsn 1010 @27] [sync] [on 1020] 1020 1021 [off 0]");
	/* An event there is no reason to execute it. */
	s = stream_calls();
	stream_code(s, 0x1010, "06");
	put_sync(s, 0x1000);
	put_fup(s, 0x1010);
	put_tip(s, 0x1020);
	put_pgd_noip(s);
	expect(s, ON "1000 [async 1010 to 1020] 1020 1021 [off 0]");
}

/* A loop of a thousand blocks and a jump back, entered at its begin. */
static struct stream *long_loop(void)
{
	struct stream *s = stream_new(0x1000);
	size_t i;

	for (i = 0; i < 1000; i++)
		stream_code(s, 0x1000 + 2 * i, "eb 00");
	stream_code(s, 0x1000 + 2 * i, "e9 2b f8 ff ff");
	put_sync(s, 0x1000);
	return s;
}

static void a19_loop_without_packets(void **state)
{
	struct stream *s;
	static const char *const ends[] = {
		"6d 00 20 00 00 00 00", "06", "6d 00 20 00 00 00 00 02 f3",
	};
	size_t i;

	for (i = 0; i < 3; i++) {
		s = stream_new(0x1000);
		stream_code(s, 0x1000, "f3 90  eb fc");
		put_sync(s, 0x1000);
		put_hex(s, ends[i]);
		assert_non_null(strstr(stream_text(s), ON "[error loop 1000 @27]"));
		free(s);
	}
	/* Recursion without a condition, and a loop of many blocks. */
	s = stream_new(0x1000);
	stream_code(s, 0x1000, "90 e8 fa ff ff ff");
	put_sync(s, 0x1000);
	put_tnt(s, "T");
	expect(s, ON "[error loop 1000 @27]");
	s = long_loop();
	put_tnt(s, "T");
	expect(s, ON "[error loop 1000 @27]");
	/* An event inside such a loop is met; who knows in which turn. */
	s = stream_new(0x1000);
	stream_code(s, 0x1000, "f3 90  eb fc");
	put_sync(s, 0x1000);
	put_fup(s, 0x1002);
	put_pgd_noip(s);
	expect_ipt(s, ON "1000 [gap repeated 1002 0] [async 1002 to 0] [off 1002]");
	s = long_loop();
	put_fup(s, 0x1004);
	put_pgd_noip(s);
	expect(s, ON "1000 1002 [gap repeated 1004 0] [async 1004 to 0] [off 1004]");
	/* A loop with a condition has a packet a turn. */
	s = stream_new(0x1000);
	stream_code(s, 0x1000, "74 02  90 90  eb fa");
	put_sync(s, 0x1000);
	put_fup(s, 0x1000);
	put_pgd_noip(s);
	expect_ipt(s, ON "[async 1000 to 0] [off 1000]");
	/* An event outside of it is not. */
	s = stream_new(0x1000);
	stream_code(s, 0x1000, "f3 90  eb fc");
	put_sync(s, 0x1000);
	put_fup(s, 0x1001);
	put_pgd_noip(s);
	expect(s, ON "[error loop 1000 @27] [gap nosync 0 1]");
}

static void a19_walk_has_an_end(void **state)
{
	struct stream *s = stream_new(0x1000);
	size_t i;

	for (i = 0; i < 500; i++)
		stream_code(s, 0x1000 + 2 * i, "eb 00");
	stream_code(s, 0x1000 + 2 * i, "c3");
	s->config.max_walk = 400;
	put_sync(s, 0x1000);
	put_tip(s, 0x1000);
	expect(s, ON "[error loop 1000 @27]");
}

static void a23_every_packet(void **state)
{
	struct stream *s = stream_calls();

	put_sync(s, 0x1020);
	put_hex(s, "00 1901020304050607 02730102000300 5901 0b 02031200");
	put_hex(s, "02c3880102030405060708 02c80102030405 9945");
	put_hex(s, "0262 02c20100000002000000 02228034 02a25f04000000");
	put_hex(s, "026380 0401020304 0233");
	put_hex(s, "0213010e 0253000102030405060708 d90005 d9400102 01");
	put_hex(s, "021201020304");
	put_hex(s, "0243020406080a0c");
	put_hex(s, "02ff");
	put_tnt(s, "T");
	put_sync(s, 0x1020);
	put_pgd_noip(s);
	expect(s, "[sync] [on 1020] [cbr 18] [MNT 0] [VMCS 0] [MODE 0] [EXSTOP 0] [MWAIT 0] "
		  "[PWRE 0] [PWRX 0] [BBP 0] [BIP 0] [BEP 0] [CFE 0] [EVD 0] [TRIG 0] [TRIG 0] "
		  "[ptw 4030201 0] [pip c0a080604020] [error packet 1020 @140] "
		  "[gap nosync 0 2] [sync] [on 1020] 1020 1021 [off 0]");
}

static void a24_begin_inside_a_packet(void **state)
{
	struct stream *s = stream_calls();

	put_hex(s, "20 40 00 00 00");		/* the rest of a TIP */
	put_tnt(s, "TTT");
	put_sync(s, 0x1020);
	put_pgd_noip(s);
	put_hex(s, "6d 10");			/* and one cut at the end */
	expect(s, "[gap nosync 0 6] [sync] [on 1020] 1020 1021 [off 0] [error truncated 0 @34]");
	/* Only padding before the PSB is no loss. */
	s = stream_calls();
	put_hex(s, "00 00 00");
	put_sync(s, 0x1020);
	put_pgd_noip(s);
	expect(s, "[sync] [on 1020] 1020 1021 [off 0]");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a01_return_after_break),
		cmocka_unit_test(a01_return_after_psb),
		cmocka_unit_test(a03_return_bit_not_taken),
		cmocka_unit_test(a04_deferred_tip),
		cmocka_unit_test(a04_deferred_tip_missing),
		cmocka_unit_test(a05_no_sync_point),
		cmocka_unit_test(a05_second_start),
		cmocka_unit_test(a06_psb_not_closed),
		cmocka_unit_test(a06_psb_in_psb),
		cmocka_unit_test(a06_branch_in_psb),
		cmocka_unit_test(a08_enable_missing),
		cmocka_unit_test(a08_disable_missing),
		cmocka_unit_test(a10_call_out_of_filter),
		cmocka_unit_test(a10_indirect_branch_without_address),
		cmocka_unit_test(a11_fall_out_of_filter),
		cmocka_unit_test(a11_branches_out_of_filter),
		cmocka_unit_test(a12_entry_has_no_source),
		cmocka_unit_test(a14_ip_compression),
		cmocka_unit_test(a15_overflow_then_fup),
		cmocka_unit_test(a15_overflow_clears_calls),
		cmocka_unit_test(a15_overflow_then_enable),
		cmocka_unit_test(a15_overflow_while_off),
		cmocka_unit_test(a15_overflow_in_psb),
		cmocka_unit_test(a17_items_are_no_branches),
		cmocka_unit_test(a18_missing_code),
		cmocka_unit_test(a18_return_to_before_the_gap),
		cmocka_unit_test(a18_event_in_missing_code),
		cmocka_unit_test(a18_bad_instruction),
		cmocka_unit_test(a19_loop_without_packets),
		cmocka_unit_test(a19_walk_has_an_end),
		cmocka_unit_test(a23_every_packet),
		cmocka_unit_test(a24_begin_inside_a_packet),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
