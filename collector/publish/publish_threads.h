// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   a number of threads -> whether they can be started now
 * units:   threads
 * threads: any
 * errors:  none
 * source:  pthread_create(3); libnng 1.5: src/core/init.c
 *
 * libnng 1.5 starts all of its threads when its first socket is opened. If the fifth or a later one
 * cannot be started, libnng ends the process, or waits for ever. So it is tried before.
 */
#ifndef FG_PUBLISH_PUBLISH_THREADS_H
#define FG_PUBLISH_PUBLISH_THREADS_H

#include <stdbool.h>

#define PUBLISH_NICE 5

/* More than libnng starts on this machine. */
unsigned publish_threads_wanted(void);
/* Starts so many threads at a time, and ends them. */
bool publish_threads_can_start(unsigned count);
/* The calling thread, and the threads that it starts, leave processors to the loop. */
void publish_threads_yield(void);

#endif
