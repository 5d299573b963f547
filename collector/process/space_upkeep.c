// SPDX-License-Identifier: Apache-2.0
/* Shares the time for reading mappings, see space_upkeep.h. */
#include "process/space_upkeep.h"

#include "base/clock.h"

void space_upkeep_begin_turn(struct space_upkeep *upkeep)
{
	upkeep->has_turns = true;
	upkeep->left_ns = SPACE_UPKEEP_MOST_NS;
}

uint64_t space_upkeep_time(const struct space_upkeep *upkeep)
{
	if (!upkeep->has_turns)
		return PROCESS_READ_ALL;
	return upkeep->left_ns < SPACE_UPKEEP_NS ? upkeep->left_ns : SPACE_UPKEEP_NS;
}

/* Of two times, of which 0 is none. */
static uint64_t sooner_of(uint64_t a_ns, uint64_t b_ns)
{
	return a_ns && (!b_ns || a_ns < b_ns) ? a_ns : b_ns;
}

static void spend(uint64_t *left_ns, uint64_t began_ns)
{
	const uint64_t took_ns = clock_now_ns() - began_ns;

	*left_ns -= took_ns < *left_ns ? took_ns : *left_ns;
}

void space_upkeep_spend(struct space_upkeep *upkeep, const struct process *process,
			uint64_t began_ns)
{
	spend(&upkeep->left_ns, began_ns);
	if (process->reader && !upkeep->next_ns)
		upkeep->next_ns = clock_now_ns() + SPACE_UPKEEP_INTERVAL_NS;
	upkeep->next_ns = sooner_of(upkeep->next_ns, process->space_due_ns);
}

void space_upkeep_read(struct space_upkeep *upkeep, struct process *process)
{
	const uint64_t began_ns = clock_now_ns();

	process_read_space(process, began_ns, space_upkeep_time(upkeep));
	space_upkeep_spend(upkeep, process, began_ns);
}

void space_upkeep_note(struct space_upkeep *upkeep, const struct process *process)
{
	upkeep->next_ns = sooner_of(upkeep->next_ns, process->space_due_ns);
}

/*
 * The next process that is being read, or is to be read again by now, from the position on; NULL:
 * none up to the table's end.
 */
static struct process *next_reading(struct space_upkeep *upkeep, const struct map64 *processes,
				    uint64_t now_ns)
{
	uint64_t pid;
	void *value;

	while (map64_next(processes, &upkeep->pos, &pid, &value)) {
		struct process *const process = value;

		if (process->reader || (process->space_due_ns && process->space_due_ns <= now_ns))
			return process;
	}
	upkeep->pos = 0;
	return NULL;
}

static uint64_t first_due(const struct map64 *processes)
{
	uint64_t pid, due_ns = 0;
	size_t pos = 0;
	void *value;

	while (map64_next(processes, &pos, &pid, &value))
		due_ns = sooner_of(due_ns, ((const struct process *)value)->space_due_ns);
	return due_ns;
}

void space_upkeep_step(struct space_upkeep *upkeep, const struct map64 *processes, uint64_t now_ns)
{
	uint64_t left_ns = SPACE_UPKEEP_ON_NS;
	unsigned ends = 0; /* of the table, since a process was found */

	if (!upkeep->next_ns || now_ns < upkeep->next_ns)
		return;
	while (left_ns > 0 && ends < 2) {
		struct process *const process = next_reading(upkeep, processes, now_ns);
		const uint64_t began_ns = clock_now_ns();

		ends = process ? 0 : ends + 1;
		if (!process)
			continue;
		process_read_on(process, left_ns < SPACE_UPKEEP_NS ? left_ns : SPACE_UPKEEP_NS);
		spend(&left_ns, began_ns);
	}
	upkeep->next_ns = ends < 2 ? now_ns + SPACE_UPKEEP_INTERVAL_NS : first_due(processes);
}
