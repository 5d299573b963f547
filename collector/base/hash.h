// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   keys and texts -> hashes that no other process can foresee
 * units:   none
 * threads: any
 * errors:  none; without random numbers the seed is made of the clock and an address
 * source:  Aumasson and Bernstein, "SipHash: a fast short-input PRF"
 *
 * Keys come from containers. A process that knows the hash function could choose keys that collide,
 * so that each look-up walks all of these keys. The seed is chosen anew for each run of the
 * collector.
 *
 * quick_hash is several times as fast as hash_seed, from which its seed must come: it is for tables
 * with millions of look-ups. Both halves of a product depend on all bits of both factors, and the
 * seed is in both factors. So a file that has hostile names cannot choose which names collide.
 * Unlike SipHash, quick_hash has no proof; it only guards the time that one run takes for one file.
 */
#ifndef FG_BASE_HASH_H
#define FG_BASE_HASH_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

uint64_t hash_seed_mix(uint64_t key);
uint64_t hash_seed_bytes(const void *data, size_t len);

static inline uint64_t quick_hash_seed(uint64_t purpose)
{
	return hash_seed_mix(purpose) | 1;
}

static inline uint64_t quick_hash_mix(uint64_t seed, uint64_t a, uint64_t b)
{
	__extension__ typedef unsigned __int128 uint128;
	const uint128 product = (uint128)(a ^ seed) * (b ^ (seed << 32 | seed >> 32));

	return (uint64_t)product ^ (uint64_t)(product >> 64);
}

/* Sixteen bytes a step; the last ones are read a second time instead of one by one. */
static inline uint64_t quick_hash_text(uint64_t seed, const char *text, size_t len)
{
	uint64_t hash = quick_hash_mix(seed, len, ~seed);
	uint64_t words[2] = {0};
	size_t at = 0;

	for (; len - at > sizeof(words); at += sizeof(words)) {
		memcpy(words, text + at, sizeof(words));
		hash = quick_hash_mix(seed, words[0] ^ hash, words[1]);
	}
	if (len >= sizeof(words)) {
		/* cppcheck-suppress pointerOutOfBoundsCond ; text has len bytes */
		memcpy(words, text + len - sizeof(words), sizeof(words));
	} else if (len >= sizeof(words[0])) {
		memcpy(&words[0], text, sizeof(words[0]));
		/* cppcheck-suppress pointerOutOfBoundsCond ; as above */
		memcpy(&words[1], text + len - sizeof(words[0]), sizeof(words[0]));
	} else {
		memcpy(words, text, len);
	}
	return quick_hash_mix(seed, words[0] ^ hash, words[1] + hash);
}

#endif
