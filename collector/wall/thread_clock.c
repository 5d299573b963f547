// SPDX-License-Identifier: Apache-2.0
/*
 * A thread that reads threads, see thread_clock.h.
 *
 * A clock has one ticker at a time, whose thread does the reading without the lock. A ticker that
 * stands still is no longer the clock's: what it reads later is thrown away. It has a reference to
 * the clock, so that the clock's memory stays until its thread has returned.
 *
 * One file, because the owner and the tickers share one lock and all that it guards.
 */
#include "wall/thread_clock.h"

#include "base/thread.h"
#include "guard/owner.h"
#include "guard/reader.h"
#include "sample/record_queue.h"
#include "wall/thread_blame.h"
#include "wall/thread_files.h"
#include "wall/thread_source.h"

#include "base/clock.h"
#include "base/file.h"
#include "base/log.h"
#include "base/log_limit.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#define RETRY_NS CLOCK_NS_PER_SEC /* after a tick that failed */

struct ticker {
	struct thread_clock *clock;
	pid_t tid;
	struct thread_source *bpf; /* this, or files */
	struct thread_files *files;
	uint64_t pids_version, blame_version;
	struct map64 stackless; /* PIDs whose stacks the source does not read */
	size_t n_missing;	/* wanted processes for which the source has no room */
	/* Of the tick that runs, with the clock's lock: */
	bool is_ticking;
	uint64_t progress, moved_ns; /* when progress was seen to change */
};

struct thread_clock {
	struct thread_clock_options options;
	pthread_mutex_t lock;
	pthread_cond_t wake;
	size_t refs; /* the owner, and each ticker whose thread runs */
	struct ticker *ticker;
	struct wait_source *waits; /* used by the ticker without the lock; NULL: there are none */
	struct thread_times *times;
	struct record_queue queue;
	pid_t *pids;
	size_t n_pids, n_groups;
	uint64_t pids_version;
	uint64_t *groups;	/* of each of pids */
	struct map64 processes; /* PID -> its place in groups */
	struct thread_blame blame;
	struct log_limit said;
	uint64_t end_ns, random;
	bool is_stopped;  /* the ticker reads once more, and ends */
	bool is_finished; /* the last samples are in the queue */
	char source[THREAD_CLOCK_WHY_BYTES];
	char waits_text[THREAD_CLOCK_WHY_BYTES];
	struct thread_clock_stats stats;
};

/* Called with the lock held, which is given up. */
static void unref(struct thread_clock *clock)
{
	const bool is_last = --clock->refs == 0;

	pthread_mutex_unlock(&clock->lock);
	if (!is_last)
		return;
	wait_source_close(clock->waits);
	thread_times_free(clock->times);
	record_queue_fini(&clock->queue);
	free(clock->pids);
	free(clock->groups);
	map64_fini(&clock->processes);
	thread_blame_fini(&clock->blame);
	pthread_cond_destroy(&clock->wake);
	pthread_mutex_destroy(&clock->lock);
	free(clock);
}

/* Called by thread_times with the lock held. */
static uint64_t group_of(void *arg, pid_t pid)
{
	const struct thread_clock *const clock = arg;
	const uint64_t *const group = map64_find(&clock->processes, (uint64_t)pid);

	return group ? *group : 0;
}

/* Called by thread_times with the lock held. */
static void on_sample(void *arg, const struct record *record)
{
	struct thread_clock *const clock = arg;
	struct record kept = *record;

	/* The last reading is a moment behind the end. */
	if (kept.time_ns >= clock->end_ns)
		kept.time_ns = clock->end_ns - 1;
	if (record_queue_add(&clock->queue, &kept, group_of(clock, kept.pid), clock->n_groups))
		return;
	clock->stats.dropped++;
	clock->stats.dropped_us += record->sample.weight;
}

/* Called by thread_times with the lock held. Ticks use the source without the lock; both may. */
static void on_forget(void *arg, pid_t tid)
{
	struct thread_clock *const clock = arg;
	struct ticker *const ticker = clock->ticker;

	if (ticker && ticker->bpf)
		thread_source_forget(ticker->bpf, tid);
	else if (ticker && ticker->files && ticker->tid == (pid_t)syscall(SYS_gettid))
		thread_files_forget(ticker->files, tid);
}

