// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   the values of all options, and the command
 * units:   seconds and hertz on the command line; nanoseconds and hertz here
 * threads: one
 * errors:  -EINVAL, said on stderr
 * source:  none
 *
 * command_line.h fills a struct options. Which option sets which member, and how, is said by the
 * table of all options, ../options/.
 */
#ifndef FG_CLI_OPTIONS_H
#define FG_CLI_OPTIONS_H

#include "base/log.h"
#include "code/perf_map_style.h"
#include "draw/output_path.h"
#include "recording/recording.h"
#include "render/render.h"
#include "serve/watch_options.h"
#include "store/store_request.h"
#include "top/top_options.h"

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
};

struct options {
	enum command command;
	enum command help_of; /* whose help COMMAND_HELP shows; COMMAND_NONE: of all commands */
	bool help_has_all;    /* and all of its options */
	const char *socket_path;
	const char *map_dir;
	const char *map_names; /* as given, or NULL */
	struct perf_map_style map_style;
	const char *jitdump_dir; /* NULL: no jitdump */
	size_t table_bytes; /* limit of all symbol and unwind tables; 0: by the memory there is */
	/* title NULL: one is made from the recording */
	struct render_options render;
	struct dump dump;
	bool json;
	bool verbose;
	enum log_level log_level;
	struct watch_options watch;
	bool is_fp_only; /* --unwind=fp */
	bool has_duration;
	bool ends_with_stdin; /* --until-eof */
	bool says_progress;   /* --progress: also where stderr is no terminal */
	struct top_options top;
	/* --store, --from, --to, of history and top; who is meant is in recording */
	struct store_request history;
	struct recording_options recording;
	const char *capture_path; /* --capture: written beside the outputs, or NULL */
	struct replay_options replay;
	struct output_path outputs[OUTPUT_PATHS_MAX];
	size_t n_outputs;
};

void options_init(struct options *options);

#endif
