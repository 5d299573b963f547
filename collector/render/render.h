// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   an immutable profile -> bytes of a format, chosen by the file name's suffix
 * units:   samples; pixels in SVG
 * threads: any number at once on one profile
 * errors:  negative errno of the failed write
 * source:  folded stacks and SVG as FlameGraph's users know them; pprof's profile.proto; the file
 *          formats of speedscope and of the Firefox Profiler; perf-script(1)
 */
#ifndef FG_RENDER_RENDER_H
#define FG_RENDER_RENDER_H

#include "profile/diff.h"
#include "profile/profile.h"
#include "profile/profile_info.h"
#include "profile/reshape.h"
#include "profile/timeline.h"
#include "render/palette.h"

#include <stdbool.h>
#include <stdio.h>

enum render_format {
	RENDER_FOLDED,
	RENDER_SVG,
	RENDER_HTML,
	RENDER_PPROF,
	RENDER_SPEEDSCOPE,
	RENDER_FIREFOX,
	RENDER_PERF_TEXT,
	RENDER_RECORDING,
};

/* A zero-filled one is what they are by default. */
struct render_options {
	const char *title;    /* NULL: "Flame Graph" */
	const char *subtitle; /* NULL: none */
	const char *notes;    /* a line about quality, shown below the graph; NULL: none */
	const struct profile_diff *diff; /* whose tree is drawn, with what changed; or NULL */
	double min_width_px;		 /* frames narrower are not drawn; 0: 0.3 */
	double min_width_percent;	 /* as a share of all; 0: by pixels */
	unsigned width_px;		 /* 0: 1200, and as wide as the window where scripts run */
	unsigned row_px;		 /* 0: 16 */
	const char *font;		 /* NULL: Verdana, or what is like it */
	double font_size;		 /* 0: 12 */
	double font_width;		 /* of a letter, by the font's size; 0: 0.59 */
	const char *count_name;		 /* NULL: samples */
	const char *name_type;		 /* in front of a frame's details; NULL: nothing */
	enum palette palette;
	uint32_t random; /* SVG: shades follow from it as well as from names; 0: from names */
	struct name_colors *colors; /* SVG: chosen ones, to which the others are added; or NULL */
	uint32_t background;	    /* RGB, behind all in light surroundings; 0: white */
	double factor;		    /* that counts are shown by; 0: 1 */
	double total;		    /* what shares are of; 0: all samples */
	bool is_inverted;	    /* the root stands highest */
	bool hides_addresses;	    /* folded: 0x and digits become 0x... */
	bool splits_levels;	    /* a method is a box for each level it was compiled at */
	bool java_only;		    /* all time is its Java method's, see profile/reshape.h */
	bool folds_frameworks;	    /* likewise */
	bool shows_starts; /* SVG and page: what Java threads begin with, not their pools */
	const struct level_counts *levels; /* by node; render_write sets it; or NULL */
	const struct profile_info *info;   /* NULL: nothing is known beside the samples */
	const struct timeline *timeline;   /* sorted, of this profile; NULL: none */
};

/* -EINVAL if no format has path's suffix. */
int render_format_of(const char *path, enum render_format *ret);
/* ".svg" and so on. */
const char *render_suffix(enum render_format format);
/* The suffixes there are, for messages: ".folded .svg .html". */
const char *render_suffixes(void);

/* The CPU time that a sample stands for in nanoseconds; 0 if that is not known. */
uint64_t render_period_ns(const struct render_options *options);

/* Whether pools of threads are drawn in it, where there is a timeline. */
bool render_has_pools(enum render_format format, const struct render_options *options);

/* Whether it has room for two profiles; of a diff, the others would write its widths. */
bool render_can_compare(enum render_format format);

/*
 * options may be NULL. A page and a recording have all levels: a page's script merges them, as it
 * begins with what options say. With a timeline, SVG and page show pools of threads, see
 * profile/pools.h. A diff has one tree already. Flushes stream, so that a full disk is seen here.
 */
int render_write(const struct profile *profile, enum render_format format,
		 const struct render_options *options, FILE *stream);

/*
 * One stack a line, root first: "a;b_[j];c_[k] 42", sorted by byte, integers, one space. What a
 * reader would take for a separator or a second count is replaced, see folded.c. Of a diff with two
 * counts, before and after, as they were counted.
 */
int render_folded(const struct profile *profile, const struct render_options *options,
		  FILE *stream);

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

/*
 * Values are samples and, where the period is known, nanoseconds of CPU time; of a diff those
 * before are negative. See pprof.c.
 */
int render_pprof(const struct profile *profile, const struct render_options *options, FILE *stream);

/* Weighted stacks by thread, in samples or, where the period is known, nanoseconds. */
int render_speedscope(const struct profile *profile, const struct render_options *options,
		      FILE *stream);

/* A processed profile whose stack table is the tree itself. See firefox.c. */
int render_firefox(const struct profile *profile, const struct render_options *options,
		   FILE *stream);

/* A block a stack, or a moment of a thread, with its samples for a period. See perf_text.c. */
int render_perf_text(const struct profile *profile, const struct render_options *options,
		     FILE *stream);

/* All that there is, for render and diff to read again. See recording.c. */
int render_recording(const struct profile *profile, const struct render_options *options,
		     FILE *stream);

#endif
