// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   processes -> the containers that they are in, each with its names, read once for all
 * units:   CLOCK_MONOTONIC nanoseconds
 * threads: one, the model's
 * errors:  without memory, or past CONTAINERS_MAX, a process has an ID and no names; counted
 * source:  container_names.h
 *
 * Files are read when a process of a container that is not known becomes known, and later in turns
 * of containers_step: soon while names are missing, for an engine may write them when the container
 * already runs, and then once a minute, for containers can be renamed. Nothing is read per sample.
 */
#ifndef FG_CONTAINER_CONTAINERS_H
#define FG_CONTAINER_CONTAINERS_H

#include "base/map64.h"
#include "container/container_names.h"

#include <stdint.h>

#define CONTAINERS_MAX		4096
#define CONTAINERS_READS_A_TURN 8

struct container_entry {
	struct container container;
	unsigned users;	  /* processes that hold it */
	unsigned tries;	  /* in vain */
	pid_t pid;	  /* whose mounts are asked */
	uint64_t version; /* another one when something was found */
	uint64_t next_ns; /* when it is read next */
};

struct containers {
	struct container_names names;
	struct map64 entries; /* hash of the ID -> struct container_entry */
	uint64_t reads;
	uint64_t refused; /* processes whose container had no room */
};

struct containers_stats {
	size_t known, unnamed;
	uint64_t files_read, broken, unlisted, refused, labels_left_out;
};

/* root and mounts_path as container_names_init has them. */
void containers_init(struct containers *containers, const char *root, const char *mounts_path);
void containers_fini(struct containers *containers); /* all have been released */

/* That of a process, held until containers_release; NULL if it is in none, or there is no room. */
struct container_entry *containers_hold(struct containers *containers, pid_t pid, uint64_t now_ns);
void containers_release(struct containers *containers, struct container_entry *entry);

/* Reads what is due; entries with news have another version. */
void containers_step(struct containers *containers, uint64_t now_ns);

void containers_stats(const struct containers *containers, struct containers_stats *ret);

#endif
