// SPDX-License-Identifier: Apache-2.0
/* Claims about all declarations of counters, see serve/counted.h and inspect/jvm_counters.h. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>

#include "inspect/jvm_counters.h"
#include "serve/counted.h"

#define MOST_ROWS 2000

static const struct counter *all[MOST_ROWS];
static const struct counters *table_of[MOST_ROWS];
static size_t n_all, n_collectors;

static void note(const struct counters *table)
{
	for (size_t i = 0; i < table->n; i++) {
		assert_true(n_all < MOST_ROWS);
		table_of[n_all] = table;
		all[n_all++] = &table->rows[i];
	}
}

static int set_up(void **state)
{
	const struct counters *table;

	for (size_t i = 0; (table = counted_table(i)); i++)
		note(table);
	n_collectors = n_all;
	for (size_t i = 0; (table = jvm_counters_table(i)); i++)
		note(table);
	return n_collectors > 300 && n_all > n_collectors ? 0 : -1;
}

static bool ends_with(const char *text, const char *end)
{
	const size_t len = strlen(text), end_len = strlen(end);

	return len > end_len && strcmp(text + len - end_len, end) == 0;
}

static void no_key_and_no_metric_is_declared_twice(void **state)
{
	for (size_t i = 0; i < n_all; i++) {
		for (size_t k = 0; k < i; k++) {
			assert_string_not_equal(all[i]->metric, all[k]->metric);
			if ((i < n_collectors) == (k < n_collectors))
				assert_string_not_equal(all[i]->key, all[k]->key);
		}
	}
}

static void sums_alone_end_in_total(void **state)
{
	for (size_t i = 0; i < n_all; i++) {
		const char *const metric = all[i]->metric;

		if (ends_with(metric, "_total") != (all[i]->kind == COUNTER_IS_SUM))
			fail_msg("%s: the kind or the name is wrong", metric);
	}
}

/* Of a histogram the row of the buckets is first, and has the help text. */
static void each_metric_has_a_help_text(void **state)
{
	for (size_t i = 0; i < n_all; i++) {
		const bool is_below = all[i]->kind == COUNTER_IS_HISTOGRAM &&
				      !ends_with(all[i]->metric, "_bucket");

		if (is_below != !all[i]->help || (all[i]->help && !ends_with(all[i]->help, ".")))
			fail_msg("%s: the help text is not as it should be", all[i]->metric);
	}
}

static void what_is_no_number_of_its_own_has_a_label(void **state)
{
	for (size_t i = 0; i < n_all; i++) {
		assert_true((all[i]->n > 0) == (all[i]->label != NULL));
		assert_true((all[i]->n > 0) == (all[i]->name != NULL));
		assert_true(all[i]->n == 0 || !table_of[i]->label);
	}
}

static void members_are_in_their_structs(void **state)
{
	for (size_t i = 0; i < n_all; i++) {
		const struct counters *const table = table_of[i];
		const size_t bytes = table->label ? table->stride : table->bytes;

		assert_true(all[i]->offset + all[i]->size <= bytes);
		for (size_t k = 0; k < COUNTER_MOST_PLUS; k++)
			assert_true(all[i]->plus[k] + sizeof(uint64_t) <= bytes);
	}
}

static void each_balance_enters_and_leaves(void **state)
{
	json_t *const list = counted_list(NULL, NULL);
	json_t *const balances = json_object_get(list, "balances");
	json_t *balance;
	size_t i;

	assert_true(json_array_size(balances) > 2);
	json_array_foreach (balances, i, balance) {
		assert_true(json_array_size(json_object_get(balance, "enters")) > 0);
		assert_true(json_array_size(json_object_get(balance, "leaves")) > 0);
		assert_true(json_array_size(json_object_get(balance, "drops")) > 0);
	}
	json_decref(list);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(no_key_and_no_metric_is_declared_twice),
		cmocka_unit_test(sums_alone_end_in_total),
		cmocka_unit_test(each_metric_has_a_help_text),
		cmocka_unit_test(what_is_no_number_of_its_own_has_a_label),
		cmocka_unit_test(members_are_in_their_structs),
		cmocka_unit_test(each_balance_enters_and_leaves),
	};

	return cmocka_run_group_tests(tests, set_up, NULL);
}
