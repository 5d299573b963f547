// SPDX-License-Identifier: Apache-2.0
/* Reads names of methods once a step, and gives IDs, see method_names.h. */
#include "outside/method_names.h"

#include "base/array.h"
#include "base/hash.h"
#include "code/line_table.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define MAX_TOLD 60000 /* then IDs begin anew */

/* What was told under an ID. */
struct told {
	uint64_t hash;
	uint32_t id;
};

static void forget_told(struct method_names *names)
{
	map64_fini(&names->told);
	arena_fini(&names->told_arena);
	names->told = (struct map64){0};
	names->told_arena = (struct arena){0};
	names->last_id = 0;
}

static void forget_step(struct method_names *names)
{
	map64_fini(&names->methods);
	arena_fini(&names->arena);
	names->methods = (struct map64){0};
	names->arena = (struct arena){0};
	free(names->batch);
	names->batch = NULL;
	names->n_waiting = 0;
	names->n_lines = 0;
}

void method_names_begin(struct method_names *names)
{
	forget_step(names);
	if (names->last_id >= MAX_TOLD)
		forget_told(names);
}

void method_names_fini(struct method_names *names)
{
	forget_step(names);
	forget_told(names);
	free(names->waiting);
	*names = (struct method_names){0};
}

static int add_waiting(struct method_names *names, struct named_method *method)
{
	if (ARRAY_RESERVE(names->waiting, names->waiting_size, names->n_waiting + 1) < 0)
		return -ENOMEM;
	names->waiting[names->n_waiting++] = method;
	return 0;
}

int method_names_want(struct method_names *names, uint64_t method)
{
	struct named_method *added;

	if (map64_find(&names->methods, method))
		return 0;
	added = arena_alloc(&names->arena, sizeof(*added));
	if (!added)
		return -ENOMEM;
	*added = (struct named_method){.method = method};
	if (map64_put(&names->methods, method, added) < 0)
		return -ENOMEM;
	return add_waiting(names, added);
}

/* ---- what was read ---- */

static bool keep_text(struct method_names *names, const struct method_batch_entry *entry,
		      enum method_batch_text which, struct wire_str *ret)
{
	const char *const copy = arena_copy(&names->arena, entry->texts[which], entry->lens[which]);

	*ret = (struct wire_str){.data = copy, .len = copy ? entry->lens[which] : 0};
	return copy != NULL;
}

/*
 * HotSpot's own name of a hidden class is Foo$$Lambda+0x00007fa8...; JVMTI, from which agents have
 * their names, writes '.' instead of '+'.
 */
static void unmangle(struct method_batch_entry *entry)
{
	char *const text = entry->texts[METHOD_BATCH_CLASS];
	const size_t len = entry->lens[METHOD_BATCH_CLASS];

	for (size_t i = 0; i + 3 <= len; i++) {
		if (memcmp(text + i, "+0x", 3) == 0)
			text[i] = '.';
	}
}

static int by_bci(const void *a, const void *b)
{
	const struct wire_line *const one = a, *const other = b;

	return one->bci < other->bci ? -1 : one->bci > other->bci;
}

static uint32_t count_lines(const struct line_table *table)
{
	struct line_table_walk walk = {.table = table};
	uint32_t n = 0;

	while (line_table_next(&walk))
		n++;
	return n;
}

/* Lines that there is no room for are left out: false. */
static bool keep_lines(struct method_names *names, const struct method_batch_entry *entry,
		       bool is_biased, struct named_method *method)
{
	const struct line_table table = {
		.bytes = entry->lines, .len = entry->lines_len, .is_biased = is_biased};
	struct line_table_walk walk = {.table = &table};
	const uint32_t count = count_lines(&table);
	struct wire_line *lines;
	uint32_t n = 0;

	if (count == 0)
		return true;
	if (count > METHOD_NAMES_MAX_LINES || count > METHOD_NAMES_STEP_LINES - names->n_lines)
		return false;
	lines = arena_alloc(&names->arena, count * sizeof(*lines));
	while (lines && line_table_next(&walk))
		lines[n++] = (struct wire_line){.bci = walk.bci, .line = walk.line};
	if (!lines)
		return false;
	qsort(lines, n, sizeof(*lines), by_bci);
	method->lines = lines;
	method->n_lines = n;
	names->n_lines += n;
	return true;
}

