// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   why there is nothing to record -> a sentence that says what to do
 * units:   PIDs as the collector sees them
 * threads: any
 * errors:  none; the text is the answer
 * source:  proc(5)
 */
#ifndef FG_INSPECT_DIAGNOSE_H
#define FG_INSPECT_DIAGNOSE_H

#include "inspect/diagnose_process.h"
#include "live/recording.h"

/*
 * Whether what options ask for can be recorded now, judging by the JVMs known. 0 and what will be
 * missing, which is "" most of the time; or -EAGAIN and why not. ret NULL: only whether, without a
 * look at anything else; then -ENOTUNIQ if it is a name that several fit, or another negative
 * number.
 */
int diagnose_targets(const struct recording_options *options, struct targets *targets,
		     const char *socket_path, char ret[DIAGNOSE_BYTES]);

#endif
