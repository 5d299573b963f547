// SPDX-License-Identifier: Apache-2.0
/* Reads the command line, see command_line.h. The first word that is no option is the command. */
#include "cli/command_line.h"

#include "base/cleanup.h"
#include "base/help.h"
#include "cli/foreign_options.h"
#include "cli/kind_options.h"
#include "cli/name_options.h"
#include "cli/output_options.h"
#include "cli/place_options.h"
#include "cli/sample_options.h"
#include "cli/target_options.h"
#include "options/tables.h"

#include <errno.h>
#include <getopt.h>
#include <math.h>
#include <string.h>

static int set_log_level(struct options *options, const char *text)
{
	if (log_level_of(text, &options->log_level) == 0)
		return 0;
	log_error("--log-level %s: no such level; there are: error warning info debug", text);
	return -EINVAL;
}

/* Applies an option of the daemon. Here and below, 1: the option is another. */
static int apply_daemon(struct options *options, int option, const char *value)
{
	switch (option) {
	case OPTION_PERIOD:
		return watch_options_set_period(&options->watch, value);
	case OPTION_KEEP:
		return watch_options_set_keep(&options->watch, value);
	case OPTION_KEEP_BYTES:
		return watch_options_set_keep_bytes(&options->watch, value);
	case OPTION_STORE_BYTES:
		return watch_options_set_store_bytes(&options->watch, value);
	case OPTION_STORE_AGE:
		return watch_options_set_store_age(&options->watch, value);
	case OPTION_STORE_WINDOW:
		return watch_options_set_store_window(&options->watch, value);
	case OPTION_MAP_BYTES:
		return watch_options_set_map_bytes(&options->watch, value);
	case OPTION_MEMORY:
		return watch_options_set_memory(&options->watch, value);
	case OPTION_HTTP:
		return watch_options_add_http(&options->watch, value);
	case OPTION_HTTP_CERT:
		return watch_options_set_http_cert(&options->watch, value);
	case OPTION_HTTP_KEY:
		return watch_options_set_http_key(&options->watch, value);
	case OPTION_HTTP_CLIENT_CA:
		return watch_options_set_http_client_ca(&options->watch, value);
	case OPTION_HTTP_TOKEN_FILE:
		return watch_options_set_http_token_file(&options->watch, value);
	case OPTION_HTTP_HOST:
		return watch_options_add_http_host(&options->watch, value);
	case OPTION_PUBLISH:
		return watch_options_set_publish(&options->watch, value);
	case OPTION_LOG_LEVEL:
		return set_log_level(options, value);
	default:
		return 1;
	}
}

static int apply_push(struct options *options, int option, const char *value)
{
	static const struct {
		int option;
		const char *name;
	} names[] = {
		{OPTION_PUSH, "--push"},
		{OPTION_PUSH_CONFIG, "--push-config"},
		{OPTION_PUSH_LABEL, "--push-label"},
		{OPTION_PUSH_RELABEL, "--push-relabel"},
		{OPTION_PUSH_THREADS, "--push-threads"},
		{OPTION_PUSH_INTERVAL, "--push-interval"},
		{OPTION_PUSH_SPOOL, "--push-spool"},
		{OPTION_PUSH_SPOOL_BYTES, "--push-spool-bytes"},
		{OPTION_PUSH_SPOOL_AGE, "--push-spool-age"},
	};

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (names[i].option == option)
			return watch_options_set_push(&options->watch, names[i].name, value);
	return 1;
}

static int set_most(struct options *options, const char *text)
{
	double most;

	if (!options_parse_number(text, 1, 1e15, &most) || most != floor(most))
		return options_bad_value("--most", text, "a number of samples is needed");
	options->replay.most = (uint64_t)most;
	return 0;
}

static int apply_replay(struct options *options, int option, const char *value)
{
	switch (option) {
	case OPTION_MATCH:
		options->replay.match = value;
		options->replay.given = "--match";
		return 0;
	case OPTION_MOST:
		options->replay.given = "--most";
		return set_most(options, value);
	default:
		return 1;
	}
}

static int apply_top(struct options *options, int option, const char *value)
{
	return top_options_apply(&options->top, option, value);
}

