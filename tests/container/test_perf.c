/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * perf as the reader of what we write: instruction by instruction, over maps that
 * change, cut streams, several threads, and files whose writer never closed them.
 * Skipped where there is no perf.
 */
#include <stdarg.h>
#include <setjmp.h>
#include <stddef.h>
#include <cmocka.h>
#include <elf.h>
#include <inttypes.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>
#include "temp.h"

/*
 * Two pages of code that never run here: perf reads them from our own file, mapped
 * wherever a test says.
 */
/* clang-format off */
__asm__(".pushsection .text\n"
	".balign 4096\n"
	".globl test_code_a, test_code_b\n"
	".hidden test_code_a, test_code_b\n"
	"test_code_a:\n"
	"	nop\n"			/* 0 */
	"	mov $3, %ecx\n"		/* 1 */
	"1:	dec %ecx\n"		/* 6 */
	"	jnz 1b\n"		/* 8: taken, taken, not */
	"	jmp 2f\n"		/* 10 */
	"	hlt\n"
	"2:	ret\n"			/* 13 */
	"	.balign 4096\n"
	"test_code_b:\n"
	"	xor %eax, %eax\n"	/* 0 */
	"	test %eax, %eax\n"	/* 2 */
	"	je 3f\n"		/* 4: taken */
	"	hlt\n"
	"3:	ret\n"			/* 7 */
	"	.balign 4096\n"
	".popsection\n");
/* clang-format on */
extern const uint8_t test_code_a[], test_code_b[];
static const uint8_t flow_a[] = {0, 1, 6, 8, 6, 8, 6, 8, 10, 13};
static const uint8_t flow_b[] = {0, 2, 4, 7};

#define BASE 0x10000000ull
#define PID  4000

/* ---- a stream of packets, by hand (SDM 33.4) ---- */

struct packets {
	uint8_t bytes[1 << 16];
	size_t n;
};

static void put(struct packets *p, const char *bytes, size_t n)
{
	assert_true(n <= sizeof(p->bytes) - p->n);
	memcpy(p->bytes + p->n, bytes, n);
	p->n += n;
}

static void put_ip(struct packets *p, uint8_t opcode, uint64_t ip)
{
	char packet[9] = {(char)(opcode | 6 << 5)}; /* IPBytes 110b: all 64 bits */

	memcpy(packet + 1, &ip, sizeof(ip));
	put(p, packet, sizeof(packet));
}

static void put_psb(struct packets *p, uint64_t tsc)
{
	char packet[8] = {0x19};
	int i;

	for (i = 0; i < 8; i++)
		put(p, "\x02\x82", 2);
	memcpy(packet + 1, &tsc, 7);
	if (tsc)
		put(p, packet, sizeof(packet));
	put(p, "\x02\x23", 2);
}

/* Once through code A or B: PGE, TNT, and PGD where RET goes out. */
static void put_run(struct packets *p, bool b)
{
	put(p, "\x99\x01", 2); /* MODE.Exec: 64-bit */
	put_ip(p, 0x11, BASE);
	put(p, b ? "\x06" : "\x1c", 1); /* TNT 1, and TNT 110 */
	put_ip(p, 0x01, 0x7fff0000);
}

/* ---- records ---- */

static uint64_t now;

static void write_rec(struct perfdata_writer *w, uint32_t pid, uint32_t tid,
		      uint16_t type, const void *payload, size_t n, const char *text)
{
	struct hwt_rec *rec = make_rec(type, pid, tid, payload, n, text);

	rec->time = now;
	assert_int_equal(perfdata_write_record(w, rec), 0);
	free(rec);
}

/* The file offset of an address in our own executable. */
struct wanted {
	uint64_t addr, offset;
};

static int find_offset(struct dl_phdr_info *info, size_t size, void *arg)
{
	struct wanted *want = arg;
	int i;

	for (i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *ph = &info->dlpi_phdr[i];
		uint64_t start = info->dlpi_addr + ph->p_vaddr;

		if (ph->p_type == PT_LOAD && want->addr - start < ph->p_memsz)
			want->offset = want->addr - start + ph->p_offset;
	}
	return 1; /* the executable comes first */
}

