// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   a class of a running JVM -> where objects of the class have their fields
 * units:   addr in the process; bytes from an object's beginning
 * threads: one at a time, any
 * errors:  negative errno: -ENOTSUP the tables lack a member, -EPROTO what is read cannot be
 *          HotSpot's; those of vm_memory.h
 * source:  HotSpot's fieldInfo.hpp of JDK 8 to 20 (InstanceKlass::_fields) and of JDK 21 on
 *          (InstanceKlass::_fieldinfo_stream)
 */
#ifndef FG_VM_JAVA_FIELDS_H
#define FG_VM_JAVA_FIELDS_H

#include "vm/vm_memory.h"
#include "vm/vm_tables.h"

#define JAVA_FIELDS_MAX		 512 /* of a class */
#define JAVA_FIELDS_MAX_BYTES	 8192
#define JAVA_FIELDS_MAX_OFFSET	 4096
#define JAVA_FIELDS_SYMBOL_BYTES 64 /* a longer name is none that is wanted */

/* Where a class has what describes its fields. */
struct java_fields_layout {
	bool is_stream; /* packed numbers, else six u2 a field */
	uint32_t fields, constants;
	uint32_t count; /* of a u2, without a stream */
	uint32_t array_len, array_data;
	uint32_t pool_bytes; /* sizeof(ConstantPool); entries of a word begin right behind */
	uint32_t pool_len;
	uint32_t symbol_len, symbol_body;
};

/* A field that is wanted, and the answer. */
struct java_field {
	const char *name, *type; /* type: a descriptor, as "Ljava/lang/String;" */
	uint32_t at;		 /* 0: the class has no such field of its objects */
};

/* What the places of all fields of objects say of the JVM. */
struct java_fields_form {
	uint32_t first;		  /* the least offset: how long an object's header is */
	uint32_t reference_bytes; /* the least distance of two references; 0: there are no two */
};

/* False: the tables lack a member. */
bool java_fields_layout_init(struct java_fields_layout *layout, const struct vm_tables *tables);

/* Finds the fields of the class itself, and not those of the classes above it. */
int java_fields_find(struct vm_memory *memory, const struct java_fields_layout *layout,
		     uint64_t klass, struct java_field *fields, size_t n,
		     struct java_fields_form *ret);

#endif
