// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   a store's directory -> its index, open
 * units:   none
 * threads: one at a time
 * errors:  negative errno; -EBADMSG: the index is damaged, or holds what no index holds;
 *          -EPROTONOSUPPORT: a later version of fgcollect has written the index
 * source:  SQLite: write-ahead logging, "Defense Against The Dark Arts"
 *
 * The index is hostile where a store was copied: views, triggers and virtual tables are refused,
 * because they may run without end.
 */
#ifndef FG_STORE_STORE_DATABASE_H
#define FG_STORE_STORE_DATABASE_H

#include "store/store_index.h"

#define STORE_INDEX_NAME    "index.db"
#define STORE_SEGMENTS_NAME "segments"

/* Opens the index of dir to be read and written; makes it if there is none. */
int store_database_create(const char *dir, struct store_index *ret);
/* Opens the index of dir to be read alone, also where nothing can be written. -ENOENT: none. */
int store_database_open(const char *dir, struct store_index *ret);

#endif
