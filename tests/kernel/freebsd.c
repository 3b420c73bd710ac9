// SPDX-License-Identifier: BSD-2-Clause
/*
 * The client that was written to FreeBSD's headers (tests/core/freebsd_client.c),
 * compiled as it stands, on real nodes: it traces this program, run again.
 */
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <hwt/pt.h>
#include "../core/freebsd_client.h"
#include "case.h"

static int gate[2];

/* A child that becomes the target as soon as something can be read. */
static pid_t held_target(void)
{
	pid_t pid;
	char c;

	if (pipe(gate))
		return -1;
	pid = fork();
	if (!pid) {
		if (read(gate[0], &c, 1) == 1)
			execl("/proc/self/exe", "freebsd", "target", NULL);
		_exit(99);
	}
	return pid;
}

static int go(void *arg)
{
	return write(gate[1], "", 1) == 1 ? 0 : -1;
}

static int client(void)
{
	struct pt_cpu_config config = {
		.rtit_ctl = PT_CTL_USER | PT_CTL_BRANCHEN | PT_CTL_TSCEN,
	};
	struct freebsd_client c = {
		.pid = held_target(),
		.backend = "pt",
		.bufsize = 1 << 20,
		.config = &config,
		.config_size = sizeof(config),
		.config_version = PT_CONFIG_VERSION,
		.go = go,
	};
	int status;

	if (freebsd_client_run(&c)) {
		printf("%s: %s\n", c.failed, strerror(errno));
		return 1;
	}
	waitpid(c.pid, &status, 0);
	WANT(status, 42 << 8);
	WANT(c.execs, 1);
	WANT(c.mmaps >= 3, 1);	/* itself, the dynamic linker, libc */
	WANT(c.wakeups, c.mmaps + c.execs);
	WANT(c.threads, 1);
	WANT(c.bytes > 1000, 1);
	return 0;
}

static const struct kernel_case cases[] = {
	{"a client of FreeBSD's", client},
};

int main(int argc, char **argv)
{
	if (argc > 1 && !strcmp(argv[1], "target"))
		return 42;
	return cases_run(cases, 1, argc, argv);
}
