// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   what an agent of this very process says -> the model of an engine, and its listener
 * units:   CLOCK_MONOTONIC nanoseconds
 * threads: one
 * errors:  the test fails
 * source:  shared/README.md
 */
#ifndef FG_TESTS_ANNOUNCE_SPOKEN_AGENT_H
#define FG_TESTS_ANNOUNCE_SPOKEN_AGENT_H

#include "loop/engine.h"

extern struct engine agent_engine; /* of which targets, budget and listener are valid */
extern struct intake_session agent_session;
extern struct wire_buf agent_buf; /* what agent_say says */

/* targets_fini ends the engine. */
void agent_init(void);
void agent_hear(enum intake_kind kind, const struct wire_record *record);
void agent_say(void);
void agent_say_hello(void);
void agent_say_load(uint64_t addr, uint32_t size, const char *class_name, const char *method);
void agent_say_resync(enum wire_kind kind);
void agent_say_all(void); /* a hello, and a whole resync of no code */

#endif
