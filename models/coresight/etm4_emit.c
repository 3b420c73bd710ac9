/* SPDX-License-Identifier: BSD-2-Clause */
/* Elements to packets (6.4), packets to the trace bus. */
#include "etm4_priv.h"

/* ---- bytes ---- */

static bool bus_takes(struct etm_unit *u, size_t n)
{
	uint8_t id = *cs_reg(u->regs, TRCTRACEIDR) & TRCTRACEIDR_MASK;
	bool stalls = *cs_reg(u->regs, TRCSTALLCTLR) & TRCSTALLCTLR_ISTALL;

	while (!u->host.output(u->host.ctx, id, u->buf, n))
		if (!stalls || !u->host.stall || !u->host.stall(u->host.ctx))
			return false;
	return true;
}

void etm_drain(struct etm_unit *u)
{
	size_t n = u->wp - u->buf;

	if (!n)
		return;
	/* Nothing is put out meanwhile: time may pass while the bus has no room. */
	u->draining = true;
	u->ts_due = false;
	if (!bus_takes(u, n)) {
		etm_unit_overflow_begin(u);
		u->bus_full = true;
		u->asked = u->insns;
		u->ts_due = false;
	}
	u->draining = false;
	u->wp = u->buf;
	if (u->ts_due)
		etm_timestamp(u);
}

/* A packet of up to 32 bytes. */
static void out(struct etm_unit *u, const uint8_t *p, size_t n)
{
	if (u->overflow)
		return;
	memcpy(u->wp, p, n);
	u->wp += n;
	u->count += n;
	if (u->wp - u->buf >= ETM_DRAIN)
		etm_drain(u);
}

void etm_byte(struct etm_unit *u, uint8_t byte)
{
	out(u, &byte, 1);
}

/* Seven bits a byte, the lowest first, bit 7: more follow. */
static size_t put_continued(uint8_t *p, uint64_t value)
{
	size_t n = 0;

	for (; value >> 7; value >>= 7)
		p[n++] = value | 0x80;
	p[n++] = value;
	return n;
}

/* ---- atoms (6.4.15 to 6.4.20) ---- */

static const struct {
	uint8_t n, pattern, header;
} atom_patterns[] = {			/* longest first; bit 0 is the oldest */
	{5, 0x1e, ETM4_ATOM_F5_NEEEE},
	{5, 0x00, ETM4_ATOM_F5_NNNNN},
	{5, 0x0a, ETM4_ATOM_F5_NENEN},
	{5, 0x15, ETM4_ATOM_F5_ENENE},
	{4, 0x0e, ETM4_ATOM_F4 | 0},
	{4, 0x00, ETM4_ATOM_F4 | 1},
	{4, 0x0a, ETM4_ATOM_F4 | 2},
	{4, 0x05, ETM4_ATOM_F4 | 3},
};

/* The packet for the oldest of n atoms; how many it takes. */
static unsigned int atom_packet(uint64_t atoms, unsigned int n, uint8_t *header)
{
	static const uint8_t plain[] = {0, ETM4_ATOM_F1, ETM4_ATOM_F2, ETM4_ATOM_F3};
	unsigned int e = ~atoms ? __builtin_ctzll(~atoms) : 64, i;

	e = e < n ? e : n;
	e = e < ETM4_ATOM_F6_MAX ? e : ETM4_ATOM_F6_MAX;
	if (e == n && e > ETM4_ATOM_F6_MIN)
		e--;			/* the last one of the packet */
	if (e >= ETM4_ATOM_F6_MIN && e < n) {
		*header = ETM4_ATOM_F6 | (e - ETM4_ATOM_F6_MIN);
		if (!(atoms >> e & 1))
			*header |= ETM4_ATOM_F6_N;
		return e + 1;
	}
	for (i = 0; i < sizeof(atom_patterns) / sizeof(atom_patterns[0]); i++) {
		unsigned int k = atom_patterns[i].n;

		if (n >= k && (atoms & ((1u << k) - 1)) == atom_patterns[i].pattern) {
			*header = atom_patterns[i].header;
			return k;
		}
	}
	n = n < 3 ? n : 3;
	*header = plain[n] | (atoms & ((1u << n) - 1));
	return n;
}

