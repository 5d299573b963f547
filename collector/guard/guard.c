// SPDX-License-Identifier: Apache-2.0
/* Runs calls on helpers, and notes who has to wait, see guard.h. */
#include "guard/guard.h"

#include "base/clock.h"
#include "base/log.h"
#include "base/log_limit.h"
#include "guard/helpers.h"
#include "guard/reader.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <time.h>

#define MAX_OWNERS 64
#define KEPT_NS	   UINT64_C(120000000000) /* a process's late calls count so long */
#define STEP_NS	   UINT64_C(1000000)	  /* between two looks at calls that are waited for */
#define WARN_NS	   UINT64_C(1000000000)	  /* a call that is late for longer is told of */

/* A call on a helper. The helper and the guard each hold it once, and the last one frees it. */
struct job {
	struct helpers_call base;
	struct guarded_call *call;
	struct owner owner; /* of a left call */
	struct job *next;   /* in the queue of left calls */
	uint64_t back_ns;   /* when it returned late; set before is_back */
	bool has_reader;    /* a reader makes the call, and no helper has the job */
	atomic_bool is_back;
	atomic_uint holders;
};

/* A process with late calls. */
struct late_process {
	pid_t pid; /* 0: the place is free */
	struct owner owner;
	unsigned parts;	   /* GUARD_PARTS for a late call */
	uint64_t since_ns; /* when the last call was found to be late */
	uint64_t until_ns; /* end of the pause */
	uint64_t forget_ns;
	bool is_warned;
	struct job *out; /* the late call, if it has not been seen to return */
};

/* An owner with late calls. */
struct late_owner {
	struct owner owner;
	unsigned parts; /* GUARD_PARTS for a late call; 0: the place is free */
	uint64_t forget_ns, until_ns;
};

struct guard {
	struct guarded_runner runner;
	owner_fn owner;
	void *owner_arg;
	struct helpers *helpers, *leavers;
	bool has_turns;
	unsigned patience;   /* calls are waited for so many times as long */
	uint64_t waited_ns;  /* for late calls, in this turn */
	struct job *at_hand; /* or NULL */
	struct late_process processes[GUARD_MAX_LATE];
	size_t n_processes; /* places that are not free */
	struct late_owner owners[MAX_OWNERS];
	uint64_t owners_until_ns;	  /* the end of the last of their pauses */
	struct job *left[GUARD_MAX_LEFT]; /* left calls on helpers; NULL: the place is free */
	struct job *first, **last;	  /* left calls that wait for a place */
	struct log_limit log;
	struct guard_stats stats;
};

/* ---- jobs ---- */

static void drop(struct job *job)
{
	if (atomic_fetch_sub(&job->holders, 1) == 1)
		free(job);
}

static void run_job(struct helpers_call *base)
{
	struct job *const job = (struct job *)base;

	job->call->run(job->call);
}

static void end_job(struct helpers_call *base)
{
	struct job *const job = (struct job *)base;

	job->back_ns = job->call->reader ? reader_back_ns(job->call->reader) : clock_now_ns();
	guarded_free(job->call);
	atomic_store(&job->is_back, true);
	drop(job);
}

static struct job *make_job(struct guarded_call *call)
{
	struct job *job = calloc(1, sizeof(*job));

	if (!job)
		return NULL;
	job->base = (struct helpers_call){.run = run_job, .free = end_job};
	job->call = call;
	atomic_store(&job->holders, 2);
	return job;
}

/* ---- who has to wait ---- */

static struct late_process *find_process(struct guard *guard, pid_t pid)
{
	for (size_t i = 0; i < GUARD_MAX_LATE; i++) {
		if (guard->processes[i].pid == pid)
			return &guard->processes[i];
	}
	return NULL;
}

/* A place for a process that may be late: its own, a free one, or that of the oldest pause. */
static struct late_process *choose_place(struct guard *guard, pid_t pid)
{
	struct late_process *best = guard->n_processes ? find_process(guard, pid) : NULL;

