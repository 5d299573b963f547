// SPDX-License-Identifier: Apache-2.0
/*
 * Writes <dir>/perf-<pid>.map, see perf_map.h. A line is "start size name", hexadecimal. perf skips
 * a line whose name has less than three bytes.
 *
 * The first line, "0 0 fg", marks the collector's own perf maps: perf skips it, and other readers
 * take it for empty code at address 0. An index file elsewhere could get lost or be out of step
 * with the directory, and not every kernel and file system that /tmp may be on has extended
 * attributes for users.
 */
#include "maps/perf_map.h"

#include "base/cleanup.h"
#include "base/file.h"
#include "base/guarded.h"
#include "guard/mount_namespace.h"
#include "base/process_stat.h"
#include "base/root_file.h"
#include "code/code_name.h"
#include "code/inline_table.h"
#include "foreign/map_marker.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char marker[] = MAP_MARKER;

#define MIN_BLANKED_BYTES (64u << 10) /* blanked bytes that a map may have besides half its size */

/* ---- text ---- */

/*
 * The longest line: two numbers, two spaces, a name and a newline. The buffer always has room for a
 * whole line.
 */
#define LINE_MAX_BYTES (16 + 1 + 8 + 1 + CODE_NAME_MAX_BYTES + 1)

static void out_flush(struct perf_map_draft *out)
{
	if (!out->err)
		out->err = file_write_all(out->fd, out->data, out->used);
	out->written += out->used;
	out->used = 0;
}

static void out_char(struct perf_map_draft *out, char c)
{
	out->data[out->used++] = c;
}

static void out_hex(struct perf_map_draft *out, uint64_t value)
{
	char digits[16];
	size_t n = 0;

	do {
		digits[n++] = "0123456789abcdef"[value & 15];
		value >>= 4;
	} while (value);
	while (n > 0)
		out_char(out, digits[--n]);
}

/*
 * Begins a line with the address range. False: there is no room. The caller writes the name and
 * ends the line.
 */
static bool begin_line(struct perf_map_draft *out, uint64_t addr, uint32_t size)
{
	const uint64_t behind = out->written + out->used + LINE_MAX_BYTES;

	if (behind > out->form.max_bytes)
		return false;
	if (behind > out->most_bytes) {
		out->lacked_room = true;
		return false;
	}
	if (sizeof(out->data) - out->used < LINE_MAX_BYTES)
		out_flush(out);
	out_hex(out, addr);
	out_char(out, ' ');
	out_hex(out, size);
	out_char(out, ' ');
	return true;
}

/* Adjacent regions with one name become one line. */
struct unfolding {
	struct perf_map_draft *out;
	uint64_t addr;
	uint32_t start, end; /* the region to write; equal: none */
	bool is_full;
	size_t len;
	char name[CODE_NAME_MAX_BYTES];
};

static void end_run(struct unfolding *unfolding)
{
	struct perf_map_draft *out = unfolding->out;
	const uint32_t size = unfolding->end - unfolding->start;

	if (size == 0 || unfolding->is_full)
		return;
	unfolding->is_full = !begin_line(out, unfolding->addr + unfolding->start, size);
	if (unfolding->is_full)
		return;
	memcpy(out->data + out->used, unfolding->name, unfolding->len);
	out->used += unfolding->len;
	out_char(out, '\n');
}

static void add_region(void *arg, uint32_t start, uint32_t end, const struct inline_frame *frames,
		       size_t n)
{
	struct unfolding *unfolding = arg;
	const bool is_placed = unfolding->out->form.style.sourcepos;
	struct code_name_method methods[WIRE_INLINE_MAX_DEPTH];
	char name[CODE_NAME_MAX_BYTES];
	size_t len;

	for (size_t i = 0; i < n; i++) {
		const struct code_method *method = frames[i].method;

		methods[i] = (struct code_name_method){
			.class_name = method->class_name,
			.name = method->name,
			.signature = method->signature,
			.source_file = method->source_file,
			.line = is_placed ? code_method_first_line(method) : 0,
		};
	}
	len = code_name_unfolded(&unfolding->out->form.style, methods, n, name);
	if (len != unfolding->len || memcmp(name, unfolding->name, len) != 0) {
		end_run(unfolding);
		unfolding->start = start;
		unfolding->len = len;
		memcpy(unfolding->name, name, len);
	}
	unfolding->end = end;
}

