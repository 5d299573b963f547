// SPDX-License-Identifier: Apache-2.0
/* Reads the names and the inline table of a METHOD_LOAD record, see code_inlines.h. */
#include "process/code_inlines.h"

#include "code/java_text.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define UNNAMED_METHOD "[unnamed method]"
#define UNNAMED_CLASS  "[unnamed class]"

static const char *java_str(struct process *process, struct wire_str s)
{
	return process_name(process, s.data, s.len);
}

/* The name, or otherwise if the JVM gives none. */
static const char *name_or(struct process *process, const char *name, const char *otherwise)
{
	return name ? name : process_name(process, otherwise, strlen(otherwise));
}

static const char *class_name(struct process *process, struct wire_str signature)
{
	const char *text = signature.data;
	size_t len = signature.len;

	java_text_strip_class(&text, &len);
	return process_name(process, text, len);
}

static struct code_method said_names(struct process *process, const struct wire_method *said)
{
	return (struct code_method){
		.class_name = class_name(process, said->class_sig),
		.name = name_or(process, java_str(process, said->name), UNNAMED_METHOD),
		.signature = java_str(process, said->sig),
		.source_file = java_str(process, said->source_file),
	};
}

/* The names in the record itself; name is NULL if the record has none. */
static struct code_method own_names(struct process *process, const struct wire_method_load *load)
{
	const struct wire_method own = {
		.class_sig = load->class_sig,
		.name = load->method,
		.sig = load->method_sig,
		.source_file = load->source_file,
	};
	if (load->class_sig.len + load->method.len + load->method_sig.len == 0)
		return (struct code_method){0};
	return said_names(process, &own);
}

/* An inline table that is being read. */
struct reading {
	struct process *process;
	const struct code_method *own; /* names in the record */
	struct wire_inline wire;
	struct code_method **methods;
	uint32_t n_methods;
};

/* Adds one method. On failure *place is NULL, and the method's ID has no method any more. */
static int add_method(struct reading *reading, const struct wire_method *said,
		      struct code_method **place)
{
	struct process *process = reading->process;
	struct code_methods *store = &process->methods;
	struct code_method names;
	int err;

	if (said->how == WIRE_METHOD_KNOWN) {
		struct code_method *known = code_methods_find(store, said->id);

		*place = known ? code_method_ref(known) : NULL;
		return known ? 0 : -ENOENT;
	}
	names = said->how == WIRE_METHOD_SELF ? *reading->own : said_names(process, said);
	names.class_name = name_or(process, names.class_name, UNNAMED_CLASS);
	names.name = name_or(process, names.name, UNNAMED_METHOD);
	err = code_methods_add(store, &names, said, place);
	if (err)
		code_methods_forget_id(store, said->id);
	if (err)
		return err;
	return said->id ? code_methods_set_id(store, said->id, *place) : 0;
}

/*
 * Reads all methods, even after an error, because the table gives methods their IDs. Returns the
 * first error. A table with too many methods is not read at all.
 */
static int read_methods(struct reading *reading)
{
	struct wire_method said;
	int err = 0, n;

	/*
	 * Each method takes at least a byte of the record, so memory is limited by the record's
	 * size.
	 */
	if (reading->wire.n_methods > reading->wire.left)
		return -EBADMSG;
	if (reading->wire.n_methods > INLINE_TABLE_MAX_METHODS)
		return -ENOSPC;
	reading->methods = calloc(reading->wire.n_methods, sizeof(struct code_method *));
	if (!reading->methods)
		return -ENOMEM;
	while ((n = wire_inline_next_method(&reading->wire, &said)) > 0) {
		const int failed =
			add_method(reading, &said, &reading->methods[reading->n_methods++]);

		err = err ? err : failed;
	}
	return err ? err : n;
}

static void end_reading(struct reading *reading)
{
	for (uint32_t i = 0; i < reading->n_methods; i++)
		code_methods_unref(&reading->process->methods, reading->methods[i]);
	free(reading->methods);
}

static int read_table(struct process *process, const uint8_t *data, size_t len, uint32_t size,
		      struct code_method *names, struct inline_table **ret)
{
	struct reading reading = {.process = process, .own = names};
	int err = wire_inline_init(&reading.wire, data, len);

	if (!err)
		err = read_methods(&reading);
	if (!err)
		err = inline_table_new(&process->methods, reading.methods, &reading.wire, size,
				       ret);
	if (!names->name && reading.n_methods > 0 && reading.methods[0])
		*names = *reading.methods[0];
	end_reading(&reading);
	return err;
}

struct inline_table *code_inlines_read(struct process *process, const struct wire_method_load *load,
				       struct code_method *ret_names)
{
	struct code_method names = own_names(process, load);
	struct inline_table *table = NULL;
	const uint8_t *data;
	bool has_read = false; /* a table; any further one of the record is left out */
	size_t pos = 0;
	uint16_t tag;
	uint32_t len;
	int n;

	while ((n = wire_section_next(load->sections, load->sections_len, &pos, &tag, &data,
				      &len)) > 0) {
		if (tag != WIRE_SECTION_INLINE)
			continue;
		if (has_read || read_table(process, data, len, load->size, &names, &table) < 0)
			process->jvm->lost_inlines++;
		has_read = true;
	}
	process->jvm->lost_inlines += n < 0;
	names.name = name_or(process, names.name, UNNAMED_METHOD);
	*ret_names = names;
	return table;
}
