/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What hwt adds to the interface of hwt(4): records that carry everything a
 * recorder needs, waking one thread, pause conditions, and queries.
 *
 * Every structure is fixed-width and without implicit padding, the same on
 * x86_64 and aarch64.  Unlike in <hwt/hwt.h>, a reserved field must be 0
 * (EINVAL).
 */
#ifndef HWT_HWT_EXT_H
#define HWT_HWT_EXT_H

#include <hwt/hwt.h>

#define HWT_IOC_RECORD_GET2	_IOWR(HWT_MAGIC, 0x40, struct hwt_record_get2)
#define HWT_IOC_WAKEUP_TID	_IOW(HWT_MAGIC, 0x41, struct hwt_wakeup_tid)
#define HWT_IOC_SET_CONFIG2	_IOW(HWT_MAGIC, 0x42, struct hwt_set_config2)
#define HWT_IOC_QUERY		_IOWR(HWT_MAGIC, 0x43, struct hwt_query)
#define HWT_IOC_KERNEL_READ	_IOWR(HWT_MAGIC, 0x44, struct hwt_kernel_read)
#define HWT_IOC_POSITION_GET	_IOR(HWT_MAGIC, 0x45, struct hwt_position_get)

/*
 * HWT_IOC_RECORD_GET2: fills `buf` with whole records (struct hwt_rec), each
 * at a multiple of 8, oldest first; `used` says how many bytes.
 * HWT_GET_WAIT sleeps until there is at least one.
 * EINVAL: unknown flag, or buf smaller than the first record (then `used`
 * holds the size that it needs, and nothing is taken from the queue).
 * EINTR: a signal came while waiting.  EFAULT: buf.  ESRCH: waiting makes no
 * sense, the target is dead and its EXIT record was fetched.
 */
struct hwt_record_get2 {
	uint64_t	buf;		/* pointer */
	uint32_t	size;		/* bytes at buf */
	uint32_t	used;		/* out */
	uint32_t	flags;		/* HWT_GET_* */
	uint32_t	reserved;
};
#define HWT_GET_WAIT		0x1u

enum hwt_rec_type {
	HWT_REC_MMAP = 1,
	HWT_REC_MUNMAP,
	HWT_REC_MPROTECT,
	HWT_REC_EXEC,
	HWT_REC_THREAD_CREATE,
	HWT_REC_THREAD_EXIT,
	HWT_REC_THREAD_NAME,
	HWT_REC_FORK,
	HWT_REC_BUFFER,
	HWT_REC_KERNEL,
	HWT_REC_TEXT_POKE,
	HWT_REC_LOST,
	HWT_REC_EXIT,		/* the process is gone */
	HWT_REC_CODE,		/* bytes of code that no file holds */
	HWT_REC_GENERATION,	/* a thread goes on under a new code generation */
	HWT_REC_SOURCE,		/* scope context: where a thread's or CPU's trace goes from here on */
	HWT_REC_NATIVE,		/* exec of what the unit cannot follow: it ran on untraced */
	HWT_REC_TYPE_MAX
};

#define HWT_REC_PAUSED		0x1u	/* the thread waits for a WAKEUP */
/*
 * EXEC, and the EXIT that follows it: the new program is privileged beyond the
 * owner (set-uid).  The process runs on, untraced.
 */
#define HWT_REC_REVOKED		0x2u

/* Header of every record; the payload named after the type follows it. */
struct hwt_rec {
	uint32_t	size;		/* header + payload + padding; multiple of 8 */
	uint16_t	type;		/* enum hwt_rec_type */
	uint16_t	flags;		/* HWT_REC_PAUSED, HWT_REC_REVOKED */
	uint64_t	time;		/* the unit's clock (pt: TSC ticks) */
	uint32_t	pid;		/* of the thread that it happened to */
	uint32_t	tid;
	int32_t		cpu;		/* CPU mode: whose buffer; otherwise -1 */
	uint32_t	generation;	/* code generation in force after it */
	uint64_t	position;	/* absolute bytes in that thread's stream */
};

/* Strings below end in NUL and are padded with NUL to the record's size. */
struct hwt_rec_mmap {
	uint64_t	addr, len;	/* bytes, page multiples */
	uint64_t	pgoff;		/* offset in the file, bytes */
	uint64_t	ino;
	uint32_t	dev_major, dev_minor;
	uint32_t	prot;		/* PROT_* */
	uint32_t	mapflags;	/* MAP_SHARED or MAP_PRIVATE, MAP_ANONYMOUS */
	char		path[];		/* "" : anonymous; "[vdso]" etc. for special */
};
struct hwt_rec_munmap {
	uint64_t	addr, len;
};
struct hwt_rec_mprotect {
	uint64_t	addr, len;
	uint32_t	prot, reserved;
};
struct hwt_rec_exec {
	uint32_t	old_tid;	/* the thread that called execve */
	uint32_t	reserved;
	uint64_t	addr, baseaddr;	/* entry point's image: start of text, load bias */
	char		path[];
};
struct hwt_rec_thread {		/* THREAD_CREATE, THREAD_EXIT */
	uint32_t	tid;
	int32_t		status;		/* THREAD_EXIT: exit status */
};
struct hwt_rec_name {		/* THREAD_NAME */
	char		name[16];
};
struct hwt_rec_fork {
	uint32_t	child_pid, child_tid;
};
struct hwt_rec_buffer {
	uint32_t	buf_id;		/* thread: tid, CPU: its id */
	uint32_t	flags;		/* HWT_BUF_* */
	uint64_t	head;		/* absolute position up to which data is valid */
	uint64_t	tail;		/* oldest byte not overwritten */
	uint64_t	lost;		/* so far: bytes (HWT_BUF_WRAPPED), else gaps */
};
#define HWT_BUF_FULL		0x1u	/* the unit stopped for want of room: a gap */
#define HWT_BUF_WRAPPED		0x2u	/* ring mode: old bytes were overwritten */
#define HWT_BUF_FINAL		0x4u	/* no more will come */
#define HWT_BUF_COLLISION	0x8u	/* samples were lost to others in flight since the
					   buffer's last record; no unit counts them */