static bool write_regions(struct perf_map_draft *out, const struct code_range *range)
{
	struct unfolding unfolding = {.out = out, .addr = range->addr};
	const struct inline_frame root = {.method = inline_table_root(range->inlines)};

	inline_table_walk(range->inlines, add_region, &unfolding);
	if (unfolding.end < range->size)
		add_region(&unfolding, unfolding.end, range->size, &root, 1);
	end_run(&unfolding);
	return !unfolding.is_full;
}

/* Writes the lines of a range, in rising order and without overlap. Most ranges have one line. */
static bool write_range(struct perf_map_draft *out, const struct code_range *range)
{
	if (out->form.style.unfold != PERF_MAP_FOLDED && range->inlines)
		return write_regions(out, range);
	if (!begin_line(out, range->addr, range->size))
		return false;
	out->used += code_name_styled(&out->form.style, range, out->data + out->used);
	out_char(out, '\n');
	return true;
}

/* ---- lines that come and go ---- */

/* Blanks the lines in the file, or in the buffer that is still to be written. */
static void blank_lines(struct perf_map_draft *draft, struct perf_map_lines lines)
{
	if (lines.len == 0)
		return;
	if (lines.offset >= draft->written) {
		perf_map_pair_fill(draft->data + (lines.offset - draft->written), lines.len);
		return;
	}
	if (lines.offset + lines.len > draft->written)
		out_flush(draft);
	if (!draft->err)
		draft->err = perf_map_pair_blank(draft->fd, lines);
}

/*
 * Blanks the lines of ranges that the code map no longer lists. False: the code map does not
 * remember all of them.
 */
static bool blank_unlisted(struct perf_map_draft *draft, const struct code_map *map)
{
	struct code_span spans[CODE_MAP_MAX_UNLISTED];
	struct code_map_stats stats;
	ssize_t n;

	code_map_stats(map, &stats);
	if (!draft->form.pair || draft->unlisted == stats.unlisted)
		return draft->unlisted == stats.unlisted;
	n = code_map_unlisted(map, draft->unlisted, spans);
	for (ssize_t i = 0; i < n; i++)
		blank_lines(draft, perf_map_pair_forget(draft->form.pair, spans[i].addr));
	if (n >= 0)
		draft->unlisted = stats.unlisted;
	return n >= 0;
}

static void add_range(struct perf_map_draft *draft, const struct code_range *range)
{
	struct perf_map_lines lines = {.offset = (uint32_t)(draft->written + draft->used)};

	if (draft->cut > 0 || !write_range(draft, range))
		draft->cut++;
	lines.len = (uint32_t)(draft->written + draft->used) - lines.offset;
	if (draft->form.pair && lines.len > 0 && !draft->err)
		draft->err = perf_map_pair_note(draft->form.pair, range->addr, lines);
}

void perf_map_add(struct perf_map_draft *draft, const struct code_map *map,
		  const struct code_range *range)
{
	/*
	 * A draft that lost track of the code map is outdated; one that is not whole goes on to it.
	 */
	if (blank_unlisted(draft, map) && draft->is_whole)
		add_range(draft, range);
}

/* Writes some of the ranges that were added to the code map since those of the draft. */
static int write_ranges(struct perf_map_draft *draft, const struct code_map *map)
{
	_cleanup_free_ const struct code_range **ranges = NULL;
	const ssize_t count =
		code_map_list_some(map, draft->until, PERF_MAP_PIECE, &ranges, &draft->until);

	draft->is_whole = draft->until == code_map_mark(map);

	for (ssize_t i = 0; i < count && !draft->err; i++)
		add_range(draft, ranges[i]);
	out_flush(draft); /* so that little is left to write when the map appears */
	return count < 0 ? (int)count : draft->err;
}

/* ---- files ---- */

static int open_dir(const char *dir)
{
	const int fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	return fd < 0 ? -errno : fd;
}

