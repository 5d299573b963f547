// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   a kind of text -> who parses it, and with which limits
 * units:   bytes, seconds of processor time
 * threads: constant
 * errors:  none
 * source:  zygote.h
 */
#ifndef FG_CONFINE_PARSER_ROLE_H
#define FG_CONFINE_PARSER_ROLE_H

#include <stdbool.h>
#include <stdint.h>

#define ZYGOTE_MAX_PARSERS 256

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
	PARSER_JARS,	/* manifests of jars */
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

#endif
