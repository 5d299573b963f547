// SPDX-License-Identifier: Apache-2.0
/*
 * The table of all processes and its upkeep, see targets.h. code_events.c applies code events.
 *
 * One file, because whatever changes the table has to know who else holds its processes.
 */
#include "process/targets.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/log_limit.h"
#include "base/process_stat.h"
#include "guard/pool.h"
#include "process/code_events.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define SETTLE_STEP_NS	  2000000		/* between two looks at a jar's parser */
#define FREE_NS		  (2 * CLOCK_NS_PER_MS) /* of a turn, to free what is forgotten */
#define FREE_MOST_NS	  (4 * CLOCK_NS_PER_MS) /* the same while there is too much of it */
#define SWEEP_NS	  (5 * CLOCK_NS_PER_MS) /* of a turn, for the sweep */
#define EXPIRED_AT_ONCE	  1000
#define EXPIRED_LATE	  10	      /* of each process, once the sweep's time is over */
#define OWNED_BYTES	  (16u << 10) /* less is too little to be shared */
#define UNCOUNTED_MAX	  16	      /* records until a process's memory is counted again */
#define LARGE_RECORD	  4096
#define PAYERS_AT_ONCE	  16 /* processes that are forgotten in a turn for want of room */
#define PAYERS_NS	  (3 * CLOCK_NS_PER_MS) /* of a turn, to find them; one is found at least */
#define SPACE_INTERVAL_NS (1 * CLOCK_NS_PER_SEC) /* a limit, because an agent may dial often */
#define SWEEP_INTERVAL_NS (1 * CLOCK_NS_PER_SEC)
#define MAX_DEAD_RANGES	  20000

void targets_init(struct targets *targets)
{
	*targets = (struct targets){
		.max_bytes = TARGETS_MAX_BYTES,
		.max_jvms = TARGETS_MAX_JVMS,
		.pool = {.max = TARGETS_MAX_PROCESSES},
		.turn = {.sweep_ns = SWEEP_NS, .payers_ns = PAYERS_NS},
	};
	containers_init(&targets->containers, NULL, NULL);
}

size_t targets_list_bytes(const struct targets *targets)
{
	return map64_bytes(&targets->processes) + pool_bytes(&targets->pool.owners) +
	       map64_bytes(&targets->sessions) + map64_bytes(&targets->rivals);
}

void targets_limit_methods(struct targets *targets, size_t bytes)
{
	struct process *process;
	size_t pos = 0;

	targets->max_methods_bytes = bytes;
	while ((process = targets_next(targets, &pos)))
		process->methods.max_bytes = bytes;
}

