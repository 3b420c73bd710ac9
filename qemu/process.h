/* SPDX-License-Identifier: BSD-2-Clause */
/* A traced process: its start, its children, its end. */
#ifndef QEMU_PROCESS_H
#define QEMU_PROCESS_H

#include "vcpu.h"

/* The program's file, as its start found it; "" if unknown. */
extern char process_program[4096];

/* Once, at install: fork handlers; what exec needs. */
void process_init(void);
void process_exec_init(void);
/* The program's first block: ATTACH, EXEC, MMAPs. */
void process_start(struct vcpu *v, const struct run *c, struct guest_env *env);
/* THREAD_NAME. */
void process_tell_name(struct vcpu *v, const char name[VTU_NAME_MAX + 1]);
/* In the child, as its fork returns. */
void process_forked(struct vcpu *v);
/*
 * execve is being called: replaces the process by an emulator of the new
 * program.  Returns where that is not ours to do, or where it would fail: the
 * guest's own call then says how.
 */
void process_exec(struct vcpu *v, int dirfd, uint64_t path, uint64_t argv, uint64_t envp,
		  int flags);
/* It came back from the guest's own call. */
void process_exec_failed(struct vcpu *v);
/* The process ends, or tries to exec: its other threads flush and stand still. */
void process_quit_others(struct vcpu *v);
void process_thread_exit(struct vcpu *v, int status);
/* The process ends, with a status as wait(2) gives it. */
void process_exit(struct vcpu *v, int status);
/* Traced no more: on the calling thread now, on the others at their next block. */
void process_detach(void);

/* fatal.c: learns of fatal signals before the emulator dies of them. */
void fatal_install(void);

#endif
