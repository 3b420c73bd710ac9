/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The perf.data reader on any bytes: all that it hands out is readable, trace
 * bytes lie within the file, and a second pass gives what the first one gave.
 */
#include "fuzz.h"
#include "container/perfdata.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define EVENTS_MAX 100000 /* zstd makes much of little */

static uint64_t hash;

static void require(int condition)
{
	if (!condition)
		abort();
}

static void touch(const void *bytes, size_t n)
{
	const uint8_t *b = bytes;
	size_t i;

	for (i = 0; i < n; i++)
		hash = (hash ^ b[i]) * 0x100000001b3ull;
}

static void touch_string(const char *s)
{
	if (s)
		touch(s, strlen(s));
}

static void touch_bytes(struct perfdata *p, const struct perfdata_event *ev, size_t size)
{
	uint64_t n = ev->auxtrace.size;
	uint8_t buf[64];

	require(ev->auxtrace.data_offset <= size && n <= size - ev->auxtrace.data_offset);
	n = n < sizeof(buf) ? n : sizeof(buf);
	require(perfdata_read(p, ev->auxtrace.data_offset, buf, n) == (ssize_t)n);
	touch(buf, n);
}

static void touch_event(struct perfdata *p, const struct perfdata_event *ev, size_t size)
{
	touch(&ev->type, sizeof(ev->type));
	touch(&ev->time, sizeof(ev->time));
	require(ev->file_offset <= size && (unsigned int)ev->type < PERFDATA_TYPE_MAX);
	switch (ev->type) {
	case PERFDATA_MMAP:
		touch_string(ev->mmap.path);
		touch(ev->mmap.build_id, ev->mmap.build_id_size);
		break;
	case PERFDATA_COMM:
		touch_string(ev->comm.comm);
		break;
	case PERFDATA_TEXT_POKE:
		touch(ev->poke.bytes, (size_t)ev->poke.old_len + ev->poke.new_len);
		break;
	case PERFDATA_AUXTRACE:
		touch_bytes(p, ev, size);
		break;
	case PERFDATA_HWT:
		touch(ev->rec, ev->rec->size);
		break;
	default:
		break;
	}
}

static uint64_t pass(struct perfdata *p, size_t size)
{
	struct perfdata_event ev;
	int more = 1, n;

	hash = 0xcbf29ce484222325ull;
	perfdata_rewind(p);
	for (n = 0; n < EVENTS_MAX && more > 0; n++) {
		more = perfdata_next(p, &ev);
		if (more > 0)
			touch_event(p, &ev, size);
	}
	touch(&more, sizeof(more));
	return hash;
}

static void touch_info(struct perfdata *p)
{
	const struct perfdata_info *info = perfdata_info(p);
	const char *const texts[] = {info->backend,  info->host,  info->filter,  info->shown,
				     info->cmdline,  info->cpuid, info->cpudesc,
				     info->hostname, info->arch,  info->os_release};
	size_t i;

	for (i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
		touch_string(texts[i]);
	require(perfdata_ticks_to_time(p, 5) <= perfdata_ticks_to_time(p, UINT64_MAX));
	require(perfdata_time_to_ticks(p, 5) <= perfdata_time_to_ticks(p, UINT64_MAX));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	enum perfdata_kind kind = PERFDATA_UNKNOWN;
	int fd = memfd_create("perfdata", MFD_CLOEXEC);
	struct perfdata *p = NULL;
	char path[32];
	uint64_t first;
	int err;

	require(fd >= 0 && write(fd, data, size) == (ssize_t)size);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	err = perfdata_open(path, &p, &kind);
	require(err <= 0 && !err == !!p && perfdata_kind_text(kind) != NULL);
	if (p) {
		touch_info(p);
		first = pass(p, size);
		require(pass(p, size) == first);
	}
	perfdata_close_reader(p);
	close(fd);
	return 0;
}
