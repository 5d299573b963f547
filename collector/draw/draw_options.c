// SPDX-License-Identifier: Apache-2.0
/* Reads the command line of render and diff, see draw_options.h. */
#include "draw/draw_options.h"

#include "draw/draw_missing.h"
#include "base/help.h"
#include "base/log.h"
#include "base/quick_hash.h"

#include <errno.h>
#include <getopt.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#define MAX_PX 100000

enum {
	OPT_ADDRS = 256,
	OPT_ALL,
	OPT_BASE,
	OPT_BGCOLORS,
	OPT_COLORS,
	OPT_COUNTNAME,
	OPT_CP,
	OPT_ENCODING,
	OPT_EVENT_FILTER,
	OPT_FACTOR,
	OPT_FONTSIZE,
	OPT_FONTTYPE,
	OPT_FONTWIDTH,
	OPT_HASH,
	OPT_HEIGHT,
	OPT_INLINE,
	OPT_INVERTED,
	OPT_JIT,
	OPT_JSON,
	OPT_KERNEL,
	OPT_MINWIDTH,
	OPT_MISSING,
	OPT_NAMETYPE,
	OPT_NEGATE,
	OPT_NORMALIZE,
	OPT_NOTES,
	OPT_NO_NORMALIZE,
	OPT_PID,
	OPT_RANDOM,
	OPT_REVERSE,
	OPT_SAMPLES,
	OPT_SKIP_AFTER,
	OPT_FOLD_FRAMEWORKS,
	OPT_JAVA_ONLY,
	OPT_THREAD_STARTS,
	OPT_SPLIT_LEVELS,
	OPT_STRIP_HEX,
	OPT_SUBTITLE,
	OPT_TID,
	OPT_TITLE,
	OPT_TOP,
	OPT_TOTAL,
	OPT_WIDTH,
	OPT_WIDTH_OF,
};

static const struct option long_options[] = {
	{"addrs", no_argument, NULL, OPT_ADDRS},
	{"all", no_argument, NULL, OPT_ALL},
	{"base", required_argument, NULL, OPT_BASE},
	{"bgcolors", required_argument, NULL, OPT_BGCOLORS},
	{"colors", required_argument, NULL, OPT_COLORS},
	{"context", no_argument, NULL, OPT_MISSING},
	{"countname", required_argument, NULL, OPT_COUNTNAME},
	{"cp", no_argument, NULL, OPT_CP},
	{"deterministic", no_argument, NULL, OPT_HASH},
	{"encoding", required_argument, NULL, OPT_ENCODING},
	{"event-filter", required_argument, NULL, OPT_EVENT_FILTER},
	{"factor", required_argument, NULL, OPT_FACTOR},
	{"flamechart", no_argument, NULL, OPT_MISSING},
	{"fontsize", required_argument, NULL, OPT_FONTSIZE},
	{"fonttype", required_argument, NULL, OPT_FONTTYPE},
	{"fontwidth", required_argument, NULL, OPT_FONTWIDTH},
	{"format", required_argument, NULL, 'f'},
	{"hash", no_argument, NULL, OPT_HASH},
	{"height", required_argument, NULL, OPT_HEIGHT},
	{"help", no_argument, NULL, 'h'},
	{"inline", no_argument, NULL, OPT_INLINE},
	{"inverted", no_argument, NULL, OPT_INVERTED},
	{"jit", no_argument, NULL, OPT_JIT},
	{"json", no_argument, NULL, OPT_JSON},
	{"kernel", no_argument, NULL, OPT_KERNEL},
	{"minwidth", required_argument, NULL, OPT_MINWIDTH},
	{"nameattr", required_argument, NULL, OPT_MISSING},
	{"nametype", required_argument, NULL, OPT_NAMETYPE},
	{"negate", no_argument, NULL, OPT_NEGATE},
	{"no-sort", no_argument, NULL, OPT_HASH},
	{"no-normalize", no_argument, NULL, OPT_NO_NORMALIZE},
	{"normalize", no_argument, NULL, OPT_NORMALIZE},
	{"notes", required_argument, NULL, OPT_NOTES},
	{"nthreads", required_argument, NULL, OPT_HASH},
	{"output", required_argument, NULL, 'o'},
	{"pid", no_argument, NULL, OPT_PID},
	{"pretty-xml", no_argument, NULL, OPT_MISSING},
	{"quiet", no_argument, NULL, OPT_MISSING},
	{"random", no_argument, NULL, OPT_RANDOM},
	{"reverse", no_argument, NULL, OPT_REVERSE},
	{"samples", no_argument, NULL, OPT_SAMPLES},
	{"search-color", required_argument, NULL, OPT_MISSING},
	{"skip-after", required_argument, NULL, OPT_SKIP_AFTER},
	{"fold-frameworks", no_argument, NULL, OPT_FOLD_FRAMEWORKS},
	{"java-only", no_argument, NULL, OPT_JAVA_ONLY},
	{"thread-starts", no_argument, NULL, OPT_THREAD_STARTS},
	{"split-kinds", no_argument, NULL, OPT_SPLIT_LEVELS}, /* its name before */
	{"split-levels", no_argument, NULL, OPT_SPLIT_LEVELS},
	{"srcline", no_argument, NULL, OPT_MISSING},
	{"strip-hex", no_argument, NULL, OPT_STRIP_HEX},
	{"stroke-color", required_argument, NULL, OPT_MISSING},
	{"subtitle", required_argument, NULL, OPT_SUBTITLE},
	{"tid", no_argument, NULL, OPT_TID},
	{"title", required_argument, NULL, OPT_TITLE},
	{"top", required_argument, NULL, OPT_TOP},
	{"total", required_argument, NULL, OPT_TOTAL},
	{"truncate-text-right", no_argument, NULL, OPT_MISSING},
	{"uicolor", required_argument, NULL, OPT_MISSING},
	{"verbose", no_argument, NULL, 'v'},
	{"width", required_argument, NULL, OPT_WIDTH},
	{"width-of", required_argument, NULL, OPT_WIDTH_OF},
	{0},
};

