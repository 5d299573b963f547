// SPDX-License-Identifier: Apache-2.0
/*
 * Claims about code/code_map.h, and a random walk beside a model of it that keeps everything in
 * one array and answers by looking at all of it.
 */
#include "code/code_map.h"
#include "code/code_pages.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <errno.h>
#include <time.h>

#define A	  UINT64_C(0x7f0000010000)
#define BIG_SIZE  (1u << 20)
#define PAGE_SIZE 4096u

/* ---- helpers ---- */

static int make_map(void **state)
{
	struct code_map *map;

	if (code_map_new(&map) < 0)
		return -1;
	*state = map;
	return 0;
}

static int free_map(void **state)
{
	code_map_free(*state);
	return 0;
}

/* Names in these tests are literals, which the compiler interns; the checkers compare texts. */
static int add_as(struct code_map *map, const char *name, uint64_t addr, uint32_t size,
		  uint64_t birth_ns, bool is_resync)
{
	const struct code_range range = {
		.addr = addr,
		.size = size,
		.kind = CODE_JAVA,
		.level = 4,
		.birth_ns = birth_ns,
		.class_name = "java/lang/String",
		.name = name,
		.signature = "()I",
	};

	return code_map_add(map, &range, is_resync);
}

static int add(struct code_map *map, const char *name, uint64_t addr, uint32_t size,
	       uint64_t birth_ns)
{
	return add_as(map, name, addr, size, birth_ns, false);
}

static int resync_add(struct code_map *map, const char *name, uint64_t addr, uint32_t size,
		      uint64_t birth_ns)
{
	return add_as(map, name, addr, size, birth_ns, true);
}

static void check_found(const struct code_map *map, uint64_t addr, uint64_t time_ns,
			const char *name)
{
	const struct code_range *range = code_map_find(map, addr, time_ns);

	if (!name) {
		assert_null(range);
		return;
	}
	assert_non_null(range);
	assert_string_equal(range->name, name);
}

static void check_life(const struct code_map *map, uint64_t addr, uint64_t time_ns,
		       uint64_t birth_ns, uint64_t death_ns)
{
	const struct code_range *range = code_map_find(map, addr, time_ns);

	assert_non_null(range);
	assert_int_equal(range->birth_ns, birth_ns);
	assert_int_equal(range->death_ns, death_ns);
}

static struct code_map_stats stats_of(const struct code_map *map)
{
	struct code_map_stats stats;

	code_map_stats(map, &stats);
	return stats;
}

/* names: of the whole list, one character each. */
static void check_list(const struct code_map *map, const char *names)
{
	const struct code_range **ranges = NULL;
	const ssize_t count = code_map_list(map, 0, &ranges);

	assert_int_equal(count, strlen(names));
	for (ssize_t i = 0; i < count; i++)
		assert_int_equal(ranges[i]->name[0], names[i]);
	free(ranges);
}

/* How often each range is listed, by its number, in pieces of so many. */
static void list_in_pieces(const struct code_map *map, size_t most, unsigned char *ret_times)
{
	uint64_t since = 0, until;

	while (since < code_map_mark(map)) {
		const struct code_range **ranges = NULL;
		const ssize_t count = code_map_list_some(map, since, most, &ranges, &until);

		assert_true(count >= 0 && count <= (ssize_t)most);
		assert_true(until > since);
		for (ssize_t i = 0; i < count; i++) {
			assert_true(i == 0 || ranges[i - 1]->addr < ranges[i]->addr);
			ret_times[(ranges[i]->addr - 0x1000) / 16]++;
		}
		free(ranges);
		since = until;
	}
}

/* Few of those that were ever added are left, and not in the order of their addresses. */
static void a_list_in_pieces_has_each_range_once(void **state)
{
	enum { COUNT = 997 };
	struct code_map *map = *state;
	unsigned char times[COUNT];

	for (uint64_t i = 0; i < COUNT; i++)
		assert_int_equal(add(map, "m", 0x1000 + i * 31 % COUNT * 16, 16, i), 1);
	for (uint64_t i = 0; i < COUNT; i++) {
		if (i % 5 != 2)
			code_map_remove(map, 0x1000 + i * 16, 2 * COUNT);
	}
	code_map_expire(map, 3 * COUNT, 0);
	for (size_t most = 1; most < 300; most += 7) {
		memset(times, 0, sizeof(times));
		list_in_pieces(map, most, times);
		for (size_t i = 0; i < COUNT; i++)
			assert_int_equal(times[i], i % 5 == 2);
	}
}

static void check_listed(const struct code_map *map, size_t at, uint64_t addr, uint32_t size,
			 const char *name)
{
	const struct code_range **ranges = NULL;

	assert_true(code_map_list(map, 0, &ranges) > (ssize_t)at);
	assert_int_equal(ranges[at]->addr, addr);
	assert_int_equal(ranges[at]->size, size);
	assert_string_equal(ranges[at]->name, name);
	free(ranges);
}

static void dead_code_is_listed_as_far_as_it_is_not_replaced(void **state)
{
	const struct code_range *rests[CODE_MAP_RESTS];

	add(*state, "a", A, 256, 100);
	code_map_remove(*state, A, 200);
	add(*state, "b", A + 64, 64, 300);
	check_list(*state, "aba");
	check_listed(*state, 0, A, 64, "a");
	check_listed(*state, 2, A + 128, 128, "a");
	assert_int_equal(code_map_rests(*state, rests), 2);
	assert_int_equal(rests[0]->addr, A);
	assert_int_equal(rests[1]->addr, A + 128);
	code_map_remove(*state, A + 64, 400);
	add(*state, "c", A + 96, 64, 500); /* over the end of one and the begin of the other */
	check_list(*state, "abca");
	check_listed(*state, 1, A + 64, 32, "b");
	check_listed(*state, 3, A + 160, 96, "a");
	/* Look-ups see what was there and nothing else. */
	check_life(*state, A + 200, 150, 100, 200);
	check_found(*state, A + 200, 450, "a");
	assert_int_equal(code_map_find(*state, A + 200, 150)->addr, A);
	code_map_expire(*state, 1000, 0);
	check_list(*state, "c");
	check_found(*state, A + 200, 150, NULL);
	add(*state, "d", A, 256, 600);
	check_list(*state, "d");
	assert_int_equal(code_map_rests(*state, rests), 0);
}

