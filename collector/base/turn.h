// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   none
 * units:   none
 * threads: the calling one; those that it makes later are like it
 * errors:  none: it is a wish, and kernels before 6.12 do not know it
 * source:  sched_setattr(2), Documentation/scheduler/sched-eevdf.rst
 *
 * Whoever asks for short turns of the processor is given one sooner, and no more of them: where
 * others wait for every CPU, that is milliseconds in which a process that has just begun can still
 * be looked at.
 */
#ifndef FG_BASE_TURN_H
#define FG_BASE_TURN_H

void turn_ask_short(void);

#endif
