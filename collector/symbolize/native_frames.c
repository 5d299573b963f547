// SPDX-License-Identifier: Apache-2.0
/*
 * Names addresses of the kernel by kallsyms. Names all other addresses by the ELF file behind their
 * mapping, or by the perf maps of other runtimes. See native_frames.h.
 */
#include "symbolize/native_frames.h"

#include "base/clock.h"
#include "base/log.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define UNNAMED_FUNCTION  "fn@"
#define SIGNAL_TRAMPOLINE "__restore_rt"  /* the name in the symbols of glibc and musl */
#define AGENT_MODULE	  "libfgagent.so" /* the soname of the agent, whatever its file is called */

struct native_frames {
	struct frame_texts *texts; /* borrowed */
	struct kernel_code *kernel;
	struct table_cache *tables;	  /* borrowed */
	struct debuginfod *debuginfod;	  /* NULL: the user has not asked for it */
	struct native_lines *lines;	  /* NULL until lines are asked for */
	const struct name_source *source; /* NULL: names come from this host */
	const struct name_watch *watch;	  /* or NULL */
	struct demangler *demangler;
	uint64_t late, put_off; /* names whose texts are still to come */
	struct frame inlined[DWARF_LINES_MAX_DEPTH];
	size_t inlined_count; /* frames inlined into the file's frame named last, innermost first */
};

int native_frames_new(struct table_cache *tables, struct frame_texts *texts,
		      const struct name_source *source, struct native_frames **ret)
{
	struct native_frames *native = calloc(1, sizeof(*native));
	int err;

	if (!native)
		return -ENOMEM;
	err = source ? 0 : kernel_code_new(NULL, clock_now_ns(), &native->kernel);
	/* Who has threads for files has samples wait, and so can wait for the kernel's symbols. */
	if (!err && native->kernel && table_cache_fd(tables) >= 0)
		err = kernel_code_use_thread(native->kernel);
	if (!err)
		err = demangler_new(&native->demangler);
	if (err) {
		native_frames_free(native);
		return err;
	}
	native->texts = texts;
	native->tables = tables;
	native->source = source;
	module_cache_attach(tables);
	if (!source && debuginfod_start(&native->debuginfod) == -ELIBACC)
		log_warning("DEBUGINFOD_URLS is set, but libdebuginfod.so.1 cannot be loaded: "
			    "install it (Debian: libdebuginfod1), or unset that");
	*ret = native;
	return 0;
}

void native_frames_free(struct native_frames *native)
{
	if (!native)
		return;
	kernel_code_free(native->kernel);
	debuginfod_stop(native->debuginfod);
	native_lines_free(native->lines);
	demangler_free(native->demangler);
	free(native);
}

void native_frames_watch(struct native_frames *native, const struct name_watch *watch)
{
	native->watch = watch;
}

struct kernel_code *native_frames_kernel(const struct native_frames *native)
{
	return native->kernel;
}

struct demangler *native_frames_demangler(const struct native_frames *native)
{
	return native->demangler;
}

uint64_t native_frames_late(const struct native_frames *native)
{
	return native->late;
}

uint64_t native_frames_put_off(const struct native_frames *native)
{
	return native->put_off;
}

void native_frames_limit_lines(struct native_frames *native, size_t bytes)
{
	if (native->lines)
		native_lines_limit(native->lines, bytes);
}

void native_frames_lines_stats(const struct native_frames *native, struct native_lines_stats *ret)
{
	*ret = (struct native_lines_stats){0};
	if (native->lines)
		native_lines_stats(native->lines, ret);
}

void native_frames_debuginfod_stats(const struct native_frames *native,
				    struct debuginfod_stats *ret)
{
	debuginfod_stats(native->debuginfod, ret);
}

