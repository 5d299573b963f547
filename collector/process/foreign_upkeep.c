// SPDX-License-Identifier: Apache-2.0
/* Reads the perf maps of other runtimes, one process after the other, see foreign_upkeep.h. */
#include "process/foreign_upkeep.h"

#include "base/process_stat.h"
#include "process/process.h"

#define STEP_BYTES    ((size_t)4 << 20)
#define PROCESS_BYTES ((size_t)2 << 20) /* limit of one process while others wait */
#define WAIT_NS	      UINT64_C(20000000)

/*
 * Whether to read. For a process that is gone, only a file that is not read to its end is read on.
 */
static bool is_due(const struct process *process, uint64_t now_ns)
{
	const struct foreign_reader *reader = &process->foreign;

	if (now_ns < reader->next_ns || (process->jvm && !foreign_reader_is_wanted(reader, now_ns)))
		return false;
	if (process->gone_ns)
		return reader->is_open && reader->whole_ns < process->gone_ns;
	return process_has_generated(process);
}

static size_t bytes_of(const struct process *process)
{
	return process->foreign.map ? foreign_map_bytes(process->foreign.map) : 0;
}

static void measure(struct foreign_upkeep *upkeep, const struct map64 *processes, uint64_t now_ns)
{
	size_t pos = 0;
	uint64_t key;
	void *value;

	foreign_upkeep_fini(upkeep);
	upkeep->files = upkeep->ranges = upkeep->bytes = 0;
	upkeep->has_jvms = false;
	while (map64_next(processes, &pos, &key, &value)) {
		const struct process *const process = value;
		const struct foreign_reader *const reader = &process->foreign;

		upkeep->has_jvms |= process->jvm && foreign_reader_is_wanted(reader, now_ns);
		upkeep->files += reader->is_open;
		upkeep->ranges += reader->map ? foreign_map_count(reader->map) : 0;
		upkeep->bytes += bytes_of(process);
		/* Without memory too little is counted. */
		(void)pool_charge(&upkeep->bytes_of, process->group, bytes_of(process));
		(void)pool_charge(&upkeep->files_of, process->group, reader->is_open);
	}
}

void foreign_upkeep_fini(struct foreign_upkeep *upkeep)
{
	pool_fini(&upkeep->bytes_of);
	pool_fini(&upkeep->files_of);
}

static bool has_bytes(const struct foreign_upkeep *upkeep)
{
	return upkeep->bytes < (upkeep->max_bytes ? upkeep->max_bytes : FOREIGN_MAX_BYTES);
}

/* Whether there is a descriptor for the reader, beside those of all others. */
static bool has_files(const struct foreign_upkeep *upkeep, const struct foreign_reader *reader)
{
	return upkeep->files - reader->is_open <
	       (upkeep->max_files ? upkeep->max_files : FOREIGN_MAX_FILES);
}

static bool has_room(const struct foreign_upkeep *upkeep, const struct foreign_reader *reader)
{
	return has_bytes(upkeep) && has_files(upkeep, reader);
}

/* The largest perf map of the group. A file that is open without lines is one, too. */
static struct process *find_largest(const struct map64 *processes, uint64_t group)
{
	struct process *largest = NULL;
	size_t pos = 0;
	uint64_t key;
	void *value;

	while (map64_next(processes, &pos, &key, &value)) {
		struct process *const process = value;

		if (process->group == group && (process->foreign.is_open || process->foreign.map) &&
		    (!largest || bytes_of(process) > bytes_of(largest)))
			largest = process;
	}
	return largest;
}

/* Forgets the perf map of a process, until it is looked for again. */
static void forget(struct foreign_upkeep *upkeep, struct process *process, uint64_t now_ns)
{
	struct foreign_reader *const reader = &process->foreign;
	const size_t bytes = bytes_of(process);

	upkeep->bytes -= bytes;
	upkeep->files -= reader->is_open;
	pool_release(&upkeep->bytes_of, process->group, bytes);
	pool_release(&upkeep->files_of, process->group, reader->is_open);
	foreign_reader_fini(reader);
	reader->next_ns = now_ns + FOREIGN_LOOK_INTERVAL_NS;
}

/* If there is no room for the process's perf map, whoever has the most makes some. */
static void make_room(struct foreign_upkeep *upkeep, const struct map64 *processes,
		      const struct process *process, uint64_t now_ns)
{
	const struct foreign_reader *const reader = &process->foreign;
	struct process *payer;
	uint64_t group;

	while (!has_room(upkeep, reader)) {
		const bool is_of_bytes = !has_bytes(upkeep);

		if (!pool_choose(is_of_bytes ? &upkeep->bytes_of : &upkeep->files_of,
				 process->group, is_of_bytes ? PROCESS_BYTES : !reader->is_open,
				 &group))
			return;
		payer = find_largest(processes, group);
		if (!payer)
			return;
		forget(upkeep, payer, now_ns);
		upkeep->evicted++;
	}
}

/* The process's reader, and who it reads for. */
static struct foreign_owner begin(struct process *process)
{
	struct foreign_reader *const reader = &process->foreign;

	if (!reader->began_at)
		reader->began_at = process_stat_started_at(process->pid);
	if (!reader->has_payer) {
		reader->payer = process->owner;
		reader->has_payer = true;
	}
	if (process->gone_ns)
		reader->look_ns = UINT64_MAX; /* another process may use the name by now */
	return (struct foreign_owner){
		.pid = process->pid, .inner_pid = process->inner_pid, .began_at = reader->began_at};
}

