// SPDX-License-Identifier: BSD-2-Clause
/*
 * exec N PROGRAM ARGUMENT...: executes it in N children, prints how they ended; with 0 it
 * executes it itself.  Where that fails it ends by SIGKILL, of which no hook tells.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static void execute(char **argv)
{
	execv(argv[0], argv);
	kill(getpid(), SIGKILL);
}

int main(int argc, char **argv)
{
	int i, n = argc > 2 ? atoi(argv[1]) : -1, status;

	if (n == 0)
		execute(argv + 2);
	for (i = 0; i < n; i++)
		if (fork() == 0)
			execute(argv + 2);
	for (i = 0; i < n && wait(&status) > 0; i++)
		printf("%#x\n", status);
	return 0;
}
