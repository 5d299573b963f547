// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   the collector as it was started -> the collector with the rights that it needs, and a
 *          zygote (confine/zygote.h) that starts its parsers
 * units:   capabilities are bits of a mask
 * threads: the model's, before all others
 * errors:  negative errno, which is logged with the remedy
 * source:  confine/
 */
#ifndef FG_LOOP_CONFINEMENT_H
#define FG_LOOP_CONFINEMENT_H

#include <stdint.h>

/*
 * Starts the zygote, before anything secret is read or opened. Then gives up the capabilities that
 * the collector has no use for, but for those in keep, and forbids itself calls that the collector
 * never makes (confine/syscall_filter.h). With what is left of the rights it starts the process of
 * base/reach.h.
 */
int confinement_begin(uint64_t keep);
/* Ends the zygote and all parsers, and calls that are not answered. */
void confinement_end(void);

#endif
