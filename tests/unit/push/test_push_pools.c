// SPDX-License-Identifier: Apache-2.0
/* Claims about push/push_pools.h: each sample is in the pool of its thread, and none is lost. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <string.h>

#include "push/push_pools.h"

static struct profile profile;
static struct timeline timeline;
static struct push_pools pools;
static uint32_t process;

static int set_up(void **state)
{
	timeline_init(&timeline, 0);
	process =
		timeline_process(&timeline, &(struct timeline_process){.pid = 1, .title = "java"});
	return profile_init(&profile, 0);
}

static int tear_down(void **state)
{
	push_pools_fini(&pools);
	timeline_fini(&timeline);
	profile_fini(&profile);
	return 0;
}

/* The node of a stack of one frame. */
static uint32_t add(const char *frame, uint64_t weight)
{
	const struct frame frames[] = {{.name = frame, .kind = FRAME_JIT}};

	assert_int_equal(profile_add(&profile, frames, 1, weight), 0);
	for (uint32_t id = 1; id < profile.count; id++)
		if (strcmp(profile.nodes[id].name, frame) == 0)
			return id;
	fail();
	return 0;
}

/* Says of so much of a node whose it is, at a moment of its own. */
static void tell(pid_t tid, const char *name, uint32_t node, uint32_t weight)
{
	static uint64_t at_ns;
	const struct timeline_thread thread = {.process = process, .tid = tid, .name = name};
	const struct timeline_entry entry = {
		.thread = timeline_thread(&timeline, &thread), .node = node, .weight = weight};

	timeline_add(&timeline, at_ns += TIMELINE_BUCKET_NS, &entry);
}

static void make(void)
{
	timeline_sort(&timeline);
	assert_int_equal(push_pools_init(&pools, &profile, &timeline), 0);
}

static const struct push_pool *find(const char *name)
{
	for (size_t i = 0; i < pools.count; i++)
		if (strcmp(pools.pools[i].name, name) == 0)
			return &pools.pools[i];
	return NULL;
}

/* What the pool has of the node; UINT64_MAX if the node is there twice. */
static uint64_t weight_in(const char *name, uint32_t node)
{
	const struct push_pool *const pool = find(name);
	uint64_t weight = 0;

	assert_non_null(pool);
	for (size_t i = pool->first; i < pool->first + pool->n; i++)
		if (pools.stacks.items[i].leaf == node)
			weight = weight ? UINT64_MAX : pools.stacks.items[i].weight;
	return weight;
}

static uint64_t sum(void)
{
	uint64_t weight = 0;
	size_t n = 0;

	for (size_t i = 0; i < pools.count; i++) {
		assert_int_equal(pools.pools[i].first, n);
		n += pools.pools[i].n;
	}
	assert_int_equal(n, pools.stacks.count);
	for (size_t i = 0; i < n; i++)
		weight += pools.stacks.items[i].weight;
	return weight;
}

static void threads_of_a_pool_are_together(void **state)
{
	const uint32_t f = add("f", 10), g = add("g", 5);

	tell(11, "exec-1", f, 2);
	tell(12, "exec-2", f, 3);
	tell(12, "exec-2", g, 1);
	tell(13, "C2 CompilerThre", f, 5);
	tell(13, "C2 CompilerThre", g, 4);
	make();
	assert_int_equal(pools.count, 2);
	assert_int_equal(weight_in("exec-*", f), 5);
	assert_int_equal(weight_in("exec-*", g), 1);
	assert_int_equal(weight_in("C2 CompilerThre", f), 5);
	assert_int_equal(weight_in("C2 CompilerThre", g), 4);
	assert_int_equal(sum(), 15);
}

static void samples_of_no_known_thread_are_those_of_others(void **state)
{
	const uint32_t f = add("f", 10), g = add("g", 5);

	tell(11, "main", f, 7);
	tell(12, "", g, 1);
	make();
	assert_int_equal(pools.count, 2);
	assert_int_equal(weight_in("main", f), 7);
	assert_int_equal(weight_in(TIMELINE_OTHER_THREADS, f), 3);
	assert_int_equal(weight_in(TIMELINE_OTHER_THREADS, g), 5);
	assert_int_equal(sum(), 15);
}

static void without_a_timeline_all_are_others(void **state)
{
	const uint32_t f = add("f", 10);

	assert_int_equal(push_pools_init(&pools, &profile, NULL), 0);
	assert_int_equal(pools.count, 1);
	assert_int_equal(weight_in(TIMELINE_OTHER_THREADS, f), 10);
}

static void a_profile_without_samples_has_no_pools(void **state)
{
	make();
	assert_int_equal(pools.count, 0);
}

/* Names of letters, so that each is a pool: the first is the lightest. */
static void the_heaviest_have_one_each(void **state)
{
	const uint32_t n = 2 * PUSH_POOLS_MAX;
	const uint32_t f = add("f", n * (n + 1) / 2 + 7);

	for (uint32_t i = 0; i < n; i++) {
		char name[16];

		snprintf(name, sizeof(name), "pool-%c%c", 'a' + i / 16, 'a' + i % 16);
		tell((pid_t)(100 + i), name, f, i + 1);
	}
	make();
	assert_int_equal(pools.count, PUSH_POOLS_MAX);
	assert_int_equal(weight_in("pool-bp", f), n);
	assert_int_equal(weight_in("pool-bb", f), n / 2 + 2);
	assert_null(find("pool-ba"));
	assert_int_equal(weight_in(TIMELINE_OTHER_THREADS, f), 7 + 17 * 18 / 2);
	assert_int_equal(sum(), profile.quality.samples);
}

static void a_slice_has_the_weights_of_the_pool(void **state)
{
	const uint32_t f = add("f", 10);
	struct profile piece;
	uint64_t cut = 0;

	tell(11, "main", f, 7);
	make();
	assert_non_null(find("main"));
	assert_int_equal(push_stacks_slice(&pools.stacks, find("main")->first, find("main")->n,
					   &piece, &cut),
			 0);
	assert_int_equal(piece.quality.samples, 7);
	assert_int_equal(piece.nodes[1].self, 7);
	profile_fini(&piece);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define POOLS(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
		POOLS(threads_of_a_pool_are_together),
		POOLS(samples_of_no_known_thread_are_those_of_others),
		POOLS(without_a_timeline_all_are_others),
		POOLS(a_profile_without_samples_has_no_pools),
		POOLS(the_heaviest_have_one_each),
		POOLS(a_slice_has_the_weights_of_the_pool),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
