// SPDX-License-Identifier: Apache-2.0
/*
 * Runs a program and writes into a file what the program used: seconds by the clock, seconds of
 * user and of system time, and KiB of peak memory.
 *
 * The kernel counts a process's peak memory from before its exec on, so that a child of a large
 * process has the large process's memory at least. This program is small.
 *
 * Usage: child_usage FILE PROGRAM [ARGUMENT]...
 */
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static double seconds_of(struct timeval time)
{
	return (double)time.tv_sec + (double)time.tv_usec / 1e6;
}

static double now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

int main(int argc, char **argv)
{
	const double begin = now();
	struct rusage used;
	int status;
	pid_t pid;
	FILE *out;

	if (argc < 3) {
		fprintf(stderr, "usage: child_usage FILE PROGRAM [ARGUMENT]...\n");
		return 2;
	}
	pid = fork();
	if (pid == 0) {
		execvp(argv[2], argv + 2);
		perror(argv[2]);
		_exit(127);
	}
	if (pid < 0 || wait4(pid, &status, 0, &used) != pid) {
		perror("child_usage");
		return 2;
	}
	out = fopen(argv[1], "w");
	if (!out || fprintf(out, "%.6f %.6f %.6f %ld\n", now() - begin, seconds_of(used.ru_utime),
			    seconds_of(used.ru_stime), used.ru_maxrss) < 0) {
		perror(argv[1]);
		return 2;
	}
	if (fclose(out) != 0) {
		perror(argv[1]);
		return 2;
	}
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}
