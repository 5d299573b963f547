// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   an immutable profile -> bytes of a format, chosen by the file name's suffix
 * units:   samples; pixels in SVG
 * threads: any number at once on one profile
 * errors:  negative errno of a failed write, or -ENOMEM
 * source:  folded stacks and SVG of FlameGraph; pprof's profile.proto; the file formats of
 *          speedscope and of the Firefox Profiler; perf-script(1)
 */
#ifndef FG_RENDER_RENDER_H
#define FG_RENDER_RENDER_H

#include "profile/diff.h"
#include "profile/profile.h"
#include "profile/profile_info.h"
#include "profile/profile_part.h"
#include "profile/reshape.h"
#include "profile/timeline.h"
#include "profile/waits.h"
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

/* What lies between two samples, where a reader of pprof asks for another period than ours. */
struct render_period {
	const char *type, *unit;
	uint64_t amount;
};

/* A zero-filled struct has all defaults. */
struct render_options {
	const char *title;    /* NULL: as profile/profile_title.h says, or "Flame Graph" */
	const char *subtitle; /* NULL: none */
	const char *notes;    /* a line about quality, shown below the graph; NULL: none */
	const char
		*losses; /* what could not be read of what was asked for (.html); NULL: nothing */
	const struct profile_diff *diff; /* the diff whose tree is drawn; or NULL */
	double min_width_px;		 /* narrower frames are not drawn; 0: 0.3 */
	double min_width_percent;	 /* the same as a share of all; 0: min_width_px counts */
	unsigned width_px;		 /* 0: 1200, or the window's width where scripts run */
	unsigned row_px;		 /* 0: 16 */
	const char *font;		 /* NULL: Verdana, or a similar font */
	double font_size;		 /* 0: 12 */
	double font_width;		 /* width of a letter as a share of font_size; 0: 0.59 */
	const char *count_name;		 /* NULL: the kind's unit */
	const char *event_unit;		 /* what cpu's weights count; NULL: samples */
	const char *name_type;		 /* text before a frame's details; NULL: none */
	enum palette palette;
	uint32_t random; /* SVG: mixed into the shades of names; 0: names alone decide */
	/* SVG: chosen colours, to which all others are added; or NULL */
	struct name_colors *colors;
	uint32_t background;   /* RGB of the background in light mode; 0: white */
	double factor;	       /* counts are multiplied by this; 0: 1 */
	double total;	       /* what shares refer to; 0: all samples */
	bool is_inverted;      /* the root is at the top */
	bool hides_addresses;  /* folded: 0x and digits become 0x... */
	bool packs_as_xz;      /* .fgrec: a quarter smaller, and ten times the time to write */
	bool splits_levels;    /* a method has a frame for each level of compilation */
	bool java_only;	       /* time belongs to Java methods, see profile/reshape.h */
	bool folds_frameworks; /* frameworks are folded, see profile/reshape.h */
	/* SVG and page: the first frames of Java threads instead of their pools */
	bool shows_starts;
	struct wait_options waits; /* which stacks of threads that wait are shown */
	bool merges_levels;	   /* set by render_write: a method has one frame for all levels */
	/* by node; set by render_write; NULL: no node has samples of several levels */
	const struct level_counts *levels;
	const struct profile_info *info; /* NULL: there are no facts beside the samples */
	const struct timeline *timeline; /* sorted, of this profile; NULL: there is none */
	const struct profile_kind *kind; /* of this profile; NULL: cpu */
	/* the recording's other kinds, for formats that hold several; see render_holds_kinds */
	const struct profile_part *others;
	size_t n_others;
	const struct render_period *period; /* pprof; NULL: that of the first kind */
};

/* -EINVAL if no format has path's suffix. */
int render_format_of(const char *path, enum render_format *ret);
/* The suffix of a format, such as ".svg". */
const char *render_suffix(enum render_format format);
/* All suffixes, for messages: ".folded .svg .html". */
const char *render_suffixes(void);

/* The kind of the profile that is written. */
const struct profile_kind *render_kind(const struct render_options *options);

/* The profile that is written and the options' other kinds, in this order; returns their number. */
size_t render_parts(const struct profile *profile, const struct render_options *options,
		    struct profile_part ret[PROFILE_MAX_KINDS]);

/* The time in nanoseconds that a weight of 1 stands for; 0: not known. */
uint64_t render_period_ns(const struct profile_part *part);

/* Whether a file of the format holds all kinds of a recording; else it holds the first alone. */
bool render_holds_kinds(enum render_format format);

/* Whether the format shows pools of threads if there is a timeline. */
bool render_has_pools(enum render_format format, const struct render_options *options);

/*
 * What becomes of idle stacks in a file of the format. A page and a recording have all stacks; a
 * page's script hides them.
 */
enum waits_way render_waits_way(enum render_format format, const struct wait_options *options);

/* Whether the format can show a diff; other formats would write the widths of a diff's tree. */
bool render_can_compare(enum render_format format);

/*
 * Writes the profile. options may be NULL. A page and a recording get all levels of compilation; a
 * page's script merges them, at first as options say. With a timeline, SVG and page show pools of
 * threads, see profile/pools.h. Stacks that are not wanted are left out, and the subtitle says how
 * much that is. A diff is written as it is. Flushes stream, so that a full disk is seen here.
 */
int render_write(const struct profile *profile, enum render_format format,
		 const struct render_options *options, FILE *stream);

/*
 * One stack on each line, root first: "a;b_[j];c_[k] 42", sorted by byte, with a whole number
 * behind one space. Text that a reader would take for a separator or a second count is replaced,
 * see folded.c. Of a diff each line has two counts, before and after, not normalised.
 */
int render_folded(const struct profile *profile, const struct render_options *options,
		  FILE *stream);

/*
 * A picture, and all nodes as data for its script, so that zoom and search see the frames that are
 * too narrow to draw.
 */
int render_svg(const struct profile *profile, const struct render_options *options, FILE *stream);

/*
 * A page without other files: all nodes, and the time and thread of samples, as data that its
 * script filters, searches and draws; see html_data.h.
 */
int render_html(const struct profile *profile, const struct render_options *options, FILE *stream);

/*
 * Values are samples and, if the period is known, nanoseconds of CPU time; of kinds that weigh
 * time, nanoseconds. A diff's values before are negative. See pprof.c.
 */
int render_pprof(const struct profile *profile, const struct render_options *options, FILE *stream);

/* Weighted stacks by thread, in samples or, if the period is known, in nanoseconds. */
int render_speedscope(const struct profile *profile, const struct render_options *options,
		      FILE *stream);

/* A processed profile whose stack table is the tree itself. See firefox.c. */
int render_firefox(const struct profile *profile, const struct render_options *options,
		   FILE *stream);

/*
 * A block for each stack, or for each stack of a thread at a time, with the number of samples as
 * its period. See perf_text.c.
 */
int render_perf_text(const struct profile *profile, const struct render_options *options,
		     FILE *stream);

/* A recording with everything, which render and diff can read again. See fgrec.c. */
int render_recording(const struct profile *profile, const struct render_options *options,
		     FILE *stream);

#endif
