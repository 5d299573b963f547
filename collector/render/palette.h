// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   a frame's class and name -> its colour
 * units:   RGB, 8 bits a channel
 * threads: any
 * errors:  -EINVAL for an unknown palette
 * source:  the palettes of FlameGraph; WCAG 2.1 for contrast: black text on each colour has at
 *          least 4.5:1
 *
 * A frame's class is its kind, or in a diff its change. Each class has KIND_SHADES shades. The
 * shade follows from the frame's name, so that it is the same in every file, or in a diff from the
 * size of the change.
 */
#ifndef FG_RENDER_PALETTE_H
#define FG_RENDER_PALETTE_H

#include "profile/diff.h"
#include "render/kinds.h"

#include <assert.h>
#include <stdbool.h>
#include <stdint.h>

enum palette {
	PALETTE_KINDS, /* java, js, perl: by the frame's kind */
	PALETTE_HOT,
	PALETTE_MEM,
	PALETTE_IO,
	PALETTE_RED,
	PALETTE_GREEN,
	PALETTE_BLUE,
	PALETTE_AQUA,
	PALETTE_YELLOW,
	PALETTE_PURPLE,
	PALETTE_ORANGE,
	PALETTES,
};

enum change {
	CHANGE_NOISE,
	CHANGE_MORE,
	CHANGE_LESS,
	CHANGE_NEW,
	CHANGE_GONE,
	CHANGES,
};

#define LOOK_CLASSES KINDS
static_assert((int)CHANGES <= (int)KINDS, "a class is a kind or a change");

struct look {
	unsigned class;
	unsigned shade;
};

/* The colours of a whole drawing. */
struct looks {
	const struct profile_diff *diff; /* or NULL */
	const char *titles[LOOK_CLASSES];
	uint32_t rgb[LOOK_CLASSES][KIND_SHADES];
	unsigned n_classes;
	bool has_legend; /* the classes have a meaning, which the legend shows */
	/* mixed into the shades of names; 0: names alone decide */
	uint32_t random;
	/* colours of some names, which replace those of their looks; or NULL */
	const struct name_colors *chosen;
};

struct name_colors;

int palette_of(const char *name, enum palette *ret);
const char *palette_names(void); /* all names, for messages */

void looks_init(struct looks *looks, enum palette palette, const struct profile_diff *diff);
struct look look_of(const struct looks *looks, const struct profile *profile, uint32_t node);
/* The colour of a node with the given look. */
uint32_t look_rgb(const struct looks *looks, const struct profile *profile, uint32_t node,
		  struct look look);
unsigned look_class_of(const struct looks *looks, const struct profile *profile, uint32_t node);
/* The change of a node, by its total weights. */
enum change change_of(const struct profile_diff *diff, const struct diff_counts *counts);

#endif
