/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A small owner of the window, for tests of the plugin alone: starts a program
 * under it, answers each hook, programs each unit by the doorbell with two ToPA
 * regions, and keeps what came: events of each process, bytes of each thread.
 * With the feed in a unit's place there are no bytes; an ETR is a FIFO.
 */
#ifndef TESTS_QEMU_OWNER_H
#define TESTS_QEMU_OWNER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "../../vtu/window.h"

struct mark {			/* the stream stood here when a hook came */
	uint64_t position;
	uint64_t generation;
};

struct stream {			/* one thread */
	struct stream *next;
	struct process *process;
	int tid;
	uint8_t *data;
	size_t size, room;
	struct mark *marks;	/* where the generation changed */
	size_t nmarks;
	/* CoreSight: where its trace is, from `begin` to `end`; under which ID. */
	struct stream *sink;
	uint64_t begin, end;
	uint32_t id;
	uint64_t first_mark;	/* marks before are of an earlier program (exec) */
	bool ended;
};

struct event {			/* in order of arrival */
	enum vtu_hook_type type;
	int tid;
	uint64_t generation, position, clock;
	uint64_t args[3];
	void *payload;
	size_t size;
};

struct process {
	struct process *next;
	int pid, program;	/* program: 0, and one more at each exec */
	struct process *before;	/* exec: the program before; fork: the parent */
	struct event *events;
	size_t nevents;
	bool exited;
	uint64_t status;
	struct stream *sink;	/* CoreSight, shared: whose ETR; its block */
	uint32_t sink_block;
};

struct owner_options {
	const char *qemu, *plugin;
	char *const *argv;
	char *const *envp;
	uint32_t flags;		/* VTU_F_* */
	enum vtu_unit_kind kind;
	uint64_t ctl;		/* RTIT_CTL bits beside TraceEn, User, BranchEn, ToPA;
				 * TRCCONFIGR's */
	bool shared;		/* CoreSight: one ETR for all threads of a process */
	const char *log_dir;
	uint32_t region;	/* bytes of a ToPA region, of an ETR's buffer */
	bool own_stop;		/* stop and start tracing at each PARK */
	int park_every_ms;	/* ring for PARK at that pace; 0: never */
	int detach_after_ms, kill_after_ms;	/* since it has begun; 0: never */
	int die_after_hooks;	/* owner: stop answering after so many; 0: never */
};

struct owner {
	struct vtu_header *window;
	uint8_t *dram;
	int window_fd, dram_fd;
	struct owner_options o;
	struct process *processes;
	struct stream *streams;
	pid_t child;
	int wait_status;
	uint32_t hooks, parks, faults;
	uint64_t taken, not_taken;	/* feed: of the first process */
};

/* Runs the program to its end; 0, or -errno if it could not be started. */
int owner_run(struct owner *w, const struct owner_options *o);
void owner_free(struct owner *w);
/* The newest program of pid, or NULL. */
struct process *owner_process(struct owner *w, int pid);
size_t owner_count(const struct owner *w, enum vtu_hook_type type);

#endif
