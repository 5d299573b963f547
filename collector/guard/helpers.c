// SPDX-License-Identifier: Apache-2.0
/*
 * A helper waits for a call, runs the call, and says so. The caller has one helper at hand; when it
 * is late, the next call has another one. All state is behind one lock, because calls come one at a
 * time.
 */
#include "guard/helpers.h"

#include "base/clock.h"
#include "base/file.h"
#include "base/thread.h"
#include "guard/turn.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <time.h>
#include <unistd.h>

#define STACK_BYTES (128u << 10)

enum helper_state {
	HELPER_IDLE,
	HELPER_RUNS,
	HELPER_HAS_RUN,
	HELPER_IS_LATE,
	HELPER_ENDS,
};

struct helper {
	struct helpers *owner;
	enum helper_state state;
	struct helpers_call *call;
	pid_t tid; /* 0: its thread has not begun */
	int cpu;   /* the processor that it is bound to; -1: none */
	pthread_cond_t has_call;
	struct helper *next; /* in the list of the idle */
};

struct helpers {
	pthread_mutex_t lock;
	pthread_cond_t is_done;
	struct helper *idle;
	size_t n_idle, max_late;
	size_t users; /* helpers' threads, and the owner: the last one frees */
	bool is_closed;
	struct helpers_stats stats;
};

/* Called with the lock held, which it gives back. */
static void leave(struct helpers *helpers)
{
	const bool is_last = --helpers->users == 0;

	pthread_mutex_unlock(&helpers->lock);
	if (!is_last)
		return;
	pthread_mutex_destroy(&helpers->lock);
	pthread_cond_destroy(&helpers->is_done);
	free(helpers);
}

static void put_idle(struct helper *helper)
{
	helper->state = HELPER_IDLE;
	helper->next = helper->owner->idle;
	helper->owner->idle = helper;
	helper->owner->n_idle++;
}

/* A call has returned. Called with the lock held. */
static void end_call(struct helper *helper)
{
	struct helpers *const helpers = helper->owner;
	struct helpers_call *const call = helper->call;

	helper->call = NULL;
	if (helper->state == HELPER_RUNS) {
		helper->state = HELPER_HAS_RUN;
		/* Woken with the lock held, the caller would have to wait again, for the lock. */
		pthread_mutex_unlock(&helpers->lock);
		pthread_cond_signal(&helpers->is_done);
		pthread_mutex_lock(&helpers->lock);
		return;
	}
	helpers->stats.late--;
	pthread_mutex_unlock(&helpers->lock);
	call->free(call);
	pthread_mutex_lock(&helpers->lock);
	/* One that waits is enough: calls come one at a time. */
	if (helpers->is_closed || helpers->n_idle > 0)
		helper->state = HELPER_ENDS;
	else
		put_idle(helper);
}

static void *help(void *arg)
{
	struct helper *const helper = arg;
	struct helpers *const helpers = helper->owner;

	turn_ask_short(); /* somebody waits for each call */
	pthread_mutex_lock(&helpers->lock);
	helper->tid = gettid();
	while (helper->state != HELPER_ENDS) {
		if (!helper->call) {
			pthread_cond_wait(&helper->has_call, &helpers->lock);
			continue;
		}
		pthread_mutex_unlock(&helpers->lock);
		helper->call->run(helper->call);
		pthread_mutex_lock(&helpers->lock);
		end_call(helper);
	}
	pthread_cond_destroy(&helper->has_call);
	free(helper);
	leave(helpers);
	return NULL;
}

static int start(struct helper *helper)
{
	pthread_attr_t attr;
	pthread_t thread;
	int err;

	pthread_attr_init(&attr);
	pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
	pthread_attr_setstacksize(&attr, STACK_BYTES);
	err = thread_start_as(&thread, &attr, help, helper);
	pthread_attr_destroy(&attr);
	return err;
}

/* A new helper, in no list. Called with the lock held. */
static struct helper *make(struct helpers *helpers)
{
	struct helper *helper = calloc(1, sizeof(*helper));

	if (!helper)
		return NULL;
	helper->owner = helpers;
	helper->state = HELPER_HAS_RUN; /* it waits for its first call */
	helper->cpu = -1;
	pthread_cond_init(&helper->has_call, NULL);
	helpers->users++;
	if (start(helper) == 0)
		return helper;
	helpers->users--;
	pthread_cond_destroy(&helper->has_call);
	free(helper);
	return NULL;
}

static struct helper *take(struct helpers *helpers)
{
	struct helper *const helper = helpers->idle;

	if (!helper)
		return helpers->stats.late < helpers->max_late ? make(helpers) : NULL;
	helpers->idle = helper->next;
	helpers->n_idle--;
	return helper;
}

