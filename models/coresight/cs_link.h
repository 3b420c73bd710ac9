/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What lies between sources and sinks on the trace bus (ATB): funnels and
 * replicators (CoreSight SoC-400 3.7, 3.8).
 */
#ifndef MODELS_CORESIGHT_CS_LINK_H
#define MODELS_CORESIGHT_CS_LINK_H

#include "cs_component.h"

/* Something that takes trace: n bytes of source id, all (true) or none. */
struct cs_sink {
	bool (*input)(void *ctx, uint8_t id, const uint8_t *bytes, size_t n);
	void *ctx;
};

struct cs_funnel {
	struct cs_regs *regs;
	struct cs_sink out;
	unsigned int nports;
};

/* nports: 2..8 input ports; all disabled. */
void cs_funnel_init(struct cs_funnel *f, struct cs_regs *regs, unsigned int nports,
		    struct cs_sink out);
/* 0; -EIO: locked, read only, or reserved bits. */
int cs_funnel_write(struct cs_funnel *f, uint32_t offset, uint32_t value);
/* A port that is not enabled takes nothing: its source has to wait. */
bool cs_funnel_input(struct cs_funnel *f, unsigned int port, uint8_t id,
		     const uint8_t *bytes, size_t n);

struct cs_replicator {
	struct cs_regs *regs;
	struct cs_sink out[CSTR_OUTPUTS];
};

/* Outputs whose input is NULL lead nowhere.  At first nothing is filtered. */
void cs_replicator_init(struct cs_replicator *r, struct cs_regs *regs,
			struct cs_sink out0, struct cs_sink out1);
int cs_replicator_write(struct cs_replicator *r, uint32_t offset, uint32_t value);
/* To each output that its ID filter lets it; false: one of them had no room. */
bool cs_replicator_input(struct cs_replicator *r, uint8_t id, const uint8_t *bytes,
			 size_t n);

#endif
