// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   names of frames with / between them, root first -> the node at their end, or a stack
 * units:   samples
 * threads: as the profile
 * errors:  the test fails where two children have the name
 * source:  none
 */
#ifndef FG_TEST_PROFILE_PATH_H
#define FG_TEST_PROFILE_PATH_H

#include "profile/profile.h"

/* 0: no node is called so; the empty path is the root. */
uint32_t path_find(const struct profile *profile, const char *path);

/* There is such a node, with those samples. */
void path_check(const struct profile *profile, const char *path, uint64_t self, uint64_t total);

/*
 * Makes a stack, leaf first, of words, root first. Spaces separate the words, and frame_of makes a
 * frame of a word. The words stay in text, which is cut. Returns the number of frames.
 */
size_t path_frames(char *text, struct frame (*frame_of)(const char *word), struct frame *frames,
		   size_t max);

#endif
