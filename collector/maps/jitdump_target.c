// SPDX-License-Identifier: Apache-2.0
/* Adds new code to the jitdump, and again when its mapping has grown, see jitdump_target.h. */
#include "maps/jitdump_target.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "maps/code_lines.h"
#include "memory/space_reader.h"

#define MIN_PAUSE_NS (20 * CLOCK_NS_PER_MS)
#define PIECE_NS     UINT64_C(50000)	   /* pause for each range written again */
#define REST_FACTOR  10			   /* times the time taken: at most a tenth of a CPU */
#define READ_NS	     (5 * CLOCK_NS_PER_MS) /* of mappings; a process with more has no repeats */

void jitdump_target_fini(struct jitdump_target *target)
{
	address_space_fini(&target->known);
	target->outgrown_ns = 0;
}

uint32_t jitdump_target_number(struct jitdump_target *target)
{
	return target->dump ? jitdump_number(target->dump) : 0;
}

static bool is_within(const struct address_space *space, const struct code_range *range)
{
	const struct mapping *mapping = address_space_find(space, range->addr);

	return mapping && range->size <= mapping->end - range->addr;
}

void jitdump_target_add(struct jitdump_target *target, pid_t pid, const struct code_range *range,
			uint64_t time_ns, uint64_t now_ns)
{
	_cleanup_(code_lines_fini) struct code_lines lines = {0};
	struct jitdump_load load = {.pid = pid, .time_ns = time_ns, .range = range};

	if (!target->dump)
		return;
	code_lines_collect(&lines, range);
	load.lines = lines.lines;
	load.n_lines = lines.count;
	if (jitdump_add_load(target->dump, &load, &target->used_bytes) < 0)
		return;
	if (!target->outgrown_ns && !is_within(&target->known, range))
		target->outgrown_ns = now_ns;
}

uint64_t jitdump_target_due_ns(const struct jitdump_target *target)
{
	if (!target->outgrown_ns)
		return 0;
	return target->next_ns > target->outgrown_ns ? target->next_ns : target->outgrown_ns;
}

/*
 * Whether the mapping around the code has changed since the old mappings were read, so that perf
 * was told of it.
 */
static bool has_moved(const struct address_space *old, const struct address_space *new,
		      uint64_t addr)
{
	const struct mapping *a = address_space_find(old, addr), *b = address_space_find(new, addr);

	return b && (!a || a->start != b->start || a->end != b->end);
}

/* Writes ranges again whose mapping has changed. Returns their number. */
static size_t repeat(struct jitdump_target *target, pid_t pid, const struct code_map *code,
		     const struct address_space *old)
{
	_cleanup_free_ const struct code_range **ranges = NULL;
	const uint64_t since_ns = clock_now_ns(); /* later than all mappings that were read */
	const ssize_t count = code_map_list(code, 0, &ranges);
	size_t repeated = 0;

	for (ssize_t i = 0; i < count; i++) {
		const struct jitdump_load load = {
			.pid = pid, .time_ns = since_ns, .range = ranges[i]};

		if (ranges[i]->is_rest || !has_moved(old, &target->known, ranges[i]->addr))
			continue;
		if (jitdump_add_repeat(target->dump, &load, &target->used_bytes) == 0)
			repeated++;
	}
	return repeated;
}

static uint64_t later_of(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

/* False: the process is gone, or has more mappings than can be read at once. */
static bool read_known(struct jitdump_target *target, pid_t pid)
{
	struct space_reader *const reader = space_reader_new(pid);
	const bool is_read = reader && space_reader_step(reader, READ_NS) == 0;

	if (is_read)
		space_reader_take(reader, &target->known);
	space_reader_free(reader);
	return is_read;
}

void jitdump_target_step(struct jitdump_target *target, pid_t pid, const struct code_map *code,
			 uint64_t now_ns)
{
	const uint64_t due_ns = jitdump_target_due_ns(target), began_ns = clock_now_ns();
	struct address_space old = target->known;
	size_t repeated = 0;

	if (!due_ns || now_ns < due_ns)
		return;
	target->outgrown_ns = 0;
	target->known = (struct address_space){0};
	if (read_known(target, pid))
		repeated = repeat(target, pid, code, &old);
	address_space_fini(&old);
	target->next_ns = clock_now_ns() + later_of(later_of(MIN_PAUSE_NS, repeated * PIECE_NS),
						    REST_FACTOR * (clock_now_ns() - began_ns));
}
