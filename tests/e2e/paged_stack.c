// SPDX-License-Identifier: Apache-2.0
/*
 * usage: paged_stack hole|swap|sleep
 *
 * main() calls outer(), outer() calls above(), and above() has pages between itself and what it
 * calls: nobody has ever written to them (hole), or they and all above them are swapped out again
 * and again, while the program computes (swap) or waits (sleep).
 */
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#define PAGE	    UINT64_C(4096)
#define ARRAY_BYTES (5 * PAGE)
#define TURN_NS	    20000000

static enum { HOLE, SWAP, SLEEP } mode;
static uint64_t stack_end;

static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

static void find_stack_end(void)
{
	FILE *const maps = fopen("/proc/self/maps", "r");
	unsigned long from, to;
	char line[512];

	while (maps && fgets(line, sizeof(line), maps)) {
		if (strstr(line, "[stack]") && sscanf(line, "%lx-%lx", &from, &to) == 2)
			stack_end = to;
	}
	if (maps)
		fclose(maps);
}

/* All pages from the array's second one on. */
static void swap_out(const char *array)
{
	const uint64_t from = ((uintptr_t)array / PAGE + 2) * PAGE;

	if (mode != HOLE)
		madvise((void *)(uintptr_t)from, stack_end - from, MADV_PAGEOUT);
}

__attribute__((noinline)) static unsigned below(const char *array)
{
	volatile unsigned turns = 0;

	for (;;) {
		const uint64_t until_ns = now_ns() + TURN_NS;

		swap_out(array);
		if (mode == SLEEP)
			nanosleep(&(struct timespec){.tv_nsec = TURN_NS}, NULL);
		while (mode != SLEEP && now_ns() < until_ns)
			turns++;
	}
	return turns;
}

__attribute__((noinline)) static unsigned above(void)
{
	char array[ARRAY_BYTES];

	if (mode != HOLE)
		memset(array, 1, sizeof(array));
	__asm__ volatile("" : : "r"(array) : "memory");
	return below(array) + 1;
}

__attribute__((noinline)) static unsigned outer(void)
{
	return above() + 1;
}

int main(int argc, char **argv)
{
	if (argc != 2)
		return 2;
	mode = strcmp(argv[1], "swap") == 0 ? SWAP : strcmp(argv[1], "sleep") == 0 ? SLEEP : HOLE;
	find_stack_end();
	puts("ready");
	fflush(stdout);
	return (int)outer();
}
