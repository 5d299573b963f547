// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   a client that asks for the list of JVMs -> the text of its answer, over several turns
 * units:   bytes of JSON
 * threads: the model's; a task makes the text and frees the list
 * errors:  -ENOMEM, or a sentence instead of the list
 * source:  none
 *
 * With thousands of JVMs the rows, their text and their release take tens of milliseconds each.
 */
#ifndef FG_SERVE_LISTING_H
#define FG_SERVE_LISTING_H

#include "inspect/jvm_listing.h"
#include "serve/counted.h"

struct listing {
	struct recording_options options;
	int client; /* for the caller; listing.h does not use it */
	struct listing *next;
	struct listing_work *work; /* opaque */
};

/* engine and counts are borrowed until listing_end. */
int listing_begin(struct engine *engine, const struct daemon_counts *counts,
		  const struct recording_options *options, int wake_fd, struct listing **ret);
/*
 * Goes on. Call this each turn until there are no more rows: true then says that the task makes
 * the text, after which wake_fd, an eventfd, is written to. socket_path is the agents' socket.
 */
bool listing_step(struct listing *listing, const char *socket_path);
/* Whether the text has been made. */
bool listing_is_done(const struct listing *listing);
/* Waits for the task, and frees the listing. The text is the caller's; NULL: memory is out. */
char *listing_end(struct listing *listing);

#endif
