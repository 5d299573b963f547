// SPDX-License-Identifier: Apache-2.0
/*
 * Decodes the inline table of shared/README.md, see wire.h. The bytes are hostile: every length is
 * checked against the bytes that are left, and every index against the number of methods.
 */
#include "shared/wire.h"
#include "shared/wire_varint.h"

#include <errno.h>

static const uint8_t *take(struct wire_inline *table, size_t len)
{
	const uint8_t *p = table->data;

	if (table->bad || len > table->left) {
		table->bad = true;
		return NULL;
	}
	table->data += len;
	table->left -= len;
	return p;
}

static uint32_t take_varint(struct wire_inline *table)
{
	uint32_t value;

	if (!table->bad && wire_varint_read(&table->data, &table->left, &value))
		return value;
	table->bad = true;
	return 0;
}

static struct wire_str take_str(struct wire_inline *table)
{
	const uint8_t *p = take(table, 2);
	const uint16_t len = p ? (uint16_t)(p[0] | p[1] << 8) : 0;

	p = take(table, len);
	return (struct wire_str){.data = (const char *)p, .len = p ? len : 0};
}

int wire_inline_init(struct wire_inline *table, const uint8_t *data, size_t len)
{
	*table = (struct wire_inline){.data = data, .left = len};
	table->n_methods = take_varint(table);
	if (table->n_methods == 0 || table->n_methods > WIRE_INLINE_MAX_METHODS)
		table->bad = true;
	table->methods_left = table->n_methods;
	return table->bad ? -EBADMSG : 0;
}

/* Walks the lines once, so that later walks need not check them. */
static void take_lines(struct wire_inline *table, struct wire_method *method)
{
	method->n_lines = take_varint(table);
	method->lines = table->data;
	method->lines_len = table->left;
	for (uint32_t i = 0; i < method->n_lines && !table->bad; i++) {
		take_varint(table);
		take_varint(table);
	}
	method->lines_len -= table->left;
}

/* Reads the number of regions, which follows the methods. */
static int begin_regions(struct wire_inline *table)
{
	if (!table->has_regions) {
		table->has_regions = true;
		table->n_regions = take_varint(table);
		table->regions_left = table->n_regions;
		if (table->n_regions > table->left) /* each region takes more than a byte */
			table->bad = true;
	}
	return table->bad ? -EBADMSG : 0;
}

int wire_inline_next_method(struct wire_inline *table, struct wire_method *ret)
{
	struct wire_method method = {0};
	uint32_t head;

	if (table->methods_left == 0)
		return begin_regions(table);
	head = take_varint(table);
	method.id = head >> 2;
	method.how = head & 3;
	if (method.id > WIRE_METHOD_ID_MAX || method.how > WIRE_METHOD_SELF ||
	    (method.how == WIRE_METHOD_KNOWN && method.id == 0) ||
	    (method.how == WIRE_METHOD_SELF && table->methods_left != table->n_methods))
		table->bad = true;
	if (method.how == WIRE_METHOD_NAMED) {
		method.class_sig = take_str(table);
		method.name = take_str(table);
		method.sig = take_str(table);
		method.source_file = take_str(table);
	}
	if (method.how != WIRE_METHOD_KNOWN)
		take_lines(table, &method);
	if (table->bad)
		return -EBADMSG;
	table->methods_left--;
	*ret = method;
	return 1;
}

int wire_inline_next_region(struct wire_inline *table, struct wire_region *ret)
{
	struct wire_region region;

	if (table->bad || !table->has_regions)
		return -EBADMSG;
	if (table->regions_left == 0)
		return 0;
	region.size = take_varint(table);
	region.depth = take_varint(table);
	region.shared = take_varint(table);
	if (region.depth == 0 || region.depth > WIRE_INLINE_MAX_DEPTH ||
	    region.shared > region.depth || region.shared > table->last_depth)
		table->bad = true;
	if (table->bad)
		return -EBADMSG;
	table->regions_left--;
	table->last_depth = region.depth;
	table->frames_left = region.depth - region.shared;
	*ret = region;
	return 1;
}

int wire_inline_next_frame(struct wire_inline *table, struct wire_inline_frame *ret)
{
	struct wire_inline_frame frame;
	uint32_t bci;

	if (table->bad)
		return -EBADMSG;
	if (table->frames_left == 0)
		return 0;
	frame.method = take_varint(table);
	bci = take_varint(table);
	frame.bci = bci > 0 && bci <= INT32_MAX ? (int32_t)(bci - 1) : WIRE_BCI_UNKNOWN;
	if (frame.method >= table->n_methods)
		table->bad = true;
	if (table->bad)
		return -EBADMSG;
	table->frames_left--;
	*ret = frame;
	return 1;
}

bool wire_method_next_line(const struct wire_method *method, size_t *pos, struct wire_line *line)
{
	struct wire_inline table;
	uint32_t zigzag;

	if (*pos >= method->lines_len) /* without lines, lines may be NULL */
		return false;
	table = (struct wire_inline){.data = method->lines + *pos,
				     .left = method->lines_len - *pos};
	line->bci += take_varint(&table);
	zigzag = take_varint(&table);
	line->line += zigzag >> 1 ^ (zigzag & 1 ? UINT32_MAX : 0);
	*pos = method->lines_len - table.left;
	return true;
}
