// SPDX-License-Identifier: Apache-2.0
/* Reads the perf map of a runtime as the file grows, see foreign_reader.h. */
#include "maps/foreign_reader.h"

#include "base/clock.h"
#include "base/guarded.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#define PIECE_BYTES (256u << 10)
#define MANY_LOOKS  10

static void close_file(struct foreign_reader *reader)
{
	if (reader->is_open)
		guarded_close(reader->pid, reader->fd);
	reader->is_open = false;
	reader->offset = 0;
}

void foreign_reader_fini(struct foreign_reader *reader)
{
	close_file(reader);
	foreign_map_free(reader->map);
	*reader = (struct foreign_reader){0};
}

void foreign_reader_restart(struct foreign_reader *reader)
{
	foreign_reader_fini(reader);
	reader->began_at = time(NULL);
}

/* Opens the file that has the name now, unless that file is open already. */
struct look_call {
	struct guarded_call base;
	struct foreign_owner owner;
	bool is_open; /* the file with the next two */
	dev_t dev;
	ino_t ino;
	int fd; /* or why there is none; -EALREADY: the file is open */
	struct stat st;
};

static void run_look(struct guarded_call *base)
{
	struct look_call *const call = (struct look_call *)base;

	call->fd = foreign_file_open(&call->owner, &call->st);
	if (call->fd < 0 || !call->is_open || call->st.st_dev != call->dev ||
	    call->st.st_ino != call->ino)
		return;
	close(call->fd);
	call->fd = -EALREADY;
}

static void free_look(struct guarded_call *base)
{
	struct look_call *const call = (struct look_call *)base;

	if (call->fd >= 0)
		close(call->fd);
	free(call);
}

static void take_file(struct foreign_reader *reader, pid_t pid, const struct look_call *call,
		      struct foreign_reader_stats *stats)
{
	stats->restarts += reader->is_open;
	stats->files++;
	close_file(reader);
	reader->fd = call->fd;
	reader->pid = pid;
	reader->is_open = true;
	reader->is_refused = reader->is_large = false;
	reader->dev = call->st.st_dev;
	reader->ino = call->st.st_ino;
	foreign_map_restart(reader->map);
}

static void take_answer(struct foreign_reader *reader, pid_t pid, struct look_call *call,
			struct foreign_reader_stats *stats)
{
	if (call->fd < 0) {
		const bool is_refused =
			call->fd == -EACCES || call->fd == -EINVAL || call->fd == -ESTALE;

		if (call->fd == -EALREADY)
			return;
		stats->refused += is_refused && !reader->is_refused;
		reader->is_refused = is_refused;
	} else if (!reader->map && foreign_map_new(&reader->map) < 0) {
		guarded_close(pid, call->fd);
	} else {
		take_file(reader, pid, call, stats);
	}
}

static void look(struct foreign_reader *reader, const struct foreign_owner *owner,
		 struct foreign_reader_stats *stats)
{
	struct look_call *call = malloc(sizeof(*call));
	enum guarded_end end;

	if (!call)
		return;
	*call = (struct look_call){.base = {.run = run_look, .free = free_look, .opens = true},
				   .owner = *owner,
				   .is_open = reader->is_open,
				   .dev = reader->dev,
				   .ino = reader->ino,
				   .fd = -EAGAIN};
	end = guarded_run(owner->pid, &call->base);
	if (end == GUARDED_LATE)
		return;
	if (end == GUARDED_DONE)
		take_answer(reader, owner->pid, call, stats);
	free(call);
}

/* Reads a piece of the file. */
struct piece_call {
	struct guarded_call base;
	int fd; /* the reader's */
	off_t offset;
	bool is_shorter; /* the file, than offset; nothing was read */
	bool is_unread;	 /* no descriptor was left; nothing was read */
	ssize_t n;
	char bytes[PIECE_BYTES];
};

static void run_piece(struct guarded_call *base)
{
	struct piece_call *const call = (struct piece_call *)base;
	/* The reader may close its own once the call is late. */
	const int fd = fcntl(call->fd, F_DUPFD_CLOEXEC, 0);
	struct stat st;

	call->n = 0;
	call->is_unread = fd < 0;
	call->is_shorter = fd >= 0 && fstat(fd, &st) == 0 && st.st_size < call->offset;
	if (fd >= 0 && !call->is_shorter && call->offset < FOREIGN_MAX_FILE_BYTES)
		call->n = pread(fd, call->bytes, sizeof(call->bytes), call->offset);
	if (fd >= 0)
		close(fd);
}

static void free_piece(struct guarded_call *base)
{
	free(base);
}

static void start_again(struct foreign_reader *reader, struct foreign_reader_stats *stats)
{
	stats->restarts++;
	reader->offset = 0;
	reader->is_large = false;
	foreign_map_restart(reader->map);
}

/* Reads one piece. 0: the file has ended, or no more can be read; -1: try again later. */
static ssize_t read_piece(struct foreign_reader *reader, struct foreign_reader_stats *stats)
{
	static struct piece_call *at_hand; /* used by the model's thread only */
	struct piece_call *const call = at_hand ? at_hand : malloc(sizeof(*call));
	enum guarded_end end;

	at_hand = call;
	if (!call)
		return -1;
	call->base = (struct guarded_call){.run = run_piece, .free = free_piece};
	call->offset = reader->offset;
	call->fd = reader->fd;
	end = guarded_run(reader->pid, &call->base);
	if (end == GUARDED_LATE)
		at_hand = NULL;
	if (end != GUARDED_DONE || call->is_unread)
		return -1;
	if (call->is_shorter) {
		start_again(reader, stats);
		return read_piece(reader, stats);
	}
	if (reader->offset >= FOREIGN_MAX_FILE_BYTES) {
		stats->unread += !reader->is_large;
		reader->is_large = true;
	}
	if (call->n <= 0)
		return 0;
	reader->offset += call->n;
	stats->read_bytes += (uint64_t)call->n;
	foreign_map_feed(reader->map, call->bytes, (size_t)call->n, reader->whole_ns, &stats->maps);
	return call->n;
}

size_t foreign_reader_step(struct foreign_reader *reader, const struct foreign_owner *owner,
			   size_t max_bytes, struct foreign_reader_stats *stats)
{
	const uint64_t now_ns = clock_now_ns();
	size_t done = 0;
	ssize_t n;

	reader->next_ns = now_ns + FOREIGN_READ_INTERVAL_NS;
	if (now_ns >= reader->look_ns) {
		reader->look_ns = now_ns + (reader->looks < MANY_LOOKS ? FOREIGN_READ_INTERVAL_NS
								       : FOREIGN_LOOK_INTERVAL_NS);
		reader->looks += reader->looks < MANY_LOOKS;
		look(reader, owner, stats);
	}
	if (!reader->is_open) {
		reader->next_ns = reader->look_ns;
		return 0;
	}
	do {
		n = read_piece(reader, stats);
		done += n > 0 ? (size_t)n : 0;
	} while (n > 0 && done < max_bytes);
	if (n == 0)
		reader->whole_ns = now_ns;
	return done;
}
