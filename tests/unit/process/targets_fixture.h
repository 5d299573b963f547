// SPDX-License-Identifier: Apache-2.0
/*
 * The model with a session of an agent, for the tests of process/targets.h. The processes are real
 * ones: the test and children of it.
 */
#ifndef FG_TESTS_TARGETS_FIXTURE_H
#define FG_TESTS_TARGETS_FIXTURE_H

#include "common/temp_dir.h"
#include "maps/map_outputs.h"
#include "process/targets.h"

extern struct targets targets;
extern struct map_outputs outputs;    /* of targets, in map_dir */
extern struct intake_session session; /* of child; its ID is 3 */
extern char map_dir[TEMP_DIR_BYTES];
extern pid_t child;
extern uint32_t ended[8]; /* sessions that were to be ended */
extern size_t n_ended;
extern uint8_t bytes[65536];
extern struct wire_buf buf; /* of bytes */

int set_up_targets(void **state);
int tear_down_targets(void **state);

void end_child(void);
/* A turn: what is due of the outputs, and of the targets. */
void tick(uint64_t now_ns);

enum targets_verdict say(enum intake_kind kind);
/* The records of buf, one after the other. */
void say_records(struct wire_buf *records);
void say_hello(const char *command);
extern uint64_t loaded_ns; /* by the hello */
void say_load(uint64_t addr, uint32_t size, const char *method, uint64_t time_ns);
/* A session with its hello. */
struct process *connect_agent(void);

#define TARGETS_TEST(name) cmocka_unit_test_setup_teardown(name, set_up_targets, tear_down_targets)

#endif
