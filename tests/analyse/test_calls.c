// SPDX-License-Identifier: BSD-2-Clause
/*
 * Stacks and functions from hand-made flow.  Function X of the made-up program
 * (a letter) stands at its letter * 0x1000; lower-case letters have no symbol.
 * A run is 4 instructions in 16 bytes; the last 2 bytes are the branch.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include "analyse/analysis.h"

#define AT(letter, offset) ((uint64_t)(letter)*0x1000 + (offset))
#define MAX_BLOCKS	   4096

static struct analysis *a;
static struct analysis_thread *t;
static struct trace_block *blocks[MAX_BLOCKS];
static int nblocks;
static uint64_t now;
static uint64_t told[ANALYSIS_WAYS];	/* entries, by analysis_watch */
static struct analysis_entry last_told;

static bool symbol(void *ctx, uint64_t ip, struct image_symbol *out)
{
	static char names[128][16];
	int letter = (int)(ip >> 12);

	memset(out, 0, sizeof(*out));
	out->image = letter >= 'a' ? "stripped" : "prog";
	out->id = letter >= 'a' ? 1000 : (uint64_t)letter;
	if (letter >= 'a')
		return false;
	/* J is setjmp, L longjmp, H is G's unlikely part. */
	snprintf(names[letter], sizeof(names[letter]), "%c", letter);
	if (letter == 'J')
		strcpy(names[letter], "_setjmp");
	if (letter == 'L')
		strcpy(names[letter], "longjmp");
	if (letter == 'H')
		strcpy(names[letter], "G.cold");
	out->name = out->raw_name = names[letter];
	out->start = ip & ~0xfffull;
	out->end = out->start + 0x1000;
	return true;
}

static struct trace_block *block(uint64_t ip, enum block_end kind, uint64_t target)
{
	struct trace_block *b;
	int i;

	for (i = 0; i < nblocks; i++) {
		if (blocks[i]->ip == ip && blocks[i]->kind == kind)
			return blocks[i];
	}
	assert_true(nblocks < MAX_BLOCKS);
	b = calloc(1, sizeof(*b));
	b->ip = ip;
	b->end = ip + 16;
	b->last = ip + 14;
	b->target = target;
	b->kind = (uint8_t)kind;
	b->ninsn = 4;
	blocks[nblocks++] = b;
	return b;
}

static void feed(struct trace_event ev)
{
	ev.time = now;
	assert_int_equal(analysis_feed(t, &ev, 1), 0);
}

/* Four instructions at ip, ended by a branch. */
static void run(uint64_t ip, enum block_end kind)
{
	feed((struct trace_event){.type = TRACE_RUN,
				  .flags = TRACE_F_BRANCH,
				  .ninsn = 4,
				  .ip = ip,
				  .block = block(ip, kind, 0)});
}

static void disabled(uint64_t ip)
{
	feed((struct trace_event){.type = TRACE_DISABLED, .ip = ip});
}

static void enabled(uint64_t ip)
{
	feed((struct trace_event){.type = TRACE_ENABLED, .ip = ip});
}

static void async(uint64_t ip)
{
	feed((struct trace_event){.type = TRACE_ASYNC, .ip = ip});
}

static void gap(uint64_t missing)
{
	feed((struct trace_event){
		.type = TRACE_GAP, .error = TRACE_GAP_LOST, .value = missing});
}

static void tell(void *ctx, const struct analysis_entry *e)
{
	assert_true(e->way < ANALYSIS_WAYS);
	told[e->way]++;
	last_told = *e;
}

static int setup(void **st)
{
	struct analysis_config config = {.tree = true, .max_nodes = 100000};

	a = analysis_new(&config);
	t = analysis_thread(a, 1, 1, symbol, NULL);
	now = 0;
	memset(told, 0, sizeof(told));
	if (!a || !t)
		return -1;
	analysis_watch(t, tell, NULL);
	return 0;
}

static int teardown(void **st)
{
	analysis_free(a);
	while (nblocks)
		free(blocks[--nblocks]);
	return 0;
}

static const struct analysis_function *function(const char *name)
{
	const struct analysis_function *const *list;
	long i, n = analysis_functions(a, &list);

	for (i = 0; i < n; i++) {
		if (!strcmp(list[i]->name, name))
			return list[i];
	}
	fail_msg("function %s was not seen", name);
	return NULL;
}