/* The name of a filter of classic BPF, by the function that calls the filter; NULL: no filter. */
static const char *filter_of(const char *caller)
{
	/* Functions whose only callee without a symbol is a filter. */
	static const struct {
		const char *caller, *filter;
	} filters[] = {
		{"__seccomp_filter", "[seccomp filter]"},
		{"seccomp_run_filters", "[seccomp filter]"},
		{"sk_filter_trim_cap", "[socket filter]"},
		{"packet_rcv", "[socket filter]"},
		{"tpacket_rcv", "[socket filter]"},
		{"run_filter", "[socket filter]"},
	};
	const size_t len = strcspn(caller, "."); /* without a suffix, as in packet_rcv.part.0 */

	for (size_t i = 0; i < sizeof(filters) / sizeof(filters[0]); i++) {
		if (strlen(filters[i].caller) == len && memcmp(filters[i].caller, caller, len) == 0)
			return filters[i].filter;
	}
	return NULL;
}

static struct frame kernel_frame(struct native_frames *native, const struct kernel_place *place)
{
	return (struct frame){.name = intern_add_str(&native->texts->names, place->name),
			      .module = intern_add_str(&native->texts->names, place->module),
			      .kind = FRAME_KERNEL};
}

/* Names an address without a symbol. */
static struct frame name_unknown_kernel(struct native_frames *native, uint64_t addr,
					uint64_t caller, uint64_t time_ns, uint64_t now_ns)
{
	struct kernel_place place;
	const char *name = NULL;

	/*
	 * Filters come first, because reading the symbols again takes long and does not name
	 * filters.
	 */
	if (caller && kernel_code_find(native->kernel, caller, time_ns, now_ns, &place))
		name = filter_of(place.name);
	if (!name && kernel_code_read_for(native->kernel, addr, now_ns, &place))
		return kernel_frame(native, &place);
	if (!name && !kernel_code_problem(native->kernel))
		return frame_texts_unknown(native->texts, "no kernel symbol");
	if (!name)
		name = kernel_code_hidden(native->kernel);
	return (struct frame){.name = intern_add_str(&native->texts->names, name),
			      .kind = FRAME_KERNEL};
}

static struct frame name_by_kernel(struct native_frames *native, uint64_t addr, uint64_t caller,
				   uint64_t time_ns)
{
	const uint64_t now_ns = clock_now_ns();
	struct frame_key key = {.owner = kernel_code_owner(native->kernel, addr, now_ns),
				.parts = {addr}};
	const struct frame *known = frame_cache_find(&native->texts->frames, &key);
	struct kernel_place place;
	struct frame frame;

	if (known)
		return *known;
	if (!kernel_code_find(native->kernel, addr, time_ns, now_ns, &place))
		return name_unknown_kernel(native, addr, caller, time_ns, now_ns);
	frame = kernel_frame(native, &place);
	key.owner = place.owner;
	frame_cache_put(&native->texts->frames, &key, &frame);
	return frame;
}

static struct frame name_by_source(struct native_frames *native, const struct kernel_call *call)
{
	struct frame frame = {0};

	if (!native->source->kernel(native->source->arg, call, &frame))
		return frame_texts_unknown(native->texts, "no kernel symbol");
	frame.name = intern_add_str(&native->texts->names, frame.name);
	if (frame.module)
		frame.module = intern_add_str(&native->texts->names, frame.module);
	return frame;
}

struct frame native_frames_name_kernel(struct native_frames *native, uint64_t addr, uint64_t caller,
				       uint64_t time_ns)
{
	const struct kernel_call call = {.addr = addr, .caller = caller};
	const struct frame frame = native->source ? name_by_source(native, &call)
						  : name_by_kernel(native, addr, caller, time_ns);

	if (native->watch)
		native->watch->kernel(native->watch->arg, &call, &frame);
	return frame;
}

/* A frame that says why the file has no symbols, or without a reason that no symbol fits. */
static struct frame unknown_in(struct native_frames *native, const char *module, const char *reason)
{
	char text[400];

