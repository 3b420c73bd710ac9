/* SPDX-License-Identifier: BSD-2-Clause */
/* Packets in words: those of `perf report -D`, so that the two can be compared. */
#include "spe_packet.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>

struct text {
	char	*buf;
	size_t	n, used;
};

__attribute__((format(printf, 2, 3)))
static void add(struct text *t, const char *fmt, ...)
{
	size_t at = t->used < t->n ? t->used : t->n;
	va_list ap;
	int len;

	va_start(ap, fmt);
	len = vsnprintf(t->n ? t->buf + at : NULL, t->n - at, fmt, ap);
	va_end(ap);
	t->used += len > 0 ? (size_t)len : 0;
}

static const char *const names[SPE_PACKET_MAX] = {
	[SPE_BAD] = "BAD", [SPE_PADDING] = "PAD", [SPE_ALIGNMENT] = "PAD",
	[SPE_END] = "END", [SPE_TIMESTAMP] = "TS", [SPE_ADDRESS] = "ADDR",
	[SPE_COUNTER] = "LAT", [SPE_CONTEXT] = "CONTEXT", [SPE_OPERATION] = "OP-TYPE",
	[SPE_EVENTS] = "EVENTS", [SPE_SOURCE] = "DATA-SOURCE",
};

const char *spe_packet_name(enum spe_packet_type type)
{
	return names[(unsigned int)type < SPE_PACKET_MAX ? type : SPE_BAD];
}

#define UNNAMED(n) [n] = "EVENT-" #n
static const char *const event_names[64] = {
	"EXCEPTION-GEN", "RETIRED", "L1D-ACCESS", "L1D-REFILL", "TLB-ACCESS", "TLB-REFILL",
	"NOT-TAKEN", "MISPRED", "LLC-ACCESS", "LLC-REFILL", "REMOTE-ACCESS", "ALIGNMENT",
	UNNAMED(12), UNNAMED(13), UNNAMED(14), UNNAMED(15),
	"TRANSACTIONAL", "SVE-PARTIAL-PRED", "SVE-EMPTY-PRED", "L2D-ACCESS", "L2D-MISS",
	"CACHE-DATA-MODIFIED", "RECENTLY-FETCHED", "DATA-SNOOPED", "STREAMING-SVE-MODE",
	"SMCU", UNNAMED(26), UNNAMED(27), UNNAMED(28), UNNAMED(29), UNNAMED(30), UNNAMED(31),
	UNNAMED(32), UNNAMED(33), UNNAMED(34), UNNAMED(35), UNNAMED(36), UNNAMED(37),
	UNNAMED(38), UNNAMED(39), UNNAMED(40), UNNAMED(41), UNNAMED(42), UNNAMED(43),
	UNNAMED(44), UNNAMED(45), UNNAMED(46), UNNAMED(47), UNNAMED(48), UNNAMED(49),
	UNNAMED(50), UNNAMED(51), UNNAMED(52), UNNAMED(53), UNNAMED(54), UNNAMED(55),
	UNNAMED(56), UNNAMED(57), UNNAMED(58), UNNAMED(59), UNNAMED(60), UNNAMED(61),
	UNNAMED(62), UNNAMED(63),
};

const char *spe_event_name(unsigned int bit)
{
	return event_names[bit & 63];
}

static void events(struct text *t, uint64_t bits)
{
	unsigned int i;

	add(t, "EV");
	for (i = 0; i < 64; i++)
		if (bits >> i & 1)
			add(t, " %s", spe_event_name(i));
}

static const struct {
	uint8_t mask, value;
	const char *name;
} ldst_subclasses[] = {
	{SPE_OP_SUBCLASS_MASK, SPE_OP_GENERAL, "GP-REG"},
	{SPE_OP_SUBCLASS_MASK, SPE_OP_SIMD_FP, "SIMD-FP"},
	{SPE_OP_SUBCLASS_MASK, SPE_OP_UNSPECIFIED, "UNSPEC-REG"},
	{SPE_OP_SUBCLASS_MASK, SPE_OP_NV_SYSREG, "NV-SYSREG"},
	{SPE_OP_SUBCLASS_MASK, SPE_OP_TAGS, "MTE-TAG"},
	{SPE_OP_SUBCLASS_MASK, SPE_OP_MEMCPY, "MEMCPY"},
	{0xff, SPE_OP_MEMSET, "MEMSET"},
};

static void vector_length(struct text *t, uint8_t op)
{
	add(t, " EVLEN %u", 32u << ((op & SPE_OP_SVE_EVL_MASK) >> SPE_OP_SVE_EVL_SHIFT));
}

static void load_store(struct text *t, uint8_t op)
{
	size_t i;

	add(t, "%s", op & SPE_OP_STORE ? "ST" : "LD");
	if ((op & SPE_OP_EXTENDED_MASK) == SPE_OP_EXTENDED)
		add(t, "%s%s%s", op & SPE_OP_ATOMIC ? " AT" : "",
		    op & SPE_OP_EXCLUSIVE ? " EXCL" : "", op & SPE_OP_ACQREL ? " AR" : "");
	for (i = 0; i < sizeof(ldst_subclasses) / sizeof(ldst_subclasses[0]); i++)
		if ((op & ldst_subclasses[i].mask) == ldst_subclasses[i].value)
			add(t, " %s", ldst_subclasses[i].name);
	if ((op & SPE_OP_LDST_SVE_MASK) == SPE_OP_LDST_SVE) {
		vector_length(t, op);
		add(t, "%s%s", op & SPE_OP_SVE_PRED ? " PRED" : "",
		    op & SPE_OP_SVE_SG ? " SG" : "");
	}
}

