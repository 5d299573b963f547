// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   files of a spool that are done with -> no files
 * units:   counts
 * threads: any, but for init and fini
 * errors:  said on stderr once, until no file is left over; counted
 * source:  unlink(2)
 *
 * A file that cannot be removed, because its disk has become read-only for instance, is remembered
 * and tried again: the next daemon would find the file, and send what was sent. Of files past
 * SPOOL_LEFTOVERS_MOST only the number is known.
 */
#ifndef FG_PUSH_SPOOL_LEFTOVERS_H
#define FG_PUSH_SPOOL_LEFTOVERS_H

#include "push/spool_files.h"

#include <pthread.h>

#define SPOOL_LEFTOVERS_MOST	 16384u /* 256 KiB */
#define SPOOL_LEFTOVERS_FAILURES 16u

struct spool_leftover {
	uint64_t number;
	const char *suffix; /* a literal */
};

struct spool_leftovers {
	pthread_mutex_t lock; /* guards the members below */
	struct spool_leftover *items;
	size_t count, size;
	size_t next;	  /* is tried first, then those before it */
	uint64_t unknown; /* past the most */
	bool has_said;
};

void spool_leftovers_init(struct spool_leftovers *leftovers);
void spool_leftovers_fini(struct spool_leftovers *leftovers);

/* Removes a file, or remembers it. */
void spool_leftovers_remove(struct spool_leftovers *leftovers, const struct spool_files *files,
			    uint64_t number, const char *suffix);
/*
 * Removes those that were remembered. A turn ends after SPOOL_LEFTOVERS_FAILURES that still cannot
 * be removed, or one if the disk is read-only; the next turn goes on behind these.
 */
void spool_leftovers_retry(struct spool_leftovers *leftovers, const struct spool_files *files);

/* Whether there is room for what all requests under way may leave over. */
bool spool_leftovers_have_room(struct spool_leftovers *leftovers);
uint64_t spool_leftovers_count(struct spool_leftovers *leftovers);

#endif
