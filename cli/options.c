/* SPDX-License-Identifier: BSD-2-Clause */
#include "options.h"
#include "present/text.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct parser {
	const struct option	*table;
	void			*values;
	struct option_result	*result;
	bool			given[128];	/* by the table's row; of more none are checked */
};

bool option_is_end(const struct option *o)
{
	return o->letter == 0 && o->name == NULL;
}

__attribute__((format(printf, 2, 3)))
static int fail(struct parser *p, const char *fmt, ...)
{
	char raw[sizeof(p->result->error)];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(raw, sizeof(raw), fmt, ap);
	va_end(ap);
	text_printable(p->result->error, sizeof(p->result->error), raw);
	return -EINVAL;
}

/* How the user would write it: "--name" or "-x". */
static const char *spelled(const struct option *o, char buf[64])
{
	if (o->name)
		snprintf(buf, 64, "--%s", o->name);
	else
		snprintf(buf, 64, "-%c", o->letter);
	return buf;
}

static int parse_digits(const char *text, char **end, uint64_t *out)
{
	int base = text[0] == '0' && (text[1] == 'x' || text[1] == 'X') ? 16 : 10;

	/* strtoull takes signs and blanks; options do not. */
	if (text[0] < '0' || text[0] > '9')
		return -EINVAL;
	errno = 0;
	*out = strtoull(text, end, base);
	if (errno == ERANGE)
		return -ERANGE;
	return *end == text ? -EINVAL : 0;
}

int options_parse_size(const char *text, uint64_t *out)
{
	static const char units[] = "KMG";
	const char *unit;
	char *end;
	int shift, err;

	err = parse_digits(text, &end, out);
	if (err)
		return err;
	if (*end == '\0')
		return 0;
	unit = strchr(units, *end >= 'a' ? *end - 'a' + 'A' : *end);
	if (!unit || end[1] != '\0')
		return -EINVAL;
	shift = 10 * (int)(unit - units + 1);
	if (*out > UINT64_MAX >> shift)
		return -ERANGE;
	*out <<= shift;
	return 0;
}

static int parse_number(struct parser *p, const struct option *o, const char *text,
			uint64_t *out)
{
	uint64_t max = o->max ? o->max : UINT64_MAX;
	char name[64], *end;
	int err;

	if (o->kind == OPTION_SIZE) {
		err = options_parse_size(text, out);
	} else {
		err = parse_digits(text, &end, out);
		if (!err && *end != '\0')
			err = -EINVAL;
	}
	if (err == -EINVAL)
		return fail(p, "%s: '%s' is not a %s", spelled(o, name), text,
			    o->kind == OPTION_SIZE ? "size (digits, then K, M or G)" :
						     "number");
	if (err || *out < o->min || *out > max) {
		if (max == UINT64_MAX)
			return fail(p, "%s: %s is out of range (at least %llu)",
				    spelled(o, name), text, (unsigned long long)o->min);
		return fail(p, "%s: %s is out of range (%llu to %llu)", spelled(o, name),
			    text, (unsigned long long)o->min, (unsigned long long)max);
	}
	if (o->multiple && *out % o->multiple)
		return fail(p, "%s: %s is not a multiple of %llu", spelled(o, name), text,
			    (unsigned long long)o->multiple);
	return 0;
}

static int set_choice(struct parser *p, const struct option *o, const char *text, int *out)
{
	const struct option_choice *c;
	char name[64], list[160] = "";
	size_t n = 0;

	for (c = o->choices; c->name; c++) {
		if (strcmp(c->name, text) == 0) {
			*out = c->value;
			return 0;
		}
		if (n < sizeof(list))
			n += (size_t)snprintf(list + n, sizeof(list) - n, "%s%s",
					      n ? ", " : "", c->name);
	}
	return fail(p, "%s: '%s' is none of: %s", spelled(o, name), text, list);
}

static int append(struct parser *p, const struct option *o, const char *text,
		  struct option_list *list)
{
	int max = (int)(sizeof(list->item) / sizeof(list->item[0]));
	char name[64];

	if (list->n == max)
		return fail(p, "%s: given more than %d times", spelled(o, name), max);
	list->item[list->n++] = text;
	return 0;
}

static bool is_negation(const struct option *o)
{
	return o->name && strncmp(o->name, "no-", 3) == 0;
}

/* --branches --insns; but of --tsc --no-tsc the last one counts. */
static bool excludes(const struct option *a, const struct option *b)
{
	return a->kind == OPTION_FLAG && b->kind == OPTION_FLAG && a->offset == b->offset &&
	       a->value != b->value && !is_negation(a) && !is_negation(b);
}

/* Two that cannot both be meant must not be one of them in silence. */
static int check_given(struct parser *p, const struct option *o, const char *text)
{
	size_t i, row = (size_t)(o - p->table), max = sizeof(p->given);
	const char *const *at = (void *)((char *)p->values + o->offset);
	char name[64], other[64];

	if (row >= max)
		return 0;
	if (o->kind == OPTION_STRING && p->given[row] && strcmp(*at, text))
		return fail(p, "%s: given twice, '%s' and '%s'", spelled(o, name), *at, text);
	for (i = 0; i < max && !option_is_end(&p->table[i]); i++)
		if (p->given[i] && excludes(&p->table[i], o))
			return fail(p, "%s: not together with %s", spelled(o, name),
				    spelled(&p->table[i], other));
	p->given[row] = true;
	return 0;
}

