// SPDX-License-Identifier: BSD-2-Clause
/*
 * Runs code as soon as there is any: this program's first instruction is _start's
 * (it is linked statically), and it calls a function in a mapping that it has just
 * made.  Linked to fixed addresses; flow.py knows how often it calls.
 *
 *	first FILE	FILE: this program
 */
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#define PAGE	4096ul
#define COPY	0x200000000ul	/* flow.py knows it, too */
#define CALLS	3
#define CALLS_OF_COPY 7

extern const char __ehdr_start[];

int first_call(int n);

/* Needs nothing at a fixed distance: its copy elsewhere does the same. */
__attribute__((noinline)) int first_call(int n)
{
	while (n & 1)
		n >>= 1;
	return n;
}

/* The pages of first_call once more; no function is called in between. */
static int call_copy(int fd)
{
	unsigned long page = (unsigned long)first_call & -PAGE;
	unsigned long offset = page - (unsigned long)__ehdr_start;
	int (*copy)(int n) = (int (*)(int))(COPY + (unsigned long)first_call - page);
	int i, sum = 0;

	if (mmap((void *)COPY, 2 * PAGE, PROT_READ | PROT_EXEC,
		 MAP_PRIVATE | MAP_FIXED_NOREPLACE, fd, (off_t)offset) != (void *)COPY)
		return -1;
	for (i = 0; i < CALLS_OF_COPY; i++)
		sum += copy(i);
	return sum;
}

int main(int argc, char **argv)
{
	int fd = argc == 2 ? open(argv[1], O_RDONLY | O_CLOEXEC) : -1, i, sum = 0;

	if (fd < 0)
		return 2;
	for (i = 0; i < CALLS; i++)
		sum += first_call(i);
	return call_copy(fd) < 0 || sum < 0;
}
