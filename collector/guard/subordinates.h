// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   the text of /etc/subuid -> which user ID stands for a range of user IDs
 * units:   user IDs
 * threads: the model's; tests': any
 * errors:  none; a line that is none is passed over
 * source:  subuid(5), user_namespaces(7)
 *
 * Who has subordinate user IDs may be each of them in a user namespace. All IDs of a range are
 * therefore one user, whose number is the first ID of the range: such a user has as many shares as
 * they have ranges, and one for their own ID.
 */
#ifndef FG_GUARD_SUBORDINATES_H
#define FG_GUARD_SUBORDINATES_H

#include <stddef.h>
#include <stdint.h>

#define SUBORDINATES_MAX 1024 /* ranges; IDs of further ones stand for themselves */

struct subordinates {
	struct {
		uint64_t first, count;
	} ranges[SUBORDINATES_MAX];
	size_t n;
};

/* Takes the place of what was known. */
void subordinates_parse(struct subordinates *known, const char *text);
uint64_t subordinates_user(const struct subordinates *known, uint64_t uid);

#endif