/* Applies options of a store. The daemon has --store too. */
static int apply_history(struct options *options, int option, const char *value)
{
	const char *const given = option == OPTION_STORE  ? "--store"
				  : option == OPTION_FROM ? "--from"
				  : option == OPTION_TO	  ? "--to"
							  : NULL;

	if (!given)
		return 1;
	if (!options->history_given)
		options->history_given = given;
	if (option == OPTION_STORE)
		options->history.dir = value;
	else if (option == OPTION_FROM)
		options->history.from = value;
	else
		options->history.to = value;
	return 0;
}

/* Applies options that choose the command or how its output is written. */
static int apply_command(struct options *options, int option, const char *value)
{
	(void)value;
	switch (option) {
	case OPTION_JSON:
		options->json = true;
		return 0;
	case OPTION_VERBOSE:
		options->verbose = true;
		return 0;
	case OPTION_VERSION:
		options->command = COMMAND_VERSION;
		return 0;
	case OPTION_WATCH:
		if (options->command != COMMAND_VERSION)
			options->command = COMMAND_WATCH;
		return 0;
	default:
		return 1;
	}
}

/* getopt_long has named the option that does not exist. An option without its value exists. */
static int say_instead(const char *word)
{
	const char *const instead = foreign_option_instead(word, optopt);

	if (instead)
		log_error("in place of %s: %s", word, instead);
	return -EINVAL;
}

static int apply(struct options *options, int option, const char *word)
{
	static int (*const subjects[])(struct options *, int, const char *) = {
		target_options_apply, sample_options_apply,
		output_options_apply, name_options_apply,
		place_options_apply,  apply_daemon,
		apply_replay,	      apply_top,
		apply_push,	      apply_history,
		apply_command,
	};
	int err = 1;

	for (size_t i = 0; err == 1 && i < sizeof(subjects) / sizeof(subjects[0]); i++)
		err = subjects[i](options, option, optarg);
	return err == 1 ? say_instead(word) : err;
}

/* COMMAND_NONE: the word is no command. */
static enum command command_of(const char *word)
{
	static const struct {
		const char *word;
		enum command command;
	} commands[] = {
		{"record", COMMAND_RECORD},   {"list", COMMAND_LIST},	    {"top", COMMAND_TOP},
		{"doctor", COMMAND_DOCTOR},   {"watch", COMMAND_WATCH},	    {"help", COMMAND_HELP},
		{"version", COMMAND_VERSION}, {"render", COMMAND_RENDER},   {"diff", COMMAND_DIFF},
		{"replay", COMMAND_REPLAY},   {"history", COMMAND_HISTORY},
	};

	for (size_t i = 0; i < sizeof(commands) / sizeof(commands[0]); i++) {
		if (strcmp(commands[i].word, word) == 0)
			return commands[i].command;
	}
	return COMMAND_NONE;
}

/* Chooses the help of the last word that is a command; --watch is one too. */
static void set_help(struct options *options, const struct help *help, int argc, char **argv)
{
	options->command = COMMAND_HELP;
	options->help_has_all = help->is_of_all;
	for (int i = 1; i < argc; i++) {
		if (strcmp(argv[i], "--watch") == 0)
			options->help_of = COMMAND_WATCH;
	}
	for (int i = 0; i < help->n_words; i++) {
		const enum command command = command_of(help->words[i]);

		if (command != COMMAND_NONE && command != COMMAND_HELP)
			options->help_of = command;
	}
}

/* Whether the user asks for help, by an option or by the word help. */
static bool take_help(struct options *options, int argc, char **argv)
{
	_cleanup_(help_fini) struct help help;

	help_look(&help, argc, argv, collect_short_options, collect_long_options);
	for (int i = 0; i < help.n_words; i++)
		help.is_asked |= command_of(help.words[i]) == COMMAND_HELP;
	if (help.is_asked)
		set_help(options, &help, argc, argv);
	return help.is_asked;
}

