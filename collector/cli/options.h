// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   the values of all options, and the command
 * units:   seconds and hertz on the command line; nanoseconds and hertz here
 * threads: one
 * errors:  -EINVAL, said on stderr
 * source:  none
 *
 * command_line.h fills a struct options. Each subject (what to record, how to sample, names,
 * outputs, places) has a module that takes its options. The table of all options is ../options/.
 */
#ifndef FG_CLI_OPTIONS_H
#define FG_CLI_OPTIONS_H

#include "base/log.h"
#include "top/top_options.h"
#include "draw/output_path.h"
#include "live/recording.h"
#include "render/render.h"
#include "serve/watch_options.h"
#include "store/store_request.h"

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
	COMMAND_REPLAY,
	COMMAND_HISTORY,
	COMMAND_RENDER, /* render and diff have options of their own, see draw_options.h */
	COMMAND_DIFF,
};

/* Which samples of a capture are replayed. */
struct replay_options {
	const char *path;  /* of the capture; "-": standard input */
	const char *match; /* regular expression of a frame's name, or NULL */
	uint64_t most;	   /* the first so many samples; 0: all */
	const char *given; /* the first option of replay's own, or NULL */
};

struct options {
	enum command command;
	enum command help_of; /* the command whose help COMMAND_HELP shows; COMMAND_NONE: all */
	bool help_has_all;    /* and all of its options */
	const char *socket_path;
	const char *map_dir;
	const char *map_names; /* as given, or NULL */
	struct perf_map_style map_style;
	const char *jitdump_dir;  /* NULL: no jitdump */
	const char *symbol_cache; /* as given, or NULL */
	size_t table_bytes; /* limit of all symbol and unwind tables; 0: by the memory there is */
	const char *title;  /* NULL: a title is made from the recording */
	/* --split-levels, --java-only, --fold-frameworks, --thread-starts: see render_options */
	bool splits_levels, java_only, folds_frameworks, shows_starts;
	struct wait_options waits; /* --state, --hide-idle, --no-hide-idle, --idle-frame */
	const char *waits_given;   /* the last of these on the command line, or NULL */
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
	/* --store, --from, --to, of history and top; who is meant is in recording */
	struct store_request history;
	const char *history_given; /* the first of these on the command line, or NULL */
	struct recording_options recording;
	const char *capture_path; /* --capture: written beside the outputs, or NULL */
	struct replay_options replay;
	struct output_path outputs[OUTPUT_PATHS_MAX];
	size_t n_outputs;
};

void options_init(struct options *options);

/* Parses the whole text as a number within limits. False: the text is no such number. */
bool options_parse_number(const char *text, double least, double most, double *ret);
/* Logs why the option cannot have the value. Returns -EINVAL. */
int options_bad_value(const char *option, const char *value, const char *why);

#endif
