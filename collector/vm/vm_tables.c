// SPDX-License-Identifier: Apache-2.0
/* Walks the tables that libjvm exports for debuggers, see vm_tables.h. */
#include "vm/vm_tables.h"

#include "base/unaligned.h"

#include <errno.h>
#include <string.h>

enum symbol {
	STRUCTS,
	STRUCT_STRIDE,
	STRUCT_TYPE,
	STRUCT_DECLARED,
	STRUCT_FIELD,
	STRUCT_STATIC,
	STRUCT_OFFSET,
	STRUCT_ADDRESS,
	TYPES,
	TYPE_STRIDE,
	TYPE_NAME,
	TYPE_SIZE,
	INTS,
	INT_STRIDE,
	INT_NAME,
	INT_VALUE,
	LONGS,
	LONG_STRIDE,
	LONG_NAME,
	LONG_VALUE,
	SYMBOLS,
};

static const char *const symbol_names[SYMBOLS] = {
	[STRUCTS] = "gHotSpotVMStructs",
	[STRUCT_STRIDE] = "gHotSpotVMStructEntryArrayStride",
	[STRUCT_TYPE] = "gHotSpotVMStructEntryTypeNameOffset",
	[STRUCT_DECLARED] = "gHotSpotVMStructEntryTypeStringOffset",
	[STRUCT_FIELD] = "gHotSpotVMStructEntryFieldNameOffset",
	[STRUCT_STATIC] = "gHotSpotVMStructEntryIsStaticOffset",
	[STRUCT_OFFSET] = "gHotSpotVMStructEntryOffsetOffset",
	[STRUCT_ADDRESS] = "gHotSpotVMStructEntryAddressOffset",
	[TYPES] = "gHotSpotVMTypes",
	[TYPE_STRIDE] = "gHotSpotVMTypeEntryArrayStride",
	[TYPE_NAME] = "gHotSpotVMTypeEntryTypeNameOffset",
	[TYPE_SIZE] = "gHotSpotVMTypeEntrySizeOffset",
	[INTS] = "gHotSpotVMIntConstants",
	[INT_STRIDE] = "gHotSpotVMIntConstantEntryArrayStride",
	[INT_NAME] = "gHotSpotVMIntConstantEntryNameOffset",
	[INT_VALUE] = "gHotSpotVMIntConstantEntryValueOffset",
	[LONGS] = "gHotSpotVMLongConstants",
	[LONG_STRIDE] = "gHotSpotVMLongConstantEntryArrayStride",
	[LONG_NAME] = "gHotSpotVMLongConstantEntryNameOffset",
	[LONG_VALUE] = "gHotSpotVMLongConstantEntryValueOffset",
};

/* A name of a value; one that was renamed has a row for each name. */
struct own_name {
	enum vm_own_value number;
	const char *key;
};

static const struct own_name own_names[] = {
	{VM_OWN_COMMAND, "Arguments::_java_command"},
	{VM_OWN_RELEASE, "Abstract_VM_Version::_s_vm_release"},
	{VM_OWN_INFO, "Abstract_VM_Version::_s_internal_vm_info_string"},
	{VM_OWN_THREAD_KLASS,
	 "vmClasses::_klasses[static_cast<int>(vmClassID::Thread_klass_knum)]"},
	{VM_OWN_THREAD_KLASS,
	 "SystemDictionary::_well_known_klasses[SystemDictionary::Thread_klass_knum]"},
	{VM_OWN_STRING_KLASS,
	 "vmClasses::_klasses[static_cast<int>(vmClassID::String_klass_knum)]"},
	{VM_OWN_STRING_KLASS,
	 "SystemDictionary::_well_known_klasses[SystemDictionary::String_klass_knum]"},
	{VM_OWN_THREADS, "Threads::_thread_list"},
	{VM_OWN_NARROW_BASE, "Universe::_narrow_oop._base"},
	{VM_OWN_NARROW_SHIFT, "Universe::_narrow_oop._shift"},
	{VM_OWN_NEXT_THREAD, "JavaThread::_next"},
	{VM_OWN_HANDLE, "OopHandle::_obj"},
	{VM_OWN_FIELDS, "InstanceKlass::_fields"},
	{VM_OWN_FIELD_COUNT, "InstanceKlass::_java_fields_count"},
	{VM_OWN_FIELD_STREAM, "InstanceKlass::_fieldinfo_stream"},
	{VM_OWN_ARRAY_LEN, "Array<int>::_length"},
	{VM_OWN_U1_DATA, "Array<u1>::_data"},
	{VM_OWN_U2_DATA, "Array<u2>::_data"},
	{VM_OWN_FLAGS, "JVMFlag::flags"},
	{VM_OWN_FLAG_COUNT, "JVMFlag::numFlags"},
	{VM_OWN_FLAG_NAME, "JVMFlag::_name"},
	{VM_OWN_FLAG_NAME, "JVMFlag::name"},
	{VM_OWN_FLAG_ADDR, "JVMFlag::_addr"},
	{VM_OWN_FLAG_ADDR, "JVMFlag::addr"},
};

