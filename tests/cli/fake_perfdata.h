/* SPDX-License-Identifier: BSD-2-Clause */
/* container/perfdata.h's writer, kept in memory for tests of the recorder. */
#ifndef TESTS_CLI_FAKE_PERFDATA_H
#define TESTS_CLI_FAKE_PERFDATA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct fake_stream {
	uint32_t	tid;
	uint64_t	first, next;	/* positions */
	size_t		bytes, gaps, wrong;	/* wrong: bytes that are not fake_byte's */
	int		finals;
};

struct fake_file {
	struct fake_stream stream[64];
	int		nstreams;
	int		records, flushes;
	int		of_type[32];	/* records */
	uint64_t	code;		/* bytes of kernel code, all fake_code's */
	uint64_t	symbols;	/* bytes of them */
	uint64_t	*written;	/* the caller's count */
	bool		per_cpu;
	bool		created, closed;
	char		filter[256], shown[256];
	/* Set before: creation fails, or writing does from the n-th call on. */
	int		create_error, write_error, write_calls_left;
};
extern struct fake_file fake_file;
struct fake_stream *fake_stream(uint32_t tid);

#endif