/* The tree in one line: name(children), x for outside, ! for gaps. */
static void draw(const struct analysis_node *n, char **at)
{
	for (; n; n = n->next) {
		if (n->kind == ANALYSIS_NODE_GAP)
			*at += sprintf(*at, "!");
		else if (n->kind == ANALYSIS_NODE_OUTSIDE)
			*at += sprintf(*at, "x");
		else
			*at += sprintf(*at, "%s", n->function->name);
		if (n->calls != 1)
			*at += sprintf(*at, "*%d", (int)n->calls);
		if (n->child) {
			*at += sprintf(*at, "(");
			draw(n->child, at);
			*at += sprintf(*at, ")");
		}
		if (n->next)
			*at += sprintf(*at, " ");
	}
}

static uint64_t calls_below(const struct analysis_node *n, bool outside)
{
	uint64_t calls = 0;

	for (; n; n = n->next) {
		if (n->kind != ANALYSIS_NODE_GAP &&
		    outside == (n->kind == ANALYSIS_NODE_OUTSIDE))
			calls += n->calls;
		calls += calls_below(n->child, outside);
	}
	return calls;
}

/* What was counted was also told. */
static void expect_told(void)
{
	const struct analysis_node *first = analysis_tree(t)->child;

	assert_int_equal(told[ANALYSIS_BY_CALL] + told[ANALYSIS_BY_JUMP] +
				 told[ANALYSIS_BY_SIGNAL] + told[ANALYSIS_UNSEEN],
			 calls_below(first, false));
	assert_int_equal(told[ANALYSIS_TO_OUTSIDE], calls_below(first, true));
}

/* Ends the thread; what was executed is all somebody's own. */
static void expect_tree(const char *want)
{
	const struct analysis_function *const *list;
	uint64_t sum = 0;
	char text[65536], *at = text;
	long i, n;

	analysis_thread_end(t);
	*text = 0;
	draw(analysis_tree(t)->child, &at);
	assert_string_equal(text, want);
	expect_told();
	n = analysis_functions(a, &list);
	for (i = 0; i < n; i++) {
		sum += list[i]->self;
		assert_true(list[i]->total >= list[i]->self);
		assert_true(list[i]->total <= analysis_instructions(a));
	}
	assert_int_equal(sum, analysis_instructions(a));
	assert_int_equal(analysis_tree(t)->total, analysis_instructions(a));
}

/* A calls B twice, B calls C. */
static void nested(void **st)
{
	int i;

	now = 1000;
	run(AT('A', 0), BLOCK_JCC);
	for (i = 0; i < 2; i++) {
		run(AT('A', 0x20 + 0x20 * i), BLOCK_CALL);
		now += 10;
		run(AT('B', 0), BLOCK_CALL);
		run(AT('C', 0), BLOCK_RET);
		run(AT('B', 0x10), BLOCK_RET);
		run(AT('A', 0x30 + 0x20 * i), BLOCK_JMP);
	}
	expect_tree("A(B*2(C*2))");
	assert_int_equal(function("A")->self, 4 + 4 * 4);
	assert_int_equal(function("A")->total, 11 * 4);
	assert_int_equal(function("B")->self, 16);
	assert_int_equal(function("B")->total, 24);
	assert_int_equal(function("B")->calls, 2);
	assert_int_equal(function("B")->flags, 0);
	assert_true(function("B")->has_time);
	assert_int_equal(function("A")->flags, ANALYSIS_UNFINISHED);
	assert_int_equal(function("A")->ticks, 20);
	assert_int_equal(analysis_max_depth(t), 3);
	assert_int_equal(analysis_instructions(a), 44);
}

