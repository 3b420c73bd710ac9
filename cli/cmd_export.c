/* SPDX-License-Identifier: BSD-2-Clause */
#include "commands.h"
#include "present/text.h"
#include "recording.h"

#include <errno.h>
#include <string.h>

struct export_values {
	struct recording_values recording;
};
static const struct export_values defaults = { .recording = RECORDING_DEFAULTS };

static const struct option export_opts[] = {
	{ 'i', "input", "FILE", OPTION_STRING,
	  OPTION_AT(struct export_values, recording.input),
	  .help = "The recording (default: " DEFAULT_RECORDING ")" },
	{ 0 }
};

static int export_to(struct recording *rec, const char *folder)
{
	int err = hwt_session_export(rec->session, folder);
	char line[4096];

	if (err == -ENODATA)
		return failure("the recording has no kernel code: perf script reads it as it is");
	if (err)
		return failure("%s: %s", text_printable(line, sizeof(line), folder),
			       strerror(-err));
	return EXIT_OK;
}

static int export_run(const struct command *self, void *values, int noperands,
		      char **operands)
{
	struct export_values *v = values;
	struct recording rec = { 0 };
	int status;

	if (!noperands)
		return failure("FOLDER is missing; see hwt export --help");
	status = recording_open(&rec, &v->recording);
	if (status)
		return status;
	status = export_to(&rec, operands[0]);
	recording_discard(&rec);
	return status;
}

const struct command export_cmd = {
	.name = "export",
	.summary = "Lay out a recording of CPUs for perf, with the kernel's code",
	.operands = "FOLDER",
	.max_operands = 1,
	.usage_status = EXIT_FAILED,
	.options = export_opts,
	.defaults = &defaults,
	.size = sizeof(struct export_values),
	.run = export_run,
};
