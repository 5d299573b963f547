// SPDX-License-Identifier: Apache-2.0
/* Reads memory by guarded calls, see guarded_memory.h. */
#include "memory/guarded_memory.h"

#include "base/guarded.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define MAX_PIECES 16
#define MAX_BYTES  (4u << 20) /* of one read */

/* One read, with memory of its own: a helper may write there at any later time. */
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

	call->result = process_memory_read_plain(call->pid, &to, 1, call->from, call->n);
}

static struct read_call *take_call(struct guarded_memory *guarded, size_t size)
{
	struct read_call *call = guarded->call;

	if (call && call->size >= size)
		return call;
	free(call);
	guarded->call = NULL;
	call = calloc(1, sizeof(*call) + size);
	if (!call)
		return NULL;
	call->base = (struct guarded_call){.run = run};
	call->size = size;
	guarded->call = call;
	return call;
}

static void copy_out(const struct read_call *call, const struct iovec *to, unsigned long n)
{
	size_t left = call->result > 0 ? (size_t)call->result : 0;
	const uint8_t *at = call->bytes;

	for (unsigned long i = 0; i < n && left > 0; i++) {
		const size_t part = to[i].iov_len < left ? to[i].iov_len : left;

		memcpy(to[i].iov_base, at, part);
		at += part;
		left -= part;
	}
}

static ssize_t read_guarded(void *arg, pid_t pid, const struct iovec *to, const struct iovec *from,
			    unsigned long n)
{
	struct guarded_memory *const guarded = arg;
	struct read_call *call;
	size_t size = 0;

	for (unsigned long i = 0; i < n; i++)
		size += from[i].iov_len < MAX_BYTES ? from[i].iov_len : MAX_BYTES + 1;
	if (n > MAX_PIECES || size > MAX_BYTES)
		return -EINVAL;
	call = take_call(guarded, size);
	if (!call)
		return -ENOMEM;
	call->pid = pid;
	call->n = n;
	memcpy(call->from, from, n * sizeof(*from));
	switch (guarded_run(pid, &call->base)) {
	case GUARDED_LATE:
		guarded->call = NULL;
		return -ETIMEDOUT;
	case GUARDED_PAUSED:
		return -ETIMEDOUT;
	case GUARDED_DONE:
		break;
	}
	copy_out(call, to, n);
	process_memory_note(pid, call->result);
	return call->result;
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
	free(guarded->call);
	free(guarded);
}

const struct process_memory_source *guarded_memory_source(const struct guarded_memory *guarded)
{
	return &guarded->source;
}
