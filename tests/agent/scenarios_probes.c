// SPDX-License-Identifier: Apache-2.0
/* Tracers of probes: what a semaphore switches, what a tracer sees, what the collector is told. */
#include "fake_probes.h"
#include "fake_steps.h"
#include "scenarios.h"

#include <pthread.h>
#include <sched.h>
#include <string.h>
#include <unistd.h>

#define LOOK_MS 100 /* the agent looks so often while a collector is connected */

static void wait_for(const atomic_bool *flag, bool value)
{
	const uint64_t end_ms = now_ms() + 30000;

	while (atomic_load(flag) != value) {
		CHECK(now_ms() < end_ms);
		sleep_ms(1);
	}
}

static void wait_for_interval(int bytes)
{
	const uint64_t end_ms = now_ms() + 30000;

	while (fake_jvm.heap_interval != bytes || !fake_jvm.is_sampling) {
		CHECK(now_ms() < end_ms);
		sleep_ms(1);
	}
}

static void connect(void)
{
	start_agent(",label=team:red");
	connect_agent(256 << 10, 1);
	fake_probes_watch();
}

/* Skips to the first record that says so. */
static struct wire_probes expect_probes(uint32_t flags)
{
	struct wire_probes probes;

	do {
		struct wire_record record = expect_kind(WIRE_PROBES);

		CHECK(wire_decode_probes(&record, &probes) == 0);
	} while (probes.flags != flags);
	return probes;
}

/* Both points of an event were hit, with the same. */
static struct fake_hit expect_hit(const char *point, const char *sample, int hits)
{
	const struct fake_hit hit = fake_probes_last(point), same = fake_probes_last(sample);

	CHECK(fake_probes_hits(point) == hits && fake_probes_hits(sample) == hits);
	CHECK(memcmp(&hit, &same, sizeof(hit)) == 0);
	return hit;
}

void a_tracer_switches_allocations_on_and_off(void)
{
	struct wire_probes probes;
	struct fake_hit hit;

	connect();
	fake_jvm_post_alloc(1, 100);
	CHECK(!fake_jvm.may_sample && fake_jvm.alloc_requests == 0);
	fake_probes_raise("alloc");
	probes = expect_probes(WIRE_PROBES_ALLOC);
	CHECK(probes.alloc_interval == 512 << 10 && probes.alloc_events == 0);
	CHECK(fake_jvm.heap_interval == 512 << 10);
	fake_jvm_post_alloc(7, 24);
	hit = expect_hit("alloc", "alloc__sample", 1);
	CHECK(strcmp(hit.class_sig, "Lfake/C7;") == 0);
	CHECK(hit.args[1] == 24 && hit.args[2] == 512 << 10 && hit.args[3] == 0);
	fake_jvm_post_alloc(8, 1000);
	expect_hit("alloc", "alloc__sample", 2);
	fake_probes_lower("alloc");
	probes = expect_probes(0);
	CHECK(probes.alloc_events == 2 && probes.alloc_bytes == 1024);
	CHECK(probes.alloc_interval == 0);
	CHECK(!fake_jvm.is_sampling && !fake_jvm.may_sample);
	CHECK(fake_jvm.alloc_requests == 1 && fake_jvm.attached == 0);
	end_jvm();
}

/* A thread of the JVM was held up between the event and the callback. */
void a_late_allocation_is_nobodys(void)
{
	connect();
	fake_probes_raise("alloc__arm");
	wait_for(&fake_jvm.is_sampling, true);
	fake_probes_lower("alloc__arm");
	fake_jvm_post_late_alloc(1, 100);
	wait_for(&fake_jvm.may_sample, false);
	fake_jvm_post_late_alloc(1, 100);
	CHECK(fake_probes_hits("alloc") == 0);
	CHECK(expect_probes(0).alloc_events == 0);
	end_jvm();
}

/* Of two tracers, the one that wants more is served; none of these points ever runs. */
void the_smallest_interval_counts(void)
{
	connect();
	fake_probes_raise("alloc__arm_2m");
	wait_for_interval(2 << 20);
	fake_probes_raise("alloc__arm");
	wait_for_interval(512 << 10);
	fake_probes_raise("alloc__arm_16k");
	wait_for_interval(16 << 10);
	fake_jvm_post_alloc(1, 8);
	CHECK(expect_hit("alloc", "alloc__sample", 1).args[2] == 16 << 10);
	fake_probes_raise("alloc__arm_64k");
	fake_probes_lower("alloc__arm_16k");
	wait_for_interval(64 << 10);
	fake_probes_lower("alloc__arm_64k");
	fake_probes_lower("alloc__arm");
	wait_for_interval(2 << 20);
	CHECK(fake_jvm.alloc_requests == 1);
	fake_probes_lower("alloc__arm_2m");
	wait_for(&fake_jvm.may_sample, false);
	CHECK(fake_probes_hits("alloc__arm") == 0 && fake_probes_hits("alloc__arm_16k") == 0);
	end_jvm();
}

