// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   a container's ID -> its name, pod and labels, from files that engines keep on the host
 * units:   bytes
 * threads: one at a time
 * errors:  a name that cannot be read stays ""; broken files are counted
 * source:  container_records.h, mount_info.h
 *
 * No socket or API of an engine is used. Files are looked for below the root directory: in the
 * engines' default directories, and, for engines with other directories, where the container's own
 * mounts come from. A record is taken only if it is of the container's ID. If the collector has a
 * mount namespace of its own, as in a pod, the root directory is that of PID 1.
 */
#ifndef FG_CONTAINER_CONTAINER_NAMES_H
#define FG_CONTAINER_CONTAINER_NAMES_H

#include "container/container.h"

#include <limits.h>
#include <stdint.h>

#define CONTAINER_RECORD_MAX_BYTES  (2u << 20)
#define CONTAINER_STORAGE_MAX_BYTES (16u << 20)
#define CONTAINER_NAMES_MAX_ENTRIES 65536 /* entries of a directory that are read */
#define CONTAINER_NAMES_MAX_DIRS    8	  /* the last directories of Docker that are kept */
#define CONTAINER_NAMES_MAX_STOPPED 4096  /* records read to find a container that is stopped */

struct container_names {
	int root_fd;		 /* -1: no file can be read */
	const char *mounts_path; /* the mountinfo of the root directory's mount namespace */
	/*
	 * Directories, other than the default, in which records of Docker were found.
	 */
	char docker_dirs[CONTAINER_NAMES_MAX_DIRS][PATH_MAX]; /* "": free */
	unsigned last_dir;				      /* the one that was set last */
	uint64_t reads;
	uint64_t broken;   /* records of another form, too long, or not regular files */
	uint64_t unlisted; /* directories with too many entries */
};

/* root NULL: the host's root directory. The texts are borrowed until fini. */
void container_names_init(struct container_names *names, const char *root, const char *mounts_path);
void container_names_fini(struct container_names *names);

/*
 * Fills in the empty members of container, whose ID is set. mounts is the mountinfo of one of the
 * container's processes, which is changed; NULL or "": not known.
 */
void container_names_read(struct container_names *names, char *mounts, struct container *container);

/*
 * Finds a container of Docker that does not run, by its whole name or by the beginning of its ID,
 * in Docker's default directory and in docker_dirs. The caller owns the contents of ret.
 */
bool container_names_find_stopped(struct container_names *names, const char *name,
				  struct container *ret);

#endif
