/* SPDX-License-Identifier: BSD-2-Clause */
/* What a perf.data file says of itself: attributes, features, AUXTRACE_INFO. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "reader.h"

#define ATTRS_MAX     4096
#define IDS_MAX	      (1u << 20)
#define FEATURE_MAX   (1u << 20) /* bytes of one section that we read */
#define ATTR_SIZE_MIN 64	 /* PERF_ATTR_SIZE_VER0 */
#define SAMPLE_ID_BITS                                                                 \
	(PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_ID | PERF_SAMPLE_STREAM_ID | \
	 PERF_SAMPLE_CPU | PERF_SAMPLE_IDENTIFIER)

/* ---- attributes ---- */

static int load_attr(struct perfdata *p, struct reader_attr *a, uint64_t offset)
{
	struct perf_event_attr attr = {0};
	size_t in_file = (size_t)p->header.attr_size - sizeof(a->ids);
	int err = reader_pread(p, &attr, in_file < sizeof(attr) ? in_file : sizeof(attr),
			       offset);

	if (!err)
		err = reader_pread(p, &a->ids, sizeof(a->ids), offset + in_file);
	if (err)
		return err == -ENODATA ? -EINVAL : err;
	a->sample_type = attr.sample_type;
	a->config = attr.config;
	a->config1 = attr.config1;
	a->config2 = attr.config2;
	a->period = attr.sample_period;
	a->type = attr.type;
	a->sample_id_all = attr.sample_id_all;
	a->exclude_kernel = attr.exclude_kernel;
	a->exclude_user = attr.exclude_user;
	return 0;
}

/* How many u64 from the end of a sample id the event's id is; 0: not there. */
static uint32_t id_slot(const struct reader_attr *a)
{
	if (a->sample_type & PERF_SAMPLE_IDENTIFIER)
		return 1;
	if (!(a->sample_type & PERF_SAMPLE_ID))
		return 0;
	return 1u + !!(a->sample_type & PERF_SAMPLE_CPU) +
	       !!(a->sample_type & PERF_SAMPLE_STREAM_ID);
}

static int compare_ids(const void *a, const void *b)
{
	const struct reader_id *x = a, *y = b;

	return x->id < y->id ? -1 : x->id > y->id;
}

static int load_ids_of(struct perfdata *p, uint32_t attr)
{
	const struct perf_section *s = &p->attrs[attr].ids;
	size_t n = (size_t)(s->size / sizeof(uint64_t)), i;
	struct reader_id *bigger;
	uint64_t *ids;
	int err;

	if (s->size > p->file_size || n > IDS_MAX - p->nids)
		return -EINVAL;
	if (!n)
		return 0;
	ids = malloc(n * sizeof(*ids));
	bigger = reallocarray(p->ids, p->nids + n, sizeof(*p->ids));
	if (bigger)
		p->ids = bigger;
	err = ids && bigger ? reader_pread(p, ids, n * sizeof(*ids), s->offset) : -ENOMEM;
	for (i = 0; !err && i < n; i++)
		p->ids[p->nids++] = (struct reader_id){ids[i], attr};
	free(ids);
	return err == -ENODATA ? -EINVAL : err;
}

/* Only where events' sample ids differ does one need to know whose a record is. */
static int load_ids(struct perfdata *p)
{
	uint32_t i;
	int err;

	p->uniform = true;
	p->id_slot = p->nattrs ? id_slot(&p->attrs[0]) : 0;
	for (i = 1; i < p->nattrs; i++) {
		if ((p->attrs[i].sample_type ^ p->attrs[0].sample_type) &
			    SAMPLE_ID_BITS ||
		    p->attrs[i].sample_id_all != p->attrs[0].sample_id_all)
			p->uniform = false;
		if (id_slot(&p->attrs[i]) != p->id_slot)
			p->id_slot = 0;
	}
	if (p->uniform)
		return 0;
	for (i = 0; i < p->nattrs; i++) {
		err = load_ids_of(p, i);
		if (err)
			return err;
	}
	if (p->nids)
		qsort(p->ids, p->nids, sizeof(*p->ids), compare_ids);
	return 0;
}

int reader_load_attrs(struct perfdata *p)
{
	const struct perf_section *s = &p->header.attrs;
	uint64_t each = p->header.attr_size;
	uint32_t i;
	int err;

	if (each < ATTR_SIZE_MIN + sizeof(struct perf_section) || each > 65536 ||
	    s->offset > p->file_size || s->size > p->file_size - s->offset ||
	    s->size % each || s->size / each > ATTRS_MAX)
		return -EINVAL;
	p->nattrs = (uint32_t)(s->size / each);
	p->attrs = calloc(p->nattrs + 1, sizeof(*p->attrs));
	if (!p->attrs)
		return -ENOMEM;
	for (i = 0; i < p->nattrs; i++) {
		err = load_attr(p, &p->attrs[i], s->offset + i * each);
		if (err)
			return err;
	}
	return load_ids(p);
}

