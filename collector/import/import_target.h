// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   where readers put what they read: profiles, what a recording has beside its stacks,
 *          and a report
 * units:   the file's own: samples, or the event's periods
 * threads: one at a time
 * errors:  none
 * source:  none
 */
#ifndef FG_IMPORT_IMPORT_TARGET_H
#define FG_IMPORT_IMPORT_TARGET_H

#include "import/import_report.h"
#include "profile/profile.h"
#include "profile/profile_info.h"
#include "profile/timeline.h"

#include <stdbool.h>

/* What a recording of our own has beside its stacks. Texts are those of the target's profile. */
struct import_recording {
	struct timeline timeline; /* the caller's to end; sorted */
	struct profile_info info;
	const char *title, *subtitle, *notes, *count_name; /* or NULL */
	bool is_read;
};

/* Where stacks go. Several files may go into one, one after the other; sums are made by then. */
struct import_target {
	struct profile *profile;
	struct profile *before; /* of lines with two counts; NULL: the first count is left out */
	struct import_recording *recording; /* for one file alone; NULL: not wanted */
	struct import_report report;
};

#endif
