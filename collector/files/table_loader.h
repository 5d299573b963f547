// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   descriptors of files -> tables made of them, by threads of its own
 * units:   CLOCK_MONOTONIC nanoseconds
 * threads: the caller's, one at a time, and the loader's two; a job belongs to one of them
 * errors:  negative errno; a job that failed says why in err
 * source:  pthreads(7), eventfd(2)
 *
 * Who asks never waits for a file: it adds a job, goes on, and takes the job back when it is done.
 * From table_loader_add to table_loader_take a job is the loader's, and nothing in it may be looked
 * at. Jobs that somebody waits for come before those that are only likely to be needed, and within
 * each of the two in the order in which they were added.
 */
#ifndef FG_FILES_TABLE_LOADER_H
#define FG_FILES_TABLE_LOADER_H

#include "elf/debug_file.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What tables are of. */
struct table_kind {
	/*
	 * -ENOENT: the file has nothing to make a table of; -ENOEXEC, -EFBIG, -ENOMEM. place is
	 * where what goes with it may be, or NULL.
	 */
	int (*load)(int fd, const struct debug_place *place, void **ret);
	void (*free)(void *table);
	size_t (*bytes)(const void *table);
	bool (*equal)(const void *a, const void *b);
	/* Whether place had a part in it, which is not to be shared; NULL: it never has. */
	bool (*is_private)(const void *table);
	const char *none_reason, *large_reason; /* for -ENOENT and -EFBIG */
	bool needs_place;
};

#define TABLE_LOADER_LARGE_BYTES (32u << 20)

struct table_job {
	const struct table_kind *kind;
	int path_fd;  /* O_PATH, owned by the job */
	int root_fd;  /* the target's, likewise; -1: none */
	char *path;   /* of the file in that root; NULL: not known */
	void *module; /* the caller's; the loader does not look at it */
	uint64_t file_bytes;
	void *content;
	int err;
	uint64_t took_ns;
	struct table_job *next; /* the loader's */
};

struct table_loader; /* opaque */

int table_loader_start(struct table_loader **ret);
/*
 * What is not done is thrown away. A load that goes on for longer than a second, as from a file
 * system that does not answer, is left behind with its thread. NULL is legal.
 */
void table_loader_stop(struct table_loader *loader);

/* Of a file of so many bytes; NULL if memory is out. Takes path_fd in any case. */
struct table_job *table_job_new(const struct table_kind *kind, int path_fd, uint64_t file_bytes);
/* Where what goes with the file may be. Takes root_fd, which may be negative. */
void table_job_place(struct table_job *job, int root_fd, const char *path);
void table_job_free(struct table_job *job); /* its content too; NULL is legal */
/* Does the job in the caller's thread. */
void table_job_run(struct table_job *job);

/* is_urgent: somebody waits for it. */
void table_loader_add(struct table_loader *loader, struct table_job *job, bool is_urgent);
/* Somebody waits now for a job that was added without. */
void table_loader_hurry(struct table_loader *loader, struct table_job *job);
/* A job that is done, the caller's again; NULL if there is none. */
struct table_job *table_loader_take(struct table_loader *loader);
/* A descriptor to poll(2): readable while jobs that are done have not been taken. */
int table_loader_fd(const struct table_loader *loader);

#endif
