// SPDX-License-Identifier: Apache-2.0
/* Merges windows to hours, see store_merge.h. */
#include "store/store_merge.h"

#include "base/array.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "store/store_content.h"
#include "store/store_list.h"
#include "store/store_sort.h"
#include "store/store_sum.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NODE_BYTES 12u /* of a record, as a rule */
#define TIME_BYTES 8u
#define HOUR_NS	   ((int64_t)(STORE_HOUR_SEC * CLOCK_NS_PER_SEC))

_Static_assert(STORE_MERGE_NODES <= STORE_MAX_SEGMENT_NODES, "an hour can be read");

/* A segment that becomes a part of the hour's. */
struct piece {
	int64_t id;
	char name[STORE_SEGMENT_NAME_BYTES];
};

struct merging {
	struct store *store;
	struct store_process process;
	char title[STORE_TEXT_BYTES];
	int64_t hour; /* since 1970 */
	struct piece *pieces;
	size_t n, size;
	uint64_t start_ns, end_ns;
	int64_t made_sec; /* of the newest piece */
	struct store_sum sum;
	uint64_t damaged;
};

static void merging_fini(struct merging *merging)
{
	store_sum_fini(&merging->sum);
	free(merging->pieces);
}

/*
 * Finds an hour that is over. 0: there is none. Rows that this daemon cannot have written are
 * passed
 * over: others may write the index of a store that is copied here.
 */
static int find_hour(struct merging *merging, const struct wall_clock *now)
{
	const struct store_index *const index = &merging->store->index;
	_cleanup_(store_index_end) sqlite3_stmt *statement = store_index_ask(
		index,
		"SELECT process, start_ns / ?1 AS hour FROM segments WHERE is_merged = 0"
		" AND typeof(process) = 'integer' AND typeof(start_ns) = 'integer'"
		" AND start_ns BETWEEN 0 AND ?5"
		" GROUP BY process, hour HAVING max(made_sec) <= ?2"
		" AND ((hour + 1) * ?1 <= ?3 OR min(made_sec) <= ?4) LIMIT 1",
		"iiiii", HOUR_NS, now->unix_sec - STORE_MERGE_WAIT_SEC,
		now->unix_sec * (int64_t)CLOCK_NS_PER_SEC, now->unix_sec - STORE_HOUR_SEC,
		STORE_MAX_TIME_NS);
	const int code = statement ? sqlite3_step(statement) : sqlite3_errcode(index->db);

	if (code != SQLITE_ROW)
		return store_index_error(code);
	merging->process.id = sqlite3_column_int64(statement, 0);
	merging->hour = sqlite3_column_int64(statement, 1);
	return 1;
}

/* What the file's name and title need of the process. */
static int read_process(struct merging *merging)
{
	_cleanup_(store_index_end) sqlite3_stmt *statement = store_index_ask(
		&merging->store->index, "SELECT pid, ticks, title FROM processes WHERE id = ?1",
		"i", merging->process.id);
	const int code = statement ? sqlite3_step(statement) : SQLITE_ERROR;

	if (code != SQLITE_ROW)
		return code == SQLITE_DONE ? -EBADMSG : store_index_error(code);
	merging->process.pid = sqlite3_column_int(statement, 0);
	merging->process.ticks = store_index_unsigned(statement, 1);
	snprintf(merging->title, sizeof(merging->title), "%s", store_index_text(statement, 2));
	merging->process.title = merging->title;
	return 0;
}

static int add_piece(struct merging *merging, sqlite3_stmt *statement)
{
	const int64_t made_sec = sqlite3_column_int64(statement, 4);
	const uint64_t start_ns = store_index_unsigned(statement, 2);
	const uint64_t end_ns = store_index_unsigned(statement, 3);
	struct piece *piece;

	if (ARRAY_RESERVE(merging->pieces, merging->size, merging->n + 1) < 0)
		return -ENOMEM;
	piece = &merging->pieces[merging->n++];
	piece->id = sqlite3_column_int64(statement, 0);
	snprintf(piece->name, sizeof(piece->name), "%s", store_index_text(statement, 1));
	merging->start_ns =
		merging->n == 1 || start_ns < merging->start_ns ? start_ns : merging->start_ns;
	merging->end_ns = end_ns > merging->end_ns ? end_ns : merging->end_ns;
	merging->made_sec = made_sec > merging->made_sec ? made_sec : merging->made_sec;
	return 0;
}

/* All segments of the hour, also one that was merged before a late window came. */
static int find_pieces(struct merging *merging)
{
	_cleanup_(store_index_end) sqlite3_stmt *statement = store_index_ask(
		&merging->store->index,
		"SELECT id, name, start_ns, end_ns, made_sec FROM segments"
		" WHERE process = ?1 AND start_ns >= ?2 AND start_ns < ?3 ORDER BY start_ns, id",
		"iii", merging->process.id, merging->hour * HOUR_NS, (merging->hour + 1) * HOUR_NS);
	int code, err = 0;

	if (!statement)
		return store_index_error(sqlite3_errcode(merging->store->index.db));
	while (!err && (code = sqlite3_step(statement)) == SQLITE_ROW)
		err = add_piece(merging, statement);
	return err ? err : store_index_error(code);
}

