/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <string.h>
#include "tmc_unit.h"

#define ID_REPEAT	10		/* frames, after which an ID is told again */
#define PART_ETB	0x9e9u
#define PART_ETR	0x9e8u
#define PART_ETF	0x9eau

static uint32_t *reg(struct tmc_unit *t, uint32_t offset)
{
	return cs_reg(t->regs, offset);
}

static uint32_t mode(struct tmc_unit *t)
{
	return *reg(t, TMC_MODE) & TMC_MODE_MASK;
}

static bool is_fifo(struct tmc_unit *t)
{
	return mode(t) != TMC_MODE_CB;
}

/*
 * Pointers to the registers; the bytes before RWP are stored first: a reader in
 * another process looks at it at any time.
 */
static void publish(struct tmc_unit *t)
{
	uint64_t base = t->config == TMC_CONFIG_ETR ? t->base : 0;

	*reg(t, TMC_RRP) = base + t->rp;
	*reg(t, TMC_RRPHI) = (base + t->rp) >> 32;
	*reg(t, TMC_CBUFLEVEL) = t->level / 4;
	if (*reg(t, TMC_LBUFLEVEL) < t->level / 4)
		*reg(t, TMC_LBUFLEVEL) = t->level / 4;
	*reg(t, TMC_RWPHI) = (base + t->wp) >> 32;
	__atomic_store_n(reg(t, TMC_RWP), (uint32_t)(base + t->wp), __ATOMIC_RELEASE);
}

/* Full, and its output, which is an edge to whoever listens. */
static void full_update(struct tmc_unit *t, bool full)
{
	bool was = *reg(t, TMC_STS) & TMC_STS_FULL;

	if (full == was)
		return;
	*reg(t, TMC_STS) ^= TMC_STS_FULL;
	if (full && t->host.full)
		t->host.full(t->host.ctx);
}

static bool at_watermark(struct tmc_unit *t)
{
	return is_fifo(t) && t->size - t->level <= (uint64_t)*reg(t, TMC_BUFWM) * 4;
}

/* One frame, or 16 bytes of a single source, to memory. */
static void frame_store(struct tmc_unit *t)
{
	bool wrapped = false;

	memcpy(t->ram + t->wp, t->frame, CS_FRAME);
	t->wp += CS_FRAME;
	if (t->wp == t->size) {
		t->wp = 0;
		wrapped = true;
	}
	if (t->level < t->size)
		t->level += CS_FRAME;
	else			/* circular: the oldest is gone */
		t->rp = t->wp;
	memset(t->frame, 0, CS_FRAME);
	t->pos = 0;
	t->frames++;
	*reg(t, TMC_STS) &= ~TMC_STS_EMPTY;
	publish(t);
	if (is_fifo(t))
		full_update(t, at_watermark(t));
	else if (wrapped)
		full_update(t, true);
}

/* ---- formatter (IHI 0029 D4.2) ---- */

static void advance(struct tmc_unit *t)
{
	if (++t->pos == CS_FRAME_AUX)
		frame_store(t);
}

static void set_aux(struct tmc_unit *t, unsigned int pos)
{
	t->frame[CS_FRAME_AUX] |= 1u << pos / 2;
}

static void frame_id(struct tmc_unit *t, uint8_t id)
{
	uint8_t *f = t->frame;

	t->id = id;
	t->frames = 0;
	if (!(t->pos & 1)) {
		f[t->pos] = id << 1 | CS_FRAME_ID;
		t->id_pending = true;
		advance(t);
		return;
	}
	if (t->id_pending) {		/* nothing came of the last one */
		f[t->pos - 1] = id << 1 | CS_FRAME_ID;
		return;
	}
	/* The ID takes the place of the last byte, which still is the old one's. */
	f[t->pos] = f[t->pos - 1] | (f[CS_FRAME_AUX] >> (t->pos - 1) / 2 & 1);
	f[t->pos - 1] = id << 1 | CS_FRAME_ID;
	set_aux(t, t->pos - 1);
	advance(t);
}

