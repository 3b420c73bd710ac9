/* SPDX-License-Identifier: BSD-2-Clause */
/* x86 instructions as Intel PT sees them (SDM 33.4.2, 33.7). */
#ifndef DECODE_PT_INSN_H
#define DECODE_PT_INSN_H

#include <Zydis/Zydis.h>
#include "pt_block.h"

struct pt_insn {
	uint8_t		length;
	uint8_t		kind;		/* enum block_end; BLOCK_SEQ: no branch */
	uint8_t		special;	/* enum pt_special */
	uint64_t	target;		/* direct branches */
};

struct pt_insn_decoder {
	ZydisDecoder	by_mode[3];	/* 16, 32, 64 */
};

/* 0, or -EINVAL if Zydis was built without what is needed. */
int pt_insn_init(struct pt_insn_decoder *d);
/* 0; TRACE_GAP_NO_CODE: more bytes needed; TRACE_ERR_BAD_INSN. */
int pt_insn_decode(const struct pt_insn_decoder *d, uint8_t mode, uint64_t ip,
		   const uint8_t *bytes, size_t n, struct pt_insn *insn);

#endif
