// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   names of frames with / between them, root first -> the node at their end
 * units:   samples
 * threads: as the profile
 * errors:  the test fails where two children have the name
 * source:  none
 */
#ifndef FG_TEST_PROFILE_PATH_H
#define FG_TEST_PROFILE_PATH_H

#include "profile/profile.h"

/* 0: no node is called so. */
uint32_t path_find(const struct profile *profile, const char *path);

/* There is such a node, with those samples. */
void path_check(const struct profile *profile, const char *path, uint64_t self, uint64_t total);

#endif
