// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   what is drawn, or one side of a comparison
 * units:   weights as the profile's
 * threads: any, borrowed
 * errors:  none
 * source:  none
 */
#ifndef FG_DRAW_DRAW_SIDE_H
#define FG_DRAW_DRAW_SIDE_H

#include "profile/profile.h"
#include "profile/timeline.h"

struct draw_side {
	const struct profile *profile;
	const struct timeline *timeline; /* timeline of profile; NULL: none */
};

#endif