static void map_code(struct perfdata_writer *w, uint32_t pid, const uint8_t *code)
{
	struct hwt_rec_mmap map = {.addr = BASE,
				   .len = 4096,
				   .prot = PROT_READ | PROT_EXEC,
				   .mapflags = MAP_PRIVATE};
	struct wanted want = {.addr = (uintptr_t)code};
	char exe[4096] = "";

	assert_true(readlink("/proc/self/exe", exe, sizeof(exe) - 1) > 0);
	dl_iterate_phdr(find_offset, &want);
	assert_int_equal(want.offset % 4096, 0);
	map.pgoff = want.offset;
	write_rec(w, pid, pid, HWT_REC_MMAP, &map, sizeof(map), exe);
}

static struct perfdata_writer *create(const char *path, bool tsc)
{
	struct perfdata_params params = test_params;
	struct perfdata_writer *w;

	params.rtit_ctl = 1 << 13 | 1 << 3 | (tsc ? 1 << 10 : 0);
	params.build_id = NULL;
	now = 1000;
	assert_int_equal(perfdata_create(path, &params, &w), 0);
	return w;
}

static void exec_and_map(struct perfdata_writer *w, uint32_t pid)
{
	const struct hwt_rec_exec exec = {.old_tid = pid};

	write_rec(w, pid, pid, HWT_REC_EXEC, &exec, sizeof(exec), "/bin/prog");
	map_code(w, pid, test_code_a);
}

static void exit_process(struct perfdata_writer *w, uint32_t pid)
{
	const struct hwt_rec_exit exit = {0};

	write_rec(w, pid, pid, HWT_REC_EXIT, &exit, sizeof(exit), NULL);
}

/* ---- perf ---- */

static FILE *run_perf(const char *args, const char *path)
{
	char command[4300];
	FILE *out;

	snprintf(command, sizeof(command),
		 "LC_ALL=C perf %s -i %s 2>/dev/null </dev/null", args, path);
	out = popen(command, "r");
	assert_non_null(out);
	return out;
}

static uint64_t expected_at(const uint8_t *flow, size_t n, size_t i)
{
	return BASE + flow[i % n];
}

/* What perf says that the thread executed: na times A, then nb times B. */
static void expect_flow(const char *path, uint32_t tid, size_t na, size_t nb)
{
	size_t i = 0, a = na * sizeof(flow_a), all = a + nb * sizeof(flow_b);
	char args[128], line[256];
	uint64_t ip, want;
	FILE *out;

	snprintf(args, sizeof(args), "script --itrace=i1i -F ip --tid %u", tid);
	out = run_perf(args, path);
	while (fgets(line, sizeof(line), out)) {
		if (sscanf(line, "%" SCNx64, &ip) != 1 || i >= all)
			fail_msg("instruction %zu: perf says: %s", i, line);
		want = i < a ? expected_at(flow_a, sizeof(flow_a), i)
			     : expected_at(flow_b, sizeof(flow_b), i - a);
		if (ip != want)
			fail_msg("instruction %zu: %" PRIx64 " is not %" PRIx64, i, ip,
				 want);
		i++;
	}
	assert_int_equal(pclose(out), 0);
	assert_int_equal(i, all);
}

/*
 * All of perf's output, which must hold each of these texts.  (What goes to stderr
 * is left out: it comes in the middle of lines.  The exit status tells of errors.)
 */
static void expect_text(const char *args, const char *path, const char *const *texts)
{
	size_t n = 0, cap = 1 << 22;
	char *all = malloc(cap);
	FILE *out = run_perf(args, path);

	assert_non_null(all);
	n = fread(all, 1, cap - 1, out);
	all[n] = 0;
	assert_int_equal(pclose(out), 0);
	for (; *texts; texts++)
		if (!strstr(all, *texts))
			fail_msg("perf %s does not say \"%s\"", args, *texts);
	free(all);
}