/*
 * Whether the process has a perf map. Nobody makes room for one that has none: most processes with
 * generated code do not.
 */
static bool has_map(struct foreign_upkeep *upkeep, struct process *process)
{
	struct foreign_reader *const reader = &process->foreign;
	struct foreign_owner owner;

	if (reader->is_open || reader->map || reader->parser)
		return true;
	owner = begin(process);
	foreign_reader_look(reader, &owner, &upkeep->stats);
	upkeep->files += reader->is_open;
	(void)pool_charge(&upkeep->files_of, process->group, reader->is_open);
	return reader->is_open;
}

/* There is no room. A file that is open beyond the most is closed. */
static void put_off(struct foreign_upkeep *upkeep, struct process *process, uint64_t now_ns)
{
	upkeep->put_off++;
	if (process->foreign.is_open && !has_files(upkeep, &process->foreign))
		forget(upkeep, process, now_ns);
	process->foreign.next_ns = now_ns + FOREIGN_LOOK_INTERVAL_NS;
}

static void read_process(struct foreign_upkeep *upkeep, struct process *process, uint64_t now_ns,
			 size_t max_bytes)
{
	struct foreign_reader *reader = &process->foreign;
	struct foreign_owner owner;
	const size_t before = reader->map ? foreign_map_bytes(reader->map) : 0;
	const bool was_open = reader->is_open;
	const bool can_read = has_room(upkeep, reader);
	struct foreign_room room = {.bytes = can_read ? max_bytes : 0,
				    .wait_ns = upkeep->wait_ns,
				    .take_ns = upkeep->take_ns};

	/* What a parser has is taken, so that the parser ends. */
	if (!can_read && !reader->parser) {
		put_off(upkeep, process, now_ns);
		return;
	}
	owner = begin(process);
	foreign_reader_step(reader, &owner, &room, &upkeep->stats);
	upkeep->done += can_read ? max_bytes - room.bytes : 0;
	upkeep->wait_ns = room.wait_ns;
	upkeep->take_ns = room.take_ns;
	upkeep->files += reader->is_open - was_open;
	upkeep->bytes += (reader->map ? foreign_map_bytes(reader->map) : 0) - before;
}

/* False: there is no room, and the process needs none. */
static bool finds_room(struct foreign_upkeep *upkeep, const struct map64 *processes,
		       struct process *process, uint64_t now_ns)
{
	if (has_room(upkeep, &process->foreign))
		return true;
	if (!has_map(upkeep, process))
		return false;
	make_room(upkeep, processes, process, now_ns);
	return true;
}

void foreign_upkeep_begin(struct foreign_upkeep *upkeep, struct process *process, uint64_t now_ns)
{
	if (upkeep->done < STEP_BYTES && upkeep->take_ns > 0 && is_due(process, now_ns))
		read_process(upkeep, process, now_ns, STEP_BYTES - upkeep->done);
}

void foreign_upkeep_note(struct foreign_upkeep *upkeep, const struct process *process)
{
	upkeep->has_jvms |= process->jvm && process->foreign.wanted_ns;
}

/* Goes on where the last step ended, and visits each process at most once. */
void foreign_upkeep_step(struct foreign_upkeep *upkeep, const struct map64 *processes,
			 uint64_t now_ns)
{
	uint64_t key;
	void *value;

	if (now_ns < upkeep->next_ns)
		return;
	upkeep->next_ns = now_ns + FOREIGN_READ_INTERVAL_NS;
	upkeep->done = 0;
	upkeep->wait_ns = WAIT_NS;
	upkeep->take_ns = FOREIGN_TAKE_NS;
	measure(upkeep, processes, now_ns);
	for (size_t left = processes->count;
	     left > 0 && upkeep->done < STEP_BYTES && upkeep->take_ns > 0; left--) {
		if (!map64_next(processes, &upkeep->pos, &key, &value)) {
			upkeep->pos = 0;
			if (!map64_next(processes, &upkeep->pos, &key, &value))
				break;
		}
		if (!is_due(value, now_ns) || !finds_room(upkeep, processes, value, now_ns))
			continue;
		read_process(upkeep, value, now_ns, PROCESS_BYTES);
	}
	if (upkeep->take_ns == 0)
		upkeep->next_ns = now_ns + FOREIGN_BUSY_NS;
}

static const struct counter counters[] = {
	COUNTER_GAUGE(struct foreign_upkeep, files, "foreign_maps.open", "foreign_maps",
		      "Perf maps of other runtimes that are open."),
	COUNTER_GAUGE(struct foreign_upkeep, ranges, "foreign_maps.ranges", "foreign_map_ranges",
		      "Ranges of code that other runtimes told of."),
	COUNTER_GAUGE(struct foreign_upkeep, bytes, "foreign_maps.bytes", "foreign_map_bytes",
		      "Memory of what other runtimes told."),
	COUNTER_SUM(struct foreign_upkeep, put_off, "foreign_maps.put_off",
		    "foreign_map_put_off_total",
		    "Times that a process was passed over, for want of room."),
	COUNTER_SUM(struct foreign_upkeep, evicted, "foreign_maps.evicted",
		    "foreign_map_evicted_total",
		    "Perf maps that were forgotten for another container's or user's."),
};

const struct counters foreign_upkeep_counters = COUNTERS(struct foreign_upkeep, counters);
