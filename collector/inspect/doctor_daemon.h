// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   collectors that run on this host -> findings about who answers here
 * units:   PIDs as the collector sees them
 * threads: one
 * errors:  none
 * source:  intake/listen.h, serve/control_client.h
 */
#ifndef FG_INSPECT_DOCTOR_DAEMON_H
#define FG_INSPECT_DOCTOR_DAEMON_H

#include "container/container.h"
#include "inspect/doctor.h"

#include <stdbool.h>
#include <sys/types.h>

#define DOCTOR_COLLECTORS 4 /* past it, more are not told */

/* A process that is called as the collector is. */
struct doctor_collector {
	pid_t pid;
	char container_id[CONTAINER_ID_BYTES]; /* "": in no container */
};

struct doctor_daemons {
	bool answers; /* a daemon answers at the control socket */
	pid_t owner; /* who listens at the agents' socket; less than 1: nobody, or it is not seen */
	char own_id[CONTAINER_ID_BYTES]; /* the container of the doctor; "": in none */
	/* One of each container that has some; the first process of that container that is seen. */
	struct doctor_collector others[DOCTOR_COLLECTORS];
	size_t n_others;
};

/* Notes a process that is called as the collector is, unless its container is the doctor's own. */
void doctor_daemons_add(struct doctor_daemons *daemons, pid_t pid, const char *container_id);

/* Looks for owner, own_id and others. To be called while the doctor itself listens nowhere. */
void doctor_daemons_look(struct doctor_daemons *daemons, const char *socket_path);

/* Says which collector answers here, and how those in containers are asked. */
void doctor_check_daemons(struct doctor *doctor, const struct doctor_daemons *daemons);

#endif