/* Whether the next map can be made from the last map, by adding and blanking lines. */
static bool can_continue(const struct perf_map_draft *draft, const struct code_map *map)
{
	const struct perf_map_pair *pair = draft->form.pair;
	struct code_span spans[CODE_MAP_MAX_UNLISTED];

	return pair && pair->relisted == draft->relisted &&
	       (uint64_t)pair->shown.size <= draft->form.max_bytes &&
	       (uint64_t)pair->shown.size <= draft->most_bytes &&
	       pair->blanked <= MIN_BLANKED_BYTES + (uint64_t)pair->shown.size / 2 &&
	       code_map_unlisted(map, pair->unlisted, spans) >= 0;
}

/* Opens the draft's file, which is the last map or an empty file. */
static int begin_file(struct perf_map_draft *draft, const struct code_map *map, pid_t pid)
{
	struct perf_map_pair *pair = draft->form.pair;

	draft->is_anew = true;
	if (can_continue(draft, map)) {
		draft->fd = perf_map_pair_begin(pair, draft->dirfd, pid, &draft->temp);
		draft->is_anew = draft->fd < 0;
	} else if (pair) {
		perf_map_pair_reset(pair, draft->dirfd);
	}
	if (draft->is_anew)
		draft->fd = perf_map_pair_create(draft->dirfd, pid, &draft->temp);
	return draft->fd < 0 ? draft->fd : 0;
}

/* Writes all ranges, or the ranges that the last map lacks. */
static int write_draft(struct perf_map_draft *draft, const struct code_map *map)
{
	const struct perf_map_pair *pair = draft->form.pair;

	if (!draft->is_anew) {
		draft->written = (uint64_t)pair->shown.size;
		draft->unlisted = pair->unlisted;
		if (lseek(draft->fd, pair->shown.size, SEEK_SET) < 0)
			return -errno;
		draft->until = pair->mark;
		blank_unlisted(draft, map);
		return write_ranges(draft, map);
	}
	draft->used = sizeof(marker) - 1;
	memcpy(draft->data, marker, sizeof(marker) - 1);
	draft->until = 0;
	return write_ranges(draft, map);
}

int perf_map_draft(const char *dir, pid_t pid, const struct code_map *map,
		   const struct perf_map_form *form, struct perf_map_draft *ret)
{
	struct code_map_stats stats;
	int err;

	code_map_stats(map, &stats);
	ret->err = 0;
	ret->cut = ret->used = 0;
	ret->written = 0;
	ret->lacked_room = false;
	ret->most_bytes = form->most_bytes ? form->most_bytes : form->max_bytes;
	ret->unlisted = stats.unlisted;
	ret->relisted = stats.relisted;
	ret->form = *form;
	ret->pid = pid;
	ret->dirfd = open_dir(dir);
	if (ret->dirfd < 0)
		return ret->dirfd;
	err = begin_file(ret, map, pid);
	if (err) {
		close(ret->dirfd);
		return err;
	}
	err = write_draft(ret, map);
	if (err)
		perf_map_drop(ret);
	return err;
}

int perf_map_go_on(struct perf_map_draft *draft, const struct code_map *map)
{
	return blank_unlisted(draft, map) ? write_ranges(draft, map) : -ESTALE;
}

bool perf_map_is_outdated(const struct perf_map_draft *draft, const struct code_map *map)
{
	struct code_span spans[CODE_MAP_MAX_UNLISTED];
	struct code_map_stats stats;

	code_map_stats(map, &stats);
	return draft->relisted != stats.relisted ||
	       (draft->unlisted != stats.unlisted &&
		(!draft->form.pair || code_map_unlisted(map, draft->unlisted, spans) < 0));
}

/* Drops the draft. The pair knows only the draft's lines, so the pair is reset too. */
void perf_map_drop(struct perf_map_draft *draft)
{
	close(draft->fd);
	unlinkat(draft->dirfd, draft->temp.text, 0);
	if (draft->form.pair)
		perf_map_pair_reset(draft->form.pair, draft->dirfd);
	close(draft->dirfd);
}

/*
 * Closes a duplicate, because network file systems report a full disk only when a file is closed.
 */
