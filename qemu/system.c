// SPDX-License-Identifier: BSD-2-Clause
#include "system.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "block.h"

#define PAGE 4096u

struct system_cpu *system_cpus[MAX_VCPUS];
const char *system_log_dir;
bool system_log_ready;

static const char *ram_path, *window_path, *unit_name;
static unsigned int max_cpus;
static uint64_t started;

void *system_ram(uint64_t pa, uint64_t len)
{
	uint64_t offset, left;

	if (!vtu.guest->system->ram_offset(pa, vtu.dram_size, &offset, &left) ||
	    len > left)
		return NULL;
	return vtu.dram + offset;
}

bool system_read(const struct guest_env *env, uint64_t va, void *buf, size_t n)
{
	uint8_t *to = buf;
	const void *from;
	uint64_t pa;
	size_t k;

	for (; n; va += k, to += k, n -= k) {
		k = PAGE - va % PAGE < n ? PAGE - va % PAGE : n;
		if (!vtu.guest->system->translate(env, va, &pa))
			return false;
		from = system_ram(pa, k);
		if (!from)
			return false;
		memcpy(to, from, k);
	}
	return true;
}

uint64_t system_clock(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec - started;
}

static void *map(const char *option, const char *path, uint64_t *size)
{
	int fd = open(path, O_RDWR | O_CLOEXEC);
	struct stat st;
	void *p = MAP_FAILED;

	if (fd >= 0 && !fstat(fd, &st)) {
		*size = (uint64_t)st.st_size;
		p = mmap(NULL, *size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	}
	if (p == MAP_FAILED)
		plugin_refuse("%s%s: %s; give the file that a memory-backend-file with "
			      "share=on has",
			      option, path, strerror(errno));
	close(fd);
	madvise(p, *size, MADV_DONTDUMP);
	return p;
}

/* The driver finds a unit once the magic is there. */
static void write_header(struct vtu_header *h)
{
	memset(h, 0, VTU_HEADER_SIZE);
	h->version = VTU_VERSION;
	h->header_size = VTU_HEADER_SIZE;
	h->nblocks = max_cpus;
	h->block_size = VTU_BLOCK_SIZE;
	h->unit_kind = vtu.unit->kind;
	h->flags = VTU_F_SYSTEM | (system_log_dir ? VTU_F_LOG : 0);
	h->dram_size = vtu.dram_size;
	h->time_hz = 1000000000;
	vtu.unit->describe(h);
	snprintf(h->unit_name, sizeof(h->unit_name), "%s, virtual (QEMU machine)",
		 vtu.unit->name);
	__atomic_store_n(&h->magic, VTU_MAGIC, __ATOMIC_RELEASE);
}

/* Only now have the machine's memory backends made their files. */
static void attach(void)
{
	uint64_t need = VTU_WINDOW_SIZE(max_cpus);

	vtu.dram = map("ram=", ram_path, &vtu.dram_size);
	vtu.window = map("reg=", window_path, &vtu.window_size);
	if (vtu.window_size < need)
		plugin_refuse(
			"reg=%s has %llu bytes, %u CPUs need %llu (and a power of two)",
			window_path, (unsigned long long)vtu.window_size, max_cpus,
			(unsigned long long)need);
	memset((char *)vtu.window + VTU_HEADER_SIZE, 0, need - VTU_HEADER_SIZE);
	started = 0;
	started = system_clock();
	write_header(vtu.window);
}

static void cpu_init(qemu_plugin_id_t id, unsigned int index)
{
	struct system_cpu *s;

	if (index >= max_cpus || index >= MAX_VCPUS)
		plugin_refuse("CPU %u of %u is one too many", index, max_cpus);
	pthread_mutex_lock(&vtu.lock);
	if (!vtu.window)
		attach();
	s = system_cpus[index];
	if (!s) {
		s = aligned_alloc(64, (sizeof(*s) + 63) & ~63ul);
		if (!s)
			plugin_refuse("no memory for a virtual CPU");
	}
	memset(s, 0, sizeof(*s));
	pthread_mutex_unlock(&vtu.lock);
	/* The machine makes its CPUs one after another. */
	system_cpu_init(s, index);
	pthread_mutex_lock(&vtu.lock);
	vtu.vcpus[index] = vtu.current[index] = &s->v;
	system_cpus[index] = s;
	if (index >= vtu.nvcpus)
		vtu.nvcpus = index + 1;
	pthread_mutex_unlock(&vtu.lock);
}

/* What the log and its tests rely on: nothing happened that was not understood. */
static void at_exit(qemu_plugin_id_t id, void *unused)
{
	uint32_t i;

	for (i = 0; i < vtu.nvcpus; i++)
		if (system_cpus[i] && system_cpus[i]->unexplained)
			plugin_warn(
				"CPU %u: %llu transfers of control were not understood",
				i, (unsigned long long)system_cpus[i]->unexplained);
}

static void register_callbacks(qemu_plugin_id_t id)
{
	qemu_plugin_register_vcpu_init_cb(id, cpu_init);
	qemu_plugin_register_vcpu_tb_trans_cb(id, block_translate);
	qemu_plugin_register_flush_cb(id, block_flush);
	qemu_plugin_register_atexit_cb(id, at_exit, NULL);
}

static void log_begins(qemu_plugin_id_t id)
{
	register_callbacks(id);
	system_log_ready = true;
}

void system_log_begin(void)
{
	static bool asked;

	if (!asked)
		qemu_plugin_reset(vtu.id, log_begins);
	asked = true;
}

/* By name; NULL: no machine of this architecture has it. */
static const struct unit_ops *choose_unit(void)
{
	static const struct {
		const char *name;
		enum vtu_unit_kind kind;
	} table[] = {
		{"pt", VTU_UNIT_PT},
		{"coresight", VTU_UNIT_CORESIGHT},
		{"spe", VTU_UNIT_SPE},
	};
	size_t i;

	if (!unit_name)
		return unit_find(VTU_UNIT_NONE);
	for (i = 0; i < sizeof(table) / sizeof(table[0]); i++)
		if (!strcmp(table[i].name, unit_name))
			return unit_find(table[i].kind);
	return NULL;
}

static bool parse_option(const char *arg)
{
	static const struct {
		const char *name;
		const char **value;
	} table[] = {
		{"ram=", &ram_path},
		{"reg=", &window_path},
		{"log=", &system_log_dir},
		{"unit=", &unit_name},
	};
	size_t i, len;

	for (i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
		len = strlen(table[i].name);
		if (strncmp(arg, table[i].name, len) || !arg[len])
			continue;
		*table[i].value = strdup(arg + len);
		return *table[i].value;
	}
	return false;
}

void system_install(qemu_plugin_id_t id, const struct qemu_info *info, int argc,
		    char **argv)
{
	int i;

	if (!vtu.guest->system)
		plugin_refuse("machines of this architecture cannot be traced");
	for (i = 0; i < argc; i++)
		if (!parse_option(argv[i]))
			plugin_refuse("bad option '%s'", argv[i]);
	if (!ram_path || !window_path)
		plugin_refuse(
			"ram= and reg= must be given: the files behind the machine's "
			"RAM and behind its ivshmem-plain device");
	max_cpus = (unsigned int)info->system.max_vcpus;
	if (max_cpus > VTU_MAX_BLOCKS)
		plugin_refuse("more than %u CPUs", VTU_MAX_BLOCKS);
	vtu.id = id;
	vtu.system = true;
	vtu.unit = choose_unit();
	if (!vtu.unit)
		plugin_refuse("an %s CPU has no trace unit '%s'", vtu.guest->name,
			      unit_name);
	vtu.pc_offset = vtu.guest->system->pc_offset;
	vtu.pid = getpid();
	register_callbacks(id);
}
