// SPDX-License-Identifier: Apache-2.0
/*
 * The parser that reads a file's DWARF and answers questions, and the thread that opens files for
 * this parser. See lines_process.h.
 */
#include "symbolize/lines_process.h"

#include "base/cleanup.h"
#include "base/root_file.h"
#include "base/thread.h"
#include "confine/parser.h"
#include "elf/debug_file.h"
#include "elf/elf_section.h"
#include "files/module_file.h"
#include "files/parser_file.h"
#include "symbolize/dwarf_lines.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define MAX_NAME_BYTES 512
#define MAX_FILE_BYTES 128

static bool has_dwarf(const struct elf_file *file)
{
	GElf_Shdr header;

	return elf_section_find(file, ".debug_info", &header) ||
	       elf_section_find(file, ".zdebug_info", &header);
}

/* Returns the descriptor of the file with the DWARF: fd, or a descriptor of its debug file. */
static int find_dwarf(int fd, const struct debug_place *place)
{
	struct elf_file file;
	bool is_targets;
	int ret = elf_file_open(fd, &file);

	if (ret < 0)
		return ret;
	ret = has_dwarf(&file) ? fd : debug_file_open(fd, &file, place, &is_targets);
	elf_file_close(&file);
	return ret;
}

static int find_shared(int fd, const struct debug_place *place)
{
	struct elf_file file;
	int ret = elf_file_open_debug(fd, &file);

	if (ret < 0)
		return ret;
	ret = debug_file_open_shared(&file, place);
	elf_file_close(&file);
	return ret;
}

static struct dwarf_lines *open_lines(int sock)
{
	struct dwarf_lines *lines = NULL;
	struct parser_file file;
	int fd, shared = -1;

	if (parser_file_receive(sock, &file) < 0)
		return NULL;
	fd = find_dwarf(file.fd, &file.place);
	if (fd >= 0)
		shared = find_shared(fd, &file.place);
	if (parser_file_done(&file, fd < 0 ? -ENOENT : 0) < 0 || fd < 0 ||
	    dwarf_lines_open(fd, shared, &lines) < 0)
		return NULL;
	return lines;
}

/* Copies text. A text that is too long is cut. */
static size_t put_text(char *to, const char *text, size_t max)
{
	const size_t len = text ? strnlen(text, max - 1) : 0;

	if (len > 0)
		memcpy(to, text, len);
	to[len] = '\0';
	return len + 1;
}

static int answer(struct dwarf_lines *lines, int sock, uint64_t elf_addr)
{
	static char bytes[LINES_PROCESS_MAX_ANSWER];
	struct dwarf_place places[DWARF_LINES_MAX_DEPTH];
	const size_t n = dwarf_lines_find(lines, elf_addr, places);
	size_t len = sizeof(elf_addr);

	memcpy(bytes, &elf_addr, sizeof(elf_addr));
	for (size_t i = 0; i < n; i++) {
		memcpy(bytes + len, &places[i].line, sizeof(places[i].line));
		len += sizeof(places[i].line);
		len += put_text(bytes + len, places[i].name, MAX_NAME_BYTES);
		len += put_text(bytes + len, places[i].file, MAX_FILE_BYTES);
	}
	return send(sock, bytes, len, MSG_NOSIGNAL) < 0 ? -errno : 0;
}

void lines_process_parse(int sock)
{
	struct dwarf_lines *lines;
	uint64_t elf_addr;
	int questions;
	char byte;

	if (parser_receive(sock, &byte, sizeof(byte), &questions) < 0 || questions < 0)
		return;
	lines = open_lines(sock);
	while (lines && recv(questions, &elf_addr, sizeof(elf_addr), 0) == sizeof(elf_addr)) {
		if (answer(lines, questions, elf_addr) < 0)
			return;
	}
}

/* ---- the collector ---- */

/* What a thread opens for a parser, so that a file system that does not answer holds up nobody. */
struct feed {
	struct parser parser;
	struct mapping mapping;
	pid_t pid;
	bool sees_root;
};

static atomic_uint feeding; /* threads */

static void free_feed(struct feed *feed)
{
	close(feed->parser.sock);
	free((char *)feed->mapping.path);
	free(feed);
}

static void *run_feed(void *arg)
{
	struct feed *const feed = arg;
	_cleanup_close_ int root = feed->sees_root ? root_file_open_root(feed->pid) : -1;
	_cleanup_close_ int path_fd = -1;
	const char *reason;
	struct stat st;
	const struct debug_place place = {.root = root, .path = feed->mapping.path, .self = &st};
	bool is_private;

	path_fd = module_file_open(feed->pid, &feed->mapping, &st, &reason);
	if (path_fd >= 0)
		(void)parser_file_send(feed->parser.sock, path_fd, &place, &is_private);
	free_feed(feed); /* without a file the parser ends */
	atomic_fetch_sub(&feeding, 1);
	return NULL;
}

static int start_thread(struct feed *feed)
{
	pthread_t thread;
	int err;

	if (atomic_fetch_add(&feeding, 1) >= LINES_PROCESS_MAX_WAITING) {
		atomic_fetch_sub(&feeding, 1);
		return -EAGAIN;
	}
	err = thread_start(&thread, run_feed, feed);
	if (err) {
		atomic_fetch_sub(&feeding, 1);
		return err;
	}
	pthread_detach(thread);
	return 0;
}

/* Starts a parser that has one end of a socket for questions. Returns the other end. */
static int start_parser(struct parser *ret)
{
	const char byte = 0;
	int sockets[2];
	int err = parser_start(PARSER_LINES, ret);

	if (err)
		return err;
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, sockets) < 0) {
		parser_stop(ret);
		return -EMFILE;
	}
	err = parser_send(ret->sock, &byte, sizeof(byte), sockets[1]);
	close(sockets[1]);
	if (!err)
		return sockets[0];
	close(sockets[0]);
	parser_stop(ret);
	return err;
}

int lines_process_start(pid_t pid, const struct mapping *mapping, bool sees_root,
			struct lines_process *ret)
{
	struct feed *const feed = calloc(1, sizeof(*feed));
	int sock, err;

	if (!feed)
		return -ENOMEM;
	*feed = (struct feed){.mapping = *mapping, .pid = pid, .sees_root = sees_root};
	feed->mapping.path = strdup(mapping->path);
	sock = feed->mapping.path ? start_parser(&feed->parser) : -ENOMEM;
	if (sock < 0) {
		free((char *)feed->mapping.path);
		free(feed);
		return sock;
	}
	*ret = (struct lines_process){.id = feed->parser.id, .socket = sock};
	err = start_thread(feed);
	if (err) {
		lines_process_stop(ret);
		free_feed(feed);
	}
	return err;
}

void lines_process_stop(struct lines_process *process)
{
	close(process->socket);
	zygote_kill_parser(process->id, false);
	*process = (struct lines_process){.socket = -1};
}