static void frame_byte(struct tmc_unit *t, uint8_t byte)
{
	unsigned int pos = t->pos;

	t->id_pending = false;
	if (pos & 1) {
		t->frame[pos] = byte;
	} else {
		t->frame[pos] = byte & ~1u;
		if (byte & 1)
			set_aux(t, pos);
	}
	advance(t);
}

static void frame_pad(struct tmc_unit *t)
{
	if (!t->pos)
		return;
	frame_id(t, CS_ID_NULL);
	while (t->pos)
		frame_byte(t, 0);
}

static void raw_byte(struct tmc_unit *t, uint8_t byte)
{
	t->frame[t->pos] = byte;
	if (++t->pos == CS_FRAME)
		frame_store(t);
}

/* Bytes of memory that n bytes of one source may take: two IDs, one frame open. */
static uint64_t room_needed(size_t n)
{
	return ((n + n / 140 + 3) / 7 + 3) * 8 + 2 * CS_FRAME;
}

static bool fifo_forward(struct tmc_unit *t, uint8_t id, const uint8_t *bytes, size_t n)
{
	return t->next.input && t->next.input(t->next.ctx, id, bytes, n);
}

bool tmc_unit_input(struct tmc_unit *t, uint8_t id, const uint8_t *bytes, size_t n)
{
	size_t i;

	if (!t->capturing || t->stopped)
		return true;
	/* A FIFO that the next component drains at once is never filled. */
	if (mode(t) == TMC_MODE_HWF)
		return fifo_forward(t, id, bytes, n);
	if (is_fifo(t) && t->size - t->level < room_needed(n))
		return false;
	if (!n)
		return true;
	if (!t->formatted) {
		for (i = 0; i < n; i++)
			raw_byte(t, bytes[i]);
		return true;
	}
	if (id != t->id)
		frame_id(t, id);
	for (i = 0; i < n; i++) {
		/* Who reads a buffer that went round has to find one (D4.2.4). */
		if (!t->pos && t->frames >= ID_REPEAT)
			frame_id(t, id);
		frame_byte(t, bytes[i]);
	}
	return true;
}

void tmc_unit_flush(struct tmc_unit *t)
{
	if (!t->capturing)
		return;
	if (t->formatted)
		frame_pad(t);
	else
		while (t->pos)
			raw_byte(t, 0);
}

/* ---- registers ---- */

static bool buffer_open(struct tmc_unit *t)
{
	uint64_t rwp = (uint64_t)*reg(t, TMC_RWPHI) << 32 | *reg(t, TMC_RWP);
	uint64_t rrp = (uint64_t)*reg(t, TMC_RRPHI) << 32 | *reg(t, TMC_RRP);

	if (t->config == TMC_CONFIG_ETR) {
		t->base = (uint64_t)*reg(t, TMC_DBAHI) << 32 | *reg(t, TMC_DBALO);
		t->size = (uint64_t)*reg(t, TMC_RSZ) * 4;
		t->ram = t->size && !(t->size % CS_FRAME)
				 ? t->host.memory(t->host.ctx, t->base, t->size)
				 : NULL;
		rwp -= t->base;
		rrp -= t->base;
	}
	if (!t->ram || rwp >= t->size || rrp >= t->size || (rwp | rrp) % CS_FRAME)
		return false;
	t->wp = rwp;
	t->rp = rrp;
	/* Equal pointers: an empty FIFO. */
	t->level = (rwp - rrp + t->size) % t->size;
	return true;
}

static void capture_start(struct tmc_unit *t)
{
	*reg(t, TMC_STS) = TMC_STS_EMPTY;
	t->pos = 0;
	t->id = 0;
	t->id_pending = false;
	memset(t->frame, 0, CS_FRAME);
	t->stopped = false;
	t->formatted = *reg(t, TMC_FFCR) & TMC_FFCR_ENFT;
	*reg(t, TMC_FFSR) = 0;
	t->capturing = true;
	if (!buffer_open(t)) {
		*reg(t, TMC_STS) |= TMC_STS_MEMERR;
		t->stopped = true;
		return;
	}
	if (is_fifo(t) && t->level)
		*reg(t, TMC_STS) &= ~TMC_STS_EMPTY;
	else if (!is_fifo(t))
		t->level = 0;
	publish(t);
}

