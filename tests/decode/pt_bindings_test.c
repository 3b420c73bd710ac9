/* SPDX-License-Identifier: BSD-2-Clause */
/* Hand-made streams for each binding rule of the manual: what a packet belongs to. */
#include "stream.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

static void async_branch(void **state)
{
	struct stream *s = stream_calls();

	put_sync(s, 0x1000);
	put_fup(s, 0x1010);
	put_tip(s, 0x1020);
	put_fup(s, 0x1021);
	put_tip(s, 0x1010);
	put_tnt(s, "N");
	put_fup(s, 0x1013);
	put_pgd(s, 0x5000);
	expect_ipt(s, ON "1000 [async 1010 to 1020] 1020 [async 1021 to 1010] 1010 1012 "
		   "[async 1013 to 0] [off 1013]");
}

static void async_never_met(void **state)
{
	struct stream *s = stream_calls();

	put_sync(s, 0x1000);
	put_fup(s, 0x1012);
	put_tip(s, 0x1020);
	put_sync(s, 0x1020);
	put_pgd_noip(s);
	expect(s, ON "[error fup 1000 @27] [gap nosync 0 7] [sync] [on 1020] 1020 1021 [off 0]");
	s = stream_calls();
	put_sync(s, 0x1000);
	put_fup(s, 0x1010);
	put_tnt(s, "T");
	expect(s, ON "1000 [error unexpected 1010 @34]");
}

static void branch_does_not_fit(void **state)
{
	struct stream *s = stream_calls();

	put_sync(s, 0x1010);
	put_tip(s, 0x1020);
	expect(s, "[sync] [on 1010] [error unexpected 1010 @27]");
	s = stream_calls();
	put_sync(s, 0x1020);
	put_tnt(s, "T");
	put_pgd_noip(s);
	expect(s, "[sync] [on 1020] [error unexpected 1021 @28]");
}

static void psb_keeps_the_address(void **state)
{
	struct stream *s = stream_calls();

	put_sync(s, 0x1000);
	put_tnt(s, "T");
	put_sync(s, 0x1014);
	put_tip(s, 0x1005);
	put_sync(s, 0x1005);
	put_sync(s, 0x1005);
	put_tip(s, 0x1020);
	put_pgd_noip(s);
	expect_ipt(s, ON "1000 1010 [sync] 1014 1015 [sync] [sync] 1005 1006 1020 1021 [off 0]");
}

static void psb_elsewhere(void **state)
{
	struct stream *s = stream_calls();

	put_sync(s, 0x1010);
	put_sync(s, 0x1020);
	put_pgd_noip(s);
	expect(s, "[sync] [on 1010] [sync] [error fup 1010 @52] [on 1020] 1020 1021 [off 0]");
	s = stream_calls();
	put_sync(s, 0x1010);
	put_sync(s, 0);
	put_pge(s, 0x1020);
	put_pgd_noip(s);
	expect(s, "[sync] [on 1010] [sync] [error unexpected 1010 @45] [off 0] [on 1020] "
		  "1020 1021 [off 0]");
	s = stream_calls();
	put_sync(s, 0);
	put_sync(s, 0x1020);
	put_pgd_noip(s);
	expect(s, "[sync] [sync] [error disabled 0 @45] [on 1020] 1020 1021 [off 0]");
}

static void far_transfer(void **state)
{
	struct stream *s = stream_new(0x1000);

	/* int3; iretq; syscall; int 80 */
	stream_code(s, 0x1000, "90 cc  48 cf  0f 05  cd 80  90 90");
	put_sync(s, 0x1000);
	put_tip(s, 0x1002);
	put_tip(s, 0x1004);
	put_tip(s, 0x1006);
	put_tip(s, 0x1008);
	put_fup(s, 0x1009);
	put_pgd_noip(s);
	expect_ipt(s, ON "1000 1001 1002 1004 1006 1008 [async 1009 to 0] [off 1009]");
}

static void zero_length_call(void **state)
{
	struct stream *s = stream_new(0x1000);

	/* 1000 call 1006; 1005 nop; 1006 call 100b (the next); 100b pop; ret */
	stream_code(s, 0x1000, "e8 01 00 00 00  90  e8 00 00 00 00  58  c3");
	put_sync(s, 0x1000);
	put_tnt(s, "T");
	put_fup(s, 0x1005);
	put_pgd_noip(s);
	expect_ipt(s, ON "1000 1006 100b 100c [async 1005 to 0] [off 1005]");
}

static void return_stack_is_64_deep(void **state)
{
	struct stream *s = stream_new(0x1000);
	int i;

	/* 1000 jz 1007; call 1000; 1007 ret: recursion; 1009 is where calls return to */
	stream_code(s, 0x1000, "74 06  e8 f9 ff ff ff  90  c3");
	put_sync(s, 0x1000);
	for (i = 0; i < 70; i++)
		put_tnt(s, "N");
	put_hex(s, "06");
	for (i = 0; i < 64; i++)
		put_tnt(s, "T");
	put_tnt(s, "T");
	assert_non_null(strstr(stream_text(s), "[error return 1008 @162]"));
	free(s);
}

