// SPDX-License-Identifier: BSD-2-Clause
#include "guest.h"

#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

uint64_t guest_base;
uint64_t guest_address_bits = ~0ull;

/* The kernel copies: it says EFAULT where we would die. */
static size_t copy(uint64_t addr, void *buf, size_t n)
{
	struct iovec to = {buf, n}, from = {guest_ptr(addr), n};
	ssize_t k = process_vm_readv(getpid(), &to, 1, &from, 1, 0);

	return k < 0 ? 0 : (size_t)k;
}

bool guest_read(uint64_t addr, void *buf, size_t n)
{
	return copy(addr, buf, n) == n;
}

bool guest_read_string(uint64_t addr, char *buf, size_t size)
{
	size_t have = 0, chunk, n;
	char *end;

	while (have < size - 1) {
		/* Up to the next page at most: what follows may not exist. */
		chunk = 4096 - ((addr + have) & 4095);
		if (chunk > size - 1 - have)
			chunk = size - 1 - have;
		n = copy(addr + have, buf + have, chunk);
		end = memchr(buf + have, 0, n);
		if (end)
			return true;
		if (n < chunk)
			return false;
		have += n;
	}
	buf[have] = 0;
	return false;
}
