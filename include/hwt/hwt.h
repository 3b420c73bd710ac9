/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The ioctl interface of hwt(4), compatible at source level with FreeBSD's
 * <sys/hwt.h>: the same structures, field names, request numbers and modes.
 *
 * What Linux needs to know beyond it:
 *  - `reserved` fields are never read: real clients pass garbage in them.
 *  - kqueue_fd holds an eventfd that is signalled when a record is queued,
 *    or -1 for none.
 *  - MAXPATHLEN is 4096 here (FreeBSD: 1024).
 *  - cpuset_t is cpu_set_t.
 *  - HWT_IOC_RECORD_GET shows a poorer view of the record queue that
 *    HWT_IOC_RECORD_GET2 (<hwt/hwt_ext.h>) shows whole.
 */
#ifndef HWT_HWT_H
#define HWT_HWT_H

#ifdef __KERNEL__
#include <linux/cpumask.h>
#include <linux/ioctl.h>
#include <linux/types.h>
typedef struct cpumask cpuset_t;
#else
#ifndef _GNU_SOURCE
#error "<hwt/hwt.h> needs _GNU_SOURCE for cpu_set_t"
#endif
#include <sched.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/ioctl.h>
#include <sys/types.h>
typedef cpu_set_t cpuset_t;
#endif
#include <hwt/hwt_record.h>

typedef unsigned long vm_offset_t;

#define HWT_PATH_MAX		4096
#ifndef MAXPATHLEN
#define MAXPATHLEN		HWT_PATH_MAX
#endif

#define HWT_MAGIC		0x42
#define HWT_IOC_ALLOC		_IOW(HWT_MAGIC, 0x00, struct hwt_alloc)
#define HWT_IOC_START		_IOW(HWT_MAGIC, 0x01, struct hwt_start)
#define HWT_IOC_STOP		_IOW(HWT_MAGIC, 0x02, struct hwt_stop)
#define HWT_IOC_RECORD_GET	_IOW(HWT_MAGIC, 0x03, struct hwt_record_get)
#define HWT_IOC_BUFPTR_GET	_IOW(HWT_MAGIC, 0x04, struct hwt_bufptr_get)
#define HWT_IOC_SET_CONFIG	_IOW(HWT_MAGIC, 0x05, struct hwt_set_config)
#define HWT_IOC_WAKEUP		_IOW(HWT_MAGIC, 0x06, struct hwt_wakeup)
#define HWT_IOC_SVC_BUF		_IOW(HWT_MAGIC, 0x07, struct hwt_svc_buf)

#define HWT_BACKEND_MAXNAMELEN	256

#define HWT_MODE_THREAD		1
#define HWT_MODE_CPU		2

#define HWT_ALIGNED16		__attribute__((aligned(16)))

/* HWT_IOC_ALLOC, on /dev/hwt.  Creates a context; its ident goes to *ident. */
struct hwt_alloc {
	size_t		bufsize;	/* bytes a buffer; page multiple, 1 page..32 GiB */
	int		mode;		/* HWT_MODE_* */
	pid_t		pid;		/* thread mode: the process */
	cpuset_t	*cpu_map;	/* CPU mode: the CPUs */
	size_t		cpusetsize;	/* bytes at cpu_map */
	const char	*backend_name;
	int		*ident;		/* out */
	int		kqueue_fd;	/* eventfd or -1 */
} HWT_ALIGNED16;

struct hwt_start {
	int		reserved;
} HWT_ALIGNED16;

struct hwt_stop {
	int		reserved;
} HWT_ALIGNED16;

struct hwt_wakeup {
	int		reserved;
} HWT_ALIGNED16;

struct hwt_record_user_entry {
	enum hwt_record_type	record_type;
	union {
		/* MMAP, EXECUTABLE, KERNEL */
		struct {
			char		fullpath[HWT_PATH_MAX];	/* always terminated */
			uintptr_t	addr;
			uintptr_t	baseaddr;
		};
		/* BUFFER */
		struct {
			int		buf_id;
			int		curpage;
			vm_offset_t	offset;
		};
		/* THREAD_* */
		int		thread_id;
	};
} HWT_ALIGNED16;

/* HWT_IOC_RECORD_GET: *nentries is room on entry, the number copied on return. */
struct hwt_record_get {
	struct hwt_record_user_entry	*records;
	int		*nentries;
	int		wait;		/* non-zero: sleep until there is one */
} HWT_ALIGNED16;

/* HWT_IOC_BUFPTR_GET: each pointer may be NULL. */
struct hwt_bufptr_get {
	int		*ident;		/* buffer id (thread: its tid, CPU: its id) */
	vm_offset_t	*offset;	/* write position inside the buffer, bytes */
	uint64_t	*data;		/* backend's own; pt: absolute position, bytes;
					 * spe: which half is full (<hwt/spe.h>) */
} HWT_ALIGNED16;

struct hwt_set_config {
	int		pause_on_mmap;
	void		*config;	/* backend's structure */
	size_t		config_size;	/* a minimum: at least the structure's size */
	int		config_version;
} HWT_ALIGNED16;

struct hwt_svc_buf {
	void		*data;		/* backend's structure */
	size_t		data_size;
	int		data_version;
} HWT_ALIGNED16;

#endif
