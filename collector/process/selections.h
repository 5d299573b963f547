// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   a selector with alternatives -> the selection of each
 * units:   none
 * threads: one, the model's
 * errors:  negative errno
 * source:  selection.h
 *
 * A process is meant if one of the selections means it. A zero-filled struct selections has none.
 */
#ifndef FG_PROCESS_SELECTIONS_H
#define FG_PROCESS_SELECTIONS_H

#include "process/selection.h"

struct selections {
	struct selection *each;
	size_t n;
};

/* -ENOMEM, or as selection_init; there is nothing to end then. */
int selections_init(struct selections *selections, const struct selector *selector);
void selections_fini(struct selections *selections);

/* Whether places of processes that are no JVMs count. */
void selections_limit(struct selections *selections, bool only_jvms);

/* As selection_read_on, of each. */
void selections_read_on(const struct selections *selections, const struct targets *targets,
			uint64_t for_ns);

/* Finds the place of each. One that fits nothing, or several places, stays as it was. */
void selections_narrow(struct selections *selections, const struct targets *targets);

/* Whether the process is meant; the verdict is kept. */
bool selections_want(struct selections *selections, const struct process *process);
/* Whether the process is meant; the verdict is not kept. */
bool selections_fit(const struct selections *selections, const struct process *process);

#endif
