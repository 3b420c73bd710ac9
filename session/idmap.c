// SPDX-License-Identifier: BSD-2-Clause
/*
 * Open addressing, linear probing; entries are replaced, never removed.  Keys are what a
 * file says: those that meet in one place could be chosen if the hash were always the
 * same.
 */
#include <errno.h>
#include <stdlib.h>
#include "session_priv.h"

static size_t slot_of(const struct idmap *m, uint32_t key)
{
	size_t i = (size_t)(key * m->factor >> 32) & (m->room - 1);

	while (m->values[i] && m->keys[i] != key)
		i = (i + 1) & (m->room - 1);
	return i;
}

void *idmap_get(const struct idmap *m, uint32_t key)
{
	return m->room ? m->values[slot_of(m, key)] : NULL;
}

static int grow(struct idmap *m)
{
	struct idmap bigger = {
		.room = m->room ? m->room * 2 : 64,
		.factor = (uint64_t)arc4random() << 32 | arc4random() | 1,
	};
	size_t i, at;

	bigger.keys = calloc(bigger.room, sizeof(*bigger.keys));
	bigger.values = calloc(bigger.room, sizeof(*bigger.values));
	if (!bigger.keys || !bigger.values) {
		idmap_free(&bigger);
		return -ENOMEM;
	}
	for (i = 0; i < m->room; i++) {
		if (!m->values[i])
			continue;
		at = slot_of(&bigger, m->keys[i]);
		bigger.keys[at] = m->keys[i];
		bigger.values[at] = m->values[i];
	}
	bigger.n = m->n;
	idmap_free(m);
	*m = bigger;
	return 0;
}

int idmap_put(struct idmap *m, uint32_t key, void *value)
{
	size_t at;

	if (m->n * 2 >= m->room && grow(m))
		return -ENOMEM;
	at = slot_of(m, key);
	m->n += !m->values[at];
	m->keys[at] = key;
	m->values[at] = value;
	return 0;
}

void idmap_free(struct idmap *m)
{
	free(m->keys);
	free(m->values);
	*m = (struct idmap){};
}
