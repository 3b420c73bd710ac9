/* SPDX-License-Identifier: BSD-2-Clause */
#include <string.h>
#include "etm_scan.h"

#define NUMBER_MAX	5	/* bytes of a number of 32 bits */
#define COUNT_MAX	3	/* of a cycle count */
#define TIME_MAX	9	/* of a timestamp; the last has eight bits */

/* What a field's function returns but its length. */
#define MORE		(-1)	/* bytes, to tell */
#define MALFORMED	(-2)

typedef int (*field_fn)(const struct etm_scan *s, const uint8_t *b, size_t n);

static const uint8_t async[ETM4_ASYNC_LENGTH] = {
	[ETM4_ASYNC_LENGTH - 1] = ETM4_EXT_ASYNC};

/* ---- fields ---- */

static int fixed(size_t size, size_t n)
{
	return size <= n ? (int)size : MORE;
}

static int one(const struct etm_scan *s, const uint8_t *b, size_t n)
{
	return fixed(1, n);
}

static int four(const struct etm_scan *s, const uint8_t *b, size_t n)
{
	return fixed(4, n);
}

static int eight(const struct etm_scan *s, const uint8_t *b, size_t n)
{
	return fixed(8, n);
}

/* Bit 7 says that another byte follows. */
static int continued(const uint8_t *b, size_t n, size_t max)
{
	size_t i;

	for (i = 0; i < n && i < max; i++)
		if (!(b[i] & 0x80))
			return i + 1;
	return i == max ? MALFORMED : MORE;
}

static int number(const struct etm_scan *s, const uint8_t *b, size_t n)
{
	return continued(b, n, NUMBER_MAX);
}

static int count(const struct etm_scan *s, const uint8_t *b, size_t n)
{
	return continued(b, n, COUNT_MAX);
}

static int commits(const struct etm_scan *s, const uint8_t *b, size_t n)
{
	return s->commits ? number(s, b, n) : 0;
}

static int timestamp(const struct etm_scan *s, const uint8_t *b, size_t n)
{
	int size = continued(b, n, TIME_MAX);

	return size == MALFORMED ? TIME_MAX : size;
}

static int short_address(const struct etm_scan *s, const uint8_t *b, size_t n)
{
	return n ? fixed(b[0] & 0x80 ? 2 : 1, n) : MORE;
}

static int context(const struct etm_scan *s, const uint8_t *b, size_t n)
{
	size_t size = 1;

	if (!n)
		return MORE;
	if ((b[0] & ETM4_CTX_V && !s->vmid) || (b[0] & ETM4_CTX_C && !s->cid))
		return MALFORMED;
	if (b[0] & ETM4_CTX_V)
		size += s->vmid;
	if (b[0] & ETM4_CTX_C)
		size += s->cid;
	return fixed(size, n);
}

/* ETE's PE reset, and a transaction that failed. */
static bool has_no_address(const struct etm_scan *s, uint8_t info)
{
	uint8_t type = info >> 1 & 0x1f;

	return s->version >= ETE_VERSION &&
	       (type == ETM4_EXC_RESET || type == ETE_EXC_FAILED);
}

static int exception(const struct etm_scan *s, const uint8_t *b, size_t n)
{
	if (!n)
		return MORE;
	return fixed(b[0] & ETM4_EXCEPTION_C || has_no_address(s, b[0]) ? 2 : 1, n);
}

static int extension(const struct etm_scan *s, const uint8_t *b, size_t n)
{
	size_t i;

	if (n && (b[0] == ETM4_EXT_DISCARD || b[0] == ETM4_EXT_OVERFLOW))
		return 1;
	for (i = 0; i < n && i + 1 < sizeof(async); i++)
		if (b[i] != async[i + 1])
			return MALFORMED;
	return i + 1 < sizeof(async) ? MORE : (int)i;
}

/* Trace info: PLCTL says which sections follow, each of them a number. */
static int sections(const struct etm_scan *s, const uint8_t *b, size_t n)
{
	int at = number(s, b, n), k;
	uint8_t bit;

	for (bit = ETM4_INFO_INFO; at > 0 && bit <= ETM4_INFO_WNDW; bit <<= 1) {
		if (!(b[0] & bit))
			continue;
		k = number(s, b + at, n - at);
		at = k > 0 ? at + k : k;
	}
	return at;
}

/* ---- packets ---- */

struct layout {
	uint8_t kind;
	uint8_t since, until;		/* versions; 0: any */
	field_fn field[2];
};

#define ETE_ONLY	.since = ETE_VERSION
#define ETM_ONLY	.until = ETE_VERSION - 1
#define BOTH_IS(x)	(x) ... (x) + 1