/* Recursion counts once in `total`. */
static void recursive(void **st)
{
	int i;

	run(AT('A', 0), BLOCK_CALL);
	for (i = 0; i < 9; i++)
		run(AT('B', 0), BLOCK_CALL);
	run(AT('B', 0), BLOCK_RET);
	for (i = 0; i < 9; i++)
		run(AT('B', 0x10), BLOCK_RET);
	run(AT('A', 0x10), BLOCK_JMP);
	expect_tree("A(B(B(B(B(B(B(B(B(B(B))))))))))");
	assert_int_equal(function("B")->calls, 10);
	assert_int_equal(function("B")->self, 19 * 4);
	assert_int_equal(function("B")->total, 19 * 4);
	assert_int_equal(function("A")->total, 21 * 4);
	assert_int_equal(analysis_max_depth(t), 11);
}

static void tail_call(void **st)
{
	run(AT('A', 0), BLOCK_CALL);
	run(AT('B', 0), BLOCK_JMP);
	run(AT('C', 0), BLOCK_JMP_IND);
	run(AT('D', 0), BLOCK_RET);
	run(AT('A', 0x10), BLOCK_JMP);
	expect_tree("A(B C D)");
	assert_int_equal(told[ANALYSIS_BY_JUMP], 2);
	assert_int_equal(function("D")->flags, ANALYSIS_TAIL);
	assert_int_equal(function("D")->calls, 1);
	assert_int_equal(analysis_max_depth(t), 2);
}

/* Out of line and back again is no call. */
static void cold_part(void **st)
{
	run(AT('A', 0), BLOCK_CALL);
	run(AT('G', 0), BLOCK_JCC);
	run(AT('H', 0), BLOCK_CALL);
	run(AT('B', 0), BLOCK_RET);
	run(AT('H', 0x10), BLOCK_JMP);
	run(AT('G', 0x50), BLOCK_RET);
	run(AT('A', 0x10), BLOCK_JMP);
	expect_tree("A(G(B))");
	assert_int_equal(function("G")->self, 16);
	assert_int_equal(function("G")->calls, 1);
}

/* The unlikely part is seen first: the name is still the function's. */
static void cold_first(void **st)
{
	run(AT('H', 0), BLOCK_JMP);
	run(AT('G', 0x50), BLOCK_JMP);
	expect_tree("G*0");
	assert_string_equal(function("G")->raw_name, "G");
}

/* setjmp in A, longjmp from depth 10, many rounds: the depth does not drift. */
static void longjmp_rounds(void **st)
{
	int round, i;

	run(AT('A', 0), BLOCK_CALL);
	run(AT('J', 0), BLOCK_RET);
	for (round = 0; round < 1000; round++) {
		run(AT('A', 0x10), BLOCK_CALL);
		for (i = 0; i < 8; i++)
			run(AT('B', 0), BLOCK_CALL);
		run(AT('B', 0x20), BLOCK_CALL);
		run(AT('L', 0), BLOCK_JMP_IND);
		assert_int_equal(last_told.ip, AT('L', 0));
		assert_int_equal(last_told.depth, 10);
	}
	run(AT('A', 0x10), BLOCK_JMP);
	assert_int_equal(analysis_max_depth(t), 1 + 1 + 8 + 1);
	expect_tree("A(_setjmp B*1000(B*1000(B*1000(B*1000(B*1000(B*1000(B*1000(B*1000("
		    "B*1000(longjmp*1000))))))))))");
}

/* The same where the program has no symbols, and several frames of A. */
static void longjmp_stripped(void **st)
{
	int round;

	run(AT('a', 0), BLOCK_CALL);
	run(AT('a', 0x100), BLOCK_CALL);
	run(AT('J', 0), BLOCK_RET);
	run(AT('a', 0x110), BLOCK_CALL);
	for (round = 0; round < 1000; round++) {
		run(AT('b', 0), BLOCK_CALL);
		run(AT('c', 0), BLOCK_CALL);
		run(AT('L', 0), BLOCK_JMP_IND);
		run(AT('a', 0x110), BLOCK_CALL);
	}
	assert_int_equal(analysis_max_depth(t), 5);
	analysis_thread_end(t);
}

/* An exception: a return into a landing pad of a frame further down. */
static void exception(void **st)
{
	run(AT('A', 0), BLOCK_CALL);
	run(AT('B', 0), BLOCK_CALL);
	run(AT('C', 0), BLOCK_CALL);
	run(AT('D', 0), BLOCK_CALL);
	run(AT('E', 0), BLOCK_RET);
	run(AT('B', 0x80), BLOCK_RET);
	run(AT('A', 0x10), BLOCK_JMP);
	expect_tree("A(B(C(D(E))))");
	assert_true(function("D")->flags & ANALYSIS_UNWOUND);
	assert_int_equal(function("B")->flags, 0);
	assert_int_equal(function("B")->self, 8);
}

