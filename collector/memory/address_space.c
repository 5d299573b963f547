// SPDX-License-Identifier: Apache-2.0
/*
 * Keeps executable mappings in a sorted array, see address_space.h. A line of /proc/<pid>/maps:
 *
 *	7f1c2a000000-7f1c2a021000 r-xp 00002000 fd:01 1835013     /usr/lib/libz.so.1 (deleted)
 *	start        end          perm file_off dev   inode       path, may be missing
 *
 * All numbers but the inode are hexadecimal. The path is the rest of the line, spaces included. A
 * newline in the path is written as \012; other characters are not escaped.
 */
#include "memory/address_space.h"

#include "base/array.h"
#include "base/cleanup.h"
#include "base/serial.h"
#include "guard/heap_bytes.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static const char deleted_suffix[] = " (deleted)";

/* ---- the array ---- */

/* Index of the first mapping that ends behind addr; count if there is none. */
static size_t index_of(const struct address_space *space, uint64_t addr)
{
	return ARRAY_COUNT_BELOW(0, space->count, i, space->mappings[i].end <= addr);
}

/* Whether right goes on where left ends, in the file too. JVMs commit their code heap bit by bit.
 */
static bool is_continued(const struct mapping *left, const struct mapping *right)
{
	return left->end == right->start && left->inode == right->inode &&
	       left->dev_major == right->dev_major && left->dev_minor == right->dev_minor &&
	       left->is_deleted == right->is_deleted &&
	       (left->inode == 0 ||
		left->file_off + (left->end - left->start) == right->file_off) &&
	       strcmp(left->path, right->path) == 0;
}

static void count_path(struct address_space *space, const struct mapping *mapping)
{
	const size_t bytes = strlen(mapping->path) + 1;

	space->path_bytes += bytes;
	space->heap_bytes += heap_bytes(bytes);
}

static void drop_path(struct address_space *space, const struct mapping *mapping)
{
	const size_t bytes = strlen(mapping->path) + 1;

	space->path_bytes -= bytes;
	space->heap_bytes -= heap_bytes(bytes);
	free((char *)mapping->path);
}

/* Joins the mapping at index with the mapping before it, if one continues the other. */
static void join_at(struct address_space *space, size_t index)
{
	struct mapping *right = &space->mappings[index];

	if (index == 0 || index >= space->count || !is_continued(right - 1, right))
		return;
	right[-1].end = right->end;
	if (right->since_ns > right[-1].since_ns)
		right[-1].since_ns = right->since_ns;
	drop_path(space, right);
	space->count--;
	memmove(right, right + 1, (space->count - index) * sizeof(*right));
}

/*
 * A planned replacement of the mappings from first to behind. The pieces are what the new mapping
 * leaves of the first one, the new mapping, and what it leaves of the last one.
 */
struct splice {
	size_t first, behind;
	struct mapping pieces[3];
	size_t count;
};

static size_t path_bytes_of(const struct splice *splice)
{
	size_t bytes = 0;

	for (size_t i = 0; i < splice->count; i++)
		bytes += strlen(splice->pieces[i].path) + 1;
	return bytes;
}

static bool plan_splice(const struct address_space *space, const struct mapping *added,
			struct splice *splice)
{
	const struct mapping *first = NULL, *last = NULL;

	splice->first = index_of(space, added->start);
	splice->behind = splice->first;
	while (splice->behind < space->count && space->mappings[splice->behind].start < added->end)
		splice->behind++;
	if (splice->first < splice->behind) {
		first = &space->mappings[splice->first];
		last = &space->mappings[splice->behind - 1];
	}
	if (first && first->start < added->start) {
		splice->pieces[splice->count] = *first;
		splice->pieces[splice->count++].end = added->start;
	}
	splice->pieces[splice->count++] = *added;
	if (last && last->end > added->end) {
		struct mapping *piece = &splice->pieces[splice->count++];

		*piece = *last;
		piece->start = added->end;
		piece->file_off += added->end - last->start;
	}
	return space->count - (splice->behind - splice->first) + splice->count <=
		       ADDRESS_SPACE_MAX &&
	       space->path_bytes + path_bytes_of(splice) <= ADDRESS_SPACE_MAX_PATH_BYTES;
}

/* Gives each piece its own copy of the path. */
static int copy_paths(struct splice *splice)
{
	for (size_t i = 0; i < splice->count; i++) {
		char *copy = strdup(splice->pieces[i].path);

		if (!copy) {
			while (i-- > 0)
				free((char *)splice->pieces[i].path);
			return -ENOMEM;
		}
		splice->pieces[i].path = copy;
	}
	return 0;
}

static void apply_splice(struct address_space *space, const struct splice *splice)
{
	struct mapping *at = &space->mappings[splice->first];
	const size_t rest = space->count - splice->behind;

	for (size_t i = splice->first; i < splice->behind; i++)
		drop_path(space, &space->mappings[i]);
	memmove(at + splice->count, &space->mappings[splice->behind], rest * sizeof(*at));
	memcpy(at, splice->pieces, splice->count * sizeof(*at));
	space->count = splice->first + splice->count + rest;
	for (size_t i = 0; i < splice->count; i++)
		count_path(space, &splice->pieces[i]);
	for (size_t i = splice->first + splice->count + 1; i-- > splice->first;)
		join_at(space, i);
}

