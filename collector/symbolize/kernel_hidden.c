// SPDX-License-Identifier: Apache-2.0
/*
 * Which processes may see the kernel's addresses, see kernel_hidden.h:
 *
 *   kernel.kptr_restrict   2  none
 *                          1  those with CAP_SYSLOG
 *                          0  those with CAP_SYSLOG, and all where kernel.perf_event_paranoid is at
 *                             most 1
 */
#include "symbolize/kernel_hidden.h"

#include "base/capability.h"
#include "base/file.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int read_number(const char *path, int otherwise)
{
	char text[16];

	return file_read_small(path, text, sizeof(text)) > 0 ? (int)strtol(text, NULL, 10)
							     : otherwise;
}

struct kernel_rights kernel_rights_read(int err)
{
	return (struct kernel_rights){
		.err = err,
		.kptr_restrict = read_number("/proc/sys/kernel/kptr_restrict", -1),
		.paranoid = read_number("/proc/sys/kernel/perf_event_paranoid",
					KERNEL_PARANOID_UNKNOWN),
		.has_syslog = capability_is_effective(CAP_SYSLOG),
	};
}

void kernel_hidden_sentence(const struct kernel_rights *rights, char *ret, size_t size)
{
	if (rights->err == -ENOENT)
		snprintf(
			ret, size,
			"there is no /proc/kallsyms: the kernel was built without CONFIG_KALLSYMS, "
			"or /proc is not mounted");
	else if (rights->err != -EACCES && rights->err != -EPERM)
		snprintf(ret, size, "/proc/kallsyms: %s", strerror(-rights->err));
	else if (rights->kptr_restrict >= 2)
		snprintf(ret, size,
			 "addresses are hidden from everybody, for kernel.kptr_restrict is %d: "
			 "sysctl kernel.kptr_restrict=1",
			 rights->kptr_restrict);
	else if (rights->has_syslog)
		snprintf(
			ret, size,
			"addresses are hidden although CAP_SYSLOG is there: in a user namespace it "
			"does not count, so run on the host, and see whether the kernel is locked "
			"down (/sys/kernel/security/lockdown)");
	else if (rights->kptr_restrict == 1)
		snprintf(ret, size,
			 "addresses are hidden from this user, for kernel.kptr_restrict is 1: run "
			 "as "
			 "root, grant CAP_SYSLOG, or sysctl kernel.kptr_restrict=0");
	else
		snprintf(ret, size,
			 "addresses are hidden from this user, for kernel.perf_event_paranoid is "
			 "%d: run as root, grant CAP_SYSLOG, or sysctl "
			 "kernel.perf_event_paranoid=1",
			 rights->paranoid);
}

void kernel_hidden_frame(const struct kernel_rights *rights, char *ret, size_t size)
{
	if (rights->err != -EACCES && rights->err != -EPERM)
		snprintf(ret, size, "[kernel: no symbols]");
	else if (rights->kptr_restrict >= 2)
		snprintf(ret, size, "[kernel: kptr_restrict is %d]", rights->kptr_restrict);
	else
		snprintf(ret, size, "[kernel: hidden without CAP_SYSLOG]");
}