static const struct reader_attr *attr_of(const struct perfdata *p, size_t size)
{
	struct reader_id key, *found;

	if (!p->nattrs)
		return NULL;
	if (p->uniform)
		return &p->attrs[0];
	if (!p->id_slot || size < sizeof(struct perf_event_header) + p->id_slot * 8)
		return NULL;
	memcpy(&key.id, (const char *)p->record + size - p->id_slot * 8, sizeof(key.id));
	if (!key.id)
		return &p->attrs[0];
	found = p->nids ? bsearch(&key, p->ids, p->nids, sizeof(key), compare_ids) : NULL;
	return found ? &p->attrs[found->attr] : NULL;
}

size_t reader_sample_id(const struct perfdata *p, size_t size, struct perfdata_event *ev)
{
	const struct reader_attr *a = attr_of(p, size);
	const char *at;
	uint32_t pair[2];
	size_t n;

	if (!a || !a->sample_id_all)
		return 0;
	n = 8 * (size_t)__builtin_popcountll(a->sample_type & SAMPLE_ID_BITS);
	if (size < sizeof(struct perf_event_header) + n)
		return 0;
	at = (const char *)p->record + size - n;
	if (a->sample_type & PERF_SAMPLE_TID) {
		memcpy(pair, at, sizeof(pair));
		ev->pid = pair[0];
		ev->tid = pair[1];
		at += 8;
	}
	if (a->sample_type & PERF_SAMPLE_TIME) {
		memcpy(&ev->time, at, sizeof(ev->time));
		ev->has_time = true;
		at += 8;
	}
	at += a->sample_type & PERF_SAMPLE_ID ? 8 : 0;
	at += a->sample_type & PERF_SAMPLE_STREAM_ID ? 8 : 0;
	if (a->sample_type & PERF_SAMPLE_CPU)
		memcpy(&ev->cpu, at, sizeof(ev->cpu));
	return n;
}

/* ---- features ---- */

/* The string at *at of an area of n bytes; moves *at.  NULL: it does not fit. */
static const char *string_at(const uint8_t *area, size_t n, size_t *at)
{
	uint32_t len;
	const char *s;

	if (n - *at < sizeof(len))
		return NULL;
	memcpy(&len, area + *at, sizeof(len));
	if (len > n - *at - sizeof(len))
		return NULL;
	s = (const char *)area + *at + sizeof(len);
	*at += sizeof(len) + len;
	return memchr(s, 0, len) ? s : NULL;
}

/* CMDLINE: a count, then strings; joined by spaces in place (they only shrink). */
static char *join_strings(uint8_t *area, size_t n)
{
	size_t at = sizeof(uint32_t), to = 0, len;
	const char *s;
	uint32_t count;

	if (n < sizeof(count))
		return NULL;
	memcpy(&count, area, sizeof(count));
	while (count-- && (s = string_at(area, n, &at))) {
		len = strlen(s);
		memmove(area + to, s, len);
		to += len;
		area[to++] = count ? ' ' : 0;
	}
	if (!to)
		return NULL;
	area[to - 1] = 0;
	return (char *)area;
}

static bool is_there(const struct perfdata *p, const struct perf_section *s)
{
	return s->size <= p->file_size && s->offset <= p->file_size - s->size;
}

/* Keeps a feature's string.  A section that is damaged is left out. */
static int load_feature(struct perfdata *p, int bit, const struct perf_section *s)
{
	size_t at = 0;
	uint8_t *area;
	const char *text;
	int err;

	if (!s->size || s->size > FEATURE_MAX)
		return 0;
	area = malloc((size_t)s->size);
	if (!area)
		return -ENOMEM;
	err = reader_pread(p, area, (size_t)s->size, s->offset);
	if (err) {
		free(area);
		return err;
	}
	if (bit == PERF_FEAT_CMDLINE) {
		p->features[bit] = join_strings(area, (size_t)s->size);
		if (!p->features[bit])
			free(area);
		return 0;
	}
	text = string_at(area, (size_t)s->size, &at);
	if (text)
		p->features[bit] = strdup(text);
	free(area);
	return text && !p->features[bit] ? -ENOMEM : 0;
}

