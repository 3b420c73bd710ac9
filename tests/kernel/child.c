/* SPDX-License-Identifier: BSD-2-Clause */
#include "child.h"

#include <fcntl.h>
#include <grp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "case.h"

#define GO		SIGUSR1
#define PATIENCE	60000	/* ms: what does not happen by then will not */

static int become(const struct identity *who)
{
	gid_t group = (gid_t)who->group;

	if (who->uid < 0 && who->group < 0)
		return 0;
	if (setgroups(who->group >= 0, &group))
		return -1;
	if (who->gid >= 0 && setresgid(who->gid, who->gid, who->gid))
		return -1;
	return who->uid >= 0 ? setresuid(who->uid, who->uid, who->uid) : 0;
}

/* Says when it is what it should be. */
static void child_prepare(const struct identity *who, int ready)
{
	if (who && become(who))
		_exit(1);
	/* A change of uid clears both of these, the caller's too. */
	prctl(PR_SET_DUMPABLE, who ? who->dumpable : true);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (write(ready, "", 1) != 1)
		_exit(1);
	close(ready);
}

pid_t child_start(const struct identity *who, int (*fn)(void *arg), void *arg)
{
	sigset_t go;
	int ready[2], got;
	pid_t pid;
	char c;

	sigemptyset(&go);
	sigaddset(&go, GO);
	CHECK_EQ(sigprocmask(SIG_BLOCK, &go, NULL), 0);
	CHECK_EQ(pipe(ready), 0);
	fflush(NULL);
	pid = fork();
	CHECK(pid >= 0);
	if (!pid) {
		close(ready[0]);
		child_prepare(who, ready[1]);
		sigwait(&go, &got);
		_exit(fn(arg));
	}
	close(ready[1]);
	CHECK_EQ(read(ready[0], &c, 1), 1);
	close(ready[0]);
	return pid;
}

void child_let_go(pid_t pid)
{
	CHECK_EQ(kill(pid, GO), 0);
}

int child_wait(pid_t pid)
{
	int status;

	CHECK_EQ(waitpid(pid, &status, 0), pid);
	return status;
}

void child_end(pid_t pid)
{
	kill(pid, SIGKILL);
	child_wait(pid);
}

static int spin(void *arg)
{
	volatile unsigned long n = 0;

	for (;;)
		n++;
	return 0;
}

pid_t child_sleeping(const struct identity *who)
{
	return child_start(who, spin, NULL);
}

pid_t child_spinning(const struct identity *who)
{
	pid_t pid = child_sleeping(who);

	child_let_go(pid);
	return pid;
}

void as_user(int uid, void (*fn)(void))
{
	const struct identity who = {.uid = uid, .gid = uid, .group = -1};
	pid_t pid;

	fflush(NULL);
	pid = fork();
	CHECK(pid >= 0);
	if (!pid) {
		/* A change of uid clears it: after that. */
		if (become(&who) || prctl(PR_SET_PDEATHSIG, SIGKILL))
			_exit(99);
		fn();
		exit(0);
	}
	CHECK_EQ(child_wait(pid), 0);
}

char *read_file(const char *path)
{
	FILE *f = fopen(path, "r");
	char *text = NULL;
	size_t n = 0, used = 0;

	if (!f)
		return NULL;
	do {
		text = realloc(text, n = used + 65536);
		used += fread(text + used, 1, n - used - 1, f);
	} while (used == n - 1);
	text[used] = 0;
	fclose(f);
	return text;
}

char thread_state(pid_t tid)
{
	char path[64], *text, *end, state = 0;

	snprintf(path, sizeof(path), "/proc/%d/stat", tid);
	text = read_file(path);
	end = text ? strrchr(text, ')') : NULL;
	if (end && end[1])
		state = end[2];
	free(text);
	return state;
}

void wait_until_paused(pid_t tid)
{
	int i;

	for (i = 0; i < PATIENCE && thread_state(tid) != 'D'; i++)
		usleep(1000);
	CHECK_EQ(thread_state(tid), 'D');
}

void write_file(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_APPEND);

	if (fd < 0 || write(fd, text, strlen(text)) != (ssize_t)strlen(text))
		fail(__FILE__, __LINE__, path, errno);
	close(fd);
}