/* ---- look-ups ---- */

static void an_empty_map_finds_nothing(void **state)
{
	check_found(*state, A, 0, NULL);
	check_found(*state, UINT64_MAX, CODE_TIME_FOREVER, NULL);
	check_list(*state, "");
}

static void reused_address_resolves_by_time(void **state)
{
	add(*state, "a", A, 64, 100);
	code_map_remove(*state, A, 200);
	add(*state, "b", A, 64, 300);
	check_found(*state, A, 100, "a");
	check_found(*state, A, 199, "a");
	check_found(*state, A, 300, "b");
	check_found(*state, A, CODE_TIME_FOREVER - 1, "b");
}

static void sample_before_first_load_belongs_to_it(void **state)
{
	add(*state, "a", A, 64, 100);
	check_found(*state, A + 63, 0, "a");
	check_found(*state, A + 63, 99, "a");
}

static void gap_belongs_to_the_next_birth(void **state)
{
	add(*state, "a", A, 64, 100);
	code_map_remove(*state, A, 200);
	add(*state, "b", A, 64, 300);
	code_map_remove(*state, A, 400);
	add(*state, "c", A, 64, 500);
	check_found(*state, A, 200, "b");
	check_found(*state, A, 299, "b");
	check_found(*state, A, 400, "c");
}

static void sample_after_the_last_death_belongs_to_the_dead(void **state)
{
	add(*state, "a", A, 64, 100);
	code_map_remove(*state, A, 200);
	add(*state, "b", A, 64, 300);
	code_map_remove(*state, A, 400);
	check_found(*state, A, 400, "b");
	check_found(*state, A, 9000, "b");
}

static void what_was_replaced_in_part_still_answers_for_the_rest(void **state)
{
	add(*state, "a", A, 128, 100);
	add(*state, "b", A + 64, 64, 200);
	check_found(*state, A + 10, 300, "a");
	check_found(*state, A + 70, 300, "b");
	check_found(*state, A + 70, 150, "a");
}

static void end_of_a_range_is_outside(void **state)
{
	add(*state, "a", A + 1, 63, 100);
	check_found(*state, A, 100, NULL);
	check_found(*state, A + 1, 100, "a");
	check_found(*state, A + 63, 100, "a");
	check_found(*state, A + 64, 100, NULL);
}

static void range_is_found_on_each_of_its_pages(void **state)
{
	add(*state, "a", A + 4000, 3 * PAGE_SIZE, 100);
	check_found(*state, A + 3999, 100, NULL);
	for (unsigned int i = 0; i < 3 * PAGE_SIZE; i++)
		check_found(*state, A + 4000 + i, 100, "a");
	check_found(*state, A + 4000 + 3 * PAGE_SIZE, 100, NULL);
}

/* ---- loads ---- */

static void stub_is_evicted_by_overlapping_load(void **state)
{
	const struct code_range stub = {
		.addr = A, .size = 256, .kind = CODE_STUB, .birth_ns = 50, .name = "stub"};

	assert_int_equal(code_map_add(*state, &stub, false), 1);
	add(*state, "a", A + 128, 64, 100);
	check_life(*state, A, 60, 50, 100);
	check_found(*state, A + 128, 100, "a");
	assert_int_equal(stats_of(*state).evicted, 1);
	assert_int_equal(stats_of(*state).live, 1);
}

static void load_evicts_all_it_overlaps(void **state)
{
	for (unsigned int i = 0; i < 100; i++)
		add(*state, "old", A + i * 100, 100, 10);
	add(*state, "new", A + 50, 9900, 20);
	assert_int_equal(stats_of(*state).evicted, 100);
	assert_int_equal(stats_of(*state).live, 1);
	check_found(*state, A + 50, 20, "new");
	check_found(*state, A + 49, 20, "old");
	check_found(*state, A + 9950, 20, "old");
}

static void neighbours_do_not_evict(void **state)
{
	add(*state, "b", A + 64, 64, 10);
	add(*state, "a", A, 64, 20);
	add(*state, "c", A + 128, 64, 30);
	assert_int_equal(stats_of(*state).evicted, 0);
	check_list(*state, "abc");
	assert_int_equal(code_map_remove(*state, A + 64, 40), 1);
}

static void repeat_changes_nothing(void **state)
{
	assert_int_equal(add(*state, "a", A, 64, 100), 1);
	assert_int_equal(add(*state, "a", A, 64, 200), 0);
	assert_int_equal(resync_add(*state, "a", A, 64, 300), 0);
	check_life(*state, A, 150, 100, CODE_TIME_FOREVER);
	assert_int_equal(stats_of(*state).loads, 1);
	assert_int_equal(stats_of(*state).repeats, 2);
}

static void same_place_with_another_name_is_no_repeat(void **state)
{
	add(*state, "a", A, 64, 100);
	assert_int_equal(add(*state, "b", A, 64, 200), 1);
	assert_int_equal(add(*state, "b", A, 60, 300), 1);
	check_found(*state, A, 150, "a");
	check_life(*state, A, 250, 200, 300);
	check_life(*state, A, 350, 300, CODE_TIME_FOREVER);
}

static void load_after_death_is_no_repeat(void **state)
{
	add(*state, "a", A, 64, 100);
	code_map_remove(*state, A, 200);
	assert_int_equal(add(*state, "a", A, 64, 300), 1);
	check_life(*state, A, 100, 100, 200);
	check_life(*state, A, 300, 300, CODE_TIME_FOREVER);
}

