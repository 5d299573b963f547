// SPDX-License-Identifier: Apache-2.0
/* The only function that reads the memory of other processes, see process_memory.h. */
#include "memory/process_memory.h"

#include "base/log.h"
#include "guard/reader.h"

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

static const struct process_memory_source *source; /* NULL: the kernel answers */

const struct process_memory_source *process_memory_use(const struct process_memory_source *other)
{
	const struct process_memory_source *const before = source;

	source = other;
	return before;
}

ssize_t process_memory_read(pid_t pid, const struct iovec *to, const struct iovec *from,
			    unsigned long n)
{
	return source ? source->read(source->arg, pid, to, from, n)
		      : process_memory_read_live(pid, to, from, n);
}

ssize_t process_memory_read_plain(pid_t pid, const struct iovec *to, unsigned long n_to,
				  const struct iovec *from, unsigned long n_from)
{
	return reader_read_memory(pid, to, n_to, from, n_from);
}

void process_memory_note(pid_t pid, ssize_t got)
{
	if (got == -EPERM)
		say_no_permission(pid);
}

ssize_t process_memory_read_live(pid_t pid, const struct iovec *to, const struct iovec *from,
				 unsigned long n)
{
	const ssize_t got = process_memory_read_plain(pid, to, n, from, n);

	process_memory_note(pid, got);
	return got;
}
