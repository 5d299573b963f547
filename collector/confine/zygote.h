// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   the collector, before it has read anything -> a process that starts parsers on request
 * units:   none
 * threads: zygote_start and zygote_stop: one, before and after all others; the rest: any
 * errors:  negative errno; -ESRCH: there is no zygote
 * source:  unix(7) SCM_RIGHTS, fork(2), prctl(2), seccomp(2)
 *
 * A parser is a process that reads one file or text of unknown origin. The zygote is a copy of the
 * collector that was made before the collector opened or learned anything. The zygote has given up
 * its rights (rights.h), has no descriptor but one socket, and never reads what is not from the
 * collector. Each parser is a fork of the zygote, with limits of memory and of processor time, and
 * with a filter of system calls (syscall_filter.h). So a parser that a file has taken over can
 * reach no other file, process or parser.
 *
 * The zygote and its parsers end with the collector. A zygote that ends before is replaced. There
 * is one zygote in a process.
 */
#ifndef FG_CONFINE_ZYGOTE_H
#define FG_CONFINE_ZYGOTE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* What parsers parse. */
enum parser_role {
	PARSER_UNWIND,	/* unwind rules of an ELF file */
	PARSER_SYMBOLS, /* symbols of an ELF file */
	PARSER_PROBES,	/* where an ELF file can be probed */
	PARSER_DEBUG,	/* symbols of a debug file from a server */
	PARSER_LINES,	/* DWARF */
	PARSER_NAMES,	/* names of C++ and Rust */
	PARSER_MAPS,	/* perf maps that runtimes write */
	PARSER_RECORDS, /* records of container engines */
	PARSER_ROLES,
};

/* What a parser does: reads requests from the socket and writes answers to it until it ends. */
typedef void parser_fn(int sock);

struct parser_limits {
	parser_fn *serve; /* NULL: there are no such parsers */
	uint64_t memory_bytes;
	unsigned cpu_seconds;
	int nice;
	bool opens_fail; /* see syscall_filter.h */
	bool has_spares; /* parsers are started ahead of need */
};

struct zygote_stats {
	bool is_running;
	uint32_t uid;	      /* of parsers */
	uint64_t started;     /* parsers */
	uint64_t killed;      /* parsers that took too long */
	uint64_t died;	      /* parsers that ended by a signal of their own doing */
	uint64_t forbidden;   /* of these, parsers that made a call that parsers may not make */
	uint64_t not_started; /* parsers that could not be started */
	uint64_t restarted;   /* zygotes that ended, each with its parsers, and were replaced */
};

#define ZYGOTE_MAX_PARSERS 256

/* roles has PARSER_ROLES elements. If there is a zygote, nothing happens. */
int zygote_start(const struct parser_limits *roles);
/* Ends the zygote and all parsers. */
void zygote_stop(void);
/* Whether a zygote was started, and not stopped. The zygote may have ended by itself. */
bool zygote_is_used(void);

/* Whether the role has spare parsers. */
bool zygote_has_spares(enum parser_role role);
/* Has the zygote start a parser with the other end of a socket, which the caller closes. */
int zygote_start_parser(enum parser_role role, uint64_t id, int sock);
/* Has the zygote kill the parser with that id. is_late: the kill is counted. */
void zygote_kill_parser(uint64_t id, bool is_late);
/* Counts parsers that have died. To be called now and then. */
void zygote_tend(void);
void zygote_stats(struct zygote_stats *ret);

#endif
