// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Kernel objects: everything whose code the kernel may run.  Contexts in CPU mode
 * are told of each, of those that come later, and of patches; hooks for these are
 * armed before the first list is made, so that nothing falls in between.
 *
 *   the kernel's text, modules, kprobe slots, ftrace trampolines, BPF programs
 *
 * Lists that the kernel does not export are found by name; one that this kernel
 * has not is left out.
 */
#include <linux/bpf.h>
#include <linux/filter.h>
#include <linux/kallsyms.h>
#include <linux/kernel.h>
#include <linux/kprobes.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/perf_event.h>
#include <linux/ptrace.h>
#include <linux/uaccess.h>

#include "compat.h"
#include "linux.h"

#define TRAMPOLINE_MAX	4096u
#define PATCH_MAX	64u		/* bytes; arm64 patches an instruction, or a few */

static typeof(&kernel_text_address) is_text;

/* ---- those that are there ---- */

static int list_text(struct hwt_context *ctx)
{
	unsigned long start = hwt_linux_symbol("_stext"), end = hwt_linux_symbol("_etext");

	if (!start || end <= start)
		return -EOPNOTSUPP;
	hwt_hook_kernel(hwt_linux_core, ctx, start, end - start, "kernel");
	return 0;
}

/* "[name]", as others call it, too. */
static void module_path(const struct module *mod, char *path, size_t size)
{
	snprintf(path, size, "[%s]", mod->name);
}

/* The list's head is in the kernel: what is no module of its own. */
static void list_modules(struct hwt_context *ctx)
{
	char path[MODULE_NAME_LEN + 3];
	struct list_head *at = &THIS_MODULE->list;
	struct module *mod;
	size_t len;
	void *base;

	preempt_disable();
	do {
		mod = list_entry(at, struct module, list);
		if (mod == THIS_MODULE || (mod->mkobj.mod == mod &&
					   mod->state != MODULE_STATE_UNFORMED)) {
			hwt_compat_module_text(mod, &base, &len);
			module_path(mod, path, sizeof(path));
			hwt_hook_kernel(hwt_linux_core, ctx, (uintptr_t)base, len, path);
		}
		at = rcu_dereference_sched(list_next_rcu(at));
	} while (at != &THIS_MODULE->list);
	preempt_enable();
}

static void list_kprobes(struct hwt_context *ctx)
{
	int (*get)(unsigned int n, unsigned long *value, char *type, char *sym) =
		(void *)hwt_linux_symbol("kprobe_get_kallsym");
	char type, name[KSYM_NAME_LEN];
	unsigned long addr;
	unsigned int i;

	for (i = 0; get && !get(i, &addr, &type, name); i++)
		hwt_hook_kernel(hwt_linux_core, ctx, addr, PAGE_SIZE, name);
}

/* Its length is told nowhere; after it comes something that is no code. */
static size_t trampoline_length(unsigned long addr)
{
	size_t n = 0;

	while (n < TRAMPOLINE_MAX && is_text(addr + n))
		n++;
	return n;
}

static void list_trampolines(struct hwt_context *ctx)
{
	int (*get)(unsigned int n, unsigned long *value, char *type, char *name,
		   char *module, int *exported) =
		(void *)hwt_linux_symbol("ftrace_mod_get_kallsym");
	char type, name[KSYM_NAME_LEN], module[MODULE_NAME_LEN];
	unsigned long addr;
	unsigned int i;
	int exported;

	/* Before them it lists functions of modules' freed memory. */
	for (i = 0; get && !get(i, &addr, &type, name, module, &exported); i++)
		if (!strcmp(name, "ftrace_trampoline"))
			hwt_hook_kernel(hwt_linux_core, ctx, addr, trampoline_length(addr),
					name);
}

static void list_bpf(struct hwt_context *ctx)
{
	int (*get)(unsigned int n, unsigned long *value, char *type, char *sym) =
		(void *)hwt_linux_symbol("bpf_get_kallsym");
	hwt_compat_bpf_lookup_fn lookup =
		(void *)hwt_linux_symbol("__bpf_address_lookup");
	char type, name[KSYM_NAME_LEN];
	unsigned long addr, size, offset;
	unsigned int i;

	if (!get || !lookup)
		return;
	for (i = 0; get(i, &addr, &type, name) >= 0; i++)
		if (lookup(addr, &size, &offset, name))
			hwt_hook_kernel(hwt_linux_core, ctx, addr - offset, size, name);
}

/* ---- those that come ---- */

static int on_module(struct notifier_block *block, unsigned long state, void *data)
{
	char path[MODULE_NAME_LEN + 3];
	size_t len;
	void *base;

	if (state != MODULE_STATE_COMING)
		return NOTIFY_DONE;
	hwt_compat_module_text(data, &base, &len);
	module_path(data, path, sizeof(path));
	hwt_hook_kernel_new(hwt_linux_core, (uintptr_t)base, len, path);
	return NOTIFY_OK;
}
static struct notifier_block module_block = {.notifier_call = on_module};

/* perf_event_ksymbol(type, addr, len, unregister, name): slots and trampolines */
static int on_ksymbol(struct kprobe *probe, struct pt_regs *regs)
{
	if (!(bool)regs_get_kernel_argument(regs, 3))
		hwt_hook_kernel_new(hwt_linux_core, regs_get_kernel_argument(regs, 1),
				    (u32)regs_get_kernel_argument(regs, 2),
				    (const char *)regs_get_kernel_argument(regs, 4));
	return 0;
}

