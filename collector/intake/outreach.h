// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   JVMs whose agents listen -> sessions of the intake
 * units:   CLOCK_MONOTONIC nanoseconds
 * threads: one, the intake's
 * errors:  none; an agent that cannot be reached is tried again, counted, and told why
 * source:  intake/finder.h, intake/dial.h
 *
 * Each process that the finder finds is dialled, and again when its session has ended: after 50 ms
 * first, and then after twice as long each time that it does not answer, up to 30 s. Who it is, is
 * the PID that was dialled and the start time of that process, which are checked before and after
 * against the open directory of it in /proc and the kernel's word on who listens. A session that
 * lasts for less than OUTREACH_LASTING_NS counts as no answer there.
 */
#ifndef FG_INTAKE_OUTREACH_H
#define FG_INTAKE_OUTREACH_H

#include "intake/beacon.h"
#include "intake/finder.h"
#include "intake/intake.h"

#define OUTREACH_MAX_AGENTS  4096
#define OUTREACH_MAX_WAIT_NS UINT64_C(30000000000)
#define OUTREACH_LASTING_NS  UINT64_C(5000000000)

struct outreach_agent {
	pid_t pid;
	uint64_t start_ticks;
	char path[BEACON_PATH_BYTES];
	uint32_t session;   /* 0: none */
	bool is_greeted;    /* that session */
	uint64_t opened_ns; /* when it was */
	uint64_t wait_ns;   /* before the next try, after one that fails */
	uint64_t next_ns;   /* of the next try, or of a look at the session */
	int err;	    /* why it was not reached the last time; 0: it was */
};

struct outreach_stats {
	struct finder_stats finder;
	size_t agents;	     /* known now */
	size_t reached;	     /* of these, those with a session */
	uint64_t dialled;    /* tries */
	uint64_t failed;     /* of these */
	uint64_t not_theirs; /* of these, because another process listened at the path */
	uint64_t refused;    /* agents past OUTREACH_MAX_AGENTS, or without memory for them */
};

struct outreach {
	struct intake *intake; /* borrowed */
	struct finder finder;
	struct map64 agents; /* PID -> struct outreach_agent */
	uint64_t next_ns;
	struct outreach_stats stats;
};

/* proc_dir is "/proc", but in tests; borrowed, as intake is. */
void outreach_init(struct outreach *outreach, struct intake *intake, const char *proc_dir);
/* Sessions are the intake's to end. */
void outreach_fini(struct outreach *outreach);

/* Looks, dials and dials again as it is time to. */
void outreach_step(struct outreach *outreach, uint64_t now_ns);
/* When outreach_step next has something to do. */
uint64_t outreach_next_ns(const struct outreach *outreach);

/* Events of the intake; those of sessions that it has not made are ignored. */
void outreach_heard(struct outreach *outreach, const struct intake_event *event);

/*
 * That process is or becomes a JVM, which is waited for: it is looked into several times in the
 * next seconds, and dialled at once if it is known and has not answered for a while.
 */
void outreach_expect(struct outreach *outreach, pid_t pid, uint64_t now_ns);

/* The agent of that process, or NULL. */
const struct outreach_agent *outreach_find(const struct outreach *outreach, pid_t pid);

/* Walks the agents in no order; *pos starts at 0. */
const struct outreach_agent *outreach_next(const struct outreach *outreach, size_t *pos);

void outreach_stats(const struct outreach *outreach, struct outreach_stats *ret);

#endif
