// SPDX-License-Identifier: BSD-2-Clause
/* fork, vfork, posix_spawn, system, exec by a thread that is not the first. */
#include <errno.h>
#include <pthread.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;
static char *self;

static int wait_for(pid_t pid)
{
	int status = -1;

	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	return status;
}

static int by_fork(void)
{
	pid_t pid = fork();

	if (!pid) {
		char *v[] = {"argv0, with comma", "stage2", "A=1,B=2", NULL};
		char *e[] = {"LD_X=1,2", "FIRST=1", "MALLOC_CHECK_=0", "SECOND=2", NULL};

		execve(self, v, e);
		_exit(99);
	}
	return wait_for(pid);
}

static int by_vfork(void)
{
	pid_t pid = vfork();

	if (!pid) {
		execl("/nonexistent", "x", NULL);
		_exit(errno == ENOENT ? 5 : 6);
	}
	return wait_for(pid);
}

static int by_spawn(void)
{
	char *v[] = {"true", NULL};
	pid_t pid;

	if (posix_spawnp(&pid, "true", NULL, NULL, v, environ))
		return -1;
	return wait_for(pid);
}

static void *exec_thread(void *arg)
{
	(void)arg;
	execl("/proc/self/exe", self, "last", NULL);
	return NULL;
}

static int stage2(char **argv)
{
	const char *want[] = {"LD_X=1,2", "FIRST=1", "MALLOC_CHECK_=0", "SECOND=2"};
	int i;

	if (strcmp(argv[0], "argv0, with comma") || strcmp(argv[2], "A=1,B=2"))
		return 10;
	for (i = 0; i < 4; i++)
		if (!environ[i] || strcmp(environ[i], want[i]))
			return 20 + i;
	return environ[4] ? 30 : 7;
}

int main(int argc, char **argv)
{
	pthread_t t;

	if (argc > 1 && !strcmp(argv[1], "stage2"))
		return stage2(argv);
	if (argc > 1 && !strcmp(argv[1], "last"))
		return 42;
	self = realpath("/proc/self/exe", NULL);
	if (access("/dev/fd/900", F_OK) == 0)
		return 1;
	if (by_fork() != 7 << 8) {
		fprintf(stderr, "fork\n");
		return 2;
	}
	if (by_vfork() != 5 << 8)
		return 3;
	if (by_spawn())
		return 4;
	if (system("exit 9") != 9 << 8)
		return 5;
	/* The thread's exec ends this one; its tid becomes the pid. */
	pthread_create(&t, NULL, exec_thread, NULL);
	pthread_join(t, NULL);
	return 6;
}
