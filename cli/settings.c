/* SPDX-License-Identifier: BSD-2-Clause */
#include "settings.h"

#include "present/result_samples.h"
#include "present/text.h"

#include <hwt/coresight.h>
#include <hwt/pt.h>
#include <hwt/spe.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

void info_line(struct out *o, const char *what, const char *text)
{
	if (!text)
		return;
	out_printf(o, "%-12s", what);
	out_printable(o, text);
	out_char(o, '\n');
}

/* ---- spe ---- */

/* A register's filter, if it is on. */
static void filter_text(struct out *o, const char *what, bool on, uint64_t value)
{
	if (on)
		out_printf(o, "%-12s%s 0x%" PRIx64 "\n", "filter", what, value);
}

static void spe_text(struct out *o, const struct hwt_session_info *info)
{
	uint64_t fcr = info->spe.pmsfcr;

	out_printf(o, "%-12s%s%s%s\n", "levels", info->spe.user ? "user" : "",
		   info->spe.user && info->spe.kernel ? ", " : "",
		   info->spe.kernel ? "kernel" : "");
	if (info->spe.interval)
		out_printf(o, "%-12severy %u operations%s\n", "interval", info->spe.interval,
			   info->spe.jitter ? " and up to 255 more" : "");
	filter_text(o, "events", fcr & ARM_SPE_FCR_FE, info->spe.pmsevfr);
	filter_text(o, "not events", fcr & ARM_SPE_FCR_FNE, info->spe.pmsnevfr);
	if (fcr & ARM_SPE_FCR_FL)
		out_printf(o, "%-12slatency from %" PRIu64 " %s\n", "filter",
			   info->spe.pmslatfr,
			   text_form(info->spe.pmslatfr, "cycle", "cycles"));
	if (fcr & ARM_SPE_FCR_FT)
		out_printf(o, "%-12stypes%s%s%s\n", "filter", fcr & ARM_SPE_FCR_LD ? " load" : "",
			   fcr & ARM_SPE_FCR_ST ? " store" : "", fcr & ARM_SPE_FCR_B ? " branch" : "");
	if (info->modelled)
		info_line(o, "figures", RESULT_MODELLED);
}

static void spe_json(struct json *j, const struct hwt_session_info *info)
{
	json_bool(j, "modelled", info->modelled);
	json_uint(j, "interval", info->spe.interval);
	json_bool(j, "jitter", info->spe.jitter);
	json_bool(j, "user", info->spe.user);
	json_bool(j, "kernel", info->spe.kernel);
	json_hex(j, "pmsfcr", info->spe.pmsfcr);
	json_hex(j, "pmsevfr", info->spe.pmsevfr);
	json_hex(j, "pmsnevfr", info->spe.pmsnevfr);
	json_uint(j, "pmslatfr", info->spe.pmslatfr);
}

/* ---- bits of a register, in words ---- */

struct bit {
	uint64_t bit;
	bool	set;		/* say it where the bit is set, else where it is not */
	const char *what;
};

/* "a, b, "; returns its length. */
static size_t bits_text(char *text, size_t size, const struct bit *row, size_t nrows,
			uint64_t value)
{
	size_t i, n = 0;

	text[0] = '\0';
	for (i = 0; i < nrows; i++)
		if (!(value & row[i].bit) != row[i].set)
			n += (size_t)snprintf(text + n, size - n, "%s, ", row[i].what);
	return n;
}

/* ---- pt: IA32_RTIT_CTL ---- */

static uint64_t field(uint64_t ctl, int shift)
{
	return ctl >> shift & 15;
}

