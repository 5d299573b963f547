// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   one side of a comparison -> its stacks that are wanted
 * units:   weights as the profile's
 * threads: one
 * errors:  -ENOMEM
 * source:  none
 */
#ifndef FG_DRAW_DRAW_WAITS_H
#define FG_DRAW_DRAW_WAITS_H

#include "draw/draw_options.h"
#include "draw/draw_side.h"
#include "profile/waits.h"

#define DRAW_WAITS_SAY_BYTES (2 * WAITS_SAY_BYTES + 32)

/* A zero-filled struct is empty. */
struct draw_waits {
	struct waits waits;
	struct waits_cut cut;
	struct draw_side side; /* the side, or what is left of it */
};

/* Borrows the texts of side until draw_waits_fini. */
int draw_waits_init(struct draw_waits *ret, const struct draw_side *side,
		    const struct wait_options *options, enum waits_way way);
void draw_waits_fini(struct draw_waits *waits);

/* Says what is left out of both sides; "" if nothing is. Returns ret. */
const char *draw_waits_say(const struct draw_waits *before, const struct draw_waits *after,
			   const struct draw_options *options, enum waits_way way,
			   char ret[DRAW_WAITS_SAY_BYTES]);

#endif
