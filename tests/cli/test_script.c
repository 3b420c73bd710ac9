/* SPDX-License-Identifier: BSD-2-Clause */
/* Listings of hand-made events, to the byte. */
#include "present/columns.h"
#include "present/result.h"
#include "present/script.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <sys/mman.h>
#include <cmocka.h>

static const uint8_t lens[] = { 1, 2, 3, 4, 5, 6, 7, 8 };

static struct trace_block call_block = {
	.ip = 0x401000, .last = 0x401006, .end = 0x40100a, .ninsn = 4, .nbytes = 10,
	.kind = BLOCK_CALL, .len = lens, .id = 0,
};
static struct trace_block ret_block = {
	.ip = 0x402000, .last = 0x402001, .end = 0x402003, .ninsn = 2, .nbytes = 3,
	.kind = BLOCK_RET, .len = lens, .id = 1,
};
/* The addresses grow a digit. */
static struct trace_block low_block = {
	.ip = 0xffe, .last = 0x1001, .end = 0x1004, .ninsn = 3, .nbytes = 6,
	.kind = BLOCK_JCC, .len = lens, .id = 5000,
};

static const struct trace_event events[] = {
	{ .type = TRACE_ENABLED, .ip = 0x401000 },
	{ .type = TRACE_RUN, .flags = TRACE_F_BRANCH | TRACE_F_TIME, .ninsn = 4,
	  .ip = 0x401000, .block = &call_block, .to = 0x402000, .offset = 0x20, .time = 5 },
	{ .type = TRACE_RUN, .flags = TRACE_F_BRANCH, .ninsn = 2, .ip = 0x402000,
	  .block = &ret_block, .to = 0x40100a, .offset = 0x28, .cycles = 1234 },
	{ .type = TRACE_GAP, .error = TRACE_GAP_OVERFLOW, .ip = 0x40100a, .offset = 0x30,
	  .value = 7 },
	/* From the block's second instruction, and not to its end. */
	{ .type = TRACE_RUN, .ninsn = 2, .ip = 0x401001, .block = &call_block },
	{ .type = TRACE_RUN, .flags = TRACE_F_BRANCH, .ninsn = 3, .ip = 0xffe,
	  .block = &low_block, .to = 0x1004 },
	{ .type = TRACE_ASYNC, .flags = TRACE_F_NUMBER, .value = 12, .ip = 0x1004,
	  .to = 0x401000 },
	{ .type = TRACE_PIP, .value = 0x1234000 },
	{ .type = TRACE_CONTEXT, .value = 0xabc },
	{ .type = TRACE_SYNC, .offset = 0x40 },
	{ .type = TRACE_RUN, .ninsn = 1, .ip = 0x401000, .block = &call_block },
};
#define NEVENTS	((int)(sizeof(events) / sizeof(events[0])))

static bool symbol_of(void *ctx, uint64_t ip, struct image_symbol *out)
{
	*out = (struct image_symbol){ .image = "/bin/a \"b\"", .image_base = 0x400000 };
	if (ip >= 0x401000 && ip < 0x402000) {
		out->name = out->raw_name = "main";
		out->id = 1;
		out->start = 0x401000;
		out->end = 0x402000;
	} else if (ip >= 0x402000) {
		out->name = out->raw_name = "f\n";
		out->id = 2;
		out->start = 0x402000;
		out->end = 0x402003;
	} else {
		out->image = "?";
	}
	return out->name != NULL;
}

static uint64_t ns_of(void *ctx, uint64_t ticks)
{
	return ticks * 1000000000;
}

static const struct script_thread thread = {
	.pid = 10, .tid = 11, .cpu = -1, .comm = "a\tb", .symbol = symbol_of, .ns = ns_of,
};

static char *text_of(int fd)
{
	off_t n = lseek(fd, 0, SEEK_END);
	char *text = calloc(1, (size_t)n + 1);

	assert_non_null(text);
	assert_int_equal(pread(fd, text, (size_t)n, 0), n);
	close(fd);
	return text;
}