static void stop(struct tmc_unit *t)
{
	t->stopped = true;
	*reg(t, TMC_FFSR) |= TMC_FFSR_STOPPED;
	*reg(t, TMC_STS) |= TMC_STS_READY | TMC_STS_FTEMPTY;
}

static int write_ctl(struct tmc_unit *t, uint32_t value)
{
	bool on = value & TMC_CTL_CAPTURE;

	if (value & ~TMC_CTL_CAPTURE)
		return -EIO;
	if (on == t->capturing)
		return 0;
	*reg(t, TMC_CTL) = value;
	if (on) {
		capture_start(t);
		return 0;
	}
	/* Without a flush before, the formatter's bytes are gone (2.2.4). */
	t->capturing = false;
	*reg(t, TMC_STS) |= TMC_STS_READY | TMC_STS_FTEMPTY;
	return 0;
}

#define FFCR_BITS (TMC_FFCR_ENFT | TMC_FFCR_ENTI | TMC_FFCR_FONFLIN |            \
		   TMC_FFCR_FONTRIGEVT | TMC_FFCR_FLUSHMAN | TMC_FFCR_STOPONFL | \
		   TMC_FFCR_STOPONTRIGEVT)

static int write_ffcr(struct tmc_unit *t, uint32_t value)
{
	uint32_t format = TMC_FFCR_ENFT | TMC_FFCR_ENTI;

	if (value & ~FFCR_BITS || (t->capturing && (value ^ *reg(t, TMC_FFCR)) & format))
		return -EIO;
	*reg(t, TMC_FFCR) = value & ~TMC_FFCR_FLUSHMAN;
	if (!(value & TMC_FFCR_FLUSHMAN) || !t->capturing || t->stopped)
		return 0;
	if (t->host.flush)
		t->host.flush(t->host.ctx);
	tmc_unit_flush(t);
	if (value & TMC_FFCR_STOPONFL)
		stop(t);
	return 0;
}

/* Software has read so much of the FIFO in memory. */
static int write_rurp(struct tmc_unit *t, uint32_t value)
{
	if (!t->capturing || mode(t) != TMC_MODE_SWF2 || value > TMC_RURP_MAX ||
	    value > t->level)
		return -EIO;
	t->rp = (t->rp + value) % t->size;
	t->level -= value;
	if (!t->level)
		*reg(t, TMC_STS) |= TMC_STS_EMPTY;
	publish(t);
	full_update(t, at_watermark(t));
	return 0;
}

static bool mode_ok(struct tmc_unit *t, uint32_t value)
{
	static const uint32_t modes[] = {
		[TMC_CONFIG_ETB] = 1u << TMC_MODE_CB | 1u << TMC_MODE_SWF1,
		[TMC_CONFIG_ETR] = 1u << TMC_MODE_CB | 1u << TMC_MODE_SWF2,
		[TMC_CONFIG_ETF] = 1u << TMC_MODE_CB | 1u << TMC_MODE_SWF1 |
				   1u << TMC_MODE_HWF,
	};

	return !(value & ~TMC_MODE_MASK) && (modes[t->config] >> value & 1);
}

/* Registers that are set up while capture is off; what it needs for that. */
static const struct {
	uint16_t offset;
	bool etr_only;
	uint32_t bits;
} setup[] = {
	{TMC_RSZ, true, 0x7fffffff},	{TMC_RRP, false, ~0xfu},
	{TMC_RWP, false, ~0xfu},	{TMC_TRG, false, ~0u},
	{TMC_MODE, false, TMC_MODE_MASK}, {TMC_BUFWM, false, ~0u},
	{TMC_RRPHI, true, 0xff},	{TMC_RWPHI, true, 0xff},
	{TMC_AXICTL, true, 0x3f | TMC_AXICTL_BURST16},
	{TMC_DBALO, true, ~0xfu},	{TMC_DBAHI, true, 0xff},
	{TMC_PSCR, false, 0x1f},
};

