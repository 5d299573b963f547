// SPDX-License-Identifier: Apache-2.0
/* Reads the command line of render and diff, see draw_options.h. */
#include "draw/draw_options.h"

#include "base/cleanup.h"
#include "base/help.h"
#include "base/log.h"
#include "base/quick_hash.h"
#include "draw/draw_missing.h"
#include "draw/draw_wait_options.h"
#include "options/tables.h"

#include <errno.h>
#include <getopt.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#define MAX_PX 100000

static int bad_value(const char *option, const char *value, const char *why)
{
	log_error("--%s %s: %s", option, value, why);
	return -EINVAL;
}

/*
 * Reads a number from 0 to most. *ret_rest is the text behind the number. ret_rest is NULL if no
 * text may follow.
 */
static int parse_number(const char *option, const char *text, double most, const char **ret_rest,
			double *ret)
{
	char *end;
	double value;

	errno = 0;
	value = strtod(text, &end);
	if (end == text || errno || !isfinite(value) || value < 0 || value > most ||
	    (!ret_rest && *end))
		return bad_value(option, text,
				 "a number is needed, not less than 0 and not too large");
	if (ret_rest)
		*ret_rest = end;
	*ret = value;
	return 0;
}

static int set_number(const char *option, double most, double *ret)
{
	const int err = parse_number(option, optarg, most, NULL, ret);

	return err ? err : *ret > 0 ? 0 : bad_value(option, optarg, "it must be greater than 0");
}

static int set_px(const char *option, double least, double most, unsigned *ret)
{
	double value;
	const int err = parse_number(option, optarg, most, NULL, &value);

	if (err)
		return err;
	if (value < least || value != floor(value))
		return bad_value(option, optarg, "a whole number of pixels is needed, not too few");
	*ret = (unsigned)value;
	return 0;
}

static int set_min_width(struct draw_options *options)
{
	const char *rest;
	double value;
	const int err = parse_number("minwidth", optarg, MAX_PX, &rest, &value);

	if (err)
		return err;
	if (strcmp(rest, "%") == 0)
		options->render.min_width_percent = value;
	else if (*rest)
		return bad_value("minwidth", optarg, "a number of pixels, or one with a % behind");
	else
		options->render.min_width_px = value > 0 ? value : 1e-6;
	return 0;
}

static int set_colors(struct draw_options *options)
{
	if (palette_of(optarg, &options->render.palette) == 0)
		return 0;
	log_error("--colors %s: no such colours; there are: %s", optarg, palette_names());
	return -EINVAL;
}

static int set_background(struct draw_options *options)
{
	static const struct {
		const char *name;
		uint32_t rgb;
	} colors[] = {
		{"yellow", 0xf6f3d2}, {"blue", 0xe9eefb}, {"green", 0xe8f5e8}, {"grey", 0xf0f0f0}};
	char *end;

	for (size_t i = 0; i < sizeof(colors) / sizeof(*colors); i++) {
		if (strcmp(colors[i].name, optarg) != 0)
			continue;
		options->render.background = colors[i].rgb;
		return 0;
	}
	if (optarg[0] == '#' && strlen(optarg) == 7 &&
	    strspn(optarg + 1, "0123456789abcdefABCDEF") == 6) {
		options->render.background = (uint32_t)strtoul(optarg + 1, &end, 16) | 1;
		return 0;
	}
	return bad_value("bgcolors", optarg,
			 "one of yellow, blue, green, grey, or #rrggbb is needed");
}

static int set_width_of(struct draw_options *options)
{
	static const char *const names[] = {"after", "before", "union"};

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		if (strcmp(names[i], optarg) != 0)
			continue;
		options->diff.width = (enum diff_width)i;
		return 0;
	}
	return bad_value("width-of", optarg, "one of after, before, union is needed");
}

static int set_format(struct draw_options *options)
{
	char suffix[32];

	snprintf(suffix, sizeof(suffix), "x.%s", optarg);
	options->has_format = true;
	if (render_format_of(suffix, &options->format) == 0)
		return 0;
	log_error("-f %s: no such format; there are, without the dot: %s", optarg,
		  render_suffixes());
	return -EINVAL;
}

static int add_output(struct draw_options *options)
{
	struct output_path *const output = &options->outputs[options->n_outputs];

	if (strcmp(optarg, "-") == 0) {
		options->to_stdout = true;
		return 0;
	}
	if (options->n_outputs == OUTPUT_PATHS_MAX) {
		log_error("-o %s: that is one output too many", optarg);
		return -EINVAL;
	}
	options->has_own_suffix[options->n_outputs] =
		render_format_of(optarg, &output->format) == 0;
	output->path = optarg;
	options->n_outputs++;
	return 0;
}

static int set_top(struct draw_options *options)
{
	double value;
	const int err = parse_number("top", optarg, 1e9, NULL, &value);

	options->top = err || value == 0 ? SIZE_MAX : (size_t)value;
	return err;
}

static int check_encoding(void)
{
	if (strcasecmp(optarg, "UTF-8") == 0 || strcasecmp(optarg, "utf8") == 0)
		return 0;
	return bad_value("encoding", optarg,
			 "all that is written is UTF-8: convert what is read, with iconv");
}

