/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Speculation (IHI 0064 5.2): what may still be cancelled waits here, so that OpenCSD
 * gets what is committed alone.  It would do that itself, but before 1.4 it counts no
 * commits of cycle counts nor elements from before the first sync point, and dies of a
 * misprediction behind addresses alone.
 *
 * P0 elements are atoms, exceptions, Q and source addresses, and the start of a
 * transaction where TRCIDR0.COMMTRANS says so.  What else waits goes with the P0
 * element before it: it is fed with it, and most of it is cancelled with it.
 */
#include <stdlib.h>
#include <string.h>
#include "etm_priv.h"

#define HELD_MAX	4096u	/* packets, and P0 elements; more speculation is damage */

struct etm_held {
	uint64_t offset, before;	/* as in struct etm_piece */
	uint8_t kind;
	bool bound;			/* an address, of the exception before it */
	struct etm_atoms atoms;
	uint8_t n;
	uint8_t bytes[ETM_PACKET_MAX];
};

void etm_spec_init(struct etm_spec *s, const struct etm_source *source)
{
	memset(s, 0, sizeof(*s));
	s->depth = source->idr[8];
	s->transactions = !(source->idr[0] & TRCIDR0_COMMTRANS);
}

void etm_spec_reset(struct etm_spec *s)
{
	s->n = s->first = 0;
	s->uncommitted = s->unseen = 0;
	s->open = s->addresses.sf = false;
}

void etm_spec_oldest(const struct etm_spec *s, struct etm_piece *p)
{
	const struct etm_held *h;

	if (s->first == s->n)
		return;
	h = &s->held[s->first];
	if (h->before >= p->before)
		return;
	p->offset = h->offset;
	p->before = h->before;
}

void etm_spec_free(struct etm_spec *s)
{
	free(s->held);
}

/* ---- P0 elements ---- */

/* 6.4.9: the oldest atom lowest. */
static struct etm_atoms atoms_of(uint8_t header)
{
	static const struct etm_atoms f4[] = {{4, 0xe}, {4, 0x0}, {4, 0xa}, {4, 0x5}};
	uint8_t e;

	if (header >= ETM4_ATOM_F3)
		return (struct etm_atoms){3, header & 7};
	if (header >= ETM4_ATOM_F1)
		return (struct etm_atoms){1, header & 1};
	if (header >= ETM4_ATOM_F4 && header < ETM4_ATOM_F4 + 4)
		return f4[header & 3];
	if (header >= ETM4_ATOM_F2 && header < ETM4_ATOM_F2 + 4)
		return (struct etm_atoms){2, header & 3};
	switch (header) {
	case ETM4_ATOM_F5_NEEEE:
		return (struct etm_atoms){5, 0x1e};
	case ETM4_ATOM_F5_NNNNN:
		return (struct etm_atoms){5, 0x00};
	case ETM4_ATOM_F5_NENEN:
		return (struct etm_atoms){5, 0x0a};
	case ETM4_ATOM_F5_ENENE:
		return (struct etm_atoms){5, 0x15};
	}
	e = (header & 0x1f) + ETM4_ATOM_F6_MIN;
	return (struct etm_atoms){e + 1, (1u << (e + !(header & ETM4_ATOM_F6_N))) - 1};
}

static uint32_t p0_elements(const struct etm_spec *s, uint8_t kind, uint32_t atoms)
{
	switch (kind) {
	case ETM_ATOMS:
		return atoms;
	case ETM_EXCEPTION:
	case ETM_Q:
	case ETM_SOURCE:
		return 1;
	case ETM_TRANSACTION:
		return s->transactions;
	default:
		return 0;
	}
}

/* A place for one more; false: no memory. */
static bool make_room(struct etm_spec *s)
{
	uint32_t room = s->room ? 2 * s->room : 64;
	struct etm_held *h;

	if (s->n < s->room)
		return true;
	if (s->first > s->n / 2) {
		s->n -= s->first;
		memmove(s->held, s->held + s->first, s->n * sizeof(*h));
		s->first = 0;
		return true;
	}
	h = realloc(s->held, room * sizeof(*h));
	if (!h)
		return false;
	s->held = h;
	s->room = room;
	return true;
}

static struct etm_held *hold(struct etm_decoder *d, const struct etm_piece *p)
{
	struct etm_spec *s = &d->spec;
	struct etm_held *h;

	if (s->n - s->first == HELD_MAX) {
		etm_refuse(d, TRACE_ERR_UNEXPECTED, p);
		return NULL;
	}
	if (!make_room(s)) {
		d->nomem = true;
		return NULL;
	}
	h = &s->held[s->n++];
	*h = (struct etm_held){
		.offset = p->offset, .before = p->before, .kind = p->kind, .n = p->n};
	memcpy(h->bytes, p->bytes, p->n);
	return h;
}

