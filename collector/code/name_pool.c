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
#include "base/hash_seed.h"
#include "base/serial.h"

#include <errno.h>
#include <string.h>

/* Bytes for each text: a slot of map64, which is half to three quarters full. */
#define INDEX_BYTES	   32
#define FULL_MOVE_INTERVAL (10 * CLOCK_NS_PER_SEC)

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
	return pool->arena.total_bytes + pool->by_hash.count * INDEX_BYTES;
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
	if (name_pool_bytes(pool) >= NAME_POOL_MAX_BYTES)
		return pool->limit_text;
	copy = arena_copy(&pool->arena, text, len);
	if (!copy || map64_put(&pool->by_hash, key, copy) < 0)
		return pool->limit_text;
	return copy;
}

bool name_pool_is_due(const struct name_pool *pool, uint64_t now_ns)
{
	const size_t bytes = name_pool_bytes(pool);

	if (bytes >= NAME_POOL_MAX_BYTES)
		return now_ns >= pool->moved_ns + FULL_MOVE_INTERVAL;
	return bytes >= NAME_POOL_MOVE_BYTES && bytes >= 2 * pool->kept_bytes;
}
