// SPDX-License-Identifier: Apache-2.0
/*
 * Decides when a perf map is written, see map_writer.h. Agents send at ticks (WIRE_TICK_NS). A perf
 * map appears right behind a tick, with the events that agents sent at this tick:
 *
 *   |---- 25 ms ----|---- 25 ms ----|---- 25 ms ----|---- 25 ms ----|
 *   last perf map                                   draft begins    next perf map
 */
#include "maps/map_writer.h"

#include "base/clock.h"
#include "guard/heap_bytes.h"
#include "maps/perf_map.h"
#include "shared/wire.h"

#include <errno.h>
#include <stdlib.h>

#define INTERVAL_NS (100 * CLOCK_NS_PER_MS)
#define BATCH_NS    (5 * CLOCK_NS_PER_MS) /* so that a burst of events becomes one write */
#define SETTLE_NS   (2 * CLOCK_NS_PER_MS) /* for events that are sent at a tick to arrive */
#define LATE_NS	    (5 * CLOCK_NS_PER_MS) /* a map appears behind its tick; the next one need not */
#define RETRY_NS    (1 * CLOCK_NS_PER_SEC)
#define SPARE_NS    (1 * CLOCK_NS_PER_SEC)
#define REST_FACTOR 10

static uint64_t larger_of(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

static uint64_t smaller_of(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

static uint64_t left_of(uint64_t used, uint64_t limit)
{
	return limit > used ? limit - used : 0;
}

/* ---- room ---- */

/* Counts what the files take now. */
static void settle(struct map_writer *writer)
{
	const uint64_t bytes = map_writer_bytes(writer);

	if (!writer->room)
		return;
	writer->room->live_bytes += bytes - writer->counted;
	writer->counted = bytes;
}

/*
 * How large a draft of so many bytes may become now. The last eighth is for drafts that are not
 * larger than the writer's part: nobody else can leave them without room.
 */
static uint64_t most_bytes(const struct map_writer *writer, uint64_t bytes)
{
	const struct map_room *const room = writer->room;
	uint64_t used, eighth, most;

	if (!room)
		return UINT64_MAX;
	used = room->live_bytes + room->kept_bytes;
	eighth = room->limit_bytes / 8;
	most = bytes + left_of(used, room->limit_bytes - eighth);
	if (most < writer->part)
		most = smaller_of(writer->part, bytes + left_of(used, room->limit_bytes));
	return larger_of(most, MAP_WRITER_LEAST_BYTES);
}

static void allow_draft(struct map_writer *writer)
{
	settle(writer);
	writer->draft->most_bytes =
		most_bytes(writer, writer->draft->written + writer->draft->used);
}

/* ---- drafts ---- */

static void drop_draft(struct map_writer *writer)
{
	if (writer->draft)
		perf_map_drop(writer->draft);
	free(writer->draft);
	writer->draft = NULL;
}

static void forget_pair(struct map_writer *writer)
{
	if (writer->pair)
		perf_map_forget(writer->dir, writer->pair, false);
	free(writer->pair);
	writer->pair = NULL;
}

void map_writer_fini(struct map_writer *writer)
{
	drop_draft(writer);
	forget_pair(writer);
}

void map_writer_mark(struct map_writer *writer, const struct code_map *code,
		     const struct code_range *range, uint64_t now_ns)
{
	const struct code_range *rests[CODE_MAP_RESTS];
	size_t n_rests;

	if (!writer->changed_ns)
		writer->changed_ns = now_ns;
	writer->marked_ns = now_ns;
	if (!writer->draft || !range)
		return;
	allow_draft(writer);
	perf_map_add(writer->draft, code, range);
	n_rests = code_map_rests(code, rests);
	for (size_t i = 0; i < n_rests; i++)
		perf_map_add(writer->draft, code, rests[i]);
	settle(writer);
}

void map_writer_restart(struct map_writer *writer, uint64_t now_ns)
{
	drop_draft(writer);
	forget_pair(writer);
	settle(writer);
	map_writer_mark(writer, NULL, NULL, now_ns);
}

void map_writer_give_up(struct map_writer *writer)
{
	drop_draft(writer);
	forget_pair(writer);
	settle(writer);
	writer->changed_ns = 0;
}

void map_writer_hurry(struct map_writer *writer)
{
	writer->next_ns = 0;
}

/* The tick at which the map is to appear. */
static uint64_t publish_ns(const struct map_writer *writer)
{
	const uint64_t from_ns = larger_of(writer->next_ns, writer->changed_ns + BATCH_NS);

	return (from_ns + WIRE_TICK_NS - 1) / WIRE_TICK_NS * WIRE_TICK_NS;
}

/*
 * When the events sent at a tick have arrived: as soon as an event has come since the tick, else
 * after SETTLE_NS.
 */
static uint64_t settled_ns(const struct map_writer *writer, uint64_t tick_ns)
{
	return writer->marked_ns >= tick_ns ? tick_ns : tick_ns + SETTLE_NS;
}

static bool has_spare(const struct map_writer *writer)
{
	return writer->pair && writer->pair->spare.is_open;
}

uint64_t map_writer_bytes(const struct map_writer *writer)
{
	uint64_t bytes = writer->file_bytes;

	if (writer->draft)
		bytes += writer->draft->written + writer->draft->used;
	else if (has_spare(writer))
		bytes += (uint64_t)writer->pair->spare.size;
	return bytes;
}

size_t map_writer_heap_bytes(const struct map_writer *writer)
{
	size_t bytes = writer->draft ? heap_bytes(sizeof(*writer->draft)) : 0;

	if (writer->pair)
		bytes += heap_bytes(sizeof(*writer->pair)) +
			 heap_bytes(map64_bytes(&writer->pair->lines));
	return bytes;
}

uint64_t map_writer_due_ns(const struct map_writer *writer)
{
	if (!writer->changed_ns)
		return has_spare(writer) ? writer->written_ns + SPARE_NS : 0;
	if (writer->draft && !writer->draft->is_whole)
		return writer->changed_ns;
	return settled_ns(writer, publish_ns(writer) - (writer->draft ? 0 : WIRE_TICK_NS));
}

static int begin_draft(struct map_writer *writer, const char *dir, pid_t pid,
		       const struct code_map *code)
{
	const uint64_t spare = has_spare(writer) ? (uint64_t)writer->pair->spare.size : 0;
	struct perf_map_form form = {.max_bytes = writer->max_bytes,
				     .most_bytes = most_bytes(writer, spare),
				     .style = writer->style};
	const uint64_t began_ns = clock_now_ns();
	int err;

	writer->dir = dir;
	if (!form.max_bytes)
		form.max_bytes = PERF_MAP_MAX_BYTES;
	if (!writer->pair)
		writer->pair = calloc(1, sizeof(*writer->pair));
	form.pair = writer->pair;
	writer->draft = writer->pair ? malloc(sizeof(*writer->draft)) : NULL;
	if (!writer->draft)
		return -ENOMEM;
	err = perf_map_draft(dir, pid, code, &form, writer->draft);
	writer->took_ns = clock_now_ns() - began_ns;
	if (err) {
		free(writer->draft);
		writer->draft = NULL;
	}
	return err;
}

/*
 * Adds to a draft that is not whole. A draft that cannot be gone on with is dropped, and the next
 * one rests as after a perf map. False: there is no draft now.
 */
static bool go_on(struct map_writer *writer, const struct code_map *code, uint64_t now_ns)
{
	const uint64_t began_ns = clock_now_ns();
	bool is_good;

	allow_draft(writer);
	is_good = !perf_map_is_outdated(writer->draft, code) &&
		  perf_map_go_on(writer->draft, code) == 0;
	writer->took_ns += clock_now_ns() - began_ns;
	if (is_good)
		return true;
	drop_draft(writer);
	writer->next_ns = now_ns + larger_of(INTERVAL_NS - LATE_NS, REST_FACTOR * writer->took_ns);
	return false;
}

static int publish(struct map_writer *writer, const struct code_map *code)
{
	const uint64_t bytes = writer->draft->written + writer->draft->used;
	const ssize_t cut = perf_map_publish(writer->draft, code);

	free(writer->draft);
	writer->draft = NULL;
	if (cut < 0)
		return (int)cut;
	writer->file_bytes = bytes;
	writer->is_beside = writer->pair && writer->pair->is_beside;
	writer->cut = (size_t)cut;
	writer->changed_ns = 0;
	return 1;
}

/*
 * Whether there is no room for as much as the last perf map had and the writer may have, or for as
 * much as its part: others are about to have less, so the perf map is put off rather than cut.
 */
static bool must_wait(const struct map_writer *writer)
{
	const uint64_t spare = has_spare(writer) ? (uint64_t)writer->pair->spare.size : 0;

	if (writer->draft)
		return writer->draft->lacked_room && writer->draft->most_bytes < writer->part;
	return writer->file_bytes <= writer->share &&
	       most_bytes(writer, spare) < writer->file_bytes;
}

static int wait_for_room(struct map_writer *writer, uint64_t now_ns)
{
	drop_draft(writer);
	writer->next_ns = now_ns + INTERVAL_NS;
	return 0;
}

static int step(struct map_writer *writer, const char *dir, pid_t pid, const struct code_map *code,
		uint64_t now_ns)
{
	const uint64_t began_ns = clock_now_ns();
	const uint64_t due_ns = map_writer_due_ns(writer);
	bool is_time = due_ns && now_ns >= settled_ns(writer, publish_ns(writer));
	uint64_t appears_ns;
	int err = 0;

	if (!due_ns || now_ns < due_ns)
		return 0;
	if (!writer->changed_ns) {
		perf_map_forget(dir, writer->pair, true);
		return 0;
	}
	if (writer->draft && !writer->draft->is_whole && !go_on(writer, code, now_ns))
		return 0;
	if (is_time && writer->draft && perf_map_is_outdated(writer->draft, code))
		drop_draft(writer);
	settle(writer);
	if (!writer->draft && must_wait(writer))
		return wait_for_room(writer, now_ns);
	if (!writer->draft)
		err = begin_draft(writer, dir, pid, code);
	if (!err && must_wait(writer))
		return wait_for_room(writer, now_ns);
	is_time &= writer->draft && writer->draft->is_whole;
	appears_ns = now_ns + (clock_now_ns() - began_ns);
	if (!err && is_time)
		err = publish(writer, code);
	if (!err)
		return 0;
	writer->written_ns = appears_ns;
	writer->next_ns = writer->written_ns +
			  larger_of(INTERVAL_NS - LATE_NS, REST_FACTOR * writer->took_ns);
	if (err < 0) {
		writer->next_ns = larger_of(writer->next_ns, writer->written_ns + RETRY_NS);
		writer->failures++;
	}
	return err;
}

int map_writer_step(struct map_writer *writer, const char *dir, pid_t pid,
		    const struct code_map *code, uint64_t now_ns)
{
	const int result = step(writer, dir, pid, code, now_ns);

	settle(writer);
	return result;
}
