// SPDX-License-Identifier: Apache-2.0
/* Reads the command line, see command_line.h. The first word that is no option is the command. */
#include "cli/command_line.h"

#include "base/cleanup.h"
#include "cli/foreign_options.h"
#include "cli/option_setters.h"
#include "cli/output_options.h"
#include "options/help.h"
#include "options/nearest.h"
#include "options/option_fault.h"
#include "options/option_value.h"
#include "options/tables.h"

#include <errno.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>

/* The commands, as people type them, and as the rows of options know them. */
static const struct {
	const char *word;
	enum command command;
	unsigned bit; /* 0: it takes no options here */
} commands[] = {
	{"record", COMMAND_RECORD, OPTIONS_OF_RECORD},
	{"list", COMMAND_LIST, OPTIONS_OF_LIST},
	{"top", COMMAND_TOP, OPTIONS_OF_TOP},
	{"doctor", COMMAND_DOCTOR, OPTIONS_OF_DOCTOR},
	{"watch", COMMAND_WATCH, OPTIONS_OF_WATCH},
	{"replay", COMMAND_REPLAY, OPTIONS_OF_REPLAY},
	{"history", COMMAND_HISTORY, OPTIONS_OF_HISTORY},
	{"help", COMMAND_HELP, 0},
	{"version", COMMAND_VERSION, 0},
	{"render", COMMAND_RENDER, 0},
	{"diff", COMMAND_DIFF, 0},
};

/* COMMAND_NONE: the word is no command. */
static enum command command_of(const char *word)
{
	for (size_t i = 0; i < sizeof(commands) / sizeof(commands[0]); i++) {
		if (strcmp(commands[i].word, word) == 0)
			return commands[i].command;
	}
	return COMMAND_NONE;
}

const char *command_line_word(enum command command)
{
	if (command == COMMAND_WATCH)
		return "--watch";
	for (size_t i = 0; i < sizeof(commands) / sizeof(commands[0]); i++) {
		if (commands[i].command == command)
			return commands[i].word;
	}
	return "";
}

static unsigned bit_of(enum command command)
{
	for (size_t i = 0; i < sizeof(commands) / sizeof(commands[0]); i++) {
		if (commands[i].command == command)
			return commands[i].bit;
	}
	return 0;
}

/* Says what getopt_long could not read. */
static int say_fault(const struct options *options, int answer, char *const *argv)
{
	const struct option_names names = {
		.letters = collect_short_options,
		.list = collect_long_options,
		.rows = collect_rows,
		.command = bit_of(options->help_of),
	};
	struct option_fault fault;
	char why[OPTION_WHY_BYTES];

	option_fault_read(&fault, &names, answer, argv);
	option_fault_tell(&fault, &names, foreign_option_instead(fault.typed, fault.letter), why);
	log_error("%s", why);
	return -EINVAL;
}