static int set_command(struct options *options, const char *word)
{
	const enum command command = command_of(word);

	if (options->command == COMMAND_REPLAY && !options->replay.path) {
		options->replay.path = word; /* whatever it is called */
		return 0;
	}
	if (command == COMMAND_RENDER || command == COMMAND_DIFF)
		return options_bad_value(
			"command", word,
			"it stands before its options: try 'fgcollect render --help'");
	if (command != COMMAND_NONE) {
		if (options->command == COMMAND_VERSION)
			return 0;
		if (options->command != COMMAND_NONE && options->command != command)
			return options_bad_value("command", word, "there is one already");
		options->command = command;
		return 0;
	}
	if (options->command == COMMAND_REPLAY)
		return options_bad_value(
			"replay", word,
			"one capture is replayed at a time, and there is one already");
	if (options->command != COMMAND_NONE) {
		log_error("%s: a command takes options alone: a process is -p PID, a container "
			  "--container NAME, a file -o FILE",
			  word);
		return -EINVAL;
	}
	log_error("%s: no such command; there are: record, top, list, doctor, render, diff, "
		  "replay, history, --watch, "
		  "--version, "
		  "--help",
		  word);
	return -EINVAL;
}

/* Refuses options that only record has. */
static int check_record(const struct options *options)
{
	const char *given = options->ends_with_stdin ? "--until-eof"
			    : options->says_progress ? "--progress"
						     : NULL;

	if (!given || options->command == COMMAND_RECORD)
		return 0;
	log_error("%s goes with record", given);
	return -EINVAL;
}

/* What goes with record and replay. */
static int check_drawing(const struct options *options)
{
	const char *given = options->splits_levels	? "--split-levels"
			    : options->java_only	? "--java-only"
			    : options->folds_frameworks ? "--fold-frameworks"
			    : options->shows_starts	? "--thread-starts"
			    : options->capture_path	? "--capture"
							: NULL;

	if (options->capture_path && recording_kinds(&options->recording) != SAMPLES_OF_CPU) {
		log_error(
			"--capture goes with --kind cpu: a capture holds samples of the CPU alone");
		return -EINVAL;
	}
	if (!given || options->command == COMMAND_RECORD || options->command == COMMAND_REPLAY)
		return 0;
	log_error("%s goes with record and replay", given);
	return -EINVAL;
}

/* What goes with top too. */
static int check_waits(const struct options *options)
{
	if (!options->waits_given || options->command == COMMAND_RECORD ||
	    options->command == COMMAND_REPLAY || options->command == COMMAND_TOP)
		return 0;
	log_error("%s goes with record, replay and top", options->waits_given);
	return -EINVAL;
}

/* What replay cannot choose any more: what was sampled, how, and where things were. */
static const char *find_sampling(const struct options *options)
{
	const struct recording_options *const recording = &options->recording;
	struct options unset;

	options_init(&unset);
	if (recording->pid > 0 || recording->all || !selector_is_empty(&recording->select))
		return "what to record";
	if (options->has_duration || recording->hz != unset.recording.hz || recording->event[0])
		return "-d, -F and -e";
	if (recording->kinds || recording->wall_hz || recording->waits.is_asked ||
	    recording->probes.alloc_interval || recording->probes.is_live)
		return "--kind";
	if (options->is_fp_only || options->has_stack_size)
		return "--unwind and --stack-size";
	if (options->jitdump_dir || options->symbol_cache || options->map_names ||
	    strcmp(options->socket_path, unset.socket_path) != 0 ||
	    strcmp(options->map_dir, unset.map_dir) != 0)
		return "where things are";
	return options->json ? "--json" : NULL;
}

static int check_replay(const struct options *options)
{
	const char *const sampling = find_sampling(options);

	if (options->command != COMMAND_REPLAY) {
		if (!options->replay.given)
			return 0;
		log_error("%s goes with replay", options->replay.given);
		return -EINVAL;
	}
	if (!options->replay.path) {
		log_error("replay: which capture? A file is needed, which record --capture has "
			  "written");
		return -EINVAL;
	}
	if (!sampling)
		return 0;
	log_error("replay: %s is what record was told: a capture cannot be asked for more",
		  sampling);
	return -EINVAL;
}