/* ---- the tests ---- */

static void write_trace(struct perfdata_writer *w, uint32_t pid, uint32_t tid,
			const struct packets *p, size_t chunk)
{
	size_t at, n;

	for (at = 0; at < p->n; at += n) {
		n = p->n - at < chunk ? p->n - at : chunk;
		assert_int_equal(perfdata_write_trace(w, pid, tid, at, p->bytes + at, n,
						      false, false),
				 0);
	}
	assert_int_equal(perfdata_write_trace(w, pid, tid, p->n, NULL, 0, false, true),
			 0);
}

/* 500 runs with a PSB before each fourth, handed over in pieces of any size. */
static void test_pieces(void **state)
{
	static const size_t chunks[] = {1, 17, 1000, 1 << 16};
	struct packets *p = calloc(1, sizeof(*p));
	struct perfdata_writer *w;
	char *path = temp_file();
	size_t i;

	assert_non_null(p);
	for (i = 0; i < 500; i++) {
		if (i % 4 == 0)
			put_psb(p, 0);
		put_run(p, false);
	}
	for (i = 0; i < sizeof(chunks) / sizeof(chunks[0]); i++) {
		w = create(path, false);
		exec_and_map(w, PID);
		write_trace(w, PID, PID, p, chunks[i]);
		exit_process(w, PID);
		assert_int_equal(perfdata_close(w), 0);
		expect_flow(path, PID, 500, 0);
	}
	temp_remove(path);
	free(p);
}

/* Other code at the same address later: perf must take each by its time. */
static void test_maps_by_time(void **state)
{
	struct packets *p = calloc(1, sizeof(*p));
	char *path = temp_file();
	struct perfdata_writer *w = create(path, true);
	int i;

	assert_non_null(p);
	for (i = 0; i < 6; i++) {
		put_psb(p, 1000000 * (uint64_t)(i + 1));
		put_run(p, i >= 3);
	}
	exec_and_map(w, PID);
	now = 3500000;
	map_code(w, PID, test_code_b);
	write_trace(w, PID, PID, p, 64);
	now = 9000000;
	exit_process(w, PID);
	assert_int_equal(perfdata_close(w), 0);
	expect_flow(path, PID, 3, 3);
	temp_remove(path);
	free(p);
}

/*
 * A thousand instructions after the last TSC, one a tick as the unit counts them, and
 * then other code at their address: what perf estimates must not run ahead.
 */
static void test_maps_by_estimate(void **state)
{
	struct packets *p = calloc(1, sizeof(*p));
	char *path = temp_file();
	struct perfdata_writer *w = create(path, true);
	int i;

	assert_non_null(p);
	put_psb(p, 1000000);
	p->n -= 2;
	put(p, "\x02\x03\x0a\x00\x02\x23", 6); /* CBR 10, and PSBEND again */
	for (i = 0; i < 100; i++)
		put_run(p, false);
	put_psb(p, 1001200);
	put_run(p, true);
	exec_and_map(w, PID);
	now = 1001100;
	map_code(w, PID, test_code_b);
	write_trace(w, PID, PID, p, 64);
	now = 9000000;
	exit_process(w, PID);
	assert_int_equal(perfdata_close(w), 0);
	expect_flow(path, PID, 100, 1);
	temp_remove(path);
	free(p);
}

/*
 * A second thread and a child process, each with a stream of its own.  The thread is
 * told of by the one that made it, or, as the embedded host does, by itself.
 */
