// SPDX-License-Identifier: Apache-2.0
/* Lays out a JVM in a block of memory, see fake_vm.h. */
#include "fake_vm.h"

#include <elf.h>
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include <cmocka.h>

#define STRIDE	     64
#define HEADER_BYTES 16
#define LOG2_SEGMENT FAKE_LOG2_SEGMENT
#define CONST_METHOD 64 /* sizeof */
#define POOL	     48
#define PC_DESC	     16
#define HAS_LINES    4 /* the flag of a ConstMethod */
#define CODE_BYTES   8 /* of bytecodes */

uint64_t fake_vm_base;

static ssize_t read_fake(void *arg, const struct iovec *to, const struct iovec *from,
			 unsigned long n)
{
	struct fake_vm *const vm = arg;
	ssize_t got = 0;

	vm->calls++;
	for (unsigned long i = 0; i < n; i++) {
		const uint64_t addr = (uint64_t)(uintptr_t)from[i].iov_base;
		const size_t len = from[i].iov_len;
		const bool is_refused =
			vm->refused_at && addr <= vm->refused_at && vm->refused_at - addr < len;

		if (addr < FAKE_BASE || addr - FAKE_BASE > FAKE_BYTES ||
		    len > FAKE_BYTES - (addr - FAKE_BASE) || is_refused)
			return got > 0 ? got : -EFAULT;
		memcpy(to[i].iov_base, vm->bytes + (addr - FAKE_BASE), len);
		got += (ssize_t)len;
		if (vm->watched_at && addr == vm->watched_at)
			fake_vm_set(vm, vm->changed_at, &vm->changed_to, sizeof(vm->changed_to));
	}
	return got;
}

void *fake_vm_at(struct fake_vm *vm, uint64_t addr)
{
	assert_true(addr >= FAKE_BASE && addr < FAKE_BASE + FAKE_BYTES);
	return vm->bytes + (addr - FAKE_BASE);
}

void fake_vm_set(struct fake_vm *vm, uint64_t addr, const void *value, size_t len)
{
	memcpy(fake_vm_at(vm, addr), value, len);
}

void fake_vm_set_u64(struct fake_vm *vm, uint64_t addr, uint64_t value)
{
	fake_vm_set(vm, addr, &value, sizeof(value));
}

uint64_t fake_vm_take(struct fake_vm *vm, size_t bytes)
{
	const uint64_t addr = FAKE_BASE + vm->used;

	vm->used += (bytes + 15) / 16 * 16;
	assert_true(vm->used <= FAKE_BYTES);
	return addr;
}

uint64_t fake_vm_text(struct fake_vm *vm, const char *text)
{
	const uint64_t addr = fake_vm_take(vm, strlen(text) + 1);

	fake_vm_set(vm, addr, text, strlen(text) + 1);
	return addr;
}

/* ---- the library ---- */

struct exported {
	const char *name;
	uint64_t value;
};

/*
 * An entry: type or name at 0, declared at 8, field at 16, static at 24, offset at 32, address at
 * 40
 */
static void set_field(struct fake_vm *vm, uint64_t entry, const struct fake_field *field)
{
	const int32_t is_static = field->is_static;

	fake_vm_set_u64(vm, entry, fake_vm_text(vm, field->type));
	fake_vm_set_u64(vm, entry + 8, fake_vm_text(vm, field->declared ? field->declared : "int"));
	fake_vm_set_u64(vm, entry + 16, fake_vm_text(vm, field->name));
	fake_vm_set(vm, entry + 24, &is_static, sizeof(is_static));
	fake_vm_set_u64(vm, entry + (field->is_static ? 40 : 32), field->value);
}