static void senseless_ranges_are_rejected(void **state)
{
	assert_int_equal(add(*state, "a", A, 0, 100), -EINVAL);
	assert_int_equal(add(*state, "a", UINT64_MAX, 1, 100), -EINVAL);
	assert_int_equal(add(*state, "a", UINT64_MAX - 100, 200, 100), -EINVAL);
	assert_int_equal(stats_of(*state).rejected, 3);
	assert_int_equal(stats_of(*state).live, 0);
}

static void last_address_but_one_can_be_code(void **state)
{
	assert_int_equal(add(*state, "a", UINT64_MAX - 100, 100, 100), 1);
	check_found(*state, UINT64_MAX - 1, 100, "a");
	check_found(*state, UINT64_MAX, 100, NULL);
	assert_int_equal(add(*state, "z", 0, 1, 100), 1);
	check_found(*state, 0, 100, "z");
}

/* ---- unloads ---- */

static void unload_of_an_unknown_address_is_counted(void **state)
{
	add(*state, "a", A, 64, 100);
	assert_int_equal(code_map_remove(*state, A + 1, 200), 0);
	assert_int_equal(code_map_remove(*state, A + 64, 200), 0);
	assert_int_equal(code_map_remove(*state, A, 200), 1);
	assert_int_equal(code_map_remove(*state, A, 300), 0);
	assert_int_equal(stats_of(*state).unloads, 1);
	assert_int_equal(stats_of(*state).unknown_unloads, 3);
	check_life(*state, A, 100, 100, 200);
}

static void nobody_dies_before_its_birth(void **state)
{
	add(*state, "a", A, 64, 100);
	code_map_remove(*state, A, 50);
	check_life(*state, A, 100, 100, 100);
}

static void nobody_is_born_before_the_last_death_there(void **state)
{
	add(*state, "a", A, 64, 100);
	code_map_remove(*state, A, 200);
	add(*state, "b", A + 32, 64, 150);
	check_found(*state, A + 40, 199, "a");
	check_life(*state, A + 40, 200, 200, CODE_TIME_FOREVER);
	add(*state, "c", A + 32, 64, 10);
	check_life(*state, A + 40, 200, 200, CODE_TIME_FOREVER);
	check_found(*state, A + 40, 200, "c");
}

/* ---- resync ---- */

static void resynced_range_lived_always(void **state)
{
	resync_add(*state, "a", A, 64, 1000);
	check_life(*state, A, 0, 0, CODE_TIME_FOREVER);
}

static void resynced_range_lived_since_the_last_death_at_any_of_its_addresses(void **state)
{
	add(*state, "a", A, 64, 100);
	add(*state, "b", A + 64, 64, 100);
	code_map_remove(*state, A, 200);
	code_map_remove(*state, A + 64, 300);
	resync_add(*state, "c", A, 128, 1000);
	check_life(*state, A, 300, 300, CODE_TIME_FOREVER);
	check_found(*state, A, 199, "a");
	check_found(*state, A, 200, "c");
}

static void resync_end_buries_what_was_not_repeated(void **state)
{
	add(*state, "a", A, 64, 100);
	add(*state, "b", A + 64, 64, 100);
	code_map_resync_begin(*state, 1000);
	resync_add(*state, "b", A + 64, 64, 1001);
	resync_add(*state, "c", A + 128, 64, 1002);
	assert_int_equal(code_map_resync_end(*state, true), 1);
	check_life(*state, A, 500, 100, 1000);
	check_life(*state, A + 64, 500, 100, CODE_TIME_FOREVER);
	check_life(*state, A + 128, 500, 0, CODE_TIME_FOREVER);
	assert_int_equal(stats_of(*state).buried, 1);
}

static void incomplete_resync_buries_nothing(void **state)
{
	add(*state, "a", A, 64, 100);
	code_map_resync_begin(*state, 1000);
	assert_int_equal(code_map_resync_end(*state, false), 0);
	assert_int_equal(code_map_resync_end(*state, true), 0); /* no begin */
	check_life(*state, A, 100, 100, CODE_TIME_FOREVER);
}

static void second_begin_starts_anew(void **state)
{
	add(*state, "a", A, 64, 100);
	code_map_resync_begin(*state, 1000);
	resync_add(*state, "a", A, 64, 1001);
	code_map_resync_begin(*state, 2000);
	assert_int_equal(code_map_resync_end(*state, true), 1);
	check_life(*state, A, 100, 100, 2000);
}

static void load_during_a_resync_survives_it(void **state)
{
	code_map_resync_begin(*state, 1000);
	add(*state, "a", A, 64, 1001);
	assert_int_equal(code_map_resync_end(*state, true), 0);
	check_life(*state, A, 1001, 1001, CODE_TIME_FOREVER);
}

static void incomplete_resyncs_do_not_hide_who_was_not_repeated(void **state)
{
	for (unsigned int i = 0; i < 6; i++)
		add(*state, "a", A + i * 64, 64, 100);
	code_map_resync_begin(*state, 1000);
	resync_add(*state, "a", A, 64, 1001);
	resync_add(*state, "a", A + 4 * 64, 64, 1001);
	assert_int_equal(code_map_resync_end(*state, false), 0);
	code_map_resync_begin(*state, 2000);
	resync_add(*state, "a", A + 2 * 64, 64, 2001);
	resync_add(*state, "a", A + 4 * 64, 64, 2001);
	code_map_remove(*state, A + 5 * 64, 2002);
	assert_int_equal(code_map_resync_end(*state, true), 3);
	for (unsigned int i = 0; i < 6; i++)
		check_life(*state, A + i * 64, 100, 100,
			   i == 2 || i == 4 ? CODE_TIME_FOREVER
			   : i == 5	    ? 2002
					    : 2000);
}

static void resync_end_costs_what_it_buries(void **state)
{
	/* A walk over all ranges each time would take minutes, and ctest ends what does. */
	enum { RANGES = 200000, RESYNCS = 1000000 };

	for (unsigned int i = 0; i < RANGES; i++)
		add(*state, "a", A + i * UINT64_C(64), 64, 100);
	for (unsigned int i = 0; i < RESYNCS; i++) {
		code_map_resync_begin(*state, 1000 + i);
		resync_add(*state, "a", A, 64, 1000 + i);
		code_map_resync_end(*state, true);
	}
	assert_int_equal(stats_of(*state).buried, RANGES - 1);
}