/* What the exported symbols hold. */
struct exports {
	uint64_t values[SYMBOLS];
};

/* One array. */
struct table {
	uint64_t at;
	uint32_t stride, name_at;
};

struct entry {
	uint8_t bytes[VM_TABLES_MAX_ENTRY_BYTES];
	char name[VM_TABLES_NAME_BYTES];
};

static bool is_table(enum symbol symbol)
{
	return symbol == STRUCTS || symbol == TYPES || symbol == INTS || symbol == LONGS;
}

/* Reads what the symbols hold: addresses of tables, and offsets in their entries. */
static int read_exports(struct vm_memory *memory, const struct vm_image_mapping *libjvm,
			struct exports *ret)
{
	struct vm_symbol symbols[SYMBOLS];
	int err;

	for (int i = 0; i < SYMBOLS; i++)
		symbols[i] = (struct vm_symbol){.name = symbol_names[i]};
	err = vm_image_find(memory, libjvm, symbols, SYMBOLS);
	for (int i = 0; !err && i < SYMBOLS; i++) {
		if (symbols[i].addr == 0)
			err = -ENOEXEC;
		else
			err = vm_memory_get(memory, symbols[i].addr, &ret->values[i],
					    sizeof(ret->values[i]));
		if (!err && !is_table((enum symbol)i) &&
		    ret->values[i] > VM_TABLES_MAX_ENTRY_BYTES - sizeof(uint64_t))
			err = -EPROTO; /* each member has 8 bytes at most */
	}
	return err;
}

static int make_table(const struct exports *exports, enum symbol at, enum symbol stride,
		      enum symbol name, struct table *ret)
{
	*ret = (struct table){.at = exports->values[at],
			      .stride = (uint32_t)exports->values[stride],
			      .name_at = (uint32_t)exports->values[name]};
	return ret->at && ret->stride >= sizeof(uint64_t) &&
			       ret->name_at + sizeof(uint64_t) <= ret->stride
		       ? 0
		       : -EPROTO;
}

/* Reads a name. A name that is too long becomes "", which is none that is wanted. */
static int read_name(struct vm_memory *memory, uint64_t at, char ret[VM_TABLES_NAME_BYTES])
{
	const int err = vm_memory_text(memory, at, ret, VM_TABLES_NAME_BYTES);

	if (err == -ENAMETOOLONG)
		ret[0] = '\0';
	return err == -ENAMETOOLONG ? 0 : err;
}

/* Returns 1 and the entry, 0 at the table's end, or an error. */
static int next_entry(struct vm_memory *memory, const struct table *table, size_t *pos,
		      struct entry *ret)
{
	uint64_t name;
	int err;

