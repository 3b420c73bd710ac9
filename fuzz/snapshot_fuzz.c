/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Snapshot folders: up to three files, parted by NUL, as snapshot.ini, d.ini and
 * t.ini.  Whatever they say, it is a folder or one sentence of what is wrong.
 */
#include "fuzz.h"
#include "container/snapshot.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char folder[] = "/tmp/hwt-snapshot-XXXXXX";

static void require(int condition)
{
	if (!condition)
		abort();
}

static void file_path(char *to, size_t n, const char *name)
{
	snprintf(to, n, "%s/%s", folder, name);
}

static const char *const names[] = {"snapshot.ini", "d.ini", "t.ini"};

static void cleanup(void)
{
	char path[128];
	size_t i;

	for (i = 0; i < 3; i++) {
		file_path(path, sizeof(path), names[i]);
		unlink(path);
	}
	rmdir(folder);
}

static void write_file(const char *name, const uint8_t *data, size_t n)
{
	char path[128];
	FILE *f;

	file_path(path, sizeof(path), name);
	f = fopen(path, "we");
	require(f != NULL);
	if (n)
		fwrite(data, 1, n, f);
	fclose(f);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static int made;
	struct snapshot *s;
	char *error;
	size_t i, n;
	int ret;

	if (!made) {
		require(mkdtemp(folder) != NULL);
		atexit(cleanup);
		made = 1;
	}
	for (i = 0; i < 3; i++) {
		const uint8_t *end = size ? memchr(data, 0, size) : NULL;

		n = end && i < 2 ? (size_t)(end - data) : size;
		write_file(names[i], data, n);
		n += end && i < 2;
		data += n;
		size -= n;
	}
	ret = snapshot_open(folder, &s, &error);
	require(ret <= 0 && (ret ? !s : s && s->nsources && !error));
	for (i = 0; s && i < s->nsources; i++)
		require(s->sources[i].device->type && s->sources[i].buffer->path &&
			!strstr(s->sources[i].buffer->path, ".."));
	snapshot_close(s);
	free(error);
	return 0;
}
