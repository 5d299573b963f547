// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   graphs -> files of a directory, of which the oldest of those who have most are removed
 * units:   seconds since 1970, bytes
 * threads: one at a time
 * errors:  negative errno; the caller tells the user the remedy
 * source:  rename(2), flock(2)
 *
 * Only files that fgcollect has made are removed. The file .fgcollect-graphs in the directory lists
 * them by name and inode, also for the time after a restart. A graph is listed before it gets its
 * name. A graph never replaces another file, except in a race on a file system without
 * RENAME_NOREPLACE. While a graph is written it is called .fgcollect-part. The directory is locked,
 * because two programs would count the same files.
 *
 * Shares: a graph has a payer, who is a container or a user of the host. Payers share the room for
 * files (guard/fair.h): while all files together have too many bytes, the oldest ones of those who
 * have more than their share go. So nobody's many graphs remove the graphs of others. The list
 * keeps the payers. All files of lists of earlier versions have one payer, who is nobody.
 *
 * Files go by age, and the wall clock may be set. A file's age is the time that has passed since it
 * was written: when the clock jumps by a minute or more, the files' times jump with it. The list
 * keeps the last reading of the clocks, so that a jump is also seen by the next daemon of the boot.
 * In the first GRAPH_DIR_SETTLE_SEC after another boot no file goes by age, because many hosts set
 * their clock then.
 */
#ifndef FG_DRAW_GRAPH_DIR_H
#define FG_DRAW_GRAPH_DIR_H

#include "base/intern.h"
#include "base/map64.h"
#include "render/render.h"
#include "profile/wall_clock.h"

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>

#define GRAPH_DIR_MAX_FILES  100000
#define GRAPH_DIR_NAME_BYTES 224
#define GRAPH_DIR_SETTLE_SEC 600

/* The parts of a graph's file name. The texts are borrowed and come from outside. */
struct graph_name {
	uint64_t unix_sec; /* start of the graph's period */
	const char *place; /* the name of its pod, container or service; "": not known */
	const char *container;
	const char *comm;
	const char *payer; /* not a part of the name; without spaces and line ends */
	const char *title;
	pid_t pid;
	enum render_format format;
};

/*
 * Writes a name such as "20261121T234718Z-3f2a4b5c6d7e-org.example.Main-4711.html". Such names sort
 * by time. The second part is the first 12 digits of the container's ID, or the process's name
 * outside containers. What the process's place is called (container/place_name.h) follows, where
 * that is known. Bytes other than letters, digits, dots, underscores and dashes become '_'. n > 1
 * is for further graphs of one name: "-4711.2.html".
 */
void graph_name_write(const struct graph_name *name, unsigned n, char ret[GRAPH_DIR_NAME_BYTES]);
/* Whether text has the form of such a name. */
bool graph_name_is_one(const char *text);

struct graph_payer; /* opaque */

struct graph_file {
	uint64_t unix_sec; /* when the graph was written, by the clock as it is set now */
	uint64_t inode;
	uint64_t bytes;
	char *name;
	struct graph_payer *payer; /* borrowed from graph_dir.payers */
};

struct graph_dir {
	int fd, list_fd;
	struct graph_file *files; /* the oldest first */
	size_t count, size;
	size_t name_bytes;   /* memory of their names */
	uint64_t bytes;	     /* bytes of all files */
	struct intern texts; /* IDs of payers */
	struct map64 payers; /* address of a payer's ID -> struct graph_payer */
	size_t max_files;    /* GRAPH_DIR_MAX_FILES unless the owner sets another */
	uint64_t removed;
	struct wall_clock clock; /* the last reading */
	int64_t settled_sec;	 /* from this time after boot on, files go by age */
};

const char *graph_payer_id(const struct graph_payer *payer);

/* -EBUSY: another fgcollect writes to the directory. */
int graph_dir_open(struct graph_dir *dir, const char *path, const struct wall_clock *now);
void graph_dir_close(struct graph_dir *dir);
size_t graph_dir_bytes(const struct graph_dir *dir); /* the memory of the list */

typedef int (*graph_write_fn)(void *arg, FILE *stream);

/* Writes a graph. ret is the name of its file, after an error the name that it would have had. */
int graph_dir_write(struct graph_dir *dir, const struct wall_clock *now,
		    const struct graph_name *name, graph_write_fn write, void *arg,
		    char ret[GRAPH_DIR_NAME_BYTES]);

/*
 * Removes files older than keep_sec. If all files together have more than keep_bytes, or if there
 * are max_files, then removes the oldest files of the payers who have more than their share.
 */
int graph_dir_expire(struct graph_dir *dir, const struct wall_clock *now, uint64_t keep_sec,
		     uint64_t keep_bytes);

#endif
