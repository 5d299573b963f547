// SPDX-License-Identifier: Apache-2.0
/* Writes a store, see store_writer.h. */
#include "store/store_writer.h"

#include "base/array.h"
#include "base/cleanup.h"
#include "base/log.h"
#include "store/store_adopt.h"
#include "store/store_database.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>

#define LOCK_NAME      "lock"
#define DAMAGED_NAME   STORE_INDEX_NAME ".damaged"
#define EXPIRE_AT_ONCE 64

/* ---- counting what is there ---- */

void store_count(struct store *store)
{
	const struct store_index *const index = &store->index;
	const int64_t pages = store_index_number(index, "PRAGMA page_count", 0);
	const int64_t page_bytes = store_index_number(index, "PRAGMA page_size", 0);

	store->stats.segments =
		(uint64_t)store_index_number(index, "SELECT count(*) FROM segments", 0);
	store->stats.segment_bytes = (uint64_t)store_index_number(
		index, "SELECT CAST(total(bytes) AS INTEGER) FROM segments", 0);
	store->stats.index_bytes = (uint64_t)(pages * page_bytes);
}

/* ---- clocks ---- */

/* Times that can be added and compared: the index may say anything. */
static bool is_clock_time(long long sec)
{
	return sec >= 0 && sec < 1LL << 40;
}

static void read_clock(const struct store_index *index, struct wall_clock *ret)
{
	_cleanup_(store_index_end) sqlite3_stmt *statement =
		store_index_ask(index, "SELECT value FROM facts WHERE key = 'clock'", "");
	long long boot_sec, unix_sec;

	*ret = (struct wall_clock){0};
	if (!statement || sqlite3_step(statement) != SQLITE_ROW)
		return;
	if (sscanf(store_index_text(statement, 0), "%lld %lld %39s", &boot_sec, &unix_sec,
		   ret->boot) != 3 ||
	    !is_clock_time(boot_sec) || !is_clock_time(unix_sec)) {
		*ret = (struct wall_clock){0};
		return;
	}
	ret->boot_sec = boot_sec;
	ret->unix_sec = unix_sec;
}

static int write_clock(const struct store_index *index, const struct wall_clock *clock)
{
	char text[128];

	snprintf(text, sizeof(text), "%lld %lld %s", (long long)clock->boot_sec,
		 (long long)clock->unix_sec, clock->boot[0] ? clock->boot : "-");
	return store_index_do(index, "INSERT OR REPLACE INTO facts VALUES ('clock', ?1)", "t",
			      text);
}

/*
 * When the clock was set, the times at which segments of this boot were written are moved likewise.
 * These are the times between the boot and the last reading, by the clock as it was.
 */
static int follow_clock(struct store *store, const struct wall_clock *now)
{
	const int64_t jump = wall_clock_jump(&store->clock, now);
	int err = 0;

	if (jump != 0)
		err = store_index_do(&store->index,
				     "UPDATE segments SET made_sec = made_sec + ?1"
				     " WHERE made_sec BETWEEN ?2 AND ?3",
				     "iii", jump,
				     store->clock.unix_sec - store->clock.boot_sec -
					     WALL_CLOCK_JUMP_SEC,
				     store->clock.unix_sec + WALL_CLOCK_JUMP_SEC);
	if (!err)
		err = write_clock(&store->index, now);
	if (!err)
		store->clock = *now;
	return err;
}

/* ---- opening ---- */

static int say(char ret[STORE_WHY_BYTES], int err, const char *dir, const char *what)
{
	snprintf(ret, STORE_WHY_BYTES, "--store %.100s: %s", dir, what);
	return err;
}

/* Says who has the lock. */
static int say_holder(int fd, const char *dir, char ret[STORE_WHY_BYTES])
{
	char text[32] = "", what[96];
	const ssize_t len = pread(fd, text, sizeof(text) - 1, 0);
	const long pid = len > 0 ? strtol(text, NULL, 10) : 0;

	if (pid > 0)
		snprintf(what, sizeof(what),
			 "in use by the daemon with PID %ld: give each a store of its own", pid);
	else
		snprintf(what, sizeof(what),
			 "in use by another daemon: give each a store of its own");
	return say(ret, -EBUSY, dir, what);
}

