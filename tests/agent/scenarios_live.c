// SPDX-License-Identifier: Apache-2.0
/* Tracers that want to be told of deaths: which objects are watched, and until when. */
#include "fake_probes.h"
#include "fake_steps.h"
#include "scenarios.h"

#include <string.h>

#define WATCHED 4096 /* at most */

static struct wire_probes last;

/* Skips to the first record that has so many references. */
static void expect_watched(uint32_t n)
{
	do {
		struct wire_record record = expect_kind(WIRE_PROBES);

		CHECK(wire_decode_probes(&record, &last) == 0);
	} while (last.live_objects != n);
}

static void begin(void)
{
	start_agent(",label=team:red");
	connect_agent(256 << 10, 1);
	fake_probes_watch();
	fake_probes_raise("alloc_dead__arm");
	fake_probes_raise("alloc__arm");
	do {
		struct wire_record record = expect_kind(WIRE_PROBES);

		CHECK(wire_decode_probes(&record, &last) == 0);
	} while (!(last.flags & WIRE_PROBES_ALLOC));
}

static void wait_for_hits(int n)
{
	const uint64_t end_ms = now_ms() + 30000;

	while (fake_probes_hits("alloc_dead__sample") < n) {
		CHECK(now_ms() < end_ms);
		sleep_ms(1);
	}
}

/* The number of the object that has just been allocated. */
static uint64_t allocate(size_t class)
{
	fake_jvm_post_alloc(class, 100);
	return fake_probes_last("alloc__sample").args[3];
}

void a_tracer_is_told_which_objects_have_died(void)
{
	uint64_t first, second, third;
	int hits;

	begin();
	first = allocate(1);
	second = allocate(2);
	third = allocate(3);
	CHECK(first && second && third && first != second && second != third);
	expect_watched(3);
	hits = fake_probes_hits("alloc_dead__sample");
	wait_for_hits(hits + 1); /* which tells nothing but the round */
	CHECK(fake_probes_last("alloc_dead").args[0] == fake_probes_last("alloc").args[4]);
	CHECK(fake_probes_deaths() == 0);
	atomic_store(&fake_jvm.collected, 3);
	expect_watched(1);
	CHECK(fake_probes_deaths() == 2);
	CHECK(fake_probes_is_dead(first) && fake_probes_is_dead(second));
	CHECK(fake_jvm.weak_refs == 1);
	end_jvm();
}

/* Of an even number of objects half have an even number, and so on. */
void a_full_table_halves_what_it_watches(void)
{
	uint64_t watched = 0, living;

	begin();
	for (size_t i = 0; i < 4 * WATCHED; i++)
		watched += allocate(i) != 0;
	CHECK(watched > WATCHED && fake_jvm.weak_refs <= WATCHED);
	CHECK(fake_probes_last("alloc").args[4] % 256 >= 2);
	living = (uint64_t)fake_jvm.weak_refs;
	expect_watched((uint32_t)living);
	CHECK(last.live_level >= 2 && last.live_level <= 3);
	atomic_store(&fake_jvm.collected, 4 * WATCHED);
	expect_watched(0);
	CHECK(fake_jvm.weak_refs == 0 && last.live_level >= 2);
	CHECK(fake_probes_deaths() == living);
	end_jvm();
}

/* Also those of the callbacks that are late. */
void references_go_with_their_tracer(void)
{
	begin();
	for (size_t i = 0; i < 2 * WATCHED; i++)
		allocate(i);
	CHECK(fake_jvm.weak_refs > 0);
	fake_probes_lower("alloc_dead__arm");
	expect_watched(0);
	CHECK(fake_jvm.weak_refs == 0 && last.live_level == 0);
	CHECK(last.flags & WIRE_PROBES_ALLOC);
	CHECK(allocate(1) == 0 && fake_jvm.weak_refs == 0);
	fake_probes_raise("alloc_dead__arm");
	CHECK(allocate(1) != 0 && fake_probes_last("alloc").args[4] == 256);
	fake_probes_lower("alloc_dead__arm");
	fake_probes_lower("alloc__arm");
	expect_watched(0);
	CHECK(fake_jvm.weak_refs == 0);
	end_jvm();
}

void an_object_without_a_reference_is_sampled_all_the_same(void)
{
	begin();
	fake_jvm.no_weak_refs = true;
	CHECK(allocate(1) == 0 && fake_probes_hits("alloc__sample") == 1);
	fake_jvm.no_weak_refs = false;
	CHECK(allocate(1) != 0 && fake_jvm.weak_refs == 1);
	end_jvm();
}
