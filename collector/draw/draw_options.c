// SPDX-License-Identifier: Apache-2.0
/* Reads the command line of render and diff, see draw_options.h. */
#include "draw/draw_options.h"

#include "base/cleanup.h"
#include "base/log.h"
#include "base/hash.h"
#include "draw/draw_missing.h"
#include "encode/quantity.h"
#include "options/help.h"
#include "options/option_fault.h"
#include "options/option_value.h"
#include "options/tables.h"

#include <errno.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#define MAX_PX 100000

int draw_set_min_width(struct render_options *render, const char *told, const char *text)
{
	const char *end;
	double value;

	if (!quantity_parse_digits(text, &end, &value) || value > MAX_PX ||
	    (*end && strcmp(end, "%") != 0))
		return option_bad_value(told, text,
					"pixels in digits, or with a % behind, are needed: 0.5");
	if (*end)
		render->min_width_percent = value;
	else
		render->min_width_px = value > 0 ? value : 1e-6;
	return 0;
}

int draw_set_background(uint32_t *rgb, const char *told, const char *text)
{
	static const struct {
		const char *name;
		uint32_t rgb;
	} colors[] = {
		{"yellow", 0xf6f3d2}, {"blue", 0xe9eefb}, {"green", 0xe8f5e8}, {"grey", 0xf0f0f0}};
	char *end;

	for (size_t i = 0; i < sizeof(colors) / sizeof(*colors); i++) {
		if (strcmp(colors[i].name, text) != 0)
			continue;
		*rgb = colors[i].rgb;
		return 0;
	}
	if (text[0] == '#' && strlen(text) == 7 &&
	    strspn(text + 1, "0123456789abcdefABCDEF") == 6) {
		*rgb = (uint32_t)strtoul(text + 1, &end, 16) | 1;
		return 0;
	}
	return option_bad_value(told, text,
				"one of yellow, blue, green, grey, or #rrggbb is needed");
}

int draw_set_format(struct draw_options *options, const char *told, const char *text)
{
	char suffix[32];

	snprintf(suffix, sizeof(suffix), "x.%s", text);
	options->has_format = true;
	if (render_format_of(suffix, &options->format) == 0)
		return 0;
	log_error("%s %s: no such format; there are, without the dot: %s", told, text,
		  render_suffixes());
	return -EINVAL;
}

int draw_add_output(struct draw_options *options, const char *told, const char *text)
{
	struct output_path *const output = &options->outputs[options->n_outputs];

	if (strcmp(text, "-") == 0) {
		options->to_stdout = true;
		return 0;
	}
	if (options->n_outputs == OUTPUT_PATHS_MAX)
		return option_bad_value(told, text, "that is one output too many");
	options->has_own_suffix[options->n_outputs] = render_format_of(text, &output->format) == 0;
	output->path = text;
	options->n_outputs++;
	return 0;
}

int draw_set_top(struct draw_options *options, const char *told, const char *text)
{
	static const struct option_range range = {.most = 1000000000, .what = "of methods"};
	uint64_t value = 0;
	const int err = option_count(told, text, &range, &value);

	options->top = err || value == 0 ? SIZE_MAX : (size_t)value;
	return err;
}

int draw_check_encoding(const struct draw_options *options, const char *told, const char *text)
{
	(void)options;
	if (strcasecmp(text, "UTF-8") == 0 || strcasecmp(text, "utf8") == 0)
		return 0;
	return option_bad_value(told, text,
				"all that is written is UTF-8: convert what is read, with iconv");
}

int draw_set_random(uint32_t *random, const char *told, const char *text)
{
	(void)told;
	(void)text;
	*random = (uint32_t)quick_hash_seed(DRAW_OPTION_RANDOM) | 1;
	return 0;
}

int draw_add_begin(struct draw_options *options, bool keeps_others, const char *told,
		   const char *text)
{
	size_t n = 0;

	while (options->begins[n])
		n++;
	if (n == DRAW_BEGINS_MAX)
		return option_bad_value(told, text, "that is one frame too many");
	options->begins[n] = text;
	options->keeps_others = keeps_others;
	return 0;
}

/*
 * Gives files without a suffix of ours the format of -f, which is otherwise that of standard
 * output.
 */
static int set_formats(struct draw_options *options)
{
	bool is_used = false;

	for (size_t i = 0; i < options->n_outputs; i++) {
		if (options->has_own_suffix[i])
			continue;
		if (!options->has_format) {
			log_error("-o %s: the form follows the suffix, and this is none of: %s; -f "
				  "FORMAT says it for any name",
				  options->outputs[i].path, render_suffixes());
			return -EINVAL;
		}
		options->outputs[i].format = options->format;
		is_used = true;
	}
	options->to_stdout |= options->has_format && !is_used;
	return 0;
}

static bool has_output(const struct draw_options *options, enum render_format format)
{
	for (size_t i = 0; i < options->n_outputs; i++)
		if (options->outputs[i].format == format)
			return true;
	return options->to_stdout && options->format == format;
}

