// SPDX-License-Identifier: Apache-2.0
/*
 * Names generated code by the process's code map at the sample's time, and interpreted methods by
 * the JVM's memory, see java_frames.h. The frames of an address are cached under its inline table's
 * serial number.
 */
#include "symbolize/java_frames.h"

#include "code/inline_table.h"

#include <stdio.h>
#include <string.h>

static enum frame_kind kind_of(const struct code_range *range)
{
	if (range->kind == CODE_STUB)
		return strcmp(range->name, "Interpreter") == 0 ? FRAME_INTERPRETED : FRAME_STUB;
	if (range->kind == CODE_NATIVE_WRAPPER)
		return FRAME_NATIVE_WRAPPER;
	/* C1 compiles at levels 1 to 3, with more or less profiling. C2 compiles at level 4. */
	if (range->level >= 1 && range->level <= 3)
		return FRAME_C1;
	return FRAME_JIT;
}

/* A method at a line; line 0: not known. note is written behind the method's name. */
struct java_place {
	struct java_name method;
	const char *source_file;
	uint32_t line;
	const char *note; /* a static text */
};

static uint32_t style_of(const struct java_name_options *names)
{
	return (uint32_t)names->style << 2 | (uint32_t)names->is_raw << 1 |
	       (uint32_t)names->has_lines;
}

static struct frame_key java_key(const struct symbolizer_context *context,
				 const struct java_place *place)
{
	return (struct frame_key){
		.owner = context->process->names.serial,
		.parts = {(uintptr_t)place->method.class_name, (uintptr_t)place->method.name,
			  (uintptr_t)place->method.signature, (uintptr_t)place->source_file},
		.line = context->names.has_lines ? place->line : 0,
		.style = style_of(&context->names),
	};
}

static struct frame write_java(struct frame_texts *texts, const struct java_name_options *names,
			       const struct java_place *place)
{
	char name[4096], all[4200], number[16] = "";
	struct frame frame = {0};

	if (place->method.class_name)
		java_name_write(names, &place->method, name, sizeof(name));
	else
		snprintf(name, sizeof(name), "%s", place->method.name);
	if (names->has_lines && place->line)
		snprintf(number, sizeof(number), ":%u", (unsigned)place->line);
	snprintf(all, sizeof(all), "%s%s%s", name, number, place->note);
	frame.name = intern_add_str(&texts->names, all);
	if (place->source_file)
		frame.file = intern_add_str(&texts->names, place->source_file);
	return frame;
}

/* Makes the frame except for its kind, which the caller sets. */
static struct frame name_java(struct frame_texts *texts, const struct symbolizer_context *context,
			      const struct java_place *place)
{
	const struct frame_key key = java_key(context, place);
	const struct frame *known = place->note[0] ? NULL : frame_cache_find(&texts->frames, &key);
	struct frame frame = known ? *known : write_java(texts, &context->names, place);

	if (!known && !place->note[0])
		frame_cache_put(&texts->frames, &key, &frame);
	frame.line = place->line;
	return frame;
}

static struct frame name_range(struct frame_texts *texts, const struct symbolizer_context *context,
			       const struct code_range *range, uint32_t line, const char *note)
{
	const struct java_place place = {
		.method = {range->class_name, range->name, range->signature},
		.source_file = range->source_file,
		.line = line,
		.note = note,
	};
	struct frame frame = name_java(texts, context, &place);

	frame.kind = kind_of(range);
	return frame;
}

static struct frame name_inlined(struct frame_texts *texts,
				 const struct symbolizer_context *context,
				 const struct inline_frame *inlined)
{
	const struct code_method *said = inlined->method;
	const struct java_place place = {
		.method = {said->class_name, said->name, said->signature},
		.source_file = said->source_file,
		.line = code_method_line(said, inlined->bci),
		.note = "",
	};
	struct frame frame = name_java(texts, context, &place);

	frame.kind = FRAME_INLINED;
	return frame;
}

/*
 * The key of an offset in code with an inline table. parts[1] numbers the frames there, innermost
 * first.
 */
static struct frame_key code_key(const struct symbolizer_context *context,
				 const struct code_range *range, uint32_t offset)
{
	return (struct frame_key){.owner = inline_table_serial(range->inlines),
				  .parts = {offset},
				  .style = style_of(&context->names)};
}

/*
 * Copies all frames of a place that were named before. 0: not all were, or there are more than max.
 */
static size_t find_code(const struct frame_texts *texts, struct frame_key key, struct frame *ret,
			size_t max)
{
	for (size_t n = 0; n < max;) {
		const struct frame *known;

		key.parts[1] = n;
		known = frame_cache_find(&texts->frames, &key);
		if (!known)
			return 0;
		ret[n++] = *known;
		if (known->kind != FRAME_INLINED)
			return n;
	}
	return 0;
}

