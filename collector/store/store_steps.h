// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   the times of an hour -> sums of five seconds each, as bytes in the index
 * units:   nanoseconds since 1970; weights of the kind
 * threads: one at a time
 * errors:  -EBADMSG: the bytes are no sums; -ENOMEM
 * source:  none
 *
 * A heat map of days asks for thousands of hours, and each hour's file has to be unpacked for its
 * times. Cells of such a map are longer than five seconds, so its hours are read from the index.
 *
 * The bytes are numbers as in encode/bytes.h: the first step, in five seconds since 1970; the
 * weight of samples of which no time is known; and the weight of each step from the first one on.
 */
#ifndef FG_STORE_STORE_STEPS_H
#define FG_STORE_STORE_STEPS_H

#include "encode/bytes.h"
#include "profile/profile_part.h"
#include "store/store_content.h"

#define STORE_STEP_NS	UINT64_C(5000000000)
#define STORE_STEPS_MAX 4096u /* of one segment; what is longer has no sums */

/* Appends the bytes to ret. -ERANGE: the times are further apart than STORE_STEPS_MAX. */
int store_steps_write(const struct profile_part *part, struct bytes *ret);
/* Gives each step that has a weight to add, as a time at the step's begin. */
int store_steps_read(const void *data, size_t len, store_add_time *add, void *arg,
		     uint64_t *ret_untimed);

#endif
