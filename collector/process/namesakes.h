// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   JVMs of one name -> which of them keeps the name, and which ones are told apart by PID
 * units:   none
 * threads: the model's
 * errors:  none
 * source:  none
 *
 * Two JVMs of one name would be one box of a graph. The JVM that had the name first keeps it, and
 * each later one is a namesake: its box has its PID too. A JVM that ends leaves its name to the
 * next, so that a restart in a container has one box. What has been decided stays until the JVM has
 * other names. Programs that are no JVM are no namesakes: forty shells are one box.
 */
#ifndef FG_PROCESS_NAMESAKES_H
#define FG_PROCESS_NAMESAKES_H

#include "process/targets.h"

/* Sets the process's is_namesake, if it is not decided yet. process may be NULL. */
void namesakes_part(const struct targets *targets, struct process *process);

#endif