/*
 * Binds the helper to the caller's processor. There the helper runs as soon as the caller waits,
 * and the caller as soon as the helper does. Bound to none, the helper would have to wait until
 * another processor is free, and on a busy host that takes milliseconds.
 */
static void bind_to_caller(struct helper *helper)
{
	const int cpu = sched_getcpu();
	cpu_set_t set;

	if (helper->tid == 0 || cpu < 0 || cpu >= CPU_SETSIZE || cpu == helper->cpu)
		return;
	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	if (sched_setaffinity(helper->tid, sizeof(set), &set) == 0)
		helper->cpu = cpu;
}

/* Whether the thread runs, or would if it had a processor. */
static bool is_busy(pid_t tid)
{
	char path[64], text[512];
	const char *state;

	if (tid == 0)
		return true;
	snprintf(path, sizeof(path), "/proc/self/task/%d/stat", (int)tid);
	if (file_read_small(path, text, sizeof(text)) <= 0)
		return false;
	state = strrchr(text, ')');
	return state && strncmp(state, ") R", 3) == 0;
}

/*
 * Waits for the end of the helper's call. Called with the lock held, which is given up for the look
 * at the helper: else one that has just ended its call would be seen to wait, for the lock.
 */
static void wait_for(struct helpers *helpers, const struct helper *helper, uint64_t wait_ns)
{
	for (unsigned waits = 0; waits < HELPERS_BUSY_WAITS; waits++) {
		const uint64_t until_ns = clock_read_ns(CLOCK_MONOTONIC) + wait_ns;
		pid_t tid;
		bool busy;

		while (helper->state == HELPER_RUNS &&
		       thread_cond_wait_until(&helpers->is_done, &helpers->lock, until_ns))
			;
		if (helper->state != HELPER_RUNS)
			return;
		tid = helper->tid;
		pthread_mutex_unlock(&helpers->lock);
		busy = is_busy(tid);
		pthread_mutex_lock(&helpers->lock);
		if (helper->state != HELPER_RUNS || !busy)
			return;
	}
}

enum helpers_end helpers_run(struct helpers *helpers, struct helpers_call *call, uint64_t wait_ns)
{
	enum helpers_end end = HELPERS_DONE;
	struct helper *helper;

	pthread_mutex_lock(&helpers->lock);
	helpers->stats.calls++;
	helper = take(helpers);
	if (!helper) {
		helpers->stats.refused_calls++;
		pthread_mutex_unlock(&helpers->lock);
		return HELPERS_NONE;
	}
	bind_to_caller(helper);
	helper->call = call;
	helper->state = HELPER_RUNS;
	pthread_mutex_unlock(&helpers->lock);
	pthread_cond_signal(&helper->has_call);
	pthread_mutex_lock(&helpers->lock);
	wait_for(helpers, helper, wait_ns);
	if (helper->state == HELPER_RUNS) {
		helper->state = HELPER_IS_LATE;
		helpers->stats.late++;
		helpers->stats.late_calls++;
		end = HELPERS_LATE;
	} else {
		put_idle(helper);
	}
	pthread_mutex_unlock(&helpers->lock);
	return end;
}

bool helpers_start(struct helpers *helpers, struct helpers_call *call)
{
	struct helper *helper;

	THREAD_HOLD(&helpers->lock);
	helpers->stats.calls++;
	helper = take(helpers);
	if (helper) {
		helper->call = call;
		helper->state = HELPER_IS_LATE;
		helpers->stats.late++;
		pthread_cond_signal(&helper->has_call); /* it may end as soon as the lock is free */
	} else {
		helpers->stats.refused_calls++;
	}
	return helper;
}

int helpers_new(size_t max_late, struct helpers **ret)
{
	struct helpers *helpers = calloc(1, sizeof(*helpers));

	if (!helpers)
		return -ENOMEM;
	pthread_mutex_init(&helpers->lock, NULL);
	thread_cond_init(&helpers->is_done);
	helpers->max_late = max_late;
	helpers->users = 1;
	*ret = helpers;
	return 0;
}

void helpers_free(struct helpers *helpers)
{
	if (!helpers)
		return;
	pthread_mutex_lock(&helpers->lock);
	helpers->is_closed = true;
	for (struct helper *helper = helpers->idle; helper; helper = helper->next) {
		helper->state = HELPER_ENDS;
		pthread_cond_signal(&helper->has_call);
	}
	helpers->idle = NULL;
	leave(helpers);
}

void helpers_stats(const struct helpers *helpers, struct helpers_stats *ret)
{
	struct helpers *const changing = (struct helpers *)(uintptr_t)helpers;

	THREAD_HOLD(&changing->lock);
	*ret = helpers->stats;
}