void etm_flush_atoms(struct etm_unit *u)
{
	unsigned int n = u->natoms, k, len = 0;
	uint64_t atoms = u->atoms;
	uint8_t buf[32];

	u->natoms = 0;
	u->atoms = 0;
	while (n) {
		k = atom_packet(atoms, n, &buf[len++]);
		atoms >>= k;
		n -= k;
	}
	if (len)
		out(u, buf, len);
}

void etm_atom(struct etm_unit *u, bool e)
{
	if (u->natoms >= ETM_ATOMS)
		etm_flush_atoms(u);
	u->atoms |= (uint64_t)e << u->natoms++;
}

/* ---- addresses and context (6.4.8 to 6.4.14) ---- */

static void history_push(struct etm_unit *u, uint64_t ip)
{
	u->history[2] = u->history[1];
	u->history[1] = u->history[0];
	u->history[0] = ip;
	u->nhistory += u->nhistory < 3;
}

static size_t put_context(struct etm_unit *u, uint8_t *p)
{
	uint8_t info = u->el | ETM4_CTX_SF | ETM4_CTX_NS;

	if (u->cid_on)
		info |= ETM4_CTX_C;
	p[0] = info;
	u->told_el = u->el;
	u->told_cid = u->cid;
	u->ctx_known = true;
	if (!u->cid_on)
		return 1;
	memcpy(p + 1, &u->cid, 4);
	return 5;
}

/* IS0: bits 8:2, then 15:9, then whole bytes. */
static size_t put_long(uint8_t *p, uint64_t ip, size_t n)
{
	size_t i;

	p[0] = ip >> 2 & 0x7f;
	p[1] = ip >> 9 & 0x7f;
	for (i = 2; i < n; i++)
		p[i] = ip >> 8 * i;
	return n;
}

static bool context_due(const struct etm_unit *u)
{
	return !u->ctx_known || u->told_el != u->el ||
	       (u->cid_on && u->told_cid != u->cid);
}

void etm_address(struct etm_unit *u, uint64_t ip)
{
	uint64_t diff = u->nhistory ? ip ^ u->history[0] : ~0ull;
	uint8_t buf[16];
	size_t n;
	unsigned int i;

	etm_flush_atoms(u);
	if (context_due(u)) {
		buf[0] = diff >> 32 ? ETM4_ADDR_CTX_64_IS0 : ETM4_ADDR_CTX_32_IS0;
		n = 1 + put_long(buf + 1, ip, diff >> 32 ? 8 : 4);
		n += put_context(u, buf + n);
		history_push(u, ip);
		out(u, buf, n);
		return;
	}
	for (i = 0; i < u->nhistory && u->history[i] != ip; i++)
		;
	if (i < u->nhistory) {
		buf[0] = ETM4_ADDR_MATCH + i;
		n = 1;
	} else if (!(diff >> 17)) {
		buf[0] = ETM4_ADDR_SHORT_IS0;
		buf[1] = ip >> 2 & 0x7f;
		n = 2;
		if (diff >> 9) {
			buf[1] |= 0x80;
			buf[n++] = ip >> 9;
		}
	} else {
		buf[0] = diff >> 32 ? ETM4_ADDR_64_IS0 : ETM4_ADDR_32_IS0;
		n = 1 + put_long(buf + 1, ip, diff >> 32 ? 8 : 4);
	}
	history_push(u, ip);
	out(u, buf, n);
}

/* The preferred return address follows, and is no branch's target (E1:E0 = 01). */
void etm_exception_packet(struct etm_unit *u, unsigned int type)
{
	uint8_t buf[3] = {ETM4_EXCEPTION, ETM4_EXCEPTION_E0 | (type & 0x1f) << 1};

	etm_flush_atoms(u);
	if (type >> 5) {
		buf[1] |= 0x80;
		buf[2] = type >> 5;
	}
	out(u, buf, type >> 5 ? 3 : 2);
}

