// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   an engine's stages -> the table of parts that each turn of its loop walks over
 * units:   CLOCK_MONOTONIC nanoseconds
 * threads: the model's
 * errors:  none
 * source:  none
 *
 * Between the files of loop/engine.h.
 */
#ifndef FG_LOOP_ENGINE_PARTS_H
#define FG_LOOP_ENGINE_PARTS_H

#include "loop/engine.h"

void engine_add_own_parts(struct engine *engine);
/* Gives each pool its part of the budget. */
void engine_share_budget(struct engine *engine);
/* Reads which user IDs are subordinate, if that is due. */
void engine_renew_users(struct engine *engine, uint64_t now_ns);

/* The parts of recordings; arg is the engine (part.h). */
uint64_t engine_recordings_due_ns(const void *arg);
void engine_recordings_read(void *arg);
void engine_recordings_advance(void *arg);
void engine_recordings_hold(const void *arg, struct memory_stats *ret);
void engine_recordings_reap(void *arg);

#endif
