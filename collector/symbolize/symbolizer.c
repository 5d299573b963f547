// SPDX-License-Identifier: Apache-2.0
/*
 * One address after the other: the kernel's by kallsyms, generated code by the process's code map
 * at the sample's time, everything else by the ELF file behind the mapping. See symbolizer.h.
 */
#include "symbolize/symbolizer.h"

#include "base/clock.h"
#include "base/intern.h"
#include "base/log.h"
#include "symbolize/frame_cache.h"
#include "target/inline_table.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_NAMES_BYTES	 (32u << 20)
#define UNNAMED_FUNCTION "fn@"

struct symbolizer {
	struct intern names;
	struct frame_cache frames; /* whose texts are in names */
	struct kernel_code *kernel;
	struct table_cache *tables;    /* borrowed */
	struct debuginfod *debuginfod; /* NULL: the user has not asked for it */
	struct native_lines *lines;    /* NULL until somebody asks */
	struct frame inlined[DWARF_LINES_MAX_DEPTH];
	size_t inlined_count; /* into the file's frame named last, innermost first */
};

int symbolizer_new(struct table_cache *tables, struct symbolizer **ret)
{
	struct symbolizer *symbolizer = calloc(1, sizeof(*symbolizer));
	int err;

	if (!symbolizer)
		return -ENOMEM;
	err = kernel_code_new(NULL, clock_now_ns(), &symbolizer->kernel);
	if (err) {
		symbolizer_free(symbolizer);
		return err;
	}
	symbolizer->tables = tables;
	module_cache_attach(tables);
	if (debuginfod_start(&symbolizer->debuginfod) == -ELIBACC)
		log_warning("DEBUGINFOD_URLS is set, but libdebuginfod.so.1 cannot be loaded: "
			    "install it (Debian: libdebuginfod1), or unset that");
	*ret = symbolizer;
	return 0;
}

void symbolizer_free(struct symbolizer *symbolizer)
{
	if (!symbolizer)
		return;
	kernel_code_free(symbolizer->kernel);
	debuginfod_stop(symbolizer->debuginfod);
	native_lines_free(symbolizer->lines);
	frame_cache_fini(&symbolizer->frames);
	intern_fini(&symbolizer->names);
	free(symbolizer);
}

const char *symbolizer_kernel_problem(const struct symbolizer *symbolizer)
{
	return kernel_code_problem(symbolizer->kernel);
}

void symbolizer_begin(struct symbolizer *symbolizer)
{
	kernel_code_begin(symbolizer->kernel, clock_now_ns());
}

void symbolizer_apply_kernel(struct symbolizer *symbolizer, const struct perf_record *record)
{
	kernel_code_apply(symbolizer->kernel, record);
}

static const char *intern_format(struct symbolizer *symbolizer, const char *format,
				 const char *text)
{
	char buf[512];

	snprintf(buf, sizeof(buf), format, text);
	return intern_add_str(&symbolizer->names, buf);
}

static struct frame unknown(struct symbolizer *symbolizer, const char *reason)
{
	return (struct frame){.name = intern_format(symbolizer, "[unknown: %s]", reason),
			      .kind = FRAME_UNKNOWN};
}

static struct frame name_kernel(struct symbolizer *symbolizer, uint64_t addr, uint64_t time_ns)
{
	const uint64_t now_ns = clock_now_ns();
	struct frame_key key = {.owner = kernel_code_owner(symbolizer->kernel, addr, now_ns),
				.parts = {addr}};
	const struct frame *known = frame_cache_find(&symbolizer->frames, &key);
	struct kernel_place place;
	struct frame frame;

	if (known)
		return *known;
	if (kernel_code_find(symbolizer->kernel, addr, time_ns, now_ns, &place)) {
		frame = (struct frame){.name = intern_add_str(&symbolizer->names, place.name),
				       .module = intern_add_str(&symbolizer->names, place.module),
				       .kind = FRAME_KERNEL};
		key.owner = place.owner;
		frame_cache_put(&symbolizer->frames, &key, &frame);
		return frame;
	}
	if (!kernel_code_problem(symbolizer->kernel))
		return unknown(symbolizer, "no kernel symbol");
	return (struct frame){
		.name = intern_add_str(&symbolizer->names, kernel_code_hidden(symbolizer->kernel)),
		.kind = FRAME_KERNEL};
}