/* push handler; ret: a return that is a jump. */
static void return_as_jump(void **st)
{
	run(AT('A', 0), BLOCK_CALL);
	run(AT('B', 0), BLOCK_RET);
	run(AT('C', 0), BLOCK_RET);
	run(AT('A', 0x10), BLOCK_JMP);
	expect_tree("A(B C)");
}

/* A return deeper than the trace began. */
static void before_the_trace(void **st)
{
	run(AT('C', 0x40), BLOCK_RET);
	run(AT('B', 0x40), BLOCK_RET);
	run(AT('A', 0x40), BLOCK_CALL);
	run(AT('B', 0), BLOCK_RET);
	run(AT('A', 0x50), BLOCK_JMP);
	expect_tree("C*0 B*0 A*0(B)");
	assert_true(function("C")->flags & ANALYSIS_NO_BEGIN);
}

static void system_call(void **st)
{
	run(AT('A', 0), BLOCK_CALL);
	run(AT('B', 0), BLOCK_SYSCALL);
	disabled(0);
	enabled(AT('B', 0x10));
	run(AT('B', 0x10), BLOCK_RET);
	run(AT('A', 0x10), BLOCK_JMP);
	expect_tree("A(B)");
}

/* A handler between two instructions, with its restorer's sigreturn. */
static void signal_async(void **st)
{
	int i;

	run(AT('A', 0), BLOCK_CALL);
	for (i = 0; i < 100; i++) {
		run(AT('B', 0), BLOCK_JMP);
		async(AT('B', 0x44));
		disabled(0);
		enabled(AT('S', 0));
		run(AT('S', 0), BLOCK_CALL);
		run(AT('C', 0), BLOCK_RET);
		run(AT('S', 0x10), BLOCK_RET);
		run(AT('r', 0), BLOCK_SYSCALL);
		disabled(0);
		enabled(AT('B', 0x44));
		run(AT('B', 0x44), BLOCK_JMP);
	}
	run(AT('B', 0x60), BLOCK_RET);
	run(AT('A', 0x10), BLOCK_JMP);
	assert_int_equal(analysis_max_depth(t), 4);
	expect_tree("A(B(S*100(C*100) [unknown]*0))");
	assert_int_equal(told[ANALYSIS_BY_SIGNAL], 100);
	assert_int_equal(function("S")->flags, ANALYSIS_SIGNAL);
	assert_int_equal(function("B")->flags, 0);
}

/* A handler that comes while a system call sleeps, which is then begun again. */
static void signal_in_syscall(void **st)
{
	run(AT('A', 0), BLOCK_CALL);
	run(AT('B', 0), BLOCK_SYSCALL);
	disabled(0);
	enabled(AT('S', 0));
	run(AT('S', 0), BLOCK_RET);
	run(AT('r', 0), BLOCK_SYSCALL);
	disabled(0);
	enabled(AT('B', 0x0e));
	run(AT('B', 0x0e), BLOCK_SYSCALL);
	disabled(0);
	enabled(AT('B', 0x1e));
	run(AT('B', 0x1e), BLOCK_RET);
	run(AT('A', 0x10), BLOCK_JMP);
	expect_tree("A(B(S [unknown]*0))");
	assert_int_equal(told[ANALYSIS_BY_SIGNAL], 1);
}

/* Just called, not yet begun: the handler's frame lies on the callee's. */
static void signal_at_entry(void **st)
{
	run(AT('A', 0), BLOCK_CALL);
	async(AT('B', 0));
	disabled(0);
	enabled(AT('S', 0));
	run(AT('S', 0), BLOCK_RET);
	run(AT('r', 0), BLOCK_SYSCALL);
	disabled(0);
	enabled(AT('B', 0));
	run(AT('B', 0), BLOCK_RET);
	run(AT('A', 0x10), BLOCK_JMP);
	expect_tree("A(B(S [unknown]*0))");
	assert_int_equal(function("B")->calls, 1);
}