static void make_fields(struct fake_vm *vm)
{
	const uint64_t heaps = fake_vm_take(vm, 8), release = fake_vm_take(vm, 8),
		       command = fake_vm_take(vm, 8);
	const uint64_t info = fake_vm_take(vm, 8);
	const bool old = vm->has_pointers;
	const struct fake_field fields[] = {
		{"CodeCache", "_heaps", "GrowableArray<CodeHeap*>*", true, heaps},
		{"CodeHeap", "_memory", NULL, false, 8},
		{"CodeHeap", "_segmap", NULL, false, 40},
		{"CodeHeap", "_log2_segment_size", NULL, false, 72},
		{"GrowableArrayBase", "_len", NULL, false, 4},
		{"GrowableArray<int>", "_data", NULL, false, 8},
		{"HeapBlock::Header", "_used", NULL, false, 8},
		{"VirtualSpace", "_low", NULL, false, 8},
		{"VirtualSpace", "_high", NULL, false, 16},
		{"CodeBlob", "_name", NULL, false, FAKE_BLOB_NAME},
		{"CodeBlob", "_size", NULL, false, FAKE_BLOB_SIZE},
		{"CodeBlob", "_frame_size", NULL, false, FAKE_BLOB_FRAME_SIZE},
		{"CodeBlob", "_frame_complete_offset", "int16_t", false, FAKE_BLOB_COMPLETE},
		{"CodeBlob", old ? "_code_begin" : "_code_offset", NULL, false, FAKE_BLOB_CODE},
		{"CodeBlob", old ? "_code_end" : "_data_offset", NULL, false, FAKE_BLOB_DATA},
		{old ? "CompiledMethod" : "nmethod", "_method", NULL, false, FAKE_NMETHOD_METHOD},
		{"nmethod", "_compile_id", NULL, false, FAKE_NMETHOD_COMPILE_ID},
		{"nmethod", "_comp_level", NULL, false, FAKE_NMETHOD_LEVEL},
		{"nmethod", "_entry_bci", NULL, false, FAKE_NMETHOD_ENTRY_BCI},
		{"nmethod", "_verified_entry_offset", NULL, false, FAKE_NMETHOD_ENTRY},
		{old ? "CompiledMethod" : "nmethod", old ? "_scopes_data_begin" : "_immutable_data",
		 NULL, false, FAKE_NMETHOD_SCOPES},
		{old ? "nmethod" : "CodeBlob", old ? "_metadata_offset" : "_mutable_data", NULL,
		 false, FAKE_NMETHOD_METHODS},
		{"nmethod", "_scopes_pcs_offset", NULL, false, FAKE_NMETHOD_PCS},
		{"nmethod", old ? "_dependencies_offset" : "_scopes_data_offset", NULL, false,
		 FAKE_NMETHOD_PCS_END},
		{"nmethod", "_immutable_data_size", NULL, false, FAKE_NMETHOD_APART_BYTES},
		{"CodeBlob", "_relocation_size", NULL, false, FAKE_NMETHOD_RELOCATIONS},
		{"CodeBlob", "_mutable_data_size", NULL, false, FAKE_NMETHOD_METHODS_END},
		{"PcDesc", "_pc_offset", NULL, false, 4},
		{"PcDesc", "_scope_decode_offset", NULL, false, 8},
		{"ConstMethod", old ? "_flags" : "_flags._flags", NULL, false, 28},
		{"Method", "_constMethod", NULL, false, 8},
		{"ConstMethod", "_constants", NULL, false, 8},
		{"ConstMethod", "_constMethod_size", NULL, false, 16},
		{"ConstMethod", "_code_size", NULL, false, 20},
		{"ConstMethod", "_name_index", NULL, false, 22},
		{"ConstMethod", "_signature_index", NULL, false, 24},
		{"ConstMethod", "_method_idnum", NULL, false, 26},
		{"ConstantPool", "_pool_holder", NULL, false, 8},
		{"ConstantPool", "_length", NULL, false, 16},
		{"Klass", "_name", NULL, false, 24},
		{"Symbol", "_length", NULL, false, 4},
		{"Symbol", "_body", NULL, false, 6},
		{"Abstract_VM_Version", "_s_vm_release", "const char*", true, release},
		{"Abstract_VM_Version", "_s_internal_vm_info_string", "const char*", true, info},
		{"Arguments", "_java_command", "char*", true, command},
	};
	const size_t n = sizeof(fields) / sizeof(*fields);

	vm->structs = fake_vm_take(vm, (n + 1) * STRIDE);
	for (size_t i = 0; i < n; i++)
		set_field(vm, vm->structs + i * STRIDE, &fields[i]);
	fake_vm_set_u64(vm, heaps, vm->heaps_array);
	fake_vm_set_u64(vm, release, fake_vm_text(vm, "99.0.1+7"));
	fake_vm_set_u64(vm, info, fake_vm_text(vm, "Fake 64-Bit VM (99.0.1+7) for linux"));
	fake_vm_set_u64(vm, command, fake_vm_text(vm, "com.example.Main --fast"));
}

