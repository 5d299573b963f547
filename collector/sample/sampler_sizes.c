// SPDX-License-Identifier: Apache-2.0
/*
 * Computes the sizes of ring buffers and snapshots, see sampler.h. The largest sample is
 *
 *   header 8, ip to period 40, nr 8, chain, abi 8, registers, size 8, snapshot, real 8
 *
 * with 127 frames in the chain (kernel.perf_event_max_stack) and 8 marks
 * (.._max_contexts_per_stack) between them. If these settings are raised, there may be a little
 * less room than computed here; the kernel then cuts a snapshot that does not fit into the record.
 */
#include "sample/sample_regs.h"
#include "sample/sampler.h"

#include <assert.h>

#define RING_BYTES	 (512u << 10) /* without snapshots it has room for more than 40 samples */
#define RINGS_MAX_BYTES	 (64u << 20)
#define SIDE_BYTES	 (256u << 10) /* some 2,000 records; a starting JVM makes about 100 */
#define SIDES_MAX_BYTES	 (16u << 20)
#define RING_LEAST_BYTES (64u << 10) /* also the size of the largest page */
#define RECORD_MAX_BYTES 65528u	     /* the largest multiple of 8 that fits into a u16 */
#define RING_MS		 1650	     /* on a busy host the collector may have to wait for the CPU */
#define SNAPSHOT_STEP	 1024u

#define CHAIN_MAX (127 + 8)
#define REST_BYTES                                                                                 \
	(8 + 40 + 8 + CHAIN_MAX * sizeof(uint64_t) + 8 + SAMPLE_REGS_COUNT * sizeof(uint64_t) +    \
	 8 + 8)

static_assert(SAMPLER_MAX_STACK_BYTES % 8 == 0 &&
		      SAMPLER_MAX_STACK_BYTES + REST_BYTES < RECORD_MAX_BYTES,
	      "the longest snapshot fits into a record");

static size_t record_bytes(uint32_t stack_bytes)
{
	return REST_BYTES + stack_bytes;
}

size_t sampler_ring_bytes(size_t n_cpus, uint32_t stack_bytes, unsigned hz)
{
	const size_t in_time = (size_t)hz * RING_MS / 1000 + 1;
	const size_t samples = in_time > SAMPLER_RING_SAMPLES ? in_time : SAMPLER_RING_SAMPLES;
	size_t bytes = RING_BYTES;

	/* "<=", because the kernel never fills a ring buffer to its last byte. */
	while (stack_bytes > 0 && bytes <= samples * record_bytes(stack_bytes))
		bytes *= 2;
	while (bytes * n_cpus > RINGS_MAX_BYTES && bytes > RING_LEAST_BYTES)
		bytes /= 2;
	return bytes;
}

size_t sampler_side_bytes(size_t n_cpus)
{
	size_t bytes = SIDE_BYTES;

	while (bytes * n_cpus > SIDES_MAX_BYTES && bytes > RING_LEAST_BYTES)
		bytes /= 2;
	return bytes;
}

uint32_t sampler_fit_stack(size_t ring_bytes, uint32_t stack_bytes)
{
	const size_t room = (ring_bytes - 1) / SAMPLER_RING_SAMPLES;
	size_t fits;

	if (record_bytes(stack_bytes) <= room || stack_bytes <= SAMPLER_LEAST_STACK_BYTES)
		return stack_bytes;
	fits = room > REST_BYTES ? (room - REST_BYTES) / SNAPSHOT_STEP * SNAPSHOT_STEP : 0;
	return fits > SAMPLER_LEAST_STACK_BYTES ? (uint32_t)fits : SAMPLER_LEAST_STACK_BYTES;
}

uint64_t sampler_quarter_ns(size_t ring_bytes, uint32_t stack_bytes, unsigned hz)
{
	const size_t samples = ring_bytes / 4 / record_bytes(stack_bytes);

	return (samples > 0 ? samples : 1) * UINT64_C(1000000000) / (hz > 0 ? hz : 1);
}

size_t sampler_least_ring_bytes(uint32_t stack_bytes)
{
	size_t bytes = RING_LEAST_BYTES;

	while (bytes <= 2 * record_bytes(stack_bytes))
		bytes *= 2;
	return bytes;
}
