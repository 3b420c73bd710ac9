/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The window of the virtual trace unit (vtu): memory that the unit (the QEMU
 * plugin) and its host (hosts/embedded, hwt_vtu.ko) share.  The only thing
 * that both sides know of each other.
 *
 *   window file:  header | block 0 | block 1 | ...      one block a virtual CPU
 *   DRAM file:    what the driver calls physical memory; address = offset
 *
 * Embedded: both are memfds, mapped whole by hwt and by every process of the
 * traced tree (a fork inherits the mapping; after exec the plugin opens
 * /proc/<owner_pid>/fd/<owner_*_fd> once and closes it).  Pages that nobody
 * touches cost nothing.
 *
 * Doorbell.  Writing memory has no side effect, so a register write is a
 * command: the host puts it at ring[ring_tail % VTU_RING], advances ring_tail
 * (counted since the block was claimed, never wrapped), bumps `request` and
 * `wake`, wakes `wake`, and waits on `ack` until it equals `request`.  One
 * request may carry up to VTU_RING commands.  The vCPU serves its ring only
 * where it is parked (state HOOK); reads of registers are plain loads: the unit
 * keeps them true.  A write that silicon would refuse (#GP) changes nothing and
 * is counted in `faults`, its register in `fault_reg`.
 *
 * A dead vCPU serves nothing: state GONE, or its process is gone, or replaced by
 * exec (a later ATTACH(EXEC) of the pid).  Its registers are plain memory then:
 * the host stores to them itself.  They are whole: every system call, exec and
 * thread exit flushes the unit, so does a fatal signal; after SIGKILL only the
 * packets that were not complete yet (pending TNT bits) are missing.
 *
 * Parking.  The vCPU looks at `attention` at each TNT packet, call, indirect
 * branch and jump back, that is within some 50 branches.  The host sets
 * VTU_ATTN_PARK; the vCPU enters hook PARK.  A vCPU inside a system call
 * (state SYSCALL) has flushed and is quiet; it looks at `attention` when it
 * comes back, before its next instruction.  Both sides order the store to
 * their own word before the load of the other's (seq_cst).
 *
 * Hooks.  The vCPU fills `hook`, sets state HOOK, bumps `hook_seq`, sets its bit
 * in header.pending, bumps header.service, wakes it, and waits on `wake` until
 * hook_done == hook_seq, serving its ring meanwhile.  Each wait is cut into
 * pieces of VTU_LIVENESS_MS, after which it looks whether the owner lives
 * (header.owner_gone, or the owner's pid is gone or a zombie): if not, its
 * whole process detaches (blocks go to GONE) and the guest runs on untraced.
 * During a hook the unit is flushed; block.clock is the time of the event and
 * OUTPUT_MASK_PTRS the stream's position.  In every hook the unit is outside of
 * the traced context (a break in the stream, or a system call).  IRQ therefore
 * comes a little after the region was filled: at the beginning of the next block
 * but one, at most VTU_IRQ_SKID bytes later.
 *
 * Code.  Captured bytes win over what files hold and stay valid until they are
 * captured anew or MUNMAP covers them; an MMAP (a file's pages that gained X
 * after they could be written) does not replace them.  A mapping that replaces
 * another (MAP_FIXED) sends MUNMAP first.  Anonymous memory is "//anon".
 *
 * Order of hooks.  A new program: ATTACH(START or EXEC), EXEC, MMAP of its
 * executable segments and of its interpreter's; only then its first instruction.
 * A new thread: THREAD_CREATE; a followed child: ATTACH(FORK), its mappings and
 * code are its parent's up to block.generation, from where both go on counting.
 * Hooks that change executable mappings come one at a time in a process (until
 * hook_told: threads may be kept in several at once), after the change was made
 * and before the thread goes on; each bumps the generation (block.generation is
 * the new one), and the process's other vCPUs send GENERATION at their next block.
 *
 * Unit plugin options: owner=PID,window=FD,dram=FD[,exec=OLD_TID].  The numbers
 * are inherited descriptors, closed at once; with exec= they are the owner's
 * (/proc/PID/fd/FD).
 *
 * System mode (VTU_F_SYSTEM): QEMU runs a whole machine, the host is hwt_vtu.ko
 * inside of it.  The window is the file behind BAR 2 of an ivshmem-plain device
 * (1af4:1110; a power of two of at least VTU_WINDOW_SIZE(CPUs) bytes), DRAM the
 * file behind the machine's RAM.  The unit writes the header as QEMU starts,
 * magic last: a zero magic is a device without a unit.  Block i belongs to vCPU i,
 * which is the guest's CPU i; state RUNNING where there is such a CPU, else FREE.
 * There are no hooks, parking, captured code or generations: the kernel's own
 * hooks tell those.  dram_size is the RAM file's.
 *
 * Addresses of the unit (ToPA tables and entries, OUTPUT_BASE) are guest-physical;
 * the unit finds them in the RAM file (q35: all of it from 0, but from 0xb0000000
 * bytes of RAM on the first 2 GiB from 0 and the rest from 4 GiB; virt: all of it
 * from 1 GiB).  One that is no RAM is an operational error (STATUS.Error), or what
 * the unit has for an external abort (STS.MemErr, PMBSR_EL1.EA).
 *
 * Doorbell in system mode.  Only code that runs on CPU i, not to be migrated or
 * interrupted by another user, rings block i: it puts commands into the ring,
 * advances ring_tail, bumps `request`, ORs VTU_ATTN_RING into `attention` (an
 * atomic operation, after all those stores) and spins until ack == request.  The
 * unit serves before the next translated block of that CPU: within the spin.  It
 * executes the commands in order, flushes, and then sets ack: registers, clock
 * and insns are true then; tracing goes on at that same block.  Commands break
 * the stream (FUP, TIP.PGD, and TIP.PGE when it goes on; an ETM: a debug halt); a
 * request without any is a flush and does not.  A driver goes on from ring_tail,
 * request and ack as it finds them, and first turns the unit off: a guest may have
 * been rebooted.
 * `ack` of a CPU that does not run stays behind.
 *
 * With each request the vCPU's clock becomes max(its own, header.clock), and
 * header.clock that: a thread that is switched out on one CPU and in on another
 * sees no time go back.
 *
 * The unit's interrupt (a ToPA region with INT or an ETR's buffer was filled, SPE's
 * PMBIRQ) only bumps irqs of the block whose CPU did it: there is no way to interrupt
 * the guest; the driver's timer looks.  Nothing waits for it: an ETR that is a FIFO
 * without room makes its ETMs overflow.
 *
 * Unit plugin options: ram=FILE,reg=FILE[,unit=pt|coresight|spe][,log=DIR].
 */
#ifndef VTU_WINDOW_H
#define VTU_WINDOW_H

#ifdef __KERNEL__
#include <linux/types.h>
#else
#include <stdint.h>
#endif

#define VTU_MAGIC	0x3155545654574875ull	/* "uHWTVTU1" */
#define VTU_VERSION	1u
#define VTU_BLOCK_SIZE	0x10000u
#define VTU_HEADER_SIZE	0x10000u
#define VTU_MAX_BLOCKS	16384u
#define VTU_RING	512u		/* commands; power of two */
#define VTU_PAYLOAD	0x4000u		/* bytes of hook payload */
#define VTU_REGS	0x8000u		/* bytes of register space */
#define VTU_LIVENESS_MS	200
#define VTU_IRQ_SKID	256		/* bytes; PSB+ and the packets of two blocks */

/*
 * header.unit_kind: the technology modelled.  The owner says which one it wants
 * before the target starts, or NONE; the plugin replaces NONE by its guest's own.
 */
enum vtu_unit_kind {
	VTU_UNIT_NONE, VTU_UNIT_PT, VTU_UNIT_CORESIGHT, VTU_UNIT_SPE,
	/*
	 * Tests: no unit but what it would be fed, as addresses in a file
	 * feed.PID.TID beside the independent log.
	 */
	VTU_UNIT_FEED,
};
/* VTU_UNIT_FEED's registers: on or off; conditional branches by their outcome. */
enum { FEED_REG_ON, FEED_REG_TAKEN, FEED_REG_NOT_TAKEN };

/* header.flags, set by the owner before the target starts. */
#define VTU_F_FOLLOW	0x1u	/* children are traced too */
#define VTU_F_CLOCK_HOST 0x2u	/* time is the host's, not counted instructions */
#define VTU_F_LOG	0x4u	/* tests: write the independent log */
#define VTU_F_SYSTEM	0x8u	/* set by the unit: blocks are the CPUs of a machine */

struct vtu_header {
	uint64_t	magic;
	uint32_t	version, header_size;
	uint32_t	nblocks, block_size;
	uint32_t	unit_kind;
	uint32_t	flags;
	uint64_t	dram_size;
	uint64_t	time_hz;
	int32_t		owner_pid;
	int32_t		owner_window_fd, owner_dram_fd;	/* in the owner */
	uint32_t	owner_gone;	/* owner sets it when it leaves in good order */
	uint32_t	lost_threads;	/* plugin: ran untraced, no block was free */
	uint32_t	ncaps;		/* plugin fills before its first ATTACH */
	uint32_t	caps[64];	/* see hwt_bus_ops.cap */
	char		unit_name[64];	/* plugin: what the unit is */
	char		log_dir[4096];	/* VTU_F_LOG: where log files go */
	char		sysroot[4096];	/* owner: the emulator's -L, or "" */

	/* Own cache lines: written often. */
	uint32_t	service __attribute__((aligned(64)));	/* futex */
	uint64_t	clock __attribute__((aligned(64)));	/* the tree's, ticks */
	uint64_t	pending[VTU_MAX_BLOCKS / 64] __attribute__((aligned(64)));
};

enum vtu_state {		/* block.state */
	VTU_FREE,		/* anyone may claim it by compare-and-swap */
	VTU_CLAIMED,		/* being set up */
	VTU_RUNNING,
	VTU_SYSCALL,		/* inside a system call: quiet, flushed */
	VTU_HOOK,		/* parked in a hook: serves its command ring */
	VTU_GONE,		/* ended or detached; the host reaps and frees it */
};

/* block.attention */
#define VTU_ATTN_PARK	0x1u	/* host: come into hook PARK */
#define VTU_ATTN_CODE	0x2u	/* plugin: captures or a new generation to report */
#define VTU_ATTN_DETACH	0x4u	/* host: the process is traced no more, runs on */
#define VTU_ATTN_IRQ	0x10u	/* plugin: the unit raised its interrupt */
#define VTU_ATTN_QUIT	0x8u	/* plugin: the process ends, stand still */
#define VTU_ATTN_RING	0x20u	/* system mode, host: serve the ring */

enum vtu_hook_type {
	VTU_HOOK_NONE,
	VTU_HOOK_ATTACH,	/* first of a process: struct vtu_hook_attach */
	VTU_HOOK_EXEC,		/* vtu_hook_exec; the image's MMAPs come after it */
	VTU_HOOK_MMAP,		/* vtu_hook_mmap; executable mappings only */
	VTU_HOOK_MUNMAP,	/* args[0..1] addr, len; of executable ranges */
	VTU_HOOK_MPROTECT,	/* args[0..2] addr, len, prot; X gained or lost.
				 * Where a file's pages gained X, MMAP comes before */
	VTU_HOOK_THREAD_CREATE,	/* on the new thread, before its first block */
	VTU_HOOK_THREAD_EXIT,	/* args[0] status */
	VTU_HOOK_THREAD_NAME,	/* payload: name, 16 bytes */
	VTU_HOOK_EXIT,		/* exit_group, fatal signal: args[0] status as
				 * wait(2) gives it (no core bit); SIGKILL: none */
	VTU_HOOK_IRQ,		/* the unit's interrupt */
	VTU_HOOK_PARK,		/* answer to VTU_ATTN_PARK */
	VTU_HOOK_CODE,		/* args[0] pieces, args[1] bytes of payload, args[2]
				 * generation that they belong to; vtu_hook_code */
	VTU_HOOK_GENERATION,	/* args[0] generation; the stream stands at a break */
	VTU_HOOK_NATIVE,	/* exec of what the unit cannot run (args[0]: ELF
				 * machine, 0 unknown): goes on natively, untraced.
				 * Payload: path.  If exec fails, another hook (PARK)
				 * of that vCPU says so, and tracing goes on */
};

enum vtu_attach {		/* vtu_hook_attach.reason */
	VTU_ATTACH_START,	/* spawned by the owner, before the first block */
	VTU_ATTACH_EXEC,	/* same pid, new image; earlier blocks of pid are dead */
	VTU_ATTACH_FORK,	/* a child, before its first block after fork */
};
struct vtu_hook_attach {
	uint32_t	reason;
	uint32_t	parent_pid, parent_tid;	/* FORK; EXEC: old_tid in parent_tid */
	uint32_t	reserved;
};
struct vtu_hook_exec {
	uint64_t	addr, base;	/* start of text and load bias of the program */
	char		path[4096];
};
struct vtu_hook_mmap {
	uint64_t	addr, len, pgoff, ino;
	uint32_t	dev_major, dev_minor, prot, mapflags;
	char		path[4096];
};
/*
 * One piece of code that no file holds; the next piece is at
 * VTU_CODE_SPAN(len) bytes from this one.  A piece adds to what is known of its
 * generation and wins over files; it never differs from an earlier piece of the
 * same generation.
 */
struct vtu_hook_code {
	uint64_t	addr;
	uint32_t	len, reserved;
	uint8_t		bytes[];
};
#define VTU_CODE_SPAN(len) (sizeof(struct vtu_hook_code) + (((len) + 7u) & ~7u))

struct vtu_command {
	uint32_t	reg;
	uint32_t	reserved;
	uint64_t	value;
};

struct vtu_block {
	/* The word that the vCPU reads all the time has a line to itself. */
	uint32_t	attention;
	uint32_t	pad0[15];

	uint32_t	state;		/* enum vtu_state */
	int32_t		pid, tid;
	uint32_t	vcpu;		/* QEMU's index */
	uint64_t	generation;	/* that this vCPU goes by */
	uint64_t	clock;		/* this vCPU's clock as last published */
	uint64_t	insns;		/* instructions retired, as last published */
	uint32_t	faults, fault_reg;	/* writes refused; the last */
	uint32_t	irqs;		/* system mode: interrupts raised so far */
	uint32_t	pad1[3];

	/* Doorbell and wake-up; `wake` is the futex that the vCPU waits on. */
	uint32_t	wake __attribute__((aligned(64)));
	uint32_t	request, ack;	/* ack is the host's futex */
	uint32_t	ring_tail;	/* host appends here; the vCPU drains to it */
	uint32_t	ring_done;	/* host's own: what was acknowledged */
	uint32_t	hook_seq, hook_done;
	uint32_t	hook_told;	/* host: its record is queued; the vCPU may be kept */
	uint32_t	hook_type;	/* enum vtu_hook_type */
	uint32_t	hook_flags;
	uint64_t	hook_args[6];

	struct vtu_command ring[VTU_RING] __attribute__((aligned(4096)));
	uint8_t		payload[VTU_PAYLOAD] __attribute__((aligned(4096)));
	/*
	 * Registers, laid out as the architecture does.  PT: MSR number n at
	 * (n - 0x560) * 8; SPE: by the lowest bit of CRm and op2 of the encoding.
	 */
	uint8_t		regs[VTU_REGS] __attribute__((aligned(4096)));
};

_Static_assert(sizeof(struct vtu_header) <= VTU_HEADER_SIZE, "header");
_Static_assert(sizeof(struct vtu_block) <= VTU_BLOCK_SIZE, "block");

/*
 * CoreSight's registers: components of 4 KiB each, a register is named by its offset
 * in all of them.  The ETM is the vCPU's; it feeds the funnel (at port vcpu % 8) and
 * ETR of its own block, or those of the block that it wrote to VTU_CS_ROUTE (while
 * the ETM is off): another one of the process, whose vCPU may have ended, as long as
 * the host does not free it; of a machine, another CPU's.  Commands for funnel and ETR
 * are sent through any vCPU and go where its ETM feeds; they are read in that block.
 */
#define VTU_CS_ETM	0x0000u
#define VTU_CS_FUNNEL	0x1000u
#define VTU_CS_ETR	0x2000u
#define VTU_CS_ROUTE	0x7ff8u		/* 64 bits */

#define VTU_WINDOW_SIZE(n) ((uint64_t)VTU_HEADER_SIZE + (uint64_t)(n) * VTU_BLOCK_SIZE)

static inline struct vtu_block *vtu_block(struct vtu_header *h, uint32_t i)
{
	return (struct vtu_block *)((char *)h + VTU_HEADER_SIZE +
				    (uint64_t)i * VTU_BLOCK_SIZE);
}

#endif
