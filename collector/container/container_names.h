// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   a container's ID -> its name, pod, image and labels, from files that engines keep on the
 *          host
 * units:   bytes
 * threads: one at a time
 * errors:  a name that cannot be read stays ""; broken files are counted
 * source:  record_parser.h, host_files.h, engines.h
 *
 * No socket or API of an engine is used. Files are looked for below the root directory: in the
 * engines' default directories, and in those that engines with other directories have open. Nothing
 * that a container's process says or mounts leads to a file.
 *
 * Whose word the container's ID is decides which files may name the container. An ID of root's: the
 * files that only the root directory's owner may write. An ID of a user's: files of that user's
 * engines, which say no pod. An ID that a container has made up: none, but the pod is known by the
 * UID of the outer container. An ID that cannot be checked: none. If the collector has a mount
 * namespace of its own, as in a pod, the root directory is that of PID 1.
 */
#ifndef FG_CONTAINER_CONTAINER_NAMES_H
#define FG_CONTAINER_CONTAINER_NAMES_H

#include "container/container.h"
#include "container/engines.h"
#include "container/record_parser.h"

#include <stdint.h>

#define CONTAINER_RECORD_MAX_BYTES  (2u << 20)
#define CONTAINER_STORAGE_MAX_BYTES (16u << 20)
#define CONTAINER_USERS_MAX_BYTES   (256u << 10) /* a record of a user who is not the owner */
#define CONTAINER_NAMES_MAX_ENTRIES 65536	 /* entries of a directory that are read */
#define CONTAINER_NAMES_MAX_STOPPED 4096 /* records read to find a container that is stopped */

#define CONTAINER_NAMES_SEARCH_NS UINT64_C(1000000000) /* between two searches for engines */

struct container_names {
	int root_fd;		 /* -1: no file can be read */
	uid_t owner;		 /* of the root directory, and of files that are believed */
	const char *mounts_path; /* the mountinfo of the root directory's mount namespace */
	const char *proc;	 /* "/proc" */
	struct engine_dir engines[ENGINES_MAX]; /* of the owner's engines */
	unsigned n_engines;
	uint64_t searched_ns;	    /* for the owner's engines; 0: never */
	uint64_t searched_users_ns; /* for another user's */
	uint64_t reads;
	struct record_waits waits;
	uint64_t lost;		   /* records whose parser has died, lied or taken too long */
	uint64_t delayed;	   /* records that no parser could read yet */
	uint64_t broken;	   /* records of another form, too long, or not regular files */
	uint64_t unlisted;	   /* directories with too many entries */
	uint64_t untrusted;	   /* files and directories that others may write */
	uint64_t engines_left_out; /* directories past ENGINES_MAX, in each search */
};

/* root NULL: the host's root directory. The texts are borrowed until fini. */
void container_names_init(struct container_names *names, const char *root, const char *mounts_path);
void container_names_fini(struct container_names *names);

/* Fills in the empty members of container, whose ID, namer, user and pod UID are set. */
void container_names_read(struct container_names *names, struct container *container);

/*
 * Finds a container of Docker that does not run, by its whole name or by the beginning of its ID,
 * in the directories of the owner's engines. The caller owns the contents of ret.
 */
bool container_names_find_stopped(struct container_names *names, const char *name,
				  struct container *ret);

#endif
