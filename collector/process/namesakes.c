// SPDX-License-Identifier: Apache-2.0
/* Finds JVMs that are called the same, see namesakes.h. Names are compared by their hashes. */
#include "process/namesakes.h"

#include "base/hash.h"
#include "container/place_name.h"

#include <string.h>

static bool is_there(const struct process *process)
{
	return process->jvm && !process->gone_ns && process->jvm->state != JVM_ENDED;
}

static bool is_decided(const struct process *process)
{
	return process->parted_version == process->workload.version && process->parted_version > 0;
}

static uint64_t hash_of(struct process *process)
{
	char name[PLACE_NAME_BYTES];

	if (process->called_version != process->workload.version || process->called_version == 0) {
		process_write_called(process, name, sizeof(name));
		process->called_hash = quick_hash_text(quick_hash_seed(0), name, strlen(name));
		process->called_version = process->workload.version;
	}
	return process->called_hash;
}

static bool is_older(const struct process *process, const struct process *than)
{
	return process->start_ticks != than->start_ticks ? process->start_ticks < than->start_ticks
							 : process->pid < than->pid;
}

static bool has_name_first(const struct process *other, const struct process *process)
{
	return is_decided(other) ? !other->is_namesake : is_older(other, process);
}

void namesakes_part(const struct targets *targets, struct process *process)
{
	struct process *other;
	size_t pos = 0;

	if (!process || !process->jvm || is_decided(process))
		return;
	process->is_namesake = false;
	while (!process->is_namesake && (other = targets_next(targets, &pos)))
		process->is_namesake = other != process && is_there(other) &&
				       has_name_first(other, process) &&
				       hash_of(other) == hash_of(process);
	process->parted_version = process->workload.version;
}