static bool is_current(const struct ticker *ticker)
{
	return ticker->clock->ticker == ticker;
}

static void on_reading(void *arg, const struct thread_reading *reading)
{
	struct ticker *const ticker = arg;
	struct thread_clock *const clock = ticker->clock;

	THREAD_HOLD(&clock->lock);
	if (is_current(ticker))
		thread_times_read(clock->times, reading);
}

static void set_stackless(struct ticker *ticker, pid_t pid, bool is_stackless)
{
	const bool is_done = ticker->bpf
				     ? thread_source_set_stackless(ticker->bpf, pid, is_stackless)
				     : thread_files_set_stackless(ticker->files, pid, is_stackless);

	if (is_done && is_stackless)
		(void)map64_put(&ticker->stackless, (uint64_t)pid, ticker);
	else if (is_done)
		map64_remove(&ticker->stackless, (uint64_t)pid);
}

/* Of processes that are not wanted any more, too: others may have their PIDs next. */
static void restore_stacks(struct ticker *ticker)
{
	const struct thread_clock *const clock = ticker->clock;
	struct map64 before = ticker->stackless;
	size_t pos = 0;
	uint64_t pid;
	void *value;

	ticker->stackless = (struct map64){0};
	while (map64_next(&before, &pos, &pid, &value)) {
		const uint64_t *const group = map64_find(&clock->processes, pid);

		set_stackless(ticker, (pid_t)pid,
			      group && !thread_blame_has_stacks(&clock->blame, (pid_t)pid, *group));
	}
	map64_fini(&before);
}

/* Tells the source whose stacks are not read. Called with the lock held. */
static void renew_stackless(struct ticker *ticker)
{
	const struct thread_clock *const clock = ticker->clock;

	restore_stacks(ticker);
	for (size_t i = 0; i < clock->n_pids; i++) {
		const pid_t pid = clock->pids[i];

		if (!map64_find(&ticker->stackless, (uint64_t)pid) &&
		    !thread_blame_has_stacks(&clock->blame, pid, clock->groups[i]))
			set_stackless(ticker, pid, true);
	}
}

/* One of both is not NULL. */
struct source {
	struct thread_source *bpf;
	struct thread_files *files;
	char text[THREAD_CLOCK_WHY_BYTES];
};

/* Opens the source by BPF, or else that by files. */
static int open_source(enum sampler_source asked, const struct thread_source_options *options,
		       struct source *ret)
{
	char why[BPF_LOAD_WHY_BYTES] = "";
	int err = -EPERM;

	if (asked == SAMPLER_PERF)
		snprintf(why, sizeof(why), "not by BPF, as was asked for");
	else
		err = thread_source_open(options, &ret->bpf, why);
	if (!err) {
		strcpy(ret->text, "BPF");
		return 0;
	}
	snprintf(ret->text, sizeof(ret->text), "/proc (%s)", why);
	err = thread_files_open(options, &ret->files, why);
	if (err)
		log_error("threads cannot be read: %s", why);
	return err;
}

/* Hooks the programs of waits if that is asked for. Called with the lock held, as prepare is. */
static void open_waits(struct thread_clock *clock)
{
	const struct wait_source_options options = {
		.quantum_ns = clock->options.waits.quantum_ns,
		.stack_bytes = clock->options.stack_bytes,
		.has_wakers = clock->options.waits.has_wakers,
	};
	struct wait_source *waits = NULL;
	char why[BPF_LOAD_WHY_BYTES] = "";
	int err;

	if (!clock->options.waits.is_asked || clock->waits_text[0])
		return;
	pthread_mutex_unlock(&clock->lock);
	err = wait_source_open(&options, &waits, why);
	if (err)
		log_error("short waits are not told: %s", why);
	pthread_mutex_lock(&clock->lock);
	clock->waits = waits;
	snprintf(clock->waits_text, sizeof(clock->waits_text), "%s", err ? why : "BPF");
}