	for (size_t i = 0; !best && i < GUARD_MAX_LATE; i++) {
		if (guard->processes[i].pid == 0)
			best = &guard->processes[i];
	}
	if (best)
		return best;
	for (size_t i = 0; i < GUARD_MAX_LATE; i++) {
		struct late_process *const place = &guard->processes[i];

		if (!place->out && (!best || place->until_ns < best->until_ns))
			best = place;
	}
	return best;
}

static struct late_owner *find_owner(struct guard *guard, struct owner owner)
{
	for (size_t i = 0; i < MAX_OWNERS; i++) {
		if (guard->owners[i].parts > 0 && owner_is(guard->owners[i].owner, owner))
			return &guard->owners[i];
	}
	return NULL;
}

/* All users of the owner's container together. */
static struct owner all_of(struct owner owner)
{
	return (struct owner){.container = owner.container, .user = OWNER_ALL};
}

static void forgive_one(struct guard *guard, struct owner owner)
{
	struct late_owner *const known = find_owner(guard, owner);

	if (known)
		known->parts = known->parts > GUARD_PARTS ? known->parts - (GUARD_PARTS - 1) : 1;
}

/* A late call of the owner has returned soon: that may have been a busy host's fault. */
static void forgive(struct guard *guard, struct owner owner)
{
	forgive_one(guard, owner);
	if (owner.container)
		forgive_one(guard, all_of(owner));
}

/* Whether the late call has returned. A helper ends its own; that of a reader is ended here. */
static bool is_back(struct job *job)
{
	if (atomic_load(&job->is_back))
		return true;
	if (!job->has_reader || !reader_wait(job->call->reader, 0))
		return false;
	end_job(&job->base);
	return true;
}

/* Sees which late calls have returned, and forgets processes that have long answered. */
static void see_who_is_back(struct guard *guard, uint64_t now_ns)
{
	guard->stats.unanswered = 0;
	for (size_t i = 0; i < GUARD_MAX_LATE; i++) {
		struct late_process *const place = &guard->processes[i];

		if (place->out && is_back(place->out)) {
			const uint64_t back_ns = place->out->back_ns;

			drop(place->out);
			place->out = NULL;
			if (back_ns <= place->since_ns + GUARD_SOON_NS) {
				place->parts -= GUARD_PARTS - 1;
				forgive(guard, place->owner);
			}
		}
		guard->stats.unanswered += place->out != NULL;
		if (place->pid && !place->out && now_ns > place->since_ns + KEPT_NS) {
			*place = (struct late_process){0};
			guard->n_processes--;
		}
	}
}

static bool has_pause(struct guard *guard, struct owner owner, uint64_t now_ns)
{
	const struct late_owner *const known = find_owner(guard, owner);

	return known && now_ns < known->until_ns;
}

/* To find an owner may take a system call, so the owner is asked for only if any has to wait. */
static bool is_owner_late(struct guard *guard, pid_t pid, uint64_t now_ns)
{
	struct owner_use use = {0};
	struct owner owner;

	if (guard->stats.unanswered < GUARD_OWNER_LATE && now_ns >= guard->owners_until_ns)
		return false;
	owner = guard->owner(guard->owner_arg, pid);
	for (size_t i = 0; i < GUARD_MAX_LATE; i++) {
		if (guard->processes[i].out)
			owner_count(&use, owner, guard->processes[i].owner);
	}
	return owner_has_all(use, GUARD_OWNER_LATE) || has_pause(guard, owner, now_ns) ||
	       (owner.container && has_pause(guard, all_of(owner), now_ns));
}

/* Late calls that return after all, on a busy host, are no reason to say anything. */
static void warn(struct guard *guard, struct late_process *place, uint64_t now_ns)
{
	const bool is_out_long = place->out && now_ns >= place->since_ns + WARN_NS;

	if (place->is_warned || (place->parts < 2 * GUARD_PARTS && !is_out_long))
		return;
	place->is_warned = true;
	if (log_limit_allows(&guard->log, owner_group(place->owner), now_ns))
		log_warning("PID %d: its memory or its file system does not answer in time: its "
			    "stacks may not be whole, and its methods may have no names, until it "
			    "does",
			    (int)place->pid);
}

