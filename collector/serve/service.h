// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   the daemon's state -> notifications of the service manager
 * units:   CLOCK_MONOTONIC nanoseconds
 * threads: one
 * errors:  negative errno, said on stderr: the manager is there, and its library is not
 * source:  sd_notify(3), sd_watchdog_enabled(3)
 *
 * READY=1 when the daemon listens, STATUS= when the status text has changed, WATCHDOG=1 twice as
 * often as the manager asks for, STOPPING=1 at the end.
 */
#ifndef FG_SERVE_SERVICE_H
#define FG_SERVE_SERVICE_H

#include <stdbool.h>
#include <stdint.h>

struct service {
	bool is_told;	      /* the manager is there, and so is its library */
	uint64_t watchdog_ns; /* time between two WATCHDOG=1; 0: the manager asks for none */
	uint64_t next_ns;
	char status[160];
};

/* Without a service manager there is nothing to do. */
int service_ready(struct service *service);
/*
 * Call it in each turn of the loop. Sends WATCHDOG=1 when it is due, and status if it has changed.
 */
void service_step(struct service *service, uint64_t now_ns, const char *status);
void service_stopping(const struct service *service);

/* The longest time that the loop may wait, at most max_wait_ns. */
uint64_t service_wait_ns(const struct service *service, uint64_t max_wait_ns);

#endif