static char *listing(enum script_mode mode, const char *fields, bool json)
{
	struct script_options options = { .mode = mode, .json = json };
	int fd = memfd_create("out", MFD_CLOEXEC), len;
	struct script *s;
	const char *bad;
	struct out o;

	/* What an analysis hangs on a decoder's blocks goes with it. */
	call_block.user = ret_block.user = low_block.user = NULL;
	if (fields)
		options.fields = script_parse_fields(fields, &bad, &len);
	assert_int_equal(out_init(&o, fd), 0);
	s = script_new(&options, &o);
	assert_non_null(s);
	assert_int_equal(script_begin(s, &thread), 0);
	assert_int_equal(script_feed(s, events, NEVENTS), 0);
	script_end(s);
	script_free(s);
	assert_int_equal(out_fini(&o), 0);
	return text_of(fd);
}

static void expect(enum script_mode mode, const char *fields, bool json, const char *want)
{
	char *text = listing(mode, fields, json);

	assert_string_equal(text, want);
	free(text);
}

static const struct spe_event sample_events[] = {
	{ .type = SPE_SAMPLE, .offset = 0x40, .bytes = 64, .sample = {
		.has = SPE_HAS_ADDR(SPE_ADDR_PC) | SPE_HAS_ADDR(SPE_ADDR_DATA_VA) |
		       SPE_HAS_COUNTER(SPE_COUNTER_TOTAL) | SPE_HAS_OPERATION |
		       SPE_HAS_EVENTS | SPE_HAS_SOURCE | SPE_HAS_TIME | SPE_HAS_CONTEXT(0),
		.op_class = SPE_CLASS_LDST, .events = 6, .time = 2, .source = 8,
		.addr = { [SPE_ADDR_PC] = 0x401004, [SPE_ADDR_DATA_VA] = 0xff00 },
		.counter = { 15 }, .context = { 11 } } },
	{ .type = SPE_SAMPLE, .offset = 0x80, .bytes = 64, .sample = {
		.has = SPE_HAS_ADDR(SPE_ADDR_PC) | SPE_HAS_OPERATION | SPE_HAS_EVENTS,
		.op_class = SPE_CLASS_BRANCH, .op = SPE_OP_COND,
		.events = 1u << SPE_EV_NOT_TAKEN, .addr = { 0x401008 } } },
	{ .type = SPE_ERROR, .error = TRACE_ERR_TRUNCATED, .offset = 0xc0 },
	{ .type = SPE_GAP, .error = TRACE_ERR_TRUNCATED, .offset = 0xc0, .bytes = 9 },
};

static char *samples_listing(bool json, uint64_t bits)
{
	struct script_options options = { .mode = SCRIPT_SAMPLES, .json = json };
	int fd = memfd_create("out", MFD_CLOEXEC);
	struct spe_event all = sample_events[0];
	struct script *s;
	struct out o;

	all.sample.events = bits;
	assert_int_equal(out_init(&o, fd), 0);
	s = script_new(&options, &o);
	assert_non_null(s);
	assert_int_equal(script_begin(s, &thread), 0);
	assert_int_equal(bits ? script_samples(s, &all, 1) :
			 script_samples(s, sample_events, 4), 0);
	script_free(s);
	assert_int_equal(out_fini(&o), 0);
	return text_of(fd);
}

static void samples(void **state)
{
	char *text = samples_listing(false, 0);

	assert_string_equal(text,
		"     11      2.000000000 load                401004 main+0x4 data ff00 source 0x8 (L2)"
		" lat 15 [LD GP-REG] RETIRED L1D-ACCESS\n"
		"     11                - not-taken           401008 main+0x8 => 40100c main+0xc"
		" [B COND] NOT-TAKEN\n"
		"     11                - -- error: the stream ends inside a packet at offset 0xc0\n"
		"     11                - -- gap: the stream ends inside a packet at offset 0xc0, 9 bytes\n");
	free(text);
	text = samples_listing(true, 0);
	assert_non_null(strstr(text,
		"{\"type\":\"load\",\"pid\":10,\"tid\":11,\"time_ns\":2000000000,"
		"\"at\":{\"ip\":\"401004\",\"symbol\":\"main\",\"symbol_offset\":4,"
		"\"image\":\"/bin/a \\\"b\\\"\"},\"operation\":\"LD GP-REG\",\"level\":0,"
		"\"address\":\"ff00\",\"context_el1\":11,\"event_bits\":\"6\","
		"\"events\":[\"RETIRED\",\"L1D-ACCESS\"],\"latency\":15,\"source\":8,"
		"\"source_name\":\"L2\"}\n"));
	assert_non_null(strstr(text, "\"to\":{\"ip\":\"40100c\""));
	free(text);
}

