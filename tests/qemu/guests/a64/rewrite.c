// SPDX-License-Identifier: BSD-2-Clause
/*
 * Code that is written while the program runs: versions of a function in one place,
 * pages that turn from writable to executable and back, mappings that replace others
 * (MAP_FIXED) with code of no file and of deleted ones, and a second thread that calls
 * meanwhile.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define PAGE 4096

typedef int (*fn)(int);

static unsigned char *page;
static atomic_int stop, calls;

/* cmp w0, #imm; b.lt 1f; movz w0, #a; ret; 1: movz w0, #b; ret */
static void write_function(void *at, uint32_t imm, uint32_t a, uint32_t b)
{
	const uint32_t code[] = {
		0x7100001f | imm << 10, 0x5400006b, 0x52800000 | a << 5, 0xd65f03c0,
		0x52800000 | b << 5, 0xd65f03c0,
	};

	memcpy(at, code, sizeof(code));
	__builtin___clear_cache(at, (char *)at + sizeof(code));
}

static int wrong(void *at, int x, int want)
{
	return ((fn)at)(x) != want;
}

static int versions(void)
{
	int i, bad = 0;

	for (i = 0; i < 30; i++) {
		write_function(page, i, 100 + i, 200 + i);
		bad += wrong(page, i, 100 + i) + wrong(page, i - 1, 200 + i);
		/* Only the immediate of the cmp. */
		*(uint32_t *)(void *)page = 0x7100001f | 0x7f << 10;
		__builtin___clear_cache((char *)page, (char *)page + 4);
		bad += wrong(page, i, 200 + i);
	}
	return bad;
}

static int flip(void)
{
	unsigned char *p = mmap(NULL, 2 * PAGE, PROT_READ | PROT_WRITE,
				MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	int i, bad = 0;

	for (i = 0; i < 20; i++) {
		mprotect(p, 2 * PAGE, PROT_READ | PROT_WRITE);
		write_function(p + PAGE - 8, i, i, 1000 + i);	/* over a page's end */
		mprotect(p, 2 * PAGE, PROT_READ | PROT_EXEC);
		bad += wrong(p + PAGE - 8, i, i) + wrong(p + PAGE - 8, i - 1, 1000 + i);
	}
	munmap(p, 2 * PAGE);
	return bad;
}

static int file_with(int result)
{
	unsigned char code[PAGE] = {0};
	int fd = memfd_create("code", 0);

	write_function(code, 0, result, 1000 + result);
	return write(fd, code, PAGE) == PAGE ? fd : -1;
}

/* One place, and three mappings that take turns there; none is unmapped before. */
static int replace(void)
{
	unsigned char *p = mmap(NULL, PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	int one = file_with(1), two = file_with(2), i, bad = one < 0 || two < 0;

	for (i = 0; i < 20; i++) {
		bad += mmap(p, PAGE, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_FIXED, one, 0) != p;
		bad += wrong(p, 1, 1) + wrong(p, -1, 1001);
		bad += mmap(p, PAGE, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_FIXED, two, 0) != p;
		bad += wrong(p, 1, 2) + wrong(p, -1, 1002);
		bad += mmap(p, PAGE, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) != p;
		write_function(p, 0, 3, 1003);
		mprotect(p, PAGE, PROT_READ | PROT_EXEC);
		bad += wrong(p, 1, 3) + wrong(p, -1, 1003);
	}
	close(one);
	close(two);
	munmap(p, PAGE);
	return bad;
}

static void *caller(void *arg)
{
	fn f = (fn)(void *)(page + 2048);

	(void)arg;
	while (!stop) {
		int r = f(5);

		if (r != 1 && r != 2)
			return (void *)1;
		/* On a busy machine: no more than what the other needs to see. */
		if (!(++calls % 16))
			sched_yield();
	}
	return NULL;
}

/* One aligned instruction: the other thread runs the one or the other. */
static int meanwhile(void)
{
	uint32_t *at = (uint32_t *)(void *)(page + 2048 + 8);
	pthread_t t;
	void *r;
	int i;

	write_function(page + 2048, 0, 1, 0);
	if (pthread_create(&t, NULL, caller, NULL))
		return 1;
	for (i = 0; i < 40; i++) {
		int seen = calls;

		*(volatile uint32_t *)at = 0x52800000 | (i & 1 ? 1 : 2) << 5;
		__builtin___clear_cache((char *)at, (char *)(at + 1));
		while (calls < seen + 3)
			sched_yield();
	}
	stop = 1;
	pthread_join(t, &r);
	return !!r;
}

int main(void)
{
	page = mmap(NULL, PAGE, PROT_READ | PROT_WRITE | PROT_EXEC,
		    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	return versions() + flip() + replace() + meanwhile() ? 1 : 0;
}
