// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   HotSpot's description of itself (vmStructs) -> fields, type sizes and constants by name
 * units:   offsets and sizes in bytes; addresses of this process
 * threads: any after vmstructs_init; the tables never change
 * errors:  false if there is no such table, entry or JVM
 * source:  hotspot/share/runtime/vmStructs.hpp, its comments on the exported gHotSpotVM symbols
 *
 * A zero-filled struct has no tables: every look-up in it fails.
 */
#ifndef FGAGENT_HOTSPOT_VMSTRUCTS_H
#define FGAGENT_HOTSPOT_VMSTRUCTS_H

#include "hotspot/module.h"

/* An array of entries; an entry without a name ends it. */
struct vmstructs_table {
	const char *entries;
	size_t stride;
};

struct vmstructs {
	struct module module;
	struct vmstructs_table fields, types, ints, longs;
	struct {
		size_t type, name, declared, is_static, offset, address;
		bool has_declared;
	} field_at;
	struct {
		size_t name, size;
	} type_at;
	struct {
		size_t name, value;
	} int_at, long_at;
};

/* The texts belong to the JVM and live as long as the JVM. */
struct vmstructs_field {
	const char *type, *name;
	const char *declared; /* the C++ type of the field; NULL: not known */
	bool is_static;
	uint64_t value; /* address of a static field, else offset */
};

struct vmstructs_number {
	const char *name;
	int64_t value;
};

/* Finds the tables. in_libjvm: the address of any function of the JVM. */
bool vmstructs_init(struct vmstructs *vm, const void *in_libjvm);

/* Walk a table: *pos starts at 0; false at the end. Constants are in two tables, ints and longs. */
bool vmstructs_next_field(const struct vmstructs *vm, size_t *pos, struct vmstructs_field *ret);
bool vmstructs_next_type_size(const struct vmstructs *vm, size_t *pos,
			      struct vmstructs_number *ret);
bool vmstructs_next_int(const struct vmstructs *vm, size_t *pos, struct vmstructs_number *ret);
bool vmstructs_next_long(const struct vmstructs *vm, size_t *pos, struct vmstructs_number *ret);

/* The offset of a field that is not static. */
bool vmstructs_find_offset(const struct vmstructs *vm, const char *type, const char *name,
			   size_t *ret);
/* Whether there is such a field, and it has the C++ type declared. */
bool vmstructs_is_declared(const struct vmstructs *vm, const char *type, const char *name,
			   const char *declared);
const void *vmstructs_find_static(const struct vmstructs *vm, const char *type, const char *name);
bool vmstructs_find_type_size(const struct vmstructs *vm, const char *type, size_t *ret);

#endif
