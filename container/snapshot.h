/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Arm's snapshot folders, as DS-5 and OpenCSD have them: snapshot.ini names device
 * files and trace.ini, which says which source went into which buffer.
 *
 *	snapshot.ini	[device_list] device0=cpu_0.ini ...  [trace] metadata=trace.ini
 *	cpu_0.ini	[device] name, class=core  [regs]  [dump1] file, address, length
 *	device_6.ini	[device] name, class=trace_source, type=ETM4  [regs] TRCIDR0=...
 *	trace.ini	[trace_buffers] buffers=buffer0  [buffer0] name, file, format
 *			[source_buffers] ETM_0=ETB_0  [core_trace_sources] cpu_0=ETM_0
 *
 * Files are named relative to the folder; names that lead out of it are refused.
 */
#ifndef CONTAINER_SNAPSHOT_H
#define CONTAINER_SNAPSHOT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SNAPSHOT_REG_NAME 32

struct snapshot_register {
	char		name[SNAPSHOT_REG_NAME];	/* without (offset), in upper case */
	uint64_t	value;
};

struct snapshot_dump {
	char		*path;		/* the folder's path included */
	uint64_t	address, length;
	uint64_t	offset;		/* in the file */
};

struct snapshot_device {
	char		*name, *class, *type;	/* never NULL */
	struct snapshot_register *regs;
	size_t		nregs;
	struct snapshot_dump *dumps;
	size_t		ndumps;
};

struct snapshot_buffer {
	char		*name;
	char		*path;		/* the folder's path included */
	bool		formatted;	/* format=coresight: frames with trace IDs */
	bool		has_format;	/* some format was named */
};

struct snapshot_source {		/* a source that went into a buffer */
	const struct snapshot_device *device;
	const struct snapshot_device *core;	/* NULL: none is named */
	const struct snapshot_buffer *buffer;
};

struct snapshot {
	struct snapshot_device *devices;
	size_t		ndevices;
	struct snapshot_buffer *buffers;
	size_t		nbuffers;
	struct snapshot_source *sources;
	size_t		nsources;
};

/*
 * Reads the folder.  0; -errno of reading a file; -EINVAL: not such a folder, or
 * damaged; -ENOMEM.  *error is then a malloc'd sentence that says what and where,
 * or NULL.
 */
int snapshot_open(const char *folder, struct snapshot **out, char **error);
void snapshot_close(struct snapshot *s);
/* An ETMv4 or ETE: in frames its source has a trace ID in TRCTRACEIDR. */
bool snapshot_is_etm(const struct snapshot_device *d);
/* The value of a device's register; false: it is not listed. */
bool snapshot_register(const struct snapshot_device *d, const char *name,
		       uint64_t *value);

/* ini.c: one file's lines.  Used by the fuzzer, too. */
struct ini_sink {
	void *ctx;
	/* A key in a section; both are lower case, trimmed.  0 or -errno, which ends. */
	int (*entry)(void *ctx, unsigned int line, const char *section, const char *key,
		     const char *value);
};
/* 0; -EINVAL: *line is what it did not understand; what the sink returned. */
int ini_parse(const char *text, size_t n, const struct ini_sink *sink,
	      unsigned int *line);

#endif
