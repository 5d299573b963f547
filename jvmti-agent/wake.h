// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   any thread -> the agent's thread, which polls a descriptor
 * units:   none
 * threads: wake_post on any; the rest on one at a time, the agent's own once it runs
 * errors:  wake_open and wake_mend are false if no descriptors can be had
 * source:  unix(7), SOCK_SEQPACKET
 *
 * A message of no bytes through a pair of sockets. Not an eventfd: an eventfd has no identity, and
 * the 8 bytes that wake it would be written into a file that has got its number.
 */
#ifndef FGAGENT_WAKE_H
#define FGAGENT_WAKE_H

#include "own_fd.h"

#include <stdatomic.h>
#include <stdint.h>

struct wake {
	struct own_fd polled, posted;
	/* The number of posted in the upper half, the lower half of its inode; 0: none. */
	_Atomic uint64_t target;
};

bool wake_open(struct wake *wake);
/* The descriptor is readable once wake_post was called, and until wake_drain. -1: there is none. */
static inline int wake_polled(const struct wake *wake)
{
	return wake->polled.fd;
}
/* Never waits. Does nothing if the descriptors have been closed by others. */
void wake_post(struct wake *wake);
/* Forgets all wake-ups so far; closes the pair if others have shut it down. */
void wake_drain(struct wake *wake);
/* Opens the pair again if it is closed or another's. To be called before each poll(2). */
bool wake_mend(struct wake *wake);

#endif
