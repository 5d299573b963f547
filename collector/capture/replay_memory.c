// SPDX-License-Identifier: Apache-2.0
/* Answers reads of memory from a capture, see replay_memory.h. */
#include "capture/replay_memory.h"

#include "base/log.h"
#include "base/hash.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define MAX_REMEMBERED (1u << 20)

static uint64_t key_of(const struct replay_memory *memory, uint64_t addr)
{
	return quick_hash_mix(1, addr, (uint64_t)memory->pid);
}

static void remember(struct replay_memory *memory, const struct replay_piece *piece)
{
	const uint64_t key = key_of(memory, piece->addr);
	struct replay_piece *known = map64_find(&memory->remembered, key);

	if (piece->got < piece->len)
		return;
	if (!known && memory->remembered.count < MAX_REMEMBERED) {
		known = calloc(1, sizeof(*known));
		if (known && map64_put(&memory->remembered, key, known) < 0) {
			free(known);
			known = NULL;
		}
	}
	if (known)
		*known = *piece;
}

static int get_read(struct replay_memory *memory, struct capture_cursor *cursor,
		    struct replay_read *ret)
{
	uint64_t left;

	ret->is_used = false;
	ret->n = (uint32_t)capture_get_up_to(cursor, CAPTURE_MAX_PIECES);
	for (uint32_t i = 0; i < ret->n; i++) {
		ret->pieces[i].addr = capture_get(cursor);
		ret->pieces[i].len = capture_get(cursor); /* the length that was asked for */
	}
	ret->result = capture_get_signed(cursor);
	left = ret->result > 0 ? (uint64_t)ret->result : 0;
	if (cursor->failed || left > (uint64_t)(cursor->end - cursor->at))
		return -EINVAL;
	for (uint32_t i = 0; i < ret->n; i++) {
		struct replay_piece *const piece = &ret->pieces[i];

		piece->bytes = cursor->at;
		piece->got = piece->len < left ? piece->len : left;
		cursor->at += piece->got;
		left -= piece->got;
		remember(memory, piece);
	}
	return left == 0 ? 0 : -EINVAL;
}

int replay_memory_begin(struct replay_memory *memory, pid_t pid, struct capture_cursor *cursor)
{
	const size_t n = (size_t)capture_get_up_to(cursor, CAPTURE_MAX_READS);
	int err = 0;

	if (!memory->reads)
		memory->reads = calloc(CAPTURE_MAX_READS, sizeof(*memory->reads));
	if (!memory->reads)
		return -ENOMEM;
	memory->pid = pid;
	memory->n_reads = 0;
	for (size_t i = 0; !err && i < n; i++) {
		err = get_read(memory, cursor, &memory->reads[i]);
		memory->n_reads += !err;
	}
	return cursor->failed ? -EINVAL : err;
}

static bool is_equal(const struct replay_read *read, const struct iovec *from, unsigned long n)
{
	if (read->n != n)
		return false;
	for (unsigned long i = 0; i < n; i++) {
		if (read->pieces[i].addr != (uintptr_t)from[i].iov_base ||
		    read->pieces[i].len != from[i].iov_len)
			return false;
	}
	return true;
}

/* Finds the first equal read that has not been used, else the last equal read. */
static struct replay_read *find(struct replay_memory *memory, const struct iovec *from,
				unsigned long n)
{
	struct replay_read *found = NULL;

	for (size_t i = 0; i < memory->n_reads; i++) {
		struct replay_read *const read = &memory->reads[i];

		if (!is_equal(read, from, n))
			continue;
		found = read;
		if (!read->is_used)
			break;
	}
	return found;
}

static ssize_t answer(struct replay_read *read, const struct iovec *to)
{
	read->is_used = true;
	for (uint32_t i = 0; read->result > 0 && i < read->n; i++)
		memcpy(to[i].iov_base, read->pieces[i].bytes, read->pieces[i].got);
	return (ssize_t)read->result;
}

/* Answers all pieces by remembered bytes, or none. */
static bool answer_from_memory(const struct replay_memory *memory, const struct iovec *to,
			       const struct iovec *from, unsigned long n, ssize_t *ret)
{
	*ret = 0;
	for (unsigned long i = 0; i < n; i++) {
		const uint64_t addr = (uintptr_t)from[i].iov_base;
		const struct replay_piece *const piece =
			map64_find(&memory->remembered, key_of(memory, addr));

		if (!piece || piece->addr != addr || piece->got < from[i].iov_len)
			return false;
		memcpy(to[i].iov_base, piece->bytes, from[i].iov_len);
		*ret += (ssize_t)from[i].iov_len;
	}
	return true;
}

ssize_t replay_memory_read(struct replay_memory *memory, const struct iovec *to,
			   const struct iovec *from, unsigned long n)
{
	struct replay_read *const read = find(memory, from, n);
	ssize_t got;

	if (read || answer_from_memory(memory, to, from, n, &got)) {
		got = read ? answer(read, to) : got;
		memory->answered_bytes += got > 0 ? (uint64_t)got : 0;
		return got;
	}
	log_debug("not in the capture: memory at 0x%llx, %zu bytes",
		  (unsigned long long)(uintptr_t)from[0].iov_base, from[0].iov_len);
	memory->unanswered++;
	return -EFAULT;
}

void replay_memory_fini(struct replay_memory *memory)
{
	map64_fini_all(&memory->remembered, free);
	free(memory->reads);
	*memory = (struct replay_memory){0};
}
