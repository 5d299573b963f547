// SPDX-License-Identifier: Apache-2.0
/* Asks the parsers that read DWARF, and keeps their answers; see native_lines.h. */
#include "symbolize/native_lines.h"

#include "base/arena.h"
#include "base/clock.h"
#include "base/map64.h"
#include "symbolize/lines_process.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#define WAIT_BUDGET_NS	  (400 * UINT64_C(1000000)) /* for all answers of one file */
#define MAX_ANSWERS	  (64u << 10)		    /* for one file; beyond it all are forgotten */
#define MAX_ANSWERS_BYTES (16u << 20)
#define MAX_PENDING	  64 /* questions without an answer; beyond this none is asked */

struct lines_file {
	uint64_t serial, last_use;
	struct lines_process process; /* socket is -1: there is no process any more */
	uint64_t waited_ns;
	struct map64 answers; /* elf_addr -> struct answer, also of a question without an answer */
	struct arena arena;
	unsigned pending;
};

struct answer {
	size_t len; /* of bytes */
	bool is_there;
	const char *bytes; /* as in lines_process.h, without the address */
};

struct native_lines {
	struct lines_file files[NATIVE_LINES_MAX_FILES];
	size_t count;
	uint64_t now; /* rises with every use */
	uint64_t wait_ns;
	size_t max_bytes; /* of all answers */
	struct native_lines_stats stats;
};

struct native_lines *native_lines_new(void)
{
	struct native_lines *const lines = calloc(1, sizeof(*lines));

	if (!lines)
		return NULL;
	lines->wait_ns = WAIT_BUDGET_NS;
	lines->max_bytes = SIZE_MAX;
	return lines;
}

void native_lines_limit(struct native_lines *lines, size_t bytes)
{
	lines->max_bytes = bytes;
}

void native_lines_wait(struct native_lines *lines, uint64_t wait_ns)
{
	lines->wait_ns = wait_ns;
}

static void forget_answers(struct lines_file *file)
{
	map64_fini(&file->answers);
	arena_fini(&file->arena);
}

static void close_file(struct lines_file *file)
{
	if (file->process.socket >= 0)
		lines_process_stop(&file->process);
	forget_answers(file);
}

void native_lines_free(struct native_lines *lines)
{
	if (!lines)
		return;
	for (size_t i = 0; i < lines->count; i++)
		close_file(&lines->files[i]);
	free(lines);
}

static void lose(struct native_lines *lines, struct lines_file *file)
{
	lines_process_stop(&file->process);
	file->pending = 0;
	lines->stats.failed++;
}

static struct lines_file *open_file(struct native_lines *lines,
				    const struct native_lines_file *wanted)
{
	struct lines_file *file = &lines->files[0];
	int err;

	if (lines->count < NATIVE_LINES_MAX_FILES) {
		file = &lines->files[lines->count++];
	} else {
		for (size_t i = 1; i < lines->count; i++) {
			if (lines->files[i].last_use < file->last_use)
				file = &lines->files[i];
		}
		close_file(file);
	}
	*file = (struct lines_file){.serial = wanted->serial};
	err = lines_process_start(wanted->pid, wanted->mapping, wanted->sees_root, &file->process);
	if (err) {
		file->process.socket = -1;
		lines->stats.failed++;
	}
	return file;
}

static struct lines_file *find_file(struct native_lines *lines,
				    const struct native_lines_file *wanted)
{
	for (size_t i = 0; i < lines->count; i++) {
		if (lines->files[i].serial == wanted->serial)
			return &lines->files[i];
	}
	return open_file(lines, wanted);
}

/* An answer whose question was forgotten meanwhile is dropped. */
static void keep_answer(struct native_lines *lines, struct lines_file *file, const char *bytes,
			size_t len)
{
	struct answer *answer;
	uint64_t elf_addr;

	memcpy(&elf_addr, bytes, sizeof(elf_addr));
	answer = map64_find(&file->answers, elf_addr);
	if (!answer || answer->is_there)
		return;
	len -= sizeof(elf_addr);
	answer->bytes = arena_copy(&file->arena, bytes + sizeof(elf_addr), len);
	answer->len = answer->bytes ? len : 0;
	answer->is_there = true;
	lines->stats.answers++;
}

/* Returns whether an answer was there. The process may be gone afterwards. */
static bool take_answer(struct native_lines *lines, struct lines_file *file)
{
	static char bytes[LINES_PROCESS_MAX_ANSWER]; /* used by the model's thread only */
	const ssize_t n = recv(file->process.socket, bytes, sizeof(bytes), MSG_DONTWAIT);

	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return false;
	/* A process that says more than it was asked has been taken over, and might never end. */
	if (n < (ssize_t)sizeof(uint64_t) || file->pending == 0) {
		lose(lines, file);
		return false;
	}
	file->pending--;
	keep_answer(lines, file, bytes, (size_t)n);
	return true;
}

static size_t answer_bytes(const struct lines_file *file)
{
	return file->arena.total_bytes + map64_bytes(&file->answers);
}

