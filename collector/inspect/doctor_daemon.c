// SPDX-License-Identifier: Apache-2.0
/*
 * Who answers 'fgcollect record' on this host. A collector that runs in a container has its sockets
 * there, unless their directory is the host's; so it is asked in its container.
 */
#include "inspect/doctor_daemon.h"

#include "base/cleanup.h"
#include "base/process_stat.h"
#include "intake/listen.h"
#include "process/process.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define COLLECTOR "fgcollect"

void doctor_daemons_add(struct doctor_daemons *daemons, pid_t pid, const char *container_id)
{
	struct doctor_collector *const other = &daemons->others[daemons->n_others];

	if (!container_id[0] || strcmp(container_id, daemons->own_id) == 0 ||
	    daemons->n_others == DOCTOR_COLLECTORS)
		return;
	for (size_t i = 0; i < daemons->n_others; i++) {
		if (strcmp(daemons->others[i].container_id, container_id) == 0)
			return;
	}
	other->pid = pid;
	snprintf(other->container_id, sizeof(other->container_id), "%s", container_id);
	daemons->n_others++;
}

/* Reads the ID of the process's container; "": in none. */
static void read_container_id(pid_t pid, char ret[CONTAINER_ID_BYTES])
{
	struct container container;

	ret[0] = '\0';
	if (container_read(pid, &container) < 0)
		return;
	snprintf(ret, CONTAINER_ID_BYTES, "%s", container.id);
	container_fini(&container);
}

void doctor_daemons_look(struct doctor_daemons *daemons, const char *socket_path)
{
	_cleanup_closedir_ DIR *dir = opendir("/proc");
	char comm[PROCESS_COMM_BYTES], id[CONTAINER_ID_BYTES];
	const struct dirent *entry;

	daemons->owner = listen_owner(socket_path);
	read_container_id(getpid(), daemons->own_id);
	while (dir && (entry = readdir(dir))) {
		const pid_t pid = (pid_t)strtol(entry->d_name, NULL, 10);

		if (pid <= 0)
			continue;
		process_stat_comm(pid, pid, comm, sizeof(comm));
		if (strcmp(comm, COLLECTOR) != 0)
			continue;
		read_container_id(pid, id);
		doctor_daemons_add(daemons, pid, id);
	}
}

static void say_other(struct doctor *doctor, const struct doctor_collector *other)
{
	const int len = container_short_len(other->container_id);
	const struct finding finding = {.check = "daemon", .state = FINDING_NOTE};
	char fix[256];

	snprintf(fix, sizeof(fix),
		 "ask it there: docker exec %.*s fgcollect record ... (Kubernetes: kubectl "
		 "fgcollect, "
		 "or kubectl exec), or show the directory of its sockets to this host: -v "
		 "/run/fgcollect:/run/fgcollect",
		 len, other->container_id);
	doctor_say(doctor, &finding, fix,
		   "a collector runs in container %.*s, PID %d, and is not asked from here", len,
		   other->container_id, (int)other->pid);
}

void doctor_check_daemons(struct doctor *doctor, const struct doctor_daemons *daemons)
{
	struct finding finding = {.check = "daemon", .state = FINDING_NOTE};

	if (daemons->answers) {
		finding.state = FINDING_OK;
		doctor_say(doctor, &finding, NULL, "one answers record, top and list here");
		return;
	}
	if (daemons->owner > 0)
		doctor_say(doctor, &finding,
			   "wait until it ends, or start 'fgcollect --watch' in place of it, which "
			   "serves record, top and list at a time",
			   "PID %d listens to agents and is no daemon, such as 'fgcollect record': "
			   "no second one can",
			   (int)daemons->owner);
	else if (daemons->n_others == 0)
		doctor_say(
			doctor, &finding, "systemctl start fgcollect, or 'fgcollect --watch'",
			"none is running: record, top and list work alone, one at a time, and wait "
			"until agents have dialled");
	for (size_t i = 0; i < daemons->n_others; i++)
		say_other(doctor, &daemons->others[i]);
}
