// SPDX-License-Identifier: Apache-2.0
/*
 * Finds separate debug files, see debug_file.h, by two sections:
 *
 *   .gnu_debuglink     a name without directories, NUL, up to 3 bytes of padding, u32 CRC-32
 *   .gnu_debugaltlink  a path, NUL, a build ID to the section's end
 */
#include "elf/debug_file.h"

#include "elf/elf_section.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#define MAX_LINK_BYTES	  (64u << 10)
#define MAX_CHECKED_BYTES (UINT64_C(2) << 30) /* the largest file whose checksum is computed */

/* What a candidate is compared with. */
struct wanted {
	struct stat st; /* of the mapped file; zero-filled: not compared */
	const struct elf_layout *layout;
	const unsigned char *build_id;
	size_t build_id_len; /* 0: the checksum is compared instead */
	uint32_t checksum;
};

static bool has_checksum(int fd, const struct stat *st, uint32_t expected)
{
	unsigned char piece[64 << 10];
	uLong checksum = crc32(0, NULL, 0);
	uint64_t off = 0;

	if ((uint64_t)st->st_size > MAX_CHECKED_BYTES)
		return false;
	while (off < (uint64_t)st->st_size) {
		const ssize_t n = pread(fd, piece, sizeof(piece), (off_t)off);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return false;
		checksum = crc32(checksum, piece, (uInt)n);
		off += (uint64_t)n;
	}
	return checksum == expected;
}

/*
 * Whether code begins at equal addresses. Tools such as prelink move a file away from its symbols.
 */
static bool is_placed_alike(const struct elf_layout *a, const struct elf_layout *b)
{
	for (size_t i = 0; i < a->segment_count; i++) {
		if (!a->segments[i].is_executable)
			continue;
		for (size_t j = 0; j < b->segment_count; j++) {
			if (b->segments[j].is_executable)
				return a->segments[i].elf_addr == b->segments[j].elf_addr;
		}
	}
	return true; /* a file made by dwz has no segments */
}

static bool is_wanted(int fd, const struct stat *st, const struct wanted *wanted)
{
	struct elf_file file;
	bool matches;

	if (st->st_dev == wanted->st.st_dev && st->st_ino == wanted->st.st_ino)
		return false;
	if (elf_file_open_debug(fd, &file) < 0)
		return false;
	matches = !wanted->layout || is_placed_alike(wanted->layout, &file.layout);
	if (wanted->build_id_len > 0)
		matches = matches && file.layout.build_id_len == wanted->build_id_len &&
			  memcmp(file.layout.build_id, wanted->build_id, wanted->build_id_len) == 0;
	else
		matches = matches && has_checksum(fd, st, wanted->checksum);
	elf_file_close(&file);
	return matches;
}

int debug_file_read_link(const struct elf_file *file, struct debug_link *ret)
{
	GElf_Shdr header;
	Elf_Scn *section = elf_section_find(file, ".gnu_debuglink", &header);
	size_t len, checksum_at;
	Elf_Data *data;

	if (!section || elf_section_read(section, MAX_LINK_BYTES, &data) < 0)
		return -ENOENT;
	len = strnlen(data->d_buf, data->d_size);
	checksum_at = (len + 4) & ~(size_t)3;
	if (len == 0 || len >= sizeof(ret->name) || data->d_size < 4 ||
	    checksum_at > data->d_size - 4 || memchr(data->d_buf, '/', len))
		return -ENOENT;
	memcpy(ret->name, data->d_buf, len + 1);
	memcpy(&ret->checksum, (const char *)data->d_buf + checksum_at, sizeof(ret->checksum));
	return strcmp(ret->name, ".") == 0 || strcmp(ret->name, "..") == 0 ? -ENOENT : 0;
}

/* Asks for one place after the other. */
static int look_everywhere(const struct debug_place *place, const struct debug_wish *wish,
			   const struct wanted *wanted, bool *ret_is_targets)
{
	for (unsigned at = 0; at < DEBUG_PATHS_COUNT; at++) {
		int fd = place->ask ? place->ask(place->arg, wish, &at, ret_is_targets)
				    : debug_paths_open(place, wish, &at, ret_is_targets);
		struct stat st;

		if (fd < 0)
			break;
		if (fstat(fd, &st) == 0 && is_wanted(fd, &st, wanted))
			return fd;
		close(fd);
	}
	*ret_is_targets = false;
	return -ENOENT;
}

static struct debug_wish wish_of(const struct wanted *wanted, const char *name)
{
	struct debug_wish wish = {.build_id_len = (uint32_t)wanted->build_id_len};

	memcpy(wish.build_id, wanted->build_id, wanted->build_id_len);
	snprintf(wish.name, sizeof(wish.name), "%s", name);
	return wish;
}

int debug_file_open(int fd, const struct elf_file *file, const struct debug_place *place,
		    bool *ret_is_targets)
{
	struct debug_link link;
	const bool has_link = debug_file_read_link(file, &link) == 0;
	struct wanted wanted = {
		.layout = &file->layout,
		.build_id = file->layout.build_id,
		.build_id_len = file->layout.build_id_len,
	};
	struct debug_wish wish;

	*ret_is_targets = false;
	if (wanted.build_id_len == 0 && !has_link)
		return -ENOENT;
	if (fstat(fd, &wanted.st) < 0)
		return -errno;
	wanted.checksum = has_link ? link.checksum : 0;
	wish = wish_of(&wanted, has_link ? link.name : "");
	return look_everywhere(place, &wish, &wanted, ret_is_targets);
}

int debug_file_open_shared(const struct elf_file *file, const struct debug_place *place)
{
	GElf_Shdr header;
	Elf_Scn *section = elf_section_find(file, ".gnu_debugaltlink", &header);
	struct wanted wanted = {0};
	struct debug_wish wish;
	bool is_targets;
	const char *path;
	Elf_Data *data;
	size_t len;

	if (!section || elf_section_read(section, MAX_LINK_BYTES, &data) < 0)
		return -ENOENT;
	path = data->d_buf;
	len = strnlen(path, data->d_size);
	if (len == 0 || len + 2 >= data->d_size || data->d_size - len - 1 > ELF_LAYOUT_MAX_BUILD_ID)
		return -ENOENT;
	wanted.build_id = (const unsigned char *)path + len + 1;
	wanted.build_id_len = data->d_size - len - 1;
	wish = wish_of(&wanted, "");
	return look_everywhere(place, &wish, &wanted, &is_targets);
}
