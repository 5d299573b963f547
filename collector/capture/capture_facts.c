// SPDX-License-Identifier: Apache-2.0
/*
 * Writes processes, code ranges, files and samples into a capture, see capture_facts.h. What an
 * agent reported is written in the agent's own format (shared/wire.h), because the reader of a
 * capture has a decoder for that format.
 */
#include "capture/capture_facts.h"

#include "capture/capture_codec.h"
#include "capture/capture_format.h"
#include "code/inline_table.h"
#include "code/java_text.h"
#include "shared/wire.h"

#include <linux/perf_event.h>
#include <string.h>

#define MAX_METHODS 4096 /* methods of one inline table; a larger table is left out */
#define MAX_LINES   65536

static struct wire_buf room_of(uint8_t *data)
{
	return (struct wire_buf){.data = data, .size = WIRE_MESSAGE_MAX_BYTES};
}

/* ---- processes ---- */

static size_t count_attrs(const struct jvm_hello *hello, struct wire_attr *ret)
{
	size_t n = 0;

	for (size_t i = 0; i < hello->n_attrs; i++) {
		if (hello->attrs[i].key && hello->attrs[i].text)
			ret[n++] = (struct wire_attr){wire_str_from(hello->attrs[i].key),
						      wire_str_from(hello->attrs[i].text)};
	}
	return n;
}

static size_t count_values(const struct jvm_hello *hello, struct wire_value *ret)
{
	size_t n = 0;

	for (size_t i = 0; i < hello->n_values; i++) {
		if (hello->values[i].key)
			ret[n++] = (struct wire_value){wire_str_from(hello->values[i].key),
						       hello->values[i].value};
	}
	return n;
}

static void put_hello(struct bytes *bytes, const struct jvm *jvm, struct capture_room *room)
{
	struct wire_attr attrs[JVM_MAX_ATTRS];
	struct wire_value values[JVM_MAX_VALUES];
	struct wire_buf buf = room_of(room->record);
	const struct wire_hello hello = {
		.flags = jvm->hello_flags,
		.n_attrs = (uint16_t)count_attrs(&jvm->hello, attrs),
		.n_values = (uint16_t)count_values(&jvm->hello, values),
	};

	wire_encode_hello(&buf, &hello, attrs, values);
	capture_put_data(bytes, buf.data, buf.len);
}

void capture_put_process(struct bytes *bytes, uint32_t number, const struct process *process,
			 struct capture_room *room)
{
	const struct jvm *const jvm = process->jvm;

	bytes_add_varint(bytes, number);
	bytes_add_varint(bytes, (uint64_t)process->pid);
	bytes_add_varint(bytes, process->start_ticks);
	capture_put_text(bytes, process->comm);
	capture_put_text(bytes, process->container_id);
	capture_put_text(bytes, process->pod_uid);
	capture_put_text(bytes, process->workload.container);
	capture_put_text(bytes, process->workload.pod);
	capture_put_text(bytes, process->workload.name_space);
	bytes_add_varint(bytes, jvm != NULL);
	if (jvm) {
		bytes_add_varint(bytes, jvm->mounting_pc);
		put_hello(bytes, jvm, room);
	}
	capture_put_text(bytes, workload_image(&process->workload));
	bytes_add_varint(bytes, jvm && jvm->is_outside);
}

void capture_put_mappings(struct bytes *bytes, uint32_t number, const struct address_space *space)
{
	bytes_add_varint(bytes, number);
	bytes_add_varint(bytes, space->count);
	for (size_t i = 0; i < space->count; i++) {
		const struct mapping *const mapping = &space->mappings[i];

		bytes_add_varint(bytes, mapping->start);
		bytes_add_varint(bytes, mapping->end - mapping->start);
		bytes_add_varint(bytes, mapping->file_off);
		bytes_add_varint(bytes, mapping->dev_major);
		bytes_add_varint(bytes, mapping->dev_minor);
		bytes_add_varint(bytes, mapping->inode);
		bytes_add_varint(bytes, mapping->is_deleted);
		capture_put_text(bytes, mapping->path);
	}
}

