// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   what other programs have written of stacks -> a profile
 * units:   the file's own: samples, or the event's periods
 * threads: one at a time
 * errors:  negative errno where nothing can be read at all; bad lines are counted, the first is
 *          told
 * source:  folded stacks, the text of perf-script(1), pprof and recordings of our own: see
 *          folded_reader.c, perf_reader.c, pprof.h and recording_reader.h
 *
 * All are read in one go, a chunk at a time, so that pipes will do and a file's size does not
 * matter; pprof is read whole. All of it is hostile: lines, names, depths and counts have limits
 * (import_limits.h).
 */
#ifndef FG_IMPORT_IMPORT_H
#define FG_IMPORT_IMPORT_H

#include "import/import_limits.h"
#include "import/import_options.h"
#include "import/import_target.h"

/*
 * Reads fd to its end. -EINVAL with report.first_reason where it is of none of the formats; of
 * pprof and a recording that cannot be read, first_reason says why whatever the error is.
 */
int import_read(int fd, const struct import_options *options, struct import_target *target);

#endif
