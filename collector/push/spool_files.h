// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   bodies of requests -> files of a target in a directory, by number, and back
 * units:   bytes; nanoseconds since 1970
 * threads: one at a time for a file; keep is one thread's
 * errors:  negative errno; -EBADMSG: a file is no whole one of ours, or no regular file of the
 *          daemon's user
 * source:  rename(2), flock(2), open(2), zlib's crc32
 *
 * The suffix of a file is its state: ".push", ".sending" or ".refused". A file is written under
 * another name first, so that who is killed leaves no half of one; the check sum finds what the
 * machine's loss of power has left of it. Nothing waits for the disk (fsync).
 */
#ifndef FG_PUSH_SPOOL_FILES_H
#define FG_PUSH_SPOOL_FILES_H

#include "encode/bytes.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SPOOL_FILES_REFUSED 16u

struct spool_files {
	char *path;			       /* DIR/<hash of the target> */
	int fd;				       /* -1: there is no directory */
	uint64_t refused[SPOOL_FILES_REFUSED]; /* those that are kept, in a ring */
	size_t n_refused;
};

struct spool_head {
	uint64_t number, made_unix_ns, samples, bytes;
};

/* Owned by the caller, who frees items. */
struct spool_numbers {
	uint64_t *items;
	size_t count, size;
};

/* Locks DIR, which is made if only its last part is missing. -EBUSY: another daemon has it. */
int spool_files_lock(const char *dir, int *ret_fd);
/* On an error files are to be ended all the same. */
int spool_files_open(struct spool_files *files, const char *dir, const char *target);
void spool_files_fini(struct spool_files *files);

/* Writes a file that waits. */
int spool_files_write(const struct spool_files *files, const struct spool_head *head,
		      const struct bytes *body);
/* Reads the body of a file. */
int spool_files_read(const struct spool_files *files, const struct spool_head *head,
		     const char *suffix, struct bytes *ret);
/* Reads how the file begins. */
int spool_files_look(const struct spool_files *files, uint64_t number, const char *suffix,
		     struct spool_head *ret);
int spool_files_rename(const struct spool_files *files, uint64_t number, const char *from,
		       const char *to);
/* No error: there is no such file any more. */
int spool_files_remove(const struct spool_files *files, uint64_t number, const char *suffix);
/* Adds the numbers of files with the suffix, from the least on. */
int spool_files_list(const struct spool_files *files, const char *suffix,
		     struct spool_numbers *ret);
/* Notes a refused file, and removes the oldest one past SPOOL_FILES_REFUSED. */
void spool_files_keep(struct spool_files *files, uint64_t number);
/* Writes the reason beside a refused file, as <number>.why. */
void spool_files_say_why(const struct spool_files *files, uint64_t number, const char *why);

#endif
