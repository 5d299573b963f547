// SPDX-License-Identifier: Apache-2.0
/*
 * Claims about base/counters.h: what is declared of a struct is in the list, is added and balances.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>

#include "base/counters.h"

struct shop {
	uint64_t baked, bought, sold, eaten, thrown, spent_ns;
	uint64_t by_cake[3];
	uint32_t open_since;
	bool is_open;
};

static const char *cake_name(size_t cake)
{
	static const char *const names[] = {"plain", "nut", "plum"};

	return names[cake];
}

static const struct counter rows[] = {
	COUNTER_SUM(struct shop, baked, "cakes.in", "cakes_in_total", "Cakes that came.",
		    COUNTER_PLUS(offsetof(struct shop, bought)),
		    COUNTER_BALANCE("cakes", COUNTER_ENTERS)),
	COUNTER_SUM(struct shop, sold, "cakes.sold", "cakes_sold_total", "Cakes sold.",
		    COUNTER_BALANCE("cakes", COUNTER_LEAVES)),
	COUNTER_SUM(struct shop, thrown, "cakes.old.thrown", "cakes_thrown_total", "Cakes too old.",
		    COUNTER_BALANCE("cakes", COUNTER_DROPS)),
	COUNTER_SUM(struct shop, spent_ns, "work_ms", "work_seconds_total", "Work.",
		    .unit = COUNTER_NS_IN_MS),
	COUNTER_SUM(struct shop, by_cake, "kinds", "kinds_total", "Cakes by kind.",
		    COUNTER_EACH(struct shop, by_cake, "kind", cake_name), .is_sparse = true),
	COUNTER_GAUGE(struct shop, open_since, "since", "open_since", "When it was opened."),
	COUNTER_GAUGE(struct shop, is_open, "open", "open", "1 while it is open.",
		      .unit = COUNTER_TRUTH),
};

static const struct counters shop_counters = COUNTERS(struct shop, rows);

struct street_shop {
	char name[16];
	uint64_t sold;
};

struct street {
	size_t n;
	struct street_shop shops[4];
};

static const struct counter street_rows[] = {
	COUNTER_SUM(struct street_shop, sold, "street.sold", "street_sold_total", "Cakes sold."),
};

static const struct counters street_counters =
	COUNTERS_EACH(struct street, shops, n, struct street_shop, street_rows, "shop");

static void check_list(const struct counters *counters, const void *stats, const char *wanted)
{
	json_t *const list = json_object(), *const json = json_loads(wanted, 0, NULL);

	assert_non_null(json);
	counters_put(list, counters, stats);
	if (!json_equal(list, json))
		fail_msg("%s and not %s", json_dumps(list, 0), wanted);
	json_decref(list);
	json_decref(json);
}

static void each_member_is_at_its_key(void **state)
{
	const struct shop shop = {.baked = 5,
				  .bought = 2,
				  .sold = 4,
				  .thrown = 3,
				  .spent_ns = 7900000,
				  .by_cake = {1, 0, 3},
				  .open_since = UINT32_MAX,
				  .is_open = true};

	check_list(
		&shop_counters, &shop,
		"{\"cakes\": {\"in\": 7, \"sold\": 4, \"old\": {\"thrown\": 3}}, \"work_ms\": 7,"
		"\"kinds\": {\"plain\": 1, \"plum\": 3}, \"since\": 4294967295, \"open\": true}");
}

static void without_a_struct_all_numbers_are_0(void **state)
{
	check_list(&shop_counters, NULL,
		   "{\"cakes\": {\"in\": 0, \"sold\": 0, \"old\": {\"thrown\": 0}}, \"work_ms\": 0,"
		   "\"kinds\": {}, \"since\": 0, \"open\": false}");
	check_list(&street_counters, NULL, "{\"street\": {\"sold\": {}}}");
}

static void structs_of_an_array_are_told_by_their_names(void **state)
{
	const struct street street = {.n = 2, .shops = {{"left", 1}, {"right", 2}, {"none", 3}}};

	check_list(&street_counters, &street,
		   "{\"street\": {\"sold\": {\"left\": 1, \"right\": 2}}}");
}

static void sums_are_added_and_gauges_stay(void **state)
{
	struct shop sum = {.baked = 1, .bought = 10, .sold = 100, .open_since = 7};
	const struct shop more = {
		.baked = 1, .bought = 10, .sold = 100, .eaten = 5, .spent_ns = 9, .open_since = 1};
	static const struct counter some[] = {
		COUNTER_SUM(struct shop, baked, "a", "a_total", "A.",
			    COUNTER_PLUS(offsetof(struct shop, bought))),
		COUNTER_SUM(struct shop, spent_ns, "b", "b_total", "B."),
		COUNTER_GAUGE(struct shop, sold, "c", "c", "C."),
	};
	const struct counters counters = COUNTERS(struct shop, some);

	counters_add(&counters, &sum, &more);
	assert_int_equal(sum.baked, 2);
	assert_int_equal(sum.bought, 20);
	assert_int_equal(sum.spent_ns, 9);
	assert_int_equal(sum.sold, 100);
	assert_int_equal(sum.eaten, 0); /* is not declared */
	assert_int_equal(sum.open_since, 7);
}

static void a_balance_has_the_keys_of_its_rows_by_place(void **state)
{
	json_t *const balances = json_array(),
		      *const wanted = json_loads("[{\"of\": \"cakes\", \"enters\": [\"cakes.in\"],"
						 "\"stays\": [], \"leaves\": [\"cakes.sold\"],"
						 "\"drops\": [\"cakes.old.thrown\"]}]",
						 0, NULL);

	counters_put_balances(balances, &shop_counters);
	counters_put_balances(balances, &street_counters);
	assert_true(json_equal(balances, wanted));
	json_decref(balances);
	json_decref(wanted);
}

static void metrics_of_times_are_seconds(void **state)
{
	static const struct {
		enum counter_unit unit;
		unsigned divisor;
	} units[] = {
		{COUNTER_PLAIN, 1},	  {COUNTER_TRUTH, 1},	       {COUNTER_US, 1000000},
		{COUNTER_NS, 1000000000}, {COUNTER_NS_IN_US, 1000000}, {COUNTER_NS_IN_MS, 1000},
	};

	for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++)
		assert_int_equal(counter_metric_divisor(&(struct counter){.unit = units[i].unit}),
				 units[i].divisor);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_member_is_at_its_key),
		cmocka_unit_test(without_a_struct_all_numbers_are_0),
		cmocka_unit_test(structs_of_an_array_are_told_by_their_names),
		cmocka_unit_test(sums_are_added_and_gauges_stay),
		cmocka_unit_test(a_balance_has_the_keys_of_its_rows_by_place),
		cmocka_unit_test(metrics_of_times_are_seconds),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
