// SPDX-License-Identifier: Apache-2.0
/*
 * Reads recordings line by line: a word that says what the line is, then more words. See
 * recording.h.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "recording.h"

#include "base/cleanup.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#define RANGES_MAX  64
#define METHODS_MAX 4096
#define ADDR_MASK   ((UINT64_C(1) << 48) - 1)

/* Far from the shadow memory of a sanitizer. */
#define MOVED_BY UINT64_C(0x100000000000)

struct range {
	uint64_t start, end;
	uint64_t file_off;
	bool is_mapped;
	int fd;
	char path[64]; /* path of the file that replaces the mapped one; "" if there is none */
};

struct recording {
	FILE *text;
	char *line;
	size_t line_size;
	bool is_behind; /* the line has been read, but not taken */
	struct process *process;
	struct range ranges[RANGES_MAX];
	size_t n_ranges;
	uint64_t moved_by;
	uint64_t const_method_bytes;
	struct recorded_method methods[METHODS_MAX];
	size_t n_methods;
};

/* ---- words ---- */

static bool next_line(struct recording *recording)
{
	if (recording->is_behind) {
		recording->is_behind = false;
		return true;
	}
	return getline(&recording->line, &recording->line_size, recording->text) > 0;
}

/* The text behind the word, or NULL if the line begins with another word. */
static char *after(const struct recording *recording, const char *word)
{
	const size_t len = strlen(word);

	if (strncmp(recording->line, word, len) != 0 || !strchr(" \n", recording->line[len]))
		return NULL;
	return recording->line + len;
}

static bool next_number(char **at, uint64_t *ret)
{
	char *end;

	*ret = strtoull(*at, &end, 16);
	if (end == *at)
		return false;
	*at = end;
	return true;
}

static uint64_t number(char **at)
{
	uint64_t value = 0;

	assert_true(next_number(at, &value));
	return value;
}

static void take_text(char **at, char *ret, size_t size)
{
	size_t len = strcspn(*at += strspn(*at, " "), "\n");

	assert_true(len < size);
	memcpy(ret, *at, len);
	ret[len] = '\0';
}

static size_t take_hex(const char *hex, uint8_t *ret, size_t size)
{
	size_t n = 0;

	hex += strspn(hex, " ");
	for (unsigned int byte; sscanf(hex, "%2x", &byte) == 1; hex += 2) {
		assert_true(n < size);
		ret[n++] = (uint8_t)byte;
	}
	return n;
}

/* ---- the process ---- */

uint64_t recording_addr(const struct recording *recording, uint64_t addr)
{
	const uint64_t plain = addr & ADDR_MASK;

	for (size_t i = 0; recording->moved_by && i < recording->n_ranges; i++) {
		if (plain >= recording->ranges[i].start && plain <= recording->ranges[i].end)
			return addr + recording->moved_by;
	}
	return addr;
}

static void add_mapping(struct recording *recording, const struct range *range)
{
	struct stat st = {0};
	struct mapping mapping = {.start = range->start + recording->moved_by,
				  .end = range->end + recording->moved_by,
				  .file_off = range->file_off,
				  .path = range->path};

	if (range->path[0]) {
		assert_int_equal(fstat(range->fd, &st), 0);
		mapping.inode = st.st_ino;
		mapping.dev_major = major(st.st_dev);
		mapping.dev_minor = minor(st.st_dev);
	}
	assert_int_equal(address_space_add(&recording->process->space, &mapping), 0);
}

static struct range *add_range(struct recording *recording, char **at)
{
	struct range *range = &recording->ranges[recording->n_ranges++];

	assert_true(recording->n_ranges <= RANGES_MAX);
	*range = (struct range){.start = number(at), .fd = -1};
	range->end = number(at);
	return range;
}

/* Reads a file that replaces the mapped file. */
static void read_file(struct recording *recording, char *at)
{
	struct range *range = add_range(recording, &at);
	uint8_t bytes[256];
	char *hex;

	range->file_off = number(&at);
	snprintf(range->path, sizeof(range->path), "/tmp/fgcollect-recorded.XXXXXX");
	range->fd = mkstemp(range->path);
	assert_true(range->fd >= 0);
	while ((recording->is_behind = next_line(recording)) && (hex = after(recording, "elf"))) {
		const size_t n = take_hex(hex, bytes, sizeof(bytes));

		recording->is_behind = false;
		assert_int_equal(write(range->fd, bytes, n), n);
	}
}

