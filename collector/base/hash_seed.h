// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   keys and texts -> hashes that nobody outside can foresee
 * units:   none
 * threads: any
 * errors:  none; without random numbers the seed is made of the clock and an address
 * source:  Aumasson and Bernstein, "SipHash: a fast short-input PRF"
 *
 * Keys come from containers, and whoever knows the hash can choose keys that collide, so that each
 * look-up walks all of them. The seed is chosen anew for each run of the program.
 */
#ifndef FG_BASE_HASH_SEED_H
#define FG_BASE_HASH_SEED_H

#include <stddef.h>
#include <stdint.h>

uint64_t hash_seed_mix(uint64_t key);
uint64_t hash_seed_bytes(const void *data, size_t len);

#endif