void targets_fini(struct targets *targets)
{
	struct process *process;
	size_t pos = 0;

	while ((process = targets_next(targets, &pos)))
		process_free(process);
	graveyard_fini(&targets->dying);
	map64_fini(&targets->processes);
	process_pool_fini(&targets->pool);
	foreign_upkeep_fini(&targets->foreign);
	map64_fini(&targets->sessions);
	map64_fini(&targets->rivals);
	containers_fini(&targets->containers);
	start_classes_fini(&targets->start_classes);
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

static bool has_session(const struct targets *targets, const struct process *process)
{
	return process->jvm && map64_find(&targets->sessions, process->jvm->session) == process;
}

/* Ends the session of the process: no more records of the session are read. */
static void end_session_of(struct targets *targets, const struct process *process)
{
	const uint32_t id = process->jvm ? process->jvm->session : 0;

	if (!has_session(targets, process))
		return;
	map64_remove(&targets->sessions, id);
	if (targets->end_session)
		targets->end_session(targets->end_session_arg, id);
}

static void remove_process(struct targets *targets, struct process *process)
{
	end_session_of(targets, process);
	if (targets->on_forget)
		targets->on_forget(targets->on_forget_arg, process->pid);
	targets->n_jvms -= process->jvm != NULL;
	targets->threads_forgotten += process->threads_forgotten;
	containers_release(&targets->containers, process->container);
	map64_remove(&targets->processes, (uint64_t)process->pid);
	process_pool_leave(&targets->pool, process);
	process_tell(process, CODE_FORGOTTEN, clock_now_ns());
	targets->bytes -= process->charged_bytes;
	graveyard_take(&targets->dying, process);
}

/* Counts the process's memory anew. */
static void charge(struct targets *targets, struct process *process)
{
	const size_t bytes = process_bytes(process);

	targets->bytes += bytes - process->charged_bytes;
	process->charged_bytes = bytes;
	process->uncounted = 0;
}

/*
 * Removes the processes of a list linked by next_removed. The list is made during a walk of the
 * table, which must not change during the walk.
 */
static void remove_list(struct targets *targets, struct process *first)
{
	for (struct process *process = first, *next; process; process = next) {
		next = process->next_removed;
		remove_process(targets, process);
	}
}

/* Finds the process's container and names. */
static void locate(struct targets *targets, struct process *process)
{
	struct container_entry *before = process->container;

	process->container = containers_hold(&targets->containers, process->pid, clock_now_ns());
	containers_release(&targets->containers, before);
	if (process->container)
		memcpy(process->container_id, process->container->container.id,
		       sizeof(process->container_id));
	process_identify(process);
	process_pool_own(&targets->pool, process);
}

/* Whether there may be a further process. If all places are taken, who has the most makes room. */
static bool has_room(struct targets *targets, const struct process *newcomer)
{
	struct process *payer;

	if (!process_pool_has_room(&targets->pool, &targets->processes, process_owner(newcomer),
				   &payer))
		return false;
	if (payer)
		remove_process(targets, payer);
	return true;
}

static struct process *read_process(struct targets *targets, pid_t pid, uint64_t start_ticks)
{
	const uint64_t began_ns = clock_now_ns();
	struct process *process;

	if (process_new(pid, start_ticks, space_upkeep_time(&targets->spaces), &process) < 0)
		return NULL;
	process->listener = targets->listener;
	space_upkeep_spend(&targets->spaces, process, began_ns);
	if (!has_room(targets, process) ||
	    map64_put(&targets->processes, (uint64_t)pid, process) < 0) {
		process_free(process);
		return NULL;
	}
	locate(targets, process);
	charge(targets, process);
	return process;
}

struct process *targets_find_or_read(struct targets *targets, pid_t pid)
{
	struct process *process = targets_find(targets, pid);

	if (process || pid <= 0)
		return process;
	process = read_process(targets, pid, 0);
	if (process && targets->all_users > 0)
		foreign_upkeep_begin(&targets->foreign, process, clock_now_ns());
	return process;
}

void targets_read_all(struct targets *targets)
{
	_cleanup_closedir_ DIR *dir = targets->surveys > 0 ? NULL : opendir("/proc");
	const struct dirent *entry;

	while (dir && (entry = readdir(dir)))
		targets_find_or_read(targets, (pid_t)strtol(entry->d_name, NULL, 10));
}

void targets_refresh(struct targets *targets)
{
	struct process *process;
	size_t pos = 0;

	while ((process = targets_next(targets, &pos))) {
		if (process->gone_ns)
			continue;
		space_upkeep_read(&targets->spaces, process);
		process_forget_threads(process);
	}
}

void targets_want_all(struct targets *targets)
{
	targets->all_users++;
}

void targets_unwant_all(struct targets *targets)
{
	struct process *unwanted = NULL, *process;
	size_t pos = 0;

	assert(targets->all_users > 0);
	if (--targets->all_users > 0)
		return;
	while ((process = targets_next(targets, &pos))) {
		if (process_has_agent(process) || process->users > 0 ||
		    (process->jvm && targets->outside_users > 0))
			continue;
		process->next_removed = unwanted;
		unwanted = process;
	}
	remove_list(targets, unwanted);
}

/* Forgets a process that is gone, if another one has its PID by now. */
static void forget_predecessor(struct targets *targets, pid_t pid)
{
	struct process *process = targets_find(targets, pid);
	uint64_t none = 0;

	if (process && process->start_ticks && !process_stat_is_over(pid) &&
	    process_stat_is_gone(pid, process->start_ticks, &none))
		remove_process(targets, process);
}

void targets_want(struct targets *targets, pid_t pid)
{
	struct process *process;

	forget_predecessor(targets, pid);
	process = targets_find_or_read(targets, pid);
	targets->one_users++;
	if (process && process->users++ == 0 && !targets->all_users)
		foreign_upkeep_begin(&targets->foreign, process, clock_now_ns());
}

void targets_unwant(struct targets *targets, pid_t pid)
{
	struct process *process = targets_find(targets, pid);

	assert(targets->one_users > 0);
	targets->one_users--;
	if (!process || process->users == 0)
		return; /* another process has the PID by now */
	if (--process->users == 0 && !process_has_agent(process) && !targets->all_users &&
	    !(process->jvm && targets->outside_users > 0))
		remove_process(targets, process);
}

void targets_want_outside(struct targets *targets)
{
	targets->outside_users++;
}

void targets_unwant_outside(struct targets *targets)
{
	struct process *unwanted = NULL, *process;
	size_t pos = 0;

	assert(targets->outside_users > 0);
	if (--targets->outside_users > 0 || targets->all_users > 0)
		return;
	while ((process = targets_next(targets, &pos))) {
		if (process_has_agent(process) || process->users > 0)
			continue;
		process->next_removed = unwanted;
		unwanted = process;
	}
	remove_list(targets, unwanted);
}

void targets_want_names(struct targets *targets)
{
	targets->name_users++;
	targets->outside.next_ns = 0;
}

void targets_unwant_names(struct targets *targets)
{
	assert(targets->name_users > 0);
	targets->name_users--;
}

static bool is_naming(const struct targets *targets, bool may_go_on, uint64_t now_ns)
{
	struct process *process;
	size_t pos = 0;

	while ((process = targets_next(targets, &pos))) {
		if (outside_is_naming(process, may_go_on, now_ns))
			return true;
	}
	return false;
}

bool targets_await_names(struct targets *targets, bool may_go_on, uint64_t now_ns)
{
	targets->names.are_awaited = is_naming(targets, may_go_on, now_ns);
	targets->names.may_go_on = may_go_on;
	targets->names.is_new = false;
	return targets->names.are_awaited;
}

static void bury(struct targets *targets, struct process *process, uint64_t now_ns)
{
	end_session_of(targets, process);
	process->gone_ns = now_ns;
	if (process->jvm)
		process->jvm->state = JVM_ENDED;
	process_tell(process, CODE_ENDED, now_ns);
}

static bool is_gone(struct process *process)
{
	return process_stat_is_gone(process->pid, process->start_ticks, &process->proc_inode);
}

/* ---- sessions ---- */

static void say_blind(struct targets *targets)
{
	if (targets->said_blind)
		return;
	targets->said_blind = true;
	log_error("an agent connected whose PID this collector cannot see: it runs in a PID "
		  "namespace of its own: start it with the host's PIDs (docker run --pid=host, "
		  "Kubernetes hostPID: true)");
}

/* What is too little to be shared counts as nothing. */
static uint64_t bytes_of(const struct process *process)
{
	return process->charged_bytes >= OWNED_BYTES ? process->charged_bytes : 0;
}

static uint64_t one_jvm_of(const struct process *process)
{
	return process->jvm != NULL;
}

static bool is_heard(const struct process *process)
{
	return process->jvm && process->jvm->state <= JVM_CURRENT;
}

/* Of two processes of one owner, whether this one is the first to go. */
static bool goes_before(const struct process *a, const struct process *b,
			uint64_t (*amount_of)(const struct process *process))
{
	const bool a_is_heard = is_heard(a), b_is_heard = is_heard(b);

	if (amount_of(a) != amount_of(b))
		return amount_of(a) > amount_of(b);
	return a_is_heard != b_is_heard ? b_is_heard : a->start_ticks > b->start_ticks;
}

/*
 * The process that makes room: one of the owner that has the most of a pool. NULL: nobody has more
 * than the newcomer's owner would have with one more. newcomer: 0 if there is none.
 */
static struct process *choose_payer(const struct targets *targets,
				    uint64_t (*amount_of)(const struct process *process),
				    uint64_t newcomer)
{
	_cleanup_(pool_fini) struct pool pool = {0};
	struct process *payer = NULL, *process;
	uint64_t greediest;
	size_t pos = 0;

	while ((process = targets_next(targets, &pos)))
		pool_charge(&pool, process->group, amount_of(process));
	if (!pool_choose(&pool, newcomer, newcomer ? 1 : 0, &greediest))
		return NULL;
	pos = 0;
	while ((process = targets_next(targets, &pos))) {
		if (amount_of(process) && process->group == greediest &&
		    (!payer || goes_before(process, payer, amount_of)))
			payer = process;
	}
	return payer;
}

/* Whether there may be a further JVM. If all places are taken, the greediest makes room. */
static bool has_jvm_room(struct targets *targets, const struct process *newcomer)
{
	struct process *payer;

	if (targets->n_jvms < targets->max_jvms)
		return true;
	payer = choose_payer(targets, one_jvm_of, newcomer->group);
	if (!payer)
		return false;
	targets->dropped_jvms++;
	remove_process(targets, payer);
	return true;
}

/* Makes the process one with a JVM. False: there is no room, or no memory. */
static bool make_jvm(struct targets *targets, struct process *process)
{
	process_pool_own(&targets->pool,
			 process); /* who it was may have changed since it was read */
	if (!has_jvm_room(targets, process) || process_add_jvm(process) < 0)
		return false;
	process_tell(process, CODE_BEGINS, clock_now_ns());
	process->methods.max_bytes = targets->max_methods_bytes;
	targets->n_jvms++;
	charge(targets, process);
	return true;
}

/*
 * Finds or makes the process of a session, with a JVM. NULL: the process is gone, memory is out, or
 * there are too many.
 */
static struct process *process_of_session(struct targets *targets,
					  const struct intake_session *session)
{
	struct process *process = targets_find(targets, session->pid);
	bool is_new;

	if (process && process->start_ticks != session->start_ticks && session->start_ticks) {
		remove_process(targets, process); /* the PID is used again */
		process = NULL;
	}
	if (process && process->jvm)
		return process;
	is_new = !process;
	if (is_new)
		process = read_process(targets, session->pid, session->start_ticks);
	if (!process)
		return NULL;
	if (make_jvm(targets, process))
		return process;
	if (is_new)
		remove_process(targets, process);
	return NULL;
}

/* Says why a session is refused. Whoever ends at once is no fault of anybody's. */
static void say_refusal(const struct targets *targets, const struct intake_session *session)
{
	const int pid = session->pid;
	uint64_t inode = 0;

	if (process_stat_is_gone(session->pid, session->start_ticks, &inode))
		log_info("the JVM with PID %d has ended before its process was looked at", pid);
	else if (targets->n_jvms >= targets->max_jvms)
		log_warning("cannot keep the JVM with PID %d: %d are known already, which is the "
			    "most",
			    pid, (int)targets->max_jvms);
	else if (targets->processes.count >= targets->pool.max)
		log_warning("cannot keep the JVM with PID %d: %d processes are known already, "
			    "which is the most",
			    pid, (int)targets->pool.max);
	else
		log_warning("cannot keep the JVM with PID %d: its process cannot be read, or "
			    "memory is out",
			    pid);
}

static enum targets_verdict refuse_session(struct targets *targets,
					   const struct intake_session *session, uint64_t now_ns)
{
	static struct log_limit limit;

	targets->refused_sessions++;
	if (log_limit_allows(&limit, session->group, now_ns))
		say_refusal(targets, session);
	return TARGETS_END_SESSION;
}

static void apply_event(struct targets *targets, struct process *process,
			const struct wire_record *record)
{
	code_events_apply(process, record, clock_now_ns());
	if (record->kind == WIRE_HELLO)
		start_classes_add(&targets->start_classes, process);
	if (++process->uncounted >= UNCOUNTED_MAX || record->len > LARGE_RECORD)
		charge(targets, process);
}

static enum targets_verdict begin_session(struct targets *targets, struct process *process,
					  const struct intake_session *session)
{
	const uint64_t now_ns = clock_now_ns();

	end_session_of(targets, process); /* of two connections of one agent the newer counts */
	if (map64_put(&targets->sessions, session->id, process) < 0)
		return refuse_session(targets, session, now_ns);
	process_open_session(process, session->id, now_ns);
	process->jvm->is_dialled = session->is_dialled;
	if (now_ns - process->space_read_ns >= SPACE_INTERVAL_NS) {
		space_upkeep_read(&targets->spaces, process);
		locate(targets, process); /* the engine may have moved the process since */
	}
	return TARGETS_KEEP;
}

/*
 * A process may connect while it has a session. Its agent may have lost the connection, which a
 * child of the process holds open: then the newer session counts. Or it has two agents, from two
 * files: if the newer counted, each would end the other's, dial again and repeat all code, for
 * ever. The hello says which, by the time at which the agent was loaded. Until then the newer one
 * is a rival.
 */
static enum targets_verdict open_session(struct targets *targets,
					 const struct intake_session *session)
{
	const uint64_t now_ns = clock_now_ns();
	struct process *process;

	if (session->pid <= 0) {
		say_blind(targets);
		return TARGETS_KEEP; /* otherwise the agent would dial again each second */
	}
	process = process_of_session(targets, session);
	if (!process)
		return refuse_session(targets, session, now_ns);
	if (!has_session(targets, process) || !process->jvm->has_hello)
		return begin_session(targets, process, session);
	if (map64_put(&targets->rivals, session->id, (void *)(uintptr_t)session->pid) < 0)
		return refuse_session(targets, session, now_ns);
	return TARGETS_KEEP;
}

static void say_second(struct targets *targets, const struct intake_session *session)
{
	static struct log_limit limit;

	targets->second_agents++;
	if (log_limit_allows(&limit, session->group, clock_now_ns()))
		log_warning(
			"the JVM with PID %d has two agents, and the second one is not heard: "
			"give the agent once, in one of JAVA_TOOL_OPTIONS, JDK_JAVA_OPTIONS and "
			"the command line",
			(int)session->pid);
}

/* Whether the rival's hello is of the agent whose session is open. */
static bool is_same_agent(const struct process *process, const struct wire_record *record)
{
	struct wire_hello hello;

	return wire_decode_hello(record, &hello) == 0 && hello.loaded_ns == process->jvm->loaded_ns;
}

/*
 * A record of a rival. A second agent is let go on, because it would repeat all code if it were
 * ended, but when the first one is gone it has to dial again and is heard.
 */
static enum targets_verdict hear_rival(struct targets *targets, const struct intake_event *event)
{
	const struct intake_session *session = event->session;
	const bool is_hello = event->record.kind == WIRE_HELLO;
	struct process *process = targets_find(targets, session->pid);
	enum targets_verdict verdict = TARGETS_END_SESSION;

	if (process && process->start_ticks == session->start_ticks &&
	    has_session(targets, process)) {
		if (!is_hello || !is_same_agent(process, &event->record)) {
			targets->second_agent_records++;
			if (is_hello)
				say_second(targets, session);
			return TARGETS_KEEP;
		}
		verdict = begin_session(targets, process, session);
	}
	map64_remove(&targets->rivals, session->id);
	if (verdict == TARGETS_KEEP)
		apply_event(targets, process, &event->record);
	return verdict;
}

/*
 * Whether the process runs another program now: then its agent's connection has been closed. Looked
 * at now and then, because an agent may connect and leave often.
 */
static bool has_begun_another(struct process *process, uint64_t now_ns)
{
	if (!process->jvm->has_hello || now_ns < process->left_checked_ns + SPACE_INTERVAL_NS)
		return false;
	process->left_checked_ns = now_ns;
	return process_has_left_libjvm(process);
}

static void close_session(struct targets *targets, uint32_t id)
{
	struct process *process = map64_remove(&targets->sessions, id);

	map64_remove(&targets->rivals, id);
	if (!process)
		return;
	if (process->jvm->state != JVM_ENDED)
		process->jvm->state = JVM_DISCONNECTED;
	/*
	 * The process has most likely ended. If its end cannot be seen yet, the next sweep sees it.
	 */
	if (is_gone(process))
		bury(targets, process, clock_now_ns());
	else if (has_begun_another(process, clock_now_ns()))
		process_exec(process, clock_now_ns());
}

enum targets_verdict targets_apply_intake(struct targets *targets, const struct intake_event *event)
{
	const uint32_t id = event->session->id;
	struct process *process = map64_find(&targets->sessions, id);

	switch (event->kind) {
	case INTAKE_OPENED:
		return open_session(targets, event->session);
	case INTAKE_CLOSED:
		close_session(targets, id);
		return TARGETS_KEEP;
	case INTAKE_GAP:
		if (process)
			process->jvm->gaps++;
		return TARGETS_END_SESSION;
	case INTAKE_RECORD:
		if (process)
			apply_event(targets, process, &event->record);
		else if (map64_find(&targets->rivals, id))
			return hear_rival(targets, event);
		return TARGETS_KEEP;
	}
	return TARGETS_KEEP;
}

/* ---- the kernel's records ---- */

struct mapping targets_mapping_of(const struct record_mmap *mmap)
{
	return (struct mapping){
		.start = mmap->addr,
		.end = mmap->addr + mmap->len,
		.file_off = mmap->file_off,
		.dev_major = mmap->dev_major,
		.dev_minor = mmap->dev_minor,
		.inode = mmap->inode,
		.path = mmap->path,
	};
}

/*
 * Whether memory for code has been put in the place of a file's code: mostly the same code, moved
 * to huge pages. Only a list of all mappings shows it (struct moved_code).
 */
static bool is_over_code(const struct process *process, const struct mapping *mapping)
{
	const struct mapping *const known = address_space_find(&process->space, mapping->start);

	return known && known->end >= mapping->end && !mapping_is_generated(known) &&
	       known->inode != 0 && mapping_is_generated(mapping);
}

static void apply_mmap(struct targets *targets, struct process *process,
		       const struct record *record)
{
	struct mapping mapping = targets_mapping_of(&record->mmap);

	mapping.since_ns = record->time_ns;
	if (is_over_code(process, &mapping) && !process->gone_ns) {
		process_read_space_soon(process, record->time_ns);
		space_upkeep_note(&targets->spaces, process);
		return; /* until then it is the file's */
	}
	address_space_add(&process->space, &mapping); /* counts refused mappings */
}

static void apply_fork(struct targets *targets, const struct record *record)
{
	const struct process *parent = targets_find(targets, record->fork.parent_pid);
	struct process *child;

	if (record->pid == record->fork.parent_pid || !parent || !targets->all_users)
		return; /* a thread, or a process that is not recorded */
	child = targets_find(targets, record->pid);
	if (child && child->gone_ns)
		forget_predecessor(targets, record->pid);
	child = targets_find_or_read(targets, record->pid);
	parent = targets_find(targets, record->fork.parent_pid); /* it may have made room */
	if (child && parent && child->space.count == 0)
		address_space_copy(&child->space, &parent->space);
}

/* Who has started it may be another user than who it runs as, since it begins its program. */
static void apply_exec(struct targets *targets, struct process *process, uint64_t time_ns)
{
	if (process_exec(process, time_ns))
		end_session_of(targets, process);
	process_pool_own(&targets->pool, process);
}

void targets_apply_record(struct targets *targets, const struct record *record)
{
	struct process *process = targets_find(targets, record->pid);

	if (record->kind == RECORD_FORK)
		apply_fork(targets, record);
	if (!process)
		return;
	if (record->kind == RECORD_MMAP)
		apply_mmap(targets, process, record);
	else if (record->kind == RECORD_EXEC)
		apply_exec(targets, process, record->time_ns);
	else if (record->kind == RECORD_EXIT)
		process_remove_thread(process, record->tid);
}

/* ---- upkeep ---- */

/*
 * What the time is too short for is left for the next sweep, but for a few ranges of each process.
 */
static void expire_code(struct process *process, uint64_t horizon_ns, uint64_t until_ns)
{
	size_t most;

	do {
		most = clock_now_ns() < until_ns ? EXPIRED_AT_ONCE : EXPIRED_LATE;
	} while (code_map_expire_some(process->code, horizon_ns, MAX_DEAD_RANGES, most) == most &&
		 most > EXPIRED_LATE);
}

/* Gives names of containers that have come to the processes. */
static void identify_all(struct targets *targets)
{
	struct process *process;
	size_t pos = 0;

	if (targets->container_changes == targets->containers.changes)
		return;
	targets->container_changes = targets->containers.changes;
	while ((process = targets_next(targets, &pos))) {
		if (process->container && process->container_version != process->container->version)
			process_identify(process);
	}
}

/* Jars are read in steps, because a parser answers when it answers. */
static void settle_start_classes(struct targets *targets)
{
	const struct timespec step = {.tv_nsec = SETTLE_STEP_NS};
	const uint64_t until_ns = clock_now_ns() + targets->names_wait_ns;

	while (!start_classes_step(&targets->start_classes, &targets->processes, clock_now_ns()) &&
	       clock_now_ns() < until_ns)
		nanosleep(&step, NULL);
}

void targets_settle_names(struct targets *targets)
{
	settle_start_classes(targets);
	containers_settle(&targets->containers, clock_now_ns(), targets->names_wait_ns);
	identify_all(targets);
}

static bool is_forgotten(const struct targets *targets, const struct process *process,
			 uint64_t now_ns)
{
	return process->gone_ns &&
	       now_ns > process->gone_ns + TARGETS_LINGER_NS + targets->linger_more_ns;
}

/* The upkeep of one process. The time that it has is over at until_ns. */
static void sweep_process(struct targets *targets, struct process *process, uint64_t now_ns,
			  uint64_t horizon_ns, uint64_t until_ns)
{
	if (process->code)
		expire_code(process, horizon_ns, until_ns);
	if (process->name_move)
		process_move_names(process, now_ns, until_ns);
	if (process->foreign.map)
		foreign_map_expire(process->foreign.map, horizon_ns, now_ns, until_ns);
	if (!process->gone_ns && is_gone(process))
		bury(targets, process, now_ns);
	else if (!process->gone_ns)
		process_tell(process, CODE_SWEPT, now_ns);
	charge(targets, process);
}

/*
 * Goes on with a sweep for sweep_ns: looks for processes that have ended, and forgets processes
 * that ended long ago. A process that is added meanwhile may come in the next sweep. Returns
 * whether the sweep is at its end.
 */
static bool sweep_some(struct targets *targets, uint64_t now_ns, uint64_t horizon_ns)
{
	const uint64_t until_ns = clock_now_ns() + targets->turn.sweep_ns;
	struct process *old = NULL, *process;

	if (targets->sweep_pos == 0) {
		containers_step(&targets->containers, now_ns);
		identify_all(targets);
	}
	do {
		process = targets_next(targets, &targets->sweep_pos);
		if (process)
			sweep_process(targets, process, now_ns, horizon_ns, until_ns);
		if (process && is_forgotten(targets, process, now_ns)) {
			process->next_removed = old;
			old = process;
		}
	} while (process && clock_now_ns() < until_ns);
	remove_list(targets, old);
	if (!process)
		targets->sweep_pos = 0;
	return !process;
}

static void say_payer(const struct targets *targets, const struct process *payer, uint64_t now_ns)
{
	static struct log_limit limit;

	if (!log_limit_allows(&limit, payer->group, now_ns))
		return;
	log_warning(
		"all processes take more than %llu MiB of memory: what is known of PID %d, which "
		"has %llu MiB of it, is learnt anew: --memory sets another limit",
		(unsigned long long)(targets->max_bytes >> 20), (int)payer->pid,
		(unsigned long long)(payer->charged_bytes >> 20));
}

/*
 * Keeps all processes within the limit that they share. Of the owner with the most memory the
 * process with the most is forgotten. An agent dials again, so that its code is known again if the
 * need was short.
 */
static void limit_memory(struct targets *targets, uint64_t now_ns)
{
	const uint64_t until_ns = clock_now_ns() + targets->turn.payers_ns;

	for (int i = 0; i < PAYERS_AT_ONCE && targets->bytes > targets->max_bytes; i++) {
		struct process *const payer = choose_payer(targets, bytes_of, 0);

		if (!payer)
			return;
		say_payer(targets, payer, now_ns);
		targets->dropped_jvms++;
		remove_process(targets, payer);
		if (clock_now_ns() >= until_ns)
			return;
	}
}

static void free_dying(struct targets *targets, uint64_t now_ns)
{
	const bool is_much = targets->bytes + targets->dying.bytes > targets->max_bytes;

	if (targets->dying.first)
		heap_note(&targets->heap,
			  graveyard_step(&targets->dying, is_much ? FREE_MOST_NS : FREE_NS));
	heap_step(&targets->heap, targets->bytes + targets->shared_bytes, now_ns);
}

static bool take_outside(void *arg, struct process *process)
{
	return process->jvm || make_jvm(arg, process);
}

static void changed_outside(void *arg, struct process *process, size_t bytes)
{
	struct targets *const targets = arg;

	process->uncounted += (unsigned)(bytes / LARGE_RECORD);
	if (process->uncounted >= UNCOUNTED_MAX || bytes > LARGE_RECORD)
		charge(targets, process);
}

static void named_outside(void *arg, const struct process *process)
{
	struct targets *const targets = arg;

	targets->names.is_new = true;
	start_classes_add(&targets->start_classes, process);
}

static void read_record(void *arg, const struct process *process, const struct wire_record *record)
{
	const struct targets *const targets = arg;

	if (targets->on_read)
		targets->on_read(targets->on_read_arg, process, record);
}

/* What somebody wants of the process where no agent tells of it. */
static enum outside_want wanted_outside(void *arg, const struct process *process)
{
	const struct targets *const targets = arg;
	const struct outside_process *const outside = process->outside;

	if (process->users > 0 || targets->outside_users > 0 || process_has_agent(process) ||
	    (outside && !outside->only_names))
		return OUTSIDE_WANT_CODE;
	return targets->name_users > 0 || outside ? OUTSIDE_WANT_NAMES : OUTSIDE_WANT_NOTHING;
}

/* Whether there may be JVMs to be read; a sweep notices those whose agent has gone. */
static bool reads_outside(const struct targets *targets)
{
	return targets->outside_users + targets->one_users + targets->name_users > 0 ||
	       targets->outside.stats.read_now + targets->outside.threads_now > 0;
}

/* Whether whoever awaits names has a reason to look again. */
static bool have_names_changed(const struct targets *targets)
{
	const bool may_go_on = targets->names.may_go_on;

	return (targets->names.is_new && !may_go_on) ||
	       !is_naming(targets, may_go_on, clock_now_ns());
}

static void read_outside(struct targets *targets)
{
	const struct outside_host host = {.take = take_outside,
					  .changed = changed_outside,
					  .named = named_outside,
					  .read = read_record,
					  .wanted = wanted_outside,
					  .arg = targets};

	outside_upkeep_step(&targets->outside, &host, &targets->processes, clock_now_ns());
	if (!targets->names.are_awaited || !have_names_changed(targets))
		return;
	targets->names.are_awaited = false;
	if (targets->on_named)
		targets->on_named(targets->on_named_arg);
}

static bool reads_foreign(const struct targets *targets)
{
	return targets->all_users + targets->one_users > 0 || targets->foreign.has_jvms;
}

void targets_tick(struct targets *targets, uint64_t now_ns, uint64_t horizon_ns)
{
	if (reads_foreign(targets))
		foreign_upkeep_step(&targets->foreign, &targets->processes, clock_now_ns());
	read_outside(targets);
	containers_take(&targets->containers, now_ns);
	identify_all(targets);
	start_classes_step(&targets->start_classes, &targets->processes, now_ns);
	if (targets->sweep_pos == 0 && now_ns >= targets->next_sweep_ns) {
		targets->next_sweep_ns = now_ns + SWEEP_INTERVAL_NS;
		targets->is_swept = false;
	}
	if (!targets->is_swept)
		targets->is_swept = sweep_some(targets, now_ns, horizon_ns);
	limit_memory(targets, now_ns);
	free_dying(targets, now_ns);
	space_upkeep_step(&targets->spaces, &targets->processes, now_ns);
}

static uint64_t sooner_of(uint64_t a, uint64_t b)
{
	return b && b < a ? b : a; /* 0: never */
}

uint64_t targets_next_tick_ns(const struct targets *targets)
{
	uint64_t next = targets->next_sweep_ns;

	if (targets->dying.first || !targets->is_swept)
		return 0; /* what is forgotten is freed without a wait, and a sweep goes on */
	next = sooner_of(next, targets->spaces.next_ns);
	if (reads_outside(targets) && targets->outside.next_ns < next)
		next = targets->outside.next_ns;
	if (reads_foreign(targets))
		next = sooner_of(next, targets->foreign.next_ns);
	return next;
}