	if (*pos >= VM_TABLES_MAX_ENTRIES)
		return -EPROTO; /* a table without an end */
	memset(ret->bytes, 0, sizeof(ret->bytes));
	err = vm_memory_get_kept(memory, table->at + *pos * table->stride, ret->bytes,
				 table->stride);
	if (err)
		return err;
	++*pos;
	name = unaligned_u64(ret->bytes, table->name_at);
	if (!name)
		return 0;
	err = read_name(memory, name, ret->name);
	return err ? err : 1;
}

/* Whether key consists of type, "::" and name. */
static bool is_field(const char *key, const char *type, const char *name)
{
	const size_t len = strlen(type);

	return strncmp(key, type, len) == 0 && strncmp(key + len, "::", 2) == 0 &&
	       strcmp(key + len + 2, name) == 0;
}

/* Whether the entry declares its member as the type. */
static int is_declared(struct vm_memory *memory, const struct exports *exports,
		       const struct entry *entry, const char *type, bool *ret)
{
	char declared[VM_TABLES_NAME_BYTES];
	const uint64_t at = unaligned_u64(entry->bytes, exports->values[STRUCT_DECLARED]);
	const int err = at ? read_name(memory, at, declared) : 0;

	*ret = !err && at && strcmp(declared, type) == 0;
	return err;
}

static void take_own(const char *type, const char *name, uint64_t value, struct vm_tables *ret)
{
	for (size_t i = 0; i < sizeof(own_names) / sizeof(*own_names); i++) {
		if (!is_field(own_names[i].key, type, name))
			continue;
		ret->has_own[own_names[i].number] = true;
		ret->own[own_names[i].number] = value;
	}
}

static int take_field(struct vm_memory *memory, const struct exports *exports,
		      const struct entry *entry, struct vm_tables *ret)
{
	const bool is_static = unaligned_i32(entry->bytes, exports->values[STRUCT_STATIC]) != 0;
	const uint64_t value = unaligned_u64(
		entry->bytes, exports->values[is_static ? STRUCT_ADDRESS : STRUCT_OFFSET]);
	const uint64_t name_at = unaligned_u64(entry->bytes, exports->values[STRUCT_FIELD]);
	char name[VM_TABLES_NAME_BYTES];
	int err = name_at ? read_name(memory, name_at, name) : -EPROTO;

	if (err)
		return err;
	for (size_t i = 0; i < VM_FIELD_NAMES; i++) {
		if (vm_field_names[i][0] != entry->name[0] ||
		    !is_field(vm_field_names[i], entry->name, name))
			continue;
		ret->has_field[i] = true;
		ret->fields[i] = (int64_t)value;
	}
	take_own(entry->name, name, value, ret);
	if (is_field("CodeBlob::_frame_complete_offset", entry->name, name))
		err = is_declared(memory, exports, entry, "int", &ret->complete_is_int);
	if (!err && is_field("JavaThread::_threadObj", entry->name, name))
		err = is_declared(memory, exports, entry, "OopHandle",
				  &ret->thread_object_is_handle);
	return err;
}

static int read_fields(struct vm_memory *memory, const struct exports *exports,
		       struct vm_tables *ret)
{
	struct table table;
	struct entry entry;
	size_t pos = 0;
	int n, err = make_table(exports, STRUCTS, STRUCT_STRIDE, STRUCT_TYPE, &table);

	while (!err && (n = next_entry(memory, &table, &pos, &entry)) != 0)
		err = n < 0 ? n : take_field(memory, exports, &entry, ret);
	return err;
}

/* Whether key consists of before, name and after. */
static bool is_wrapped(const char *key, const char *before, const char *name, const char *after)
{
	const size_t before_len = strlen(before), len = strlen(name);

	return strncmp(key, before, before_len) == 0 && strncmp(key + before_len, name, len) == 0 &&
	       strcmp(key + before_len + len, after) == 0;
}

static int read_sizes(struct vm_memory *memory, const struct exports *exports,
		      struct vm_tables *ret)
{
	struct table table;
	struct entry entry;
	size_t pos = 0;
	int n, err = make_table(exports, TYPES, TYPE_STRIDE, TYPE_NAME, &table);

