// SPDX-License-Identifier: Apache-2.0
/*
 * Lines and inlined functions of what the host's compiler makes, beside what addr2line says of the
 * same addresses; and the processes that read them for the collector.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../files/mapped_file.h"
#include "symbolize/native_lines.h"
#include "symbolize/parsers.h"
#include "fixture.h"

static const char source[] =
	"static inline __attribute__((always_inline)) int deep(int *p, int x)\n"
	"{\n"
	"	for (int i = 0; i < x; i++)\n"
	"		p[i] = p[x - i] / 3;\n"
	"	return p[x];\n"
	"}\n"
	"static inline __attribute__((always_inline)) int middle(int *p, int x)\n"
	"{\n"
	"	return deep(p, x) + deep(p + 1, 2 * x);\n"
	"}\n"
	"int outer(int *p, int x)\n"
	"{\n"
	"	int y = middle(p, x);\n"
	"	return y * x + p[y];\n"
	"}\n"
	"int other(int *p)\n"
	"{\n"
	"	return outer(p, 4) + deep(p, 9);\n"
	"}\n";

static const char cxx_source[] =
	"namespace space {\n"
	"template <class T> struct Box {\n"
	"	T *items;\n"
	"	inline __attribute__((always_inline)) T get(int i) { return items[i] * 7; }\n"
	"	__attribute__((noinline)) T sum(int n) {\n"
	"		T t = 0;\n"
	"		for (int i = 0; i < n; i++)\n"
	"			t += get(i);\n"
	"		return t;\n"
	"	}\n"
	"};\n"
	"}\n"
	"int both(space::Box<int> &a, space::Box<double> &b) { return a.sum(3) + b.sum(4); }\n";

/* "name file:line;" for each place, with the linker's names. */
static void write_places(const struct dwarf_place *places, size_t n, char *buf, size_t size)
{
	buf[0] = '\0';
	for (size_t i = 0; i < n; i++)
		snprintf(buf + strlen(buf), size - strlen(buf), "%s %s:%u;",
			 places[i].name ? places[i].name : "??",
			 places[i].file ? places[i].file : "??", (unsigned)places[i].line);
}

/* What addr2line -i says of one address, in the same form; it writes two lines a place. */
static void read_places(FILE *pipe, char *buf, size_t size)
{
	char name[512], line[512];
	int c;

	buf[0] = '\0';
	while ((c = fgetc(pipe)) != EOF && c != '0') {
		char *at, *colon;

		ungetc(c, pipe);
		if (!fgets(name, sizeof(name), pipe) || !fgets(line, sizeof(line), pipe))
			break;
		name[strcspn(name, "\n")] = '\0';
		line[strcspn(line, " \n")] = '\0';
		at = strrchr(line, '/') ? strrchr(line, '/') + 1 : line;
		colon = strrchr(at, ':');
		if (colon && strcmp(colon, ":?") == 0)
			snprintf(colon, 3, ":0");
		snprintf(buf + strlen(buf), size - strlen(buf), "%s %s;", name, at);
	}
	if (c == '0')
		assert_non_null(fgets(line, sizeof(line), pipe)); /* the next address */
}

/* Of every address of the functions; returns how many had something inlined. */
static unsigned compare(const char *path)
{
	char *command, ours[4096], theirs[4096], first[64];
	struct dwarf_place places[DWARF_LINES_MAX_DEPTH];
	const int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct elf_symbols *symbols;
	struct dwarf_lines *lines;
	unsigned inlined = 0;
	uint64_t offset;
	FILE *pipe;

	assert_int_equal(fixture_load(path, &symbols), 0);
	assert_int_equal(dwarf_lines_open(fd, -1, &lines), 0);
	assert_true(asprintf(&command,
			     "for a in $(seq 4096 8191); do printf '%%x\\n' $a; done |"
			     "addr2line -a -i -f -e %s",
			     path) > 0);
	pipe = popen(command, "r"); /* NOLINT: the test's own text */
	assert_non_null(pipe);
	assert_non_null(fgets(first, sizeof(first), pipe));
	for (uint64_t addr = 4096; addr < 8192; addr++) {
		size_t n;

		read_places(pipe, theirs, sizeof(theirs));
		if (!elf_symbols_find(symbols, addr, &offset) ||
		    strstr(elf_symbols_find(symbols, addr, &offset), "@plt"))
			continue;
		n = dwarf_lines_find(lines, addr, places);
		write_places(places, n, ours, sizeof(ours));
		assert_string_equal(ours, theirs);
		inlined += n > 1;
	}
	pclose(pipe);
	free(command);
	dwarf_lines_close(lines);
	elf_symbols_free(symbols);
	close(fd);
	return inlined;
}

