// SPDX-License-Identifier: Apache-2.0
/* Names both sides of a difference, see draw_title.h. */
#include "draw/draw_title.h"

#include <stdio.h>
#include <string.h>

#define ARROW "\u2192"

static void name_side(const struct draw_input *side, const char *path,
		      char ret[PROFILE_TITLE_BYTES])
{
	const struct import_recording *const recording = &side->recording;
	const struct profile_part part = {
		.kind = &side->kind,
		.profile = &side->profile,
		.timeline = recording->timeline.n_processes > 0 ? &recording->timeline : NULL,
		.info = recording->is_read ? &recording->info : NULL,
	};
	const char *const slash = path ? strrchr(path, '/') : NULL;

	if (!profile_title_write(&part, 1, ret))
		snprintf(ret, PROFILE_TITLE_BYTES, "%s", slash ? slash + 1 : path ? path : "");
}

void draw_title_of_sides(const struct draw_input *before, const struct draw_input *after,
			 char *const *files, char ret[DRAW_TITLE_BYTES])
{
	char a[PROFILE_TITLE_BYTES], b[PROFILE_TITLE_BYTES];

	name_side(before, files ? files[0] : NULL, a);
	name_side(after, files ? files[1] : NULL, b);
	if (!a[0] || !b[0])
		ret[0] = '\0';
	else if (strcmp(a, b) == 0 && files)
		snprintf(ret, DRAW_TITLE_BYTES, "%s: %s " ARROW " %s", a, files[0], files[1]);
	else
		snprintf(ret, DRAW_TITLE_BYTES, "%s " ARROW " %s", a, b);
}
