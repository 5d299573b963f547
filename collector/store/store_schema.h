// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   the tables of an index, and the steps from each version to the next
 * units:   _ns: nanoseconds since 1970; _sec: seconds since 1970; bytes; weights of a kind
 * threads: one at a time
 * errors:  as store_index.h
 * source:  SQLite: PRAGMA user_version
 *
 * A step is never changed once a version with it has been in use: what changes is a new step. The
 * version of an index is the number of steps that were made, and PRAGMA user_version has it.
 *
 *   processes  a process that was sampled; one PID and start time of one boot of one host
 *   labels     labels of a process's container, and those that its agent told
 *   segments   a file with samples of a process; made_sec is when it was written, by the clock as
 *              it is set now; is_merged: of an hour, and not of a window
 *   windows    the samples of a kind in a segment, and their quality
 *   facts      of the store itself: the last reading of the clocks
 */
#ifndef FG_STORE_STORE_SCHEMA_H
#define FG_STORE_STORE_SCHEMA_H

#include "store/store_index.h"

#define STORE_SCHEMA_VERSION 2u

extern const char *const store_schema_steps[STORE_SCHEMA_VERSION];

unsigned store_schema_version(const struct store_index *index);
/*
 * Whether the index can be read by who knows so many versions: 0, -EPROTONOSUPPORT or -EBADMSG. An
 * index without any table is none: -EBADMSG.
 */
int store_schema_check(const struct store_index *index, unsigned known);
/* Makes the steps that the index does not have yet, each whole or not at all. */
int store_schema_upgrade(const struct store_index *index, const char *const *steps, unsigned n);

#endif
