// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   the parts of a recording -> a title for people
 * units:   those of profile_part.h; times of day in UTC
 * threads: any
 * errors:  what is not known is left out
 * source:  none
 */
#ifndef FG_PROFILE_PROFILE_TITLE_H
#define FG_PROFILE_PROFILE_TITLE_H

#include "profile/profile_part.h"

#include <stdbool.h>
#include <stddef.h>

#define PROFILE_TITLE_BYTES 640

/*
 * Says whose stacks they are, of which kinds, for how long, from when on, and on which host: "shop:
 * app.jar, cpu, 15 s, 23:48 UTC, web1". Of several programs, those with most of the first part are
 * named: "shop, cart and 3 more". Texts of programs come from outside and are not cleaned. False:
 * nothing but the kinds is known, and ret is "".
 */
bool profile_title_write(const struct profile_part *parts, size_t n, char ret[PROFILE_TITLE_BYTES]);

#endif
