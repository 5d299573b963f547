// SPDX-License-Identifier: Apache-2.0
/*
 * Builds the section in two passes over the regions: the first collects the methods; the second
 * writes the regions, after all methods have been written.
 *
 *   u16 tag, u16 0, u32 length | number of methods, methods | number of regions, regions
 */
#include "methods/inline_table.h"

#include "methods/regions.h"

#define SECTION_HEADER_BYTES 8

/* Counts the frames of region that before does not have. Frames are stored innermost first. */
static uint32_t count_unshared(const struct region *before, const struct region *region)
{
	const uint32_t depth = (uint32_t)region->stack->numstackframes;

	return before->stack ? depth - regions_shared(before->stack, region->stack) : depth;
}

/* Collects the methods, the compiled method first. False: there are too many. */
static bool collect(struct method_set *set, const struct loaded_code *code, uint32_t *ret_regions)
{
	struct region before = {0}, region;
	struct regions regions;
	bool good;

	method_set_clear(set);
	good = method_set_add(set, code->method);
	*ret_regions = 0;
	regions_init(&regions, code->compile_info, code->addr, code->size);
	while (good && regions_next(&regions, &region)) {
		++*ret_regions;
		for (uint32_t i = count_unshared(&before, &region); i-- > 0 && good;)
			good = method_set_add(set, region.stack->methods[i]);
		before = region;
	}
	return good;
}

static struct wire_method describe(const struct method_text *text, enum wire_method_how how)
{
	return (struct wire_method){
		.how = (uint8_t)how,
		.class_sig = wire_str_from(text->class_sig),
		.name = wire_str_from(text->name),
		.sig = wire_str_from(text->sig),
		.source_file = wire_str_from(text->source_file),
	};
}

/* Encodes a method that has no ID. A method whose names cannot be read gets no ID. */
static void encode_new(struct inline_table *table, struct wire_buf *buf, jmethodID method,
		       enum wire_method_how how, struct method_text *text)
{
	struct wire_line *lines = table->memory->lines;
	struct wire_method record;
	const bool good = method_text_read(table->reader, method, text);

	record = describe(text, how);
	if (good) {
		record.id = method_ids_add(table->ids, method);
		record.n_lines = method_text_read_lines(table->reader, method, lines);
	}
	table->failed = table->failed || !good;
	wire_encode_inline_method(buf, &record, lines);
}

static void encode_method(struct inline_table *table, struct wire_buf *buf, size_t index)
{
	jmethodID method = table->memory->set.methods[index];
	const struct wire_method known = {
		.id = method_ids_find(table->ids, method),
		.how = WIRE_METHOD_KNOWN,
	};
	struct method_text text;

	if (known.id != 0) {
		wire_encode_inline_method(buf, &known, NULL);
	} else if (index == 0) {
		encode_new(table, buf, method, WIRE_METHOD_SELF, table->self);
	} else {
		encode_new(table, buf, method, WIRE_METHOD_NAMED, &text);
		method_text_free(table->reader, &text);
	}
}

/* Encodes the region, with the frames that before does not have, outermost first. */
static void encode_region(const struct method_set *set, struct wire_buf *buf,
			  const struct region *before, const struct region *region)
{
	const PCStackInfo *stack = region->stack;
	const uint32_t depth = (uint32_t)stack->numstackframes;
	const uint32_t unshared = count_unshared(before, region);
	const struct wire_region record = {
		.size = region->end - before->end,
		.depth = depth,
		.shared = depth - unshared,
	};

	wire_encode_inline_region(buf, &record);
	for (uint32_t i = unshared; i-- > 0;) {
		const struct wire_inline_frame frame = {
			.method = method_set_find(set, stack->methods[i]),
			.bci = stack->bcis[i] >= 0 ? stack->bcis[i] : WIRE_BCI_UNKNOWN,
		};

		wire_encode_inline_frame(buf, &frame);
	}
}

static void encode_regions(const struct inline_table *table, struct wire_buf *buf,
			   const struct loaded_code *code)
{
	struct region before = {0}, region;
	struct regions regions;

	regions_init(&regions, code->compile_info, code->addr, code->size);
	while (!buf->overflow && regions_next(&regions, &region)) {
		encode_region(&table->memory->set, buf, &before, &region);
		before = region;
	}
}

/* Writes the length, which is known now, into the section's header. */
static bool finish(struct inline_table *table, const struct wire_buf *buf)
{
	const uint32_t len = (uint32_t)(buf->len - SECTION_HEADER_BYTES);

	for (int i = 0; i < 4; i++)
		buf->data[4 + i] = (uint8_t)(len >> (8 * i));
	table->len = buf->len;
	return !buf->overflow;
}

bool inline_table_encode(struct inline_table *table, const struct loaded_code *code)
{
	struct wire_buf buf = {.data = table->memory->section, .size = table->max_bytes};
	const struct method_set *set = &table->memory->set;
	uint32_t n_regions;

	if (!collect(&table->memory->set, code, &n_regions))
		return false;
	wire_encode_section(&buf, WIRE_SECTION_INLINE, NULL, 0);
	wire_encode_inline_count(&buf, (uint32_t)set->n);
	for (size_t i = 0; i < set->n && !buf.overflow; i++)
		encode_method(table, &buf, i);
	wire_encode_inline_count(&buf, n_regions);
	encode_regions(table, &buf, code);
	return finish(table, &buf);
}
