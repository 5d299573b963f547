// SPDX-License-Identifier: Apache-2.0
/* The one place that reads the memory of other processes, see process_memory.h. */
#include "memory/process_memory.h"

#include "base/log.h"

#include <errno.h>
#include <stdbool.h>

static void say_no_permission(pid_t pid)
{
	static bool is_said;

	if (!is_said)
		log_warning("some stacks will not be whole, and interpreted methods have no names: "
			    "reading the memory of PID %d: Operation not permitted: run as root or "
			    "grant CAP_SYS_PTRACE",
			    (int)pid);
	is_said = true;
}

ssize_t process_memory_read(pid_t pid, const struct iovec *to, const struct iovec *from,
			    unsigned long n)
{
	const ssize_t got = process_vm_readv(pid, to, n, from, n, 0);
	const int err = got < 0 ? errno : 0;

	if (err == EPERM)
		say_no_permission(pid);
	return err ? -err : got;
}
