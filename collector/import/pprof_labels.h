// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   labels of a sample of pprof -> the thread that the sample is of, with its labels
 * units:   none
 * threads: one at a time
 * errors:  none; labels without room are counted in the timeline
 * source:  github.com/google/pprof, proto/README.md; labels as render/pprof.c writes them, and as
 *          profilers for Go, Node.js, Python and Java do
 *
 * A thread is known by its number: of the label tid, or of one of the names that others give it.
 * Likewise a process: by pid. What else tid and pid come with (thread; process, container, pod,
 * namespace, image, service_name) are facts of these. All other labels stay labels of the thread,
 * and so do these where there is no number. A process that is called otherwise than before is not
 * known either: profiles of several hosts may have one PID twice.
 */
#ifndef FG_IMPORT_PPROF_LABELS_H
#define FG_IMPORT_PPROF_LABELS_H

#include "profile/timeline.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PPROF_LABELS_MAX   64u	 /* of a sample; beyond it, they are left out and counted */
#define PPROF_LABELS_BYTES 8192u /* of all labels of a sample, as a timeline has them */

struct pprof_label {
	const char *key;
	const char *text; /* NULL: a number */
	int64_t number;
	const char *unit;
};

/* The labels of one sample; their texts are borrowed while they are used. */
struct pprof_labels {
	struct pprof_label items[PPROF_LABELS_MAX];
	size_t count;
	bool is_cut; /* there were more */
	char text[PPROF_LABELS_BYTES];
};

void pprof_labels_begin(struct pprof_labels *labels);
void pprof_labels_add(struct pprof_labels *labels, const struct pprof_label *label);
/* The row of the timeline for a sample with these labels. UINT32_MAX: there is no room. */
uint32_t pprof_labels_thread(struct pprof_labels *labels, struct timeline *timeline);

#endif
