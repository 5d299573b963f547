// SPDX-License-Identifier: Apache-2.0
/*
 * The regions of a piece of compiled code, see inline_table.h:
 *
 *   | region 0 | region 1 |      region 2      | ... |  the compiled method alone  |
 *   0          end        end                  end                              size
 *
 * Each ends where HotSpot's PCStackInfo.pc says, exclusive; an instruction belongs to the first
 * region that ends behind it.
 */
#include "target/inline_table.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define MALLOC_OVERHEAD 16

struct inline_table {
	struct code_methods *store;
	size_t bytes; /* accounted for in the store */
	uint32_t n_methods, n_regions;
	size_t regions_len;
	const uint8_t *regions; /* behind the methods */
	struct code_method *methods[];
};

/* The regions from the first on, and the frames of the one just read, outermost first. */
struct walk {
	struct wire_inline wire;
	struct wire_inline_frame frames[WIRE_INLINE_MAX_DEPTH];
	uint32_t depth;
	uint64_t start, end;
};

/* 1, 0 at the end, -EBADMSG. */
static int next_region(struct walk *walk)
{
	struct wire_region region;
	const int n = wire_inline_next_region(&walk->wire, &region);

	if (n <= 0)
		return n;
	walk->start = walk->end;
	walk->end += region.size;
	walk->depth = region.depth;
	for (uint32_t i = region.shared; i < region.depth; i++) {
		if (wire_inline_next_frame(&walk->wire, &walk->frames[i]) <= 0)
			return -EBADMSG;
	}
	return 1;
}

static int check(const struct wire_inline *rest, uint32_t size)
{
	struct walk walk = {.wire = *rest};
	int n;

	do {
		n = next_region(&walk);
		if (walk.end > size)
			return -EBADMSG;
	} while (n > 0);
	return n;
}

int inline_table_new(struct code_methods *store, struct code_method *const *methods,
		     const struct wire_inline *rest, uint32_t size, struct inline_table **ret)
{
	const size_t list_bytes = rest->n_methods * sizeof(struct code_method *);
	const size_t bytes = sizeof(struct inline_table) + list_bytes + rest->left;
	struct inline_table *table;
	const int err = check(rest, size);

	if (err)
		return err;
	if (bytes + MALLOC_OVERHEAD > CODE_METHODS_MAX_BYTES - store->bytes)
		return -ENOSPC;
	table = malloc(bytes);
	if (!table)
		return -ENOMEM;
	*table = (struct inline_table){
		.store = store,
		.bytes = bytes + MALLOC_OVERHEAD,
		.n_methods = rest->n_methods,
		.n_regions = rest->n_regions,
		.regions_len = rest->left,
		.regions = (const uint8_t *)table->methods + list_bytes,
	};
	for (uint32_t i = 0; i < rest->n_methods; i++)
		table->methods[i] = code_method_ref(methods[i]);
	memcpy((uint8_t *)table->methods + list_bytes, rest->data, rest->left);
	store->bytes += table->bytes;
	*ret = table;
	return 0;
}

void inline_table_free(struct inline_table *table)
{
	if (!table)
		return;
	for (uint32_t i = 0; i < table->n_methods; i++)
		code_methods_unref(table->store, table->methods[i]);
	table->store->bytes -= table->bytes;
	free(table);
}

const struct code_method *inline_table_root(const struct inline_table *table)
{
	return table->methods[0];
}

/* The frames' own memory is left as it is: every region says all of its frames before they count. */
static void start_walk(const struct inline_table *table, struct walk *walk)
{
	walk->wire = (struct wire_inline){
		.data = table->regions,
		.left = table->regions_len,
		.n_methods = table->n_methods,
		.n_regions = table->n_regions,
		.regions_left = table->n_regions,
		.has_regions = true,
	};
	walk->depth = 0;
	walk->start = walk->end = 0;
}

static size_t copy_frames(const struct inline_table *table, const struct walk *walk,
			  struct inline_frame *ret, size_t max)
{
	size_t n = 0;

	for (uint32_t i = walk->depth; i-- > 0 && n < max;)
		ret[n++] = (struct inline_frame){.method = table->methods[walk->frames[i].method],
						 .bci = walk->frames[i].bci};
	return n;
}

size_t inline_table_find(const struct inline_table *table, uint32_t offset,
			 struct inline_frame *ret, size_t max)
{
	struct walk walk;

	start_walk(table, &walk);
	while (next_region(&walk) > 0) {
		if (walk.end > offset)
			return copy_frames(table, &walk, ret, max);
	}
	if (max > 0)
		ret[0] =
			(struct inline_frame){.method = table->methods[0], .bci = WIRE_BCI_UNKNOWN};
	return max > 0;
}

void inline_table_walk(const struct inline_table *table, inline_table_visit *visit, void *arg)
{
	struct inline_frame frames[WIRE_INLINE_MAX_DEPTH];
	struct walk walk;

	start_walk(table, &walk);
	while (next_region(&walk) > 0) {
		const size_t n = copy_frames(table, &walk, frames, WIRE_INLINE_MAX_DEPTH);

		if (walk.end > walk.start)
			visit(arg, (uint32_t)walk.start, (uint32_t)walk.end, frames, n);
	}
}