/* All 64 events: every name, and the line is whole. */
static void samples_with_all_events(void **state)
{
	char *text = samples_listing(false, ~0ull), *json = samples_listing(true, ~0ull);
	unsigned int i;

	for (i = 0; i < 64; i++) {
		assert_non_null(strstr(text, spe_event_name(i)));
		assert_non_null(strstr(json, spe_event_name(i)));
	}
	assert_non_null(strstr(json, "\"event_bits\":\"ffffffffffffffff\""));
	assert_string_equal(json + strlen(json) - 2, "}\n");
	free(text);
	free(json);
}

static void bare_addresses(void **state)
{
	expect(SCRIPT_INSNS, "ip", false,
	       "401000\n401001\n401003\n401006\n402000\n402001\n401001\n401003\n"
	       "ffe\nfff\n1001\n401000\n");
}

static void instructions_with_names(void **state)
{
	expect(SCRIPT_INSNS, "ip,sym", false,
	       "          401000 main\n          401001 main+0x1\n"
	       "          401003 main+0x3\n          401006 main+0x6\n"
	       "          402000 f\\n\n          402001 f\\n+0x1\n"
	       "-- gap: the trace unit lost data (overflow) at offset 0x30, address 40100a, 7 bytes\n"
	       "          401001 main+0x1\n          401003 main+0x3\n"
	       "             ffe [unknown]\n             fff [unknown]\n"
	       "            1001 [unknown]\n          401000 main\n");
}

static void branches(void **state)
{
	expect(SCRIPT_BRANCHES, "event,ip,to", false,
	       "enabled             401000\n"
	       "call                401006 => 402000\n"
	       "ret                 402001 => 40100a\n"
	       "-- gap: the trace unit lost data (overflow) at offset 0x30, address 40100a, 7 bytes\n"
	       "not-taken             1001 => 1004\n"
	       "async                 1004 exception 12 (data fault) => 401000\n"
	       "cr3                      - value 0x1234000\n"
	       "contextidr               - value 0xabc\n");
	expect(SCRIPT_BRANCHES, "event", false,
	       "enabled   \ncall      \nret       \n"
	       "-- gap: the trace unit lost data (overflow) at offset 0x30, address 40100a, 7 bytes\n"
	       "not-taken \nasync      exception 12 (data fault)\ncr3        value 0x1234000\n"
	       "contextidr value 0xabc\n");
}

static void calls(void **state)
{
	expect(SCRIPT_CALLS, "comm,time,sym", false,
	       "a\\tb      5.000000000  main\n"
	       "a\\tb      5.000000000    f\\n\n"
	       "a\\tb                - -- gap: the trace unit lost data (overflow) at offset 0x30, address 40100a, 7 bytes\n"
	       "a\\tb                -    main [signal]\n");
	expect(SCRIPT_CALLS, "ip,sym", false,
	       "               - main\n"
	       "            401006 f\\n\n"
	       "-- gap: the trace unit lost data (overflow) at offset 0x30, address 40100a, 7 bytes\n"
	       "              1004 main [signal]\n");
}

/* None were counted: not a count of 0. */
static void cycles(void **state)
{
	char *text = listing(SCRIPT_BRANCHES, "cycles,event", false);

	assert_non_null(strstr(text, "           - call      \n"));
	assert_non_null(strstr(text, "        1234 ret       \n"));
	free(text);
	text = listing(SCRIPT_BRANCHES, "cycles", true);
	assert_null(strstr(text, "\"cycles\":0"));
	assert_non_null(strstr(text, "\"cycles\":1234"));
	free(text);
}