static enum frame_kind kind_of(const struct code_range *range)
{
	if (range->kind == CODE_STUB)
		return strcmp(range->name, "Interpreter") == 0 ? FRAME_INTERPRETED : FRAME_STUB;
	if (range->kind == CODE_NATIVE_WRAPPER)
		return FRAME_NATIVE_WRAPPER;
	/* Levels 1 to 3 are C1's, with more or less profiling; 4 is C2's. */
	if (range->level >= 1 && range->level <= 3)
		return FRAME_C1;
	return FRAME_JIT;
}

/* A method at a line, 0 if that is not known; note is put behind its name. */
struct java_place {
	struct java_name method;
	const char *source_file;
	uint32_t line;
	const char *note; /* static */
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

static struct frame write_java(struct symbolizer *symbolizer, const struct java_name_options *names,
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
	frame.name = intern_add_str(&symbolizer->names, all);
	if (place->source_file)
		frame.file = intern_add_str(&symbolizer->names, place->source_file);
	return frame;
}

/* Its kind is left to the caller. */
static struct frame name_java(struct symbolizer *symbolizer,
			      const struct symbolizer_context *context,
			      const struct java_place *place)
{
	const struct frame_key key = java_key(context, place);
	const struct frame *known =
		place->note[0] ? NULL : frame_cache_find(&symbolizer->frames, &key);
	struct frame frame = known ? *known : write_java(symbolizer, &context->names, place);

	if (!known && !place->note[0])
		frame_cache_put(&symbolizer->frames, &key, &frame);
	frame.line = place->line;
	return frame;
}

static struct frame name_range(struct symbolizer *symbolizer,
			       const struct symbolizer_context *context,
			       const struct code_range *range, uint32_t line, const char *note)
{
	const struct java_place place = {
		.method = {range->class_name, range->name, range->signature},
		.source_file = range->source_file,
		.line = line,
		.note = note,
	};
	struct frame frame = name_java(symbolizer, context, &place);

	frame.kind = kind_of(range);
	return frame;
}

static struct frame name_inlined(struct symbolizer *symbolizer,
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
	struct frame frame = name_java(symbolizer, context, &place);

	frame.kind = FRAME_INLINED;
	return frame;
}

/* A place of code whose inlined frames are known; parts[1] counts its frames, innermost first. */
static struct frame_key code_key(const struct symbolizer_context *context,
				 const struct code_range *range, uint32_t offset)
{
	return (struct frame_key){.owner = inline_table_serial(range->inlines),
				  .parts = {offset},
				  .style = style_of(&context->names)};
}

/* All frames of a place, if they have been named before; 0: not, or more than max. */
static size_t find_code(const struct symbolizer *symbolizer, struct frame_key key,
			struct frame *ret, size_t max)
{
	for (size_t n = 0; n < max;) {
		const struct frame *known;

		key.parts[1] = n;
		known = frame_cache_find(&symbolizer->frames, &key);
		if (!known)
			return 0;
		ret[n++] = *known;
		if (known->kind != FRAME_INLINED)
			return n;
	}
	return 0;
}

static void keep_code(struct symbolizer *symbolizer, struct frame_key key,
		      const struct frame *frames, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		key.parts[1] = i;
		frame_cache_put(&symbolizer->frames, &key, &frames[i]);
	}
}

struct code_place {
	const struct code_range *range;
	uint64_t addr;
};

/* The compiled method, and in front of it what was inlined at that place; at most max frames. */
static size_t name_code(struct symbolizer *symbolizer, const struct symbolizer_context *context,
			const struct code_place *place, struct frame *ret, size_t max)
{
	const struct code_range *range = place->range;
	const uint32_t offset = (uint32_t)(place->addr - range->addr);
	struct inline_frame inlined[WIRE_INLINE_MAX_DEPTH];
	uint32_t line;
	size_t n;

	if (!range->inlines) {
		ret[0] = name_range(symbolizer, context, range, 0, "");
		return 1;
	}
	n = find_code(symbolizer, code_key(context, range, offset), ret, max);
	if (n > 0) {
		ret[n - 1].kind = kind_of(range); /* its level may have become known since */
		return n;
	}
	n = inline_table_find(range->inlines, offset, inlined, WIRE_INLINE_MAX_DEPTH);
	line = code_method_line(inlined[n - 1].method, inlined[n - 1].bci);
	if (n > max) {
		ret[0] = name_range(symbolizer, context, range, line, " [inlined frames left out]");
		return 1;
	}
	for (size_t i = 0; i + 1 < n; i++)
		ret[i] = name_inlined(symbolizer, context, &inlined[i]);
	ret[n - 1] = name_range(symbolizer, context, range, line, "");
	keep_code(symbolizer, code_key(context, range, offset), ret, n);
	return n;
}

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash && slash[1] ? slash + 1 : path;
}

