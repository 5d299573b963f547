// SPDX-License-Identifier: Apache-2.0
/* Reads mappings in pieces, see space_reader.h. */
#include "memory/space_reader.h"

#include "base/clock.h"
#include "base/guarded.h"
#include "base/serial.h"
#include "guard/heap_bytes.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define PIECE_BYTES (64u << 10)

/* A piece of the file. A line that is not whole stays for the next piece. */
struct piece {
	struct guarded_call base;
	pid_t pid;
	int fd;	 /* -1: not open yet */
	int err; /* a negative errno */
	bool has_ended;
	size_t len;
	char text[PIECE_BYTES];
};

struct space_reader {
	pid_t pid;
	struct piece *piece; /* NULL: nothing has been read, or it belongs to a late call */
	bool is_late;
	size_t bytes;
	struct address_space fresh;
};

/* The kernel gives at most a page at a time. */
static void run_piece(struct guarded_call *base)
{
	struct piece *const piece = (struct piece *)base;
	char path[sizeof("/proc/-2147483648/maps")];

	if (piece->fd < 0) {
		snprintf(path, sizeof(path), "/proc/%d/maps", (int)piece->pid);
		piece->fd = open(path, O_RDONLY | O_CLOEXEC);
		piece->err = piece->fd < 0 ? -errno : 0;
	}
	while (!piece->err && !piece->has_ended && piece->len < PIECE_BYTES) {
		const ssize_t n =
			read(piece->fd, piece->text + piece->len, PIECE_BYTES - piece->len);

		if (n < 0 && errno != EINTR)
			piece->err = -errno;
		piece->has_ended = n == 0;
		piece->len += n > 0 ? (size_t)n : 0;
	}
}

static void free_piece(struct guarded_call *base)
{
	struct piece *const piece = (struct piece *)base;

	if (piece->fd >= 0)
		close(piece->fd);
	free(piece);
}

struct space_reader *space_reader_new(pid_t pid)
{
	struct space_reader *reader = calloc(1, sizeof(*reader));

	if (reader)
		reader->pid = pid;
	return reader;
}

size_t space_reader_bytes(const struct space_reader *reader)
{
	return heap_bytes(sizeof(*reader)) + address_space_bytes(&reader->fresh) +
	       (reader->piece ? heap_bytes(sizeof(*reader->piece)) : 0);
}

/* Only who reads has a piece: thousands of processes may wait for their turn. */
static struct piece *make_piece(pid_t pid)
{
	struct piece *piece = malloc(sizeof(*piece));

	if (!piece)
		return NULL;
	piece->base = (struct guarded_call){.run = run_piece, .free = free_piece};
	piece->pid = pid;
	piece->fd = -1;
	piece->err = 0;
	piece->has_ended = false;
	piece->len = 0;
	return piece;
}

void space_reader_free(struct space_reader *reader)
{
	if (!reader)
		return;
	if (reader->piece)
		free_piece(&reader->piece->base);
	address_space_fini(&reader->fresh);
	free(reader);
}

/* Adds the mappings of whole lines. */
static int parse(struct space_reader *reader)
{
	struct piece *const piece = reader->piece;
	const char *end = memrchr(piece->text, '\n', piece->len);
	const size_t whole = end ? (size_t)(end - piece->text) + 1 : 0;
	int err;

	if (!whole && piece->len == PIECE_BYTES)
		return -EBADMSG; /* no line is as long */
	err = address_space_parse(&reader->fresh, piece->text, whole);
	reader->bytes += whole;
	piece->len -= whole;
	memmove(piece->text, piece->text + whole, piece->len);
	return err;
}

static int step_once(struct space_reader *reader)
{
	struct piece *const piece = reader->piece;
	const enum guarded_end end = guarded_run(reader->pid, &piece->base);
	int err;

	if (end == GUARDED_LATE) {
		reader->piece = NULL;
		reader->is_late = true;
	}
	if (end != GUARDED_DONE)
		return -ETIMEDOUT;
	if (piece->err)
		return piece->err;
	err = parse(reader);
	if (err)
		return err;
	return piece->has_ended || reader->bytes >= SPACE_READER_MAX_BYTES ? 0 : 1;
}

int space_reader_step(struct space_reader *reader, uint64_t for_ns)
{
	const uint64_t began_ns = clock_now_ns();
	int more;

	if (reader->is_late)
		return -ETIMEDOUT;
	if (!reader->piece)
		reader->piece = make_piece(reader->pid);
	if (!reader->piece)
		return -ENOMEM;
	do {
		more = step_once(reader);
	} while (more > 0 && clock_now_ns() - began_ns < for_ns);
	return more;
}

void space_reader_take(struct space_reader *reader, struct address_space *space)
{
	address_space_fini(space);
	*space = reader->fresh;
	space->serial = serial_next();
	reader->fresh = (struct address_space){0};
}

int address_space_read(struct address_space *space, pid_t pid)
{
	struct space_reader *const reader = space_reader_new(pid);
	int err;

	if (!reader)
		return -ENOMEM;
	err = space_reader_step(reader, UINT64_MAX);
	if (!err)
		space_reader_take(reader, space);
	space_reader_free(reader);
	return err;
}
