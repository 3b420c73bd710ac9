/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The interface's sizes, offsets and numbers, the same on x86_64 and aarch64: a
 * program that was compiled once must go on working.  Compiling this is the test.
 */
#include <stddef.h>

#include <hwt/hwt_ext.h>
#include <hwt/pt.h>
#include <hwt/spe.h>

#define SIZE(type, n) _Static_assert(sizeof(type) == (n), #type)
#define AT(type, member, n) _Static_assert(offsetof(type, member) == (n), #type "." #member)
#define IS(what, n) _Static_assert((what) == (n), #what)

/* <hwt/hwt.h> and <hwt/hwt_record.h>: FreeBSD's. */
SIZE(struct hwt_alloc, 64);
AT(struct hwt_alloc, bufsize, 0);
AT(struct hwt_alloc, mode, 8);
AT(struct hwt_alloc, pid, 12);
AT(struct hwt_alloc, cpu_map, 16);
AT(struct hwt_alloc, cpusetsize, 24);
AT(struct hwt_alloc, backend_name, 32);
AT(struct hwt_alloc, ident, 40);
AT(struct hwt_alloc, kqueue_fd, 48);
SIZE(struct hwt_start, 16);
SIZE(struct hwt_stop, 16);
SIZE(struct hwt_wakeup, 16);
SIZE(struct hwt_record_user_entry, 4128);
AT(struct hwt_record_user_entry, record_type, 0);
AT(struct hwt_record_user_entry, fullpath, 8);
AT(struct hwt_record_user_entry, addr, 4104);
AT(struct hwt_record_user_entry, baseaddr, 4112);
AT(struct hwt_record_user_entry, buf_id, 8);
AT(struct hwt_record_user_entry, curpage, 12);
AT(struct hwt_record_user_entry, offset, 16);
AT(struct hwt_record_user_entry, thread_id, 8);
SIZE(struct hwt_record_get, 32);
AT(struct hwt_record_get, records, 0);
AT(struct hwt_record_get, nentries, 8);
AT(struct hwt_record_get, wait, 16);
SIZE(struct hwt_bufptr_get, 32);
AT(struct hwt_bufptr_get, offset, 8);
AT(struct hwt_bufptr_get, data, 16);
SIZE(struct hwt_set_config, 32);
AT(struct hwt_set_config, config, 8);
AT(struct hwt_set_config, config_size, 16);
AT(struct hwt_set_config, config_version, 24);
SIZE(struct hwt_svc_buf, 32);
AT(struct hwt_svc_buf, data_size, 8);
AT(struct hwt_svc_buf, data_version, 16);
SIZE(enum hwt_record_type, 4);

IS(HWT_IOC_ALLOC, 0x40404200u);
IS(HWT_IOC_START, 0x40104201u);
IS(HWT_IOC_STOP, 0x40104202u);
IS(HWT_IOC_RECORD_GET, 0x40204203u);
IS(HWT_IOC_BUFPTR_GET, 0x40204204u);
IS(HWT_IOC_SET_CONFIG, 0x40204205u);
IS(HWT_IOC_WAKEUP, 0x40104206u);
IS(HWT_IOC_SVC_BUF, 0x40204207u);
IS(HWT_MODE_THREAD, 1);
IS(HWT_MODE_CPU, 2);
IS(HWT_RECORD_MMAP, 0);
IS(HWT_RECORD_MUNMAP, 1);
IS(HWT_RECORD_EXECUTABLE, 2);
IS(HWT_RECORD_KERNEL, 3);
IS(HWT_RECORD_THREAD_CREATE, 4);
IS(HWT_RECORD_THREAD_SET_NAME, 5);
IS(HWT_RECORD_BUFFER, 6);
IS(HWT_BACKEND_MAXNAMELEN, 256);

/* <hwt/hwt_ext.h>: no padding anywhere. */
SIZE(struct hwt_record_get2, 24);
SIZE(struct hwt_rec, 40);
AT(struct hwt_rec, type, 4);
AT(struct hwt_rec, flags, 6);
AT(struct hwt_rec, time, 8);
AT(struct hwt_rec, pid, 16);
AT(struct hwt_rec, tid, 20);
AT(struct hwt_rec, cpu, 24);
AT(struct hwt_rec, generation, 28);
AT(struct hwt_rec, position, 32);
SIZE(struct hwt_rec_mmap, 48);
AT(struct hwt_rec_mmap, path, 48);
SIZE(struct hwt_rec_munmap, 16);
SIZE(struct hwt_rec_mprotect, 24);
SIZE(struct hwt_rec_exec, 24);
SIZE(struct hwt_rec_thread, 8);
SIZE(struct hwt_rec_name, 16);
SIZE(struct hwt_rec_fork, 8);
SIZE(struct hwt_rec_buffer, 32);
SIZE(struct hwt_rec_kernel, 16);
SIZE(struct hwt_rec_code, 16);
SIZE(struct hwt_rec_lost, 8);
SIZE(struct hwt_rec_exit, 8);
SIZE(struct hwt_rec_generation, 8);
SIZE(struct hwt_wakeup_tid, 8);
SIZE(struct hwt_set_config2, 32);
SIZE(struct hwt_query, 288);
SIZE(struct hwt_kernel_read, 32);
AT(struct hwt_query, modes, 136);
AT(struct hwt_query, time_hz, 152);
AT(struct hwt_query, caps, 160);
IS(HWT_IOC_RECORD_GET2, 0xc0184240u);
IS(HWT_IOC_WAKEUP_TID, 0x40084241u);
IS(HWT_IOC_SET_CONFIG2, 0x40204242u);
IS(HWT_IOC_QUERY, 0xc1204243u);
IS(HWT_IOC_POSITION_GET, 0x80084245u);
IS(HWT_REC_MMAP, 1);
IS(HWT_REC_FORK, 8);
IS(HWT_REC_EXIT, 13);
IS(HWT_REC_GENERATION, 15);
IS(HWT_REC_SOURCE, 16);
SIZE(struct hwt_rec_source, 8);
IS(HWT_REC_NATIVE, 17);
SIZE(struct hwt_rec_native, 8);

/* <hwt/pt.h> */
SIZE(struct pt_cpu_config, 72);
SIZE(struct pt_cpu_config2, 104);
AT(struct pt_cpu_config2, more, 72);
AT(struct pt_cpu_config, cr3_filter, 8);
AT(struct pt_cpu_config, nranges, 16);
AT(struct pt_cpu_config, ip_ranges, 24);
AT(struct pt_cpu_config, mtc_freq, 56);
AT(struct pt_cpu_config, cyc_thresh, 60);
AT(struct pt_cpu_config, psb_freq, 64);
SIZE(struct pt_svc_buf, 16);
AT(struct pt_svc_buf, tail, 8);

/* <hwt/spe.h>: version 1 is FreeBSD's. */
SIZE(struct arm_spe_config, 12);
AT(struct arm_spe_config, level, 4);
AT(struct arm_spe_config, ctx_field, 8);
SIZE(struct arm_spe_svc_buf, 8);
SIZE(struct arm_spe_config2, 48);
AT(struct arm_spe_config2, flags, 12);
AT(struct arm_spe_config2, pmsfcr, 16);
AT(struct arm_spe_config2, pmslatfr, 40);
SIZE(struct arm_spe_svc_buf2, 16);
AT(struct arm_spe_svc_buf2, tail, 8);

int main(void)
{
	return 0;
}
