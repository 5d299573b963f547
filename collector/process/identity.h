// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   a process's container and its agent's words -> what it is called, ready to be shown
 * units:   none
 * threads: one, the model's
 * errors:  what has no room is left out and counted in labels
 * source:  container.h; the agent's attributes, see jvmti-agent/README.md; OpenTelemetry's names of
 *          resource attributes
 *
 * Despite its name none of it identifies anything: that is the PID, its start and the container's
 * ID. What the host's files say goes before what the agent says. Made when something of it changes,
 * so that a sample costs nothing. A zero-filled struct identity is a valid, empty one; texts are ""
 * where nothing is known, and live until it is made anew.
 */
#ifndef FG_PROCESS_IDENTITY_H
#define FG_PROCESS_IDENTITY_H

#include "container/container.h"
#include "code/jvm_hello.h"

#include <stdint.h>

struct identity {
	uint64_t version;		      /* never twice the same, over all processes */
	char container[CONTAINER_NAME_BYTES]; /* its name */
	char pod[CONTAINER_NAME_BYTES];
	char name_space[CONTAINER_NAME_BYTES];
	struct label_set labels;
};

/* By what the process's container and agent say now; either may be NULL. */
void identity_make(struct identity *identity, const struct jvm_hello *hello,
		   const struct container *container);
void identity_fini(struct identity *identity);

/* Its process is to be judged anew, for it has changed in another way. */
void identity_touch(struct identity *identity);

#endif
