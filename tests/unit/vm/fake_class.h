// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   memory, made for a test, with classes that have fields
 * units:   addr in the fake; bytes
 * threads: one
 * errors:  asserts
 * source:  none
 */
#ifndef FG_TESTS_VM_FAKE_CLASS_H
#define FG_TESTS_VM_FAKE_CLASS_H

#include "vm/java_fields.h"

#define FAKE_CLASS_BASE	 UINT64_C(0x100000)
#define FAKE_CLASS_BYTES ((size_t)64 << 10)

struct fake_class {
	struct vm_memory memory;
	uint8_t bytes[FAKE_CLASS_BYTES];
	size_t used;
};

/* Of a class: six numbers of two bytes, or a stream. */
struct fake_class_field {
	const char *name, *type;
	uint32_t at;
	bool is_static;
	bool has_more; /* numbers behind the others, or no place */
};

void fake_class_init(struct fake_class *fake);
uint64_t fake_class_take(struct fake_class *fake, size_t bytes);
void fake_class_set(struct fake_class *fake, uint64_t addr, const void *from, size_t len);
void fake_class_set_u64(struct fake_class *fake, uint64_t addr, uint64_t value);
void fake_class_set_u32(struct fake_class *fake, uint64_t addr, uint32_t value);

/* Where the fake's classes have their members. */
struct java_fields_layout fake_class_layout(bool is_stream);
/* A class with these fields. */
uint64_t fake_class_add(struct fake_class *fake, bool is_stream,
			const struct fake_class_field *fields, size_t n);

#endif
