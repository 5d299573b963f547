// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   bytes that may never come -> a process of its own reads them into shared memory
 * units:   bytes, CLOCK_MONOTONIC nanoseconds
 * threads: a reader belongs to one thread at a time; take and give back: any
 * errors:  negative errno, of the call; -ECHILD: the process has ended, or all calls are to end
 * source:  reach.h, memfd_create(2), process_vm_readv(2); Linux fs/fuse/file.c, mm/filemap.c
 *
 * Pages of a process's memory may be those of a file whose file system does not answer, and a
 * thread that waits for such a page ends by no signal (reach.h). So no thread of the collector
 * reads such memory or files: it asks a reader, and waits for the answer of that, which any signal
 * ends. A process for each call would cost more than the reads do, so a reader makes one call after
 * the other. A reader that does not answer is left to itself, and another one takes its place; it
 * has nothing open but what its call has, and ends with the collector, or with the answer.
 *
 * A call costs two switches from one process to another, as a call of a thread does (helpers.h).
 *
 * Before reach_start there are no readers.
 */
#ifndef FG_GUARD_READER_H
#define FG_GUARD_READER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <sys/uio.h>

#define READER_REQUEST_BYTES (12u << 10)
#define READER_MAX_BYTES     (4u << 20) /* of an answer */
#define READER_MAX_PIECES    512
#define READER_MAX_IDLE	     4 /* further ones end */

/* A static one, as struct reach_role. */
struct reader_role {
	/*
	 * fd is borrowed, or REACH_NO_FD. Writes at most READER_MAX_BYTES. Returns what is not
	 * negative, or a negative errno.
	 */
	ssize_t (*run)(const void *request, size_t len, int fd, void *bytes);
};

struct reader; /* opaque */

/* NULL: there are no readers, or no further one can be made. */
struct reader *reader_take(void);
/*
 * The caller is done with the reader. One whose call has not ended is let go of, and its process
 * ends when the call does.
 */
void reader_give(struct reader *reader);

/* What the next call will be. The request is copied. */
void reader_set(struct reader *reader, const struct reader_role *role, const void *request,
		size_t len);
/* The call is to read memory of a process, one piece after the other. At most READER_MAX_PIECES. */
void reader_set_memory(struct reader *reader, pid_t pid, const struct iovec *from, size_t n);

/* Begins the call. fd: for the call, which gets a descriptor of its own; or REACH_NO_FD. */
bool reader_begin(struct reader *reader, int fd);
/* Whether the call has ended by then; once it has, also later. */
bool reader_wait(struct reader *reader, uint64_t until_ns);
/*
 * Both, on the caller's processor, with a wait of wait_ns: and longer for a process that only waits
 * for a processor, as helpers.h says. False: the call has not ended.
 */
bool reader_run(struct reader *reader, int fd, uint64_t wait_ns);
/* Whether the process runs, or would if it had a processor. */
bool reader_is_busy(const struct reader *reader);
/* The process; 0: it has not begun yet. */
pid_t reader_pid(const struct reader *reader);
/* Whether that process does so; for those who do not have the reader. */
bool reader_process_is_busy(pid_t pid);
/* When the call ended, which it has. */
uint64_t reader_back_ns(const struct reader *reader);
/* What the call has returned, and what it has written; borrowed until the next call. */
ssize_t reader_result(const struct reader *reader, const void **ret_bytes);

/*
 * Reads memory of a process as process_vm_readv(2) does. Waits until it is read, or reach_stop is
 * called. Without readers the caller's thread reads.
 */
ssize_t reader_read_memory(pid_t pid, const struct iovec *to, size_t n_to, const struct iovec *from,
			   size_t n_from);

#endif