	snprintf(text, sizeof(text), reason ? "%.256s, %s" : "%.256s", module, reason);
	return frame_texts_unknown(native->texts, text);
}

/* Names a function without a symbol by its start, so that its time can be added up. */
static const char *name_by_start(struct native_frames *native, const struct elf_symbols *symbols,
				 const char *module, uint64_t elf_addr)
{
	uint64_t start;
	char text[400];

	if (elf_symbols_find_start(symbols, elf_addr, &start) < 0)
		return NULL;
	snprintf(text, sizeof(text), "%.256s:" UNNAMED_FUNCTION "0x%llx", module,
		 (unsigned long long)start);
	return intern_add_str(&native->texts->names, text);
}

/* The build ID in hexadecimal, or NULL. */
static const char *build_id_of(struct native_frames *native, const struct elf_symbols *symbols)
{
	size_t len;
	const unsigned char *const bytes = elf_symbols_build_id(symbols, &len);
	char text[2 * ELF_LAYOUT_MAX_BUILD_ID + 1];

	for (size_t i = 0; i < len; i++)
		sprintf(text + 2 * i, "%02x", bytes[i]);
	return len > 0 ? intern_add(&native->texts->names, text, 2 * len) : NULL;
}

/* The name of the mapping's file. symbols may be NULL. */
static const char *module_of(struct native_frames *native, const struct symbolizer_context *context,
			     const struct mapping *mapping, const struct elf_symbols *symbols,
			     char ret[LIBRARY_NAME_BYTES])
{
	const char *slash = strrchr(mapping->path, '/'), *build_id = NULL;
	const char *name = slash && slash[1] ? slash + 1 : mapping->path;
	struct library_own own = {.soname = "", .build_id = ""};

	if (context->names.is_raw)
		return name;
	if (symbols && strcmp(elf_symbols_soname(symbols), AGENT_MODULE) == 0)
		return AGENT_MODULE;
	if (!library_name_is_random(name))
		return name;
	if (symbols) {
		own.soname = elf_symbols_soname(symbols);
		build_id = build_id_of(native, symbols);
	}
	if (build_id)
		own.build_id = build_id;
	return library_name(name, &own, ret);
}

/* Tells the watch that a symbol for addr is asked for. */
static void tell(const struct native_frames *native, pid_t pid, const struct mapping *mapping,
		 uint64_t addr)
{
	if (native->watch)
		file_watch_tell(&native->watch->files, TABLE_SYMBOLS, pid, mapping, addr);
}

const char *native_frames_module(struct native_frames *native,
				 const struct symbolizer_context *context,
				 const struct mapping *mapping, char ret[LIBRARY_NAME_BYTES])
{
	const char *reason;
	const pid_t pid = context->process->pid;

	tell(native, pid, mapping, mapping->start);
	return module_of(native, context, mapping,
			 module_cache_find(native->tables, pid, mapping, &reason), ret);
}

/* Counts an answer that is still to come. */
static void count_late(struct native_frames *native)
{
	if (table_cache_is_patient(native->tables))
		native->late++;
	else
		native->put_off++;
}

/*
 * The demangled name, borrowed until the next call. If the text is still to come, the answer is the
 * name, *ret_is_late is set, and the text is counted as missing, or, for a caller that is not ready
 * to ask again, as put off.
 */
static const char *demangled(struct native_frames *native,
			     const struct demangler_question *question, bool *ret_is_late)
{
	const char *const text = demangler_find(native->demangler, question);

	if (text)
		return text;
	count_late(native);
	*ret_is_late = true;
	return question->name;
}

