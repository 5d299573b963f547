// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   an immutable profile -> bytes of a format, chosen by the file name's suffix
 * units:   samples; pixels in SVG
 * threads: any number at once on one profile
 * errors:  negative errno of the failed write
 * source:  folded stacks and SVG as FlameGraph's users know them
 */
#ifndef FG_RENDER_RENDER_H
#define FG_RENDER_RENDER_H

#include "profile/profile.h"
#include "profile/profile_info.h"
#include "profile/timeline.h"

#include <stdbool.h>
#include <stdio.h>

enum render_format {
	RENDER_FOLDED,
	RENDER_SVG,
	RENDER_HTML,
};

struct render_options {
	const char *title;    /* NULL: "Flame Graph" */
	const char *subtitle; /* NULL: none */
	const char *notes;    /* a line about quality, shown below the graph; NULL: none */
	double min_width_px;  /* frames narrower at 1200 px are not drawn; 0: 0.3 */
	const struct profile_info *info; /* NULL: nothing is known beside the samples */
	const struct timeline *timeline; /* sorted, of this profile; NULL: none */
	const uint64_t *before; /* by node: its own samples in what is compared with; NULL: none */
};

/* -EINVAL if no format has path's suffix. */
int render_format_of(const char *path, enum render_format *ret);
/* ".svg" and so on. */
const char *render_suffix(enum render_format format);
/* The suffixes there are, for messages: ".folded .svg .html". */
const char *render_suffixes(void);

/* options may be NULL. Flushes stream, so that a full disk is seen here. */
int render_write(const struct profile *profile, enum render_format format,
		 const struct render_options *options, FILE *stream);

/*
 * One stack a line, root first: "a;b_[j];c_[k] 42", sorted by byte, integers, one space. What a
 * reader would take for a separator or a second count is replaced, see folded.c.
 */
int render_folded(const struct profile *profile, FILE *stream);

/*
 * A picture of 1200 px, and all nodes as data for the script in it, so that zoom and search see
 * what is too narrow to be drawn.
 */
int render_svg(const struct profile *profile, const struct render_options *options, FILE *stream);

/*
 * A page that needs nothing beside it: all nodes, and of the timeline when and on which thread, as
 * data that its script filters, searches and draws; see html_data.h.
 */
int render_html(const struct profile *profile, const struct render_options *options, FILE *stream);

#endif
