/* SPDX-License-Identifier: BSD-2-Clause */
/* A writer that is killed, and one that finds no room: the file reads up to there. */
#include <stdarg.h>
#include <setjmp.h>
#include <stddef.h>
#include <cmocka.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include "container/output.h"
#include "temp.h"

#define CHUNK 30011
static const uint8_t psb[16] = {2, 0x82, 2, 0x82, 2, 0x82, 2, 0x82,
				2, 0x82, 2, 0x82, 2, 0x82, 2, 0x82};

/* The byte at a position of every stream here; a PSB each 4096. */
static uint8_t byte_at(uint64_t position)
{
	if (position % 4096 < sizeof(psb))
		return psb[position % 4096];
	return (uint8_t)(0x90 + (position * 7 + (position >> 12)) % 64);
}

/* Of two threads, or of one buffer that all share. */
static struct perfdata_params params;
static uint32_t nstreams;

static int of_threads(void **state)
{
	params = test_params;
	nstreams = 2;
	return 0;
}

static int of_a_sink(void **state)
{
	params = test_params;
	params.backend = "coresight";
	params.shared = true;
	nstreams = 1;
	return 0;
}

/* One step of a recording: a record that counts, and trace of each stream. */
static int step(struct perfdata_writer *w, uint64_t n)
{
	static uint8_t bytes[CHUNK];
	struct hwt_rec_generation payload = {n};
	struct hwt_rec *rec =
		make_rec(HWT_REC_GENERATION, 1, 1, &payload, sizeof(payload), NULL);
	int err = perfdata_write_record(w, rec);
	uint64_t i;
	uint32_t tid;

	free(rec);
	for (i = 0; i < CHUNK; i++)
		bytes[i] = byte_at(n * CHUNK + i);
	for (tid = 1; !err && tid <= nstreams; tid++)
		err = perfdata_write_trace(w, 1, tid, n * CHUNK, bytes, CHUNK, false,
					   false);
	if (!err && n % 3 == 0)
		err = perfdata_flush(w);
	return err;
}

static void check_bytes(struct perfdata *p, const struct perfdata_event *ev)
{
	uint8_t *bytes = malloc((size_t)ev->auxtrace.size + 1);
	uint64_t i;

	assert_non_null(bytes);
	assert_int_equal(perfdata_read(p, ev->auxtrace.data_offset, bytes,
				       (size_t)ev->auxtrace.size),
			 ev->auxtrace.size);
	for (i = 0; i < ev->auxtrace.size; i++)
		if (bytes[i] != byte_at(ev->auxtrace.offset + i))
			fail_msg("byte %llu differs",
				 (unsigned long long)(ev->auxtrace.offset + i));
	free(bytes);
}

/* Trace of one stream as it was met, without what a later piece has again. */
struct pieces {
	struct perfdata_event piece[4096];
	size_t		n;
	uint64_t	next;
};

static void add_piece(struct pieces *s, const struct perfdata_event *ev)
{
	uint64_t end = ev->auxtrace.offset + ev->auxtrace.size;

	/* Killed before all its drafts were dropped: it has what any of them had. */
	while (s->n && ev->auxtrace.offset < s->next) {
		s->next = s->piece[--s->n].auxtrace.offset;
		assert_true(end >= s->next + s->piece[s->n].auxtrace.size);
	}
	assert_int_equal(ev->auxtrace.offset, s->next);
	assert_true(s->n < sizeof(s->piece) / sizeof(s->piece[0]));
	s->piece[s->n++] = *ev;
	s->next = end;
}

/* All that is in the file is whole, in order, and ends without an error. */
static uint64_t check_file(const char *path, uint64_t *trace)
{
	static struct pieces streams[2];
	struct pieces *last = &streams[nstreams - 1];
	const struct hwt_rec_generation *g;
	struct perfdata_event ev;
	struct perfdata *p = must_open(path);
	uint64_t recs = 0;
	size_t i, k;

	memset(streams, 0, sizeof(streams));
	while (next_event(p, &ev)) {
		if (ev.type == PERFDATA_HWT) {
			g = (const struct hwt_rec_generation *)(ev.rec + 1);
			assert_int_equal(g->generation, recs);
			recs++;
		} else if (ev.type == PERFDATA_AUXTRACE) {
			add_piece(&streams[ev.auxtrace.idx & 1], &ev);
		}
	}
	for (i = 0; i < 2; i++)
		for (k = 0; k < streams[i].n; k++)
			check_bytes(p, &streams[i].piece[k]);
	assert_false(perfdata_info(p)->complete);
	assert_int_equal(perfdata_info(p)->truncated_at, 0);
	/* Of what was recorded nothing is missing but what was not yet flushed. */
	if (recs)
		assert_true(last->next + 65536 + 2 * CHUNK + 8192 > recs * CHUNK);
	*trace = streams[0].next + streams[1].next;
	perfdata_close_reader(p);
	return recs;
}

static void record_forever(const char *path)
{
	struct perfdata_writer *w;
	uint64_t n;

	if (perfdata_create(path, &params, &w))
		_exit(1);
	for (n = 0; n < 2000; n++)
		if (step(w, n))
			_exit(1);
	pause();
	_exit(1);
}

static void test_killed(void **state)
{
	struct timespec wait = {0};
	char *path = temp_file();
	struct stat st;
	uint64_t most = 0, recs, trace;
	int i, status;
	pid_t pid;

	for (i = 0; i < 20; i++) {
		pid = fork();
		assert_true(pid >= 0);
		if (!pid)
			record_forever(path);
		do { /* it has its head; from then on, sooner or later */
			nanosleep(&wait, NULL);
			assert_int_equal(stat(path, &st), 0);
		} while (st.st_size < 65536);
		wait.tv_nsec = i * i * 50000;
		nanosleep(&wait, NULL);
		kill(pid, SIGKILL);
		assert_int_equal(waitpid(pid, &status, 0), pid);
		assert_true(WIFSIGNALED(status));
		recs = check_file(path, &trace);
		most = recs > most ? recs : most;
		assert_int_equal(truncate(path, 0), 0);
		wait.tv_nsec = 100000;
	}
	assert_true(most > 3);
	temp_remove(path);
}

