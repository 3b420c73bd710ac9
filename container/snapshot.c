/* SPDX-License-Identifier: BSD-2-Clause */
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>
#include "snapshot.h"

#define SNAPSHOT_INI "snapshot.ini"

#define FILE_MAX     (1u << 20) /* bytes of one .ini */
#define LIST_MAX     4096u	/* devices, dumps, registers, buffers */

/* Trace IDs of sources; the others are the formatter's own (IHI 0029 D4.2). */
#define ID_FIRST     0x01u
#define ID_LAST	     0x6fu

/* A name that waits until all is read: source=buffer, core=source. */
struct link {
	char *from, *to;
};

struct links {
	struct link *v;
	size_t n;
};

struct reading {
	struct snapshot *s;
	const char *folder;
	char **error;
	const char *file; /* being read */

	char **device_files;
	size_t ndevice_files;
	char *metadata;
	char **buffer_sections; /* the section of buffers[i] */
	size_t nbuffer_sections;
	char *buffer_list; /* the sections that there should be */
	struct links source_buffers, core_sources;
	char dump_section[64]; /* that the last dump is of */
};

static int complain(struct reading *r, int err, const char *what)
{
	if (!*r->error && asprintf(r->error, "%s/%s: %s", r->folder, r->file, what) < 0)
		*r->error = NULL;
	return err;
}

/* Appends room for one element, zeroed; NULL: no memory, or too many. */
static void *append(void *array, size_t *n, size_t size)
{
	char **p = array;
	char *more;

	if (*n >= LIST_MAX)
		return NULL;
	more = reallocarray(*p, *n + 1, size);
	if (!more)
		return NULL;
	*p = more;
	memset(more + *n * size, 0, size);
	return more + (*n)++ * size;
}

static int set_string(char **p, const char *value)
{
	free(*p);
	*p = strdup(value);
	return *p ? 0 : -ENOMEM;
}

/* folder/name; names that lead elsewhere are not followed. */
static int set_path(struct reading *r, char **p, const char *name)
{
	if (!*name || *name == '/' || strstr(name, ".."))
		return complain(r, -EINVAL, "names a file outside of the folder");
	free(*p);
	if (asprintf(p, "%s/%s", r->folder, name) < 0) {
		*p = NULL;
		return -ENOMEM;
	}
	return 0;
}

static int number(struct reading *r, const char *key, const char *text, uint64_t *value)
{
	char *end, what[128];

	errno = 0;
	*value = strtoull(text, &end, 0);
	if (end != text && !*end && !errno && *text != '-')
		return 0;
	snprintf(what, sizeof(what), "has a number that is none: %s=%s", key, text);
	return complain(r, -EINVAL, what);
}

static int link_add(struct links *l, const char *from, const char *to)
{
	struct link *e = append(&l->v, &l->n, sizeof(*e));

	if (!e)
		return -ENOMEM;
	e->from = strdup(from);
	e->to = strdup(to);
	return e->from && e->to ? 0 : -ENOMEM;
}

static void links_free(struct links *l)
{
	size_t i;

	for (i = 0; i < l->n; i++) {
		free(l->v[i].from);
		free(l->v[i].to);
	}
	free(l->v);
}

/* ---- files ---- */

/* O_NONBLOCK: a FIFO without a writer is named, not waited for. */
static FILE *open_file(struct reading *r, const char *path, int *err)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	struct stat sb;
	FILE *f = NULL;

	if (fd >= 0 && !fstat(fd, &sb)) {
		if (!S_ISREG(sb.st_mode))
			*err = complain(r, -EINVAL, "is no regular file");
		else
			f = fdopen(fd, "r");
	}
	if (!f && !*err)
		*err = complain(r, -errno, strerror(errno));
	if (!f && fd >= 0)
		close(fd);
	return f;
}

static int read_file(struct reading *r, const struct ini_sink *sink)
{
	char *path = NULL, *text = NULL;
	unsigned int line = 0;
	char where[64];
	FILE *f = NULL;
	size_t n;
	int ret = set_path(r, &path, r->file);

	if (ret)
		goto out;
	f = open_file(r, path, &ret);
	if (!f)
		goto out;
	text = malloc(FILE_MAX);
	if (!text) {
		ret = -ENOMEM;
		goto out;
	}
	n = fread(text, 1, FILE_MAX, f);
	if (ferror(f) || n == FILE_MAX) {
		ret = complain(r, -EINVAL, ferror(f) ? "cannot be read" : "is too large");
		goto out;
	}
	ret = ini_parse(text, n, sink, &line);
	if (ret == -EINVAL) {
		snprintf(where, sizeof(where), "line %u is not understood", line);
		complain(r, ret, where);
	}
out:
	if (f)
		fclose(f);
	free(text);
	free(path);
	return ret;
}