/* By what the JVM's memory says of the method; never with others inlined into it. */
static struct frame name_interpreted(struct symbolizer *symbolizer,
				     const struct symbolizer_context *context,
				     const struct stack_entry *entry,
				     struct symbolizer_verdict *verdict)
{
	const struct java_method *method;
	struct java_place place;
	struct frame frame;
	const char *reason;

	method = java_methods_find(context->process, entry->method, context->time_ns, &reason);
	if (!method) {
		verdict->is_java_named = false;
		return (struct frame){.name = intern_add_str(&symbolizer->names, "[interpreted]"),
				      .kind = FRAME_INTERPRETED};
	}
	place = (struct java_place){
		.method = {method->class_name, method->name, method->signature},
		.source_file = method->source_file,
		.line = java_method_line(method, java_method_bci(method, entry->bcp)),
		.note = "",
	};
	frame = name_java(symbolizer, context, &place);
	frame.kind = FRAME_INTERPRETED;
	return frame;
}

/* Why there are no symbols, or that there are none for this address. */
static struct frame unknown_in(struct symbolizer *symbolizer, const char *module,
			       const char *reason)
{
	char text[400];

	snprintf(text, sizeof(text), reason ? "%.256s, %s" : "%.256s", module, reason);
	return unknown(symbolizer, text);
}

/* A function without a symbol still has a start, by which its time can be added up. */
static const char *name_by_start(struct symbolizer *symbolizer, const struct elf_symbols *symbols,
				 const char *module, uint64_t elf_addr)
{
	uint64_t start;
	char text[400];

	if (elf_symbols_find_start(symbols, elf_addr, &start) < 0)
		return NULL;
	snprintf(text, sizeof(text), "%.256s:" UNNAMED_FUNCTION "0x%llx", module,
		 (unsigned long long)start);
	return intern_add_str(&symbolizer->names, text);
}

/* A name of NULL: there is none. */
static struct frame name_function(struct symbolizer *symbolizer, struct elf_symbols *symbols,
				  const char *module, uint64_t elf_addr, enum demangle_style style)
{
	const char *kept = intern_add_str(&symbolizer->names, module);
	const struct frame_key key = {.owner = elf_symbols_serial(symbols),
				      .parts = {elf_addr, (uintptr_t)kept},
				      .style = (uint32_t)style};
	const struct frame *known = frame_cache_find(&symbolizer->frames, &key);
	struct frame frame = {.module = kept, .kind = FRAME_NATIVE};
	const char *name;
	uint64_t offset;

	if (known)
		return *known;
	name = elf_symbols_find_as(symbols, elf_addr, style, &offset);
	if (name)
		frame.name = intern_add_str(&symbolizer->names, name);
	else
		frame.name = name_by_start(symbolizer, symbols, module, elf_addr);
	if (strcmp(module, "libjvm.so") == 0)
		frame.kind = FRAME_JVM;
	if (kept)
		frame_cache_put(&symbolizer->frames, &key, &frame);
	return frame;
}

static const char *name_with_line(struct symbolizer *symbolizer,
				  const struct symbolizer_context *context, const char *name,
				  uint32_t line)
{
	char shown[4096], all[4112];

	if (!name || demangle_name(name, context->cxx_names, shown, sizeof(shown)) == 0)
		snprintf(shown, sizeof(shown), "%s", name ? name : "[inlined]");
	if (!context->names.has_lines || line == 0)
		return intern_add_str(&symbolizer->names, shown);
	snprintf(all, sizeof(all), "%s:%u", shown, (unsigned)line);
	return intern_add_str(&symbolizer->names, all);
}

