// SPDX-License-Identifier: Apache-2.0
/*
 * Walks the tables that libjvm exports for debuggers.
 *
 * Four pointers lead to the arrays (gHotSpotVMStructs, -Types, -IntConstants, -LongConstants).
 * Several u64 symbols say how long an entry is and where each member lies in it, so that a reader
 * need not be compiled with the JVM. Names are C strings; an entry whose name is NULL ends an
 * array.
 */
#include "hotspot/vmstructs.h"

#include <string.h>

static bool read_size(const struct module *module, const char *symbol, size_t *ret)
{
	const uint64_t *value = module_find_symbol(module, symbol, sizeof(*value));

	if (!value || *value > 4096)
		return false;
	*ret = (size_t)*value;
	return true;
}

static bool read_table(const struct module *module, const char *symbol, const char *stride_symbol,
		       struct vmstructs_table *ret)
{
	const char *const *entries = module_find_symbol(module, symbol, sizeof(*entries));

	if (!entries || !*entries || !read_size(module, stride_symbol, &ret->stride))
		return false;
	ret->entries = *entries;
	return ret->stride > 0;
}

static bool read_fields(struct vmstructs *vm)
{
	const struct module *m = &vm->module;

	vm->field_at.has_declared =
		read_size(m, "gHotSpotVMStructEntryTypeStringOffset", &vm->field_at.declared);
	return read_table(m, "gHotSpotVMStructs", "gHotSpotVMStructEntryArrayStride",
			  &vm->fields) &&
	       read_size(m, "gHotSpotVMStructEntryTypeNameOffset", &vm->field_at.type) &&
	       read_size(m, "gHotSpotVMStructEntryFieldNameOffset", &vm->field_at.name) &&
	       read_size(m, "gHotSpotVMStructEntryIsStaticOffset", &vm->field_at.is_static) &&
	       read_size(m, "gHotSpotVMStructEntryOffsetOffset", &vm->field_at.offset) &&
	       read_size(m, "gHotSpotVMStructEntryAddressOffset", &vm->field_at.address);
}

static bool read_types(struct vmstructs *vm)
{
	const struct module *m = &vm->module;

	return read_table(m, "gHotSpotVMTypes", "gHotSpotVMTypeEntryArrayStride", &vm->types) &&
	       read_size(m, "gHotSpotVMTypeEntryTypeNameOffset", &vm->type_at.name) &&
	       read_size(m, "gHotSpotVMTypeEntrySizeOffset", &vm->type_at.size);
}

static bool read_constants(struct vmstructs *vm)
{
	const struct module *m = &vm->module;

	return read_table(m, "gHotSpotVMIntConstants", "gHotSpotVMIntConstantEntryArrayStride",
			  &vm->ints) &&
	       read_size(m, "gHotSpotVMIntConstantEntryNameOffset", &vm->int_at.name) &&
	       read_size(m, "gHotSpotVMIntConstantEntryValueOffset", &vm->int_at.value) &&
	       read_table(m, "gHotSpotVMLongConstants", "gHotSpotVMLongConstantEntryArrayStride",
			  &vm->longs) &&
	       read_size(m, "gHotSpotVMLongConstantEntryNameOffset", &vm->long_at.name) &&
	       read_size(m, "gHotSpotVMLongConstantEntryValueOffset", &vm->long_at.value);
}

bool vmstructs_init(struct vmstructs *vm, const void *in_libjvm)
{
	*vm = (struct vmstructs){0};
	if (module_find(in_libjvm, &vm->module) && read_fields(vm) && read_types(vm) &&
	    read_constants(vm))
		return true;
	*vm = (struct vmstructs){0};
	return false;
}

/*
 * The entry at *pos and its name. NULL: the table, or the part of it that can be read, has ended.
 */
static const char *next_entry(const struct vmstructs *vm, const struct vmstructs_table *table,
			      size_t name_at, size_t *pos, const char **ret_name)
{
	const char *entry;

	if (!table->entries)
		return NULL;
	entry = table->entries + *pos * table->stride;
	if (name_at + sizeof(char *) > table->stride ||
	    !module_holds(&vm->module, entry, table->stride, PF_R))
		return NULL;
	memcpy(ret_name, entry + name_at, sizeof(*ret_name));
	if (!*ret_name || !module_holds(&vm->module, *ret_name, 1, PF_R))
		return NULL;
	++*pos;
	return entry;
}