/* Called with the lock held, which is given up meanwhile. */
static int prepare(struct ticker *ticker)
{
	struct thread_clock *const clock = ticker->clock;
	const bool has_stacks = clock->stats.late < THREAD_CLOCK_MOST_LATE;
	const struct thread_source_options options = {
		.stack_bytes = has_stacks ? clock->options.stack_bytes : 0};
	struct source source = {0};
	int err;

	pthread_mutex_unlock(&clock->lock);
	err = open_source(clock->options.source, &options, &source);
	pthread_mutex_lock(&clock->lock);
	ticker->bpf = source.bpf;
	ticker->files = source.files;
	snprintf(clock->source, sizeof(clock->source), "%s", source.text);
	if (!err && is_current(ticker))
		open_waits(clock);
	return err;
}

/* Called with the lock held. */
static void tell_waits(struct thread_clock *clock)
{
	const struct wait_owners owners = {.groups = clock->groups, .n_groups = clock->n_groups};

	wait_source_want(clock->waits, &owners, clock->pids, clock->n_pids);
}

/* Tells the source who is wanted. Called with the lock held. */
static void renew_wanted(struct ticker *ticker)
{
	struct thread_clock *const clock = ticker->clock;

	if (ticker->pids_version == clock->pids_version &&
	    ticker->blame_version == clock->blame.version)
		return;
	if (clock->blame.version > 0)
		renew_stackless(ticker);
	ticker->blame_version = clock->blame.version;
	if (ticker->pids_version == clock->pids_version)
		return;
	ticker->pids_version = clock->pids_version;
	ticker->n_missing = ticker->bpf
				    ? thread_source_want(ticker->bpf, clock->pids, clock->n_pids)
				    : thread_files_want(ticker->files, clock->pids, clock->n_pids);
	if (clock->waits)
		tell_waits(clock);
}

/* xorshift: the times of ticks need not be hard to guess. */
static uint64_t next_random(uint64_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return *state;
}

/* From half the usual time to one and a half. */
static uint64_t next_wait_ns(struct thread_clock *clock)
{
	const unsigned hz = clock->options.hz ? clock->options.hz : THREAD_CLOCK_DEFAULT_HZ;
	const uint64_t period_ns = CLOCK_NS_PER_SEC / hz;

	return period_ns / 2 + next_random(&clock->random) % period_ns;
}

/* Waits with the lock, until the time or the clock's end. */
static void wait_until(struct ticker *ticker, uint64_t until_ns)
{
	struct thread_clock *const clock = ticker->clock;

	while (!clock->is_stopped && is_current(ticker)) {
		const uint64_t at_ns = until_ns < clock->end_ns ? until_ns : clock->end_ns;

		if (clock_now_ns() >= at_ns)
			break;
		thread_cond_wait_until(&clock->wake, &clock->lock, at_ns);
	}
	if (clock_now_ns() >= clock->end_ns)
		clock->is_stopped = true;
}

static void on_wait(void *arg, const struct wait_reading *wait)
{
	struct ticker *const ticker = arg;
	struct thread_clock *const clock = ticker->clock;

	THREAD_HOLD(&clock->lock);
	if (is_current(ticker))
		thread_times_wait(clock->times, wait);
}

/* Called with the lock held, which is given up meanwhile. */
static void read_waits(struct ticker *ticker)
{
	struct thread_clock *const clock = ticker->clock;
	struct wait_source *const waits = clock->waits;
	struct wait_source_stats stats;

	if (!waits)
		return;
	pthread_mutex_unlock(&clock->lock);
	wait_source_read(waits, on_wait, ticker);
	wait_source_stats(waits, &stats);
	pthread_mutex_lock(&clock->lock);
	clock->stats.waits = stats;
}

/* Unhooks the programs: nobody reads any more. Called with the lock held, as read_waits is. */
static void close_waits(struct thread_clock *clock)
{
	struct wait_source *const waits = clock->waits;

	clock->waits = NULL;
	pthread_mutex_unlock(&clock->lock);
	wait_source_close(waits);
	pthread_mutex_lock(&clock->lock);
}

