// SPDX-License-Identifier: BSD-2-Clause
/*
 * Code that is written while the program runs: three versions of a function in
 * one place, a block that changes an instruction of its own, pages that turn
 * from writable to executable and back, and a second thread that calls meanwhile.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>

typedef int (*fn)(int);

static unsigned char *page;
static atomic_int stop, calls;

/* cmp $imm, %edi; jl 1f; mov $a, %eax; ret; 1: mov $b, %eax; ret */
static void write_function(unsigned char *p, int imm, int a, int b)
{
	static const unsigned char code[] = {
		0x81, 0xff, 0, 0, 0, 0, 0x7c, 6, 0xb8, 0, 0, 0, 0, 0xc3, 0xb8, 0, 0, 0, 0, 0xc3,
	};

	memcpy(p, code, sizeof(code));
	memcpy(p + 2, &imm, 4);
	memcpy(p + 9, &a, 4);
	memcpy(p + 15, &b, 4);
}

/*
 * movb $new, imm of the mov below; mov $0, %eax; loop over: one block that
 * rewrites its own tail, then returns.
 */
static int self_modify(unsigned char *p, int value)
{
	/* mov %dil, 4(%rip) -> imm8 of: mov $0, %eax; ret */
	static const unsigned char code[] = {
		0x40, 0x88, 0x3d, 1, 0, 0, 0, 0xb8, 0, 0, 0, 0, 0xc3,
	};

	if (p[12] != 0xc3)
		memcpy(p, code, sizeof(code));
	return ((fn)(void *)p)(value);
}

static void *caller(void *arg)
{
	fn f = (fn)(void *)(page + 2048);

	(void)arg;
	while (!stop) {
		int r = f(5);

		if (r != 1 && r != 2)
			return (void *)1;
		calls++;
	}
	return NULL;
}

static int versions(void)
{
	int i, bad = 0;

	for (i = 0; i < 30; i++) {
		write_function(page, i, 100 + i, 200 + i);
		bad += ((fn)(void *)page)(i) != 100 + i;
		bad += ((fn)(void *)page)(i - 1) != 200 + i;
		page[2] = 0x7f;		/* only the immediate of the cmp */
		bad += ((fn)(void *)page)(i) != 200 + i;
		bad += self_modify(page + 512, i) != i;
	}
	return bad;
}

static int flip(void)
{
	unsigned char *p = mmap(NULL, 8192, PROT_READ | PROT_WRITE,
				MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	int i, bad = 0;

	for (i = 0; i < 20; i++) {
		mprotect(p, 8192, PROT_READ | PROT_WRITE);
		write_function(p + 4086, i, i, -i);	/* over a page's end */
		mprotect(p, 8192, PROT_READ | PROT_EXEC);
		bad += ((fn)(void *)(p + 4086))(i) != i;
	}
	munmap(p, 8192);
	return bad;
}

int main(void)
{
	pthread_t t;
	void *r;
	int bad, i;

	page = mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC,
		    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	bad = versions() + flip();
	write_function(page + 2048, 0, 1, 0);
	pthread_create(&t, NULL, caller, NULL);
	for (i = 0; i < 40; i++) {
		int seen = calls;

		/* One aligned byte: the other thread sees the one or the other. */
		*(volatile unsigned char *)(page + 2048 + 9) = i & 1 ? 1 : 2;
		while (calls < seen + 3)
			;
	}
	stop = 1;
	pthread_join(t, &r);
	return bad || r ? 1 : 0;
}
