// SPDX-License-Identifier: Apache-2.0
/*
 * Finds the values of the names that the collector wants (shared/vm_names.h) in the JVM's tables.
 */
#include "hotspot/wanted.h"

#include "shared/vm_names.h"

#include <string.h>

_Static_assert(VM_FIELD_NAMES + VM_SIZE_NAMES + VM_CONSTANT_NAMES <= WANTED_MAX,
	       "every wanted value has room");

struct found {
	struct wire_value *values;
	size_t n;
};

static void add(struct found *found, const char *key, int64_t value)
{
	if (found->n < WANTED_MAX)
		found->values[found->n++] =
			(struct wire_value){.key = wire_str_from(key), .value = value};
}

/* Whether key consists of type, "::" and name. */
static bool is_field(const char *key, const struct vmstructs_field *field)
{
	const size_t type_len = strlen(field->type);

	return strncmp(key, field->type, type_len) == 0 && strncmp(key + type_len, "::", 2) == 0 &&
	       strcmp(key + type_len + 2, field->name) == 0;
}

static void collect_fields(const struct vmstructs *vm, struct found *found)
{
	struct vmstructs_field field;

	for (size_t pos = 0; vmstructs_next_field(vm, &pos, &field);) {
		for (size_t i = 0; i < VM_FIELD_NAMES; i++) {
			if (vm_field_names[i][0] == field.type[0] &&
			    is_field(vm_field_names[i], &field))
				add(found, vm_field_names[i], (int64_t)field.value);
		}
	}
}

/* Whether key consists of before, name and after. */
static bool is_wrapped(const char *key, const char *before, const char *name, const char *after)
{
	const size_t before_len = strlen(before), name_len = strlen(name);

	return strncmp(key, before, before_len) == 0 &&
	       strncmp(key + before_len, name, name_len) == 0 &&
	       strcmp(key + before_len + name_len, after) == 0;
}

static void collect_sizes(const struct vmstructs *vm, struct found *found)
{
	struct vmstructs_number number;

	for (size_t pos = 0; vmstructs_next_type_size(vm, &pos, &number);) {
		for (size_t i = 0; i < VM_SIZE_NAMES; i++) {
			if (is_wrapped(vm_size_names[i], "sizeof(", number.name, ")"))
				add(found, vm_size_names[i], number.value);
		}
	}
}

static void collect_constant(const struct vmstructs_number *number, struct found *found)
{
	for (size_t i = 0; i < VM_CONSTANT_NAMES; i++) {
		if (is_wrapped(vm_constant_names[i], "constant ", number->name, ""))
			add(found, vm_constant_names[i], number->value);
	}
}

size_t wanted_collect(const struct vmstructs *vm, struct wire_value values[WANTED_MAX])
{
	struct found found = {.values = values};
	struct vmstructs_number number;

	collect_fields(vm, &found);
	collect_sizes(vm, &found);
	for (size_t pos = 0; vmstructs_next_int(vm, &pos, &number);)
		collect_constant(&number, &found);
	for (size_t pos = 0; vmstructs_next_long(vm, &pos, &number);)
		collect_constant(&number, &found);
	return found.n;
}