/* ---- time ---- */

/* Cycles since the last one, if that are enough (6.4.6, TRCIDR0.COMMOPT = 1). */
void etm_cycle_count(struct etm_unit *u)
{
	uint64_t cycles = u->insns - u->cc_stamp, more;
	uint8_t buf[8];
	size_t n = 1;

	if (!u->cci || cycles < u->cc_threshold)
		return;
	u->cc_stamp = u->insns;
	more = cycles - u->cc_threshold;
	etm_flush_atoms(u);
	if (more <= 3) {
		buf[0] = ETM4_CC_F3 | more;
	} else if (more <= 15) {
		buf[0] = ETM4_CC_F2;
		buf[n++] = more;
	} else if (more <= u->cc_max) {
		buf[0] = ETM4_CC_F1;
		n += put_continued(buf + n, more);
	} else {
		buf[0] = ETM4_CC_F1_UNKNOWN;
	}
	out(u, buf, n);
}

/* Bits that did not change are left out (6.4.3); the first one has them all. */
void etm_timestamp(struct etm_unit *u)
{
	uint64_t ts = u->host.clock ? u->host.clock(u->host.ctx) : etm_unit_clock(u);
	uint64_t diff = u->ts_full ? ~0ull : ts ^ u->ts_last, cycles;
	uint8_t buf[16];
	size_t n = 1;

	if (!u->ts)
		return;
	etm_flush_atoms(u);
	u->ts_last = ts;
	u->ts_full = false;
	buf[0] = u->cci ? ETM4_TIMESTAMP_CC : ETM4_TIMESTAMP;
	for (; diff >> 7 && n < 9; diff >>= 7, ts >>= 7)
		buf[n++] = ts | 0x80;
	buf[n] = n < 9 ? ts & 0x7f : ts;	/* the ninth byte has eight bits */
	n++;
	if (u->cci) {
		cycles = u->insns - u->cc_stamp;
		n += put_continued(buf + n, cycles < u->cc_max ? cycles : u->cc_max);
	}
	out(u, buf, n);
}

/* ---- synchronisation ---- */

void etm_sync(struct etm_unit *u)
{
	uint8_t buf[ETM4_ASYNC_LENGTH + 8] = {0};
	size_t n = ETM4_ASYNC_LENGTH;

	etm_flush_atoms(u);
	u->count = 0;
	buf[n - 1] = ETM4_EXT_ASYNC;
	buf[n++] = ETM4_TRACE_INFO;
	buf[n++] = ETM4_INFO_INFO | (u->cci ? ETM4_INFO_CYCT : 0);
	buf[n++] = u->cci ? ETM4_INFO_CC_ENABLED : 0;
	if (u->cci)
		n += put_continued(buf + n, u->cc_threshold);
	out(u, buf, n);
	/* Nothing may lean on what was before (6.4.2). */
	u->nhistory = 0;
	u->ctx_known = false;
	u->ts_full = true;
	u->depth = 0;
	etm_timestamp(u);
}

void etm_overflow_packet(struct etm_unit *u)
{
	static const uint8_t packet[] = {ETM4_EXTENSION, ETM4_EXT_OVERFLOW};

	out(u, packet, sizeof(packet));
}

void etm_unit_flush(struct etm_unit *u)
{
	etm_flush_atoms(u);
	/* Time that passed meanwhile is told, too. */
	while (u->wp != u->buf)
		etm_drain(u);
}

void etm_unit_overflow_begin(struct etm_unit *u)
{
	if (u->overflow || !u->enabled)
		return;
	u->overflow = true;
	u->bus_full = false;
	u->wp = u->buf;
	u->natoms = 0;
	u->atoms = 0;
	u->traced = false;
	/* The fast path does not know where this block began. */
	u->active = false;
	u->depth = 0;
	etm_mode_update(u);
}
