// SPDX-License-Identifier: Apache-2.0
/* Symbols, tables and flags of a loaded object, with either kind of hash table. */
#include "agent/flags.h"
#include "agent/hotspot/module.h"
#include "agent/hotspot/vmstructs.h"
#include "agent/hotspot/wanted.h"

#include <dlfcn.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

/* As laid out in exporter.c. */
struct flag {
	void *addr;
	const char *name;
	int32_t flags;
	int32_t type;
};

static void *library;
static uint8_t *value;
static struct flag *flag;

static int load(const char *path)
{
	library = dlopen(path, RTLD_NOW);
	if (!library)
		return -1;
	value = dlsym(library, "exporter_preserve_frame_pointer");
	flag = (struct flag *)dlsym(library, "exporter_flags") + 1;
	return 0;
}

static int load_gnu(void **state)
{
	return load(EXPORTER_GNU);
}

static int load_sysv(void **state)
{
	return load(EXPORTER_SYSV);
}

static int unload(void **state)
{
	return dlclose(library);
}

static struct vmstructs init(void)
{
	struct vmstructs vm;

	assert_true(vmstructs_init(&vm, dlsym(library, "exporter_function")));
	return vm;
}

static void symbols_are_those_of_dlsym(void **state)
{
	const struct module module = init().module;
	static const char *const names[] = {"gHotSpotVMStructs", "gHotSpotVMTypes",
					    "gHotSpotVMLongConstantEntryValueOffset",
					    "exporter_flags", "exporter_function"};

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		assert_ptr_equal(module_find_symbol(&module, names[i], 1),
				 dlsym(library, names[i]));
	assert_null(module_find_symbol(&module, "gHotSpotVM", 1));
	assert_null(module_find_symbol(&module, "", 1));
	assert_null(module_find_symbol(&module, "gHotSpotVMStructs", SIZE_MAX));
}

static void a_table_is_read_by_name(void **state)
{
	struct vmstructs vm = init();
	size_t at;

	assert_true(vmstructs_find_offset(&vm, "HeapBlock::Header", "_used", &at));
	assert_int_equal(at, 8);
	assert_true(vmstructs_is_declared(&vm, "HeapBlock::Header", "_used", "bool"));
	assert_false(vmstructs_is_declared(&vm, "HeapBlock::Header", "_used", "int"));
	assert_false(vmstructs_is_declared(&vm, "HeapBlock", "_used", "bool"));
	assert_false(vmstructs_find_offset(&vm, "HeapBlock", "_used", &at));
	assert_false(vmstructs_find_offset(&vm, "CodeCache", "_low_bound", &at));
	assert_non_null(vmstructs_find_static(&vm, "CodeCache", "_low_bound"));
	assert_true(vmstructs_find_type_size(&vm, "PcDesc", &at));
	assert_int_equal(at, 16);
	assert_false(vmstructs_find_type_size(&vm, "nmethod", &at));
}

static int64_t find_value(const struct wire_value *values, size_t n, const char *key)
{
	for (size_t i = 0; i < n; i++) {
		if (values[i].key.len == strlen(key) &&
		    memcmp(values[i].key.data, key, strlen(key)) == 0)
			return values[i].value;
	}
	fail_msg("no value %s", key);
	return 0;
}

static void wanted_values_carry_their_kind_in_the_key(void **state)
{
	struct vmstructs vm = init();
	struct wire_value values[WANTED_MAX];
	const size_t n = wanted_collect(&vm, values);

	assert_int_equal(n, 5);
	assert_int_equal(find_value(values, n, "HeapBlock::Header::_used"), 8);
	assert_int_equal(find_value(values, n, "sizeof(PcDesc)"), 16);
	assert_int_equal(find_value(values, n, "constant frame::entry_frame_call_wrapper_offset"),
			 -6);
	assert_int_equal(find_value(values, n, "constant InvocationEntryBci"), -1);
	assert_int_equal(find_value(values, n, "CodeCache::_low_bound"),
			 (int64_t)(uintptr_t)vmstructs_find_static(&vm, "CodeCache", "_low_bound"));
}