static void transactions(void **state)
{
	struct stream *s = stream_new(0x1000);

	stream_code(s, 0x1000, "90 90 90 f4 90 90 f4");
	put_sync(s, 0x1000);
	put_hex(s, "9921");
	put_fup(s, 0x1001);
	put_hex(s, "9922");
	put_fup(s, 0x1002);
	put_tip(s, 0x1004);
	put_fup(s, 0x1005);
	put_pgd_noip(s);
	expect_ipt(s, ON "1000 [MODE.TSX 1001] 1001 [MODE.TSX 1002] [async 1002 to 1004] 1004 "
		   "[async 1005 to 0] [off 1005]");
}

static void ptwrite(void **state)
{
	struct stream *s = stream_new(0x1000);

	/* nop; ptwrite %eax; nop; nop; ptwrite; nop */
	stream_code(s, 0x1000, "90  f3 0f ae e0  90 90  f3 0f ae e0  90 90");
	put_sync(s, 0x1000);
	put_hex(s, "0292 78563412");
	put_fup(s, 0x1001);
	put_hex(s, "0212 01000000");
	put_hex(s, "0232 0200000000000000");
	put_fup(s, 0x100b);
	put_pgd_noip(s);
	expect(s, ON "1000 [ptw 12345678 1001] 1001 [ptw 1 1001] 1005 1006 1007 "
		  "[ptw 2 1007] [async 100b to 0] [off 100b]");
}

static void paging(void **state)
{
	struct stream *s = stream_new(0x1000);

	/* nop; mov %rax, %cr3; nop; jmp *%rax; nop */
	stream_code(s, 0x1000, "90  0f 22 d8  90  ff e0  90");
	put_sync(s, 0x1000);
	put_hex(s, "0243 020406080a0c");
	put_tip(s, 0x1000);
	put_hex(s, "0243 040000000000");
	put_pgd_noip(s);
	expect(s, ON "1000 1001 [pip c0a080604020] 1004 1005 1000 1001 [pip 40] [off 0]");
	s = stream_new(0x1000);
	stream_code(s, 0x1000, "90  0f 22 d8  90  ff e0  90");
	put_sync(s, 0x1000);
	put_pgd_noip(s);
	expect_ipt(s, ON "1000 1001 [off 0]");
}

static void power(void **state)
{
	struct stream *s = stream_calls();

	put_sync(s, 0x1000);
	put_hex(s, "02e2");
	put_fup(s, 0x1010);
	put_tnt(s, "T");
	put_fup(s, 0x1014);
	put_pgd_noip(s);
	put_hex(s, "02e2");
	put_pge(s, 0x1020);
	put_pgd_noip(s);
	expect(s, ON "1000 [EXSTOP 1010] 1010 [async 1014 to 0] [off 1014] [EXSTOP 0] [on 1020] "
		  "1020 1021 [off 0]");
}

static void event_trace(void **state)
{
	struct stream *s = stream_new(0x1000);

	/* nop; sti; nop; iretq; 1005 nop; cli; nop */
	stream_code(s, 0x1000, "90 fb 90 48 cf 90 fa 90");
	put_sync(s, 0x1000);
	put_hex(s, "9905");			/* IF set: MODE.Exec, FUP */
	put_fup(s, 0x1002);
	put_hex(s, "0213810e");			/* CFE interrupt, FUP, TIP */
	put_fup(s, 0x1003);
	put_tip(s, 0x1003);
	put_hex(s, "02138200");			/* CFE IRET at the IRET */
	put_fup(s, 0x1003);
	put_tip(s, 0x1005);
	put_fup(s, 0x1006);
	put_pgd_noip(s);
	expect(s, ON "1000 1001 1002 [CFE 1003] [async 1003 to 1003] [CFE 1003] 1003 1005 "
		  "[async 1006 to 0] [off 1006]");
}

static void event_trace_without_branches(void **state)
{
	struct stream *s = stream_calls();

	put_sync(s, 0);
	put_mode(s, 64);
	put_fup(s, 0x1000);
	put_hex(s, "0253000000f00baa000000 0213810e");
	put_fup(s, 0x1010);
	put_hex(s, "02130200");
	expect(s, "[sync] [EVD 0] [CFE 1010] [CFE 0]");
}

