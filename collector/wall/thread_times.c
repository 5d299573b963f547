// SPDX-License-Identifier: Apache-2.0
/*
 * Divides the time of threads among what they did, see thread_times.h.
 *
 * Threads are in a table by TID, and in two lists: one by their last reading, whose head has the
 * threads that are not read any more, and one by their last stack, whose head has the stacks to
 * drop. Threads that are known to have ended are in a list of their own until the next tick.
 *
 * One file, because each of a thread's time, stack and waits decides when the others are emitted.
 */
#include "wall/thread_times.h"

#include "base/map64.h"
#include "sample/sample_regs.h"
#include "wall/thread_account.h"
#include "wall/wait_claims.h"

#include <stdlib.h>
#include <string.h>

#define PHASES	 16u		      /* of threads that have their first sample */
#define YOUNG_NS UINT64_C(1000000000) /* a thread that was there longer was not wanted */
#define GONE_NS	 UINT64_C(1000000000) /* without a reading */
#define N_STATES THREAD_ACCOUNT_STATES

/* A list is a circle: its own link, and those of its members. */
struct link {
	struct link *prev, *next;
};

/* A stack as a reading had it, and in words the kernel's chain, then the copy of the stack. */
struct kept {
	unsigned refs;
	size_t bytes; /* of all of this */
	int32_t syscall;
	uint32_t n_kernel, stack_len;
	uint64_t regs[SAMPLE_REGS_COUNT];
	uint64_t words[];
};

/* The time of a thread in a state, which no sample has. */
struct share {
	struct kept *stack;  /* that the thread was read with last in this state, or NULL */
	uint64_t settled_ns; /* with that stack */
	uint64_t open_ns;    /* of the stack that the next reading in this state will have */
	uint64_t emitted_ns; /* samples go up to there */
	bool is_emitted;     /* at least once */
};

/* The threads of those who share one part of the limits. */
struct group {
	uint64_t id;
	struct link members, changed;
	size_t n_threads, stack_bytes, wait_bytes;
};

struct thread {
	struct link seen;    /* in the list of readings */
	struct link changed; /* in the group's list of stacks, if there is a stack */
	struct link member;  /* in the group's list of threads */
	struct group *group;
	pid_t pid, tid;
	char comm[SAMPLE_COMM_BYTES]; /* of the last reading */
	uint64_t start_ns, tick;
	bool is_ended;	/* a reading from before its end may still come */
	bool is_unread; /* there was no reading; start_ns is of another clock than readings have */
	uint64_t time_ns; /* up to there the time is divided */
	struct thread_account account;
	struct share shares[N_STATES];
	struct kept *latest;	  /* the last stack of any state, or NULL */
	struct wait_claims waits; /* that were told, and are not emitted */
	uint64_t latest_switches; /* as of then: while they are the same, the thread is there */
	uint64_t latest_ns;	  /* when it was taken; 0: never, or it is of no use */
	bool lacks_stack;	  /* it was dropped, and has not been asked for again */
};

struct thread_times {
	struct thread_times_options options;
	struct map64 threads; /* TID -> struct thread */
	struct map64 groups;  /* ID -> struct group, of those that have threads */
	struct link seen, ended;
	uint64_t tick;
	struct thread_times_stats stats;
};

static uint64_t gain(uint64_t before, uint64_t now)
{
	return now > before ? now - before : 0;
}

static void list_init(struct link *list)
{
	list->prev = list->next = list;
}

static bool list_is_empty(const struct link *list)
{
	return list->next == list;
}

/* A link in no list is a circle of its own. */
static void list_remove(struct link *link)
{
	link->prev->next = link->next;
	link->next->prev = link->prev;
	list_init(link);
}

static void list_move_last(struct link *list, struct link *link)
{
	list_remove(link);
	link->prev = list->prev;
	link->next = list;
	list->prev->next = link;
	list->prev = link;
}

static struct thread *thread_of_seen(struct link *link)
{
	return (struct thread *)(void *)((char *)link - offsetof(struct thread, seen));
}

