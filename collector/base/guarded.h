// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   a call that may never return, made on behalf of a process -> the call has run, or not
 * units:   PIDs
 * threads: the model's
 * errors:  enum guarded_end
 * source:  guard/guard.h
 *
 * A file of a container, or a page of its memory, may be one that never answers. So whoever reads
 * such makes a call of the read. The call has a copy of all that it needs, because it may go on
 * when nobody waits for it any more. Without a guard, as in tests of one stage, a call runs at once
 * on the caller's thread.
 */
#ifndef FG_BASE_GUARDED_H
#define FG_BASE_GUARDED_H

#include <stdbool.h>
#include <stdlib.h>
#include <sys/types.h>

struct reader; /* guard/reader.h */

/* The first member of a larger structure, allocated by malloc. The functions run on any thread. */
struct guarded_call {
	void (*run)(struct guarded_call *call);
	/*
	 * Frees the call and all that it has: of a late call after run, of a left one too. NULL:
	 * there is nothing but the call.
	 */
	void (*free)(struct guarded_call *call);
	bool opens; /* the call may open a file, which will have to be closed */
	/*
	 * Who makes the call in the place of run: a reader (guard/reader.h) that has been set, so
	 * that no thread of this program waits for what may never answer. The reader stays the
	 * call's. NULL: run does, as without a guard, and as for a call that nobody waits for.
	 */
	struct reader *reader;
	int reader_fd; /* for it, or REACH_NO_FD; the call's */
};

static inline void guarded_free(struct guarded_call *call)
{
	if (call->free)
		call->free(call);
	else
		free(call);
}

enum guarded_end {
	GUARDED_DONE,	/* run has returned; the call is the caller's again */
	GUARDED_LATE,	/* run has not returned in time; the call is no longer the caller's */
	GUARDED_PAUSED, /* run was not called: calls for the process or its owner were late */
};

/* Runs the call, and waits for its end for a limited time. */
enum guarded_end guarded_run(pid_t pid, struct guarded_call *call);
/*
 * Runs and frees the call now or later. Nobody waits for its end. A call that opens may be freed
 * without having run, where too many of its owner wait.
 */
void guarded_leave(pid_t pid, struct guarded_call *call);
/* Closes a descriptor, which may wait for its file system. */
void guarded_close(pid_t pid, int fd);

struct guarded_runner {
	enum guarded_end (*run)(void *arg, pid_t pid, struct guarded_call *call);
	void (*leave)(void *arg, pid_t pid, struct guarded_call *call);
	void *arg;
};

/* Sets who runs calls from now on; borrowed. NULL: the caller's thread. */
void guarded_use(const struct guarded_runner *runner);

#endif