static void mode_before_a_fup(void **state)
{
	struct stream *s = stream_new(0x1000);

	/* nop; nop; call *%rax; hlt; nop: MODE.Exec, FUP is alone, the TIP is the call's */
	stream_code(s, 0x1000, "90 90 ff d0 f4 90 f4");
	put_sync(s, 0);
	put_mode(s, 64);
	put_pge(s, 0x1000);
	put_mode(s, 64);
	put_fup(s, 0x1002);
	put_mode(s, 64);
	put_tip(s, 0x1005);
	put_fup(s, 0x1006);
	put_pgd_noip(s);
	expect(s, "[sync] [on 1000] 1000 1001 1002 1005 [async 1006 to 0] [off 1006]");
	/* Also where the flow was lost. */
	s = stream_calls();
	put_sync(s, 0x1005);
	put_tip(s, 0x3000);
	put_tnt(s, "T");
	put_mode(s, 64);
	put_fup(s, 0x1020);
	put_pgd_noip(s);
	expect(s, "[sync] [on 1005] 1005 1006 [gap nocode 3000 3] [on 1020] 1020 1021 [off 0]");
}

static void new_branches(void **state)
{
	struct stream *s = stream_new(0x1000);

	/* jmpabs; eretu; erets */
	stream_code(s, 0x1000, "90 d5 00 a1 00 00 00 00 00 00 00 00  f3 0f 01 ca  f2 0f 01 ca");
	put_sync(s, 0x1000);
	put_tip(s, 0x100c);
	put_tip(s, 0x1010);
	put_pgd_noip(s);
	expect(s, ON "1000 1001 100c 1010 [off 0]");
}

static void trace_stop(void **state)
{
	struct stream *s = stream_calls();

	put_sync(s, 0x1020);
	put_pgd_noip(s);
	put_hex(s, "0283");
	put_sync(s, 0x1020);
	put_hex(s, "0283");
	expect(s, "[sync] [on 1020] 1020 1021 [off 0] [stop] [sync] [error disabled 0 @55] "
		  "[on 1020] [off 0] [stop]");
}

static void modes(void **state)
{
	struct stream *s = stream_new(0x1000);

	/* 32-bit: inc %eax is REX in 64-bit mode; jmp wraps at 32 bits */
	stream_code(s, 0x1000, "40 90 ff e0  06 cb");
	put_psb(s);
	put_mode(s, 32);
	put_fup(s, 0x1000);
	put_psbend(s);
	put_tip(s, 0x1004);
	put_mode(s, 64);
	put_tip(s, 0x1000);
	put_mode(s, 32);
	put_tip(s, 0x1004);
	put_pgd_noip(s);
	expect_ipt(s, "[sync] [mode 32] [on 1000] 1000 1001 1002 1004 1005 1000 1002 [mode 32] "
		   "1004 1005 [off 0]");
	s = stream_calls();
	put_sync(s, 0x1020);
	put_psb(s);
	put_mode(s, 32);
	put_fup(s, 0x1021);
	put_psbend(s);
	put_pgd_noip(s);
	expect(s, "[sync] [on 1020] [sync] 1020 [error unexpected 1021 @52] [mode 32] [on 1021] "
		  "1021 [off 0]");
	s = stream_calls();
	put_sync(s, 0x1000);
	put_hex(s, "9903");
	expect(s, ON "[error mode 1000 @27]");
}

static void page_end_and_far_blocks(void **state)
{
	struct stream *s = stream_new(0x1000);
	char hex[4200] = "";
	int i;

	/* A straight run over two pages; an instruction lies on the border. */
	for (i = 0; i < 1000; i++)
		strcat(hex, "90 ");
	stream_code(s, 0x1000 + 0x1000 - 1000, hex);
	stream_code(s, 0x1ffe, "48 81 c0 00 00 00 00 c3");
	put_sync(s, 0x1ff0);
	put_fup(s, 0x2005);
	put_pgd_noip(s);
	expect_ipt(s, "[sync] [on 1ff0] 1ff0 1ff1 1ff2 1ff3 1ff4 1ff5 1ff6 1ff7 1ff8 1ff9 1ffa "
		   "1ffb 1ffc 1ffd 1ffe [async 2005 to 0] [off 2005]");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(async_branch),
		cmocka_unit_test(async_never_met),
		cmocka_unit_test(branch_does_not_fit),
		cmocka_unit_test(psb_keeps_the_address),
		cmocka_unit_test(psb_elsewhere),
		cmocka_unit_test(far_transfer),
		cmocka_unit_test(zero_length_call),
		cmocka_unit_test(return_stack_is_64_deep),
		cmocka_unit_test(transactions),
		cmocka_unit_test(ptwrite),
		cmocka_unit_test(paging),
		cmocka_unit_test(power),
		cmocka_unit_test(event_trace),
		cmocka_unit_test(event_trace_without_branches),
		cmocka_unit_test(mode_before_a_fup),
		cmocka_unit_test(new_branches),
		cmocka_unit_test(trace_stop),
		cmocka_unit_test(modes),
		cmocka_unit_test(page_end_and_far_blocks),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
