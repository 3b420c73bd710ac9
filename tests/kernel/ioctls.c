// SPDX-License-Identifier: BSD-2-Clause
/*
 * hwt(4)'s contract on real nodes: the table that every host answers, as root and
 * as a user; who may trace whom; what may be mapped; whose a context is.
 */
#include <fcntl.h>
#include <linux/capability.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../core/ioctl_table.h"
#include "client.h"

#define USER	1000
#define OTHER	1001

/* ---- the table ---- */

static int t_open(void *arg, const char *name, void **dev)
{
	int fd = open(name, O_RDWR | O_CLOEXEC);

	/* Descriptor 0 is no NULL. */
	*dev = (void *)(intptr_t)(fd + 1);
	return fd < 0 ? -errno : 0;
}

static int t_fd(void *dev)
{
	return (int)(intptr_t)dev - 1;
}

static int t_ioctl(void *arg, void *dev, unsigned long request, void *data)
{
	return ioctl(t_fd(dev), request, data) < 0 ? -errno : 0;
}

static void t_close(void *arg, void *dev)
{
	close(t_fd(dev));
}

static int t_spawn(void *arg, int *pid)
{
	*pid = child_sleeping(NULL);
	return 0;
}

static int t_kill(void *arg, int pid)
{
	child_end(pid);
	return 0;
}

static void table(void)
{
	static union technology_config good, lacking;
	const struct ioctl_host host = {
		.backend = technology.backend, .page = PAGE,
		.open = t_open, .ioctl = t_ioctl, .close = t_close,
		.spawn = t_spawn, .kill = t_kill,
		.config = &good, .config_size = technology.config_size,
		.config_version = technology.config_version, .refused = &lacking,
		.service = technology.service,
		.service_version = technology.service_version,
	};

	technology.configure(&good, false, 0, 0);
	technology.configure_lacking(&lacking);
	CHECK_EQ(ioctl_table_run(&host), 0);
}

static void table_user(void)
{
	as_user(USER, table);
}

/* ---- who may trace whom ---- */

/* A set-uid program's process, and one that only its user may look into. */
static const struct {
	const char *what;
	struct identity who;
	int want;
} targets[] = {
	{"the same user", {USER, USER, -1, true}, 0},
	{"another user", {OTHER, OTHER, -1, true}, EPERM},
	{"root", {0, 0, -1, true}, EPERM},
	{"in one group more", {USER, USER, OTHER, true}, EPERM},
	{"of another group", {USER, OTHER, -1, true}, EPERM},
	{"not dumpable", {USER, USER, -1, false}, EPERM},
};
static pid_t target;
static int target_want;

static void trace_target(void)
{
	struct client c;

	CHECK_EQ(client_alloc(&c, target, 4 * PAGE), -target_want);
	if (!target_want)
		client_close(&c);
}

static void credentials(void)
{
	size_t i;

	for (i = 0; i < sizeof(targets) / sizeof(targets[0]); i++) {
		printf("target: %s\n", targets[i].what);
		target = child_sleeping(&targets[i].who);
		target_want = targets[i].want;
		as_user(USER, trace_target);
		target_want = 0;
		trace_target();	/* root may */
		child_end(target);
	}
}

/* /bin/setuid-sleep is a copy of busybox with root's bit (ioctls.py). */
static void set_uid(void)
{
	target = fork();
	if (!target) {
		if (setgid(USER) || setuid(USER))
			_exit(1);
		execl("/bin/setuid-sleep", "sleep", "1000", NULL);
		_exit(1);
	}
	while (1) {	/* until it is another program */
		char link[64], path[64] = "";

		snprintf(link, sizeof(link), "/proc/%d/exe", target);
		if (readlink(link, path, sizeof(path) - 1) > 0 && strstr(path, "setuid"))
			break;
		usleep(1000);
	}
	target_want = EPERM;
	as_user(USER, trace_target);
	child_end(target);
}

static void cpu_mode(void)
{
	struct client c;

	CHECK_EQ(client_alloc_cpus(&c, 1, PAGE), -EPERM);
}

static void cpu_mode_user(void)
{
	as_user(USER, cpu_mode);
}

