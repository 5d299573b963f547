// SPDX-License-Identifier: Apache-2.0
/*
 * Names one entry of a stack after the other: kernel and files by native_frames.h, the JVM's code
 * by java_frames.h. The decisions here are where a stack ends, and whether its end is a root. See
 * symbolizer.h.
 */
#include "symbolize/symbolizer.h"

#include "base/clock.h"
#include "symbolize/frame_texts.h"
#include "symbolize/java_frames.h"
#include "symbolize/native_frames.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct symbolizer {
	struct frame_texts texts;
	struct native_frames *native;
	struct table_cache *tables; /* borrowed */
};

/* source NULL: this host. */
static int make(struct table_cache *tables, const struct name_source *source,
		struct symbolizer **ret)
{
	struct symbolizer *symbolizer = calloc(1, sizeof(*symbolizer));
	int err;

	if (!symbolizer)
		return -ENOMEM;
	err = native_frames_new(tables, &symbolizer->texts, source, &symbolizer->native);
	if (err) {
		symbolizer_free(symbolizer);
		return err;
	}
	symbolizer->tables = tables;
	*ret = symbolizer;
	return 0;
}

int symbolizer_new(struct table_cache *tables, struct symbolizer **ret)
{
	return make(tables, NULL, ret);
}

int symbolizer_new_replayed(struct table_cache *tables, const struct name_source *source,
			    struct symbolizer **ret)
{
	return make(tables, source, ret);
}

void symbolizer_watch(struct symbolizer *symbolizer, const struct name_watch *watch)
{
	native_frames_watch(symbolizer->native, watch);
}

void symbolizer_free(struct symbolizer *symbolizer)
{
	if (!symbolizer)
		return;
	native_frames_free(symbolizer->native);
	frame_texts_fini(&symbolizer->texts);
	free(symbolizer);
}

const char *symbolizer_kernel_problem(const struct symbolizer *symbolizer)
{
	return kernel_code_problem(native_frames_kernel(symbolizer->native));
}

void symbolizer_begin(struct symbolizer *symbolizer)
{
	kernel_code_begin(native_frames_kernel(symbolizer->native), clock_now_ns());
}

void symbolizer_apply_kernel(struct symbolizer *symbolizer, const struct record *record)
{
	kernel_code_apply(native_frames_kernel(symbolizer->native), record);
}

void symbolizer_lines_stats(const struct symbolizer *symbolizer, struct native_lines_stats *ret)
{
	native_frames_lines_stats(symbolizer->native, ret);
}

void symbolizer_debuginfod_stats(const struct symbolizer *symbolizer, struct debuginfod_stats *ret)
{
	native_frames_debuginfod_stats(symbolizer->native, ret);
}

void symbolizer_demangler_stats(const struct symbolizer *symbolizer, struct demangler_stats *ret)
{
	demangler_stats(native_frames_demangler(symbolizer->native), ret);
}

void symbolizer_kernel_stats(const struct symbolizer *symbolizer, struct kernel_code_stats *ret)
{
	kernel_code_stats(native_frames_kernel(symbolizer->native), ret);
}

static bool is_one_of(const char *name, const char *const *names, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		const size_t len = strlen(names[i]);

		/* Libraries add versions and suffixes to names: __libc_start_main_impl. */
		if (strncmp(name, names[i], len) == 0 &&
		    (name[len] == '\0' || strchr("@.", name[len]) ||
		     strcmp(name + len, "_impl") == 0))
			return true;
	}
	return false;
}

static bool starts_with_any(const char *name, const char *prefixes)
{
	for (const char *p = prefixes; *p; p += strcspn(p, " "), p += *p == ' ') {
		if (strncmp(name, p, strcspn(p, " ")) == 0)
			return true;
	}
	return false;
}

/* Whether the frame's file is the C library: of glibc, or of musl, which has two names. */
static bool is_in_libc(const struct frame *frame)
{
	return frame->kind == FRAME_NATIVE && frame->module &&
	       starts_with_any(frame->module, "libc.so libc.musl- libc- ld-musl-");
}

static bool is_unnamed_libc(const struct frame *frame)
{
	return is_in_libc(frame) && native_frames_is_by_start(frame);
}

/*
 * Whether the stack's last frame is the root of a thread or process, in glibc, musl or the kernel.
 * A stripped libc has no names for its thread entry. Then up to two frames of libc without a name
 * may stand below the function that a thread was made with.
 */