static void check_flag(enum options_framepointer mode, int before, int origin, enum flags_fp result)
{
	struct vmstructs vm = init();
	const bool set = result == FLAGS_FP_SET;

	*value = (uint8_t)before;
	flag->flags = 0x200 | origin;
	assert_int_equal(flags_set_framepointer(&vm, mode), result);
	assert_int_equal(*value, set || before);
	assert_int_equal(flag->flags, 0x200 | (set ? 5 : origin));
}

static void frame_pointers_follow_the_mode_and_the_user(void **state)
{
	check_flag(OPTIONS_FP_AUTO, 0, 0, FLAGS_FP_SET);
	check_flag(OPTIONS_FP_AUTO, 0, 1, FLAGS_FP_LEFT);
	check_flag(OPTIONS_FP_AUTO, 1, 1, FLAGS_FP_WAS_ON);
	check_flag(OPTIONS_FP_ON, 0, 1, FLAGS_FP_SET);
	check_flag(OPTIONS_FP_ON, 0, 0, FLAGS_FP_SET);
	check_flag(OPTIONS_FP_OFF, 0, 0, FLAGS_FP_LEFT);
	check_flag(OPTIONS_FP_OFF, 1, 0, FLAGS_FP_WAS_ON);
}

static void a_flag_outside_the_object_is_not_touched(void **state)
{
	struct vmstructs vm = init();
	static uint8_t elsewhere;

	flag->addr = &elsewhere;
	flag->flags = 0;
	assert_int_equal(flags_set_framepointer(&vm, OPTIONS_FP_ON), FLAGS_FP_UNKNOWN);
	assert_int_equal(elsewhere, 0);
	flag->addr = value;
}

static void what_is_no_jvm_has_no_tables(void **state)
{
	struct vmstructs vm;
	struct wire_value values[WANTED_MAX];
	int on_stack;

	assert_false(vmstructs_init(&vm, dlsym(RTLD_DEFAULT, "malloc")));
	assert_false(vmstructs_init(&vm, &on_stack));
	assert_false(vmstructs_init(&vm, NULL));
	assert_int_equal(wanted_collect(&vm, values), 0);
	assert_int_equal(flags_set_framepointer(&vm, OPTIONS_FP_ON), FLAGS_FP_UNKNOWN);
}

static void segments_bound_every_access(void **state)
{
	const struct module module = init().module;
	const void *names = module_find_symbol(&module, "gHotSpotVMStructs", 1);

	assert_true(module_holds(&module, value, 1, PF_R | PF_W));
	assert_false(module_holds(&module, dlsym(library, "exporter_function"), 1, PF_W));
	assert_true(module_holds(&module, dlsym(library, "exporter_sealed"), 8, PF_R));
	assert_false(module_holds(&module, dlsym(library, "exporter_sealed"), 8, PF_W));
	assert_true(module_holds(&module, names, 8, PF_R));
	assert_false(module_holds(&module, names, SIZE_MAX, PF_R));
	assert_false(module_holds(&module, NULL, 1, 0));
	assert_false(module_holds(&module, (const void *)UINTPTR_MAX, 1, 0));
}

#define TESTS                                                                                      \
	{                                                                                          \
		cmocka_unit_test(symbols_are_those_of_dlsym),                                      \
			cmocka_unit_test(a_table_is_read_by_name),                                 \
			cmocka_unit_test(wanted_values_carry_their_kind_in_the_key),               \
			cmocka_unit_test(frame_pointers_follow_the_mode_and_the_user),             \
			cmocka_unit_test(a_flag_outside_the_object_is_not_touched),                \
			cmocka_unit_test(what_is_no_jvm_has_no_tables),                            \
			cmocka_unit_test(segments_bound_every_access),                             \
	}

int main(void)
{
	const struct CMUnitTest tests[] = TESTS;

	return cmocka_run_group_tests_name("agent vmstructs, GNU hash", tests, load_gnu, unload) +
	       cmocka_run_group_tests_name("agent vmstructs, SysV hash", tests, load_sysv, unload);
}
