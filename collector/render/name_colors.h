// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   names of frames -> colours that somebody chose for them
 * units:   RGB, 8 bits a channel
 * threads: one at a time while it is read or added to
 * errors:  negative errno; lines that are none are counted
 * source:  the palette.map of flamegraph.pl --cp: name->rgb(R,G,B), a line each
 *
 * A name bears the suffix of its kind, as in folded stacks: a/B.c_[j]. A zero-filled struct
 * name_colors is a valid, empty one.
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
	struct name_color *items; /* in the order of their coming */
	uint32_t *index;	  /* by name, open addressing: item + 1, or 0 */
	size_t count, size, index_size;
	uint64_t seed;		/* of the index's hash */
	uint64_t ignored;	/* lines that are none */
	uint64_t first_ignored; /* its number, from 1 */
};

void name_colors_fini(struct name_colors *colors);
/* Adds what the stream says; a name's last colour counts. */
int name_colors_read(struct name_colors *colors, FILE *stream);
/* Sorted by name. */
int name_colors_write(const struct name_colors *colors, FILE *stream);

/* NULL if the node's name has none. */
const uint32_t *name_colors_find(const struct name_colors *colors, const struct profile_node *node);
/* Unless its name has one. */
int name_colors_add(struct name_colors *colors, const struct profile_node *node, uint32_t rgb);

#endif