static int lock(struct store *store, int dir_fd, const char *dir, char ret_why[STORE_WHY_BYTES])
{
	char text[32];
	int len;

	store->lock_fd = openat(dir_fd, LOCK_NAME, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0640);
	if (store->lock_fd < 0)
		return say(ret_why, -errno, dir, strerror(errno));
	if (flock(store->lock_fd, LOCK_EX | LOCK_NB) < 0)
		return errno == EWOULDBLOCK ? say_holder(store->lock_fd, dir, ret_why)
					    : say(ret_why, -errno, dir, strerror(errno));
	len = snprintf(text, sizeof(text), "%d\n", (int)getpid());
	/* The PID is for people; the lock holds without it. */
	if (ftruncate(store->lock_fd, 0) < 0 || pwrite(store->lock_fd, text, (size_t)len, 0) < 0)
		log_debug("%s/" LOCK_NAME ": %s", dir, strerror(errno));
	return 0;
}

/* What SQLite says of a page that it could not read is no damage. */
static int error_of_page(const char *text)
{
	static const char before[] = "error code=";
	const char *const at = strstr(text, before);
	const int err = at ? store_index_error(atoi(at + sizeof(before) - 1)) : 0;

	return err ? err : -EBADMSG;
}

/* -EBADMSG: the index is damaged. */
static int check_whole(const struct store_index *index)
{
	_cleanup_(store_index_end) sqlite3_stmt *statement =
		store_index_ask(index, "PRAGMA quick_check(1)", "");
	const int code = statement ? sqlite3_step(statement) : sqlite3_errcode(index->db);
	const char *text;

	if (code != SQLITE_ROW)
		return code == SQLITE_DONE ? -EBADMSG : store_index_error(code);
	text = store_index_text(statement, 0);
	return strcmp(text, "ok") == 0 ? 0 : error_of_page(text);
}

/* Puts a damaged index aside. */
static int put_aside(int dir_fd, const char *dir)
{
	log_error("%s/" STORE_INDEX_NAME " is damaged: it is kept as " DAMAGED_NAME
		  ", and a new one is made of the segments",
		  dir);
	if (renameat(dir_fd, STORE_INDEX_NAME, dir_fd, DAMAGED_NAME) < 0)
		return -errno;
	/* The log of an index that was put aside before is not this one's. */
	if (renameat(dir_fd, STORE_INDEX_NAME "-wal", dir_fd, DAMAGED_NAME "-wal") < 0)
		unlinkat(dir_fd, errno == ENOENT ? DAMAGED_NAME "-wal" : STORE_INDEX_NAME "-wal",
			 0);
	unlinkat(dir_fd, STORE_INDEX_NAME "-shm", 0);
	return 0;
}

static int say_index_error(const char *dir, int err, char ret_why[STORE_WHY_BYTES])
{
	if (err == -EPROTONOSUPPORT)
		return say(ret_why, err, dir,
			   "a later version of fgcollect has written this store: use that one, or "
			   "another directory");
	if (err == -EINVAL)
		return say(ret_why, err, dir,
			   STORE_INDEX_NAME ", or a file that SQLite keeps beside it, is no file: "
					    "remove it");
	return say(ret_why, err, dir, strerror(-err));
}

static int open_index(struct store *store, int dir_fd, const char *dir,
		      char ret_why[STORE_WHY_BYTES])
{
	int err = store_database_create(dir, &store->index);

	if (!err)
		err = check_whole(&store->index);
	if (err == -EBADMSG) {
		store_index_abandon(&store->index);
		err = put_aside(dir_fd, dir);
		if (!err)
			err = store_database_create(dir, &store->index);
	}
	return err ? say_index_error(dir, err, ret_why) : 0;
}