static void make_types(struct fake_vm *vm)
{
	static const struct exported types[] = {{"HeapBlock", HEADER_BYTES},
						{"Method", 88},
						{"ConstMethod", CONST_METHOD},
						{"ConstantPool", POOL},
						{"PcDesc", PC_DESC}};
	const size_t n = sizeof(types) / sizeof(*types);

	vm->types = fake_vm_take(vm, (n + 1) * STRIDE);
	for (size_t i = 0; i < n; i++) {
		fake_vm_set_u64(vm, vm->types + i * STRIDE, fake_vm_text(vm, types[i].name));
		fake_vm_set_u64(vm, vm->types + i * STRIDE + 8, types[i].value);
	}
}

static void make_constants(struct fake_vm *vm)
{
	const int32_t word_bytes = 8, has_lines = HAS_LINES;

	vm->ints = fake_vm_take(vm, 3 * STRIDE);
	fake_vm_set_u64(vm, vm->ints, fake_vm_text(vm, "BytesPerWord"));
	fake_vm_set(vm, vm->ints + 8, &word_bytes, sizeof(word_bytes));
	fake_vm_set_u64(vm, vm->ints + STRIDE,
			fake_vm_text(vm, vm->has_pointers
						 ? "ConstMethod::_has_linenumber_table"
						 : "ConstMethodFlags::_misc_has_linenumber_table"));
	fake_vm_set(vm, vm->ints + STRIDE + 8, &has_lines, sizeof(has_lines));
	vm->longs = fake_vm_take(vm, STRIDE);
}

static void make_symbols(struct fake_vm *vm, const struct exported *exports, size_t n)
{
	uint64_t strings;
	size_t at = 1;

	vm->symbols = fake_vm_take(vm, (n + 1) * sizeof(Elf64_Sym));
	strings = FAKE_BASE + vm->used; /* right behind, as linkers have it */
	for (size_t i = 0; i < n; i++) {
		Elf64_Sym symbol = {.st_name = (Elf64_Word)at,
				    .st_shndx = 1,
				    .st_info = ELF64_ST_INFO(STB_GLOBAL, STT_OBJECT)};

		strcpy(fake_vm_at(vm, strings + at), exports[i].name);
		at += strlen(exports[i].name) + 1;
		fake_vm_set(vm, vm->symbols + (i + 1) * sizeof(symbol), &symbol, sizeof(symbol));
	}
	fake_vm_take(vm, at);
	for (size_t i = 0; i < n; i++) {
		Elf64_Sym *const symbol = fake_vm_at(vm, vm->symbols + (i + 1) * sizeof(Elf64_Sym));
		const uint64_t value = fake_vm_take(vm, 8);

		symbol->st_value = value - FAKE_BASE;
		fake_vm_set_u64(vm, value, exports[i].value);
	}
	const Elf64_Dyn dynamic[] = {{DT_SYMTAB, {vm->symbols}},
				     {DT_STRTAB, {strings}},
				     {DT_STRSZ, {at}},
				     {DT_NULL, {0}}};

	vm->dynamic = fake_vm_take(vm, sizeof(dynamic));
	fake_vm_set(vm, vm->dynamic, dynamic, sizeof(dynamic));
}

