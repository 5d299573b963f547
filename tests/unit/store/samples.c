// SPDX-License-Identifier: Apache-2.0
/* Makes samples, see samples.h. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "samples.h"

#include <string.h>

#define PID 4711
#define TID 4712

void samples_init(struct samples *samples, const struct profile_kind *kind, uint64_t start_sec,
		  unsigned seconds)
{
	*samples = (struct samples){0};
	assert_int_equal(profile_init(&samples->profile, 0), 0);
	timeline_init(&samples->timeline, 0);
	samples->info = (struct profile_info){
		.host = "h",
		.boot_id = "b",
		.kernel = "6.1",
		.event = "cpu-clock",
		.program = "test",
		.hz = 19,
		.start_unix_ns = start_sec * SAMPLES_SEC,
		.duration_ns = seconds * SAMPLES_SEC,
	};
	samples->part =
		(struct profile_part){kind, &samples->profile, &samples->timeline, &samples->info};
}

void samples_fini(struct samples *samples)
{
	profile_fini(&samples->profile);
	timeline_fini(&samples->timeline);
}

void samples_add(struct samples *samples, const char *method, double at_sec, uint64_t weight)
{
	const struct frame frames[] = {{.name = method, .kind = FRAME_JIT},
				       {.name = "Main.main", .kind = FRAME_INTERPRETED}};
	const struct timeline_process process = {
		.pid = PID, .title = "org.example.Main", .runtime = "OpenJDK 17"};
	struct timeline_entry entry;
	struct timeline_thread thread = {.tid = TID, .name = "main"};

	assert_int_equal(profile_add_leaf(&samples->profile, frames, 2, weight, &entry.node), 0);
	thread.process = timeline_process(&samples->timeline, &process);
	entry.thread = timeline_thread(&samples->timeline, &thread);
	timeline_add_weight(&samples->timeline, (uint64_t)(at_sec * (double)SAMPLES_SEC), &entry,
			    weight);
}

void samples_end(struct samples *samples)
{
	timeline_sort(&samples->timeline);
	samples->info.quality = samples->profile.quality;
}

struct wall_clock samples_clock(int64_t unix_sec)
{
	return (struct wall_clock){
		.boot = "b", .boot_sec = unix_sec - 1000000, .unix_sec = unix_sec};
}

struct store *samples_open(const char *dir, int64_t now_sec)
{
	const struct store_limits limits = {.bytes = UINT64_C(1) << 40, .age_sec = 1000000000};
	const struct wall_clock now = samples_clock(now_sec);
	char why[STORE_WHY_BYTES];
	struct store *store = NULL;
	const int err = store_open(dir, &limits, &now, &store, why);

	assert_string_equal(why, "");
	assert_int_equal(err, 0);
	return store;
}

struct store_process samples_process(pid_t pid, uint64_t ticks, const char *title)
{
	return (struct store_process){.host = "h",
				      .boot = "b",
				      .pid = pid,
				      .ticks = ticks,
				      .started_ns = 1000000 * SAMPLES_SEC,
				      .title = title,
				      .runtime = "OpenJDK 17",
				      .comm = "java",
				      .container = "",
				      .container_name = "",
				      .pod = "",
				      .pod_uid = "",
				      .name_space = ""};
}

int samples_write(struct store *store, int64_t now_sec, const struct store_process *process,
		  const char *method, uint64_t start_sec, uint64_t weight)
{
	const struct wall_clock now = samples_clock(now_sec);
	struct samples samples;
	struct store_window window = {.process = *process,
				      .start_ns = start_sec * SAMPLES_SEC,
				      .end_ns = (start_sec + 10) * SAMPLES_SEC,
				      .parts = &samples.part,
				      .n_parts = 1};
	int err, committed;

	samples_init(&samples, &profile_kind_cpu, start_sec, 10);
	samples_add(&samples, method, 1, weight);
	samples_end(&samples);
	err = store_begin(store, &now);
	if (!err) {
		err = store_add(store, &window);
		committed = store_commit(store);
		err = err ? err : committed;
	}
	samples_fini(&samples);
	return err;
}

uint64_t samples_count_in(const struct store_sum *sum, const char *method)
{
	uint64_t count = 0;

	for (size_t i = 0; i < sum->n; i++) {
		const struct profile *const profile = &sum->kinds[i]->profile;

		for (uint32_t id = 0; id < profile->count; id++)
			if (strcmp(profile->nodes[id].name, method) == 0)
				count += profile->nodes[id].self;
	}
	return count;
}

uint64_t samples_count(const char *dir, const char *method, uint64_t from_sec, uint64_t to_sec)
{
	const struct store_query query = {.range = {from_sec * SAMPLES_SEC, to_sec * SAMPLES_SEC}};
	char why[STORE_READER_MESSAGE];
	struct store_reading reading;
	struct store_reader reader;
	struct store_sum sum = {0};
	uint64_t count;

	assert_int_equal(store_reader_open(dir, &reader, why), 0);
	assert_int_equal(store_reader_sum(&reader, &query, &sum, &reading), 0);
	count = samples_count_in(&sum, method);
	store_sum_fini(&sum);
	store_reader_close(&reader);
	return count;
}