static uint64_t read_u64(const char *p)
{
	uint64_t value;

	memcpy(&value, p, sizeof(value));
	return value;
}

static int32_t read_i32(const char *p)
{
	int32_t value;

	memcpy(&value, p, sizeof(value));
	return value;
}

/* The C++ type of the field, or NULL. The type is optional. */
static const char *read_declared(const struct vmstructs *vm, const char *entry)
{
	const char *declared;

	if (!vm->field_at.has_declared ||
	    vm->field_at.declared + sizeof(declared) > vm->fields.stride)
		return NULL;
	memcpy(&declared, entry + vm->field_at.declared, sizeof(declared));
	return declared && module_holds(&vm->module, declared, 1, PF_R) ? declared : NULL;
}

bool vmstructs_next_field(const struct vmstructs *vm, size_t *pos, struct vmstructs_field *ret)
{
	struct vmstructs_field field;
	const char *entry;

	entry = next_entry(vm, &vm->fields, vm->field_at.type, pos, &field.type);
	if (!entry)
		return false;
	memcpy(&field.name, entry + vm->field_at.name, sizeof(field.name));
	if (!field.name || !module_holds(&vm->module, field.name, 1, PF_R))
		return false;
	field.declared = read_declared(vm, entry);
	field.is_static = read_i32(entry + vm->field_at.is_static) != 0;
	field.value =
		read_u64(entry + (field.is_static ? vm->field_at.address : vm->field_at.offset));
	*ret = field;
	return true;
}

bool vmstructs_next_type_size(const struct vmstructs *vm, size_t *pos, struct vmstructs_number *ret)
{
	const char *entry = next_entry(vm, &vm->types, vm->type_at.name, pos, &ret->name);

	if (entry)
		ret->value = (int64_t)read_u64(entry + vm->type_at.size);
	return entry != NULL;
}

bool vmstructs_next_int(const struct vmstructs *vm, size_t *pos, struct vmstructs_number *ret)
{
	const char *entry = next_entry(vm, &vm->ints, vm->int_at.name, pos, &ret->name);

	if (entry)
		ret->value = read_i32(entry + vm->int_at.value);
	return entry != NULL;
}

bool vmstructs_next_long(const struct vmstructs *vm, size_t *pos, struct vmstructs_number *ret)
{
	const char *entry = next_entry(vm, &vm->longs, vm->long_at.name, pos, &ret->name);

	if (entry)
		ret->value = (int64_t)read_u64(entry + vm->long_at.value);
	return entry != NULL;
}

static bool find_field(const struct vmstructs *vm, const char *type, const char *name,
		       struct vmstructs_field *ret)
{
	for (size_t pos = 0; vmstructs_next_field(vm, &pos, ret);) {
		if (strcmp(ret->type, type) == 0 && strcmp(ret->name, name) == 0)
			return true;
	}
	return false;
}

bool vmstructs_find_offset(const struct vmstructs *vm, const char *type, const char *name,
			   size_t *ret)
{
	struct vmstructs_field field;

	if (!find_field(vm, type, name, &field) || field.is_static || field.value > (1u << 20))
		return false;
	*ret = (size_t)field.value;
	return true;
}

bool vmstructs_is_declared(const struct vmstructs *vm, const char *type, const char *name,
			   const char *declared)
{
	struct vmstructs_field field;

	return find_field(vm, type, name, &field) && field.declared &&
	       strcmp(field.declared, declared) == 0;
}

const void *vmstructs_find_static(const struct vmstructs *vm, const char *type, const char *name)
{
	struct vmstructs_field field;

	if (!find_field(vm, type, name, &field) || !field.is_static)
		return NULL;
	return (const void *)(uintptr_t)field.value;
}

bool vmstructs_find_type_size(const struct vmstructs *vm, const char *type, size_t *ret)
{
	struct vmstructs_number number;

	for (size_t pos = 0; vmstructs_next_type_size(vm, &pos, &number);) {
		if (strcmp(number.name, type) == 0) {
			*ret = (size_t)number.value;
			return true;
		}
	}
	return false;
}
