/* SPDX-License-Identifier: BSD-2-Clause */
#include "probe.h"

#include <elf.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <unistd.h>

/* A whole program: its headers are all that is loaded, and never run. */
struct program {
	Elf64_Ehdr	head;
	Elf64_Phdr	load;
};

static struct program program_for(uint16_t machine)
{
	const uint64_t base = 0x400000;

	return (struct program){
		.head = {
			.e_ident = { ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64,
				     ELFDATA2LSB, EV_CURRENT },
			.e_type = ET_EXEC, .e_machine = machine, .e_version = EV_CURRENT,
			.e_entry = base, .e_phoff = offsetof(struct program, load),
			.e_ehsize = sizeof(Elf64_Ehdr), .e_phentsize = sizeof(Elf64_Phdr),
			.e_phnum = 1,
		},
		.load = {
			.p_type = PT_LOAD, .p_flags = PF_R | PF_X, .p_vaddr = base,
			.p_filesz = sizeof(struct program), .p_memsz = sizeof(struct program),
			.p_align = 0x10000,
		},
	};
}

/* A file of it without a name; path: what it can be run as. A descriptor or -errno. */
static int program_file(uint16_t machine, char path[64])
{
	struct program p = program_for(machine);
	int fd = memfd_create("hwt-list", MFD_CLOEXEC);

	if (fd < 0)
		return -errno;
	if (write(fd, &p, sizeof(p)) != sizeof(p) || fchmod(fd, 0500)) {
		close(fd);
		return -EIO;
	}
	snprintf(path, 64, "/proc/%d/fd/%d", (int)getpid(), fd);
	return fd;
}

static void end_program(struct hwt_host *host, pid_t pid)
{
	int status;

	kill(pid, SIGKILL);
	while (hwt_target_wait(host, pid, -1, &status) == -EINTR)
		;
}

static int query(struct hwt_host *host, struct hwt_query *q)
{
	struct hwt_query now = { .index = q->index };
	struct hwt_dev *dev;
	int err = hwt_dev_open(host, "/dev/hwt", &dev);

	if (err)
		return err;
	err = hwt_dev_ioctl(dev, HWT_IOC_QUERY, &now);
	hwt_dev_close(dev);
	if (!err)
		*q = now;
	return err;
}

/* -ENOEXEC: the backend is for programs of another machine. */
static int ask(struct hwt_host *host, uint16_t machine, struct hwt_query *q, char **problem)
{
	char path[64], *const argv[] = { path, NULL };
	int fd = program_file(machine, path), err;
	pid_t pid;

	if (fd < 0)
		return fd;
	err = hwt_target_spawn(host, path, argv, &pid, problem);
	if (!err) {
		err = query(host, q);
		end_program(host, pid);
	}
	close(fd);
	return err;
}

int probe_backend(const char *kind, struct hwt_query *q, char **problem)
{
	static const uint16_t machines[] = { EM_X86_64, EM_AARCH64 };
	char name[sizeof(q->name) + 1];
	struct hwt_host_options options = { .kind = kind, .backend = name };
	struct hwt_host *host;
	size_t i;
	int err;

	*problem = NULL;
	snprintf(name, sizeof(name), "%.*s", (int)sizeof(q->name), q->name);
	err = hwt_host_open(&options, &host, problem);
	if (err)
		return err;
	err = -ENOEXEC;
	for (i = 0; i < sizeof(machines) / sizeof(machines[0]) && err == -ENOEXEC; i++) {
		free(*problem);
		*problem = NULL;
		err = ask(host, machines[i], q, problem);
	}
	hwt_host_close(host);
	return err;
}