/* Names the function at elf_addr. The frame's name is NULL if there is no name. */
static struct frame name_function(struct native_frames *native, struct elf_symbols *symbols,
				  const char *module, uint64_t elf_addr, enum demangle_style style)
{
	const char *kept = intern_add_str(&native->texts->names, module);
	const struct frame_key key = {.owner = elf_symbols_serial(symbols),
				      .parts = {elf_addr, (uintptr_t)kept},
				      .style = (uint32_t)style};
	const struct frame *known = frame_cache_find(&native->texts->frames, &key);
	struct frame frame = {.module = kept, .kind = FRAME_NATIVE};
	struct demangler_question question = {.file = key.owner, .style = style};
	bool is_late = false;
	uint64_t offset;

	if (known)
		return *known;
	question.name = elf_symbols_find_linker_name(symbols, elf_addr, &offset);
	if (question.name)
		frame.name = intern_add_str(&native->texts->names,
					    demangled(native, &question, &is_late));
	else
		frame.name = name_by_start(native, symbols, module, elf_addr);
	if (strcmp(module, "libjvm.so") == 0)
		frame.kind = FRAME_JVM;
	frame.build_id = build_id_of(native, symbols);
	if (kept && !is_late)
		frame_cache_put(&native->texts->frames, &key, &frame);
	return frame;
}

static const char *name_with_line(struct native_frames *native,
				  const struct symbolizer_context *context,
				  const struct demangler_question *question, uint32_t line)
{
	bool is_late;
	const char *const shown =
		question->name ? demangled(native, question, &is_late) : "[inlined]";
	char all[4112];

	if (!context->names.has_lines || line == 0)
		return intern_add_str(&native->texts->names, shown);
	snprintf(all, sizeof(all), "%.4095s:%u", shown, (unsigned)line);
	return intern_add_str(&native->texts->names, all);
}

static size_t find_lines(struct native_frames *native, const struct native_lines_file *file,
			 const struct line_place *place, struct dwarf_place *ret)
{
	if (native->source)
		return native->source->lines(native->source->arg, place, ret);
	if (!native->lines)
		native->lines = native_lines_new();
	return native->lines ? native_lines_find(native->lines, file, place->elf_addr, ret) : 0;
}

/* Gives the function's frame its line, and keeps the frames of functions inlined into it. */
static void add_native_lines(struct native_frames *native, const struct symbolizer_context *context,
			     const struct native_lines_file *file, uint64_t elf_addr,
			     struct frame *frame)
{
	const struct line_place place = {
		.pid = file->pid, .mapping = file->mapping, .elf_addr = elf_addr};
	struct dwarf_place places[DWARF_LINES_MAX_DEPTH];
	const size_t n = find_lines(native, file, &place, places);

	if (native->watch)
		native->watch->lines(native->watch->arg, &place, places, n);
	for (size_t i = 0; i < n; i++) {
		const bool is_function = i + 1 == n;
		struct frame *to = is_function ? frame : &native->inlined[i];
		const struct demangler_question question = {.name = is_function ? frame->name
										: places[i].name,
							    .file = file->serial,
							    .style = context->cxx_names};

		*to = (struct frame){
			.name = name_with_line(native, context, &question, places[i].line),
			.module = frame->module,
			.file = places[i].file
					? intern_add_str(&native->texts->names, places[i].file)
					: NULL,
			.line = places[i].line,
			.kind = is_function ? frame->kind : FRAME_NATIVE_INLINED,
			.build_id = frame->build_id,
		};
	}
	native->inlined_count = n > 0 ? n - 1 : 0;
}

static struct frame name_file(struct native_frames *native,
			      const struct symbolizer_context *context,
			      const struct mapping *mapping, uint64_t addr)
{
	const pid_t pid = context->process->pid;
	const char *reason = NULL;
	struct elf_symbols *symbols;
	char room[LIBRARY_NAME_BYTES];
	const char *module;
	struct frame frame;
	uint64_t elf_addr;

	tell(native, pid, mapping, addr);
	symbols = module_cache_find(native->tables, pid, mapping, &reason);
	module = module_of(native, context, mapping, symbols, room);
	if (!symbols ||
	    elf_symbols_addr_of(symbols, addr - mapping->start + mapping->file_off, &elf_addr) < 0)
		return unknown_in(native, module, reason);
	debuginfod_improve(native->debuginfod, symbols, context->process->group);
	frame = name_function(native, symbols, module, elf_addr, context->cxx_names);
	if (!frame.name)
		return unknown_in(native, module, NULL);
	if (context->has_native_lines) {
		const struct native_lines_file file = {
			.serial = elf_symbols_serial(symbols),
			.pid = pid,
			.mapping = mapping,
			.sees_root = elf_symbols_is_private(symbols),
		};

		add_native_lines(native, context, &file, elf_addr, &frame);
	}
	return frame;
}