static void lines_are_those_that_addr2line_says(void **state)
{
	static const char *const options[] = {"-g -O2 -gdwarf-5", "-g -O2 -gdwarf-4", "-g -O2 -gz"};

	for (size_t i = 0; i < sizeof(options) / sizeof(options[0]); i++) {
		char *path = fixture_new_library("c", source, options[i]);

		assert_true(compare(path) > 50);
		free(path);
		path = fixture_new_library("c++", cxx_source, options[i]);
		assert_true(compare(path) > 10);
		free(path);
	}
}

static void a_file_without_dwarf_is_enoent(void **state)
{
	char *path = fixture_new_library("c", source, "");
	const int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct dwarf_lines *lines;

	assert_int_equal(dwarf_lines_open(fd, -1, &lines), -ENOENT);
	close(fd);
	free(path);
}

/* The first address of outer that has so many places, asked for until the answer has come. */
static size_t ask_until_there(struct native_lines *lines, const struct native_lines_file *file,
			      uint64_t elf_addr, struct dwarf_place *places)
{
	size_t n = 0;

	for (int i = 0; n == 0 && i < 500; i++) {
		n = native_lines_find(lines, file, elf_addr, places);
		usleep(n ? 0 : 10000);
	}
	return n;
}

static uint64_t address_of(const char *path, const char *name)
{
	struct elf_symbols *symbols;
	uint64_t offset, addr = 0;

	assert_int_equal(fixture_load(path, &symbols), 0);
	for (uint64_t at = 4096; !addr && at < 8192; at++) {
		const char *found = elf_symbols_find(symbols, at, &offset);

		if (found && strcmp(found, name) == 0)
			addr = at;
	}
	elf_symbols_free(symbols);
	assert_true(addr > 0);
	return addr;
}

static void a_process_answers_as_the_reader_does(void **state)
{
	struct dwarf_place places[DWARF_LINES_MAX_DEPTH], direct[DWARF_LINES_MAX_DEPTH];
	char *path = fixture_new_library("c", source, "-g -O2"), ours[4096], theirs[4096];
	const struct mapping mapping = mapping_made_up(path, 0x1000);
	const struct native_lines_file file = {.serial = 7, .pid = getpid(), .mapping = &mapping};
	const uint64_t start = address_of(path, "outer");
	struct native_lines *lines = native_lines_new();
	const int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct native_lines_stats stats;
	struct dwarf_lines *reader;

	assert_int_equal(dwarf_lines_open(fd, -1, &reader), 0);
	for (uint64_t addr = start; addr < start + 32; addr++) {
		write_places(places, ask_until_there(lines, &file, addr, places), ours,
			     sizeof(ours));
		write_places(direct, dwarf_lines_find(reader, addr, direct), theirs,
			     sizeof(theirs));
		assert_string_equal(ours, theirs);
		assert_non_null(strstr(ours, "outer"));
	}
	native_lines_stats(lines, &stats);
	assert_int_equal(stats.files, 1);
	assert_int_equal(stats.answers, 32);
	assert_int_equal(stats.failed, 0);
	dwarf_lines_close(reader);
	native_lines_free(lines);
	close(fd);
	free(path);
}

