// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   what the daemon does -> what the service manager is told of it
 * units:   CLOCK_MONOTONIC nanoseconds
 * threads: one
 * errors:  none: without a manager, or without one that listens, nothing is told
 * source:  sd_notify(3), sd_watchdog_enabled(3)
 *
 * READY=1 when the daemon listens, STATUS= when what it says has changed, WATCHDOG=1 twice as often
 * as the manager asks for, STOPPING=1 at the end.
 */
#ifndef FG_SERVE_SERVICE_H
#define FG_SERVE_SERVICE_H

#include <stdint.h>

struct service {
	uint64_t watchdog_ns; /* between two signs of life; 0: none are asked for */
	uint64_t next_ns;
	char status[160];
};

void service_ready(struct service *service);
/* From the loop, whose turning it stands for; a text that is the same is told once. */
void service_step(struct service *service, uint64_t now_ns, const char *status);
void service_stopping(void);

/* The longest that the loop may wait, of max_wait_ns. */
uint64_t service_wait_ns(const struct service *service, uint64_t max_wait_ns);

#endif
