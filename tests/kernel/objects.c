/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The kernel's own code, in the guest: which objects a client is told of, that
 * their bytes are those in memory (/proc/kcore says the same), and that text as it
 * was read once, patched by the TEXT_POKE records since, is the text of now.
 */
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/bpf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "client.h"

#define TRACING "/sys/kernel/tracing/"
#define NOBJECTS 256
#define BUFSIZE	(64 * PAGE)

/*
 * An instruction behind those that the function tracer patches; something that is
 * no code (arm64's kallsyms has no data); what comes with tracing.  On arm64 the
 * tracer makes no trampolines, and hwt.ko's own probes take a page of slots.
 */
#ifdef __aarch64__
#define PROBED	"do_sys_openat2+16"
#define NO_CODE	(kallsyms("_etext") + 16 * PAGE)
#define GENERATED {"bpf_prog_"}
#else
#define PROBED	"do_sys_openat2+5"
#define NO_CODE	kallsyms("jiffies")
#define GENERATED {"bpf_prog_", "ftrace_trampoline", "kprobe_"}
#endif

struct object {
	uint64_t	addr, len;
	char		path[64];
};

struct objects {
	struct object	list[NOBJECTS];
	int		n;
};

/* Takes the KERNEL records that are there; returns how many objects are known. */
static int objects_take(struct client *c, struct objects *o)
{
	const struct hwt_rec *rec;
	const struct hwt_rec_kernel *k;

	while ((rec = client_next(c, false)) != NULL) {
		CHECK(rec->type != HWT_REC_LOST);
		if (rec->type != HWT_REC_KERNEL)
			continue;
		k = (const void *)(rec + 1);
		CHECK(o->n < NOBJECTS);
		o->list[o->n].addr = k->addr;
		o->list[o->n].len = k->len;
		snprintf(o->list[o->n].path, sizeof(o->list[0].path), "%s", k->path);
		o->n++;
	}
	return o->n;
}

/* The first at or after `from` whose name begins so; NULL: none. */
static const struct object *objects_find(const struct objects *o, int from, const char *name)
{
	for (; from < o->n; from++)
		if (!strncmp(o->list[from].path, name, strlen(name)))
			return &o->list[from];
	return NULL;
}

/* What the kernel's memory holds, by another way; -1: not to be had there. */
static int kcore_read(uint64_t addr, void *buf, size_t len)
{
	int fd = open("/proc/kcore", O_RDONLY), i, rc = -1;
	Elf64_Ehdr e;
	Elf64_Phdr p;

	CHECK_EQ(pread(fd, &e, sizeof(e), 0), sizeof(e));
	for (i = 0; i < e.e_phnum && rc; i++) {
		CHECK_EQ(pread(fd, &p, sizeof(p), e.e_phoff + i * sizeof(p)), sizeof(p));
		if (p.p_type == PT_LOAD && addr >= p.p_vaddr &&
		    addr + len <= p.p_vaddr + p.p_memsz)
			rc = pread(fd, buf, len, p.p_offset + addr - p.p_vaddr) ==
				     (ssize_t)len ? 0 : -1;
	}
	close(fd);
	return rc;
}

/* The object's code; the caller frees it. */
static uint8_t *code_read(struct client *c, uint64_t addr, uint64_t len)
{
	uint8_t *code = malloc(len);
	struct hwt_kernel_read r;
	uint64_t at;

	for (at = 0; at < len; at += r.done) {
		r = (struct hwt_kernel_read){.addr = addr + at, .len = len - at,
					     .buf = (uintptr_t)code + at};
		if (r.len > HWT_KERNEL_READ_MAX)
			r.len = HWT_KERNEL_READ_MAX;
		CHECK_EQ(request(c->node, HWT_IOC_KERNEL_READ, &r), 0);
		CHECK(r.done);
	}
	return code;
}