static void make_header(struct fake_vm *vm)
{
	const Elf64_Phdr program[] = {
		{.p_type = PT_LOAD, .p_memsz = FAKE_BYTES, .p_filesz = FAKE_BYTES},
		{.p_type = PT_DYNAMIC, .p_vaddr = vm->dynamic - FAKE_BASE},
		{.p_type = PT_LOAD,
		 .p_flags = PF_R | PF_W,
		 .p_offset = 1,
		 .p_vaddr = vm->stub_head - FAKE_BASE - 8,
		 .p_memsz = 24},
	};
	Elf64_Ehdr header = {.e_type = ET_DYN,
			     .e_phoff = sizeof(header),
			     .e_phentsize = sizeof(Elf64_Phdr),
			     .e_phnum = 3};

	memcpy(header.e_ident, ELFMAG, SELFMAG);
	header.e_ident[EI_CLASS] = ELFCLASS64;
	header.e_ident[EI_DATA] = ELFDATA2LSB;
	fake_vm_set(vm, FAKE_BASE, &header, sizeof(header));
	fake_vm_set(vm, FAKE_BASE + sizeof(header), program, sizeof(program));
	vm->libjvm = (struct vm_image_mapping){FAKE_BASE + 0x2000, FAKE_BASE + 0x3000, 0x2000};
}

static void make_library(struct fake_vm *vm)
{
	make_fields(vm);
	make_types(vm);
	make_constants(vm);
	vm->stub_head = fake_vm_take(vm, 32) + 8;
	const struct exported exports[] = {
		{"gHotSpotVMStructs", vm->structs},
		{"gHotSpotVMStructEntryArrayStride", STRIDE},
		{"gHotSpotVMStructEntryTypeNameOffset", 0},
		{"gHotSpotVMStructEntryTypeStringOffset", 8},
		{"gHotSpotVMStructEntryFieldNameOffset", 16},
		{"gHotSpotVMStructEntryIsStaticOffset", 24},
		{"gHotSpotVMStructEntryOffsetOffset", 32},
		{"gHotSpotVMStructEntryAddressOffset", 40},
		{"gHotSpotVMTypes", vm->types},
		{"gHotSpotVMTypeEntryArrayStride", STRIDE},
		{"gHotSpotVMTypeEntryTypeNameOffset", 0},
		{"gHotSpotVMTypeEntrySizeOffset", 8},
		{"gHotSpotVMIntConstants", vm->ints},
		{"gHotSpotVMIntConstantEntryArrayStride", STRIDE},
		{"gHotSpotVMIntConstantEntryNameOffset", 0},
		{"gHotSpotVMIntConstantEntryValueOffset", 8},
		{"gHotSpotVMLongConstants", vm->longs},
		{"gHotSpotVMLongConstantEntryArrayStride", STRIDE},
		{"gHotSpotVMLongConstantEntryNameOffset", 0},
		{"gHotSpotVMLongConstantEntryValueOffset", 8},
	};

	make_symbols(vm, exports, sizeof(exports) / sizeof(*exports));
	make_header(vm);
}

/* ---- code ---- */

static void make_heap(struct fake_vm *vm)
{
	const int32_t len = 1, log2_segment = LOG2_SEGMENT;
	const uint64_t data = fake_vm_take(vm, 8);

	vm->heap = fake_vm_take(vm, 128);
	vm->segmap = fake_vm_take(vm, FAKE_SEGMENTS);
	vm->code = fake_vm_take(vm, (size_t)FAKE_SEGMENTS << LOG2_SEGMENT);
	vm->heaps_array = fake_vm_take(vm, 32);
	fake_vm_set(vm, vm->heaps_array + 4, &len, sizeof(len));
	fake_vm_set_u64(vm, vm->heaps_array + 8, data);
	fake_vm_set_u64(vm, data, vm->heap);
	fake_vm_set_u64(vm, vm->heap + 8 + 8, vm->code);
	fake_vm_set_u64(vm, vm->heap + 8 + 16,
			vm->code + ((uint64_t)FAKE_SEGMENTS << LOG2_SEGMENT));
	fake_vm_set_u64(vm, vm->heap + 40 + 8, vm->segmap);
	fake_vm_set_u64(vm, vm->heap + 40 + 16, vm->segmap + FAKE_SEGMENTS);
	fake_vm_set(vm, vm->heap + 72, &log2_segment, sizeof(log2_segment));
	memset(fake_vm_at(vm, vm->segmap), 0xff, FAKE_SEGMENTS);
}

