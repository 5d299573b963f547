// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   the text of a request, and the model -> a page of an answer
 * units:   PIDs as the collector sees them, start times in clock ticks
 * threads: the model's
 * errors:  an answer that says what is wrong; NULL: there is no memory
 * source:  docs/publish.md
 *
 * A page is of one instant of the model, and is bounded: PUBLISH_ANSWER_RANGES ranges or
 * PUBLISH_ANSWER_ROWS rows, and less than a message. The pages of a JVM's code are pieces of one
 * walk (code_map_next_living): code that lives from the first page to the last comes once.
 */
#ifndef FG_ANNOUNCE_PUBLISH_ANSWERS_H
#define FG_ANNOUNCE_PUBLISH_ANSWERS_H

#include "process/targets.h"
#include "publish/publish_batch.h"

#define PUBLISH_ANSWER_RANGES 256
#define PUBLISH_ANSWER_ROWS   64

/* The caller owns the batch. */
struct publish_batch *publish_answer(const struct targets *targets, const char *text, size_t len);

#endif