static struct thread *thread_of_changed(struct link *link)
{
	return (struct thread *)(void *)((char *)link - offsetof(struct thread, changed));
}

static struct thread *thread_of_member(struct link *link)
{
	return (struct thread *)(void *)((char *)link - offsetof(struct thread, member));
}

static void put_stack(const struct kept *kept, struct sample *sample)
{
	sample->syscall_plus_one = kept->syscall < 0 ? 0 : (uint32_t)kept->syscall + 1;
	sample->regs = kept->regs;
	sample->kernel = (struct sample_chain){kept->n_kernel ? kept->words : NULL, kept->n_kernel};
	sample->stack = kept->stack_len ? (const uint8_t *)(kept->words + kept->n_kernel) : NULL;
	sample->stack_len = kept->stack_len;
}

static struct kept *ref(struct kept *kept)
{
	kept->refs++;
	return kept;
}

static void unref(struct thread_times *times, struct thread *thread, struct kept **kept)
{
	if (*kept && --(*kept)->refs == 0) {
		thread->group->stack_bytes -= (*kept)->bytes;
		times->stats.stack_bytes -= (*kept)->bytes;
		free(*kept);
	}
	*kept = NULL;
}

/* Emits what waits have of blocked time up to at_ns, and returns what is left of it. */
static uint64_t emit_waits(struct thread_times *times, struct thread *thread, uint64_t at_ns,
			   uint64_t us)
{
	const struct wait_stretch stretch = {.begin_ns = thread->shares[THREAD_BLOCKED].emitted_ns,
					     .end_ns = at_ns,
					     .us = us,
					     .quantum_ns = times->options.quantum_ns,
					     .pid = thread->pid,
					     .tid = thread->tid,
					     .comm = thread->comm};
	const size_t before = thread->waits.bytes;

	us = wait_claims_share(&thread->waits, &stretch, times->options.emit, times->options.arg);
	times->stats.wait_bytes -= before - thread->waits.bytes;
	thread->group->wait_bytes -= before - thread->waits.bytes;
	return us;
}

/* Emits whole microseconds that are settled, up to at_ns, and keeps the rest. */
static void emit_share(struct thread_times *times, struct thread *thread, enum thread_state state,
		       uint64_t at_ns)
{
	const bool has_run = state == THREAD_RUNNING;
	struct share *const share = &thread->shares[state];
	const struct kept *const kept = share->stack ? share->stack : thread->latest;
	const uint64_t us = share->settled_ns / 1000;
	struct record record = {
		.kind = RECORD_SAMPLE,
		.time_ns = has_run ? share->emitted_ns : at_ns,
		.pid = thread->pid,
		.tid = thread->tid,
		.sample = {.kind = SAMPLE_OF_WALL,
			   .state = (uint8_t)state,
			   .period = gain(share->emitted_ns, at_ns),
			   .weight = us},
	};

	memcpy(record.sample.comm, thread->comm, sizeof(record.sample.comm));
	times->stats.time_us[state] += us;
	if (state == THREAD_BLOCKED)
		record.sample.weight = emit_waits(times, thread, at_ns, us);
	share->settled_ns %= 1000;
	share->is_emitted |= at_ns > share->emitted_ns;
	share->emitted_ns = at_ns;
	if (record.sample.weight == 0)
		return;
	if (kept && !has_run)
		put_stack(kept, &record.sample);
	times->options.emit(times->options.arg, &record);
}

/* Emits all of a state: no reading has said in time what stack the open time has. */
static void emit_all_of(struct thread_times *times, struct thread *thread, enum thread_state state)
{
	struct share *const share = &thread->shares[state];

	share->settled_ns += share->open_ns;
	share->open_ns = 0;
	emit_share(times, thread, state, thread->time_ns);
}

static void emit(struct thread_times *times, struct thread *thread)
{
	for (enum thread_state state = THREAD_RUNNING; state <= THREAD_BLOCKED; state++)
		emit_all_of(times, thread, state);
}

static void drop_stacks(struct thread_times *times, struct thread *thread)
{
	for (enum thread_state state = THREAD_RUNNING; state <= THREAD_BLOCKED; state++)
		unref(times, thread, &thread->shares[state].stack);
	unref(times, thread, &thread->latest);
	list_remove(&thread->changed);
}

