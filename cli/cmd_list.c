/* SPDX-License-Identifier: BSD-2-Clause */
#include "commands.h"
#include <hwt/libhwt.h>
#include "present/json.h"
#include "present/text.h"
#include "probe.h"
#include "recording.h"
#include "session/unit_features.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct list_values {
	int	json;
};

static const struct option list_opts[] = {
	{ 0, "json", .kind = OPTION_FLAG, .value = 1,
	  .offset = OPTION_AT(struct list_values, json), .help = "Machine-readable output" },
	{ 0 }
};

static const struct { unsigned int bit; const char *name; } modes[] = {
	{ HWT_MODE_THREAD, "thread" }, { HWT_MODE_CPU, "cpu" },
};
static const char *const scopes[] = { "thread", "cpu", "context" };

static const char *scope_name(uint32_t scope)
{
	return scope < sizeof(scopes) / sizeof(scopes[0]) ? scopes[scope] : "?";
}

static void features_text(struct out *o, const struct hwt_query *q, const char *problem)
{
	const char *name;
	int at = 0, n = 0;

	out_str(o, "  capabilities:  ");
	if (!q->ncaps) {
		out_str(o, " known once a program runs");
		if (problem) {
			out_str(o, ": ");
			out_printable(o, problem);
		}
	}
	while ((name = hwt_feature(q, &at)))
		out_printf(o, "%s%s", n++ ? ", " : " ", name);
	out_char(o, '\n');
}

static void backend_text(struct out *o, const struct hwt_query *q, int err, const char *problem)
{
	size_t i;

	out_printf(o, "%.32s: ", q->name);
	if (err == -ENXIO) {
		out_str(o, "no trace unit here\n");
		return;
	}
	out_printf(o, "%.64s (host: %.32s)\n  modes:         ", q->unit, q->host);
	for (i = 0; i < sizeof(modes) / sizeof(modes[0]); i++)
		if (q->modes & (1u << modes[i].bit))
			out_printf(o, " %s", modes[i].name);
	out_printf(o, "\n  a buffer for:   each %s\n", scope_name(q->scope));
	features_text(o, q, problem);
	if (q->ncaps)
		out_printf(o, "  address ranges: %u\n", q->nranges);
	out_printf(o, "  ring mode:      %s\n", q->flags & HWT_QUERY_RING ? "yes" : "no");
	out_printf(o, "  clock:          %llu Hz\n", (unsigned long long)q->time_hz);
}

static void features_json(struct json *j, const struct hwt_query *q, const char *problem)
{
	const char *name;
	int at = 0;
	uint32_t i;

	json_array(j, "features");
	while ((name = hwt_feature(q, &at)))
		json_string(j, NULL, name);
	json_array_end(j);
	json_array(j, "capabilities");
	for (i = 0; i < q->ncaps && i < 32; i++)
		json_uint(j, NULL, q->caps[i]);
	json_array_end(j);
	if (problem)
		json_string(j, "problem", problem);
}

static void backend_json(struct json *j, const struct hwt_query *q, int err, const char *problem)
{
	size_t i;

	json_object(j, NULL);
	json_string(j, "name", q->name);
	json_bool(j, "present", err == 0);
	if (err == 0) {
		json_string(j, "unit", q->unit);
		json_string(j, "host", q->host);
		json_array(j, "modes");
		for (i = 0; i < sizeof(modes) / sizeof(modes[0]); i++)
			if (q->modes & (1u << modes[i].bit))
				json_string(j, NULL, modes[i].name);
		json_array_end(j);
		json_string(j, "scope", scope_name(q->scope));
		json_uint(j, "address_ranges", q->nranges);
		json_bool(j, "ring", q->flags & HWT_QUERY_RING);
		json_uint(j, "clock_hz", q->time_hz);
		features_json(j, q, problem);
	}
	json_object_end(j);
}

/* A host that may be there; the best first, as hwt_host_open chooses. */
struct listed {
	const char	*kind;
	struct hwt_host	*host;		/* NULL: see problem */
	struct hwt_dev	*dev;
	char		*problem;	/* malloc'd */
};
#define NHOSTS	2

/* One backend; a unit that comes only with a program is looked at with one. */
static void one_backend(const struct listed *l, struct hwt_query *q, int err, struct out *o,
			struct json *j)
{
	char *problem = NULL;

