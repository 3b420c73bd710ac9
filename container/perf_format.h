/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The layout of a perf.data file, as perf 6.1 writes and reads it
 * (tools/perf/Documentation/perf.data-file-format.txt); what the kernel emits
 * itself (PERF_RECORD_* below 64, struct perf_event_attr) is in
 * <linux/perf_event.h>.  All integers in the byte order of the writer.
 */
#ifndef CONTAINER_PERF_FORMAT_H
#define CONTAINER_PERF_FORMAT_H

#include <stddef.h>
#include <stdint.h>
#include <linux/perf_event.h>
#include <hwt/hwt_ext.h>

#define PERF_FILE_MAGIC		0x32454c4946524550ull	/* "PERFILE2" */
#define PERF_FILE_MAGIC_SWAPPED	0x50455246494c4532ull
#define PERF_PIPE_HEADER_SIZE	16			/* `perf record -o -` */

struct perf_section {
	uint64_t	offset, size;
};
struct perf_file_header {
	uint64_t	magic, size;
	uint64_t	attr_size;	/* of one struct perf_file_attr in this file */
	struct perf_section attrs, data, event_types;
	uint64_t	features[4];	/* bitmap; their sections lie behind the data */
};
#define PERF_FILE_HEADER_SIZE	104
_Static_assert(sizeof(struct perf_file_header) == PERF_FILE_HEADER_SIZE, "layout");

#define PERF_FEAT_BUILD_ID	2
#define PERF_FEAT_HOSTNAME	3
#define PERF_FEAT_OSRELEASE	4
#define PERF_FEAT_VERSION	5
#define PERF_FEAT_ARCH		6
#define PERF_FEAT_NRCPUS	7
#define PERF_FEAT_CPUDESC	8
#define PERF_FEAT_CPUID		9
#define PERF_FEAT_TOTAL_MEM	10
#define PERF_FEAT_CMDLINE	11
#define PERF_FEAT_EVENT_DESC	12
#define PERF_FEAT_PMU_MAPPINGS	16
#define PERF_FEAT_AUXTRACE	18
#define PERF_FEAT_SAMPLE_TIME	21
#define PERF_FEAT_MAX		256
#define PERF_STRING_ALIGN	64	/* strings in features are padded to it */

/* Records of perf itself (enum perf_user_event_type). */
#define PERF_USER_FIRST		64
#define PERF_USER_EVENT_TYPE	65	/* unused since 2012; every perf skips it */
#define PERF_USER_AUXTRACE_INFO	70
#define PERF_USER_AUXTRACE	71
#define PERF_USER_TIME_CONV	79
#define PERF_USER_COMPRESSED	81
#define PERF_USER_COMPRESSED2	83
#define PERF_RECORD_SIZE_MAX	65528	/* header.size is 16 bits; multiple of 8 */
#define PERF_PADDING_MAX	16	/* bytes behind our own trace in an AUXTRACE */

struct perf_auxtrace_info {
	struct perf_event_header header;
	uint32_t	type;		/* PERF_AUXTRACE_* */
	uint32_t	reserved;
	uint64_t	priv[];
};
#define PERF_AUXTRACE_INTEL_PT	1
#define PERF_AUXTRACE_INTEL_BTS	2
#define PERF_AUXTRACE_CS_ETM	3
#define PERF_AUXTRACE_ARM_SPE	4

/* priv[] of intel_pt; a string follows the length in the last one. */
enum {
	PT_PRIV_PMU_TYPE, PT_PRIV_TIME_SHIFT, PT_PRIV_TIME_MULT, PT_PRIV_TIME_ZERO,
	PT_PRIV_USER_TIME_ZERO, PT_PRIV_TSC_BIT, PT_PRIV_NORETCOMP_BIT,
	PT_PRIV_SCHED_SWITCH, PT_PRIV_SNAPSHOT, PT_PRIV_PER_CPU, PT_PRIV_MTC_BIT,
	PT_PRIV_MTC_FREQ_BITS, PT_PRIV_TSC_CTC_N, PT_PRIV_TSC_CTC_D, PT_PRIV_CYC_BIT,
	PT_PRIV_MAX_NONTURBO, PT_PRIV_FILTER_LEN, PT_PRIV_COUNT
};

/*
 * attr.config of the intel_pt PMU (/sys/bus/event_source/devices/intel_pt/format):
 * the bits of IA32_RTIT_CTL (SDM 33.2.8.2), but bit 0 says that BranchEn is to be
 * taken from here; OS and User come from exclude_kernel and exclude_user.
 */
#define PT_CONFIG_PT		(1ull << 0)
#define PT_CONFIG_CYC		(1ull << 1)
#define PT_CONFIG_MTC		(1ull << 9)
#define PT_CONFIG_TSC		(1ull << 10)
#define PT_CONFIG_NORETCOMP	(1ull << 11)
#define PT_CONFIG_BRANCH	(1ull << 13)
#define PT_CONFIG_MTC_PERIOD_SHIFT 14
#define PT_CONFIG_MTC_PERIOD	(0xfull << PT_CONFIG_MTC_PERIOD_SHIFT)
#define PT_CONFIG_ALL		0x0f7bfe33ull
#define PT_CTL_OS		(1ull << 2)
#define PT_CTL_USER		(1ull << 3)
/* priv[] of arm_spe */
enum { SPE_PRIV_PMU_TYPE, SPE_PRIV_PER_CPU, SPE_PRIV_COUNT };
/* attr.config of the arm_spe PMU; config1 is PMSEVFR_EL1, config2 the least latency. */
#define SPE_CONFIG_TS		(1ull << 0)
#define SPE_CONFIG_PA		(1ull << 1)
#define SPE_CONFIG_JITTER	(1ull << 16)
#define SPE_CONFIG_BRANCH	(1ull << 32)
#define SPE_CONFIG_LOAD		(1ull << 33)
#define SPE_CONFIG_STORE	(1ull << 34)
#define SPE_CONFIG2_LATENCY	0xfffull