struct hwt_rec_kernel {		/* path: "kernel", "[module]", another symbol's name */
	uint64_t	addr, len;
	char		path[];
};
struct hwt_rec_code {		/* CODE, TEXT_POKE */
	uint64_t	addr;
	uint32_t	len;		/* bytes that follow */
	uint32_t	reserved;
	uint8_t		bytes[];
};
struct hwt_rec_lost {
	uint64_t	count;		/* records that found no room */
};
struct hwt_rec_exit {
	int32_t		status;		/* as wait(2) gives it; -1: not known */
	uint32_t	reserved;
};
struct hwt_rec_generation {
	uint64_t	generation;
};
/* Queued with the process's EXIT: until then it may come back from a failed execve. */
struct hwt_rec_native {
	uint32_t	machine;	/* of the program (e_machine of ELF); 0: not known */
	uint32_t	reserved;
	char		path[];
};
/*
 * SOURCE follows the THREAD_CREATE or precedes the EXEC of its thread.  position is
 * one in that buffer, as are all positions of the thread; what its source has before
 * is of another thread.  A CPU's (hwt_rec.cpu) is queued by ALLOC.
 */
struct hwt_rec_source {
	uint32_t	buf_id;		/* as in BUFFER records: of who has the buffer */
	uint32_t	source;		/* what marks its trace there; coresight: the trace ID */
};

/*
 * HWT_IOC_WAKEUP_TID: ends the pause of that thread of the context.
 * ESRCH: no such thread.  Waking one that is not paused is no error.
 */
struct hwt_wakeup_tid {
	uint32_t	tid;
	uint32_t	reserved;
};

/*
 * HWT_IOC_SET_CONFIG2: HWT_IOC_SET_CONFIG with all pause conditions.
 * config == 0 leaves the backend's configuration as it is.
 */
struct hwt_set_config2 {
	uint32_t	pause;		/* HWT_PAUSE_* */
	int32_t		config_version;
	uint64_t	config;		/* pointer to the backend's structure, or 0 */
	uint64_t	config_size;
	uint64_t	reserved;
};
#define HWT_PAUSE_EXEC		0x1u
#define HWT_PAUSE_MMAP		0x2u
#define HWT_PAUSE_FORK		0x4u
#define HWT_PAUSE_ALL		0x7u

/*
 * HWT_IOC_POSITION_GET: where the unit stands in the node's buffer, the same for
 * every backend.
 */
struct hwt_position_get {
	uint64_t	head;		/* out: absolute position, bytes */
};

/*
 * HWT_IOC_QUERY, on /dev/hwt: describes the index-th backend.
 * ENOENT: there are no more.  ENXIO: the backend has no unit here.
 */
struct hwt_query {
	uint32_t	index;
	uint32_t	flags;		/* out: HWT_QUERY_* */
	char		name[32];	/* out: backend */
	char		host[32];	/* out: "embedded" or "kernel" */
	char		unit[64];	/* out: what the unit is */
	uint32_t	modes;		/* out: bit HWT_MODE_* set = supported here */
	uint32_t	scope;		/* out: HWT_SCOPE_* of a buffer */
	uint32_t	nranges;	/* out: address ranges of the unit */
	uint32_t	ncaps;		/* out: entries used in caps; 0: no unit yet, it comes
					   with a program of its machine */
	uint64_t	time_hz;	/* out: ticks of the unit's clock a second */
	uint32_t	caps[32];	/* out: pt: CPUID.14H.0 eax,ebx,ecx,edx, 14H.1 …;
					   coresight: TRCIDR0 …; spe: PMSIDR_EL1,
					   PMBIDR_EL1, bits that PMSEVFR_EL1
					   keeps; low half first */
};
#define HWT_QUERY_RING		0x1u	/* ring mode is supported */
#define HWT_SCOPE_THREAD	0u
#define HWT_SCOPE_CPU		1u
#define HWT_SCOPE_CONTEXT	2u	/* threads or CPUs share buffers: HWT_REC_SOURCE */

/*
 * HWT_IOC_KERNEL_READ, CPU mode: copies the kernel's code at [addr, addr + len)
 * as it is in memory now to `buf`; `done` says how many bytes.  Only what KERNEL
 * records list can be read: the kernel's text, modules', kprobe slots, ftrace
 * trampolines and BPF programs.  Patches made since the context was allocated
 * come as TEXT_POKE records, so the order in which text is read does not matter.
 * A range that ends in something else, or in a module that is being removed,
 * gives the bytes before it.
 * ENOENT: no code at addr.  EINVAL: len is 0 or over HWT_KERNEL_READ_MAX.
 * EFAULT: buf.  EPERM: needs privilege.  EOPNOTSUPP: thread mode.
 */
struct hwt_kernel_read {
	uint64_t	addr;
	uint64_t	len;		/* bytes */
	uint64_t	buf;		/* pointer */
	uint64_t	done;		/* out: bytes at buf */
};
#define HWT_KERNEL_READ_MAX	(16u << 20)

#endif
