// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   what parsers (confine/zygote.h) parse, and with which limits
 * units:   bytes, seconds of processor time
 * threads: constant
 * errors:  none
 * source:  none
 *
 * For who calls zygote_become, which is one source file of a program.
 */
#ifndef FG_SYMBOLIZE_PARSERS_H
#define FG_SYMBOLIZE_PARSERS_H

#include "container/jar_parser.h"
#include "container/record_parser.h"
#include "files/cfi_cache.h"
#include "files/probe_cache.h"
#include "foreign/foreign_parser.h"
#include "symbolize/debuginfod.h"
#include "symbolize/demangler.h"
#include "symbolize/lines_process.h"
#include "symbolize/module_cache.h"

#define PARSER_TABLE_BYTES   (UINT64_C(1) << 30)
#define PARSER_TABLE_SECONDS 60
#define PARSER_LINES_BYTES   (UINT64_C(6) << 30)
#define PARSER_LINES_SECONDS 120
#define PARSER_NAMES_BYTES   (UINT64_C(256) << 20)
#define PARSER_NAMES_SECONDS 30
#define PARSER_TEXT_BYTES    (UINT64_C(256) << 20)
#define PARSER_TEXT_SECONDS  5

static const struct parser_limits parser_roles[PARSER_ROLES] = {
	[PARSER_UNWIND] = {.serve = cfi_cache_parse,
			   .memory_bytes = PARSER_TABLE_BYTES,
			   .cpu_seconds = PARSER_TABLE_SECONDS,
			   .has_spares = true},
	[PARSER_SYMBOLS] = {.serve = module_cache_parse,
			    .memory_bytes = PARSER_TABLE_BYTES,
			    .cpu_seconds = PARSER_TABLE_SECONDS,
			    .has_spares = true},
	[PARSER_PROBES] = {.serve = probe_cache_parse,
			   .memory_bytes = PARSER_TABLE_BYTES,
			   .cpu_seconds = PARSER_TABLE_SECONDS},
	[PARSER_DEBUG] = {.serve = debuginfod_parse,
			  .memory_bytes = PARSER_TABLE_BYTES,
			  .cpu_seconds = PARSER_TABLE_SECONDS},
	/* libdw would open files that other files name. */
	[PARSER_LINES] = {.serve = lines_process_parse,
			  .memory_bytes = PARSER_LINES_BYTES,
			  .cpu_seconds = PARSER_LINES_SECONDS,
			  .nice = 10,
			  .opens_fail = true},
	[PARSER_NAMES] = {.serve = demangler_parse,
			  .memory_bytes = PARSER_NAMES_BYTES,
			  .cpu_seconds = PARSER_NAMES_SECONDS},
	[PARSER_MAPS] = {.serve = foreign_parser_serve,
			 .memory_bytes = PARSER_TEXT_BYTES,
			 .cpu_seconds = PARSER_TEXT_SECONDS,
			 .has_spares = true},
	[PARSER_RECORDS] = {.serve = record_parser_serve,
			    .memory_bytes = PARSER_TEXT_BYTES,
			    .cpu_seconds = PARSER_TEXT_SECONDS,
			    .has_spares = true},
	[PARSER_JARS] = {.serve = jar_parser_serve,
			 .memory_bytes = PARSER_TEXT_BYTES,
			 .cpu_seconds = PARSER_TEXT_SECONDS},
};

#endif
