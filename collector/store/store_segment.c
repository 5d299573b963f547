// SPDX-License-Identifier: Apache-2.0
/* Writes segments, see store_segment.h. */
#include "store/store_segment.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "render/render.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#define PART_NAME     ".part"
#define SUFFIX	      ".fgrec"
#define MOST_OF_NAME  10000u
#define SUBTITLE_SIZE (PROFILE_PART_BYTES + 32)

bool store_segment_is_name(const char *text)
{
	const size_t len = strlen(text);

	return len > sizeof(SUFFIX) && len < STORE_SEGMENT_NAME_BYTES && text[0] != '.' &&
	       strspn(text, "0123456789TZ-.fgrec") == len &&
	       strcmp(text + len - (sizeof(SUFFIX) - 1), SUFFIX) == 0;
}

void store_segment_remove(int dir_fd, const char *name)
{
	if (store_segment_is_name(name))
		unlinkat(dir_fd, name, 0);
}

bool store_segment_is_part(const char *text)
{
	return strcmp(text, PART_NAME) == 0;
}

static void name_segment(const struct store_segment *segment, unsigned n,
			 char ret[STORE_SEGMENT_NAME_BYTES])
{
	const time_t at = (time_t)(segment->start_ns / CLOCK_NS_PER_SEC);
	char time[32] = "", number[16] = "";
	struct tm tm;

	if (gmtime_r(&at, &tm))
		strftime(time, sizeof(time), "%Y%m%dT%H%M%SZ", &tm);
	if (n > 1)
		snprintf(number, sizeof(number), ".%u", n);
	snprintf(ret, STORE_SEGMENT_NAME_BYTES, "%.20s-%d-%llu%s" SUFFIX, time, (int)segment->pid,
		 (unsigned long long)segment->ticks, number);
}

/* The first name of the segment that no file has. The directory has one writer. */
static int choose_name(int dir_fd, const struct store_segment *segment,
		       char ret[STORE_SEGMENT_NAME_BYTES])
{
	for (unsigned n = 1; n < MOST_OF_NAME; n++) {
		name_segment(segment, n, ret);
		if (faccessat(dir_fd, ret, F_OK, AT_SYMLINK_NOFOLLOW) < 0)
			return errno == ENOENT ? 0 : -errno;
	}
	return -EEXIST;
}

static int write_parts(const struct store_segment *segment, FILE *stream)
{
	const struct profile_part *const first = &segment->parts[0];
	char text[PROFILE_PART_BYTES], subtitle[SUBTITLE_SIZE];
	const struct render_options options = {
		.title = segment->title,
		.subtitle = subtitle,
		.kind = first->kind,
		.info = first->info,
		.timeline = first->timeline,
		.others = segment->parts + 1,
		.n_others = segment->n_parts - 1,
		.packs_as_xz = segment->packs_as_xz,
	};

	snprintf(subtitle, sizeof(subtitle), "%s, PID %d", profile_part_text(first, text),
		 (int)segment->pid);
	return render_write(first->profile, RENDER_RECORDING, &options, stream);
}

/* Writes the bytes and has them on the disk. */
static int fill(int fd, const struct store_segment *segment, uint64_t *ret_bytes)
{
	FILE *const stream = fdopen(fd, "w");
	struct stat st;
	int err;

	if (!stream) {
		err = -errno;
		close(fd);
		return err;
	}
	err = write_parts(segment, stream);
	if (!err && fflush(stream) != 0)
		err = -errno;
	if (!err && ferror(stream))
		err = -EIO;
	if (!err && (fdatasync(fd) < 0 || fstat(fd, &st) < 0))
		err = -errno;
	if (fclose(stream) != 0 && !err)
		err = -errno;
	if (!err)
		*ret_bytes = (uint64_t)st.st_size;
	return err;
}

int store_segment_write(int dir_fd, const struct store_segment *segment,
			char ret_name[STORE_SEGMENT_NAME_BYTES], uint64_t *ret_bytes)
{
	int err = choose_name(dir_fd, segment, ret_name), fd;

	if (err)
		return err;
	fd = openat(dir_fd, PART_NAME, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0640);
	if (fd < 0)
		return -errno;
	err = fill(fd, segment, ret_bytes);
	if (!err && renameat(dir_fd, PART_NAME, dir_fd, ret_name) < 0)
		err = -errno;
	if (err)
		unlinkat(dir_fd, PART_NAME, 0);
	return err;
}

int store_segment_settle(int dir_fd)
{
	return fsync(dir_fd) == 0 ? 0 : -errno;
}
