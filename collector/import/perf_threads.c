// SPDX-License-Identifier: Apache-2.0
/* Keeps threads and times of perf script's samples, see perf_threads.h. */
#include "import/perf_threads.h"

#include <errno.h>
#include <string.h>

#define COMM_BYTES 256u

/* A thread's or a process's ID: 0 where perf says none, or -1. */
static pid_t id_of(struct perf_text text)
{
	int64_t value = 0;

	for (size_t i = 0; i < text.len; i++) {
		if (text.text[i] < '0' || text.text[i] > '9')
			return 0;
		value = value * 10 + (text.text[i] - '0');
		if (value > INT32_MAX)
			return 0;
	}
	return (pid_t)value;
}

static void copy_comm(struct perf_text comm, char ret[COMM_BYTES])
{
	const size_t len = comm.len < COMM_BYTES ? comm.len : COMM_BYTES - 1;

	memcpy(ret, comm.text, len);
	ret[len] = '\0';
}

static void set_time(struct perf_threads *threads, const struct perf_header *header)
{
	threads->at_ns = 0;
	if (!header->has_time)
		return;
	if (!threads->has_times)
		threads->first_ns = threads->last_ns = header->time_ns;
	threads->has_times = true;
	if (header->time_ns > threads->first_ns)
		threads->at_ns = header->time_ns - threads->first_ns;
	if (header->time_ns > threads->last_ns)
		threads->last_ns = header->time_ns;
}

void perf_threads_begin(struct perf_threads *threads, const struct perf_header *header)
{
	char comm[COMM_BYTES];
	struct timeline_process process = {.pid = id_of(header->pid)};
	struct timeline_thread thread = {.tid = id_of(header->tid), .name = comm};

	if (!threads->recording)
		return;
	set_time(threads, header);
	copy_comm(header->comm, comm);
	if (process.pid == 0)
		process.title = "[process not known]";
	else if (process.pid == thread.tid)
		process.title = comm;
	thread.process = timeline_process(&threads->recording->timeline, &process);
	threads->thread = timeline_thread(&threads->recording->timeline, &thread);
}

void perf_threads_add(struct perf_threads *threads, uint32_t node, uint64_t weight)
{
	const struct timeline_entry entry = {.thread = threads->thread, .node = node};

	if (threads->recording)
		timeline_add_weight(&threads->recording->timeline, threads->at_ns, &entry, weight);
}

int perf_threads_finish(struct perf_threads *threads, struct profile *owner, const char *event)
{
	struct import_recording *const recording = threads->recording;

	if (!recording || recording->timeline.n_processes == 0)
		return 0;
	timeline_sort(&recording->timeline);
	recording->info.duration_ns = threads->last_ns - threads->first_ns;
	if (*event) {
		recording->info.event = intern_add_str(&owner->names, event);
		if (!recording->info.event)
			return -ENOMEM;
	}
	recording->is_read = true;
	return 0;
}
