// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   what recordings have beside their stacks -> the same of all together
 * units:   nanoseconds
 * threads: one
 * errors:  negative errno; what cannot be put together is said on stderr
 * source:  proc(5), random/boot_id
 *
 * Their nodes are of one profile. Threads are kept always. PIDs mean the same, and clocks show the
 * same, only on one host since it was started; otherwise processes of one PID are two, and times
 * are left out.
 */
#ifndef FG_DRAW_DRAW_RECORDINGS_H
#define FG_DRAW_DRAW_RECORDINGS_H

#include "import/import.h"

/*
 * Adds one, of the file at path, to all. info.quality.truncated_samples of both are those of their
 * own; the rest of info.quality is the caller's.
 */
int draw_recordings_add(struct import_recording *all, const struct import_recording *one,
			const char *path);
/* With the file at path there are stacks without anything beside them. */
void draw_recordings_add_stacks(struct import_recording *all, const char *path);

#endif
