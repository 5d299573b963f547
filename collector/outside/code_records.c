// SPDX-License-Identifier: Apache-2.0
/* Writes records as an agent does, see code_records.h. */
#include "outside/code_records.h"

#include "code/jvm_hello.h"
#include "vm/vm_flags.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#define EPOCH	      1
#define COMMAND_BYTES PROGRAM_TEXT_BYTES
#define RELEASE_BYTES 256
#define MAX_ATTRS     (5 + PROGRAM_VARIABLES)
#define MAX_VALUES    (VM_FIELD_NAMES + VM_SIZE_NAMES + VM_CONSTANT_NAMES)

void code_records_init(struct code_records *records, uint8_t *data, size_t size)
{
	*records = (struct code_records){.buf = {.data = data, .size = size}};
}

/* Takes back a record that did not fit. */
static bool end_record(struct code_records *records, size_t before, bool fits)
{
	if (!fits) {
		records->buf.len = before;
		records->buf.overflow = false;
	}
	return fits;
}

bool code_records_begin(struct code_records *records, uint64_t now_ns)
{
	const struct wire_resync resync = {.time_ns = now_ns, .epoch = EPOCH};

	return end_record(records, records->buf.len,
			  wire_encode_resync(&records->buf, WIRE_RESYNC_BEGIN, &resync));
}

bool code_records_end(struct code_records *records, uint64_t now_ns)
{
	const struct wire_resync resync = {.time_ns = now_ns, .epoch = EPOCH, .complete = true};

	return end_record(records, records->buf.len,
			  wire_encode_resync(&records->buf, WIRE_RESYNC_END, &resync));
}

static uint16_t flags_of(const struct code_records *records)
{
	return records->is_resync ? WIRE_FLAG_RESYNC : 0;
}

static uint8_t kind_of(const struct code_blob *blob)
{
	if (blob->kind == BLOB_NATIVE)
		return WIRE_CODE_NATIVE_WRAPPER;
	return blob->is_osr ? WIRE_CODE_OSR : WIRE_CODE_JAVA;
}

bool code_records_method(struct code_records *records, const struct code_blob *blob,
			 const uint8_t *section, size_t len, const char *guest)
{
	struct wire_method_load load = {
		.time_ns = records->time_ns,
		.addr = blob->code,
		.size = blob->size,
		.level = blob->level,
		.code_kind = kind_of(blob),
		.frame = blob->frame,
		.sections = section,
		.sections_len = len,
	};

	/* A record's own name goes before that of the section's first method. */
	if (guest[0])
		load.method = wire_str_from(guest);
	return end_record(records, records->buf.len,
			  wire_encode_method_load(&records->buf, flags_of(records), &load));
}

bool code_records_stub(struct code_records *records, const struct code_blob *blob, const char *name)
{
	const struct wire_stub stub = {
		.time_ns = records->time_ns,
		.addr = blob->code,
		.size = blob->size,
		.frame = blob->frame,
		.name = wire_str_from(name),
	};

	return end_record(records, records->buf.len,
			  wire_encode_stub(&records->buf, flags_of(records), &stub));
}

bool code_records_part(struct code_records *records, uint64_t addr, uint32_t size, const char *name)
{
	const struct code_blob part = {.code = addr, .size = size};

	return code_records_stub(records, &part, name);
}

bool code_records_thread(struct code_records *records, uint32_t tid, const char *name, size_t len)
{
	const struct wire_thread thread = {
		.time_ns = records->time_ns,
		.tid = tid,
		.name = {.data = name, .len = (uint16_t)len},
	};

	return end_record(records, records->buf.len, wire_encode_thread(&records->buf, &thread));
}

bool code_records_gone(struct code_records *records, const struct code_blob *blob)
{
	const struct wire_method_unload unload = {.time_ns = records->time_ns, .addr = blob->code};

	return end_record(records, records->buf.len,
			  wire_encode_method_unload(&records->buf, &unload));
}

/* ---- hello ---- */

/* The text to which a pointer at the address leads; "" if there is none. */
static void read_text(struct vm_memory *memory, uint64_t at, char *ret, size_t size)
{
	uint64_t text = 0;
	int err;

	ret[0] = '\0';
	if (!at || vm_memory_get(memory, at, &text, sizeof(text)) < 0 || !text)
		return;
	err = vm_memory_text(memory, text, ret, size);
	if (err && err != -ENAMETOOLONG)
		ret[0] = '\0';
}