	while (!err && (n = next_entry(memory, &table, &pos, &entry)) != 0) {
		err = n < 0 ? n : 0;
		for (size_t i = 0; !err && i < VM_SIZE_NAMES; i++) {
			if (!is_wrapped(vm_size_names[i], "sizeof(", entry.name, ")"))
				continue;
			ret->has_size[i] = true;
			ret->sizes[i] =
				(int64_t)unaligned_u64(entry.bytes, exports->values[TYPE_SIZE]);
		}
		if (!err && strcmp(entry.name, "JVMFlag") == 0)
			ret->flag_bytes = unaligned_u64(entry.bytes, exports->values[TYPE_SIZE]);
	}
	return err;
}

static void take_constant(const char *name, int64_t value, struct vm_tables *ret)
{
	for (size_t i = 0; i < VM_CONSTANT_NAMES; i++) {
		if (!is_wrapped(vm_constant_names[i], "constant ", name, ""))
			continue;
		ret->has_constant[i] = true;
		ret->constants[i] = value;
	}
}

static int read_constants(struct vm_memory *memory, const struct exports *exports,
			  struct vm_tables *ret)
{
	struct table table;
	struct entry entry;
	size_t pos = 0;
	int n, err = make_table(exports, INTS, INT_STRIDE, INT_NAME, &table);

	while (!err && (n = next_entry(memory, &table, &pos, &entry)) != 0) {
		err = n < 0 ? n : 0;
		if (!err)
			take_constant(entry.name,
				      unaligned_i32(entry.bytes, exports->values[INT_VALUE]), ret);
	}
	pos = 0;
	if (!err)
		err = make_table(exports, LONGS, LONG_STRIDE, LONG_NAME, &table);
	while (!err && (n = next_entry(memory, &table, &pos, &entry)) != 0) {
		err = n < 0 ? n : 0;
		if (!err)
			take_constant(
				entry.name,
				(int64_t)unaligned_u64(entry.bytes, exports->values[LONG_VALUE]),
				ret);
	}
	return err;
}

int vm_tables_read(struct vm_memory *memory, const struct vm_image_mapping *libjvm,
		   struct vm_tables *ret)
{
	struct exports exports;
	int err = read_exports(memory, libjvm, &exports);

	*ret = (struct vm_tables){0};
	if (!err)
		err = read_fields(memory, &exports, ret);
	if (!err)
		err = read_sizes(memory, &exports, ret);
	if (!err)
		err = read_constants(memory, &exports, ret);
	vm_memory_forget(memory); /* what follows changes */
	return err;
}

static bool find_in(const char *const *names, const bool *has, const int64_t *values, size_t n,
		    const char *key, int64_t *ret)
{
	for (size_t i = 0; i < n; i++) {
		if (strcmp(names[i], key) == 0) {
			*ret = values[i];
			return has[i];
		}
	}
	return false;
}

bool vm_tables_value(const struct vm_tables *tables, const char *key, int64_t *ret)
{
	int64_t value;
	const bool has = find_in(vm_field_names, tables->has_field, tables->fields, VM_FIELD_NAMES,
				 key, &value) ||
			 find_in(vm_size_names, tables->has_size, tables->sizes, VM_SIZE_NAMES, key,
				 &value) ||
			 find_in(vm_constant_names, tables->has_constant, tables->constants,
				 VM_CONSTANT_NAMES, key, &value);

	if (has)
		*ret = value;
	return has;
}

bool vm_tables_small(const struct vm_tables *tables, const char *key, uint32_t max, uint32_t *ret)
{
	int64_t value;

	if (!vm_tables_value(tables, key, &value) || value < 0 || value > (int64_t)max)
		return false;
	*ret = (uint32_t)value;
	return true;
}

bool vm_tables_own(const struct vm_tables *tables, enum vm_own_value number, uint32_t *ret)
{
	if (!tables->has_own[number] || tables->own[number] > VM_TABLES_MAX_OFFSET)
		return false;
	*ret = (uint32_t)tables->own[number];
	return true;
}