static void resync_may_call_a_stub_by_the_beginning_of_its_name(void **state)
{
	struct code_range stub = {
		.addr = A, .size = 64, .birth_ns = 50, .name = "I2C/C2I adapters(0xbbeb)"};

	code_map_add(*state, &stub, false);
	stub.name = "I2C/C2I adapters";
	assert_int_equal(code_map_add(*state, &stub, true), 0);
	check_found(*state, A, 100, "I2C/C2I adapters(0xbbeb)");
	assert_int_equal(code_map_add(*state, &stub, false), 1);
	check_found(*state, A, 100, "I2C/C2I adapters");
	stub.name = "vtable stub";
	assert_int_equal(code_map_add(*state, &stub, true), 1);
}

static void what_a_resync_contradicts_ended_when_it_began(void **state)
{
	add(*state, "a", A, 64, 100);
	code_map_resync_begin(*state, 1000);
	resync_add(*state, "b", A + 32, 64, 1005);
	check_life(*state, A, 500, 100, 1000);
	check_life(*state, A + 32, 1000, 1000, CODE_TIME_FOREVER);
}

/* ---- expiry ---- */

static void expire_keeps_what_nothing_replaced(void **state)
{
	add(*state, "a", A, 64, 100);
	code_map_remove(*state, A, 200);
	code_map_expire(*state, CODE_TIME_FOREVER, 10);
	check_found(*state, A, 5000, "a");
	check_list(*state, "a");
	assert_int_equal(stats_of(*state).expired, 0);
}

static void expire_forgets_what_was_replaced_before_the_horizon(void **state)
{
	add(*state, "a", A, 128, 100);
	code_map_remove(*state, A, 200);
	add(*state, "b", A + 64, 64, 300);
	code_map_expire(*state, 200, 10);
	check_found(*state, A + 70, 150, "a");
	code_map_expire(*state, 201, 10);
	check_found(*state, A + 70, 150, "b");
	check_found(*state, A, 150, NULL);
	assert_int_equal(stats_of(*state).expired, 1);
	assert_int_equal(stats_of(*state).dead, 1); /* the rest of it, for lists */
	check_list(*state, "ab");
}

static void expire_drops_the_oldest_dead_beyond_the_maximum(void **state)
{
	static const char *const names[] = {"a", "b", "c", "d"};

	for (unsigned int i = 0; i < 4; i++)
		add(*state, names[i], A + i * 64, 64, 100);
	for (unsigned int i = 4; i-- > 0;)
		code_map_remove(*state, A + i * 64, 200 + 10 * (3 - i));
	code_map_expire(*state, 1000, 2);
	check_list(*state, "ab"); /* d and c died first */
}

static void expire_keeps_beyond_the_maximum_who_died_after_the_horizon(void **state)
{
	add(*state, "a", A, 64, 100);
	add(*state, "b", A + 64, 64, 100);
	code_map_remove(*state, A, 200);
	code_map_remove(*state, A + 64, 300);
	code_map_expire(*state, 250, 0);
	check_list(*state, "b");
}

/* ---- list ---- */

static void list_is_rising_and_holds_what_is_left_of_replaced_code(void **state)
{
	add(*state, "d", A + 9 * PAGE_SIZE, BIG_SIZE, 10);
	add(*state, "c", A + 300, 10 * PAGE_SIZE - 400, 20); /* replaces d */
	add(*state, "b", A + 200, 64, 30);
	code_map_remove(*state, A + 200, 40);
	add(*state, "a", A, 100, 50);
	add(*state, "x", A + 100, 100, 60);
	code_map_remove(*state, A + 100, 70);
	add(*state, "y", A + 199, 1, 80);
	check_list(*state, "axybcd");
}

/* ---- big ranges ---- */

static void big_range_is_found_and_reused_as_any_other(void **state)
{
	add(*state, "a", A, BIG_SIZE, 100);
	check_found(*state, A, 100, "a");
	check_found(*state, A + BIG_SIZE - 1, 0, "a");
	check_found(*state, A + BIG_SIZE, 100, NULL);
	assert_int_equal(add(*state, "a", A, BIG_SIZE, 110), 0);
	add(*state, "b", A + 5000, 64, 200);
	check_life(*state, A, 100, 100, 200);
	check_found(*state, A + 5000, 150, "a");
	check_found(*state, A + 5000, 200, "b");
	add(*state, "c", A + 4096, BIG_SIZE, 300);
	check_life(*state, A + 5000, 200, 200, 300);
	check_found(*state, A + 5000, 150, "a");
	check_found(*state, A + 5000, 300, "c");
	assert_int_equal(code_map_remove(*state, A + 4096, 400), 1);
	code_map_expire(*state, CODE_TIME_FOREVER, 0);
	check_list(*state, "");
	check_found(*state, A + 5000, 150, NULL);
}

static void largest_range_evicts_everything_beneath(void **state)
{
	for (unsigned int i = 0; i < 1000; i++)
		add(*state, "small", A + i * UINT64_C(1000000), 64, 100);
	add(*state, "all", A - 1, UINT32_MAX, 200);
	assert_int_equal(stats_of(*state).evicted, 1000);
	check_found(*state, A + 999 * UINT64_C(1000000), 150, "small");
	check_found(*state, A + 999 * UINT64_C(1000000), 200, "all");
}

static void big_ranges_are_limited(void **state)
{
	int err = 0;
	unsigned int count = 0;

	while (count < 1000 && err >= 0) {
		err = add(*state, "a", A + count * UINT64_C(0x100000000), UINT32_MAX, 100);
		count++;
	}
	assert_int_equal(err, -ENOSPC);
	assert_int_equal(stats_of(*state).live, count - 1);
	assert_int_equal(stats_of(*state).rejected, 1);
	check_found(*state, A + (count - 1) * UINT64_C(0x100000000), 100, NULL);
}