void a_long_class_name_is_cut_on_the_stack(void)
{
	struct fake_hit hit;

	fake_jvm.class_bytes = 3000;
	connect();
	fake_probes_raise("alloc");
	wait_for(&fake_jvm.is_sampling, true);
	fake_jvm_post_alloc(5, 16);
	hit = expect_hit("alloc", "alloc__sample", 1);
	CHECK(strlen(hit.class_sig) == 255);
	CHECK(strncmp(hit.class_sig, "Lfake/C000", 10) == 0);
	CHECK(strcmp(hit.class_sig + 252, "...") == 0);
	end_jvm();
}

/* As long as there are tracers: the other may let go. */
void a_capability_that_another_has_is_asked_for_once_a_second(void)
{
	uint64_t begin_ms;

	connect();
	fake_jvm.alloc_taken = true;
	begin_ms = now_ms();
	fake_probes_raise("alloc");
	CHECK(expect_probes(WIRE_PROBES_ALLOC_REFUSED).alloc_interval == 0);
	sleep_ms(5 * LOOK_MS);
	CHECK((uint64_t)fake_jvm.alloc_requests <= 1 + (now_ms() - begin_ms) / 1000);
	CHECK(!fake_jvm.is_sampling);
	fake_jvm.alloc_taken = false;
	expect_probes(WIRE_PROBES_ALLOC);
	CHECK(fake_jvm.alloc_requests >= 2 && fake_jvm.is_sampling);
	fake_probes_lower("alloc");
	expect_probes(0);
	fake_jvm.alloc_taken = true;
	fake_probes_raise("alloc");
	expect_probes(WIRE_PROBES_ALLOC_REFUSED);
	fake_probes_lower("alloc");
	expect_probes(0);
	sleep_ms(12 * LOOK_MS);
	CHECK(!fake_jvm.is_sampling);
	end_jvm();
}

void a_jvm_without_the_events_of_probes_is_left_alone(void)
{
	fake_jvm.jdk = 9;
	fake_jvm.no_monitor_events = true;
	connect();
	fake_probes_raise("alloc");
	fake_probes_raise("lock_enter");
	sleep_ms(5 * LOOK_MS);
	CHECK(fake_jvm.alloc_requests == 0 && !fake_jvm.may_watch && fake_jvm.attaches == 1);
	end_jvm();
}

void waits_for_locks_are_timed(void)
{
	struct fake_hit enter, entered;
	struct wire_probes probes;
	uint64_t begin_ms, end_ms;

	connect();
	fake_probes_raise("lock__arm");
	expect_probes(WIRE_PROBES_LOCK);
	begin_ms = now_ms();
	fake_jvm_post_enter(3);
	sleep_ms(50);
	fake_jvm_post_entered(3);
	end_ms = now_ms();
	enter = expect_hit("lock_enter", "lock_enter__sample", 1);
	entered = expect_hit("lock_entered", "lock_entered__sample", 1);
	CHECK(strcmp(enter.class_sig, "Lfake/C3;") == 0);
	CHECK(strcmp(entered.class_sig, "Lfake/C3;") == 0);
	CHECK(enter.args[1] != 0 && enter.args[1] == entered.args[2] && enter.args[2] == 0);
	CHECK(entered.args[1] >= 50000000);
	CHECK(entered.args[1] <= (end_ms - begin_ms + 1) * 1000000);
	fake_jvm_post_entered(3); /* its begin was not seen */
	fake_jvm_post_enter(4);
	fake_jvm_post_entered(4);
	CHECK(fake_probes_last("lock_enter").args[1] > enter.args[1]);
	expect_hit("lock_entered", "lock_entered__sample", 2);
	fake_probes_lower("lock__arm");
	probes = expect_probes(0);
	CHECK(probes.lock_events == 2);
	CHECK(probes.lock_ns == entered.args[1] + fake_probes_last("lock_entered").args[1]);
	CHECK(!fake_jvm.may_watch && !fake_jvm.is_entering && !fake_jvm.is_entered);
	end_jvm();
}

/* The wait began before the first tracer went; the second would have it last all the time since. */
void a_wait_of_an_earlier_tracer_is_not_the_next_ones(void)
{
	connect();
	fake_probes_raise("lock_enter");
	wait_for(&fake_jvm.is_entering, true);
	fake_jvm_post_enter(3);
	fake_probes_lower("lock_enter");
	wait_for(&fake_jvm.may_watch, false);
	fake_probes_raise("lock_entered");
	wait_for(&fake_jvm.is_entering, true);
	fake_jvm_post_entered(3);
	CHECK(fake_probes_hits("lock_enter") == 1 && fake_probes_hits("lock_entered") == 0);
	end_jvm();
}

