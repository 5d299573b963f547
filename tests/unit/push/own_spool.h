// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   a test's spool in a directory of its own
 * units:   nanoseconds since 1970
 * threads: one
 * errors:  the test fails
 * source:  push/push_spool.h
 */
#ifndef FG_TESTS_OWN_SPOOL_H
#define FG_TESTS_OWN_SPOOL_H

#include "common/temp_dir.h"
#include "push/push_spool.h"

#define SEC UINT64_C(1000000000)

extern char own_dir[TEMP_DIR_BYTES];
extern struct push_spool *own_spool;

int own_spool_set_up(void **state); /* of 10,000 bytes and 60 s */
int own_spool_tear_down(void **state);

/* where NULL: in memory, of which there are 1,000 bytes. */
void own_spool_open(const char *where, uint64_t max_bytes);
/* As the next daemon does. */
void own_spool_reopen(void);

void own_spool_add(const char *text, uint64_t samples, uint64_t at_ns);
/* Nothing is unaccounted for. */
struct push_target_stats own_spool_stats(void);
/* Takes the oldest, whose body must be that. NULL: there must be none. */
void own_spool_settle(const char *text, uint64_t now_ns, enum push_fate fate);

/* The files below the directory whose names end so. ret_path: one of them. */
unsigned own_spool_count_files(const char *suffix, char *ret_path);

#endif