static bool is_rooted(const struct frame *frames, size_t depth)
{
	static const char *const entries[] = {
		"_start",
		"_start_c",
		"__clone",
		"__clone3",
		"clone",
		"clone3",
		"start_thread",
		"__libc_start_main",
		"__libc_start_call_main",
		"ret_from_fork",
		"ret_from_fork_asm",
	};
	static const char *const mains[] = {
		"thread_native_entry", /* a thread of HotSpot */
		"java_start",	       /* a thread of HotSpot before JDK 11 */
		"ThreadJavaMain",      /* the launcher's thread */
		"JavaMain",
		"main",
	};
	const struct frame *last = &frames[depth - 1];
	size_t unnamed = 0;

	if (last->kind == FRAME_KERNEL && starts_with_any(last->name, "entry_ asm_ el0t_"))
		return true; /* a process whose memory is gone: the stack has no user part */
	if (last->kind != FRAME_NATIVE && last->kind != FRAME_KERNEL)
		return false;
	if (is_one_of(last->name, entries, sizeof(entries) / sizeof(entries[0])))
		return true;
	if (is_in_libc(last) && strcmp(last->name, "start") == 0)
		return true; /* of musl; any program may have a function of this name */
	while (unnamed < 2 && unnamed + 1 < depth && is_unnamed_libc(&last[-(ssize_t)unnamed]))
		unnamed++;
	return unnamed > 0 &&
	       is_one_of(last[-(ssize_t)unnamed].name, mains, sizeof(mains) / sizeof(mains[0]));
}

/* Writes at least one frame. */
static size_t name_user(struct symbolizer *symbolizer, const struct symbolizer_context *context,
			const struct stack_entry *entry, struct frame_room room,
			struct symbolizer_verdict *verdict)
{
	const size_t n = java_frames_name(&symbolizer->texts, context, entry, room, verdict);

	if (n > 0)
		return n;
	return native_frames_name(symbolizer->native, context, entry, room,
				  &verdict->is_java_named);
}

/* The number of frames to name: all, or only the frames of a mounted virtual thread. */
static uint32_t count_named(const struct symbolizer_context *context, const struct stack *stack)
{
	for (uint32_t i = 0; context->cuts_carriers && i < stack->depth; i++) {
		if (java_frames_is_mounting(context, &stack->entries[i]))
			return i;
	}
	return stack->depth;
}

/* A frame that says why the rest of the stack is missing. */
static struct frame name_end(struct symbolizer *symbolizer,
			     const struct symbolizer_context *context, const struct stack *stack)
{
	const struct mapping *mapping = NULL;
	char text[400], room[LIBRARY_NAME_BYTES];
	int len = snprintf(text, sizeof(text), "[truncated: %s", stack_end_name(stack->end));

	if (stack->end == STACK_NO_RULE && context->process)
		mapping = address_space_find(&context->process->space, stack->end_addr);
	if (mapping && mapping_is_generated(mapping))
		len += snprintf(text + len, sizeof(text) - (size_t)len, " for generated code");
	else if (mapping)
		len += snprintf(
			text + len, sizeof(text) - (size_t)len, " for %.256s+0x%llx",
			native_frames_module(symbolizer->native, context, mapping, room),
			(unsigned long long)(stack->end_addr - mapping->start + mapping->file_off));
	snprintf(text + len, sizeof(text) - (size_t)len, "]");
	return (struct frame){.name = intern_add_str(&symbolizer->texts.names, text),
			      .kind = FRAME_LABEL};
}

/*
 * Whether no user code called the kernel: in a thread that has not run yet, or in execve between
 * two programs. In execve the registers are those of the program that is gone, and its code is not
 * mapped any more.
 */
static bool is_called_by_none(const struct symbolizer_context *context,
			      const struct stack_entry *entry, const struct frame *kernel, size_t n)
{
	bool is_executing = false;

	if (n > 0 && kernel[n - 1].kind == FRAME_KERNEL && kernel[n - 1].name &&
	    strncmp(kernel[n - 1].name, "ret_from_fork", strlen("ret_from_fork")) == 0)
		return true;

	for (size_t i = 0; i < n; i++)
		is_executing |= kernel[i].kind == FRAME_KERNEL && kernel[i].name &&
				strstr(kernel[i].name, "execve");
	return is_executing && context->process &&
	       !address_space_find(&context->process->space, stack_probe(entry));
}

/* Whether frames without a name exist, and all of them are interpreted frames. */
static bool is_interpreted_unnamed(const struct frame *frames, size_t n,
				   const struct symbolizer_verdict *verdict)
{
	for (size_t i = 0; i < n; i++) {
		if (frames[i].kind == FRAME_UNKNOWN)
			return false;
	}
	return !verdict->is_java_named;
}

/* Whether the frame is code of HotSpot's compilers, which may use the frame pointer for values. */
static bool may_lack_frame_pointer(const struct frame *frame)
{
	return frame->kind == FRAME_C1 || frame->kind == FRAME_JIT ||
	       frame->kind == FRAME_INLINED || frame->kind == FRAME_NATIVE_WRAPPER ||
	       frame->kind == FRAME_JAVA || frame->kind == FRAME_UNKNOWN;
}

/*
 * Whether the kernel's walk comes to the root, and can have left out no frame. Where a JVM runs
 * without PreserveFramePointer, the frame pointer of compiled code is its caller's or a value. The
 * walk then goes on behind the caller, or anywhere.
 */
static bool is_whole_by_fp(const struct symbolizer_context *context, const struct stack *stack,
			   const struct frame *frames, size_t depth)
{
	const struct jvm *const jvm = context->process ? context->process->jvm : NULL;

	if (stack->end != STACK_BY_FP || !is_rooted(frames, depth))
		return false;
	if (!jvm || (jvm->hello_flags & (WIRE_HELLO_FP_SET | WIRE_HELLO_FP_WAS_ON)))
		return true;
	for (size_t i = 0; i < depth; i++) {
		if (may_lack_frame_pointer(&frames[i]))
			return false;
	}
	return true;
}

