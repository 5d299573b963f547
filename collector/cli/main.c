// SPDX-License-Identifier: Apache-2.0
/* fgcollect: reads the command line and does what it says. Exit 0, 1 (failed), 2 (usage). */
#include "cli/commands.h"
#include "draw/draw_options.h"
#include "cli/options.h"

#include "base/log.h"

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

static int print_help(const struct options *options)
{
	switch (options->help_of) {
	case COMMAND_TOP:
		top_options_print_help(stdout);
		break;
	case COMMAND_RENDER:
		draw_options_print_help(DRAW_RENDER, stdout);
		break;
	case COMMAND_DIFF:
		draw_options_print_help(DRAW_DIFF, stdout);
		break;
	default:
		options_print_help(stdout);
	}
	return EXIT_SUCCESS;
}

/* One descriptor for each agent, and many for perf events: as many as the system lets us have. */
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

	log_detect_journal();
	signal(SIGPIPE, SIG_IGN);
	signal(SIGXFSZ, SIG_IGN); /* a file at its limit is an error of the write */
	if (argc > 1 && strcmp(argv[1], "render") == 0) {
		argv[1] = argv[0]; /* for getopt's messages */
		return command_render(argc - 1, argv + 1);
	}
	if (argc > 1 && strcmp(argv[1], "diff") == 0) {
		argv[1] = argv[0];
		return command_diff(argc - 1, argv + 1);
	}
	raise_file_limit();
	if (options_parse(&options, argc, argv) < 0) {
		fputs("Try 'fgcollect --help'.\n", stderr);
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
		return command_top(&options);
	case COMMAND_LIST:
		return command_list(&options);
	case COMMAND_DOCTOR:
		return command_doctor(&options);
	default:
		return print_help(&options);
	}
}