uint64_t fake_vm_blob_of(uint64_t code)
{
	return code - FAKE_BLOB_HEADER;
}

static void set_bounds(struct fake_vm *vm, uint64_t blob, uint32_t bytes)
{
	const int32_t from = FAKE_BLOB_HEADER, to = (int32_t)(FAKE_BLOB_HEADER + bytes);

	if (vm->has_pointers) {
		fake_vm_set_u64(vm, blob + FAKE_BLOB_CODE, blob + FAKE_BLOB_HEADER);
		fake_vm_set_u64(vm, blob + FAKE_BLOB_DATA, blob + FAKE_BLOB_HEADER + bytes);
	} else {
		fake_vm_set(vm, blob + FAKE_BLOB_CODE, &from, sizeof(from));
		fake_vm_set(vm, blob + FAKE_BLOB_DATA, &to, sizeof(to));
	}
}

uint64_t fake_vm_add_code(struct fake_vm *vm, const struct fake_code *code)
{
	const size_t bytes = HEADER_BYTES + FAKE_BLOB_HEADER + code->bytes;
	const size_t segments = (bytes + (1u << LOG2_SEGMENT) - 1) >> LOG2_SEGMENT;
	const uint64_t block = vm->code + ((uint64_t)vm->next_segment << LOG2_SEGMENT);
	const uint64_t blob = block + HEADER_BYTES;
	const int16_t complete = 12;
	const uint16_t entry = 4;

	for (size_t i = 0; i < segments; i++)
		*(uint8_t *)fake_vm_at(vm, vm->segmap + vm->next_segment + i) = (uint8_t)i;
	vm->next_segment += segments;
	*(uint8_t *)fake_vm_at(vm, block + 8) = 1;
	fake_vm_set_u64(vm, blob + FAKE_BLOB_NAME, code->name);
	fake_vm_set(vm, blob + FAKE_BLOB_FRAME_SIZE, &code->frame_words, sizeof(int32_t));
	set_bounds(vm, blob, code->bytes);
	fake_vm_set(vm, blob + FAKE_BLOB_COMPLETE, &complete, sizeof(complete));
	fake_vm_set_u64(vm, blob + FAKE_NMETHOD_METHOD, code->method);
	fake_vm_set(vm, blob + FAKE_NMETHOD_COMPILE_ID, &code->compile_id, sizeof(int32_t));
	fake_vm_set(vm, blob + FAKE_NMETHOD_ENTRY_BCI, &code->entry_bci, sizeof(int32_t));
	fake_vm_set(vm, blob + FAKE_NMETHOD_LEVEL, &code->level, sizeof(uint8_t));
	fake_vm_set(vm, blob + FAKE_NMETHOD_ENTRY, &entry, sizeof(entry));
	return blob + FAKE_BLOB_HEADER;
}

void fake_vm_free_code(struct fake_vm *vm, uint64_t code)
{
	*(uint8_t *)fake_vm_at(vm, fake_vm_blob_of(code) - HEADER_BYTES + 8) = 0;
}

static uint64_t make_symbol(struct fake_vm *vm, const char *text)
{
	const uint16_t len = (uint16_t)strlen(text);
	const uint64_t symbol = fake_vm_take(vm, 6u + len);

	fake_vm_set(vm, symbol + 4, &len, sizeof(len));
	fake_vm_set(vm, symbol + 6, text, len);
	return symbol;
}

