// SPDX-License-Identifier: Apache-2.0
/* fgcollect diff: what changed between two files, as a table and as drawings. */
#include "cli/commands.h"
#include "draw/diff_table.h"
#include "draw/draw_cut.h"
#include "draw/draw_input.h"
#include "draw/draw_options.h"
#include "draw/draw_output.h"
#include "draw/draw_waits.h"

#include "base/cleanup.h"
#include "base/log.h"
#include "options/tables.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define EXIT_USAGE 2
#define US_PER_SEC 1e6
#define DEFAULT_HZ 99u

static int read_side(const struct draw_options *options, const char *path, struct draw_input *ret)
{
	int err = draw_input_init(ret);

	ret->wanted = options->kind;
	if (!err)
		err = draw_input_read(ret, path, &options->import);
	if (!err && (options->base || options->skip_after))
		err = draw_cut(ret, options->base ? options->base : options->skip_after,
			       !options->base);
	if (!err && options->is_reversed)
		err = draw_input_reverse(ret);
	if (!err && ret->before.quality.samples > 0)
		log_warning("%s: has two counts a line; only the second is compared", path);
	return err;
}

static const struct timeline *timeline_of(const struct draw_input *input)
{
	return input->recording.timeline.n_entries > 0 ? &input->recording.timeline : NULL;
}

static int check_kinds(const struct draw_input *before, const struct draw_input *after)
{
	if (profile_kind_is_same(&before->kind, &after->kind))
		return 0;
	log_error(
		"before has %s in %s and after has %s in %s, which cannot be compared: --kind says "
		"which kind to take of both",
		before->kind.name, before->kind.unit, after->kind.name, after->kind.unit);
	return -EINVAL;
}

/*
 * How long a sample of a time lasts, by the slower side. Where no side says how often samples were
 * taken, as often as record takes them.
 */
static double sample_weight(const struct draw_input *before, const struct draw_input *after)
{
	const unsigned a = before->recording.info.hz, b = after->recording.info.hz;
	const unsigned hz = a && (!b || a < b) ? a : b;

	if (!profile_kind_is_time(&after->kind))
		return 0;
	return US_PER_SEC / (hz ? hz : DEFAULT_HZ);
}

/* Prints the table of the stacks that graphs show. */
static int print_table(const struct draw_options *options, const struct draw_side *before,
		       const struct draw_side *after)
{
	const enum waits_way way = render_waits_way(RENDER_SVG, &options->render.waits);
	_cleanup_(draw_waits_fini) struct draw_waits of_before = {0};
	_cleanup_(draw_waits_fini) struct draw_waits of_after = {0};
	char said[DRAW_WAITS_SAY_BYTES];
	int err = draw_waits_init(&of_before, before, &options->render.waits, way);

	if (!err)
		err = draw_waits_init(&of_after, after, &options->render.waits, way);
	if (!err)
		err = diff_table_print(options, of_before.side.profile, of_after.side.profile,
				       stdout);
	if (err || options->json)
		return err;
	draw_waits_say(&of_before, &of_after, options, way, said);
	if (said[0])
		printf("%s\n", said);
	return 0;
}

static int compare(struct draw_options *options)
{
	_cleanup_(draw_input_fini) struct draw_input before = {0};
	_cleanup_(draw_input_fini) struct draw_input after = {0};
	struct profile_info info = {0}; /* facts that are equal on both sides */
	struct draw_side sides[2];
	int err = draw_output_check(options);

	if (!err)
		err = read_side(options, options->inputs[0], &before);
	if (!err)
		err = read_side(options, options->inputs[1], &after);
	if (!err)
		err = check_kinds(&before, &after);
	if (err)
		return err;
	if (!options->render.count_name && after.has_periods)
		options->render.count_name = after.event[0] ? after.event : "events";
	if (!options->render.count_name)
		options->render.count_name = after.recording.count_name;
	options->render.kind = &after.kind;
	options->diff.sample_weight = sample_weight(&before, &after);
	info.hz = before.recording.info.hz;
	if (info.hz > 0 && info.hz == after.recording.info.hz)
		options->render.info = &info;
	sides[0] = (struct draw_side){&before.profile, timeline_of(&before)};
	sides[1] = (struct draw_side){&after.profile, timeline_of(&after)};
	err = draw_output_write(options, &sides[0], &sides[1]);
	if (!err && !options->to_stdout)
		err = print_table(options, &sides[0], &sides[1]);
	/* The caller has no use for what the options point to here. */
	options->render.count_name = NULL;
	options->render.info = NULL;
	options->render.kind = NULL;
	return err;
}

int command_diff(int argc, char **argv)
{
	struct draw_options options;

	if (draw_options_parse(&options, DRAW_DIFF, argc, argv) < 0) {
		fputs("Try 'fgcollect diff --help'.\n", stderr);
		return EXIT_USAGE;
	}
	if (options.wants_help) {
		fputs(help_of_diff, stdout);
		return EXIT_SUCCESS;
	}
	if (options.verbose)
		log_set_level(LOG_LEVEL_DEBUG);
	return compare(&options) < 0 ? EXIT_FAILURE : EXIT_SUCCESS;
}
