/* SPDX-License-Identifier: BSD-2-Clause */
/* Translated blocks, described as runs. */
#ifndef QEMU_BLOCK_H
#define QEMU_BLOCK_H

#include "plugin.h"

/* The translation callback. */
void block_translate(qemu_plugin_id_t id, struct qemu_plugin_tb *tb);
/* The code cache was emptied: all blocks but those being executed are free. */
void block_flush(qemu_plugin_id_t id);
/*
 * The run of a block that was translated as `front` and is executed at `start`:
 * one translation serves all addresses that a page is mapped at.
 */
struct run *block_at(struct run *front, uint64_t start);
/* A handler at `start`: flags the blocks that begin there.  vtu.lock is held. */
void block_mark_handler(uint64_t start);

#endif
