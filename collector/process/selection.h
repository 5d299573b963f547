// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   a selector and all processes -> the processes that the selector means, now and later
 * units:   none
 * threads: one, the model's
 * errors:  negative errno
 * source:  none
 *
 * Names of a process change seldom and samples are many. So a verdict is kept for each process
 * until the process's workload has another version.
 *
 * A name may fit several containers or pods. selection_narrow decides on the one that is meant, its
 * place; processes that start later are wanted if they are in this place. A container that is made
 * anew under the name asked for is still the same place, and so is a restarted container of a pod.
 * A zero-filled struct selection wants every process.
 */
#ifndef FG_PROCESS_SELECTION_H
#define FG_PROCESS_SELECTION_H

#include "process/selector.h"
#include "process/targets.h"

#include <regex.h>

#define SELECTION_MAX_VERDICTS 65536

/* The container or pod that is meant. */
struct selection_place {
	bool is_set;
	char id[CONTAINER_ID_BYTES];	      /* "": the container is known by its name */
	char container[CONTAINER_NAME_BYTES]; /* "": all containers of the pod */
	char pod_uid[POD_UID_BYTES];	      /* "": the pod is known by its name */
	char pod[CONTAINER_NAME_BYTES];
	char name_space[CONTAINER_NAME_BYTES];
};

struct selection {
	struct selector selector;
	struct selection_place place;
	bool only_jvms; /* set by the owner: places of other processes are none */
	bool has_jvm;
	regex_t jvm;
	struct map64 verdicts; /* PID -> its workload's version; the last bit is the verdict */
};

/* Copies the selector. -EINVAL if its text for the JVM is no regular expression. */
int selection_init(struct selection *selection, const struct selector *selector);
void selection_fini(struct selection *selection);

/*
 * Finds the place that is meant among the processes that are alive. Returns 0; -ENOENT if no
 * process fits; -ENOTUNIQ if several places fit equally well. After an error selection is as it
 * was.
 */
int selection_narrow(struct selection *selection, const struct targets *targets);

/* Whether the process is meant; the verdict is kept. */
bool selection_wants(struct selection *selection, const struct process *process);
/* Whether the process is meant; the verdict is not kept. */
bool selection_fits(const struct selection *selection, const struct process *process);

#define SELECTION_READS 10

/*
 * Reads the mappings of processes that the names may mean, for about so long each, and for
 * SELECTION_READS times as long in all: a JVM without an agent is known by them. What is not read
 * then goes on in the next call.
 */
void selection_read_on(const struct selection *selection, const struct targets *targets,
		       uint64_t for_ns);

/* The best fit of the selector's names among all processes that are alive. */
enum selector_fit selection_best(const struct selection *selection, const struct targets *targets);
/* Whether the process is alive and fits as well as the best fit. */
bool selection_could_mean(const struct selection *selection, enum selector_fit best,
			  const struct process *process);

#endif
