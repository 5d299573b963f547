// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   an option of another profiler -> what to write instead
 * units:   none
 * threads: any
 * errors:  NULL: the option is not known
 * source:  asprof --help of async-profiler 4.1, perf-record(1) of Linux 6.18
 */
#ifndef FG_CLI_FOREIGN_OPTIONS_H
#define FG_CLI_FOREIGN_OPTIONS_H

/*
 * Says what to write instead of an option that fgcollect does not have. word is the word of the
 * command line, "-t" or "--call-graph=dwarf"; letter is what getopt(3) could not read, 0: a long
 * option.
 */
const char *foreign_option_instead(const char *word, int letter);

/* The same of an event of async-profiler, such as wall. */
const char *foreign_event_instead(const char *event);

#endif
