// SPDX-License-Identifier: Apache-2.0
/* Answers what is asked of the model, see publish_answers.h. */
#include "announce/publish_answers.h"

#include "announce/publish_range.h"
#include "base/json_value.h"
#include "inspect/jvm_list.h"
#include "publish/publish_json.h"

#include <inttypes.h>
#include <limits.h>
#include <stdio.h>

/* FROM of a walk: the place, and above it a number of the session that the place is of. */
#define PLACE_BITS   20
#define PLACE_MASK   ((UINT64_C(1) << PLACE_BITS) - 1)
#define SESSION_MASK UINT64_C(0xfffff)

_Static_assert(CODE_MAP_MAX_RANGES < (1u << PLACE_BITS), "a place has more bits");

/* ---- errors ---- */

static const char *example_of(enum publish_form form)
{
	switch (form) {
	case PUBLISH_CODE_WIRE:
		return "code.wire 4711 128956";
	case PUBLISH_CODE_JSON:
		return "code.json 4711 128956";
	default:
		return "jvms";
	}
}

/* is_again: the same request may have an answer soon. */
static void set_error(struct publish_batch *answer, enum publish_form form, const char *why,
		      bool is_again)
{
	json_t *const line = json_object();

	answer->form = PUBLISH_ERROR;
	json_object_set_new(line, "error", json_value_new_text(why));
	json_object_set_new(line, "example", json_value_new_text(example_of(form)));
	json_object_set_new(line, "again", json_boolean(is_again));
	answer->bytes.failed |= publish_json_put(line, &answer->bytes) < 0;
	answer->count = 1;
}

/* ---- code ---- */

static const char *why_no_code(const struct process *process, const struct publish_request *request,
			       bool *ret_is_again)
{
	*ret_is_again = false;
	if (!process || !process_is_jvm(process) || process->start_ticks != request->start_ticks)
		return "no JVM with this PID and start time is known: it has ended, or its agent "
		       "has not connected; jvms lists those that are known";
	if (process->jvm->state == JVM_ENDED)
		return "the JVM has ended";
	*ret_is_again = true;
	if (!process->jvm->has_hello || process->jvm->state == JVM_RESYNCING ||
	    process->jvm->is_resyncing)
		return "the JVM's agent is telling all of its code: ask again in a moment";
	return NULL;
}

static uint64_t session_of(const struct process *process)
{
	return (process->jvm->opened_ns / 1000) & SESSION_MASK;
}

/* More than the line of JSON takes: each byte of a text may be escaped, or be a bad character. */
static size_t json_bytes(const struct publish_entry *entry)
{
	size_t texts = 0;

	for (size_t i = 0; i < PUBLISH_TEXTS; i++)
		texts += entry->texts[i].len;
	return 2 * texts + 512;
}

/* False: the page is full, and the range is for the next one. */
static bool add_range(struct publish_batch *answer, const struct process *process,
		      const struct code_range *range, size_t *json)
{
	struct publish_entry entry = {.pid = process->pid, .start_ticks = process->start_ticks};
	const size_t before = answer->bytes.len;
	struct publish_range_room room;

	if (!publish_range_set(&entry, range, &room))
		entry.record = (struct wire_record){
			.kind = entry.code == PUBLISH_STUB ? WIRE_STUB : WIRE_METHOD_LOAD,
			.flags = WIRE_FLAG_RESYNC};
	*json += json_bytes(&entry);
	publish_entry_encode(&entry, &answer->bytes);
	if (answer->bytes.len <= PUBLISH_BATCH_MOST &&
	    (answer->form == PUBLISH_CODE_WIRE || *json <= PUBLISH_BATCH_MOST)) {
		answer->count++;
		return true;
	}
	answer->bytes.len = before;
	return false;
}

static void add_page(struct publish_batch *answer, const struct process *process, size_t pos)
{
	const size_t until = pos + PUBLISH_LOOKED_AT;
	const struct code_range *range;
	size_t json = 0, before = pos;
	bool ends = false;

	while (answer->count < PUBLISH_ANSWER_RANGES && pos < until &&
	       (range = code_map_next_living(process->code, &pos, until - pos, &ends))) {
		if (!add_range(answer, process, range, &json)) {
			pos = before;
			break;
		}
		before = pos;
	}
	answer->more = ends ? 0 : session_of(process) << PLACE_BITS | pos;
}

