// SPDX-License-Identifier: Apache-2.0
/*
 * Two threads of one CPU that wake each other over pipes: ping_pong CPU. A line a second says how
 * many nanoseconds a round trip has taken: two switches, four system calls. Ends when it is killed.
 */
#include <pthread.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#define SECOND_NS UINT64_C(1000000000)

static int asks[2], answers[2];

static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * SECOND_NS + (uint64_t)now.tv_nsec;
}

static void pin(int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	if (sched_setaffinity(0, sizeof(set), &set) != 0)
		exit(1);
}

static void *answer(void *arg)
{
	char byte;

	while (read(asks[0], &byte, 1) == 1 && write(answers[1], &byte, 1) == 1)
		;
	return arg;
}

int main(int argc, char **argv)
{
	uint64_t began_ns, ns, rounds = 0;
	pthread_t thread;
	char byte = 0;

	if (argc != 2 || pipe(asks) != 0 || pipe(answers) != 0)
		return 1;
	pin(atoi(argv[1]));
	if (pthread_create(&thread, NULL, answer, NULL) != 0)
		return 1;
	began_ns = now_ns();
	while (write(asks[1], &byte, 1) == 1 && read(answers[0], &byte, 1) == 1) {
		rounds++;
		ns = now_ns() - began_ns;
		if (ns < SECOND_NS)
			continue;
		printf("%.0f\n", (double)ns / (double)rounds);
		fflush(stdout);
		began_ns += ns;
		rounds = 0;
	}
	return 1;
}
