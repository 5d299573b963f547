// SPDX-License-Identifier: Apache-2.0
/* Writes each drawing whole or not at all, see draw_output.h. */
#include "draw/draw_output.h"

#include "draw/draw_waits.h"

#include "base/cleanup.h"
#include "base/file.h"
#include "base/log.h"
#include "profile/pools.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BUFFER_BYTES   ((size_t)64 << 10)
#define SUBTITLE_BYTES (512 + DRAW_WAITS_SAY_BYTES)

struct sides {
	const struct draw_side *before; /* or NULL */
	const struct draw_side *after;
	struct draw_join *join; /* NULL as before is */
};

static int check_compare(enum render_format format)
{
	if (render_can_compare(format))
		return 0;
	log_error("%s has one count a stack, so no place for a comparison: .svg, .html, .pb.gz and "
		  ".folded have two",
		  render_suffix(format));
	return -EINVAL;
}

/* Checks that all wanted formats can compare. */
static int check_comparison(const struct draw_options *options)
{
	int err = options->to_stdout ? check_compare(options->format) : 0;

	for (size_t i = 0; !err && i < options->n_outputs; i++)
		err = check_compare(options->outputs[i].format);
	return err;
}

int draw_output_check(const struct draw_options *options)
{
	if (options->command == DRAW_DIFF && check_comparison(options) < 0)
		return -EINVAL;
	for (size_t i = 0; i < options->n_outputs; i++) {
		const int err = output_path_check("-o", options->outputs[i].path);

		if (err)
			return err;
	}
	return 0;
}

/* Says how much a sample is taken to be, of times and sizes alone. */
static void describe_sample(const struct draw_options *options, char ret[PROFILE_AMOUNT_BYTES])
{
	const struct profile_kind *const kind = render_kind(&options->render);
	char weight[PROFILE_AMOUNT_BYTES];

	*ret = '\0';
	if (profile_kind_is_measured(kind))
		snprintf(ret, PROFILE_AMOUNT_BYTES, ", a sample being %.64s",
			 profile_kind_amount(kind, (uint64_t)options->diff.sample_weight, weight));
}

/* said: of stacks that are left out, or "". */
static void describe_diff(const struct draw_options *options, const struct sides *sides,
			  const char *said, char ret[SUBTITLE_BYTES])
{
	static const char *const widths[] = {
		[DIFF_WIDTH_AFTER] = "after",
		[DIFF_WIDTH_BEFORE] = "before",
		[DIFF_WIDTH_UNION] = "the greater of both",
	};
	const struct profile_kind *const kind = render_kind(&options->render);
	const char *const what =
		options->render.count_name ? options->render.count_name : profile_kind_noun(kind);
	char before[PROFILE_AMOUNT_BYTES], after[PROFILE_AMOUNT_BYTES];
	char sample[PROFILE_AMOUNT_BYTES];

	describe_sample(options, sample);
	snprintf(ret, SUBTITLE_BYTES,
		 "before %s, after %s, %s; widths: %s; grey: within noise (%s%s)%s%s",
		 profile_kind_plain_amount(kind, sides->before->profile->quality.samples, what,
					   before),
		 profile_kind_plain_amount(kind, sides->after->profile->quality.samples, what,
					   after),
		 options->diff.is_raw ? "compared as they are" : "compared as shares",
		 widths[options->diff.width],
		 options->diff.is_raw ? "two Poisson counts, |z| < 2.58"
				      : "two-proportion z test, |z| < 2.58",
		 sample, said[0] ? "; " : "", said);
}

/* One side as it is compared. profile is the side's own profile, or a profile made of it. */
struct shaped {
	struct pooled pooled;
	struct reshaped reshaped;
	const struct profile *profile;
};

struct shaped_sides {
	struct shaped before, after;
};

static void shaped_sides_fini(struct shaped_sides *sides)
{
	pools_fini(&sides->before.pooled);
	pools_fini(&sides->after.pooled);
	reshape_fini(&sides->before.reshaped);
	reshape_fini(&sides->after.reshaped);
}

/* Reshapes one side. A page's script does the other reshaping itself. */
static int shape(const struct draw_side *side, const struct reshape_options *how, bool is_page,
		 struct shaped *ret)
{
	int err = 0;

	ret->profile = side->profile;
	if (how->hides_starts) {
		err = pools_init(&ret->pooled, side->profile, side->timeline);
		ret->profile = &ret->pooled.profile;
	}
	if (err || is_page || (!how->java_only && !how->folds_frameworks && !how->hides_starts))
		return err;
	err = reshape_init(&ret->reshaped, ret->profile, how);
	ret->profile = &ret->reshaped.profile;
	return err;
}

