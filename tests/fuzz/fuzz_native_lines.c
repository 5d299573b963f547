// SPDX-License-Identifier: Apache-2.0
/*
 * Answers of the process that reads a file's DWARF, which a hostile file may have taken over. In
 * the place of that process the input answers: the length of each answer is the byte in front of
 * it, times four, and 0 stands for the process's end. An answer that has the address of the
 * question becomes places with terminated texts, no more than there may be, and all others become
 * none.
 */
#include "fuzzer.h"

#include "symbolize/lines_process.h"
#include "symbolize/native_lines.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define QUESTIONS 12
#define ADDRESSES 3 /* that are asked for, again and again */
#define LENGTH	  4

static const uint8_t *input;
static size_t input_len;
static int answering = -1; /* the process's end of the socket */

/* Sends all answers ahead. The socket keeps the bounds of each. */
int lines_process_start(pid_t pid, const struct mapping *mapping, bool sees_root,
			struct lines_process *ret)
{
	int pair[2];

	(void)pid;
	(void)mapping;
	(void)sees_root;
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, pair) < 0)
		abort();
	answering = pair[1];
	*ret = (struct lines_process){.id = 0, .socket = pair[0]};
	while (input_len > 0) {
		size_t len = (size_t)input[0] * LENGTH;

		if (len == 0)
			shutdown(answering, SHUT_RDWR);
		input++;
		input_len--;
		len = len < input_len ? len : input_len;
		if (len == 0 || send(answering, input, len, MSG_NOSIGNAL) < 0)
			break;
		input += len;
		input_len -= len;
	}
	return 0;
}

void lines_process_stop(struct lines_process *process)
{
	close(process->socket);
	close(answering);
	*process = (struct lines_process){.socket = -1};
	answering = -1;
}

static volatile size_t sink;

static void check(const struct dwarf_place *places, size_t n)
{
	if (n > DWARF_LINES_MAX_DEPTH)
		abort();
	for (size_t i = 0; i < n; i++) {
		if ((places[i].name && !places[i].name[0]) ||
		    (places[i].file && !places[i].file[0]))
			abort();
		sink += places[i].name ? strlen(places[i].name) : 0;
		sink += places[i].file ? strlen(places[i].file) : 0;
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const struct mapping mapping = {.path = "/lib/x.so"};
	const struct native_lines_file file = {.serial = 1, .pid = 1, .mapping = &mapping};
	struct native_lines *const lines = native_lines_new();
	struct dwarf_place places[DWARF_LINES_MAX_DEPTH];
	struct native_lines_stats stats;

	if (!lines)
		return 0;
	input = data;
	input_len = size;
	native_lines_wait(lines, 0);
	for (uint64_t i = 0; i < QUESTIONS; i++) {
		const uint64_t elf_addr = i % ADDRESSES;
		const size_t n = native_lines_find(lines, &file, elf_addr, places);

		check(places, n);
	}
	native_lines_stats(lines, &stats);
	if (stats.files > 1 || stats.answers > ADDRESSES)
		abort();
	native_lines_free(lines);
	return 0;
}
