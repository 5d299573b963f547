// SPDX-License-Identifier: Apache-2.0
/*
 * What a store costs: windows are made of a real recording, written, merged and read.
 *
 *   store_bench RECORDING DIR [PROCESSES [HOURS [SAMPLES [START]]]]
 *
 * A window of ten seconds has SAMPLES samples (190: a busy CPU at 19 Hz), each of a thread and
 * stack drawn from the recording at random, by their shares. Printed are bytes of a JVM's hour
 * before and after merging, the time and the calls of fsync of a window, of merging an hour, and of
 * reading ranges. Wanted: at most 300 KiB of an hour, ten minutes of one JVM in 200 ms, and a day
 * in a second.
 */
#include "base/clock.h"
#include "store/store_content.h"
#include "store/store_merge.h"
#include "store/store_reader.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define START_SEC UINT64_C(1764115200) /* a full hour, unless another one is given */
#define WINDOW	  10u
#define BOOT_SEC  1000000

struct source {
	struct store_content content;
	struct profile_part part;
	uint64_t *upto; /* weights of entries, summed up */
	struct frame frames[1024];
};

static void die(const char *what, int err)
{
	fprintf(stderr, "store_bench: %s: %s\n", what, strerror(-err));
	exit(EXIT_FAILURE);
}

/* The store reads files with names of segments alone. */
static void read_source(const char *path, const char *directory, struct source *source)
{
	static const char name[] = "00000000T000000Z-1-1.fgrec";
	uint64_t sum = 0;
	int dir_fd, err;

	mkdir(directory, 0700); /* or it is there */
	dir_fd = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (dir_fd < 0 || linkat(AT_FDCWD, path, dir_fd, name, 0) < 0)
		die("RECORDING has to be in DIR's file system, and DIR empty", -errno);
	err = store_content_read(&source->content, dir_fd, name, NULL);
	unlinkat(dir_fd, name, 0);
	close(dir_fd);

	if (err || source->content.n == 0)
		die(path, err);
	source->part = store_content_part(&source->content, 0);
	source->upto = calloc(source->part.timeline->n_entries + 1, sizeof(*source->upto));
	for (size_t i = 0; source->upto && i < source->part.timeline->n_entries; i++)
		source->upto[i] = sum += source->part.timeline->entries[i].weight;
}

static const struct timeline_entry *draw(const struct source *source)
{
	const size_t n = source->part.timeline->n_entries;
	const uint64_t at = ((uint64_t)random() << 31 | (uint64_t)random()) % source->upto[n - 1];
	size_t low = 0, high = n - 1;

	while (low < high) {
		const size_t middle = (low + high) / 2;

		if (source->upto[middle] > at)
			high = middle;
		else
			low = middle + 1;
	}
	return &source->part.timeline->entries[low];
}

static size_t stack_of(struct source *source, uint32_t id)
{
	const struct profile_node *const nodes = source->part.profile->nodes;
	size_t n = 0;

	for (; id && n < sizeof(source->frames) / sizeof(*source->frames); id = nodes[id].parent)
		source->frames[n++] = profile_frame_of(&nodes[id]);
	return n;
}

static void add_sample(struct source *source, struct profile *profile, struct timeline *timeline)
{
	const struct timeline *const from = source->part.timeline;
	const struct timeline_entry *const drawn = draw(source);
	struct timeline_thread thread = from->threads[drawn->thread];
	struct timeline_entry entry = {.weight = 1};

	profile_add_leaf(profile, source->frames, stack_of(source, drawn->node), 1, &entry.node);
	thread.process = timeline_process(timeline, &from->processes[thread.process]);
	entry.thread = timeline_thread(timeline, &thread);
	timeline_add(timeline, (uint64_t)random() % (WINDOW * CLOCK_NS_PER_SEC), &entry);
}

static struct wall_clock clock_at(uint64_t unix_sec)
{
	return (struct wall_clock){.boot = "bench",
				   .boot_sec = (int64_t)unix_sec - (int64_t)START_SEC + BOOT_SEC,
				   .unix_sec = (int64_t)unix_sec};
}

static void add_window(struct store *store, struct source *source, pid_t pid, uint64_t at_sec,
		       unsigned samples)
{
	const struct store_process process = {.host = "bench",
					      .boot = "bench",
					      .pid = pid,
					      .ticks = (uint64_t)pid,
					      .title = "org.example.Main",
					      .runtime = "OpenJDK",
					      .comm = "java"};
	struct profile_info info = *source->part.info;
	struct profile profile;
	struct timeline timeline;
	const struct profile_part part = {&profile_kind_cpu, &profile, &timeline, &info};
	const struct store_window window = {.process = process,
					    .start_ns = at_sec * CLOCK_NS_PER_SEC,
					    .end_ns = (at_sec + WINDOW) * CLOCK_NS_PER_SEC,
					    .parts = &part,
					    .n_parts = 1};
	int err = profile_init(&profile, 0);

	if (err)
		die("profile", err);
	timeline_init(&timeline, 0);
	for (unsigned i = 0; i < samples; i++)
		add_sample(source, &profile, &timeline);
	timeline_sort(&timeline);
	info.hz = 19;
	info.start_unix_ns = window.start_ns;
	info.duration_ns = WINDOW * CLOCK_NS_PER_SEC;
	info.quality = profile.quality;
	err = store_add(store, &window);
	if (err)
		die("store_add", err);
	profile_fini(&profile);
	timeline_fini(&timeline);
}