static void check_bytes(struct client *c, const struct object *o)
{
	uint8_t *code = code_read(c, o->addr, o->len), *memory = malloc(o->len);

	CHECK_EQ(kcore_read(o->addr, memory, o->len), 0);
	if (memcmp(code, memory, o->len))
		fail(__FILE__, __LINE__, o->path, (long)o->addr);
	free(code);
	free(memory);
}

static uint64_t kallsyms(const char *name)
{
	char *text = read_file("/proc/kallsyms"), want[80], *at;
	uint64_t value;

	snprintf(want, sizeof(want), " %s\n", name);
	at = strstr(text, want);
	CHECK(at);
	while (at > text && at[-1] != '\n')
		at--;
	value = strtoull(at, NULL, 16);
	free(text);
	CHECK(value);
	return value;
}

/* The kernel, and exactly the modules that /proc/modules has. */
static void case_list(void)
{
	static struct objects o;
	const struct object *text, *module;
	char *modules = read_file("/proc/modules"), *line, *rest = modules, name[64], path[72];
	struct client c;
	uint64_t addr;
	int n = 0, i;

	CHECK_EQ(client_alloc_cpus(&c, 1, BUFSIZE), 0);
	objects_take(&c, &o);
	text = objects_find(&o, 0, "kernel");
	CHECK(text);
	CHECK_EQ(text->addr, kallsyms("_stext"));
	CHECK_EQ(text->addr + text->len, kallsyms("_etext"));
	check_bytes(&c, text);
	while ((line = strsep(&rest, "\n")) && *line) {
		CHECK_EQ(sscanf(line, "%63s %*u %*u %*s %*s %lx", name, &addr), 2);
		snprintf(path, sizeof(path), "[%s]", name);
		module = objects_find(&o, 0, path);
		if (!module)
			fail(__FILE__, __LINE__, name, 0);
		CHECK_EQ(module->addr, addr);
		check_bytes(&c, module);
		n++;
	}
	for (i = 0; i < o.n; i++)
		n -= o.list[i].path[0] == '[';
	CHECK_EQ(n, 0);
	client_close(&c);
}

static void expect_read(struct client *c, uint64_t addr, uint64_t len, int rc, uint64_t done)
{
	char buf[256];
	struct hwt_kernel_read r = {addr, len, (uintptr_t)buf, 0};

	CHECK_EQ(request(c->node, HWT_IOC_KERNEL_READ, &r), rc);
	CHECK_EQ(r.done, done);
}

/* Only code, and what there is of it. */
static void case_bounds(void)
{
	struct client c;
	uint64_t end = kallsyms("_etext");

	CHECK_EQ(client_alloc_cpus(&c, 1, BUFSIZE), 0);
	expect_read(&c, NO_CODE, 8, -ENOENT, 0);
	expect_read(&c, 0x1000, 8, -ENOENT, 0);
	expect_read(&c, -1ull << 47, 8, -ENOENT, 0);
	expect_read(&c, -4ull, 8, -ENOENT, 0);
	expect_read(&c, end, 1, -ENOENT, 0);
	expect_read(&c, end - 100, 200, 0, 100);
	expect_read(&c, end - 100, 0, -EINVAL, 0);
	client_close(&c);
}

static void load_module(const char *path)
{
	int fd = open(path, O_RDONLY);

	CHECK(fd >= 0);
	CHECK_EQ(syscall(SYS_finit_module, fd, "", 0), 0);
	close(fd);
}

static void case_module(void)
{
	static struct objects o;
	struct client c, late;
	const struct object *module;
	int n;

	CHECK_EQ(client_alloc_cpus(&c, 1, BUFSIZE), 0);
	CHECK_EQ(client_alloc_cpus(&late, 2, BUFSIZE), 0);
	n = objects_take(&c, &o);
	CHECK(!objects_find(&o, 0, "[dummy]"));
	load_module("/lib/modules/dummy.ko");
	objects_take(&c, &o);
	module = objects_find(&o, n, "[dummy]");
	CHECK(module);
	CHECK_EQ(module->addr + module->len > kallsyms("dummy_setup\t[dummy]"), 1);
	check_bytes(&c, module);
	CHECK_EQ(syscall(SYS_delete_module, "dummy", O_NONBLOCK), 0);
	expect_read(&c, module->addr, 16, -ENOENT, 0);
	client_close(&c);
	client_close(&late);
}

