// SPDX-License-Identifier: Apache-2.0
/* Rows of an index, see store_notes.h. */
#include "store/store_notes.h"

#include "base/cleanup.h"
#include "store/store_steps.h"

#include <errno.h>

static int note_labels(const struct store_index *index, const struct store_process *process,
		       int64_t id)
{
	int err = 0;

	for (size_t i = 0; !err && i < process->n_labels; i++)
		err = store_index_do(index, "INSERT OR REPLACE INTO labels VALUES (?1, ?2, ?3)",
				     "itt", id, process->labels[i].key, process->labels[i].value);
	return err;
}

/* A name that is not known any more stays as it was. */
int store_note_process(const struct store_index *index, const struct store_process *process,
		       int64_t *ret_id)
{
	_cleanup_(store_index_end) sqlite3_stmt *statement = store_index_ask(
		index,
		"INSERT INTO processes (host, boot, pid, ticks, started_ns, title, runtime, comm,"
		" container, container_name, pod, pod_uid, namespace)"
		" VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13)"
		" ON CONFLICT (host, boot, pid, ticks) DO UPDATE SET"
		" title = coalesce(nullif(excluded.title, ''), title),"
		" runtime = coalesce(nullif(excluded.runtime, ''), runtime),"
		" comm = coalesce(nullif(excluded.comm, ''), comm),"
		" container = coalesce(nullif(excluded.container, ''), container),"
		" container_name = coalesce(nullif(excluded.container_name, ''), container_name),"
		" pod = coalesce(nullif(excluded.pod, ''), pod),"
		" pod_uid = coalesce(nullif(excluded.pod_uid, ''), pod_uid),"
		" namespace = coalesce(nullif(excluded.namespace, ''), namespace)"
		" RETURNING id",
		"ttiiitttttttt", process->host, process->boot, (int64_t)process->pid,
		(int64_t)process->ticks, (int64_t)process->started_ns, process->title,
		process->runtime, process->comm, process->container, process->container_name,
		process->pod, process->pod_uid, process->name_space);

	if (!statement || sqlite3_step(statement) != SQLITE_ROW)
		return store_index_error(sqlite3_errcode(index->db));
	*ret_id = sqlite3_column_int64(statement, 0);
	return note_labels(index, process, *ret_id);
}

static int note_kinds(const struct store_index *index, int64_t segment,
		      const struct store_window *window)
{
	int err = 0;

	for (size_t i = 0; !err && i < window->n_parts; i++) {
		const struct profile_part *const part = &window->parts[i];
		const struct profile_quality *const quality =
			part->info ? &part->info->quality : &part->profile->quality;

		err = store_index_do(index, "INSERT INTO windows VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
				     "ittiii", segment, part->kind->name, part->kind->unit,
				     (int64_t)part->profile->quality.samples,
				     (int64_t)quality->unnamed_samples,
				     (int64_t)quality->unrooted_samples);
	}
	return err;
}

/* A kind without sums of its times is read from the segment's file. */
static int note_steps(const struct store_index *index, int64_t segment,
		      const struct store_window *window)
{
	int err = 0;

	for (size_t i = 0; !err && i < window->n_parts; i++) {
		_cleanup_(bytes_fini) struct bytes bytes = {0};

		err = store_steps_write(&window->parts[i], &bytes);
		if (!err)
			err = store_index_do(index, "INSERT INTO steps VALUES (?1, ?2, ?3)", "itb",
					     segment, window->parts[i].kind->name, &bytes);
		else if (err == -ERANGE)
			err = 0;
	}
	return err;
}

int store_note_segment(const struct store_index *index, int64_t process, const char *name,
		       const struct store_window *window, uint64_t bytes, int64_t made_sec,
		       bool is_merged)
{
	int64_t id;
	int err = store_index_do(
		index,
		"INSERT INTO segments (process, name, start_ns, end_ns, bytes, made_sec,"
		" is_merged) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
		"itiiiii", process, name, (int64_t)window->start_ns, (int64_t)window->end_ns,
		(int64_t)bytes, made_sec, (int64_t)is_merged);

	if (err)
		return err;
	id = sqlite3_last_insert_rowid(index->db);
	err = note_kinds(index, id, window);
	return err || !is_merged ? err : note_steps(index, id, window);
}

int store_forget_segment(const struct store_index *index, int64_t id)
{
	return store_index_do(index, "DELETE FROM segments WHERE id = ?1", "i", id);
}
