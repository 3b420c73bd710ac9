/* SPDX-License-Identifier: BSD-2-Clause */
/* The subcommands, each in cmd_NAME.c. */
#ifndef CLI_COMMANDS_H
#define CLI_COMMANDS_H

#include "command.h"

extern const struct command record_cmd, report_cmd, calls_cmd, script_cmd, dump_cmd,
	export_cmd, info_cmd, list_cmd, help_cmd;

#endif
