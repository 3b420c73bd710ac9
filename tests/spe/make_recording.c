/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A recording of Arm SPE without an Arm program: the unit of models/spe is fed
 * with operations of two threads and the writer makes perf.data of it.
 *
 * usage: make_recording FILE RECORDS [SEED]
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "container/perfdata.h"
#include "models/spe/spe_feed.h"

#define PID	4000
#define CODE	0x400000ull
#define DATA	0xffff80000000ull	/* the tag that some of them carry is above */
#define BASE	0x1000ull

struct thread {
	uint32_t tid;
	struct spe_unit unit;
	struct spe_regs_file regs;
	uint8_t *memory;
	uint64_t size;
};

static struct perfdata_writer *writer;

static void must(int err, const char *what)
{
	if (!err)
		return;
	fprintf(stderr, "%s: %s\n", what, strerror(-err));
	exit(1);
}

static void *memory(void *ctx, uint64_t addr, uint64_t len)
{
	struct thread *t = ctx;

	return addr >= BASE && addr - BASE + len <= t->size ? t->memory + (addr - BASE) : NULL;
}

static void set(struct thread *t, uint32_t reg, uint64_t value)
{
	must(spe_unit_write(&t->unit, reg, value), "register");
}

static void thread_init(struct thread *t, uint32_t tid, uint64_t records, uint64_t seed)
{
	struct spe_unit_host host = {t, memory, NULL, NULL};

	t->tid = tid;
	t->size = (records * SPE_RECORD_SIZE + 4095) & ~4095ull;
	t->memory = calloc(1, t->size);
	must(t->memory ? spe_unit_init(&t->unit, &t->regs, seed, &host) : -12, "unit");
	spe_unit_set_context(&t->unit, 0, tid);
	spe_unit_set_time(&t->unit, 1000000000 + tid);
	set(t, PMSIRR_EL1, 256 | PMSIRR_RND);
	set(t, PMBPTR_EL1, BASE);
	set(t, PMBLIMITR_EL1, (BASE + t->size) | PMBLIMITR_NVM | PMBLIMITR_E);
	set(t, PMSCR_EL1, PMSCR_E0SPE | PMSCR_CX | PMSCR_TS);
}

static uint64_t next_random(uint64_t *state)
{
	*state = *state * 6364136223846793005ull + 1442695040888963407ull;
	return *state >> 33;
}

static struct spe_op random_op(uint64_t *state)
{
	static const uint16_t branch_flags[] = {
		SPE_OPF_COND | SPE_OPF_TAKEN, SPE_OPF_COND, SPE_OPF_INDIRECT | SPE_OPF_TAKEN,
		SPE_OPF_CALL | SPE_OPF_TAKEN, SPE_OPF_RETURN | SPE_OPF_INDIRECT | SPE_OPF_TAKEN,
	};
	static const uint16_t ldst_flags[] = {0, 0, SPE_OPF_SIMD, SPE_OPF_ATOMIC | SPE_OPF_ACQREL,
					      SPE_OPF_EXCL};
	struct spe_op op = {.pc = CODE + 4 * (next_random(state) % 4096)};

	op.kind = (uint8_t)(next_random(state) % 4);
	if (op.kind == SPE_OP_KIND_BRANCH) {
		op.flags = branch_flags[next_random(state) % 5];
		op.target = CODE + 4 * (next_random(state) % 4096);
	} else if (op.kind != SPE_OP_KIND_OTHER) {
		op.flags = ldst_flags[next_random(state) % 5];
		op.access.addr = DATA + next_random(state) % (1u << (8 + next_random(state) % 16));
		op.access.size = 1u << next_random(state) % 5;
	}
	return op;
}

static void write_record(uint16_t type, uint32_t tid, uint64_t time, const void *payload,
			 size_t n, const char *text)
{
	size_t size = (sizeof(struct hwt_rec) + n + (text ? strlen(text) + 1 : 0) + 7) & ~7ull;
	struct hwt_rec *rec = calloc(1, size);

	must(rec ? 0 : -12, "record");
	rec->size = (uint32_t)size;
	rec->type = type;
	rec->time = time;
	rec->pid = PID;
	rec->tid = tid;
	rec->cpu = -1;
	memcpy(rec + 1, payload, n);
	if (text)
		strcpy((char *)(rec + 1) + n, text);
	must(perfdata_write_record(writer, rec), "record");
	free(rec);
}

static void begin(const char *path)
{
	const struct arm_spe_config2 config = {
		.first = {256, ARM_SPE_USER_ONLY, ARM_SPE_CTX_PID},
	};
	const struct hwt_rec_exec exec = {.old_tid = PID};
	const struct hwt_rec_mmap map = {.addr = CODE, .len = 0x10000,
					 .prot = PROT_READ | PROT_EXEC, .mapflags = MAP_PRIVATE};
	uint32_t caps[SPE_CAP_COUNT];
	const char *const argv[] = {"make_recording", NULL};
	struct perfdata_params params = {
		.backend = "spe", .argv = argv, .spe = &config, .caps = caps,
		.ncaps = SPE_CAP_COUNT, .time_hz = 1000000000, .host = "embedded",
	};

	spe_unit_caps(caps);
	must(perfdata_create(path, &params, &writer), path);
	write_record(HWT_REC_EXEC, PID, 999999000, &exec, sizeof(exec), "/no/such/program");
	write_record(HWT_REC_MMAP, PID, 999999500, &map, sizeof(map), "/no/such/program");
}

/* In pieces that end anywhere, as a recorder drains. */
static void save(struct thread *t, uint64_t *state)
{
	uint64_t end = spe_unit_read(&t->unit, PMBPTR_EL1) - BASE, at, n;

	for (at = 0; at < end; at += n) {
		n = 64 + next_random(state) % 5000;
		if (n > end - at)
			n = end - at;
		must(perfdata_write_trace(writer, PID, t->tid, at, t->memory + at, n, false,
					  at + n == end), "trace");
	}
}

int main(int argc, char **argv)
{
	static struct thread threads[2];
	uint64_t records = argc > 2 ? strtoull(argv[2], NULL, 0) : 0;
	uint64_t state = argc > 3 ? strtoull(argv[3], NULL, 0) : 1;
	struct hwt_rec_thread other = {.tid = PID + 1};
	struct hwt_rec_exit ended = {0};
	int i;

	if (!records) {
		fprintf(stderr, "usage: make_recording FILE RECORDS [SEED]\n");
		return 2;
	}
	begin(argv[1]);
	write_record(HWT_REC_THREAD_CREATE, PID, 999999900, &other, sizeof(other), NULL);
	for (i = 0; i < 2; i++) {
		struct thread *t = &threads[i];

		thread_init(t, PID + (uint32_t)i, records, state);
		while (spe_unit_until(&t->unit) < SPE_NEVER) {
			struct spe_op op = random_op(&state);

			spe_unit_op(&t->unit, &op);
		}
		save(t, &state);
	}
	write_record(HWT_REC_EXIT, PID, 1ull << 40, &ended, sizeof(ended), NULL);
	must(perfdata_close(writer), argv[1]);
	return 0;
}
