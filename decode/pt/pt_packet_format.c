/* SPDX-License-Identifier: BSD-2-Clause */
/* Packets as text: one line each, named as the SDM and perf name them. */
#include <inttypes.h>
#include <stdio.h>

#include "pt_packet.h"

static const char *const names[PT_PACKET_MAX] = {
	[PT_BAD] = "BAD",
	[PT_PAD] = "PAD",
	[PT_PSB] = "PSB",
	[PT_PSBEND] = "PSBEND",
	[PT_TNT] = "TNT",
	[PT_TIP] = "TIP",
	[PT_TIP_PGE] = "TIP.PGE",
	[PT_TIP_PGD] = "TIP.PGD",
	[PT_FUP] = "FUP",
	[PT_MODE_EXEC] = "MODE.Exec",
	[PT_MODE_TSX] = "MODE.TSX",
	[PT_MODE_OTHER] = "MODE",
	[PT_PIP] = "PIP",
	[PT_VMCS] = "VMCS",
	[PT_CBR] = "CBR",
	[PT_TSC] = "TSC",
	[PT_TMA] = "TMA",
	[PT_MTC] = "MTC",
	[PT_CYC] = "CYC",
	[PT_OVF] = "OVF",
	[PT_TRACESTOP] = "TraceSTOP",
	[PT_MNT] = "MNT",
	[PT_PTW] = "PTWRITE",
	[PT_EXSTOP] = "EXSTOP",
	[PT_MWAIT] = "MWAIT",
	[PT_PWRE] = "PWRE",
	[PT_PWRX] = "PWRX",
	[PT_BBP] = "BBP",
	[PT_BIP] = "BIP",
	[PT_BEP] = "BEP",
	[PT_CFE] = "CFE",
	[PT_EVD] = "EVD",
	[PT_TRIG] = "TRIG",
};

const char *pt_packet_name(enum pt_packet_type type)
{
	return (unsigned int)type < PT_PACKET_MAX ? names[type] : names[PT_BAD];
}

/*
 * The fields of most packets, in the order payload, payload2, count: a format
 * each, NULL where the field is not shown.  Formats come from this table only.
 */
struct field_form {
	const char *payload, *payload2, *count;
};

static const struct field_form forms[PT_PACKET_MAX] = {
	[PT_MODE_TSX] = {" bits %#" PRIx64, NULL, NULL},
	[PT_MODE_OTHER] = {" bits %#" PRIx64, NULL, " leaf %u"},
	[PT_PIP] = {" cr3 %#" PRIx64, " nr %" PRIu64, NULL},
	[PT_VMCS] = {" base %#" PRIx64, NULL, NULL},
	[PT_CBR] = {" ratio %" PRIu64, NULL, NULL},
	[PT_TSC] = {" %#" PRIx64, NULL, NULL},
	[PT_TMA] = {" ctc %#" PRIx64, " fc %#" PRIx64, NULL},
	[PT_MTC] = {" %#" PRIx64, NULL, NULL},
	[PT_CYC] = {" %" PRIu64, NULL, NULL},
	[PT_MNT] = {" %#" PRIx64, NULL, NULL},
	[PT_PTW] = {" %#" PRIx64, " bytes %" PRIu64, " ip %u"},
	[PT_EXSTOP] = {NULL, NULL, " ip %u"},
	[PT_MWAIT] = {" hints %#" PRIx64, " ext %#" PRIx64, NULL},
	[PT_PWRE] = {" cstate %" PRIu64, " sub %" PRIu64, " hw %u"},
	[PT_PWRX] = {" last %" PRIu64, " deepest %" PRIu64, " wake %#x"},
	[PT_BBP] = {" type %#" PRIx64, NULL, " four-byte %u"},
	[PT_BIP] = {" id %#" PRIx64, " value %#" PRIx64, NULL},
	[PT_BEP] = {NULL, NULL, " ip %u"},
	[PT_CFE] = {" type %#" PRIx64, " vector %" PRIu64, " ip %u"},
	[PT_EVD] = {" value %#" PRIx64, " type %#" PRIx64, NULL},
	[PT_TRIG] = {" triggers %#" PRIx64, " insns %" PRIu64, " flags %#x"},
};

static int format_tnt(const struct pt_packet *pkt, char *buf, size_t n)
{
	char bits[65];
	unsigned int i, count = pkt->count < 64 ? pkt->count : 64;

	for (i = 0; i < count; i++)
		bits[i] = pkt->payload >> (count - 1 - i) & 1 ? 'T' : 'N';
	bits[count] = 0;
	return snprintf(buf, n, "TNT %s (%u)", bits, count);
}

static int format_ip(const struct pt_packet *pkt, char *buf, size_t n)
{
	const char *name = pt_packet_name(pkt->type);

	if (!pkt->ip_bytes)
		return snprintf(buf, n, "%s no ip", name);
	return snprintf(buf, n, "%s %#" PRIx64, name, pkt->payload);
}

static int format_mode_exec(const struct pt_packet *pkt, char *buf, size_t n)
{
	const char *iflag = pkt->payload & 4 ? " IF" : "";

	if (!pkt->count)
		return snprintf(buf, n, "MODE.Exec reserved%s", iflag);
	return snprintf(buf, n, "MODE.Exec %u%s", pkt->count, iflag);
}

#pragma GCC diagnostic ignored "-Wformat-nonliteral"
static int format_fields(const struct pt_packet *pkt, char *buf, size_t n)
{
	const struct field_form *form = &forms[pkt->type];
	char p1[48] = "", p2[48] = "", c[24] = "";

	if (form->payload)
		snprintf(p1, sizeof(p1), form->payload, pkt->payload);
	if (form->payload2)
		snprintf(p2, sizeof(p2), form->payload2, pkt->payload2);
	if (form->count)
		snprintf(c, sizeof(c), form->count, (unsigned int)pkt->count);
	return snprintf(buf, n, "%s%s%s%s", names[pkt->type], p1, p2, c);
}

int pt_packet_format(const struct pt_packet *pkt, char *buf, size_t n)
{
	switch (pkt->type) {
	case PT_TNT:
		return format_tnt(pkt, buf, n);
	case PT_TIP:
	case PT_TIP_PGE:
	case PT_TIP_PGD:
	case PT_FUP:
		return format_ip(pkt, buf, n);
	case PT_MODE_EXEC:
		return format_mode_exec(pkt, buf, n);
	}
	if (pkt->type >= PT_PACKET_MAX)
		return snprintf(buf, n, "BAD");
	return format_fields(pkt, buf, n);
}
