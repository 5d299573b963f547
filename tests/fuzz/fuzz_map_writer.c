// SPDX-License-Identifier: Apache-2.0
/*
 * A perf map that is kept up to date by adding and blanking lines. The input is a sequence of what
 * happens to a process's code, to the clock and to the files: three bytes each. Whenever the map
 * appears, its lines are those of a map that is made at once, which no line of it overlaps; and
 * when all is over, nothing but the map is left in the directory.
 */
#include "fuzzer.h"

#include "base/file.h"
#include "code/inline_table.h"
#include "maps/map_writer.h"

#include <dirent.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define PID	  424242
#define FRESH_PID 424243 /* of the map that is made at once */
#define MS	  UINT64_C(1000000)
#define BASE	  UINT64_C(0x100000)
#define MAX_TEXT  (16u << 20)
#define MAX_LINES 4096
#define MAX_STEPS 400
#define METHODS	  3

static const char class_name[] = "a/B"; /* equal names are equal pointers */
static const char *const names[] = {"a",	  "Interpreter", "of_even_length", "of_odd_length",
				    "with space", "\xff\xfe",	 "line\nbreak",	   ""};

static char dir[] = "/tmp/fuzz-map.XXXXXX", path[sizeof(dir) + 32], fresh_path[sizeof(dir) + 32],
	    beside_path[sizeof(dir) + 48]; /* where another program's file has the name */

struct fuzzed {
	struct code_map *code;
	struct map_writer writer;
	struct code_methods store;
	uint64_t now_ns;
	int reader_fd; /* of somebody who has the map open; -1: nobody */
};

/* ---- code ---- */

/* A table of one or two regions, in which other methods are inlined. */
static struct inline_table *make_inlines(struct fuzzed *f, uint32_t size, uint8_t choice)
{
	struct code_method *methods[METHODS] = {NULL};
	const struct wire_method said = {.n_lines = 0};
	uint8_t bytes[64];
	struct wire_buf buf = {.data = bytes, .size = sizeof(bytes)};
	struct wire_inline wire = {.n_methods = METHODS,
				   .n_regions = 1u + choice % 2,
				   .regions_left = 1u + choice % 2,
				   .has_regions = true};
	struct inline_table *table = NULL;
	bool is_whole = true;

	for (int i = 0; i < METHODS; i++) {
		const struct code_method method = {.class_name = class_name, .name = names[i + 2]};

		is_whole &= code_methods_add(&f->store, &method, &said, &methods[i]) == 0;
	}
	for (uint32_t i = 0; i < wire.n_regions; i++) {
		const struct wire_region region = {.size = size / 4 + 1, .depth = 2};

		wire_encode_inline_region(&buf, &region);
		wire_encode_inline_frame(
			&buf, &(struct wire_inline_frame){.method = (choice >> i) % METHODS});
		wire_encode_inline_frame(&buf, &(struct wire_inline_frame){.method = 0});
	}
	wire.data = bytes;
	wire.left = buf.len;
	if (is_whole && !buf.overflow)
		inline_table_new(&f->store, methods, &wire, size, &table);
	for (int i = 0; i < METHODS; i++) {
		if (methods[i])
			code_methods_unref(&f->store, methods[i]);
	}
	return table;
}

static void add(struct fuzzed *f, uint8_t at, uint8_t choice, bool is_resync)
{
	struct code_range range = {
		.addr = BASE + (uint64_t)at * 16,
		.size = 1u + (choice >> 2) % 64,
		.kind = choice & 2 ? CODE_JAVA : CODE_STUB,
		.birth_ns = f->now_ns,
		.name = names[choice >> 5],
	};

	if (choice & 2) {
		range.class_name = class_name;
		range.signature = "()V";
	}
	if ((choice & 3) == 3)
		range.inlines = make_inlines(f, range.size, at);
	if (code_map_add(f->code, &range, is_resync) == 1)
		map_writer_mark(&f->writer, f->code, code_map_find(f->code, range.addr, f->now_ns),
				f->now_ns);
}

/* ---- the files ---- */

struct line {
	uint64_t addr;
	uint64_t size;
	const char *text;
};

static int compare(const void *a, const void *b)
{
	const struct line *const x = a, *const y = b;

	return x->addr != y->addr ? (x->addr < y->addr ? -1 : 1) : strcmp(x->text, y->text);
}

/* The lines in order, without those that were taken out. */
static size_t read_lines(const char *from, char **ret_text, struct line lines[MAX_LINES])
{
	size_t n = 0;
	char *at;

	if (file_read_whole(from, MAX_TEXT, ret_text) < 0)
		abort();
	at = *ret_text;
	if (strncmp(at, "0 0 fg\n", 7) != 0 || at[strlen(at) - 1] != '\n')
		abort();
	for (char *line = strsep(&at, "\n"); line && *line; line = strsep(&at, "\n")) {
		struct line *const next = &lines[n];

		if (strspn(line, "0") > 1 || strcmp(line, "0 0 fg") == 0)
			continue;
		if (n == MAX_LINES ||
		    sscanf(line, "%" SCNx64 " %" SCNx64 " ", &next->addr, &next->size) != 2)
			abort();
		next->text = line;
		n++;
	}
	qsort(lines, n, sizeof(*lines), compare);
	for (size_t i = 1; i < n; i++) {
		if (lines[i - 1].addr + lines[i - 1].size > lines[i].addr)
			abort();
	}
	return n;
}

