// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   a process -> the process without the rights that it does not need
 * units:   capabilities as in linux/capability.h
 * threads: capabilities are those of the calling thread and of threads that it starts later, so the
 *          calls come before other threads
 * errors:  negative errno
 * source:  capabilities(7), credentials(7), prctl(2), chroot(2), systemd's UIDS-GIDS.md
 */
#ifndef FG_CONFINE_RIGHTS_H
#define FG_CONFINE_RIGHTS_H

#include <stdint.h>

/*
 * UIDs and GIDs of processes without rights: one of these by chance, which is no user's, and which
 * no program gives to containers or services (the UIDs of systemd's documentation; Linux's range of
 * subordinate IDs ends below). So such a process shares its UID with no stranger, whom it might
 * signal or be signalled by.
 */
#define RIGHTS_FIRST_ID 0x70000000u
#define RIGHTS_IDS	0x08000000u
#define RIGHTS_NOBODY	65534 /* in user namespaces that do not have them */

/*
 * Gives up everything: UID, GIDs, capabilities and, if that is permitted, all of the file system.
 * Without CAP_SETUID and CAP_SETGID the UID and the GIDs stay as they are.
 */
int rights_give_up(void);

/*
 * Keeps the capabilities of the mask keep (bit n: capability n) as far as the process has them, and
 * gives up all others, also for programs that it might start.
 */
int rights_keep(uint64_t keep);

#endif
