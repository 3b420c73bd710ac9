/* SPDX-License-Identifier: BSD-2-Clause */
/* Opening a host, and running a program under the recorder: record and hwt(8). */
#ifndef CLI_HOST_H
#define CLI_HOST_H

#include "record/record.h"

/*
 * EXIT_OK, or EXIT_FAILED with a message.  needs_kernel: the option that only the
 * kernel host can do, or NULL.
 */
int host_open(const struct hwt_host_options *options, const char *needs_kernel,
	      struct hwt_host **out);

/*
 * record_run with a program on the terminal: signals that others send to hwt
 * are passed on to it, hwt itself lives on.  Fills options->host and images.
 * Prints the error; what record_run says.
 */
int host_record(struct hwt_host *host, struct record_options *options,
		struct record_result *result);
/* EXIT_FAILED with a message where `output` (or NULL) is the program's own file. */
int host_check_output(const char *output, const char *path);
/* As a shell's: 128 + N where signal N ended it. */
int host_exit_status(int wait_status);
/* For a target that never ran: 127, 126 or 125. */
int host_failure_status(int err, const struct record_result *result);
/* A list of CPUs; EXIT_OK, or EXIT_FAILED with a message about `option`. */
int host_cpus(const char *option, const char *text, cpu_set_t *out);
/*
 * Pairs -i with -f; EXIT_OK or EXIT_FAILED with a message.  cpus: CPU mode, which
 * cpu_option asks for.
 */
struct option_list;
int host_filters(const struct option_list *images, const struct option_list *functions,
		 const char *cpu_option, bool cpus, struct record_filter *filters, int *n);
/*
 * A message for each filter whose image or function never came; true if that
 * was all of them, so that nothing was traced.
 */
bool host_filters_missed(const struct record_options *options,
			 const struct record_result *result);

#endif
