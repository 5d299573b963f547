// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   what the collector, the zygote and its keeper say to each other
 * units:   none
 * threads: constant
 * errors:  none
 * source:  zygote.h
 *
 * There are two sockets, of whole messages. The collector sends requests to the zygote over the
 * first; with a request to start a parser goes the parser's end of a socket. Back come a greeting,
 * and reports. Over the second one the collector tells the keeper that the zygote is to be
 * replaced.
 */
#ifndef FG_CONFINE_ZYGOTE_WIRE_H
#define FG_CONFINE_ZYGOTE_WIRE_H

#include "confine/parser_role.h"

#define ZYGOTE_FD 3 /* the zygote's socket, which a parser has its own in place of */
#define KEEPER_FD 4

/* The name under which a program is started to be the keeper, and its argument. */
#define KEEPER_NAME	 "fgcollect-keep"
#define KEEPER_HAS_ROLES "roles"
#define KEEPER_HAS_NONE	 "none"

enum request_kind { REQUEST_START, REQUEST_KILL };

struct request {
	enum request_kind kind;
	enum parser_role role;
	uint64_t id;
};

struct greeting {
	int err;
	uint32_t uid;
};

enum report_kind {
	REPORT_TAKEN,  /* a request was taken, and a parser started unless err says why not */
	REPORT_ENDED,  /* a parser has ended by a signal */
	REPORT_ZYGOTE, /* the zygote itself has ended, and there is another one */
};

struct report {
	enum report_kind kind;
	int signal;
	int err;	 /* 0, or negative errno */
	bool was_killed; /* on request */
};

#endif
