// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   a selector and the processes there are -> which of them are meant, now and later
 * units:   none
 * threads: one, the model's
 * errors:  negative errno
 * source:  none
 *
 * What a process is called changes seldom, and samples are many: a verdict is kept per process
 * until its workload has another version. selection_narrow makes one container or pod of a name
 * that so many fit; what starts later is taken if it is in that one. A container that is made anew
 * under its name, or a pod's that is started again, is the same. A zero-filled struct selection
 * takes every process.
 */
#ifndef FG_PROCESS_SELECTION_H
#define FG_PROCESS_SELECTION_H

#include "process/selector.h"
#include "process/targets.h"

#include <regex.h>

#define SELECTION_MAX_VERDICTS 65536

/* Which container or pod is meant. */
struct selection_place {
	bool is_set;
	char id[CONTAINER_ID_BYTES];	      /* "": by its name */
	char container[CONTAINER_NAME_BYTES]; /* "": all of the pod */
	char pod_uid[POD_UID_BYTES];	      /* "": the pod by its name */
	char pod[CONTAINER_NAME_BYTES];
	char name_space[CONTAINER_NAME_BYTES];
};

struct selection {
	struct selector selector;
	struct selection_place place;
	bool has_jvm;
	regex_t jvm;
	struct map64 verdicts; /* PID -> version of its workload, and the verdict in the last bit */
};

/* -EINVAL: the regular expression is none. */
int selection_init(struct selection *selection, const struct selector *selector);
void selection_fini(struct selection *selection);

/*
 * Finds which one is meant of the processes that are there. 0; -ENOENT: none fits; -ENOTUNIQ:
 * several do, and selection is as it was.
 */
int selection_narrow(struct selection *selection, const struct targets *targets);

bool selection_wants(struct selection *selection, const struct process *process);
/* The same without remembering it. */
bool selection_fits(const struct selection *selection, const struct process *process);

/* How well the name fits at best; those that fit as well are the ones that it could mean. */
enum selector_fit selection_best(const struct selection *selection, const struct targets *targets);
bool selection_could_mean(const struct selection *selection, enum selector_fit best,
			  const struct process *process);

#endif
