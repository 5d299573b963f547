// SPDX-License-Identifier: Apache-2.0
/*
 * call_file FILE OFFSET BYTES: maps that part of FILE, which starts with a function, executable,
 * says "ready", and calls the function for ever. What happens to FILE meanwhile is the test's
 * affair.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	const int fd = argc == 4 ? open(argv[1], O_RDONLY | O_CLOEXEC) : -1;
	void (*function)(void);
	void *at;

	if (fd < 0) {
		fputs("usage: call_file FILE OFFSET BYTES\n", stderr);
		return 2;
	}
	at = mmap(NULL, strtoul(argv[3], NULL, 10), PROT_READ | PROT_EXEC, MAP_PRIVATE, fd,
		  (off_t)strtoul(argv[2], NULL, 10));
	if (at == MAP_FAILED) {
		perror(argv[1]);
		return 1;
	}
	close(fd);
	puts("ready");
	fflush(stdout);
	*(void **)&function = at;
	for (;;)
		function();
}