static void pt_text(struct out *o, const struct hwt_session_info *info)
{
	uint64_t ctl = info->rtit_ctl;
	char text[256], mtc[32];
	const struct bit row[] = {
		{ PT_CTL_USER, true, "user code" }, { PT_CTL_OS, true, "kernel code" },
		{ PT_CTL_BRANCHEN, false, "no branches" }, { PT_CTL_TSCEN, true, "TSC" },
		{ PT_CTL_MTCEN, true, mtc }, { PT_CTL_CYCEN, true, "CYC" },
		{ PT_CTL_DISRETC, true, "no return compression" },
	};
	size_t n;

	snprintf(mtc, sizeof(mtc), "MTC every 2^%" PRIu64 " ticks",
		 field(ctl, PT_CTL_MTCFREQ_SHIFT));
	n = bits_text(text, sizeof(text), row, sizeof(row) / sizeof(row[0]), ctl);
	snprintf(text + n, sizeof(text) - n, "PSB every %" PRIu64 "K",
		 UINT64_C(2) << field(ctl, PT_CTL_PSBFREQ_SHIFT));
	info_line(o, "unit", text);
}

static void pt_json(struct json *j, const struct hwt_session_info *info)
{
	json_hex(j, "rtit_ctl", info->rtit_ctl);
}

#define NO_TIMES	"there are no times: recorded with --no-tsc"

static const char *pt_coarse(const struct hwt_session_info *info)
{
	if (!info->ours)
		return NULL;
	if (!(info->rtit_ctl & PT_CTL_TSCEN))
		return NO_TIMES;
	if (info->rtit_ctl & (PT_CTL_MTCEN | PT_CTL_CYCEN))
		return NULL;
	return "times are coarse: recorded without --mtc and --cyc";
}

/* ---- coresight: TRCCONFIGR ---- */

static void coresight_text(struct out *o, const struct hwt_session_info *info)
{
	static const struct bit row[] = {
		{ CORESIGHT_TS, true, "timestamps" }, { CORESIGHT_CID, true, "context IDs" },
		{ CORESIGHT_CCI, true, "cycle counts" },
		{ CORESIGHT_BB, true, "branch broadcast" },
		{ CORESIGHT_RS, true, "return stack" },
		{ CORESIGHT_RS, false, "no return stack" },
	};
	char text[256];
	size_t n = bits_text(text, sizeof(text), row, sizeof(row) / sizeof(row[0]),
			     info->trcconfigr);

	text[n - 2] = '\0';
	info_line(o, "unit", text);
}

static void coresight_json(struct json *j, const struct hwt_session_info *info)
{
	json_hex(j, "trcconfigr", info->trcconfigr);
}

#define CORESIGHT_COARSE	"times are coarse: an ETM tells time where tracing begins and " \
				"at sync points; a lower --psb makes more of these"
#define CORESIGHT_CYCLES	"; its cycle counts are no times"

static const char *coresight_coarse(const struct hwt_session_info *info)
{
	/* perf may have had a counter ask for more timestamps. */
	if (!info->ours)
		return NULL;
	if (!(info->trcconfigr & CORESIGHT_TS))
		return NO_TIMES;
	return info->trcconfigr & CORESIGHT_CCI ? CORESIGHT_COARSE CORESIGHT_CYCLES :
						  CORESIGHT_COARSE;
}

/* ---- each technology ---- */

static const struct settings {
	const char *backend;
	void (*text)(struct out *o, const struct hwt_session_info *info);
	void (*json)(struct json *j, const struct hwt_session_info *info);
	const char *(*coarse)(const struct hwt_session_info *info);
} settings[] = {
	{ "pt", pt_text, pt_json, pt_coarse },
	{ "coresight", coresight_text, coresight_json, coresight_coarse },
	{ "spe", spe_text, spe_json, NULL },
};

static const struct settings *settings_of(const struct hwt_session_info *info)
{
	size_t i;

	for (i = 0; info->backend && i < sizeof(settings) / sizeof(settings[0]); i++)
		if (strcmp(settings[i].backend, info->backend) == 0)
			return &settings[i];
	return NULL;
}

void settings_text(struct out *o, const struct hwt_session_info *info)
{
	const struct settings *s = settings_of(info);

	if (s)
		s->text(o, info);
}

void settings_json(struct json *j, const struct hwt_session_info *info)
{
	const struct settings *s = settings_of(info);

	if (s)
		s->json(j, info);
}

const char *settings_coarse(const struct hwt_session_info *info)
{
	const struct settings *s = settings_of(info);

	return s && s->coarse ? s->coarse(info) : NULL;
}
