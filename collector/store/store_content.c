// SPDX-License-Identifier: Apache-2.0
/*
 * Reads segments, see store_content.h. A segment may have been put there by anybody: it is a file
 * of bounded size, and what is in the file is bounded by the reader of recordings.
 */
#include "store/store_content.h"

#include "base/cleanup.h"
#include "profile/recording_format.h"
#include "store/store_segment.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static int open_kind(struct import_target *target, const struct profile_kind *kind)
{
	struct store_content *const content = (struct store_content *)target;
	struct store_content_kind *one;

	if (content->wanted && strcmp(content->wanted, kind->name) != 0)
		return IMPORT_NOTHING_OF;
	if (content->n == PROFILE_MAX_KINDS)
		return IMPORT_NOTHING_OF;
	one = calloc(1, sizeof(*one));
	if (!one || profile_init(&one->profile, STORE_MAX_SEGMENT_NODES) < 0) {
		free(one);
		return -ENOMEM;
	}
	timeline_init(&one->recording.timeline, 0);
	snprintf(one->texts[0], PROFILE_KIND_BYTES, "%s", kind->name);
	snprintf(one->texts[1], PROFILE_KIND_BYTES, "%s", kind->unit);
	one->kind = (struct profile_kind){one->texts[0], one->texts[1]};
	content->kinds[content->n++] = one;
	target->profile = &one->profile;
	target->recording = &one->recording;
	return 0;
}

/* -EINVAL: the file is none, too large, or no recording. */
static int check_file(int fd)
{
	char magic[sizeof(RECORDING_FORMAT_MAGIC) - 1];
	struct stat st;
	ssize_t n;

	if (fstat(fd, &st) < 0)
		return -errno;
	if (!S_ISREG(st.st_mode) || st.st_size > STORE_MAX_SEGMENT_BYTES)
		return -EINVAL;
	n = pread(fd, magic, sizeof(magic), 0);
	if (n < 0)
		return -errno;
	if (n != (ssize_t)sizeof(magic) ||
	    memcmp(magic, RECORDING_FORMAT_MAGIC, sizeof(magic)) != 0)
		return -EINVAL;
	return 0;
}

/* Whether the file's bytes are to blame, and not the machine that they are read on. */
static bool is_damage(int err)
{
	return err == -EINVAL || err == -EFBIG || err == -EOVERFLOW;
}

/* Opens the file of a segment. */
static int open_file(int dir_fd, const char *name, int *ret)
{
	if (!store_segment_is_name(name))
		return -EINVAL;
	*ret = openat(dir_fd, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	if (*ret < 0)
		return errno == ELOOP || errno == ENXIO ? -EINVAL : -errno;
	return check_file(*ret);
}

static int read_file(int fd, struct import_target *target)
{
	static const struct import_options options = {0};
	int err = import_read(fd, &options, target);

	if (!err && target->report.format != IMPORT_RECORDING)
		err = -EINVAL;
	return is_damage(err) ? -EINVAL : err;
}

int store_content_read(struct store_content *content, int dir_fd, const char *name,
		       const char *wanted)
{
	_cleanup_close_ int fd = -1;
	int err;

	*content = (struct store_content){.wanted = wanted};
	err = open_file(dir_fd, name, &fd);
	if (!err)
		err = profile_init(&content->texts, 2);
	if (err)
		return err;
	content->target = (struct import_target){.profile = &content->texts, .open = open_kind};
	err = read_file(fd, &content->target);
	for (size_t i = 0; i < content->n; i++)
		profile_sum(&content->kinds[i]->profile);
	return err;
}

/* What takes the times of one kind. target is the first member. */
struct timing {
	struct import_target target;
	struct profile texts; /* and the quality, which nobody asks for */
	struct import_recording recording;
	const char *kind;
	store_add_time *add;
	void *arg;
};

static int open_times(struct import_target *target, const struct profile_kind *kind)
{
	struct timing *const timing = (struct timing *)target;

	if (strcmp(kind->name, timing->kind) != 0)
		return IMPORT_NOTHING_OF;
	target->recording = &timing->recording;
	return IMPORT_TIMES_OF;
}

static void add_time(struct import_target *target, uint64_t at_ns, uint64_t weight)
{
	const struct timing *const timing = (const struct timing *)target;
	struct store_time time = {.step_ns = timing->recording.timeline.bucket_ns,
				  .weight = weight};

	if (!__builtin_add_overflow(timing->recording.info.start_unix_ns, at_ns, &time.at_ns))
		timing->add(timing->arg, &time);
}

int store_content_read_times(int dir_fd, const char *name, const char *kind, store_add_time *add,
			     void *arg, uint64_t *ret_untimed)
{
	struct timing timing = {.kind = kind, .add = add, .arg = arg};
	_cleanup_close_ int fd = -1;
	int err = open_file(dir_fd, name, &fd);

	if (!err)
		err = profile_init(&timing.texts, 2);
	if (err)
		return err;
	timeline_init(&timing.recording.timeline, 0);
	timing.target = (struct import_target){
		.profile = &timing.texts, .open = open_times, .add_time = add_time};
	err = read_file(fd, &timing.target);
	*ret_untimed = timing.recording.timeline.lost_samples;
	timeline_fini(&timing.recording.timeline);
	profile_fini(&timing.texts);
	return err;
}

void store_content_fini(struct store_content *content)
{
	for (size_t i = 0; i < content->n; i++) {
		profile_fini(&content->kinds[i]->profile);
		timeline_fini(&content->kinds[i]->recording.timeline);
		free(content->kinds[i]);
	}
	profile_fini(&content->texts);
	*content = (struct store_content){0};
}

struct profile_part store_content_part(const struct store_content *content, size_t n)
{
	const struct store_content_kind *const one = content->kinds[n];

	return (struct profile_part){
		.kind = &one->kind,
		.profile = &one->profile,
		.timeline = &one->recording.timeline,
		.info = &one->recording.info,
	};
}
