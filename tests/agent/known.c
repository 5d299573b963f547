// SPDX-License-Identifier: Apache-2.0
/* Follows the names of one connection. See known.h. */
#include "known.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static char *copy(struct wire_str s)
{
	char *text = calloc(1, s.len + 1u);

	if (text && s.len > 0)
		memcpy(text, s.data, s.len);
	return text;
}

static void read_lines(struct known_method *method, const struct wire_method *from)
{
	struct wire_line line = {0};
	size_t pos = 0;

	while (wire_method_next_line(from, &pos, &line)) {
		if (method->n_lines++ == 0)
			method->first = line;
		method->last = line;
	}
}

static struct known_method *add(struct known *known, const struct wire_method *from)
{
	struct known_method *method = calloc(1, sizeof(*method));

	method->id = from->id;
	method->how = from->how;
	method->class_sig = copy(from->class_sig);
	method->name = copy(from->name);
	method->sig = copy(from->sig);
	method->source_file = copy(from->source_file);
	read_lines(method, from);
	method->next = known->all;
	known->all = method;
	if (method->id != 0)
		known->by_id[method->id] = method;
	return method;
}

/* The method that the table speaks of, new or known. */
static struct known_method *resolve(struct known *known, struct wire_method *method)
{
	const struct wire_method_load *load = &known->load.load;

	if (method->how == WIRE_METHOD_KNOWN)
		return known->by_id[method->id];
	if (method->how == WIRE_METHOD_SELF) {
		method->class_sig = load->class_sig;
		method->name = load->method;
		method->sig = load->method_sig;
		method->source_file = load->source_file;
	}
	return add(known, method);
}

static int take_methods(struct known *known, struct wire_inline *table)
{
	struct known_load *load = &known->load;
	struct wire_method method;
	int got;

	load->methods = calloc(table->n_methods, sizeof(struct known_method *));
	load->hows = calloc(table->n_methods, 1);
	while ((got = wire_inline_next_method(table, &method)) == 1) {
		load->hows[load->n_methods] = method.how;
		load->methods[load->n_methods] = resolve(known, &method);
		if (!load->methods[load->n_methods++])
			return -ENOENT;
	}
	return got;
}

static int take_regions(struct known_load *load, struct wire_inline *table)
{
	struct wire_inline_frame frame;
	struct wire_region region;
	uint32_t end = 0;
	int got;

	load->regions = calloc(table->n_regions + 1u, sizeof(*load->regions));
	while ((got = wire_inline_next_region(table, &region)) == 1) {
		struct known_region *to = &load->regions[load->n_regions];

		if (region.depth > KNOWN_DEPTH_MAX)
			return -EBADMSG;
		if (load->n_regions++ > 0)
			*to = to[-1];
		end += region.size;
		to->end = end;
		to->depth = region.depth;
		for (uint32_t i = region.shared; i < region.depth; i++) {
			if (wire_inline_next_frame(table, &frame) != 1)
				return -EBADMSG;
			to->frames[i] = frame;
		}
	}
	return got;
}

static void take_names(struct known_load *load)
{
	const struct known_method *self = load->methods[0];

	if (load->load.class_sig.len + load->load.method.len + load->load.method_sig.len +
		    load->load.source_file.len >
	    0)
		return;
	load->load.class_sig = wire_str_from(self->class_sig);
	load->load.method = wire_str_from(self->name);
	load->load.method_sig = wire_str_from(self->sig);
	load->load.source_file = wire_str_from(self->source_file);
}

static int take_table(struct known *known, const uint8_t *data, uint32_t len)
{
	struct wire_inline table;
	int err = wire_inline_init(&table, data, len);

	if (err == 0)
		err = take_methods(known, &table);
	if (err == 0)
		err = take_regions(&known->load, &table);
	if (err == 0 && table.left > 0)
		err = -EBADMSG;
	if (err == 0)
		take_names(&known->load);
	known->load.has_table = true;
	known->load.section_bytes = len;
	return err;
}

static void forget_load(struct known *known)
{
	free(known->load.methods);
	free(known->load.hows);
	free(known->load.regions);
	known->load = (struct known_load){0};
}

int known_take(struct known *known, const struct wire_record *record, struct known_load **ret)
{
	const uint8_t *data;
	size_t pos = 0;
	uint32_t len;
	uint16_t tag;
	int got, err;

	forget_load(known);
	err = wire_decode_method_load(record, &known->load.load);
	if (err != 0)
		return err;
	while ((got = wire_section_next(known->load.load.sections, known->load.load.sections_len,
					&pos, &tag, &data, &len)) == 1) {
		err = tag == WIRE_SECTION_INLINE ? take_table(known, data, len) : 0;
		if (err != 0)
			return err;
	}
	*ret = &known->load;
	return got;
}

void known_clear(struct known *known)
{
	struct known_method *next;

	forget_load(known);
	for (struct known_method *method = known->all; method; method = next) {
		next = method->next;
		free(method->class_sig);
		free(method->name);
		free(method->sig);
		free(method->source_file);
		free(method);
	}
	memset(known, 0, sizeof(*known)); /* too large for a temporary on a small stack */
}