static void forget(struct thread_times *times, pid_t tid)
{
	if (times->options.forget)
		times->options.forget(times->options.arg, tid);
}

/* A dropped stack is asked for when it was taken so long ago: its time has no sample until then. */
static void ask_again(struct thread_times *times, struct thread *thread, uint64_t now_ns)
{
	thread->lacks_stack = gain(thread->latest_ns, now_ns) < times->options.longest_ns / 2;
	if (!thread->lacks_stack)
		forget(times, thread->tid);
}

/* The group that has most of what lies at offset in struct group; NULL: there is none. */
static struct group *greediest(const struct thread_times *times, size_t offset)
{
	struct group *most = NULL;
	size_t most_amount = 0, pos = 0, amount;
	uint64_t id;
	void *value;

	while (map64_next(&times->groups, &pos, &id, &value)) {
		memcpy(&amount, (const char *)value + offset, sizeof(amount));
		if (most && amount <= most_amount)
			continue;
		most = value;
		most_amount = amount;
	}
	return most;
}

/*
 * Makes room for a stack by dropping those of the greediest group's threads that have changed least
 * recently.
 */
static bool make_room(struct thread_times *times, size_t bytes, uint64_t now_ns)
{
	while (times->stats.stack_bytes + bytes > times->options.stack_bytes) {
		struct group *const most = greediest(times, offsetof(struct group, stack_bytes));
		struct thread *thread;

		if (!most || list_is_empty(&most->changed))
			return false;
		thread = thread_of_changed(most->changed.next);
		emit(times, thread);
		drop_stacks(times, thread);
		ask_again(times, thread, now_ns);
		times->stats.dropped_stacks++;
	}
	return true;
}

static struct kept *copy_stack(const struct thread_reading *reading, size_t bytes)
{
	const size_t kernel_bytes = reading->kernel.len * sizeof(uint64_t);
	struct kept *const kept = malloc(bytes);

	if (!kept)
		return NULL;
	kept->refs = 1;
	kept->bytes = bytes;
	kept->syscall = reading->syscall;
	kept->n_kernel = reading->kernel.len;
	kept->stack_len = reading->stack_len;
	memcpy(kept->regs, reading->regs, sizeof(kept->regs));
	if (kernel_bytes)
		memcpy(kept->words, reading->kernel.addrs, kernel_bytes);
	if (reading->stack_len)
		memcpy(kept->words + kept->n_kernel, reading->stack, reading->stack_len);
	return kept;
}

/* What is empty may be at no address. */
static bool has_equal_bytes(const void *a, const void *b, size_t n)
{
	return n == 0 || memcmp(a, b, n) == 0;
}

/* Whether the thread waits again with all that it has waited with: its samples would be equal. */
static bool is_equal(const struct kept *kept, const struct thread_reading *reading)
{
	return kept && kept->stack_len == reading->stack_len &&
	       kept->n_kernel == reading->kernel.len && kept->syscall == reading->syscall &&
	       has_equal_bytes(kept->regs, reading->regs, sizeof(kept->regs)) &&
	       has_equal_bytes(kept->words, reading->kernel.addrs,
			       kept->n_kernel * sizeof(uint64_t)) &&
	       has_equal_bytes(kept->words + kept->n_kernel, reading->stack, kept->stack_len);
}

/*
 * Gives up the stack that another one replaces, of the state that the thread was read in: its time
 * ends with the reading before.
 */
static void give_up(struct thread_times *times, struct thread *thread, enum thread_state state,
		    uint64_t before_ns)
{
	emit_share(times, thread, state, before_ns);
	unref(times, thread, &thread->shares[state].stack);
	unref(times, thread, &thread->latest);
}

