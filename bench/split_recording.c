// SPDX-License-Identifier: BSD-2-Clause
/*
 * Takes a recording apart for decode_bench: the first stream's bytes, and a line
 * for each executable mapping ("F ADDRESS LENGTH OFFSET FILE").
 *
 *	split_recording FILE PTFILE MAPFILE
 */
#include <inttypes.h>
#include <stdio.h>

#include "container/perfdata.h"
#include "session/session.h"

static int write_stream(struct hwt_session *s, const char *path)
{
	struct hwt_stream *st = hwt_session_stream(s, 0);
	FILE *f = fopen(path, "we");
	uint64_t position, lost;
	const uint8_t *bytes;
	size_t n;
	int bad = !f;

	while (f && hwt_stream_chunk(st, &bytes, &n, &position, &lost) > 0)
		bad |= fwrite(bytes, 1, n, f) != n;
	return bad | (f && fclose(f));
}

static int write_maps(const char *data, const char *path)
{
	enum perfdata_kind kind;
	struct perfdata_event ev;
	struct perfdata *p;
	FILE *f = fopen(path, "we");

	if (!f || perfdata_open(data, &p, &kind))
		return 1;
	while (perfdata_next(p, &ev) > 0)
		if (ev.type == PERFDATA_MMAP && ev.mmap.path[0] == '/')
			fprintf(f, "F %" PRIx64 " %" PRIx64 " %" PRIx64 " %s\n", ev.mmap.addr,
				ev.mmap.len, ev.mmap.pgoff, ev.mmap.path);
	perfdata_close_reader(p);
	return fclose(f);
}

int main(int argc, char **argv)
{
	struct hwt_session_options o = {0};
	struct hwt_session *s;
	char *error;
	int bad;

	if (argc != 4)
		return 2;
	o.path = argv[1];
	if (hwt_session_open(&o, NULL, NULL, &s, &error)) {
		fprintf(stderr, "%s\n", error);
		return 1;
	}
	bad = hwt_session_nstreams(s) < 1 || write_stream(s, argv[2]) ||
	      write_maps(argv[1], argv[3]);
	hwt_session_close(s);
	return bad;
}