static int write_setup(struct tmc_unit *t, uint32_t offset, uint32_t value)
{
	unsigned int i;

	for (i = 0; i < sizeof(setup) / sizeof(setup[0]); i++) {
		if (setup[i].offset != offset)
			continue;
		if (t->capturing || (value & ~setup[i].bits) ||
		    (setup[i].etr_only && t->config != TMC_CONFIG_ETR))
			return -EIO;
		if (offset == TMC_MODE && !mode_ok(t, value))
			return -EIO;
		*reg(t, offset) = value;
		return 0;
	}
	return -EIO;
}

int tmc_unit_write(struct tmc_unit *t, uint32_t offset, uint32_t value)
{
	switch (cs_component_write(t->regs, offset, value)) {
	case CS_WRITE_REFUSED:
		return -EIO;
	case CS_WRITE_DONE:
		return 0;
	case CS_WRITE_OTHER:
		break;
	}
	switch (offset) {
	case TMC_CTL:
		return write_ctl(t, value);
	case TMC_FFCR:
		return write_ffcr(t, value);
	case TMC_RURP:
		return write_rurp(t, value);
	default:
		return write_setup(t, offset, value);
	}
}

/* The next word; all ones when there is none, or not now (3.3.3). */
static uint32_t read_rrd(struct tmc_unit *t)
{
	bool readable = t->capturing && (t->stopped || mode(t) == TMC_MODE_SWF1);
	uint32_t word;

	if (!readable || !t->ram || !t->level)
		return TMC_RRD_EMPTY;
	memcpy(&word, t->ram + t->rp, 4);
	t->rp = (t->rp + 4) % t->size;
	t->level -= 4;
	if (!t->level)
		*reg(t, TMC_STS) |= TMC_STS_EMPTY;
	publish(t);
	if (is_fifo(t))
		full_update(t, at_watermark(t));
	return word;
}

uint32_t tmc_unit_read(struct tmc_unit *t, uint32_t offset)
{
	uint32_t value;

	if (offset >= CS_COMPONENT_SIZE || offset & 3)
		return 0;
	if (offset == TMC_RRD)
		return read_rrd(t);
	value = *reg(t, offset);
	if (offset == TMC_LBUFLEVEL)
		*reg(t, TMC_LBUFLEVEL) = *reg(t, TMC_CBUFLEVEL);
	return value;
}

void tmc_unit_init(struct tmc_unit *t, struct cs_regs *regs, uint32_t config, void *ram,
		   uint64_t size, struct cs_sink next, const struct tmc_unit_host *host)
{
	static const struct {
		uint32_t devtype;
		uint16_t part;
	} kinds[] = {
		[TMC_CONFIG_ETB] = {CS_DEVTYPE_SINK_BUFFER, PART_ETB},
		[TMC_CONFIG_ETR] = {CS_DEVTYPE_SINK_BUFFER, PART_ETR},
		[TMC_CONFIG_ETF] = {CS_DEVTYPE_LINK_FIFO, PART_ETF},
	};
	const struct cs_identity id = {
		.devtype = kinds[config].devtype,
		.part = kinds[config].part,
		.devid = config << TMC_DEVID_CONFIG_SHIFT |
			 4u << TMC_DEVID_MEMWIDTH_SHIFT,
	};

	memset(t, 0, sizeof(*t));
	cs_component_init(regs, &id);
	t->regs = regs;
	t->config = config;
	t->ram = ram;
	t->size = size;
	t->next = next;
	t->host = *host;
	*reg(t, TMC_RSZ) = size / 4;
	*reg(t, TMC_STS) = TMC_STS_READY | TMC_STS_FTEMPTY;
}
