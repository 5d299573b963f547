// SPDX-License-Identifier: Apache-2.0
/* Methods of compiled code, counted by reference and found by ID, see code_methods.h. */
#include "code/code_methods.h"

#include <errno.h>
#include <stdlib.h>

#define IDS		(WIRE_METHOD_ID_MAX + 1)
#define LINES_MAX	65535u /* a method has at most so many bytecodes */
#define MALLOC_OVERHEAD 16

static size_t method_bytes(uint32_t n_lines)
{
	return sizeof(struct code_method) + n_lines * sizeof(struct code_line) + MALLOC_OVERHEAD;
}

static uint32_t count_lines(const struct wire_method *said)
{
	return said->n_lines < LINES_MAX ? said->n_lines : LINES_MAX;
}

static void read_lines(struct code_method *method, const struct wire_method *said)
{
	const uint32_t max = count_lines(said);
	struct wire_line line = {0};
	size_t pos = 0;

	for (uint32_t i = 0; i < max && wire_method_next_line(said, &pos, &line); i++) {
		if (line.bci <= UINT16_MAX && line.line <= UINT16_MAX)
			method->lines[method->n_lines++] = (struct code_line){
				.bci = (uint16_t)line.bci, .line = (uint16_t)line.line};
	}
}

int code_methods_add(struct code_methods *methods, const struct code_method *names,
		     const struct wire_method *said, struct code_method **ret)
{
	const size_t bytes = method_bytes(count_lines(said));
	struct code_method *method;

	if (bytes > CODE_METHODS_MAX_BYTES - methods->bytes)
		return -ENOSPC;
	method = malloc(bytes);
	if (!method)
		return -ENOMEM;
	*method = *names;
	method->refs = 1;
	method->n_lines = 0;
	method->prev = NULL;
	method->next = methods->first;
	read_lines(method, said);
	if (methods->first)
		methods->first->prev = method;
	methods->first = method;
	methods->bytes += method_bytes(method->n_lines);
	methods->count++;
	*ret = method;
	return 0;
}

struct code_method *code_method_ref(struct code_method *method)
{
	method->refs++;
	return method;
}

void code_methods_unref(struct code_methods *methods, struct code_method *method)
{
	if (!method || --method->refs > 0)
		return;
	if (method->prev)
		method->prev->next = method->next;
	else
		methods->first = method->next;
	if (method->next)
		method->next->prev = method->prev;
	methods->bytes -= method_bytes(method->n_lines);
	methods->count--;
	free(method);
}

struct code_method *code_methods_find(const struct code_methods *methods, uint32_t id)
{
	return methods->by_id && id < IDS ? methods->by_id[id] : NULL;
}

int code_methods_set_id(struct code_methods *methods, uint32_t id, struct code_method *method)
{
	if (id >= IDS)
		return -EINVAL;
	if (!methods->by_id)
		methods->by_id = calloc(IDS, sizeof(struct code_method *));
	if (!methods->by_id)
		return -ENOMEM;
	code_method_ref(method);
	code_methods_unref(methods, methods->by_id[id]);
	methods->by_id[id] = method;
	return 0;
}

void code_methods_forget_ids(struct code_methods *methods)
{
	for (uint32_t id = 0; methods->by_id && id < IDS; id++)
		code_methods_unref(methods, methods->by_id[id]);
	free(methods->by_id);
	methods->by_id = NULL;
}

void code_methods_fini(struct code_methods *methods)
{
	code_methods_forget_ids(methods);
}

void code_methods_rename(struct code_methods *methods, code_methods_rename_fn fn, void *arg)
{
	for (struct code_method *method = methods->first; method; method = method->next) {
		const char **const names[] = {&method->class_name, &method->name,
					      &method->signature, &method->source_file};

		for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
			if (*names[i])
				*names[i] = fn(arg, *names[i]);
		}
	}
}

uint32_t code_method_first_line(const struct code_method *method)
{
	uint32_t first = 0;

	for (uint32_t i = 0; i < method->n_lines; i++) {
		const uint32_t line = method->lines[i].line;

		if (line && (!first || line < first))
			first = line;
	}
	return first;
}

/* Class files may list lines in any order: the line that begins last at or before bci counts. */
uint32_t code_method_line(const struct code_method *method, int32_t bci)
{
	const struct code_line *best = NULL;

	for (uint32_t i = 0; bci >= 0 && i < method->n_lines; i++) {
		const struct code_line *line = &method->lines[i];

		if (line->bci <= bci && (!best || line->bci > best->bci))
			best = line;
	}
	return best ? best->line : 0;
}