uint64_t fake_vm_method(struct fake_vm *vm, const char *class_name, const char *name,
			const char *signature)
{
	static const uint8_t lines[] = {0 << 3 | 5, 3 << 3 | 2, 0};
	const uint64_t method = fake_vm_take(vm, 88),
		       const_method = fake_vm_take(vm, 2 * CONST_METHOD);
	const uint64_t pool = fake_vm_take(vm, POOL + 8 * 8), klass = fake_vm_take(vm, 64);
	const uint16_t name_index = 3, signature_index = 4, code_bytes = CODE_BYTES;
	const int32_t length = 8, words = 2 * CONST_METHOD / 8, flags = HAS_LINES;

	fake_vm_set_u64(vm, method + 8, const_method);
	fake_vm_set_u64(vm, const_method + 8, pool);
	fake_vm_set(vm, const_method + 16, &words, sizeof(words));
	fake_vm_set(vm, const_method + 20, &code_bytes, sizeof(code_bytes));
	fake_vm_set(vm, const_method + 28, &flags, sizeof(flags));
	fake_vm_set(vm, const_method + CONST_METHOD + CODE_BYTES, lines, sizeof(lines));
	fake_vm_set(vm, const_method + 22, &name_index, sizeof(name_index));
	fake_vm_set(vm, const_method + 24, &signature_index, sizeof(signature_index));
	fake_vm_set_u64(vm, pool + 8, klass);
	fake_vm_set(vm, pool + 16, &length, sizeof(length));
	fake_vm_set_u64(vm, pool + POOL + 8 * name_index, make_symbol(vm, name));
	fake_vm_set_u64(vm, pool + POOL + 8 * signature_index, make_symbol(vm, signature));
	fake_vm_set_u64(vm, klass + 24, make_symbol(vm, class_name));
	return method;
}

/* ---- debug information ---- */

#define MAX_METHODS 16

struct scopes_made {
	uint64_t methods[MAX_METHODS];
	size_t n_methods;
	uint8_t scopes[256];
	size_t len; /* the first byte is none of a scope */
};

static uint8_t number_of(struct scopes_made *made, uint64_t method)
{
	for (size_t i = 0; i < made->n_methods; i++) {
		if (made->methods[i] == method)
			return (uint8_t)(i + 1);
	}
	assert_true(made->n_methods < MAX_METHODS);
	made->methods[made->n_methods++] = method;
	return (uint8_t)made->n_methods;
}

/* Adds the scopes of a stack. Returns where the innermost is. */
static int32_t add_stack(struct scopes_made *made, const struct fake_region *region, uint8_t bias)
{
	uint8_t caller = 0;

	for (size_t i = 0; i < 4 && region->frames[i].method; i++) {
		const size_t at = made->len;

		assert_true(at + 3 <= sizeof(made->scopes));
		made->scopes[at] = (uint8_t)(caller + bias);
		made->scopes[at + 1] = (uint8_t)(number_of(made, region->frames[i].method) + bias);
		made->scopes[at + 2] = (uint8_t)(region->frames[i].bci + 1 + bias);
		made->len += 3;
		caller = (uint8_t)at;
	}
	return caller;
}

static void set_int(struct fake_vm *vm, uint64_t addr, uint64_t value)
{
	const int32_t number = (int32_t)value;

	fake_vm_set(vm, addr, &number, sizeof(number));
}

/* Descriptors begin and end with one that is no place of code, as HotSpot's do. */
static void set_descriptors(struct fake_vm *vm, uint64_t at, const struct fake_region *regions,
			    const int32_t *scopes, size_t n)
{
	set_int(vm, at + 4, UINT32_MAX);
	for (size_t i = 0; i < n; i++) {
		set_int(vm, at + (i + 1) * PC_DESC + 4, (uint32_t)regions[i].end);
		set_int(vm, at + (i + 1) * PC_DESC + 8, (uint32_t)scopes[i]);
	}
	set_int(vm, at + (n + 1) * PC_DESC + 4, INT32_MAX);
}

