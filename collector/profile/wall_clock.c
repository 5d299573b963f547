// SPDX-License-Identifier: Apache-2.0
/* Tells jumps of the wall clock from time that has passed, see wall_clock.h. */
#include "profile/wall_clock.h"

#include "base/clock.h"
#include "base/file.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

void wall_clock_read(struct wall_clock *ret)
{
	*ret = (struct wall_clock){.unix_sec = time(NULL)};
	ret->boot_sec = (int64_t)(clock_read_ns(CLOCK_BOOTTIME) / CLOCK_NS_PER_SEC);
	if (file_read_small("/proc/sys/kernel/random/boot_id", ret->boot, sizeof(ret->boot)) <= 0)
		ret->boot[0] = '\0';
	ret->boot[strcspn(ret->boot, "\n")] = '\0';
}

bool wall_clock_is_one_boot(const struct wall_clock *a, const struct wall_clock *b)
{
	return a->boot[0] && strcmp(a->boot, b->boot) == 0 && b->boot_sec >= a->boot_sec;
}

int64_t wall_clock_jump(const struct wall_clock *from, const struct wall_clock *to)
{
	int64_t jump;

	if (!wall_clock_is_one_boot(from, to))
		return 0;
	jump = to->unix_sec - from->unix_sec - (to->boot_sec - from->boot_sec);
	return llabs(jump) < WALL_CLOCK_JUMP_SEC ? 0 : jump;
}