static size_t name_stack(struct symbolizer *symbolizer, const struct symbolizer_context *context,
			 const struct stack *stack, struct frame *ret,
			 struct symbolizer_verdict *ret_verdict)
{
	struct symbolizer_verdict verdict = {.is_java_named = true};
	const uint32_t depth = count_named(context, stack);
	bool is_at_root = false, is_user = false;
	size_t n = 0;

	frame_texts_expire(&symbolizer->texts);
	for (uint32_t i = 0; i < depth; i++) {
		const struct stack_entry *entry = &stack->entries[i];
		const size_t room = SYMBOLIZER_MAX_FRAMES - 1 - n - (depth - 1 - i);

		if (!entry->is_kernel && !is_user) {
			is_user = true;
			is_at_root = is_called_by_none(context, entry, ret, n);
		}
		if (is_at_root)
			break;
		if (entry->is_kernel) {
			const bool has_caller = i + 1 < depth && entry[1].is_kernel;

			ret[n++] = native_frames_name_kernel(
				symbolizer->native, stack_probe(entry),
				has_caller ? stack_probe(&entry[1]) : 0, context->time_ns);
		} else if (entry->is_gap) {
			ret[n++] = symbolizer_label(symbolizer, "[older frames are in the heap]");
		} else {
			n += name_user(symbolizer, context, entry,
				       (struct frame_room){&ret[n], room}, &verdict);
		}
	}
	for (size_t i = 0; i < n; i++) {
		if (!ret[i].name)
			ret[i] = (struct frame){.name = "[unknown: out of memory]",
						.kind = FRAME_UNKNOWN};
	}
	verdict.is_java_named &= !java_frames_are_hidden(ret, n);
	verdict.is_interpreted_unnamed = is_interpreted_unnamed(ret, n, &verdict);
	verdict.is_rooted = n > 0 && (stack->end == STACK_WHOLE || depth < stack->depth ||
				      is_at_root || is_whole_by_fp(context, stack, ret, n));
	if (n > 0 && !verdict.is_rooted)
		ret[n++] = name_end(symbolizer, context, stack);
	*ret_verdict = verdict;
	return n;
}

/* Answers that may be others when asked for again. */
static uint64_t count_missing(const struct symbolizer *symbolizer)
{
	const struct kernel_code *const kernel = native_frames_kernel(symbolizer->native);

	return table_cache_missing(symbolizer->tables) + native_frames_late(symbolizer->native) +
	       (kernel && table_cache_is_patient(symbolizer->tables) ? kernel_code_late(kernel)
								     : 0);
}

uint64_t symbolizer_loads(const struct symbolizer *symbolizer)
{
	const struct kernel_code *const kernel = native_frames_kernel(symbolizer->native);

	return table_cache_loads(symbolizer->tables) + (kernel ? kernel_code_reads(kernel) : 0) +
	       demangler_answers(native_frames_demangler(symbolizer->native));
}

uint64_t symbolizer_put_off(const struct symbolizer *symbolizer)
{
	return table_cache_put_off(symbolizer->tables) + native_frames_put_off(symbolizer->native);
}

void symbolizer_step(struct symbolizer *symbolizer)
{
	demangler_step(native_frames_demangler(symbolizer->native));
}

int symbolizer_fd(const struct symbolizer *symbolizer)
{
	return demangler_fd(native_frames_demangler(symbolizer->native));
}

size_t symbolizer_name(struct symbolizer *symbolizer, const struct symbolizer_context *context,
		       const struct stack *stack, struct frame *ret,
		       struct symbolizer_verdict *ret_verdict)
{
	const uint64_t missing = count_missing(symbolizer);
	const size_t n = name_stack(symbolizer, context, stack, ret, ret_verdict);

	ret_verdict->is_waiting = count_missing(symbolizer) != missing;
	return n;
}

struct frame symbolizer_label(struct symbolizer *symbolizer, const char *text)
{
	return (struct frame){.name = intern_add_str(&symbolizer->texts.names, text),
			      .kind = FRAME_LABEL};
}

void symbolizer_set_limits(struct symbolizer *symbolizer, size_t names, size_t lines)
{
	symbolizer->texts.max_bytes = names;
	native_frames_limit_lines(symbolizer->native, lines);
}

size_t symbolizer_bytes(const struct symbolizer *symbolizer)
{
	return frame_texts_bytes(&symbolizer->texts);
}

void symbolizer_names_stats(const struct symbolizer *symbolizer, size_t *ret_bytes,
			    uint64_t *ret_forgotten)
{
	struct demangler_stats stats;

	symbolizer_demangler_stats(symbolizer, &stats);
	*ret_bytes = symbolizer->texts.names.arena.total_bytes + stats.bytes;
	*ret_forgotten = symbolizer->texts.forgotten;
}