/* Chooses the help of the last word that is a command; --watch is one too. */
static void choose_help(struct options *options, const struct help *help, int argc, char **argv)
{
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

/*
 * Whether the user asks for help, by an option or by the word help. Which help would serve is known
 * after this in any case: an error names it.
 */
static bool take_help(struct options *options, int argc, char **argv)
{
	_cleanup_(help_fini) struct help help;

	help_look(&help, argc, argv, collect_short_options, collect_long_options);
	for (int i = 0; i < help.n_words; i++)
		help.is_asked |= command_of(help.words[i]) == COMMAND_HELP;
	choose_help(options, &help, argc, argv);
	if (help.is_asked) {
		options->command = COMMAND_HELP;
		options->help_has_all = help.is_of_all;
	}
	return help.is_asked;
}

/* Refuses a word that is no command, and says which one may have been meant. */
static int refuse_command(const char *word)
{
	struct nearest nearest;

	nearest_begin(&nearest, word, strlen(word));
	for (size_t i = 0; i < sizeof(commands) / sizeof(commands[0]); i++)
		nearest_try(&nearest, commands[i].word);
	if (nearest.found)
		log_error("%s: no such command; is %s meant?", word, nearest.found);
	else
		log_error("%s: no such command; there are: record, top, list, doctor, render, "
			  "diff, replay, history, --watch, --version, --help",
			  word);
	return -EINVAL;
}

static int set_command(struct options *options, const char *word)
{
	const enum command command = command_of(word);

	if (options->command == COMMAND_REPLAY && !options->replay.path) {
		options->replay.path = word; /* whatever it is called */
		return 0;
	}
	if (command == COMMAND_RENDER || command == COMMAND_DIFF)
		return option_bad_value(
			"command", word,
			"it stands before its options: try 'fgcollect render --help'");
	if (command != COMMAND_NONE) {
		if (options->command == COMMAND_VERSION)
			return 0;
		if (options->command != COMMAND_NONE && options->command != command)
			return option_bad_value("command", word, "there is one already");
		options->command = command;
		return 0;
	}
	if (options->command == COMMAND_REPLAY)
		return option_bad_value(
			"replay", word,
			"one capture is replayed at a time, and there is one already");
	if (options->command != COMMAND_NONE) {
		log_error("%s: a command takes options alone: a process is -p PID, a container "
			  "--container NAME, a file -o FILE",
			  word);
		return -EINVAL;
	}
	return refuse_command(word);
}

/* Options that choose the command, or are options of all. False: another. */
static bool take_command(struct options *options, int number)
{
	if (number == OPTION_VERSION)
		options->command = COMMAND_VERSION;
	else if (number == OPTION_WATCH && options->command != COMMAND_VERSION)
		options->command = COMMAND_WATCH;
	return number == OPTION_VERSION || number == OPTION_WATCH;
}

/* Finds the options, before it is known which command they are for. */
static int find_options(struct options *options, int argc, char **argv, struct options_given *given)
{
	int number;

	while ((number = getopt_long(argc, argv, collect_short_options, collect_long_options,
				     NULL)) >= 0) {
		if (number == '?' || number == ':')
			return say_fault(options, number, argv);
		if (!take_command(options, number))
			options_given_add(given, number, optarg ? optarg : "");
	}
	for (; optind < argc; optind++) {
		const int err = set_command(options, argv[optind]);

		if (err)
			return err;
	}
	if (options->command != COMMAND_NONE)
		return 0;
	log_error("what is to be done? Try: fgcollect record, or fgcollect --help");
	return -EINVAL;
}

/* Sets what the options say, and checks whether they go together. */
static int set_options(struct options *options, struct options_given *given)
{
	char why[OPTION_WHY_BYTES];

	given->command = bit_of(options->command);
	for (size_t i = 0; given->command && i < given->count; i++) {
		const struct option_row *const row = options_given_take(given, i);
		const int err = row ? collect_set(options, row, given->list[i].text) : -EINVAL;

		if (err)
			return err;
	}
	if (!given->command || options_given_check(given, why) == 0)
		return 0;
	log_error("%s", why);
	return -EINVAL;
}

static int read_options(struct options *options, int argc, char **argv)
{
	_cleanup_free_ struct option_given *list =
		calloc(options_given_most(argc, argv), sizeof(struct option_given));
	struct options_given given = {.rows = collect_rows, .list = list};
	int err;

	if (!list)
		return -ENOMEM;
	err = find_options(options, argc, argv, &given);
	return err ? err : set_options(options, &given);
}

/*
 * Prepares the recording of top. The recording goes on until top ends, and its tree tells the
 * process of each sample.
 */
static int make_top(struct options *options)
{
	struct recording_options *recording = &options->recording;
	const uint64_t delay_ns = options->has_duration ? recording->duration_ns : 0;

	if (recording_has_several(recording)) {
		log_error("--kind: top shows one kind: cpu, wall, offcpu, alloc, objects, lock, "
			  "contentions or exceptions");
		return -EINVAL;
	}
	recording->duration_ns = RECORDING_ENDLESS_NS;
	recording->style.by_pid = true;
	return top_options_finish(&options->top, delay_ns, &recording->window_seconds);
}

static int check_replay(const struct options *options)
{
	if (!options->replay.path) {
		log_error("replay: which capture? A file is needed, which record --capture has "
			  "written");
		return -EINVAL;
	}
	if (options->dump.kinds & DUMP_EVENTS) {
		log_error("--dump events: a capture has code as it was, and not the events that "
			  "told of it");
		return -EINVAL;
	}
	return 0;
}

/* A store is asked for one process, or for all that have a name. */
static int check_history(const struct options *options)
{
	if (options->recording.n_more_pids == 0)
		return 0;
	log_error("-p: a store is asked for one PID at a time");
	return -EINVAL;
}

/* What a command makes of its options, once all are known. */
static int finish(struct options *options)
{
	struct recording_options *const recording = &options->recording;

	if (recording->hz == 0)
		recording->hz =
			options->command == COMMAND_WATCH ? WATCH_DEFAULT_HZ : SAMPLER_DEFAULT_HZ;
	if (options->is_fp_only)
		recording->stack_bytes = 0;
	switch (options->command) {
	case COMMAND_WATCH:
		return watch_options_check(&options->watch);
	case COMMAND_REPLAY:
		return check_replay(options);
	case COMMAND_HISTORY:
		return check_history(options);
	case COMMAND_TOP:
		return options->history.from && check_history(options) < 0 ? -EINVAL
									   : make_top(options);
	default:
		return 0;
	}
}

int command_line_parse(struct options *options, int argc, char **argv)
{
	int err;

	options_init(options);
	if (take_help(options, argc, argv))
		return 0;
	err = read_options(options, argc, argv);
	if (!err)
		err = output_options_finish(options);
	if (!err)
		err = finish(options);
	if (err)
		push_options_fini(&options->watch.push);
	return err;
}
