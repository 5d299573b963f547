// SPDX-License-Identifier: Apache-2.0
/*
 * usage: many_stacks SECONDS
 *
 * Computes at the ends of stacks of 40 frames that hardly ever come again: at each frame chance
 * chooses which function is called next. So each sample adds a branch to the tree of a recording.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define DEPTH	 40
#define SPIN_NS	 300000
#define BRANCHES 8

typedef unsigned (*step_fn)(unsigned depth);

static uint64_t chance = 88172645463325252;
static const step_fn steps[BRANCHES];

static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

static unsigned __attribute__((noinline)) go_on(unsigned depth)
{
	chance ^= chance << 13;
	chance ^= chance >> 7;
	chance ^= chance << 17;
	if (depth > 0)
		return steps[chance % BRANCHES](depth - 1) + 1;
	for (const uint64_t until = now_ns() + SPIN_NS; now_ns() < until;)
		;
	return 0;
}

/* The sum keeps the call from becoming a jump. */
#define STEP(name)                                                                                 \
	static unsigned __attribute__((noinline)) name(unsigned depth)                             \
	{                                                                                          \
		return go_on(depth) + 1;                                                           \
	}

STEP(step_a)
STEP(step_b)
STEP(step_c)
STEP(step_d)
STEP(step_e)
STEP(step_f)
STEP(step_g)
STEP(step_h)

static const step_fn steps[BRANCHES] = {step_a, step_b, step_c, step_d,
					step_e, step_f, step_g, step_h};

int main(int argc, char **argv)
{
	const uint64_t until =
		now_ns() + (argc == 2 ? strtoull(argv[1], NULL, 10) : 0) * 1000000000;

	if (argc != 2) {
		fprintf(stderr, "usage: many_stacks SECONDS\n");
		return 2;
	}
	while (now_ns() < until)
		go_on(DEPTH);
	return 0;
}