static void other(struct text *t, uint8_t op)
{
	if ((op & SPE_OP_OTHER_SVE_MASK) == SPE_OP_OTHER_SVE) {
		add(t, "SVE-OTHER");
		vector_length(t, op);
		add(t, "%s%s", op & SPE_OP_FP ? " FP" : "", op & SPE_OP_SVE_PRED ? " PRED" : "");
		return;
	}
	add(t, "OTHER %s", op & SPE_OP_COND ? "COND-SELECT" : "INSN-OTHER");
}

static bool operation(struct text *t, unsigned int class, uint8_t op)
{
	if (class == SPE_CLASS_OTHER)
		other(t, op);
	else if (class == SPE_CLASS_LDST)
		load_store(t, op);
	else if (class == SPE_CLASS_BRANCH)
		add(t, "B%s%s", op & SPE_OP_COND ? " COND" : "",
		    op & SPE_OP_INDIRECT ? " IND" : "");
	else
		return false;
	return true;
}

int spe_operation_format(unsigned int class, uint8_t op, char *buf, size_t n)
{
	struct text t = {buf, n, 0};

	if (n)
		buf[0] = '\0';
	if (!operation(&t, class, op))
		add(&t, "OP-TYPE 0x%x (%u)", op, class);
	return (int)t.used;
}

static bool address(struct text *t, const struct spe_packet *pkt)
{
	static const char *const kinds[SPE_ADDR_COUNT] = {"PC", "TGT", "VA", "PA", "PBT"};
	uint64_t v = pkt->payload, plain = v & SPE_ADDR_MASK;

	if (pkt->index >= SPE_ADDR_COUNT)
		return false;
	if (pkt->index == SPE_ADDR_DATA_VA)
		add(t, "VA 0x%" PRIx64, v);
	else if (pkt->index == SPE_ADDR_DATA_PA)
		add(t, "PA 0x%" PRIx64 " ns=%d ch=%d pat=%x", plain, (int)(v >> 63),
		    !!(v & SPE_ADDR_CH),
		    (unsigned int)((v & SPE_ADDR_PAT_MASK) >> SPE_ADDR_PAT_SHIFT));
	else
		add(t, "%s 0x%" PRIx64 " el%d ns=%d", kinds[pkt->index], plain,
		    (int)((v & SPE_ADDR_EL_MASK) >> SPE_ADDR_EL_SHIFT), (int)(v >> 63));
	return true;
}

static void counter(struct text *t, const struct spe_packet *pkt)
{
	static const char *const kinds[SPE_COUNTER_COUNT] = {"TOT", "ISSUE", "XLAT", "", "ALT"};

	add(t, "LAT %u %s", (unsigned int)(uint16_t)pkt->payload,
	    pkt->index < SPE_COUNTER_COUNT ? kinds[pkt->index] : "");
}

int spe_packet_format(const struct spe_packet *pkt, char *buf, size_t n)
{
	struct text t = {buf, n, 0};
	bool known = true;

	if (n)
		buf[0] = '\0';
	switch (pkt->type) {
	case SPE_EVENTS:
		events(&t, pkt->payload);
		break;
	case SPE_OPERATION:
		known = operation(&t, pkt->index, (uint8_t)pkt->payload);
		break;
	case SPE_ADDRESS:
		known = address(&t, pkt);
		break;
	case SPE_COUNTER:
		counter(&t, pkt);
		break;
	case SPE_CONTEXT:
		add(&t, "CONTEXT 0x%" PRIx64 " el%d", pkt->payload, pkt->index + 1);
		break;
	case SPE_SOURCE:
	case SPE_TIMESTAMP:
		add(&t, "%s %" PRId64, spe_packet_name(pkt->type), (int64_t)pkt->payload);
		break;
	default:
		add(&t, "%s", spe_packet_name(pkt->type));
	}
	if (!known)
		add(&t, "%s 0x%" PRIx64 " (%u)", spe_packet_name(pkt->type), pkt->payload,
		    pkt->index);
	return (int)t.used;
}

const char *spe_source_name(uint64_t source)
{
	static const char *const sources[] = {
		[SPE_SOURCE_L1D] = "L1D", [SPE_SOURCE_L2] = "L2",
		[SPE_SOURCE_PEER_CORE] = "peer core", [SPE_SOURCE_CLUSTER] = "local cluster",
		[SPE_SOURCE_SYS_CACHE] = "system cache",
		[SPE_SOURCE_PEER_CLUSTER] = "peer cluster", [SPE_SOURCE_REMOTE] = "remote",
		[SPE_SOURCE_DRAM] = "DRAM",
	};

	return source < sizeof(sources) / sizeof(sources[0]) ? sources[source] : NULL;
}