/* The unit was stopped for a moment just where a call had arrived. */
static void stopped_at_entry(void **st)
{
	run(AT('A', 0), BLOCK_CALL);
	disabled(AT('B', 0));
	enabled(AT('B', 0));
	run(AT('B', 0), BLOCK_RET);
	disabled(AT('A', 0x10));
	enabled(AT('A', 0x10));
	run(AT('A', 0x10), BLOCK_JMP);
	disabled(AT('A', 0));
	enabled(AT('A', 0));
	run(AT('A', 0), BLOCK_JMP);
	expect_tree("A(B)");
	assert_int_equal(function("A")->calls, 1);
}

/* A filter on A and B: calls of others are seen from outside. */
static void filtered(void **st)
{
	int i;

	for (i = 0; i < 3; i++) {
		enabled(AT('A', 0));
		run(AT('A', 0), BLOCK_CALL);
		disabled(AT('q', 0));
		enabled(AT('A', 0x10));
		run(AT('A', 0x10), BLOCK_CALL);
		/* Outside, which calls B twice. */
		disabled(AT('q', 0));
		enabled(AT('B', 0));
		run(AT('B', 0), BLOCK_RET);
		disabled(AT('q', 0x20));
		enabled(AT('B', 0));
		run(AT('B', 0), BLOCK_RET);
		disabled(AT('q', 0x20));
		enabled(AT('A', 0x20));
		run(AT('A', 0x20), BLOCK_RET);
		disabled(AT('q', 0x20));
	}
	expect_tree("A*3(x*6(B*6))");
	assert_int_equal(told[ANALYSIS_UNSEEN], 3 + 6);
	assert_int_equal(told[ANALYSIS_TO_OUTSIDE], 6);
	assert_int_equal(function("A")->calls, 3);
	assert_int_equal(function("B")->calls, 6);
	assert_int_equal(function("A")->flags, 0);
}

/* A filter on A, whose setjmp and callees are outside. */
static void longjmp_outside(void **st)
{
	int round;

	enabled(AT('A', 0));
	run(AT('A', 0), BLOCK_CALL);
	disabled(AT('J', 0));
	for (round = 0; round < 1000; round++) {
		enabled(AT('A', 0x10));
		run(AT('A', 0x10), BLOCK_CALL);
		disabled(AT('B', 0));
	}
	enabled(AT('A', 0x20));
	run(AT('A', 0x20), BLOCK_RET);
	assert_int_equal(analysis_max_depth(t), 2);
	expect_tree("A(x*1001)");
}

/* A filter on B, which leaves by longjmp for whoever called it, and is called again. */
static void longjmp_to_outside(void **st)
{
	int round;

	for (round = 0; round < 1000; round++) {
		enabled(AT('B', 0));
		run(AT('B', 0), BLOCK_CALL);
		run(AT('B', 0), BLOCK_CALL);
		disabled(AT('L', 0));
	}
	assert_int_equal(analysis_max_depth(t), 3);
	expect_tree("B*1000(B*1000(x*1000))");
}

/* What the filter leaves out is called and does not come back: exit. */
static void ends_outside(void **st)
{
	enabled(AT('A', 0));
	run(AT('A', 0), BLOCK_CALL);
	disabled(AT('q', 0));
	expect_tree("A(x)");
	assert_int_equal(last_told.way, ANALYSIS_TO_OUTSIDE);
	assert_int_equal(last_told.ip, AT('q', 0));
	assert_int_equal(last_told.depth, 1);
}

/* A gap on the way down: the depth is found again by later returns. */
static void gap_in_descent(void **st)
{
	int i;

	run(AT('A', 0), BLOCK_CALL);
	for (i = 0; i < 15; i++)
		run(AT('B', 0), BLOCK_CALL);
	gap(77);
	/* Five levels were missed: C is not on the stack. */
	run(AT('C', 0x30), BLOCK_RET);
	for (i = 0; i < 10; i++)
		run(AT('B', 0x10), BLOCK_RET);
	run(AT('A', 0x10), BLOCK_CALL);
	run(AT('D', 0), BLOCK_RET);
	run(AT('A', 0x20), BLOCK_JMP);
	analysis_thread_end(t);
	assert_true(function("A")->flags & ANALYSIS_CROSSED_GAP);
	assert_true(function("C")->flags & ANALYSIS_CROSSED_GAP);
	assert_int_equal(function("D")->flags, 0);
	assert_int_equal(function("A")->self, 12);
	/* D is A's child, whatever the gap did. */
	{
		const struct analysis_node *n = analysis_tree(t)->child;

		assert_string_equal(n->function->name, "A");
		for (n = n->child; n && (!n->function || strcmp(n->function->name, "D"));)
			n = n->next;
		assert_non_null(n);
	}
}

