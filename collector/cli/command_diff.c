// SPDX-License-Identifier: Apache-2.0
/* fgcollect diff: what changed between two files, as a table and as drawings. */
#include "cli/commands.h"
#include "cli/output.h"
#include "draw/draw_clock.h"
#include "draw/draw_compare.h"
#include "draw/draw_cut.h"
#include "draw/draw_input.h"
#include "draw/draw_options.h"
#include "draw/draw_output.h"
#include "history/history_draw.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/log.h"
#include "options/tables.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define EXIT_USAGE 2

static int read_store(const struct draw_options *options, bool is_before, uint64_t now_ns,
		      struct draw_input *ret)
{
	struct store_query query;
	const int err = draw_store_options_query(&options->store, is_before, now_ns, &query);

	return err ? err : history_draw(store_request_dir(&options->store.after), &query, ret);
}

/* now_ns: the present, the same for both sides. */
static int read_side(const struct draw_options *options, bool is_before, uint64_t now_ns,
		     struct draw_input *ret)
{
	const char *const path = options->store.given ? store_request_dir(&options->store.after)
						      : options->inputs[is_before ? 0 : 1];
	int err = draw_input_init(ret);

	ret->wanted = options->kind;
	if (!err && options->store.given)
		err = read_store(options, is_before, now_ns, ret);
	else if (!err)
		err = draw_input_read(ret, path, &options->import);
	if (!err && options->begins[0])
		err = draw_cut(ret, options->begins, options->keeps_others);
	if (!err && options->is_reversed)
		err = draw_input_reverse(ret);
	if (!err && ret->before.quality.samples > 0)
		log_warning("%s: has two counts a line; only the second is compared", path);
	return err;
}

static int compare(struct draw_options *options)
{
	_cleanup_(draw_input_fini) struct draw_input before = {0};
	_cleanup_(draw_input_fini) struct draw_input after = {0};
	const uint64_t now_ns = clock_unix_now_ns();
	int err = draw_output_check(options);

	if (!err)
		err = read_side(options, true, now_ns, &before);
	if (!err)
		err = read_side(options, false, now_ns, &after);
	if (!err && draw_clock_is_time(&before) && draw_clock_is_time(&after)) {
		draw_clock_make_time(&before);
		draw_clock_make_time(&after);
	}
	return err ? err : draw_compare(options, &before, &after);
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
	return output_draw(&options, compare) < 0 ? EXIT_FAILURE : EXIT_SUCCESS;
}
