// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   the reads of memory in a capture's steps -> answers to reads
 * units:   addresses of the captured process, bytes
 * threads: one at a time
 * errors:  -EFAULT and a count for a read that no step has made
 * source:  capture_format.h
 *
 * A read is answered by the equal read of the present step. If the step has no equal read, the
 * bytes that were last read from the address answer: a cache may have spared the step the read when
 * the capture was made. Bytes are borrowed from the capture.
 */
#ifndef FG_CAPTURE_REPLAY_MEMORY_H
#define FG_CAPTURE_REPLAY_MEMORY_H

#include "base/map64.h"
#include "capture/capture_codec.h"
#include "capture/capture_format.h"

#include <stdint.h>
#include <sys/types.h>
#include <sys/uio.h>

struct replay_piece {
	uint64_t addr;
	uint64_t len;
	const uint8_t *bytes; /* got bytes of the piece, at most len */
	uint64_t got;
};

struct replay_read {
	struct replay_piece pieces[CAPTURE_MAX_PIECES];
	uint32_t n;
	int64_t result; /* result of the read: number of bytes, or negative errno */
	bool is_used;
};

/* A zero-filled struct is valid and empty. */
struct replay_memory {
	struct replay_read *reads; /* reads of the step, CAPTURE_MAX_READS; NULL before any step */
	size_t n_reads;
	pid_t pid;		 /* process of the step */
	struct map64 remembered; /* PID and address -> struct replay_piece, owned */
	uint64_t unanswered;
	uint64_t answered_bytes;
};

/* Decodes the reads of a step of a process, or the reads between steps. */
int replay_memory_begin(struct replay_memory *memory, pid_t pid, struct capture_cursor *cursor);
ssize_t replay_memory_read(struct replay_memory *memory, const struct iovec *to,
			   const struct iovec *from, unsigned long n);
void replay_memory_fini(struct replay_memory *memory);

#endif