/* text is NULL where the option has no value. */
static int store(struct parser *p, const struct option *o, const char *text)
{
	char *at = (char *)p->values + o->offset;
	char name[64];
	int err;

	if (text && *text == '\0')
		return fail(p, "%s: the value is empty", spelled(o, name));
	err = check_given(p, o, text);
	if (err)
		return err;
	if (o->kind == OPTION_FLAG) {
		*(int *)at = (int)o->value;
		return 0;
	}
	if (!text && (o->kind == OPTION_SIZE || o->kind == OPTION_UINT)) {
		*(uint64_t *)at = o->value;
		return 0;
	}
	switch (o->kind) {
	case OPTION_SIZE:
	case OPTION_UINT:
		return parse_number(p, o, text, (uint64_t *)at);
	case OPTION_CHOICE:
		return set_choice(p, o, text, (int *)at);
	case OPTION_LIST:
		return append(p, o, text, (struct option_list *)at);
	default:
		*(const char **)at = text;
		return 0;
	}
}

/* The known name that the user most likely meant: a common start of 2 letters. */
static const char *nearest(const struct option *table, const char *name, size_t n)
{
	const struct option *o;
	const char *best = NULL;
	size_t k, most = 1;

	for (o = table; !option_is_end(o); o++) {
		if (!o->name)
			continue;
		for (k = 0; k < n && o->name[k] == name[k] && name[k]; k++)
			;
		if (k > most) {
			most = k;
			best = o->name;
		}
	}
	return best;
}

static const struct option *find_name(const struct option *table, const char *name,
				      size_t n)
{
	const struct option *o;

	for (o = table; !option_is_end(o); o++)
		if (o->name && strlen(o->name) == n && memcmp(o->name, name, n) == 0)
			return o;
	return NULL;
}

/* word: after "--".  Returns how many further arguments were taken, or -errno. */
static int parse_long(struct parser *p, const char *word, const char *next)
{
	size_t n = strcspn(word, "=");
	const char *value = word[n] == '=' ? word + n + 1 : NULL;
	const struct option *o = find_name(p->table, word, n);
	const char *guess;
	int used = 0, err;

	if (!o && n == 4 && memcmp(word, "help", 4) == 0) {
		p->result->help = true;
		return 0;
	}
	if (!o) {
		guess = nearest(p->table, word, n);
		if (guess)
			return fail(p, "unknown option --%.*s (did you mean --%s?)",
				    (int)n, word, guess);
		return fail(p, "unknown option --%.*s", (int)n, word);
	}
	if (!o->arg && value)
		return fail(p, "--%s takes no value", o->name);
	if (o->arg && !value && !o->optional) {
		if (!next)
			return fail(p, "--%s needs a value: %s", o->name, o->arg);
		value = next;
		used = 1;
	}
	err = store(p, o, value);
	return err ? err : used;
}

static const struct option *find_letter(const struct option *table, char letter)
{
	const struct option *o;

	for (o = table; !option_is_end(o); o++)
		if (o->letter == letter)
			return o;
	return NULL;
}

/* word: after "-", not empty.  As parse_long. */
static int parse_letters(struct parser *p, const char *word, const char *next)
{
	const struct option *o;
	int err;

	for (; *word; word++) {
		o = find_letter(p->table, *word);
		if (!o && *word == 'h') {
			p->result->help = true;
			continue;
		}
		if (!o)
			return fail(p, "unknown option -%c", *word);
		if (!o->arg || o->optional) {
			err = store(p, o, NULL);
			if (err)
				return err;
			continue;
		}
		if (word[1])
			return store(p, o, word + 1);
		if (!next)
			return fail(p, "-%c needs a value: %s", o->letter, o->arg);
		err = store(p, o, next);
		return err ? err : 1;
	}
	return 0;
}

int options_parse(const struct option *table, int argc, char *const argv[],
		  bool in_order, void *values, struct option_result *result)
{
	struct parser p = { .table = table, .values = values, .result = result };
	const char *next;
	bool ended = false;
	int i, used;

	memset(result, 0, sizeof(*result));
	result->operands = calloc((size_t)argc + 1, sizeof(*result->operands));
	if (!result->operands)
		return -ENOMEM;
	for (i = 0; i < argc; i++) {
		next = i + 1 < argc ? argv[i + 1] : NULL;
		if (ended || argv[i][0] != '-' || argv[i][1] == '\0') {
			result->operands[result->noperands++] = argv[i];
			ended = ended || in_order;
			continue;
		}
		if (strcmp(argv[i], "--") == 0) {
			ended = true;
			continue;
		}
		used = argv[i][1] == '-' ? parse_long(&p, argv[i] + 2, next) :
					   parse_letters(&p, argv[i] + 1, next);
		if (used < 0)
			return used;
		i += used;
	}
	return 0;
}

void options_free(struct option_result *result)
{
	free(result->operands);
	result->operands = NULL;
}