/* Lets the function's frame have its line, and keeps those of what was inlined into it. */
static void add_native_lines(struct symbolizer *symbolizer,
			     const struct symbolizer_context *context,
			     const struct native_lines_file *file, uint64_t elf_addr,
			     struct frame *frame)
{
	struct dwarf_place places[DWARF_LINES_MAX_DEPTH];
	size_t n;

	if (!symbolizer->lines)
		symbolizer->lines = native_lines_new();
	n = symbolizer->lines ? native_lines_find(symbolizer->lines, file, elf_addr, places) : 0;
	for (size_t i = 0; i < n; i++) {
		const bool is_function = i + 1 == n;
		struct frame *to = is_function ? frame : &symbolizer->inlined[i];

		*to = (struct frame){
			.name = name_with_line(symbolizer, context,
					       is_function ? frame->name : places[i].name,
					       places[i].line),
			.module = frame->module,
			.file = places[i].file ? intern_add_str(&symbolizer->names, places[i].file)
					       : NULL,
			.line = places[i].line,
			.kind = is_function ? frame->kind : FRAME_NATIVE_INLINED,
		};
	}
	symbolizer->inlined_count = n > 0 ? n - 1 : 0;
}

static struct frame name_file(struct symbolizer *symbolizer,
			      const struct symbolizer_context *context,
			      const struct mapping *mapping, uint64_t addr)
{
	const pid_t pid = context->process->pid;
	const char *module = base_name(mapping->path), *reason = NULL;
	struct elf_symbols *symbols = module_cache_find(symbolizer->tables, pid, mapping, &reason);
	struct frame frame;
	uint64_t elf_addr;

	if (!symbols ||
	    elf_symbols_addr_of(symbols, addr - mapping->start + mapping->file_off, &elf_addr) < 0)
		return unknown_in(symbolizer, module, reason);
	debuginfod_improve(symbolizer->debuginfod, symbols);
	frame = name_function(symbolizer, symbols, module, elf_addr, context->cxx_names);
	if (!frame.name)
		return unknown_in(symbolizer, module, NULL);
	if (context->has_native_lines) {
		const struct native_lines_file file = {
			.serial = elf_symbols_serial(symbols), .pid = pid, .mapping = mapping};

		add_native_lines(symbolizer, context, &file, elf_addr, &frame);
	}
	return frame;
}

/* What the process itself wrote of its code; a frame without a name if it said nothing. */
static struct frame name_foreign(struct symbolizer *symbolizer,
				 const struct symbolizer_context *context, uint64_t addr)
{
	const struct foreign_map *map = context->process->foreign.map;
	const struct code_range *range = map ? foreign_map_find(map, addr, context->time_ns) : NULL;
	struct frame_key key = {0};
	const struct frame *known;
	struct frame frame;

	if (!range)
		return (struct frame){0};
	key.owner = foreign_map_serial(map);
	key.parts[0] = (uintptr_t)range->name;
	known = frame_cache_find(&symbolizer->frames, &key);
	if (known)
		return *known;
	frame = (struct frame){.name = intern_add_str(&symbolizer->names, range->name),
			       .kind = FRAME_JIT};
	frame_cache_put(&symbolizer->frames, &key, &frame);
	return frame;
}

static bool has_own_name(const struct frame *frame)
{
	return frame->kind != FRAME_UNKNOWN && !strstr(frame->name, ":" UNNAMED_FUNCTION);
}

/* What is no generated code that an agent spoke of. */
static struct frame name_mapped(struct symbolizer *symbolizer,
				const struct symbolizer_context *context, uint64_t addr,
				struct symbolizer_verdict *verdict)
{
	const struct process *process = context->process;
	const struct mapping *mapping;
	struct frame frame, foreign;

	if (!process)
		return unknown(symbolizer, "process gone");
	mapping = address_space_find(&process->space, addr);
	if (!mapping)
		return unknown(symbolizer, "not mapped");
	if (mapping->inode != 0 || !mapping_is_generated(mapping)) {
		frame = name_file(symbolizer, context, mapping, addr);
		if (frame.name && has_own_name(&frame))
			return frame;
	}
	/* Code that V8 has in its own file is told of as well. */
	foreign = name_foreign(symbolizer, context, addr);
	if (foreign.name) {
		symbolizer->inlined_count = 0;
		return foreign;
	}
	if (!mapping_is_generated(mapping))
		return frame;
	verdict->is_java_named = false;
	return unknown(symbolizer, "generated code");
}