static bool map_range(struct range *range, uint64_t moved_by)
{
	void *wanted = (void *)(uintptr_t)(range->start + moved_by);
	const size_t len = range->end - range->start;

	range->is_mapped = mmap(wanted, len, PROT_READ | PROT_WRITE,
				MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE,
				-1, 0) == wanted;
	return range->is_mapped;
}

static void unmap_ranges(struct recording *recording)
{
	for (size_t i = 0; i < recording->n_ranges; i++) {
		struct range *range = &recording->ranges[i];

		if (range->is_mapped)
			munmap((void *)(uintptr_t)(range->start + recording->moved_by),
			       range->end - range->start);
		range->is_mapped = false;
	}
}

static bool map_ranges(struct recording *recording, uint64_t moved_by)
{
	recording->moved_by = moved_by;
	for (size_t i = 0; i < recording->n_ranges; i++) {
		struct range *range = &recording->ranges[i];

		if (!range->path[0] && !map_range(range, moved_by)) {
			unmap_ranges(recording);
			return false;
		}
	}
	return true;
}

static void read_mappings(struct recording *recording)
{
	char *at;

	while ((recording->is_behind = next_line(recording))) {
		recording->is_behind = false;
		if ((at = after(recording, "anon")))
			add_range(recording, &at);
		else if ((at = after(recording, "file")))
			read_file(recording, at);
		else if ((at = after(recording, "constmethod")))
			recording->const_method_bytes = strtoull(at, NULL, 10);
		else if (!after(recording, "title"))
			break;
	}
	recording->is_behind = true;
	assert_true(map_ranges(recording, 0) || map_ranges(recording, MOVED_BY));
	for (size_t i = 0; i < recording->n_ranges; i++)
		add_mapping(recording, &recording->ranges[i]);
}

static enum code_kind kind_of(const char *word)
{
	static const char *const kinds[] = {[CODE_STUB] = "stub",
					    [CODE_JAVA] = "java",
					    [CODE_OSR] = "osr",
					    [CODE_NATIVE_WRAPPER] = "native"};

	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		if (strcmp(word, kinds[i]) == 0)
			return (enum code_kind)i;
	}
	fail_msg("no such kind of code: %s", word);
	return CODE_STUB;
}

/* A method's class and name are one text, with a dot before the name. */
static void read_code(struct recording *recording, char *at)
{
	struct code_range range = {.birth_ns = 1};
	char word[16], name[512], *dot;
	int len = 0;

	range.addr = recording_addr(recording, number(&at));
	range.size = (uint32_t)number(&at);
	assert_int_equal(sscanf(at, "%15s %" SCNu32 " %" SCNu32 " %" SCNu32 "%n", word,
				&range.frame.size, &range.frame.complete, &range.frame.entry, &len),
			 4);
	at += len;
	range.kind = (uint8_t)kind_of(word);
	take_text(&at, name, sizeof(name));
	dot = range.kind == CODE_STUB ? NULL : strrchr(name, '.');
	if (dot)
		range.class_name = process_name(recording->process, name, (size_t)(dot - name));
	range.name = process_name(recording->process, dot ? dot + 1 : name,
				  strlen(dot ? dot + 1 : name));
	assert_int_equal(code_map_add(recording->process->code, &range, false), 1);
}

static void read_bytes(struct recording *recording, char *at)
{
	const uint64_t addr = recording_addr(recording, number(&at));
	uint8_t bytes[256];

	memcpy((void *)(uintptr_t)addr, bytes, take_hex(at, bytes, sizeof(bytes)));
}

static void read_method(struct recording *recording, char *at)
{
	struct recorded_method *method = &recording->methods[recording->n_methods++];

	assert_true(recording->n_methods <= METHODS_MAX);
	method->id = number(&at);
	method->method = number(&at);
	method->const_method = number(&at);
	take_text(&at, method->name, sizeof(method->name));
}