static size_t all_bytes(const struct native_lines *lines)
{
	size_t bytes = 0;

	for (size_t i = 0; i < lines->count; i++)
		bytes += answer_bytes(&lines->files[i]);
	return bytes;
}

/* The file with the most answers makes room. */
static void make_room(struct native_lines *lines)
{
	while (all_bytes(lines) > lines->max_bytes) {
		struct lines_file *most = &lines->files[0];

		for (size_t i = 1; i < lines->count; i++) {
			if (answer_bytes(&lines->files[i]) > answer_bytes(most))
				most = &lines->files[i];
		}
		forget_answers(most);
		lines->stats.forgotten++;
	}
}

static struct answer *ask(struct native_lines *lines, struct lines_file *file, uint64_t elf_addr)
{
	struct answer *answer;

	if (file->answers.count >= MAX_ANSWERS || file->arena.total_bytes >= MAX_ANSWERS_BYTES) {
		forget_answers(file);
		lines->stats.forgotten++;
	}
	make_room(lines);
	if (file->pending >= MAX_PENDING)
		return NULL;
	answer = arena_alloc(&file->arena, sizeof(*answer));
	if (!answer)
		return NULL;
	*answer = (struct answer){0};
	if (map64_put(&file->answers, elf_addr, answer) < 0)
		return NULL;
	if (send(file->process.socket, &elf_addr, sizeof(elf_addr), MSG_NOSIGNAL | MSG_DONTWAIT) <
	    0) {
		map64_remove(&file->answers, elf_addr);
		if (errno != EAGAIN)
			lose(lines, file);
		return NULL;
	}
	file->pending++;
	return answer;
}

static void wait_for(struct native_lines *lines, struct lines_file *file,
		     const struct answer *answer)
{
	while (!answer->is_there && file->process.socket >= 0) {
		struct pollfd poll_fd = {.fd = file->process.socket, .events = POLLIN};
		const uint64_t start_ns = clock_now_ns();

		if (take_answer(lines, file) || file->process.socket < 0)
			continue;
		if (file->waited_ns >= lines->wait_ns)
			return;
		poll(&poll_fd, 1, (int)((lines->wait_ns - file->waited_ns) / 1000000) + 1);
		file->waited_ns += clock_now_ns() - start_ns;
	}
}

/* Reads an answer with care: the process that gave the answer has read a hostile file. */
static size_t read_answer(const struct answer *answer, struct dwarf_place *ret)
{
	const char *at = answer->bytes, *end = at + answer->len;
	size_t n = 0;

	while (n < DWARF_LINES_MAX_DEPTH && (size_t)(end - at) > sizeof(uint32_t)) {
		const char *name = at + sizeof(uint32_t), *name_end, *file_end;

		name_end = memchr(name, '\0', (size_t)(end - name));
		file_end =
			name_end ? memchr(name_end + 1, '\0', (size_t)(end - name_end - 1)) : NULL;
		if (!file_end)
			break;
		memcpy(&ret[n].line, at, sizeof(uint32_t));
		ret[n].name = name[0] ? name : NULL;
		ret[n].file = name_end[1] ? name_end + 1 : NULL;
		n++;
		at = file_end + 1;
	}
	return n;
}

size_t native_lines_find(struct native_lines *lines, const struct native_lines_file *wanted,
			 uint64_t elf_addr, struct dwarf_place *ret)
{
	struct lines_file *file = find_file(lines, wanted);
	struct answer *answer = map64_find(&file->answers, elf_addr);

	file->last_use = ++lines->now;
	if (!answer && file->process.socket >= 0)
		answer = ask(lines, file, elf_addr);
	if (answer && !answer->is_there)
		wait_for(lines, file, answer);
	if (answer && answer->is_there)
		return answer->len > 0 ? read_answer(answer, ret) : 0;
	if (file->process.socket >= 0)
		lines->stats.late++;
	return 0;
}

void native_lines_stats(const struct native_lines *lines, struct native_lines_stats *ret)
{
	*ret = lines->stats;
	ret->files = 0;
	ret->bytes = all_bytes(lines);
	for (size_t i = 0; i < lines->count; i++)
		ret->files += lines->files[i].process.socket >= 0;
}

static const struct counter counters[] = {
	COUNTER_GAUGE(struct native_lines_stats, files, "native_lines.files", "native_lines_files",
		      "Files whose DWARF is being read."),
	COUNTER_SUM(struct native_lines_stats, answers, "native_lines.answers",
		    "native_lines_answers_total", "Answers from DWARF."),
	COUNTER_SUM(struct native_lines_stats, late, "native_lines.late", "native_lines_late_total",
		    "Answers from DWARF that came too late."),
	COUNTER_SUM(struct native_lines_stats, failed, "native_lines.failed",
		    "native_lines_failures_total", "Questions to DWARF that failed."),
	COUNTER_SUM(struct native_lines_stats, forgotten, "native_lines.forgotten",
		    "native_lines_forgotten_total",
		    "Times that a file's answers from DWARF were forgotten because they were too "
		    "many."),
};

const struct counters native_lines_counters = COUNTERS(struct native_lines_stats, counters);
