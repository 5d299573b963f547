// SPDX-License-Identifier: Apache-2.0
/*
 * Compares /proc/<pid>/maps with what is known, see lost_mappings.h. What was unmapped stays:
 * samples that wait may be of it, and the kernel does not tell of that otherwise either.
 */
#include "app/lost_mappings.h"

#include "base/clock.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

void lost_mappings_note(struct lost_mappings *lost, uint64_t now_ns)
{
	lost->lost_ns = now_ns;
}

bool lost_mappings_is_due(struct lost_mappings *lost, const struct process *process,
			  uint64_t now_ns)
{
	if (process->space_read_ns >= lost->lost_ns || process->gone_ns)
		return false;
	if (now_ns >= lost->turn_ns) {
		lost->turn_ns = now_ns + LOST_MAPPINGS_TURN_NS;
		lost->spent_ns = 0;
	}
	if (lost->spent_ns < LOST_MAPPINGS_SPENT_NS &&
	    now_ns >= process->space_read_ns + LOST_MAPPINGS_INTERVAL_NS)
		return true;
	lost->put_off++;
	return false;
}

static bool is_known(const struct address_space *space, const struct mapping *mapping)
{
	const struct mapping *known = address_space_find(space, mapping->start);

	return known && known->start <= mapping->start && known->end >= mapping->end &&
	       known->inode == mapping->inode && known->dev_major == mapping->dev_major &&
	       known->dev_minor == mapping->dev_minor &&
	       (mapping->inode == 0 ||
		known->file_off + (mapping->start - known->start) == mapping->file_off);
}

static bool is_free(const struct address_space *space, const struct mapping *mapping)
{
	return !address_space_find(space, mapping->start) &&
	       !address_space_find(space, mapping->end - 1);
}

static struct perf_record record_of(const struct process *process, const struct mapping *mapping,
				    const char *path, uint64_t now_ns)
{
	return (struct perf_record){
		.kind = PERF_MMAP,
		.time_ns = now_ns,
		.pid = process->pid,
		.tid = process->pid,
		.mmap = {.addr = mapping->start,
			 .len = mapping->end - mapping->start,
			 .file_off = mapping->file_off,
			 .dev_major = mapping->dev_major,
			 .dev_minor = mapping->dev_minor,
			 .inode = mapping->inode,
			 .path = path},
	};
}

void lost_mappings_read(struct lost_mappings *lost, struct process *process, uint64_t now_ns,
			void (*fn)(void *arg, const struct perf_record *record), void *arg)
{
	const uint64_t began_ns = clock_now_ns();
	struct address_space fresh = {0};
	char path[PATH_MAX + sizeof(" (deleted)")];

	lost->reads++;
	process->space_read_ns = now_ns;
	(void)address_space_read(&fresh, process->pid); /* gone: nothing is known of it then */
	for (size_t i = 0; i < fresh.count; i++) {
		const struct mapping *mapping = &fresh.mappings[i];
		struct perf_record record;

		if (is_known(&process->space, mapping))
			continue;
		snprintf(path, sizeof(path), "%s%s", mapping->path,
			 mapping->is_deleted ? " (deleted)" : "");
		record = record_of(process, mapping, path, now_ns);
		if (is_free(&process->space, mapping))
			(void)address_space_add(&process->space, mapping);
		fn(arg, &record);
	}
	address_space_fini(&fresh);
	lost->spent_ns += clock_now_ns() - began_ns;
}