/*
 * A page draws itself, and has buttons where a picture has options. option: the first given that
 * only pictures have, or NULL.
 */
static int check_page(const struct draw_options *options, const char *option)
{
	if (!option || !has_output(options, RENDER_HTML))
		return 0;
	if (has_output(options, RENDER_SVG)) {
		log_warning("%s is for .svg; the page is as ever", option);
		return 0;
	}
	log_error("%s is for .svg: a page takes its colours, sizes, widths and counts from its "
		  "window and its buttons",
		  option);
	return -EINVAL;
}

static bool is_text(enum render_format format)
{
	return format == RENDER_FOLDED || format == RENDER_PERF_TEXT;
}

static int check(struct draw_options *options)
{
	const bool is_diff = options->command == DRAW_DIFF;

	if (draw_store_options_finish(&options->store, options->kind, options->n_inputs, is_diff) <
	    0)
		return -EINVAL;
	if (is_diff && options->n_inputs != 2 && !options->store.given) {
		log_error("diff compares two files, not %zu: fgcollect diff BEFORE AFTER",
			  options->n_inputs);
		return -EINVAL;
	}
	if (options->command == DRAW_RENDER && options->n_inputs == 0 && !options->store.given &&
	    isatty(STDIN_FILENO)) {
		log_error("nothing to read: give a file, or pipe stacks in");
		return -EINVAL;
	}
	if (options->to_stdout && !is_text(options->format) && isatty(STDOUT_FILENO)) {
		log_error("this format is not for a terminal: give -o FILE, or redirect");
		return -EINVAL;
	}
	return 0;
}

/* Refuses an option that only other tools have. */
static int refuse(const char *option)
{
	log_error("--%s is not here: %s", option, draw_missing_find(option));
	return -EINVAL;
}

/* Says what getopt_long could not read. */
static int say_fault(unsigned command, int answer, char *const *argv)
{
	const struct option_names names = {
		.letters = draw_short_options,
		.list = draw_long_options,
		.rows = draw_rows,
		.command = command,
	};
	struct option_fault fault;
	char why[OPTION_WHY_BYTES];

	option_fault_read(&fault, &names, answer, argv);
	option_fault_tell(&fault, &names, NULL, why);
	log_error("%s", why);
	return -EINVAL;
}

/* Sets what the options say, and checks whether they go together. */
static int read_options(struct draw_options *options, struct options_given *given, int argc,
			char **argv)
{
	char why[OPTION_WHY_BYTES];
	int option, index = 0, err = 0;

	while (!err && (option = getopt_long(argc, argv, draw_short_options, draw_long_options,
					     &index)) >= 0) {
		const struct option_row *row;

		if (option == DRAW_OPTION_MISSING)
			return refuse(draw_long_options[index].name);
		if (option == '?' || option == ':')
			return say_fault(given->command, option, argv);
		options_given_add(given, option, optarg ? optarg : "");
		row = options_given_take(given, given->count - 1);
		err = row ? draw_set(options, row, given->list[given->count - 1].text) : -EINVAL;
	}
	if (err || options_given_check(given, why) == 0)
		return err;
	log_error("%s", why);
	return -EINVAL;
}

/* What the options come to, once all are known. */
static int finish(struct draw_options *options, const struct options_given *given)
{
	int err;

	if (!options->import.marks_kernel && !options->import.marks_jit) {
		options->import.marks_kernel = true;
		options->import.marks_jit = true;
	}
	options->store.given = options_given_marked(given, OPTIONS_FOR_STORE);
	options->store.given_before = options_given_marked(given, OPTIONS_FOR_BEFORE);
	err = set_formats(options);
	if (options->command == DRAW_RENDER && options->n_outputs == 0)
		options->to_stdout = true;
	if (!err)
		err = check_page(options, options_given_marked(given, OPTIONS_FOR_PICTURES));
	return err ? err : check(options);
}

int draw_options_parse(struct draw_options *options, enum draw_command command, int argc,
		       char **argv)
{
	_cleanup_(help_fini) struct help help;
	_cleanup_free_ struct option_given *list =
		calloc(options_given_most(argc, argv), sizeof(struct option_given));
	struct options_given given = {
		.rows = draw_rows,
		.command = command == DRAW_DIFF ? OPTIONS_OF_DIFF : OPTIONS_OF_RENDER,
		.list = list,
	};
	int err;

	*options = (struct draw_options){
		.command = command,
		.format = RENDER_SVG,
		.top = DRAW_DEFAULT_TOP,
		.diff = {.width = command == DRAW_DIFF ? DIFF_WIDTH_UNION : DIFF_WIDTH_AFTER,
			 .is_raw = command == DRAW_RENDER},
	};
	help_look(&help, argc, argv, draw_short_options, draw_long_options);
	options->wants_help = help.is_asked;
	if (options->wants_help)
		return 0;
	err = list ? read_options(options, &given, argc, argv) : -ENOMEM;
	if (err)
		return err;
	options->inputs = argv + optind;
	options->n_inputs = (size_t)(argc - optind);
	return finish(options, &given);
}