static uint64_t hash_of(const struct method_batch_entry *entry)
{
	uint64_t hashes[METHOD_BATCH_TEXTS + 1];

	for (int i = 0; i < METHOD_BATCH_TEXTS; i++)
		hashes[i] = hash_seed_bytes(entry->texts[i], entry->lens[i]);
	hashes[METHOD_BATCH_TEXTS] = hash_seed_bytes(entry->lines, entry->lines_len);
	return hash_seed_bytes(hashes, sizeof(hashes));
}

/* Gives the method the ID under which it was told, or a new one while there are some. */
static void set_id(struct method_names *names, struct named_method *method)
{
	const struct told *const told = map64_find(&names->told, method->method);

	if (names->has_no_ids)
		return;
	if (told)
		method->id = told->id;
	else if (names->last_id < WIRE_METHOD_ID_MAX)
		method->id = ++names->last_id;
	method->is_known = told && told->hash == method->hash;
}

static int keep(struct method_names *names, struct method_batch_entry *entry, bool is_biased,
		struct named_method *method)
{
	if (!entry->is_named)
		return 0;
	unmangle(entry);
	if (!keep_text(names, entry, METHOD_BATCH_CLASS, &method->class_name) ||
	    !keep_text(names, entry, METHOD_BATCH_NAME, &method->name) ||
	    !keep_text(names, entry, METHOD_BATCH_SIGNATURE, &method->signature) ||
	    !keep_text(names, entry, METHOD_BATCH_SOURCE, &method->source_file))
		return -ENOMEM;
	method->is_unlined = !keep_lines(names, entry, is_biased, method) || entry->is_unlined;
	method->hash = hash_of(entry);
	method->is_named = true;
	set_id(names, method);
	return 0;
}

int method_names_read(struct method_names *names, struct vm_memory *memory,
		      const struct vm_layout *layout)
{
	struct method_batch *batch = names->batch;
	int err;

	if (!batch && names->n_waiting > 0)
		batch = names->batch = malloc(sizeof(*batch));
	err = !batch && names->n_waiting > 0 ? -ENOMEM : 0;
	for (size_t at = 0; !err && at < names->n_waiting; at += METHOD_BATCH_MAX) {
		const size_t left = names->n_waiting - at;

		batch->count = left < METHOD_BATCH_MAX ? left : METHOD_BATCH_MAX;
		for (size_t i = 0; i < batch->count; i++)
			batch->entries[i].method = names->waiting[at + i]->method;
		method_batch_read(memory, layout, batch);
		err = memory->err;
		for (size_t i = 0; !err && i < batch->count; i++)
			err = keep(names, &batch->entries[i], layout->lines_are_biased,
				   names->waiting[at + i]);
	}
	names->n_waiting = 0;
	return err;
}

bool method_names_are_many(const struct method_names *names)
{
	return names->methods.count >= METHOD_NAMES_STEP;
}

struct named_method *method_names_find(const struct method_names *names, uint64_t method)
{
	return map64_find(&names->methods, method);
}

void method_names_note(struct method_names *names, struct named_method *method)
{
	struct told *told = map64_find(&names->told, method->method);

	if (method->is_known)
		return;
	names->unlined += method->is_unlined;
	method->is_unlined = false;
	if (method->id == 0)
		return;
	if (!told) {
		told = arena_alloc(&names->told_arena, sizeof(*told));
		if (!told || map64_put(&names->told, method->method, told) < 0)
			return; /* it is named again next time, under a new ID */
	}
	*told = (struct told){.hash = method->hash, .id = method->id};
	method->is_known = true;
}

size_t method_names_bytes(const struct method_names *names)
{
	return map64_bytes(&names->methods) + map64_bytes(&names->told) + names->arena.total_bytes +
	       names->told_arena.total_bytes + names->waiting_size * sizeof(struct named_method *);
}
