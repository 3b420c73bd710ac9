// SPDX-License-Identifier: BSD-2-Clause
/*
 * Tells all that a program can see of how it was started, the same text under
 * any faithful runner.
 *
 *	plain			tell
 *	plain exec [WORD]...	tell after an exec of itself with these words
 *	plain child		tell in a forked child, which execs itself
 *	plain exit N | kill N	end like that
 *	plain wait		say "ready", then tell each signal until SIGUSR2
 */
#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

static void tell_words(const char *what, char **words)
{
	int i;

	for (i = 0; words[i]; i++)
		printf("%s[%d] %s\n", what, i, words[i]);
}

static void tell_link(const char *path)
{
	char to[4096];
	ssize_t n = readlink(path, to, sizeof(to) - 1);

	to[n < 0 ? 0 : n] = '\0';
	printf("%s -> %s\n", path, to);
}

/* By number, so that what /proc/self/fd adds for itself does not matter. */
static void tell_descriptors(void)
{
	struct stat st;
	int fd;

	for (fd = 0; fd < 4096; fd++) {
		if (fstat(fd, &st) < 0)
			continue;
		printf("fd %d: mode %o flags %x cloexec %d at %lld\n", fd, st.st_mode,
		       fcntl(fd, F_GETFL), fcntl(fd, F_GETFD),
		       (long long)lseek(fd, 0, SEEK_CUR));
	}
	fd = open("/dev/null", O_RDONLY);
	printf("next descriptor %d\n", fd);
	close(fd);
}

static void tell_signals(void)
{
	struct sigaction act;
	sigset_t set;
	int sig;

	sigprocmask(SIG_SETMASK, NULL, &set);
	for (sig = 1; sig < NSIG; sig++) {
		if (sigaction(sig, NULL, &act) < 0)
			continue;
		if (act.sa_handler != SIG_DFL || sigismember(&set, sig) > 0)
			printf("signal %d: %s, blocked %d\n", sig,
			       act.sa_handler == SIG_IGN ? "ignored" : "default or handled",
			       sigismember(&set, sig));
	}
}

static void tell_limits(void)
{
	struct rlimit lim;
	int i;

	for (i = 0; i < RLIM_NLIMITS; i++)
		if (getrlimit(i, &lim) == 0)
			printf("limit %d: %llx %llx\n", i, (unsigned long long)lim.rlim_cur,
			       (unsigned long long)lim.rlim_max);
}

static void tell_ids(void)
{
	char cwd[4096];
	mode_t mask = umask(0);

	umask(mask);
	printf("umask %o\ncwd %s\n", mask, getcwd(cwd, sizeof(cwd)) ? cwd : "?");
	printf("parent lives %d\n", kill(getppid(), 0));
	printf("leader of session %d of group %d\n", getsid(0) == getpid(),
	       getpgrp() == getpid());
	printf("ids %d %d %d %d\n", getuid(), geteuid(), getgid(), getegid());
	printf("nice %d\n", getpriority(PRIO_PROCESS, 0));
	printf("execfn %s\n", (char *)getauxval(AT_EXECFN));
	printf("secure %lu, page %lu, phnum %lu, hwcap %lx\n", getauxval(AT_SECURE),
	       getauxval(AT_PAGESZ), getauxval(AT_PHNUM), getauxval(AT_HWCAP));
}

static void tell_comm(void)
{
	char line[64] = "?\n";
	FILE *f = fopen("/proc/self/comm", "r");

	if (f && !fgets(line, sizeof(line), f))
		line[0] = '\0';
	if (f)
		fclose(f);
	printf("comm %s", line);
}

static void tell_file(const char *path)
{
	FILE *f = fopen(path, "r");
	int c;

	printf("%s ", path);
	while (f && (c = getc(f)) != EOF)
		putchar(c ? c : '|');
	putchar('\n');
	if (f)
		fclose(f);
}

static void tell(char **argv)
{
	char word[64];

	tell_words("argv", argv);
	tell_words("environ", environ);
	tell_link("/proc/self/exe");
	tell_link("/proc/self/cwd");
	tell_file("/proc/self/cmdline");
	tell_file("/proc/self/environ");
	tell_comm();
	tell_descriptors();
	tell_signals();
	tell_limits();
	tell_ids();
	if (!isatty(0))
		while (scanf("%63s", word) == 1)
			printf("input %s\n", word);
	fflush(stdout);
}

static int in_child(char **argv)
{
	char *words[] = {argv[0], "of a child", NULL};
	int status = 0;

	if (fork() == 0) {
		setenv("LD_BIND_NOW", "1", 1);
		execv("/proc/self/exe", words);
		_exit(1);
	}
	wait(&status);
	printf("child's status %x\n", status);
	return 0;
}

static void on_signal(int sig, siginfo_t *info, void *context)
{
	char text[32];
	int n = snprintf(text, sizeof(text), "signal %d\n", sig);

	if (write(1, text, (size_t)n) < 0 || sig == SIGUSR2)
		_exit(3);
}

static int wait_for_signals(void)
{
	static const int sigs[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2,
				   SIGCONT, SIGALRM, SIGWINCH};
	struct sigaction act = {.sa_sigaction = on_signal, .sa_flags = SA_SIGINFO | SA_RESTART};
	size_t i;

	for (i = 0; i < sizeof(sigs) / sizeof(sigs[0]); i++)
		sigaction(sigs[i], &act, NULL);
	if (write(1, "ready\n", 6) < 0)
		return 1;
	for (;;)
		pause();
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "";

	if (!strcmp(what, "exec")) {
		argv[1] = argv[0];
		execv("/proc/self/exe", argv + 1);
		return 1;
	}
	if (!strcmp(what, "child"))
		return in_child(argv);
	if (!strcmp(what, "exit"))
		return atoi(argv[2]);
	if (!strcmp(what, "kill"))
		return kill(getpid(), atoi(argv[2]));
	if (!strcmp(what, "wait"))
		return wait_for_signals();
	tell(argv);
	return 0;
}
