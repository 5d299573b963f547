// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   where readers put what they read: profiles, the rest of a recording, and a report
 * units:   the file's: samples, or the event's periods
 * threads: one at a time
 * errors:  none
 * source:  none
 */
#ifndef FG_IMPORT_IMPORT_TARGET_H
#define FG_IMPORT_IMPORT_TARGET_H

#include "import/import_report.h"
#include "profile/profile.h"
#include "profile/profile_info.h"
#include "profile/profile_kind.h"
#include "profile/timeline.h"

#include <stdbool.h>

/* The content of a recording beside its stacks. The texts belong to the target's profile. */
struct import_recording {
	struct timeline timeline; /* sorted; the caller ends it */
	struct profile_info info;
	const char *title, *subtitle, *notes, *count_name; /* each may be NULL */
	bool is_read;
};

struct import_target;

/*
 * Says where the samples of a kind go. kind is borrowed for the call. open sets the target's
 * profile, before and recording for what follows. IMPORT_NOTHING_OF: the kind is not wanted.
 * IMPORT_TIMES_OF: of a recording, only facts and times are wanted; each time is given to add_time,
 * and no tree is made. Negative errno: the file cannot be read, for lack of memory.
 */
#define IMPORT_NOTHING_OF 1
#define IMPORT_TIMES_OF	  2

typedef int import_open_kind(struct import_target *target, const struct profile_kind *kind);

/*
 * Several files may be read into one target, one after the other. Totals are right after each file.
 * With open, profile is also the owner of the texts of all kinds of a recording.
 */
struct import_target {
	struct profile *profile;
	struct profile *before; /* for the first of two counts; NULL: the first count is left out */
	struct import_recording *recording; /* for one file alone; NULL: not wanted */
	/*
	 * Called before each kind of a file, also before the only one; NULL: the first kind alone.
	 */
	import_open_kind *open;
	/* at_ns: since the recording's start */
	void (*add_time)(struct import_target *target, uint64_t at_ns, uint64_t weight);
	struct import_report report;
};

#endif