uint64_t fake_vm_set_scopes(struct fake_vm *vm, uint64_t code, const struct fake_region *regions,
			    size_t n)
{
	const uint64_t blob = fake_vm_blob_of(code), pcs_bytes = (n + 2) * PC_DESC;
	struct scopes_made made = {.len = 1};
	uint64_t methods, scopes, pcs;
	int32_t at[16];

	assert_true(n <= 16);
	for (size_t i = 0; i < n; i++)
		at[i] = add_stack(&made, &regions[i], !vm->has_pointers);
	/* Up to JDK 22: methods, scopes, descriptors. Later: descriptors, scopes; and methods. */
	methods = fake_vm_take(vm, 64 + made.n_methods * 8 + 512 + 2 * pcs_bytes) + 16;
	scopes = methods + made.n_methods * 8;
	pcs = scopes + made.len;
	if (!vm->has_pointers) {
		pcs = scopes + 16;
		scopes = pcs + pcs_bytes;
	}
	fake_vm_set(vm, methods, made.methods, made.n_methods * 8);
	fake_vm_set(vm, scopes, made.scopes, made.len);
	set_descriptors(vm, pcs, regions, at, n);
	if (vm->has_pointers) {
		fake_vm_set_u64(vm, blob + FAKE_NMETHOD_SCOPES, scopes);
		set_int(vm, blob + FAKE_NMETHOD_METHODS, methods - blob);
		set_int(vm, blob + FAKE_NMETHOD_PCS, pcs - blob);
		set_int(vm, blob + FAKE_NMETHOD_PCS_END, pcs + pcs_bytes - blob);
	} else {
		fake_vm_set_u64(vm, blob + FAKE_NMETHOD_SCOPES, pcs - 16);
		set_int(vm, blob + FAKE_NMETHOD_PCS, 16);
		set_int(vm, blob + FAKE_NMETHOD_PCS_END, scopes - (pcs - 16));
		set_int(vm, blob + FAKE_NMETHOD_APART_BYTES, scopes + made.len - (pcs - 16));
		fake_vm_set_u64(vm, blob + FAKE_NMETHOD_METHODS, methods - 16);
		set_int(vm, blob + FAKE_NMETHOD_RELOCATIONS, 16);
		set_int(vm, blob + FAKE_NMETHOD_METHODS_END, 16 + made.n_methods * 8);
	}
	return scopes;
}

void fake_vm_add_stub(struct fake_vm *vm, const char *name, uint64_t addr, uint32_t size)
{
	const uint64_t desc = fake_vm_take(vm, 64), at = fake_vm_text(vm, name);
	uint64_t next;

	memcpy(&next, fake_vm_at(vm, vm->stub_head), sizeof(next));
	fake_vm_set_u64(vm, desc, next);
	fake_vm_set_u64(vm, desc + 8, fake_vm_text(vm, "StubRoutines"));
	fake_vm_set_u64(vm, desc + 16, at);
	fake_vm_set_u64(vm, desc + 24, addr);
	fake_vm_set_u64(vm, desc + 32, addr + size);
	fake_vm_set_u64(vm, vm->stub_head, desc);
}

void fake_vm_init(struct fake_vm *vm)
{
	vm->bytes =
		mmap(NULL, FAKE_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	assert_true(vm->bytes != MAP_FAILED);
	fake_vm_base = (uint64_t)(uintptr_t)vm->bytes;
	vm->used = 4096; /* the header's page */
	vm->memory.read = read_fake;
	vm->memory.arg = vm;
	vm->memory.max_bytes = UINT64_MAX;
	make_heap(vm);
	make_library(vm);
	vm->nmethod_name = fake_vm_text(vm, "nmethod");
	vm->native_name = fake_vm_text(vm, "native nmethod");
}

void fake_vm_fini(struct fake_vm *vm)
{
	munmap(vm->bytes, FAKE_BYTES);
}
