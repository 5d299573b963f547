// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   options of a sampler -> a sampler, opened by a thread
 * units:   none
 * threads: the owner of the tasks; options and results pass from thread to thread by is_done
 * errors:  negative errno, and the message that was logged
 * source:  eventfd(2)
 *
 * The kernel takes milliseconds to make the ring buffers, and tens of milliseconds where the
 * tracepoint of exec has no other user. The loop goes on meanwhile. The task comes after those
 * that close earlier samplers, so that these samplers' locked memory is free again.
 */
#ifndef FG_SAMPLE_SAMPLER_OPENING_H
#define FG_SAMPLE_SAMPLER_OPENING_H

#include "sample/sampler.h"

struct sampler_opening; /* opaque */

/*
 * Has the tasks of options, which there must be, open a sampler. wake_fd is an eventfd that is
 * written to when that is done. The text of options is borrowed until sampler_opening_end.
 */
int sampler_opening_start(const struct sampler_options *options, int wake_fd,
			  struct sampler_opening **ret);
bool sampler_opening_is_done(const struct sampler_opening *opening);
/*
 * Waits if the opening is not done, and frees opening. 0: *ret is the caller's. Else
 * sampler_problem of this thread is the message.
 */
int sampler_opening_end(struct sampler_opening *opening, struct sampler **ret);

#endif
