// SPDX-License-Identifier: Apache-2.0
/* Reads the perf map of a runtime as the file grows, see foreign_reader.h. */
#include "foreign/foreign_reader.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/guarded.h"
#include "base/reach.h"
#include "guard/reader.h"
#include "base/root_file.h"
#include "confine/zygote.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#define MANY_LOOKS	10
#define LONGEST_WAIT_NS UINT64_C(5000000) /* at a time, for a parser */

static void close_file(struct foreign_reader *reader)
{
	if (reader->is_open)
		guarded_close(reader->pid, reader->fd);
	foreign_parser_free(reader->parser);
	reader->parser = NULL;
	reader->taken = 0;
	reader->is_open = false;
	reader->offset = 0;
}

void foreign_reader_close(struct foreign_reader *reader)
{
	close_file(reader);
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
	reader->opened_ns = clock_now_ns();
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

/* What a reader says of a piece of the file. */
struct piece {
	bool is_shorter; /* the file, than offset; nothing was read */
	bool is_unread;	 /* no descriptor was left; nothing was read */
	ssize_t n;
	char bytes[FOREIGN_PIECE_BYTES];
};

static void read_at(int path_fd, off_t offset, struct piece *ret)
{
	_cleanup_close_ const int fd = root_file_read(path_fd);
	struct stat st;

	ret->n = 0;
	ret->is_unread = fd == -EMFILE || fd == -ENFILE;
	ret->is_shorter = fd >= 0 && offset > 0 && fstat(fd, &st) == 0 && st.st_size < offset;
	if (fd >= 0 && !ret->is_shorter && offset < FOREIGN_MAX_FILE_BYTES)
		ret->n = pread(fd, ret->bytes, sizeof(ret->bytes), offset);
}

static ssize_t run_piece_there(const void *request, size_t len, int path_fd, void *bytes)
{
	struct piece *const piece = bytes;

	if (len != sizeof(off_t))
		return -EBADMSG;
	read_at(path_fd, *(const off_t *)request, piece);
	return (ssize_t)(offsetof(struct piece, bytes) + (piece->n > 0 ? (size_t)piece->n : 0));
}

static const struct reader_role piece_role = {run_piece_there};

_Static_assert(sizeof(struct piece) <= READER_MAX_BYTES, "a reader has room for a piece");

struct piece_call {
	struct guarded_call base;
	int path_fd; /* the call's own: the reader may close its own once the call is late */
	off_t offset;
	struct piece piece; /* where there are no readers */
};

static void run_piece(struct guarded_call *base)
{
	struct piece_call *const call = (struct piece_call *)base;

	if (!base->reader)
		read_at(call->path_fd, call->offset, &call->piece);
	else if (reader_begin(base->reader, base->reader_fd))
		reader_wait(base->reader, UINT64_MAX);
}

static void free_piece(struct guarded_call *base)
{
	struct piece_call *const call = (struct piece_call *)base;

	reader_give(call->base.reader);
	if (call->path_fd >= 0)
		close(call->path_fd);
	free(call);
}

static struct piece_call *make_piece(const struct foreign_reader *reader)
{
	const bool has_readers = reach_is_begun();
	struct piece_call *const call =
		malloc(has_readers ? offsetof(struct piece_call, piece) : sizeof(*call));

	if (!call)
		return NULL;
	call->base = (struct guarded_call){
		.run = run_piece, .free = free_piece, .reader = has_readers ? reader_take() : NULL};
	call->path_fd = call->base.reader_fd = fcntl(reader->fd, F_DUPFD_CLOEXEC, 0);
	call->offset = reader->offset;
	if (call->base.reader)
		reader_set(call->base.reader, &piece_role, &call->offset, sizeof(call->offset));
	if (call->path_fd >= 0 && (call->base.reader || !has_readers))
		return call;
	free_piece(&call->base);
	return NULL;
}

/* NULL: nobody has read it. */
static const struct piece *take_piece(const struct piece_call *call)
{
	const void *bytes;

	if (!call->base.reader)
		return &call->piece;
	return reader_result(call->base.reader, &bytes) >= 0 ? bytes : NULL;
}

static void start_again(struct foreign_reader *reader, struct foreign_reader_stats *stats)
{
	stats->restarts++;
	reader->offset = 0;
	reader->is_large = false;
	foreign_map_restart(reader->map);
}

/* Waits for the parser as long as there is room. */
static enum foreign_parser_end wait_for(struct foreign_parser *parser, struct foreign_room *room)
{
	const uint64_t most_ns = room->wait_ns < LONGEST_WAIT_NS ? room->wait_ns : LONGEST_WAIT_NS;
	const uint64_t began_ns = clock_now_ns();
	const enum foreign_parser_end end = foreign_parser_wait(parser, began_ns + most_ns);
	const uint64_t took_ns = clock_now_ns() - began_ns;

	room->wait_ns -= took_ns < room->wait_ns ? took_ns : room->wait_ns;
	return end;
}

/* Takes lines of the parser's answer as long as there is room. As foreign_map_take. */
static int take_lines(struct foreign_reader *reader, struct foreign_room *room,
		      struct foreign_reader_stats *stats)
{
	const uint64_t began_ns = clock_now_ns();
	struct foreign_taking taking = {.pos = reader->taken};
	bool ends_line;
	uint64_t took_ns;
	int err;

	taking.answer = foreign_parser_answer(reader->parser, &taking.len);
	taking.piece_len = foreign_parser_piece(reader->parser, &ends_line);
	do {
		err = foreign_map_take(reader->map, &taking, FOREIGN_LINES_AT_ONCE,
				       reader->whole_ns, &stats->maps);
		took_ns = clock_now_ns() - began_ns;
	} while (err > 0 && took_ns < room->take_ns);
	room->take_ns -= took_ns < room->take_ns ? took_ns : room->take_ns;
	reader->taken = err > 0 ? taking.pos : 0;
	return err;
}

/*
 * Goes on behind the parser's piece, with the lines of its answer or without. False: there are more
 * lines than there was room for.
 */
static bool pass_piece(struct foreign_reader *reader, bool is_done, struct foreign_room *room,
		       struct foreign_reader_stats *stats)
{
	const int err = is_done ? take_lines(reader, room, stats) : -EBADMSG;
	bool ends_line;
	const size_t piece_len = foreign_parser_piece(reader->parser, &ends_line);

	if (err > 0) {
		reader->next_ns = 0;
		return false;
	}
	if (err < 0) {
		stats->lost++;
		foreign_map_skip(reader->map, ends_line);
		reader->next_ns = clock_now_ns() + FOREIGN_LOST_INTERVAL_NS;
	}
	reader->offset += (off_t)piece_len;
	return true;
}

/* Takes what the reader's parser has made of its piece. False: the next piece has to wait. */
static bool end_piece(struct foreign_reader *reader, struct foreign_room *room,
		      struct foreign_reader_stats *stats)
{
	const enum foreign_parser_end end = wait_for(reader->parser, room);
	const uint64_t lost = stats->lost;

	if (end == FOREIGN_PARSER_WAITS)
		return false;
	if (end == FOREIGN_PARSER_UNBEGUN)
		stats->delayed++;
	else if (!pass_piece(reader, end == FOREIGN_PARSER_DONE, room, stats))
		return false;
	foreign_parser_free(reader->parser);
	reader->parser = NULL;
	return end != FOREIGN_PARSER_UNBEGUN && stats->lost == lost;
}

/* Has the bytes parsed. False: the next piece has to wait. */
static bool parse(struct foreign_reader *reader, const char *bytes, size_t len,
		  struct foreign_room *room, struct foreign_reader_stats *stats)
{
	if (!zygote_is_used()) {
		foreign_map_feed(reader->map, bytes, len, reader->whole_ns, &stats->maps);
		reader->offset += (off_t)len;
		return true;
	}
	if (foreign_parser_start(reader->payer, foreign_map_text(reader->map), bytes, len,
				 &reader->parser) < 0) {
		stats->delayed++;
		return false;
	}
	return end_piece(reader, room, stats);
}

enum piece_end {
	PIECE_PARSED,
	PIECE_AGAIN, /* from the file's beginning */
	PIECE_NONE,  /* the file has ended, or no more can be read */
	PIECE_LATER, /* try again later */
};

static enum piece_end use_piece(struct foreign_reader *reader, const struct piece *piece,
				struct foreign_room *room, struct foreign_reader_stats *stats)
{
	size_t len;

	if (!piece || piece->is_unread)
		return PIECE_LATER;
	if (piece->is_shorter) {
		start_again(reader, stats);
		return PIECE_AGAIN;
	}
	if (reader->offset >= FOREIGN_MAX_FILE_BYTES) {
		stats->unread += !reader->is_large;
		reader->is_large = true;
	}
	if (piece->n <= 0)
		return PIECE_NONE;
	len = (size_t)piece->n;
	stats->read_bytes += len;
	room->bytes -= len < room->bytes ? len : room->bytes;
	return parse(reader, piece->bytes, len, room, stats) ? PIECE_PARSED : PIECE_LATER;
}

static enum piece_end read_piece(struct foreign_reader *reader, struct foreign_room *room,
				 struct foreign_reader_stats *stats)
{
	struct piece_call *const call = make_piece(reader);
	enum guarded_end guarded;
	enum piece_end end = PIECE_LATER;

	if (!call)
		return PIECE_LATER;
	guarded = guarded_run(reader->pid, &call->base);
	if (guarded == GUARDED_DONE)
		end = use_piece(reader, take_piece(call), room, stats);
	if (guarded != GUARDED_LATE)
		free_piece(&call->base);
	return end;
}

void foreign_reader_look(struct foreign_reader *reader, const struct foreign_owner *owner,
			 struct foreign_reader_stats *stats)
{
	const uint64_t now_ns = clock_now_ns();

	if (now_ns >= reader->look_ns) {
		reader->look_ns = now_ns + (reader->looks < MANY_LOOKS ? FOREIGN_READ_INTERVAL_NS
								       : FOREIGN_LOOK_INTERVAL_NS);
		reader->looks += reader->looks < MANY_LOOKS;
		look(reader, owner, stats);
	}
	if (!reader->is_open)
		reader->next_ns = reader->look_ns;
}

void foreign_reader_step(struct foreign_reader *reader, const struct foreign_owner *owner,
			 struct foreign_room *room, struct foreign_reader_stats *stats)
{
	const uint64_t now_ns = clock_now_ns();
	enum piece_end end;

	stats->steps++;
	reader->next_ns = now_ns + FOREIGN_READ_INTERVAL_NS;
	/* Lines of this file go before lines of one that may have its name by now. */
	if ((reader->parser && !end_piece(reader, room, stats)) || room->bytes == 0)
		return;
	foreign_reader_look(reader, owner, stats);
	if (!reader->is_open)
		return;
	do {
		end = read_piece(reader, room, stats);
	} while (end == PIECE_AGAIN ||
		 (end == PIECE_PARSED && room->bytes > 0 && room->take_ns > 0));
	if (end == PIECE_NONE)
		reader->whole_ns = now_ns;
}

bool foreign_reader_is_wanted(const struct foreign_reader *reader, uint64_t now_ns)
{
	return reader->wanted_ns && now_ns < reader->wanted_ns + FOREIGN_WANTED_NS;
}

void foreign_reader_want(struct foreign_reader *reader, uint64_t now_ns)
{
	if (!foreign_reader_is_wanted(reader, now_ns)) {
		reader->looks = 0;
		reader->look_ns = reader->next_ns = 0;
		reader->opened_ns = now_ns;
	}
	reader->wanted_ns = now_ns;
}

bool foreign_reader_is_behind(const struct foreign_reader *reader, uint64_t time_ns,
			      uint64_t now_ns)
{
	const uint64_t since_ns =
		reader->whole_ns > reader->opened_ns ? reader->whole_ns : reader->opened_ns;

	if (now_ns >= time_ns + FOREIGN_PATIENCE_NS)
		return false;
	if (!reader->is_open)
		return reader->looks == 0 && foreign_reader_is_wanted(reader, now_ns);
	return reader->whole_ns < time_ns && now_ns < since_ns + FOREIGN_PATIENCE_NS;
}

static const struct counter counters[] = {
	COUNTER_SUM(struct foreign_reader_stats, files, "foreign_maps.opened",
		    "foreign_maps_opened_total", "Perf maps of other runtimes that were opened."),
	COUNTER_SUM(struct foreign_reader_stats, read_bytes, "foreign_maps.read_bytes",
		    "foreign_map_read_bytes_total",
		    "What was read of perf maps of other runtimes."),
	COUNTER_SUM(struct foreign_reader_stats, maps.refused, "foreign_maps.refused_lines",
		    "foreign_map_refused_lines_total",
		    "Lines of perf maps that there was no room for."),
	COUNTER_SUM(struct foreign_reader_stats, refused, "foreign_maps.refused_files",
		    "foreign_map_refused_files_total", "Perf maps that were refused."),
	COUNTER_SUM(struct foreign_reader_stats, unread, "foreign_maps.too_large",
		    "foreign_map_too_large_total", "Perf maps that were not read to their end."),
	COUNTER_SUM(struct foreign_reader_stats, restarts, "foreign_maps.restarts",
		    "foreign_map_restarts_total",
		    "Perf maps that were replaced or became shorter."),
	COUNTER_SUM(struct foreign_reader_stats, lost, "foreign_maps.lost_pieces",
		    "foreign_map_lost_pieces_total",
		    "Pieces of perf maps whose parser has died, lied or taken too long."),
	COUNTER_SUM(struct foreign_reader_stats, delayed, "foreign_maps.delayed_pieces",
		    "foreign_map_delayed_pieces_total",
		    "Times that no parser could be started for a piece of a perf map."),
};

const struct counters foreign_reader_counters = COUNTERS(struct foreign_reader_stats, counters);