/* ---- limits ---- */

static void page_full_of_the_dead_forgets_the_oldest(void **state)
{
	for (unsigned int i = 0; i < 10000; i++)
		assert_int_equal(add(*state, i % 2 ? "odd" : "even", A, 64, 100 + i), 1);
	check_found(*state, A, 10099, "odd");
	check_found(*state, A, 10098, "even");
	check_found(*state, A, 0, "even");
	assert_true(stats_of(*state).dead < 1000);
	assert_int_equal(stats_of(*state).expired + stats_of(*state).dead, 9999);
}

static void page_full_of_the_living_rejects_the_next(void **state)
{
	unsigned int count = 0;

	while (count < PAGE_SIZE && add(*state, "a", A + count, 1, 100) == 1)
		count++;
	assert_in_range(count, 256, PAGE_SIZE - 1);
	assert_int_equal(add(*state, "b", A + count, 2 * PAGE_SIZE, 100), -ENOSPC);
	assert_int_equal(stats_of(*state).live, count);
	check_found(*state, A + count, 100, NULL);
	check_found(*state, A + PAGE_SIZE, 100, NULL);
	code_map_remove(*state, A, 200);
	assert_int_equal(add(*state, "b", A + count, 2 * PAGE_SIZE, 300), 1);
	check_found(*state, A + PAGE_SIZE, 100, "b");
}

static void ranges_are_limited_and_the_dead_make_way(void **state)
{
	for (unsigned int i = 0; i < CODE_MAP_MAX_RANGES; i++)
		add(*state, "a", A + i * UINT64_C(64), 64, 100);
	assert_int_equal(stats_of(*state).live, CODE_MAP_MAX_RANGES);
	assert_int_equal(add(*state, "b", A - 64, 64, 100), -ENOSPC);
	code_map_remove(*state, A + 128, 200);
	assert_int_equal(add(*state, "b", A - 64, 64, 300), 1);
	check_found(*state, A - 64, 300, "b");
	check_found(*state, A + 128, 300, NULL);
	assert_true(stats_of(*state).bytes < 100u << 20);
}

static void pages_are_limited_and_the_dead_make_way(void **state)
{
	const uint32_t size = 64 * PAGE_SIZE;
	const unsigned int fits = CODE_MAP_MAX_LINKS / 64;

	for (unsigned int i = 0; i < fits; i++)
		add(*state, "a", A + i * (uint64_t)size, size, 100);
	assert_int_equal(stats_of(*state).live, fits);
	assert_int_equal(add(*state, "b", A - 64, 64, 100), -ENOSPC);
	check_found(*state, A - 64, 100, NULL);
	code_map_remove(*state, A + size, 200);
	assert_int_equal(add(*state, "b", A - 64, 64, 300), 1);
	check_found(*state, A + size, 300, NULL);
	assert_true(stats_of(*state).bytes < 140u << 20);
}

static void memory_is_given_back_to_later_ranges(void **state)
{
	size_t bytes = 0;

	for (unsigned int round = 0; round < 50; round++) {
		for (unsigned int i = 0; i < 1000; i++) {
			add(*state, "a", A + i * UINT64_C(5000) + round * UINT64_C(0x10000000),
			    3000, round * 10);
			code_map_remove(*state,
					A + i * UINT64_C(5000) + round * UINT64_C(0x10000000),
					round * 10 + 5);
		}
		code_map_expire(*state, CODE_TIME_FOREVER, 0);
		if (round == 0)
			bytes = stats_of(*state).bytes;
	}
	assert_int_equal(stats_of(*state).bytes, bytes);
}

/* ---- names ---- */

static const char *rename_to_b(void *arg, const char *name)
{
	++*(int *)arg;
	return strcmp(name, "a") == 0 ? "b" : name;
}

static void rename_reaches_all_names_of_the_living_and_the_dead(void **state)
{
	int count = 0;

	add(*state, "a", A, 64, 100);
	code_map_remove(*state, A, 200);
	add(*state, "a", A, 64, 300);
	add(*state, "a", A + 64, 64, 100);
	code_map_remove(*state, A + 64, 200);
	add(*state, "x", A + 128, 64, 100);
	code_map_rename(*state, rename_to_b, &count);
	assert_int_equal(count, 4 * 3); /* there are no source files */
	check_found(*state, A, 100, "b");
	check_found(*state, A, 300, "b");
	check_found(*state, A + 64, 100, "b");
	check_found(*state, A + 128, 100, "x");
}

static void rename_in_steps_reaches_what_is_added_meanwhile(void **state)
{
	int count = 0;

	add(*state, "a", A, 64, 100);
	add(*state, "a", A + 128, 64, 100);
	add(*state, "a", A + 64, 64, 100);
	add(*state, "a", A + 256, 64, 100);
	code_map_begin_rename(*state, rename_to_b, &count);
	assert_int_equal(code_map_rename_some(*state, 2), 2);
	assert_true(code_map_is_renaming(*state));
	check_found(*state, A, 100, "b");
	check_found(*state, A + 64, 100, "a");
	assert_int_equal(add(*state, "b", A + 64, 64, 200), 0); /* by its new name a repeat */
	/* The places of the two that are renamed are used again, by x and what x leaves of a. */
	code_map_remove(*state, A, 210);
	code_map_remove(*state, A + 128, 210);
	assert_int_equal(code_map_expire_some(*state, 220, 0, 10), 2);
	code_map_remove(*state, A + 256, 300);
	assert_int_equal(add(*state, "x", A + 256, 16, 400), 1);
	assert_int_equal(add(*state, "a", A + 512, 64, 400), 1);
	check_found(*state, A + 512, 400, "b");
	assert_true(code_map_rename_some(*state, 100) > 0);
	assert_false(code_map_is_renaming(*state));
	check_list(*state, "bxbb");
	assert_int_equal(add(*state, "a", A + 1024, 64, 500), 1);
	check_found(*state, A + 1024, 500, "a");
}

