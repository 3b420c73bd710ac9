// SPDX-License-Identifier: BSD-2-Clause
/*
 * hwt(4)'s contract on real nodes: the table that every host answers, as root and
 * as a user; who may trace whom; what may be mapped; whose a context is.
 */
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../core/ioctl_table.h"
#include "../../hw/pt.h"
#include "case.h"
#include "device.h"

#define PAGE	4096u
#define USER	1000
#define OTHER	1001

static const struct child own = {-1, -1, -1, 1, 0};
static const struct child spinning = {-1, -1, -1, 1, 1};

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
	*pid = child_start(&own);
	return *pid < 0 ? -EAGAIN : 0;
}

static int t_kill(void *arg, int pid)
{
	child_end(pid);
	return 0;
}

static size_t t_service(void *data, int buf_id, uint64_t tail)
{
	struct pt_svc_buf svc = {.buf_id = buf_id, .tail = tail};

	memcpy(data, &svc, sizeof(svc));
	return sizeof(svc);
}

static void t_report(const char *line)
{
	puts(line);
}

static int table(void)
{
	static const struct pt_cpu_config good = {
		.rtit_ctl = PT_CTL_USER | PT_CTL_BRANCHEN | PT_CTL_TSCEN,
	}, lacks = {
		.rtit_ctl = PT_CTL_USER | PT_CTL_BRANCHEN | RTIT_CTL_PWREVTEN,
	};
	static const struct ioctl_host host = {
		.backend = "pt", .page = PAGE,
		.open = t_open, .ioctl = t_ioctl, .close = t_close,
		.spawn = t_spawn, .kill = t_kill,
		.config = &good, .config_size = sizeof(good),
		.config_version = PT_CONFIG_VERSION, .refused = &lacks,
		.service = t_service, .service_version = PT_SVC_BUF_VERSION,
		.report = t_report,
	};
	int checked;

	WANT(ioctl_table_run(&host, &checked), 0);
	WANT(checked > 300, 1);
	return 0;
}

static int table_user(void)
{
	return as_user(USER, table);
}

/* ---- who may trace whom ---- */

/* A set-uid program's process, and one that only its user may look into. */
static const struct {
	const char *what;
	struct child child;
	int want;
} targets[] = {
	{"the same user", {USER, USER, -1, 1, 0}, 0},
	{"another user", {OTHER, OTHER, -1, 1, 0}, EPERM},
	{"root", {0, 0, -1, 1, 0}, EPERM},
	{"in one group more", {USER, USER, OTHER, 1, 0}, EPERM},
	{"of another group", {USER, OTHER, -1, 1, 0}, EPERM},
	{"not dumpable", {USER, USER, -1, 0, 0}, EPERM},
};
static pid_t target;
static int target_want;

static int trace_target(void)
{
	struct device d;

	WANT(-device_alloc(&d, target, 4 * PAGE), target_want);
	if (!target_want)
		device_close(&d);
	return 0;
}

static int credentials(void)
{
	size_t i;
	int rc;

	for (i = 0; i < sizeof(targets) / sizeof(targets[0]); i++) {
		target = child_start(&targets[i].child);
		target_want = targets[i].want;
		rc = as_user(USER, trace_target);
		target_want = 0;
		rc = trace_target() || rc;	/* root may */
		child_end(target);
		if (rc) {
			printf("target: %s\n", targets[i].what);
			return 1;
		}
	}
	return 0;
}

/* /bin/setuid-sleep is a copy of busybox with root's bit (ioctls.py). */
static int set_uid(void)
{
	int rc;

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
	rc = as_user(USER, trace_target);
	child_end(target);
	return rc;
}

static int cpu_mode(void)
{
	cpu_set_t set;
	int ident, fd = open("/dev/hwt", O_RDWR);
	struct hwt_alloc al = {
		.bufsize = PAGE, .mode = HWT_MODE_CPU, .cpu_map = &set,
		.cpusetsize = sizeof(set), .backend_name = "pt", .ident = &ident,
		.kqueue_fd = -1,
	};
	int rc;

	CPU_ZERO(&set);
	CPU_SET(0, &set);
	rc = ERRNO(ioctl(fd, HWT_IOC_ALLOC, &al));
	close(fd);
	return rc;
}

