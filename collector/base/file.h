// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   small files -> their bytes; bytes -> output files that appear whole or not at all
 * units:   bytes
 * threads: any; a struct file_atomic belongs to one thread at a time
 * errors:  negative errno
 * source:  open(2), rename(2), proc(5)
 */
#ifndef FG_BASE_FILE_H
#define FG_BASE_FILE_H

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>

/*
 * Whether the error says something of this process alone: without a free descriptor, or without
 * memory, nothing was learnt of the file that was asked for.
 */
static inline bool is_shortage(int err)
{
	return err == -EMFILE || err == -ENFILE || err == -ENOMEM;
}

/* All functions that read return the number of bytes read. */

/* Reads at most max_bytes of the file into *ret, terminated, which the caller frees. */
ssize_t file_read_whole(const char *path, size_t max_bytes, char **ret);

/* Reads until the end of the file, or size bytes; the buffer is not terminated. */
ssize_t file_read_up_to(int fd, char *buf, size_t size);

/* As file_read_up_to, from an offset on; the file's own offset stays. */
ssize_t file_read_at(int fd, void *buf, size_t size, uint64_t off);

/* Writes all of the bytes, in as many pieces as it takes. Negative errno. */
int file_write_all(int fd, const void *data, size_t len);

/* Copies the bytes of a file, from its first to its last, to stream. Negative errno. */
int file_copy(int fd, FILE *stream);

/* Reads at most size - 1 bytes of the file into buf, terminated. */
ssize_t file_read_small(const char *path, char *buf, size_t size);
/* As file_read_small, with path below an open directory. */
ssize_t file_read_small_at(int dir_fd, const char *path, char *buf, size_t size);

/*
 * An output file that is written under a temporary name in its directory, and renamed when it is
 * whole. Life cycle: open, write to stream, then commit or abandon, which both free.
 */
struct file_atomic {
	FILE *stream;
	char *path;
	char *temp_path;
};

/*
 * The mode for an output at path: that of the file which is there, else what the umask leaves of
 * 0666.
 */
mode_t file_output_mode(const char *path);
int file_atomic_open(struct file_atomic *file, const char *path, mode_t mode);
int file_atomic_commit(struct file_atomic *file);
void file_atomic_abandon(struct file_atomic *file);

#endif