static void a_file_without_dwarf_costs_its_lines_alone(void **state)
{
	struct dwarf_place places[DWARF_LINES_MAX_DEPTH];
	char *path = fixture_new_library("c", source, "");
	const struct mapping mapping = mapping_made_up(path, 0x1000);
	const struct native_lines_file file = {.serial = 8, .pid = getpid(), .mapping = &mapping};
	struct native_lines *lines = native_lines_new();
	struct native_lines_stats stats;

	for (int i = 0; i < 200; i++) {
		assert_int_equal(native_lines_find(lines, &file, 4096, places), 0);
		native_lines_stats(lines, &stats);
		if (stats.failed)
			break;
		usleep(10000);
	}
	assert_int_equal(stats.failed, 1);
	assert_int_equal(stats.files, 0);
	assert_int_equal(native_lines_find(lines, &file, 4096, places), 0);
	native_lines_free(lines);
	free(path);
}

/* Whatever becomes of the process, the asker goes on. */
static void broken_dwarf_costs_its_lines_alone(void **state)
{
	char *path =
		fixture_new_library("c++", cxx_source, "-g -O2 -fno-eliminate-unused-debug-types");
	struct fixture_bytes bytes = fixture_read(path);
	struct native_lines *lines = native_lines_new();
	struct dwarf_place places[DWARF_LINES_MAX_DEPTH];
	const uint64_t addr = address_of(path, "both");
	const size_t from = bytes.len / 3; /* behind headers and code */
	struct native_lines_stats stats;

	srand(7);
	for (uint64_t serial = 1; serial <= 40; serial++) {
		char *copy = fixture_new_path("broken.so");
		FILE *out = fopen(copy, "w");
		struct mapping mapping;

		assert_non_null(out);
		for (int i = 0; i < 60; i++)
			bytes.data[from + (size_t)rand() % (bytes.len * 5 / 6 - from)] =
				(unsigned char)rand();
		assert_int_equal(fwrite(bytes.data, 1, bytes.len, out), bytes.len);
		fclose(out);
		mapping = mapping_made_up(copy, 0x1000);
		for (uint64_t at = addr; at < addr + 40; at += 3) {
			const struct native_lines_file file = {
				.serial = serial, .pid = getpid(), .mapping = &mapping};

			native_lines_find(lines, &file, at, places);
		}
		unlink(copy);
		free(copy);
	}
	native_lines_stats(lines, &stats);
	print_message("%u answers, %u late, %u files failed\n", (unsigned)stats.answers,
		      (unsigned)stats.late, (unsigned)stats.failed);
	native_lines_free(lines);
	free(bytes.data);
	free(path);
}

static void more_files_than_processes_take_turns(void **state)
{
	struct dwarf_place places[DWARF_LINES_MAX_DEPTH];
	char *path = fixture_new_library("c", source, "-g -O2");
	const struct mapping mapping = mapping_made_up(path, 0x1000);
	const uint64_t addr = address_of(path, "outer");
	struct native_lines *lines = native_lines_new();
	struct native_lines_stats stats;

	for (uint64_t serial = 1; serial <= NATIVE_LINES_MAX_FILES + 4; serial++) {
		const struct native_lines_file file = {
			.serial = serial, .pid = getpid(), .mapping = &mapping};

		assert_true(ask_until_there(lines, &file, addr, places) > 0);
	}
	native_lines_stats(lines, &stats);
	assert_int_equal(stats.files, NATIVE_LINES_MAX_FILES);
	native_lines_free(lines);
	free(path);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(lines_are_those_that_addr2line_says),
		cmocka_unit_test(a_file_without_dwarf_is_enoent),
		cmocka_unit_test(a_process_answers_as_the_reader_does),
		cmocka_unit_test(a_file_without_dwarf_costs_its_lines_alone),
		cmocka_unit_test(broken_dwarf_costs_its_lines_alone),
		cmocka_unit_test(more_files_than_processes_take_turns),
	};

	zygote_become(argc, argv, parser_roles);
	if (!fixture_has_compiler())
		return FIXTURE_NO_COMPILER;
	if (zygote_start() < 0)
		return 1;
	return cmocka_run_group_tests(tests, NULL, fixture_remove_all);
}