static int finish_file(struct perf_map_draft *draft)
{
	int fd;

	out_flush(draft);
	if (!draft->err && draft->is_anew && fchmod(draft->fd, 0644) < 0)
		draft->err = -errno;
	fd = draft->err ? -1 : dup(draft->fd);
	if (!draft->err && (fd < 0 || close(fd) < 0))
		draft->err = -errno;
	return draft->err;
}

ssize_t perf_map_publish(struct perf_map_draft *draft, const struct code_map *map)
{
	struct perf_map_pair none = {0}, *pair = draft->form.pair ? draft->form.pair : &none;
	int err;

	blank_unlisted(draft, map);
	err = finish_file(draft);
	if (!err)
		err = perf_map_pair_publish(pair, draft->dirfd, draft->fd, &draft->temp,
					    draft->pid);
	if (err) {
		perf_map_drop(draft);
		return err;
	}
	pair->mark = code_map_mark(map);
	pair->unlisted = draft->unlisted;
	pair->relisted = draft->relisted;
	if (pair == &none || draft->cut > 0)
		perf_map_pair_reset(pair, draft->dirfd);
	close(draft->dirfd);
	return (ssize_t)draft->cut;
}

void perf_map_forget(const char *dir, struct perf_map_pair *pair, bool spare_only)
{
	_cleanup_close_ int dirfd = open_dir(dir);

	if (spare_only)
		perf_map_pair_drop_spare(pair, dirfd);
	else
		perf_map_pair_reset(pair, dirfd);
}

/* ---- shadows ---- */

#define ROUNDED_SEC 2 /* file systems round times, and starts are in clock ticks */

struct shadow_call {
	struct guarded_call base;
	pid_t pid, inner_pid;
	char beside_dir[PATH_MAX]; /* "": none */
	char path[PATH_MAX];
	int result;
};

static bool is_used(pid_t pid, int fd)
{
	struct stat st;

	return root_file_stat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_size > 0 &&
	       st.st_mtim.tv_sec + ROUNDED_SEC >= process_stat_read_started_at(pid);
}

/* Links are followed as perf follows them, but within the container. The file is not opened. */
static void run_shadow(struct guarded_call *base)
{
	struct shadow_call *const call = (struct shadow_call *)base;
	const int other = mount_namespace_is_other(call->pid, NULL);
	const struct perf_map_name name = perf_map_name_of(other > 0 ? call->inner_pid : call->pid);
	const char *const dir = other > 0 ? "/tmp" : call->beside_dir;
	int fd;

	call->result = other;
	if (other < 0 || !dir[0])
		return;
	call->result = -ERANGE;
	if (snprintf(call->path, sizeof(call->path), "%s/%s", dir, name.text) >=
	    (int)sizeof(call->path))
		return;
	fd = root_file_open(other > 0 ? call->pid : getpid(), call->path, O_PATH);
	if (fd >= 0)
		call->result =
			is_used(call->pid, fd) ? PERF_MAP_SHADOW_USED : PERF_MAP_SHADOW_OTHER;
	else
		call->result =
			fd == -ENOENT || fd == -ENOTDIR || fd == -ELOOP ? PERF_MAP_UNSHADOWED : fd;
	if (fd >= 0)
		close(fd);
}

int perf_map_find_shadow(pid_t pid, pid_t inner_pid, const char *beside_dir, char *ret_path,
			 size_t size)
{
	struct shadow_call *const call = calloc(1, sizeof(*call));
	enum guarded_end end;
	int result;

	if (!call)
		return -ENOMEM;
	call->base = (struct guarded_call){.run = run_shadow};
	call->pid = pid;
	call->inner_pid = inner_pid;
	snprintf(call->beside_dir, sizeof(call->beside_dir), "%s", beside_dir ? beside_dir : "");
	end = guarded_run(pid, &call->base);
	if (end == GUARDED_LATE)
		return -ETIMEDOUT;
	result = end == GUARDED_DONE ? call->result : -ETIMEDOUT;
	if (end == GUARDED_DONE && strlen(call->path) >= size)
		result = -ERANGE;
	if (result > 0)
		strcpy(ret_path, call->path);
	free(call);
	return result;
}