static void check_as_made_at_once(const struct fuzzed *f)
{
	static struct line lines[MAX_LINES], fresh[MAX_LINES];
	static struct perf_map_draft draft;
	const struct perf_map_form form = {.max_bytes = PERF_MAP_MAX_BYTES,
					   .style = f->writer.style};
	const char *const place = f->writer.is_beside ? beside_path : path;
	char *text, *fresh_text;
	struct stat st;
	size_t n;

	if (perf_map_draft(dir, FRESH_PID, f->code, &form, &draft) < 0 ||
	    perf_map_publish(&draft, f->code) != 0)
		abort();
	n = read_lines(place, &text, lines);
	if (read_lines(fresh_path, &fresh_text, fresh) != n)
		abort();
	for (size_t i = 0; i < n; i++) {
		if (strcmp(lines[i].text, fresh[i].text) != 0)
			abort();
	}
	if (stat(place, &st) < 0 || (uint64_t)st.st_size != f->writer.file_bytes ||
	    (st.st_mode & 07777) != 0644)
		abort();
	free(text);
	free(fresh_text);
	unlink(fresh_path);
}

static void step(struct fuzzed *f)
{
	const uint64_t due_ns = map_writer_due_ns(&f->writer);
	int appeared = 0;

	if (due_ns && f->now_ns >= due_ns)
		appeared = map_writer_step(&f->writer, dir, PID, f->code, f->now_ns);
	if (appeared < 0)
		abort();
	if (appeared > 0)
		check_as_made_at_once(f);
}

/* Somebody has the map open, writes to it, changes its rights, removes it or puts another there. */
static void meddle(struct fuzzed *f, uint8_t choice)
{
	const int fd = open(path, O_RDWR | O_CLOEXEC);

	switch (choice % 6) {
	case 0:
		if (f->reader_fd < 0)
			f->reader_fd = open(path, O_RDONLY | O_CLOEXEC);
		break;
	case 1:
		if (f->reader_fd >= 0)
			close(f->reader_fd);
		f->reader_fd = -1;
		break;
	case 2:
		if (fd >= 0 && ftruncate(fd, choice) < 0)
			abort();
		break;
	case 3:
		chmod(path, 0666);
		break;
	case 4:
		unlink(path);
		break;
	default:
		unlink(path);
		symlink("/nowhere", path);
	}
	if (fd >= 0)
		close(fd);
}

/* ---- a sequence ---- */

static void run(struct fuzzed *f, const uint8_t three[3])
{
	const uint8_t at = three[1], choice = three[2];

	switch (three[0] % 16) {
	default:
		add(f, at, choice, false);
		return;
	case 1:
		add(f, at, choice, true);
		return;
	case 2:
	case 3:
		if (code_map_remove(f->code, BASE + (uint64_t)at * 16, f->now_ns) > 0)
			map_writer_mark(&f->writer, f->code, NULL, f->now_ns);
		return;
	case 4:
		code_map_resync_begin(f->code, f->now_ns);
		return;
	case 5:
		if (code_map_resync_end(f->code, choice & 1) > 0)
			map_writer_mark(&f->writer, f->code, NULL, f->now_ns);
		return;
	case 6:
		code_map_expire(f->code, f->now_ns, choice % 8);
		return;
	case 7:
	case 8:
	case 9:
		f->now_ns += (uint64_t)choice * 5 * MS;
		step(f);
		return;
	case 10:
		f->now_ns += 2000 * MS; /* the spare file goes */
		step(f);
		return;
	case 11:
		meddle(f, choice);
		return;
	case 12:
		map_writer_restart(&f->writer, f->now_ns);
		return;
	}
}

/* Until the map is there and the spare file is gone. */
static void settle(struct fuzzed *f)
{
	for (int i = 0; i < 4; i++) {
		f->now_ns += 20000 * MS;
		step(f);
	}
	if (f->writer.changed_ns)
		abort();
}

static void check_nothing_left(void)
{
	DIR *const stream = opendir(dir);
	const struct dirent *entry;

	while (stream && (entry = readdir(stream))) {
		if (entry->d_name[0] != '.')
			abort();
	}
	closedir(stream);
}

static void set_up(void)
{
	if (!mkdtemp(dir))
		abort();
	snprintf(path, sizeof(path), "%s/perf-%d.map", dir, PID);
	snprintf(beside_path, sizeof(beside_path), "%s/perf-%d.map.fgcollect", dir, PID);
	snprintf(fresh_path, sizeof(fresh_path), "%s/perf-%d.map", dir, FRESH_PID);
}

static void tear_down(void)
{
	unlink(path);
	unlink(beside_path);
	rmdir(dir);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fuzzed f = {.now_ns = 1000 * MS, .reader_fd = -1};

	if (size == 0 || code_map_new(&f.code) < 0)
		return 0;
	if (!path[0]) {
		set_up();
		atexit(tear_down);
	}
	f.writer.style = (struct perf_map_style){.unfold = data[0] % 4,
						 .dotted = (data[0] & 4) != 0,
						 .signatures = (data[0] & 8) != 0,
						 .sourcepos = (data[0] & 16) != 0};
	for (size_t i = 1, n = 0; i + 3 <= size && n < MAX_STEPS; i += 3, n++)
		run(&f, data + i);
	settle(&f);
	map_writer_fini(&f.writer);
	code_map_free(f.code);
	code_methods_fini(&f.store);
	if (f.reader_fd >= 0)
		close(f.reader_fd);
	unlink(path); /* somebody else's, if it is there */
	unlink(beside_path);
	check_nothing_left();
	return 0;
}
