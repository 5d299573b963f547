// SPDX-License-Identifier: Apache-2.0
/*
 * Opens the index of a store, see store_database.h. One process writes to the index, others read
 * meanwhile: SQLite's write-ahead log allows that. Each commit is on the disk before it returns.
 */
#include "store/store_database.h"

#include "base/cleanup.h"
#include "base/log.h"
#include "store/store_schema.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define BUSY_MS	   5000
#define CACHE_KIB  "4096"
#define MAX_LENGTH (1 << 20) /* bytes of a text or a row */
#define URI_BYTES  4096u

/* Nothing that is in the index may run, or make SQLite take much memory. */
static int restrict_rights(sqlite3 *db)
{
	sqlite3_db_config(db, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
	sqlite3_db_config(db, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, NULL);
	sqlite3_db_config(db, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0, NULL);
	sqlite3_db_config(db, SQLITE_DBCONFIG_ENABLE_VIEW, 0, NULL);
	sqlite3_limit(db, SQLITE_LIMIT_LENGTH, MAX_LENGTH);
	sqlite3_busy_timeout(db, BUSY_MS);
	return store_index_error(sqlite3_exec(db,
					      "PRAGMA cell_size_check = ON;"
					      "PRAGMA mmap_size = 0;"
					      "PRAGMA cache_size = -" CACHE_KIB ";",
					      NULL, NULL, NULL));
}

/* Percent-encodes what has a meaning in a URI. False: it is too long. */
static bool uri_of(const char *dir, const char *query, char ret[URI_BYTES])
{
	/* Without the empty authority, what follows "//" would be one. */
	size_t n = (size_t)snprintf(ret, URI_BYTES, *dir == '/' ? "file://" : "file:");

	for (; *dir; dir++) {
		if (n + 4 > URI_BYTES)
			return false;
		if (strchr("?#%", *dir))
			n += (size_t)snprintf(ret + n, URI_BYTES - n, "%%%02x",
					      (unsigned char)*dir);
		else
			ret[n++] = *dir;
	}
	return (size_t)snprintf(ret + n, URI_BYTES - n, "/" STORE_INDEX_NAME "%s", query) <
	       URI_BYTES - n;
}

/*
 * SQLite opens these without asking what they are: a pipe would be waited for, and a link followed.
 * -EINVAL: one of them is no file.
 */
static int check_files(const char *dir)
{
	static const char *const names[] = {STORE_INDEX_NAME, STORE_INDEX_NAME "-journal",
					    STORE_INDEX_NAME "-wal", STORE_INDEX_NAME "-shm"};
	char path[URI_BYTES];
	struct stat st;

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		if (snprintf(path, sizeof(path), "%s/%s", dir, names[i]) >= (int)sizeof(path))
			return -ENAMETOOLONG;
		if (lstat(path, &st) < 0) {
			if (errno != ENOENT || i == 0)
				return -errno;
		} else if (!S_ISREG(st.st_mode)) {
			return -EINVAL;
		}
	}
	return 0;
}

static int open_with(const char *dir, const char *query, int flags, struct store_index *ret)
{
	const char *const why = lazy_sqlite_load();
	/* SQLite would refuse a link also above the directory. */
	_cleanup_free_ char *real = realpath(dir, NULL);
	char uri[URI_BYTES];
	int err;

	*ret = (struct store_index){0};
	if (why) {
		log_error("the store in %s: %s", dir, why);
		return -ELIBACC;
	}
	if (!real)
		return -errno;
	if (!uri_of(real, query, uri))
		return -ENAMETOOLONG;
	err = store_index_error(sqlite3_open_v2(uri, &ret->db,
						flags | SQLITE_OPEN_URI | SQLITE_OPEN_NOMUTEX |
							SQLITE_OPEN_PRIVATECACHE |
							SQLITE_OPEN_NOFOLLOW,
						NULL));
	if (!err)
		err = restrict_rights(ret->db);
	if (err)
		store_index_abandon(ret);
	return err;
}

/* Makes an empty file, so that the index and its log are not for everybody. */
static int make_file(const char *dir)
{
	char path[URI_BYTES];
	int fd;

	if (snprintf(path, sizeof(path), "%s/" STORE_INDEX_NAME, dir) >= (int)sizeof(path))
		return -ENAMETOOLONG;
	fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0640);
	if (fd < 0)
		return -errno;
	close(fd);
	return 0;
}

int store_database_create(const char *dir, struct store_index *ret)
{
	int err = check_files(dir);

	if (!err || err == -ENOENT)
		err = make_file(dir);
	if (err)
		return err;
	err = open_with(dir, "", SQLITE_OPEN_READWRITE, ret);
	if (err)
		return err;
	/* The first of these has a meaning before there is any table. */
	err = store_index_error(sqlite3_exec(ret->db,
					     "PRAGMA auto_vacuum = INCREMENTAL;"
					     "PRAGMA journal_mode = WAL;"
					     "PRAGMA synchronous = FULL;"
					     "PRAGMA foreign_keys = ON;"
					     "PRAGMA journal_size_limit = 4194304;",
					     NULL, NULL, NULL));
	if (!err)
		err = store_schema_upgrade(ret, store_schema_steps, STORE_SCHEMA_VERSION);
	if (err)
		store_index_abandon(ret);
	return err;
}

/* Whether there are bytes in the log beside the index. */
static bool has_log(const char *dir)
{
	char path[URI_BYTES];
	struct stat st;

	return snprintf(path, sizeof(path), "%s/" STORE_INDEX_NAME "-wal", dir) <
		       (int)sizeof(path) &&
	       stat(path, &st) == 0 && st.st_size > 0;
}

/* An index of an earlier version is upgraded in memory. */
static int upgrade_copy(struct store_index *index)
{
	struct store_index copy = {.is_without_log = index->is_without_log};
	sqlite3_backup *backup;
	int err = store_index_error(sqlite3_open(":memory:", &copy.db));

	if (!err)
		err = restrict_rights(copy.db);
	backup = err ? NULL : sqlite3_backup_init(copy.db, "main", index->db, "main");
	if (backup) {
		sqlite3_backup_step(backup, -1);
		err = store_index_error(sqlite3_backup_finish(backup));
	} else if (!err) {
		err = store_index_error(sqlite3_errcode(copy.db));
	}
	if (!err)
		err = store_schema_upgrade(&copy, store_schema_steps, STORE_SCHEMA_VERSION);
	if (err) {
		store_index_close(&copy);
		return err;
	}
	store_index_close(index);
	*index = copy;
	return 0;
}

int store_database_open(const char *dir, struct store_index *ret)
{
	int err = check_files(dir);

	if (err)
		return err;
	err = open_with(dir, "", SQLITE_OPEN_READONLY, ret);
	if (!err)
		err = store_schema_check(ret, STORE_SCHEMA_VERSION);
	if (err == -EIO || err == -EROFS || err == -EACCES) {
		store_index_close(ret);
		err = open_with(dir, "?immutable=1", SQLITE_OPEN_READONLY, ret);
		if (!err)
			ret->is_without_log = has_log(dir);
		if (!err)
			err = store_schema_check(ret, STORE_SCHEMA_VERSION);
	}
	if (!err && store_schema_version(ret) < STORE_SCHEMA_VERSION)
		err = upgrade_copy(ret);
	if (err)
		store_index_close(ret);
	return err;
}
