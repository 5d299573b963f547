// SPDX-License-Identifier: Apache-2.0
#include "../outside/fake_vm.h"
#include "vm/vm_flags.h"

#include <elf.h>
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static struct vm_tables tables;

static struct fake_vm *new_vm(void)
{
	struct fake_vm *const vm = calloc(1, sizeof(*vm));

	assert_non_null(vm);
	fake_vm_init(vm);
	return vm;
}

static void free_vm(struct fake_vm *vm)
{
	fake_vm_fini(vm);
	free(vm);
}

static int read_tables(struct fake_vm *vm)
{
	return vm_tables_read(&vm->memory, &vm->libjvm, &tables);
}

static void check_value(const char *key, int64_t expected)
{
	int64_t value = -1;

	assert_true(vm_tables_value(&tables, key, &value));
	assert_int_equal(value, expected);
}

static void tables_give_offsets_sizes_and_constants(void **state)
{
	struct fake_vm *const vm = new_vm();
	int64_t value;

	assert_int_equal(read_tables(vm), 0);
	check_value("CodeBlob::_name", FAKE_BLOB_NAME);
	check_value("nmethod::_method", FAKE_NMETHOD_METHOD);
	check_value("sizeof(HeapBlock)", 16);
	check_value("constant BytesPerWord", 8);
	assert_false(vm_tables_value(&tables, "CodeBlob::_code_begin", &value));
	assert_false(vm_tables_value(&tables, "no key", &value));
	assert_false(tables.complete_is_int);
	free_vm(vm);
}

/* The symbol of a name, among those that the fake exports. */
static Elf64_Sym *symbol_at(struct fake_vm *vm, size_t i)
{
	return fake_vm_at(vm, vm->symbols + (i + 1) * sizeof(Elf64_Sym));
}

static void a_library_without_the_tables_is_no_hotspot(void **state)
{
	struct fake_vm *const vm = new_vm();

	symbol_at(vm, 0)->st_shndx = SHN_UNDEF; /* gHotSpotVMStructs */
	assert_int_equal(read_tables(vm), -ENOEXEC);
	free_vm(vm);
}

static void what_is_no_library_is_refused(void **state)
{
	struct fake_vm *const vm = new_vm();

	((Elf64_Ehdr *)fake_vm_at(vm, FAKE_BASE))->e_ident[EI_CLASS] = ELFCLASS32;
	assert_int_equal(read_tables(vm), -ENOEXEC);
	((Elf64_Ehdr *)fake_vm_at(vm, FAKE_BASE))->e_ident[EI_CLASS] = ELFCLASS64;
	((Elf64_Ehdr *)fake_vm_at(vm, FAKE_BASE))->e_phnum = 60000;
	assert_int_equal(read_tables(vm), -ENOEXEC);
	vm->libjvm.start += 0x1000; /* no segment of the file is there */
	((Elf64_Ehdr *)fake_vm_at(vm, FAKE_BASE))->e_phnum = 2;
	assert_int_equal(read_tables(vm), -ENOEXEC);
	free_vm(vm);
}

static void a_dynamic_section_without_an_end_is_left(void **state)
{
	struct fake_vm *const vm = new_vm();

	for (int i = 0; i < 4000; i++) /* over all that follows */
		((Elf64_Dyn *)fake_vm_at(vm, vm->dynamic))[i].d_tag = DT_NEEDED;
	assert_int_equal(read_tables(vm), -ENOEXEC);
	free_vm(vm);
}

static void a_table_of_too_many_entries_is_refused(void **state)
{
	struct fake_vm *const vm = new_vm();
	const uint64_t name = fake_vm_text(vm, "x"), first = (FAKE_BASE + vm->used + 7) / 8 * 8;

	for (uint64_t at = first; at + 8 <= FAKE_BASE + FAKE_BYTES; at += 8)
		fake_vm_set_u64(vm, at, name);
	assert_true((FAKE_BASE + FAKE_BYTES - first) / 8 > VM_TABLES_MAX_ENTRIES);
	fake_vm_set_u64(vm, FAKE_BASE + symbol_at(vm, 12)->st_value, first); /* of int constants */
	fake_vm_set_u64(vm, FAKE_BASE + symbol_at(vm, 13)->st_value, 8);
	assert_int_equal(read_tables(vm), -EPROTO);
	free_vm(vm);
}

static void a_table_without_an_end_is_refused(void **state)
{
	struct fake_vm *const vm = new_vm();
	uint64_t *const stride = fake_vm_at(vm, FAKE_BASE + symbol_at(vm, 1)->st_value);

	assert_int_equal(*stride, 64);
	*stride = 0; /* each entry is the first */
	assert_int_equal(read_tables(vm), -EPROTO);
	*stride = UINT64_MAX;
	assert_int_equal(read_tables(vm), -EPROTO);
	*stride =
		8; /* what follows a name is taken for names: none of it can be read, or it ends */
	assert_true(read_tables(vm) < 0);
	free_vm(vm);
}

static void members_behind_their_entry_are_refused(void **state)
{
	struct fake_vm *const vm = new_vm();

	/* gHotSpotVMTypeEntryTypeNameOffset, of an entry of 64 bytes */
	fake_vm_set_u64(vm, FAKE_BASE + symbol_at(vm, 10)->st_value, 60);
	assert_int_equal(read_tables(vm), -EPROTO);
	fake_vm_set_u64(vm, FAKE_BASE + symbol_at(vm, 10)->st_value, UINT64_MAX - 4);
	assert_int_equal(read_tables(vm), -EPROTO);
	free_vm(vm);
}

