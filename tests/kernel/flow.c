// SPDX-License-Identifier: BSD-2-Clause
/*
 * What the flow tests run in a machine:
 *
 *	threads		four threads that change CPUs, and ask the vDSO for the time
 *	untimed		the same without a word to the vDSO
 *	fork		a child, and a second one, which runs this program again
 *			meanwhile
 *	wait		as threads, once a line came on stdin (to be attached to)
 *	files N		opens, reads and closes a file, and makes a system call that
 *			nobody else makes, N times, from both CPUs in turn
 */
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/personality.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define THREADS	4
#define ROUNDS	40

static int timed;

static void go_to(int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	if (sched_setaffinity(0, sizeof(set), &set))
		exit(3);
}

static unsigned long work(unsigned long n)
{
	unsigned long i, sum = n;

	for (i = 0; i < 300; i++)
		sum = sum * 2862933555777941757ul + (sum & 8 ? i : n);
	return sum;
}

static void *thread(void *arg)
{
	unsigned long me = (unsigned long)arg, sum = me;
	struct timespec t;
	int i;

	for (i = 0; i < ROUNDS; i++) {
		go_to((int)(me + (unsigned long)i) & 1);
		sum += work(sum);
		if (timed && clock_gettime(CLOCK_MONOTONIC, &t))
			exit(4);
		sum += timed ? (unsigned long)t.tv_nsec & 1 : 0;
	}
	return (void *)(sum | 1);
}

static int threads(void)
{
	pthread_t t[THREADS];
	unsigned long i;
	void *sum;

	for (i = 0; i < THREADS; i++)
		if (pthread_create(&t[i], NULL, thread, (void *)i))
			return 1;
	for (i = 0; i < THREADS; i++)
		if (pthread_join(t[i], &sum) || !sum)
			return 1;
	return 0;
}

/* One lives while the other begins: no two ever have the same address space. */
static int children(const char *program)
{
	int status[2], go[2];
	pid_t pid[2];
	char c;

	if (pipe2(go, O_CLOEXEC))
		return 1;
	pid[0] = fork();
	if (!pid[0]) {
		close(go[1]);
		_exit(!thread(NULL) || read(go[0], &c, 1) || !work(7));
	}
	pid[1] = fork();
	if (!pid[1]) {
		execl(program, program, "threads", (char *)NULL);
		_exit(6);
	}
	if (waitpid(pid[1], &status[1], 0) != pid[1])
		return 1;
	close(go[1]);
	return waitpid(pid[0], &status[0], 0) != pid[0] || status[0] || status[1];
}

static int files(int n)
{
	char buf[64];
	int fd;

	for (; n > 0; n--) {
		go_to(n & 1);
		fd = open("/proc/self/comm", O_RDONLY);
		if (fd < 0 || read(fd, buf, sizeof(buf)) <= 0 || close(fd) ||
		    personality(0xffffffff) < 0)
			return 1;
	}
	return 0;
}

int main(int argc, char **argv)
{
	char line[8];

	if (argc < 2)
		return 2;
	timed = strcmp(argv[1], "untimed") != 0;
	if (!strcmp(argv[1], "threads") || !timed)
		return threads();
	if (!strcmp(argv[1], "wait"))
		return fgets(line, sizeof(line), stdin) ? threads() : 1;
	if (!strcmp(argv[1], "fork"))
		return children(argv[0]);
	if (!strcmp(argv[1], "files") && argc == 3)
		return files(atoi(argv[2]));
	return 2;
}
