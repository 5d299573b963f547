// SPDX-License-Identifier: Apache-2.0
/* Formats and the suffixes that choose them, see render.h. */
#include "render/render.h"

#include "base/cleanup.h"
#include "encode/bytes.h"
#include "profile/pools.h"
#include "profile/profile_title.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define NS_PER_US 1000

static const char *const suffixes[] = {
	[RENDER_FOLDED] = ".folded",
	[RENDER_SVG] = ".svg",
	[RENDER_HTML] = ".html",
	[RENDER_PPROF] = ".pb.gz",
	[RENDER_SPEEDSCOPE] = ".speedscope.json",
	[RENDER_FIREFOX] = ".firefox.json",
	[RENDER_PERF_TEXT] = ".perf.txt",
	[RENDER_RECORDING] = ".fgrec",
};

int render_format_of(const char *path, enum render_format *ret)
{
	const size_t len = strlen(path);

	for (size_t i = 0; i < sizeof(suffixes) / sizeof(*suffixes); i++) {
		const size_t suffix_len = strlen(suffixes[i]);

		if (len > suffix_len && strcmp(path + len - suffix_len, suffixes[i]) == 0) {
			*ret = (enum render_format)i;
			return 0;
		}
	}
	return -EINVAL;
}

const char *render_suffix(enum render_format format)
{
	return suffixes[format];
}

const char *render_suffixes(void)
{
	return ".folded .svg .html .pb.gz .speedscope.json .firefox.json .perf.txt .fgrec";
}

bool render_can_compare(enum render_format format)
{
	return format == RENDER_SVG || format == RENDER_HTML || format == RENDER_FOLDED ||
	       format == RENDER_PPROF;
}

uint64_t render_period_ns(const struct profile_part *part)
{
	if (profile_kind_is_time(part->kind))
		return NS_PER_US;
	if (!profile_kind_is_same(part->kind, &profile_kind_cpu))
		return 0;
	return part->info ? profile_cpu_period_ns(part->info->event, part->info->hz) : 0;
}

size_t render_parts(const struct profile *profile, const struct render_options *options,
		    struct profile_part ret[PROFILE_MAX_KINDS])
{
	size_t n = 1;

	ret[0] = (struct profile_part){
		.kind = render_kind(options),
		.profile = profile,
		.timeline = options ? options->timeline : NULL,
		.info = options ? options->info : NULL,
	};
	for (size_t i = 0; options && i < options->n_others && n < PROFILE_MAX_KINDS; i++)
		ret[n++] = options->others[i];
	return n;
}

const struct profile_kind *render_kind(const struct render_options *options)
{
	return options && options->kind ? options->kind : &profile_kind_cpu;
}

bool render_holds_kinds(enum render_format format)
{
	return format == RENDER_HTML || format == RENDER_PPROF || format == RENDER_SPEEDSCOPE ||
	       format == RENDER_FIREFOX || format == RENDER_RECORDING;
}

static int write_format(const struct profile *profile, enum render_format format,
			const struct render_options *options, FILE *stream)
{
	switch (format) {
	case RENDER_FOLDED:
		return render_folded(profile, options, stream);
	case RENDER_SVG:
		return render_svg(profile, options, stream);
	case RENDER_HTML:
		return render_html(profile, options, stream);
	case RENDER_PPROF:
		return render_pprof(profile, options, stream);
	case RENDER_SPEEDSCOPE:
		return render_speedscope(profile, options, stream);
	case RENDER_FIREFOX:
		return render_firefox(profile, options, stream);
	case RENDER_PERF_TEXT:
		return render_perf_text(profile, options, stream);
	case RENDER_RECORDING:
		return render_recording(profile, options, stream);
	}
	return -EINVAL;
}

/*
 * Whether the profile is reshaped here. An HTML page's script and a recording's reader reshape by
 * themselves.
 */
static bool is_reshaped(enum render_format format, const struct render_options *options)
{
	return format != RENDER_HTML && format != RENDER_RECORDING && !options->diff &&
	       (!options->splits_levels || options->java_only || options->folds_frameworks ||
		render_has_pools(format, options));
}

bool render_has_pools(enum render_format format, const struct render_options *options)
{
	return format == RENDER_HTML || (format == RENDER_SVG && !options->shows_starts);
}

/*
 * A part as it is written, and what was made for that: each tree out of the one before, which is
 * freed then, because a large tree takes as much memory as all that is drawn of it.
 */
struct shaped {
	struct waits waits;
	struct waits_cut cut;
	struct pooled pooled;
	struct reshaped reshaped;
	struct timeline timeline; /* only its entries are owned */
	struct profile_part part;
};

struct all_shaped {
	struct shaped items[PROFILE_MAX_KINDS];
};

static void all_shaped_fini(struct all_shaped *all)
{
	for (size_t i = 0; i < PROFILE_MAX_KINDS; i++) {
		waits_fini(&all->items[i].waits);
		waits_cut_fini(&all->items[i].cut);
		pools_fini(&all->items[i].pooled);
		free(all->items[i].timeline.entries);
		reshape_fini(&all->items[i].reshaped);
	}
}

enum waits_way render_waits_way(enum render_format format, const struct wait_options *options)
{
	const bool is_graph = format == RENDER_SVG;