/* Keeps the reading's stack as the latest, if there is room for it. */
static void keep_stack(struct thread_times *times, struct thread *thread,
		       const struct thread_reading *reading, uint64_t before_ns)
{
	const size_t bytes =
		sizeof(struct kept) + reading->kernel.len * sizeof(uint64_t) + reading->stack_len;
	struct kept *kept;

	if (is_equal(thread->latest, reading)) {
		thread->latest_switches = reading->switches;
		thread->latest_ns = reading->time_ns;
		times->stats.stacks_equal++;
		list_move_last(&thread->group->changed, &thread->changed);
		return;
	}
	give_up(times, thread, reading->state, before_ns);
	kept = make_room(times, bytes, reading->time_ns) ? copy_stack(reading, bytes) : NULL;
	if (!kept) {
		emit(times, thread);
		drop_stacks(times, thread);
		times->stats.dropped_stacks++;
		forget(times, thread->tid);
		return;
	}
	thread->latest = kept;
	thread->latest_switches = reading->switches;
	thread->latest_ns = reading->time_ns;
	thread->lacks_stack = false;
	thread->group->stack_bytes += bytes;
	times->stats.stack_bytes += bytes;
	times->stats.stacks_taken++;
	list_move_last(&thread->group->changed, &thread->changed);
}

/* Whether the thread is still where its latest stack was taken. */
static bool is_there(const struct thread *thread, const struct thread_reading *reading)
{
	return thread->latest && thread->latest_switches == reading->switches;
}

/*
 * The thread was read in a state, with its latest stack: time of that state is of that stack, back
 * to the last reading in that state.
 */
static void settle(struct thread_times *times, struct thread *thread, enum thread_state state,
		   uint64_t before_ns)
{
	struct share *const share = &thread->shares[state];

	if (share->stack != thread->latest) {
		emit_share(times, thread, state, before_ns);
		unref(times, thread, &share->stack);
		share->stack = ref(thread->latest);
	}
	share->settled_ns += share->open_ns;
	share->open_ns = 0;
}

static void count_wakers(struct thread_times *times, struct thread *thread)
{
	times->stats.wakers_left_out += thread->waits.wakers_left_out;
	thread->waits.wakers_left_out = 0;
}

static void drop_waits(struct thread_times *times, struct thread *thread)
{
	times->stats.wait_bytes -= thread->waits.bytes;
	thread->group->wait_bytes -= thread->waits.bytes;
	wait_claims_fini(&thread->waits);
	count_wakers(times, thread);
}

static uint64_t group_of(const struct thread_times *times, pid_t pid)
{
	return times->options.group ? times->options.group(times->options.arg, pid) : 0;
}

/* NULL: there is no memory. */
static struct group *take_group(struct thread_times *times, uint64_t id)
{
	struct group *group = map64_find(&times->groups, id);

	if (group)
		return group;
	group = calloc(1, sizeof(*group));
	if (!group || map64_put(&times->groups, id, group) < 0) {
		free(group);
		return NULL;
	}
	group->id = id;
	list_init(&group->members);
	list_init(&group->changed);
	return group;
}

static void drop_empty_group(struct thread_times *times, struct group *group)
{
	if (group->n_threads > 0)
		return;
	map64_remove(&times->groups, group->id);
	free(group);
}

static void leave_group(struct thread_times *times, struct thread *thread)
{
	list_remove(&thread->member);
	thread->group->n_threads--;
	drop_empty_group(times, thread->group);
}

/* Emits what pends, and forgets the thread. */
static void end_thread(struct thread_times *times, struct thread *thread)
{
	emit(times, thread);
	drop_stacks(times, thread);
	drop_waits(times, thread);
	list_remove(&thread->seen);
	map64_remove(&times->threads, (uint64_t)thread->tid);
	forget(times, thread->tid);
	leave_group(times, thread);
	free(thread);
}

/* Whether there is room for a thread of the group; one of the greediest group may have to go. */
static bool has_room(struct thread_times *times, const struct group *group)
{
	struct group *most;

	if (times->threads.count < times->options.n_threads)
		return true;
	most = greediest(times, offsetof(struct group, n_threads));
	if (!most || most == group || most->n_threads <= group->n_threads + 1)
		return false;
	end_thread(times, thread_of_member(most->members.prev));
	return true;
}