static void json_lines(void **state)
{
	expect(SCRIPT_CALLS, NULL, true,
	       "{\"type\":\"enabled\",\"pid\":10,\"tid\":11,\"time_ns\":5000000000,\"depth\":0,"
	       "\"to\":{\"ip\":\"401000\",\"symbol\":\"main\",\"symbol_offset\":0,"
	       "\"image\":\"/bin/a \\\"b\\\"\"}}\n"
	       "{\"type\":\"call\",\"pid\":10,\"tid\":11,\"time_ns\":5000000000,\"depth\":1,"
	       "\"at\":{\"ip\":\"401006\",\"symbol\":\"main\",\"symbol_offset\":6,"
	       "\"image\":\"/bin/a \\\"b\\\"\"},"
	       "\"to\":{\"ip\":\"402000\",\"symbol\":\"f\\n\",\"symbol_offset\":0,"
	       "\"image\":\"/bin/a \\\"b\\\"\"}}\n"
	       "{\"type\":\"gap\",\"pid\":10,\"tid\":11,\"reason\":\"the trace unit lost data (overflow)\",\"offset\":48,"
	       "\"bytes\":7,\"at\":{\"ip\":\"40100a\",\"symbol\":\"main\",\"symbol_offset\":10,"
	       "\"image\":\"/bin/a \\\"b\\\"\"}}\n"
	       "{\"type\":\"async\",\"pid\":10,\"tid\":11,\"depth\":1,\"at\":{\"ip\":\"1004\","
	       "\"image\":\"?\"},\"to\":{\"ip\":\"401000\",\"symbol\":\"main\","
	       "\"symbol_offset\":0,\"image\":\"/bin/a \\\"b\\\"\"}}\n");
}

/* The architecture names some types; others are a number. */
static void exceptions(void **state)
{
	char *text = listing(SCRIPT_BRANCHES, "ip", true);

	assert_non_null(strstr(text, "{\"type\":\"async\",\"pid\":10,\"tid\":11,"
				     "\"at\":{\"ip\":\"1004\"},\"exception\":12,"
				     "\"exception_name\":\"data fault\"}\n"));
	free(text);
	assert_string_equal(trace_exception_text(0), "reset");
	assert_string_equal(trace_exception_text(14), "IRQ");
	assert_null(trace_exception_text(13));
	assert_null(trace_exception_text(25));
	assert_null(trace_exception_text(UINT64_MAX));
}

static void fields_are_checked(void **state)
{
	const char *bad;
	int len;

	assert_int_equal(script_parse_fields("ip", &bad, &len), SCRIPT_IP);
	assert_int_equal(script_parse_fields("to,ip", &bad, &len), SCRIPT_IP | SCRIPT_TO);
	assert_int_equal(script_parse_fields("ip,", &bad, &len), 0);
	assert_int_equal(len, 0);
	assert_int_equal(script_parse_fields("ip,nope,sym", &bad, &len), 0);
	assert_memory_equal(bad, "nope", 4);
	assert_int_equal(len, 4);
}

static char *columns(const char *list, bool every)
{
	int fd = memfd_create("out", MFD_CLOEXEC), len, i;
	struct image_symbol last = { 0 };
	struct columns c = { .every = every };
	const char *bad;
	struct out o;

	assert_int_equal(columns_parse(&c, list, &bad, &len), 0);
	c.every = every;
	assert_int_equal(out_init(&o, fd), 0);
	for (i = 0; i < NEVENTS; i++)
		columns_event(&c, &o, &thread, &events[i], &last);
	assert_int_equal(out_fini(&o), 0);
	return text_of(fd);
}

static void columns_where_the_function_changes(void **state)
{
	char *text = columns("id,symbol,pc,event_type", false);

	assert_string_equal(text, "thr 11\tmain+0\t0x401000\trun\n"
			    "thr 11\tf\\n+0\t0x402000\trun\n"
			    "thr 11\tmain+0xa\t0x40100a\tgap\n"
			    "thr 11\tmain+0x1\t0x401001\trun\n"
			    "thr 11\t?\t0xffe\trun\n"
			    "thr 11\tmain+0\t0x401000\trun\n");
	free(text);
}

static void columns_of_every_event(void **state)
{
	char *text = columns("event_type,event_payload,offset,image", true);

	assert_non_null(strstr(text, "run\t4 instructions\t0x20\t/bin/a \"b\"+0x1000\n"));
	assert_non_null(strstr(text, "gap\tthe trace unit lost data (overflow)\t0x30\t/bin/a \"b\"+0x100a\n"));
	assert_non_null(strstr(text, "async\t0x401000\t0\t?\n"));
	free(text);
}