static void read_head(struct recording *recording)
{
	char *at;

	read_mappings(recording);
	while ((recording->is_behind = next_line(recording))) {
		recording->is_behind = false;
		if ((at = after(recording, "code")))
			read_code(recording, at);
		else if ((at = after(recording, "bytes")))
			read_bytes(recording, at);
		else if ((at = after(recording, "method")))
			read_method(recording, at);
		else
			break;
	}
	recording->is_behind = true;
}

struct recording *recording_open(const char *path, struct process *process)
{
	struct recording *recording = calloc(1, sizeof(*recording));

	assert_non_null(recording);
	recording->process = process;
	recording->text = fopen(path, "re");
	if (!recording->text)
		fail_msg("cannot open %s", path);
	read_head(recording);
	return recording;
}

void recording_close(struct recording *recording)
{
	if (!recording)
		return;
	unmap_ranges(recording);
	for (size_t i = 0; i < recording->n_ranges; i++) {
		if (recording->ranges[i].fd < 0)
			continue;
		close(recording->ranges[i].fd);
		unlink(recording->ranges[i].path);
	}
	fclose(recording->text);
	free(recording->line);
	free(recording);
}

/* ---- samples ---- */

static const struct recorded_method *find_by_id(const struct recording *recording, uint64_t id)
{
	for (size_t i = 0; i < recording->n_methods; i++) {
		if (recording->methods[i].id == id)
			return &recording->methods[i];
	}
	return NULL;
}

const struct recorded_method *recording_find_method(const struct recording *recording,
						    uint64_t method)
{
	for (size_t i = 0; i < recording->n_methods; i++) {
		if (method && recording->methods[i].method == method)
			return &recording->methods[i];
	}
	return NULL;
}

uint64_t recording_const_method_bytes(const struct recording *recording)
{
	return recording->const_method_bytes;
}

/* Reads the stack's words. N*word is N times the word. */
static void take_stack(const struct recording *recording, char *at, struct recorded_sample *ret)
{
	uint64_t word;
	char *count_end;

	for (;;) {
		uint64_t count = strtoull(at, &count_end, 10);

		if (*count_end == '*')
			at = count_end + 1;
		else
			count = 1;
		if (!next_number(&at, &word))
			return;
		for (; count > 0; count--) {
			assert_true(ret->n_words < RECORDING_WORDS);
			ret->stack[ret->n_words++] = recording_addr(recording, word);
		}
	}
}

static void take_java(const struct recording *recording, char *at, struct recorded_sample *ret)
{
	uint64_t id;

	while (next_number(&at, &id)) {
		assert_true(ret->n_java < RECORDING_FRAMES && *at == '@');
		ret->java[ret->n_java].method = find_by_id(recording, id);
		ret->java[ret->n_java].bci = strtoll(at + 1, &at, 10);
		ret->n_java++;
	}
}

static void take_line(struct recording *recording, struct recorded_sample *ret)
{
	uint64_t addr;
	char *at;

	if ((at = after(recording, "stack"))) {
		take_stack(recording, at, ret);
	} else if ((at = after(recording, "java"))) {
		take_java(recording, at, ret);
	} else if ((at = after(recording, "regs"))) {
		for (size_t i = 0; i < RECORDING_REGS; i++)
			ret->regs[i] = recording_addr(recording, number(&at));
	} else if ((at = after(recording, "native"))) {
		while (next_number(&at, &addr) && ret->n_native < RECORDING_FRAMES)
			ret->native[ret->n_native++] = recording_addr(recording, addr);
	} else {
		fail_msg("no such line: %s", recording->line);
	}
}

bool recording_next(struct recording *recording, struct recorded_sample *ret)
{
	char *at;

	if (!next_line(recording))
		return false;
	at = after(recording, "sample");
	assert_non_null(at);
	*ret = (struct recorded_sample){0};
	take_text(&at, ret->place, sizeof(ret->place));
	while (next_line(recording)) {
		if (after(recording, "sample")) {
			recording->is_behind = true;
			break;
		}
		take_line(recording, ret);
	}
	return true;
}