/* Of another user's process, and of the kernel. */
static void trace_by_capability(void)
{
	struct __user_cap_header_struct head = {.version = _LINUX_CAPABILITY_VERSION_3};
	struct __user_cap_data_struct caps[2] = {0};
	struct client c;

	CHECK_EQ(prctl(PR_SET_KEEPCAPS, 1), 0);
	CHECK_EQ(setresgid(USER, USER, USER), 0);
	CHECK_EQ(setresuid(USER, USER, USER), 0);
	caps[CAP_PERFMON / 32].permitted = 1u << CAP_PERFMON % 32;
	CHECK_EQ(syscall(SYS_capset, &head, caps), 0);
	CHECK_EQ(client_alloc(&c, target, PAGE), -EPERM);	/* it is not in effect */
	CHECK_EQ(client_alloc_cpus(&c, 1, PAGE), -EPERM);
	caps[CAP_PERFMON / 32].effective = 1u << CAP_PERFMON % 32;
	CHECK_EQ(syscall(SYS_capset, &head, caps), 0);
	CHECK_EQ(client_alloc(&c, target, PAGE), 0);
	client_close(&c);
	CHECK_EQ(client_alloc_cpus(&c, 1, PAGE), 0);
	client_close(&c);
}

static void capability(void)
{
	target = child_sleeping(NULL);
	trace_by_capability();
	kill(target, SIGKILL);
}

static void kernel_thread(void)
{
	struct client c;

	CHECK_EQ(client_alloc(&c, 2, PAGE), -EPERM);	/* kthreadd */
}

/* ---- nodes and mappings ---- */

static void open_node(void)
{
	const struct client c = {.ident = 0};

	CHECK_EQ(client_node(&c, target), -EACCES);
}

static void user_node(void)
{
	struct client c;
	struct stat st;
	char name[64];

	CHECK_EQ(client_alloc(&c, target, PAGE), 0);
	client_node_name(&c, target, name, sizeof(name));
	CHECK_EQ(stat(name, &st), 0);
	CHECK_EQ(st.st_mode & 0777, 0600);
	CHECK_EQ(st.st_uid, USER);
	client_node_name(&c, 0, name, sizeof(name));
	CHECK_EQ(stat(name, &st), 0);
	pause();	/* until node_modes has looked */
}

static void node_modes(void)
{
	static const struct identity user = {USER, USER, -1, true};
	char name[64];
	pid_t owner;

	target = child_sleeping(&user);
	snprintf(name, sizeof(name), "/dev/hwt_0_%d", target);
	owner = fork();
	if (!owner) {
		as_user(USER, user_node);
		_exit(1);
	}
	while (access(name, F_OK))
		usleep(1000);
	usleep(100000);
	CHECK_EQ(waitpid(owner, NULL, WNOHANG), 0);	/* it found what it wanted */
	as_user(OTHER, open_node);
	kill(owner, SIGKILL);
	waitpid(owner, NULL, 0);
	child_end(target);
}

static void mappings(void)
{
	struct client c;
	pid_t pid = child_sleeping(NULL);
	unsigned char *p;
	size_t i;

	CHECK_EQ(client_alloc(&c, pid, 4 * PAGE), 0);
#define MAP(len, prot, flags, off) mmap(NULL, (len), (prot), (flags), c.node, (off))
	CHECK(MAP(4 * PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, 0) == MAP_FAILED);
	CHECK_EQ(errno, EACCES);
	CHECK(MAP(5 * PAGE, PROT_READ, MAP_SHARED, 0) == MAP_FAILED);
	CHECK_EQ(errno, EINVAL);
	CHECK(MAP(PAGE, PROT_READ, MAP_SHARED, 4 * PAGE) == MAP_FAILED);
	CHECK_EQ(errno, EINVAL);
	CHECK(MAP(2 * PAGE, PROT_READ, MAP_SHARED, 3 * PAGE) == MAP_FAILED);
	CHECK_EQ(errno, EINVAL);
	p = MAP(3 * PAGE, PROT_READ, MAP_SHARED, PAGE);
	CHECK(p != MAP_FAILED);
	for (i = 0; i < 3 * PAGE; i++)
		CHECK_EQ(p[i], 0);
	CHECK_EQ(ERRNO(mprotect(p, PAGE, PROT_READ | PROT_WRITE)), EACCES);
	CHECK(mremap(p, 3 * PAGE, 8 * PAGE, MREMAP_MAYMOVE) == MAP_FAILED);
	client_close(&c);
	for (i = 0; i < 3 * PAGE; i++)	/* outlives the context */
		CHECK_EQ(p[i], 0);
	munmap(p, 3 * PAGE);
	child_end(pid);
}