/* Refuses an option that only other tools have. */
static int refuse(const char *option)
{
	log_error("--%s is not here: %s", option, draw_missing_find(option));
	return -EINVAL;
}

/* Applies options of the drawing. 1: the option is another. */
static int apply_drawing(struct draw_options *options, int option)
{
	struct render_options *const render = &options->render;

	switch (option) {
	case DRAW_OPTION_BGCOLORS:
		return set_background(options);
	case DRAW_OPTION_COLORS:
		return set_colors(options);
	case DRAW_OPTION_ENCODING:
		return check_encoding();
	case DRAW_OPTION_COUNTNAME:
		render->count_name = optarg;
		return 0;
	case DRAW_OPTION_FACTOR:
		return set_number("factor", 1e18, &render->factor);
	case DRAW_OPTION_FONTSIZE:
		return set_number("fontsize", 200, &render->font_size);
	case DRAW_OPTION_FONTTYPE:
		render->font = optarg;
		return 0;
	case DRAW_OPTION_FONTWIDTH:
		return set_number("fontwidth", 10, &render->font_width);
	case DRAW_OPTION_HEIGHT:
		return set_px("height", 6, 1000, &render->row_px);
	case DRAW_OPTION_INVERTED:
		render->is_inverted = true;
		return 0;
	case DRAW_OPTION_MINWIDTH:
		return set_min_width(options);
	case DRAW_OPTION_NAMETYPE:
		render->name_type = optarg;
		return 0;
	case DRAW_OPTION_NOTES:
		render->notes = optarg;
		return 0;
	case DRAW_OPTION_RANDOM:
		render->random = (uint32_t)quick_hash_seed(DRAW_OPTION_RANDOM) | 1;
		return 0;
	case DRAW_OPTION_SUBTITLE:
		render->subtitle = optarg;
		return 0;
	case DRAW_OPTION_TITLE:
		render->title = optarg;
		return 0;
	case DRAW_OPTION_TOTAL:
		return set_number("total", 1e19, &render->total);
	case DRAW_OPTION_WIDTH:
		return set_px("width", 200, MAX_PX, &render->width_px);
	default:
		return 1;
	}
}

/* Applies options of threads that wait. 1: the option is another. */
static int apply_waits(struct wait_options *waits, int option)
{
	switch (option) {
	case DRAW_OPTION_STATE:
		return draw_wait_options_set_states(waits, "--state", optarg);
	case DRAW_OPTION_IDLE_FRAME:
		return draw_wait_options_add_frame(waits, "--idle-frame", optarg);
	case DRAW_OPTION_HIDE_IDLE:
		waits->idle = WAIT_IDLE_HIDDEN;
		return 0;
	case DRAW_OPTION_NO_HIDE_IDLE:
		waits->idle = WAIT_IDLE_SHOWN;
		return 0;
	default:
		return 1;
	}
}

/* Adds a frame at which stacks begin. */
static int add_begin(struct draw_options *options, bool keeps_others)
{
	size_t n = 0;

	while (options->begins[n])
		n++;
	if (n > 0 && options->keeps_others != keeps_others) {
		log_error("--base and --skip-after: one of them, for both say where stacks begin");
		return -EINVAL;
	}
	if (n == DRAW_BEGINS_MAX) {
		log_error("--%s %s: that is one frame too many",
			  keeps_others ? "skip-after" : "base", optarg);
		return -EINVAL;
	}
	options->begins[n] = optarg;
	options->keeps_others = keeps_others;
	return 0;
}

/* Applies options of the input. 1: the option is another. */
static int apply_import(struct draw_options *options, int option)
{
	struct import_options *const import = &options->import;

	switch (option) {
	case DRAW_OPTION_ADDRS:
		import->has_addrs = true;
		return 0;
	case DRAW_OPTION_ALL:
		import->marks_kernel = true;
		import->marks_jit = true;
		return 0;
	case DRAW_OPTION_EVENT_FILTER:
		import->event = optarg;
		return 0;
	case DRAW_OPTION_JIT:
		import->marks_jit = true;
		return 0;
	case DRAW_OPTION_KERNEL:
		import->marks_kernel = true;
		return 0;
	case DRAW_OPTION_PID:
		import->has_pid = true;
		return 0;
	case DRAW_OPTION_TID:
		import->has_tid = true;
		return 0;
	case DRAW_OPTION_SAMPLES:
		import->counts_samples = true;
		return 0;
	case DRAW_OPTION_BASE:
		return add_begin(options, false);
	case DRAW_OPTION_SKIP_AFTER:
		return add_begin(options, true);
	case DRAW_OPTION_HASH:
	case DRAW_OPTION_DETERMINISTIC:
	case DRAW_OPTION_NO_SORT:
	/* Always the case: names choose colours, and lines may be in any order. */
	case DRAW_OPTION_NTHREADS:
		return 0;
	case DRAW_OPTION_INLINE:
		import->has_inlined = true;
		return 0;
	default:
		return 1;
	}
}

