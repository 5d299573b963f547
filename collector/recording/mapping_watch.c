// SPDX-License-Identifier: Apache-2.0
/*
 * Compares /proc/<pid>/maps with the mappings that are known, see mapping_watch.h. A mapping that
 * is gone stays known: held samples may lie in it, and the kernel's records report no unmapping
 * either.
 */
#include "recording/mapping_watch.h"

#include "base/clock.h"
#include "base/process_stat.h"
#include "memory/space_reader.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

void mapping_watch_note_loss(struct mapping_watch *watch, uint64_t now_ns)
{
	watch->lost_ns = now_ns;
}

/* Whether a library has come or gone since the process was read, as far as sizes can say. */
static bool has_changed(struct mapping_watch *watch, struct process *process, uint64_t now_ns)
{
	const uint64_t began_ns = clock_now_ns();
	uint64_t bytes;

	if (now_ns < process->space_read_ns + MAPPING_WATCH_CHECK_WAIT_NS ||
	    now_ns < process->space_checked_ns + MAPPING_WATCH_CHECK_WAIT_NS)
		return false;
	process->space_checked_ns = now_ns;
	bytes = process_stat_code_bytes(process->pid);
	watch->spent_ns += clock_now_ns() - began_ns;
	return bytes > 0 && bytes != process->space.code_bytes;
}

static bool has_time(struct mapping_watch *watch, uint64_t now_ns)
{
	if (now_ns >= watch->turn_ns) {
		watch->turn_ns = now_ns + MAPPING_WATCH_TURN_NS;
		watch->spent_ns = 0;
	}
	return watch->spent_ns < MAPPING_WATCH_SPENT_NS;
}

/* Whether records of the process's mappings may have been lost since it was read. */
static bool is_before_loss(const struct mapping_watch *watch, const struct process *process)
{
	return watch->lost_ns && process->space_read_ns < watch->lost_ns;
}

/*
 * Whether the process has to be read again. Another reading cannot help a sample from before the
 * last reading.
 */
static bool is_wanted(struct mapping_watch *watch, struct process *process, uint64_t time_ns,
		      bool has_missed, uint64_t now_ns)
{
	if (is_before_loss(watch, process))
		return true;
	if (watch->is_told)
		return false;
	return (has_missed && time_ns > process->space_read_ns) ||
	       (has_time(watch, now_ns) && has_changed(watch, process, now_ns));
}

static uint64_t wait_of(const struct mapping_watch *watch, const struct process *process)
{
	if (watch->is_told)
		return MAPPING_WATCH_LOSS_WAIT_NS;
	return process->space_wait_ns ? process->space_wait_ns : MAPPING_WATCH_WAIT_NS;
}

static bool is_being_read(const struct process *process)
{
	return process->reader || process->space_due_ns;
}

bool mapping_watch_is_due(struct mapping_watch *watch, struct process *process, uint64_t time_ns,
			  bool has_missed, uint64_t now_ns)
{
	if (process->gone_ns || !is_wanted(watch, process, time_ns, has_missed, now_ns))
		return false;
	if (!is_being_read(process) && has_time(watch, now_ns) &&
	    now_ns >= process->space_read_ns + wait_of(watch, process))
		return true;
	watch->put_off++;
	return false;
}

/* Whether the size of code says that no library has come since the last reading up to time_ns. */
static bool is_same(struct mapping_watch *watch, struct process *process, uint64_t time_ns,
		    uint64_t now_ns)
{
	const uint64_t began_ns = clock_now_ns();
	uint64_t bytes;

	if (time_ns <= process->space_same_ns)
		return true;
	bytes = process_stat_code_bytes(process->pid);
	watch->spent_ns += clock_now_ns() - began_ns;
	if (bytes > 0 && bytes != process->space.code_bytes)
		return false;
	process->space_same_ns = now_ns;
	return true;
}

enum mapping_hope mapping_watch_hope(struct mapping_watch *watch, struct process *process,
				     uint64_t time_ns, uint64_t now_ns)
{
	const bool has_lost = is_before_loss(watch, process);
	uint64_t wait_ns = watch->is_told ? MAPPING_WATCH_LOSS_WAIT_NS : MAPPING_WATCH_WAIT_NS;
	bool can_wait = true;

	if (process->gone_ns)
		return MAPPING_HOPE_NONE;
	if (is_being_read(process))
		return MAPPING_HOPE_LATER;
	if (!has_lost && (watch->is_told || time_ns <= process->space_read_ns))
		return MAPPING_HOPE_NONE;
	if (!has_time(watch, now_ns))
		return MAPPING_HOPE_LATER;
	/* Sizes do not tell of all code, but no sample waits for what they do not tell of. */
	if (!has_lost && is_same(watch, process, time_ns, now_ns)) {
		wait_ns = wait_of(watch, process);
		can_wait = false;
	}
	if (now_ns >= process->space_read_ns + wait_ns)
		return MAPPING_HOPE_NOW;
	return can_wait ? MAPPING_HOPE_LATER : MAPPING_HOPE_NONE;
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

static struct record record_of(const struct process *process, const struct mapping *mapping,
			       const char *path, uint64_t now_ns)
{
	return (struct record){
		.kind = RECORD_MMAP,
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

/* The next wait after a reading that found nothing new: twice the last wait, up to the limit. */
static uint64_t longer_wait(uint64_t wait_ns)
{
	const uint64_t longer_ns = 2 * (wait_ns ? wait_ns : MAPPING_WATCH_WAIT_NS);

	return longer_ns < MAPPING_WATCH_MOST_WAIT_NS ? longer_ns : MAPPING_WATCH_MOST_WAIT_NS;
}

/* False: the process is gone, is late, or has more mappings than can be read now. */
static bool read_mappings(struct process *process, uint64_t now_ns, struct address_space *ret)
{
	struct space_reader *const reader = space_reader_new(process->pid);
	const int more = reader ? space_reader_step(reader, MAPPING_WATCH_READ_NS) : -ENOMEM;

	if (more > 0) {
		process->reader = reader;
		return false;
	}
	if (more == -ETIMEDOUT)
		process_note_late_space(process, now_ns);
	else
		process->space_late = 0;
	if (more == 0)
		space_reader_take(reader, ret);
	space_reader_free(reader);
	return more == 0;
}

size_t mapping_watch_read(struct mapping_watch *watch, struct process *process, uint64_t now_ns,
			  void (*fn)(void *arg, const struct record *record), void *arg)
{
	const uint64_t began_ns = clock_now_ns();
	struct address_space fresh = {0};
	char path[PATH_MAX + sizeof(" (deleted)")];
	size_t found = 0;

	watch->reads++;
	process->space_read_ns = now_ns;
	if (read_mappings(process, now_ns, &fresh))
		process->space.code_bytes =
			fresh.code_bytes; /* not set for a process that is gone */
	for (size_t i = 0; i < fresh.count; i++) {
		const struct mapping *mapping = &fresh.mappings[i];
		struct record record;

		if (is_known(&process->space, mapping))
			continue;
		found++;
		snprintf(path, sizeof(path), "%s%s", mapping->path,
			 mapping->is_deleted ? " (deleted)" : "");
		record = record_of(process, mapping, path, now_ns);
		(void)address_space_fill(&process->space, mapping);
		fn(arg, &record);
	}
	address_space_fini(&fresh);
	process->space_wait_ns = found > 0 ? 0 : longer_wait(process->space_wait_ns);
	watch->spent_ns += clock_now_ns() - began_ns;
	return found;
}