int reader_load_features(struct perfdata *p)
{
	static const uint8_t wanted[] = {PERF_FEAT_HOSTNAME, PERF_FEAT_OSRELEASE,
					 PERF_FEAT_ARCH,     PERF_FEAT_CPUDESC,
					 PERF_FEAT_CPUID,    PERF_FEAT_CMDLINE};
	uint64_t at = p->data_end;
	struct perf_section s;
	bool whole = true;
	int bit, err = 0;

	if (!p->info.complete)
		return 0;
	for (bit = 0; bit < PERF_FEAT_MAX && !err; bit++) {
		if (!(p->header.features[bit / 64] & 1ull << bit % 64))
			continue;
		err = reader_pread(p, &s, sizeof(s), at);
		at += sizeof(s);
		whole = whole && !err && is_there(p, &s);
		if (whole && memchr(wanted, bit, sizeof(wanted)))
			err = load_feature(p, bit, &s);
	}
	if (err == -ENODATA || !whole) { /* cut behind the data */
		p->info.complete = false;
		p->info.truncated_at = p->file_size;
	}
	if (err == -ENODATA)
		err = 0;
	p->info.hostname = p->features[PERF_FEAT_HOSTNAME];
	p->info.os_release = p->features[PERF_FEAT_OSRELEASE];
	p->info.arch = p->features[PERF_FEAT_ARCH];
	p->info.cpudesc = p->features[PERF_FEAT_CPUDESC];
	p->info.cpuid = p->features[PERF_FEAT_CPUID];
	p->info.cmdline = p->features[PERF_FEAT_CMDLINE];
	return err;
}

/* ---- AUXTRACE_INFO, TIME_CONV, and our own ---- */

static void set_time_conv(struct perfdata *p, uint64_t shift, uint64_t mult,
			  uint64_t zero)
{
	if (!mult || mult > UINT32_MAX || shift >= 64)
		return;
	p->tc = (struct time_conv){
		.zero = zero, .mult = (uint32_t)mult, .shift = (uint16_t)shift};
	p->info.time_zero = zero;
	p->info.time_mult = (uint32_t)mult;
	p->info.time_shift = (uint16_t)shift;
	p->info.has_time_conv = true;
}

const struct reader_attr *reader_attr_of_pmu(const struct perfdata *p, uint64_t pmu_type)
{
	uint32_t i;

	for (i = 0; i < p->nattrs; i++)
		if (p->attrs[i].type == pmu_type)
			return &p->attrs[i];
	return NULL;
}

/* IA32_RTIT_CTL as it must have been, from the attribute of the PMU's event. */
static uint64_t ctl_of(const struct perfdata *p, uint64_t pmu_type)
{
	const struct reader_attr *a = reader_attr_of_pmu(p, pmu_type);
	uint64_t ctl;

	if (!a)
		return 0;
	ctl = a->config & PT_CONFIG_ALL & ~PT_CONFIG_PT;
	if (!(a->config & PT_CONFIG_PT))
		ctl |= PT_CONFIG_BRANCH;
	if (!a->exclude_kernel)
		ctl |= PT_CTL_OS;
	if (!a->exclude_user)
		ctl |= PT_CTL_USER;
	return ctl;
}

static void pt_info(struct perfdata *p, const uint64_t *priv, size_t n)
{
	uint64_t v[PT_PRIV_COUNT] = {0};
	size_t room;

	memcpy(v, priv, (n < PT_PRIV_COUNT ? n : PT_PRIV_COUNT) * sizeof(v[0]));
	if (!p->info.ours)
		p->info.rtit_ctl = ctl_of(p, v[PT_PRIV_PMU_TYPE]);
	if (v[PT_PRIV_MTC_FREQ_BITS])
		p->info.mtc_freq =
			(uint32_t)((p->info.rtit_ctl & v[PT_PRIV_MTC_FREQ_BITS]) >>
				   __builtin_ctzll(v[PT_PRIV_MTC_FREQ_BITS]));
	p->info.tsc_ratio_num = (uint32_t)v[PT_PRIV_TSC_CTC_N];
	p->info.tsc_ratio_den = (uint32_t)v[PT_PRIV_TSC_CTC_D];
	p->info.nominal_ratio = (uint32_t)v[PT_PRIV_MAX_NONTURBO];
	p->info.per_cpu = v[PT_PRIV_PER_CPU];
	set_time_conv(p, v[PT_PRIV_TIME_SHIFT], v[PT_PRIV_TIME_MULT],
		      v[PT_PRIV_TIME_ZERO]);
	room = n > PT_PRIV_COUNT ? (n - PT_PRIV_COUNT) * sizeof(v[0]) : 0;
	if (v[PT_PRIV_FILTER_LEN] && v[PT_PRIV_FILTER_LEN] < room) {
		free(p->filter);
		p->filter = strndup((const char *)(priv + PT_PRIV_COUNT),
				    (size_t)v[PT_PRIV_FILTER_LEN]);
		p->info.filter = p->filter;
	}
}

