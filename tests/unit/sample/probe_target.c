// SPDX-License-Identifier: Apache-2.0
/*
 * A program with probe points. For each byte that it reads, 'h' or 's', it answers with its
 * semaphore, two bytes. At 'h', two new threads, each on another CPU if there are two, first run
 * "hit" and "bare" ten times.
 */
#include <pthread.h>
#include <sched.h>
#include <stddef.h>
#include <unistd.h>

#define HITS 10

/* Where the kernel takes one byte too far, there is no instruction. */
#ifdef __x86_64__
#define LONG_NOP ".byte 0x0f, 0x1f, 0x44, 0x00, 0x00\n"
#else
#define LONG_NOP "nop\n"
#endif

#define POINT(name, semaphore)                                                                     \
	"990: " LONG_NOP ".pushsection .note.stapsdt, \"\", \"note\"\n"                            \
	".balign 4\n"                                                                              \
	".4byte 992f - 991f, 994f - 993f, 3\n"                                                     \
	"991: .asciz \"stapsdt\"\n"                                                                \
	"992: .balign 4\n"                                                                         \
	"993: .8byte 990b, 0, " semaphore "\n"                                                     \
	".asciz \"fgagent\"\n"                                                                     \
	".asciz \"" name "\"\n"                                                                    \
	".asciz \"\"\n"                                                                            \
	"994: .balign 4\n"                                                                         \
	".popsection\n"

__attribute__((used, section(".probes"), visibility("hidden"))) volatile unsigned short semaphore;

__attribute__((noinline)) static void pass_points(void)
{
	__asm__ volatile(POINT("hit", "semaphore") POINT("bare", "0")::: "memory");
}

/* Never runs. */
__attribute__((used)) static void keep_arm(void)
{
	__asm__ volatile(POINT("arm", "semaphore")::: "memory");
}

static void *pass(void *arg)
{
	const size_t cpu = (size_t)arg;
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	sched_setaffinity(0, sizeof(set), &set); /* best effort */
	for (unsigned i = 0; i < HITS; i++)
		pass_points();
	return NULL;
}

int main(void)
{
	char command;

	while (read(STDIN_FILENO, &command, 1) == 1) {
		const unsigned short now = semaphore;
		pthread_t threads[2];

		for (size_t i = 0; command == 'h' && i < 2; i++) {
			if (pthread_create(&threads[i], NULL, pass, (void *)i) != 0)
				return 1;
		}
		for (size_t i = 0; command == 'h' && i < 2; i++)
			pthread_join(threads[i], NULL);
		if (write(STDOUT_FILENO, &now, sizeof(now)) != sizeof(now))
			return 1;
	}
	return 0;
}
