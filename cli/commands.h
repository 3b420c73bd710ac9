/* SPDX-License-Identifier: BSD-2-Clause */
/* The subcommands, each in cmd_NAME.c. */
#ifndef CLI_COMMANDS_H
#define CLI_COMMANDS_H

#include "command.h"

extern const struct command help_cmd;

#endif