/* Nothing is looked up while all calls return in time. */
static bool has_to_wait(struct guard *guard, pid_t pid)
{
	struct late_process *place;
	uint64_t now_ns;

	if (guard->n_processes == 0)
		return false;
	now_ns = clock_now_ns();
	see_who_is_back(guard, now_ns);
	place = find_process(guard, pid);
	if (place && (place->out || now_ns < place->until_ns)) {
		warn(guard, place, now_ns);
		return true;
	}
	return is_owner_late(guard, pid, now_ns);
}

static uint64_t pause_of(unsigned times)
{
	return GUARD_PAUSE_NS << (times < GUARD_DOUBLINGS ? times : GUARD_DOUBLINGS);
}

/* A place for an owner: its own, a free one, or that of the fewest late calls. */
static struct late_owner *choose_owner(struct guard *guard, struct owner owner)
{
	struct late_owner *best = find_owner(guard, owner);

	if (best)
		return best;
	best = &guard->owners[0];
	for (size_t i = 1; i < MAX_OWNERS; i++) {
		if (guard->owners[i].parts < best->parts)
			best = &guard->owners[i];
	}
	*best = (struct late_owner){.owner = owner};
	return best;
}

/* What is left of late calls: one less for each GUARD_FORGET_NS. */
static unsigned forget(unsigned parts, uint64_t *forget_ns, uint64_t now_ns)
{
	const uint64_t forgotten =
		now_ns > *forget_ns ? (now_ns - *forget_ns) / GUARD_FORGET_NS : 0;

	if (parts == 0 || forgotten * GUARD_PARTS >= parts) {
		*forget_ns = now_ns;
		return 0;
	}
	*forget_ns += forgotten * GUARD_FORGET_NS;
	return parts - (unsigned)forgotten * GUARD_PARTS;
}

/* most: so many late calls before pauses begin. */
static void note_owner(struct guard *guard, struct owner owner, unsigned most, uint64_t now_ns)
{
	struct late_owner *const known = choose_owner(guard, owner);

	known->parts = forget(known->parts, &known->forget_ns, now_ns) + GUARD_PARTS;
	if (known->parts > most * GUARD_PARTS)
		known->until_ns =
			now_ns + pause_of((known->parts - most * GUARD_PARTS - 1) / GUARD_PARTS);
	if (known->until_ns > guard->owners_until_ns)
		guard->owners_until_ns = known->until_ns;
}

static void note_late(struct guard *guard, struct late_process *place, pid_t pid, struct job *job)
{
	const uint64_t now_ns = clock_now_ns();
	unsigned times;

	guard->n_processes += place->pid == 0;
	if (place->pid != pid)
		*place = (struct late_process){.pid = pid};
	place->owner = guard->owner(guard->owner_arg, pid);
	place->since_ns = now_ns;
	if (place->parts < 2 * GUARD_PARTS) /* it has had no pause */
		place->parts = forget(place->parts, &place->forget_ns, now_ns);
	place->parts += GUARD_PARTS;
	times = place->parts / GUARD_PARTS;
	place->until_ns = times > 1 ? now_ns + pause_of(times - 2) : 0;
	place->out = job;
	note_owner(guard, place->owner, GUARD_OWNER_CALLS, now_ns);
	if (place->owner.container)
		note_owner(guard, all_of(place->owner), 2 * GUARD_OWNER_CALLS, now_ns);
	guard->stats.late_calls++;
	warn(guard, place, now_ns);
}

/* ---- calls that nobody waits for ---- */

static struct owner_use count_left(const struct guard *guard, struct owner owner)
{
	struct owner_use use = {0};

	for (size_t i = 0; i < GUARD_MAX_LEFT; i++) {
		if (guard->left[i])
			owner_count(&use, owner, guard->left[i]->owner);
	}
	return use;
}

