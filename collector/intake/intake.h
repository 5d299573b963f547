// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   bytes from agents -> records with the session they belong to, in order
 * units:   CLOCK_MONOTONIC nanoseconds, bytes, PIDs as the collector sees them
 * threads: one
 * errors:  negative errno from intake_open, said on stderr; bad bytes are counted by session
 * source:  shared/README.md, unix(7), SO_PEERCRED of socket(7)
 *
 * A session is one connection of one agent. Who it is, is what the kernel says of the peer: (host
 * PID, start time of that process), never what the peer says. A session that speaks another
 * version, or whose bytes are broken, is closed; its agent will dial again.
 *
 * Agents that listen are dialled by the outreach (intake/outreach.h), and their sessions are as
 * others from then on.
 *
 * Nothing is read ahead beyond one message a session: if the reader is slow, the sockets fill, then
 * the agents' own buffers, and they drop, count and resynchronise. At most INTAKE_MAX_SESSIONS
 * connections are held, 1,024 of one container and 16 of one process; half messages take 64 MiB at
 * most, and must be completed within 10 s.
 */
#ifndef FG_INTAKE_INTAKE_H
#define FG_INTAKE_INTAKE_H

#include "shared/wire.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#define INTAKE_DEFAULT_SOCKET "/run/fgcollect/agent.sock"
#define INTAKE_MAX_SESSIONS   4096
#define INTAKE_PATIENCE_NS    UINT64_C(500000000)

struct intake_session {
	uint32_t id;
	pid_t pid;	      /* 0: the collector cannot see the peer's PID */
	bool is_dialled;      /* the agent listened; otherwise it dialled */
	uint64_t start_ticks; /* field 22 of /proc/<pid>/stat; 0 with pid 0 */
	uint64_t next_seq;
	uint64_t messages, bytes;
	uint64_t gaps;	 /* jumps of the sequence number */
	uint64_t broken; /* messages that did not hold what they promised */
};

enum intake_kind {
	INTAKE_OPENED,
	INTAKE_RECORD,
	INTAKE_GAP, /* messages are missing: what the session said may be incomplete */
	INTAKE_CLOSED,
};

struct intake_event {
	enum intake_kind kind;
	const struct intake_session *session; /* borrowed for the call */
	struct wire_record record;	      /* INTAKE_RECORD: borrowed for the call */
};

struct intake_stats {
	uint64_t opened, closed, refused; /* sessions; refused: past a limit */
	uint64_t messages, bytes;
	uint64_t gaps, broken, other_version;
	size_t sessions;     /* now */
	size_t buffer_bytes; /* of messages that are not whole */
};

typedef void (*intake_fn)(void *arg, const struct intake_event *event);

struct intake; /* opaque */

int intake_open(const char *path, struct intake **ret);
/* Ends all sessions and removes the socket. NULL is legal. */
void intake_close(struct intake *intake);

/*
 * A connection that was made to a listening agent of that process, begun at those ticks, becomes a
 * session like any other. The descriptor is taken if 0 is returned, with the session's ID; else it
 * is the caller's, and negative errno: -EUSERS past a limit.
 */
int intake_add(struct intake *intake, int fd, pid_t pid, uint32_t *ret_id);
/* Whether there still is a session or connection of that ID; *ret_greeted: the peer is an agent. */
bool intake_has(const struct intake *intake, uint32_t id, bool *ret_greeted);

/* Readable (poll(2)) when intake_read has something to do. */
int intake_fd(const struct intake *intake);

/* Calls fn for each event that waits, at most max_messages messages; returns how many it took. */
size_t intake_read(struct intake *intake, size_t max_messages, intake_fn fn, void *arg);

/* Whether intake_read stopped because its turn was over: call it again without waiting. */
bool intake_has_more(const struct intake *intake);

/*
 * What agents had sent by this time has been delivered. Where so much comes that no call reaches
 * its end, this stays behind the clock by INTAKE_PATIENCE_NS, and no more than that is promised.
 */
uint64_t intake_heard_ns(const struct intake *intake);

/* Closes a session, for instance one whose process is gone; its CLOSED event follows. */
void intake_end_session(struct intake *intake, uint32_t id);

void intake_stats(const struct intake *intake, struct intake_stats *ret);

#endif
