// SPDX-License-Identifier: Apache-2.0
/* Judges whether Java was entered where a walk has left Java, see way_in.h. */
#include "unwind/way_in.h"

#include "unwind/step_hotspot.h"

#define ARGUMENTS_SLOT	  2   /* of the call stub's frame: how many words of arguments there are */
#define MAX_ARGUMENTS	  255 /* a method has no more words */
#define ARGUMENTS_IN_REGS 6

/*
 * Bytes that adapters and the interpreter may have pushed, or a frame that is being made or taken
 * down. A frame that is missing has more.
 */
#define STUB_BYTES 64

static bool is_java(const struct code_range *range)
{
	return range && (range->kind != CODE_STUB || hotspot_is_interpreter(range));
}

static bool is_file(const struct mapping *mapping)
{
	return mapping && mapping->inode != 0 && !mapping_is_generated(mapping);
}

/*
 * How far the frame of the method that was called may begin below the arguments. Compiled code has
 * its arguments in registers, and behind these on the stack. The adapter that moves them there
 * aligns the stack.
 */
static uint64_t room_of(const struct code_range *callee, uint64_t arguments)
{
	const uint64_t pushed =
		arguments > ARGUMENTS_IN_REGS ? arguments - ARGUMENTS_IN_REGS + 1 : 0;

	if (callee && callee->kind != CODE_STUB)
		return HOTSPOT_STACK_ALIGN_BYTES + pushed * WORD_BYTES;
	return STUB_BYTES + arguments * WORD_BYTES;
}

static bool is_called_by_stub(const struct walk *walk, const struct code_range *callee)
{
	const uint64_t fp = walk->at.regs.fp, sp = walk->at.regs.sp;
	const uint32_t bytes = walk->arch->call_stub_bytes;
	uint64_t arguments, begin;

	if (bytes == 0 || !hotspot_read_slot(walk, ARGUMENTS_SLOT, &arguments))
		return true;
	if (arguments > MAX_ARGUMENTS)
		return false;
	begin = fp - bytes - arguments * WORD_BYTES;
	return begin >= sp && begin - sp <= room_of(callee, arguments);
}

bool way_in_is_possible(const struct walk *walk, const struct way_in *way)
{
	if (!walk->at.is_return)
		return true;
	if (is_java(way->callee) && is_file(way->mapping))
		return false;
	if (!way->range || !hotspot_is_call_stub(way->range))
		return true;
	return !walk->at.is_called_file && is_called_by_stub(walk, way->callee);
}