static struct thread *make_thread(struct thread_times *times, pid_t pid, pid_t tid)
{
	struct group *const group = take_group(times, group_of(times, pid));
	struct thread *thread;

	if (!group)
		return NULL;
	thread = has_room(times, group) ? calloc(1, sizeof(*thread)) : NULL;
	if (!thread || map64_put(&times->threads, (uint64_t)tid, thread) < 0) {
		drop_empty_group(times, group);
		free(thread);
		return NULL;
	}
	thread->group = group;
	group->n_threads++;
	list_init(&thread->member);
	list_move_last(&group->members, &thread->member);
	list_init(&thread->seen);
	list_init(&thread->changed);
	thread->pid = pid;
	thread->tid = tid;
	return thread;
}

/* No sample has anything of the thread. */
static void begin_shares(struct thread *thread)
{
	for (enum thread_state state = THREAD_RUNNING; state <= THREAD_BLOCKED; state++)
		thread->shares[state].emitted_ns = thread->time_ns;
}

static struct thread *add_thread(struct thread_times *times, const struct thread_reading *reading)
{
	const bool is_young = reading->start_ns >= times->options.start_ns &&
			      reading->start_ns <= reading->time_ns &&
			      reading->time_ns - reading->start_ns <= YOUNG_NS;
	const bool is_begun =
		reading->start_ns && reading->start_ns < times->options.start_ns &&
		(times->tick == 0 || gain(times->options.start_ns, reading->time_ns) <= YOUNG_NS);
	struct thread *const thread = make_thread(times, reading->pid, reading->tid);

	if (!thread)
		return NULL;
	thread->start_ns = reading->start_ns;
	thread->time_ns = is_young   ? reading->start_ns
			  : is_begun ? times->options.start_ns
				     : reading->time_ns;
	thread_account_begin(&thread->account, reading, is_young);
	thread->account.time_ns = thread->time_ns;
	begin_shares(thread);
	return thread;
}

/* The reading's thread; NULL: there is no room for it. */
static struct thread *take_thread(struct thread_times *times, const struct thread_reading *reading)
{
	struct thread *const thread = map64_find(&times->threads, (uint64_t)reading->tid);

	if (thread && thread->is_unread && thread->pid == reading->pid) {
		thread->is_unread = false;
		thread->start_ns = reading->start_ns;
	}
	if (thread && thread->start_ns == reading->start_ns && thread->pid == reading->pid)
		return thread;
	if (thread) /* another thread had the TID */
		end_thread(times, thread);
	return add_thread(times, reading);
}

static void count(struct thread_times_stats *stats, const struct thread *thread,
		  const struct thread_reading *reading)
{
	stats->changed_while_read += reading->is_changed;
	stats->stacks_reused += !reading->has_stack && reading->state != THREAD_RUNNING &&
				reading->switches == thread->account.switches &&
				!list_is_empty(&thread->changed);
}

/* The first time is shorter, so that not all threads of a recording have their samples at once. */
static uint64_t first_ns(const struct thread_times *times, const struct thread *thread)
{
	const uint64_t part_ns = times->options.longest_ns / PHASES;

	return times->options.longest_ns - part_ns * ((uint64_t)thread->tid % PHASES);
}

/* What has run at each reading, and other time that no sample has for long. */
static void emit_due(struct thread_times *times, struct thread *thread)
{
	emit_all_of(times, thread, THREAD_RUNNING);
	for (enum thread_state state = THREAD_RUNNABLE; state <= THREAD_BLOCKED; state++) {
		const struct share *const share = &thread->shares[state];
		const uint64_t longest_ns =
			share->is_emitted ? times->options.longest_ns : first_ns(times, thread);

		if (gain(share->emitted_ns, thread->time_ns) >= longest_ns)
			emit_all_of(times, thread, state);
	}
}

/* Divides the time since the last reading. */
static void divide(struct thread *thread, const struct thread_reading *reading)
{
	uint64_t ns[N_STATES];

	thread_account_divide(&thread->account, reading, ns);
	for (enum thread_state state = THREAD_RUNNING; state <= THREAD_BLOCKED; state++)
		thread->shares[state].open_ns += ns[state];
	thread->time_ns = reading->time_ns;
}