static bool is_one_of(const char *name, const char *const *names, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		const size_t len = strlen(names[i]);

		/* Libraries carry versions and clones in names: __libc_start_main_impl. */
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

static bool is_unnamed_libc(const struct frame *frame)
{
	return frame->kind == FRAME_NATIVE && frame->module && strstr(frame->module, "libc") &&
	       strstr(frame->name, ":" UNNAMED_FUNCTION);
}

/*
 * Whether the stack's last frame is where threads and processes begin, in glibc, musl or the
 * kernel. A stripped libc does not name its own thread entry: there it is what calls the function
 * that a thread was made with, and what called it.
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
		"start",
		"__libc_start_main",
		"__libc_start_call_main",
		"ret_from_fork",
		"ret_from_fork_asm",
	};
	static const char *const mains[] = {
		"thread_native_entry", /* HotSpot's threads */
		"java_start",	       /* and before JDK 11 */
		"ThreadJavaMain",      /* the launcher's */
		"JavaMain",
		"main",
	};
	const struct frame *last = &frames[depth - 1];
	size_t unnamed = 0;

	if (last->kind == FRAME_KERNEL && starts_with_any(last->name, "entry_ asm_ el0t_"))
		return true; /* of a process whose memory is gone: there is no other part */
	if (last->kind != FRAME_NATIVE && last->kind != FRAME_KERNEL)
		return false;
	if (is_one_of(last->name, entries, sizeof(entries) / sizeof(entries[0])))
		return true;
	while (unnamed < 2 && unnamed + 1 < depth && is_unnamed_libc(&last[-(ssize_t)unnamed]))
		unnamed++;
	return unnamed > 0 &&
	       is_one_of(last[-(ssize_t)unnamed].name, mains, sizeof(mains) / sizeof(mains[0]));
}

/* At least one frame, at most max. */
static size_t name_user(struct symbolizer *symbolizer, const struct symbolizer_context *context,
			const struct stack_entry *entry, struct frame *ret, size_t max,
			struct symbolizer_verdict *verdict)
{
	const struct process *process = context->process;
	const uint64_t addr = stack_probe(entry);
	const struct code_range *range = NULL;
	size_t n;

	if (process && entry->method) {
		ret[0] = name_interpreted(symbolizer, context, entry, verdict);
		return 1;
	}
	if (process && process->code)
		range = code_map_find(process->code, addr, context->time_ns);
	if (range) {
		const struct code_place place = {range, addr};

		return name_code(symbolizer, context, &place, ret, max);
	}
	symbolizer->inlined_count = 0;
	ret[0] = name_mapped(symbolizer, context, addr, verdict);
	n = symbolizer->inlined_count;
	if (n == 0 || n + 1 > max)
		return 1;
	ret[n] = ret[0];
	memcpy(ret, symbolizer->inlined, n * sizeof(*ret));
	return n + 1;
}

/* The frame by which a carrier thread runs a virtual one. */
static bool is_mounting(const struct symbolizer_context *context, const struct stack_entry *entry)
{
	const struct process *process = context->process;
	const struct code_range *range;

	if (entry->is_kernel || !process || !process->code)
		return false;
	range = code_map_find(process->code, stack_probe(entry), context->time_ns);
	return range && range->class_name && strcmp(range->name, "enterSpecial") == 0 &&
	       strcmp(range->class_name, "jdk/internal/vm/Continuation") == 0;
}

/* How many of the stack's frames are to be named: all, or those of a mounted virtual thread. */
static uint32_t count_named(const struct symbolizer_context *context, const struct stack *stack)
{
	for (uint32_t i = 0; context->cuts_carriers && i < stack->depth; i++) {
		if (is_mounting(context, &stack->entries[i]))
			return i;
	}
	return stack->depth;
}

