// SPDX-License-Identifier: Apache-2.0
/* Gives memory back to the kernel, see heap.h. */
#include "guard/heap.h"

#include "base/clock.h"
#include "base/file.h"
#include "guard/heap_bytes.h"

#include <malloc.h>
#include <stdbool.h>
#include <stdio.h>
#include <unistd.h>

#define KEPT_BYTES     (4 << 20)	    /* free memory at the heap's end, for what comes next */
#define ARENAS	       4		    /* heaps of threads; each has free memory of its own */
#define MUCH_BYTES     (UINT64_C(8) << 20)  /* freed: worth a look through the heap */
#define SPARE_BYTES    (UINT64_C(64) << 20) /* resident beyond what is accounted: worth it too */
#define INTERVAL_NS    (10 * CLOCK_NS_PER_MS)
#define LOOK_NS	       (60 * CLOCK_NS_PER_SEC)
#define REST_FACTOR    10
#define ALLOCATED_REST 100

void heap_init(void)
{
#ifdef __GLIBC__
	mallopt(M_MMAP_THRESHOLD, HEAP_MMAP_BYTES);
	mallopt(M_TRIM_THRESHOLD, KEPT_BYTES);
	mallopt(M_ARENA_MAX, ARENAS);
#endif
}

void heap_note(struct heap *heap, uint64_t bytes)
{
	heap->freed += bytes;
}

static void give_back(struct heap *heap, uint64_t now_ns)
{
	uint64_t took_ns;

#ifdef __GLIBC__
	malloc_trim(0);
#endif
	took_ns = clock_now_ns() - now_ns;
	heap->freed = 0;
	heap->trims++;
	if (took_ns > heap->longest_ns)
		heap->longest_ns = took_ns;
	heap->next_ns = now_ns + INTERVAL_NS;
	if (heap->next_ns < now_ns + REST_FACTOR * took_ns)
		heap->next_ns = now_ns + REST_FACTOR * took_ns;
}

/* Threads free tables and graphs, and do not say so. */
static bool has_spare(struct heap *heap, uint64_t accounted, uint64_t now_ns)
{
	if (now_ns < heap->look_ns)
		return false;
	heap->look_ns = now_ns + LOOK_NS;
	return heap_resident() > accounted + accounted / 2 + SPARE_BYTES;
}

void heap_step(struct heap *heap, uint64_t accounted, uint64_t now_ns)
{
	if (now_ns < heap->next_ns)
		return;
	if (heap->freed >= MUCH_BYTES || has_spare(heap, accounted, now_ns))
		give_back(heap, clock_now_ns());
}

uint64_t heap_allocated(uint64_t now_ns)
{
#ifdef __GLIBC__
	static uint64_t allocated, next_ns;
	struct mallinfo2 info;

	if (now_ns < next_ns)
		return allocated;
	info = mallinfo2();
	allocated = info.uordblks + info.hblkhd;
	next_ns = now_ns + ALLOCATED_REST * (clock_now_ns() - now_ns);
	return allocated;
#else
	(void)now_ns;
	return 0;
#endif
}

uint64_t heap_resident(void)
{
	unsigned long long pages = 0;
	char text[128];

	if (file_read_small("/proc/self/statm", text, sizeof(text)) <= 0 ||
	    sscanf(text, "%*u %llu", &pages) != 1)
		return 0;
	return pages * (uint64_t)sysconf(_SC_PAGESIZE);
}
