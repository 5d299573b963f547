// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   a parser that reads one file's DWARF, and the collector's end of the socket to it
 * units:   elf_addr
 * threads: the model's; a thread opens the file, and its debug files, for each process
 * errors:  negative errno
 * source:  unix(7) SOCK_SEQPACKET, confine/zygote.h
 *
 * A question is 8 bytes: an elf_addr in the host's byte order. An answer begins with the elf_addr
 * of its question; then follow, for each place, u32 line, name, NUL, file, NUL. Answers come in the
 * order of the questions.
 */
#ifndef FG_SYMBOLIZE_LINES_PROCESS_H
#define FG_SYMBOLIZE_LINES_PROCESS_H

#include "memory/address_space.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#define LINES_PROCESS_MAX_ANSWER  (56u << 10)
#define LINES_PROCESS_MAX_WAITING 32 /* threads that open files */

struct lines_process {
	uint64_t id;
	int socket; /* non-blocking */
};

/* The parser, a parser_fn. */
void lines_process_parse(int sock);

/*
 * Starts a process for the file behind a mapping of process pid. sees_root: debug files in the root
 * directory of pid are read too.
 */
int lines_process_start(pid_t pid, const struct mapping *mapping, bool sees_root,
			struct lines_process *ret);
/* Kills the process. */
void lines_process_stop(struct lines_process *process);

#endif