static int apply(struct draw_options *options, int option)
{
	switch (option) {
	case DRAW_OPTION_FORMAT:
		return set_format(options);
	case DRAW_OPTION_OUTPUT:
		return add_output(options);
	case DRAW_OPTION_CHECKSUM:
		options->says_checksum = true;
		return 0;
	case DRAW_OPTION_VERBOSE:
		options->verbose = true;
		return 0;
	case DRAW_OPTION_CP:
		options->has_palette_map = true;
		return 0;
	case DRAW_OPTION_JSON:
		options->json = true;
		return 0;
	case DRAW_OPTION_NEGATE:
		options->is_negated = true;
		return 0;
	case DRAW_OPTION_NORMALIZE:
		options->diff.is_raw = false;
		return 0;
	case DRAW_OPTION_NO_NORMALIZE:
		options->diff.is_raw = true;
		return 0;
	case DRAW_OPTION_KIND:
		options->kind = optarg;
		return 0;
	case DRAW_OPTION_REVERSE:
		options->is_reversed = true;
		return 0;
	case DRAW_OPTION_JAVA_ONLY:
		options->render.java_only = true;
		return 0;
	case DRAW_OPTION_FOLD_FRAMEWORKS:
		options->render.folds_frameworks = true;
		return 0;
	case DRAW_OPTION_THREAD_STARTS:
		options->render.shows_starts = true;
		return 0;
	case DRAW_OPTION_SPLIT_LEVELS:
		options->diff.splits_kinds = true;
		options->render.splits_levels = true;
		return 0;
	case DRAW_OPTION_STRIP_HEX:
		options->render.hides_addresses = true;
		return 0;
	case DRAW_OPTION_TOP:
		return set_top(options);
	case DRAW_OPTION_WIDTH_OF:
		return set_width_of(options);
	default:
		return -EINVAL; /* getopt_long has named the bad option */
	}
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

/* A page draws itself, and has buttons where a picture has options. */
static int check_page(const struct draw_options *options)
{
	if (!options->of_pictures || !has_output(options, RENDER_HTML))
		return 0;
	if (has_output(options, RENDER_SVG)) {
		log_warning("--%s is for .svg; the page is as ever", options->of_pictures);
		return 0;
	}
	log_error("--%s is for .svg: a page takes its colours, sizes, widths and counts from its "
		  "window and its buttons",
		  options->of_pictures);
	return -EINVAL;
}

/* Whether only pictures have the option. */
static bool is_of_pictures(int option)
{
	static const int all[] = {
		DRAW_OPTION_BGCOLORS, DRAW_OPTION_COLORS,    DRAW_OPTION_COUNTNAME,
		DRAW_OPTION_CP,	      DRAW_OPTION_FACTOR,    DRAW_OPTION_FONTSIZE,
		DRAW_OPTION_FONTTYPE, DRAW_OPTION_FONTWIDTH, DRAW_OPTION_HEIGHT,
		DRAW_OPTION_INVERTED, DRAW_OPTION_MINWIDTH,  DRAW_OPTION_NAMETYPE,
		DRAW_OPTION_RANDOM,   DRAW_OPTION_TOTAL,     DRAW_OPTION_WIDTH};

	for (size_t i = 0; i < sizeof(all) / sizeof(*all); i++)
		if (all[i] == option)
			return true;
	return false;
}

static void note_picture(struct draw_options *options, int option)
{
	const struct option *row = draw_long_options;

	if (options->of_pictures || !is_of_pictures(option))
		return;
	while (row->name && row->val != option)
		row++;
	options->of_pictures = row->name;
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
		log_error("diff compares two files, and %zu are given: fgcollect diff BEFORE AFTER",
			  options->n_inputs);
		return -EINVAL;
	}
	if (options->command == DRAW_DIFF && options->has_palette_map) {
		log_error("--cp goes with render: in a comparison colours are changes");
		return -EINVAL;
	}
	if (options->json && options->command != DRAW_DIFF) {
		log_error("--json goes with diff");
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

int draw_options_parse(struct draw_options *options, enum draw_command command, int argc,
		       char **argv)
{
	_cleanup_(help_fini) struct help help;
	int option, err = 0, index = 0;

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
	while (!err && (option = getopt_long(argc, argv, draw_short_options, draw_long_options,
					     &index)) >= 0) {
		note_picture(options, option);
		err = option == DRAW_OPTION_MISSING ? refuse(draw_long_options[index].name)
						    : apply_drawing(options, option);
		if (err == 1)
			err = apply_import(options, option);
		if (err == 1)
			err = apply_waits(&options->render.waits, option);
		if (err == 1)
			err = draw_store_options_apply(&options->store, option, optarg);
		if (err == 1)
			err = apply(options, option);
	}
	if (err)
		return err;
	options->inputs = argv + optind;
	options->n_inputs = (size_t)(argc - optind);
	if (!options->import.marks_kernel && !options->import.marks_jit) {
		options->import.marks_kernel = true;
		options->import.marks_jit = true;
	}
	err = set_formats(options);
	if (command == DRAW_RENDER && options->n_outputs == 0)
		options->to_stdout = true;
	if (!err)
		err = check_page(options);
	return err ? err : check(options);
}
