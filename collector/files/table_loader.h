// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   descriptors of files -> tables made of the files, by two threads or a few more
 * units:   CLOCK_MONOTONIC nanoseconds
 * threads: the caller's, one at a time, and the loader's; a job belongs to one of them
 * errors:  negative errno; the error of a job is in its err
 * source:  pthreads(7), eventfd(2)
 *
 * The caller never waits for a file: it adds a job, goes on, and takes the job back when it is
 * done. From table_loader_add to table_loader_take the loader owns the job, and the caller must not
 * read it. One thread loads files smaller than TABLE_LOADER_LARGE_BYTES, the other thread loads
 * larger files. A thread takes urgent jobs first, and of jobs of equal urgency the one of the
 * smallest file. Jobs of owners and of devices with threads that are stuck come last, and another
 * thread is started beside the thread that takes them. Before these come jobs of owners whose files
 * have taken seconds lately: so an owner of files that take long, however small, holds up its own.
 *
 * A file system may not answer. A thread that has waited in one place for two seconds is stuck, and
 * another thread takes its place; so is a thread that has had one job for TABLE_LOADER_LATE_NS. A
 * parser that has a file for TABLE_LOADER_MOST_NS is killed. A job that is stuck may still be done.
 * An owner of jobs (guard/owner.h) has at most TABLE_LOADER_OWNER_STUCK threads stuck, and a
 * container with all its users twice that; other jobs of these wait until one returns. So do
 * further jobs of the file.
 */
#ifndef FG_FILES_TABLE_LOADER_H
#define FG_FILES_TABLE_LOADER_H

#include "files/table_kind.h"
#include "files/table_parser.h"
#include "guard/owner.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TABLE_LOADER_LARGE_BYTES (32u << 20)
#define TABLE_LOADER_PATIENCE_NS UINT64_C(1000000000) /* twice this, and a thread is stuck */
#define TABLE_LOADER_LATE_NS	 UINT64_C(20000000000)
#define TABLE_LOADER_MOST_NS	 UINT64_C(60000000000)
#define TABLE_LOADER_MAX_STUCK	 32
#define TABLE_LOADER_OWNER_STUCK 4

struct table_job {
	const struct table_kind *kind;
	int path_fd;  /* the file; O_PATH, owned by the job */
	int root_fd;  /* the process's root directory; O_PATH, owned by the job; -1: none */
	char *path;   /* the file's path in this root directory; NULL: not known */
	void *module; /* for the caller; the loader does not use it */
	uint64_t file_bytes;
	struct owner owner; /* of the process for which the file is read */
	uint64_t group;	    /* whose room it takes, for the caller, see table_loader_drop */
	uint64_t file;	    /* a number for the file; 0: not known */
	uint64_t device;    /* the file's; 0: not known */
	void *content;
	int err;
	uint64_t took_ns;
	struct table_parser parser;
	struct table_job *next; /* for the loader */
};

struct table_loader; /* opaque */

int table_loader_start(struct table_loader **ret);
/*
 * Frees all jobs. A load that goes on for longer than a second, or whose thread is stuck, is left
 * behind with its thread. NULL is legal.
 */
void table_loader_stop(struct table_loader *loader);

/* Makes a job for a file of file_bytes; NULL without memory. Takes path_fd in any case. */
struct table_job *table_job_new(const struct table_kind *kind, int path_fd, uint64_t file_bytes);
/* Sets where a debug file may be. Takes root_fd, which may be negative. */
void table_job_place(struct table_job *job, int root_fd, const char *path);
void table_job_free(struct table_job *job); /* frees its content too; NULL is legal */
/*
 * Does the job in the caller's thread: where a zygote is used, a parser of its own reads the file.
 * Errors of that: -EBADMSG: the parser has died; -EAGAIN: there was none.
 */
void table_job_run(struct table_job *job);

/* is_urgent: a sample waits for the table. */
void table_loader_add(struct table_loader *loader, struct table_job *job, bool is_urgent);
/*
 * Another owner needs the file, too. A job that no thread has yet is from now on of whoever of the
 * two has fewer threads stuck.
 */
void table_loader_share(struct table_loader *loader, struct table_job *job, struct owner owner);
/* As table_loader_share, and makes urgent a job that was added as not urgent. */
void table_loader_hurry(struct table_loader *loader, struct table_job *job, struct owner owner);
/*
 * Gives back a job of the group that no thread has yet, the youngest, and of such one that is not
 * urgent; NULL: there is none.
 */
struct table_job *table_loader_drop(struct table_loader *loader, uint64_t group);
/* As if files of the owner had taken so long; for tests. */
void table_loader_spend(struct table_loader *loader, struct owner owner, uint64_t ns);
/* Finds threads that are stuck, and puts others in their places. To be called every second. */
void table_loader_tend(struct table_loader *loader, uint64_t now_ns);
/* The jobs of the kind whose threads are stuck; NULL: of all kinds. */
size_t table_loader_stuck(struct table_loader *loader, const struct table_kind *kind);
/* Whether a thread has a job and is not stuck. */
bool table_loader_gets_on(struct table_loader *loader);
/* Takes a job that is done, which the caller then owns; NULL: no job is done. */
struct table_job *table_loader_take(struct table_loader *loader);
/* A descriptor for poll(2), readable while jobs that are done wait to be taken. */
int table_loader_fd(const struct table_loader *loader);

#endif