/* Writes until it fails; the error stays, also at the close; and how much it was is told. */
static void write_until(const char *path, int error)
{
	uint64_t n = 0, written = 0, trace;
	struct perfdata_writer *w;
	int err;

	params.written = &written;
	assert_int_equal(perfdata_create(path, &params, &w), 0);
	do
		err = step(w, n++);
	while (!err && n < 10000);
	assert_int_equal(err, error);
	assert_int_equal(step(w, n), error);
	if (nstreams > 1) /* CoreSight's have none there */
		assert_int_equal(perfdata_set_filter(w, "x"), error);
	assert_int_equal(perfdata_set_shown(w, "x"), error);
	assert_int_equal(perfdata_flush(w), error);
	assert_int_equal(perfdata_close(w), error);
	assert_true(check_file(path, &trace) > 3);
	assert_int_equal(written, trace);
}

static void test_file_size_limit(void **state)
{
	struct rlimit limit, old;
	char *path = temp_file();

	getrlimit(RLIMIT_FSIZE, &old);
	limit = old;
	limit.rlim_cur = 1000003;
	signal(SIGXFSZ, SIG_IGN);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
	write_until(path, -EFBIG);
	setrlimit(RLIMIT_FSIZE, &old);
	temp_remove(path);
}

/* A file system of its own, in a child with mounts of its own. */
static void test_disk_full(void **state)
{
	char dir[] = "/tmp/hwt-full-XXXXXX", path[64];
	int status;
	pid_t pid;

	assert_non_null(mkdtemp(dir));
	pid = fork();
	assert_true(pid >= 0);
	if (!pid) {
		if (unshare(CLONE_NEWNS) ||
		    mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) ||
		    mount("hwt", dir, "tmpfs", 0, "size=512k"))
			_exit(77);
		snprintf(path, sizeof(path), "%s/perf.data", dir);
		write_until(path, -ENOSPC);
		_exit(0);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	rmdir(dir);
	assert_true(WIFEXITED(status));
	if (WEXITSTATUS(status) == 77) {
		print_message("no mounts here (needs root)\n");
		skip();
	}
	assert_int_equal(WEXITSTATUS(status), 0);
}

static bool is_busy(const char *path, bool *complete)
{
	struct perfdata *p = must_open(path);
	bool busy = perfdata_info(p)->busy;

	*complete = perfdata_info(p)->complete;
	perfdata_close_reader(p);
	return busy;
}

/* Two writers of one file: the second is refused, and has touched nothing. */
static void test_two_writers(void **state)
{
	struct perfdata_writer *w, *second = NULL;
	char *path = temp_file();
	bool complete;
	uint64_t trace;

	assert_int_equal(perfdata_create(path, &test_params, &w), 0);
	assert_int_equal(step(w, 0), 0);
	assert_int_equal(perfdata_flush(w), 0);
	assert_int_equal(perfdata_create(path, &test_params, &second), -EBUSY);
	assert_null(second);
	assert_int_equal(output_open(path, O_WRONLY, 0600), -EBUSY);
	assert_true(is_busy(path, &complete) && !complete);
	assert_int_equal(check_file(path, &trace), 1);
	assert_int_equal(perfdata_close(w), 0);
	assert_true(!is_busy(path, &complete) && complete);
	assert_int_equal(perfdata_create(path, &test_params, &w), 0);
	assert_int_equal(perfdata_close(w), 0);
	temp_remove(path);
}

/* What is no file is everybody's. */
static void test_two_devices(void **state)
{
	int a = output_open("/dev/null", O_WRONLY, 0600);
	int b = output_open("/dev/null", O_WRONLY, 0600);

	assert_true(a >= 0 && b >= 0);
	close(a);
	close(b);
}

static void test_unwritable(void **state)
{
	struct perfdata_writer *w = NULL;
	int fds[2];
	char path[64];

	assert_int_equal(perfdata_create("/dev/full", &params, &w), -ENOSPC);
	assert_int_equal(perfdata_create("/", &params, &w), -EISDIR);
	assert_int_equal(perfdata_create("/no-such-directory/x", &params, &w), -ENOENT);
	assert_int_equal(pipe(fds), 0);
	snprintf(path, sizeof(path), "/dev/fd/%d", fds[1]);
	assert_int_equal(perfdata_create(path, &params, &w), -ESPIPE);
	close(fds[0]);
	close(fds[1]);
	params.backend = "etb";
	assert_int_equal(perfdata_create("/dev/null", &params, &w), -EOPNOTSUPP);
	params.backend = NULL;
	assert_int_equal(perfdata_create("/dev/null", &params, &w), -EINVAL);
	assert_null(w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(test_killed, of_threads),
		cmocka_unit_test_setup(test_killed, of_a_sink),
		cmocka_unit_test_setup(test_file_size_limit, of_threads),
		cmocka_unit_test_setup(test_file_size_limit, of_a_sink),
		cmocka_unit_test_setup(test_disk_full, of_threads),
		cmocka_unit_test_setup(test_disk_full, of_a_sink),
		cmocka_unit_test_setup(test_two_writers, of_threads),
		cmocka_unit_test_setup(test_two_devices, of_threads),
		cmocka_unit_test_setup(test_unwritable, of_threads),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