/* ---- code ---- */

/* An inline table that is being encoded in the wire's format. */
struct inlines {
	const struct code_method *methods[MAX_METHODS];
	uint32_t n_methods;
	uint32_t n_regions;
	bool is_large;
	struct wire_buf buf;
	uint32_t end;					      /* end of the region before */
	struct wire_inline_frame last[WIRE_INLINE_MAX_DEPTH]; /* its frames, outermost first */
	uint32_t depth;
};

/* The method's index in the table. A list is searched, because a table has few methods. */
static uint32_t index_of(struct inlines *inlines, const struct code_method *method)
{
	for (uint32_t i = 0; i < inlines->n_methods; i++) {
		if (inlines->methods[i] == method)
			return i;
	}
	if (inlines->n_methods == MAX_METHODS) {
		inlines->is_large = true;
		return 0;
	}
	inlines->methods[inlines->n_methods] = method;
	return inlines->n_methods++;
}

static void see_region(void *arg, uint32_t start, uint32_t end, const struct inline_frame *frames,
		       size_t n)
{
	struct inlines *const inlines = arg;

	(void)start;
	(void)end;
	for (size_t i = 0; i < n; i++)
		index_of(inlines, frames[i].method);
	inlines->n_regions++;
}

static bool is_same(const struct wire_inline_frame *a, const struct wire_inline_frame *b)
{
	return a->method == b->method && a->bci == b->bci;
}

static void put_region(void *arg, uint32_t start, uint32_t end, const struct inline_frame *frames,
		       size_t n)
{
	struct inlines *const inlines = arg;
	struct wire_region region = {.size = end - inlines->end, .depth = (uint32_t)n};
	struct wire_inline_frame now[WIRE_INLINE_MAX_DEPTH];

	(void)start;
	for (size_t i = 0; i < n; i++)
		now[i] = (struct wire_inline_frame){
			.method = index_of(inlines, frames[n - 1 - i].method),
			.bci = frames[n - 1 - i].bci};
	while (region.shared < n && region.shared < inlines->depth &&
	       is_same(&now[region.shared], &inlines->last[region.shared]))
		region.shared++;
	wire_encode_inline_region(&inlines->buf, &region);
	for (size_t i = region.shared; i < n; i++)
		wire_encode_inline_frame(&inlines->buf, &now[i]);
	memcpy(inlines->last, now, n * sizeof(*now));
	inlines->depth = (uint32_t)n;
	inlines->end = end;
}

/* The names of a method as a JVM has them. */
struct java_names {
	struct wire_str class_sig, name, sig, source_file;
	char room[4][PROCESS_MAX_NAME_BYTES / 2 * 3 + 2];
};

static struct wire_str java_str(const char *name, char *room)
{
	const size_t size = PROCESS_MAX_NAME_BYTES / 2 * 3;

	if (!name)
		return (struct wire_str){0};
	return (struct wire_str){.data = room,
				 .len = java_text_from_utf8(name, strlen(name), room, size)};
}

/* A class's name in the form of a JVM's signature. */
static struct wire_str class_sig(const char *name, char *room)
{
	struct wire_str sig = java_str(name, room + 1);

	if (!name)
		return sig;
	room[0] = 'L';
	room[1 + sig.len] = ';';
	return (struct wire_str){.data = room, .len = sig.len + 2};
}

static void make_names(const struct code_method *method, struct java_names *ret)
{
	/* cppcheck-suppress uninitvar ; room is written */
	ret->class_sig = class_sig(method->class_name, ret->room[0]);
	ret->name = java_str(method->name, ret->room[1]);
	ret->sig = java_str(method->signature, ret->room[2]);
	ret->source_file = java_str(method->source_file, ret->room[3]);
}