static void dropped_code_is_forgotten_in_steps(void **state)
{
	for (uint64_t i = 0; i < 10; i++) {
		add(*state, "a", A + 64 * i, 64, 100);
		code_map_remove(*state, A + 64 * i, 200 + i);
	}
	assert_int_equal(code_map_expire_some(*state, 205, 0, 3), 3);
	assert_int_equal(stats_of(*state).dead, 7);
	assert_int_equal(code_map_expire_some(*state, 205, 0, 3), 2); /* before 205 */
	assert_int_equal(code_map_expire_some(*state, 300, 4, 3), 1); /* four may stay */
	assert_int_equal(stats_of(*state).dead, 4);
}

static void forgotten_ranges_are_not_renamed(void **state)
{
	int count = 0;

	add(*state, "a", A, 64, 100);
	code_map_remove(*state, A, 200);
	code_map_expire(*state, CODE_TIME_FOREVER, 0);
	code_map_rename(*state, rename_to_b, &count);
	assert_int_equal(count, 0);
}

/* ---- the model ---- */

#define MODEL_MAX 8192

struct model_range {
	struct code_range range;
	bool is_dead, is_replaced, is_gone;
	unsigned int epoch;
	unsigned int death_order;
};

struct model {
	struct model_range ranges[MODEL_MAX]; /* in order of arrival */
	size_t count;
	unsigned int epoch, deaths;
	bool is_resyncing;
	uint64_t resync_ns;
};

static bool model_covers(const struct model_range *r, uint64_t addr)
{
	return !r->is_gone && addr >= r->range.addr && addr - r->range.addr < r->range.size;
}

static bool model_overlaps(const struct model_range *r, const struct code_range *range)
{
	return !r->is_gone && r->range.addr < range->addr + range->size &&
	       range->addr < r->range.addr + r->range.size;
}

static const struct code_range *model_find(const struct model *model, uint64_t addr, uint64_t t)
{
	const struct code_range *lives = NULL, *next = NULL, *last = NULL;

	for (size_t i = 0; i < model->count; i++) {
		const struct code_range *range = &model->ranges[i].range;

		if (!model_covers(&model->ranges[i], addr))
			continue;
		if (range->birth_ns <= t && t < range->death_ns) {
			assert_null(lives);
			lives = range;
		}
		if (range->birth_ns > t && (!next || range->birth_ns < next->birth_ns))
			next = range;
		if (range->birth_ns <= t && (!last || range->death_ns >= last->death_ns))
			last = range;
	}
	if (lives)
		return lives;
	return next ? next : last;
}

static void model_end_life(struct model *model, struct model_range *r, uint64_t time_ns)
{
	r->is_dead = true;
	r->death_order = model->deaths++;
	r->range.death_ns = time_ns > r->range.birth_ns ? time_ns : r->range.birth_ns;
}

static int model_add(struct model *model, const struct code_range *range, bool is_resync)
{
	const uint64_t end_ns =
		is_resync && model->is_resyncing ? model->resync_ns : range->birth_ns;
	struct model_range *added = &model->ranges[model->count];
	uint64_t last_death_ns = 0;

	for (size_t i = 0; i < model->count; i++) {
		struct model_range *r = &model->ranges[i];

		if (!r->is_gone && !r->is_dead && r->range.addr == range->addr &&
		    r->range.size == range->size && r->range.name == range->name) {
			r->epoch = model->epoch;
			return 0;
		}
	}
	for (size_t i = 0; i < model->count; i++) {
		struct model_range *r = &model->ranges[i];

		if (!model_overlaps(r, range))
			continue;
		if (!r->is_dead)
			model_end_life(model, r, end_ns);
		r->is_replaced = true;
		if (r->range.death_ns > last_death_ns)
			last_death_ns = r->range.death_ns;
	}
	*added = (struct model_range){.range = *range, .epoch = model->epoch};
	added->range.death_ns = CODE_TIME_FOREVER;
	if (is_resync || added->range.birth_ns < last_death_ns)
		added->range.birth_ns = last_death_ns;
	model->count++;
	return 1;
}

static int model_remove(struct model *model, uint64_t addr, uint64_t time_ns)
{
	for (size_t i = 0; i < model->count; i++) {
		struct model_range *r = &model->ranges[i];

		if (!r->is_gone && !r->is_dead && r->range.addr == addr) {
			model_end_life(model, r, time_ns);
			return 1;
		}
	}
	return 0;
}

static size_t model_resync_end(struct model *model, bool complete)
{
	size_t buried = 0;

	for (size_t i = 0; i < model->count && complete && model->is_resyncing; i++) {
		struct model_range *r = &model->ranges[i];

		if (!r->is_gone && !r->is_dead && r->epoch != model->epoch) {
			model_end_life(model, r, model->resync_ns);
			buried++;
		}
	}
	model->is_resyncing = false;
	return buried;
}

static struct model_range *model_first_dead(struct model *model, size_t *ret_count)
{
	struct model_range *first = NULL;

	*ret_count = 0;
	for (size_t i = 0; i < model->count; i++) {
		struct model_range *r = &model->ranges[i];

		if (r->is_gone || !r->is_dead || r->is_replaced)
			continue;
		++*ret_count;
		if (!first || r->death_order < first->death_order)
			first = r;
	}
	return first;
}

static void model_expire(struct model *model, uint64_t horizon_ns, size_t max_dead)
{
	struct model_range *first;
	size_t count;

	for (size_t i = 0; i < model->count; i++) {
		struct model_range *r = &model->ranges[i];

		if (r->is_dead && r->is_replaced && r->range.death_ns < horizon_ns)
			r->is_gone = true;
	}
	while ((first = model_first_dead(model, &count)) && count > max_dead &&
	       first->range.death_ns < horizon_ns)
		first->is_gone = true;
}

/* ---- both side by side ---- */

static uint64_t random_state;

static uint32_t random_below(uint32_t limit)
{
	random_state = random_state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return (uint32_t)(((random_state >> 33) * limit) >> 31);
}