#ifdef CONFIG_BPF_JIT
static void new_bpf(const struct bpf_prog *prog)
{
	if (prog->jited)
		hwt_hook_kernel_new(hwt_linux_core, (uintptr_t)prog->bpf_func,
				    prog->jited_len, prog->aux->ksym.name);
}

/* perf_event_bpf_event(prog, type, flags): a program and its functions */
static int on_bpf(struct kprobe *probe, struct pt_regs *regs)
{
	const struct bpf_prog *prog = (void *)regs_get_kernel_argument(regs, 0);
	u32 i;

	if ((unsigned int)regs_get_kernel_argument(regs, 1) != PERF_BPF_EVENT_PROG_LOAD)
		return 0;
	new_bpf(prog);
	for (i = 1; i < prog->aux->func_cnt; i++)
		new_bpf(prog->aux->func[i]);
	return 0;
}
#endif

/* perf_event_text_poke(addr, old, old_len, new, new_len): text is patched. */
static int on_poke(struct kprobe *probe, struct pt_regs *regs)
{
	hwt_hook_text_poke(hwt_linux_core, regs_get_kernel_argument(regs, 0),
			   (const void *)regs_get_kernel_argument(regs, 3),
			   (u32)regs_get_kernel_argument(regs, 4));
	return 0;
}

#ifdef CONFIG_ARM64
/*
 * caches_clean_inval_pou(start, end): what was written there is to be executed.  arm64
 * tells perf of no patch, and what writes one cannot be probed; but each goes on to
 * here: static keys, ftrace, probes, BPF.  Others come with pages of processes and with
 * whole modules.
 */
static int on_written(struct kprobe *probe, struct pt_regs *regs)
{
	unsigned long start = regs_get_kernel_argument(regs, 0);
	unsigned long end = regs_get_kernel_argument(regs, 1);

	if (end - start <= PATCH_MAX && is_text(start))
		hwt_hook_text_poke(hwt_linux_core, start, (const void *)start,
				   (u32)(end - start));
	return 0;
}
#endif

static struct kprobe probes[] = {
#ifdef CONFIG_ARM64
	{.symbol_name = "caches_clean_inval_pou", .pre_handler = on_written},
#endif
	{.symbol_name = "perf_event_text_poke", .pre_handler = on_poke},
	{.symbol_name = "perf_event_ksymbol", .pre_handler = on_ksymbol},
#ifdef CONFIG_BPF_JIT
	{.symbol_name = "perf_event_bpf_event", .pre_handler = on_bpf},
#endif
};

/* ---- armed while contexts in CPU mode are ---- */

static DEFINE_MUTEX(kobj_lock);
static int kobj_users;

static int arm(void)
{
	int rc;

	is_text = (void *)hwt_linux_symbol("kernel_text_address");
	if (!is_text)
		return -EOPNOTSUPP;
	rc = register_module_notifier(&module_block);
	if (rc)
		return rc;
	rc = hwt_linux_kprobes_register(probes, ARRAY_SIZE(probes));
	if (rc)
		unregister_module_notifier(&module_block);
	return rc;
}

static int kobj_get(void)
{
	int rc = 0;

	mutex_lock(&kobj_lock);
	if (!kobj_users)
		rc = arm();
	if (!rc)
		kobj_users++;
	mutex_unlock(&kobj_lock);
	return rc;
}

void hwt_linux_kernel_done(void *host)
{
	mutex_lock(&kobj_lock);
	if (!--kobj_users) {
		hwt_linux_kprobes_unregister(probes, ARRAY_SIZE(probes));
		unregister_module_notifier(&module_block);
	}
	mutex_unlock(&kobj_lock);
}

int hwt_linux_kernel_objects(void *host, struct hwt_context *ctx)
{
	int rc = kobj_get();

	if (rc)
		return rc;
	rc = list_text(ctx);
	if (rc) {
		hwt_linux_kernel_done(host);
		return rc;
	}
	list_modules(ctx);
	list_kprobes(ctx);
	list_trampolines(ctx);
	list_bpf(ctx);
	return 0;
}

/* ---- their bytes ---- */

/* How much code there is at addr, at most max, all in one page. */
static size_t text_length(uint64_t addr, size_t max)
{
	size_t n = 0;

	if (is_text(addr) && is_text(addr + max - 1))
		return max;
	while (n < max && is_text(addr + n))
		n++;
	return n;
}

static int read_piece(uint64_t addr, uint64_t ubuf, size_t len, void *bounce)
{
	if (copy_from_kernel_nofault(bounce, (void *)(uintptr_t)addr, len))
		return -ENOENT;
	return hwt_copyout(bounce, ubuf, len);
}

int hwt_linux_kernel_read(void *host, uint64_t addr, uint64_t ubuf, uint64_t len,
			  uint64_t *done)
{
	void *bounce = hwt_alloc(PAGE_SIZE, HWT_MAY_SLEEP);
	size_t n, want;
	int rc = 0;

	if (!bounce)
		return -ENOMEM;
	for (; !rc && *done < len; cond_resched()) {
		want = min_t(uint64_t, len - *done, PAGE_SIZE - offset_in_page(addr + *done));
		n = text_length(addr + *done, want);
		rc = n ? read_piece(addr + *done, ubuf + *done, n, bounce) : -ENOENT;
		if (!rc)
			*done += n;
	}
	hwt_free(bounce);
	/* Code that ends is an end, not an error. */
	return rc == -ENOENT && *done ? 0 : rc;
}
