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
 */
#ifndef FG_BASE_HASH_SEED_H
#define FG_BASE_HASH_SEED_H

#include <stddef.h>
#include <stdint.h>

uint64_t hash_seed_mix(uint64_t key);
uint64_t hash_seed_bytes(const void *data, size_t len);

#endif