/* ---- commit ---- */

/* What no speculation undoes. */
static bool survives(uint8_t kind)
{
	return kind == ETM_TIMESTAMP || kind == ETM_CYCLES || kind == ETM_TRACE_INFO;
}

static struct etm_piece piece_of(const struct etm_held *h)
{
	return (struct etm_piece){.offset = h->offset, .bytes = h->bytes, .n = h->n,
				  .kind = h->kind, .before = h->before};
}

static bool feed_held(struct etm_decoder *d, const struct etm_held *held)
{
	const struct etm_held h = *held;	/* a refusal drops it */
	const struct etm_piece p = piece_of(&h);

	d->spec.first++;
	return etm_feed(d, &p);
}

/* k atoms of the oldest packet. */
static bool feed_some(struct etm_decoder *d, struct etm_held *h, uint32_t k)
{
	const struct etm_atoms a = {k, h->atoms.taken};
	const struct etm_piece p = piece_of(h);

	h->atoms.n -= k;
	h->atoms.taken = (uint64_t)h->atoms.taken >> k;
	d->spec.first += !h->atoms.n;
	return etm_feed_atoms(d, &p, a);
}

/* The n oldest P0 elements, and what is behind no other. */
static bool commit(struct etm_decoder *d, uint64_t n)
{
	struct etm_spec *s = &d->spec;
	struct etm_held *h;
	uint32_t k, unseen = n < s->unseen ? n : s->unseen;

	s->unseen -= unseen;
	n -= unseen;
	while (s->first < s->n) {
		h = &s->held[s->first];
		k = p0_elements(s, h->kind, h->atoms.n);
		if ((k && !n) || (s->unseen && !survives(h->kind)))
			break;
		k = k < n ? k : n;
		s->uncommitted -= k;
		n -= k;
		if (!(h->kind == ETM_ATOMS ? feed_some(d, h, k) : feed_held(d, h)))
			return false;
	}
	return true;
}

static bool commit_excess(struct etm_decoder *d)
{
	struct etm_spec *s = &d->spec;
	uint64_t all = (uint64_t)s->uncommitted + s->unseen;

	return commit(d, all > s->depth ? all - s->depth : 0);
}

/* ---- packets ---- */

/* The newest address, of a packet of that kind. */
static bool hold_address(struct etm_decoder *d, const struct etm_piece *p, uint8_t kind)
{
	bool source = kind == ETM_SOURCE;
	uint8_t b[ETM_ADDRESS_SIZE];
	const struct etm_piece whole = {.offset = p->offset, .bytes = b, .n = sizeof(b),
					.kind = source ? ETM_SOURCE : ETM_ADDRESS,
					.before = p->before};
	struct etm_held *h;

	etm_address_put(&d->spec.addresses, source ? ETE_SOURCE_64_IS0 : ETM4_ADDR_64_IS0, b);
	h = hold(d, &whole);
	if (h)
		h->bound = d->spec.open;
	return h != NULL;
}

/* An address and a context in two packets: a misprediction takes one of them back. */
static bool hold_apart(struct etm_decoder *d, const struct etm_piece *p)
{
	uint8_t n = p->bytes[0] < ETM4_ADDR_CTX_64_IS0 ? 5 : 9;
	uint8_t b[ETM_PACKET_MAX] = {ETM4_CONTEXT};
	const struct etm_piece context = {.offset = p->offset, .bytes = b,
					  .n = 1 + p->n - n, .kind = ETM_CONTEXT,
					  .before = p->before};

	memcpy(b + 1, p->bytes + n, p->n - n);
	return hold(d, &context) && hold_address(d, p, ETM_ADDRESS);
}

/* What it says of addresses. */
static void track(struct etm_addresses *s, const struct etm_piece *p)
{
	uint8_t n;

	switch (p->kind) {
	case ETM_ADDRESS_CONTEXT:
		n = etm_address_take(s, p->bytes);
		etm_address_context(s, p->bytes[n]);
		break;
	case ETM_ADDRESS:
	case ETM_SOURCE:
	case ETM_Q:
		etm_address_take(s, p->bytes);
		break;
	case ETM_CONTEXT:
		if (p->n > 1)
			etm_address_context(s, p->bytes[1]);
		break;
	case ETM_TRACE_INFO:
		etm_address_restart(s);
		break;
	}
}

static bool hold_packet(struct etm_decoder *d, const struct etm_piece *p,
			struct etm_atoms atoms)
{
	struct etm_held *h;