	if (format == RENDER_HTML || format == RENDER_RECORDING ||
	    options->idle == WAIT_IDLE_SHOWN || (!is_graph && options->idle == WAIT_IDLE_DEFAULT))
		return WAITS_KEEP;
	return is_graph ? WAITS_LEAVE_OUT : WAITS_FOLD;
}

/* Leaves out stacks that are not wanted. */
static int cut_waits(struct shaped *shaped, enum render_format format,
		     const struct wait_options *options)
{
	const enum waits_way way = render_waits_way(format, options);
	int rc = waits_init(&shaped->waits, shaped->part.profile, options);

	if (rc < 0 || !waits_changes(&shaped->waits, options, way))
		return rc;
	rc = waits_cut_init(&shaped->cut, shaped->part.profile, shaped->part.timeline,
			    &shaped->waits, options, way);
	if (rc < 0)
		return rc;
	shaped->part.profile = &shaped->cut.profile;
	if (shaped->part.timeline)
		shaped->part.timeline = &shaped->cut.timeline;
	return 0;
}

/* Sets text to the subtitle, with what is said of waits behind it. */
static void say_waits(const struct shaped *shaped, enum render_format format,
		      struct render_options *options, struct bytes *text)
{
	char said[WAITS_SAY_BYTES];

	if (shaped->waits.all == 0)
		return;
	waits_say(&shaped->waits, &options->waits, render_waits_way(format, &options->waits),
		  render_kind(options), said);
	if (!said[0])
		return;
	if (options->subtitle && options->subtitle[0]) {
		bytes_add(text, options->subtitle, strlen(options->subtitle));
		bytes_add(text, "; ", 2);
	}
	bytes_add(text, said, strlen(said));
	options->subtitle = bytes_text(text);
}

/* If the pools take more nodes than a profile may have, there are no pools. */
static int add_pools(struct shaped *shaped)
{
	const int rc = pools_init(&shaped->pooled, shaped->part.profile, shaped->part.timeline);

	if (rc < 0)
		return rc == -EOVERFLOW ? 0 : rc;
	shaped->part.profile = &shaped->pooled.profile;
	shaped->part.timeline = &shaped->pooled.timeline;
	waits_cut_fini(&shaped->cut);
	return 0;
}

static int reshape(struct shaped *shaped, const struct render_options *options)
{
	const struct reshape_options how = {.merges_levels = !options->splits_levels,
					    .java_only = options->java_only,
					    .hides_starts = !options->shows_starts,
					    .folds_frameworks = options->folds_frameworks};
	int rc = reshape_changes(shaped->part.profile, &how);

	if (rc > 0)
		rc = reshape_init(&shaped->reshaped, shaped->part.profile, &how);
	else if (rc == 0)
		return 0;
	if (rc < 0)
		return rc;
	shaped->part.profile = &shaped->reshaped.profile;
	if (shaped->part.timeline) {
		rc = reshape_timeline(&shaped->reshaped, shaped->part.timeline, &shaped->timeline);
		shaped->part.timeline = &shaped->timeline;
	}
	waits_cut_fini(&shaped->cut);
	pools_fini(&shaped->pooled);
	return rc;
}

static int shape(struct shaped *shaped, enum render_format format,
		 const struct render_options *options)
{
	const bool has_all = options->diff || format == RENDER_HTML || format == RENDER_RECORDING;
	int rc = has_all ? 0 : cut_waits(shaped, format, &options->waits);

	if (rc == 0 && shaped->part.timeline && !options->diff && render_has_pools(format, options))
		rc = add_pools(shaped);
	if (rc == 0 && is_reshaped(format, options))
		rc = reshape(shaped, options);
	return rc;
}

int render_write(const struct profile *profile, enum render_format format,
		 const struct render_options *options, FILE *stream)
{
	static const struct render_options none = {0};
	_cleanup_(all_shaped_fini) struct all_shaped all = {0};
	_cleanup_(bytes_fini) struct bytes subtitle = {0};
	struct profile_part parts[PROFILE_MAX_KINDS];
	struct render_options changed = options ? *options : none;
	char title[PROFILE_TITLE_BYTES];
	size_t n;
	int rc = 0;

	if (changed.diff || !render_holds_kinds(format))
		changed.n_others = 0;
	n = render_parts(profile, &changed, parts);
	/* A recording is named when it is drawn, because what is drawn may be a part of it. */
	if (!changed.title && !changed.diff && format != RENDER_RECORDING &&
	    profile_title_write(parts, n, title))
		changed.title = title;
	for (size_t i = 0; rc == 0 && i < n; i++) {
		all.items[i].part = parts[i];
		rc = shape(&all.items[i], format, &changed);
		parts[i] = all.items[i].part;
	}
	say_waits(&all.items[0], format, &changed, &subtitle);
	if (rc == 0 && subtitle.failed)
		rc = -ENOMEM;
	changed.merges_levels = !changed.splits_levels && is_reshaped(format, &changed);
	changed.levels = changed.splits_levels ? NULL : all.items[0].reshaped.levels;
	changed.timeline = parts[0].timeline;
	changed.others = parts + 1;
	if (rc == 0)
		rc = write_format(parts[0].profile, format, &changed, stream);
	if (rc < 0)
		return rc;
	return fflush(stream) == 0 ? 0 : -errno;
}