/*
 * The time before a reading that has another name than the one before is of the older name, and so
 * are the stacks of a thread that has run since.
 */
static void take_name(struct thread_times *times, struct thread *thread,
		      const struct thread_reading *reading)
{
	if (!reading->comm[0] || strcmp(thread->comm, reading->comm) == 0)
		return;
	if (thread->comm[0]) {
		emit(times, thread);
		if (!is_there(thread, reading)) {
			drop_stacks(times, thread);
			thread->latest_ns = 0;
		}
	}
	memcpy(thread->comm, reading->comm, sizeof(thread->comm));
}

/*
 * A thread whose stack was dropped has gone elsewhere: no stack that comes now is that of its time
 * so far.
 */
static void leave_dropped(struct thread_times *times, struct thread *thread,
			  const struct thread_reading *reading)
{
	if (thread->latest || !thread->latest_ns || reading->switches == thread->latest_switches)
		return;
	emit(times, thread);
	thread->latest_ns = 0;
	thread->lacks_stack = false;
	forget(times, thread->tid);
}

void thread_times_read(struct thread_times *times, const struct thread_reading *reading)
{
	struct thread *const thread = take_thread(times, reading);
	const uint64_t before_ns = thread ? thread->time_ns : 0;

	times->stats.readings++;
	if (!thread) {
		times->stats.threads_left_out++;
		if (reading->has_stack)
			forget(times, reading->tid);
		return;
	}
	if (thread->is_ended)
		return;
	thread->tick = times->tick;
	list_move_last(&times->seen, &thread->seen);
	count(&times->stats, thread, reading);
	leave_dropped(times, thread, reading);
	take_name(times, thread, reading);
	divide(thread, reading);
	if (reading->has_stack)
		keep_stack(times, thread, reading, before_ns);
	if (reading->state != THREAD_RUNNING && is_there(thread, reading))
		settle(times, thread, reading->state, before_ns);
	if (thread->lacks_stack)
		ask_again(times, thread, reading->time_ns);
	emit_due(times, thread);
}

/* The wait's thread; NULL: it is not known, or another one has the TID now. */
static struct thread *find_waiter(const struct thread_times *times, const struct wait_reading *wait)
{
	const pid_t tid = wait->is_waker ? wait->waited_tid : wait->tid;
	struct thread *const thread = map64_find(&times->threads, (uint64_t)tid);

	if (!thread || thread->is_ended || (!wait->is_waker && thread->pid != wait->pid))
		return NULL;
	return thread->is_unread || thread->start_ns == wait->start_ns ? thread : NULL;
}

/*
 * Of several groups each has its part of half of the limit, and the other half is for whoever comes
 * first: these waits are gone in a second.
 */
static size_t room_for_waits(const struct thread_times *times, const struct group *group)
{
	const uint64_t all = times->options.stack_bytes, used = times->stats.wait_bytes;
	const uint64_t part = all / 2 / times->groups.count;
	const uint64_t first = gain(used, all / 2), own = gain(group->wait_bytes, part);

	if (times->groups.count == 1)
		return gain(used, all);
	return first > own ? first : own;
}

void thread_times_wait(struct thread_times *times, const struct wait_reading *wait)
{
	struct thread *const thread = find_waiter(times, wait);
	const size_t before = thread ? thread->waits.bytes : 0;
	const size_t left = thread ? room_for_waits(times, thread->group) : 0;

	if (!thread || !wait_claims_add(&thread->waits, wait, left)) {
		times->stats.waits_left_out += !wait->is_waker;
		times->stats.wakers_left_out += wait->is_waker;
		return;
	}
	/* A waker's stack may have taken the place of a larger one. */
	times->stats.wait_bytes += thread->waits.bytes;
	times->stats.wait_bytes -= before;
	thread->group->wait_bytes += thread->waits.bytes;
	thread->group->wait_bytes -= before;
	count_wakers(times, thread);
}

