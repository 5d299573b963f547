// SPDX-License-Identifier: Apache-2.0
/* fgcollect render: files of other programs, drawn. */
#include "cli/commands.h"
#include "draw/draw_colors.h"
#include "draw/draw_cut.h"
#include "draw/draw_input.h"
#include "draw/draw_options.h"
#include "draw/draw_output.h"

#include "base/cleanup.h"
#include "base/log.h"
#include "options/tables.h"

#include <stdlib.h>
#include <string.h>

#define EXIT_USAGE 2

static int read_all(const struct draw_options *options, struct draw_input *input)
{
	int err = 0;

	if (options->n_inputs == 0)
		err = draw_input_read(input, "-", &options->import);
	for (size_t i = 0; !err && i < options->n_inputs; i++)
		err = draw_input_read(input, options->inputs[i], &options->import);
	if (!err && (options->base || options->skip_after))
		err = draw_cut(input, options->base ? options->base : options->skip_after,
			       !options->base);
	if (!err && options->is_reversed)
		err = draw_input_reverse(input);
	return err;
}

/* What the parts of the input are, for formats that hold several kinds and for those that do not. */
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

	if (input->before.quality.samples == 0)
		return draw_output_write(options, NULL, &second);
	return options->is_negated ? draw_output_write(options, &second, &first)
				   : draw_output_write(options, &first, &second);
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

static int render(struct draw_options *options)
{
	_cleanup_(draw_input_fini) struct draw_input input = {0};
	struct profile_part parts[PROFILE_MAX_KINDS];
	char subtitle[PROFILE_PART_BYTES];
	int err = draw_output_check(options);

	if (!err)
		err = draw_input_init(&input);
	input.wanted = options->kind;
	if (!err)
		err = read_all(options, &input);
	if (err)
		return err;
	if (!options->render.count_name && input.has_periods)
		options->render.count_name = input.event[0] ? input.event : "events";
	describe(options, &input, subtitle);
	set_kinds(options, &input, parts);
	/* NOLINTNEXTLINE(clang-analyzer-core.StackAddressEscape): the caller's options end too */
	return options->has_palette_map ? write_with_palette(options, &input)
					: write_all(options, &input);
}

int command_render(int argc, char **argv)
{
	struct draw_options options;

	if (draw_options_parse(&options, DRAW_RENDER, argc, argv) < 0) {
		fputs("Try 'fgcollect render --help'.\n", stderr);
		return EXIT_USAGE;
	}
	if (options.wants_help) {
		fputs(help_of_render, stdout);
		return EXIT_SUCCESS;
	}
	if (options.verbose)
		log_set_level(LOG_LEVEL_DEBUG);
	return render(&options) < 0 ? EXIT_FAILURE : EXIT_SUCCESS;
}
