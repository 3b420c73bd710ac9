/* SPDX-License-Identifier: BSD-2-Clause */
#include "event.h"

#include "../hw/etm4.h"

static const char *const texts[TRACE_GAP_MAX] = {
	[TRACE_GAP_NONE] = "no gap",
	[TRACE_GAP_OVERFLOW] = "the trace unit lost data (overflow)",
	[TRACE_GAP_NO_CODE] = "no code at this address",
	[TRACE_GAP_NO_SYNC] = "no sync point",
	[TRACE_GAP_LOST] = "bytes are missing from the recording",
	[TRACE_GAP_REPEATED] = "a loop without packets, run an unknown number of times",
	[TRACE_ERR_PACKET] = "unknown packet",
	[TRACE_ERR_TRUNCATED] = "the stream ends inside a packet",
	[TRACE_ERR_PSB] = "PSB+ not closed or malformed",
	[TRACE_ERR_UNEXPECTED] = "packet does not fit the instruction",
	[TRACE_ERR_DISABLED] = "flow packet while tracing is off",
	[TRACE_ERR_RETURN] = "return compression: bit not taken, or no call known",
	[TRACE_ERR_LOOP] = "loop without trace",
	[TRACE_ERR_BAD_INSN] = "the bytes are no instruction",
	[TRACE_ERR_FUP] = "the flow never meets the address of the event",
	[TRACE_ERR_MODE] = "execution mode not supported",
	[TRACE_ERR_OTHER] = "undecodable",
};

const char *trace_gap_text(enum trace_gap gap)
{
	return texts[(unsigned int)gap < TRACE_GAP_MAX ? gap : TRACE_ERR_OTHER];
}

static const char *const exceptions[] = {
	[ETM4_EXC_RESET] = "reset",
	[ETM4_EXC_DEBUG_HALT] = "debug halt",
	[ETM4_EXC_CALL] = "call",
	[ETM4_EXC_TRAP] = "trap",
	[ETM4_EXC_SYSTEM_ERROR] = "system error",
	[ETM4_EXC_INST_DEBUG] = "instruction debug",
	[ETM4_EXC_DATA_DEBUG] = "data debug",
	[ETM4_EXC_ALIGNMENT] = "alignment",
	[ETM4_EXC_INST_FAULT] = "instruction fault",
	[ETM4_EXC_DATA_FAULT] = "data fault",
	[ETM4_EXC_IRQ] = "IRQ",
	[ETM4_EXC_FIQ] = "FIQ",
	[ETE_EXC_FAILED] = "failed transaction",
};

const char *trace_exception_text(uint64_t number)
{
	return number < sizeof(exceptions) / sizeof(exceptions[0]) ? exceptions[number] : NULL;
}
