// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   struct options -> the command, carried out
 * units:   none
 * threads: the main one
 * errors:  the process's exit code: 0, or 1 after a message on stderr
 * source:  none
 */
#ifndef FG_CLI_COMMANDS_H
#define FG_CLI_COMMANDS_H

#include "cli/options.h"

#include <jansson.h>

int command_record(const struct options *options);
int command_replay(const struct options *options);
int command_top(const struct options *options);
int command_watch(const struct options *options);
int command_list(const struct options *options);
int command_doctor(const struct options *options);
int command_history(const struct options *options);
/* top of a store: see options.history. */
int command_history_top(const struct options *options);

/*
 * The list of JVMs, as jvm_list.h has it: the daemon's, or without a daemon the JVMs whose agents
 * connect within a moment. The caller owns *ret. Negative errno.
 */
int command_list_ask(const struct options *options, json_t **ret);

/* render and diff parse their own options. argv[0] is the command. 2: the command line is wrong. */
int command_render(int argc, char **argv);
int command_diff(int argc, char **argv);

#endif
