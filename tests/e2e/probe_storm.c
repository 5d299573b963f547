// SPDX-License-Identifier: Apache-2.0
/*
 * A JVM that runs over the agent's points by itself, with arguments that no agent gives:
 * -agentpath:libprobe_storm.so=ADDRESS[:ADDRESS...], addresses in hex as the agent's file has them.
 *
 * Two threads call all of these places in turn, for ever. What follows each point in the agent's
 * code up to the function's return touches nothing.
 */
#include <jvmti.h>

#include <link.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define THREADS	   2
#define MAX_POINTS 8
#define AGENT	   "libfgagent.so"
#define WAIT_US	   10000

static uint64_t points[MAX_POINTS];
static unsigned n_points;

static const uint64_t garbage[] = {
	0,
	1,
	16,
	511,
	512 << 10,
	UINT64_C(1) << 31,
	UINT64_C(1) << 40,
	UINT64_C(1) << 63,
	UINT64_MAX,
	UINT64_C(0x7fffffffe000),
	UINT64_C(0xffffffff81000000),
};

#define N_GARBAGE (sizeof(garbage) / sizeof(garbage[0]))

#if defined(__x86_64__)
static void run_over(uint64_t place, uint64_t a, uint64_t b, uint64_t c)
{
	register uint64_t arg1 __asm__("rdi") = a, arg2 __asm__("rsi") = b, arg3 __asm__("rdx") = c;

	/* Below the red zone. */
	__asm__ volatile("sub $128, %%rsp\n\tcall *%0\n\tadd $128, %%rsp"
			 :
			 : "a"(place), "r"(arg1), "r"(arg2), "r"(arg3)
			 : "memory", "cc");
}
#elif defined(__aarch64__)
static void run_over(uint64_t place, uint64_t a, uint64_t b, uint64_t c)
{
	register uint64_t arg1 __asm__("x0") = a, arg2 __asm__("x1") = b, arg3 __asm__("x2") = c;

	__asm__ volatile("blr %0"
			 :
			 : "r"(place), "r"(arg1), "r"(arg2), "r"(arg3)
			 : "x30", "memory", "cc");
}
#endif

static uint64_t next_random(uint64_t *state)
{
	*state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return *state >> 16;
}

/* A pointer into this very stack, garbage, or anything. */
static uint64_t next_value(uint64_t *state)
{
	const uint64_t random = next_random(state);

	if (random % 3 == 0)
		return (uintptr_t)&random + random / 3 % 4096;
	return random % 3 == 1 ? garbage[random / 3 % N_GARBAGE] : next_random(state) << 20;
}

static int find_agent(struct dl_phdr_info *info, size_t size, void *ret)
{
	(void)size;
	if (!strstr(info->dlpi_name, AGENT))
		return 0;
	*(uint64_t *)ret = info->dlpi_addr;
	return 1;
}

static void *storm(void *arg)
{
	uint64_t state = (uintptr_t)arg + 1, base = 0;

	while (!dl_iterate_phdr(find_agent, &base))
		usleep(WAIT_US);
	for (unsigned i = 0;; i++)
		run_over(base + points[i % n_points], next_value(&state), next_value(&state),
			 next_value(&state));
	return NULL;
}

JNIEXPORT jint JNICALL Agent_OnLoad(JavaVM *vm, char *options, void *reserved)
{
	(void)vm;
	(void)reserved;
	for (char *word = strtok(options, ":"); word && n_points < MAX_POINTS;
	     word = strtok(NULL, ":"))
		points[n_points++] = strtoull(word, NULL, 16);
	if (n_points == 0)
		return JNI_ERR;
	for (uintptr_t i = 0; i < THREADS; i++) {
		pthread_t thread;

		if (pthread_create(&thread, NULL, storm, (void *)i) != 0)
			return JNI_ERR;
	}
	puts("storms");
	fflush(stdout);
	return JNI_OK;
}