static void a_table_that_is_not_mapped_is_an_error(void **state)
{
	struct fake_vm *const vm = new_vm();

	fake_vm_set_u64(vm, FAKE_BASE + symbol_at(vm, 0)->st_value, 0x1000);
	assert_int_equal(read_tables(vm), -EFAULT);
	fake_vm_set_u64(vm, FAKE_BASE + symbol_at(vm, 0)->st_value, UINT64_MAX - 8);
	assert_int_equal(read_tables(vm), -EFAULT);
	free_vm(vm);
}

static void a_name_without_an_end_is_none_that_is_wanted(void **state)
{
	struct fake_vm *const vm = new_vm();
	int64_t value;
	uint64_t *const name = fake_vm_at(vm, vm->ints);

	memset(fake_vm_at(vm, FAKE_BASE + vm->used), 'x', 4000);
	*name = FAKE_BASE + vm->used;
	assert_int_equal(read_tables(vm), 0);
	assert_false(vm_tables_value(&tables, "constant BytesPerWord", &value));
	free_vm(vm);
}

static void values_that_are_no_offsets_are_told_apart(void **state)
{
	struct fake_vm *const vm = new_vm();
	uint32_t small;

	fake_vm_set_u64(vm, vm->structs + 9 * 64 + 32, UINT64_MAX); /* CodeBlob::_name */
	assert_int_equal(read_tables(vm), 0);
	assert_false(vm_tables_small(&tables, "CodeBlob::_name", 2048, &small));
	assert_true(vm_tables_small(&tables, "CodeBlob::_frame_size", 2048, &small));
	free_vm(vm);
}

static void reading_ends_at_its_limit(void **state)
{
	struct fake_vm *const vm = new_vm();

	vm->memory.max_bytes = 5000;
	assert_int_equal(read_tables(vm), -EDQUOT);
	assert_true(vm->memory.bytes <= 5000);
	free_vm(vm);
}

/* ---- flags ---- */

#define FLAG_BYTES 24
#define FLAGS	   3

/* The fake's flags, of which the second is the one that is looked for. Returns where its value is.
 */
static uint64_t make_flags(struct fake_vm *vm)
{
	static const char *const names[FLAGS] = {"UseSuch", "PreserveFramePointer", "PreserveAll"};
	const uint64_t at = vm->code, values = at + (uint64_t)FLAGS * FLAG_BYTES;

	for (uint64_t i = 0; i < FLAGS; i++) {
		fake_vm_set_u64(vm, at + i * FLAG_BYTES, values + i);
		fake_vm_set_u64(vm, at + i * FLAG_BYTES + 8, fake_vm_text(vm, names[i]));
	}
	fake_vm_set_u64(vm, vm->heap, at);
	fake_vm_set_u64(vm, vm->heap + 8, FLAGS);
	tables = (struct vm_tables){.flag_bytes = FLAG_BYTES};
	tables.own[VM_OWN_FLAGS] = vm->heap;
	tables.own[VM_OWN_FLAG_COUNT] = vm->heap + 8;
	tables.own[VM_OWN_FLAG_ADDR] = 0;
	tables.own[VM_OWN_FLAG_NAME] = 8;
	tables.has_own[VM_OWN_FLAG_ADDR] = tables.has_own[VM_OWN_FLAG_NAME] = true;
	return values + 1;
}

static bool is_on(struct fake_vm *vm)
{
	return vm_flags_is_on(&vm->memory, &tables, "PreserveFramePointer");
}

static void a_flag_is_found_by_its_name(void **state)
{
	struct fake_vm *const vm = new_vm();
	const uint64_t value = make_flags(vm);

	memset(fake_vm_at(vm, value - 1), 1, FLAGS);
	assert_true(is_on(vm));
	memset(fake_vm_at(vm, value), 0, 1);
	assert_false(is_on(vm));
	free_vm(vm);
}

static void flags_that_cannot_be_are_off(void **state)
{
	struct fake_vm *const vm = new_vm();
	const uint64_t value = make_flags(vm);

	memset(fake_vm_at(vm, value - 1), 1, FLAGS);
	fake_vm_set_u64(vm, vm->heap + 8, 1); /* the flag is behind the end */
	assert_false(is_on(vm));
	fake_vm_set_u64(vm, vm->heap + 8, UINT64_MAX);
	assert_true(is_on(vm));
	tables.own[VM_OWN_FLAG_NAME] = FLAG_BYTES;
	assert_false(is_on(vm));
	tables.own[VM_OWN_FLAG_NAME] = 8;
	tables.flag_bytes = VM_FLAGS_MAX_BYTES + 8;
	assert_false(is_on(vm));
	tables.flag_bytes = 0;
	assert_false(is_on(vm));
	tables.flag_bytes = FLAG_BYTES;
	fake_vm_set_u64(vm, vm->heap, 0x1000); /* not mapped */
	assert_false(is_on(vm));
	free_vm(vm);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(tables_give_offsets_sizes_and_constants),
		cmocka_unit_test(a_library_without_the_tables_is_no_hotspot),
		cmocka_unit_test(what_is_no_library_is_refused),
		cmocka_unit_test(a_dynamic_section_without_an_end_is_left),
		cmocka_unit_test(a_table_of_too_many_entries_is_refused),
		cmocka_unit_test(a_table_without_an_end_is_refused),
		cmocka_unit_test(members_behind_their_entry_are_refused),
		cmocka_unit_test(a_table_that_is_not_mapped_is_an_error),
		cmocka_unit_test(a_name_without_an_end_is_none_that_is_wanted),
		cmocka_unit_test(values_that_are_no_offsets_are_told_apart),
		cmocka_unit_test(reading_ends_at_its_limit),
		cmocka_unit_test(a_flag_is_found_by_its_name),
		cmocka_unit_test(flags_that_cannot_be_are_off),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
