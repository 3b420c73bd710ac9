/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Locks of open file descriptions (fcntl(2)): they end with the last descriptor,
 * however that came about, and a reader can ask for one without taking it.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "output.h"

static int empty(int fd)
{
	struct flock whole = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
	struct stat st;

	if (fstat(fd, &st))
		return -errno;
	if (!S_ISREG(st.st_mode))
		return 0;
	/* EACCES is a kernel's that was built without locks. */
	if (fcntl(fd, F_OFD_SETLK, &whole) && errno == EAGAIN)
		return -EBUSY;
	return ftruncate(fd, 0) ? -errno : 0;
}

int output_open(const char *path, int flags, mode_t mode)
{
	int fd = open(path, flags | O_CREAT | O_CLOEXEC, mode);
	int err;

	if (fd < 0)
		return -errno;
	err = empty(fd);
	if (!err)
		return fd;
	close(fd);
	return err;
}

const char *output_error(int err)
{
	if (err == -EBUSY)
		return "is being written by another hwt";
	if (err == -ESPIPE)
		return "is no file that can be written in place, as a recording is";
	return strerror(-err);
}

bool output_is_busy(int fd)
{
	struct flock any = {.l_type = F_RDLCK, .l_whence = SEEK_SET};

	return !fcntl(fd, F_OFD_GETLK, &any) && any.l_type != F_UNLCK;
}
