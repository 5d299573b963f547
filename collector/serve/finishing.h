// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   when clients were last heard -> whether a daemon that is to end waits for them
 * units:   nanoseconds of guard/loop_clock.h
 * threads: any
 * errors:  none
 * source:  signal(7); what clients do: cli/remote_recorder.c
 *
 * A client whose recording ends with the daemon asks on, and gets its graph. A client that holds
 * its connection and says nothing is not waited for as long.
 */
#ifndef FG_SERVE_FINISHING_H
#define FG_SERVE_FINISHING_H

#include "base/clock.h"

#include <stdbool.h>
#include <stdint.h>

#define FINISHING_PATIENCE_NS (5 * CLOCK_NS_PER_SEC) /* for whom something is being made */
#define FINISHING_SILENCE_NS  (2 * CLOCK_NS_PER_SEC) /* for everybody else */

struct finishing {
	uint64_t begun_ns;
	bool is_busy;	   /* something is being made for a client */
	uint64_t asked_ns; /* when a client last asked for its recording; 0: none did */
};

bool finishing_goes_on(const struct finishing *finishing, uint64_t now_ns);

#endif