static const char render_usage[] =
	"Draws stacks that were recorded before, by whatever program.\n"
	"\n"
	"  fgcollect render [FILE]... [-o FILE]...\n"
	"\n"
	"FILE is a recording (.fgrec), folded stacks with one count or two, the text of perf "
	"script, or\n"
	"pprof; several are added up; none, or -, is standard input. Without -o an SVG goes to "
	"standard output.\n"
	"\n"
	"  perf script | fgcollect render > graph.svg\n"
	"  fgcollect render mon.folded tue.folded --colors hot -o week.svg -o week.folded\n"
	"\n";

static const char diff_usage[] =
	"Compares stacks that were recorded before with those that were recorded after.\n"
	"\n"
	"  fgcollect diff BEFORE AFTER [-o FILE]...\n"
	"\n"
	"Files as for render. Prints the methods whose own samples changed most. A change within "
	"noise\n"
	"is less than 2.58 standard deviations away from none, by the two-proportion z test (with\n"
	"--no-normalize, by that of two Poisson counts), which takes counts for single samples.\n"
	"\n"
	"      --top N            so many methods, default 20; 0: all\n"
	"      --json             print them as JSON\n";

static const char common_help[] =
	"Output:\n"
	"  -o, --output FILE      the format follows the suffix; may be repeated: .svg .html "
	".folded\n"
	"                         .pb.gz .speedscope.json .firefox.json .perf.txt .fgrec\n"
	"  -f, --format FORMAT    for standard output, as the suffixes: svg, html, folded, pb.gz, "
	"...\n"
	"How two counts are compared:\n"
	"      --no-normalize     counts as they are; what render does with two counts a line\n"
	"      --normalize        as shares of each side's total; what diff does\n"
	"      --width-of SIDE    frames are as wide as after, before, or union: the greater of "
	"both\n"
	"      --strip-hex        0x and digits in folded output become 0x...\n"
	"      --negate           of two counts the first is after\n"
	"The boxes:\n"
	"      --split-levels, --split-kinds  a Java method is a box for each way it ran: "
	"interpreted,\n"
	"                         C1, C2, inlined\n"
	"      --java-only        kernel, native and JVM time is that of the Java method that "
	"caused it\n"
	"      --fold-frameworks  frames of Spring, Netty and their like are one box\n"
	"      --thread-starts    what Java threads begin with, not their pool (.svg, .html)\n"
	"The drawing:\n"
	"      --title TEXT, --subtitle TEXT, --notes TEXT\n"
	"      --width PX         default as wide as the window; --height PX of a frame, default "
	"16\n"
	"      --minwidth PX|P%   narrower frames are not drawn, though found; default 0.3\n"
	"      --fonttype NAME, --fontsize PX, --fontwidth SHARE of the size\n"
	"      --colors NAME      java (the default: by kind), js, perl, rust, python, hot, mem, "
	"io, wakeup, "
	"chain, red,\n"
	"                         green, blue, aqua, yellow, purple, orange; --hash is always on\n"
	"      --bgcolors NAME    yellow, blue, green, grey or #rrggbb\n"
	"      --countname NAME   of what is counted, default samples; --nametype NAME of a frame\n"
	"      --factor N         counts are shown times N; --total N: shares are of N\n"
	"      --random           shades of SVG differ from run to run\n"
	"      --cp               shades of SVG are those of palette.map in the working "
	"directory,\n"
	"                         which gets those of new names: name->rgb(1,2,3), a line each\n"
	"      --inverted         the root on top; --reverse: stacks from the leaf on\n"
	"      --base FRAME       stacks begin at the outermost frame of that name; others are "
	"left\n"
	"                         out; --skip-after FRAME: others are kept as they are\n"
	"Of perf script:\n"
	"      --pid, --tid       in the lowest frame\n"
	"      --kernel, --jit, --all, or none: whose kinds are kept; all if none is given\n"
	"      --addrs            functions without a name by their address\n"
	"      --event-filter E   this event; default the first that is met\n"
	"      --samples          count samples; default the event's periods, where they are\n"
	"      --inline           functions inlined in native code: by the debug information "
	"(DWARF) of\n"
	"                         the files that the text names, which have to be on this host, "
	"as\n"
	"                         they were; those that perf itself shows are always there\n"
	"Also -c as --colors, -i as --inverted, -n as --normalize, -s as --strip-hex. --encoding "
	"takes\n"
	"UTF-8 alone; --deterministic, --no-sort and --nthreads N are taken and change nothing.\n"
	"  -v, --verbose; -h, --help\n";