static int add_up(struct merging *merging)
{
	static const struct store_sum_limits limits = {.nodes = STORE_MERGE_NODES,
						       .times = STORE_MERGE_TIMES,
						       .name_bytes = STORE_MERGE_NAME_BYTES};
	const struct store_range all = STORE_RANGE_ALL;
	int err = 0;

	store_sum_init(&merging->sum, merging->start_ns);
	store_sum_limit(&merging->sum, &limits);
	for (size_t i = 0; !err && i < merging->n; i++) {
		_cleanup_(store_content_fini) struct store_content content = {0};

		err = store_content_read(&content, merging->store->segments_fd,
					 merging->pieces[i].name, NULL);
		if (err == -ENOENT || err == -EINVAL || err == -ELOOP) {
			merging->damaged++;
			err = 0;
			continue;
		}
		for (size_t k = 0; !err && k < content.n; k++) {
			const struct profile_part part = store_content_part(&content, k);

			err = store_sum_add(&merging->sum, &part, &all);
		}
	}
	store_sum_finish(&merging->sum);
	if (!err && merging->sum.left_out > 0) /* it would be lost with its window */
		err = -EOVERFLOW;
	return err ? err : store_sort(&merging->sum);
}

/* Puts the hour's segment in the place of its pieces. name "": there is none, all are damaged. */
static int replace(struct merging *merging, const char *name, const struct store_window *window,
		   uint64_t bytes)
{
	const struct store *const store = merging->store;
	int err = store_index_do(&store->index, "BEGIN IMMEDIATE", "");

	if (err)
		return err;
	for (size_t i = 0; !err && i < merging->n; i++)
		err = store_forget_segment(&store->index, merging->pieces[i].id);
	if (!err && name[0])
		err = store_note_segment(&store->index, merging->process.id, name, window, bytes,
					 merging->made_sec, true);
	if (!err)
		err = store_index_do(&store->index, "COMMIT", "");
	if (err)
		store_index_do(&store->index, "ROLLBACK", "");
	return err;
}

/*
 * Whether xz, which takes a third of a second for each MiB, holds up windows for no longer than an
 * hour of ordinary programs does. An hour's names are of a container's choice.
 */
static bool is_small(const struct store_sum *sum)
{
	size_t bytes = 0;

	for (size_t i = 0; i < sum->n; i++) {
		const struct profile *const profile = &sum->kinds[i]->profile;

		bytes += intern_bytes(&profile->names) + profile->count * NODE_BYTES +
			 sum->kinds[i]->timeline.n_entries * TIME_BYTES;
	}
	return bytes <= STORE_MERGE_XZ_BYTES;
}

static int write_hour(struct merging *merging)
{
	struct profile_part parts[PROFILE_MAX_KINDS];
	const struct store_window window = {
		.process = merging->process,
		.start_ns = merging->start_ns,
		.end_ns = merging->end_ns,
		.parts = parts,
		.n_parts = store_sum_parts(&merging->sum, parts),
	};
	const struct store_segment segment = {
		.pid = merging->process.pid,
		.ticks = merging->process.ticks,
		.start_ns = merging->start_ns,
		.title = merging->title,
		.parts = parts,
		.n_parts = window.n_parts,
		.packs_as_xz = is_small(&merging->sum),
	};
	const int fd = merging->store->segments_fd;
	char name[STORE_SEGMENT_NAME_BYTES] = "";
	uint64_t bytes = 0;
	int err = 0;

	if (window.n_parts > 0)
		err = store_segment_write(fd, &segment, name, &bytes);
	if (err)
		return err;
	if (bytes > STORE_MAX_SEGMENT_BYTES) /* nobody could read it */
		err = -EFBIG;
	if (!err && name[0])
		err = store_segment_settle(fd);
	if (!err)
		err = replace(merging, name, &window, bytes);
	if (err && name[0])
		unlinkat(fd, name, 0);
	for (size_t i = 0; !err && i < merging->n; i++)
		store_segment_remove(fd, merging->pieces[i].name);
	return err;
}

/* The hour's windows stay as they are, until a late one comes. */
static int leave_hour(const struct merging *merging)
{
	return store_index_do(&merging->store->index,
			      "UPDATE segments SET is_merged = 1"
			      " WHERE is_merged = 0 AND process = ?1 AND start_ns / ?2 = ?3",
			      "iii", merging->process.id, HOUR_NS, merging->hour);
}

/* An error that ends by itself or by a person's hand, and not one of the hour's samples. */
static bool is_of_machine(int err)
{
	static const int errors[] = {ENOMEM, ENOSPC, EDQUOT, EROFS, EBUSY,
				     EMFILE, ENFILE, EACCES, EPERM, EINTR};

	for (size_t i = 0; i < sizeof(errors) / sizeof(*errors); i++)
		if (err == -errors[i])
			return true;
	return false;
}

static int merge_hour(struct merging *merging)
{
	int err = read_process(merging);

	if (!err)
		err = find_pieces(merging);
	if (!err && merging->n <= 1) /* a window that is alone in its hour */
		return leave_hour(merging);
	if (!err)
		err = add_up(merging);
	if (!err)
		err = write_hour(merging);
	return err;
}

int store_merge(struct store *store, const struct wall_clock *now)
{
	_cleanup_(merging_fini) struct merging merging = {.store = store};
	const int found = find_hour(&merging, now);
	int err;

	if (found <= 0) {
		store->stats.merges_failed += found < 0;
		return found;
	}
	err = merge_hour(&merging);
	if (err) {
		store->stats.merges_failed++;
		if (!is_of_machine(err))
			leave_hour(&merging);
		return err;
	}
	store->stats.merged++;
	store->stats.damaged += merging.damaged;
	store_count(store);
	return 1;
}
