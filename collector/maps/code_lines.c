// SPDX-License-Identifier: Apache-2.0
/* Collects source lines of compiled code, see code_lines.h. */
#include "maps/code_lines.h"

#include "base/array.h"
#include "code/inline_table.h"

#include <stdlib.h>
#include <string.h>

/* The path of the source file: the class's package and the file's name. */
static const char *file_of(struct code_lines *lines, const struct code_method *method)
{
	const char *slash = strrchr(method->class_name, '/');
	const size_t package = slash ? (size_t)(slash + 1 - method->class_name) : 0;
	const size_t len = strlen(method->source_file);
	char *file = arena_alloc(&lines->files, package + len + 1);

	if (!file)
		return method->source_file;
	memcpy(file, method->class_name, package);
	memcpy(file + package, method->source_file, len + 1);
	return file;
}

static void add_region(void *arg, uint32_t start, uint32_t end, const struct inline_frame *frames,
		       size_t n)
{
	struct code_lines *lines = arg;
	const struct code_method *method = frames[0].method;
	const uint32_t number = code_method_line(method, frames[0].bci);
	const struct jitdump_line *before =
		lines->count > 0 ? &lines->lines[lines->count - 1] : NULL;

	(void)end;
	(void)n;
	if (!number || !method->source_file)
		return; /* the line before continues */
	if (before && method == lines->last && before->line == number)
		return;
	if (ARRAY_RESERVE(lines->lines, lines->size, lines->count + 1) < 0)
		return;
	before = lines->count > 0 ? &lines->lines[lines->count - 1] : NULL;
	lines->lines[lines->count] = (struct jitdump_line){
		.addr = lines->addr + start,
		.line = number,
		.file = before && method == lines->last ? before->file : file_of(lines, method),
	};
	lines->count++;
	lines->last = method;
}

void code_lines_collect(struct code_lines *lines, const struct code_range *range)
{
	lines->count = 0;
	lines->last = NULL;
	lines->addr = range->addr;
	if (range->inlines)
		inline_table_walk(range->inlines, add_region, lines);
}

void code_lines_fini(struct code_lines *lines)
{
	arena_fini(&lines->files);
	free(lines->lines);
}
