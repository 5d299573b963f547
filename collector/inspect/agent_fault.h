// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   what is seen of an agent that has not connected -> why, and the remedy
 * units:   PIDs as the collector sees them
 * threads: any
 * errors:  none
 * source:  jvmti-agent/README.md, docs/agent.md
 *
 * The first fault that explains all the rest is the one that is told. What is seen is gathered by
 * doctor_unconnected.c.
 */
#ifndef FG_INSPECT_AGENT_FAULT_H
#define FG_INSPECT_AGENT_FAULT_H

#include "inspect/doctor.h"

#include <stdbool.h>
#include <sys/types.h>

enum agent_fault {
	AGENT_HELD,	      /* listens, and serves another collector */
	AGENT_UNCALLED,	      /* listens, and no collector has dialled */
	AGENT_UNREACHED,      /* listens, and cannot be dialled: dial_error says why */
	AGENT_OFF,	      /* FGAGENT_OPTS=off */
	AGENT_NO_PLACE,	      /* is to listen where no directory is */
	AGENT_DEAF,	      /* is to listen, and does not */
	AGENT_HIDDEN,	      /* this user may not look */
	AGENT_LATE,	      /* sees the collector's directory, and no socket in it */
	AGENT_OLD_DIRECTORY,  /* sees another directory, without a socket */
	AGENT_NO_DIRECTORY,   /* sees no directory */
	AGENT_NO_SOCKET,      /* what it sees is no socket */
	AGENT_LONE_SOCKET,    /* sees a socket that is mounted by itself */
	AGENT_NO_COLLECTOR,   /* no collector has a socket here */
	AGENT_FOREIGN_SOCKET, /* sees a socket that is not the collector's */
	AGENT_SILENT,	      /* sees the collector's socket */
	AGENT_FAULTS,
};

struct agent_sight {
	int dial_error;	       /* of dial_try: -ENODATA: no agent listens; 0: it was reached */
	pid_t holder;	       /* the collector that a listening agent serves; 0: none is seen */
	bool is_off;	       /* by its variable */
	bool is_to_listen;     /* by its options */
	int open_error;	       /* of opening the path of its socket; 0: there is a file */
	bool has_directory;    /* of that path */
	bool is_our_directory; /* and it is the collector's */
	bool is_socket;	       /* what is at the path */
	bool is_our_socket;    /* and it is the collector's */
	bool is_mounted_alone; /* and something is mounted there */
	bool has_our_socket;   /* a collector has a socket, wherever the agent looks */
};

enum agent_fault agent_fault_of(const struct agent_sight *sight);

struct agent_fault_text {
	enum finding_state state;
	const char *what, *fix; /* NULL: the caller's to say */
};

const struct agent_fault_text *agent_fault_text(enum agent_fault fault);

#endif
