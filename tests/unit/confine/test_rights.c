// SPDX-License-Identifier: Apache-2.0
/* The collector's own filter and capabilities, in children that try what is refused. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/capability.h"
#include "common/child.h"
#include "confine/rights.h"
#include "confine/syscall_filter.h"

#include <errno.h>
#include <pthread.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

/* The code with which a child ends: the number of the first claim that is wrong. */
static void check_refused(void)
{
	static char *const arguments[] = {"false", NULL};
	char byte = 1;
	struct iovec part = {.iov_base = &byte, .iov_len = 1};

	if (execve("/bin/false", arguments, NULL) != -1 || errno != EPERM)
		_exit(1);
	if (ptrace(PTRACE_TRACEME, 0, NULL, NULL) != -1 || errno != EPERM)
		_exit(2);
	if (process_vm_writev(getpid(), &part, 1, &part, 1, 0) != -1 || errno != EPERM)
		_exit(3);
	if (process_vm_readv(getpid(), &part, 1, &part, 1, 0) != 1)
		_exit(4);
	if (setuid(getuid()) != -1 || errno != EPERM)
		_exit(5);
#ifdef SYS_execveat
	if (syscall(SYS_execveat, -1, "/bin/false", arguments, NULL, 0) != -1 || errno != EPERM)
		_exit(6);
#endif
}

static void the_collector_starts_no_program_and_writes_no_memory(void **state)
{
	const pid_t child = fork();

	if (child == 0) {
		if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 || syscall_filter_collector() < 0)
			_exit(100);
		check_refused();
		_exit(0);
	}
	child_check(child);
}

static void capabilities_that_are_not_kept_are_gone(void **state)
{
	const pid_t child = fork();

	if (child == 0) {
		const bool has = capability_is_effective(CAP_SYSLOG);

		if (rights_keep(UINT64_C(1) << CAP_SYSLOG) < 0)
			_exit(100);
		if (capability_is_effective(CAP_SYSLOG) != has)
			_exit(1);
		if (capability_is_effective(CAP_SETUID) || capability_is_effective(CAP_CHOWN) ||
		    capability_is_effective(CAP_BPF))
			_exit(2);
		_exit(0);
	}
	child_check(child);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_collector_starts_no_program_and_writes_no_memory),
		cmocka_unit_test(capabilities_that_are_not_kept_are_gone),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
