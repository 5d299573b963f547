// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   graphs -> files of a directory, of which the oldest go
 * units:   seconds since 1970, bytes
 * threads: one at a time
 * errors:  negative errno; what can be done about it is said by the caller
 * source:  rename(2), flock(2)
 *
 * Only files that this program made are removed: .fgcollect-graphs in the directory says which
 * these are, by name and inode, also after a restart. A line is added to it before a graph gets its
 * name, and a graph never takes the place of another file. What is being written is
 * .fgcollect-part. The directory is locked, for two programs would count the same files.
 */
#ifndef FG_SERVE_GRAPH_DIR_H
#define FG_SERVE_GRAPH_DIR_H

#include "render/render.h"

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>

#define GRAPH_DIR_MAX_FILES  100000
#define GRAPH_DIR_NAME_BYTES 192

/* What a graph's name is made of; borrowed, and from outside. */
struct graph_name {
	uint64_t unix_sec; /* when it begins */
	const char *container;
	const char *comm;
	const char *title;
	pid_t pid;
	enum render_format format;
};

/*
 * "20261121T234718Z-3f2a4b5c6d7e-org.example.Main-4711.html": names that sort by time; the
 * container's first 12 digits, or the process's name where there is none; bytes that are no letter,
 * digit, dot or underscore become '_'. n > 1 sets it apart from others of that name:
 * "-4711.2.html".
 */
void graph_name_write(const struct graph_name *name, unsigned n, char ret[GRAPH_DIR_NAME_BYTES]);
/* Whether a text may be one. */
bool graph_name_is_one(const char *text);

struct graph_file {
	uint64_t unix_sec; /* when it was written */
	uint64_t inode;
	uint64_t bytes;
	char *name;
};

struct graph_dir {
	int fd, list_fd;
	struct graph_file *files; /* the oldest first */
	size_t count, size;
	uint64_t bytes; /* of them all */
	uint64_t removed;
};

/* -EBUSY: another fgcollect writes there. */
int graph_dir_open(struct graph_dir *dir, const char *path);
void graph_dir_close(struct graph_dir *dir);

typedef int (*graph_write_fn)(void *arg, FILE *stream);

/* The name that it got is in ret, also after an error: then the one it would have had. */
int graph_dir_write(struct graph_dir *dir, const struct graph_name *name, graph_write_fn write,
		    void *arg, char ret[GRAPH_DIR_NAME_BYTES]);

/* Removes what is older than keep_sec, and the oldest while all have more than keep_bytes. */
int graph_dir_expire(struct graph_dir *dir, uint64_t now_unix_sec, uint64_t keep_sec,
		     uint64_t keep_bytes);

#endif