static void check_same(const struct code_range *got, const struct code_range *want)
{
	if (!want) {
		assert_null(got);
		return;
	}
	assert_non_null(got);
	assert_int_equal(got->addr, want->addr);
	assert_int_equal(got->size, want->size);
	assert_int_equal(got->birth_ns, want->birth_ns);
	assert_int_equal(got->death_ns, want->death_ns);
	assert_ptr_equal(got->name, want->name);
}

static uint64_t random_addr(void)
{
	return A + random_below(random_below(8) ? 6 * PAGE_SIZE : 200 * PAGE_SIZE);
}

static struct code_range random_range(uint64_t now_ns)
{
	static const char *const names[] = {"one", "two", "three", "four"};
	static const uint32_t sizes[] = {16, 200, 200, 2000, 2000, 2000, 9000, 9000};
	uint32_t size = 1 + random_below(sizes[random_below(8)]);

	if (random_below(60) == 0)
		size = 60 * PAGE_SIZE + random_below(80 * PAGE_SIZE);
	return (struct code_range){
		.addr = random_addr(),
		.size = size,
		.kind = CODE_JAVA,
		.birth_ns = now_ns,
		.class_name = "Class",
		.name = names[random_below(4)],
		.signature = "()V",
	};
}

static void step_add(struct code_map *map, struct model *model, uint64_t now_ns)
{
	struct code_range range = random_range(now_ns);
	const bool is_resync = random_below(4) == 0;

	if (model->count > 0 && random_below(3) == 0) { /* likely a repeat */
		range = model->ranges[random_below((uint32_t)model->count)].range;
		range.birth_ns = now_ns;
	}
	assert_int_equal(code_map_add(map, &range, is_resync), model_add(model, &range, is_resync));
}

static void step_other(struct code_map *map, struct model *model, uint64_t now_ns)
{
	const uint64_t addr =
		model->count && random_below(8)
			? model->ranges[random_below((uint32_t)model->count)].range.addr
			: random_addr();
	const uint64_t horizon_ns = now_ns > 300 ? now_ns - random_below(300) : 0;
	const bool complete = random_below(2);

	switch (random_below(20)) {
	case 0:
		code_map_resync_begin(map, now_ns);
		model->epoch++;
		model->is_resyncing = true;
		model->resync_ns = now_ns;
		break;
	case 1:
		assert_int_equal(code_map_resync_end(map, complete),
				 model_resync_end(model, complete));
		break;
	case 2:
		/* Not in between: what a resync buries dies at once, in no order. */
		code_map_expire(map, complete ? horizon_ns : CODE_TIME_FOREVER,
				complete ? SIZE_MAX : 0);
		model_expire(model, complete ? horizon_ns : CODE_TIME_FOREVER,
			     complete ? SIZE_MAX : 0);
		break;
	default:
		assert_int_equal(code_map_remove(map, addr, now_ns),
				 model_remove(model, addr, now_ns));
	}
}

/* A walk in steps, the sum of all living ranges, and the look-up of each. */
static void compare_living(const struct code_map *map, const struct model *model)
{
	uint64_t bytes = 0, walked_bytes = 0;
	const struct code_range *range;
	size_t living = 0, walked = 0, pos = 0;
	bool ends = false;

	for (size_t i = 0; i < model->count; i++) {
		const struct model_range *r = &model->ranges[i];

		if (r->is_gone || r->is_dead)
			continue;
		living++;
		bytes += r->range.size;
		range = code_map_living(map, r->range.addr);
		assert_non_null(range);
		check_same(range, &r->range);
		assert_null(code_map_living(map, r->range.addr + r->range.size / 2 + 1));
	}
	while (!ends) {
		while ((range = code_map_next_living(map, &pos, 3, &ends))) {
			walked++;
			walked_bytes += range->size;
		}
	}
	assert_int_equal(walked, living);
	assert_int_equal(walked_bytes, bytes);
	assert_int_equal(stats_of(map).live_bytes, bytes);
	assert_int_equal(stats_of(map).live, living);
}

static void compare_lists(const struct code_map *map, const struct model *model)
{
	const struct code_range **ranges = NULL;
	const ssize_t count = code_map_list(map, 0, &ranges);
	ssize_t expected = 0;

	for (size_t i = 0; i < model->count; i++) {
		const struct model_range *r = &model->ranges[i];

		expected += !r->is_gone && (!r->is_dead || !r->is_replaced);
	}
	for (ssize_t i = 0; i < count; i++)
		expected += ranges[i]->is_rest;
	assert_int_equal(count, expected);
	compare_living(map, model);
	for (ssize_t i = 1; i < count; i++)
		assert_true(ranges[i - 1]->addr + ranges[i - 1]->size <= ranges[i]->addr);
	free(ranges);
}

static void walk_beside_the_model(struct code_map *map, struct model *model)
{
	uint64_t now_ns = 1000;

	for (int step = 0; step < 3000; step++) {
		const uint64_t event_ns = random_below(20) ? now_ns : now_ns - random_below(500);

		now_ns += random_below(10);
		if (random_below(2))
			step_add(map, model, event_ns);
		else
			step_other(map, model, event_ns);
		for (int i = 0; i < 8; i++) {
			const uint64_t addr = random_addr();
			const uint64_t t = random_below(4) ? now_ns - random_below(1000)
							   : random_below((uint32_t)now_ns + 100);

			check_same(code_map_find(map, addr, t), model_find(model, addr, t));
		}
		if (step % 100 == 0)
			compare_lists(map, model);
	}
}

static void random_walks_agree_with_the_model(void **state)
{
	struct model *model = malloc(sizeof(*model));

	assert_non_null(model);
	for (uint64_t seed = 1; seed <= 12; seed++) {
		struct code_map *map;

		random_state = seed;
		memset(model, 0, sizeof(*model));
		assert_int_equal(code_map_new(&map), 0);
		walk_beside_the_model(map, model);
		code_map_free(map);
	}
	free(model);
}

static void free_of_null_is_legal(void **state)
{
	code_map_free(NULL);
}

#define CLAIM(name) cmocka_unit_test_setup_teardown(name, make_map, free_map)

