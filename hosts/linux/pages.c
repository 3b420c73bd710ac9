// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Buffers and tables: zeroed pages in runs as long as memory has them, which is
 * what a unit's tables want; each page can be mapped by itself.  A unit that takes
 * one run only gets it from the page allocator, or else by having others' pages
 * moved away.
 */
#include <linux/gfp.h>
#include <linux/highmem.h>
#include <linux/io.h>
#include <linux/mm.h>
#include <linux/sched/signal.h>
#include <linux/vmalloc.h>

#include "compat.h"
#include "linux.h"

#define MAX_RUN_ORDER	9	/* 2 MiB; longer runs gain nothing */
#define GFP_BUFFER	(GFP_KERNEL_ACCOUNT | __GFP_ZERO | __GFP_NOWARN)

struct page_list {
	struct hwt_pages	pages;
	struct page		*list[];
};

static struct page **list_of(struct hwt_pages *pages)
{
	return container_of(pages, struct page_list, pages)->list;
}

static unsigned int order_for(size_t npages)
{
	unsigned int order = MAX_RUN_ORDER;

	while ((size_t)1 << order > npages)
		order--;
	return order;
}

/*
 * A run of at most 1 << *order pages; *order becomes what it is.  A buffer is a
 * convenience: others' memory is not to be reclaimed by killing them.
 */
static struct page *run_alloc(unsigned int *order)
{
	struct page *page;

	for (;; --*order) {
		page = alloc_pages(GFP_BUFFER | (*order ? __GFP_NORETRY
							: __GFP_RETRY_MAYFAIL), *order);
		if (page || !*order)
			return page;
	}
}

static void pages_add(struct page_list *l, struct page *run, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++)
		l->list[l->pages.npages++] = run + i;
}

static int fill_by_runs(struct page_list *l, size_t npages)
{
	unsigned int order = MAX_RUN_ORDER;
	struct page *run;

	while (l->pages.npages < npages) {
		order = min(order, order_for(npages - l->pages.npages));
		run = fatal_signal_pending(current) ? NULL : run_alloc(&order);
		if (!run)
			return -ENOMEM;
		if (order)
			split_page(run, order);
		pages_add(l, run, (size_t)1 << order);
		cond_resched();
	}
	return 0;
}

/* Of the allocator's largest runs; what is beyond npages goes back. */
static struct page *run_of_allocator(size_t npages)
{
	unsigned int order = get_order(npages << PAGE_SHIFT);
	struct page *run = NULL;
	size_t i;

	if (order <= HWT_COMPAT_MAX_ORDER)
		run = alloc_pages(GFP_BUFFER | __GFP_NORETRY, order);
	if (!run)
		return NULL;
	split_page(run, order);
	for (i = npages; i < (size_t)1 << order; i++)
		__free_page(run + i);
	return run;
}

/* Slow, and a kernel may be built without it. */
static struct page *run_by_moving(size_t npages)
{
	hwt_compat_alloc_contig_fn alloc = (void *)hwt_linux_symbol(HWT_COMPAT_ALLOC_CONTIG);
	struct page *run = alloc ? alloc(npages, GFP_KERNEL | __GFP_NOWARN, numa_node_id(),
					 NULL) : NULL;
	size_t i;

	for (i = 0; run && i < npages; i++) {
		clear_highpage(run + i);
		cond_resched();
	}
	return run;
}

static int fill_by_one(struct page_list *l, size_t npages)
{
	struct page *run = run_of_allocator(npages);

	if (!run)
		run = run_by_moving(npages);
	if (!run)
		return -ENOMEM;
	pages_add(l, run, npages);
	return 0;
}

static int pages_fill(struct page_list *l, size_t npages, enum hwt_pages_how how)
{
	int rc = how == HWT_PAGES_CONTIGUOUS ? fill_by_one(l, npages) :
					       fill_by_runs(l, npages);

	if (rc || how != HWT_PAGES_MAPPED)
		return rc;
	l->pages.kva = vmap(l->list, npages, VM_MAP, PAGE_KERNEL);
	return l->pages.kva ? 0 : -ENOMEM;
}

struct hwt_pages *hwt_linux_pages_alloc(void *host, size_t npages, enum hwt_pages_how how)
{
	struct page_list *l;

	if (npages > totalram_pages() || hwt_fault_hit())
		return NULL;
	l = hwt_alloc(struct_size(l, list, npages), HWT_MAY_SLEEP);
	if (!l)
		return NULL;
	if (pages_fill(l, npages, how)) {
		hwt_linux_pages_free(host, &l->pages);
		return NULL;
	}
	l->pages.host = l->list;
	return &l->pages;
}

void hwt_linux_pages_free(void *host, struct hwt_pages *pages)
{
	size_t i;

	if (!pages)
		return;
	if (pages->kva)
		vunmap(pages->kva);
	/* A mapping that is still there keeps its pages. */
	for (i = 0; i < pages->npages; i++)
		__free_page(list_of(pages)[i]);
	hwt_free(container_of(pages, struct page_list, pages));
}

uint64_t hwt_linux_page_addr(void *host, struct hwt_pages *pages, size_t i)
{
	return page_to_phys(list_of(pages)[i]);
}

void hwt_linux_page_write64(void *host, struct hwt_pages *pages, uint64_t off,
			    uint64_t value)
{
	char *page = page_address(list_of(pages)[off / PAGE_SIZE]);

	WRITE_ONCE(*(uint64_t *)(page + off % PAGE_SIZE), value);
}

int hwt_linux_pages_map(struct hwt_pages *pages, struct vm_area_struct *vma)
{
	return vm_map_pages(vma, list_of(pages), pages->npages);
}
