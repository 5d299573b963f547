// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   a capability -> whether this process has it
 * units:   none
 * threads: any
 * errors:  false where the kernel does not answer
 * source:  capabilities(7), capget(2)
 */
#ifndef FG_BASE_CAPABILITY_H
#define FG_BASE_CAPABILITY_H

#include <stdbool.h>

#include <linux/capability.h>

/*
 * Whether the capability (CAP_SYSLOG and so on) is effective now. In a user namespace an effective
 * capability may be without effect on the host.
 */
bool capability_is_effective(int capability);

#endif
