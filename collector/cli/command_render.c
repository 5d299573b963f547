// SPDX-License-Identifier: Apache-2.0
/* fgcollect render: files of other programs, drawn. */
#include "cli/commands.h"
#include "cli/output.h"
#include "draw/draw_clock.h"
#include "draw/draw_cut.h"
#include "draw/draw_input.h"
#include "draw/draw_options.h"
#include "draw/draw_output.h"
#include "draw/draw_render.h"
#include "history/history_draw.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/log.h"
#include "options/tables.h"

#include <stdlib.h>
#include <string.h>

#define EXIT_USAGE 2

static int read_store(const struct draw_options *options, struct draw_input *input)
{
	struct store_query query;
	const int err =
		draw_store_options_query(&options->store, false, clock_unix_now_ns(), &query);

	return err ? err : history_draw(store_request_dir(&options->store.after), &query, input);
}

static int read_all(const struct draw_options *options, struct draw_input *input)
{
	int err = 0;

	if (options->store.given)
		err = read_store(options, input);
	else if (options->n_inputs == 0)
		err = draw_input_read(input, "-", &options->import);
	for (size_t i = 0; !err && i < options->n_inputs; i++)
		err = draw_input_read(input, options->inputs[i], &options->import);
	if (!err && options->begins[0])
		err = draw_cut(input, options->begins, options->keeps_others);
	if (!err && options->is_reversed)
		err = draw_input_reverse(input);
	return err;
}

static int render(struct draw_options *options)
{
	_cleanup_(draw_input_fini) struct draw_input input = {0};
	int err = draw_output_check(options);

	if (!err)
		err = draw_input_init(&input);
	input.wanted = options->kind;
	if (!err)
		err = read_all(options, &input);
	if (!err && !options->render.count_name && draw_clock_is_time(&input))
		draw_clock_make_time(&input);
	return err ? err : draw_render(options, &input);
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
	return output_draw(&options, render) < 0 ? EXIT_FAILURE : EXIT_SUCCESS;
}
