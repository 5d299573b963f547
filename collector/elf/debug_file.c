// SPDX-License-Identifier: Apache-2.0
/*
 * Finds separate debug files, see debug_file.h, by two sections:
 *
 *   .gnu_debuglink     a name without directories, NUL, up to 3 bytes of padding, u32 CRC-32
 *   .gnu_debugaltlink  a path, NUL, a build ID to the section's end
 */
#include "elf/debug_file.h"

#include "base/cleanup.h"
#include "base/root_file.h"
#include "elf/elf_section.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#define DEBUG_ROOT	  "/usr/lib/debug"
#define PATH_BYTES	  4096
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

static int try(int root, const char *path, const struct wanted *wanted)
{
	_cleanup_close_ int fd = -1;
	struct stat st;
	int ret;

	fd = root_file_open_regular(root, path, RESOLVE_IN_ROOT, &st);
	if (fd < 0 || !is_wanted(fd, &st, wanted))
		return -ENOENT;
	ret = fd;
	fd = -1;
	return ret;
}

static int try_build_id(int root, const struct wanted *wanted)
{
	char path[sizeof(DEBUG_ROOT) + 2 * ELF_LAYOUT_MAX_BUILD_ID + 32];
	int len = snprintf(path, sizeof(path), DEBUG_ROOT "/.build-id/%02x/", wanted->build_id[0]);

	for (size_t i = 1; i < wanted->build_id_len; i++)
		len += snprintf(path + len, sizeof(path) - (size_t)len, "%02x",
				wanted->build_id[i]);
	snprintf(path + len, sizeof(path) - (size_t)len, ".debug");
	return try(root, path, wanted);
}

/* Tries the paths of forms, which have places for the file's directory and for the name. */
static int try_named(int root, const char *path, const char *name, const struct wanted *wanted)
{
	static const char *const forms[] = {"%.*s/%s", "%.*s/.debug/%s", DEBUG_ROOT "%.*s/%s"};
	const char *slash = strrchr(path, '/');
	char candidate[PATH_BYTES];
	int fd = -ENOENT;

	if (!slash)
		return -ENOENT;
	for (size_t i = 0; fd < 0 && i < sizeof(forms) / sizeof(forms[0]); i++) {
		/* NOLINTNEXTLINE: the formats are those of forms. */
		const int len = snprintf(candidate, sizeof(candidate), forms[i],
					 (int)(slash - path), path, name);

		if (len < (int)sizeof(candidate))
			fd = try(root, candidate, wanted);
	}
	return fd;
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

static int look_in(int root, const char *path, const char *name, const struct wanted *wanted)
{
	int fd = -ENOENT;

	if (wanted->build_id_len > 1)
		fd = try_build_id(root, wanted);
	if (fd < 0 && path && name)
		fd = try_named(root, path, name, wanted);
	return fd;
}

/* Looks in the target's root first, then in the root of this process. */
static int look_everywhere(const struct debug_place *place, const char *name,
			   const struct wanted *wanted, bool *ret_is_targets)
{
	const char *path = name ? place->path : NULL;
	_cleanup_close_ int host = -1;
	int fd = -ENOENT;

	if (place->root >= 0)
		fd = look_in(place->root, path, name, wanted);
	*ret_is_targets = fd >= 0;
	if (fd >= 0)
		return fd;
	host = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
	return host < 0 ? -ENOENT : look_in(host, path, name, wanted);
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

	*ret_is_targets = false;
	if (wanted.build_id_len == 0 && !has_link)
		return -ENOENT;
	if (fstat(fd, &wanted.st) < 0)
		return -errno;
	wanted.checksum = has_link ? link.checksum : 0;
	return look_everywhere(place, has_link ? link.name : NULL, &wanted, ret_is_targets);
}

int debug_file_open_shared(const struct elf_file *file, const struct debug_place *place)
{
	GElf_Shdr header;
	Elf_Scn *section = elf_section_find(file, ".gnu_debugaltlink", &header);
	struct wanted wanted = {0};
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
	return look_everywhere(place, NULL, &wanted, &is_targets);
}