static double seconds_since(uint64_t start_ns)
{
	return (double)(clock_now_ns() - start_ns) / 1e9;
}

static void write_hour(struct store *store, struct source *source, unsigned processes,
		       uint64_t start_sec, unsigned samples)
{
	const uint64_t start_ns = clock_now_ns();
	const uint64_t before = store->stats.segment_bytes;
	struct wall_clock now;
	uint64_t merging_ns;
	unsigned merged = 0;

	for (uint64_t at = start_sec; at < start_sec + STORE_HOUR_SEC; at += WINDOW) {
		now = clock_at(at + WINDOW);
		if (store_begin(store, &now) < 0)
			die("store_begin", -EIO);
		for (unsigned i = 0; i < processes; i++)
			add_window(store, source, (pid_t)(1000 + i), at, samples);
		if (store_commit(store) < 0)
			die("store_commit", -EIO);
	}
	printf("an hour of windows: %.1f KiB a process, %.2f ms a window with making it up\n",
	       (double)(store->stats.segment_bytes - before) / 1024 / processes,
	       seconds_since(start_ns) * 1000 / 360 / processes);
	now = clock_at(start_sec + STORE_HOUR_SEC + 2 * STORE_MERGE_WAIT_SEC);
	merging_ns = clock_now_ns();
	while (store_merge(store, &now) > 0)
		merged++;
	printf("merged: %.1f KiB a process, %.0f ms each\n",
	       (double)(store->stats.segment_bytes - before) / 1024 / processes,
	       seconds_since(merging_ns) * 1000 / (merged ? merged : 1));
}

static void read_range(const char *dir, pid_t pid, uint64_t from_sec, uint64_t seconds)
{
	const struct store_query query = {
		.range = {from_sec * CLOCK_NS_PER_SEC, (from_sec + seconds) * CLOCK_NS_PER_SEC},
		.pid = pid};
	const uint64_t start_ns = clock_now_ns();
	char why[STORE_READER_MESSAGE];
	struct store_reading reading;
	struct store_reader reader;
	struct store_sum sum = {0};

	if (store_reader_open(dir, &reader, why) < 0)
		die(why, -EIO);
	if (store_reader_sum(&reader, &query, &sum, &reading) < 0)
		die("store_reader_sum", -EIO);
	printf("%6llu s of %llu processes: %.0f ms, %llu segments, %llu samples\n",
	       (unsigned long long)seconds, (unsigned long long)reading.processes,
	       seconds_since(start_ns) * 1000, (unsigned long long)reading.segments,
	       (unsigned long long)(sum.n ? sum.kinds[0]->profile.quality.samples : 0));
	store_sum_fini(&sum);
	store_reader_close(&reader);
}

int main(int argc, char **argv)
{
	const struct store_limits limits = {.bytes = UINT64_C(1) << 40, .age_sec = UINT32_MAX};
	const uint64_t start = argc > 6 ? strtoull(argv[6], NULL, 10) : START_SEC;
	const struct wall_clock now = clock_at(start);
	const unsigned processes = argc > 3 ? (unsigned)atoi(argv[3]) : 1;
	const unsigned hours = argc > 4 ? (unsigned)atoi(argv[4]) : 2;
	const unsigned samples = argc > 5 ? (unsigned)atoi(argv[5]) : 190;
	static struct source source;
	char why[STORE_WHY_BYTES];
	struct store *store;

	if (argc < 3) {
		fputs("store_bench RECORDING DIR [PROCESSES [HOURS [SAMPLES [START]]]]\n", stderr);
		return 2;
	}
	read_source(argv[1], argv[2], &source);
	if (store_open(argv[2], &limits, &now, &store, why) < 0)
		die(why, -EIO);
	for (unsigned i = 0; i < hours; i++)
		write_hour(store, &source, processes, start + i * STORE_HOUR_SEC, samples);
	printf("index: %.1f KiB\n", (double)store->stats.index_bytes / 1024);
	store_close(store);
	read_range(argv[2], 1000, start + 600, 600);
	read_range(argv[2], 1000, start, hours * (uint64_t)STORE_HOUR_SEC);
	read_range(argv[2], 0, start + 600, 600);
	store_content_fini(&source.content);
	free(source.upto);
	return 0;
}
