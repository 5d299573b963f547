// SPDX-License-Identifier: Apache-2.0
/* Claims about process/workload.h: whose word a process's image is. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "process/workload.h"

#include <stdio.h>
#include <string.h>

static struct workload workload;
static struct container container;

static int set_up(void **state)
{
	workload = (struct workload){0};
	container = (struct container){.name = "cart", .image = "shop/cart:1.4.2"};
	return 0;
}

static int tear_down(void **state)
{
	workload_fini(&workload);
	container_fini(&container);
	return 0;
}

/* Makes the workload of the container, and of an agent that says text of key if there is a key. */
static void make(const char *key, const char *text)
{
	struct jvm_attr attr = {key, text};
	const struct jvm_hello hello = {.attrs = &attr, .n_attrs = 1};

	workload_make(&workload, key ? &hello : NULL, &container);
}

static void check(const char *image)
{
	assert_string_equal(workload_image(&workload), image);
	assert_string_equal(label_set_find(&workload.labels, "image"), image);
}

static void the_image_of_the_engines_record_is_a_label(void **state)
{
	make(NULL, NULL);
	check("shop/cart:1.4.2");
	assert_int_equal(workload.labels.count, 1);
	assert_string_equal(workload.container, "cart");
}

static void a_users_own_label_goes_first(void **state)
{
	make("label.image", "agent:1");
	check("agent:1");
	make("label.container.image.name", "agent:2");
	check("agent:2");
	make("env.OTEL_RESOURCE_ATTRIBUTES", "image=agent:3");
	check("agent:3");
	label_set_add(&container.labels, "container.image.name", "container:1");
	make(NULL, NULL);
	check("container:1");
	make("label.image", "agent:4");
	check("agent:4");
	label_set_add(&container.labels, "image", "container:2");
	make("label.image", "agent:5");
	check("container:2");
}

static void an_agent_without_a_container_has_the_image_that_it_says(void **state)
{
	struct jvm_attr attr = {"label.image", "agent:1"};
	const struct jvm_hello hello = {.attrs = &attr, .n_attrs = 1};

	workload_make(&workload, &hello, NULL);
	check("agent:1");
}

static void what_nobody_says_is_no_label(void **state)
{
	container.image[0] = '\0';
	make("label.a", "b");
	assert_string_equal(workload_image(&workload), "");
	assert_null(label_set_find(&workload.labels, "image"));
	assert_int_equal(workload.labels.left_out, 0);
}

static void an_image_past_the_most_labels_is_left_out_and_counted(void **state)
{
	for (int i = 0; i < LABEL_SET_MAX; i++) {
		char key[16];

		snprintf(key, sizeof(key), "key%d", i);
		label_set_add(&container.labels, key, "v");
	}
	make(NULL, NULL);
	assert_string_equal(workload_image(&workload), "");
	assert_int_equal(workload.labels.left_out, 1);
}

static void check_service(const char *key, const char *text, const char *expected)
{
	const char *service;

	make(key, text);
	service = label_set_find(&workload.labels, WORKLOAD_SERVICE);
	assert_string_equal(service ? service : "none", expected);
}

static void a_service_is_what_its_environment_or_its_command_line_calls_it(void **state)
{
	check_service("env.OTEL_SERVICE_NAME", "shop", "shop");
	check_service("env.OTEL_RESOURCE_ATTRIBUTES", "a=b,service.name=shop", "shop");
	check_service("command", "java -Dspring.application.name=shop -jar app.jar", "shop");
	check_service("command", "java -jar app.jar --spring.application.name=shop", "shop");
	check_service("command", "java -Ddd.service=a -Dotel.service.name=shop Main", "shop");
	check_service("command", "java -Ddd.service=shop Main", "shop");
}

static void what_only_looks_like_a_service_is_none(void **state)
{
	check_service("command", "java -jar app.jar x-Ddd.service=shop", "none");
	check_service("command", "java -Ddd.service= -jar app.jar", "none");
	check_service("command", "java -Ddd.services=shop -jar app.jar", "none");
}

#define TEST(claim) cmocka_unit_test_setup_teardown(claim, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(the_image_of_the_engines_record_is_a_label),
		TEST(a_users_own_label_goes_first),
		TEST(an_agent_without_a_container_has_the_image_that_it_says),
		TEST(what_nobody_says_is_no_label),
		TEST(an_image_past_the_most_labels_is_left_out_and_counted),
		TEST(a_service_is_what_its_environment_or_its_command_line_calls_it),
		TEST(what_only_looks_like_a_service_is_none),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
