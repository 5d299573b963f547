// SPDX-License-Identifier: Apache-2.0
/* Into what a recording is drawn, see output_options.h. */
#include "cli/output_options.h"

#include "cli/option_setters.h"
#include "options/option_value.h"

#include <errno.h>
#include <string.h>

#define DEFAULT_OUTPUT "flamegraph.svg"
#define SEVERAL_OUTPUT "flamegraph.html" /* of several kinds of samples */

/*
 * Sets an output to the standard output, of which there is only one. The format comes from
 * --format, because there is no suffix.
 */
static int set_stdout(struct options *options, struct output_path *output)
{
	const struct watch_options *watch = &options->watch;

	for (const struct output_path *other = options->outputs; other < output; other++) {
		if (other->is_stdout)
			return option_bad_value("-o", "-", "there is but one standard output");
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

static int refuse_kinds(const struct options *options, const char *what)
{
	char kinds[RECORDING_KINDS_BYTES];

	log_error("%s holds one kind of samples, and --kind is %s: .html and .fgrec hold all of "
		  "them, and 'fgcollect render --kind KIND FILE.fgrec -o FILE' draws one",
		  what, recording_kinds_text(recording_kinds(&options->recording), kinds));
	return -EINVAL;
}

/* Refuses outputs that cannot hold the kinds. */
static int check_kinds(const struct options *options)
{
	const struct watch_options *const watch = &options->watch;

	if (!recording_has_several(&options->recording))
		return 0;
	if (options->command == COMMAND_WATCH && watch->output_dir &&
	    !render_holds_kinds(watch->format))
		return refuse_kinds(options, "--format: a graph of this form");
	for (size_t i = 0; options->command == COMMAND_RECORD && i < options->n_outputs; i++) {
		if (!render_holds_kinds(options->outputs[i].format))
			return refuse_kinds(options, options->outputs[i].path);
	}
	return 0;
}

/* The daemon has one output, a directory. */
static int set_directory(struct options *options)
{
	if (options->n_outputs > 1)
		return option_bad_value("-o", options->outputs[1].path,
					"--watch has one directory");
	if (options->n_outputs == 1)
		options->watch.output_dir = options->outputs[0].path;
	options->n_outputs = 0;
	return check_kinds(options);
}

/* Of record and replay each output is a file, whose suffix says what the file is to be. */
int output_options_finish(struct options *options)
{
	bool has_stdout = false;
	int err = 0;

	if (options->command == COMMAND_WATCH)
		return set_directory(options);
	if (options->capture_path && strcmp(options->capture_path, "-") == 0)
		return option_bad_value("--capture", "-", "a capture is written into a file");
	if (has_files(options) && options->n_outputs == 0 &&
	    !(options->command == COMMAND_REPLAY && options->capture_path))
		option_add_output(options, "-o",
				  recording_has_several(&options->recording) ? SEVERAL_OUTPUT
									     : DEFAULT_OUTPUT);
	for (size_t i = 0; !err && i < options->n_outputs; i++) {
		err = set_format(options, &options->outputs[i]);
		has_stdout |= options->outputs[i].is_stdout;
	}
	if (!err && !has_stdout && options->watch.has_format) {
		log_error("--format goes with -o - of record and replay: the form of a file "
			  "follows its suffix");
		return -EINVAL;
	}
	return err ? err : check_kinds(options);
}