/* priv[] of cs_etm, version 1; for each CPU a block of CS_CPU_* follows. */
enum { CS_PRIV_VERSION, CS_PRIV_PMU_CPUS, CS_PRIV_SNAPSHOT, CS_PRIV_COUNT };
enum {
	CS_CPU_MAGIC, CS_CPU_NUMBER, CS_CPU_NPARAMS,	/* version 0 has no NPARAMS */
	CS_CPU_CONFIGR, CS_CPU_TRACEIDR, CS_CPU_IDR0, CS_CPU_IDR1, CS_CPU_IDR2,
	CS_CPU_IDR8, CS_CPU_AUTHSTATUS, CS_CPU_COUNT,
	CS_CPU_DEVARCH = CS_CPU_COUNT			/* ETE */
};
#define CS_MAGIC_ETM4	0x4040404040404040ull
#define CS_MAGIC_ETE	0x5050505050505050ull
/* attr.config of the cs_etm PMU */
#define CS_CONFIG_BRANCH_BROADCAST (1ull << 8)
#define CS_CONFIG_CYCACC	(1ull << 12)
#define CS_CONFIG_CTXTID	(1ull << 14)
#define CS_CONFIG_TS		(1ull << 28)
#define CS_CONFIG_RETSTACK	(1ull << 29)

/* Where struct hwt_query's caps hold CPUID.15H (TSC/ART ratio). */
#define PT_CAPS_RATIO_DEN	8
#define PT_CAPS_RATIO_NUM	9

struct perf_auxtrace {
	struct perf_event_header header;
	uint64_t	size;		/* of the bytes that follow the record */
	uint64_t	offset, reference;
	uint32_t	idx, tid, cpu;
	uint32_t	padding;	/* reserved; ours: bytes of padding in size */
};

struct perf_time_conv {
	struct perf_event_header header;
	uint64_t	shift, mult, zero, cycles, mask;
	uint8_t		user_time_zero, user_time_short, reserved[6];
};
#define PERF_TIME_CONV_MIN	32	/* before perf 5.11 it ended after zero */

struct perf_mmap2 {
	struct perf_event_header header;
	uint32_t	pid, tid;
	uint64_t	addr, len, pgoff;
	union {
		struct {
			uint32_t major, minor;
			uint64_t ino, ino_generation;
		};
		struct {	/* PERF_RECORD_MISC_MMAP_BUILD_ID */
			uint8_t build_id_size, reserved[3];
			uint8_t build_id[20];
		};
	};
	uint32_t	prot, flags;
	char		path[];
};
struct perf_task {		/* FORK, EXIT */
	struct perf_event_header header;
	uint32_t	pid, ppid, tid, ptid;
	uint64_t	time;
};
struct perf_aux {
	struct perf_event_header header;
	uint64_t	offset, size, flags;
};

struct perf_build_id {		/* an entry of PERF_FEAT_BUILD_ID; a path follows */
	struct perf_event_header header;
	int32_t		pid;
	uint8_t		build_id[20], size, reserved[3];
};
#define PERF_MISC_BUILD_ID_SIZE	(1 << 15)	/* size is filled */

/*
 * What perf has no record for: PERF_USER_EVENT_TYPE records that begin with this.
 * A payload larger than one record is split; the parts follow each other.
 */
struct hwt_part {
	struct perf_event_header header;
	uint64_t	magic;
	uint32_t	kind;		/* HWT_PART_* */
	uint32_t	total;		/* bytes of the payload, all parts */
	uint32_t	offset;		/* of this part in it */
	uint32_t	reserved;
};
#define HWT_PART_MAGIC		0x316365722d747768ull	/* "hwt-rec1" */
#define HWT_PART_MAX		(16u << 20)	/* no payload is larger */
enum {
	HWT_PART_INFO = 1,	/* struct hwt_part_info */
	HWT_PART_REC,		/* struct hwt_rec */
	HWT_PART_END,		/* the recording was closed in good order */
	HWT_PART_SHOWN,		/* text with its NUL: what of the trace was asked for */
	HWT_PART_SYMBOLS,	/* lines of /proc/kallsyms */
	HWT_PART_SPE,		/* struct arm_spe_config2: as it was programmed */
};
struct hwt_part_info {
	uint32_t	version;	/* HWT_PART_VERSION */
	uint32_t	ncaps;
	uint64_t	rtit_ctl;
	uint64_t	time_hz;
	char		backend[16], host[16];
	uint32_t	caps[32];
};
#define HWT_PART_VERSION	1

#define ALIGN8(n)		(((n) + 7) & ~(__typeof__(n))7)

/*
 * 0, or -EINVAL: rec, of which avail bytes are there, does not hold what its
 * size and type promise (strings that end, lengths within it).
 */
int hwt_rec_check(const struct hwt_rec *rec, size_t avail);

/* ns = zero + (ticks * mult >> shift); both saturate. */
struct time_conv {
	uint64_t	zero;
	uint32_t	mult;
	uint16_t	shift;
};
void time_conv_init(struct time_conv *tc, uint64_t hz);
uint64_t time_conv_ns(const struct time_conv *tc, uint64_t ticks);
uint64_t time_conv_ticks(const struct time_conv *tc, uint64_t ns);

#endif
