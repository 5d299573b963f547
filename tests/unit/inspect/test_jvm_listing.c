// SPDX-License-Identifier: Apache-2.0
/* Claims about the list of JVMs that is made in steps; see inspect/jvm_listing.h. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/clock.h"
#include "base/json_value.h"
#include "inspect/jvm_listing.h"

#include <stdio.h>
#include <string.h>

#define FIRST_PID 100
#define JVMS	  TARGETS_MAX_JVMS

static struct targets targets;

static void add_jvm(pid_t pid, uint64_t start_ticks)
{
	struct process *process;

	assert_int_equal(process_new_replayed(pid, start_ticks, &process), 0);
	assert_int_equal(process_add_jvm(process), 0);
	snprintf(process->container_id, sizeof(process->container_id), "%064d", (int)pid);
	assert_int_equal(map64_put(&targets.processes, (uint64_t)pid, process), 0);
}

static void forget(pid_t pid)
{
	process_free(map64_remove(&targets.processes, (uint64_t)pid));
}

static int set_up(void **state)
{
	targets_init(&targets);
	for (int i = 0; i < JVMS; i++)
		add_jvm(FIRST_PID + i, 1);
	return 0;
}

static int tear_down(void **state)
{
	targets_fini(&targets);
	return 0;
}

static struct jvm_listing *begin(const struct recording_options *options)
{
	struct jvm_listing *listing;

	assert_int_equal(jvm_listing_new(options, &targets, &listing), 0);
	return listing;
}

/* Returns the number of steps. */
static size_t go_on(struct jvm_listing *listing)
{
	size_t steps = 1;

	while (jvm_listing_step(listing, &targets))
		steps++;
	return steps;
}

static json_t *rows_of(const json_t *list)
{
	return json_object_get(list, "jvms");
}

static void no_step_has_more_rows_than_it_may(void **state)
{
	const struct recording_options all = {0};
	const uint64_t began_ns = clock_thread_ns();
	struct jvm_listing *listing = begin(&all);
	uint64_t longest_ns = clock_thread_ns() - began_ns, stepped_ns = clock_thread_ns(), ns;
	json_t *list, *whole;
	size_t steps = 1;

	for (; jvm_listing_step(listing, &targets); steps++) {
		ns = clock_thread_ns() - stepped_ns;
		longest_ns = ns > longest_ns ? ns : longest_ns;
		stepped_ns = clock_thread_ns();
	}
	assert_true(steps >= JVMS / JVM_LISTING_ROWS);
	list = jvm_listing_take(listing, json_object());
	assert_int_equal(json_array_size(rows_of(list)), JVMS);
	assert_null(json_object_get(list, "jvms_left_out"));
	jvm_listing_free(listing);
	stepped_ns = clock_thread_ns();
	whole = jvm_list_to_json(&targets, json_object());
	print_message("%d JVMs: the longest step took %.3f ms, all at once %.3f ms\n", JVMS,
		      (double)longest_ns / 1e6, (double)(clock_thread_ns() - stepped_ns) / 1e6);
	assert_true(json_equal(rows_of(list), rows_of(whole)));
	json_decref(list);
	json_decref(whole);
}

static void a_short_list_has_no_more_rows_and_counts_the_others(void **state)
{
	struct jvm_listing *listing;
	json_t *list, *whole = jvm_list_to_json(&targets, json_object());

	assert_int_equal(jvm_listing_new_of_most(3, &targets, &listing), 0);
	assert_int_equal(go_on(listing), 1);
	list = jvm_listing_take(listing, json_object());
	jvm_listing_free(listing);
	assert_int_equal(json_array_size(rows_of(list)), 3);
	assert_int_equal(json_value_count(list, "jvms_left_out"), JVMS - 3);
	for (size_t i = 0; i < 3; i++)
		assert_true(json_equal(json_array_get(rows_of(list), i),
				       json_array_get(rows_of(whole), i)));
	json_decref(list);
	json_decref(whole);
}

static bool has_row(const json_t *list, pid_t pid)
{
	const json_t *row;
	size_t i;

	json_array_foreach (rows_of(list), i, row) {
		if (json_value_int(row, "pid") == pid)
			return true;
	}
	return false;
}

static void who_ends_between_two_steps_is_out_and_no_row_is_anothers(void **state)
{
	const struct recording_options all = {0};
	struct jvm_listing *listing = begin(&all);
	json_t *list;

	assert_true(jvm_listing_step(listing, &targets));
	forget(FIRST_PID);	      /* its row is there already */
	forget(FIRST_PID + JVMS - 1); /* its row is not */
	forget(FIRST_PID + JVMS - 2);
	add_jvm(FIRST_PID + JVMS - 2, 2); /* another one with its PID */
	add_jvm(FIRST_PID + JVMS, 1);
	go_on(listing);
	list = jvm_listing_take(listing, json_object());
	jvm_listing_free(listing);
	assert_int_equal(json_array_size(rows_of(list)), JVMS - 2);
	assert_true(has_row(list, FIRST_PID));
	assert_false(has_row(list, FIRST_PID + JVMS - 1));
	assert_false(has_row(list, FIRST_PID + JVMS - 2));
	assert_false(has_row(list, FIRST_PID + JVMS));
	json_decref(list);
}

static void rows_are_only_made_of_those_who_are_meant(void **state)
{
	const struct recording_options one = {.pid = FIRST_PID + 7}, none = {.pid = 1};
	struct recording_options named = {0};
	const struct recording_options *const all[] = {&one, &named, &none};

	snprintf(named.select.container, sizeof(named.select.container), "%064d", FIRST_PID + 7);
	for (size_t i = 0; i < 3; i++) {
		struct jvm_listing *const listing = begin(all[i]);
		json_t *list;

		assert_int_equal(go_on(listing), 1);
		list = jvm_listing_take(listing, json_object());
		jvm_listing_free(listing);
		assert_int_equal(json_array_size(rows_of(list)), i < 2);
		assert_int_equal(has_row(list, FIRST_PID + 7), i < 2);
		json_decref(list);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(no_step_has_more_rows_than_it_may, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(a_short_list_has_no_more_rows_and_counts_the_others,
						set_up, tear_down),
		cmocka_unit_test_setup_teardown(
			who_ends_between_two_steps_is_out_and_no_row_is_anothers, set_up,
			tear_down),
		cmocka_unit_test_setup_teardown(rows_are_only_made_of_those_who_are_meant, set_up,
						tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
