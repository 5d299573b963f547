// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   this very process -> a process of the model, and a JVM whose agent speaks
 * units:   none
 * threads: one
 * errors:  the test fails
 * source:  shared/wire.h
 *
 * Life cycle: own_process_new or own_jvm_new, then process_free; own_jvm_in belongs to the targets.
 */
#ifndef FG_TESTS_PROCESS_OWN_JVM_H
#define FG_TESTS_PROCESS_OWN_JVM_H

#include "process/targets.h"

struct process *own_process_new(void);
/* The process has a JVM, and its agent has said nothing yet. */
struct process *own_jvm_new(void);
/* The process is one of the targets'. */
struct process *own_jvm_in(struct targets *targets);

/* Applies the records of buf, which is empty then. */
void own_jvm_hear(struct process *process, struct wire_buf *buf, uint64_t now_ns);
/* A hello that says as little as one can. */
void own_jvm_hear_hello(struct process *process, uint64_t now_ns);

#endif
