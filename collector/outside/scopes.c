// SPDX-License-Identifier: Apache-2.0
/*
 * Decodes scopes, see scopes.h. A scope is numbers of code/unsigned5.h:
 *
 *   where the scope of the caller is, 0 for none | the number of the Method, from 1 | the index of
 *   the bytecode, plus 1 | more that is not read
 */
#include "outside/scopes.h"

#include "base/unaligned.h"
#include "code/unsigned5.h"

#include <string.h>

#define WORD 8

/* Reads the frame of a scope. *scope becomes that of the caller. */
static bool read_frame(const struct scopes *scopes, uint32_t *scope, struct scopes_frame *ret)
{
	const bool is_biased = scopes->layout->is_biased;
	uint32_t caller, number, bci;
	size_t pos = *scope;

	if (!unsigned5_read(scopes->scopes, scopes->scopes_len, is_biased, &pos, &caller) ||
	    !unsigned5_read(scopes->scopes, scopes->scopes_len, is_biased, &pos, &number) ||
	    !unsigned5_read(scopes->scopes, scopes->scopes_len, is_biased, &pos, &bci) ||
	    number == 0 || number > scopes->methods_len / WORD)
		return false;
	memcpy(&ret->method, scopes->methods + (size_t)(number - 1) * WORD, WORD);
	ret->bci = bci > 0 && bci <= UINT16_MAX + 1 ? (int32_t)bci - 1 : -1;
	*scope = caller;
	return true;
}

static void turn(struct scopes_region *region)
{
	for (uint32_t i = 0; i < region->depth / 2; i++) {
		const struct scopes_frame frame = region->frames[i];

		region->frames[i] = region->frames[region->depth - 1 - i];
		region->frames[region->depth - 1 - i] = frame;
	}
}

/* Reads the stack whose innermost scope is given. */
static bool read_stack(struct scopes_walk *walk, uint32_t scope, struct scopes_region *ret)
{
	ret->depth = 0;
	while (scope != 0) {
		if (ret->depth == SCOPES_MAX_DEPTH || walk->frames == SCOPES_MAX_FRAMES ||
		    scope >= walk->scopes->scopes_len ||
		    !read_frame(walk->scopes, &scope, &ret->frames[ret->depth]))
			return false;
		ret->depth++;
		walk->frames++;
	}
	turn(ret);
	return true;
}

static bool next_good(struct scopes_walk *walk, struct scopes_region *ret)
{
	const struct scopes *const scopes = walk->scopes;
	const struct scopes_layout *const layout = scopes->layout;

	while (scopes->pcs_len - walk->pos >= layout->pc_desc_bytes) {
		const uint8_t *const desc = scopes->pcs + walk->pos;
		const int32_t pc = unaligned_i32(desc, layout->pc_offset);
		const int32_t scope = unaligned_i32(desc, layout->scope_offset);

		walk->pos += layout->pc_desc_bytes;
		if (pc <= 0 || (uint32_t)pc <= walk->end || (uint32_t)pc > scopes->code_bytes ||
		    scope <= 0)
			continue;
		if (!read_stack(walk, (uint32_t)scope, ret)) {
			walk->is_broken = true;
			continue;
		}
		ret->end = (uint32_t)pc;
		walk->end = (uint32_t)pc;
		return true;
	}
	return false;
}

uint32_t scopes_shared(const struct scopes_region *a, const struct scopes_region *b)
{
	const uint32_t depth = a->depth < b->depth ? a->depth : b->depth;
	uint32_t shared = 0;

	while (shared < depth && a->frames[shared].method == b->frames[shared].method &&
	       a->frames[shared].bci == b->frames[shared].bci)
		shared++;
	return shared;
}

static bool is_same(const struct scopes_region *a, const struct scopes_region *b)
{
	return a->depth == b->depth && scopes_shared(a, b) == a->depth;
}

static void copy(struct scopes_region *to, const struct scopes_region *from)
{
	to->end = from->end;
	to->depth = from->depth;
	memcpy(to->frames, from->frames, from->depth * sizeof(*from->frames));
}

bool scopes_next(struct scopes_walk *walk, struct scopes_region *ret)
{
	if (!walk->has_ahead && !next_good(walk, &walk->ahead))
		return false;
	copy(ret, &walk->ahead);
	while ((walk->has_ahead = next_good(walk, &walk->ahead)) && is_same(ret, &walk->ahead))
		ret->end = walk->ahead.end;
	return true;
}