static int add_splice(struct address_space *space, const struct mapping *mapping)
{
	struct splice splice = {0};
	int err;

	if (!plan_splice(space, mapping, &splice)) {
		space->dropped++;
		return -ENOSPC;
	}
	err = ARRAY_RESERVE(space->mappings, space->size, space->count + 2);
	if (!err)
		err = copy_paths(&splice);
	if (!err)
		apply_splice(space, &splice);
	if (!err)
		space->serial = serial_next();
	return err;
}

/* ---- operations ---- */

bool mapping_is_generated(const struct mapping *mapping)
{
	static const char *const prefixes[] = {"[anon", "/memfd:", "/dev/zero", "/anon_hugepage"};

	if (mapping->inode == 0 && mapping->path[0] != '[')
		return true;
	for (size_t i = 0; i < sizeof(prefixes) / sizeof(prefixes[0]); i++) {
		if (strncmp(mapping->path, prefixes[i], strlen(prefixes[i])) == 0)
			return true;
	}
	return false;
}

bool mapping_is_probe_trampoline(const struct mapping *mapping)
{
	return mapping->inode == 0 && strcmp(mapping->path, "[uprobes-trampoline]") == 0;
}

int address_space_add(struct address_space *space, const struct mapping *mapping)
{
	const size_t len = strlen(mapping->path), suffix = sizeof(deleted_suffix) - 1;
	_cleanup_free_ char *path = NULL;
	struct mapping plain = *mapping;

	if (mapping->start >= mapping->end)
		return -EINVAL;
	if (len > suffix && strcmp(mapping->path + len - suffix, deleted_suffix) == 0) {
		path = strndup(mapping->path, len - suffix);
		if (!path)
			return -ENOMEM;
		plain.path = path;
		plain.is_deleted = true;
	}
	return add_splice(space, &plain);
}

const struct mapping *address_space_find(const struct address_space *space, uint64_t addr)
{
	const size_t i = index_of(space, addr);

	return i < space->count && space->mappings[i].start <= addr ? &space->mappings[i] : NULL;
}

/* The first mapping that ends behind addr, or NULL. */
static const struct mapping *first_behind(const struct address_space *space, uint64_t addr)
{
	const size_t i = index_of(space, addr);

	return i < space->count ? &space->mappings[i] : NULL;
}

int address_space_fill(struct address_space *space, const struct mapping *mapping)
{
	struct mapping part = *mapping;
	int err = 0;

	while (!err && part.start < mapping->end) {
		const struct mapping *const known = first_behind(space, part.start);
		const uint64_t behind = known ? known->end : mapping->end;

		part.end = known && known->start < mapping->end ? known->start : mapping->end;
		if (part.start < part.end)
			err = address_space_add(space, &part);
		else
			part.end = behind;
		part.file_off += part.end - part.start;
		part.start = part.end;
	}
	return err;
}

size_t address_space_bytes(const struct address_space *space)
{
	return space->heap_bytes + heap_bytes(space->size * sizeof(*space->mappings));
}

void address_space_fini(struct address_space *space)
{
	for (size_t i = 0; i < space->count; i++)
		free((char *)space->mappings[i].path);
	free(space->mappings);
	*space = (struct address_space){0};
}

void address_space_forget_before(struct address_space *space, uint64_t since_ns)
{
	size_t kept = 0;

	for (size_t i = 0; i < space->count; i++) {
		if (space->mappings[i].since_ns < since_ns)
			drop_path(space, &space->mappings[i]);
		else
			space->mappings[kept++] = space->mappings[i];
	}
	space->count = kept;
	space->code_bytes = 0;
	space->serial = serial_next();
}

int address_space_copy(struct address_space *space, const struct address_space *from)
{
	struct address_space copy = {.dropped = from->dropped,
				     .code_bytes = from->code_bytes,
				     .path_bytes = from->path_bytes,
				     .heap_bytes = from->heap_bytes};
	int err = ARRAY_RESERVE(copy.mappings, copy.size, from->count);

	for (size_t i = 0; !err && i < from->count; i++) {
		copy.mappings[i] = from->mappings[i];
		copy.mappings[i].path = strdup(from->mappings[i].path);
		if (copy.mappings[i].path)
			copy.count++;
		else
			err = -ENOMEM;
	}
	if (err) {
		address_space_fini(&copy);
		return err;
	}
	address_space_fini(space);
	*space = copy;
	space->serial = serial_next();
	return 0;
}

/* ---- /proc/<pid>/maps ---- */

struct cursor {
	const char *at, *end;
};

static int digit_of(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : 16;
}

