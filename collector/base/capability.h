// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   a capability -> whether this process has it
 * units:   none
 * threads: any
 * errors:  what cannot be found out is not there
 * source:  capabilities(7), capget(2)
 */
#ifndef FG_BASE_CAPABILITY_H
#define FG_BASE_CAPABILITY_H

#include <stdbool.h>

#include <linux/capability.h>

/* In effect, now; capability is CAP_SYSLOG or one like it. In a user namespace it may not count. */
bool capability_is_effective(int capability);

#endif
