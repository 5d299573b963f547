// SPDX-License-Identifier: Apache-2.0
/*
 * What the collector keeps, see confinement.h:
 *
 *   PERFMON             perf events
 *   BPF                 the program that takes samples
 *   SYS_PTRACE          mappings, root directories and memory of other users' processes
 *   DAC_OVERRIDE,       files and sockets of other users
 *   DAC_READ_SEARCH
 *   CHECKPOINT_RESTORE  /proc/<pid>/map_files
 *   SYSLOG              addresses of the kernel
 *   IPC_LOCK            memory of rings
 *   FOWNER              perf maps in a directory with the sticky bit
 *   SYS_ADMIN           only where the kernel wants it in the place of the first and the fifth, or
 *                       for the trace file system, see sample/tracepoint.h
 */
#include "loop/confinement.h"

#include "base/capability.h"
#include "base/file.h"
#include "base/log.h"
#include "base/reach.h"
#include "confine/parser.h"
#include "confine/rights.h"
#include "confine/syscall_filter.h"
#include "confine/zygote.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#define BIT(capability) (UINT64_C(1) << (capability))

static bool is_admin_needed(void)
{
	char paranoid[16];

	if (!capability_is_effective(CAP_PERFMON) ||
	    !capability_is_effective(CAP_CHECKPOINT_RESTORE))
		return true;
	if (file_read_small("/proc/sys/kernel/perf_event_paranoid", paranoid, sizeof(paranoid)) >
		    0 &&
	    atoi(paranoid) > 2)
		return true;
	return access("/sys/kernel/tracing/events", X_OK) < 0 &&
	       access("/sys/kernel/debug/tracing/events", X_OK) < 0;
}

static int start_parsers(void)
{
	const int err = zygote_start();
	struct zygote_stats stats;

	if (err) {
		log_error("cannot start the process that starts parsers: %s; it needs seccomp and "
			  "capset, see security.md",
			  strerror(-err));
		return err;
	}
	zygote_stats(&stats);
	if (stats.uid == 0)
		log_info(
			"parsers have root's UID, without capabilities: CAP_SETUID and CAP_SETGID, "
			"which fgcollect gives up once it runs, would change that");
	return 0;
}

static int give_up(uint64_t keep)
{
	int err;

	keep |= BIT(CAP_BPF) | BIT(CAP_PERFMON) | BIT(CAP_SYS_PTRACE) | BIT(CAP_DAC_OVERRIDE) |
		BIT(CAP_DAC_READ_SEARCH) | BIT(CAP_CHECKPOINT_RESTORE) | BIT(CAP_SYSLOG) |
		BIT(CAP_IPC_LOCK) | BIT(CAP_FOWNER);
	if (is_admin_needed())
		keep |= BIT(CAP_SYS_ADMIN);
	/*
	 * Without CAP_SYS_PTRACE the kernel shows the mount namespace of a client of the
	 * control socket only to a process that has all of the client's other rights.
	 */
	if (!capability_is_effective(CAP_SYS_PTRACE))
		keep = UINT64_MAX;
	err = rights_keep(keep);
	if (!err && prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
		err = -errno;
	if (!err)
		err = syscall_filter_collector();
	if (err)
		log_error(
			"cannot give up rights: %s; this needs seccomp and capset, see security.md",
			strerror(-err));
	return err;
}

int confinement_begin(uint64_t keep)
{
	int err = start_parsers();

	if (!err)
		err = give_up(keep);
	if (err)
		return err;
	err = reach_start(); /* with what is left of the rights */
	if (err)
		log_error("cannot start the process that opens what may not answer: %s",
			  strerror(-err));
	return err;
}

void confinement_end(void)
{
	parser_drop_spares();
	zygote_stop();
	reach_stop();
}
