// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   a form of objects in HotSpot's heap -> offsets of members of Continuation and StackChunk
 * units:   bytes from the object's beginning
 * threads: any
 * errors:  none
 * source:  java.base's jdk.internal.vm.StackChunk and Continuation, of JDK 21 to 25
 *
 * HotSpot lays members out behind the header, the largest first, each gap filled by the first
 * member that fits, and references last:
 *
 *   header           8 (compact)  12 (compressed)     16
 *   Continuation     3 booleans; target, scope, parent, child, tail, ...
 *   StackChunk       pc, size,    size, pc,           pc, size,
 *                    sp, bottom, ...                  sp, bottom, ...
 *                    maxThawingSize, flags, (lockStackSize); parent, cont; then the stack's words
 */
#ifndef FG_UNWIND_HEAP_FORM_H
#define FG_UNWIND_HEAP_FORM_H

#include <stdbool.h>
#include <stdint.h>

#define HEAP_FORMS     9
#define HEAP_FORM_TAIL 4 /* index of tail among a Continuation's references */

struct heap_form {
	uint8_t header, reference;
	bool is_coloured; /* references in the heap have the colours of generational ZGC */
};

static const struct heap_form heap_forms[HEAP_FORMS] = {
	{12, 4, false}, {12, 8, false}, {12, 8, true}, {16, 4, false}, {16, 8, false},
	{16, 8, true},	{8, 4, false},	{8, 8, false}, {8, 8, true}};

static inline uint32_t heap_form_align(uint32_t value, uint32_t to)
{
	return (value + to - 1) / to * to;
}

/* The offset of a Continuation's tail. */
static inline uint32_t heap_form_tail_at(const struct heap_form *form)
{
	return heap_form_align(form->header + 3, form->reference) +
	       HEAP_FORM_TAIL * form->reference;
}

/* The offset of a chunk's integer. index: 0 is size, 1 is sp, 2 is bottom. */
static inline uint32_t heap_form_chunk_int_at(const struct heap_form *form, uint32_t index)
{
	const uint32_t behind_pc = heap_form_align(form->header, 8) + 8;

	if (form->header % 8 == 0)
		return behind_pc + 4 * index;
	return index == 0 ? form->header : behind_pc + 4 * (index - 1);
}

/* The offset of a chunk's reference to the chunk before. */
static inline uint32_t heap_form_parent_at(const struct heap_form *form)
{
	const uint32_t max_thawing = heap_form_chunk_int_at(form, 2) + 4;

	return heap_form_align(max_thawing + 4 + 2, form->reference);
}

/* The offset of a chunk's reference to its Continuation. */
static inline uint32_t heap_form_cont_at(const struct heap_form *form)
{
	return heap_form_parent_at(form) + form->reference;
}

/* The offset of the words of a chunk's stack. */
static inline uint32_t heap_form_stack_at(const struct heap_form *form)
{
	return heap_form_align(heap_form_cont_at(form) + form->reference, 8);
}

#endif
