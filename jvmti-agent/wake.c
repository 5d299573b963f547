// SPDX-License-Identifier: Apache-2.0
/*
 * Two words: whether the thread was woken, and whether the thread sleeps. Each side writes its own
 * word before it reads the other's, so that a wake-up is either seen before the sleep or ends the
 * sleep.
 */
#include "wake.h"

#include "clock.h"

#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

void wake_post(struct wake *wake)
{
	if (!atomic_exchange(&wake->posted, 1) && atomic_load(&wake->sleepers))
		syscall(SYS_futex, &wake->posted, FUTEX_WAKE_PRIVATE, INT_MAX, NULL, NULL, 0);
}

bool wake_sleep(struct wake *wake, uint64_t then_ns)
{
	struct timespec wait = clock_time_until(then_ns);

	atomic_store(&wake->sleepers, 1);
	while (!atomic_load(&wake->posted) && (wait.tv_sec > 0 || wait.tv_nsec > 0)) {
		if (syscall(SYS_futex, &wake->posted, FUTEX_WAIT_PRIVATE, 0, &wait, NULL, 0) != 0 &&
		    errno != EINTR && errno != EAGAIN)
			break;
		wait = clock_time_until(then_ns);
	}
	atomic_store(&wake->sleepers, 0);
	return atomic_load(&wake->posted);
}

void wake_forget(struct wake *wake)
{
	atomic_store(&wake->posted, 0);
}
