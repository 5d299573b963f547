// SPDX-License-Identifier: Apache-2.0
/* The threads of one process and their names, see process.h and thread_history.h. */
#include "process/process.h"

#include "base/clock.h"
#include "base/process_stat.h"
#include "code/java_text.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool is_told(const struct thread_at *at)
{
	return at->comm && at->comm[0];
}

/* What is read is newer than the sample, so that a name that the sample tells goes before. */
static void read_thread(const struct process *process, struct thread *thread,
			const struct thread_at *at)
{
	char comm[PROCESS_COMM_BYTES] = "";
	pid_t inner;

	if (process->is_replayed)
		return;
	if (!process_stat_thread_names(process->pid, thread->tid, &inner, comm, sizeof(comm)))
		return; /* what is known of the thread stays */
	thread->inner_tid = inner;
	thread_comms_note(&thread->comms, is_told(at) ? at->comm : comm, at->time_ns);
}

static struct thread *find_or_add_thread(struct process *process, const struct thread_at *at)
{
	struct thread *thread = map64_find(&process->threads, (uint64_t)at->tid);

	if (thread)
		return thread;
	if (process->threads.count >= PROCESS_MAX_THREADS) {
		process_forget_threads(process);
		process->threads_forgotten++;
	}
	thread = calloc(1, sizeof(*thread));
	if (!thread)
		return NULL;
	thread->tid = at->tid;
	read_thread(process, thread, at);
	if (map64_put(&process->threads, (uint64_t)at->tid, thread) < 0) {
		free(thread);
		return NULL;
	}
	return thread;
}

static const char *comm_utf8(struct thread *thread, const char *comm)
{
	const size_t len = strnlen(comm, sizeof(thread->name) - 1);

	thread->name[java_text_to_utf8(comm, len, thread->name)] = '\0';
	return thread->name;
}

/*
 * Whether the thread had that full name already while only the kernel's was known. A JVM that is
 * read is asked for a name after the first sample; an agent tells a name when the name comes.
 */
static bool had_name_before(const struct process *process, const struct thread *thread,
			    const struct thread_full_names *names, const char *comm)
{
	if (process->is_replayed)
		return thread->comms.count > 0;
	return process->jvm && process->jvm->is_outside && thread->comms.count == 1 &&
	       strcmp(thread_comms_last(&thread->comms), comm) == 0 &&
	       thread_full_names_are_one(names);
}

const char *process_thread_name_at(struct process *process, const struct thread_at *at,
				   const char **ret_cut)
{
	struct thread *const thread = find_or_add_thread(process, at);
	const struct thread_full_names *names;
	const char *comm, *full, *cut = NULL;
	bool had_before;

	if (ret_cut)
		*ret_cut = NULL;
	if (!thread)
		return "";
	names = map64_find(&process->thread_names, (uint64_t)thread->inner_tid);
	full = thread_history_at(&thread->comms, names, at->time_ns, at->comm, &comm);
	had_before = had_name_before(process, thread, names, comm);
	if (!full && had_before && names)
		full = names->names[0].text;
	if (!full)
		return comm_utf8(thread, comm);
	if (had_before || thread_history_is_cut_from(comm, full))
		cut = comm_utf8(thread, comm);
	if (ret_cut)
		*ret_cut = cut;
	return full;
}

const char *process_thread_name(struct process *process, pid_t tid)
{
	const struct thread_at now = {.tid = tid, .time_ns = UINT64_MAX};

	find_or_add_thread(process, &(struct thread_at){.tid = tid});
	return process_thread_name_at(process, &now, NULL);
}

static void set_process_comm(struct process *process, const char *comm)
{
	if (strcmp(process->comm, comm) == 0)
		return;
	snprintf(process->comm, sizeof(process->comm), "%s", comm);
	workload_touch(&process->workload);
}

void process_see_thread(struct process *process, const struct thread_at *at)
{
	struct thread *thread = map64_find(&process->threads, (uint64_t)at->tid);
	const bool is_due = !thread || at->time_ns >= thread->read_ns + PROCESS_NAME_AGE_NS;
	const char *last;

	if (!thread)
		thread = find_or_add_thread(process, at);
	else if (is_due)
		read_thread(process, thread, at);
	if (!thread)
		return;
	thread->seen_ns = at->time_ns;
	if (is_due)
		thread->read_ns = at->time_ns;
	if (is_told(at))
		thread_comms_note(&thread->comms, at->comm, at->time_ns);
	last = thread_comms_last(&thread->comms);
	if (at->tid == process->pid && last[0])
		set_process_comm(process, last);
}

void process_read_comm(struct process *process)
{
	char comm[PROCESS_COMM_BYTES];

	process_stat_comm(process->pid, process->pid, comm, sizeof(comm));
	if (comm[0])
		process_set_comm(process, process->pid, comm, clock_now_ns());
}

