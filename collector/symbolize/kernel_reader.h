// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   /proc/kallsyms -> the kernel's symbols, read by a thread
 * units:   none
 * threads: the caller's, one at a time; each reading has a thread of its own
 * errors:  negative errno of kernel_symbols_load_from, and of pthread_create(3)
 * source:  pthreads(7)
 *
 * A reading takes some hundredths of a second, for which the caller does not wait.
 */
#ifndef FG_SYMBOLIZE_KERNEL_READER_H
#define FG_SYMBOLIZE_KERNEL_READER_H

#include "symbolize/kernel_symbols.h"

#include <stdbool.h>

struct kernel_reader; /* opaque */

/* path is borrowed. */
int kernel_reader_new(kernel_load_fn load, const char *path, struct kernel_reader **ret);
/* Waits for a reading that is under way. NULL is legal. */
void kernel_reader_free(struct kernel_reader *reader);

/* Begins a reading, unless one is under way. */
int kernel_reader_start(struct kernel_reader *reader);
/* A reading is under way, or has ended and has not been taken. */
bool kernel_reader_is_busy(const struct kernel_reader *reader);
/* A reading has ended and has not been taken. */
bool kernel_reader_is_done(const struct kernel_reader *reader);
/* The memory of a reading that has ended and has not been taken. */
size_t kernel_reader_done_bytes(const struct kernel_reader *reader);
/*
 * Takes a reading that is done. *ret is the caller's, or NULL after an error, which is *ret_err.
 * False: no reading is done.
 */
bool kernel_reader_take(struct kernel_reader *reader, struct kernel_symbols **ret, int *ret_err);

#endif
