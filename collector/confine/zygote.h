// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   a program, started once more -> a process that starts parsers on request
 * units:   none
 * threads: zygote_become, zygote_start, zygote_stop: one, before and after all others; the rest:
 *          any
 * errors:  negative errno; -ESRCH: there is no zygote
 * source:  unix(7) SCM_RIGHTS, fork(2), prctl(2), seccomp(2)
 *
 * A parser is a process that reads one file or text of unknown origin. The zygote's keeper is the
 * collector's program, which starts itself a second time before the collector has opened or learned
 * anything, and without its environment. So keeper, zygote and parsers have other addresses and
 * another stack canary than the collector. The keeper has given up its rights (rights.h) and has a
 * UID that nobody else has. The zygote is a fork of the keeper, has no descriptor but one socket,
 * and never reads what is not from the collector. Each parser is a fork of the zygote, with limits
 * of memory and of processor time, and with a filter of system calls (syscall_filter.h). So a
 * parser that a file has taken over can reach no other file, process or parser. What it can learn
 * is the zygote's addresses, which later parsers have too.
 *
 * The zygote and its parsers end with the collector. A zygote that ends before is replaced, and so
 * is one that takes no request for ZYGOTE_PATIENCE_NS. There is one zygote in a process.
 */
#ifndef FG_CONFINE_ZYGOTE_H
#define FG_CONFINE_ZYGOTE_H

#include "base/counters.h"
#include "confine/parser_role.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct zygote_stats {
	bool is_running;
	uint32_t uid;	      /* of parsers */
	uint64_t started;     /* parsers that were asked for */
	uint64_t killed;      /* parsers that took too long */
	uint64_t died;	      /* parsers that ended by a signal of their own doing */
	uint64_t forbidden;   /* of these, parsers that made a call that parsers may not make */
	uint64_t not_started; /* parsers that could not be asked for, or not be started then */
	uint64_t restarted; /* zygotes that ended or were silent, each with its parsers: replaced */
};
extern const struct counters zygote_counters;

#define ZYGOTE_PATIENCE_NS UINT64_C(2000000000)

/*
 * To be called first of all by the main function of a program that calls zygote_start. Does not
 * return if the program was started to be the keeper. roles has PARSER_ROLES elements.
 */
void zygote_become(int argc, char **argv, const struct parser_limits *roles);
/* If there is a zygote, nothing happens. -EINVAL: zygote_become was not called. */
int zygote_start(void);
/* As zygote_start, but no parser can be started: as where the zygote fails to. */
int zygote_start_without_parsers(void);
/* Ends the zygote and all parsers. */
void zygote_stop(void);
/* Whether a zygote was started, and not stopped. The zygote may have ended by itself. */
bool zygote_is_used(void);
/* Whether the zygote takes requests, as far as is known. */
bool zygote_is_running(void);

/* Whether the role has spare parsers. */
bool zygote_has_spares(enum parser_role role);
/* Has the zygote start a parser with the other end of a socket, which the caller closes. */
int zygote_start_parser(enum parser_role role, uint64_t id, int sock);
/* Has the zygote kill the parser with that id. is_late: the kill is counted. */
void zygote_kill_parser(uint64_t id, bool is_late);
/* Counts parsers that have died, and has a silent zygote replaced. To be called now and then. */
void zygote_tend(void);
void zygote_stats(struct zygote_stats *ret);

#endif
