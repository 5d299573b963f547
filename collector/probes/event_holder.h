// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   probe points of a file, and a process -> a process of its own opens events there
 * units:   bytes in the file
 * threads: any that may wait; a holder belongs to one thread at a time
 * errors:  negative errno, of uprobe_open_event; -ECHILD: the process has ended, or all calls are
 *          to end
 * source:  reach.h; Linux kernel/events/uprobes.c (register_for_each_vma), fs/fuse/file.c
 *
 * The kernel opens and closes a probe under the lock of the mappings of each process that maps the
 * file, and reads the file's page. A process can hold its lock, and a file system can leave its
 * page out, for as long as either likes, and a thread that waits for that ends by no signal. So a
 * process of its own opens the events, sends their descriptors, and keeps copies: the collector's
 * closing is never the last one. The process closes what it has when the holder ends, or when the
 * collector has ended: no descriptor of the collector is open then.
 */
#ifndef FG_PROBES_EVENT_HOLDER_H
#define FG_PROBES_EVENT_HOLDER_H

#include "sample/uprobe.h"

#include <stdint.h>
#include <sys/types.h>

struct event_holder; /* opaque */

/* Has the process begin, for events of a process at points of a file, which is borrowed. */
int event_holder_start(int file, pid_t pid, struct event_holder **ret);
/*
 * Opens one event, as uprobe_open_event does with UPROBE_ANY, and waits for it. place.file_fd and
 * who.pid are those of the holder. *ret_way: how it was opened. The caller closes the descriptor.
 */
int event_holder_open(struct event_holder *holder, const struct uprobe_place *place,
		      const struct uprobe_who *who, enum uprobe_way *ret_way,
		      char why[UPROBE_WHY_BYTES]);
/*
 * The caller has closed all descriptors. Waits until the process has closed its own, unless it has
 * failed to answer; a signal that ends this program ends the wait. NULL is legal.
 */
void event_holder_end(struct event_holder *holder);

#endif
