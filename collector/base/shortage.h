// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   an error -> whether it says something of this process alone
 * units:   negative errno
 * threads: any
 * errors:  none
 * source:  errno(3)
 *
 * Without a free descriptor, or without memory, nothing was learnt of the file that was asked for.
 */
#ifndef FG_BASE_SHORTAGE_H
#define FG_BASE_SHORTAGE_H

#include <errno.h>
#include <stdbool.h>

static inline bool is_shortage(int err)
{
	return err == -EMFILE || err == -ENFILE || err == -ENOMEM;
}

#endif
