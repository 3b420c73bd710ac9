// SPDX-License-Identifier: BSD-2-Clause
/* Targets of the kernel host: no module is needed for starting programs. */
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>

#include "hosts/kernel/kernel.h"

static struct kernel_host host = { .lock = PTHREAD_MUTEX_INITIALIZER };

static int forget(void **state)
{
	ktargets_free(&host);
	return 0;
}

static pid_t spawn(const char *script)
{
	char *argv[] = { (char *)"sh", (char *)"-c", (char *)script, NULL }, *error;
	pid_t pid;

	assert_int_equal(kernel_spawn(&host, "/bin/sh", argv, &pid, &error), 0);
	return pid;
}

/* Does it still run what this process runs? */
static bool is_ours(pid_t pid)
{
	char path[64], it[4096] = "", me[4096] = "";

	snprintf(path, sizeof(path), "/proc/%d/exe", pid);
	return readlink(path, it, sizeof(it) - 1) > 0 &&
	       readlink("/proc/self/exe", me, sizeof(me) - 1) > 0 && strcmp(it, me) == 0;
}

static void held_until_run(void **state)
{
	pid_t pid = spawn("exit 7");
	int status = -1;

	assert_true(is_ours(pid));
	assert_int_equal(kernel_wait(&host, pid, 0, &status), 0);
	assert_int_equal(kernel_run(&host, pid), 0);
	assert_int_equal(kernel_wait(&host, pid, -1, &status), 1);
	assert_int_equal(WEXITSTATUS(status), 7);
	/* Asked again it says the same. */
	assert_int_equal(kernel_wait(&host, pid, 0, &status), 1);
	assert_int_equal(WEXITSTATUS(status), 7);
}

/* Not even that it was executed is waited for: its thread may stand still in its exec. */
static void stopped_child_does_not_stop_run(void **state)
{
	pid_t pid = spawn("exit 4");
	int status;

	assert_int_equal(kill(pid, SIGSTOP), 0);
	assert_int_equal(kernel_run(&host, pid), 0);
	assert_true(is_ours(pid));
	assert_int_equal(kill(pid, SIGCONT), 0);
	assert_int_equal(kernel_wait(&host, pid, -1, &status), 1);
	assert_int_equal(WEXITSTATUS(status), 4);
}

static void end_by_signal(void **state)
{
	pid_t pid = spawn("kill -TERM $$");
	struct pollfd p = { .fd = kernel_fd(&host, pid), .events = POLLIN };
	int status;

	assert_int_equal(kernel_run(&host, pid), 0);
	assert_int_equal(poll(&p, 1, -1), 1);
	assert_int_equal(kernel_wait(&host, pid, -1, &status), 1);
	assert_true(WIFSIGNALED(status));
	assert_int_equal(WTERMSIG(status), SIGTERM);
}

static void killed_while_held(void **state)
{
	pid_t pid = spawn("true");
	int status;

	kill(pid, SIGKILL);
	assert_int_equal(kernel_wait(&host, pid, -1, &status), 1);
	assert_int_equal(WTERMSIG(status), SIGKILL);
	assert_int_equal(kernel_run(&host, pid), -ESRCH);
}

static void no_program(void **state)
{
	char *argv[] = { (char *)"x", NULL }, *error;
	pid_t pid;

	assert_int_equal(kernel_spawn(&host, "/no/such", argv, &pid, &error), -ENOENT);
	free(error);
	assert_int_equal(kernel_spawn(&host, "no-such-program", argv, &pid, &error), -ENOENT);
	free(error);
	assert_int_equal(kernel_spawn(&host, "/etc/passwd", argv, &pid, &error), -EACCES);
	assert_non_null(strstr(error, "/etc/passwd"));
	free(error);
}

static void exec_fails(void **state)
{
	char path[] = "/tmp/hwt-target-XXXXXX", *argv[] = { path, NULL }, *error;
	int fd = mkstemp(path), status;
	pid_t pid;

	assert_int_equal(write(fd, "neither\n", 8), 8);
	assert_int_equal(fchmod(fd, 0700), 0);
	close(fd);
	assert_int_equal(kernel_spawn(&host, path, argv, &pid, &error), 0);
	assert_int_equal(kernel_run(&host, pid), 0);
	assert_int_equal(kernel_wait(&host, pid, -1, &status), -ENOEXEC);
	assert_int_equal(kernel_wait(&host, pid, 0, &status), -ENOEXEC);
	unlink(path);
}

static void attached_is_not_ours_to_reap(void **state)
{
	pid_t pid = fork();
	int status;

	if (pid == 0)
		for (;;)
			pause();
	assert_int_equal(kernel_attach(&host, pid), 0);
	assert_int_equal(kernel_attach(&host, pid), 0);
	assert_int_equal(kernel_run(&host, pid), 0);
	assert_int_equal(kernel_wait(&host, pid, 0, &status), 0);
	kill(pid, SIGKILL);
	assert_int_equal(kernel_wait(&host, pid, -1, &status), 1);
	assert_int_equal(status, -1);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(WTERMSIG(status), SIGKILL);
	assert_int_equal(kernel_attach(&host, pid), -ESRCH);
	assert_int_equal(kernel_fd(&host, 1), -ESRCH);
}

/* Whoever spawned it dies: the held child goes, too. */
static void orphan_ends(void **state)
{
	int fds[2];
	pid_t middle, pid;
	char c;

	assert_int_equal(pipe(fds), 0);
	middle = fork();
	if (middle == 0) {
		close(fds[0]);
		/* The child has fds[1] open as long as it lives. */
		pid = spawn("echo never");
		_exit(pid > 0 ? 0 : 1);
	}
	close(fds[1]);
	assert_int_equal(waitpid(middle, NULL, 0), middle);
	assert_int_equal(read(fds[0], &c, 1), 0);
	close(fds[0]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(held_until_run, forget),
		cmocka_unit_test_teardown(stopped_child_does_not_stop_run, forget),
		cmocka_unit_test_teardown(end_by_signal, forget),
		cmocka_unit_test_teardown(killed_while_held, forget),
		cmocka_unit_test_teardown(no_program, forget),
		cmocka_unit_test_teardown(exec_fails, forget),
		cmocka_unit_test_teardown(attached_is_not_ours_to_reap, forget),
		cmocka_unit_test_teardown(orphan_ends, forget),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
