// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   options of a recording -> a sentence on what stands in its way, with the remedy
 * units:   PIDs as the collector sees them
 * threads: any
 * errors:  none beside the answer
 * source:  proc(5)
 */
#ifndef FG_INSPECT_DIAGNOSE_H
#define FG_INSPECT_DIAGNOSE_H

#include "inspect/diagnose_process.h"
#include "recording/recording.h"

/*
 * Whether the processes that options mean can be recorded now, judging by the known JVMs. 0: they
 * can, and ret says what will be missing, mostly "". -EAGAIN: they cannot, and ret says why.
 *
 * ret NULL asks for the answer alone, without a search for reasons. The answer is then -ENOTUNIQ if
 * several containers or pods fit a name, or another negative errno.
 */
int diagnose_targets(const struct recording_options *options, struct targets *targets,
		     const char *socket_path, char ret[DIAGNOSE_BYTES]);

#endif
