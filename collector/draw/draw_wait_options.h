// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   values of --state and --idle-frame -> the stacks of waiting threads that are wanted
 * units:   none
 * threads: one
 * errors:  -EINVAL, said on stderr
 * source:  none
 */
#ifndef FG_DRAW_DRAW_WAIT_OPTIONS_H
#define FG_DRAW_DRAW_WAIT_OPTIONS_H

#include "profile/waits.h"

int draw_wait_options_set_states(struct wait_options *options, const char *told, const char *text);
/* Borrows value. */
int draw_wait_options_add_frame(struct wait_options *options, const char *told, const char *text);

#endif