static int open_segments(struct store *store, int dir_fd, const char *dir,
			 char ret_why[STORE_WHY_BYTES])
{
	if (mkdirat(dir_fd, STORE_SEGMENTS_NAME, 0750) < 0 && errno != EEXIST)
		return say(ret_why, -errno, dir, strerror(errno));
	store->segments_fd = openat(dir_fd, STORE_SEGMENTS_NAME,
				    O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
	return store->segments_fd < 0 ? say(ret_why, -errno, dir, strerror(errno)) : 0;
}

/* The time since boot from which on segments go by age. */
static int64_t settle_at(const struct wall_clock *last, const struct wall_clock *now)
{
	if (!last->boot[0])
		return 0;
	return wall_clock_is_one_boot(last, now) ? STORE_SETTLE_SEC
						 : now->boot_sec + STORE_SETTLE_SEC;
}

static int open_all(struct store *store, const char *dir, const struct wall_clock *now,
		    char ret_why[STORE_WHY_BYTES])
{
	_cleanup_close_ int dir_fd = -1;
	int err;

	if (mkdir(dir, 0750) < 0 && errno != EEXIST)
		return say(ret_why, -errno, dir, strerror(errno));
	dir_fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (dir_fd < 0)
		return say(ret_why, -errno, dir, strerror(errno));
	err = lock(store, dir_fd, dir, ret_why);
	if (!err)
		err = open_segments(store, dir_fd, dir, ret_why);
	if (!err)
		err = open_index(store, dir_fd, dir, ret_why);
	if (err)
		return err;
	read_clock(&store->index, &store->clock);
	store->settled_sec = settle_at(&store->clock, now);
	err = store_adopt(&store->index, store->segments_fd, now->unix_sec, &store->stats);
	if (!err)
		err = follow_clock(store, now);
	return err ? say(ret_why, err, dir, strerror(-err)) : 0;
}

int store_open(const char *dir, const struct store_limits *limits, const struct wall_clock *now,
	       struct store **ret, char ret_why[STORE_WHY_BYTES])
{
	struct store *const store = calloc(1, sizeof(*store));
	int err;

	ret_why[0] = '\0';
	if (!store)
		return say(ret_why, -ENOMEM, dir, strerror(ENOMEM));
	store->limits = *limits;
	store->lock_fd = store->segments_fd = -1;
	err = open_all(store, dir, now, ret_why);
	if (err) {
		store_close(store);
		return err;
	}
	store_count(store);
	*ret = store;
	return 0;
}

void store_close(struct store *store)
{
	if (!store)
		return;
	store_index_close(&store->index);
	if (store->segments_fd >= 0)
		close(store->segments_fd);
	if (store->lock_fd >= 0)
		close(store->lock_fd);
	free(store->names);
	free(store);
}

/* ---- writing ---- */

int store_begin(struct store *store, const struct wall_clock *now)
{
	int err = store_index_do(&store->index, "BEGIN IMMEDIATE", "");

	store->n_names = 0;
	store->made_sec = now->unix_sec;
	store->clock_before = store->clock;
	if (err)
		return err;
	err = follow_clock(store, now);
	if (err) {
		store_index_do(&store->index, "ROLLBACK", "");
		store->clock = store->clock_before;
	}
	return err;
}

static int add(struct store *store, const struct store_window *window)
{
	const struct store_segment segment = {
		.pid = window->process.pid,
		.ticks = window->process.ticks,
		.start_ns = window->start_ns,
		.title = window->process.title,
		.parts = window->parts,
		.n_parts = window->n_parts,
	};
	char name[STORE_SEGMENT_NAME_BYTES];
	uint64_t bytes = 0;
	int64_t process;
	int err = ARRAY_RESERVE(store->names, store->names_size, store->n_names + 1);

	if (!err)
		err = store_segment_write(store->segments_fd, &segment, name, &bytes);
	if (err)
		return err;
	memcpy(store->names[store->n_names++], name, sizeof(name));
	err = store_note_process(&store->index, &window->process, &process);
	if (!err)
		err = store_note_segment(&store->index, process, name, window, bytes,
					 store->made_sec, false);
	return err;
}

int store_add(struct store *store, const struct store_window *window)
{
	const size_t before = store->n_names;
	int err;

	/* SQLite itself has ended the batch after an error. A savepoint would begin another. */
	if (sqlite3_get_autocommit(store->index.db)) {
		store->stats.failed++;
		return -EIO;
	}
	err = store_index_do(&store->index, "SAVEPOINT window", "");
	if (!err)
		err = add(store, window);
	if (err) {
		store_index_do(&store->index, "ROLLBACK TO window", "");
		if (store->n_names > before)
			unlinkat(store->segments_fd, store->names[--store->n_names], 0);
		store->stats.failed++;
	}
	store_index_do(&store->index, "RELEASE window", "");
	return err;
}

int store_commit(struct store *store)
{
	int err = store->n_names > 0 ? store_segment_settle(store->segments_fd) : 0;

	if (!err)
		err = store_index_do(&store->index, "COMMIT", "");
	if (err) {
		store_index_do(&store->index, "ROLLBACK", "");
		store->clock = store->clock_before;
		for (size_t i = 0; i < store->n_names; i++)
			unlinkat(store->segments_fd, store->names[i], 0);
		store->stats.failed += store->n_names;
	} else {
		store->stats.written += store->n_names;
	}
	store->n_names = 0;
	store_count(store);
	return err;
}

/* ---- removing ---- */

/*
 * Who has a process's bytes: its container; of IDs that a user or a container has made up, the
 * maker (container/container.h); all processes in no container together, because an index has no
 * users.
 */
#define PAYER "substr(p.container, 1, ifnull(nullif(instr(p.container, ':'), 0), 100))"

/* Runs a statement that forgets segments and returns their names. Returns how many, or an error. */
static int remove_by(struct store *store, sqlite3_stmt *statement)
{
	char names[EXPIRE_AT_ONCE][STORE_SEGMENT_NAME_BYTES];
	int n = 0, code;

	if (!statement)
		return store_index_error(sqlite3_errcode(store->index.db));
	while ((code = sqlite3_step(statement)) == SQLITE_ROW) {
		if (n < EXPIRE_AT_ONCE)
			snprintf(names[n++], STORE_SEGMENT_NAME_BYTES, "%s",
				 store_index_text(statement, 0));
	}
	if (store_index_error(code))
		return store_index_error(code);
	for (int i = 0; i < n; i++)
		store_segment_remove(store->segments_fd, names[i]);
	store->stats.removed += (uint64_t)n;
	return n;
}

/* Forgets the oldest segments, at most as many as go at once. Returns how many, or an error. */
static int remove_oldest(struct store *store, int64_t before_sec)
{
	_cleanup_(store_index_end) sqlite3_stmt *statement = store_index_ask(
		&store->index,
		"DELETE FROM segments WHERE id IN (SELECT id FROM segments WHERE made_sec < ?1"
		" ORDER BY made_sec, id LIMIT ?2) RETURNING name",
		"ii", before_sec, (int64_t)EXPIRE_AT_ONCE);

	return remove_by(store, statement);
}

/*
 * As remove_oldest, of whoever has more than a half of the store, and no more than makes the store
 * small enough; 0: nobody has.
 */
static int remove_greedy(struct store *store)
{
	_cleanup_(store_index_end) sqlite3_stmt *statement = store_index_ask(
		&store->index,
		"DELETE FROM segments WHERE id IN (SELECT id FROM (SELECT s.id AS id,"
		" total(s.bytes) OVER (ORDER BY s.made_sec, s.id ROWS UNBOUNDED PRECEDING) -"
		" s.bytes AS sooner FROM segments s"
		" JOIN processes p ON p.id = s.process WHERE " PAYER " ="
		" (SELECT " PAYER " FROM segments s JOIN processes p ON p.id = s.process"
		" GROUP BY 1 HAVING total(s.bytes) > ?1)"
		" ORDER BY s.made_sec, s.id LIMIT ?2) WHERE sooner < ?3) RETURNING name",
		"iii", (int64_t)(store->stats.segment_bytes / 2), (int64_t)EXPIRE_AT_ONCE,
		(int64_t)(store->stats.segment_bytes + store->stats.index_bytes) -
			(int64_t)store->limits.bytes);

	return remove_by(store, statement);
}

/* Gives free pages of the index back. */
static void shrink(struct store *store)
{
	sqlite3_exec(store->index.db, "PRAGMA incremental_vacuum", NULL, NULL, NULL);
	store_count(store);
}

static bool is_too_large(const struct store *store)
{
	return store->stats.segment_bytes + store->stats.index_bytes > store->limits.bytes &&
	       store->stats.segments > 0;
}

int store_expire(struct store *store, const struct wall_clock *now)
{
	const int64_t oldest_sec = now->unix_sec - (int64_t)store->limits.age_sec;
	const uint64_t before = store->stats.removed;
	int n = EXPIRE_AT_ONCE;

	while (n == EXPIRE_AT_ONCE && now->boot_sec >= store->settled_sec)
		n = remove_oldest(store, oldest_sec);
	store_count(store);
	while (n >= 0 && is_too_large(store)) {
		n = remove_greedy(store);
		if (n == 0)
			n = remove_oldest(store, INT64_MAX);
		shrink(store);
		if (n == 0)
			break;
	}
	if (n < 0)
		return n;
	if (store->stats.removed == before)
		return 0;
	n = store_index_do(&store->index,
			   "DELETE FROM processes WHERE NOT EXISTS"
			   " (SELECT 1 FROM segments WHERE process = processes.id)",
			   "");
	shrink(store);
	return n;
}

static const struct counter counters[] = {
	COUNTER_SUM(struct store_stats, written, "store.windows_written",
		    "store_windows_written_total", "Windows of a process that were written."),
	COUNTER_SUM(struct store_stats, failed, "store.windows_failed",
		    "store_windows_failed_total",
		    "Windows of a process that could not be written."),
	COUNTER_SUM(struct store_stats, merged, "store.merges", "store_merges_total",
		    "Times that the windows of a process and an hour became one segment."),
	COUNTER_SUM(struct store_stats, merges_failed, "store.merges_failed",
		    "store_merges_failed_total",
		    "Times that making an hour failed; it is tried again."),
	COUNTER_GAUGE(struct store_stats, segments, "store.segments", "store_segments",
		      "Segments of the store."),
	COUNTER_GAUGE(struct store_stats, segment_bytes, "store.segment_bytes",
		      "store_segment_bytes", "What the segments of the store take."),
	COUNTER_GAUGE(struct store_stats, index_bytes, "store.index_bytes", "store_index_bytes",
		      "What the index of the store takes."),
	COUNTER_SUM(struct store_stats, removed, "store.segments_removed",
		    "store_segments_removed_total",
		    "Segments that were removed because of the limits."),
	COUNTER_SUM(struct store_stats, damaged, "store.segments_damaged",
		    "store_segments_damaged_total",
		    "Segments that were no whole recordings, and were removed."),
	COUNTER_SUM(struct store_stats, missing, "store.segments_missing",
		    "store_segments_missing_total",
		    "Segments whose file was not there when the store was opened."),
	COUNTER_SUM(struct store_stats, adopted, "store.segments_adopted",
		    "store_segments_adopted_total", "Segments that a new index was made of."),
	COUNTER_SUM(struct store_stats, swept, "store.files_swept", "store_files_swept_total",
		    "Files that the index did not name when the store was opened, and that were "
		    "removed."),
};

const struct counters store_counters = COUNTERS(struct store_stats, counters);
