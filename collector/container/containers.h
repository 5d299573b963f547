// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   processes -> the containers in which they run, with names read once for each container
 * units:   CLOCK_MONOTONIC nanoseconds
 * threads: one, the model's
 * errors:  without memory, or past CONTAINERS_MAX, a process has no container entry; counted
 * source:  container_names.h
 *
 * Files are read when the first process of a container becomes known, and later by containers_step:
 * soon while names are missing, because an engine may write them when the container already runs,
 * and then once a minute, because containers can be renamed. No file is read for a sample.
 */
#ifndef FG_CONTAINER_CONTAINERS_H
#define FG_CONTAINER_CONTAINERS_H

#include "base/map64.h"
#include "container/container_names.h"

#include <stdbool.h>
#include <stdint.h>

#define CONTAINERS_MAX		4096
#define CONTAINERS_READS_A_TURN 8

struct container_entry {
	struct container container;
	unsigned users;	  /* processes that hold it */
	unsigned tries;	  /* reads that left a name missing */
	uint64_t version; /* grows when names or labels have changed */
	uint64_t next_ns; /* when to read again */
};

struct containers {
	struct container_names names;
	struct map64 entries; /* hash of the ID -> struct container_entry */
	uint64_t reads;
	uint64_t refused; /* processes whose container had no room */
	bool is_unchecked_said;
};

struct containers_stats {
	size_t known, unnamed, unchecked;
	uint64_t files_read, broken, unlisted, untrusted, engines_left_out, refused,
		labels_left_out;
};

/* root and mounts_path as for container_names_init. */
void containers_init(struct containers *containers, const char *root, const char *mounts_path);
void containers_fini(struct containers *containers); /* all entries must have been released */

/*
 * The entry of the process's container, valid until containers_release. NULL if the process is in
 * no container, or if there is no room (counted).
 */
struct container_entry *containers_hold(struct containers *containers, pid_t pid, uint64_t now_ns);
void containers_release(struct containers *containers, struct container_entry *entry);

/*
 * Reads entries that are due, at most CONTAINERS_READS_A_TURN; a changed entry has a new version.
 */
void containers_step(struct containers *containers, uint64_t now_ns);

void containers_stats(const struct containers *containers, struct containers_stats *ret);

#endif
