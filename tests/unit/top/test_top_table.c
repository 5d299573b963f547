// SPDX-License-Identifier: Apache-2.0
/* Shares of methods, threads and processes are those of the samples. */
#include "top/top_callers.h"
#include "top/top_table.h"
#include "top_samples.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static struct top_samples samples;
static struct top_table table;

static int set_up(void **state)
{
	top_samples_init(&samples);
	return 0;
}

static int tear_down(void **state)
{
	top_table_fini(&table);
	top_samples_fini(&samples);
	return 0;
}

static void make(int pid, int tid)
{
	const struct top_choice choice = {.pid = pid, .tid = tid};

	top_table_fini(&table);
	assert_int_equal(top_table_make(&samples.profile, &samples.timeline, &choice, &table), 0);
}

static const struct top_method *find(const char *name)
{
	for (uint32_t i = 0; i < table.n_methods; i++) {
		if (strcmp(table.methods[i].name, name) == 0)
			return &table.methods[i];
	}
	return NULL;
}

static void assert_shares(const char *name, uint64_t self, uint64_t total)
{
	const struct top_method *method = find(name);

	assert_non_null(method);
	assert_int_equal(method->self, self);
	assert_int_equal(method->total, total);
}

static void selves_and_totals_are_those_of_the_stacks(void **state)
{
	top_samples_add(&samples, 1, 1, "main_[j];a_[j];b_[j]", 5);
	top_samples_add(&samples, 1, 1, "main_[j];b_[j]", 3);
	top_samples_add(&samples, 1, 1, "main_[j]", 2);
	make(0, 0);
	assert_int_equal(table.samples, 10);
	assert_int_equal(table.n_methods, 3);
	assert_shares("main", 2, 10);
	assert_shares("a", 0, 5);
	assert_shares("b", 8, 8);
}

static void recursion_counts_a_sample_once(void **state)
{
	top_samples_add(&samples, 1, 1, "main_[j];f_[j];g_[j];f_[j];f_[i]", 4);
	top_samples_add(&samples, 1, 1, "main_[j];f_[j]", 1);
	top_samples_add(&samples, 1, 1, "main_[j];g_[j];f_[j]", 1);
	make(0, 0);
	assert_shares("f", 6, 6);
	assert_shares("g", 0, 5);
}

static void a_wait_is_time_of_the_method_that_waits(void **state)
{
	top_samples_add(&samples, 1, 1, "main_[j];a_[j];park;futex_[k];[blocked: futex]_[w]", 5);
	top_samples_add(&samples, 1, 1,
			"main_[j];a_[j];park;futex_[k];[blocked: futex]_[w];[woken]_[w]", 4);
	top_samples_add(&samples, 1, 1, "main_[j];a_[j]", 3);
	top_samples_add(&samples, 1, 2, "start;wait;futex_[k];[runnable]_[w]", 2);
	top_samples_add(&samples, 1, 3, "[blocked: read]_[w]", 1);
	make(0, 0);
	assert_shares("a", 12, 12);
	assert_shares("main", 0, 12);
	assert_shares("park", 0, 9);
	assert_shares("wait", 2, 2);
	assert_null(find("[blocked: futex]"));
	assert_null(find("[woken]"));
	assert_null(find("[runnable]"));
	assert_shares("[blocked: read]", 1, 1); /* nobody is known */
	assert_string_equal(table.methods[table.threads[0].method].name, "a");
}

static void a_method_is_one_however_it_was_compiled(void **state)
{
	top_samples_add(&samples, 1, 1, "a_[0]", 1);
	top_samples_add(&samples, 1, 1, "a_[1]", 2);
	top_samples_add(&samples, 1, 1, "a_[j]", 5);
	top_samples_add(&samples, 1, 1, "a_[k]", 9); /* the kernel's is another */
	make(0, 0);
	assert_int_equal(table.n_methods, 2);
	assert_int_equal(find("a")->total == 8 || find("a")->total == 9, 1);
	assert_int_equal(table.methods[0].total + table.methods[1].total, 17);
	for (uint32_t i = 0; i < 2; i++)
		assert_int_equal(top_method_kind(&table.methods[i]),
				 table.methods[i].total == 8 ? FRAME_JIT : FRAME_KERNEL);
}

