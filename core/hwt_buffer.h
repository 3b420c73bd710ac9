/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Buffers, and the one place where units are switched in and out: what a
 * thread in thread mode and a CPU in CPU mode have in common.
 */
#ifndef HWT_BUFFER_H
#define HWT_BUFFER_H

#include "hwt_var.h"

/*
 * Pages and the backend's save area for the buffer `b` of ctx.  May sleep.
 * -ENOMEM, or the backend's error; then nothing is left to free.
 */
int hwt_buffer_init(struct hwt_buffer *b, struct hwt_context *ctx, int buf_id);
/* May sleep.  The unit is off it; a sink's sources are gone. */
void hwt_buffer_fini(struct hwt_buffer *b);
/* Where b's trace goes: b, or another that it shares. */
struct hwt_buffer *hwt_buffer_sink(struct hwt_buffer *b);
/*
 * Makes the unit's state what the context wants: switched in or out, under the
 * newest configuration, with a sync point after each START.  On unit `unit`'s
 * CPU, no sleep.
 */
void hwt_buffer_sync(struct hwt_buffer *b, int unit);
/* Takes it off its unit and queues what that produced.  No sleep. */
void hwt_buffer_leave(struct hwt_buffer *b);
/* The unit's interrupt: HWT_IRQ_* bits. */
int hwt_buffer_irq(struct hwt_buffer *b, int unit);
/* 0: goes on (switched in again if it should be); -EAGAIN: no room yet. */
int hwt_buffer_resume(struct hwt_buffer *b, int unit);
/* Off its unit, and never switched in again.  May be repeated. */
void hwt_buffer_finish(struct hwt_buffer *b);
/* Its CPU went offline and took the unit along, which nobody can reach. */
void hwt_buffer_abandon(struct hwt_buffer *b);
/* Its thread came back: may be switched in again, with a sync point. */
void hwt_buffer_revive(struct hwt_buffer *b);
/*
 * Its thread goes on as something else (exec): off its unit, which may be gone,
 * and with a sync point when it is switched in again.
 */
void hwt_buffer_restart(struct hwt_buffer *b);
/* Queues a BUFFER record with these HWT_BUF_* flags; `unit` gives the time. */
void hwt_buffer_publish(struct hwt_buffer *b, int unit, uint32_t flags);
/*
 * Publishes a SOURCE record with the header of rec, if there is a source that was not
 * told of.  As hwt_record_put; never_hold: struct hwt_record_parts.
 */
int hwt_buffer_tell_source(struct hwt_buffer *b, const struct hwt_rec *rec, bool never_hold);
/* As hwt_backend_ops.read. */
int hwt_buffer_read(struct hwt_buffer *b, uint64_t *offset, uint64_t *data);
/* As hwt_backend_ops.bufptr; the context's mutex is held. */
int hwt_buffer_bufptr(struct hwt_buffer *b, uint64_t *offset, uint64_t *data);
/* Absolute position of the stream now, bytes. */
uint64_t hwt_buffer_position(struct hwt_buffer *b);
/* SVC_BUF came: no longer a ring; true if the stopped unit may go on. */
bool hwt_buffer_serviced(struct hwt_buffer *b);
bool hwt_buffer_on_unit(struct hwt_buffer *b);

#endif