/* What perf asked its PMU for; our own files say it themselves. */
static void spe_info(struct perfdata *p, const uint64_t *priv, size_t n)
{
	const struct reader_attr *a = n > SPE_PRIV_PMU_TYPE ?
				      reader_attr_of_pmu(p, priv[SPE_PRIV_PMU_TYPE]) : NULL;
	struct arm_spe_config2 *c = &p->info.spe;

	p->info.per_cpu = n > SPE_PRIV_PER_CPU && priv[SPE_PRIV_PER_CPU];
	if (!a || p->info.ours)
		return;
	c->first.interval = (uint32_t)a->period;
	c->first.level = a->exclude_kernel ? ARM_SPE_USER_ONLY :
			 a->exclude_user ? ARM_SPE_KERNEL_ONLY : ARM_SPE_KERNEL_AND_USER;
	c->flags = (a->config & SPE_CONFIG_TS ? 0 : ARM_SPE_NO_TIME) |
		   (a->config & SPE_CONFIG_JITTER ? 0 : ARM_SPE_NO_JITTER) |
		   (a->config & SPE_CONFIG_PA ? ARM_SPE_PHYS : 0);
	c->pmsfcr = (a->config & SPE_CONFIG_BRANCH ? ARM_SPE_FCR_B : 0) |
		    (a->config & SPE_CONFIG_LOAD ? ARM_SPE_FCR_LD : 0) |
		    (a->config & SPE_CONFIG_STORE ? ARM_SPE_FCR_ST : 0);
	c->pmsfcr |= c->pmsfcr ? ARM_SPE_FCR_FT : 0;
	c->pmsevfr = a->config1;
	c->pmslatfr = a->config2 & SPE_CONFIG2_LATENCY;
	c->pmsfcr |= (c->pmsevfr ? ARM_SPE_FCR_FE : 0) | (c->pmslatfr ? ARM_SPE_FCR_FL : 0);
}

void reader_spe(struct perfdata *p, const void *payload, uint32_t n)
{
	if (n >= sizeof(p->info.spe))
		memcpy(&p->info.spe, payload, sizeof(p->info.spe));
}

void reader_auxtrace_info(struct perfdata *p, const struct perf_auxtrace_info *info)
{
	static const char *const backends[] = {
		[PERF_AUXTRACE_INTEL_PT] = "pt",
		[PERF_AUXTRACE_CS_ETM] = "coresight",
		[PERF_AUXTRACE_ARM_SPE] = "spe",
	};

	if (p->have_auxtrace_info || info->header.size < sizeof(*info))
		return;
	p->have_auxtrace_info = true;
	if (info->type < sizeof(backends) / sizeof(backends[0]))
		p->info.backend = backends[info->type];
	if (info->type == PERF_AUXTRACE_INTEL_PT)
		pt_info(p, info->priv, (info->header.size - sizeof(*info)) / 8);
	else if (info->type == PERF_AUXTRACE_CS_ETM)
		reader_coresight(p, info->priv, (info->header.size - sizeof(*info)) / 8);
	else if (info->type == PERF_AUXTRACE_ARM_SPE)
		spe_info(p, info->priv, (info->header.size - sizeof(*info)) / 8);
}

void reader_time_conv(struct perfdata *p, const struct perf_time_conv *conv)
{
	if (conv->header.size >= PERF_TIME_CONV_MIN && !p->info.has_time_conv)
		set_time_conv(p, conv->shift, conv->mult, conv->zero);
}

void reader_ours(struct perfdata *p, const void *payload, uint32_t n)
{
	struct hwt_part_info info;

	if (p->info.ours || n < sizeof(info))
		return;
	memcpy(&info, payload, sizeof(info));
	info.backend[sizeof(info.backend) - 1] = 0;
	info.host[sizeof(info.host) - 1] = 0;
	p->ours = info;
	p->info.ours = true;
	p->info.host = p->ours.host;
	p->info.backend = p->ours.backend;
	p->info.rtit_ctl = info.rtit_ctl;
	p->info.caps = p->ours.caps;
	p->info.ncaps = info.ncaps < 32 ? info.ncaps : 32;
	p->info.nominal_ratio = (uint32_t)(info.time_hz / 100000000);
}

int reader_shown(struct perfdata *p, const void *text, uint32_t n)
{
	char *copy = strndup(text, n);

	if (!copy)
		return -ENOMEM;
	free(p->shown);
	p->shown = copy;
	p->info.shown = copy;
	return 0;
}

const struct perfdata_info *perfdata_info(struct perfdata *p)
{
	return &p->info;
}

uint64_t perfdata_time_to_ticks(struct perfdata *p, uint64_t ns)
{
	return p->info.has_time_conv ? time_conv_ticks(&p->tc, ns) : ns;
}

uint64_t perfdata_ticks_to_time(struct perfdata *p, uint64_t ticks)
{
	return p->info.has_time_conv ? time_conv_ns(&p->tc, ticks) : ticks;
}