static int cpu_mode_user(void)
{
	WANT(as_user(USER, cpu_mode), EPERM);
	return 0;
}

static int kernel_thread(void)
{
	struct device d;

	WANT(-device_alloc(&d, 2, PAGE), EPERM);	/* kthreadd */
	return 0;
}

/* ---- nodes and mappings ---- */

static int open_node(void)
{
	char name[64];
	struct device d = {.ident = 0};

	device_name(&d, target, name, sizeof(name));
	return ERRNO(open(name, O_RDWR));
}

static int user_node(void)
{
	struct device d;
	struct stat st;
	char name[64];

	WANT(-device_alloc(&d, target, PAGE), 0);
	device_name(&d, target, name, sizeof(name));
	WANT(stat(name, &st), 0);
	WANT(st.st_mode & 0777, 0600);
	WANT(st.st_uid, USER);
	device_name(&d, 0, name, sizeof(name));
	WANT(stat(name, &st), 0);
	pause();	/* until node_modes has looked */
	return 0;
}

static int node_modes(void)
{
	static const struct child user = {USER, USER, -1, 1, 0};
	char name[64];
	pid_t owner;

	target = child_start(&user);
	snprintf(name, sizeof(name), "/dev/hwt_0_%d", target);
	owner = fork();
	if (!owner)
		_exit(as_user(USER, user_node));
	while (access(name, F_OK))
		usleep(1000);
	usleep(100000);
	WANT(waitpid(owner, NULL, WNOHANG), 0);	/* it found what it wanted */
	WANT(as_user(OTHER, open_node), EACCES);
	kill(owner, SIGKILL);
	waitpid(owner, NULL, 0);
	child_end(target);
	return 0;
}

static int mappings(void)
{
	struct device d;
	pid_t pid = child_start(&own);
	unsigned char *p;
	size_t i;

	WANT(-device_alloc(&d, pid, 4 * PAGE), 0);
#define MAP(len, prot, flags, off) mmap(NULL, (len), (prot), (flags), d.node, (off))
	WANT(MAP(4 * PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, 0) == MAP_FAILED, 1);
	WANT(errno, EACCES);
	WANT(MAP(5 * PAGE, PROT_READ, MAP_SHARED, 0) == MAP_FAILED, 1);
	WANT(errno, EINVAL);
	WANT(MAP(PAGE, PROT_READ, MAP_SHARED, 4 * PAGE) == MAP_FAILED, 1);
	WANT(errno, EINVAL);
	WANT(MAP(2 * PAGE, PROT_READ, MAP_SHARED, 3 * PAGE) == MAP_FAILED, 1);
	WANT(errno, EINVAL);
	p = MAP(3 * PAGE, PROT_READ, MAP_SHARED, PAGE);
	WANT(p == MAP_FAILED, 0);
	for (i = 0; i < 3 * PAGE; i++)
		WANT(p[i], 0);
	WANT(ERRNO(mprotect(p, PAGE, PROT_READ | PROT_WRITE)), EACCES);
	WANT(mremap(p, 3 * PAGE, 8 * PAGE, MREMAP_MAYMOVE) == MAP_FAILED, 1);
	device_close(&d);
	for (i = 0; i < 3 * PAGE; i++)	/* outlives the context */
		WANT(p[i], 0);
	munmap(p, 3 * PAGE);
	child_end(pid);
	return 0;
}

/* ---- whose a context is ---- */

/* What a process that got the owner's descriptor can do with it. */
static int stranger(struct device *d)
{
	struct hwt_start start = {0};

	WANT(ERRNO(ioctl(d->node, HWT_IOC_START, &start)), EPERM);
	WANT(mmap(NULL, PAGE, PROT_READ, MAP_SHARED, d->node, 0) == MAP_FAILED, 1);
	WANT(errno, EACCES);
	return 0;
}