static void the_last_birth_is_that_of_who_lives_there(void **state)
{
	struct code_map *const map = *state;

	assert_int_equal(code_map_last_birth(map, A, 64), 0);
	add(map, "first", A, 64, 100);
	add(map, "second", A + 2 * PAGE_SIZE, 64, 200);
	add(map, "dead", A + 128, 64, 300);
	code_map_remove(map, A + 128, 400);
	assert_int_equal(code_map_last_birth(map, A + 63, 1), 100);
	assert_int_equal(code_map_last_birth(map, A + 64, 2 * PAGE_SIZE - 64), 0);
	assert_int_equal(code_map_last_birth(map, A, 3 * PAGE_SIZE), 200);
	add(map, "big", A + BIG_SIZE, BIG_SIZE, 500);
	assert_int_equal(code_map_last_birth(map, A + BIG_SIZE + 5 * PAGE_SIZE, 1), 500);
	assert_int_equal(code_map_last_birth(map, A, UINT32_MAX), 500);
	code_map_remove(map, A + BIG_SIZE, 600);
	assert_int_equal(code_map_last_birth(map, A, UINT32_MAX), 200);
}

/* Thousands of pages are not looked at again and again. */
static void the_last_birth_is_not_looked_for_where_there_is_no_room(void **state)
{
	struct code_map *const map = *state;
	const uint64_t behind = A + CODE_BIG_MAX * UINT64_C(0x100000000);

	add(map, "small", behind, 64, 100);
	assert_int_equal(code_map_last_birth(map, behind, UINT32_MAX), 100);
	for (unsigned int i = 0; i < CODE_BIG_MAX; i++)
		add(map, "big", A + i * UINT64_C(0x100000000), UINT32_MAX, 100);
	assert_int_equal(code_map_last_birth(map, behind, UINT32_MAX), 0);
	assert_int_equal(add(map, "big", behind, UINT32_MAX, 200), -ENOSPC);
}

static void a_living_range_can_be_named_anew(void **state)
{
	struct code_map *const map = *state;
	struct code_map_stats stats;
	const struct code_range *range;

	add(map, "old", A, 64, 100);
	code_map_name_living(map, A + 1, "new");
	check_found(map, A, 100, "old");
	code_map_name_living(map, A, "new");
	check_found(map, A, 100, "new");
	range = code_map_living(map, A);
	assert_null(range->class_name);
	assert_null(range->signature);
	assert_true(range->is_read);
	code_map_stats(map, &stats);
	assert_int_equal(stats.relisted, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		CLAIM(the_last_birth_is_that_of_who_lives_there),
		CLAIM(the_last_birth_is_not_looked_for_where_there_is_no_room),
		CLAIM(a_living_range_can_be_named_anew),
		CLAIM(an_empty_map_finds_nothing),
		CLAIM(dead_code_is_listed_as_far_as_it_is_not_replaced),
		CLAIM(reused_address_resolves_by_time),
		CLAIM(sample_before_first_load_belongs_to_it),
		CLAIM(gap_belongs_to_the_next_birth),
		CLAIM(sample_after_the_last_death_belongs_to_the_dead),
		CLAIM(what_was_replaced_in_part_still_answers_for_the_rest),
		CLAIM(end_of_a_range_is_outside),
		CLAIM(range_is_found_on_each_of_its_pages),
		CLAIM(stub_is_evicted_by_overlapping_load),
		CLAIM(load_evicts_all_it_overlaps),
		CLAIM(neighbours_do_not_evict),
		CLAIM(repeat_changes_nothing),
		CLAIM(same_place_with_another_name_is_no_repeat),
		CLAIM(load_after_death_is_no_repeat),
		CLAIM(senseless_ranges_are_rejected),
		CLAIM(last_address_but_one_can_be_code),
		CLAIM(unload_of_an_unknown_address_is_counted),
		CLAIM(nobody_dies_before_its_birth),
		CLAIM(nobody_is_born_before_the_last_death_there),
		CLAIM(resynced_range_lived_always),
		CLAIM(resynced_range_lived_since_the_last_death_at_any_of_its_addresses),
		CLAIM(resync_end_buries_what_was_not_repeated),
		CLAIM(incomplete_resync_buries_nothing),
		CLAIM(second_begin_starts_anew),
		CLAIM(load_during_a_resync_survives_it),
		CLAIM(incomplete_resyncs_do_not_hide_who_was_not_repeated),
		CLAIM(resync_end_costs_what_it_buries),
		CLAIM(rename_reaches_all_names_of_the_living_and_the_dead),
		CLAIM(rename_in_steps_reaches_what_is_added_meanwhile),
		CLAIM(dropped_code_is_forgotten_in_steps),
		CLAIM(forgotten_ranges_are_not_renamed),
		CLAIM(resync_may_call_a_stub_by_the_beginning_of_its_name),
		CLAIM(what_a_resync_contradicts_ended_when_it_began),
		CLAIM(expire_keeps_what_nothing_replaced),
		CLAIM(expire_forgets_what_was_replaced_before_the_horizon),
		CLAIM(expire_drops_the_oldest_dead_beyond_the_maximum),
		CLAIM(expire_keeps_beyond_the_maximum_who_died_after_the_horizon),
		CLAIM(list_is_rising_and_holds_what_is_left_of_replaced_code),
		CLAIM(big_range_is_found_and_reused_as_any_other),
		CLAIM(largest_range_evicts_everything_beneath),
		CLAIM(big_ranges_are_limited),
		CLAIM(page_full_of_the_dead_forgets_the_oldest),
		CLAIM(a_list_in_pieces_has_each_range_once),
		CLAIM(page_full_of_the_living_rejects_the_next),
		CLAIM(ranges_are_limited_and_the_dead_make_way),
		CLAIM(pages_are_limited_and_the_dead_make_way),
		CLAIM(memory_is_given_back_to_later_ranges),
		cmocka_unit_test(random_walks_agree_with_the_model),
		cmocka_unit_test(free_of_null_is_legal),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