/* Names generated code by the process's own perf map. Without an entry the frame has no name. */
static struct frame name_foreign(struct native_frames *native,
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
	known = frame_cache_find(&native->texts->frames, &key);
	if (known)
		return *known;
	frame = (struct frame){.name = intern_add_str(&native->texts->names, range->name),
			       .kind = FRAME_JIT};
	frame_cache_put(&native->texts->frames, &key, &frame);
	return frame;
}

bool native_frames_is_by_start(const struct frame *frame)
{
	return strstr(frame->name, ":" UNNAMED_FUNCTION) != NULL;
}

static bool has_own_name(const struct frame *frame)
{
	return frame->kind != FRAME_UNKNOWN && !native_frames_is_by_start(frame);
}

/* Names an address that is in no generated code reported by an agent. */
static struct frame name_mapped(struct native_frames *native,
				const struct symbolizer_context *context, uint64_t addr,
				bool *ret_is_named)
{
	struct process *const process = context->process;
	const struct mapping *mapping;
	struct frame frame, foreign;

	if (!process)
		return frame_texts_unknown(native->texts, "process gone");
	mapping = address_space_find(&process->space, addr);
	if (!mapping)
		return frame_texts_unknown(native->texts, "not mapped");
	if (mapping_is_probe_trampoline(mapping))
		return (struct frame){.name = intern_add_str(&native->texts->names, mapping->path),
				      .kind = FRAME_NATIVE};
	if (mapping->inode != 0 || !mapping_is_generated(mapping)) {
		frame = name_file(native, context, mapping, addr);
		if (frame.name && has_own_name(&frame))
			return frame;
	}
	/* V8 also reports code that lies in its own file. */
	foreign = name_foreign(native, context, addr);
	if (foreign.name) {
		native->inlined_count = 0;
		return foreign;
	}
	if (!mapping_is_generated(mapping))
		return frame;
	*ret_is_named = false;
	/* The agent knows the JVM's code, and not that of a second code generator. */
	if (process->jvm && !process->is_replayed)
		foreign_reader_want(&process->foreign, clock_now_ns());
	if (foreign_reader_is_behind(&process->foreign, context->time_ns, clock_now_ns()))
		count_late(native);
	return frame_texts_unknown(native->texts, "generated code");
}

/* Names the code that a signal handler returns to. The C library has no symbol for it. */
static void name_trampoline(struct native_frames *native, struct frame *frame)
{
	if (frame->kind == FRAME_NATIVE && native_frames_is_by_start(frame))
		frame->name = intern_add_str(&native->texts->names, SIGNAL_TRAMPOLINE);
}

size_t native_frames_name(struct native_frames *native, const struct symbolizer_context *context,
			  const struct stack_entry *entry, struct frame_room room,
			  bool *ret_is_named)
{
	size_t n;

	native->inlined_count = 0;
	room.frames[0] = name_mapped(native, context, stack_probe(entry), ret_is_named);
	if (entry->is_trampoline && room.frames[0].name)
		name_trampoline(native, &room.frames[0]);
	n = native->inlined_count;
	if (n == 0 || n + 1 > room.max)
		return 1;
	room.frames[n] = room.frames[0];
	memcpy(room.frames, native->inlined, n * sizeof(*room.frames));
	return n + 1;
}
