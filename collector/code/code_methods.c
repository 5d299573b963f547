// SPDX-License-Identifier: Apache-2.0
/* Methods of compiled code, counted by reference and found by ID, see code_methods.h. */
#include "code/code_methods.h"

#include "base/array.h"
#include "guard/heap_bytes.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define IDS	  (WIRE_METHOD_ID_MAX + 1)
#define FIRST_IDS 1024u
#define LINES_MAX 65535u /* a method has at most so many bytecodes */

static size_t method_size(uint32_t n_lines)
{
	return sizeof(struct code_method) + n_lines * sizeof(struct code_line);
}

bool code_methods_has_room(const struct code_methods *methods, size_t bytes)
{
	const size_t most = methods->max_bytes ? methods->max_bytes : CODE_METHODS_MAX_BYTES;

	return methods->bytes <= most && bytes <= most - methods->bytes;
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

/*
 * A method with the lines that it keeps, and no more memory: an agent may say many lines that no
 * class file can hold.
 */
static struct code_method *make(const struct code_method *names, const struct wire_method *said)
{
	const uint32_t most = count_lines(said);
	struct code_method *method = malloc(method_size(most));

	if (!method)
		return NULL;
	*method = *names;
	method->n_lines = 0;
	read_lines(method, said);
	return method->n_lines == most ? method
				       : array_trim(method, 1, method_size(method->n_lines));
}

int code_methods_add(struct code_methods *methods, const struct code_method *names,
		     const struct wire_method *said, struct code_method **ret)
{
	struct code_method *method;

	if (!code_methods_has_room(methods, heap_bytes(method_size(count_lines(said)))))
		return -ENOSPC;
	method = make(names, said);
	if (!method)
		return -ENOMEM;
	method->refs = 1;
	method->prev = NULL;
	method->next = methods->first;
	if (methods->first)
		methods->first->prev = method;
	methods->first = method;
	methods->bytes += heap_bytes(method_size(method->n_lines));
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
	if (methods->renaming.next == method)
		methods->renaming.next = method->next;
	if (method->prev)
		method->prev->next = method->next;
	else
		methods->first = method->next;
	if (method->next)
		method->next->prev = method->prev;
	methods->bytes -= heap_bytes(method_size(method->n_lines));
	methods->count--;
	free(method);
}

static size_t index_bytes(const struct code_methods *methods)
{
	return methods->ids ? heap_bytes(methods->ids * sizeof(*methods->by_id)) : 0;
}

struct code_method *code_methods_find(const struct code_methods *methods, uint32_t id)
{
	return id < methods->ids ? methods->by_id[id] : NULL;
}

/* Most JVMs have some thousand IDs, which count from 1. */
static int make_room_for_id(struct code_methods *methods, uint32_t id)
{
	uint32_t ids = methods->ids ? methods->ids : FIRST_IDS;
	struct code_method **by_id;
	size_t more;

	while (ids <= id)
		ids *= 2;
	if (ids == methods->ids)
		return 0;
	more = heap_bytes(ids * sizeof(*by_id)) - index_bytes(methods);
	if (!code_methods_has_room(methods, more))
		return -ENOSPC;
	by_id = realloc(methods->by_id, ids * sizeof(*by_id));
	if (!by_id)
		return -ENOMEM;
	memset(by_id + methods->ids, 0, (ids - methods->ids) * sizeof(*by_id));
	methods->by_id = by_id;
	methods->ids = ids;
	methods->bytes += more;
	return 0;
}

int code_methods_set_id(struct code_methods *methods, uint32_t id, struct code_method *method)
{
	int err;

	if (id >= IDS)
		return -EINVAL;
	err = make_room_for_id(methods, id);
	if (err)
		return err;
	code_method_ref(method);
	code_methods_unref(methods, methods->by_id[id]);
	methods->by_id[id] = method;
	return 0;
}

void code_methods_forget_id(struct code_methods *methods, uint32_t id)
{
	if (id >= methods->ids)
		return;
	code_methods_unref(methods, methods->by_id[id]);
	methods->by_id[id] = NULL;
}

void code_methods_forget_ids(struct code_methods *methods)
{
	for (uint32_t id = 0; id < methods->ids; id++)
		code_methods_unref(methods, methods->by_id[id]);
	methods->bytes -= index_bytes(methods);
	free(methods->by_id);
	methods->by_id = NULL;
	methods->ids = 0;
}

void code_methods_fini(struct code_methods *methods)
{
	code_methods_forget_ids(methods);
}

static void rename_method(struct code_method *method, code_methods_rename_fn fn, void *arg)
{
	const char **const names[] = {&method->class_name, &method->name, &method->signature,
				      &method->source_file};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		if (*names[i])
			*names[i] = fn(arg, *names[i]);
	}
}

void code_methods_begin_rename(struct code_methods *methods, code_methods_rename_fn fn, void *arg)
{
	methods->renaming.fn = fn;
	methods->renaming.arg = arg;
	methods->renaming.next = methods->first;
}

size_t code_methods_rename_some(struct code_methods *methods, size_t max)
{
	size_t n = 0;

	for (; methods->renaming.next && n < max; n++) {
		struct code_method *const method = methods->renaming.next;

		methods->renaming.next = method->next;
		rename_method(method, methods->renaming.fn, methods->renaming.arg);
	}
	return n;
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