/* Memory that somebody wrote to before is not to be seen through a buffer. */
static void old_memory(void)
{
	const size_t dirty = 512u << 20, bufsize = 64u << 20;
	pid_t pid = child_sleeping(NULL);
	struct client c;
	uint64_t *p;
	size_t i;

	p = mmap(NULL, dirty, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	CHECK(p != MAP_FAILED);
	memset(p, 0xa5, dirty);
	munmap(p, dirty);
	CHECK_EQ(client_alloc(&c, pid, bufsize), 0);
	p = mmap(NULL, bufsize, PROT_READ, MAP_SHARED, c.node, 0);
	CHECK(p != MAP_FAILED);
	for (i = 0; i < bufsize / sizeof(*p); i++)
		if (p[i])
			fail(__FILE__, __LINE__, "old memory", (long)p[i]);
	munmap(p, bufsize);
	client_close(&c);
	child_end(pid);
}

/* ---- whose a context is ---- */

/* What a process that got the owner's descriptor can do with it. */
static void stranger(struct client *c)
{
	struct hwt_start start = {0};

	CHECK_EQ(ERRNO(ioctl(c->node, HWT_IOC_START, &start)), EPERM);
	CHECK(mmap(NULL, PAGE, PROT_READ, MAP_SHARED, c->node, 0) == MAP_FAILED);
	CHECK_EQ(errno, EACCES);
}

static void passed_on(void)
{
	struct client c;
	pid_t pid = child_sleeping(NULL), other;
	int status;

	CHECK_EQ(client_alloc(&c, pid, PAGE), 0);
	CHECK_EQ(client_config(&c, 0, 0, 0), 0);
	other = fork();
	if (!other) {
		stranger(&c);
		_exit(0);
	}
	waitpid(other, &status, 0);
	CHECK_EQ(status, 0);
	CHECK_EQ(client_start(&c), 0);
	client_close(&c);
	child_end(pid);
}

enum { FRESH, CONFIGURED, RUNNING, STOPPED, NSTATES };

static void to_state(struct client *c, int state)
{
	if (state >= CONFIGURED)
		CHECK_EQ(client_config(c, 0, 0, 0), 0);
	if (state >= RUNNING)
		CHECK_EQ(client_start(c), 0);
	if (state >= STOPPED)
		CHECK_EQ(client_stop(c), 0);
}

/* Waits until the name is gone; the test's own time limit ends it otherwise. */
static void until_gone(const char *name)
{
	while (!access(name, F_OK))
		usleep(1000);
}

/* pid 0: of both CPUs. */
static int alloc_for(struct client *c, pid_t pid)
{
	return pid ? client_alloc(c, pid, PAGE) : client_alloc_cpus(c, 3, PAGE);
}

/* The owner dies while another has its descriptors, and its target runs on. */
static void owner_dies_at(int state, int signal, pid_t pid)
{
	pid_t owner, heir;
	struct client c = {0};
	int out[2], stop[2], status;
	char name[64], byte;

	CHECK_EQ(pipe(out) || pipe(stop), 0);
	owner = fork();
	if (!owner) {
		close(stop[1]);
		CHECK_EQ(alloc_for(&c, pid), 0);
		to_state(&c, state);
		CHECK_EQ(write(out[1], &c.ident, sizeof(c.ident)), sizeof(c.ident));
		heir = fork();	/* has the descriptors of the context, too */
		if (heir)
			kill(getpid(), signal);
		_exit(read(stop[0], &byte, 1) < 0);
	}
	close(stop[0]);
	CHECK_EQ(read(out[0], &c.ident, sizeof(c.ident)), sizeof(c.ident));
	client_node_name(&c, pid, name, sizeof(name));
	waitpid(owner, &status, 0);
	CHECK_EQ(WTERMSIG(status), signal);
	until_gone(name);
	close(out[0]);
	close(out[1]);
	/* Free for the next owner. */
	CHECK_EQ(alloc_for(&c, pid), 0);
	client_close(&c);
	close(stop[1]);
}

static void owner_dies(void)
{
	pid_t pid;
	int state;

	for (state = FRESH; state < NSTATES; state++) {
		pid = child_spinning(NULL);
		owner_dies_at(state, SIGKILL, pid);
		owner_dies_at(state, SIGTERM, pid);
		CHECK_EQ(kill(pid, 0), 0);
		child_end(pid);
		owner_dies_at(state, SIGKILL, 0);
		owner_dies_at(state, SIGTERM, 0);
	}
}

/* A context ends with the owner's last descriptor. */
static void last_close(void)
{
	pid_t pid = child_spinning(NULL);
	struct client c;
	char name[64];

	CHECK_EQ(client_alloc(&c, pid, PAGE), 0);
	to_state(&c, RUNNING);
	client_node_name(&c, pid, name, sizeof(name));
	CHECK_EQ(access(name, F_OK), 0);
	client_close(&c);
	CHECK_EQ(ERRNO(access(name, F_OK)), ENOENT);
	child_end(pid);
}

/* ---- records ---- */

static void event(void)
{
	pid_t pid = child_sleeping(NULL);
	int ident, fd = open("/dev/hwt", O_RDWR), node, ev = eventfd(0, EFD_NONBLOCK);
	struct hwt_alloc al = {
		.bufsize = PAGE, .mode = HWT_MODE_THREAD, .pid = pid,
		.backend_name = technology.backend, .ident = &ident, .kqueue_fd = ev,
	};
	uint64_t records[512], n;
	struct hwt_record_get2 get = {.buf = (uintptr_t)records, .size = sizeof(records)};
	struct pollfd p[2] = {{.events = POLLIN}, {.events = POLLIN, .fd = ev}};
	char name[64];

	CHECK_EQ(ioctl(fd, HWT_IOC_ALLOC, &al), 0);
	snprintf(name, sizeof(name), "/dev/hwt_%d_0", ident);
	node = open(name, O_RDWR);
	p[0].fd = node;
	CHECK(poll(p, 2, -1) > 0);
	CHECK_EQ(p[0].revents, POLLIN);	/* THREAD_CREATE of the first */
	CHECK_EQ(poll(p + 1, 1, -1), 1);
	CHECK_EQ(read(ev, &n, sizeof(n)), sizeof(n));
	CHECK_EQ(ioctl(node, HWT_IOC_RECORD_GET2, &get), 0);
	CHECK_EQ(((struct hwt_rec *)records)->type, HWT_REC_THREAD_CREATE);
	CHECK_EQ(poll(p, 1, 0), 0);
	child_end(pid);
	CHECK_EQ(poll(p + 1, 1, -1), 1);	/* its end is told, too */
	CHECK_EQ(poll(p, 1, -1), 1);
	close(node);
	close(fd);
	close(ev);
}

/* ---- other numbers ---- */

/* The first process of a pid namespace, which knows its child as 2. */
static void in_namespace(void)
{
	const struct hwt_rec_thread *created;
	const struct hwt_rec *rec;
	pid_t pid = child_sleeping(NULL);
	struct client c;

	CHECK_EQ(getpid(), 1);
	CHECK_EQ(pid, 2);
	CHECK_EQ(client_alloc(&c, pid, PAGE), 0);	/* opens hwt_.._2 */
	rec = client_next(&c, false);
	CHECK(rec);
	CHECK_EQ(rec->type, HWT_REC_THREAD_CREATE);
	CHECK_EQ(rec->pid, 2);
	created = (const void *)(rec + 1);
	CHECK_EQ(created->tid, 2);
	client_close(&c);
	child_end(pid);
}

static void pid_namespace(void)
{
	pid_t pid = fork(), inner;
	int status;

	if (!pid) {
		if (unshare(CLONE_NEWPID))
			_exit(98);
		inner = fork();
		if (!inner) {
			in_namespace();
			_exit(0);
		}
		waitpid(inner, &status, 0);
		_exit(WEXITSTATUS(status));
	}
	waitpid(pid, &status, 0);
	CHECK_EQ(status, 0);
}

#ifdef __x86_64__
/* ioctl(2) by the 32-bit way in. */
static int compat_ioctl(int fd, unsigned int request, unsigned int arg)
{
	int rc = 54;	/* __NR_ioctl of i386 */

	__asm__ volatile("int $0x80" : "+a"(rc) : "b"(fd), "c"(request), "d"(arg)
			 : "memory", "r8", "r9", "r10", "r11");
	return rc;
}

static void caller_of_32_bits(void)
{
	int fd = open("/dev/hwt", O_RDWR);
	void *low = mmap(NULL, PAGE, PROT_READ | PROT_WRITE,
			 MAP_PRIVATE | MAP_ANONYMOUS | MAP_32BIT, -1, 0);

	CHECK_EQ(compat_ioctl(fd, HWT_IOC_QUERY, (unsigned int)(uintptr_t)low), -ENOTTY);
	CHECK_EQ(ioctl(fd, HWT_IOC_QUERY, low), 0);
	CHECK_EQ(strcmp(((struct hwt_query *)low)->host, "kernel"), 0);
	close(fd);
	munmap(low, PAGE);
}
#endif

static const struct test_case cases[] = {
	{"table as root", table},
	{"table as a user", table_user},
	{"credentials", credentials},
	{"set-uid target", set_uid},
	{"CPU mode needs privilege", cpu_mode_user},
	{"an ordinary user's capability", capability},
	{"kernel thread", kernel_thread},
	{"modes of nodes", node_modes},
	{"mappings", mappings},
	{"old memory", old_memory},
	{"descriptor passed on", passed_on},
	{"owner dies", owner_dies},
	{"last close", last_close},
	{"poll and eventfd", event},
	{"pid namespace", pid_namespace},
#ifdef __x86_64__
	{"32-bit caller", caller_of_32_bits},
#endif
};

int main(int argc, char **argv)
{
	return cases_run(cases, sizeof(cases) / sizeof(cases[0]), argc, argv);
}
