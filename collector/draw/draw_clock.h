// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   samples of perf's clocks, which weigh nanoseconds -> processor time
 * units:   microseconds afterwards, as all times of a profile
 * threads: one
 * errors:  none
 * source:  perf_event_open(2): cpu-clock and task-clock count nanoseconds
 *
 * perf script prints a sample's period, which of these two events is a time: 10101010 is 10.1 ms.
 * So people see times, and not numbers of an event. The text that render itself writes for perf's
 * readers has cpu-clock too, with numbers of samples: such a file has stacks that weigh less than
 * the shortest period of perf.
 */
#ifndef FG_DRAW_DRAW_CLOCK_H
#define FG_DRAW_DRAW_CLOCK_H

#include "draw/draw_input.h"

/* Whether the weights of the input are nanoseconds of such an event. */
bool draw_clock_is_time(const struct draw_input *input);
/* Makes them microseconds, of the kind cpu. */
void draw_clock_make_time(struct draw_input *input);

#endif
