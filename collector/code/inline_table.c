// SPDX-License-Identifier: Apache-2.0
/*
 * The regions of a piece of compiled code, see inline_table.h:
 *
 *   | region 0 | region 1 |      region 2      | ... |  the compiled method alone  |
 *   0          end        end                  end                              size
 *
 * A region ends at HotSpot's PCStackInfo.pc, exclusive; an instruction belongs to the first region
 * that ends behind the instruction. Regions stay in the wire's encoding, in which a region says
 * only what differs from the frames of the region before. Every STEP'th region, a checkpoint, says
 * all of its frames, so that a look-up can begin there.
 */
#include "code/inline_table.h"

#include "base/serial.h"
#include "guard/heap_bytes.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define STEP		16u
#define FRAME_MAX_BYTES 10 /* two numbers of at most five bytes */

struct checkpoint {
	uint32_t start; /* where the region starts in the code */
	uint32_t pos;	/* where the encoding of the region starts */
};

/* One allocation holds the struct, its methods, the checkpoints and the regions. */
struct inline_table {
	uint64_t serial;
	struct code_methods *store;
	size_t bytes; /* bytes that the store counts for this table */
	uint32_t n_methods, n_regions;
	uint32_t end; /* of the last region */
	uint32_t n_checkpoints;
	uint32_t regions_len;
	const struct checkpoint *checkpoints;
	const uint8_t *regions;
	struct code_method *methods[];
};

/* A walk through the regions from the first on. */
struct walk {
	struct wire_inline wire;
	struct wire_region region; /* read last; frames holds its frames, outermost first */
	struct wire_inline_frame frames[WIRE_INLINE_MAX_DEPTH];
	uint32_t depth;
	uint64_t start, end;
};

/* Returns 1, 0 at the end, or -EBADMSG. */
static int next_region(struct walk *walk)
{
	struct wire_region region;
	const int n = wire_inline_next_region(&walk->wire, &region);

	if (n <= 0)
		return n;
	walk->region = region;
	walk->start = walk->end;
	walk->end += region.size;
	walk->depth = region.depth;
	for (uint32_t i = region.shared; i < region.depth; i++) {
		if (wire_inline_next_frame(&walk->wire, &walk->frames[i]) <= 0)
			return -EBADMSG;
	}
	return 1;
}

/*
 * Checks the regions. *ret_extra: the most bytes that the frames of all checkpoints can need. A
 * region says in some bytes that it has the frames of the region before, and each checkpoint has
 * all of them: without a limit, a message of 1 MiB would become a table of 100 MiB.
 */
static int check(const struct wire_inline *rest, uint32_t size, size_t *ret_extra)
{
	struct walk walk = {.wire = *rest};
	size_t frames = 0; /* of all checkpoints */
	int n;

	for (uint32_t i = 0; (n = next_region(&walk)) > 0; i++) {
		if (walk.end > size)
			return -EBADMSG;
		if (i % STEP == 0)
			frames += walk.depth;
		if (frames > INLINE_TABLE_MAX_FRAMES)
			return -ENOSPC;
	}
	*ret_extra = frames * FRAME_MAX_BYTES;
	return n;
}

static uint32_t count_checkpoints(const struct wire_inline *rest)
{
	return (rest->n_regions + STEP - 1) / STEP;
}

/* Encodes the regions anew, with checkpoints. Returns where the last region ends. */
static uint32_t encode(const struct wire_inline *rest, struct wire_buf *buf,
		       struct checkpoint *checkpoints)
{
	struct walk walk = {.wire = *rest};
	uint64_t last_end = 0;

	for (uint32_t i = 0; next_region(&walk) > 0; i++) {
		struct wire_region region = walk.region;

		if (i % STEP == 0) {
			checkpoints[i / STEP] = (struct checkpoint){.start = (uint32_t)walk.start,
								    .pos = (uint32_t)buf->len};
			region.shared = 0;
		}
		region.size = (uint32_t)(walk.end - last_end);
		last_end = walk.end;
		wire_encode_inline_region(buf, &region);
		for (uint32_t j = region.shared; j < region.depth; j++)
			wire_encode_inline_frame(buf, &walk.frames[j]);
	}
	return (uint32_t)last_end;
}

