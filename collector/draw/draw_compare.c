// SPDX-License-Identifier: Apache-2.0
/* Compares two sides, see draw_compare.h. */
#include "draw/draw_compare.h"

#include "draw/diff_table.h"
#include "draw/draw_output.h"
#include "draw/draw_title.h"
#include "draw/draw_waits.h"

#include "base/cleanup.h"
#include "base/log.h"

#include <errno.h>
#include <string.h>

#define US_PER_SEC     1e6
#define DEFAULT_HZ     99u
#define ALLOC_INTERVAL (512 * 1024)

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
 * What a sample of a time or a size stands for. A time lasts as long as the slower side says; where
 * no side says how often samples were taken, as often as record takes them. Of memory a sample
 * stands for the interval at which JVMs, and Go, sample allocations unless they are told another.
 */
static double sample_weight(const struct draw_input *before, const struct draw_input *after)
{
	const unsigned a = before->recording.info.hz, b = after->recording.info.hz;
	const unsigned hz = a && (!b || a < b) ? a : b;

	if (profile_kind_is_bytes(&after->kind))
		return ALLOC_INTERVAL;
	if (!profile_kind_is_time(&after->kind))
		return 0;
	return US_PER_SEC / (hz ? hz : DEFAULT_HZ);
}

/* Prints the table of the stacks that graphs show. */
static int print_table(const struct draw_options *options, const struct draw_side *before,
		       const struct draw_side *after, struct draw_join *join)
{
	const enum waits_way way = render_waits_way(RENDER_SVG, &options->render.waits);
	_cleanup_(draw_waits_fini) struct draw_waits of_before = {0};
	_cleanup_(draw_waits_fini) struct draw_waits of_after = {0};
	const struct profile_diff *diff;
	char said[DRAW_WAITS_SAY_BYTES];
	int err = draw_waits_init(&of_before, before, &options->render.waits, way);

	if (!err)
		err = draw_waits_init(&of_after, after, &options->render.waits, way);
	if (!err)
		err = draw_join_get(join, of_before.side.profile, of_after.side.profile,
				    &options->diff, &diff);
	if (err)
		log_error("cannot print the table: %s", strerror(-err));
	else
		err = diff_table_print(options, diff, stdout);
	if (err || options->json)
		return err;
	draw_waits_say(&of_before, &of_after, options, way, said);
	if (said[0])
		printf("%s\n", said);
	return 0;
}

int draw_compare(struct draw_options *options, const struct draw_input *before,
		 const struct draw_input *after)
{
	struct profile_info info = {0}; /* facts that are equal on both sides */
	_cleanup_(draw_join_fini) struct draw_join join = {.before = &before->profile,
							   .after = &after->profile};
	const bool has_title = options->render.title != NULL;
	struct draw_side sides[2];
	char title[DRAW_TITLE_BYTES];
	int err = check_kinds(before, after);

	if (err)
		return err;
	if (after->has_periods)
		options->render.event_unit = after->event[0] ? after->event : "events";
	if (!options->render.count_name)
		options->render.count_name = options->render.event_unit;
	if (!options->render.count_name)
		options->render.count_name = after->recording.count_name;
	options->render.kind = &after->kind;
	options->diff.sample_weight = sample_weight(before, after);
	info.hz = before->recording.info.hz;
	if (info.hz > 0 && info.hz == after->recording.info.hz)
		options->render.info = &info;
	sides[0] = (struct draw_side){&before->profile, timeline_of(before)};
	sides[1] = (struct draw_side){&after->profile, timeline_of(after)};
	draw_title_of_sides(before, after, options->n_inputs == 2 ? options->inputs : NULL, title);
	if (!has_title && title[0])
		options->render.title = title;
	err = draw_output_write(options, &sides[0], &sides[1], &join);
	if (!err && !options->to_stdout)
		err = print_table(options, &sides[0], &sides[1], &join);
	/* The caller has no use for what the options point to here. */
	if (!has_title)
		options->render.title = NULL;
	options->render.count_name = NULL;
	options->render.info = NULL;
	options->render.kind = NULL;
	return err;
}