static int snapshot_entry(void *ctx, unsigned int line, const char *section,
			  const char *key, const char *value)
{
	struct reading *r = ctx;
	char **p;

	if (!strcmp(section, "device_list")) {
		p = append(&r->device_files, &r->ndevice_files, sizeof(*p));
		return p ? set_string(p, value) : -ENOMEM;
	}
	if (!strcmp(section, "trace") && !strcmp(key, "metadata"))
		return set_string(&r->metadata, value);
	return 0;
}

/* NAME, NAME(0x078), NAME(size:64): the name. */
static void register_name(char *to, const char *key)
{
	size_t n = strcspn(key, "( \t"), i;

	n = n < SNAPSHOT_REG_NAME - 1 ? n : SNAPSHOT_REG_NAME - 1;
	for (i = 0; i < n; i++)
		to[i] = (char)toupper((unsigned char)key[i]);
	to[n] = '\0';
}

static int register_entry(struct reading *r, struct snapshot_device *d, const char *key,
			  const char *value)
{
	struct snapshot_register *reg = append(&d->regs, &d->nregs, sizeof(*reg));

	if (!reg)
		return -ENOMEM;
	register_name(reg->name, key);
	return number(r, key, value, &reg->value);
}

static int dump_entry(struct reading *r, struct snapshot_device *d, const char *section,
		      const char *key, const char *value)
{
	struct snapshot_dump *dump;

	if (strcmp(r->dump_section, section)) {
		if (strlen(section) >= sizeof(r->dump_section))
			return -EINVAL;
		strcpy(r->dump_section, section);
		if (!append(&d->dumps, &d->ndumps, sizeof(*dump)))
			return -ENOMEM;
	}
	dump = &d->dumps[d->ndumps - 1];
	if (!strcmp(key, "file"))
		return set_path(r, &dump->path, value);
	if (!strcmp(key, "address"))
		return number(r, key, value, &dump->address);
	if (!strcmp(key, "length"))
		return number(r, key, value, &dump->length);
	if (!strcmp(key, "offset"))
		return number(r, key, value, &dump->offset);
	return 0;
}

static int device_entry(void *ctx, unsigned int line, const char *section,
			const char *key, const char *value)
{
	struct reading *r = ctx;
	struct snapshot_device *d = &r->s->devices[r->s->ndevices - 1];

	if (!strcmp(section, "device")) {
		if (!strcmp(key, "name"))
			return set_string(&d->name, value);
		if (!strcmp(key, "class"))
			return set_string(&d->class, value);
		return strcmp(key, "type") ? 0 : set_string(&d->type, value);
	}
	if (!strcmp(section, "regs"))
		return register_entry(r, d, key, value);
	if (!strncmp(section, "dump", 4))
		return dump_entry(r, d, section, key, value);
	return 0;
}

/* The buffer of a section, made when it is first met. */
static struct snapshot_buffer *section_buffer(struct reading *r, const char *section)
{
	struct snapshot_buffer *b;
	char **name;
	size_t i;

	for (i = 0; i < r->nbuffer_sections; i++)
		if (!strcmp(r->buffer_sections[i], section))
			return &r->s->buffers[i];
	name = append(&r->buffer_sections, &r->nbuffer_sections, sizeof(*name));
	if (!name || set_string(name, section))
		return NULL;
	b = append(&r->s->buffers, &r->s->nbuffers, sizeof(*b));
	return b && !set_string(&b->name, section) ? b : NULL;
}

static int buffer_entry(struct reading *r, const char *section, const char *key,
			const char *value)
{
	struct snapshot_buffer *b = section_buffer(r, section);

	if (!b)
		return -ENOMEM;
	if (!strcmp(key, "name"))
		return set_string(&b->name, value);
	if (!strcmp(key, "file"))
		return set_path(r, &b->path, value);
	if (strcmp(key, "format"))
		return 0;
	b->has_format = true;
	b->formatted = !strcasecmp(value, "coresight");
	if (!b->formatted && strcasecmp(value, "source_data"))
		return complain(r, -EINVAL,
				"has a buffer whose format is not coresight or source_data");
	return 0;
}

static int trace_entry(void *ctx, unsigned int line, const char *section, const char *key,
		       const char *value)
{
	struct reading *r = ctx;

	if (!strcmp(section, "trace_buffers") && !strcmp(key, "buffers"))
		return set_string(&r->buffer_list, value);
	if (!strcmp(section, "source_buffers"))
		return link_add(&r->source_buffers, key, value);
	if (!strcmp(section, "core_trace_sources"))
		return link_add(&r->core_sources, key, value);
	return strncmp(section, "buffer", 6) ? 0 : buffer_entry(r, section, key, value);
}

