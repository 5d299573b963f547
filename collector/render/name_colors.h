// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   names of frames -> colours that a user has chosen for them
 * units:   RGB, 8 bits a channel
 * threads: one at a time while colours are added
 * errors:  negative errno; lines that do not parse are counted
 * source:  the palette.map of flamegraph.pl --cp: lines of name->rgb(R,G,B)
 *
 * A name has the suffix of its kind, as in folded stacks: a/B.c_[j]. A zero-filled struct is valid
 * and empty.
 */
#ifndef FG_RENDER_NAME_COLORS_H
#define FG_RENDER_NAME_COLORS_H

#include "base/intern.h"
#include "profile/profile.h"

#include <stdbool.h>
#include <stdio.h>

struct name_color {
	const char *name;
	uint32_t rgb;
};

struct name_colors {
	struct intern names;
	struct name_color *items; /* in the order in which they were added */
	uint32_t *index;	  /* hash of the name -> item + 1, open addressing; 0: free */
	size_t count, size, index_size;
	uint64_t seed;		/* key of the index's hash */
	uint64_t ignored;	/* lines that do not parse */
	uint64_t first_ignored; /* number of the first such line, from 1 */
};

void name_colors_fini(struct name_colors *colors);
/* Adds the colours in stream. If a name comes twice, its last colour counts. */
int name_colors_read(struct name_colors *colors, FILE *stream);
/* Writes all colours, sorted by name. */
int name_colors_write(const struct name_colors *colors, FILE *stream);

/* The colour of the node's name, or NULL. */
const uint32_t *name_colors_find(const struct name_colors *colors, const struct profile_node *node);
/* Adds a colour for the node's name if the name has none. */
int name_colors_add(struct name_colors *colors, const struct profile_node *node, uint32_t rgb);

#endif