/* Of A-profile, without data trace and conditional instructions. */
static const struct layout layouts[256] = {
	[ETM4_EXTENSION] = {ETM_ASYNC, .field = {extension}},
	[ETM4_TRACE_INFO] = {ETM_TRACE_INFO, .field = {sections}},
	[ETM4_TIMESTAMP] = {ETM_TIMESTAMP, .field = {timestamp}},
	[ETM4_TIMESTAMP_CC] = {ETM_TIMESTAMP, .field = {timestamp, count}},
	[ETM4_TRACE_ON] = {ETM_TRACE_ON},
	[ETM4_EXCEPTION] = {ETM_EXCEPTION, .field = {exception}},
	[ETM4_EXCEPTION_RETURN] = {ETM_RETURN, ETM_ONLY},
	[ETE_TRANSACTION_START] = {ETM_TRANSACTION, ETE_ONLY},
	[ETE_TRANSACTION_COMMIT] = {ETM_RETURN, ETE_ONLY},
	[ETM4_CC_F2 ... ETM4_CC_F2 + 1] = {ETM_CYCLES, .field = {one}},
	[ETM4_CC_F1] = {ETM_CYCLES, .field = {commits, count}},
	[ETM4_CC_F1_UNKNOWN] = {ETM_CYCLES, .field = {commits}},
	[ETM4_CC_F3 ... ETM4_CC_F3 + 15] = {ETM_CYCLES},
	[ETM4_COMMIT] = {ETM_COMMIT, .field = {number}},
	[ETM4_CANCEL_F1 ... ETM4_CANCEL_F1 + 1] = {ETM_CANCEL, .field = {number}},
	[ETM4_MISPREDICT ... ETM4_CANCEL_F3 + 7] = {ETM_CANCEL},
	[ETM4_IGNORE] = {ETM_TIMESTAMP, .since = 0x43},
	[ETM4_EVENT ... ETM4_EVENT + 14] = {ETM_TIMESTAMP},
	[ETM4_CONTEXT_SAME] = {ETM_CONTEXT},
	[ETM4_CONTEXT] = {ETM_CONTEXT, .field = {context}},
	[BOTH_IS(ETM4_ADDR_CTX_32_IS0)] = {ETM_ADDRESS_CONTEXT, .field = {four, context}},
	[BOTH_IS(ETM4_ADDR_CTX_64_IS0)] = {ETM_ADDRESS_CONTEXT, .field = {eight, context}},
	[ETM4_TS_MARKER] = {ETM_TIMESTAMP, .since = 0x46},
	[ETM4_ADDR_MATCH ... ETM4_ADDR_MATCH + 2] = {ETM_ADDRESS},
	[BOTH_IS(ETM4_ADDR_SHORT_IS0)] = {ETM_ADDRESS, .field = {short_address}},
	[BOTH_IS(ETM4_ADDR_32_IS0)] = {ETM_ADDRESS, .field = {four}},
	[BOTH_IS(ETM4_ADDR_64_IS0)] = {ETM_ADDRESS, .field = {eight}},
	[ETM4_Q ... ETM4_Q + 2] = {ETM_Q, .field = {number}},
	[BOTH_IS(ETM4_Q_SHORT_IS0)] = {ETM_Q, .field = {short_address, number}},
	[BOTH_IS(ETM4_Q_32_IS0)] = {ETM_Q, .field = {four, number}},
	[ETM4_Q_NO_ADDRESS] = {ETM_Q, .field = {number}},
	[ETM4_Q_UNKNOWN] = {ETM_Q},
	[ETE_SOURCE_MATCH ... ETE_SOURCE_MATCH + 2] = {ETM_SOURCE, ETE_ONLY},
	[BOTH_IS(ETE_SOURCE_SHORT_IS0)] = {ETM_SOURCE, ETE_ONLY, .field = {short_address}},
	[BOTH_IS(ETE_SOURCE_32_IS0)] = {ETM_SOURCE, ETE_ONLY, .field = {four}},
	[BOTH_IS(ETE_SOURCE_64_IS0)] = {ETM_SOURCE, ETE_ONLY, .field = {eight}},
	[ETM4_ATOMS ... 0xff] = {ETM_ATOMS},
};

static bool has(const struct etm_scan *s, const struct layout *l)
{
	return l->kind != ETM_NONE && s->version >= l->since &&
	       (!l->until || s->version <= l->until) && (l->kind != ETM_Q || s->q);
}

/* Of the packet that n bytes begin with, or MORE, or MALFORMED. */
static int packet_size(const struct etm_scan *s, const uint8_t *b, size_t n)
{
	const struct layout *l = &layouts[b[0]];
	unsigned int i;
	int at = 1, k;

	if (!has(s, l))
		return MALFORMED;
	for (i = 0; i < 2 && l->field[i]; i++) {
		k = l->field[i](s, b + at, n - at);
		if (k < 0)
			return k;
		at += k;
	}
	return at;
}

/* The first bytes of what is none are enough to tell. */
static size_t malformed_size(const struct etm_scan *s, const uint8_t *b)
{
	size_t n;

	for (n = 1; packet_size(s, b, n) == MORE;)
		n++;
	return n;
}

