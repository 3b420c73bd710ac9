/* SPDX-License-Identifier: BSD-2-Clause */
/* How a recording's trace unit was set up: text and JSON for each technology. */
#ifndef CLI_SETTINGS_H
#define CLI_SETTINGS_H

#include "present/json.h"
#include "present/out.h"
#include "session/session.h"

/* A line of `hwt info`: what, in a column, and the text; none where text is NULL. */
void info_line(struct out *o, const char *what, const char *text);
/* Nothing where the technology is not known. */
void settings_text(struct out *o, const struct hwt_session_info *info);
void settings_json(struct json *j, const struct hwt_session_info *info);
/*
 * That the time of a call may be that of a sync point long before, or is not known, and
 * why; NULL: it is exact.
 */
const char *settings_coarse(const struct hwt_session_info *info);

#endif