static void bpf_load(void)
{
	static const struct bpf_insn code[] = {
		{.code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = 0, .imm = 1},
		{.code = BPF_JMP | BPF_EXIT},
	};
	union bpf_attr attr = {
		.prog_type = BPF_PROG_TYPE_SOCKET_FILTER,
		.insns = (uintptr_t)code,
		.insn_cnt = 2,
		.license = (uintptr_t)"GPL",
		.prog_name = "hwt_test",
	};

	/* Stays loaded as long as this process. */
	CHECK(syscall(SYS_bpf, BPF_PROG_LOAD, &attr, sizeof(attr)) >= 0);
}

/* What the kernel generates: told when it comes, and listed when it is there. */
static void case_generated(void)
{
	static const char *const names[] = GENERATED;
	static struct objects before, after;
	const struct object *o;
	struct client c, late;
	size_t i;

	CHECK_EQ(client_alloc_cpus(&c, 1, BUFSIZE), 0);
	objects_take(&c, &before);
	memset(&before, 0, sizeof(before));
	bpf_load();
	write_file(TRACING "set_ftrace_filter", "vfs_open");
	write_file(TRACING "current_tracer", "function");
	write_file(TRACING "kprobe_events", "p:hwt_slot " PROBED);
	write_file(TRACING "events/kprobes/hwt_slot/enable", "1");
	objects_take(&c, &before);
	CHECK_EQ(client_alloc_cpus(&late, 2, BUFSIZE), 0);
	objects_take(&late, &after);
	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		fprintf(stderr, "%s\n", names[i]);
		o = objects_find(&before, 0, names[i]);
		CHECK(o);
		check_bytes(&c, o);
		o = objects_find(&after, 0, names[i]);
		CHECK(o);
		check_bytes(&late, o);
	}
	write_file(TRACING "events/kprobes/hwt_slot/enable", "0");
	write_file(TRACING "current_tracer", "nop");
	client_close(&late);
	client_close(&c);
}

static long apply_pokes(struct client *c, uint8_t *text, uint64_t addr, uint64_t len)
{
	const struct hwt_rec_code *poke;
	const struct hwt_rec *rec;
	long n = 0;

	while ((rec = client_next(c, false)) != NULL) {
		CHECK(rec->type != HWT_REC_LOST);
		if (rec->type != HWT_REC_TEXT_POKE)
			continue;
		poke = (const void *)(rec + 1);
		if (poke->addr < addr || poke->addr + poke->len > addr + len)
			continue;
		memcpy(text + (poke->addr - addr), poke->bytes, poke->len);
		n++;
	}
	return n;
}

/* The first byte of `text` that is not as it is now; len: none. */
static uint64_t differs(struct client *c, const uint8_t *text, uint64_t addr, uint64_t len)
{
	uint8_t *now = code_read(c, addr, len);
	uint64_t i = 0;

	while (i < len && text[i] == now[i])
		i++;
	free(now);
	return i;
}

/*
 * Text and its patches are the text of now.  The kernel's optimizer of probes works
 * by itself, also between a look at the text and one at the records: look again.
 */
static void check_pokes(struct client *c, uint8_t *text, uint64_t addr, uint64_t len,
			const char *what)
{
	long n = apply_pokes(c, text, addr, len);
	uint64_t at;
	int tries;

	for (tries = 0; (at = differs(c, text, addr, len)) < len; tries++) {
		if (tries == 20)
			fail(__FILE__, __LINE__, what, (long)(addr + at));
		usleep(100000);
		n += apply_pokes(c, text, addr, len);
	}
	fprintf(stderr, "%s: %ld patches\n", what, n);
	CHECK(n > 0);
}

