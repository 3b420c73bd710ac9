/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A client of trace units that are registers only (silicon.py): nothing answers, so
 * that no trace begins; what was written to them the caller looks at.
 */
#include <sched.h>
#include <unistd.h>

#include "client.h"

#define SIZE	(16 * PAGE)
#define FROM	0x123456789000ull
#define TO	0x1234567abcdfull

static int work(void *arg)
{
	volatile unsigned int i;

	for (i = 0; i < 1000000; i++)
		;
	return 0;
}

static void pin(int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	CHECK_EQ(sched_setaffinity(0, sizeof(set), &set), 0);
}

/* The range has more than 32 bits. */
static void by_thread(void)
{
	struct client c;
	pid_t pid;

	pin(1);
	pid = child_start(NULL, work, NULL);
	CHECK_EQ(client_alloc(&c, pid, SIZE), 0);
	CHECK_EQ(client_config(&c, 0, FROM, TO), 0);
	CHECK_EQ(client_start(&c), 0);
	child_let_go(pid);
	client_until_end(&c, 0);
	CHECK_EQ(client_position(&c, pid), 0);
	client_close(&c);
}

/* All feed the one ETR: whoever wants it, too, has to wait for it to be free. */
static void busy(void)
{
	pid_t one = child_sleeping(NULL), two = child_sleeping(NULL);
	struct client c, d;

	CHECK_EQ(client_alloc(&c, one, SIZE), 0);
	CHECK_EQ(client_alloc(&d, two, SIZE), -EBUSY);
	client_close(&c);
	CHECK_EQ(client_alloc(&d, two, SIZE), 0);
	client_close(&d);
	child_end(one);
	child_end(two);
}

static void by_cpu(void)
{
	struct client c;

	CHECK_EQ(client_alloc_cpus(&c, 3, SIZE), 0);
	CHECK_EQ(client_config(&c, 0, 0, 0), 0);
	CHECK_EQ(client_start(&c), 0);
	usleep(100000);
	CHECK_EQ(client_stop(&c), 0);
	CHECK_EQ(client_position(&c, 0), 0);
	client_close(&c);
}

int main(int argc, char **argv)
{
	static const struct test_case cases[] = {
		{"thread", by_thread}, {"busy", busy}, {"cpus", by_cpu},
	};

	return cases_run(cases, sizeof(cases) / sizeof(cases[0]), argc, argv);
}
