// SPDX-License-Identifier: Apache-2.0
/*
 * The reading of a JVM from outside. The memory is that of a fake JVM, in which the input changes
 * bytes: before the first step, and between steps. A change is
 *
 *   which | where, 3 bytes | what
 *
 * and the lowest bits of which say what it is: bytes as they are, a pointer into the JVM's memory,
 * a number of 4 bytes of which the input has one, or nothing but the next step.
 *
 * Whatever the memory holds: a step reads and tells no more than it may, and the records are whole,
 * name methods that were told, and tell of code that is no larger than it may be.
 */
#include "fuzzer.h"

#include "../unit/outside/fake_vm.h"

#include "outside/code_blob.h"
#include "outside/vm_reading.h"
#include "shared/wire.h"

#include <stdlib.h>
#include <string.h>

#define MAX_STEPS 4
#define MAX_CALLS 100000u /* of a step */
#define CODES	  6
#define STUBS	  20

enum change { CHANGE_BYTES, CHANGE_POINTER, CHANGE_NUMBER, CHANGE_STEP };

/* A JVM as it is before an input changes it. */
struct image {
	struct fake_vm vm;
	uint8_t *bytes;
};

static struct image images[2]; /* of a recent JDK, and with pointers as older ones have */

static void check(bool is_so)
{
	if (!is_so)
		abort();
}

/* ---- the JVM ---- */

static uint64_t method_of(struct fake_vm *vm, const char *class_name, const char *name)
{
	return fake_vm_method(vm, class_name, name, "(I)V");
}

static void add_codes(struct fake_vm *vm)
{
	const uint64_t in = method_of(vm, "com/example/In", "get");
	const int32_t blob_size = FAKE_BLOB_HEADER + 256;

	for (int i = 0; i < CODES; i++) {
		const uint64_t method = method_of(
			vm, i == 0 ? "com/oracle/truffle/OptimizedCallTarget" : "a/Main", "run");
		const struct fake_code code = {.name = i == 1 ? vm->native_name : vm->nmethod_name,
					       .method = method,
					       .bytes = 300,
					       .compile_id = i,
					       .entry_bci = i == 2 ? 7 : -1,
					       .frame_words = 6,
					       .level = 4};
		const struct fake_region regions[] = {{16, {{method, 2}}},
						      {24, {{method, 3}, {in, 4}}},
						      {32, {{method, 3}, {in, 4}, {method, 5}}}};
		const uint64_t addr = fake_vm_add_code(vm, &code);

		fake_vm_set(vm, fake_vm_blob_of(addr) + FAKE_BLOB_SIZE, &blob_size,
			    sizeof(blob_size));
		if (i > 2)
			fake_vm_set_scopes(vm, addr, regions, 3);
	}
}

static void add_stubs(struct fake_vm *vm)
{
	const struct fake_code blob = {.name = fake_vm_text(vm, "StubRoutines (1)"), .bytes = 4096};
	const uint64_t at = fake_vm_add_code(vm, &blob);

	for (unsigned i = 0; i < STUBS; i++)
		fake_vm_add_stub(vm, "stub", at + i * 64, 48);
}

static struct image *image_of(bool has_pointers)
{
	struct image *const image = &images[has_pointers];

	if (!image->bytes) {
		image->vm.has_pointers = has_pointers;
		fake_vm_init(&image->vm);
		add_codes(&image->vm);
		add_stubs(&image->vm);
		image->bytes = malloc(FAKE_BYTES);
		check(image->bytes);
		memcpy(image->bytes, image->vm.bytes, FAKE_BYTES);
	}
	memcpy(image->vm.bytes, image->bytes, FAKE_BYTES);
	fake_vm_base = (uint64_t)(uintptr_t)image->vm.bytes;
	image->vm.memory.bytes = 0;
	return image;
}

/* ---- what it is changed to ---- */

/* Bytes of the input that have not been used. */
struct rest {
	const uint8_t *at;
	size_t len;
};

static uint32_t take(struct rest *rest, size_t len)
{
	uint32_t value = 0;

	for (size_t i = 0; i < len && rest->len > 0; i++, rest->at++, rest->len--)
		value |= (uint32_t)*rest->at << (8 * i);
	return value;
}