static bool has_many_left(const struct guard *guard, struct owner owner)
{
	struct owner_use use = count_left(guard, owner);

	for (const struct job *job = guard->first; job; job = job->next) {
		if (owner_has_all(use, GUARD_OWNER_LEFT))
			break;
		owner_count(&use, owner, job->owner);
	}
	return owner_has_all(use, GUARD_OWNER_LEFT);
}

static void reap_left(struct guard *guard)
{
	for (size_t i = 0; i < GUARD_MAX_LEFT; i++) {
		if (guard->left[i] && atomic_load(&guard->left[i]->is_back)) {
			drop(guard->left[i]);
			guard->left[i] = NULL;
			guard->stats.left_calls--;
		}
	}
}

static struct job **find_place(struct guard *guard)
{
	for (size_t i = 0; i < GUARD_MAX_LEFT; i++) {
		if (!guard->left[i])
			return &guard->left[i];
	}
	return NULL;
}

/* Starts left calls for which there is a helper, the oldest first. */
static void start_left(struct guard *guard)
{
	struct job **at = &guard->first, **place;

	while (*at && (place = find_place(guard))) {
		struct job *const job = *at;

		if (owner_has_all(count_left(guard, job->owner), GUARD_OWNER_LEFT)) {
			at = &job->next;
			continue;
		}
		if (!helpers_start(guard->leavers, &job->base))
			return;
		*place = job;
		*at = job->next;
		if (!*at)
			guard->last = at;
	}
}

static void tend_left(struct guard *guard)
{
	if (guard->stats.left_calls == 0)
		return;
	reap_left(guard);
	start_left(guard);
}

/* Whether so many calls of the owner have not begun that no other one may open a file. */
static bool has_many_waiting(const struct guard *guard, struct owner owner)
{
	const uint64_t group = owner_group(owner);
	size_t n = 0;

	for (const struct job *job = guard->first; job; job = job->next)
		n += owner_group(job->owner) == group;
	return n >= GUARD_OWNER_WAITING;
}

static void leave_call(void *arg, pid_t pid, struct guarded_call *call)
{
	struct guard *const guard = arg;
	const struct owner owner = guard->owner(guard->owner_arg, pid);
	struct job *job;

	if (call->opens && has_many_waiting(guard, owner)) {
		guard->stats.paused_calls++;
		guarded_free(call);
		return;
	}
	job = make_job(call);
	if (!job) {
		call->run(call);
		guarded_free(call);
		return;
	}
	job->owner = owner;
	*guard->last = job;
	guard->last = &job->next;
	guard->stats.left_calls++;
	tend_left(guard);
}

/* ---- calls that are waited for ---- */

void guard_begin_turn(struct guard *guard)
{
	guard->has_turns = true;
	guard->waited_ns = 0;
}

/* How long a call is waited for; 0: it is not made in this turn. */
static uint64_t patience_ns(const struct guard *guard)
{
	if (!guard->has_turns || guard->waited_ns == 0)
		return GUARD_WAIT_NS;
	return guard->waited_ns < GUARD_TURN_NS ? GUARD_SHORT_NS : 0;
}

static enum helpers_end run_in_time(struct guard *guard, struct job *job, uint64_t wait_ns)
{
	struct guarded_call *const call = job->call;

	job->has_reader = call->reader;
	if (!job->has_reader)
		return helpers_run(guard->helpers, &job->base, wait_ns);
	return reader_run(call->reader, call->reader_fd, wait_ns) ? HELPERS_DONE : HELPERS_LATE;
}

static enum guarded_end run_call(void *arg, pid_t pid, struct guarded_call *call)
{
	struct guard *const guard = arg;
	const uint64_t wait_ns = patience_ns(guard);
	struct late_process *place;
	struct job *job;

