// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   threads, times and facts of several recordings -> those of all together
 * units:   nanoseconds
 * threads: one
 * errors:  negative errno; what cannot be joined is said on stderr
 * source:  proc(5), random/boot_id
 *
 * The recordings' nodes are nodes of one profile. Threads are always kept. Equal PIDs are the same
 * process, and times can be compared, only if the recordings are of one host and one boot.
 * Otherwise equal PIDs are two processes, and times are left out.
 */
#ifndef FG_DRAW_DRAW_RECORDINGS_H
#define FG_DRAW_DRAW_RECORDINGS_H

#include "import/import.h"

/*
 * Adds one, which was read from path, to all. In info.quality of both, truncated_samples has the
 * recording's own counts; the caller sets the other fields of info.quality.
 */
int draw_recordings_add(struct import_recording *all, const struct import_recording *one,
			const char *path);
/* Call it if the file at path, which is no recording, is added to recordings. */
void draw_recordings_add_stacks(struct import_recording *all, const char *path);

#endif
