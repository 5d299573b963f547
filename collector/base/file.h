// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   small files read whole; output files that appear whole or not at all
 * units:   bytes
 * threads: any; a struct file_atomic belongs to one thread at a time
 * errors:  negative errno
 * source:  open(2), rename(2), proc(5)
 */
#ifndef FG_BASE_FILE_H
#define FG_BASE_FILE_H

#include <stddef.h>
#include <stdio.h>
#include <sys/types.h>

/* Length of what was read, at most max_bytes, into *ret, which the caller frees; terminated. */
ssize_t file_read_whole(const char *path, size_t max_bytes, char **ret);

/* Reads until the end or until size bytes are there; nothing is put behind them. */
ssize_t file_read_up_to(int fd, char *buf, size_t size);

/* As file_read_whole, into the caller's storage of size bytes, terminated, cut at size - 1. */
ssize_t file_read_small(const char *path, char *buf, size_t size);
/* The same in an open directory. */
ssize_t file_read_small_at(int dir_fd, const char *path, char *buf, size_t size);

/*
 * An output file that is written beside its place under a temporary name and moved there when it
 * is whole. Life cycle: open, write to stream, then commit or abandon; both free.
 */
struct file_atomic {
	FILE *stream;
	char *path;
	char *temp_path;
};

int file_atomic_open(struct file_atomic *file, const char *path, mode_t mode);
int file_atomic_commit(struct file_atomic *file);
void file_atomic_abandon(struct file_atomic *file);

#endif
