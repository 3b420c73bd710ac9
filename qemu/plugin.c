// SPDX-License-Identifier: BSD-2-Clause
#include "plugin.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "block.h"
#include "process.h"
#include "syscalls.h"
#include "system.h"
#include "vcpu.h"
#include "window.h"

QEMU_PLUGIN_EXPORT int qemu_plugin_version = 1;

struct plugin vtu = {
	.lock = PTHREAD_MUTEX_INITIALIZER,
	.map_order = PTHREAD_MUTEX_INITIALIZER,
};

static const struct guest_arch *const guests[] = {&guest_x86_64, &guest_aarch64};

static void say(const char *fmt, va_list ap)
{
	char line[512];

	vsnprintf(line, sizeof(line), fmt, ap);
	dprintf(STDERR_FILENO, "hwt-vtu: %s\n", line);
}

void plugin_warn(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	say(fmt, ap);
	va_end(ap);
}

void plugin_refuse(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	say(fmt, ap);
	va_end(ap);
	_exit(1);
}

struct options {
	int owner, window, dram, exec;
};

static bool parse_name(const char *hex)
{
	size_t i, n = strlen(hex) / 2;

	for (i = 0; i < n && i < VTU_NAME_MAX; i++)
		if (sscanf(hex + 2 * i, "%2hhx", (unsigned char *)&vtu.name[i]) != 1)
			return false;
	return hex[2 * i] == 0;
}

static bool parse_option(struct options *o, const char *arg)
{
	static const struct {
		const char *name;
		size_t offset;
	} table[] = {
		{"owner=", offsetof(struct options, owner)},
		{"window=", offsetof(struct options, window)},
		{"dram=", offsetof(struct options, dram)},
		{"exec=", offsetof(struct options, exec)},
	};
	char *end;
	size_t i;
	long n;

	if (!strncmp(arg, "name=", 5))
		return parse_name(arg + 5);
	for (i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
		size_t len = strlen(table[i].name);

		if (strncmp(arg, table[i].name, len))
			continue;
		n = strtol(arg + len, &end, 10);
		if (*end || end == arg + len || n < 0 || n > INT32_MAX)
			return false;
		*(int *)((char *)o + table[i].offset) = (int)n;
		return true;
	}
	return false;
}

/* The owner's descriptor, through /proc: it was never inherited. */
static int open_owners(int owner, int fd)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/fd/%d", owner, fd);
	return open(path, O_RDWR | O_CLOEXEC);
}

/* Maps the window and closes the descriptors: the guest shall not find them. */
static int attach(struct options *o)
{
	int err;

	if (o->exec) {
		o->window = open_owners(o->owner, o->window);
		o->dram = open_owners(o->owner, o->dram);
	}
	err = window_map(o->window, o->dram);
	close(o->window);
	close(o->dram);
	return err;
}

static const char *check_emulator(const struct qemu_info *info)
{
	size_t i;

	if (info->version.cur < 1)
		return "this emulator's plugin interface is too old";
	for (i = 0; i < sizeof(guests) / sizeof(guests[0]); i++)
		if (!strcmp(guests[i]->name, info->target_name))
			vtu.guest = guests[i];
	if (!vtu.guest)
		return "programs of this architecture cannot be traced";
	guest_address_bits = ~vtu.guest->tag_bits;
	return NULL;
}

/*
 * Others look at /proc/PID/environ, the program itself too: the strings there get
 * their names back.  The emulator, which has copied them for the program already,
 * must not find them later.
 */
static void restore_own_environment(void)
{
	char **from, **to;

	for (from = to = environ; *from; from++)
		if (!vtu_env_restore(*from))
			*to++ = *from;
	*to = NULL;
}

/*
 * The owner has gone since the exec that led here.  The program runs as what is
 * executed under an emulator without a plugin: on the machine itself, with the
 * names that this emulator's copy of the environment hides.
 */
static void run_untraced(void)
{
	char line[128 << 10], *argv[4096], *at, *end, *path = NULL;
	int fd = open("/proc/self/cmdline", O_RDONLY | O_CLOEXEC), argc = 0;
	ssize_t n = fd < 0 ? 0 : read(fd, line, sizeof(line) - 1);
	char **e;

	close(fd);
	if (n <= 0 || n == (ssize_t)sizeof(line) - 1)
		return;		/* longer than that: it stays in the emulator */
	line[n] = 0;
	for (at = line, end = line + n; at < end && strcmp(at, "-0"); at += strlen(at) + 1)
		;
	for (at += 3; at < end && argc < 4095; at += strlen(at) + 1) {
		if (argc == 1 && !path)
			path = at;
		else
			argv[argc++] = at;
	}
	argv[argc] = NULL;
	for (e = environ; *e; e++)
		vtu_env_restore(*e);
	if (path && at >= end)
		execve(path, argv, environ);
}

static struct options parse_options(int argc, char **argv)
{
	struct options o = {-1, -1, -1, 0};
	int i;

	for (i = 0; i < argc; i++)
		if (!parse_option(&o, argv[i]))
			plugin_refuse("bad option '%s'", argv[i]);
	if (o.owner < 0 || o.window < 0 || o.dram < 0)
		plugin_refuse("owner=, window= and dram= must be given; use hwt(8)");
	return o;
}

/* The unit behind the window; err: what mapping the window said. */
static void find_unit(int err)
{
	if (err == -EPROTO)
		plugin_refuse("the trace window is of another version of hwt");
	if (err)
		plugin_refuse("cannot map the trace window: %s", strerror(-err));
	vtu.unit = unit_find(vtu.window->unit_kind);
	if (!vtu.unit)
		plugin_refuse("an %s CPU has no trace unit of the kind that is asked for",
			      vtu.guest->name);
}

QEMU_PLUGIN_EXPORT int qemu_plugin_install(qemu_plugin_id_t id,
					   const struct qemu_info *info, int argc,
					   char **argv)
{
	const char *why = check_emulator(info);
	struct options o;
	int err;

	if (why)
		plugin_refuse("%s", why);
	if (info->system_emulation) {
		system_install(id, info, argc, argv);
		return 0;
	}
	o = parse_options(argc, argv);
	vtu.id = id;
	vtu.pid = getpid();
	vtu.owner_pid = o.owner;
	vtu.exec_tid = o.exec;
	err = attach(&o);
	if (err && o.exec) {
		run_untraced();
		return 0;
	}
	restore_own_environment();
	find_unit(err);
	syscalls_init();
	process_init();
	process_exec_init();
	qemu_plugin_register_vcpu_init_cb(id, vcpu_init);
	qemu_plugin_register_vcpu_tb_trans_cb(id, block_translate);
	qemu_plugin_register_flush_cb(id, block_flush);
	qemu_plugin_register_vcpu_syscall_cb(id, syscalls_enter);
	qemu_plugin_register_vcpu_syscall_ret_cb(id, syscalls_return);
	return 0;
}
