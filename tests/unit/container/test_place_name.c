// SPDX-License-Identifier: Apache-2.0
/* Claims about container/place_name.h: what people call a program. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "container/place_name.h"

static void check(const struct place_name *name, const char *expected)
{
	char text[PLACE_NAME_BYTES];

	place_name_write(name, text, sizeof(text));
	assert_string_equal(text, expected);
}

static void a_pod_goes_before_a_container_and_a_container_before_a_service(void **state)
{
	check(&(struct place_name){"api-1", "app", "shop", "app.jar"}, "api-1: app.jar");
	check(&(struct place_name){"", "app", "shop", "app.jar"}, "app: app.jar");
	check(&(struct place_name){NULL, "", "shop", "app.jar"}, "shop: app.jar");
	check(&(struct place_name){NULL, NULL, NULL, "app.jar"}, "app.jar");
}

static void the_uid_of_a_pod_is_no_name(void **state)
{
	check(&(struct place_name){"0a1b2c3d-4e5f-6071-8293-a4b5c6d7e8f9", "app", "", "app.jar"},
	      "app: app.jar");
}

static void a_name_does_not_stand_twice(void **state)
{
	check(&(struct place_name){"", "nginx", "", "nginx"}, "nginx");
	check(&(struct place_name){"", "nginx", "", ""}, "nginx");
}

static void a_long_name_is_cut(void **state)
{
	char text[8];

	place_name_write(&(struct place_name){"", "web", "", "com.acme.Main"}, text, sizeof(text));
	assert_string_equal(text, "web: co");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_pod_goes_before_a_container_and_a_container_before_a_service),
		cmocka_unit_test(the_uid_of_a_pod_is_no_name),
		cmocka_unit_test(a_name_does_not_stand_twice),
		cmocka_unit_test(a_long_name_is_cut),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
