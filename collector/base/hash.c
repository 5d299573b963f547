// SPDX-License-Identifier: Apache-2.0
/*
 * SipHash-1-3 with a random key, see hash.h: four words of state, one round for each eight
 * bytes of input, three rounds at the end.
 */
#include "base/hash.h"

#include "base/clock.h"

#include <pthread.h>
#include <string.h>
#include <sys/random.h>

static uint64_t seed[2];
static pthread_once_t seeded = PTHREAD_ONCE_INIT;

static void choose_seed(void)
{
	if (getrandom(seed, sizeof(seed), GRND_NONBLOCK) == (ssize_t)sizeof(seed))
		return;
	seed[0] = clock_now_ns();
	seed[1] = (uint64_t)(uintptr_t)&seed;
}

static uint64_t rotate(uint64_t x, int bits)
{
	return x << bits | x >> (64 - bits);
}

static void sip_round(uint64_t v[4])
{
	v[0] += v[1];
	v[1] = rotate(v[1], 13) ^ v[0];
	v[0] = rotate(v[0], 32);
	v[2] += v[3];
	v[3] = rotate(v[3], 16) ^ v[2];
	v[0] += v[3];
	v[3] = rotate(v[3], 21) ^ v[0];
	v[2] += v[1];
	v[1] = rotate(v[1], 17) ^ v[2];
	v[2] = rotate(v[2], 32);
}

uint64_t hash_seed_bytes(const void *data, size_t len)
{
	const unsigned char *p = data;
	uint64_t v[4], word;
	size_t left = len;

	pthread_once(&seeded, choose_seed);
	v[0] = seed[0] ^ UINT64_C(0x736f6d6570736575);
	v[1] = seed[1] ^ UINT64_C(0x646f72616e646f6d);
	v[2] = seed[0] ^ UINT64_C(0x6c7967656e657261);
	v[3] = seed[1] ^ UINT64_C(0x7465646279746573);
	for (; left >= 8; left -= 8, p += 8) {
		memcpy(&word, p, 8);
		v[3] ^= word;
		sip_round(v);
		v[0] ^= word;
	}
	word = (uint64_t)len << 56;
	for (size_t i = 0; i < left; i++)
		word |= (uint64_t)p[i] << (8 * i);
	v[3] ^= word;
	sip_round(v);
	v[0] ^= word;
	v[2] ^= 0xff;
	for (int i = 0; i < 3; i++)
		sip_round(v);
	return v[0] ^ v[1] ^ v[2] ^ v[3];
}

uint64_t hash_seed_mix(uint64_t key)
{
	return hash_seed_bytes(&key, sizeof(key));
}