static void add_values(const char *const *names, const bool *has, const int64_t *values, size_t n,
		       struct wire_value *ret, uint16_t *ret_n)
{
	for (size_t i = 0; i < n; i++) {
		if (has[i])
			ret[(*ret_n)++] = (struct wire_value){.key = wire_str_from(names[i]),
							      .value = values[i]};
	}
}

/* Makes the layout as it is made of each hello. */
static int make_layout(const struct wire_buf *buf, size_t at, struct vm_layout *ret)
{
	struct wire_reader reader = {.data = buf->data + at, .len = buf->len - at};
	struct jvm_hello hello = {.n_attrs = 0};
	struct wire_record record;
	struct wire_hello wire;
	uint64_t bad = 0;
	int err = wire_reader_next(&reader, &record) == 1 ? 0 : -EPROTO;

	if (!err)
		err = wire_decode_hello(&record, &wire);
	if (!err)
		err = jvm_hello_set(&hello, &wire, &bad);
	if (!err)
		vm_layout_init(ret, &hello);
	jvm_hello_fini(&hello);
	return err;
}

static void add_attr(struct wire_hello *hello, struct wire_attr *attrs, const char *key,
		     const char *text)
{
	if (text[0])
		attrs[hello->n_attrs++] =
			(struct wire_attr){wire_str_from(key), wire_str_from(text)};
}

/* What the JVM says of itself, and its process of the JVM. */
struct hello_texts {
	char command[COMMAND_BYTES], release[RELEASE_BYTES], name[RELEASE_BYTES];
	char jar[COMMAND_BYTES];
};

static void read_texts(struct vm_memory *memory, const struct vm_tables *tables,
		       const struct program_texts *texts, struct hello_texts *ret)
{
	char *end;

	read_text(memory, tables->own[VM_OWN_RELEASE], ret->release, sizeof(ret->release));
	read_text(memory, tables->own[VM_OWN_COMMAND], ret->command, sizeof(ret->command));
	read_text(memory, tables->own[VM_OWN_INFO], ret->name, sizeof(ret->name));
	end = strstr(ret->name, " (");
	if (end)
		*end = '\0';
	snprintf(ret->jar, sizeof(ret->jar), "%.*s",
		 texts ? (int)program_texts_jar_len(texts, ret->command) : 0, ret->command);
}

static void add_attrs(const struct hello_texts *texts, const struct program_texts *program,
		      struct wire_hello *hello, struct wire_attr *attrs)
{
	add_attr(hello, attrs, "jvm.name", texts->name);
	add_attr(hello, attrs, "jvm.version", texts->release);
	add_attr(hello, attrs, "java.command", texts->command);
	add_attr(hello, attrs, "java.jar", texts->jar);
	if (!program)
		return;
	add_attr(hello, attrs, "command", program->command);
	for (size_t i = 0; i < PROGRAM_VARIABLES; i++)
		add_attr(hello, attrs, program_variable_keys[i], program->variables[i]);
}

int code_records_hello(struct code_records *records, struct vm_memory *memory,
		       const struct vm_tables *tables, const struct code_records_who *who,
		       struct vm_layout *ret_layout)
{
	struct wire_buf *const buf = &records->buf;
	struct wire_hello hello = {.pid = who->inner_pid, .flags = WIRE_HELLO_VMSTRUCTS};
	struct wire_value values[MAX_VALUES];
	struct wire_attr attrs[MAX_ATTRS];
	struct hello_texts texts;
	const size_t before = buf->len;

	if (vm_flags_is_on(memory, tables, "PreserveFramePointer"))
		hello.flags |= WIRE_HELLO_FP_WAS_ON;
	read_texts(memory, tables, who->texts, &texts);
	add_attrs(&texts, who->texts, &hello, attrs);
	add_values(vm_field_names, tables->has_field, tables->fields, VM_FIELD_NAMES, values,
		   &hello.n_values);
	add_values(vm_size_names, tables->has_size, tables->sizes, VM_SIZE_NAMES, values,
		   &hello.n_values);
	add_values(vm_constant_names, tables->has_constant, tables->constants, VM_CONSTANT_NAMES,
		   values, &hello.n_values);
	if (!wire_encode_hello(buf, &hello, attrs, values))
		return -ENOSPC;
	return make_layout(buf, before, ret_layout);
}