void draw_options_print_help(enum draw_command command, FILE *stream)
{
	fputs(command == DRAW_DIFF ? diff_usage : render_usage, stream);
	fputs(common_help, stream);
}

static int bad_value(const char *option, const char *value, const char *why)
{
	log_error("--%s %s: %s", option, value, why);
	return -EINVAL;
}

/* greater than 0 and at most most; what stands behind the number is *ret_rest. */
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
	options->to_stdout = true;
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
	if (render_format_of(optarg, &output->format) < 0) {
		log_error("-o %s: the form follows the suffix, and this is none of: %s", optarg,
			  render_suffixes());
		return -EINVAL;
	}
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

/* What other tools have. */
static int refuse(const char *option)
{
	log_error("--%s is not here: %s", option, draw_missing_find(option));
	return -EINVAL;
}

/* Options of the drawing. 1: it is none of them. */
static int apply_drawing(struct draw_options *options, int option)
{
	struct render_options *const render = &options->render;

	switch (option) {
	case OPT_BGCOLORS:
		return set_background(options);
	case 'c':
	case OPT_COLORS:
		return set_colors(options);
	case OPT_ENCODING:
		return check_encoding();
	case OPT_COUNTNAME:
		render->count_name = optarg;
		return 0;
	case OPT_FACTOR:
		return set_number("factor", 1e18, &render->factor);
	case OPT_FONTSIZE:
		return set_number("fontsize", 200, &render->font_size);
	case OPT_FONTTYPE:
		render->font = optarg;
		return 0;
	case OPT_FONTWIDTH:
		return set_number("fontwidth", 10, &render->font_width);
	case OPT_HEIGHT:
		return set_px("height", 6, 1000, &render->row_px);
	case 'i':
	case OPT_INVERTED:
		render->is_inverted = true;
		return 0;
	case OPT_MINWIDTH:
		return set_min_width(options);
	case OPT_NAMETYPE:
		render->name_type = optarg;
		return 0;
	case OPT_NOTES:
		render->notes = optarg;
		return 0;
	case OPT_RANDOM:
		render->random = (uint32_t)quick_hash_seed(OPT_RANDOM) | 1;
		return 0;
	case OPT_SUBTITLE:
		render->subtitle = optarg;
		return 0;
	case OPT_TITLE:
		render->title = optarg;
		return 0;
	case OPT_TOTAL:
		return set_number("total", 1e19, &render->total);
	case OPT_WIDTH:
		return set_px("width", 200, MAX_PX, &render->width_px);
	default:
		return 1;
	}
}

