// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   a name that means nothing, or several -> a sentence that says which there are
 * units:   none
 * threads: the model's
 * errors:  none; the text is the answer
 * source:  none
 */
#ifndef FG_INSPECT_DIAGNOSE_NAMES_H
#define FG_INSPECT_DIAGNOSE_NAMES_H

#include "inspect/diagnose_process.h"
#include "live/recording.h"

/*
 * Whether options' selector means something that is known. 0; -EAGAIN and why not: nothing, or more
 * than one container or pod. Processes that nobody knows yet are looked for in /proc if asked to.
 * ret NULL: as diagnose_targets has it.
 */
int diagnose_names(const struct recording_options *options, struct targets *targets,
		   const char *socket_path, char ret[DIAGNOSE_BYTES]);

#endif
