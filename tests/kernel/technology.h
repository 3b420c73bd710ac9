/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The backend that the guest's CPUs have, and what a client says to it; one of
 * technology_*.c is linked, by the guest's architecture.
 */
#ifndef TESTS_KERNEL_TECHNOLOGY_H
#define TESTS_KERNEL_TECHNOLOGY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <hwt/coresight.h>
#include <hwt/pt.h>

union technology_config {
	struct pt_cpu_config	pt;
	struct coresight_config	coresight;
};

struct technology {
	const char	*backend;
	int		config_version;
	size_t		config_size;
	/* User or kernel code, at most one range (from 0: none). */
	void (*configure)(union technology_config *config, bool kernel, uint64_t from,
			  uint64_t to);
	/* Something that is EOPNOTSUPP in thread mode. */
	void (*configure_lacking)(union technology_config *config);
	bool		shared;		/* threads and CPUs of a context share a buffer */
	/* What a stream begins with in memory: a sync point. */
	bool (*is_sync)(const uint8_t *p);
	int		service_version;
	/* Fills SVC_BUF's structure; its size. */
	size_t (*service)(void *data, int buf_id, uint64_t tail);
};

extern const struct technology technology;

#endif