	if (!err && !q->ncaps && !hwt_target_execs_late(l->host))
		probe_backend(l->kind, q, &problem);
	q->name[sizeof(q->name) - 1] = q->unit[sizeof(q->unit) - 1] = '\0';
	q->host[sizeof(q->host) - 1] = '\0';
	if (j)
		backend_json(j, q, err, problem);
	else
		backend_text(o, q, err, problem);
	free(problem);
}

/* ENOENT ends the list; ENXIO is a backend without a unit.  j: NULL for text. */
static int backends(const struct listed *l, struct out *o, struct json *j)
{
	struct hwt_query q;
	uint32_t i;
	int err;

	for (i = 0;; i++) {
		q = (struct hwt_query){ .index = i };
		err = hwt_dev_ioctl(l->dev, HWT_IOC_QUERY, &q);
		if (err && err != -ENXIO)
			return err == -ENOENT ? 0 : err;
		one_backend(l, &q, err, o, j);
	}
}

static void open_listed(struct listed *l)
{
	struct hwt_host_options options = { .kind = l->kind };
	int err = hwt_host_open(&options, &l->host, &l->problem);

	if (!err)
		err = hwt_dev_open(l->host, "/dev/hwt", &l->dev);
	if (err && !l->problem)
		l->problem = strdup(strerror(-err));
}

static void close_listed(struct listed *l)
{
	if (l->dev)
		hwt_dev_close(l->dev);
	if (l->host)
		hwt_host_close(l->host);
	free(l->problem);
}

static int one_text(const struct listed *l, struct out *o, const char *note)
{
	out_printf(o, "host: %s%s\n\n", l->kind, note);
	if (l->dev)
		return backends(l, o, NULL);
	out_str(o, "not here: ");
	out_printable(o, l->problem ? l->problem : "out of memory");
	out_char(o, '\n');
	return 0;
}

/* The members of an object that is open. */
static int one_json(const struct listed *l, struct out *o, struct json *j)
{
	int err = 0;

	json_string(j, "host", l->kind);
	if (l->problem)
		json_string(j, "problem", l->problem);
	json_array(j, "backends");
	if (l->dev)
		err = backends(l, o, j);
	json_array_end(j);
	return err;
}

/* `best` first, for it is what programs are traced on. */
static int show(const struct listed hosts[NHOSTS], int best, bool as_json)
{
	struct json j;
	struct out o;
	int i, err, each;

	if (out_init(&o, STDOUT_FILENO))
		return failure("out of memory");
	json_init(&j, &o);
	if (as_json) {
		json_object(&j, NULL);
		err = one_json(&hosts[best], &o, &j);
		json_array(&j, "other_hosts");
	} else {
		err = one_text(&hosts[best], &o, " (the default)");
	}
	for (i = 0; i < NHOSTS; i++) {
		if (i == best)
			continue;
		if (as_json) {
			json_object(&j, NULL);
			each = one_json(&hosts[i], &o, &j);
			json_object_end(&j);
		} else {
			out_char(&o, '\n');
			each = one_text(&hosts[i], &o, "");
		}
		err = err ? err : each;
	}
	if (as_json) {
		json_array_end(&j);
		json_object_end(&j);
		json_newline(&j);
	}
	return finish_out(&o, err ? failure("/dev/hwt: %s", strerror(-err)) : EXIT_OK);
}

static int list_run(const struct command *self, void *values, int noperands,
		    char **operands)
{
	struct listed hosts[NHOSTS] = { { .kind = "kernel" }, { .kind = "embedded" } };
	const struct list_values *v = values;
	char line[1024];
	int i, best = NHOSTS, status;

	for (i = NHOSTS - 1; i >= 0; i--) {
		open_listed(&hosts[i]);
		if (hosts[i].dev)
			best = i;
	}
	if (best < NHOSTS)
		status = show(hosts, best, v->json);
	else
		status = failure("%s", text_printable(line, sizeof(line), hosts[NHOSTS - 1].problem));
	for (i = 0; i < NHOSTS; i++)
		close_listed(&hosts[i]);
	return status;
}

const struct command list_cmd = {
	.name = "list",
	.summary = "List hosts, backends and their capabilities",
	.operands = "",
	.usage_status = EXIT_FAILED,
	.options = list_opts,
	.size = sizeof(struct list_values),
	.run = list_run,
};
