// SPDX-License-Identifier: BSD-2-Clause
#include "driver_world.h"

#include <stdlib.h>
#include <sys/mman.h>

struct driver_world driver_world;
static struct hwt_core *core;

/* Only what is written takes memory: buffers can be as large as any. */
static struct hwt_pages *pages_alloc(void *host, size_t n, enum hwt_pages_how how)
{
	struct hwt_pages *p = calloc(1, sizeof(*p));

	p->npages = n;
	p->kva = mmap(NULL, n * PAGE, PROT_READ | PROT_WRITE,
		      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (p->kva == MAP_FAILED)
		abort();
	return p;
}

static void pages_free(void *host, struct hwt_pages *p)
{
	munmap(p->kva, p->npages * PAGE);
	free(p);
}

uint64_t driver_world_page_addr(void *host, struct hwt_pages *p, size_t i)
{
	uint64_t base = (uint64_t)(uintptr_t)p->kva;

	return driver_world.scattered ? base + (1ull << 36) * (i % 2) + i * PAGE
				      : base + i * PAGE;
}

static void page_write64(void *host, struct hwt_pages *p, uint64_t off, uint64_t v)
{
	if (off >= p->npages * PAGE)
		abort();
	if (driver_world.page_written)
		driver_world.page_written(driver_world_page_addr(NULL, p, off / PAGE) +
					  WORLD_BIAS);
	*(uint64_t *)((uint8_t *)p->kva + off) = v;
}

int driver_world_setup(void)
{
	driver_world = (struct driver_world){
		.host_ops = {
			.name = "test", .pages_alloc = pages_alloc, .pages_free = pages_free,
			.page_addr = driver_world_page_addr, .page_write64 = page_write64,
		},
	};
	core = hwt_load(&driver_world.host_ops, NULL);
	return core ? 0 : -1;
}

int driver_world_teardown(void)
{
	return hwt_unload(core);
}

uint64_t driver_world_now(struct hwt_bus *bus, int unit)
{
	return 0;
}

uint64_t driver_world_bus_addr(struct hwt_bus *bus, uint64_t addr)
{
	return addr + WORLD_BIAS;
}

static struct hwt_buffer *make(struct hwt_backend *be, uint64_t size, struct hwt_buffer *sink)
{
	static struct hwt_thread *const a_thread = (void *)&driver_world; /* never looked into */
	struct hwt_buffer *b = calloc(1, sizeof(*b));

	b->core = core;
	b->sink = sink ? sink : b;
	b->backend = be;
	b->thr = a_thread;
	b->bufsize = size;
	b->ring = true;
	hwt_spin_init(&b->lock);
	if (!sink)
		b->pages = pages_alloc(NULL, size / PAGE, be->pages);
	if (be->ops->buffer_init(b))
		abort();
	if (be->scope == HWT_SCOPE_CONTEXT)
		b->source = be->ops->source_get(b->sink);
	return b;
}

struct hwt_buffer *driver_world_buffer(struct hwt_backend *be, uint64_t size)
{
	return make(be, size, NULL);
}

struct hwt_buffer *driver_world_source(struct hwt_buffer *sink)
{
	return make(sink->backend, sink->bufsize, sink);
}

void driver_world_buffer_free(struct hwt_buffer *b)
{
	if (b->source)
		b->backend->ops->source_put(b->sink, b->source);
	b->backend->ops->buffer_fini(b);
	if (b->pages)
		pages_free(NULL, b->pages);
	free(b);
}