/* Reshapes both sides. Pools are on both sides or on none. */
static int shape_sides(const struct draw_options *options, enum render_format format,
		       const struct sides *sides, struct shaped_sides *ret)
{
	struct reshape_options how = {
		.java_only = options->render.java_only,
		.folds_frameworks = options->render.folds_frameworks,
		.hides_starts = render_has_pools(format, &options->render) &&
				sides->before->timeline && sides->after->timeline,
		.is_compared = true,
	};
	const bool is_page = format == RENDER_HTML;
	int err = shape(sides->before, &how, is_page, &ret->before);

	if (!err)
		err = shape(sides->after, &how, is_page, &ret->after);
	if (err != -EOVERFLOW || !how.hides_starts)
		return err;
	shaped_sides_fini(ret);
	how.hides_starts = false;
	err = shape(sides->before, &how, is_page, &ret->before);
	return err ? err : shape(sides->after, &how, is_page, &ret->after);
}

/*
 * Writes a comparison. Lines with two counts keep the kinds of frames, so that each side can be
 * restored.
 */
static int write_diff(const struct draw_options *options, const struct sides *sides,
		      const char *said, enum render_format format, FILE *stream)
{
	_cleanup_(shaped_sides_fini) struct shaped_sides shaped = {0};
	const struct profile_diff *diff = NULL;
	struct render_options render = options->render;
	struct diff_options how = options->diff;
	char subtitle[SUBTITLE_BYTES];
	int err;

	how.splits_kinds |= format == RENDER_FOLDED;
	err = shape_sides(options, format, sides, &shaped);
	if (!err)
		err = draw_join_get(sides->join, shaped.before.profile, shaped.after.profile, &how,
				    &diff);
	if (err)
		return err;
	describe_diff(options, sides, said, subtitle);
	render.diff = diff;
	if (!render.title)
		render.title = "Differential Flame Graph";
	if (!render.subtitle && format != RENDER_HTML) /* the page says so itself */
		render.subtitle = subtitle;
	return render_write(&diff->tree, format, &render, stream);
}

/* A page has all stacks, and its script hides them. */
static int write_wanted_diff(const struct draw_options *options, const struct sides *sides,
			     enum render_format format, FILE *stream)
{
	static const struct wait_options all = {0};
	const struct wait_options *const waits =
		format == RENDER_HTML ? &all : &options->render.waits;
	const enum waits_way way = render_waits_way(format, waits);
	_cleanup_(draw_waits_fini) struct draw_waits before = {0};
	_cleanup_(draw_waits_fini) struct draw_waits after = {0};
	const struct sides wanted = {&before.side, &after.side, sides->join};
	char said[DRAW_WAITS_SAY_BYTES];
	int err = draw_waits_init(&before, sides->before, waits, way);

	if (!err)
		err = draw_waits_init(&after, sides->after, waits, way);
	if (err)
		return err;
	draw_waits_say(&before, &after, options, way, said);
	return write_diff(options, &wanted, said, format, stream);
}

static int write_sides(const struct draw_options *options, const struct sides *sides,
		       enum render_format format, FILE *stream)
{
	if (sides->before)
		return write_wanted_diff(options, sides, format, stream);
	if (options->render.n_others > 0 && !render_holds_kinds(format))
		log_warning("%s holds one kind of samples, here %s; --kind %s writes another one",
			    render_suffix(format), options->render.kind->name,
			    options->render.others[0].kind->name);
	return render_write(sides->after->profile, format, &options->render, stream);
}

static int write_file(const struct draw_options *options, const struct sides *sides,
		      const struct output_path *output)
{
	_cleanup_free_ char *buffer = malloc(BUFFER_BYTES);
	struct file_atomic file;
	int err = file_atomic_open(&file, output->path, file_output_mode(output->path));

	if (err)
		return err;
	if (buffer)
		setvbuf(file.stream, buffer, _IOFBF, BUFFER_BYTES);
	err = write_sides(options, sides, output->format, file.stream);
	if (!err)
		return file_atomic_commit(&file);
	file_atomic_abandon(&file);
	return err;
}

/* Has stdout written in large blocks. The buffer is needed as long as the process lives. */
static void widen_stdout(void)
{
	static char buffer[BUFFER_BYTES];

	setvbuf(stdout, buffer, _IOFBF, sizeof(buffer));
}

int draw_output_write(const struct draw_options *options, const struct draw_side *before,
		      const struct draw_side *after, struct draw_join *join)
{
	const struct sides sides = {before, after, join};
	FILE *const stream = options->stream ? options->stream : stdout;
	int err = before ? check_comparison(options) : 0;

	if (err)
		return err;

	for (size_t i = 0; !err && i < options->n_outputs; i++) {
		err = write_file(options, &sides, &options->outputs[i]);
		if (err)
			log_error("cannot write %s: %s", options->outputs[i].path, strerror(-err));
	}
	if (err || !options->to_stdout)
		return err;
	if (stream == stdout)
		widen_stdout();
	err = write_sides(options, &sides, options->format, stream);
	if (err)
		log_error("cannot write %s: %s",
			  options->stream ? "the answer" : "to standard output", strerror(-err));
	return err;
}