void thread_times_begin(struct thread_times *times, pid_t pid, pid_t tid, uint64_t time_ns)
{
	struct thread *thread = map64_find(&times->threads, (uint64_t)tid);

	if (thread && thread->is_ended)
		end_thread(times, thread);
	else if (thread)
		return; /* a reading was first */
	if (time_ns < times->options.start_ns)
		return;
	thread = make_thread(times, pid, tid);
	if (!thread)
		return; /* its readings are counted, as there is no room */
	thread->is_unread = true;
	thread->tick = times->tick;
	thread->account.state = THREAD_RUNNING;
	thread->start_ns = thread->time_ns = time_ns;
	thread->account.time_ns = time_ns;
	begin_shares(thread);
	list_move_last(&times->seen, &thread->seen);
}

void thread_times_end(struct thread_times *times, pid_t tid, uint64_t time_ns)
{
	struct thread *const thread = map64_find(&times->threads, (uint64_t)tid);

	if (!thread || thread->is_ended || time_ns < thread->start_ns)
		return;
	times->stats.threads_unread += thread->is_unread;
	if (time_ns > thread->time_ns) {
		thread->shares[thread->account.state].open_ns += time_ns - thread->time_ns;
		thread->time_ns = time_ns;
	}
	emit(times, thread);
	drop_stacks(times, thread);
	thread->is_ended = true;
	thread->is_unread = false;
	thread->tick = times->tick;
	list_move_last(&times->ended, &thread->seen);
}

/* Forgets threads that had ended before this tick began. */
static void forget_ended(struct thread_times *times)
{
	while (!list_is_empty(&times->ended)) {
		struct thread *const thread = thread_of_seen(times->ended.next);

		if (thread->tick == times->tick)
			break;
		end_thread(times, thread);
	}
}

void thread_times_end_tick(struct thread_times *times, uint64_t lost, uint64_t now_ns)
{
	times->stats.lost += lost;
	forget_ended(times);
	while (lost == 0 && !list_is_empty(&times->seen)) {
		struct thread *const thread = thread_of_seen(times->seen.next);

		if (thread->tick == times->tick || gain(thread->time_ns, now_ns) < GONE_NS)
			break;
		end_thread(times, thread);
	}
	times->tick++;
}

void thread_times_flush(struct thread_times *times)
{
	for (struct link *link = times->seen.next; link != &times->seen; link = link->next)
		emit(times, thread_of_seen(link));
}

struct thread_times *thread_times_new(const struct thread_times_options *options)
{
	struct thread_times *const times = calloc(1, sizeof(*times));

	if (!times)
		return NULL;
	times->options = *options;
	if (!times->options.longest_ns)
		times->options.longest_ns = THREAD_TIMES_LONGEST_NS;
	if (!times->options.stack_bytes)
		times->options.stack_bytes = THREAD_TIMES_STACK_BYTES;
	if (!times->options.quantum_ns)
		times->options.quantum_ns = WAIT_SOURCE_DEFAULT_QUANTUM_NS;
	if (!times->options.n_threads)
		times->options.n_threads = THREAD_TIMES_THREADS;
	list_init(&times->seen);
	list_init(&times->ended);
	return times;
}

static void free_threads(struct thread_times *times, struct link *list)
{
	while (!list_is_empty(list)) {
		struct thread *const thread = thread_of_seen(list->next);

		drop_stacks(times, thread);
		drop_waits(times, thread);
		list_remove(&thread->seen);
		leave_group(times, thread);
		free(thread);
	}
}

void thread_times_free(struct thread_times *times)
{
	if (!times)
		return;
	free_threads(times, &times->seen);
	free_threads(times, &times->ended);
	map64_fini(&times->threads);
	map64_fini(&times->groups);
	free(times);
}

void thread_times_stats(const struct thread_times *times, struct thread_times_stats *ret)
{
	*ret = times->stats;
	ret->threads = times->threads.count;
}

size_t thread_times_bytes(const struct thread_times *times)
{
	return sizeof(*times) + map64_bytes(&times->threads) +
	       times->threads.count * sizeof(struct thread) + times->stats.stack_bytes +
	       times->stats.wait_bytes;
}
