// SPDX-License-Identifier: Apache-2.0
/* fgcollect: reads the command line and does what it says. Exit 0, 1 (failed), 2 (usage). */
#include "cli/command_line.h"
#include "cli/commands.h"

#include "base/log.h"
#include "confine/zygote.h"
#include "guard/heap.h"
#include "options/tables.h"
#include "symbolize/parsers.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#define EXIT_USAGE 2

static int print_version(void)
{
	printf("fgcollect %s\n", FG_VERSION);
	return EXIT_SUCCESS;
}

/* is_whole: the help has all options of its command. */
static const struct help_text {
	enum command command;
	bool is_whole;
	const char *text;
} help_texts[] = {
	{COMMAND_TOP, true, help_of_top},	 {COMMAND_RENDER, true, help_of_render},
	{COMMAND_DIFF, true, help_of_diff},	 {COMMAND_HISTORY, true, help_of_history},
	{COMMAND_RECORD, false, help_of_record}, {COMMAND_WATCH, false, help_of_watch},
	{COMMAND_REPLAY, false, help_of_replay}, {COMMAND_LIST, true, help_of_list},
	{COMMAND_DOCTOR, true, help_of_doctor},
};

static int print_help(enum command command, bool has_all)
{
	const char *text = has_all ? help_of_all : help_of_fgcollect;

	for (size_t i = 0; i < sizeof(help_texts) / sizeof(help_texts[0]); i++) {
		if (help_texts[i].command == command && (help_texts[i].is_whole || !has_all))
			text = help_texts[i].text;
	}
	fputs(text, stdout);
	return EXIT_SUCCESS;
}

static void say_try(const char *command)
{
	fprintf(stderr, "Try 'fgcollect %s%s--help'.\n", command, command[0] ? " " : "");
}

/*
 * Raises the limit of open files as far as allowed: each agent needs one descriptor, perf events
 * need many.
 */
static void raise_file_limit(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur < limit.rlim_max) {
		limit.rlim_cur = limit.rlim_max;
		setrlimit(RLIMIT_NOFILE, &limit);
	}
}

int main(int argc, char **argv)
{
	struct options options;

	heap_init();
	zygote_become(argc, argv, parser_roles);
	log_detect_journal();
	signal(SIGPIPE, SIG_IGN);
	signal(SIGXFSZ, SIG_IGN); /* then a write beyond the file limit fails */
	if (argc > 1 && strcmp(argv[1], "render") == 0)
		return command_render(argc - 1, argv + 1);
	if (argc > 1 && strcmp(argv[1], "diff") == 0)
		return command_diff(argc - 1, argv + 1);
	raise_file_limit();
	if (command_line_parse(&options, argc, argv) < 0) {
		say_try(command_line_word(options.help_of));
		return EXIT_USAGE;
	}
	log_set_level(options.verbose ? LOG_LEVEL_DEBUG : options.log_level);
	switch (options.command) {
	case COMMAND_VERSION:
		return print_version();
	case COMMAND_WATCH:
		return command_watch(&options);
	case COMMAND_RECORD:
		return command_record(&options);
	case COMMAND_TOP:
		return options.history.from ? command_history_top(&options) : command_top(&options);
	case COMMAND_REPLAY:
		return command_replay(&options);
	case COMMAND_LIST:
		return command_list(&options);
	case COMMAND_DOCTOR:
		return command_doctor(&options);
	case COMMAND_HISTORY:
		return command_history(&options);
	default:
		return print_help(options.help_of, options.help_has_all);
	}
}