static int passed_on(void)
{
	struct device d;
	pid_t pid = child_start(&own), other;
	int status;

	WANT(-device_alloc(&d, pid, PAGE), 0);
	WANT(-device_configure(&d), 0);
	other = fork();
	if (!other)
		_exit(stranger(&d));
	waitpid(other, &status, 0);
	WANT(status, 0);
	WANT(-device_start(&d), 0);
	device_close(&d);
	child_end(pid);
	return 0;
}

enum { FRESH, CONFIGURED, RUNNING, STOPPED, NSTATES };

static int to_state(struct device *d, int state)
{
	int rc = 0;

	if (state >= CONFIGURED)
		rc = device_configure(d);
	if (!rc && state >= RUNNING)
		rc = device_start(d);
	if (!rc && state >= STOPPED)
		rc = device_stop(d);
	return rc;
}

/* Waits until the name is gone; the test's own time limit ends it otherwise. */
static void until_gone(const char *name)
{
	while (!access(name, F_OK))
		usleep(1000);
}

/* The owner dies while another has its descriptors, and its target runs on. */
static int owner_dies_at(int state, int signal)
{
	pid_t pid = child_start(&spinning), owner, heir;
	struct device d = {0};
	int out[2], stop[2], status;
	char name[64], c;

	WANT(pipe(out) || pipe(stop), 0);
	owner = fork();
	if (!owner) {
		int rc = device_alloc(&d, pid, PAGE);

		close(stop[1]);
		if (rc || to_state(&d, state) || write(out[1], &d, sizeof(d)) < 0)
			_exit(1);
		heir = fork();	/* has the descriptors of the context, too */
		if (heir)
			kill(getpid(), signal);
		_exit(read(stop[0], &c, 1) < 0);
	}
	close(stop[0]);
	WANT(read(out[0], &d, sizeof(d)), sizeof(d));
	device_name(&d, pid, name, sizeof(name));
	waitpid(owner, &status, 0);
	WANT(WTERMSIG(status), signal);
	until_gone(name);
	close(out[0]);
	close(out[1]);
	/* Free for the next owner. */
	WANT(kill(pid, 0), 0);
	WANT(-device_alloc(&d, pid, PAGE), 0);
	device_close(&d);
	child_end(pid);
	close(stop[1]);
	return 0;
}

static int owner_dies(void)
{
	int state;

	for (state = FRESH; state < NSTATES; state++)
		if (owner_dies_at(state, SIGKILL) || owner_dies_at(state, SIGTERM))
			return 1;
	return 0;
}

/* A context ends with the owner's last descriptor. */
static int last_close(void)
{
	pid_t pid = child_start(&spinning);
	struct device d;
	char name[64];

	WANT(-device_alloc(&d, pid, PAGE), 0);
	WANT(-to_state(&d, RUNNING), 0);
	device_name(&d, pid, name, sizeof(name));
	WANT(access(name, F_OK), 0);
	device_close(&d);
	WANT(ERRNO(access(name, F_OK)), ENOENT);
	child_end(pid);
	return 0;
}

/* ---- records ---- */

static int event(void)
{
	pid_t pid = child_start(&own);
	int ident, fd = open("/dev/hwt", O_RDWR), node, ev = eventfd(0, EFD_NONBLOCK);
	struct hwt_alloc al = {
		.bufsize = PAGE, .mode = HWT_MODE_THREAD, .pid = pid,
		.backend_name = "pt", .ident = &ident, .kqueue_fd = ev,
	};
	uint64_t records[512], n;
	struct hwt_record_get2 get = {.buf = (uintptr_t)records, .size = sizeof(records)};
	struct pollfd p[2] = {{.events = POLLIN}, {.events = POLLIN, .fd = ev}};
	char name[64];

	WANT(ioctl(fd, HWT_IOC_ALLOC, &al), 0);
	snprintf(name, sizeof(name), "/dev/hwt_%d_0", ident);
	node = open(name, O_RDWR);
	p[0].fd = node;
	WANT(poll(p, 2, -1) > 0, 1);
	WANT(p[0].revents, POLLIN);	/* THREAD_CREATE of the first */
	WANT(poll(p + 1, 1, -1), 1);
	WANT(read(ev, &n, sizeof(n)), sizeof(n));
	WANT(ioctl(node, HWT_IOC_RECORD_GET2, &get), 0);
	WANT(((struct hwt_rec *)records)->type, HWT_REC_THREAD_CREATE);
	WANT(poll(p, 1, 0), 0);
	child_end(pid);
	WANT(poll(p + 1, 1, -1), 1);	/* its end is told, too */
	WANT(poll(p, 1, -1), 1);
	close(node);
	close(fd);
	close(ev);
	return 0;
}

