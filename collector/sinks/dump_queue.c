// SPDX-License-Identifier: Apache-2.0
/*
 * Lines gather in one buffer while the thread writes another, see dump_queue.h. The thread writes
 * line by line, so that lines of a log lie between them and not within.
 */
#include "sinks/dump_queue.h"

#include "base/file.h"
#include "base/thread.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define LOST_BYTES 64 /* of the line about those that are missing */

struct dump_queue {
	pthread_mutex_t lock;
	pthread_cond_t wake;
	pthread_t thread;
	unsigned holders; /* the owner and the thread; the last one frees */
	int fd;
	size_t max_bytes;
	char *filling, *writing; /* max_bytes each */
	size_t len;		 /* in the buffer that is filled */
	uint64_t written;	 /* lines that the thread is done with */
	uint64_t unsaid;	 /* lost lines of which no line says so yet */
	bool is_closing, is_broken;
	struct dump_queue_stats stats;
};

static void unref(struct dump_queue *queue)
{
	bool is_last;

	pthread_mutex_lock(&queue->lock);
	is_last = --queue->holders == 0;
	pthread_mutex_unlock(&queue->lock);
	if (!is_last)
		return;
	pthread_mutex_destroy(&queue->lock);
	pthread_cond_destroy(&queue->wake);
	free(queue->filling);
	free(queue->writing);
	free(queue);
}

/* ---- the thread ---- */

/* Whoever shares the descriptor may have set it not to wait. */
static int write_line(int fd, const char *line, size_t len)
{
	int err;

	while ((err = file_write_all(fd, line, len)) == -EAGAIN) {
		struct pollfd polled = {.fd = fd, .events = POLLOUT};

		if (poll(&polled, 1, -1) < 0 && errno != EINTR)
			return -errno;
	}
	return err;
}

/* The number of lines that were given up, because they could not be written. */
static uint64_t write_lines(struct dump_queue *queue, const char *lines, size_t len)
{
	const char *const end = lines + len;
	uint64_t lost = 0;

	for (const char *at = lines, *next; at < end; at = next) {
		next = (const char *)memchr(at, '\n', (size_t)(end - at)) + 1;
		if (lost > 0 || write_line(queue->fd, at, (size_t)(next - at)) < 0)
			lost++;
		pthread_mutex_lock(&queue->lock);
		queue->written++;
		pthread_mutex_unlock(&queue->lock);
	}
	return lost;
}

/* Called with the lock held, as say_lost. */
static void put(struct dump_queue *queue, const char *line, size_t len)
{
	memcpy(queue->filling + queue->len, line, len);
	queue->filling[queue->len + len] = '\n';
	queue->len += len + 1;
}

static void say_lost(struct dump_queue *queue)
{
	char line[LOST_BYTES];
	const int len = snprintf(line, sizeof(line), "lost   %llu lines that nobody read",
				 (unsigned long long)queue->unsaid);

	put(queue, line, (size_t)len);
	queue->unsaid = 0;
}

/* The lines that have gathered; their length, or 0 at the end. */
static size_t take(struct dump_queue *queue)
{
	char *const filled = queue->filling;
	size_t len;

	while (queue->len == 0 && !queue->is_closing)
		pthread_cond_wait(&queue->wake, &queue->lock);
	if (queue->len == 0 && queue->unsaid > 0 && !queue->is_broken)
		say_lost(queue);
	len = queue->len;
	queue->len = 0;
	queue->filling = queue->writing;
	queue->writing = filled;
	return len;
}

static void *run(void *arg)
{
	struct dump_queue *const queue = arg;
	size_t len;

	pthread_mutex_lock(&queue->lock);
	while ((len = take(queue)) > 0) {
		uint64_t lost;

		pthread_mutex_unlock(&queue->lock);
		lost = write_lines(queue, queue->writing, len);
		pthread_mutex_lock(&queue->lock);
		queue->stats.lost += lost;
		queue->is_broken |= lost > 0;
	}
	pthread_mutex_unlock(&queue->lock);
	unref(queue);
	return NULL;
}

/* ---- the owner ---- */

int dump_queue_new(int fd, size_t max_bytes, struct dump_queue **ret)
{
	struct dump_queue *const queue = calloc(1, sizeof(*queue));
	int err;

	if (!queue)
		return -ENOMEM;
	pthread_mutex_init(&queue->lock, NULL);
	pthread_cond_init(&queue->wake, NULL);
	queue->fd = fd;
	queue->max_bytes = max_bytes;
	queue->filling = malloc(max_bytes);
	queue->writing = malloc(max_bytes);
	queue->holders = 2;
	err = queue->filling && queue->writing ? thread_start(&queue->thread, run, queue) : -ENOMEM;
	if (err) {
		queue->holders = 1;
		unref(queue);
		return err;
	}
	*ret = queue;
	return 0;
}

void dump_queue_add(struct dump_queue *queue, const char *line, size_t len)
{
	size_t needed = len + 1;

	THREAD_HOLD(&queue->lock);
	needed += queue->unsaid > 0 ? LOST_BYTES : 0;
	queue->stats.lines++;
	if (queue->is_broken || needed + LOST_BYTES > queue->max_bytes - queue->len) {
		queue->stats.lost++;
		queue->unsaid++;
	} else {
		if (queue->unsaid > 0)
			say_lost(queue);
		put(queue, line, len);
		pthread_cond_signal(&queue->wake);
	}
}

void dump_queue_stats(struct dump_queue *queue, struct dump_queue_stats *ret)
{
	THREAD_HOLD(&queue->lock);

	*ret = queue->stats;
}

static uint64_t written(struct dump_queue *queue)
{
	THREAD_HOLD(&queue->lock);

	return queue->written;
}

static void end(struct dump_queue *queue)
{
	THREAD_HOLD(&queue->lock);

	queue->is_closing = true;
	pthread_cond_signal(&queue->wake);
}

bool dump_queue_close(struct dump_queue *queue, uint64_t wait_ns)
{
	uint64_t before;
	bool has_ended;

	if (!queue)
		return true;
	end(queue);
	do {
		before = written(queue);
		has_ended = thread_join_until(queue->thread, clock_now_ns() + wait_ns);
	} while (!has_ended && written(queue) != before);
	if (!has_ended)
		pthread_detach(queue->thread);
	unref(queue);
	return has_ended;
}

static const struct counter counters[] = {
	COUNTER_SUM(struct dump_queue_stats, lines, "dump.lines", "dump_lines_total",
		    "Lines of --dump."),
	COUNTER_SUM(struct dump_queue_stats, lost, "dump.lost", "dump_lost_lines_total",
		    "Lines of --dump that nobody read in time, or that could not be written."),
};

const struct counters dump_queue_counters = COUNTERS(struct dump_queue_stats, counters);
