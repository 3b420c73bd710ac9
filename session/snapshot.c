/* SPDX-License-Identifier: BSD-2-Clause */
/* Arm's snapshot folders: a stream for each ETM, code by the core's memory dumps. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>
#include "../container/snapshot.h"
#include "session_priv.h"

#define TRCDEVARCH_ETE 0x47705a13ull	/* when a snapshot does not say it */

static int fail(char **error, int err, const char *path, const char *what)
{
	if (asprintf(error, "%s: %s", path, what) < 0)
		*error = NULL;
	return err;
}

static uint32_t reg_of(const struct snapshot_device *d, const char *name, uint64_t absent)
{
	uint64_t value;

	return snapshot_register(d, name, &value) ? (uint32_t)value : (uint32_t)absent;
}

static void take_source(struct etm_source *to, const struct snapshot_device *d)
{
	char name[16];
	unsigned int i;

	to->ete = !strncasecmp(d->type, "ETE", 3);
	to->configr = reg_of(d, "TRCCONFIGR", 1);
	to->traceidr = reg_of(d, "TRCTRACEIDR", 0);
	to->devarch = reg_of(d, "TRCDEVARCH", TRCDEVARCH_ETE);
	for (i = 0; i < ETM4_NUM_IDR; i++) {
		snprintf(name, sizeof(name), "TRCIDR%u", i);
		to->idr[i] = reg_of(d, name, 0);
	}
}

/* In an address space only absolute paths are files'. malloc'd; NULL: no memory. */
static char *absolute(const char *path)
{
	char *folder, *joined;

	if (path[0] == '/')
		return strdup(path);
	folder = getcwd(NULL, 0);
	if (!folder || asprintf(&joined, "%s/%s", folder, path) < 0)
		joined = NULL;
	free(folder);
	return joined;
}

static int map_dump(struct hwt_session *s, struct image_space *space,
		    const struct snapshot_dump *d)
{
	struct image_moment start = {0, 0};
	char *path = absolute(d->path);
	struct image_map m = {
		.addr = d->address,
		.len = d->length,
		.pgoff = d->offset,
		.path = path,
	};
	struct stat sb;
	int ret;

	if (!path)
		return -ENOMEM;
	if (!m.len && !stat(path, &sb) && (uint64_t)sb.st_size > d->offset)
		m.len = (uint64_t)sb.st_size - d->offset;
	ret = m.len ? image_space_map(space, start, &m) : 0;
	free(path);
	if (ret != -EINVAL)
		return ret;
	session_warn(s, "%s: its address range wraps; it is left out", d->path);
	return 0;
}

static int map_dumps(struct hwt_session *s, struct image_space *space,
		     const struct snapshot_device *core)
{
	size_t i;
	int ret = 0;

	for (i = 0; core && i < core->ndumps && !ret; i++)
		ret = map_dump(s, space, &core->dumps[i]);
	return ret;
}

static int open_buffer(const char *path, uint64_t *size, char **error)
{
	struct stat sb;
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK), err;

	if (fd >= 0 && !fstat(fd, &sb) && S_ISREG(sb.st_mode)) {
		*size = (uint64_t)sb.st_size;
		return fd;
	}
	err = fd < 0 ? errno : EINVAL;
	if (fd >= 0)
		close(fd);
	return fail(error, -err, path, strerror(err));
}

/* Which others feed a source's buffer. */
struct fellows {
	bool any;
	bool before;	/* one of which there is a stream already */
};

static struct fellows fellows_of(const struct snapshot *shot, size_t n)
{
	struct fellows f = {};
	size_t i;

	for (i = 0; i < shot->nsources; i++) {
		if (i == n || shot->sources[i].buffer != shot->sources[n].buffer)
			continue;
		f.any = true;
		f.before |= i < n && snapshot_is_etm(shot->sources[i].device);
	}
	return f;
}

static int add_source(struct hwt_session *s, const struct snapshot_source *src, int cpu,
		      struct fellows others, char **error)
{
	struct image_moment start = {0, UINT64_MAX};
	struct stream_chunk chunk = {};
	struct image_space *space;
	struct hwt_stream *st;
	int ret;

	space = session_add_space(s, image_space_new(s->store), 0);
	st = space ? index_add_stream(s, 0, 0, cpu) : NULL;
	if (!st)
		return -ENOMEM;
	snprintf(st->name, sizeof(st->name), "%s", src->device->name);
	take_source(&st->etm, src->device);
	if (!s->info.trcconfigr)
		s->info.trcconfigr = st->etm.configr;
	st->formatted = src->buffer->formatted;
	st->fd = open_buffer(src->buffer->path, &chunk.size, error);
	if (st->fd < 0)
		return st->fd;
	st->info.bytes = chunk.size;
	if (others.any && st->formatted)
		st->info.trace_id = st->etm.traceidr & TRCTRACEIDR_MASK;
	st->shares = others.before;
	if (!others.before)
		s->info.file_size += chunk.size;
	ret = map_dumps(s, space, src->core);
	if (!ret && chunk.size)
		ret = index_add_chunk(st, &chunk);
	return ret ? ret : index_add_switch(st, 0, space, start);
}

int snapshot_session(struct hwt_session *s, const char *folder, char **error)
{
	struct snapshot *shot;
	size_t i;
	int n = 0, ret;

	ret = snapshot_open(folder, &shot, error);
	if (ret)
		return ret;
	s->info.backend = "coresight";
	s->info.arch = "aarch64";
	s->info.complete = true;
	for (i = 0; i < shot->nsources && !ret; i++) {
		if (snapshot_is_etm(shot->sources[i].device))
			ret = add_source(s, &shot->sources[i], n++, fellows_of(shot, i), error);
		else
			session_warn(s, "%s: a trace of %s is not decoded",
				     shot->sources[i].device->name,
				     shot->sources[i].device->type);
	}
	snapshot_close(shot);
	if (!ret && !n)
		ret = fail(error, -ENOTSUP, folder, "holds no trace of an ETMv4 or ETE");
	return ret;
}
