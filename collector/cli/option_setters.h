// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   the text of an option that a function of the option table reads -> its value
 * units:   as options.h
 * threads: one
 * errors:  -EINVAL, said on stderr
 * source:  ../options/README.md
 *
 * told is the option's name, for messages.
 */
#ifndef FG_CLI_OPTION_SETTERS_H
#define FG_CLI_OPTION_SETTERS_H

#include "cli/options.h"
#include "options/option_row.h"

int option_add_pid(struct recording_options *recording, const char *told, const char *text);
int option_set_event(struct recording_options *recording, const char *told, const char *text);
int option_set_kinds(unsigned *kinds, const char *told, const char *text);
int option_set_stack_size(uint32_t *bytes, const char *told, const char *text);
int option_set_duration(struct options *options, const char *told, const char *text);
int option_set_map_names(struct options *options, const char *told, const char *text);
/* One more file; of the daemon, its directory. */
int option_add_output(struct options *options, const char *told, const char *text);

/* What the options of the table set. text "": the option has no value. */
int collect_set(struct options *options, const struct option_row *row, const char *text);

#endif