/* Reads a number that ends with the byte after, and skips that byte. */
static bool take_number(struct cursor *cursor, unsigned int base, char after, uint64_t *ret)
{
	const char *start = cursor->at;
	uint64_t value = 0;

	for (; cursor->at < cursor->end; cursor->at++) {
		const unsigned int digit = (unsigned int)digit_of(*cursor->at);

		if (digit >= base)
			break;
		if (value > (UINT64_MAX - digit) / base)
			return false;
		value = value * base + digit;
	}
	if (cursor->at == start)
		return false;
	*ret = value;
	if (cursor->at == cursor->end) /* the inode, without a path */
		return after == ' ';
	return *cursor->at++ == after;
}

struct permissions {
	bool is_writable, is_executable;
};

static bool take_permissions(struct cursor *cursor, struct permissions *ret)
{
	if (cursor->end - cursor->at < 5 || cursor->at[4] != ' ')
		return false;
	ret->is_writable = cursor->at[1] == 'w';
	ret->is_executable = cursor->at[2] == 'x';
	cursor->at += 5;
	return true;
}

/* The path in the rest of the line, with a NUL; NULL without memory. */
static char *take_path(struct cursor *cursor)
{
	static const char newline[] = "\\012";
	const size_t escaped = sizeof(newline) - 1;
	char *path, *out;

	while (cursor->at < cursor->end && *cursor->at == ' ')
		cursor->at++;
	path = out = malloc((size_t)(cursor->end - cursor->at) + 1);
	while (path && cursor->at < cursor->end) {
		if ((size_t)(cursor->end - cursor->at) >= escaped &&
		    memcmp(cursor->at, newline, escaped) == 0) {
			/* cppcheck-suppress uninitdata ; is written, not read */
			*out++ = '\n';
			cursor->at += escaped;
		} else {
			*out++ = *cursor->at++;
		}
	}
	if (path)
		*out = '\0';
	return path;
}

/* Whether the mapping is of the file that lies before the memory, and goes on behind it. */
static bool has_moved_code(const struct moved_code *moved, const struct mapping *behind)
{
	const struct mapping *const before = &moved->before;

	return moved->start < moved->end && moved->end == behind->start &&
	       before->inode == behind->inode && before->dev_major == behind->dev_major &&
	       before->dev_minor == behind->dev_minor && before->file_off < behind->file_off &&
	       behind->file_off - before->file_off == behind->start - before->start;
}

/* Gives memory that turns out to be a file's code to the file. */
static int see_line(struct address_space *space, const struct mapping *mapping, bool is_executable)
{
	struct moved_code *const moved = &space->moved;
	struct mapping code = *mapping;
	int err = 0;

	if (mapping->inode == 0) {
		const uint64_t end = moved->start < moved->end ? moved->end : moved->before.end;

		if (!is_executable || mapping->path[0] != '\0' || end != mapping->start) {
			moved->before.end = moved->start = moved->end = 0;
			return 0;
		}
		moved->start = moved->before.end;
		moved->end = mapping->end;
		return 0;
	}
	if (has_moved_code(moved, mapping)) {
		code.start = moved->start;
		code.end = moved->end;
		code.file_off = mapping->file_off - (mapping->start - code.start);
		err = address_space_add(space, &code);
	}
	moved->before = *mapping;
	moved->before.path = NULL;
	moved->start = moved->end = 0;
	return err == -ENOMEM ? err : 0;
}

static int parse_line(struct address_space *space, struct cursor line)
{
	_cleanup_free_ char *path = NULL;
	struct mapping mapping = {0};
	struct permissions permissions;
	uint64_t major, minor;
	int err;

	if (!take_number(&line, 16, '-', &mapping.start) ||
	    !take_number(&line, 16, ' ', &mapping.end) || !take_permissions(&line, &permissions) ||
	    !take_number(&line, 16, ' ', &mapping.file_off) ||
	    !take_number(&line, 16, ':', &major) || !take_number(&line, 16, ' ', &minor) ||
	    !take_number(&line, 10, ' ', &mapping.inode))
		return 0;
	mapping.dev_major = (uint32_t)major;
	mapping.dev_minor = (uint32_t)minor;
	mapping.path = "";
	if (permissions.is_executable || has_moved_code(&space->moved, &mapping)) {
		path = take_path(&line);
		if (!path)
			return -ENOMEM;
		mapping.path = path;
	}
	err = see_line(space, &mapping, permissions.is_executable);
	if (err || !permissions.is_executable)
		return err;
	/*
	 * [vsyscall] is a page of the kernel that is in each process's list but is no mapping of
	 * the process.
	 */
	if (!permissions.is_writable && strcmp(path, "[vsyscall]") != 0)
		space->code_bytes += mapping.end - mapping.start;
	err = address_space_add(space, &mapping);
	return err == -ENOMEM ? err : 0;
}

int address_space_parse(struct address_space *space, const char *text, size_t len)
{
	const char *end = text + len;

	while (text < end) {
		const char *newline = memchr(text, '\n', (size_t)(end - text));
		const char *line_end = newline ? newline : end;
		const int err = parse_line(space, (struct cursor){text, line_end});

		if (err)
			return err;
		text = newline ? newline + 1 : end;
	}
	return 0;
}