/* Reads all threads. Called with the lock held, which is given up meanwhile. */
static void tick(struct ticker *ticker)
{
	struct thread_clock *const clock = ticker->clock;
	uint64_t lost = 1;
	int err;

	renew_wanted(ticker);
	ticker->is_ticking = true;
	ticker->moved_ns = clock_now_ns();
	pthread_mutex_unlock(&clock->lock);
	err = ticker->bpf ? thread_source_tick(ticker->bpf, on_reading, ticker, &lost)
			  : thread_files_tick(ticker->files, on_reading, ticker, &lost);
	pthread_mutex_lock(&clock->lock);
	ticker->is_ticking = false;
	if (!is_current(ticker))
		return;
	clock->stats.ticks++;
	clock->stats.failed_ticks += err < 0 || ticker->n_missing > 0;
	read_waits(ticker);
	if (is_current(ticker))
		thread_times_end_tick(clock->times, err ? 1 : lost, clock_now_ns());
}

/* Called with the lock held. */
static void finish(struct thread_clock *clock)
{
	if (!clock->is_finished)
		thread_times_flush(clock->times);
	clock->is_finished = true;
}

static void run_ticks(struct ticker *ticker)
{
	struct thread_clock *const clock = ticker->clock;
	const int err = prepare(ticker);

	while (is_current(ticker)) {
		const bool is_last = clock->is_stopped;

		if (err)
			clock->stats.failed_ticks++;
		else if (clock->pids_version > 0) /* the first tick is the first of somebody */
			tick(ticker);
		if (!is_current(ticker))
			return;
		if (is_last) {
			finish(clock);
			return;
		}
		wait_until(ticker, clock_now_ns() + (err ? RETRY_NS : next_wait_ns(clock)));
	}
}

static void *run(void *arg)
{
	struct ticker *const ticker = arg;
	struct thread_clock *const clock = ticker->clock;

	pthread_mutex_lock(&clock->lock);
	ticker->tid = (pid_t)syscall(SYS_gettid);
	run_ticks(ticker);
	if (is_current(ticker)) {
		close_waits(clock);
		clock->ticker = NULL;
	} else {
		clock->stats.late--;
		thread_blame_set_crowded(&clock->blame,
					 clock->stats.late >= THREAD_CLOCK_MANY_LATE);
	}
	pthread_mutex_unlock(&clock->lock);
	thread_source_close(ticker->bpf);
	thread_files_close(ticker->files);
	map64_fini(&ticker->stackless);
	free(ticker);
	pthread_mutex_lock(&clock->lock);
	unref(clock);
	return NULL;
}

static int start_thread(struct ticker *ticker)
{
	pthread_attr_t attributes;
	sigset_t all, before;
	pthread_t thread;
	int err;

	pthread_attr_init(&attributes);
	pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	err = pthread_create(&thread, &attributes, run, ticker);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	pthread_attr_destroy(&attributes);
	return -err;
}

/* Called with the lock held. */
static int start_ticker(struct thread_clock *clock)
{
	struct ticker *const ticker = calloc(1, sizeof(*ticker));
	int err;

	if (!ticker)
		return -ENOMEM;
	ticker->clock = clock;
	clock->ticker = ticker;
	clock->refs++;
	err = start_thread(ticker);
	if (err) {
		clock->ticker = NULL;
		clock->refs--;
		free(ticker);
	}
	return err;
}

int thread_clock_start(const struct thread_clock_options *options, struct thread_clock **ret)
{
	struct thread_clock *const clock = calloc(1, sizeof(*clock));
	int err = -ENOMEM;

	if (!clock)
		return -ENOMEM;
	clock->options = *options;
	clock->end_ns = options->end_ns;
	clock->queue.max_bytes =
		options->queue_bytes ? options->queue_bytes : THREAD_CLOCK_QUEUE_BYTES;
	clock->refs = 1;
	clock->random = clock_now_ns() | 1;
	clock->times = thread_times_new(
		&(struct thread_times_options){.start_ns = options->start_ns,
					       .stack_bytes = options->stack_pool_bytes,
					       .quantum_ns = options->waits.quantum_ns,
					       .emit = on_sample,
					       .forget = on_forget,
					       .group = group_of,
					       .arg = clock});
	pthread_mutex_init(&clock->lock, NULL);
	thread_cond_init(&clock->wake);
	pthread_mutex_lock(&clock->lock);
	if (clock->times)
		err = start_ticker(clock);
	if (err) {
		unref(clock);
		return err;
	}
	pthread_mutex_unlock(&clock->lock);
	*ret = clock;
	return 0;
}

