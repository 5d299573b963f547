// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   a frame's text in a folded stack -> its name and kind
 * units:   none
 * threads: any
 * errors:  none: every text is a frame
 * source:  the suffixes of FlameGraph and async-profiler, and the form of names without a suffix
 */
#ifndef FG_PROFILE_FRAME_TEXT_H
#define FG_PROFILE_FRAME_TEXT_H

#include "symbolize/frame.h"

#include <stdbool.h>
#include <stddef.h>

/* Cuts the suffix from text, which is terminated, and returns the frame that text means. */
struct frame frame_text_parse(char *text, size_t len, bool is_root);

/* The kind of a name without a suffix. Kinds that have a suffix are never guessed. */
enum frame_kind frame_text_kind(const char *name);
/* The kind of an inlined frame's name: inlined in Java code, or in a file's. */
enum frame_kind frame_text_inlined_kind(const char *name);
/* Whether the name is that of a function of Go. */
bool frame_text_is_go(const char *name);

#endif
