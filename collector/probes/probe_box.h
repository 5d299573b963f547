// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   probe points of a file, as one process maps it -> open events, all or none
 * units:   bytes in the file
 * threads: the model's; events are opened and closed on threads of the guard
 * errors:  a sentence that says what stands in the way
 * source:  sample/uprobe.h, base/guarded.h
 *
 * The kernel takes milliseconds to open an event, and reads the file, which may never answer. So a
 * box is opened by a call that the guard runs, and by a process of its own that the call waits for
 * (event_holder.h). A box that is closed meanwhile stays until the call has returned: whoever lets
 * go of the box last closes what is in it.
 */
#ifndef FG_PROBES_PROBE_BOX_H
#define FG_PROBES_PROBE_BOX_H

#include "sample/sampler.h"
#include "sample/uprobe.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#define PROBE_BOX_MAX_EVENTS 16

struct probe_box; /* opaque */

enum probe_box_state {
	PROBE_BOX_OPENS,
	PROBE_BOX_IS_OPEN,
	PROBE_BOX_FAILED,
	/*
	 * The guard has not run the call: the process's owner has too many that have not returned.
	 */
	PROBE_BOX_NOT_RUN,
};

struct probe_box *probe_box_new(void); /* NULL: no memory */
/* program is one of BPF_KIND_ (bpf_layout.h), or -1 for an event that only arms. False: no room. */
bool probe_box_add(struct probe_box *box, uint64_t file_off, uint64_t semaphore_off, int program);
bool probe_box_is_empty(const struct probe_box *box);
/*
 * Has the events opened; file (O_PATH) is the box's. False: no memory, and box and file are closed.
 */
bool probe_box_open(pid_t pid, struct probe_box *box, const struct sampler *sampler, int file);
/* Has the events' samples taken once they are open. why is the reason of PROBE_BOX_FAILED. */
enum probe_box_state probe_box_take(const struct probe_box *box, const struct sampler *sampler,
				    char why[UPROBE_WHY_BYTES]);
/* NULL is legal. */
void probe_box_close(pid_t pid, struct probe_box *box);

#endif