void thread_clock_close(struct thread_clock *clock)
{
	if (!clock)
		return;
	pthread_mutex_lock(&clock->lock);
	clock->stats.late += clock->ticker != NULL; /* its thread ends as a late one does */
	clock->ticker = NULL;
	pthread_cond_broadcast(&clock->wake);
	unref(clock);
}

/* Notes whose the processes are. Without memory some are of group 0. Called with the lock held. */
static void set_groups(struct thread_clock *clock, uint64_t *copy, const uint64_t *groups)
{
	const size_t n = clock->n_pids;

	map64_fini(&clock->processes);
	clock->processes = (struct map64){0};
	free(clock->groups);
	clock->groups = copy;
	clock->n_groups = 1;
	if (groups && n > 0) {
		memcpy(copy, groups, n * sizeof(*groups));
		clock->n_groups = owner_count_groups(copy, n);
		memcpy(copy, groups, n * sizeof(*groups));
	}
	for (size_t i = 0; i < n; i++)
		map64_put(&clock->processes, (uint64_t)clock->pids[i], &copy[i]);
	thread_blame_keep(&clock->blame, &clock->processes);
}

/* Called with the lock held. */
static bool is_wanted_already(const struct thread_clock *clock, const pid_t *pids,
			      const uint64_t *groups, size_t n)
{
	if (n != clock->n_pids || n == 0)
		return n == clock->n_pids;
	return memcmp(pids, clock->pids, n * sizeof(*pids)) == 0 &&
	       (!groups || memcmp(groups, clock->groups, n * sizeof(*groups)) == 0);
}

void thread_clock_want(struct thread_clock *clock, const pid_t *pids, const uint64_t *groups,
		       size_t n)
{
	const size_t bytes = n * sizeof(*pids);
	uint64_t *groups_copy;
	pid_t *copy;

	pthread_mutex_lock(&clock->lock);
	if (is_wanted_already(clock, pids, groups, n)) {
		pthread_mutex_unlock(&clock->lock);
		return;
	}
	copy = malloc(bytes + 1);
	groups_copy = calloc(n + 1, sizeof(*groups));
	if (copy && groups_copy) {
		if (n)
			memcpy(copy, pids, bytes);
		free(clock->pids);
		clock->pids = copy;
		clock->n_pids = n;
		clock->pids_version++;
		set_groups(clock, groups_copy, groups);
	} else {
		free(copy);
		free(groups_copy);
	}
	pthread_mutex_unlock(&clock->lock);
}

void thread_clock_begin_thread(struct thread_clock *clock, pid_t pid, pid_t tid, uint64_t time_ns)
{
	THREAD_HOLD(&clock->lock);

	thread_times_begin(clock->times, pid, tid, time_ns);
}

void thread_clock_end_thread(struct thread_clock *clock, pid_t tid, uint64_t time_ns)
{
	THREAD_HOLD(&clock->lock);

	thread_times_end(clock->times, tid, time_ns);
}

/* Whether whoever makes the tick only waits for a processor. */
static bool is_runnable(const struct ticker *ticker)
{
	const pid_t runner = ticker->bpf ? thread_source_runner(ticker->bpf) : 0;
	char path[64], text[512];
	const char *state;

	if (runner > 0)
		return reader_process_is_busy(runner);
	snprintf(path, sizeof(path), "/proc/self/task/%d/stat", (int)ticker->tid);
	if (file_read_small(path, text, sizeof(text)) <= 0)
		return false;
	state = strrchr(text, ')');
	return state && strncmp(state, ") R", 3) == 0;
}

/* Whether the ticker's tick has stood still for too long. *ret_pid: in which process. */
static bool is_late(struct ticker *ticker, uint64_t now_ns, pid_t *ret_pid)
{
	uint64_t progress;

	if (!ticker || !ticker->is_ticking)
		return false;
	progress = ticker->bpf ? thread_source_progress(ticker->bpf, ret_pid)
			       : thread_files_progress(ticker->files, ret_pid);
	if (progress != ticker->progress) {
		ticker->progress = progress;
		ticker->moved_ns = now_ns;
	}
	return now_ns > ticker->moved_ns + THREAD_CLOCK_LATE_NS && !is_runnable(ticker);
}

