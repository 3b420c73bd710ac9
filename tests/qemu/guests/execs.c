// SPDX-License-Identifier: BSD-2-Clause
/* exec in all the ways that work, and all the ways that fail. */
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#ifndef AT_EMPTY_PATH
#define AT_EMPTY_PATH 0x1000
#endif

static char self[4096];

static void put(const char *path, const void *text, size_t n, mode_t mode)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0755);

	if (fd < 0 || write(fd, text, n) != (ssize_t)n)
		exit(50);
	fchmod(fd, mode);
	close(fd);
}

static void put_text(const char *path, const char *text, mode_t mode)
{
	put(path, text, strlen(text), mode);
}

/* Exit status of exec in a child: what it ran says, or 100 + errno's stand-in. */
static int run(int dirfd, const char *path, int flags, const char *arg)
{
	char *argv[] = {"name", (char *)arg, NULL};
	char *envp[] = {"PATH=/bin:/usr/bin", NULL};
	int status = -1;
	pid_t pid = fork();

	if (!pid) {
		if (dirfd == -1)
			execve(path, argv, envp);
		else
			syscall(SYS_execveat, dirfd, path, argv, envp, flags);
		_exit(errno == ENOENT	? 101 :
		      errno == EACCES	? 102 :
		      errno == ENOEXEC	? 103 :
		      errno == ENOTDIR	? 104 :
		      errno == EFAULT	? 105 :
					  110);
	}
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	return WIFEXITED(status) ? WEXITSTATUS(status) : 1000 + status;
}

static int check(const char *what, int got, int want)
{
	if (got == want)
		return 0;
	fprintf(stderr, "%s: %d, not %d\n", what, got, want);
	return 1;
}

static void make_foreign(const char *path)
{
	Elf32_Ehdr eh = {.e_ident = ELFMAG, .e_type = ET_EXEC, .e_machine = EM_SPARC,
			 .e_version = 1};

	eh.e_ident[EI_CLASS] = ELFCLASS32;
	eh.e_ident[EI_DATA] = ELFDATA2MSB;
	put(path, &eh, sizeof(eh), 0755);
}

int main(int argc, char **argv)
{
	char dir[] = "/tmp/execs.XXXXXX", script[8192];
	int bad = 0, fd;

	if (argc > 1 && !strcmp(argv[1], "child"))
		return strcmp(argv[0], "name") ? 71 : 70;
	if (argc > 3 && !strcmp(argv[1], "one argument, only"))
		return strcmp(argv[3], "child") ? 73 : 72;	/* argv[2]: the script */
	if (readlink("/proc/self/exe", self, sizeof(self) - 1) < 0 || !mkdtemp(dir) ||
	    chdir(dir))
		return 1;
	snprintf(script, sizeof(script), "#! %s one argument, only \nnothing\n", self);
	put_text("script", script, 0755);
	put_text("lost", "#!/no/such/interpreter\n", 0755);
	put_text("shell", "#!/bin/sh\nexit 8\n", 0755);
	put_text("plain", "echo no magic\n", 0755);
	put_text("locked", script, 0644);
	make_foreign("foreign");
	bad += check("itself", run(-1, self, 0, "child"), 70);
	bad += check("/proc/self/exe", run(-1, "/proc/self/exe", 0, "child"), 70);
	bad += check("script", run(-1, "./script", 0, "child"), 72);
	bad += check("shell script", run(-1, "shell", 0, NULL), 8);
	bad += check("lost interpreter", run(-1, "lost", 0, NULL), 101);
	bad += check("no magic", run(-1, "plain", 0, NULL), 103);
	bad += check("foreign", run(-1, "foreign", 0, NULL), 103);
	bad += check("not executable", run(-1, "locked", 0, NULL), 102);
	bad += check("directory", run(-1, "/tmp", 0, NULL), 102);
	bad += check("missing", run(-1, "missing", 0, NULL), 101);
	bad += check("not a directory", run(-1, "plain/x", 0, NULL), 104);
	bad += check("bad pointer", run(-1, (char *)8, 0, NULL), 105);
	fd = open(self, O_RDONLY | O_CLOEXEC);
	bad += check("fexecve", run(fd, "", AT_EMPTY_PATH, "child"), 70);
	fd = open(dir, O_RDONLY | O_DIRECTORY);
	bad += check("execveat", run(fd, "script", 0, "child"), 72);
	unlink("script");
	unlink("lost");
	unlink("shell");
	unlink("plain");
	unlink("locked");
	unlink("foreign");
	rmdir(dir);
	return bad;
}
