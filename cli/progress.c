/* SPDX-License-Identifier: BSD-2-Clause */
#include "progress.h"

#include <stdio.h>
#include <time.h>
#include <unistd.h>

static struct {
	const char	*what;		/* NULL: not running */
	uint64_t	total;
	uint64_t	started, shown;	/* ms */
	unsigned int	calls;
	bool		enabled, visible;
} progress;

static uint64_t now_ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000 + (uint64_t)ts.tv_nsec / 1000000;
}

void progress_start(const char *what, uint64_t total, bool listing)
{
	progress.what = what;
	progress.total = total;
	progress.started = progress.shown = now_ms();
	progress.calls = 0;
	progress.visible = false;
	progress.enabled = isatty(STDERR_FILENO) && !(listing && isatty(STDOUT_FILENO));
}

void progress_at(uint64_t done)
{
	uint64_t now, elapsed;
	unsigned int percent;

	if (!progress.enabled || !progress.what || (progress.calls++ & 0x3f))
		return;
	now = now_ms();
	elapsed = now - progress.started;
	if (elapsed < 1000 || now - progress.shown < 200)
		return;
	progress.shown = now;
	progress.visible = true;
	percent = progress.total ? (unsigned int)(done * 100.0 / (double)progress.total) : 0;
	fprintf(stderr, "\r%s: %u %% after %u s", progress.what, percent,
		(unsigned int)(elapsed / 1000));
}

void progress_clear(void)
{
	if (progress.visible)
		fputs("\r\033[K", stderr);
	progress.visible = false;
}

void progress_end(void)
{
	progress_clear();
	progress.what = NULL;
}