/* Options of what is read. 1: it is none of them. */
static int apply_import(struct draw_options *options, int option)
{
	struct import_options *const import = &options->import;

	switch (option) {
	case OPT_ADDRS:
		import->has_addrs = true;
		return 0;
	case OPT_ALL:
		import->marks_kernel = true;
		import->marks_jit = true;
		return 0;
	case OPT_EVENT_FILTER:
		import->event = optarg;
		return 0;
	case OPT_JIT:
		import->marks_jit = true;
		return 0;
	case OPT_KERNEL:
		import->marks_kernel = true;
		return 0;
	case OPT_PID:
		import->has_pid = true;
		return 0;
	case OPT_TID:
		import->has_tid = true;
		return 0;
	case OPT_SAMPLES:
		import->counts_samples = true;
		return 0;
	case OPT_BASE:
		options->base = optarg;
		return 0;
	case OPT_SKIP_AFTER:
		options->skip_after = optarg;
		return 0;
	case OPT_HASH: /* what is always so: colours follow from names, lines are in any order */
		return 0;
	case OPT_INLINE:
		import->has_inlined = true;
		return 0;
	default:
		return 1;
	}
}

static int apply(struct draw_options *options, int option)
{
	switch (option) {
	case 'f':
		return set_format(options);
	case 'o':
		return add_output(options);
	case 'v':
		options->verbose = true;
		return 0;
	case OPT_CP:
		options->has_palette_map = true;
		return 0;
	case OPT_JSON:
		options->json = true;
		return 0;
	case OPT_NEGATE:
		options->is_negated = true;
		return 0;
	case 'n':
	case OPT_NORMALIZE:
		options->diff.is_raw = false;
		return 0;
	case OPT_NO_NORMALIZE:
		options->diff.is_raw = true;
		return 0;
	case OPT_REVERSE:
		options->is_reversed = true;
		return 0;
	case OPT_JAVA_ONLY:
		options->render.java_only = true;
		return 0;
	case OPT_FOLD_FRAMEWORKS:
		options->render.folds_frameworks = true;
		return 0;
	case OPT_THREAD_STARTS:
		options->render.shows_starts = true;
		return 0;
	case OPT_SPLIT_LEVELS:
		options->diff.splits_kinds = true;
		options->render.splits_levels = true;
		return 0;
	case 's':
	case OPT_STRIP_HEX:
		options->render.hides_addresses = true;
		return 0;
	case OPT_TOP:
		return set_top(options);
	case OPT_WIDTH_OF:
		return set_width_of(options);
	default:
		return -EINVAL; /* getopt_long has said what */
	}
}

static bool is_text(enum render_format format)
{
	return format == RENDER_FOLDED || format == RENDER_PERF_TEXT;
}

static int check(struct draw_options *options)
{
	if (options->command == DRAW_DIFF && options->n_inputs != 2) {
		log_error("diff compares two files, and %zu are given: fgcollect diff BEFORE AFTER",
			  options->n_inputs);
		return -EINVAL;
	}
	if (options->command == DRAW_DIFF && options->has_palette_map) {
		log_error("--cp goes with render: in a comparison colours are changes");
		return -EINVAL;
	}
	if (options->base && options->skip_after) {
		log_error("--base and --skip-after: one of them, for both say where stacks begin");
		return -EINVAL;
	}
	if (options->json && options->command != DRAW_DIFF) {
		log_error("--json goes with diff");
		return -EINVAL;
	}
	if (options->command == DRAW_RENDER && options->n_inputs == 0 && isatty(STDIN_FILENO)) {
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
	static const char short_options[] = "c:f:hino:sv";
	int option, words, err = 0, index = 0;

	*options = (struct draw_options){
		.command = command,
		.format = RENDER_SVG,
		.top = DRAW_DEFAULT_TOP,
		.diff = {.width = command == DRAW_DIFF ? DIFF_WIDTH_UNION : DIFF_WIDTH_AFTER,
			 .is_raw = command == DRAW_RENDER},
	};
	options->wants_help = help_is_asked(argc, argv, short_options, long_options, &words);
	if (options->wants_help)
		return 0;
	while (!err &&
	       (option = getopt_long(argc, argv, short_options, long_options, &index)) >= 0) {
		err = option == OPT_MISSING ? refuse(long_options[index].name)
					    : apply_drawing(options, option);
		if (err == 1)
			err = apply_import(options, option);
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
	if (command == DRAW_RENDER && options->n_outputs == 0)
		options->to_stdout = true;
	return check(options);
}