	if (p->kind == ETM_ADDRESS_CONTEXT)
		return hold_apart(d, p);
	if (p->kind == ETM_ADDRESS || p->kind == ETM_SOURCE)
		return hold_address(d, p, p->kind);
	h = hold(d, p);
	if (h)
		h->atoms = atoms;
	return h != NULL;
}

/* Nothing waits without speculation, and addresses are told by those that OpenCSD has. */
static bool direct(struct etm_decoder *d, const struct etm_piece *p)
{
	if (p->kind != ETM_ATOMS || etm_atoms_room(d) > ETM4_ATOM_F6_MAX)
		return etm_feed(d, p);
	return etm_feed_atoms(d, p, atoms_of(p->bytes[0]));
}

static bool push(struct etm_decoder *d, const struct etm_piece *p, struct etm_atoms atoms)
{
	struct etm_spec *s = &d->spec;

	if (!hold_packet(d, p, atoms))
		return false;
	s->uncommitted += p0_elements(s, p->kind, atoms.n);
	if (!commit_excess(d))
		return false;
	/* All of it may be committed, and walked, at once. */
	return s->uncommitted <= HELD_MAX || etm_refuse(d, TRACE_ERR_UNEXPECTED, p);
}

static bool pass(struct etm_decoder *d, const struct etm_piece *p)
{
	struct etm_atoms atoms = {0};

	track(&d->spec.addresses, p);
	if (!d->spec.depth && p->kind != ETM_SOURCE && (!d->astray || p->kind == ETM_ATOMS))
		return direct(d, p);
	if (p->kind == ETM_ATOMS)
		atoms = atoms_of(p->bytes[0]);
	return push(d, p, atoms);
}

/* ---- what became of it ---- */

/* From held[from] on, what speculation does not undo is left. */
static void drop(struct etm_spec *s, uint32_t from)
{
	uint32_t i, to = from;

	for (i = from; i < s->n; i++)
		if (survives(s->held[i].kind))
			s->held[to++] = s->held[i];
	s->n = to;
}

/* The n newest P0 elements did not happen. */
static void cancel(struct etm_spec *s, uint64_t n)
{
	uint32_t i = s->n, k;
	struct etm_held *h;

	while (n && i > s->first) {
		h = &s->held[i - 1];
		k = p0_elements(s, h->kind, h->atoms.n);
		k = k < n ? k : n;
		n -= k;
		s->uncommitted -= k;
		if (h->kind == ETM_ATOMS && h->atoms.n > k) {
			h->atoms.n -= k;
			break;
		}
		i--;
	}
	drop(s, i);
	s->unseen -= n;
}

/* The newest atom was the other one; addresses behind it are where it did not lead. */
static bool mispredict(struct etm_spec *s)
{
	uint32_t i, at = s->n, to;

	while (at > s->first && s->held[at - 1].kind != ETM_ATOMS)
		at--;
	for (i = to = at; i < s->n; i++)
		if (s->held[i].kind != ETM_ADDRESS || s->held[i].bound)
			s->held[to++] = s->held[i];
	s->n = to;
	if (at == s->first)
		return s->unseen;
	s->held[at - 1].atoms.taken ^= 1u << (s->held[at - 1].atoms.n - 1);
	return true;
}

static bool within(const struct etm_spec *s, uint64_t n)
{
	return n <= (uint64_t)s->uncommitted + s->unseen;
}

static bool commit_packet(struct etm_decoder *d, const struct etm_piece *p, uint64_t n)
{
	return within(&d->spec, n) ? commit(d, n) : etm_refuse(d, TRACE_ERR_PACKET, p);
}

/*
 * Cancel packets of format 1 say how many; format 2 cancels one, format 3 two to five,
 * and both come behind atoms, as a misprediction alone does (6.4.7).
 */
static bool cancel_packet(struct etm_decoder *d, const struct etm_piece *p)
{
	static const struct etm_atoms before[] = {{0, 0}, {1, 1}, {2, 3}, {1, 0}};
	const struct etm_piece atoms = {.offset = p->offset, .bytes = p->bytes, .n = 1,
					.kind = ETM_ATOMS, .before = p->before};
	uint8_t header = p->bytes[0], which = 0;
	uint32_t n = 0;

	if (header < ETM4_MISPREDICT) {
		etm_number(p->bytes + 1, p->n - 1, &n);
	} else if (header >= ETM4_CANCEL_F3) {
		which = header & 1;
		n = 2 + (header >> 1 & 3);
	} else {
		which = header & 3;
		n = header >= ETM4_CANCEL_F2;
	}
	if (which && !push(d, &atoms, before[which]))
		return false;
	if (!within(&d->spec, n))
		return etm_refuse(d, TRACE_ERR_PACKET, p);
	cancel(&d->spec, n);
	if (header != ETM4_CANCEL_F1 && !mispredict(&d->spec))
		return etm_refuse(d, TRACE_ERR_PACKET, p);
	return commit(d, 0);
}