static void threads(uint32_t teller)
{
	const struct hwt_rec_thread first = {.tid = PID}, thread = {.tid = PID + 1};
	const struct hwt_rec_fork fork = {PID + 2, PID + 2};
	struct packets *p[3];
	char *path = temp_file();
	struct perfdata_writer *w = create(path, true);
	uint32_t i;

	write_rec(w, PID, PID, HWT_REC_THREAD_CREATE, &first, sizeof(first), NULL);
	exec_and_map(w, PID);
	write_rec(w, PID, teller, HWT_REC_THREAD_CREATE, &thread, sizeof(thread), NULL);
	write_rec(w, PID, PID + 1, HWT_REC_FORK, &fork, sizeof(fork), NULL);
	for (i = 0; i < 3; i++) {
		p[i] = calloc(1, sizeof(*p[i]));
		assert_non_null(p[i]);
		put_psb(p[i], 1000000 + i);
		put_run(p[i], false);
		if (i)
			put_run(p[i], false);
		write_trace(w, i < 2 ? PID : PID + 2, PID + i, p[i], 64);
	}
	now = 9000000;
	assert_int_equal(perfdata_close(w), 0); /* nobody's exit was recorded */
	expect_flow(path, PID, 1, 0);
	expect_flow(path, PID + 1, 2, 0);
	expect_flow(path, PID + 2, 2, 0);
	for (i = 0; i < 3; i++)
		free(p[i]);
	temp_remove(path);
}

static void test_threads(void **state)
{
	threads(PID);
	threads(PID + 1);
}

/*
 * A gap: the unit stopped within a run and within a packet, and went on with a PSB.
 * perf must give all that the packets before it prove, and the run behind it.
 */
static void test_gap(void **state)
{
	struct packets *p = calloc(1, sizeof(*p));
	char *path = temp_file();
	struct perfdata_writer *w = create(path, false);
	size_t before = sizeof(flow_a) - 2, i = 0;
	char line[256];
	uint64_t ip;
	FILE *out;

	assert_non_null(p);
	exec_and_map(w, PID);
	put_psb(p, 0);
	put(p, "\x99\x01", 2);
	put_ip(p, 0x11, BASE);
	put(p, "\x1c\xc1\x00", 3); /* TNT 110, and two bytes of a TIP.PGD */
	assert_int_equal(
		perfdata_write_trace(w, PID, PID, 0, p->bytes, p->n, false, false), 0);
	p->n = 0;
	put_psb(p, 0);
	put_run(p, false);
	assert_int_equal(
		perfdata_write_trace(w, PID, PID, 4096, p->bytes, p->n, true, true), 0);
	exit_process(w, PID);
	assert_int_equal(perfdata_close(w), 0);
	out = run_perf("script --itrace=i1i -F ip", path);
	while (fgets(line, sizeof(line), out)) {
		assert_int_equal(sscanf(line, "%" SCNx64, &ip), 1);
		assert_true(i < before + sizeof(flow_a));
		assert_true(ip == BASE + flow_a[i < before ? i : i - before]);
		i++;
	}
	assert_int_equal(pclose(out), 0);
	assert_int_equal(i, before + sizeof(flow_a));
	temp_remove(path);
	free(p);
}

/* The writer is killed after a flush: no EXIT, no features, no close. */
static void test_killed(void **state)
{
	struct packets *p = calloc(1, sizeof(*p));
	struct perfdata_writer *w;
	char *path = temp_file();
	int status, tsc;
	pid_t pid;

	assert_non_null(p);
	put_psb(p, 1000000);
	put_run(p, false);
	put_run(p, false);
	for (tsc = 0; tsc < 2; tsc++) {
		pid = fork();
		assert_true(pid >= 0);
		if (!pid) {
			w = create(path, tsc);
			exec_and_map(w, PID);
			write_trace(w, PID, PID, p, 64);
			perfdata_flush(w);
			kill(getpid(), SIGKILL);
		}
		assert_int_equal(waitpid(pid, &status, 0), pid);
		assert_true(WIFSIGNALED(status));
		expect_flow(path, PID, 2, 0);
	}
	temp_remove(path);
	free(p);
}

static int build_id_of(void *ctx, const char *path, uint8_t *out, size_t max)
{
	memset(out, 0xa5, 20);
	return 20;
}

