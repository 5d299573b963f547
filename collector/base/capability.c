// SPDX-License-Identifier: Apache-2.0
/*
 * By capget(2), see capability.h: CapEff of /proc/self/status stands behind groups of any number.
 */
#include "base/capability.h"

#include <sys/syscall.h>
#include <unistd.h>

bool capability_is_effective(int capability)
{
	struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
	struct __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3] = {0};

	return cap_valid(capability) && syscall(SYS_capget, &header, data) == 0 &&
	       (data[CAP_TO_INDEX(capability)].effective & CAP_TO_MASK(capability));
}
