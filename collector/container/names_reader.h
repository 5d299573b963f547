// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   questions, each a container's ID -> answers, each the container with its names
 * units:   CLOCK_MONOTONIC nanoseconds, bytes
 * threads: the model's, which asks and takes; a thread here reads, one question after the other
 * errors:  negative errno
 * source:  container_names.h
 *
 * To read a container's names is to read files of the host, now and then to look at all processes,
 * and to wait for parsers. The loop must not wait for any of these. So a question is a copy, and
 * its answer is taken later. In a program without a zygote (confine/zygote.h) the question is
 * answered at once, by the caller's thread.
 *
 * The order of service: containers whose maker, root, a user or a container, has cost the thread
 * little time come before those whose maker has cost it NAMES_READER_SLOW_NS or more lately; then
 * containers of root's before others; then the oldest question. What a maker has cost is halved
 * each second. A question has a time of its own to wait for parsers; questions of slow makers share
 * one. So nobody's records keep containers of others unnamed for longer than one question takes.
 */
#ifndef FG_CONTAINER_NAMES_READER_H
#define FG_CONTAINER_NAMES_READER_H

#include "container/container_names.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define NAMES_READER_SLOW_NS UINT64_C(50000000)
#define NAMES_READER_SLOW    128		 /* slow makers that are known */
#define NAMES_READER_END_NS  UINT64_C(300000000) /* then a thread that does not end is left alone */
#define NAMES_READER_KEEP_NS UINT64_C(10000000000) /* what a search for a stopped one has found */

struct names_reader; /* opaque */

struct names_answer {
	struct container container; /* the taker's */
	uint64_t number;	    /* of the question */
	bool is_whole;		    /* all records of the container were parsed */
};

/* The counters of struct container_names. */
struct names_stats {
	uint64_t reads, broken, unlisted, untrusted, engines_left_out, lost, delayed;
};

typedef void names_read_fn(struct container_names *names, struct container *container);

/* root and mounts_path as for container_names_init. */
int names_reader_new(const char *root, const char *mounts_path, struct names_reader **ret);
/* Waits NAMES_READER_END_NS at most. A thread that has not ended frees the rest. NULL is legal. */
void names_reader_free(struct names_reader *reader);

/* For tests, before the first question. */
struct container_names *names_reader_names(struct names_reader *reader);
/* For tests, before the first question: the thread calls read, with or without a zygote. */
void names_reader_use(struct names_reader *reader, names_read_fn *read);

/* Asks for the container's empty members. The container is copied, without labels. */
int names_reader_ask(struct names_reader *reader, const struct container *container,
		     uint64_t *ret_number);
/* Takes one answer. False: there is none. */
bool names_reader_take(struct names_reader *reader, struct names_answer *ret);
/* Waits, asleep, until there is an answer to take, at most for_ns. */
void names_reader_wait(struct names_reader *reader, uint64_t for_ns);
/* Readable when there are answers. -1: before the first question, or without a thread. */
int names_reader_fd(const struct names_reader *reader);

/*
 * As container_names_find_stopped: 0, or -ENOENT. -EAGAIN: not known after for_ns; the search goes
 * on, and a later call with that name has the answer.
 */
int names_reader_find_stopped(struct names_reader *reader, const char *name, uint64_t for_ns,
			      struct container *ret);
/* Whether a search for a stopped container has not ended. */
bool names_reader_is_searching(struct names_reader *reader);

size_t names_reader_bytes(struct names_reader *reader); /* memory */
void names_reader_stats(struct names_reader *reader, struct names_stats *ret);

#endif
