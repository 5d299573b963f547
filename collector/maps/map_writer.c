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

static uint64_t later_of(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

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
	perf_map_add(writer->draft, code, range);
	n_rests = code_map_rests(code, rests);
	for (size_t i = 0; i < n_rests; i++)
		perf_map_add(writer->draft, code, rests[i]);
}

void map_writer_restart(struct map_writer *writer, uint64_t now_ns)
{
	drop_draft(writer);
	forget_pair(writer);
	map_writer_mark(writer, NULL, NULL, now_ns);
}

void map_writer_give_up(struct map_writer *writer)
{
	drop_draft(writer);
	forget_pair(writer);
	writer->changed_ns = 0;
}

/* The tick at which the map is to appear. */
static uint64_t publish_ns(const struct map_writer *writer)
{
	const uint64_t from_ns = later_of(writer->next_ns, writer->changed_ns + BATCH_NS);

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
	struct perf_map_form form = {.max_bytes = writer->max_bytes, .style = writer->style};
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
	const bool is_good = !perf_map_is_outdated(writer->draft, code) &&
			     perf_map_go_on(writer->draft, code) == 0;

	writer->took_ns += clock_now_ns() - began_ns;
	if (is_good)
		return true;
	drop_draft(writer);
	writer->next_ns = now_ns + later_of(INTERVAL_NS - LATE_NS, REST_FACTOR * writer->took_ns);
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
	writer->cut = (size_t)cut;
	writer->changed_ns = 0;
	return 1;
}

int map_writer_step(struct map_writer *writer, const char *dir, pid_t pid,
		    const struct code_map *code, uint64_t now_ns)
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
	if (!writer->draft)
		err = begin_draft(writer, dir, pid, code);
	is_time &= writer->draft && writer->draft->is_whole;
	appears_ns = now_ns + (clock_now_ns() - began_ns);
	if (!err && is_time)
		err = publish(writer, code);
	if (!err)
		return 0;
	writer->written_ns = appears_ns;
	writer->next_ns =
		writer->written_ns + later_of(INTERVAL_NS - LATE_NS, REST_FACTOR * writer->took_ns);
	if (err < 0) {
		writer->next_ns = later_of(writer->next_ns, writer->written_ns + RETRY_NS);
		writer->failures++;
	}
	return err;
}
