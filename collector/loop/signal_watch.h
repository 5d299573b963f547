// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   a signal that the loop does not take -> the end of the program
 * units:   nanoseconds of time in which this program ran
 * threads: the loop's; a thread of its own looks
 * errors:  negative errno
 * source:  signal(7), sigpending(2), signalfd(2)
 *
 * The loop reads signals from a descriptor. SIGINT or SIGTERM that it has not read for
 * SIGNAL_WATCH_NS means that the loop stands: the program then ends at once, with an
 * error. The same comes SIGNAL_WATCH_END_NS after the loop has taken it: what has to be done in
 * the end has shorter limits of its own. Only this program's own time counts, so that a program
 * that was stopped for long, and is to end when it goes on, ends in good order.
 */
#ifndef FG_LOOP_SIGNAL_WATCH_H
#define FG_LOOP_SIGNAL_WATCH_H

#include <stdint.h>

#define SIGNAL_WATCH_NS	    UINT64_C(2500000000)
#define SIGNAL_WATCH_END_NS UINT64_C(60000000000)

struct signal_watch; /* opaque */

/* The signals are blocked by now. signal_fd is readable while one of them is pending. */
int signal_watch_start(int signal_fd, struct signal_watch **ret);
/* The loop has read SIGINT or SIGTERM. Further ones change nothing. */
void signal_watch_take(struct signal_watch *watch);
void signal_watch_stop(struct signal_watch *watch); /* NULL is legal */

#endif
