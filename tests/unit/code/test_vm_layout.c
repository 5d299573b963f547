// SPDX-License-Identifier: Apache-2.0
/* What a hello's values make of HotSpot's layout. Missing ones: test_java_methods.c. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>

#include "../process/own_jvm.h"
#include "fake_hotspot.h"

static struct process *process;

static int set_up(void **state)
{
	process = own_jvm_new();
	fake_hotspot_say_hello(process, NULL);
	return 0;
}

static int tear_down(void **state)
{
	process_free(process);
	return 0;
}

/* The value that was said under that key becomes another. */
static const struct vm_layout *change(const char *key, int64_t value)
{
	struct jvm *jvm = process->jvm;

	for (size_t i = 0; i < jvm->hello.n_values; i++) {
		if (strcmp(jvm->hello.values[i].key, key) == 0)
			jvm->hello.values[i].value = value;
	}
	vm_layout_init(&jvm->layout, &jvm->hello);
	return &jvm->layout;
}

static void nothing_is_known_before_a_hello(void **state)
{
	const struct vm_layout layout = {0};

	assert_false(vm_layout_has_methods(&layout));
	assert_int_equal(vm_layout_interpreter_bcp_words(&layout), 0);
}

static void senseless_values_switch_off_what_needs_them(void **state)
{
	assert_true(vm_layout_has_methods(change("Klass::_name", 24)));
	assert_false(vm_layout_has_methods(change("Klass::_name", -8)));
	assert_false(vm_layout_has_methods(change("Klass::_name", INT64_MAX)));
	assert_true(vm_layout_has_methods(change("Klass::_name", VM_LAYOUT_MAX_BYTES)));
	assert_false(vm_layout_has_methods(change("ConstMethod::_constants", 41)));
	assert_true(vm_layout_has_methods(change("ConstMethod::_constants", 40)));
	assert_true(change("ConstMethod::_flags", 46)->has_lines);
	assert_false(change("ConstMethod::_flags", 47)->has_lines);
	assert_false(vm_layout_has_methods(change("sizeof(ConstMethod)", 256)));
	assert_false(vm_layout_has_methods(change("sizeof(ConstMethod)", 0)));
}

static void other_words_than_of_64_bits_are_not_read(void **state)
{
	const struct vm_layout *layout = change("constant BytesPerWord", 4);

	assert_false(vm_layout_has_methods(layout));
	assert_false(layout->has_anchor);
	assert_int_equal(vm_layout_interpreter_bcp_words(layout), 0);
}

static void the_call_stub_leads_to_the_last_java_frame(void **state)
{
	const struct vm_layout *layout = &process->jvm->layout;

	assert_true(layout->has_call_stub);
	assert_int_equal(layout->call_stub_return_at, 0x7f0000002000);
	assert_true(layout->has_anchor);
	assert_int_equal(layout->call_wrapper_anchor, 32);
	assert_int_equal(layout->anchor_sp, 0);
	assert_int_equal(layout->anchor_pc, 8);
	assert_int_equal(layout->anchor_fp, 16);
	fake_hotspot_say_hello(process, "JavaFrameAnchor::_last_Java_sp");
	assert_false(layout->has_anchor);
	assert_true(vm_layout_has_methods(layout));
}

#ifdef __x86_64__
static void the_slots_of_a_frame_are_those_of_the_jdk(void **state)
{
	const struct vm_layout *layout = &process->jvm->layout;

	assert_int_equal(layout->interpreter_method_words, -3);
	assert_int_equal(vm_layout_interpreter_bcp_words(layout), -8);
	assert_int_equal(layout->call_wrapper_words, -6);
	fake_hotspot_say_hello(process, "CodeCache::_heaps");
	assert_int_equal(vm_layout_interpreter_bcp_words(layout), -7);
}
#endif

#define CASE(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(nothing_is_known_before_a_hello),
		CASE(senseless_values_switch_off_what_needs_them),
		CASE(other_words_than_of_64_bits_are_not_read),
		CASE(the_call_stub_leads_to_the_last_java_frame),
#ifdef __x86_64__
		CASE(the_slots_of_a_frame_are_those_of_the_jdk),
#endif
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
