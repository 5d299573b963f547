// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   bytes from agents -> records with their sessions, in order
 * units:   CLOCK_MONOTONIC nanoseconds, bytes, PIDs as the collector sees them
 * threads: one
 * errors:  negative errno from intake_open, logged; broken messages are counted by session
 * source:  shared/README.md, unix(7), SO_PEERCRED of socket(7)
 *
 * A session is one connection of one agent. Its process is identified by the PID of the socket's
 * peer credentials, and this process's start time, never by what the peer says. A session of
 * another protocol version, or with a broken message, is closed; its agent then dials again.
 *
 * An agent that listens is dialled by struct dialer (intake/dialer.h), which hands the
 * connection over with intake_add.
 *
 * At most one buffer of bytes is read ahead a session. If the reader is slow, first the sockets and
 * then the agents' buffers fill, and the agents drop events, count them and resynchronise. There
 * are at most INTAKE_MAX_SESSIONS connections, 1,024 of one container or user of the host and 16 of
 * one process. Messages that are not whole take at most 64 MiB together, and must become whole
 * within 10 s. Whoever is one too many, or needs one byte too many, takes the place of a connection
 * of the container or user who has the most, unless that is the own one.
 *
 * A message whose records take longer than its connection's turn is handed on in several turns. A
 * call reads for about INTAKE_TURN_NS at most, and accepts connections for INTAKE_ACCEPT_NS of it;
 * the connections take turns. Accepting then pauses for as long, so that whoever connects without
 * end has the collector work for half of the time at most.
 */
#ifndef FG_INTAKE_INTAKE_H
#define FG_INTAKE_INTAKE_H

#include "base/counters.h"
#include "guard/owner.h"
#include "shared/wire.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#define INTAKE_DEFAULT_SOCKET	"/run/fgcollect/agent.sock"
#define INTAKE_MAX_SESSIONS	4096
#define INTAKE_MAX_BUFFER_BYTES (64u << 20) /* of all connections, for incomplete messages */
#define INTAKE_PATIENCE_NS	UINT64_C(500000000)
#define INTAKE_TURN_NS		UINT64_C(2000000)
#define INTAKE_ACCEPT_NS	UINT64_C(1000000)

struct intake_session {
	uint32_t id;
	pid_t pid;	      /* 0: the collector cannot see the peer's PID */
	bool is_dialled;      /* the agent listened and was dialled; else the agent dialled */
	uint64_t group;	      /* owner_group of the process's owner */
	uint64_t start_ticks; /* field 22 of /proc/<pid>/stat; 0 with pid 0 */
	uint64_t next_seq;
	uint64_t messages, bytes;
	uint64_t gaps;	 /* jumps of the sequence number */
	uint64_t broken; /* messages that could not be decoded */
};

enum intake_kind {
	INTAKE_OPENED,
	INTAKE_RECORD,
	INTAKE_GAP, /* messages of the session are missing */
	INTAKE_CLOSED,
};

struct intake_event {
	enum intake_kind kind;
	const struct intake_session *session; /* borrowed for the call */
	struct wire_record record;	      /* INTAKE_RECORD: borrowed for the call */
};

struct intake_stats {
	uint64_t opened, closed, refused; /* sessions; refused: past a limit */
	uint64_t evicted;		  /* connections that have made room for others */
	uint64_t messages, bytes;
	uint64_t gaps, broken, other_version;
	size_t sessions;	 /* open now */
	size_t connection_bytes; /* memory of connections, without messages */
	size_t buffer_bytes;	 /* memory for messages that are not whole */
};
extern const struct counters intake_counters;

typedef void (*intake_fn)(void *arg, const struct intake_event *event);

struct intake; /* opaque */

int intake_open(const char *path, struct intake **ret);
/* Ends all sessions and removes the socket. NULL is legal. */
void intake_close(struct intake *intake);

/*
 * Makes a session of a connection to a listening agent of the process. Returns 0 and the session's
 * ID, and takes fd; or negative errno, and fd stays the caller's: -EUSERS past a limit.
 */
int intake_add(struct intake *intake, int fd, pid_t pid, uint32_t *ret_id);
/*
 * Whether the session of an ID is still there; *ret_greeted: its peer has sent an agent's greeting.
 */
bool intake_has(const struct intake *intake, uint32_t id, bool *ret_greeted);

/* Sets other limits than INTAKE_MAX_SESSIONS and INTAKE_MAX_BUFFER_BYTES. */
void intake_set_limits(struct intake *intake, size_t sessions, size_t buffer_bytes);
/* Sets how to find the owner of a process. Without this no process is in a container. */
void intake_set_owner(struct intake *intake, owner_fn owner, void *arg);

/* The owner_group of who has the process; 0: nobody can be seen. */
uint64_t intake_group(const struct intake *intake, pid_t pid);

/* Readable (poll(2)) when intake_read has something to do. */
int intake_fd(const struct intake *intake);

/* Calls fn for each event of at most max_messages messages. Returns the number of messages. */
size_t intake_read(struct intake *intake, size_t max_messages, intake_fn fn, void *arg);

/* When intake_read has something to do although nothing is readable; 0: never. */
uint64_t intake_due_ns(const struct intake *intake);
/* Whether intake_read stopped at a limit: the caller is to call it again without waiting. */
bool intake_has_more(const struct intake *intake);

/*
 * The time up to which all messages that agents had sent have been read. If so many messages come
 * that intake_read never reads all, the time is INTAKE_PATIENCE_NS ago, and messages sent before it
 * may still wait.
 */
uint64_t intake_heard_ns(const struct intake *intake);

/* Closes a session, because its process is gone for instance; its INTAKE_CLOSED event follows. */
void intake_end_session(struct intake *intake, uint32_t id);

void intake_stats(const struct intake *intake, struct intake_stats *ret);

#endif
