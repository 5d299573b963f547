// SPDX-License-Identifier: Apache-2.0
/* The tables of an index, see store_schema.h. */
#include "store/store_schema.h"

#include <errno.h>
#include <stdio.h>

#define APPLICATION_ID 0x66677374 /* "fgst" */

const char *const store_schema_steps[STORE_SCHEMA_VERSION] = {
	"CREATE TABLE processes ("
	" id INTEGER PRIMARY KEY,"
	" host TEXT NOT NULL, boot TEXT NOT NULL, pid INTEGER NOT NULL, ticks INTEGER NOT NULL,"
	" started_ns INTEGER NOT NULL,"
	" title TEXT NOT NULL, runtime TEXT NOT NULL, comm TEXT NOT NULL,"
	" container TEXT NOT NULL, container_name TEXT NOT NULL,"
	" pod TEXT NOT NULL, pod_uid TEXT NOT NULL, namespace TEXT NOT NULL,"
	" UNIQUE (host, boot, pid, ticks));"
	"CREATE TABLE labels ("
	" process INTEGER NOT NULL REFERENCES processes (id) ON DELETE CASCADE,"
	" key TEXT NOT NULL, value TEXT NOT NULL, PRIMARY KEY (process, key)) WITHOUT ROWID;"
	"CREATE TABLE segments ("
	" id INTEGER PRIMARY KEY,"
	" process INTEGER NOT NULL REFERENCES processes (id) ON DELETE CASCADE,"
	" name TEXT NOT NULL UNIQUE, start_ns INTEGER NOT NULL, end_ns INTEGER NOT NULL,"
	" bytes INTEGER NOT NULL, made_sec INTEGER NOT NULL, is_merged INTEGER NOT NULL);"
	"CREATE INDEX segments_by_time ON segments (process, start_ns);"
	"CREATE INDEX segments_by_age ON segments (made_sec, id);"
	"CREATE INDEX segments_unmerged ON segments (process, start_ns) WHERE is_merged = 0;"
	"CREATE TABLE windows ("
	" segment INTEGER NOT NULL REFERENCES segments (id) ON DELETE CASCADE,"
	" kind TEXT NOT NULL, unit TEXT NOT NULL, samples INTEGER NOT NULL,"
	" unnamed INTEGER NOT NULL, unrooted INTEGER NOT NULL,"
	" PRIMARY KEY (segment, kind)) WITHOUT ROWID;"
	"CREATE TABLE facts (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;",
	/*
	 * Merged segments have their times here too; and their files are recordings of version 3.
	 * Rows are too long for a table without row numbers: each would have a page of its own.
	 */
	"CREATE TABLE steps ("
	" segment INTEGER NOT NULL REFERENCES segments (id) ON DELETE CASCADE,"
	" kind TEXT NOT NULL, weights BLOB NOT NULL, PRIMARY KEY (segment, kind));",
};

unsigned store_schema_version(const struct store_index *index)
{
	const int64_t version = store_index_number(index, "PRAGMA user_version", 0);

	return version > 0 ? (unsigned)version : 0;
}

int store_schema_check(const struct store_index *index, unsigned known)
{
	/* Views, triggers, virtual tables, and columns that are computed. */
	static const char foreign[] =
		"SELECT count(*) FROM sqlite_master m LEFT JOIN pragma_table_xinfo(m.name) x"
		" WHERE m.type NOT IN ('table', 'index') OR m.sql LIKE '%VIRTUAL%' OR x.hidden > 0";
	int64_t tables = 0, application = 0, version = 0, n = 0;
	/* An error of the first question is one of opening, because SQLite opens files late. */
	int err = store_index_read_number(index, "SELECT count(*) FROM sqlite_master", &tables);

	if (!err)
		err = store_index_read_number(index, "PRAGMA application_id", &application);
	if (!err)
		err = store_index_read_number(index, "PRAGMA user_version", &version);
	if (err)
		return err;
	if (tables == 0 || application != APPLICATION_ID)
		return -EBADMSG;
	if (version > (int64_t)known)
		return -EPROTONOSUPPORT;
	err = version > 0 ? store_index_read_number(index, foreign, &n) : -EBADMSG;
	return !err && n > 0 ? -EBADMSG : err;
}

static int make_step(const struct store_index *index, const char *step, unsigned version)
{
	char note[96];
	int err = store_index_do(index, "BEGIN IMMEDIATE", "");

	if (err)
		return err;
	snprintf(note, sizeof(note), "PRAGMA user_version = %u; PRAGMA application_id = %d;",
		 version, APPLICATION_ID);
	err = store_index_error(sqlite3_exec(index->db, step, NULL, NULL, NULL));
	if (!err)
		err = store_index_error(sqlite3_exec(index->db, note, NULL, NULL, NULL));
	if (!err)
		err = store_index_do(index, "COMMIT", "");
	if (err)
		store_index_do(index, "ROLLBACK", "");
	return err;
}

int store_schema_upgrade(const struct store_index *index, const char *const *steps, unsigned n)
{
	int64_t tables = 0, version = 0;
	int err = store_index_read_number(index, "SELECT count(*) FROM sqlite_master", &tables);

	if (!err && tables > 0)
		err = store_schema_check(index, n);
	if (!err)
		err = store_index_read_number(index, "PRAGMA user_version", &version);
	for (unsigned i = version > 0 ? (unsigned)version : 0; !err && i < n; i++)
		err = make_step(index, steps[i], i + 1);
	return err;
}
