// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   a process of the store: who it is, and the names that it had last
 * units:   nanoseconds since 1970; clock ticks since boot
 * threads: any, borrowed
 * errors:  none
 * source:  proc(5): the start time in stat; random/boot_id; FNV-1a
 *
 * A process is identified by host, boot, PID and start time, so that a PID that is used again, on
 * the same day or after a boot, is another process. All other members are names for people. They
 * are "" where nothing is known.
 */
#ifndef FG_STORE_STORE_PROCESS_H
#define FG_STORE_STORE_PROCESS_H

#include "container/label_set.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#define STORE_KEY_BYTES 48u

struct store_process {
	int64_t id; /* in the index; 0: not known */
	const char *host, *boot;
	pid_t pid;
	uint64_t ticks;	     /* when the process began */
	uint64_t started_ns; /* the same by the wall clock */
	const char *title;   /* main class or jar, else comm */
	const char *runtime; /* the JVM's name and version; "": no JVM with the agent */
	const char *comm;
	const char *container, *container_name;
	const char *pod, *pod_uid, *name_space;
	const struct label *labels;
	size_t n_labels;
};

/*
 * A text that names this process and no other: "4711-1e240-9c5b1a02", the PID, the time at which
 * the process began, and a hash of host and boot. A copy of the store, and an index that was made
 * anew, have the same keys, so links may have them. Returns ret.
 */
const char *store_process_key(const struct store_process *process, char ret[STORE_KEY_BYTES]);
/* Whether the text has the form of a key. */
bool store_process_is_key(const char *text);

#endif
