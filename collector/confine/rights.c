// SPDX-License-Identifier: Apache-2.0
/*
 * Gives up rights, see rights.h. The order counts: the bounding set, the root directory and the IDs
 * each take a capability to change.
 */
#include "confine/rights.h"

#include "base/capability.h"

#include <errno.h>
#include <grp.h>
#include <stdbool.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <sys/syscall.h>
#include <unistd.h>

#define CAPABILITY_WORDS 2

/* Bounds need CAP_SETPCAP. Without an execve(2) they do nothing, so a failure is none. */
static void bound(uint64_t keep)
{
	for (int i = 0; i < 64 && prctl(PR_CAPBSET_READ, i) >= 0; i++) {
		if (!(keep >> i & 1))
			prctl(PR_CAPBSET_DROP, i);
	}
	prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0);
}

int rights_keep(uint64_t keep)
{
	struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
	struct __user_cap_data_struct data[CAPABILITY_WORDS] = {0};

	bound(keep);
	if (syscall(SYS_capget, &header, data) < 0)
		return -errno;
	for (int i = 0; i < CAPABILITY_WORDS; i++) {
		const uint32_t word = (uint32_t)(keep >> (32 * i));

		data[i].permitted &= word;
		data[i].effective &= word;
		data[i].inheritable = 0;
	}
	return syscall(SYS_capset, &header, data) < 0 ? -errno : 0;
}

/*
 * The directory of a process's own descriptors has nothing that leads anywhere once the process is
 * gone from /proc, which it is for the new root.
 */
static void leave_files(void)
{
#ifndef FG_SANITIZED /* a sanitizer's report reads /proc */
	if (capability_is_effective(CAP_SYS_CHROOT) && chroot("/proc/self/fdinfo") == 0)
		(void)!chdir("/");
#endif
}

static int become(uint32_t id)
{
	if (setresgid(id, id, id) < 0 || setresuid(id, id, id) < 0)
		return -errno;
	return 0;
}

/* Where a user namespace has no such IDs, those of nobody are taken, and else the IDs stay. */
static int become_nobody_else(void)
{
	uint32_t number;
	int err;

	if (!capability_is_effective(CAP_SETUID) || !capability_is_effective(CAP_SETGID))
		return 0;
	if (setgroups(0, NULL) < 0 && errno != EPERM) /* a user namespace may deny setgroups */
		return -errno;
	if (getrandom(&number, sizeof(number), 0) != (ssize_t)sizeof(number))
		return -EAGAIN;
	err = become(RIGHTS_FIRST_ID + number % RIGHTS_IDS);
	if (err == -EINVAL)
		err = become(RIGHTS_NOBODY);
	return err == -EINVAL ? 0 : err;
}

int rights_give_up(void)
{
	int err;

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
		return -errno;
	leave_files();
	bound(0);
	err = become_nobody_else();
	return err ? err : rights_keep(0);
}