static void processes_have_methods_of_their_own(void **state)
{
	top_samples_add(&samples, 1, 1, "main_[j];a_[j]", 5);
	top_samples_add(&samples, 2, 2, "main_[j];a_[j]", 3);
	top_samples_add(&samples, 2, 3, "main_[j]", 1);
	make(0, 0);
	assert_int_equal(table.n_methods, 4);
	assert_int_equal(table.processes[0].samples, 5);
	assert_int_equal(table.processes[1].samples, 4);
	assert_int_equal(table.processes[0].threads, 1);
	assert_int_equal(table.processes[1].threads, 2);
	assert_string_equal(table.methods[table.processes[1].method].name, "a");
	assert_int_equal(table.methods[table.processes[1].method].process, 1);
}

static void of_a_chosen_thread_only_its_samples_count(void **state)
{
	top_samples_add(&samples, 1, 10, "main_[j];a_[j]", 5);
	top_samples_add(&samples, 1, 11, "main_[j];a_[j]", 3);
	top_samples_add(&samples, 1, 11, "main_[j];b_[j]", 4);
	make(1, 11);
	assert_int_equal(table.samples, 7);
	assert_shares("a", 3, 3);
	assert_shares("b", 4, 4);
	assert_shares("main", 0, 7);
	assert_int_equal(table.threads[0].samples, 0);
	assert_string_equal(table.methods[table.threads[1].method].name, "b");
	make(9, 0);
	assert_int_equal(table.samples, 0);
	assert_int_equal(table.n_methods, 0);
}

static void labels_have_a_row_only_where_samples_end(void **state)
{
	top_samples_add(&samples, 1, 1, "[truncated: x];a_[j]", 5);
	top_samples_add(&samples, 1, 1, "a_[j];[overflow]", 2);
	make(0, 0);
	assert_null(find("[truncated: x]"));
	assert_null(find("app1-1"));
	assert_shares("[overflow]", 2, 2);
}

static void callers_add_up_to_what_they_call(void **state)
{
	struct top_callers callers;
	struct top_place *places;
	size_t n;

	top_samples_add(&samples, 1, 1, "main_[j];a_[j];f_[j]", 5);
	top_samples_add(&samples, 1, 1, "main_[j];b_[j];f_[j];f_[j]", 3);
	top_samples_add(&samples, 1, 1, "main_[0];b_[j];f_[1]", 4);
	top_samples_add(&samples, 1, 1, "f_[j]", 1); /* by nobody */
	make(0, 0);
	assert_shares("f", 13, 13);
	assert_int_equal(top_places_of(&table, find("f"), &places, &n), 0);
	assert_int_equal(top_callers_find(&table, places, n, &callers), 0);
	free(places);
	assert_int_equal(callers.n_callers, 2);
	assert_string_equal(callers.callers[0].name, "b");
	assert_int_equal(callers.callers[0].samples, 7);
	assert_string_equal(callers.callers[1].name, "a");
	assert_int_equal(callers.callers[1].samples, 5);
	top_callers_fini(&callers);
}

#define CLAIM(function) cmocka_unit_test_setup_teardown(function, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CLAIM(selves_and_totals_are_those_of_the_stacks),
		CLAIM(recursion_counts_a_sample_once),
		CLAIM(a_wait_is_time_of_the_method_that_waits),
		CLAIM(a_method_is_one_however_it_was_compiled),
		CLAIM(processes_have_methods_of_their_own),
		CLAIM(of_a_chosen_thread_only_its_samples_count),
		CLAIM(labels_have_a_row_only_where_samples_end),
		CLAIM(callers_add_up_to_what_they_call),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