/* A gap before anything else is shown. */
static void gap_first(void **st)
{
	gap(5);
	run(AT('A', 0), BLOCK_JMP);
	expect_tree("! A");
	assert_int_equal(analysis_tree(t)->child->self, 5);
}

/* call +0; pop */
static void get_pc(void **st)
{
	block(AT('A', 0), BLOCK_CALL, AT('A', 0x10));
	run(AT('A', 0), BLOCK_CALL);
	run(AT('A', 0x10), BLOCK_CALL);
	run(AT('B', 0), BLOCK_RET);
	run(AT('A', 0x20), BLOCK_JMP);
	expect_tree("A(B)");
	assert_int_equal(function("A")->calls, 1);
}

static void exec(void **st)
{
	run(AT('A', 0), BLOCK_CALL);
	run(AT('B', 0), BLOCK_SYSCALL);
	disabled(0);
	analysis_exec(t);
	enabled(AT('C', 0));
	run(AT('C', 0), BLOCK_JMP);
	expect_tree("A(B) C");
}

/* Calls that never return must not take memory without end. */
static void endless_calls(void **st)
{
	long i;

	for (i = 0; i < 3000000; i++)
		run(AT('A', 0), BLOCK_CALL);
	analysis_thread_end(t);
	assert_in_range(analysis_max_depth(t), 1, 1 << 20);
	assert_true(analysis_folded(a) > 0);
	assert_int_equal(function("A")->calls, 3000000);
	assert_int_equal(function("A")->self, 12000000);
	assert_int_equal(function("A")->total, 12000000);
}

/* Any sequence of events: nothing breaks, and all is somebody's own. */
static void random_flow(void **st)
{
	static const uint8_t kinds[] = {BLOCK_SEQ,  BLOCK_JCC,	   BLOCK_JMP,
					BLOCK_CALL, BLOCK_JMP_IND, BLOCK_CALL_IND,
					BLOCK_RET,  BLOCK_SYSCALL, BLOCK_FAR};
	const struct analysis_function *const *list;
	uint64_t sum = 0, ip;
	unsigned int seed = 1;
	long i, n;

	for (i = 0; i < 300000; i++) {
		ip = AT("ABCGHJabr"[rand_r(&seed) % 9], rand_r(&seed) % 4 * 16);
		switch (rand_r(&seed) % 24) {
		case 0:
			disabled(ip);
			break;
		case 1:
			async(ip);
			break;
		case 2:
			gap(1);
			break;
		default:
			run(ip, kinds[rand_r(&seed) % sizeof(kinds)]);
		}
	}
	analysis_thread_end(t);
	n = analysis_functions(a, &list);
	for (i = 0; i < n; i++) {
		sum += list[i]->self;
		assert_true(list[i]->total >= list[i]->self);
	}
	assert_int_equal(sum, analysis_instructions(a));
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(nested),
		TEST(recursive),
		TEST(tail_call),
		TEST(cold_part),
		TEST(cold_first),
		TEST(longjmp_rounds),
		TEST(longjmp_stripped),
		TEST(exception),
		TEST(return_as_jump),
		TEST(before_the_trace),
		TEST(system_call),
		TEST(signal_async),
		TEST(signal_in_syscall),
		TEST(signal_at_entry),
		TEST(stopped_at_entry),
		TEST(filtered),
		TEST(ends_outside),
		TEST(longjmp_outside),
		TEST(longjmp_to_outside),
		TEST(gap_in_descent),
		TEST(gap_first),
		TEST(get_pc),
		TEST(exec),
		TEST(endless_calls),
		TEST(random_flow),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
