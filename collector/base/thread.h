// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   a function -> a thread that runs it; a lock -> a scope that holds it
 * units:   nanoseconds of CLOCK_MONOTONIC
 * threads: any
 * errors:  negative errno
 * source:  pthreads(7)
 *
 * Such a thread takes no signals: these are for the thread that waits for them.
 */
#ifndef FG_BASE_THREAD_H
#define FG_BASE_THREAD_H

#include "base/clock.h"

#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <time.h>

/* attributes may be NULL. */
static inline int thread_start_as(pthread_t *ret, const pthread_attr_t *attributes,
				  void *(*run)(void *arg), void *arg)
{
	sigset_t all, before;
	int err;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	err = pthread_create(ret, attributes, run, arg);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return -err;
}

static inline int thread_start(pthread_t *ret, void *(*run)(void *arg), void *arg)
{
	return thread_start_as(ret, NULL, run, arg);
}

static inline pthread_mutex_t *thread_take(pthread_mutex_t *lock)
{
	pthread_mutex_lock(lock);
	return lock;
}

static inline void thread_release(pthread_mutex_t *const *lock)
{
	pthread_mutex_unlock(*lock);
}

/* Holds the lock until the scope ends, once what the scope returns has been evaluated. */
#define THREAD_HOLD(lock)                                                                          \
	__attribute__((cleanup(thread_release), unused)) pthread_mutex_t *const held_lock =        \
		thread_take(lock)

/* A condition whose waits go by CLOCK_MONOTONIC. */
static inline void thread_cond_init(pthread_cond_t *ret)
{
	pthread_condattr_t attributes;

	pthread_condattr_init(&attributes);
	pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
	pthread_cond_init(ret, &attributes);
	pthread_condattr_destroy(&attributes);
}

/*
 * Waits with the lock. False: the time is over, which no clock_pretend sets. The condition is one
 * of thread_cond_init.
 */
static inline bool thread_cond_wait_until(pthread_cond_t *cond, pthread_mutex_t *lock,
					  uint64_t until_ns)
{
	const struct timespec until = {.tv_sec = (time_t)(until_ns / CLOCK_NS_PER_SEC),
				       .tv_nsec = (long)(until_ns % CLOCK_NS_PER_SEC)};

	return pthread_cond_timedwait(cond, lock, &until) == 0;
}

/*
 * Whether the thread has ended by that time; then it is joined. By the wall clock, because
 * ThreadSanitizer does not know pthread_clockjoin_np.
 */
static inline bool thread_join_until(pthread_t thread, uint64_t until_ns)
{
	const uint64_t now_ns = clock_now_ns();
	const uint64_t unix_ns = clock_unix_now_ns() + (until_ns > now_ns ? until_ns - now_ns : 0);
	const struct timespec until = {.tv_sec = (time_t)(unix_ns / CLOCK_NS_PER_SEC),
				       .tv_nsec = (long)(unix_ns % CLOCK_NS_PER_SEC)};

	return pthread_timedjoin_np(thread, NULL, &until) == 0;
}

#endif
