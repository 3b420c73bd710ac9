// SPDX-License-Identifier: BSD-2-Clause
/*
 * Source lines, by DWARF, read at the first question.  libdwfl finds separate
 * debug files (by build-id and .gnu_debuglink).
 */
#include <elfutils/libdwfl.h>
#include <errno.h>
#include <stdlib.h>
#include <unistd.h>
#include <fcntl.h>
#include "image_priv.h"

struct image_lines {
	Dwfl *dwfl;
	Dwfl_Module *module;
	GElf_Addr bias;
};

static const Dwfl_Callbacks callbacks = {
	.find_elf = dwfl_build_id_find_elf,
	.find_debuginfo = dwfl_standard_find_debuginfo,
	.section_address = dwfl_offline_section_address,
};

static struct image_lines *lines_open(struct image_file *f)
{
	struct image_lines *l = calloc(1, sizeof(*l));
	int fd;

	if (!l) {
		f->names_err = -ENOMEM;
		return NULL;
	}
	l->dwfl = dwfl_begin(&callbacks);
	if (!l->dwfl)
		goto free_lines;
	fd = fcntl(f->fd, F_DUPFD_CLOEXEC, 0);
	if (fd < 0)
		goto end_dwfl;
	/* Base 0: the module's addresses are the ELF's own. Takes fd if it succeeds. */
	l->module = dwfl_report_elf(l->dwfl, f->path, f->path, fd, 0, true);
	if (!l->module) {
		close(fd);
		goto end_dwfl;
	}
	if (dwfl_report_end(l->dwfl, NULL, NULL) ||
	    !dwfl_module_getdwarf(l->module, &l->bias))
		goto end_dwfl;
	return l;
end_dwfl:
	dwfl_end(l->dwfl);
free_lines:
	free(l);
	return NULL;
}

void lines_free(struct image_lines *l)
{
	if (!l)
		return;
	dwfl_end(l->dwfl);
	free(l);
}

bool lines_find(struct image_file *f, uint64_t vaddr, struct image_line *out)
{
	Dwfl_Line *line;
	const char *file;

	if (!f->lines_tried) {
		f->lines_tried = true;
		if (f->elf)
			f->lines = lines_open(f);
	}
	if (!f->lines)
		return false;
	line = dwfl_module_getsrc(f->lines->module, vaddr);
	if (!line)
		return false;
	file = dwfl_lineinfo(line, NULL, &out->line, &out->column, NULL, NULL);
	if (!file || out->line <= 0)
		return false;
	out->file = file;
	return true;
}
