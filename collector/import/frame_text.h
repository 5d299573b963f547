// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   a frame's text in a folded stack -> its name and kind
 * units:   none
 * threads: any
 * errors:  none: every text is a frame
 * source:  the suffixes of FlameGraph's and async-profiler's users, and how names look that have
 *          none
 */
#ifndef FG_IMPORT_FRAME_TEXT_H
#define FG_IMPORT_FRAME_TEXT_H

#include "symbolize/frame.h"

#include <stdbool.h>
#include <stddef.h>

/* Cuts the suffix from text, which is terminated, and tells what it meant. */
struct frame frame_text_parse(char *text, size_t len, bool is_root);

/* The kind of a name without a suffix. A kind with a suffix is never guessed. */
enum frame_kind frame_text_kind(const char *name);
/* Of one that is known to be inlined: of Java, or of a file. */
enum frame_kind frame_text_inlined_kind(const char *name);

#endif
