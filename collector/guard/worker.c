// SPDX-License-Identifier: Apache-2.0
/* A thread that takes tasks from a list, see worker.h. One lock guards all. */
#include "guard/worker.h"

#include "base/thread.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>

struct worker {
	pthread_mutex_t lock;
	pthread_cond_t changed; /* a task has come, or no more will come */
	pthread_cond_t is_idle;
	struct worker_task *first, **end;
	pthread_t thread;
	bool has_thread, is_closing;
	struct worker_stats stats;
};

static void *run(void *arg)
{
	struct worker *const worker = arg;
	struct worker_task *task;

	pthread_mutex_lock(&worker->lock);
	for (;;) {
		while (!worker->first && !worker->is_closing)
			pthread_cond_wait(&worker->changed, &worker->lock);
		task = worker->first;
		if (!task)
			break;
		worker->first = task->next;
		if (!worker->first)
			worker->end = &worker->first;
		pthread_mutex_unlock(&worker->lock);
		task->run(task);
		pthread_mutex_lock(&worker->lock);
		if (--worker->stats.waiting == 0)
			pthread_cond_broadcast(&worker->is_idle);
	}
	pthread_mutex_unlock(&worker->lock);
	return NULL;
}

static bool start_thread(struct worker *worker)
{
	if (!worker->has_thread)
		worker->has_thread = thread_start(&worker->thread, run, worker) == 0;
	return worker->has_thread;
}

int worker_new(struct worker **ret)
{
	struct worker *worker = calloc(1, sizeof(*worker));

	if (!worker)
		return -ENOMEM;
	pthread_mutex_init(&worker->lock, NULL);
	pthread_cond_init(&worker->changed, NULL);
	pthread_cond_init(&worker->is_idle, NULL);
	worker->end = &worker->first;
	*ret = worker;
	return 0;
}

void worker_free(struct worker *worker)
{
	if (!worker)
		return;
	pthread_mutex_lock(&worker->lock);
	worker->is_closing = true;
	pthread_cond_signal(&worker->changed);
	pthread_mutex_unlock(&worker->lock);
	if (worker->has_thread)
		pthread_join(worker->thread, NULL);
	pthread_cond_destroy(&worker->is_idle);
	pthread_cond_destroy(&worker->changed);
	pthread_mutex_destroy(&worker->lock);
	free(worker);
}

void worker_add(struct worker *worker, struct worker_task *task)
{
	const bool has_thread = start_thread(worker);

	pthread_mutex_lock(&worker->lock);
	worker->stats.added++;
	if (has_thread) {
		task->next = NULL;
		*worker->end = task;
		worker->end = &task->next;
		worker->stats.waiting++;
		pthread_cond_signal(&worker->changed);
	} else {
		worker->stats.here++;
	}
	pthread_mutex_unlock(&worker->lock);
	if (!has_thread)
		task->run(task);
}

void worker_wait(struct worker *worker)
{
	THREAD_HOLD(&worker->lock);

	while (worker->stats.waiting > 0)
		pthread_cond_wait(&worker->is_idle, &worker->lock);
}

void worker_stats(struct worker *worker, struct worker_stats *ret)
{
	THREAD_HOLD(&worker->lock);

	*ret = worker->stats;
}
