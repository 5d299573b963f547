// SPDX-License-Identifier: Apache-2.0
/*
 * Does one thing of the kernel's again and again: what a recording of others costs such a program.
 *
 *   neighbour_load rename|mmap|map-code|thread|exec SECONDS
 *
 * Prints the nanoseconds of one: the median of batches that take 10 ms each, which hold the
 * sampling interrupts as often as they come, and few of what else the machine does.
 */
#include <fcntl.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define BATCH_NS    UINT64_C(10000000)
#define MAX_BATCHES 100000
#define MAPPED	    65536

static int code_fd;

static void rename_thread(unsigned turn)
{
	prctl(PR_SET_NAME, turn & 1 ? "dw-42 GET /one" : "dw-42 GET /two");
}

static void map_memory(unsigned turn)
{
	char *memory =
		mmap(NULL, MAPPED, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (memory == MAP_FAILED)
		exit(1);
	memory[0] = (char)turn;
	munmap(memory, MAPPED);
}

static void map_code(unsigned turn)
{
	void *code = mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, code_fd, 0);

	(void)turn;
	if (code == MAP_FAILED)
		exit(1);
	munmap(code, 4096);
}

static void *end_at_once(void *arg)
{
	return arg;
}

static void start_thread(unsigned turn)
{
	pthread_t thread;

	(void)turn;
	if (pthread_create(&thread, NULL, end_at_once, NULL) != 0)
		exit(1);
	pthread_join(thread, NULL);
}

static void execute(unsigned turn)
{
	const pid_t pid = vfork();

	(void)turn;
	if (pid == 0) {
		execl("/bin/true", "true", (char *)NULL);
		_exit(127);
	}
	if (pid < 0)
		exit(1);
	waitpid(pid, NULL, 0);
}

static const struct {
	const char *name;
	void (*once)(unsigned turn);
	unsigned between_looks; /* at the clock */
} loads[] = {
	{"rename", rename_thread, 64}, {"mmap", map_memory, 16}, {"map-code", map_code, 16},
	{"thread", start_thread, 4},   {"exec", execute, 1},
};

#define N_LOADS (sizeof(loads) / sizeof(loads[0]))

static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

/* The time of one in a batch. */
static double run_batch(size_t load)
{
	const uint64_t began_ns = now_ns();
	uint64_t passed_ns = 0;
	unsigned done = 0;

	while (passed_ns < BATCH_NS) {
		for (unsigned i = 0; i < loads[load].between_looks; i++)
			loads[load].once(done++);
		passed_ns = now_ns() - began_ns;
	}
	return (double)passed_ns / done;
}

static int compare(const void *a, const void *b)
{
	const double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

int main(int argc, char **argv)
{
	static double batches[MAX_BATCHES];
	const uint64_t span_ns = argc == 3 ? (uint64_t)(strtod(argv[2], NULL) * 1e9) : 0;
	const uint64_t until_ns = now_ns() + span_ns;
	size_t load = 0, n = 0;

	while (argc == 3 && load < N_LOADS && strcmp(loads[load].name, argv[1]) != 0)
		load++;
	if (argc != 3 || load == N_LOADS) {
		fprintf(stderr, "usage: neighbour_load rename|mmap|map-code|thread|exec SECONDS\n");
		return 2;
	}
	code_fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	run_batch(load);
	while (n < MAX_BATCHES && (n == 0 || now_ns() < until_ns))
		batches[n++] = run_batch(load);
	qsort(batches, n, sizeof(batches[0]), compare);
	printf("%.1f\n", batches[n / 2]);
	return 0;
}
