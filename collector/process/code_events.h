// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   a record of the wire -> a change of one process's code map, threads or JVM
 * units:   the agent's times, corrected to the collector's clock and never in its future
 * threads: the model's
 * errors:  a record that is too short, senseless or before the hello is counted in the JVM
 * source:  shared/README.md
 */
#ifndef FG_PROCESS_CODE_EVENTS_H
#define FG_PROCESS_CODE_EVENTS_H

#include "process/process.h"
#include "shared/wire.h"

/* process->jvm must not be NULL. */
void code_events_apply(struct process *process, const struct wire_record *record, uint64_t now_ns);

/*
 * Applies what was read of the JVM's memory beside its agent (outside/vm_reading.h): code of which
 * the agent has told stays as it is, but for the name of a function of another language, and only
 * code that was read is ended. Returns whether a range was added, named or ended.
 */
bool code_events_apply_beside(struct process *process, const struct wire_record *record,
			      uint64_t now_ns);

#endif
