// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   options that say what is to be recorded or listed -> struct selector
 * units:   none
 * threads: one
 * errors:  -EINVAL, said on stderr
 * source:  getopt_long(3)
 *
 * A command puts TARGET_OPTIONS among its own options and hands what target_options_are says yes to
 * over to target_options_apply.
 */
#ifndef FG_CLI_TARGET_OPTIONS_H
#define FG_CLI_TARGET_OPTIONS_H

#include "process/selector.h"

#include <stdbool.h>

/* In the order of the selector's parts. */
enum {
	TARGET_OPTION_CONTAINER = 1024,
	TARGET_OPTION_POD,
	TARGET_OPTION_LABEL,
	TARGET_OPTION_COMM,
	TARGET_OPTION_JVM,
	TARGET_OPTIONS_END,
};

#define TARGET_OPTIONS                                                                             \
	{"container", required_argument, NULL, TARGET_OPTION_CONTAINER},                           \
		{"pod", required_argument, NULL, TARGET_OPTION_POD},                               \
		{"label", required_argument, NULL, TARGET_OPTION_LABEL},                           \
		{"comm", required_argument, NULL, TARGET_OPTION_COMM},                             \
	{                                                                                          \
		"jvm", required_argument, NULL, TARGET_OPTION_JVM                                  \
	}

#define TARGET_OPTIONS_HELP                                                                        \
	"      --container NAME   processes of the container of that name, or whose ID starts "    \
	"so\n"                                                                                     \
	"      --pod [NS/]NAME    of the pod of that name, in any namespace or in NS, or UID\n"    \
	"      --label KEY=VALUE  of containers with that label, or whose agent says so; may be\n" \
	"                         repeated: all must fit\n"                                        \
	"      --comm NAME        that the kernel calls so\n"                                      \
	"      --jvm REGEX        whose main class or jar fits\n"

bool target_options_are(int option);
int target_options_apply(struct selector *selector, int option, const char *text);

#endif
