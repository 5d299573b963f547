// SPDX-License-Identifier: Apache-2.0
/* Claims about process/start_class.h: what a jar starts is a label of its process. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "process/selection.h"
#include "targets_fixture.h"

/* META-INF/MANIFEST.MF with "Main-Class: com.example.Shop", as zip(1) stores it. */
static const unsigned char jar[] = {
	0x50, 0x4b, 0x03, 0x04, 0x14, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x21, 0x00,
	0x3c, 0x5e, 0x1b, 0xd3, 0x1d, 0x00, 0x00, 0x00, 0x1d, 0x00, 0x00, 0x00, 0x14, 0x00,
	0x00, 0x00, 0x4d, 0x45, 0x54, 0x41, 0x2d, 0x49, 0x4e, 0x46, 0x2f, 0x4d, 0x41, 0x4e,
	0x49, 0x46, 0x45, 0x53, 0x54, 0x2e, 0x4d, 0x46, 0x4d, 0x61, 0x69, 0x6e, 0x2d, 0x43,
	0x6c, 0x61, 0x73, 0x73, 0x3a, 0x20, 0x63, 0x6f, 0x6d, 0x2e, 0x65, 0x78, 0x61, 0x6d,
	0x70, 0x6c, 0x65, 0x2e, 0x53, 0x68, 0x6f, 0x70, 0x0a, 0x50, 0x4b, 0x01, 0x02, 0x14,
	0x03, 0x14, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x21, 0x00, 0x3c, 0x5e, 0x1b,
	0xd3, 0x1d, 0x00, 0x00, 0x00, 0x1d, 0x00, 0x00, 0x00, 0x14, 0x00, 0x00, 0x00, 0x00,
	0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x80, 0x01, 0x00, 0x00, 0x00, 0x00, 0x4d,
	0x45, 0x54, 0x41, 0x2d, 0x49, 0x4e, 0x46, 0x2f, 0x4d, 0x41, 0x4e, 0x49, 0x46, 0x45,
	0x53, 0x54, 0x2e, 0x4d, 0x46, 0x50, 0x4b, 0x05, 0x06, 0x00, 0x00, 0x00, 0x00, 0x01,
	0x00, 0x01, 0x00, 0x42, 0x00, 0x00, 0x00, 0x4f, 0x00, 0x00, 0x00, 0x00, 0x00};

static char path[TEMP_DIR_BYTES + 16];

static int set_up(void **state)
{
	const int err = set_up_targets(state);
	int fd;

	snprintf(path, sizeof(path), "%s/app.jar", map_dir);
	fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0644);
	if (fd < 0 || write(fd, jar, sizeof(jar)) != (ssize_t)sizeof(jar))
		return -1;
	close(fd);
	return err;
}

/* The process of a JVM that runs the jar at that path. */
static struct process *run(const char *jar_path)
{
	const struct wire_attr attrs[] = {{wire_str_from("java.command"), wire_str_from(jar_path)},
					  {wire_str_from("java.jar"), wire_str_from(jar_path)}};

	assert_int_equal(say(INTAKE_OPENED), TARGETS_KEEP);
	wire_encode_hello(&buf,
			  &(struct wire_hello){.pid = 1, .loaded_ns = loaded_ns, .n_attrs = 2},
			  attrs, NULL);
	say_records(&buf);
	return targets_find(&targets, child);
}

static const char *class_of(const struct process *process)
{
	return label_set_find(&process->workload.labels, WORKLOAD_CLASS);
}

static bool fits(const char *expression, const struct process *process)
{
	struct selector selector = {0};
	struct selection selection;
	bool is_fitting;

	assert_null(selector_set_jvm(&selector, expression));
	assert_int_equal(selection_init(&selection, &selector), 0);
	is_fitting = selection_wants(&selection, process);
	selection_fini(&selection);
	return is_fitting;
}

static void a_jvm_of_a_jar_is_found_by_the_class_that_the_jar_starts(void **state)
{
	struct process *const process = run(path);
	char title[64];

	assert_false(fits("Shop", process));
	assert_null(class_of(process));
	targets_settle_names(&targets);
	assert_string_equal(class_of(process), "com.example.Shop");
	assert_true(fits("Shop", process));
	assert_true(fits("app.jar", process));
	assert_false(fits("Cart", process));
	assert_int_equal(targets.start_classes.stats.read, 1);
	process_title(process, title, sizeof(title));
	assert_string_equal(title, "app.jar");
}

static void the_class_outlasts_another_session_and_is_read_once(void **state)
{
	struct process *process = run(path);

	targets_settle_names(&targets);
	assert_int_equal(say(INTAKE_CLOSED), TARGETS_KEEP);
	process = run(path);
	targets_settle_names(&targets);
	assert_string_equal(class_of(process), "com.example.Shop");
	assert_int_equal(targets.start_classes.stats.read, 1);
}

static void a_jar_that_is_not_there_is_counted(void **state)
{
	struct process *process;

	unlink(path);
	process = run(path);
	targets_settle_names(&targets);
	assert_null(class_of(process));
	assert_int_equal(targets.start_classes.stats.missed, 1);
	assert_int_equal(targets.start_classes.count, 0);
}

static void what_is_no_jar_is_counted(void **state)
{
	struct process *process;

	assert_int_equal(truncate(path, 7), 0);
	process = run(path);
	targets_settle_names(&targets);
	assert_null(class_of(process));
	assert_int_equal(targets.start_classes.stats.none, 1);
}

static void a_process_that_is_forgotten_meanwhile_holds_up_nobody(void **state)
{
	static struct start_classes classes;
	struct process *const process = run(path);
	struct map64 none = {0};

	start_classes_add(&classes, process);
	assert_int_equal(classes.count, 1);
	assert_true(start_classes_step(&classes, &none, 0));
	assert_int_equal(classes.count, 0);
	start_classes_fini(&classes);
}

static void more_jars_than_wait_are_refused_and_counted(void **state)
{
	static struct start_classes classes;
	struct process *const process = run(path);

	for (int i = 0; i < START_CLASS_WAITING + 3; i++)
		start_classes_add(&classes, process);
	assert_int_equal(classes.count, START_CLASS_WAITING);
	assert_int_equal(classes.stats.refused, 3);
	start_classes_fini(&classes);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down_targets)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_jvm_of_a_jar_is_found_by_the_class_that_the_jar_starts),
		TEST(the_class_outlasts_another_session_and_is_read_once),
		TEST(a_jar_that_is_not_there_is_counted),
		TEST(what_is_no_jar_is_counted),
		TEST(a_process_that_is_forgotten_meanwhile_holds_up_nobody),
		TEST(more_jars_than_wait_are_refused_and_counted),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
