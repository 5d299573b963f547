// SPDX-License-Identifier: Apache-2.0
/*
 * A shared object that looks like libjvm where the agent looks: the exported tables with three
 * fields, and flags as JDK 17 lays them out. Linked once with a GNU hash table and once with
 * SysV's.
 */
#include <stddef.h>
#include <stdint.h>

struct field {
	const char *type, *name, *type_string;
	int32_t is_static;
	uint64_t offset;
	void *address;
};

struct type {
	const char *name, *super;
	int32_t is_oop, is_integer, is_unsigned;
	uint64_t size;
};

struct int_constant {
	const char *name;
	int32_t value;
};

struct long_constant {
	const char *name;
	uint64_t value;
};

struct flag {
	void *addr;
	const char *name;
	int32_t flags;
	int32_t type;
};

#define PUBLIC __attribute__((visibility("default")))

PUBLIC uint8_t exporter_preserve_frame_pointer;
PUBLIC struct flag exporter_flags[] = {
	{&exporter_preserve_frame_pointer, "UseSomething", 0, 0},
	{&exporter_preserve_frame_pointer, "PreserveFramePointer", 0, 0},
	{NULL, NULL, 0, 0},
};
static struct flag *flags = exporter_flags;
static size_t n_flags = 3;

static struct field fields[] = {
	{"CodeCache", "_low_bound", "address", 1, 0, &fields},
	{"JVMFlag", "flags", "JVMFlag*", 1, 0, &flags},
	{"JVMFlag", "numFlags", "size_t", 1, 0, &n_flags},
	{"JVMFlag", "_name", "const char*", 0, offsetof(struct flag, name), NULL},
	{"JVMFlag", "_addr", "void*", 0, offsetof(struct flag, addr), NULL},
	{"JVMFlag", "_flags", "int", 0, offsetof(struct flag, flags), NULL},
	{"HeapBlock::Header", "_used", "bool", 0, 8, NULL},
	{NULL, NULL, NULL, 0, 0, NULL},
};
static struct type types[] = {
	{"JVMFlag", NULL, 0, 0, 0, sizeof(struct flag)},
	{"PcDesc", NULL, 0, 0, 0, 16},
	{NULL, NULL, 0, 0, 0, 0},
};
static struct int_constant ints[] = {
	{"frame::entry_frame_call_wrapper_offset", -6},
	{NULL, 0},
};
static struct long_constant longs[] = {
	{"InvocationEntryBci", (uint64_t)-1},
	{NULL, 0},
};

PUBLIC struct field *gHotSpotVMStructs = fields;
PUBLIC uint64_t gHotSpotVMStructEntryArrayStride = sizeof(struct field);
PUBLIC uint64_t gHotSpotVMStructEntryTypeNameOffset = offsetof(struct field, type);
PUBLIC uint64_t gHotSpotVMStructEntryFieldNameOffset = offsetof(struct field, name);
PUBLIC uint64_t gHotSpotVMStructEntryTypeStringOffset = offsetof(struct field, type_string);
PUBLIC uint64_t gHotSpotVMStructEntryIsStaticOffset = offsetof(struct field, is_static);
PUBLIC uint64_t gHotSpotVMStructEntryOffsetOffset = offsetof(struct field, offset);
PUBLIC uint64_t gHotSpotVMStructEntryAddressOffset = offsetof(struct field, address);
PUBLIC struct type *gHotSpotVMTypes = types;
PUBLIC uint64_t gHotSpotVMTypeEntryArrayStride = sizeof(struct type);
PUBLIC uint64_t gHotSpotVMTypeEntryTypeNameOffset = offsetof(struct type, name);
PUBLIC uint64_t gHotSpotVMTypeEntrySizeOffset = offsetof(struct type, size);
PUBLIC struct int_constant *gHotSpotVMIntConstants = ints;
PUBLIC uint64_t gHotSpotVMIntConstantEntryArrayStride = sizeof(struct int_constant);
PUBLIC uint64_t gHotSpotVMIntConstantEntryNameOffset = offsetof(struct int_constant, name);
PUBLIC uint64_t gHotSpotVMIntConstantEntryValueOffset = offsetof(struct int_constant, value);
PUBLIC struct long_constant *gHotSpotVMLongConstants = longs;
PUBLIC uint64_t gHotSpotVMLongConstantEntryArrayStride = sizeof(struct long_constant);
PUBLIC uint64_t gHotSpotVMLongConstantEntryNameOffset = offsetof(struct long_constant, name);
PUBLIC uint64_t gHotSpotVMLongConstantEntryValueOffset = offsetof(struct long_constant, value);

/* An address to be relocated in constant data: written once by the dynamic linker, then sealed. */
PUBLIC const void *const exporter_sealed[] = {&n_flags};

PUBLIC int exporter_function(void);
PUBLIC int exporter_function(void)
{
	return (int)n_flags;
}