/* Why the rest of the stack is missing. */
static struct frame name_end(struct symbolizer *symbolizer,
			     const struct symbolizer_context *context, const struct stack *stack)
{
	const struct mapping *mapping = NULL;
	char text[400];
	int len = snprintf(text, sizeof(text), "[truncated: %s", stack_end_name(stack->end));

	if (stack->end == STACK_NO_RULE && context->process)
		mapping = address_space_find(&context->process->space, stack->end_addr);
	if (mapping && mapping_is_generated(mapping))
		len += snprintf(text + len, sizeof(text) - (size_t)len, " for generated code");
	else if (mapping)
		len += snprintf(
			text + len, sizeof(text) - (size_t)len, " for %.256s+0x%llx",
			base_name(mapping->path),
			(unsigned long long)(stack->end_addr - mapping->start + mapping->file_off));
	snprintf(text + len, sizeof(text) - (size_t)len, "]");
	return (struct frame){.name = intern_add_str(&symbolizer->names, text),
			      .kind = FRAME_LABEL};
}

/*
 * Whether the kernel was sampled where no user's code called it: in a thread that has not run yet, or
 * between two programs, in execve, with the registers of the one that is gone, whose code is not
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

static size_t name_stack(struct symbolizer *symbolizer, const struct symbolizer_context *context,
			 const struct stack *stack, struct frame *ret,
			 struct symbolizer_verdict *ret_verdict)
{
	struct symbolizer_verdict verdict = {.is_java_named = true};
	const uint32_t depth = count_named(context, stack);
	bool is_at_root = false, is_user = false;
	size_t n = 0;

	/* Who needs a name for longer has copied it; they must not add up for ever. */
	if (symbolizer->names.arena.total_bytes > MAX_NAMES_BYTES) {
		frame_cache_clear(&symbolizer->frames);
		intern_fini(&symbolizer->names);
	}
	for (uint32_t i = 0; i < depth; i++) {
		const struct stack_entry *entry = &stack->entries[i];
		const size_t room = SYMBOLIZER_MAX_FRAMES - 1 - n - (depth - 1 - i);

		if (!entry->is_kernel && !is_user) {
			is_user = true;
			is_at_root = is_called_by_none(context, entry, ret, n);
		}
		if (is_at_root)
			break;
		if (entry->is_kernel)
			ret[n++] = name_kernel(symbolizer, stack_probe(entry), context->time_ns);
		else
			n += name_user(symbolizer, context, entry, &ret[n], room, &verdict);
	}
	for (size_t i = 0; i < n; i++) {
		if (!ret[i].name)
			ret[i] = (struct frame){.name = "[unknown: out of memory]",
						.kind = FRAME_UNKNOWN};
	}
	verdict.is_rooted =
		n > 0 && (stack->end == STACK_WHOLE || depth < stack->depth || is_at_root ||
			  (stack->end == STACK_BY_FP && is_rooted(ret, n)));
	if (n > 0 && !verdict.is_rooted)
		ret[n++] = name_end(symbolizer, context, stack);
	*ret_verdict = verdict;
	return n;
}

size_t symbolizer_name(struct symbolizer *symbolizer, const struct symbolizer_context *context,
		       const struct stack *stack, struct frame *ret,
		       struct symbolizer_verdict *ret_verdict)
{
	const uint64_t missing = table_cache_missing(symbolizer->tables);
	struct jvm *jvm = context->process ? context->process->jvm : NULL;
	uint64_t unnamed[JAVA_METHODS_REASONS];
	size_t n;

	if (jvm)
		memcpy(unnamed, jvm->unnamed_methods, sizeof(unnamed));
	n = name_stack(symbolizer, context, stack, ret, ret_verdict);
	ret_verdict->is_waiting = table_cache_missing(symbolizer->tables) != missing;
	if (jvm && ret_verdict->is_waiting)
		memcpy(jvm->unnamed_methods, unnamed, sizeof(unnamed));
	return n;
}

struct frame symbolizer_label(struct symbolizer *symbolizer, const char *text)
{
	return (struct frame){.name = intern_add_str(&symbolizer->names, text),
			      .kind = FRAME_LABEL};
}

void symbolizer_lines_stats(const struct symbolizer *symbolizer, struct native_lines_stats *ret)
{
	*ret = (struct native_lines_stats){0};
	if (symbolizer->lines)
		native_lines_stats(symbolizer->lines, ret);
}

void symbolizer_debuginfod_stats(const struct symbolizer *symbolizer, struct debuginfod_stats *ret)
{
	debuginfod_stats(symbolizer->debuginfod, ret);
}

void symbolizer_kernel_stats(const struct symbolizer *symbolizer, struct kernel_code_stats *ret)
{
	kernel_code_stats(symbolizer->kernel, ret);
}
