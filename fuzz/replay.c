/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Runs a fuzzer's entry point on the files given, and on all files of the
 * directories given: corpora are replayed by `make check` without libFuzzer.
 */
#include "fuzz.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static int run_file(const char *path)
{
	uint8_t *bytes = NULL;
	struct stat st;
	size_t n = 0;
	FILE *f = fopen(path, "rb");

	if (!f || fstat(fileno(f), &st)) {
		fprintf(stderr, "%s: %s\n", path, strerror(errno));
		return -1;
	}
	/* Exactly as long as the input, so that sanitizers see an overrun. */
	bytes = malloc((size_t)st.st_size + !st.st_size);
	if (bytes)
		n = fread(bytes, 1, (size_t)st.st_size, f);
	fclose(f);
	if (bytes)
		LLVMFuzzerTestOneInput(bytes, n);
	free(bytes);
	return 1;
}

static int run_path(const char *path)
{
	struct dirent *entry;
	char child[4096];
	int count = 0, n;
	DIR *dir = opendir(path);

	if (!dir)
		return run_file(path);
	while ((entry = readdir(dir)) && count >= 0) {
		if (entry->d_name[0] == '.')
			continue;
		snprintf(child, sizeof(child), "%s/%s", path, entry->d_name);
		n = run_path(child);
		count = n < 0 ? n : count + n;
	}
	closedir(dir);
	return count;
}

int main(int argc, char **argv)
{
	int i, n, total = 0;

	for (i = 1; i < argc; i++) {
		n = run_path(argv[i]);
		if (n < 0)
			return 1;
		total += n;
	}
	printf("%d inputs\n", total);
	return total ? 0 : 1;
}
