// SPDX-License-Identifier: Apache-2.0
#include "fake_class.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#define STRING "Ljava/lang/String;"

static struct fake_class fake;
static struct java_field name = {.name = "name", .type = STRING};
static struct java_fields_form form;

/* Like java.lang.Thread: three references side by side, and a number before them. */
static const struct fake_class_field fields[] = {
	{.name = "MAX", .type = "I", .at = 4, .is_static = true},
	{.name = "number", .type = "J", .at = 16},
	{.name = "name", .type = "[C", .at = 32},
	{.name = "group", .type = "Ljava/lang/ThreadGroup;", .at = 36},
	{.name = "name", .type = STRING, .at = 40},
	{.name = "a_name_that_is_longer_than_any_that_anybody_looks_for_in_a_class_here",
	 .type = "I",
	 .at = 44},
};

static int set_up(void **state)
{
	(void)state;
	fake_class_init(&fake);
	return 0;
}

static int find(bool is_stream, uint64_t klass)
{
	const struct java_fields_layout layout = fake_class_layout(is_stream);

	return java_fields_find(&fake.memory, &layout, klass, &name, 1, &form);
}

static void check_is_found(bool is_stream)
{
	const uint64_t klass =
		fake_class_add(&fake, is_stream, fields, sizeof(fields) / sizeof(*fields));

	assert_int_equal(find(is_stream, klass), 0);
	assert_int_equal(name.at, 40);
	assert_int_equal(form.first, 16);
	assert_int_equal(form.reference_bytes, 4);
}

static void a_field_is_found_by_name_and_type(void **state)
{
	(void)state;
	check_is_found(false);
	check_is_found(true);
}

static void fields_without_a_place_and_more_numbers_are_passed_over(void **state)
{
	static const struct fake_class_field some[] = {
		{.name = "group", .type = STRING, .at = 12, .has_more = true},
		{.name = "name", .type = STRING, .at = 24},
		{.name = "other", .type = STRING, .at = 32},
	};

	(void)state;
	assert_int_equal(find(false, fake_class_add(&fake, false, some, 3)), 0);
	assert_int_equal(name.at, 24);
	assert_int_equal(form.first, 24); /* the first field has no place there */
	assert_int_equal(find(true, fake_class_add(&fake, true, some, 3)), 0);
	assert_int_equal(name.at, 24);
	assert_int_equal(form.first, 12);
	assert_int_equal(form.reference_bytes, 8);
}

static void a_class_without_the_field_has_none(void **state)
{
	(void)state;
	assert_int_equal(find(true, fake_class_add(&fake, true, fields, 4)), 0);
	assert_int_equal(name.at, 0);
	assert_int_equal(find(true, fake_class_add(&fake, true, fields, 1)), 0);
	assert_int_equal(form.first, 0);
	assert_int_equal(form.reference_bytes, 0);
}

static void what_cannot_be_a_class_is_none(void **state)
{
	const uint64_t klass = fake_class_add(&fake, true, fields, 6);
	uint64_t array, pool;

	(void)state;
	memcpy(&array, fake.bytes + (klass + 8 - FAKE_CLASS_BASE), sizeof(array));
	memcpy(&pool, fake.bytes + (klass + 16 - FAKE_CLASS_BASE), sizeof(pool));
	fake_class_set_u32(&fake, pool + 12, 3); /* names are past the pool's end */
	assert_int_equal(find(true, klass), -EPROTO);
	fake_class_set_u32(&fake, pool + 12, UINT32_MAX);
	assert_int_equal(find(true, klass), -EPROTO);
	fake_class_set_u32(&fake, array + 4, JAVA_FIELDS_MAX_BYTES + 1);
	assert_int_equal(find(true, klass), -EPROTO);
	fake_class_set_u32(&fake, array + 4, 0);
	fake_class_set_u32(&fake, pool + 12, 13);
	assert_int_equal(find(true, klass), -EPROTO); /* not even the number of fields */
	fake_class_set_u64(&fake, klass + 8, 8);
	assert_int_equal(find(true, klass), -EFAULT);
	assert_int_equal(find(true, 0), -EFAULT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(a_field_is_found_by_name_and_type, set_up),
		cmocka_unit_test_setup(fields_without_a_place_and_more_numbers_are_passed_over,
				       set_up),
		cmocka_unit_test_setup(a_class_without_the_field_has_none, set_up),
		cmocka_unit_test_setup(what_cannot_be_a_class_is_none, set_up),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