/* Called with the lock held. */
static void say_late(struct thread_clock *clock, pid_t pid, uint64_t now_ns)
{
	if (log_limit_allows(&clock->said, group_of(clock, pid), now_ns))
		log_warning("the memory of PID %d does not answer: its threads are read without "
			    "stacks from now on, and after %u such times in a few minutes so are "
			    "all of its container or user",
			    (int)pid, THREAD_BLAME_MOST);
	if (clock->stats.late == THREAD_CLOCK_MOST_LATE)
		log_warning(
			"%u reads of threads do not return: stacks of threads that wait are not "
			"read any more",
			THREAD_CLOCK_MOST_LATE);
}

/* Leaves a tick that stands still to itself. Called with the lock held. */
static void replace_late(struct thread_clock *clock, uint64_t now_ns)
{
	pid_t pid = 0;

	thread_blame_step(&clock->blame, now_ns);
	if (!is_late(clock->ticker, now_ns, &pid))
		return;
	clock->ticker = NULL;
	clock->stats.late++;
	clock->stats.late_ticks++;
	if (pid > 0) {
		thread_blame_note(&clock->blame, pid, group_of(clock, pid), now_ns);
		clock->stats.stackless_pids++;
	}
	thread_blame_set_crowded(&clock->blame, clock->stats.late >= THREAD_CLOCK_MANY_LATE);
	say_late(clock, pid, now_ns);
	if (!clock->is_finished && start_ticker(clock) < 0)
		clock->stats.failed_ticks++;
}

bool thread_clock_read(struct thread_clock *clock, size_t most, sampler_fn fn, void *arg)
{
	struct record_queue taken;
	bool has_more;

	pthread_mutex_lock(&clock->lock);
	replace_late(clock, clock_now_ns());
	if (!clock->ticker && (clock->is_stopped || clock_now_ns() >= clock->end_ns))
		finish(clock); /* there is no ticker that could */
	record_queue_take(&clock->queue, most, &taken);
	has_more = clock->queue.first != NULL;
	pthread_mutex_unlock(&clock->lock);
	record_queue_drain(&taken, fn, arg);
	return has_more;
}

void thread_clock_stop(struct thread_clock *clock, uint64_t end_ns)
{
	THREAD_HOLD(&clock->lock);

	if (end_ns < clock->end_ns)
		clock->end_ns = end_ns;
	clock->is_stopped = true;
	pthread_cond_broadcast(&clock->wake);
}

bool thread_clock_is_ended(struct thread_clock *clock)
{
	THREAD_HOLD(&clock->lock);

	return clock->is_finished && !clock->queue.first;
}

void thread_clock_source_text(struct thread_clock *clock, char ret[THREAD_CLOCK_WHY_BYTES])
{
	char lost[64] = "";

	THREAD_HOLD(&clock->lock);
	if (clock->stats.dropped)
		snprintf(lost, sizeof(lost), ", %.1f s of their time lost",
			 (double)clock->stats.dropped_us / 1e6);
	snprintf(ret, THREAD_CLOCK_WHY_BYTES, "%.*s%s", THREAD_CLOCK_WHY_BYTES - (int)sizeof(lost),
		 clock->source, lost);
}

void thread_clock_waits_text(struct thread_clock *clock, char ret[THREAD_CLOCK_WHY_BYTES])
{
	THREAD_HOLD(&clock->lock);

	snprintf(ret, THREAD_CLOCK_WHY_BYTES, "%s", clock->waits_text);
}

void thread_clock_stats(struct thread_clock *clock, struct thread_clock_stats *ret)
{
	THREAD_HOLD(&clock->lock);

	*ret = clock->stats;
	thread_times_stats(clock->times, &ret->times);
	ret->bytes = sizeof(*clock) + thread_times_bytes(clock->times) + clock->queue.bytes +
		     clock->n_pids * (sizeof(*clock->pids) + sizeof(*clock->groups)) +
		     map64_bytes(&clock->processes) + map64_bytes(&clock->queue.groups);
}
