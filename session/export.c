// SPDX-License-Identifier: BSD-2-Clause
/* A recording of the kernel's code as a folder that perf reads (container/kcore.h). */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "../container/kcore.h"
#include "session_priv.h"

#define PIECE (1u << 20)

static int write_all(int fd, const char *p, size_t n)
{
	ssize_t done;

	for (; n; p += done, n -= (size_t)done) {
		done = write(fd, p, n);
		if (done < 0 && errno != EINTR)
			return -errno;
		done = done < 0 ? 0 : done;
	}
	return 0;
}

static int copy_recording(struct hwt_session *s, int folder)
{
	int fd = openat(folder, "data", O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	char *piece = malloc(PIECE);
	int err = fd < 0 ? -errno : piece ? 0 : -ENOMEM;
	uint64_t at = 0;
	ssize_t n = 1;

	for (; !err && n > 0; at += (uint64_t)n) {
		n = session_read(s, at, piece, PIECE);
		err = n < 0 ? (int)n : write_all(fd, piece, (size_t)n);
	}
	free(piece);
	if (fd >= 0 && close(fd) && !err)
		err = -errno;
	return err;
}

static int write_kernel(struct hwt_session *s, int folder)
{
	int fd, err;

	if (mkdirat(folder, "kcore_dir", 0700))
		return -errno;
	fd = openat(folder, "kcore_dir", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	err = kcore_write(s->file, fd);
	close(fd);
	return err;
}

/* Half a recording would be read as one. */
static void take_back(int folder, const char *path)
{
	static const char *const file[] = {"data", "kcore_dir/kcore", "kcore_dir/kallsyms",
					   "kcore_dir/modules"};
	size_t i;

	for (i = 0; i < sizeof(file) / sizeof(file[0]); i++)
		unlinkat(folder, file[i], 0);
	unlinkat(folder, "kcore_dir", AT_REMOVEDIR);
	rmdir(path);
}

int hwt_session_export(struct hwt_session *s, const char *path)
{
	int fd, err;

	if (!s->file || !s->kernel)
		return -ENODATA;
	if (mkdir(path, 0700))
		return -errno;
	fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	err = copy_recording(s, fd);
	if (!err)
		err = write_kernel(s, fd);
	if (err)
		take_back(fd, path);
	close(fd);
	return err;
}
