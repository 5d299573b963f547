// SPDX-License-Identifier: Apache-2.0
/* Counts the memory of processes and gives it back, see process_bytes.h. */
#include "process/process_bytes.h"

#include "base/clock.h"
#include "guard/heap_bytes.h"
#include "memory/space_reader.h"

#define FREED_AT_ONCE 64 /* ranges of code, or pages, until the clock is looked at */

size_t process_code_bytes(const struct process *process)
{
	if (!process->code)
		return 0;
	return code_map_bytes(process->code) + process->methods.bytes + process_name_bytes(process);
}

static size_t thread_bytes(const struct process *process)
{
	return process->threads.count * heap_bytes(sizeof(struct thread)) +
	       heap_bytes(map64_bytes(&process->threads)) +
	       process->thread_names.count * heap_bytes(sizeof(struct thread_full_names)) +
	       heap_bytes(map64_bytes(&process->thread_names));
}

static size_t space_bytes(const struct process *process)
{
	return address_space_bytes(&process->space) +
	       (process->reader ? space_reader_bytes(process->reader) : 0);
}

static size_t jvm_bytes(const struct process *process)
{
	size_t bytes = 0;

	if (process->jvm)
		bytes += heap_bytes(sizeof(*process->jvm)) + jvm_hello_bytes(&process->jvm->hello);
	if (process->program)
		bytes += heap_bytes(sizeof(*process->program)) + jvm_hello_bytes(process->program);
	return bytes;
}

size_t process_bytes(const struct process *process)
{
	size_t bytes = heap_bytes(sizeof(*process)) + process->workload.labels.texts.total_bytes;

	bytes += process_code_bytes(process) + java_methods_bytes(&process->java_methods);
	bytes += thread_bytes(process) + space_bytes(process) + jvm_bytes(process);
	bytes += process->listener ? process->listener->bytes(process) : 0;
	bytes += outside_process_bytes(process->outside);
	bytes += process->foreign.map ? foreign_map_bytes(process->foreign.map) : 0;
	return bytes;
}

void graveyard_take(struct graveyard *graveyard, struct process *process)
{
	process_close(process);
	process->next_removed = graveyard->first;
	graveyard->first = process;
	graveyard->bytes += process->charged_bytes;
}

/* Frees a part of the first process. True: nothing that is large is left of it. */
static bool free_some(struct process *process)
{
	if (process->code && !code_map_free_some(process->code, FREED_AT_ONCE))
		return false;
	return !process->foreign.map || foreign_map_free_some(process->foreign.map, FREED_AT_ONCE);
}

uint64_t graveyard_step(struct graveyard *graveyard, uint64_t for_ns)
{
	const uint64_t began_ns = clock_now_ns();
	uint64_t freed = 0;

	if (!graveyard->first)
		return 0;
	do {
		struct process *const process = graveyard->first;

		if (!free_some(process))
			continue;
		freed += process->charged_bytes;
		graveyard->first = process->next_removed;
		process_free(process);
	} while (graveyard->first && clock_now_ns() - began_ns < for_ns);
	graveyard->bytes -= freed;
	return freed;
}

void graveyard_fini(struct graveyard *graveyard)
{
	graveyard_step(graveyard, UINT64_MAX);
}

void process_sizes(const struct process *process, struct process_sizes *ret)
{
	*ret = (struct process_sizes){.code_bytes = process_code_bytes(process)};
}

static const struct counter counters[] = {
	COUNTER_GAUGE(struct process_sizes, code_bytes, "code_bytes", "jvm_code_bytes",
		      "Memory of the code map, methods and names."),
};

const struct counters process_sizes_counters = COUNTERS(struct process_sizes, counters);
