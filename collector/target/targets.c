// SPDX-License-Identifier: Apache-2.0
/* The table of processes and its upkeep, see targets.h. Code events are in code_events.c. */
#include "target/targets.h"

#include "base/clock.h"
#include "base/log.h"
#include "base/process_stat.h"
#include "target/code_events.h"
#include "target/perf_map.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#define MAP_INTERVAL_NS	  (100 * CLOCK_NS_PER_MS)
#define MAP_BATCH_NS	  (30 * CLOCK_NS_PER_MS) /* let a burst of events become one write */
#define SWEEP_INTERVAL_NS (1 * CLOCK_NS_PER_SEC)
#define CLEAN_INTERVAL_NS (30 * CLOCK_NS_PER_SEC) /* removes maps of PIDs that are used again */
#define MAX_DEAD_RANGES	  20000

void targets_init(struct targets *targets, const char *map_dir)
{
	*targets = (struct targets){.map_dir = map_dir};
}

void targets_fini(struct targets *targets)
{
	struct process *process;
	size_t pos = 0;

	while ((process = targets_next(targets, &pos)))
		process_free(process);
	map64_fini(&targets->processes);
	map64_fini(&targets->sessions);
}

struct process *targets_find(const struct targets *targets, pid_t pid)
{
	return map64_find(&targets->processes, (uint64_t)pid);
}

struct process *targets_next(const struct targets *targets, size_t *pos)
{
	uint64_t key;
	void *value;

	return map64_next(&targets->processes, pos, &key, &value) ? value : NULL;
}

static void forget_sessions(struct targets *targets, const struct process *process)
{
	if (process->jvm)
		map64_remove(&targets->sessions, process->jvm->session);
}

static void remove_process(struct targets *targets, struct process *process)
{
	forget_sessions(targets, process);
	if (targets->on_forget)
		targets->on_forget(targets->on_forget_arg, process->pid);
	map64_remove(&targets->processes, (uint64_t)process->pid);
	process_free(process);
}

static struct process *read_process(struct targets *targets, pid_t pid, uint64_t start_ticks)
{
	struct process *process;

	if (process_new(pid, start_ticks, &process) < 0)
		return NULL;
	if (map64_put(&targets->processes, (uint64_t)pid, process) < 0) {
		process_free(process);
		return NULL;
	}
	return process;
}

struct process *targets_find_or_read(struct targets *targets, pid_t pid)
{
	struct process *process = targets_find(targets, pid);

	return process || pid <= 0 ? process : read_process(targets, pid, 0);
}

void targets_refresh(struct targets *targets)
{
	struct process *process;
	size_t pos = 0;

	while ((process = targets_next(targets, &pos))) {
		if (!process->gone_ns)
			address_space_read(&process->space, process->pid);
	}
}

static void say_blind(struct targets *targets)
{
	if (targets->said_blind)
		return;
	targets->said_blind = true;
	log_error("an agent connected whose PID this collector cannot see: it runs in a PID "
		  "namespace of its own: start it with the host's PIDs (docker run --pid=host, "
		  "Kubernetes hostPID: true)");
}

static void open_session(struct targets *targets, const struct intake_session *session)
{
	struct process *process = targets_find(targets, session->pid);

	if (session->pid <= 0) {
		say_blind(targets);
		return;
	}
	if (process && process->start_ticks != session->start_ticks && session->start_ticks) {
		remove_process(targets, process); /* the PID is used again */
		process = NULL;
	}
	if (!process)
		process = read_process(targets, session->pid, session->start_ticks);
	if (!process || process_add_jvm(process) < 0) {
		log_warning("cannot keep the JVM with PID %d: it is gone already, or memory is out",
			    (int)session->pid);
		return;
	}
	forget_sessions(targets, process); /* a second connection of one process: the newer wins */
	process->jvm->session = session->id;
	process->jvm->state = JVM_RESYNCING;
	process->gone_ns = 0;
	address_space_read(&process->space, process->pid);
	map64_put(&targets->sessions, session->id, process);
}

static void close_session(struct targets *targets, uint32_t id)
{
	struct process *process = map64_remove(&targets->sessions, id);

	if (!process)
		return;
	if (process->jvm->state != JVM_ENDED)
		process->jvm->state = JVM_DISCONNECTED;
	targets->next_sweep_ns = 0; /* most likely because the process has ended */
}

static void check_shadow(struct process *process)
{
	char path[sizeof(process->shadow_path)] = "";

	if (perf_map_find_shadow(process->pid, process->inner_pid, path, sizeof(path)) <= 0)
		path[0] = '\0';
	if (path[0] && !process->shadow_path[0])
		log_warning("PID %d has a map of its own at %s in its container: perf prefers it "
			    "to ours, even when it is empty: remove it",
			    (int)process->pid, path);
	memcpy(process->shadow_path, path, sizeof(path));
}

enum targets_verdict targets_apply_intake(struct targets *targets,
					  const struct intake_event *event)
{
	const uint32_t id = event->session->id;
	struct process *process = map64_find(&targets->sessions, id);

	switch (event->kind) {
	case INTAKE_OPENED:
		open_session(targets, event->session);
		return TARGETS_KEEP;
	case INTAKE_CLOSED:
		close_session(targets, id);
		return TARGETS_KEEP;
	case INTAKE_GAP:
		if (process)
			process->jvm->gaps++;
		return TARGETS_END_SESSION;
	case INTAKE_RECORD:
		if (process)
			code_events_apply(process, &event->record, clock_now_ns());
		return TARGETS_KEEP;
	}
	return TARGETS_KEEP;
}