/* ---- names to what they name ---- */

static const struct snapshot_device *device_named(const struct snapshot *s,
						  const char *name)
{
	size_t i;

	for (i = 0; i < s->ndevices; i++)
		if (!strcasecmp(s->devices[i].name, name))
			return &s->devices[i];
	return NULL;
}

static const struct snapshot_device *core_of(struct reading *r, const char *source)
{
	size_t i;

	for (i = 0; i < r->core_sources.n; i++)
		if (!strcasecmp(r->core_sources.v[i].to, source))
			return device_named(r->s, r->core_sources.v[i].from);
	return NULL;
}

static int source_add(struct reading *r, const struct link *l,
		      const struct snapshot_buffer *b)
{
	struct snapshot_source *src;
	const struct snapshot_device *d = device_named(r->s, l->from);

	if (!d)
		return complain(r, -EINVAL,
				"names a trace source that no file describes");
	src = append(&r->s->sources, &r->s->nsources, sizeof(*src));
	if (!src)
		return -ENOMEM;
	src->device = d;
	src->buffer = b;
	src->core = core_of(r, l->from);
	return 0;
}

/* One source may go into several buffers: ETM_0=ETB_0,ETB_1. */
static int source_resolve(struct reading *r, const struct link *l)
{
	char *names = strdup(l->to), *save = NULL, *name;
	size_t i;
	int ret = names ? 0 : -ENOMEM;

	for (name = names ? strtok_r(names, ", \t", &save) : NULL; name && !ret;
	     name = strtok_r(NULL, ", \t", &save)) {
		for (i = 0; i < r->s->nbuffers; i++)
			if (!strcasecmp(r->s->buffers[i].name, name))
				break;
		ret = i < r->s->nbuffers
			      ? source_add(r, l, &r->s->buffers[i])
			      : complain(r, -EINVAL,
					 "names a buffer that it does not list");
	}
	free(names);
	return ret;
}

static int check_devices(struct reading *r)
{
	struct snapshot_device *d;
	size_t i, k;
	int ret = 0;

	for (i = 0; i < r->s->ndevices && !ret; i++) {
		d = &r->s->devices[i];
		r->file = r->device_files[i];
		if (!d->name || !d->class)
			return complain(r, -EINVAL,
					"has no [device] with name and class");
		if (!d->type)
			ret = set_string(&d->type, "");
		for (k = 0; k < d->ndumps; k++)
			if (!d->dumps[k].path)
				return complain(r, -EINVAL, "has a dump without a file");
	}
	return ret;
}

static int read_devices(struct reading *r)
{
	const struct ini_sink sink = {r, device_entry};
	size_t i;
	int ret;

	for (i = 0; i < r->ndevice_files; i++) {
		if (!append(&r->s->devices, &r->s->ndevices, sizeof(*r->s->devices)))
			return -ENOMEM;
		r->file = r->device_files[i];
		r->dump_section[0] = '\0';
		ret = read_file(r, &sink);
		if (ret)
			return ret;
	}
	return check_devices(r);
}

static bool has_section(const struct reading *r, const char *name)
{
	size_t i;

	for (i = 0; i < r->nbuffer_sections; i++)
		if (!strcasecmp(r->buffer_sections[i], name))
			return true;
	return false;
}

/* Buffers and cores that are named are described. */
static int check_trace(struct reading *r)
{
	char *save = NULL, *name;
	size_t i;

	for (i = 0; i < r->s->nbuffers; i++)
		if (!r->s->buffers[i].path || !r->s->buffers[i].has_format)
			return complain(r, -EINVAL,
					"has a buffer without a file or a format");
	for (name = r->buffer_list ? strtok_r(r->buffer_list, ", \t", &save) : NULL; name;
	     name = strtok_r(NULL, ", \t", &save))
		if (!has_section(r, name))
			return complain(r, -EINVAL, "lists a buffer that it does not describe");
	for (i = 0; i < r->core_sources.n; i++)
		if (!device_named(r->s, r->core_sources.v[i].from))
			return complain(r, -EINVAL, "names a core that no file describes");
	return 0;
}

/* Another ETM before src with its trace ID in the same frames. */
static const struct snapshot_device *same_id(const struct snapshot *s,
					     const struct snapshot_source *src, uint64_t id)
{
	const struct snapshot_source *o;
	uint64_t other;

	for (o = s->sources; o < src; o++)
		if (o->buffer == src->buffer && o->device != src->device &&
		    snapshot_is_etm(o->device) &&
		    snapshot_register(o->device, "TRCTRACEIDR", &other) && other == id)
			return o->device;
	return NULL;
}