/* Every record type at once: perf walks over all of it and names what it knows. */
static void test_records(void **state)
{
	const char *const dump[] = {"PERF_RECORD_AUXTRACE_INFO",
				    "PERF_RECORD_TIME_CONV",
				    "PERF_RECORD_COMM exec: prog:4000/4000",
				    "PERF_RECORD_MMAP2 4000/4000: [0x10000000(0x1000)",
				    "PERF_RECORD_FORK(4000:4001):(4000:4000)",
				    "PERF_RECORD_ITRACE_START",
				    "PERF_RECORD_TEXT_POKE",
				    "PERF_RECORD_AUX offset: 0 size: 0x",
				    "PERF_RECORD_AUXTRACE size: 0x",
				    "flags: 0x1 [T]",
				    "Filter string",
				    "filter 0x10/0x20@/bin/x",
				    "PERF_RECORD_EXIT(4000:4000):(4000:4000)",
				    NULL};
	const char *const maps[] = {"PERF_RECORD_MMAP2",
				    "a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5",
				    "[kernel.kallsyms]_text", NULL};
	const char *const header[] = {"cmdline : hwt record -- a b", "arch : x86_64",
				      "intel_pt",
				      "pmu mappings: software = 1, intel_pt = 8", NULL};
	const char *const report[] = {"renamed", NULL};
	const char *const branches[] = {"10000008 ", " 10000006", NULL}; /* jnz */
	const char *const ids[] = {"a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5", NULL};
	const struct hwt_rec_thread thread = {.tid = PID + 1};
	const struct hwt_rec_lost lost = {3};
	const struct hwt_rec_name name = {"renamed"};
	const struct hwt_rec_kernel kernel = {0xffffffff81000000, 0x1000000};
	struct {
		struct hwt_rec_code head;
		uint8_t bytes[100000];
	} * code;
	struct perfdata_params params = test_params;
	struct packets *p = calloc(1, sizeof(*p));
	char *path = temp_file();
	struct perfdata_writer *w;

	code = calloc(1, sizeof(*code));
	assert_true(p && code);
	params.build_id = build_id_of;
	now = 1000;
	assert_int_equal(perfdata_create(path, &params, &w), 0);
	assert_int_equal(perfdata_set_filter(w, "filter 0x10/0x20@/bin/x"), 0);
	write_rec(w, 0, 0, HWT_REC_KERNEL, &kernel, sizeof(kernel), "kernel");
	exec_and_map(w, PID);
	write_rec(w, PID, PID, HWT_REC_THREAD_CREATE, &thread, sizeof(thread), NULL);
	write_rec(w, PID, PID, HWT_REC_THREAD_NAME, &name, sizeof(name), NULL);
	write_rec(w, PID, PID, HWT_REC_LOST, &lost, sizeof(lost), NULL);
	code->head.addr = BASE;
	code->head.len = sizeof(code->bytes);
	write_rec(w, PID, PID, HWT_REC_CODE, code, sizeof(*code), NULL);
	code->head.len = 5;
	write_rec(w, PID, PID, HWT_REC_TEXT_POKE, code, sizeof(code->head) + 8, NULL);
	put_psb(p, 2000);
	put_run(p, false);
	write_trace(w, PID, PID, p, 64);
	assert_int_equal(
		perfdata_write_trace(w, PID, PID, 4096, p->bytes, p->n, true, true), 0);
	exit_process(w, PID);
	assert_int_equal(perfdata_close(w), 0);
	expect_text("report -D", path, dump);
	expect_text("script --show-mmap-events", path, maps);
	expect_text("report --header-only", path, header);
	expect_text("buildid-list", path, ids);
	expect_text("script --itrace=b -F ip,addr", path, branches);
	expect_text("report --stdio --itrace=i1i", path, report);
	temp_remove(path);
	free(code);
	free(p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_pieces),
		cmocka_unit_test(test_maps_by_time),
		cmocka_unit_test(test_maps_by_estimate),
		cmocka_unit_test(test_threads),
		cmocka_unit_test(test_gap),
		cmocka_unit_test(test_killed),
		cmocka_unit_test(test_records),
	};

	if (system("perf --version >/dev/null 2>&1")) {
		printf("skipped: there is no perf (package linux-perf)\n");
		return 77;
	}
	return cmocka_run_group_tests(tests, NULL, NULL);
}