/* What goes with history, with top of a store, and with the daemon. */
static int check_history(const struct options *options)
{
	const struct store_request *const history = &options->history;
	const char *const given = options->history_given;
	const bool is_range = history->from || history->to;

	if (!given || options->command == COMMAND_HISTORY)
		return 0;
	if (options->command == COMMAND_WATCH && !is_range)
		return 0;
	if (options->command != COMMAND_TOP) {
		log_error("%s goes with history, top, render and diff%s", given,
			  is_range ? "" : ", and with --watch");
		return -EINVAL;
	}
	if (!history->from) {
		log_error("%s: --from says from when on top shows what ran, such as --from -1h",
			  given);
		return -EINVAL;
	}
	if (!options->top.is_once && !options->json) {
		log_error("--from goes with --once or --json: what has been does not change");
		return -EINVAL;
	}
	if (options->has_duration) {
		log_error("-d goes with what runs now: --from and --to say how long");
		return -EINVAL;
	}
	return 0;
}

static int check(const struct options *options)
{
	const struct recording_options *recording = &options->recording;
	const bool has_names = !selector_is_empty(&recording->select);

	if (recording->n_more_pids > 0 &&
	    (options->command == COMMAND_HISTORY || options->history_given)) {
		log_error("-p: a store is asked for one PID at a time");
		return -EINVAL;
	}
	if (recording->pid > 0 && (recording->all || has_names)) {
		log_error("-p names a process: it goes neither with -a nor with --container and "
			  "its like");
		return -EINVAL;
	}
	if (options->is_fp_only && options->has_stack_size) {
		log_error("--stack-size goes with --unwind=full: with fp there are no snapshots");
		return -EINVAL;
	}
	if (options->jitdump_dir && options->command == COMMAND_LIST) {
		log_error("--jitdump goes with --watch or record, not with list");
		return -EINVAL;
	}
	if (options->symbol_cache && options->command == COMMAND_LIST) {
		log_error("--symbol-cache goes with --watch or record, not with list");
		return -EINVAL;
	}
	if (options->watch.first_given && options->command != COMMAND_WATCH) {
		log_error("%s goes with --watch", options->watch.first_given);
		return -EINVAL;
	}
	if (options->top.given && options->command != COMMAND_TOP) {
		log_error("%s goes with top", options->top.given);
		return -EINVAL;
	}
	if (options->command == COMMAND_NONE) {
		log_error("what is to be done? Try: fgcollect record, or fgcollect --help");
		return -EINVAL;
	}
	return 0;
}

/*
 * Prepares the recording of top. The recording goes on until top ends, and its tree tells the
 * process of each sample.
 */
static int make_top(struct options *options)
{
	struct recording_options *recording = &options->recording;
	const uint64_t delay_ns = options->has_duration ? recording->duration_ns : 0;
	const int err = top_options_finish(&options->top, delay_ns);

	if (options->n_outputs > 0 || options->title || recording->style.by_thread) {
		log_error("-o, --title and --threads are record's: top draws nothing; its --view "
			  "threads tells threads apart");
		return -EINVAL;
	}
	recording->duration_ns = RECORDING_ENDLESS_NS;
	recording->window_seconds = options->top.window_seconds;
	recording->style.by_pid = true;
	return err;
}

int command_line_parse(struct options *options, int argc, char **argv)
{
	int option, err = 0;

	options_init(options);
	if (take_help(options, argc, argv))
		return 0;
	while (!err && (option = getopt_long(argc, argv, collect_short_options,
					     collect_long_options, NULL)) >= 0)
		err = apply(options, option, argv[optind - 1]);
	for (; !err && optind < argc; optind++)
		err = set_command(options, argv[optind]);
	if (!err)
		err = check(options);
	if (!err)
		err = kind_options_check(options);
	if (!err)
		err = check_record(options);
	if (!err)
		err = check_drawing(options);
	if (!err)
		err = check_waits(options);
	if (!err)
		err = check_replay(options);
	if (!err)
		err = check_history(options);
	if (!err)
		err = output_options_finish(options);
	if (!err)
		err = kind_options_check_outputs(options);
	if (!err && options->command == COMMAND_WATCH && options->history.dir)
		err = watch_options_set_store(&options->watch, options->history.dir);
	if (!err && options->command == COMMAND_WATCH)
		err = watch_options_check(&options->watch);
	sample_options_finish(options);
	if (!err && options->command == COMMAND_TOP)
		err = make_top(options);
	if (err)
		push_options_fini(&options->watch.push);
	return err;
}
