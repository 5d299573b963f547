// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   what a spoken agent says -> published at paths of its own; a subscriber, and who asks
 * units:   CLOCK_MONOTONIC nanoseconds
 * threads: one
 * errors:  the test fails
 * source:  docs/publish.md
 */
#ifndef FG_TESTS_ANNOUNCE_PUBLISHED_H
#define FG_TESTS_ANNOUNCE_PUBLISHED_H

#include "../publish/subscriber.h"
#include "announce/publishing.h"
#include "common/temp_dir.h"

#include <jansson.h>

struct published {
	char dir[TEMP_DIR_BYTES], path[TEMP_DIR_BYTES + 16], state_path[TEMP_DIR_BYTES + 16];
	char agents[TEMP_DIR_BYTES + 32];
	struct publishing *publishing;
	struct subscriber subscriber, asker;
	bool is_subscribed, is_asking;
	uint64_t now;
};

extern struct published published;

/* Of cmocka. */
int published_set_up(void **state);
int published_tear_down(void **state);

/* A turn, 20 ms later. */
void published_step(void);
void published_rest(void);
/* state NULL: nobody can ask. */
struct publishing_options published_options(const char *events, const char *state);
struct publish_stats published_stats(void);

/* Without the snapshot that a subscriber brings about. */
void published_subscribe(const char *topic);
/* The lines of the next message, each an object. */
json_t *published_lines(void);
/* The events that come next, such as "begin load load end". A message may have some of them. */
void published_check_events(const char *want);

void published_ask(const char *request);
/* Steps until the answer has come. */
const char *published_answer(const char *request, size_t *ret_len);
/* A number of a message of entries. */
uint64_t published_number(const char *data, size_t n);

#endif
