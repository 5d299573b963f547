// SPDX-License-Identifier: Apache-2.0
/* Formats and the suffixes that choose them, see render.h. */
#include "render/render.h"

#include "profile/pools.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define NS_PER_SEC UINT64_C(1000000000)

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

uint64_t render_period_ns(const struct render_options *options)
{
	if (profile_kind_is_time(render_kind(options)))
		return 1000;
	if (!profile_kind_is_same(render_kind(options), &profile_kind_cpu))
		return 0;
	return options && options->info && options->info->hz ? NS_PER_SEC / options->info->hz : 0;
}

const struct profile_kind *render_kind(const struct render_options *options)
{
	return options && options->kind ? options->kind : &profile_kind_cpu;
}

bool render_holds_kinds(enum render_format format)
{
	return format == RENDER_RECORDING;
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

static int write_reshaped(const struct profile *profile, enum render_format format,
			  const struct render_options *options, FILE *stream)
{
	const struct reshape_options how = {.merges_levels = !options->splits_levels,
					    .java_only = options->java_only,
					    .hides_starts = !options->shows_starts,
					    .folds_frameworks = options->folds_frameworks};
	struct render_options changed = *options;
	struct timeline timeline = {0};
	struct reshaped reshaped;
	int rc = reshape_init(&reshaped, profile, &how);

	if (rc < 0)
		return rc;
	changed.levels = how.merges_levels ? reshaped.levels : NULL;
	if (options->timeline) {
		rc = reshape_timeline(&reshaped, options->timeline, &timeline);
		changed.timeline = &timeline;
	}
	if (!rc)
		rc = write_format(&reshaped.profile, format, &changed, stream);
	free(timeline.entries);
	reshape_fini(&reshaped);
	return rc;
}

static int write_shape(const struct profile *profile, enum render_format format,
		       const struct render_options *options, FILE *stream)
{
	return is_reshaped(format, options) ? write_reshaped(profile, format, options, stream)
					    : write_format(profile, format, options, stream);
}

bool render_has_pools(enum render_format format, const struct render_options *options)
{
	return format == RENDER_HTML || (format == RENDER_SVG && !options->shows_starts);
}

/* Draws with pools. If the pools take more nodes than a profile may have, draws without pools. */
static int write_pools(const struct profile *profile, enum render_format format,
		       const struct render_options *options, FILE *stream)
{
	struct render_options changed = *options;
	struct pooled pooled;
	int rc = pools_init(&pooled, profile, options->timeline);

	if (rc == -EOVERFLOW)
		return write_shape(profile, format, options, stream);
	if (rc < 0)
		return rc;
	changed.timeline = &pooled.timeline;
	rc = write_shape(&pooled.profile, format, &changed, stream);
	pools_fini(&pooled);
	return rc;
}

int render_write(const struct profile *profile, enum render_format format,
		 const struct render_options *options, FILE *stream)
{
	const struct render_options none = {0}, *how = options ? options : &none;
	const bool has_pools = how->timeline && !how->diff && render_has_pools(format, how);
	const int rc = has_pools ? write_pools(profile, format, how, stream)
				 : write_shape(profile, format, how, stream);

	if (rc < 0)
		return rc;
	return fflush(stream) == 0 ? 0 : -errno;
}
