// SPDX-License-Identifier: Apache-2.0
/*
 * A program whose thread spins 80 KiB below pages of its stack that nobody ever fills: whoever
 * reads such a page waits for ever. The pages are handed to userfaultfd(2) after the thread has
 * passed them. The thread's first frames, and what the C library keeps behind them, are above.
 */
#include <alloca.h>
#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#define STACK_BYTES  (1u << 20)
#define PAGE_BYTES   4096u
#define DEEP_BYTES   (80u << 10)
#define SILENT_BYTES (4 * PAGE_BYTES)
#define SILENT_AT    (STACK_BYTES - 2 * SILENT_BYTES)

static char *stack;
static volatile int is_deep;

static void __attribute__((noinline)) spin(void)
{
	is_deep = 1;
	for (volatile uint64_t i = 0;; i++)
		;
}

static void *run(void *arg)
{
	volatile char *room = alloca(DEEP_BYTES);

	for (size_t i = 0; i < DEEP_BYTES; i += 64)
		room[i] = 1;
	spin();
	return arg;
}

int main(void)
{
	struct uffdio_api api = {.api = UFFD_API};
	struct uffdio_register range = {.mode = UFFDIO_REGISTER_MODE_MISSING};
	pthread_attr_t attr;
	pthread_t thread;
	int fd;

	stack = mmap(NULL, STACK_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	pthread_attr_init(&attr);
	pthread_attr_setstack(&attr, stack, STACK_BYTES);
	if (pthread_create(&thread, &attr, run, NULL) != 0)
		return 1;
	while (!is_deep)
		usleep(1000);
	fd = (int)syscall(SYS_userfaultfd, O_CLOEXEC);
	if (fd < 0 || ioctl(fd, UFFDIO_API, &api) < 0) {
		perror("userfaultfd");
		return 1;
	}
	range.range.start = (uintptr_t)(stack + SILENT_AT);
	range.range.len = SILENT_BYTES;
	if (ioctl(fd, UFFDIO_REGISTER, &range) < 0) {
		perror("UFFDIO_REGISTER");
		return 1;
	}
	madvise(stack + SILENT_AT, SILENT_BYTES, MADV_DONTNEED);
	puts("ready");
	fflush(stdout);
	pause();
	return 0;
}
