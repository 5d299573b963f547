// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   a name that means nothing, or several containers -> a sentence with the names there are
 * units:   none
 * threads: the model's
 * errors:  none beside the answer
 * source:  none
 */
#ifndef FG_INSPECT_DIAGNOSE_NAMES_H
#define FG_INSPECT_DIAGNOSE_NAMES_H

#include "inspect/diagnose_process.h"
#include "recording/recording.h"

/*
 * Whether options' selector means something known. 0: it does. -EAGAIN: it means nothing, or more
 * than one container or pod; ret says so. With options->all, unknown processes are read from /proc.
 * ret NULL: as diagnose_targets says.
 */
int diagnose_names(const struct recording_options *options, struct targets *targets,
		   const char *socket_path, char ret[DIAGNOSE_BYTES]);

/*
 * Whether a JVM fits that has begun some seconds ago and has no agent: it may have ended before
 * others have been waited for.
 */
bool diagnose_may_end_soon(const struct recording_options *options, struct targets *targets);

/* What a recording of a JVM without an agent has and lacks. */
const char *diagnose_lack_outside(const struct recording_options *options);

#endif
