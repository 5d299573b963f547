// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   what the command line asks for
 * units:   seconds and hertz on the command line, nanoseconds behind it
 * threads: one
 * errors:  -EINVAL, said on stderr
 * source:  none
 *
 * command_line.h fills a struct options, with the help of a module for each subject. Which options
 * there are is said by ../options/.
 */
#ifndef FG_CLI_OPTIONS_H
#define FG_CLI_OPTIONS_H

#include "base/log.h"
#include "cli/top_options.h"
#include "draw/output_path.h"
#include "live/recording.h"
#include "render/render.h"
#include "serve/watch_options.h"

#define OPTIONS_DEFAULT_SECONDS 10

enum command {
	COMMAND_NONE,
	COMMAND_HELP,
	COMMAND_VERSION,
	COMMAND_WATCH,
	COMMAND_RECORD,
	COMMAND_LIST,
	COMMAND_DOCTOR,
	COMMAND_TOP,
	COMMAND_RENDER, /* these two have options of their own, see draw_options.h */
	COMMAND_DIFF,
};

struct options {
	enum command command;
	enum command help_of; /* with COMMAND_HELP: NONE is of all */
	const char *socket_path;
	const char *map_dir;
	const char *map_names; /* as given, or NULL */
	struct perf_map_style map_style;
	const char *jitdump_dir;  /* NULL: no jitdump */
	const char *symbol_cache; /* as given, or NULL */
	size_t table_bytes;	  /* of symbols and unwind rules that are kept */
	const char *title;	  /* NULL: made from what was recorded */
	/* --split-levels, --java-only, --fold-frameworks, --thread-starts: see render_options */
	bool splits_levels, java_only, folds_frameworks, shows_starts;
	bool json;
	bool verbose;
	enum log_level log_level;
	struct watch_options watch;
	bool is_fp_only; /* --unwind=fp */
	bool has_stack_size;
	bool has_duration;
	bool ends_with_stdin; /* --until-eof */
	bool says_progress;   /* --progress: also where stderr is no terminal */
	struct top_options top;
	struct recording_options recording;
	struct output_path outputs[OUTPUT_PATHS_MAX];
	size_t n_outputs;
};

void options_init(struct options *options);

/* A whole text as a number within limits, or false. */
bool options_parse_number(const char *text, double least, double most, double *ret);
/* Says why the option cannot have the value, and is -EINVAL. */
int options_bad_value(const char *option, const char *value, const char *why);

#endif
