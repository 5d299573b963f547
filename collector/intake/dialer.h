// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   JVMs whose agents listen -> sessions of the intake
 * units:   CLOCK_MONOTONIC nanoseconds
 * threads: one, the intake's
 * errors:  none; an agent that cannot be reached is counted, logged and dialled again
 * source:  intake/finder.h, intake/dial.h
 *
 * Each agent that the finder finds is dialled, and dialled again when its session has ended: after
 * 50 ms first, and after twice as long each time that the agent does not answer, up to 30 s. A
 * session shorter than DIALER_LASTING_NS counts as no answer. A connection that is being made is
 * waited for without an end, and there is one at a time for each agent.
 *
 * Past DIALER_MAX_AGENTS the container or user with the most agents loses one for that of
 * another: first one that has never greeted. The finder finds again later whoever had no place.
 *
 * The agent's process is identified by its PID and start time. They are checked against the open
 * directory of the process in /proc, before and after the connection is made, and against the
 * kernel's word on which process listens at the socket.
 */
#ifndef FG_INTAKE_DIALER_H
#define FG_INTAKE_DIALER_H

#include "base/counters.h"
#include "intake/announcement.h"
#include "intake/finder.h"
#include "intake/intake.h"

#define DIALER_MAX_AGENTS  4096
#define DIALER_MAX_WAIT_NS UINT64_C(30000000000)
#define DIALER_LASTING_NS  UINT64_C(5000000000)

struct dialer_agent {
	pid_t pid;
	uint64_t start_ticks;
	char path[ANNOUNCEMENT_PATH_BYTES];
	uint32_t session;	     /* ID of its session; 0: none */
	bool is_greeted;	     /* the session has opened */
	uint64_t opened_ns;	     /* when the latest session opened; 0: none has */
	uint64_t wait_ns;	     /* pause after the next try that fails */
	uint64_t next_ns;	     /* when to dial, or to check the session */
	uint64_t dialled_ns;	     /* when it was last dialled */
	int err;		     /* error of the last try; 0: the agent was reached */
	bool is_told;		     /* a line has said so */
	struct dialling *dialling;   /* the connection that is being made; or NULL */
	struct announcement *search; /* looks whether the agent still listens; NULL: none does */
	uint64_t group;		     /* owner_group of the process's owner */
	uint64_t nth;		     /* of all that were found */
};

struct dialer_stats {
	struct finder_stats finder;
	size_t agents;	     /* known now */
	size_t reached;	     /* agents with an open session */
	uint64_t dialled;    /* connections tried */
	uint64_t failed;     /* tries that failed, also those ended before a connection */
	uint64_t not_theirs; /* failed tries because another process listened at the path */
	uint64_t refused;    /* agents past the limit whose owner has the most, or without memory */
	uint64_t evicted;    /* agents that have made room for others' */
};
extern const struct counters dialer_counters;

struct dialer {
	struct intake *intake; /* borrowed */
	struct finder finder;
	struct map64 agents; /* PID -> struct dialer_agent */
	uint64_t next_ns;
	size_t max_agents; /* DIALER_MAX_AGENTS, except in tests */
	uint64_t n_found;
	struct dialer_stats stats;
};

/* proc_dir is "/proc", except in tests. proc_dir and intake are borrowed. */
void dialer_init(struct dialer *dialer, struct intake *intake, const char *proc_dir);
/* Sessions stay open; the intake ends them. */
void dialer_fini(struct dialer *dialer);

/* Does what is due: looks for agents, dials them, and checks sessions. */
void dialer_step(struct dialer *dialer, uint64_t now_ns);
/* When dialer_step next has something to do. */
uint64_t dialer_next_ns(const struct dialer *dialer);

/* Takes an event of the intake; events of sessions that the dialer has not made are ignored. */
void dialer_heard(struct dialer *dialer, const struct intake_event *event);

/*
 * The process is or becomes a JVM for which a user waits: it is looked into as by finder_expect,
 * and dialled at once if its agent is known and has not answered for a while.
 */
void dialer_expect(struct dialer *dialer, pid_t pid, uint64_t now_ns);

/* The agent of the process, or NULL. */
const struct dialer_agent *dialer_find(const struct dialer *dialer, pid_t pid);

size_t dialer_bytes(const struct dialer *dialer); /* its memory, without sessions */
void dialer_stats(const struct dialer *dialer, struct dialer_stats *ret);

#endif