/* A cycle count that may carry a commit (6.4.6): that, then a count that has none. */
static bool cycles_packet(struct etm_decoder *d, const struct etm_piece *p)
{
	uint8_t b[4] = {ETM4_CC_F1, 0}, header = p->bytes[0];
	struct etm_piece cycles = {
		.offset = p->offset, .bytes = b, .n = 2, .kind = ETM_CYCLES,
		.before = p->before};
	uint32_t n, at;

	if (header >= ETM4_CC_F3) {
		n = 1 + (header >> 2 & 3);
		b[1] = header & 3;
	} else if (header < ETM4_CC_F1) {
		n = (header & 1 ? d->spec.depth - 15 : 1) + (p->bytes[1] >> 4);
		b[1] = p->bytes[1] & 15;
	} else {
		at = 1 + etm_number(p->bytes + 1, p->n - 1, &n);
		b[0] = header;
		cycles.n = 1 + p->n - at;
		memcpy(b + 1, p->bytes + at, p->n - at);
	}
	/* Without speculation there is nothing to be committed. */
	if (d->spec.depth && !commit_packet(d, p, n))
		return false;
	return pass(d, &cycles);
}

/* The depth of speculation at a sync point, which OpenCSD is not told. */
static bool info_packet(struct etm_decoder *d, const struct etm_piece *p)
{
	uint8_t b[ETM_PACKET_MAX], k, bit;
	struct etm_piece info = *p;
	uint32_t value, at = 1 + etm_number(p->bytes + 1, p->n - 1, &value);

	info.bytes = b;
	info.n = at;
	memcpy(b, p->bytes, at);
	for (bit = ETM4_INFO_INFO; bit <= ETM4_INFO_WNDW; bit <<= 1) {
		if (!(p->bytes[1] & bit))
			continue;
		k = etm_number(p->bytes + at, p->n - at, &value);
		memcpy(b + info.n, p->bytes + at, k);
		at += k;
		if (bit != ETM4_INFO_SPEC)
			info.n += k;
		else if (d->state == ETM_WAITS_INFO)
			d->spec.unseen = value < d->spec.depth ? value : d->spec.depth;
	}
	b[1] &= ~ETM4_INFO_SPEC;
	d->state = ETM_DECODES;
	return pass(d, &info);
}

/* What was not committed is lost. */
static bool discard_packet(struct etm_decoder *d, const struct etm_piece *p)
{
	drop(&d->spec, d->spec.first);
	d->spec.uncommitted = d->spec.unseen = 0;
	if (!commit(d, 0))
		return false;
	etm_spec_reset(&d->spec);
	d->state = ETM_WAITS_ASYNC;
	return etm_feed(d, p);
}

/*
 * OpenCSD has freed a Q element that waited for its address; and an address in it would
 * have to be told whole, where others may be cancelled.
 */
static bool unsupported(const struct etm_spec *s, const struct etm_piece *p)
{
	return p->kind == ETM_Q && (s->depth || p->bytes[0] >= ETM4_Q_NO_ADDRESS);
}

/* Behind an exception is an address, or a context and an address. */
static bool fits(struct etm_spec *s, uint8_t kind)
{
	return !s->open || kind == ETM_CONTEXT || kind == ETM_ADDRESS ||
	       kind == ETM_ADDRESS_CONTEXT || kind == ETM_DISCARD;
}

static void opens(struct etm_spec *s, const struct etm_piece *p)
{
	if (p->kind == ETM_EXCEPTION)
		s->open = true;
	else if (p->kind != ETM_CONTEXT)
		s->open = false;
}

void etm_spec_packet(struct etm_decoder *d, const struct etm_piece *p)
{
	struct etm_spec *s = &d->spec;
	uint32_t n;

	if (!fits(s, p->kind) || unsupported(s, p)) {
		etm_refuse(d, TRACE_ERR_PACKET, p);
		return;
	}
	switch (p->kind) {
	case ETM_TRACE_INFO:
		info_packet(d, p);
		return;
	case ETM_DISCARD:
		discard_packet(d, p);
		return;
	case ETM_COMMIT:
		etm_number(p->bytes + 1, p->n - 1, &n);
		commit_packet(d, p, n);
		return;
	case ETM_CANCEL:
		cancel_packet(d, p);
		return;
	case ETM_CYCLES:
		if (d->scan.commits) {
			cycles_packet(d, p);
			return;
		}
	}
	if (pass(d, p))
		opens(s, p);
}
