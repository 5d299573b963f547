// SPDX-License-Identifier: Apache-2.0
/* Divides time that threads have run among their samples, see running_time.h. */
#include "recording/running_time.h"

#include <stdlib.h>
#include <string.h>

#define SWEEP_NS UINT64_C(1000000000)

struct running_thread {
	pid_t pid, tid;
	/* The last stretch, and what each of its samples that are to come gets. */
	uint64_t begin_ns, end_ns, share_us;
	uint64_t left_us; /* of the shares, what was not taken */
	uint64_t rest_us; /* without a sample so far */
	uint64_t rest_begin_ns, rest_end_ns;
	uint64_t last_ns; /* the latest time of all that was told */
	uint32_t n_noted;
	uint64_t noted[]; /* times of samples that are to come, oldest first */
};

void running_time_fini(struct running_time *running)
{
	map64_fini_all(&running->threads, free);
}

static void remove_thread(struct running_time *running, struct running_thread *thread)
{
	map64_remove(&running->threads, (uint64_t)thread->tid);
	free(thread);
}

/* The thread, which is made if it is not known; NULL: there is no room. */
static struct running_thread *thread_of(struct running_time *running, pid_t pid, pid_t tid)
{
	struct running_thread *thread = map64_find(&running->threads, (uint64_t)tid);

	if (thread && thread->pid == pid)
		return thread;
	if (thread && thread->rest_us + thread->left_us)
		return NULL; /* another one had the TID; its unsampled time comes first */
	if (thread)
		remove_thread(running, thread);
	if (running->threads.count >= RUNNING_TIME_THREADS)
		return NULL;
	thread = calloc(1, sizeof(*thread) + RUNNING_TIME_NOTED * sizeof(thread->noted[0]));
	if (!thread || map64_put(&running->threads, (uint64_t)tid, thread) < 0) {
		free(thread);
		return NULL;
	}
	thread->pid = pid;
	thread->tid = tid;
	return thread;
}

static void note_time(struct running_thread *thread, uint64_t time_ns)
{
	if (time_ns > thread->last_ns)
		thread->last_ns = time_ns;
}

void running_time_note_sample(struct running_time *running, pid_t pid, pid_t tid, uint64_t time_ns)
{
	struct running_thread *const thread = thread_of(running, pid, tid);
	uint32_t at;

	if (!thread || thread->n_noted == RUNNING_TIME_NOTED)
		return;
	note_time(thread, time_ns);
	/* Almost always the last one: a thread's samples come from one CPU after the other. */
	for (at = thread->n_noted; at > 0 && thread->noted[at - 1] > time_ns; at--)
		thread->noted[at] = thread->noted[at - 1];
	thread->noted[at] = time_ns;
	thread->n_noted++;
}

static uint32_t count_heard(const struct running_thread *thread)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < thread->n_noted; i++)
		n += thread->noted[i] > thread->begin_ns && thread->noted[i] <= thread->end_ns;
	return n;
}

bool running_time_add(struct running_time *running, const struct running_stretch *stretch)
{
	struct running_thread *const thread = thread_of(running, stretch->pid, stretch->tid);
	uint32_t n;

	if (!thread)
		return false;
	note_time(thread, stretch->end_ns);
	thread->begin_ns = stretch->begin_ns;
	thread->end_ns = stretch->end_ns;
	n = count_heard(thread);
	if (thread->rest_us + thread->left_us == 0)
		thread->rest_begin_ns = stretch->begin_ns;
	thread->rest_end_ns = stretch->end_ns;
	thread->rest_us += thread->left_us; /* samples that were dropped before they were taken */
	thread->share_us = n ? stretch->us / n : 0;
	thread->left_us = n * thread->share_us;
	thread->rest_us += stretch->us - thread->left_us;
	return true;
}

uint64_t running_time_take(struct running_time *running, pid_t pid, pid_t tid, uint64_t time_ns)
{
	struct running_thread *const thread = map64_find(&running->threads, (uint64_t)tid);
	uint32_t n = 0;
	uint64_t us;

	if (!thread || thread->pid != pid)
		return 0;
	while (n < thread->n_noted && thread->noted[n] <= time_ns)
		n++;
	if (n == 0)
		return 0; /* it was not told, and has no share */
	us = thread->rest_us;
	if (time_ns > thread->begin_ns && time_ns <= thread->end_ns &&
	    thread->left_us >= thread->share_us) {
		us += thread->share_us;
		thread->left_us -= thread->share_us;
	}
	thread->rest_us = 0;
	/* Of samples at one time each comes by itself. */
	thread->n_noted--;
	memmove(thread->noted, thread->noted + 1, thread->n_noted * sizeof(thread->noted[0]));
	return us;
}

static bool is_old(const struct running_thread *thread, uint64_t now_ns)
{
	return now_ns >= thread->last_ns + RUNNING_TIME_WAIT_NS;
}

/*
 * Forgets the thread. False: no time was left. A removal may move another thread in front of the
 * search's place: the next search finds that one.
 */
static bool take_out(struct running_time *running, struct running_thread *thread,
		     struct running_stretch *ret)
{
	*ret = (struct running_stretch){.begin_ns = thread->rest_begin_ns,
					.end_ns = thread->rest_end_ns,
					.us = thread->rest_us + thread->left_us,
					.pid = thread->pid,
					.tid = thread->tid};
	remove_thread(running, thread);
	return ret->us > 0;
}

bool running_time_next_unsampled(struct running_time *running, uint64_t now_ns, bool is_end,
				 struct running_stretch *ret)
{
	uint64_t tid;
	void *value;

	if (!is_end && now_ns < running->swept_ns + SWEEP_NS)
		return false;
	do {
		while (map64_next(&running->threads, &running->pos, &tid, &value)) {
			if ((is_end || is_old(value, now_ns)) && take_out(running, value, ret))
				return true;
		}
		running->pos = 0;
	} while (is_end && running->threads.count > 0);
	running->swept_ns = now_ns;
	return false;
}

size_t running_time_bytes(const struct running_time *running)
{
	return map64_bytes(&running->threads) +
	       running->threads.count *
		       (sizeof(struct running_thread) + RUNNING_TIME_NOTED * sizeof(uint64_t));
}