static void apply_mmap(struct process *process, const struct perf_mmap *mmap)
{
	const struct mapping mapping = {
		.start = mmap->addr,
		.end = mmap->addr + mmap->len,
		.file_off = mmap->file_off,
		.dev_major = mmap->dev_major,
		.dev_minor = mmap->dev_minor,
		.inode = mmap->inode,
		.path = mmap->path,
	};

	address_space_add(&process->space, &mapping); /* counts what it refuses */
}

static void apply_fork(struct targets *targets, const struct perf_record *record)
{
	const struct process *parent = targets_find(targets, record->fork.parent_pid);
	struct process *child;

	if (record->pid == record->fork.parent_pid || !parent || !targets->knows_all)
		return; /* a thread, or of no interest */
	child = targets_find_or_read(targets, record->pid);
	if (child && child->space.count == 0)
		address_space_copy(&child->space, &parent->space);
}

void targets_apply_record(struct targets *targets, const struct perf_record *record)
{
	struct process *process = targets_find(targets, record->pid);

	if (record->kind == PERF_FORK)
		apply_fork(targets, record);
	if (!process)
		return;
	if (record->kind == PERF_MMAP)
		apply_mmap(process, &record->mmap);
	else if (record->kind == PERF_COMM)
		process_set_comm(process, record->tid, record->comm.name);
	else if (record->kind == PERF_EXIT)
		process_remove_thread(process, record->tid);
}

/* 0, or the time at which the process's map is to be written. */
static uint64_t map_due_ns(const struct process *process)
{
	uint64_t due, batched;

	if (!process->map_changed_ns)
		return 0;
	batched = process->map_changed_ns + MAP_BATCH_NS;
	due = process->map_written_ns + MAP_INTERVAL_NS;
	return due > batched ? due : batched;
}

static void write_map(struct targets *targets, struct process *process, uint64_t now_ns)
{
	const int err = perf_map_write(targets->map_dir, process->pid, process->code);

	process->map_changed_ns = 0;
	process->map_written_ns = now_ns;
	targets->map_writes++;
	if (!err)
		return;
	process->map_changed_ns = now_ns; /* tried again, no sooner than the interval allows */
	process->map_written_ns = now_ns + SWEEP_INTERVAL_NS;
	targets->map_failures++;
	if (process->map_failures++ == 0)
		log_error("cannot write %s/perf-%d.map: %s: choose another place with --map-dir",
			  targets->map_dir, (int)process->pid, strerror(-err));
}

static void bury(struct process *process, uint64_t now_ns)
{
	process->gone_ns = now_ns;
	if (process->jvm)
		process->jvm->state = JVM_ENDED;
}

/* Not being able to look is no proof. */
static bool is_gone(const struct process *process)
{
	uint64_t ticks;
	const int err = process_stat_start_ticks(process->pid, &ticks);

	return err == -ESRCH || (!err && ticks != process->start_ticks);
}

/* Looks at every process: is it still the one it was? One that left long ago is forgotten. */
static void sweep(struct targets *targets, uint64_t now_ns, uint64_t horizon_ns)
{
	struct process *old = NULL, *process;
	size_t pos = 0;

	while ((process = targets_next(targets, &pos))) {
		if (process->code)
			code_map_expire(process->code, horizon_ns, MAX_DEAD_RANGES);
		if (process->gone_ns) {
			if (now_ns - process->gone_ns > TARGETS_LINGER_NS &&
			    !process->map_changed_ns)
				old = process;
			continue;
		}
		if (is_gone(process))
			bury(process, now_ns);
		else if (process->jvm)
			check_shadow(process);
	}
	if (old) {
		remove_process(targets, old); /* one a sweep: the walk must not see changes */
		targets->next_sweep_ns = 0;
	}
}

void targets_tick(struct targets *targets, uint64_t now_ns, uint64_t horizon_ns)
{
	struct process *process;
	size_t pos = 0;

	while ((process = targets_next(targets, &pos))) {
		const uint64_t due = map_due_ns(process);

		if (due && due <= now_ns)
			write_map(targets, process, now_ns);
	}
	if (now_ns >= targets->next_sweep_ns) {
		targets->next_sweep_ns = now_ns + SWEEP_INTERVAL_NS;
		sweep(targets, now_ns, horizon_ns);
	}
	if (now_ns >= targets->next_clean_ns) {
		targets->next_clean_ns = now_ns + CLEAN_INTERVAL_NS;
		perf_map_remove_old(targets->map_dir, TARGETS_MAP_MAX_AGE_SEC);
	}
}

uint64_t targets_next_tick_ns(const struct targets *targets)
{
	uint64_t next = targets->next_sweep_ns;
	const struct process *process;
	size_t pos = 0;

	while ((process = targets_next(targets, &pos))) {
		const uint64_t due = map_due_ns(process);

		if (due && due < next)
			next = due;
	}
	return next;
}