/* Frames have it; a buffer without frames is one source's. */
static int check_trace_id(struct reading *r, const struct snapshot_source *src)
{
	const struct snapshot_device *other;
	char what[192];
	uint64_t id;

	if (!src->buffer->formatted || !snapshot_is_etm(src->device))
		return 0;
	r->file = r->device_files[src->device - r->s->devices];
	if (!snapshot_register(src->device, "TRCTRACEIDR", &id))
		return complain(r, -EINVAL, "has no TRCTRACEIDR, by which its trace is found");
	other = same_id(r->s, src, id);
	if (id >= ID_FIRST && id <= ID_LAST && !other)
		return 0;
	if (other)
		snprintf(what, sizeof(what), "has %s's TRCTRACEIDR: 0x%" PRIx64, other->name,
			 id);
	else
		snprintf(what, sizeof(what),
			 "has a TRCTRACEIDR that is no trace ID (0x%x to 0x%x): 0x%" PRIx64,
			 ID_FIRST, ID_LAST, id);
	return complain(r, -EINVAL, what);
}

static int read_trace(struct reading *r)
{
	const struct ini_sink sink = {r, trace_entry};
	size_t i;
	int ret;

	r->file = r->metadata;
	ret = read_file(r, &sink);
	if (!ret)
		ret = check_trace(r);
	for (i = 0; i < r->source_buffers.n && !ret; i++)
		ret = source_resolve(r, &r->source_buffers.v[i]);
	if (!ret && !r->s->nsources)
		ret = complain(r, -EINVAL, "says of no source where its trace is");
	for (i = 0; i < r->s->nsources && !ret; i++)
		ret = check_trace_id(r, &r->s->sources[i]);
	return ret;
}

/* Any other folder is more often a slip than a snapshot that lost its file. */
static bool has_snapshot(const char *folder)
{
	int dir = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	bool has = dir < 0 || !faccessat(dir, SNAPSHOT_INI, F_OK, 0) || errno != ENOENT;

	if (dir >= 0)
		close(dir);
	return has;
}

static int read_all(struct reading *r)
{
	const struct ini_sink sink = {r, snapshot_entry};
	int ret;

	if (!has_snapshot(r->folder)) {
		if (asprintf(r->error,
			     "%s: is a directory, and no snapshot: it has no %s",
			     r->folder, SNAPSHOT_INI) < 0)
			*r->error = NULL;
		return -ENOENT;
	}
	r->file = SNAPSHOT_INI;
	ret = read_file(r, &sink);
	if (ret)
		return ret;
	if (!r->metadata || !r->ndevice_files)
		return complain(r, -EINVAL, "names no devices or no trace");
	ret = read_devices(r);
	return ret ? ret : read_trace(r);
}

static void reading_free(struct reading *r)
{
	size_t i;

	for (i = 0; i < r->ndevice_files; i++)
		free(r->device_files[i]);
	for (i = 0; i < r->nbuffer_sections; i++)
		free(r->buffer_sections[i]);
	free(r->device_files);
	free(r->buffer_sections);
	free(r->metadata);
	free(r->buffer_list);
	links_free(&r->source_buffers);
	links_free(&r->core_sources);
}

int snapshot_open(const char *folder, struct snapshot **out, char **error)
{
	struct reading r = {.folder = folder, .error = error};
	int ret = -ENOMEM;

	*error = NULL;
	*out = NULL;
	r.s = calloc(1, sizeof(*r.s));
	if (r.s)
		ret = read_all(&r);
	reading_free(&r);
	if (ret)
		snapshot_close(r.s);
	else
		*out = r.s;
	return ret;
}

static void device_free(struct snapshot_device *d)
{
	size_t i;

	for (i = 0; i < d->ndumps; i++)
		free(d->dumps[i].path);
	free(d->dumps);
	free(d->regs);
	free(d->name);
	free(d->class);
	free(d->type);
}

void snapshot_close(struct snapshot *s)
{
	size_t i;

	if (!s)
		return;
	for (i = 0; i < s->ndevices; i++)
		device_free(&s->devices[i]);
	for (i = 0; i < s->nbuffers; i++) {
		free(s->buffers[i].name);
		free(s->buffers[i].path);
	}
	free(s->devices);
	free(s->buffers);
	free(s->sources);
	free(s);
}

bool snapshot_is_etm(const struct snapshot_device *d)
{
	return !strncasecmp(d->type, "ETM4", 4) || !strncasecmp(d->type, "ETE", 3);
}

bool snapshot_register(const struct snapshot_device *d, const char *name, uint64_t *value)
{
	size_t i;

	for (i = 0; i < d->nregs; i++) {
		if (strcmp(d->regs[i].name, name))
			continue;
		*value = d->regs[i].value;
		return true;
	}
	return false;
}
