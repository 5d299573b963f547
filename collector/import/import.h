// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   a file of stacks by another program, or a recording of our own -> a profile
 * units:   the file's: samples, or the event's periods
 * threads: one at a time
 * errors:  negative errno if nothing can be read; bad lines are counted and the first is reported
 * source:  folded stacks, the text of perf-script(1), pprof, our recordings: see folded_reader.c,
 *          perf_reader.c, pprof.h and recording_reader.h
 *
 * Files are read in one go and in chunks, so pipes can be read and the size of a file does not
 * matter; pprof alone is read whole. Files are hostile: lines, names, depths and counts have limits
 * (import_limits.h).
 */
#ifndef FG_IMPORT_IMPORT_H
#define FG_IMPORT_IMPORT_H

#include "import/import_limits.h"
#include "import/import_options.h"
#include "import/import_target.h"

/*
 * Reads fd to its end. -EINVAL if the file has none of the formats; report.first_reason says what
 * it looks like. For pprof and recordings first_reason explains every error.
 */
int import_read(int fd, const struct import_options *options, struct import_target *target);

#endif