static void keep_code(struct frame_texts *texts, struct frame_key key, const struct frame *frames,
		      size_t n)
{
	for (size_t i = 0; i < n; i++) {
		key.parts[1] = i;
		frame_cache_put(&texts->frames, &key, &frames[i]);
	}
}

struct code_place {
	const struct code_range *range;
	uint64_t addr;
	bool lacks_inlined;
};

/*
 * Names the functions inlined at the place, innermost first, then the compiled method; at most
 * room.max.
 */
static size_t name_code(struct frame_texts *texts, const struct symbolizer_context *context,
			const struct code_place *place, struct frame_room room)
{
	struct frame *ret = room.frames;
	const struct code_range *range = place->range;
	const uint32_t offset = (uint32_t)(place->addr - range->addr);
	struct inline_frame inlined[WIRE_INLINE_MAX_DEPTH];
	uint32_t line;
	size_t n;

	if (place->lacks_inlined) {
		ret[0] = name_range(texts, context, range, 0, " [inlined frames not known]");
		return 1;
	}
	if (!range->inlines) {
		ret[0] = name_range(texts, context, range, 0, "");
		return 1;
	}
	n = find_code(texts, code_key(context, range, offset), ret, room.max);
	if (n > 0) {
		/* The level may have become known since, and another language's name. */
		ret[n - 1] = name_range(texts, context, range, ret[n - 1].line, "");
		return n;
	}
	n = inline_table_find(range->inlines, offset, inlined, WIRE_INLINE_MAX_DEPTH);
	line = code_method_line(inlined[n - 1].method, inlined[n - 1].bci);
	if (n > room.max) {
		ret[0] = name_range(texts, context, range, line, " [inlined frames left out]");
		return 1;
	}
	for (size_t i = 0; i + 1 < n; i++)
		ret[i] = name_inlined(texts, context, &inlined[i]);
	ret[n - 1] = name_range(texts, context, range, line, "");
	keep_code(texts, code_key(context, range, offset), ret, n);
	return n;
}

/* Names a method by the JVM's memory. An interpreted frame has no inlined frames. */
static struct frame name_interpreted(struct frame_texts *texts,
				     const struct symbolizer_context *context,
				     const struct stack_entry *entry,
				     struct symbolizer_verdict *verdict)
{
	const struct java_method *method;
	struct java_place place;
	struct frame frame;
	enum java_methods_reason reason;

	method = process_java_method(context->process, entry->method, context->time_ns, &reason);
	if (!method) {
		verdict->is_java_named = false;
		verdict->unnamed[reason]++;
		return (struct frame){.name = intern_add_str(&texts->names, "[interpreted]"),
				      .kind = FRAME_INTERPRETED};
	}
	place = (struct java_place){
		.method = {method->class_name, method->name, method->signature},
		.source_file = method->source_file,
		.line = java_method_line(method, java_method_bci(method, entry->bcp)),
		.note = "",
	};
	frame = name_java(texts, context, &place);
	frame.kind = FRAME_INTERPRETED;
	return frame;
}

size_t java_frames_name(struct frame_texts *texts, const struct symbolizer_context *context,
			const struct stack_entry *entry, struct frame_room room,
			struct symbolizer_verdict *verdict)
{
	const struct process *process = context->process;
	struct code_place place = {.addr = stack_probe(entry),
				   .lacks_inlined = entry->lacks_inlined};

	if (!process)
		return 0;
	if (entry->method) {
		room.frames[0] = name_interpreted(texts, context, entry, verdict);
		return 1;
	}
	if (process->code)
		place.range = code_map_find(process->code, place.addr, context->time_ns);
	if (place.range && (place.lacks_inlined || kind_of(place.range) == FRAME_INTERPRETED))
		verdict->is_java_named = false;
	return place.range ? name_code(texts, context, &place, room) : 0;
}

bool java_frames_is_mounting(const struct symbolizer_context *context,
			     const struct stack_entry *entry)
{
	const struct process *process = context->process;
	const struct code_range *range;

	if (entry->is_kernel || !process || !process->code)
		return false;
	range = code_map_find(process->code, stack_probe(entry), context->time_ns);
	return range && range->class_name && strcmp(range->name, "enterSpecial") == 0 &&
	       strcmp(range->class_name, "jdk/internal/vm/Continuation") == 0;
}

bool java_frames_are_hidden(const struct frame *frames, size_t n)
{
	/* CppInterpreter before JDK 17. A template's name has its type in front. */
	static const char *const interpreters[] = {"ZeroInterpreter::", "BytecodeInterpreter::run",
						   "CppInterpreter::"};

	for (size_t i = 0; i < n; i++) {
		for (size_t k = 0; k < sizeof(interpreters) / sizeof(interpreters[0]); k++) {
			if (frames[i].kind == FRAME_JVM && frames[i].name &&
			    strstr(frames[i].name, interpreters[k]))
				return true;
		}
	}
	return false;
}
