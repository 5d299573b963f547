// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   none
 * units:   none
 * threads: the calling thread; threads that it makes later inherit the setting
 * errors:  none; kernels before 6.12 ignore the wish
 * source:  sched_setattr(2), Documentation/scheduler/sched-eevdf.rst
 *
 * A thread that asks for short time slices gets its next slice sooner, but no more processor time.
 * Where other threads wait for every CPU, the collector then comes some milliseconds sooner, while
 * a process that has just begun still runs.
 */
#ifndef FG_GUARD_TURN_H
#define FG_GUARD_TURN_H

/* Asks for the shortest time slices. */
void turn_ask_short(void);

#endif