/* Makes changes up to the next step. */
static void change(struct fake_vm *vm, struct rest *rest)
{
	while (rest->len > 0) {
		const uint32_t which = take(rest, 1);
		uint64_t where, value;
		size_t len = 1 + (which >> 2) % 8;

		if (which % 4 == CHANGE_STEP)
			return;
		where = FAKE_BASE + take(rest, 3) % (vm->used - 8);
		if (which % 4 == CHANGE_BYTES) {
			value = take(rest, len < 4 ? len : 4) |
				(uint64_t)take(rest, len > 4 ? len - 4 : 0) << 32;
		} else if (which % 4 == CHANGE_POINTER) {
			where -= where % 8;
			value = FAKE_BASE + take(rest, 3) % FAKE_BYTES;
			len = sizeof(value);
		} else {
			value = take(rest, 1);
			len = sizeof(uint32_t);
		}
		fake_vm_set(vm, where, &value, len);
	}
}

/* ---- what is told ---- */

/* Methods of a table are named, or have an ID that was told. */
static uint32_t check_methods(struct wire_inline *table, bool *known)
{
	struct wire_method method;
	uint32_t n = 0;
	int has;

	while ((has = wire_inline_next_method(table, &method)) == 1) {
		struct wire_line line = {0};
		size_t pos = 0;

		check(method.id <= WIRE_METHOD_ID_MAX);
		check(method.how == WIRE_METHOD_NAMED || known[method.id]);
		known[method.id] = method.id != 0;
		while (wire_method_next_line(&method, &pos, &line))
			check(line.bci <= UINT16_MAX);
		n++;
	}
	check(has == 0 && n > 0);
	return n;
}

static void check_inlines(const uint8_t *data, uint32_t len, uint32_t code_bytes, bool *known)
{
	struct wire_inline table;
	struct wire_region region;
	struct wire_inline_frame frame;
	uint32_t n;
	uint64_t end = 0;
	int has;

	check(wire_inline_init(&table, data, len) == 0);
	n = check_methods(&table, known);
	while ((has = wire_inline_next_region(&table, &region)) == 1) {
		end += region.size;
		check(region.size > 0 && end <= code_bytes && region.shared <= region.depth);
		for (uint32_t i = region.shared; i < region.depth; i++)
			check(wire_inline_next_frame(&table, &frame) == 1 && frame.method < n);
	}
	check(has == 0);
}

static void check_load(const struct wire_record *record, bool *known)
{
	struct wire_method_load load;
	const uint8_t *data;
	size_t pos = 0;
	uint16_t tag;
	uint32_t len;
	int has;

	check(wire_decode_method_load(record, &load) == 0);
	check(load.size > 0 && load.size <= CODE_BLOB_MAX_BYTES &&
	      load.addr <= UINT64_MAX - load.size);
	while ((has = wire_section_next(load.sections, load.sections_len, &pos, &tag, &data,
					&len)) > 0) {
		if (tag == WIRE_SECTION_INLINE)
			check_inlines(data, len, load.size, known);
	}
	check(has == 0);
}

static void check_told(const struct vm_reading_told *told, bool *known)
{
	struct wire_reader reader = {.data = told->records, .len = told->len};
	struct wire_record record;
	struct wire_stub stub;

	check(told->len <= VM_READING_RECORD_BYTES && told->n_heaps <= CODE_HEAPS_MAX);
	while (wire_reader_next(&reader, &record) == 1) {
		if (record.kind == WIRE_METHOD_LOAD)
			check_load(&record, known);
		if (record.kind == WIRE_STUB)
			check(wire_decode_stub(&record, &stub) == 0 && stub.size > 0 &&
			      stub.size <= CODE_BLOB_MAX_BYTES);
	}
	check(reader.pos == reader.len);
}

static bool step(struct fake_vm *vm, struct vm_reading *reading, uint64_t now_ns, bool *known)
{
	const struct vm_reading_now now = {.time_ns = now_ns, .inner_pid = 7};
	const uint64_t bytes = vm->memory.bytes;
	struct vm_reading_told told;
	int err;

	vm->calls = 0;
	err = vm_reading_step(reading, &vm->memory, &now, &told);
	check(vm->calls < MAX_CALLS && vm->memory.bytes - bytes <= VM_READING_STEP_BYTES);
	check(memchr(told.lacks, 0, sizeof(told.lacks)));
	if (!err)
		check_told(&told, known);
	return !err;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static bool known[WIRE_METHOD_ID_MAX + 1];
	struct rest rest = {data, size};
	const uint32_t how = take(&rest, 1);
	struct image *const image = image_of(how & 1);
	struct vm_reading *reading;
	bool is_good = true;

	memset(known, 0, sizeof(known));
	if (vm_reading_new(&image->vm.libjvm, how & 2, &reading) < 0)
		return 0;
	for (uint64_t i = 1; is_good && i <= MAX_STEPS; i++) {
		change(&image->vm, &rest);
		is_good = step(&image->vm, reading, i * 1000, known) && rest.len > 0;
	}
	vm_reading_free(reading);
	return 0;
}
