/* SPDX-License-Identifier: BSD-2-Clause */
/* What the writer remembers: threads, streams, and the build-ids of files. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "writer.h"

static size_t slot_of(const struct pdw_map *m, uint64_t key)
{
	/* Fibonacci hashing: tids and paths' hashes alike spread well. */
	size_t i = (size_t)((key * 0x9e3779b97f4a7c15ull) >> 32) & (m->cap - 1);

	while (m->values[i] && m->keys[i] != key)
		i = (i + 1) & (m->cap - 1);
	return i;
}

uint32_t pdw_map_get(const struct pdw_map *m, uint64_t key)
{
	return m->cap ? m->values[slot_of(m, key)] - 1 : PDW_NONE;
}

static int map_grow(struct pdw_map *m)
{
	struct pdw_map bigger = {.cap = m->cap ? m->cap * 2 : 64, .n = m->n};
	size_t i, slot;

	bigger.keys = calloc(bigger.cap, sizeof(*bigger.keys));
	bigger.values = calloc(bigger.cap, sizeof(*bigger.values));
	if (!bigger.keys || !bigger.values) {
		free(bigger.keys);
		free(bigger.values);
		return -ENOMEM;
	}
	for (i = 0; i < m->cap; i++) {
		if (!m->values[i])
			continue;
		slot = slot_of(&bigger, m->keys[i]);
		bigger.keys[slot] = m->keys[i];
		bigger.values[slot] = m->values[i];
	}
	free(m->keys);
	free(m->values);
	*m = bigger;
	return 0;
}

int pdw_map_set(struct pdw_map *m, uint64_t key, uint32_t index)
{
	size_t slot;
	int err;

	if ((m->n + 1) * 4 > m->cap * 3) {
		err = map_grow(m);
		if (err)
			return err;
	}
	slot = slot_of(m, key);
	m->n += !m->values[slot];
	m->keys[slot] = key;
	m->values[slot] = index + 1;
	return 0;
}

/* Appends a zeroed entry to a table; NULL: no memory.  Grows by doubling. */
static void *table_add(void **table, size_t *n, size_t size)
{
	void *bigger = *table;

	if (!(*n & (*n - 1))) {
		bigger = reallocarray(*table, *n ? *n * 2 : 1, size);
		if (!bigger)
			return NULL;
		*table = bigger;
	}
	bigger = (char *)bigger + *n * size;
	(*n)++;
	return memset(bigger, 0, size);
}

struct pdw_thread *pdw_thread(struct perfdata_writer *w, uint32_t pid, uint32_t tid)
{
	uint32_t i = pdw_map_get(&w->by_tid, tid);
	struct pdw_thread *t;

	if (i == PDW_NONE) {
		t = table_add((void **)&w->threads, &w->nthreads, sizeof(*t));
		if (!t)
			return NULL;
		if (pdw_map_set(&w->by_tid, tid, (uint32_t)(w->nthreads - 1))) {
			w->nthreads--;
			return NULL;
		}
		t->tid = tid;
	} else {
		t = &w->threads[i];
	}
	if (t->pid != pid) { /* new, or the number is used again */
		t->pid = pid;
		t->alive = true;
		t->started = false;
	}
	return t;
}

struct pdw_stream *pdw_stream(struct perfdata_writer *w, uint32_t pid, uint32_t id)
{
	uint64_t key = (uint64_t)(w->per_cpu ? 0 : pid) << 32 | id;
	uint32_t i = pdw_map_get(&w->by_stream, key);
	struct pdw_stream *s;

	if (i != PDW_NONE)
		return &w->streams[i];
	s = table_add((void **)&w->streams, &w->nstreams, sizeof(*s));
	if (!s)
		return NULL;
	if (pdw_map_set(&w->by_stream, key, (uint32_t)(w->nstreams - 1))) {
		w->nstreams--;
		return NULL;
	}
	s->pid = pid;
	s->id = id;
	s->idx = w->nqueues++;
	return s;
}

void pdw_note_trace(struct perfdata_writer *w, uint64_t file_offset)
{
	uint64_t *place = table_add((void **)&w->traces, &w->ntraces, sizeof(*place));

	if (place)
		*place = file_offset;
	else
		w->nomem = true;
}

static uint64_t file_key(const struct hwt_rec_mmap *map)
{
	uint64_t h = 0xcbf29ce484222325ull; /* FNV-1a */
	const char *c;

	for (c = map->path; *c; c++)
		h = (h ^ (uint8_t)*c) * 0x100000001b3ull;
	h = (h ^ map->ino) * 0x100000001b3ull;
	return (h ^ ((uint64_t)map->dev_major << 32 | map->dev_minor)) * 0x100000001b3ull;
}

static bool same_file(const struct pdw_file *f, const struct hwt_rec_mmap *map)
{
	return f->ino == map->ino && f->major == map->dev_major &&
	       f->minor == map->dev_minor && !strcmp(f->path, map->path);
}

const struct pdw_file *pdw_file(struct perfdata_writer *w, const struct hwt_rec_mmap *map)
{
	uint64_t key = file_key(map);
	uint32_t i = pdw_map_get(&w->by_file, key);
	struct pdw_file *f;
	int n;

	if (i != PDW_NONE && same_file(&w->files[i], map))
		return &w->files[i];
	f = table_add((void **)&w->files, &w->nfiles, sizeof(*f));
	if (!f)
		return NULL;
	f->path = strdup(map->path);
	if (!f->path)
		goto err_entry;
	/* Two files with one hash: the later one takes the place. */
	if (pdw_map_set(&w->by_file, key, (uint32_t)(w->nfiles - 1)))
		goto err_path;
	f->ino = map->ino;
	f->major = map->dev_major;
	f->minor = map->dev_minor;
	if (w->build_id) {
		n = w->build_id(w->build_id_ctx, f->path, f->build_id,
				sizeof(f->build_id));
		if (n > 0 && n <= (int)sizeof(f->build_id))
			f->size = (uint8_t)n;
	}
	return f;
err_path:
	free(f->path);
err_entry:
	w->nfiles--;
	return NULL;
}

static void map_free(struct pdw_map *m)
{
	free(m->keys);
	free(m->values);
}

void pdw_free_tables(struct perfdata_writer *w)
{
	size_t i;

	for (i = 0; i < w->nfiles; i++)
		free(w->files[i].path);
	free(w->files);
	free(w->traces);
	for (i = 0; i < w->nstreams; i++) {
		free(w->streams[i].kept);
		free(w->streams[i].drafts);
	}
	free(w->threads);
	free(w->streams);
	map_free(&w->by_tid);
	map_free(&w->by_stream);
	map_free(&w->by_file);
}