static int make(struct code_methods *store, struct code_method *const *methods,
		const struct wire_inline *rest, struct wire_buf *scratch, struct inline_table **ret)
{
	const size_t list_bytes = rest->n_methods * sizeof(struct code_method *);
	const uint32_t n_checkpoints = count_checkpoints(rest);
	const size_t index_bytes = n_checkpoints * sizeof(struct checkpoint);
	struct checkpoint *index = malloc(index_bytes + 1);
	struct inline_table *table;
	uint32_t end;
	size_t bytes;

	if (!index)
		return -ENOMEM;
	end = encode(rest, scratch, index);
	bytes = sizeof(*table) + list_bytes + index_bytes + scratch->len;
	table = code_methods_has_room(store, heap_bytes(bytes)) ? malloc(bytes) : NULL;
	if (table) {
		uint8_t *tail = (uint8_t *)table->methods + list_bytes;

		*table = (struct inline_table){
			.serial = serial_next(),
			.store = store,
			.bytes = heap_bytes(bytes),
			.n_methods = rest->n_methods,
			.n_regions = rest->n_regions,
			.end = end,
			.n_checkpoints = n_checkpoints,
			.regions_len = (uint32_t)scratch->len,
			.checkpoints = (const struct checkpoint *)(const void *)tail,
			.regions = tail + index_bytes,
		};
		for (uint32_t i = 0; i < rest->n_methods; i++)
			table->methods[i] = code_method_ref(methods[i]);
		memcpy(tail, index, index_bytes);
		memcpy(tail + index_bytes, scratch->data, scratch->len);
		store->bytes += table->bytes;
	}
	free(index);
	*ret = table;
	return table ? 0 : -ENOSPC;
}

int inline_table_new(struct code_methods *store, struct code_method *const *methods,
		     const struct wire_inline *rest, uint32_t size, struct inline_table **ret)
{
	struct wire_buf scratch = {0};
	struct inline_table *table;
	size_t extra;
	int err = check(rest, size, &extra);

	if (err)
		return err;
	scratch.size = rest->left + extra;
	scratch.data = malloc(scratch.size + 1);
	err = scratch.data ? make(store, methods, rest, &scratch, &table) : -ENOMEM;
	free(scratch.data);
	if (!err)
		*ret = table;
	return err;
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

uint64_t inline_table_serial(const struct inline_table *table)
{
	return table->serial;
}

const struct code_method *inline_table_root(const struct inline_table *table)
{
	return table->methods[0];
}

/*
 * Starts at a checkpoint. Frames are not cleared, because a checkpoint's region has all of its
 * frames.
 */
static void start_walk(const struct inline_table *table, uint32_t checkpoint, struct walk *walk)
{
	const uint32_t done = checkpoint * STEP;
	const uint32_t pos = done < table->n_regions ? table->checkpoints[checkpoint].pos : 0;

	walk->wire = (struct wire_inline){
		.data = table->regions + pos,
		.left = table->regions_len - pos,
		.n_methods = table->n_methods,
		.n_regions = table->n_regions,
		.regions_left = table->n_regions - done,
		.has_regions = true,
	};
	walk->depth = 0;
	walk->start = walk->end =
		done < table->n_regions ? table->checkpoints[checkpoint].start : 0;
}

/* The last checkpoint whose region begins at or before offset. */
static uint32_t find_checkpoint(const struct inline_table *table, uint32_t offset)
{
	uint32_t low = 0, high = table->n_checkpoints;

	while (high - low > 1) {
		const uint32_t middle = low + (high - low) / 2;

		if (table->checkpoints[middle].start <= offset)
			low = middle;
		else
			high = middle;
	}
	return low;
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

	start_walk(table, find_checkpoint(table, offset), &walk);
	while (next_region(&walk) > 0) {
		if (walk.end > offset)
			return copy_frames(table, &walk, ret, max);
	}
	if (max > 0)
		ret[0] =
			(struct inline_frame){.method = table->methods[0], .bci = WIRE_BCI_UNKNOWN};
	return max > 0;
}

uint32_t inline_table_end(const struct inline_table *table)
{
	return table->end;
}

bool inline_table_ends_within(const struct inline_table *table, uint32_t first, uint32_t last)
{
	struct walk walk;

	start_walk(table, find_checkpoint(table, first > 0 ? first - 1 : 0), &walk);
	while (next_region(&walk) > 0) {
		if (walk.end >= first)
			return walk.end <= last;
	}
	return false;
}

void inline_table_walk(const struct inline_table *table, inline_table_visit *visit, void *arg)
{
	struct inline_frame frames[WIRE_INLINE_MAX_DEPTH];
	struct walk walk;

	start_walk(table, 0, &walk);
	while (next_region(&walk) > 0) {
		const size_t n = copy_frames(table, &walk, frames, WIRE_INLINE_MAX_DEPTH);

		if (walk.end > walk.start)
			visit(arg, (uint32_t)walk.start, (uint32_t)walk.end, frames, n);
	}
}
