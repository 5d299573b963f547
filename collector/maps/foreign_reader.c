// SPDX-License-Identifier: Apache-2.0
/* Reads the perf map of a runtime as the file grows, see foreign_reader.h. */
#include "maps/foreign_reader.h"

#include "base/clock.h"

#include <errno.h>
#include <unistd.h>

#define PIECE_BYTES (256u << 10)
#define MANY_LOOKS  10

static void close_file(struct foreign_reader *reader)
{
	if (reader->is_open)
		close(reader->fd);
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

static void take_file(struct foreign_reader *reader, int fd, const struct stat *st,
		      struct foreign_reader_stats *stats)
{
	stats->restarts += reader->is_open;
	stats->files++;
	close_file(reader);
	reader->fd = fd;
	reader->is_open = true;
	reader->is_refused = reader->is_large = false;
	reader->dev = st->st_dev;
	reader->ino = st->st_ino;
	foreign_map_restart(reader->map);
}

/* Opens the file that has the name now, unless that file is open already. */
static void look(struct foreign_reader *reader, const struct foreign_owner *owner,
		 struct foreign_reader_stats *stats)
{
	struct stat st;
	const int fd = foreign_file_open(owner, &st);

	if (fd < 0) {
		const bool is_refused = fd == -EACCES || fd == -EINVAL || fd == -ESTALE;

		stats->refused += is_refused && !reader->is_refused;
		reader->is_refused = is_refused;
		return;
	}
	if (reader->is_open && st.st_dev == reader->dev && st.st_ino == reader->ino) {
		close(fd);
		return;
	}
	if (!reader->map && foreign_map_new(&reader->map) < 0) {
		close(fd);
		return;
	}
	take_file(reader, fd, &st, stats);
}

/* Reads one piece. 0: the file has ended, or no more can be read. */
static ssize_t read_piece(struct foreign_reader *reader, struct foreign_reader_stats *stats)
{
	static char piece[PIECE_BYTES]; /* used by the model's thread only */
	ssize_t n;

	if (reader->offset >= FOREIGN_MAX_FILE_BYTES) {
		stats->unread += !reader->is_large;
		reader->is_large = true;
		return 0;
	}
	n = pread(reader->fd, piece, sizeof(piece), reader->offset);
	if (n <= 0)
		return 0;
	reader->offset += n;
	stats->read_bytes += (uint64_t)n;
	foreign_map_feed(reader->map, piece, (size_t)n, reader->whole_ns, &stats->maps);
	return n;
}

static void notice_truncation(struct foreign_reader *reader, struct foreign_reader_stats *stats)
{
	struct stat st;

	if (fstat(reader->fd, &st) < 0 || st.st_size >= reader->offset)
		return;
	stats->restarts++;
	reader->offset = 0;
	reader->is_large = false;
	foreign_map_restart(reader->map);
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
	notice_truncation(reader, stats);
	while ((n = read_piece(reader, stats)) > 0) {
		done += (size_t)n;
		if (done >= max_bytes)
			return done;
	}
	reader->whole_ns = now_ns;
	return done;
}
