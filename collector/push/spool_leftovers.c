// SPDX-License-Identifier: Apache-2.0
/* Removes files of a spool, sooner or later, see spool_leftovers.h. */
#include "push/spool_leftovers.h"

#include "base/array.h"
#include "base/log.h"
#include "base/thread.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define RESERVED 64u /* more than there are requests under way */

void spool_leftovers_init(struct spool_leftovers *leftovers)
{
	*leftovers = (struct spool_leftovers){0};
	pthread_mutex_init(&leftovers->lock, NULL);
}

void spool_leftovers_fini(struct spool_leftovers *leftovers)
{
	free(leftovers->items);
	pthread_mutex_destroy(&leftovers->lock);
}

/* With the lock. False: there is no room or memory. */
static bool add(struct spool_leftovers *leftovers, struct spool_leftover leftover)
{
	if (leftovers->count == SPOOL_LEFTOVERS_MOST)
		return false;
	if (ARRAY_RESERVE(leftovers->items, leftovers->size, leftovers->count + 1) < 0)
		return false;
	leftovers->items[leftovers->count++] = leftover;
	return true;
}

/* Whether that is the first one. */
static bool remember(struct spool_leftovers *leftovers, struct spool_leftover leftover)
{
	bool is_first;

	THREAD_HOLD(&leftovers->lock);
	leftovers->unknown += !add(leftovers, leftover);
	is_first = !leftovers->has_said;
	leftovers->has_said = true;
	return is_first;
}

void spool_leftovers_remove(struct spool_leftovers *leftovers, const struct spool_files *files,
			    uint64_t number, const char *suffix)
{
	const int err = spool_files_remove(files, number, suffix);

	if (err && remember(leftovers, (struct spool_leftover){number, suffix}))
		log_error("--push-spool %s: %s: files of profiles that are done with cannot be "
			  "removed; they are tried again each minute, and a daemon that starts "
			  "before would send them again",
			  files->path, strerror(-err));
}

void spool_leftovers_retry(struct spool_leftovers *leftovers, const struct spool_files *files)
{
	unsigned failures = 0;
	int err = 0;

	pthread_mutex_lock(&leftovers->lock);
	/* Meanwhile others are added behind the last one. */
	for (size_t left = leftovers->count;
	     left > 0 && failures < SPOOL_LEFTOVERS_FAILURES && err != -EROFS; left--) {
		const size_t i = leftovers->next ? leftovers->next - 1 : leftovers->count - 1;
		const struct spool_leftover leftover = leftovers->items[i];

		/* Without the lock: others must not wait for the disk. */
		pthread_mutex_unlock(&leftovers->lock);
		err = spool_files_remove(files, leftover.number, leftover.suffix);
		pthread_mutex_lock(&leftovers->lock);
		failures += err != 0;
		leftovers->next = i;
		if (!err)
			leftovers->items[i] = leftovers->items[--leftovers->count];
	}
	leftovers->has_said = leftovers->count + leftovers->unknown > 0;
	pthread_mutex_unlock(&leftovers->lock);
}

bool spool_leftovers_have_room(struct spool_leftovers *leftovers)
{
	THREAD_HOLD(&leftovers->lock);

	return leftovers->count + RESERVED <= SPOOL_LEFTOVERS_MOST;
}

uint64_t spool_leftovers_count(struct spool_leftovers *leftovers)
{
	THREAD_HOLD(&leftovers->lock);

	return leftovers->count + leftovers->unknown;
}
