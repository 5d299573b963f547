// SPDX-License-Identifier: Apache-2.0
/* Draws what was read, see draw_render.h. */
#include "draw/draw_render.h"

#include "draw/draw_colors.h"
#include "draw/draw_output.h"

#include "base/cleanup.h"

/*
 * What the parts of the input are, for formats that hold several kinds and for those that do not.
 */
static void set_kinds(struct draw_options *options, const struct draw_input *input,
		      struct profile_part parts[PROFILE_MAX_KINDS])
{
	const size_t n = draw_input_parts(input, parts);

	if (n == 0)
		return;
	options->render.kind = parts[0].kind;
	options->render.others = parts + 1;
	options->render.n_others = n - 1;
}

/*
 * Takes title, notes and other facts from the recording where the command line has none. A kind
 * that is not the recording's first has a subtitle of its own, which ret_text holds.
 */
static void describe(struct draw_options *options, const struct draw_input *input,
		     char ret_text[PROFILE_PART_BYTES])
{
	const struct import_recording *const recording = &input->recording;
	struct render_options *const render = &options->render;
	const struct profile_part part = {&input->kind, &input->profile, NULL, &recording->info};

	if (!recording->is_read)
		return;
	render->info = &recording->info;
	if (recording->timeline.n_entries > 0 || recording->timeline.lost_samples > 0)
		render->timeline = &recording->timeline;
	if (!render->title)
		render->title = recording->title;
	if (!render->subtitle)
		render->subtitle =
			input->is_later ? profile_part_text(&part, ret_text) : recording->subtitle;
	if (!render->notes && !input->is_later)
		render->notes = recording->notes;
	if (!render->count_name)
		render->count_name = recording->count_name;
}

static int write_all(const struct draw_options *options, const struct draw_input *input)
{
	const struct draw_side first = {.profile = &input->before};
	const struct draw_side second = {.profile = &input->profile};
	const struct draw_side *const before = options->is_negated ? &second : &first;
	const struct draw_side *const after = options->is_negated ? &first : &second;
	_cleanup_(draw_join_fini) struct draw_join join = {.before = before->profile,
							   .after = after->profile};

	return input->before.quality.samples == 0
		       ? draw_output_write(options, NULL, &second, NULL)
		       : draw_output_write(options, before, after, &join);
}

static int write_with_palette(struct draw_options *options, const struct draw_input *input)
{
	_cleanup_(name_colors_fini) struct name_colors colors = {0};
	int err = draw_colors_read(&colors);

	options->render.colors = &colors;
	if (!err)
		err = write_all(options, input);
	options->render.colors = NULL;
	return err ? err : draw_colors_write(&colors);
}

int draw_render(struct draw_options *options, const struct draw_input *input)
{
	struct profile_part parts[PROFILE_MAX_KINDS];
	char subtitle[PROFILE_PART_BYTES];

	if (input->has_periods)
		options->render.event_unit = input->event[0] ? input->event : "events";
	if (!options->render.count_name)
		options->render.count_name = options->render.event_unit;
	describe(options, input, subtitle);
	set_kinds(options, input, parts);
	/* NOLINTNEXTLINE(clang-analyzer-core.StackAddressEscape): the caller's options end too */
	return options->has_palette_map ? write_with_palette(options, input)
					: write_all(options, input);
}
