// SPDX-License-Identifier: Apache-2.0
/*
 * Reads a ring buffer of perf, see ring.h. The kernel writes data_head and the collector writes
 * data_tail. Both count bytes since the beginning and are taken modulo the data's size.
 */
#include "sample/ring.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

int ring_open(struct ring *ring, int fd, size_t data_bytes)
{
	const size_t page = (size_t)sysconf(_SC_PAGESIZE);
	void *base = mmap(NULL, page + data_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	unsigned char *scratch;

	if (base == MAP_FAILED)
		return -errno;
	scratch = malloc(RING_MAX_RECORD_BYTES);
	if (!scratch) {
		munmap(base, page + data_bytes);
		return -ENOMEM;
	}
	*ring = (struct ring){.base = base, .data_bytes = data_bytes, .scratch = scratch};
	return 0;
}

void ring_close(struct ring *ring)
{
	if (ring->base)
		munmap(ring->base, (size_t)sysconf(_SC_PAGESIZE) + ring->data_bytes);
	free(ring->scratch);
	*ring = (struct ring){0};
}

const void *ring_next(struct ring *ring, size_t *ret_len)
{
	const struct perf_event_mmap_page *control = ring->base;
	const unsigned char *data = (const unsigned char *)ring->base + sysconf(_SC_PAGESIZE);
	const uint64_t head = __atomic_load_n(&control->data_head, __ATOMIC_ACQUIRE);
	const size_t at = ring->tail & (ring->data_bytes - 1);
	const size_t to_end = ring->data_bytes - at;
	struct perf_event_header header;

	if (head - ring->tail < sizeof(header))
		return NULL;
	/* The length of a record is a multiple of 8 bytes, so no header wraps around. */
	memcpy(&header, data + at, sizeof(header));
	if (header.size < sizeof(header) || header.size > head - ring->tail) {
		ring->tail = head; /* must not happen; skip the rest, or the loop would not end */
		return NULL;
	}
	ring->tail += header.size;
	*ret_len = header.size;
	if (header.size <= to_end)
		return data + at;
	memcpy(ring->scratch, data + at, to_end);
	memcpy(ring->scratch + to_end, data, header.size - to_end);
	return ring->scratch;
}

bool ring_has_more(const struct ring *ring)
{
	const struct perf_event_mmap_page *control = ring->base;

	return __atomic_load_n(&control->data_head, __ATOMIC_ACQUIRE) != ring->tail;
}

void ring_done(struct ring *ring)
{
	struct perf_event_mmap_page *control = ring->base;

	__atomic_store_n(&control->data_tail, ring->tail, __ATOMIC_RELEASE);
}
