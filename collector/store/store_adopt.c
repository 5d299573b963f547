// SPDX-License-Identifier: Apache-2.0
/* Makes index and files agree, see store_adopt.h. */
#include "store/store_adopt.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "store/store_content.h"
#include "store/store_notes.h"
#include "store/store_segment.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#define MERGED_NS (5 * 60 * CLOCK_NS_PER_SEC) /* a segment of a longer time is of an hour */

/* Segments that are adopted in one transaction. */
#define ADOPT_AT_ONCE 256

struct adopting {
	const struct store_index *index;
	int segments_fd;
	int64_t now_sec;
	bool is_new; /* the index has never been written to */
	sqlite3_stmt *known;
	struct store_stats *stats;
};

/* What a segment's name says. */
static bool parse_name(const char *name, pid_t *ret_pid, uint64_t *ret_ticks)
{
	unsigned long long ticks;
	int pid;

	if (sscanf(name, "%*[0-9TZ]-%d-%llu", &pid, &ticks) != 2 || pid <= 0)
		return false;
	*ret_pid = pid;
	*ret_ticks = ticks;
	return true;
}

/* A recording can say any time. */
static bool is_time(const struct store_content *content)
{
	const struct profile_info *const info = &content->kinds[0]->recording.info;

	return info->start_unix_ns <= STORE_MAX_TIME_NS &&
	       info->duration_ns <= STORE_MAX_TIME_NS - info->start_unix_ns;
}

/*
 * The names of the process, as the first kind that has any tells them. Of labels a recording has
 * the image alone.
 */
static void describe(const struct store_content *content, struct store_window *ret,
		     struct label *ret_image)
{
	const struct profile_info *const info = &content->kinds[0]->recording.info;
	struct store_process *const process = &ret->process;

	process->host = info->host;
	process->boot = info->boot_id;
	ret->start_ns = info->start_unix_ns;
	ret->end_ns = info->start_unix_ns + info->duration_ns;
	for (size_t i = 0; i < content->n; i++) {
		const struct timeline *const timeline = &content->kinds[i]->recording.timeline;

		if (timeline->n_processes == 0)
			continue;
		process->title = timeline->processes[0].title;
		process->runtime = timeline->processes[0].runtime;
		process->container = timeline->processes[0].container;
		process->container_name = timeline->processes[0].container_name;
		process->pod = timeline->processes[0].pod;
		process->name_space = timeline->processes[0].name_space;
		*ret_image = (struct label){"image", timeline->processes[0].image};
		process->labels = ret_image;
		process->n_labels = ret_image->value[0] ? 1 : 0;
		return;
	}
}

/*
 * A daemon that takes too long to start is ended. What has been committed is known to the next one,
 * and the index stays new until all is adopted: the next one adopts the rest.
 */
static int go_on(const struct store_index *index)
{
	const int err = store_index_do(index, "COMMIT", "");

	return err ? err : store_index_do(index, "BEGIN IMMEDIATE", "");
}

static int adopt(struct adopting *adopting, const char *name)
{
	_cleanup_(store_content_fini) struct store_content content = {0};
	struct profile_part parts[PROFILE_MAX_KINDS];
	struct store_window window = {.parts = parts};
	struct label image;
	struct stat st;
	int64_t process;
	int err = -EINVAL;

	if (parse_name(name, &window.process.pid, &window.process.ticks))
		err = store_content_read(&content, adopting->segments_fd, name, NULL);
	if (!err && fstatat(adopting->segments_fd, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
		err = -errno;
	if (err == -EINVAL || (!err && (content.n == 0 || !is_time(&content)))) {
		adopting->stats->damaged++;
		unlinkat(adopting->segments_fd, name, 0);
		return 0;
	}
	if (err)
		return err;
	for (window.n_parts = 0; window.n_parts < content.n; window.n_parts++)
		parts[window.n_parts] = store_content_part(&content, window.n_parts);
	describe(&content, &window, &image);
	err = store_note_process(adopting->index, &window.process, &process);
	if (!err)
		err = store_note_segment(adopting->index, process, name, &window,
					 (uint64_t)st.st_size,
					 st.st_mtim.tv_sec < adopting->now_sec ? st.st_mtim.tv_sec
									       : adopting->now_sec,
					 window.end_ns - window.start_ns > MERGED_NS);
	if (err)
		return err;
	adopting->stats->adopted++;
	return adopting->stats->adopted % ADOPT_AT_ONCE == 0 ? go_on(adopting->index) : 0;
}

static int look(struct adopting *adopting, const char *name)
{
	int code;

	sqlite3_bind_text(adopting->known, 1, name, -1, SQLITE_STATIC);
	code = sqlite3_step(adopting->known);
	sqlite3_reset(adopting->known);
	if (code != SQLITE_DONE) /* an error does not say that the file is not known */
		return store_index_error(code);
	if (adopting->is_new && !store_segment_is_part(name))
		return adopt(adopting, name);
	adopting->stats->swept += unlinkat(adopting->segments_fd, name, 0) == 0;
	return 0;
}

static int look_at_files(struct adopting *adopting)
{
	const int fd = openat(adopting->segments_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	_cleanup_closedir_ DIR *dir = fd < 0 ? NULL : fdopendir(fd);
	const struct dirent *entry;
	int err = 0;

	if (!dir)
		return -errno;
	while (!err && (entry = readdir(dir)))
		if (store_segment_is_name(entry->d_name) || store_segment_is_part(entry->d_name))
			err = look(adopting, entry->d_name);
	return err;
}

/* What has no segment's name is no file of this store, wherever it is. */
static bool is_missing(const struct adopting *adopting, const char *name)
{
	return !store_segment_is_name(name) ||
	       (faccessat(adopting->segments_fd, name, F_OK, AT_SYMLINK_NOFOLLOW) < 0 &&
		errno == ENOENT);
}

/* Forgets segments that have no file. */
static int look_at_rows(const struct adopting *adopting)
{
	_cleanup_(store_index_end) sqlite3_stmt *rows =
		store_index_ask(adopting->index, "SELECT id, name FROM segments", "");
	int code, err = 0;

	if (!rows)
		return store_index_error(sqlite3_errcode(adopting->index->db));
	while (!err && (code = sqlite3_step(rows)) == SQLITE_ROW) {
		if (!is_missing(adopting, store_index_text(rows, 1)))
			continue;
		err = store_index_do(adopting->index, "DELETE FROM segments WHERE id = ?1", "i",
				     sqlite3_column_int64(rows, 0));
		adopting->stats->missing += !err;
	}
	return err ? err : store_index_error(code);
}

int store_adopt(const struct store_index *index, int segments_fd, int64_t now_sec,
		struct store_stats *stats)
{
	struct adopting adopting = {
		.index = index,
		.segments_fd = segments_fd,
		.now_sec = now_sec,
		.is_new = store_index_number(index, "SELECT count(*) FROM facts", 0) == 0,
		.stats = stats,
	};
	_cleanup_(store_index_end) sqlite3_stmt *known =
		store_index_ask(index, "SELECT 1 FROM segments WHERE name = ?1", "");
	int err = known ? store_index_do(index, "BEGIN IMMEDIATE", "") : -EIO;

	if (err)
		return err;
	adopting.known = known;
	err = look_at_files(&adopting);
	if (!err)
		err = look_at_rows(&adopting);
	if (!err)
		err = store_index_do(index, "COMMIT", "");
	if (err)
		store_index_do(index, "ROLLBACK", "");
	return err;
}
