// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   a function -> a thread that runs it
 * units:   none
 * threads: any
 * errors:  negative errno
 * source:  pthreads(7)
 *
 * Such a thread takes no signals: these are for the thread that waits for them.
 */
#ifndef FG_BASE_THREAD_H
#define FG_BASE_THREAD_H

#include <pthread.h>
#include <signal.h>
#include <stddef.h>

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

#endif
