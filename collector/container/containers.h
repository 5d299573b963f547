// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   processes -> the containers in which they run, with names read once for each container
 * units:   CLOCK_MONOTONIC nanoseconds
 * threads: one, the model's
 * errors:  without memory or room a process has no container entry, or a container no labels;
 *          counted
 * source:  container_names.h
 *
 * Files are read when the first process of a container becomes known, and later by containers_step:
 * soon while names are missing, because an engine may write them when the container already runs,
 * and then once a minute, because containers can be renamed. What is known of a container stays
 * when a record of it could not be parsed, which is soon tried again. No file is read for a sample.
 *
 * A thread reads (names_reader.h). Names of a new container are waited for, asleep, for
 * CONTAINERS_WAIT_NS; in one turn of the caller's loop for CONTAINERS_TURN_NS in all. Names that
 * come later are taken by containers_take. When a wait for a container that a user or a container
 * has made was in vain, no such container is waited for until CONTAINERS_PAUSE_NS are over.
 *
 * Room: CONTAINERS_MAX entries, and max_bytes, of which labels have a half. Entries that no process
 * uses go first. A user who may make cgroups, or a container that may, has a CONTAINERS_SHARE of
 * both at most.
 */
#ifndef FG_CONTAINER_CONTAINERS_H
#define FG_CONTAINER_CONTAINERS_H

#include "base/counters.h"
#include "base/map64.h"
#include "container/names_reader.h"

#include <stdbool.h>
#include <stdint.h>

#define CONTAINERS_MAX		4096
#define CONTAINERS_SHARE	4 /* what a user or a container has made has one of so many parts */
#define CONTAINERS_READS_A_TURN 8

#define CONTAINERS_WAIT_NS  UINT64_C(10000000)
#define CONTAINERS_TURN_NS  UINT64_C(15000000)
#define CONTAINERS_PAUSE_NS UINT64_C(1000000000)

struct container_entry {
	struct container container;
	unsigned users;	  /* processes that hold it */
	unsigned tries;	  /* reads that left a name missing */
	uint64_t version; /* grows when names or labels have changed */
	uint64_t next_ns; /* when to read again */
	uint64_t asked;	  /* the number of the question that is out; 0: none */
	bool is_answered; /* a question has been answered */
};

struct containers {
	struct names_reader *reader; /* NULL: no memory, nothing has a name */
	struct map64 entries;	     /* hash of the ID -> struct container_entry */
	size_t max_bytes;	     /* of all entries; 0: no limit */
	size_t bytes;		     /* of all entries now */
	size_t label_bytes;	     /* of these, labels: a half of max_bytes at most */
	uint64_t reads;
	uint64_t refused;  /* processes whose container had no room */
	uint64_t changes;  /* grows with the version of any entry */
	size_t unanswered; /* entries whose first question is out */
	bool has_turns;
	uint64_t waited_ns;	 /* in this turn */
	uint64_t pause_until_ns; /* for containers that are not root's */
	bool is_unchecked_said;
};

struct containers_stats {
	size_t known, unnamed, unchecked;
	uint64_t files_read, broken, unlisted, untrusted, engines_left_out, refused,
		labels_left_out, lost, delayed;
};
extern const struct counters containers_counters;

/* root and mounts_path as for container_names_init. */
void containers_init(struct containers *containers, const char *root, const char *mounts_path);
void containers_fini(struct containers *containers); /* all entries must have been released */

/* A turn of the caller's loop begins. Without turns each new container is waited for. */
void containers_begin_turn(struct containers *containers);

/*
 * The entry of the process's container, valid until containers_release. NULL if the process is in
 * no container, or if there is no room (counted).
 */
struct container_entry *containers_hold(struct containers *containers, pid_t pid, uint64_t now_ns);
/* As containers_hold, for a container that container_read has read. */
struct container_entry *containers_hold_as(struct containers *containers,
					   struct container *container, uint64_t now_ns);
void containers_release(struct containers *containers, struct container_entry *entry);

/*
 * Has entries read that are due, at most CONTAINERS_READS_A_TURN, and takes what has been read; a
 * changed entry has a new version.
 */
void containers_step(struct containers *containers, uint64_t now_ns);
/* Takes what has been read. To be called when containers_fd is readable. */
void containers_take(struct containers *containers, uint64_t now_ns);
int containers_fd(const struct containers *containers); /* -1: none yet */

/*
 * Waits, asleep, until all entries have had an answer, for_ns at most; for_ns 0: what is left of
 * the turn. False: some have had none.
 */
bool containers_settle(struct containers *containers, uint64_t now_ns, uint64_t for_ns);
/* As names_reader_find_stopped; for_ns 0: what is left of the turn. */
int containers_find_stopped(struct containers *containers, const char *name, uint64_t for_ns,
			    struct container *ret);
/* Whether a name may come in a moment: an entry's first question, or a search, is out. */
bool containers_are_asked(const struct containers *containers);

size_t containers_bytes(const struct containers *containers); /* memory */
void containers_stats(const struct containers *containers, struct containers_stats *ret);

#endif
