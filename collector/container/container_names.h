// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   a container's ID -> its name, pod and labels, from files that engines keep on the host
 * units:   bytes
 * threads: one at a time
 * errors:  what cannot be read stays "" and is counted
 * source:  container_records.h, mount_info.h
 *
 * No engine's socket or API is used. Files are looked for where engines keep them unless told
 * otherwise, below root, and, for engines that were told otherwise, where the container's own
 * mounts come from. What is found there must be of that very container's ID. Where the collector
 * has mounts of its own, as in a pod, root is the first process's.
 */
#ifndef FG_CONTAINER_CONTAINER_NAMES_H
#define FG_CONTAINER_CONTAINER_NAMES_H

#include "container/container.h"

#include <limits.h>
#include <stdint.h>

#define CONTAINER_RECORD_MAX_BYTES  (2u << 20)
#define CONTAINER_STORAGE_MAX_BYTES (16u << 20)
#define CONTAINER_NAMES_MAX_ENTRIES 65536 /* names of a directory that are looked at */
#define CONTAINER_NAMES_MAX_DIRS    8	  /* of Docker's that are remembered, the last ones */
#define CONTAINER_NAMES_MAX_STOPPED 4096  /* records that are read for one that does not run */

struct container_names {
	int root_fd;		 /* -1: nothing can be read */
	const char *mounts_path; /* mountinfo of root's */
	/*
	 * Of containers, where one was found that is not the usual: each engine may have its own.
	 */
	char docker_dirs[CONTAINER_NAMES_MAX_DIRS][PATH_MAX]; /* "": free */
	unsigned last_dir;				      /* that was put in */
	uint64_t reads;
	uint64_t broken;   /* records that are not what they should be, or too long */
	uint64_t unlisted; /* names that were too many */
};

/* root NULL: the host's. Borrowed until fini. */
void container_names_init(struct container_names *names, const char *root, const char *mounts_path);
void container_names_fini(struct container_names *names);

/*
 * Fills in what is not known of container, which has its ID. mounts is the mountinfo of one of its
 * processes, changed by this; NULL or "": not known.
 */
void container_names_read(struct container_names *names, char *mounts, struct container *container);

/*
 * A container of Docker's that does not run, by its whole name, or its ID or the beginning of that.
 * It is looked for where Docker keeps them, and where others were found before.
 */
bool container_names_find_stopped(struct container_names *names, const char *name,
				  struct container *ret);

#endif