static void found(struct etm_scan *s, struct etm_piece *p, uint64_t offset,
		  const uint8_t *bytes, int size)
{
	p->offset = offset;
	p->bytes = bytes;
	p->kind = layouts[bytes[0]].kind;
	s->n = 0;
	if (size == MALFORMED) {
		size = malformed_size(s, bytes);
		p->kind = ETM_BAD;
		etm_scan_lost(s);
		/* More zeros than an A-sync has: its own are the last of them. */
		if (bytes[0] == ETM4_EXTENSION && !bytes[size - 1]) {
			s->zeros = sizeof(async) - 1;
			s->at = offset + 1;
		}
	} else if (p->kind == ETM_ASYNC && size == 2) {
		p->kind = ETM_DISCARD;
	} else if (p->kind == ETM_EXCEPTION && has_no_address(s, bytes[1]) &&
		   !(bytes[1] & ETM4_EXCEPTION_C && bytes[2] & 0x1f)) {
		p->kind = ETM_RETURN;
	}
	p->n = size;
}

/* ---- bytes ---- */

static uint8_t vmid_bytes(uint32_t idr2, uint8_t version)
{
	uint32_t size = (idr2 & TRCIDR2_VMIDSIZE_MASK) >> TRCIDR2_VMIDSIZE_SHIFT;

	return size == 1 || (version > 0x40 && (size == 2 || size == 4)) ? size : 0;
}

void etm_scan_init(struct etm_scan *s, const struct etm_source *source)
{
	uint32_t commopt = TRCIDR0_COMMOPT | TRCIDR0_TRCCCI;

	memset(s, 0, sizeof(*s));
	s->version = etm_version(source);
	s->cid = (source->idr[2] & TRCIDR2_CIDSIZE_MASK) >> TRCIDR2_CIDSIZE_SHIFT == 4 ? 4 : 0;
	s->vmid = vmid_bytes(source->idr[2], s->version);
	s->q = source->idr[0] & TRCIDR0_QSUPP_MASK;
	s->commits = (source->idr[0] & commopt) != commopt;
}

uint8_t etm_version(const struct etm_source *s)
{
	uint8_t ete = (s->devarch >> TRCDEVARCH_VERSION_SHIFT & 0xf) << 4 |
		      (s->devarch >> TRCDEVARCH_REVISION_SHIFT & 0xf);

	if (s->ete)
		return ete > ETE_VERSION ? ete : ETE_VERSION;
	return (s->idr[1] & TRCIDR1_VERSION_MASK) >> TRCIDR1_MINOR_SHIFT;
}

void etm_scan_lost(struct etm_scan *s)
{
	s->synced = false;
	s->n = s->zeros = 0;
}

static void skip(struct etm_scan *s, uint64_t offset, uint64_t n)
{
	if (!s->skipped)
		s->skipped_at = offset;
	s->skipped += n;
}

void etm_scan_end(struct etm_scan *s)
{
	if (!s->synced && s->zeros)
		skip(s, s->at, s->zeros);
	s->zeros = 0;
}

/* Looks for eleven zeros and 80; more zeros before them are skipped. */
static size_t search(struct etm_scan *s, uint64_t offset, const uint8_t *bytes, size_t n,
		     struct etm_piece *p)
{
	size_t i;

	for (i = 0; i < n; i++) {
		if (!s->zeros)
			s->at = offset + i;
		if (!bytes[i] && s->zeros < sizeof(async) - 1) {
			s->zeros++;
		} else if (!bytes[i]) {
			skip(s, s->at++, 1);
		} else if (bytes[i] == ETM4_EXT_ASYNC && s->zeros == sizeof(async) - 1) {
			s->synced = true;
			found(s, p, s->at, async, sizeof(async));
			return i + 1;
		} else {
			skip(s, s->at, s->zeros + 1);
			s->zeros = 0;
		}
	}
	return n;
}

/* More of a packet that began in other bytes. */
static size_t complete(struct etm_scan *s, const uint8_t *bytes, size_t n,
		       struct etm_piece *p)
{
	size_t i;
	int size;

	for (i = 0; i < n; i++) {
		s->bytes[s->n++] = bytes[i];
		size = packet_size(s, s->bytes, s->n);
		if (size == MORE)
			continue;
		found(s, p, s->at, s->bytes, size);
		return i + 1;
	}
	return n;
}

size_t etm_scan(struct etm_scan *s, uint64_t offset, const uint8_t *bytes, size_t n,
		struct etm_piece *p)
{
	int size;

	p->kind = ETM_NONE;
	if (!n)
		return 0;
	if (!s->synced)
		return search(s, offset, bytes, n, p);
	if (s->n)
		return complete(s, bytes, n, p);
	size = packet_size(s, bytes, n);
	if (size == MORE) {
		s->at = offset;
		return complete(s, bytes, n, p);
	}
	found(s, p, offset, bytes, size);
	return p->n;
}

uint8_t etm_number(const uint8_t *bytes, uint8_t max, uint32_t *value)
{
	uint8_t i = 0;

	*value = 0;
	do
		*value |= (bytes[i] & 0x7fu) << 7 * i;
	while (bytes[i++] & 0x80 && i < max);
	return i;
}
