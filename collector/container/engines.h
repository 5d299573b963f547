// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   processes of container engines -> the directories in which these keep their records
 * units:   none
 * threads: any
 * errors:  none; a process that cannot be looked into is passed over
 * source:  proc(5); Docker's volume store, which keeps <data>/volumes/metadata.db open as long as
 *          dockerd runs; the ctrl.c of conmon, which keeps open, for Podman and CRI-O,
 *          <storage>/overlay-containers/<id>/userdata/ctl
 *
 * Engines keep records where their configuration says. The kernel shows which files the engine has
 * open: no container can answer in the engine's place, and no memory is read. A process counts as
 * an engine of the host's owner if all its user IDs are the owner's, if its program has the
 * engine's name, and if it is in the user and mount namespaces of PID 1 (or of the collector, if
 * those of PID 1 cannot be read). A process of another user may say of itself what it wants: its
 * directories are that user's word.
 */
#ifndef FG_CONTAINER_ENGINES_H
#define FG_CONTAINER_ENGINES_H

#include <limits.h>
#include <stdbool.h>
#include <sys/types.h>

#define ENGINES_MAX 8 /* directories */

struct engine_dir {
	bool is_docker;	     /* the directory of config.v2.json; else a storage of Podman, CRI-O */
	char path[PATH_MAX]; /* "": free */
};

/*
 * Finds the directories of the user's engines, and returns their number. proc is "/proc". is_host:
 * the user is the owner of the host's root directory. ret_left_out: directories past ENGINES_MAX,
 * and 1 if the user's engines have so many files open that not all were looked at.
 */
unsigned engines_find(const char *proc, uid_t user, bool is_host,
		      struct engine_dir ret[ENGINES_MAX], unsigned *ret_left_out);

#endif
