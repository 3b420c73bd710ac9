/* SPDX-License-Identifier: BSD-2-Clause */
/* Snapshot folders whose files are none: told, and never waited for. */
#include <stdarg.h>
#include <setjmp.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "container/snapshot.h"

#define LIMIT 20 /* seconds: then it waits */

static const struct {
	const char *name, *text;
} files[] = {
	{"snapshot.ini", "[device_list]\ndevice0=d.ini\n[trace]\nmetadata=t.ini\n"},
	{"d.ini", "[device]\nname=ETM_0\nclass=trace_source\ntype=ETM4\n"
		  "[regs]\nTRCTRACEIDR(0x010)=0x10\n"},
	{"t.ini", "[trace_buffers]\nbuffers=buffer0\n[buffer0]\nname=ETB_0\nfile=b.bin\n"
		  "format=coresight\n[source_buffers]\nETM_0=ETB_0\n"},
};
#define NFILES (sizeof(files) / sizeof(files[0]))

static void put_text(const char *folder, const char *name, const char *text)
{
	char path[128];
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	f = fopen(path, "w");
	assert_non_null(f);
	assert_true(fputs(text, f) >= 0);
	assert_int_equal(fclose(f), 0);
}

static void put(const char *folder, size_t i, size_t fifo)
{
	char path[128];

	snprintf(path, sizeof(path), "%s/%s", folder, files[i].name);
	unlink(path);
	if (i == fifo)
		assert_int_equal(mkfifo(path, 0600), 0);
	else
		put_text(folder, files[i].name, files[i].text);
}

static void remove_folder(const char *folder)
{
	char path[128];
	size_t i;

	for (i = 0; i < NFILES; i++) {
		snprintf(path, sizeof(path), "%s/%s", folder, files[i].name);
		unlink(path);
	}
	assert_int_equal(rmdir(folder), 0);
}

static void test_fifos(void **state)
{
	char folder[] = "/tmp/hwt-snapshot-XXXXXX", *error;
	struct snapshot *s;
	size_t fifo, i;

	assert_non_null(mkdtemp(folder));
	alarm(LIMIT);
	for (fifo = 0; fifo <= NFILES; fifo++) {
		for (i = 0; i < NFILES; i++)
			put(folder, i, fifo);
		if (fifo == NFILES) {
			assert_int_equal(snapshot_open(folder, &s, &error), 0);
			snapshot_close(s);
			break;
		}
		assert_int_equal(snapshot_open(folder, &s, &error), -EINVAL);
		assert_null(s);
		assert_non_null(strstr(error, files[fifo].name));
		assert_non_null(strstr(error, "is no regular file"));
		free(error);
	}
	alarm(0);
	remove_folder(folder);
}

#define ETM "[device]\nname=ETM_0\nclass=trace_source\ntype=ETE\n[regs]\nTRCIDR0=0\n"

/* Of one file another text: the folder is refused with these words, or (NULL) is read. */
static void test_nonsense(void **state)
{
	static const struct {
		size_t file;
		const char *text, *words;
	} cases[] = {
		{0, "\xef\xbb\xbf[device_list]\ndevice0=d.ini\n[trace]\nmetadata=t.ini\n", NULL},
		{1, "[device]\nname=ETM_0\nclass=trace_source\n[regs]\nTRCIDR0=0xz\n",
		 "a number that is none: trcidr0=0xz"},
		{1, ETM, "d.ini: has no TRCTRACEIDR"},
		{1, ETM "TRCTRACEIDR=0\n", "d.ini: has a TRCTRACEIDR that is no trace ID "
					   "(0x1 to 0x6f): 0x0"},
		{1, ETM "TRCTRACEIDR=0x70\n", "): 0x70"},
		{1, ETM "TRCTRACEIDR=0x90\n", "): 0x90"},
		{1, ETM "TRCTRACEIDR=0x100000010\n", "): 0x100000010"},
		{1, ETM "TRCTRACEIDR=1\n", NULL},
		{1, ETM "TRCTRACEIDR=0x6F\n", NULL},
		{1, "[device]\nname=ETM_0\nclass=trace_source\ntype=STM\n", NULL},
		{2, "[buffer0]\nname=B\nfile=b\nformat=foo\n[source_buffers]\nETM_0=B\n",
		 "format"},
		{2, "[buffer0]\nname=B\nfile=b\n[source_buffers]\nETM_0=B\n", "format"},
		{2, "[trace_buffers]\nbuffers=buffer0,buffer1\n[buffer0]\nname=B\nfile=b\n"
		    "format=source_data\n[source_buffers]\nETM_0=B\n",
		 "a buffer that it does not describe"},
		{2, "[buffer0]\nname=B\nfile=b\nformat=source_data\n[source_buffers]\nETM_0=B\n"
		    "[core_trace_sources]\ncpu_7=ETM_0\n",
		 "a core that no file describes"},
	};
	char folder[] = "/tmp/hwt-snapshot-XXXXXX", *error;
	struct snapshot *s;
	size_t i, k;
	int ret;

	assert_non_null(mkdtemp(folder));
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		for (k = 0; k < NFILES; k++)
			put(folder, k, NFILES);
		put_text(folder, files[cases[i].file].name, cases[i].text);
		ret = snapshot_open(folder, &s, &error);
		assert_int_equal(ret, cases[i].words ? -EINVAL : 0);
		if (cases[i].words && !strstr(error, cases[i].words))
			fail_msg("%s", error);
		free(error);
		snapshot_close(s);
	}
	remove_folder(folder);
}

/* Whose trace is in no buffer, or in one without frames, needs no trace ID. */
static void test_no_trace_id(void **state)
{
	static const struct {
		const char *trace;
		int ret;
	} cases[] = {
		{"[buffer0]\nname=B\nfile=b\nformat=source_data\n[source_buffers]\nETM_0=B\n", 0},
		{"[buffer0]\nname=B\nfile=b\nformat=coresight\n[source_buffers]\nSTM=B\n", 0},
		{"[buffer0]\nname=B\nfile=b\nformat=coresight\n[source_buffers]\nETM_0=B\n",
		 -EINVAL},
	};
	char folder[] = "/tmp/hwt-snapshot-XXXXXX", path[128], *error;
	struct snapshot *s;
	size_t i;

	assert_non_null(mkdtemp(folder));
	put_text(folder, "snapshot.ini", "[device_list]\ndevice0=d.ini\ndevice1=e.ini\n"
					 "[trace]\nmetadata=t.ini\n");
	put_text(folder, "d.ini", ETM);
	put_text(folder, "e.ini", "[device]\nname=STM\nclass=trace_source\n");
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		put_text(folder, "t.ini", cases[i].trace);
		assert_int_equal(snapshot_open(folder, &s, &error), cases[i].ret);
		free(error);
		snapshot_close(s);
	}
	snprintf(path, sizeof(path), "%s/e.ini", folder);
	unlink(path);
	remove_folder(folder);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_fifos),
		cmocka_unit_test(test_nonsense),
		cmocka_unit_test(test_no_trace_id),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