static void put_method(struct inlines *inlines, const struct code_method *method)
{
	static struct wire_line lines[MAX_LINES];
	struct java_names names;
	struct wire_method wire = {
		.how = WIRE_METHOD_NAMED,
		.n_lines = method->n_lines < MAX_LINES ? method->n_lines : MAX_LINES,
	};

	make_names(method, &names);
	wire.class_sig = names.class_sig;
	wire.name = names.name;
	wire.sig = names.sig;
	wire.source_file = names.source_file;
	for (uint32_t i = 0; i < wire.n_lines; i++)
		lines[i] = (struct wire_line){.bci = method->lines[i].bci,
					      .line = method->lines[i].line};
	wire_encode_inline_method(&inlines->buf, &wire, lines);
}

/* Writes the table as a section. Returns the section's length; 0: there is no table, or no room. */
static size_t put_inlines(const struct inline_table *table, struct capture_room *room)
{
	static struct inlines inlines; /* the model's thread only; too large for the C stack */
	struct wire_buf section = room_of(room->section);

	if (!table)
		return 0;
	inlines = (struct inlines){.buf = room_of(room->inlines)};
	index_of(&inlines, inline_table_root(table));
	inline_table_walk(table, see_region, &inlines);
	wire_encode_inline_count(&inlines.buf, inlines.n_methods);
	for (uint32_t i = 0; i < inlines.n_methods; i++)
		put_method(&inlines, inlines.methods[i]);
	wire_encode_inline_count(&inlines.buf, inlines.n_regions);
	inline_table_walk(table, put_region, &inlines);
	if (inlines.buf.overflow || inlines.is_large ||
	    !wire_encode_section(&section, WIRE_SECTION_INLINE, inlines.buf.data,
				 (uint32_t)inlines.buf.len))
		return 0;
	return section.len;
}

static uint8_t wire_kind(uint8_t kind)
{
	if (kind == CODE_NATIVE_WRAPPER)
		return WIRE_CODE_NATIVE_WRAPPER;
	return kind == CODE_OSR ? WIRE_CODE_OSR : WIRE_CODE_JAVA;
}

static struct wire_frame frame_of(const struct code_range *range)
{
	return (struct wire_frame){.size = range->frame.size,
				   .complete = range->frame.complete,
				   .entry = range->frame.entry};
}

static void encode_load(struct wire_buf *buf, const struct code_range *range,
			struct capture_room *room)
{
	const struct code_method method = {.class_name = range->class_name,
					   .name = range->name,
					   .signature = range->signature,
					   .source_file = range->source_file};
	struct java_names names;
	struct wire_method_load load = {
		.addr = range->addr,
		.size = range->size,
		.level = range->level,
		.code_kind = wire_kind(range->kind),
		.frame = frame_of(range),
		.sections = room->section,
		.sections_len = put_inlines(range->inlines, room),
	};

	make_names(&method, &names);
	load.class_sig = names.class_sig;
	load.method = names.name;
	load.method_sig = names.sig;
	load.source_file = names.source_file;
	if (wire_encode_method_load(buf, 0, &load))
		return;
	buf->overflow = false;
	load.sections_len = 0;
	wire_encode_method_load(buf, 0, &load);
}

void capture_put_code(struct bytes *bytes, uint32_t number, const struct code_range *range,
		      bool is_foreign, struct capture_room *room)
{
	struct wire_buf buf = room_of(room->record);

	if (range->kind == CODE_STUB || is_foreign) {
		char text[PROCESS_MAX_NAME_BYTES / 2 * 3];
		const struct wire_stub stub = {.addr = range->addr,
					       .size = range->size,
					       .frame = frame_of(range),
					       .name = is_foreign ? wire_str_from(range->name)
								  : java_str(range->name, text)};

		wire_encode_stub(&buf, 0, &stub);
	} else {
		encode_load(&buf, range, room);
	}
	bytes_add_varint(bytes, number);
	bytes_add_varint(bytes, is_foreign);
	bytes_add_varint(bytes, range->birth_ns);
	bytes_add_varint(bytes, range->death_ns == CODE_TIME_FOREVER ? 0 : range->death_ns);
	capture_put_data(bytes, buf.data, buf.len);
}

