// SPDX-License-Identifier: BSD-2-Clause
/* A bare PT stream, with code by files that the user names. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "session_priv.h"

static int fail(char **error, int err, const char *what, const char *path)
{
	if (asprintf(error, "%s: %s", path, what ? what : strerror(-err)) < 0)
		*error = NULL;
	return err;
}

static int map_files(struct hwt_session *s, struct image_space *space,
		     const struct hwt_session_options *o, char **error)
{
	struct image_moment start = {0, 0};
	int i, ret;

	for (i = 0; i < o->nmaps; i++) {
		const struct hwt_raw_map *m = &o->maps[i];

		ret = image_space_map_elf(space, start, m->path,
					  m->has_addr ? &m->addr : NULL);
		if (ret == -ENOEXEC && !m->has_addr)
			return fail(error, ret,
				    "not an ELF file: say where its bytes stood, "
				    "as FILE@ADDRESS",
				    m->path);
		if (ret)
			return fail(error, ret,
				    ret == -ENOEXEC ? "does not fit at that address"
						    : NULL,
				    m->path);
	}
	return 0;
}

int raw_open(struct hwt_session *s, const struct hwt_session_options *o, char **error)
{
	struct stream_chunk chunk = {};
	struct image_space *space;
	struct hwt_stream *st;
	struct stat sb;
	int ret;

	s->raw_fd = open(o->raw_path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (s->raw_fd < 0)
		return fail(error, -errno, NULL, o->raw_path);
	if (fstat(s->raw_fd, &sb))
		return fail(error, -errno, NULL, o->raw_path);
	if (!S_ISREG(sb.st_mode))
		return fail(error, -EINVAL,
			    S_ISDIR(sb.st_mode) ? "is a directory"
						: "is not a regular file",
			    o->raw_path);
	if (!sb.st_size)
		return fail(error, -EINVAL, "is empty", o->raw_path);
	space = session_add_space(s, image_space_new(s->store), 0);
	st = space ? index_add_stream(s, 0, 0, -1) : NULL;
	if (!st)
		return -ENOMEM;
	ret = map_files(s, space, o, error);
	if (ret)
		return ret;
	chunk.size = (uint64_t)sb.st_size;
	ret = index_add_chunk(st, &chunk);
	if (!ret)
		ret = index_add_switch(st, 0, space,
				       (struct image_moment){0, UINT64_MAX});
	st->info.bytes = chunk.size;
	s->info.file_size = chunk.size;
	s->info.complete = true;
	s->info.backend = "pt";
	s->flow = &flow_pt;
	return ret;
}