static void case_pokes(void)
{
	uint64_t addr = kallsyms("_stext"), len = kallsyms("_etext") - addr;
	struct client c;
	uint8_t *text;

	CHECK_EQ(client_alloc_cpus(&c, 1, BUFSIZE), 0);
	text = code_read(&c, addr, len);
	write_file("/proc/sys/kernel/sched_schedstats", "1");
	check_pokes(&c, text, addr, len, "static key on");
	write_file("/proc/sys/kernel/sched_schedstats", "0");
	check_pokes(&c, text, addr, len, "static key off");
	write_file(TRACING "kprobe_events", "p:hwt_poke " PROBED);
	write_file(TRACING "events/kprobes/hwt_poke/enable", "1");
	usleep(300000);	/* the kernel's optimizer makes it a jump meanwhile, or later */
	check_pokes(&c, text, addr, len, "kprobe on");
	write_file(TRACING "events/kprobes/hwt_poke/enable", "0");
	check_pokes(&c, text, addr, len, "kprobe off");
	write_file(TRACING "set_ftrace_filter", "vfs_open");
	write_file(TRACING "current_tracer", "function");
	check_pokes(&c, text, addr, len, "function tracer on");
	write_file(TRACING "current_tracer", "nop");
	check_pokes(&c, text, addr, len, "function tracer off");
	free(text);
	client_close(&c);
}

/* CPU 1 goes and comes back while it is traced. */
static void case_hotplug(void)
{
	static const char online[] = "/sys/devices/system/cpu/cpu1/online";
	struct client c;
	uint64_t left;
	int i;

	CHECK_EQ(client_alloc_cpus(&c, 2, BUFSIZE), 0);
	CHECK_EQ(client_config(&c, 0, 0, 0), 0);
	CHECK_EQ(client_start(&c), 0);
	write_file(online, "0");
	left = client_position(&c, 1);
	CHECK(left);
	usleep(20000);
	CHECK_EQ(client_position(&c, 1), left);
	write_file(online, "1");
	for (i = 0; i < 10000 && client_position(&c, 1) == left; i++)
		usleep(1000);
	CHECK(client_position(&c, 1) > left);
	write_file(online, "0");
	CHECK_EQ(client_stop(&c), 0);
	CHECK_EQ(client_start(&c), -ENXIO);
	write_file(online, "1");
	left = client_position(&c, 1);
	CHECK_EQ(client_start(&c), 0);
	CHECK_EQ(client_stop(&c), 0);
	CHECK(client_position(&c, 1) > left);
	CHECK_EQ(client_start(&c), 0);
	write_file(online, "0");
	client_close(&c);
	write_file(online, "1");
}

/* Of two CPUs that are traced one goes, whichever: the other's trace goes on. */
static void case_hotplug_both(void)
{
	char online[64];
	struct client c;
	uint64_t left;
	int cpu, i;

	CHECK_EQ(client_alloc_cpus(&c, 3, BUFSIZE), 0);
	CHECK_EQ(client_config(&c, 0, 0, 0), 0);
	CHECK_EQ(client_start(&c), 0);
	for (cpu = 0; cpu < 2; cpu++) {
		snprintf(online, sizeof(online), "/sys/devices/system/cpu/cpu%d/online", cpu);
		if (access(online, F_OK))
			continue;	/* one that cannot */
		write_file(online, "0");
		left = client_position(&c, !cpu);
		for (i = 0; i < 10000 && client_position(&c, !cpu) == left; i++)
			usleep(1000);
		CHECK(client_position(&c, !cpu) > left);
		write_file(online, "1");
	}
	CHECK_EQ(client_stop(&c), 0);
	left = client_position(&c, 0);
	usleep(20000);
	CHECK_EQ(client_position(&c, 0), left);
	client_close(&c);
}

int main(int argc, char **argv)
{
	static const struct test_case cases[] = {
		{"list", case_list},
		{"bounds", case_bounds},
		{"module", case_module},
		{"generated", case_generated},
		{"pokes", case_pokes},
		{"hotplug", case_hotplug},
		{"hotplug-both", case_hotplug_both},
	};

	return cases_run(cases, sizeof(cases) / sizeof(cases[0]), argc, argv);
}
