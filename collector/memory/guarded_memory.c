// SPDX-License-Identifier: Apache-2.0
/* Reads memory by guarded calls, see guarded_memory.h. */
#include "memory/guarded_memory.h"

#include "base/guarded.h"
#include "base/reach.h"
#include "guard/reader.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define MAX_PIECES 16
#define MAX_BYTES  READER_MAX_BYTES /* of one read */

/*
 * One read, by a reader; or, where there are none, with memory of its own, because a helper may
 * write there at any later time.
 */
struct read_call {
	struct guarded_call base;
	pid_t pid;
	struct iovec from[MAX_PIECES];
	unsigned long n;
	ssize_t result;
	size_t size;
	uint8_t bytes[];
};

struct guarded_memory {
	struct process_memory_source source;
	struct read_call *call; /* at hand, or NULL */
};

static void run(struct guarded_call *base)
{
	struct read_call *const call = (struct read_call *)base;
	const struct iovec to = {call->bytes, call->size};

	if (base->reader && reader_begin(base->reader, base->reader_fd))
		reader_wait(base->reader, UINT64_MAX);
	if (base->reader)
		return;
	call->result = process_memory_read_plain(call->pid, &to, 1, call->from, call->n);
}

static void free_call(struct guarded_call *base)
{
	reader_give(base->reader);
	free(base);
}

static void drop_call(struct guarded_memory *guarded)
{
	if (guarded->call)
		free_call(&guarded->call->base);
	guarded->call = NULL;
}

static struct read_call *take_call(struct guarded_memory *guarded, size_t size)
{
	const bool has_readers = reach_is_begun();
	const size_t own_size = has_readers ? 0 : size;
	struct read_call *call = guarded->call;

	if (call && (call->base.reader || call->size >= own_size))
		return call;
	drop_call(guarded);
	call = calloc(1, sizeof(*call) + own_size);
	if (!call)
		return NULL;
	call->base = (struct guarded_call){.run = run,
					   .free = free_call,
					   .reader = has_readers ? reader_take() : NULL,
					   .reader_fd = REACH_NO_FD};
	call->size = own_size;
	if (has_readers && !call->base.reader) {
		free(call);
		return NULL;
	}
	guarded->call = call;
	return call;
}

/* Copies what was read. Returns how much that is, or the error. */
static ssize_t copy_out(const struct read_call *call, const struct iovec *to, unsigned long n)
{
	const void *read = call->bytes;
	const ssize_t result =
		call->base.reader ? reader_result(call->base.reader, &read) : call->result;
	size_t left = result > 0 ? (size_t)result : 0;
	const uint8_t *at = read;

	for (unsigned long i = 0; i < n && left > 0; i++) {
		const size_t part = to[i].iov_len < left ? to[i].iov_len : left;

		memcpy(to[i].iov_base, at, part);
		at += part;
		left -= part;
	}
	return result;
}

static void set_up(struct read_call *call, pid_t pid, const struct iovec *from, unsigned long n)
{
	call->pid = pid;
	call->n = n;
	if (call->base.reader)
		reader_set_memory(call->base.reader, pid, from, n);
	else
		memcpy(call->from, from, n * sizeof(*from));
}

static ssize_t read_guarded(void *arg, pid_t pid, const struct iovec *to, const struct iovec *from,
			    unsigned long n)
{
	struct guarded_memory *const guarded = arg;
	struct read_call *call;
	size_t size = 0;
	ssize_t result;

	for (unsigned long i = 0; i < n; i++)
		size += from[i].iov_len < MAX_BYTES ? from[i].iov_len : MAX_BYTES + 1;
	if (n > MAX_PIECES || size > MAX_BYTES)
		return -EINVAL;
	call = take_call(guarded, size);
	if (!call)
		return -ENOMEM;
	set_up(call, pid, from, n);
	switch (guarded_run(pid, &call->base)) {
	case GUARDED_LATE:
		guarded->call = NULL;
		return -ETIMEDOUT;
	case GUARDED_PAUSED:
		return -ETIMEDOUT;
	case GUARDED_DONE:
		break;
	}
	result = copy_out(call, to, n);
	process_memory_note(pid, result);
	if (result == -ECHILD) /* another reader makes the next call */
		drop_call(guarded);
	return result;
}

int guarded_memory_new(struct guarded_memory **ret)
{
	struct guarded_memory *guarded = calloc(1, sizeof(*guarded));

	if (!guarded)
		return -ENOMEM;
	guarded->source = (struct process_memory_source){.read = read_guarded, .arg = guarded};
	*ret = guarded;
	return 0;
}

void guarded_memory_free(struct guarded_memory *guarded)
{
	if (!guarded)
		return;
	drop_call(guarded);
	free(guarded);
}

const struct process_memory_source *guarded_memory_source(const struct guarded_memory *guarded)
{
	return &guarded->source;
}