/* ---- files ---- */

void capture_put_layout(struct bytes *bytes, const struct elf_layout *layout)
{
	bytes_add_varint(bytes, layout->segment_count);
	for (size_t i = 0; i < layout->segment_count; i++) {
		const struct elf_segment *const segment = &layout->segments[i];

		bytes_add_varint(bytes, segment->elf_addr);
		bytes_add_varint(bytes, segment->file_off);
		bytes_add_varint(bytes, segment->mem_bytes);
		bytes_add_varint(bytes, segment->file_bytes);
		bytes_add_varint(bytes, segment->is_executable);
	}
	capture_put_data(bytes, layout->build_id, layout->build_id_len);
}

/* ---- samples ---- */

/* The length of the chain with its mark, of at most *room, which is taken. */
static uint32_t marked_len(const struct sample_chain *chain, uint32_t *room)
{
	uint32_t len = chain->len ? chain->len + 1 : 0;

	if (len > *room)
		len = *room;
	*room -= len;
	return len;
}

/* Chains are written as perf has them: a mark that says whose the addresses are, then these. */
static void put_chain(struct bytes *bytes, uint64_t mark, const struct sample_chain *chain,
		      uint32_t marked_len)
{
	if (marked_len == 0)
		return;
	bytes_add_varint(bytes, mark);
	for (uint32_t i = 0; i + 1 < marked_len; i++)
		bytes_add_varint(bytes, chain->addrs[i]);
}

void capture_put_sample(struct bytes *bytes, uint64_t id, const struct record *record,
			uint32_t n_regs)
{
	const struct sample *const sample = &record->sample;
	uint32_t room = CAPTURE_MAX_CHAIN;
	const uint32_t kernel_len = marked_len(&sample->kernel, &room);
	const uint32_t user_len = marked_len(&sample->user, &room);
	const uint64_t flags = (sample->is_exact ? CAPTURE_SAMPLE_EXACT : 0) |
			       (sample->ends_at_page ? CAPTURE_SAMPLE_PAGE_OUT : 0) |
			       (sample->weight > 1 ? CAPTURE_SAMPLE_WEIGHS : 0) |
			       (sample->unread_pages ? CAPTURE_SAMPLE_HOLES : 0) |
			       (sample->comm[0] ? CAPTURE_SAMPLE_COMM : 0);

	bytes_add_varint(bytes, id);
	bytes_add_varint(bytes, record->time_ns);
	bytes_add_varint(bytes, (uint64_t)record->pid);
	bytes_add_varint(bytes, (uint64_t)record->tid);
	bytes_add_varint(bytes, sample->period);
	bytes_add_varint(bytes, flags);
	if (flags & CAPTURE_SAMPLE_WEIGHS)
		bytes_add_varint(bytes, sample->weight);
	if (flags & CAPTURE_SAMPLE_HOLES)
		bytes_add_varint(bytes, sample->unread_pages);
	if (flags & CAPTURE_SAMPLE_COMM)
		capture_put_text(bytes, sample->comm);
	bytes_add_varint(bytes, kernel_len + user_len);
	put_chain(bytes, (uint64_t)PERF_CONTEXT_KERNEL, &sample->kernel, kernel_len);
	put_chain(bytes, (uint64_t)PERF_CONTEXT_USER, &sample->user, user_len);
	bytes_add_varint(bytes, sample->regs ? n_regs : 0);
	for (uint32_t i = 0; sample->regs && i < n_regs; i++)
		bytes_add_varint(bytes, sample->regs[i]);
	capture_put_data(bytes, sample->stack, sample->stack_len);
}
