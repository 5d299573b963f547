// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   the text of a frame in a file -> the frames that the text means
 * units:   bytes
 * threads: one at a time
 * errors:  -ENOMEM; -EFBIG once all names take more than IMPORT_MAX_NAMES_BYTES
 * source:  none
 *
 * A file names few methods many times. The meaning of a text is found out once; later it costs one
 * look-up. A zero-filled struct name_cache with its profile set is valid and empty.
 */
#ifndef FG_IMPORT_NAME_CACHE_H
#define FG_IMPORT_NAME_CACHE_H

#include "base/arena.h"
#include "profile/profile.h"

#include <stddef.h>
#include <stdint.h>

#define NAME_CACHE_FRAMES 64u /* most frames that one text may mean: a->b->c */

/* The frames of a text, root first. */
struct named {
	uint32_t n;
	struct profile_name names[];
};

struct name_slot {
	uint64_t hash;
	const char *text; /* NULL: free */
	size_t len;
	const struct named *named;
};

struct name_cache {
	struct profile *profile;
	struct arena arena;
	struct name_slot *slots;
	size_t size;
	size_t count;
	uint64_t seed;
};

/*
 * The meaning of a text in a realm, or NULL. A realm is a small number; equal texts in different
 * realms may have different meanings.
 */
const struct named *name_cache_find(const struct name_cache *cache, unsigned realm,
				    const char *text, size_t len);
/* Adds a text with its frames; n is at most NAME_CACHE_FRAMES. */
int name_cache_add(struct name_cache *cache, const struct name_slot *key,
		   const struct frame *frames, size_t n, const struct named **ret);
/* The key for name_cache_add of a text that was not found. */
struct name_slot name_cache_key(struct name_cache *cache, unsigned realm, const char *text,
				size_t len);
void name_cache_fini(struct name_cache *cache);

#endif