void process_set_comm(struct process *process, pid_t tid, const char *comm, uint64_t time_ns)
{
	struct thread *thread = find_or_add_thread(process, &(struct thread_at){.tid = tid});

	if (thread)
		thread_comms_note(&thread->comms, comm, time_ns);
	if (tid == process->pid)
		set_process_comm(process, comm);
}

/* The one name that a capture has told of the thread so far, if the new name continues that one. */
static const char *told_cut(const struct process *process, pid_t tid, const char *name)
{
	const struct thread_full_names *const names =
		map64_find(&process->thread_names, (uint64_t)tid);

	return names && names->count > 0 && strlen(names->names[0].text) < PROCESS_COMM_BYTES &&
			       thread_history_is_cut_from(names->names[0].text, name)
		       ? names->names[0].text
		       : NULL;
}

int process_set_thread(struct process *process, pid_t tid, const char *name, const char *cut)
{
	struct thread *thread = find_or_add_thread(process, &(struct thread_at){.tid = tid});

	if (!thread)
		return -ENOMEM;
	thread->inner_tid = tid;
	thread->comms = (struct thread_comms){0};
	if (!process->names.limit_text) {
		thread_comms_note(&thread->comms, name, 0);
		return 0;
	}
	if (!cut)
		cut = told_cut(process, tid, name);
	if (cut)
		thread_comms_note(&thread->comms, cut, 0);
	free(map64_remove(&process->thread_names, (uint64_t)tid));
	return process_set_thread_name(process, tid, process_name_utf8(process, name), 0);
}

void process_remove_thread(struct process *process, pid_t tid)
{
	struct thread *thread = map64_remove(&process->threads, (uint64_t)tid);

	if (!thread)
		return;
	free(map64_remove(&process->thread_names, (uint64_t)thread->inner_tid));
	free(thread);
}

void process_forget_threads(struct process *process)
{
	map64_fini_all(&process->threads, free);
}

/* Makes room for one thread more. */
static int add_full_names(struct process *process, uint64_t key, struct thread_full_names **ret)
{
	struct thread_full_names *names;

	/*
	 * Not every end of a thread is reported, and these names do not show whose thread has
	 * ended.
	 */
	if (process->thread_names.count >= PROCESS_MAX_THREADS) {
		process_forget_threads(process);
		map64_fini_all(&process->thread_names, free);
		process->threads_forgotten++;
	}
	names = calloc(1, sizeof(*names));
	if (!names || map64_put(&process->thread_names, key, names) < 0) {
		free(names);
		return -ENOMEM;
	}
	*ret = names;
	return 0;
}

int process_set_thread_name(struct process *process, pid_t inner_tid, const char *name,
			    uint64_t time_ns)
{
	const uint64_t key = (uint64_t)inner_tid;
	struct thread_full_names *names = map64_find(&process->thread_names, key);
	const int err = names ? 0 : add_full_names(process, key, &names);

	if (!err)
		thread_full_names_note(names, name, time_ns);
	return err;
}

/* ---- full names that are asked for ---- */

const char *process_full_name(const struct process *process, const struct thread *thread)
{
	const struct thread_full_names *const names =
		map64_find(&process->thread_names, (uint64_t)thread->inner_tid);
	const char *const last = names ? names->names[0].text : NULL;

	return last && thread_history_is_cut_from(thread_comms_last(&thread->comms), last) ? last
											   : NULL;
}

static bool may_be_cut(const struct thread *thread)
{
	return strlen(thread_comms_last(&thread->comms)) == PROCESS_COMM_BYTES - 1;
}

static bool is_to_be_asked(const struct thread *thread, uint64_t now_ns)
{
	return thread->inner_tid > 0 &&
	       (thread->asked_ns == 0 || (thread->seen_ns > thread->asked_ns &&
					  now_ns >= thread->asked_ns + PROCESS_NAME_AGE_NS));
}

size_t process_ask_threads(struct process *process, uint64_t now_ns, uint32_t *ret, size_t max)
{
	size_t pos = 0, n = 0;
	uint64_t tid;
	void *value;

	while (n < max && map64_next(&process->threads, &pos, &tid, &value)) {
		struct thread *const thread = value;

		if (!is_to_be_asked(thread, now_ns))
			continue;
		thread->asked_ns = now_ns;
		ret[n++] = (uint32_t)thread->inner_tid;
	}
	return n;
}

size_t process_count_cut_threads(struct process *process, uint64_t asked_ns)
{
	size_t pos = 0, n = 0;
	uint64_t tid;
	void *value;

	while (map64_next(&process->threads, &pos, &tid, &value)) {
		struct thread *const thread = value;

		if (thread->asked_ns != asked_ns || thread->is_cut || !may_be_cut(thread) ||
		    process_full_name(process, thread))
			continue;
		thread->is_cut = true;
		n++;
	}
	return n;
}
