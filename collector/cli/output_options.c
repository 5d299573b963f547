// SPDX-License-Identifier: Apache-2.0
/* Into what a recording is drawn, see output_options.h. */
#include "cli/output_options.h"

#include "draw/draw_wait_options.h"
#include "options/tables.h"

#include <errno.h>
#include <string.h>

#define DEFAULT_OUTPUT "flamegraph.svg"
#define SEVERAL_OUTPUT "flamegraph.html" /* of several kinds of samples */

static int add_output(struct options *options, const char *path)
{
	struct output_path *output = &options->outputs[options->n_outputs];

	if (options->n_outputs == OUTPUT_PATHS_MAX)
		return options_bad_value("-o", path, "that is one output too many");
	output->path = path;
	options->n_outputs++;
	return 0;
}

/*
 * Sets an output to the standard output, of which there is only one. The format comes from
 * --format, because there is no suffix.
 */
static int set_stdout(struct options *options, struct output_path *output)
{
	const struct watch_options *watch = &options->watch;

	for (const struct output_path *other = options->outputs; other < output; other++) {
		if (other->is_stdout)
			return options_bad_value("-o", "-", "there is but one standard output");
	}
	output->is_stdout = true;
	output->format = watch->format;
	if (watch->has_format)
		return 0;
	log_error("-o -: --format is needed, which of these it is to be, without the dot: %s",
		  render_suffixes());
	return -EINVAL;
}

/* Whether each output is a file, or standard output. */
static bool has_files(const struct options *options)
{
	return options->command == COMMAND_RECORD || options->command == COMMAND_REPLAY;
}

static int set_format(struct options *options, struct output_path *output)
{
	if (has_files(options) && strcmp(output->path, "-") == 0)
		return set_stdout(options, output);
	if (render_format_of(output->path, &output->format) == 0)
		return 0;
	log_error("-o %s: the form follows the suffix, and this is none of: %s", output->path,
		  render_suffixes());
	return -EINVAL;
}

/* Applies options of the drawing. */
static int apply_drawing(struct options *options, int option, const char *value)
{
	switch (option) {
	case OPTION_TITLE:
		options->title = value;
		return 0;
	case OPTION_SPLIT_LEVELS:
		options->splits_levels = true;
		return 0;
	case OPTION_JAVA_ONLY:
		options->java_only = true;
		return 0;
	case OPTION_FOLD_FRAMEWORKS:
		options->folds_frameworks = true;
		return 0;
	case OPTION_THREAD_STARTS:
		options->shows_starts = true;
		return 0;
	default:
		return 1;
	}
}

/* Applies options of threads that wait. */
static int apply_waits(struct options *options, int option, const char *value)
{
	switch (option) {
	case OPTION_STATE:
		options->waits_given = "--state";
		return draw_wait_options_set_states(&options->waits, value);
	case OPTION_IDLE_FRAME:
		options->waits_given = "--idle-frame";
		return draw_wait_options_add_frame(&options->waits, value);
	case OPTION_HIDE_IDLE:
		options->waits_given = "--hide-idle";
		options->waits.idle = WAIT_IDLE_HIDDEN;
		return 0;
	case OPTION_NO_HIDE_IDLE:
		options->waits_given = "--no-hide-idle";
		options->waits.idle = WAIT_IDLE_SHOWN;
		return 0;
	default:
		return apply_drawing(options, option, value);
	}
}

int output_options_apply(struct options *options, int option, const char *value)
{
	switch (option) {
	case OPTION_OUTPUT:
		return add_output(options, value);
	case OPTION_FORMAT:
		return watch_options_set_format(&options->watch, value);
	case OPTION_THREADS:
		options->recording.style.by_thread = true;
		return 0;
	case OPTION_SHOW_PID:
		options->recording.style.by_pid = true;
		return 0;
	case OPTION_CAPTURE:
		options->capture_path = value;
		options->recording.has_capture = true;
		return 0;
	default:
		return apply_waits(options, option, value);
	}
}

/*
 * Of record and replay each output is a file, whose suffix says what the file is to be. The daemon
 * has one output, a directory.
 */
int output_options_finish(struct options *options)
{
	bool has_stdout = false;
	int err = 0;

	if (options->capture_path && strcmp(options->capture_path, "-") == 0)
		return options_bad_value("--capture", "-", "a capture is written into a file");
	if (has_files(options) && options->n_outputs == 0 &&
	    !(options->command == COMMAND_REPLAY && options->capture_path))
		add_output(options, recording_has_several(&options->recording) ? SEVERAL_OUTPUT
									       : DEFAULT_OUTPUT);
	if (options->command == COMMAND_WATCH && options->n_outputs > 1)
		return options_bad_value("-o", options->outputs[1].path,
					 "--watch has one directory");
	if (options->command == COMMAND_WATCH && options->n_outputs == 1) {
		options->watch.output_dir = options->outputs[0].path;
		options->n_outputs = 0;
	}
	for (size_t i = 0; !err && i < options->n_outputs; i++) {
		err = set_format(options, &options->outputs[i]);
		has_stdout |= options->outputs[i].is_stdout;
	}
	if (err || has_stdout || !options->watch.has_format || options->command == COMMAND_WATCH)
		return err;
	log_error("--format goes with --watch, and with -o - of record and replay: the form of a "
		  "file follows its suffix");
	return -EINVAL;
}
