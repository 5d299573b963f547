// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   a file -> a parser (confine/zygote.h) that reads the file -> a table in the collector
 * units:   none
 * threads: any; waits as long as the file's file system and the parser do
 * errors:  those of the kind's load; -EBADMSG: the parser has died or its table is impossible;
 *          -EAGAIN: no parser can be started now
 * source:  none
 *
 * A parser reads one file, which it gets by parser_file.h, and ends. The parser sends an error or
 * the table's arrays.
 */
#ifndef FG_FILES_TABLE_PARSER_H
#define FG_FILES_TABLE_PARSER_H

#include "files/table_kind.h"

#include <stdatomic.h>

/* The parser that reads a file now, for other threads. */
struct table_parser {
	_Atomic pid_t pid; /* 0: none */
	_Atomic uint64_t id;
};

/* Has a parser read the file. place and current may be NULL. */
int table_parser_load(const struct table_kind *kind, int fd, const struct debug_place *place,
		      struct table_parser *current, void **ret);

/* The parser's side: a parser_fn for one kind. */
void table_parser_serve(const struct table_kind *kind, int sock);

#endif
