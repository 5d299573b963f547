// SPDX-License-Identifier: Apache-2.0
/*
 * Reads the clock again and again, with a stack that was written to, and sees its interruptions:
 * what a sampling interrupt costs the thread that it hits.
 *
 *   sample_gaps STACK_KIB SECONDS
 *
 * Prints a line each second: the number of gaps, their median, 90th percentile and sum in
 * nanoseconds. What is longer is a switch to another thread, what is shorter no interrupt.
 */
#include <alloca.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define LEAST_NS  UINT64_C(2000)
#define MOST_NS	  UINT64_C(100000)
#define MAX_GAPS  100000
#define SECOND_NS UINT64_C(1000000000)

static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * SECOND_NS + (uint64_t)now.tv_nsec;
}

static int compare(const void *a, const void *b)
{
	const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

static void print_second(uint64_t *gaps, size_t n)
{
	uint64_t sum = 0;

	qsort(gaps, n, sizeof(*gaps), compare);
	for (size_t i = 0; i < n; i++)
		sum += gaps[i];
	printf("%zu %llu %llu %llu\n", n, (unsigned long long)(n ? gaps[n / 2] : 0),
	       (unsigned long long)(n ? gaps[n * 9 / 10] : 0), (unsigned long long)sum);
	fflush(stdout);
}

static void watch_second(void)
{
	static uint64_t gaps[MAX_GAPS];
	uint64_t last_ns = now_ns();
	const uint64_t until_ns = last_ns + SECOND_NS;
	size_t n = 0;

	while (last_ns < until_ns) {
		const uint64_t ns = now_ns(), gap_ns = ns - last_ns;

		if (gap_ns >= LEAST_NS && gap_ns < MOST_NS && n < MAX_GAPS)
			gaps[n++] = gap_ns;
		last_ns = ns;
	}
	print_second(gaps, n);
}

/* The stack is so deep while it watches. */
__attribute__((noinline)) static void watch(size_t bytes, unsigned seconds)
{
	char *const written = alloca(bytes);

	memset(written, 1, bytes);
	__asm__ volatile("" : : "r"(written) : "memory");
	for (unsigned i = 0; i < seconds; i++)
		watch_second();
	__asm__ volatile("" : : "r"(written) : "memory");
}

int main(int argc, char **argv)
{
	if (argc != 3) {
		fprintf(stderr, "usage: sample_gaps STACK_KIB SECONDS\n");
		return 2;
	}
	watch((size_t)strtoul(argv[1], NULL, 10) << 10, (unsigned)strtoul(argv[2], NULL, 10));
	return 0;
}
