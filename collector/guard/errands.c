// SPDX-License-Identifier: Apache-2.0
/* A thread that takes errands from a list, see errands.h. One lock guards all. */
#include "guard/errands.h"

#include "base/thread.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>

struct errands {
	pthread_mutex_t lock;
	pthread_cond_t changed; /* an errand has come, or no more will come */
	pthread_cond_t is_idle;
	struct errand *first, **end;
	pthread_t thread;
	bool has_thread, is_closing;
	struct errands_stats stats;
};

static void *run(void *arg)
{
	struct errands *const errands = arg;
	struct errand *errand;

	pthread_mutex_lock(&errands->lock);
	for (;;) {
		while (!errands->first && !errands->is_closing)
			pthread_cond_wait(&errands->changed, &errands->lock);
		errand = errands->first;
		if (!errand)
			break;
		errands->first = errand->next;
		if (!errands->first)
			errands->end = &errands->first;
		pthread_mutex_unlock(&errands->lock);
		errand->run(errand);
		pthread_mutex_lock(&errands->lock);
		if (--errands->stats.waiting == 0)
			pthread_cond_broadcast(&errands->is_idle);
	}
	pthread_mutex_unlock(&errands->lock);
	return NULL;
}

static bool start_thread(struct errands *errands)
{
	if (!errands->has_thread)
		errands->has_thread = thread_start(&errands->thread, run, errands) == 0;
	return errands->has_thread;
}

int errands_new(struct errands **ret)
{
	struct errands *errands = calloc(1, sizeof(*errands));

	if (!errands)
		return -ENOMEM;
	pthread_mutex_init(&errands->lock, NULL);
	pthread_cond_init(&errands->changed, NULL);
	pthread_cond_init(&errands->is_idle, NULL);
	errands->end = &errands->first;
	*ret = errands;
	return 0;
}

void errands_free(struct errands *errands)
{
	if (!errands)
		return;
	pthread_mutex_lock(&errands->lock);
	errands->is_closing = true;
	pthread_cond_signal(&errands->changed);
	pthread_mutex_unlock(&errands->lock);
	if (errands->has_thread)
		pthread_join(errands->thread, NULL);
	pthread_cond_destroy(&errands->is_idle);
	pthread_cond_destroy(&errands->changed);
	pthread_mutex_destroy(&errands->lock);
	free(errands);
}

void errands_add(struct errands *errands, struct errand *errand)
{
	const bool has_thread = start_thread(errands);

	pthread_mutex_lock(&errands->lock);
	errands->stats.added++;
	if (has_thread) {
		errand->next = NULL;
		*errands->end = errand;
		errands->end = &errand->next;
		errands->stats.waiting++;
		pthread_cond_signal(&errands->changed);
	} else {
		errands->stats.here++;
	}
	pthread_mutex_unlock(&errands->lock);
	if (!has_thread)
		errand->run(errand);
}

void errands_wait(struct errands *errands)
{
	THREAD_HOLD(&errands->lock);

	while (errands->stats.waiting > 0)
		pthread_cond_wait(&errands->is_idle, &errands->lock);
}

void errands_stats(struct errands *errands, struct errands_stats *ret)
{
	THREAD_HOLD(&errands->lock);

	*ret = errands->stats;
}
