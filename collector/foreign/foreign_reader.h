// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   the perf map that a process's runtime writes, as the file grows -> its foreign map
 * units:   CLOCK_MONOTONIC nanoseconds
 * threads: one at a time
 * errors:  a file that is refused is counted and looked for again
 * source:  foreign_file.h, foreign_map.h
 *
 * The perf map is looked for ten times in the first second and once a second from then on. Lines
 * that were appended are read every FOREIGN_READ_INTERVAL_NS, a limited number of bytes at a time.
 * The file stays open, so that the last lines of a process that has ended are still read. If
 * another file takes the name, or the file becomes shorter, it is read from the beginning, and its
 * lines go before earlier lines. A zero-filled struct foreign_reader is a valid start.
 *
 * The perf map of a process with an agent is read only while it is wanted: because a sample had
 * generated code that the agent does not know, as that of a second code generator of the process.
 *
 * The file may lie on a file system that does not answer. So the file is looked for, read and
 * closed by guarded calls (base/guarded.h), and opened by other processes alone, also for each
 * piece (guard/reader.h). What has not answered in time is tried again later.
 *
 * Lines are parsed by a parser without rights (foreign_parser.h), or in a program without a zygote
 * by the caller. Nothing else of the file is read while a parser has a piece of it. Lines that a
 * step has no time to take are taken by the next step. A piece whose parser dies or lies is lost
 * and counted, and the next piece is read.
 */
#ifndef FG_FOREIGN_FOREIGN_READER_H
#define FG_FOREIGN_FOREIGN_READER_H

#include "base/counters.h"
#include "foreign/foreign_file.h"
#include "foreign/foreign_map.h"
#include "foreign/foreign_parser.h"

#define FOREIGN_READ_INTERVAL_NS UINT64_C(100000000)
#define FOREIGN_LOOK_INTERVAL_NS UINT64_C(1000000000)
#define FOREIGN_LOST_INTERVAL_NS UINT64_C(1000000000)  /* after a piece that was lost */
#define FOREIGN_PATIENCE_NS	 UINT64_C(1000000000)  /* for lines, see foreign_reader_is_behind */
#define FOREIGN_WANTED_NS	 UINT64_C(60000000000) /* after it was wanted last */
#define FOREIGN_MAX_FILE_BYTES	 ((off_t)512 << 20)
#define FOREIGN_LINES_AT_ONCE	 64

/* Sums over all readers. */
struct foreign_reader_stats {
	struct foreign_map_stats maps;
	uint64_t files;	   /* files opened */
	uint64_t restarts; /* files that were replaced by another file, or became shorter */
	uint64_t refused;  /* files of another user, older than the process or not regular */
	uint64_t unread;   /* files not read beyond FOREIGN_MAX_FILE_BYTES */
	uint64_t read_bytes;
	uint64_t steps;	  /* after each, names may be known that were not before */
	uint64_t lost;	  /* pieces whose parser has died, lied or taken too long */
	uint64_t delayed; /* pieces for which no parser could be started yet */
};
extern const struct counters foreign_reader_counters;

struct foreign_reader {
	struct foreign_map *map; /* NULL: no file was ever found */
	int fd;			 /* O_PATH; valid if is_open */
	pid_t pid;		 /* of the process for which fd was opened */
	bool is_open, is_refused, is_large;
	dev_t dev;
	ino_t ino;
	off_t offset;		       /* of the next piece, or of the one that a parser has */
	struct foreign_parser *parser; /* NULL: none has a piece */
	size_t taken;		       /* as pos of struct foreign_taking, of its answer */
	struct owner payer;	       /* whose parsers these are; set by the caller */
	bool has_payer;
	uint32_t looks;	    /* times that the file was looked for, at most 10 */
	time_t began_at;    /* when the process began to run its program; 0: not read yet */
	uint64_t wanted_ns; /* when it was wanted last; 0: never, see foreign_reader_want */
	uint64_t opened_ns; /* when the file was opened, or wanted again */
	uint64_t whole_ns;  /* when the last read began that came to the file's end; 0: none yet */
	uint64_t next_ns;   /* when to read next; 0: at once */
	uint64_t look_ns;   /* when to look for the file next */
};

void foreign_reader_fini(struct foreign_reader *reader);
/* Closes the file alone. */
void foreign_reader_close(struct foreign_reader *reader);

/* The process has just begun another program: closes the file and forgets its map. */
void foreign_reader_restart(struct foreign_reader *reader);

/* What a step may take; what it took is subtracted. */
struct foreign_room {
	size_t bytes;	  /* of the file; a step may read a piece more */
	uint64_t wait_ns; /* for parsers */
	uint64_t take_ns; /* to take lines; FOREIGN_LINES_AT_ONCE are taken in any case */
};

/* Looks for the file if that is due. */
void foreign_reader_look(struct foreign_reader *reader, const struct foreign_owner *owner,
			 struct foreign_reader_stats *stats);
/* The same, and reads to the file's end, or as far as there is room. */
void foreign_reader_step(struct foreign_reader *reader, const struct foreign_owner *owner,
			 struct foreign_room *room, struct foreign_reader_stats *stats);

/* A sample of a process with an agent has generated code without a name. */
void foreign_reader_want(struct foreign_reader *reader, uint64_t now_ns);
bool foreign_reader_is_wanted(const struct foreign_reader *reader, uint64_t now_ns);

/*
 * Whether lines of code that ran at time_ns may be in the file and not in the map yet. False for a
 * file whose end was not reached for FOREIGN_PATIENCE_NS, as of one that grows without end; and
 * FOREIGN_PATIENCE_NS after time_ns in any case, because a process can replace its file again and
 * again. A file that is wanted and was not looked for yet may have any lines.
 */
bool foreign_reader_is_behind(const struct foreign_reader *reader, uint64_t time_ns,
			      uint64_t now_ns);

#endif
