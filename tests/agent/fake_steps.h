// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   what scenarios are made of: the agent on one side, a collector on the other
 * units:   bytes, milliseconds
 * threads: the test's main thread stands for all of the JVM's; one other may read
 * errors:  anything unexpected ends the program with a line that says so
 * source:  shared/README.md
 *
 * There is one agent, one fake JVM and one collector a process.
 */
#ifndef FAKE_STEPS_H
#define FAKE_STEPS_H

#include "fake_jvm.h"
#include "peer.h"

#define STALL_MS 5000 /* what a collector that does not read is granted, and the end is not */

extern char socket_path[96];
extern jint (*on_load)(JavaVM *, char *, void *);
extern const char *agent_path; /* its file; NULL: it is linked in */
extern struct peer peer;

/* Agent_OnLoad with the socket and, from a comma on, more options. */
void load_agent(const char *extra);
/* And VMInit. */
void start_agent(const char *extra);
int count_agent_threads(void);
/* The line of this process's mappings that has the text in it, or false. */
bool find_mapping(const char *text, char line[512]);
/*
 * Waits until the agent tells where it listens, and takes the name away again: a collector of this
 * machine would dial, and an agent serves one at a time.
 */
void hide_listener(void);
void sleep_ms(long ms);
uint64_t now_ms(void);
bool is_text(struct wire_str s, const char *text);
void expect_hello(uint32_t buffer_bytes);
/* Its names and lines are those of that method. */
void check_method(const struct known_method *known, size_t method);
/* The record, which peer has just read, is a load of that method, in every part. */
void check_load(const struct wire_record *record, size_t method);
/* One whole, complete resynchronisation, with all that the fake JVM has. */
void expect_resync(uint32_t epoch);
/* Skips to the next record of the kind. */
struct wire_record expect_kind(enum wire_kind kind);
/* Accepts, and checks everything up to the end of the first resynchronisation. */
void connect_agent(uint32_t buffer_bytes, uint32_t epoch);
/* VMDeath; BYE is the last that is heard, nothing has leaked, and late callbacks do no harm. */
void end_jvm(void);

#endif