static void columns_are_checked(void **state)
{
	struct columns c = { 0 };
	const char *bad;
	int len;

	assert_int_equal(columns_parse(&c, "pc,nope", &bad, &len), -EINVAL);
	assert_memory_equal(bad, "nope", 4);
	assert_int_equal(columns_parse(&c, "", &bad, &len), -EINVAL);
	assert_int_equal(columns_parse(&c, "pc,pc,pc,pc,pc,pc,pc,pc,pc,pc,pc,pc,pc,pc,pc,pc,pc",
				       &bad, &len), -EINVAL);
}

/* A tree as deep as a program's stack that died of recursion. */
static void tree_of_any_depth(void **state)
{
	enum { DEPTH = 300000 };
	struct analysis_node *node = calloc(DEPTH, sizeof(*node));
	struct result_limits limits = { 0 };
	int fd = memfd_create("out", MFD_CLOEXEC), i, lines = 0;
	struct json j;
	struct out o;
	char *text, *p;

	assert_non_null(node);
	for (i = 1; i < DEPTH; i++) {
		node[i].kind = ANALYSIS_NODE_FUNCTION;
		node[i].parent = &node[i - 1];
		node[i - 1].child = &node[i];
	}
	assert_int_equal(out_init(&o, fd), 0);
	result_tree(&o, node, &limits, ns_of, NULL);
	json_init(&j, &o);
	result_tree_json(&j, NULL, node, ns_of, NULL);
	assert_int_equal(out_fini(&o), 0);
	text = text_of(fd);
	for (p = text; (p = strchr(p, '\n')); p++)
		lines++;
	assert_int_equal(lines, DEPTH);
	assert_non_null(strstr(text, "\"depth\":299999"));
	free(text);
	free(node);
}

/* All reasons of gaps are said, faults among them. */
static void reasons_of_gaps(void **state)
{
	struct summary s = { .gaps = 3 };
	char text[256];

	s.reasons[TRACE_GAP_NO_CODE] = 2;
	s.reasons[TRACE_ERR_RETURN] = 1;
	result_losses(text, sizeof(text), &s);
	assert_string_equal(text, "3 gaps [2 x no code at this address]"
			    " [1 x return compression: bit not taken, or no call known]");
}

static char *summary_of(const struct summary *s)
{
	int fd = memfd_create("out", MFD_CLOEXEC);
	struct out o;

	assert_int_equal(out_init(&o, fd), 0);
	result_summary(&o, "", s);
	assert_int_equal(out_fini(&o), 0);
	return text_of(fd);
}

static void one_is_singular(void **state)
{
	static const struct { struct summary s; const char *text; } row[] = {
		{ { .instructions = 1, .branches = 1, .gaps = 1, .errors = 1 },
		  "1 instruction, 1 branch, 0 B of trace, 0 B missing, 1 gap, 1 error: " },
		{ { .instructions = 2 },
		  "2 instructions, 0 branches, 0 B of trace, 0 B missing, 0 gaps, 0 errors: " },
		{ { .sampled = true, .samples = 1 }, "1 sample, " },
		{ { .sampled = true }, "0 samples, " },
	};
	char *text, losses[256];
	size_t i;

	for (i = 0; i < sizeof(row) / sizeof(row[0]); i++) {
		text = summary_of(&row[i].s);
		assert_memory_equal(text, row[i].text, strlen(row[i].text));
		free(text);
	}
	result_losses(losses, sizeof(losses),
		      &(struct summary){ .gaps = 1, .missing = 1, .stops = 1 });
	assert_string_equal(losses,
			    "1 gap, 1 byte of trace missing, the buffer was full 1 time");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(bare_addresses),
		cmocka_unit_test(samples),
		cmocka_unit_test(samples_with_all_events),
		cmocka_unit_test(instructions_with_names),
		cmocka_unit_test(branches),
		cmocka_unit_test(calls),
		cmocka_unit_test(cycles),
		cmocka_unit_test(json_lines),
		cmocka_unit_test(exceptions),
		cmocka_unit_test(fields_are_checked),
		cmocka_unit_test(columns_where_the_function_changes),
		cmocka_unit_test(columns_of_every_event),
		cmocka_unit_test(columns_are_checked),
		cmocka_unit_test(tree_of_any_depth),
		cmocka_unit_test(reasons_of_gaps),
		cmocka_unit_test(one_is_singular),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
