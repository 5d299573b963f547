// SPDX-License-Identifier: Apache-2.0
/* A thread and its queue of periods, see period_worker.h. */
#include "sinks/period_worker.h"

#include <malloc.h>

void period_worker_init(struct period_worker *worker, size_t max_bytes)
{
	*worker = (struct period_worker){0};
	pthread_mutex_init(&worker->lock, NULL);
	pthread_cond_init(&worker->changed, NULL);
	graph_queue_init(&worker->queue, max_bytes);
}

/* NULL: the worker ends, and no period waits. */
static struct period *wait_for_period(struct period_worker *worker)
{
	struct period *period;

	THREAD_HOLD(&worker->lock);
	while (!(period = graph_queue_take(&worker->queue)) && !worker->is_closing)
		pthread_cond_wait(&worker->changed, &worker->lock);
	return period;
}

static void note_done(struct period_worker *worker)
{
	THREAD_HOLD(&worker->lock);

	graph_queue_done(&worker->queue);
}

static void *run(void *arg)
{
	struct period_worker *const worker = arg;
	struct period *period;

	while ((period = wait_for_period(worker))) {
		worker->ops->work(worker->arg, period);
		period_free(period);
		note_done(worker);
		if (worker->ops->rest)
			worker->ops->rest(worker->arg);
		malloc_trim(0); /* the period's memory is not needed again for a whole period */
	}
	return NULL;
}

int period_worker_start(struct period_worker *worker, const struct period_work *ops, void *arg)
{
	worker->ops = ops;
	worker->arg = arg;
	return thread_start(&worker->thread, run, worker);
}

size_t period_worker_take(struct period_worker *worker, struct period *period)
{
	size_t dropped;

	THREAD_HOLD(&worker->lock);
	graph_queue_add(&worker->queue, period, &dropped);
	worker->dropped += dropped;
	pthread_cond_signal(&worker->changed);
	return dropped;
}

void period_worker_set_max_bytes(struct period_worker *worker, size_t max_bytes)
{
	THREAD_HOLD(&worker->lock);

	worker->queue.max_bytes = max_bytes;
}

bool period_worker_is_closing(struct period_worker *worker)
{
	THREAD_HOLD(&worker->lock);

	return worker->is_closing;
}

bool period_worker_is_awaited(struct period_worker *worker)
{
	THREAD_HOLD(&worker->lock);

	return worker->queue.first || worker->is_closing;
}

static void close_queue(struct period_worker *worker)
{
	THREAD_HOLD(&worker->lock);

	worker->is_closing = true;
	pthread_cond_signal(&worker->changed);
}

bool period_worker_stop(struct period_worker *worker, uint64_t until_ns)
{
	close_queue(worker);
	return thread_join_until(worker->thread, until_ns);
}

void period_worker_fini(struct period_worker *worker)
{
	graph_queue_fini(&worker->queue);
	pthread_cond_destroy(&worker->changed);
	pthread_mutex_destroy(&worker->lock);
}