/* ---- other numbers ---- */

/* The first process of a pid namespace, which knows its child as 2. */
static int in_namespace(void)
{
	uint64_t records[64];
	struct hwt_record_get2 get = {.buf = (uintptr_t)records, .size = sizeof(records)};
	const struct hwt_rec_thread *created = (const void *)((struct hwt_rec *)records + 1);
	pid_t pid = child_start(&own);
	struct device d;

	WANT(getpid(), 1);
	WANT(pid, 2);
	WANT(-device_alloc(&d, pid, PAGE), 0);	/* opens hwt_.._2 */
	WANT(ioctl(d.node, HWT_IOC_RECORD_GET2, &get), 0);
	WANT(((struct hwt_rec *)records)->type, HWT_REC_THREAD_CREATE);
	WANT(((struct hwt_rec *)records)->pid, 2);
	WANT(created->tid, 2);
	device_close(&d);
	child_end(pid);
	return 0;
}

static int pid_namespace(void)
{
	pid_t pid = fork(), inner;
	int status;

	if (!pid) {
		if (unshare(CLONE_NEWPID))
			_exit(98);
		inner = fork();
		if (!inner) {
			status = in_namespace();
			fflush(stdout);
			_exit(status);
		}
		waitpid(inner, &status, 0);
		_exit(WEXITSTATUS(status));
	}
	waitpid(pid, &status, 0);
	WANT(status, 0);
	return 0;
}

/* ioctl(2) by the 32-bit way in. */
static int compat_ioctl(int fd, unsigned int request, unsigned int arg)
{
	int rc = 54;	/* __NR_ioctl of i386 */

	__asm__ volatile("int $0x80" : "+a"(rc) : "b"(fd), "c"(request), "d"(arg)
			 : "memory", "r8", "r9", "r10", "r11");
	return rc;
}

static int caller_of_32_bits(void)
{
	int fd = open("/dev/hwt", O_RDWR);
	void *low = mmap(NULL, PAGE, PROT_READ | PROT_WRITE,
			 MAP_PRIVATE | MAP_ANONYMOUS | MAP_32BIT, -1, 0);

	WANT(compat_ioctl(fd, HWT_IOC_QUERY, (unsigned int)(uintptr_t)low), -ENOTTY);
	WANT(ioctl(fd, HWT_IOC_QUERY, low), 0);
	WANT(strcmp(((struct hwt_query *)low)->host, "kernel"), 0);
	close(fd);
	munmap(low, PAGE);
	return 0;
}

static const struct kernel_case cases[] = {
	{"table as root", table},
	{"table as a user", table_user},
	{"credentials", credentials},
	{"set-uid target", set_uid},
	{"CPU mode needs privilege", cpu_mode_user},
	{"kernel thread", kernel_thread},
	{"modes of nodes", node_modes},
	{"mappings", mappings},
	{"descriptor passed on", passed_on},
	{"owner dies", owner_dies},
	{"last close", last_close},
	{"poll and eventfd", event},
	{"pid namespace", pid_namespace},
	{"32-bit caller", caller_of_32_bits},
};

int main(int argc, char **argv)
{
	return cases_run(cases, sizeof(cases) / sizeof(cases[0]), argc, argv);
}