/* Both tracers go while a thread waits; its callback comes late. */
void a_late_wait_is_nobodys(void)
{
	connect();
	fake_probes_raise("lock_enter");
	wait_for(&fake_jvm.is_entering, true);
	fake_jvm_post_enter(3);
	fake_probes_lower("lock_enter");
	wait_for(&fake_jvm.may_watch, false);
	fake_jvm_post_late_entered(3);
	CHECK(fake_probes_hits("lock_entered") == 0);
	CHECK(expect_probes(0).lock_events == 0);
	end_jvm();
}

/* Tools need no collector; the agent looks when it wakes to dial. */
void a_tracer_needs_no_collector(void)
{
	struct wire_probes probes;

	peer_fini(&peer);
	start_agent(",label=team:red");
	fake_probes_watch();
	fake_probes_raise("alloc");
	wait_for(&fake_jvm.is_sampling, true);
	fake_jvm_post_alloc(1, 10);
	fake_probes_lower("alloc");
	wait_for(&fake_jvm.may_sample, false);
	expect_hit("alloc", "alloc__sample", 1);
	CHECK(unlink(socket_path) == 0);
	peer_listen(&peer, socket_path);
	connect_agent(256 << 10, 1);
	probes = expect_probes(0);
	CHECK(probes.alloc_events == 1 && probes.alloc_bytes == 10);
	end_jvm();
}

/* A new collector is told how things stand, and the event outlasts the connection. */
void a_new_connection_is_told_of_probes(void)
{
	connect();
	fake_probes_raise("alloc");
	expect_probes(WIRE_PROBES_ALLOC);
	fake_jvm_post_alloc(1, 10);
	CHECK(expect_probes(WIRE_PROBES_ALLOC).alloc_events == 1);
	peer_close(&peer);
	connect_agent(256 << 10, 2);
	CHECK(expect_probes(WIRE_PROBES_ALLOC).alloc_events == 1);
	CHECK(fake_jvm.is_sampling && fake_jvm.alloc_requests == 1);
	end_jvm();
}

static atomic_bool crowd_ends;
static atomic_int crowd_rounds;

static void *make_a_crowd(void *arg)
{
	(void)arg;
	while (!atomic_load(&crowd_ends)) {
		fake_jvm_post_alloc(2, 16);
		fake_jvm_post_enter(3);
		fake_jvm_post_entered(3);
		atomic_fetch_add(&crowd_rounds, 1);
	}
	return NULL;
}

/* Both members may be in the middle of a round: the third to end has begun since. */
static void wait_for_a_round(void)
{
	const int before = atomic_load(&crowd_rounds);

	while (atomic_load(&crowd_rounds) - before < 3)
		sched_yield();
}

static void gather_a_crowd(pthread_t crowd[2])
{
	atomic_store(&crowd_ends, false);
	for (size_t i = 0; i < 2; i++)
		CHECK(pthread_create(&crowd[i], NULL, make_a_crowd, NULL) == 0);
}

static void end_the_crowd(const pthread_t crowd[2])
{
	atomic_store(&crowd_ends, true);
	for (size_t i = 0; i < 2; i++)
		CHECK(pthread_join(crowd[i], NULL) == 0);
}

/*
 * Tracers come and go among events, up to the end of the JVM and past it. A record has counts and
 * bytes of two moments, so a record of after the last event is waited for; an object of another
 * size says which that is.
 */
void probes_are_switched_among_events(void)
{
	pthread_t crowd[2];
	struct wire_probes probes;

	connect();
	gather_a_crowd(crowd);
	for (int i = 0; i < 5; i++) {
		fake_probes_raise("alloc");
		fake_probes_raise("lock__arm");
		wait_for(&fake_jvm.is_sampling, true);
		wait_for(&fake_jvm.is_entering, true);
		wait_for_a_round();
		fake_probes_lower("alloc");
		fake_probes_lower("lock__arm");
		wait_for(&fake_jvm.may_sample, false);
		wait_for(&fake_jvm.may_watch, false);
	}
	end_the_crowd(crowd);
	fake_probes_raise("alloc");
	wait_for(&fake_jvm.is_sampling, true);
	fake_jvm_post_alloc(1, 10);
	do {
		probes = expect_probes(WIRE_PROBES_ALLOC);
	} while (probes.alloc_bytes != 16 * (probes.alloc_events - 1) + 10);
	CHECK(probes.alloc_events > 1);
	gather_a_crowd(crowd);
	wait_for_a_round();
	fake_jvm_post_death();
	expect_kind(WIRE_BYE);
	fake_jvm_post_late_alloc(1, 16);
	end_the_crowd(crowd);
	CHECK(fake_jvm.allocations == 0 && fake_jvm.local_refs == 0 && fake_jvm.attached == 0);
	peer_close(&peer);
}
