// SPDX-License-Identifier: Apache-2.0
/* What is counted for each JVM, see jvm_counters.h. */
#include "inspect/jvm_counters.h"

#include "maps/map_outputs.h"
#include "process/process_bytes.h"

union room {
	struct code_map_stats code;
	struct process_sizes sizes;
	struct map_output_stats map;
};

static const void *code_of(const struct process *process, union room *room)
{
	code_map_stats(process->code, &room->code);
	return room;
}

static const void *sizes_of(const struct process *process, union room *room)
{
	process_sizes(process, &room->sizes);
	return room;
}

static const void *map_of(const struct process *process, union room *room)
{
	map_output_stats(process, &room->map);
	return room;
}

static const void *jvm_of(const struct process *process, union room *room)
{
	(void)room;
	return process->jvm;
}

static const void *itself(const struct process *process, union room *room)
{
	(void)room;
	return process;
}

static const struct {
	const struct counters *counters;
	const void *(*stats)(const struct process *process, union room *room);
} tables[] = {
	{&process_counters, itself},	{&code_map_counters, code_of},
	{&jvm_counters, jvm_of},	{&process_sizes_counters, sizes_of},
	{&map_output_counters, map_of},
};

#define N_TABLES (sizeof(tables) / sizeof(tables[0]))

void jvm_counters_put(json_t *row, const struct process *process)
{
	union room room;

	for (size_t i = 0; i < N_TABLES; i++)
		counters_put(row, tables[i].counters, tables[i].stats(process, &room));
}

const struct counters *jvm_counters_table(size_t which)
{
	return which < N_TABLES ? tables[which].counters : NULL;
}