static void answer_code(struct publish_batch *answer, const struct targets *targets,
			const struct publish_request *request)
{
	const struct process *const process = targets_find(targets, request->pid);
	bool is_again;
	const char *const why = why_no_code(process, request, &is_again);

	if (why)
		set_error(answer, request->form, why, is_again);
	else if (request->from && request->from >> PLACE_BITS != session_of(process))
		set_error(answer, request->form,
			  "FROM is of another walk, or the JVM's agent has connected anew since: "
			  "begin without FROM",
			  false);
	else
		add_page(answer, process, request->from & PLACE_MASK);
}

/* ---- JVMs ---- */

/* The first JVMs by PID. Returns their number; *ret_more: the PID of the next one, or 0. */
static size_t find_jvms(const struct targets *targets, uint64_t from,
			const struct process *ret[PUBLISH_ANSWER_ROWS + 1])
{
	const struct process *process;
	size_t pos = 0, n = 0;

	while ((process = targets_next(targets, &pos))) {
		size_t i;

		if (!process_is_jvm(process) || (uint64_t)process->pid < from ||
		    (n > PUBLISH_ANSWER_ROWS && process->pid > ret[n - 1]->pid))
			continue;
		for (i = n > PUBLISH_ANSWER_ROWS ? n - 1 : n++;
		     i > 0 && ret[i - 1]->pid > process->pid; i--)
			ret[i] = ret[i - 1];
		ret[i] = process;
	}
	return n;
}

static json_t *row_of(const struct process *process)
{
	json_t *const row = jvm_list_row(process);

	json_value_put_count(row, "pid", (uint64_t)process->pid);
	json_value_put_count(row, "start_ticks", process->start_ticks);
	return row;
}

/* What is left of a row that is longer than a message. */
static json_t *cut_row_of(const struct process *process)
{
	json_t *const row = json_object();

	json_value_put_count(row, "pid", (uint64_t)process->pid);
	json_value_put_count(row, "start_ticks", process->start_ticks);
	json_object_set_new(row, "cut", json_true());
	return row;
}

/* False: the page is full. */
static bool add_row(struct publish_batch *answer, const struct process *process)
{
	const size_t before = answer->bytes.len;

	answer->bytes.failed |= publish_json_put(row_of(process), &answer->bytes) < 0;
	if (answer->bytes.len > PUBLISH_BATCH_MOST) {
		answer->bytes.len = before;
		if (before > 0)
			return false;
		answer->bytes.failed |= publish_json_put(cut_row_of(process), &answer->bytes) < 0;
	}
	answer->count++;
	return true;
}

static void answer_jvms(struct publish_batch *answer, const struct targets *targets, uint64_t from)
{
	const struct process *jvms[PUBLISH_ANSWER_ROWS + 1];
	const size_t n = find_jvms(targets, from, jvms);
	size_t i = 0;

	while (i < n && i < PUBLISH_ANSWER_ROWS && add_row(answer, jvms[i]))
		i++;
	answer->more = i < n ? (uint64_t)jvms[i]->pid : 0;
}

struct publish_batch *publish_answer(const struct targets *targets, const char *text, size_t len)
{
	struct publish_batch *const answer = calloc(1, sizeof(*answer));
	struct publish_request request;
	const char *why;

	if (!answer)
		return NULL;
	answer->is_answer = true;
	why = publish_request_parse(text, len, &request);
	answer->form = why ? PUBLISH_ERROR : request.form;
	if (why)
		set_error(answer, PUBLISH_ERROR, why, false);
	else if (request.form == PUBLISH_JVMS)
		answer_jvms(answer, targets, request.from);
	else
		answer_code(answer, targets, &request);
	if (!answer->bytes.failed)
		return answer;
	publish_batch_free(answer);
	return NULL;
}
