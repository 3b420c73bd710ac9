// SPDX-License-Identifier: BSD-2-Clause
/* Birth and end of the embedded host. */
#include "embedded.h"
#include "../search.h"

#include <errno.h>
#include <libgen.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#ifndef HWT_PLUGIN_PATH
#define HWT_PLUGIN_PATH "/usr/local/lib/hwt/hwt-vtu.so"
#endif
#define QEMU_NAME	"qemu-x86_64"

static void on_wakeup(void *host)
{
	service_recheck(host);
}

/* $HWT_PLUGIN, beside a command that was not installed yet, where it was installed. */
static char *find_plugin(void)
{
	const char *env = getenv("HWT_PLUGIN");
	char exe[PATH_MAX], *file;
	ssize_t n;

	if (env && *env)
		return strdup(env);
	n = readlink("/proc/self/exe", exe, sizeof(exe) - 1);
	if (n > 0) {
		exe[n] = 0;
		if (asprintf(&file, "%s/../qemu/hwt-vtu.so", dirname(exe)) < 0)
			return NULL;
		if (access(file, R_OK) == 0)
			return file;
		free(file);
	}
	return strdup(HWT_PLUGIN_PATH);
}

int embedded_find_qemu(const char *name, char **file, char **error)
{
	int err = path_search(name, file);

	if (!err)
		return 0;
	if (err == -ENOMEM)
		return host_fail(error, err, "%s: %s", name, strerror(-err));
	return host_fail(error, -ENOENT,
			 "no %s on PATH: the virtual trace unit runs in it; "
			 "on Debian: apt install qemu-user",
			 name);
}

static int find_parts(struct embedded *e, const struct hwt_host_options *o, char **error)
{
	int err = embedded_find_qemu(o->qemu ? o->qemu : QEMU_NAME, &e->qemu, error);
	char *real;

	if (err)
		return err;
	e->qemu_given = o->qemu;
	e->backend = o->backend ? strdup(o->backend) : NULL;
	e->plugin = o->plugin ? strdup(o->plugin) : find_plugin();
	if (!e->plugin || (o->backend && !e->backend))
		return host_fail(error, -ENOMEM, "%s", strerror(ENOMEM));
	real = realpath(e->plugin, NULL);
	if (!real)
		return host_fail(error, -ENOENT,
				 "%s: the plugin with the virtual trace unit is "
				 "not there: %s",
				 e->plugin, strerror(errno));
	/* A traced process may be anywhere when it starts another one. */
	free(e->plugin);
	e->plugin = real;
	return 0;
}

static int set_options(struct embedded *e, const struct hwt_host_options *o, char **error)
{
	const char *log_dir = o->log_dir ? o->log_dir : getenv("HWT_TEST_LOG");
	struct vtu_header *h = e->window;

	if (o->follow)
		h->flags |= VTU_F_FOLLOW;
	if (o->clock_host)
		h->flags |= VTU_F_CLOCK_HOST;
	if (!log_dir)
		return 0;
	h->flags |= VTU_F_LOG;
	if (strlen(log_dir) >= sizeof(h->log_dir)) {
		*error = strdup("the log folder's name is too long");
		return -ENAMETOOLONG;
	}
	strcpy(h->log_dir, log_dir);
	return 0;
}

static int init_locks(struct embedded *e)
{
	pthread_condattr_t a;

	pthread_mutex_init(&e->lock, NULL);
	pthread_condattr_init(&a);
	pthread_condattr_setclock(&a, CLOCK_MONOTONIC);
	pthread_cond_init(&e->cond, &a);
	pthread_condattr_destroy(&a);
	return 0;
}

static int load_core(struct embedded *e)
{
	int err;

	e->core = hwt_load(&embedded_ops, e);
	if (!e->core)
		return -ENOMEM;
	hwt_set_wakeup_callback(e->core, on_wakeup);
	e->window->time_hz = 1000000000;	/* the model's clock: nominal nanoseconds */
	/* A TSC of 0 is "no time" to perf: a machine has been up for a while. */
	e->window->clock = e->window->time_hz;
	err = technologies_load(e);
	if (err)
		hwt_unload(e->core);
	return err;
}

/*
 * Sparse files, larger than a limit on file sizes may allow: what the user may
 * lift is lifted meanwhile.  The target has its limit as it was.
 */
static int make_memory(struct embedded *e)
{
	struct rlimit was, lifted = {RLIM_INFINITY, RLIM_INFINITY};
	int err;

	getrlimit(RLIMIT_FSIZE, &was);
	if (setrlimit(RLIMIT_FSIZE, &lifted)) {
		lifted.rlim_cur = lifted.rlim_max = was.rlim_max;
		setrlimit(RLIMIT_FSIZE, &lifted);
	}
	err = dram_init(&e->dram);
	if (!err) {
		err = blocks_init(e);
		if (err)
			dram_fini(&e->dram);
	}
	setrlimit(RLIMIT_FSIZE, &was);
	return err;
}

/* Each process takes some; programs begin with the limit as it was. */
static void lift_descriptors(struct embedded *e)
{
	struct rlimit all;

	getrlimit(RLIMIT_NOFILE, &e->files);
	all = (struct rlimit){e->files.rlim_max, e->files.rlim_max};
	setrlimit(RLIMIT_NOFILE, &all);
}

static void explain_memory(int err, char **error)
{
	const char *limit = err == -EFBIG ? "; the limit on file sizes (ulimit -f) is too low" :
			    err == -ENOMEM ? "; is there a limit on address space (ulimit -v)?" : "";

	if (asprintf(error, "making the trace memory: %s%s", strerror(-err), limit) < 0)
		*error = NULL;
}

int embedded_open(const struct hwt_host_options *options, void **out, char **error)
{
	struct embedded *e = calloc(1, sizeof(*e));
	int err = -ENOMEM;

	if (!e)
		return err;
	err = find_parts(e, options, error);
	if (err)
		goto err_parts;
	init_locks(e);
	err = make_memory(e);
	if (err) {
		explain_memory(err, error);
		goto err_parts;
	}
	err = set_options(e, options, error);
	if (err)
		goto err_blocks;
	err = load_core(e);
	if (err)
		goto err_blocks;
	err = service_start(e);
	if (err)
		goto err_core;
	lift_descriptors(e);
	*out = e;
	return 0;

err_core:
	technologies_unload(e);
	hwt_unload(e->core);
err_blocks:
	blocks_fini(e);
	dram_fini(&e->dram);
err_parts:
	free(e->backend);
	free(e->qemu);
	free(e->plugin);
	free(e);
	return err;
}

void embedded_close(void *host)
{
	struct embedded *e = host;
	struct hwt_cred cred;

	setrlimit(RLIMIT_NOFILE, &e->files);
	embedded_cred(&cred);
	/* While the service thread still answers: units stop, pauses end. */
	hwt_owner_exit(e->core, cred.owner);
	__atomic_store_n(&e->window->owner_gone, 1, __ATOMIC_SEQ_CST);
	service_stop(e);
	technologies_unload(e);
	hwt_unload(e->core);
	targets_fini(e);
	blocks_fini(e);
	dram_fini(&e->dram);
	pthread_cond_destroy(&e->cond);
	pthread_mutex_destroy(&e->lock);
	free(e->backend);
	free(e->qemu);
	free(e->plugin);
	free(e);
}
