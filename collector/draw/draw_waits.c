// SPDX-License-Identifier: Apache-2.0
/* Leaves out of both sides the same sorts of stacks, see draw_waits.h. */
#include "draw/draw_waits.h"

#include <stdio.h>

int draw_waits_init(struct draw_waits *ret, const struct draw_side *side,
		    const struct wait_options *options, enum waits_way way)
{
	int err;

	*ret = (struct draw_waits){.side = *side};
	err = waits_init(&ret->waits, side->profile, options);
	if (err || !waits_changes(&ret->waits, options, way))
		return err;
	err = waits_cut_init(&ret->cut, side->profile, side->timeline, &ret->waits, options, way);
	if (err)
		return err;
	ret->side.profile = &ret->cut.profile;
	if (side->timeline)
		ret->side.timeline = &ret->cut.timeline;
	return 0;
}

void draw_waits_fini(struct draw_waits *waits)
{
	waits_cut_fini(&waits->cut);
	waits_fini(&waits->waits);
}

const char *draw_waits_say(const struct draw_waits *before, const struct draw_waits *after,
			   const struct draw_options *options, enum waits_way way,
			   char ret[DRAW_WAITS_SAY_BYTES])
{
	const struct profile_kind *const kind = render_kind(&options->render);
	char of_before[WAITS_SAY_BYTES], of_after[WAITS_SAY_BYTES];

	waits_say(&before->waits, &options->render.waits, way, kind, of_before);
	waits_say(&after->waits, &options->render.waits, way, kind, of_after);
	ret[0] = '\0';
	if (of_before[0] || of_after[0])
		snprintf(ret, DRAW_WAITS_SAY_BYTES, "before %s; after %s",
			 of_before[0] ? of_before : "no idle", of_after[0] ? of_after : "no idle");
	return ret;
}
