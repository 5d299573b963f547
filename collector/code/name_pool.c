// SPDX-License-Identifier: Apache-2.0
/*
 * Texts in an arena, found by a keyed hash of 64 bits, see name_pool.h. If two texts ever have
 * equal hashes, the second text is filed under the next number.
 *
 * base/intern.h does not serve here: a full pool has to look a text up without adding the text,
 * and struct intern cannot do so.
 */
#include "code/name_pool.h"

#include "base/clock.h"
#include "base/hash.h"
#include "base/serial.h"
#include "guard/heap_bytes.h"

#include <errno.h>
#include <string.h>

#define FULL_MOVE_INTERVAL (10 * CLOCK_NS_PER_SEC)
#define FULL_MOST_REST	   (20 * CLOCK_NS_PER_SEC)
#define FULL_REST_FACTOR   50 /* moves of a full pool take a fiftieth of the time, if less */

int name_pool_init(struct name_pool *pool)
{
	*pool = (struct name_pool){.serial = serial_next()};
	pool->limit_text =
		name_pool_add(pool, NAME_POOL_LIMIT_TEXT, sizeof(NAME_POOL_LIMIT_TEXT) - 1);
	if (pool->limit_text)
		return 0;
	name_pool_fini(pool);
	return -ENOMEM;
}

void name_pool_fini(struct name_pool *pool)
{
	arena_fini(&pool->arena);
	map64_fini(&pool->by_hash);
	*pool = (struct name_pool){0};
}

size_t name_pool_bytes(const struct name_pool *pool)
{
	return pool->arena.total_bytes + heap_bytes(map64_bytes(&pool->by_hash));
}

/* Whether there is room for one text more, and for a larger index if there has to be one. */
static bool has_room(const struct name_pool *pool)
{
	const size_t bytes = name_pool_bytes(pool);
	const size_t more = map64_is_full(&pool->by_hash) ? map64_bytes(&pool->by_hash) : 0;

	return pool->by_hash.count < NAME_POOL_MAX_TEXTS && bytes < NAME_POOL_MAX_BYTES &&
	       more <= NAME_POOL_MAX_BYTES - bytes;
}

const char *name_pool_add(struct name_pool *pool, const char *text, size_t len)
{
	uint64_t key = hash_seed_bytes(text, len);
	const char *known;
	char *copy;

	for (; (known = map64_find(&pool->by_hash, key)); key++) {
		if (strlen(known) == len && memcmp(known, text, len) == 0)
			return known;
	}
	if (!has_room(pool))
		return pool->limit_text;
	copy = arena_copy(&pool->arena, text, len);
	if (!copy || map64_put(&pool->by_hash, key, copy) < 0)
		return pool->limit_text;
	return copy;
}

/* How long after its last move a full pool moves again. */
static uint64_t rest_ns(const struct name_pool *pool)
{
	const uint64_t rest = pool->took_ns * FULL_REST_FACTOR;

	if (rest < FULL_MOVE_INTERVAL)
		return FULL_MOVE_INTERVAL;
	return rest < FULL_MOST_REST ? rest : FULL_MOST_REST;
}

bool name_pool_is_due(const struct name_pool *pool, uint64_t now_ns)
{
	const size_t bytes = name_pool_bytes(pool);

	if (!has_room(pool))
		return now_ns >= pool->moved_ns + rest_ns(pool);
	return bytes >= NAME_POOL_MOVE_BYTES && bytes >= 2 * pool->kept_bytes;
}