	tend_left(guard);
	place = wait_ns == 0 || has_to_wait(guard, pid) ? NULL : choose_place(guard, pid);
	if (place && call->opens && guard->stats.left_calls >= GUARD_OWNER_LEFT &&
	    has_many_left(guard, guard->owner(guard->owner_arg, pid)))
		place = NULL;
	if (place && !guard->at_hand)
		guard->at_hand = make_job(call);
	job = place ? guard->at_hand : NULL;
	if (job) {
		job->call = call;
		switch (run_in_time(guard, job, wait_ns * guard->patience)) {
		case HELPERS_DONE:
			return GUARDED_DONE;
		case HELPERS_LATE:
			guard->at_hand = NULL;
			guard->waited_ns += wait_ns;
			note_late(guard, place, pid, job);
			return GUARDED_LATE;
		case HELPERS_NONE:
			break;
		}
	}
	guard->stats.paused_calls++;
	return GUARDED_PAUSED;
}

/* ---- life ---- */

int guard_new(owner_fn owner, void *arg, struct guard **ret)
{
	struct guard *guard = calloc(1, sizeof(*guard));
	int err;

	if (!guard)
		return -ENOMEM;
	err = helpers_new(GUARD_MAX_LATE, &guard->helpers);
	if (!err)
		err = helpers_new(GUARD_MAX_LEFT, &guard->leavers);
	if (err) {
		helpers_free(guard->helpers);
		free(guard);
		return err;
	}
	guard->owner = owner;
	guard->owner_arg = arg;
	guard->patience = 1;
	guard->last = &guard->first;
	guard->runner = (struct guarded_runner){.run = run_call, .leave = leave_call, .arg = guard};
	*ret = guard;
	return 0;
}

void guard_settle(struct guard *guard)
{
	const struct timespec step = {.tv_nsec = STEP_NS};

	if (!guard)
		return;
	tend_left(guard);
	for (uint64_t ns = 0; guard->stats.left_calls > 0 && ns < GUARD_SETTLE_NS; ns += STEP_NS) {
		nanosleep(&step, NULL);
		tend_left(guard);
	}
}

void guard_free(struct guard *guard)
{
	if (!guard)
		return;
	for (struct job *job = guard->first, *next; job; job = next) {
		next = job->next;
		guarded_free(job->call);
		free(job);
	}
	for (size_t i = 0; i < GUARD_MAX_LEFT; i++) {
		if (guard->left[i])
			drop(guard->left[i]);
	}
	for (size_t i = 0; i < GUARD_MAX_LATE; i++) {
		struct job *const out = guard->processes[i].out;

		if (out && out->has_reader && !atomic_load(&out->is_back))
			end_job(&out->base);
		if (out)
			drop(out);
	}
	helpers_free(guard->helpers);
	helpers_free(guard->leavers);
	free(guard->at_hand);
	free(guard);
}

const struct guarded_runner *guard_runner(const struct guard *guard)
{
	return &guard->runner;
}

void guard_be_patient(struct guard *guard, unsigned times)
{
	guard->patience = times;
}

void guard_stats(struct guard *guard, struct guard_stats *ret)
{
	tend_left(guard);
	see_who_is_back(guard, clock_now_ns());
	*ret = guard->stats;
}

static const struct counter counters[] = {
	COUNTER_GAUGE(struct guard_stats, unanswered, "guarded.unanswered",
		      "guarded_calls_unanswered",
		      "Reads of processes' memory and files that do not answer now."),
	COUNTER_SUM(struct guard_stats, late_calls, "guarded.late_calls",
		    "guarded_late_calls_total",
		    "Reads of processes' memory and files that have not answered in time."),
	COUNTER_SUM(struct guard_stats, paused_calls, "guarded.paused_calls",
		    "guarded_paused_calls_total",
		    "Reads that were not made because the process or its owner has to wait."),
	COUNTER_GAUGE(struct guard_stats, left_calls, "guarded.left_calls", "guarded_calls_left",
		      "Files of processes whose closing has not ended."),
};

const struct counters guard_counters = COUNTERS(struct guard_stats, counters);
