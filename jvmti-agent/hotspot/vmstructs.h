// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   HotSpot's description of itself -> fields, type sizes and constants by name
 * units:   offsets and sizes in bytes; addresses of this process
 * threads: any once initialised; the tables never change
 * errors:  false when there is no such table, entry or JVM
 * source:  hotspot/share/runtime/vmStructs.hpp, its comments on the exported gHotSpotVM symbols
 *
 * A zero-filled struct is one without tables: every lookup in it fails.
 */
#ifndef FGAGENT_HOTSPOT_VMSTRUCTS_H
#define FGAGENT_HOTSPOT_VMSTRUCTS_H

#include "hotspot/module.h"

/* One array of entries that ends with an entry without name. */
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

/* The names are the JVM's own and live as long as it does. */
struct vmstructs_field {
	const char *type, *name;
	const char *declared; /* the C++ type of the field itself, NULL if it is not said */
	bool is_static;
	uint64_t value; /* the address if static, else the offset */
};

struct vmstructs_number {
	const char *name;
	int64_t value;
};

/* in_libjvm: the address of any function of the JVM. */
bool vmstructs_init(struct vmstructs *vm, const void *in_libjvm);

/* Walk a table: *pos starts at 0; false at the end. Constants are ints, then longs. */
bool vmstructs_next_field(const struct vmstructs *vm, size_t *pos, struct vmstructs_field *ret);
bool vmstructs_next_type_size(const struct vmstructs *vm, size_t *pos,
			      struct vmstructs_number *ret);
bool vmstructs_next_int(const struct vmstructs *vm, size_t *pos, struct vmstructs_number *ret);
bool vmstructs_next_long(const struct vmstructs *vm, size_t *pos, struct vmstructs_number *ret);

/* The offset of a field, or the address of a static one. */
bool vmstructs_find_offset(const struct vmstructs *vm, const char *type, const char *name,
			   size_t *ret);
/* Likewise, and whether it is declared as that C++ type. */
bool vmstructs_is_declared(const struct vmstructs *vm, const char *type, const char *name,
			   const char *declared);
const void *vmstructs_find_static(const struct vmstructs *vm, const char *type, const char *name);
bool vmstructs_find_type_size(const struct vmstructs *vm, const char *type, size_t *ret);

#endif
