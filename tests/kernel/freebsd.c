// SPDX-License-Identifier: BSD-2-Clause
/*
 * The client that was written to FreeBSD's headers (tests/core/freebsd_client.c),
 * compiled as it stands, on real nodes: it traces this program, run again.
 */
#include <string.h>
#include <unistd.h>

#include <hwt/pt.h>
#include "../core/freebsd_client.h"
#include "case.h"
#include "child.h"

static pid_t target;

static int become_target(void *arg)
{
	execl("/proc/self/exe", "freebsd", "target", NULL);
	return 99;
}

static int go(void *arg)
{
	child_let_go(target);
	return 0;
}

static void client(void)
{
	struct pt_cpu_config config = {
		.rtit_ctl = PT_CTL_USER | PT_CTL_BRANCHEN | PT_CTL_TSCEN,
	};
	struct freebsd_client c = {
		.pid = target = child_start(NULL, become_target, NULL),
		.backend = "pt",
		.bufsize = 1 << 20,
		.config = &config,
		.config_size = sizeof(config),
		.config_version = PT_CONFIG_VERSION,
		.go = go,
	};

	if (freebsd_client_run(&c))
		fail(__FILE__, __LINE__, c.failed, errno);
	CHECK_EQ(child_wait(target), 42 << 8);
	CHECK_EQ(c.execs, 1);
	CHECK(c.mmaps >= 3);	/* itself, the dynamic linker, libc */
	CHECK_EQ(c.wakeups, c.mmaps + c.execs);
	CHECK_EQ(c.threads, 1);
	CHECK(c.bytes > 1000);
}

static const struct test_case cases[] = {
	{"a client of FreeBSD's", client},
};

int main(int argc, char **argv)
{
	if (argc > 1 && !strcmp(argv[1], "target"))
		return 42;
	return cases_run(cases, 1, argc, argv);
}
