/* SPDX-License-Identifier: BSD-2-Clause */
#include <stdlib.h>
#include <string.h>
#include "etm_packet.h"
#include "etm_priv.h"

#define TEXT_MAX 512

struct etm_packets {
	struct etm_source source;
	bool formatted;
	dcd_tree_handle_t tree;
	struct etm_frames frames;
	uint64_t offset;
	void (*packet)(void *ctx, const struct etm_packet *p);
	void (*time)(void *ctx, uint64_t offset, uint64_t ticks);
	void *ctx;
};

static void monitor(const void *ctx, const ocsd_datapath_op_t op,
		    const ocsd_trc_index_t index, const void *packet, const uint32_t size,
		    const uint8_t *bytes)
{
	const struct etm_packets *p = ctx;
	const ocsd_etmv4_i_pkt *ep = packet;
	char text[TEXT_MAX] = "";
	struct etm_packet out = {
		.offset = index, .size = size, .bytes = bytes, .text = text};

	if (op != OCSD_OP_DATA)
		return;
	out.bad = ep->type >= ETM4_PKT_I_NOTSYNC && ep->type <= ETM4_PKT_I_RESERVED_CFG;
	if (ocsd_pkt_str(OCSD_PROTOCOL_ETMV4I, packet, text, sizeof(text)) != OCSD_OK)
		strcpy(text, "unknown packet");
	p->packet(p->ctx, &out);
}

static void monitor_times(const void *ctx, const ocsd_datapath_op_t op,
			  const ocsd_trc_index_t index, const void *packet,
			  const uint32_t size, const uint8_t *bytes)
{
	const struct etm_packets *p = ctx;
	const ocsd_etmv4_i_pkt *ep = packet;

	/* 0: the unit has none to give. */
	if (op == OCSD_OP_DATA && ep->type == ETM4_PKT_I_TIMESTAMP && ep->ts.timestamp)
		p->time(p->ctx, index, ep->ts.timestamp);
}

/* OpenCSD sets no address before a trace info, but lists those that come before it. */
static void set_address(dcd_tree_handle_t tree)
{
	static const uint8_t info[] = {
		[ETM4_ASYNC_LENGTH - 1] = ETM4_EXT_ASYNC, ETM4_TRACE_INFO, 0};
	uint32_t used;

	ocsd_dt_process_data(tree, OCSD_OP_DATA, 0, sizeof(info), info, &used);
	ocsd_dt_process_data(tree, OCSD_OP_RESET, 0, 0, NULL, &used);
}

static struct etm_packets *packets_new(const struct etm_source *source, bool formatted,
				       uint64_t offset, FnDefPktDataMon fn)
{
	struct etm_packets *p = calloc(1, sizeof(*p));
	unsigned char id = 0;

	if (!p)
		return NULL;
	p->source = *source;
	p->formatted = formatted;
	p->offset = offset;
	etm_frames_init(&p->frames, offset);
	p->tree = ocsd_create_dcd_tree(OCSD_TRC_SRC_SINGLE, 0);
	if (p->tree == C_API_INVALID_TREE_HANDLE ||
	    etm_create(p->tree, source, OCSD_CREATE_FLG_PACKET_PROC, &id)) {
		etm_packets_free(p);
		return NULL;
	}
	set_address(p->tree);
	if (ocsd_dt_attach_packet_callback(p->tree, id, OCSD_C_API_CB_PKT_MON, fn, p) !=
	    OCSD_OK) {
		etm_packets_free(p);
		return NULL;
	}
	return p;
}

struct etm_packets *etm_packets_new(const struct etm_source *source, bool formatted,
				    uint64_t offset,
				    void (*packet)(void *ctx, const struct etm_packet *p),
				    void *ctx)
{
	struct etm_packets *p = packets_new(source, formatted, offset, monitor);

	if (p) {
		p->packet = packet;
		p->ctx = ctx;
	}
	return p;
}

struct etm_packets *etm_packets_new_times(const struct etm_source *source, bool formatted,
					  uint64_t offset,
					  void (*time)(void *ctx, uint64_t offset,
						       uint64_t ticks),
					  void *ctx)
{
	struct etm_packets *p = packets_new(source, formatted, offset, monitor_times);

	if (p) {
		p->time = time;
		p->ctx = ctx;
	}
	return p;
}

void etm_packets_first_id(struct etm_packets *p, uint8_t id)
{
	if (id)
		p->frames.id = id;
}

void etm_packets_free(struct etm_packets *p)
{
	if (p && p->tree)
		ocsd_destroy_dcd_tree(p->tree);
	free(p);
}

static void process(struct etm_packets *p, uint64_t at, const uint8_t *bytes, size_t n)
{
	ocsd_datapath_resp_t resp;
	uint32_t used;

	while (n) {
		used = 0;
		resp = ocsd_dt_process_data(p->tree, OCSD_OP_DATA, at, n, bytes, &used);
		if (used > n)
			used = n;
		if (OCSD_DATA_RESP_IS_FATAL(resp)) {
			uint32_t none;

			ocsd_dt_process_data(p->tree, OCSD_OP_RESET, 0, 0, NULL, &none);
			used += !used;
		}
		at += used;
		bytes += used;
		n -= used;
	}
}

void etm_packets_feed(struct etm_packets *p, const uint8_t *bytes, size_t n)
{
	uint8_t id = p->source.traceidr & TRCTRACEIDR_MASK;
	struct etm_segment seg[ETM_FRAME_SEGMENTS];
	size_t k, got, i;

	if (!p->formatted) {
		process(p, p->offset, bytes, n);
		p->offset += n;
		return;
	}
	for (; n; bytes += k, n -= k) {
		k = n;
		got = etm_frames_take(&p->frames, id, bytes, &k, seg);
		for (i = 0; i < got; i++)
			process(p, seg[i].offset, seg[i].bytes, seg[i].n);
	}
}

void etm_packets_finish(struct etm_packets *p)
{
	uint32_t used;

	ocsd_dt_process_data(p->tree, OCSD_OP_EOT, 0, 0, NULL, &used);
}
