// SPDX-License-Identifier: Apache-2.0
/* Notes processes, their mappings, threads and code, see capture_self.h. */
#include "capture/capture_self.h"

#include "capture/capture_codec.h"
#include "code/inline_table.h"
#include "foreign/foreign_map.h"

#include <stdlib.h>
#include <string.h>

/*
 * A process that is new to the capture has its interpreted methods read again, so that the capture
 * sees what is read.
 */
static struct known_process *know(struct capture *capture, struct process *process)
{
	const uint64_t key = (uint64_t)process->pid;
	struct known_process *known = map64_find(&capture->processes, key);

	if (known && known->start_ticks == process->start_ticks &&
	    (known->code == process->code || !known->code)) {
		known->code = process->code;
		return known;
	}
	free(map64_remove(&capture->processes, key));
	capture->writer.is_full |= capture->n_processes == CAPTURE_MAX_PROCESSES;
	if (capture->writer.is_full)
		return NULL;
	known = calloc(1, sizeof(*known));
	if (!known || map64_put(&capture->processes, key, known) < 0) {
		free(known);
		return NULL;
	}
	known->number = ++capture->n_processes;
	known->start_ticks = process->start_ticks;
	known->group = process->group;
	known->code = process->code;
	known->space_serial = UINT64_MAX;
	java_methods_clear(&process->java_methods);
	return known;
}

/* False: the mappings are too many bytes. */
static bool write_space(struct capture *capture, struct known_process *known,
			const struct address_space *space)
{
	if (known->space_serial == space->serial)
		return known->has_space;
	known->space_serial = space->serial;
	capture_put_mappings(&capture->fields, known->number, space);
	known->has_space = capture->fields.len <= CAPTURE_MAX_MAPPINGS;
	if (known->has_space)
		capture_write_change(&capture->writer, CAPTURE_MAPPINGS, known->number,
				     &capture->fields);
	capture->fields.len = 0;
	return known->has_space;
}

uint32_t capture_process(struct capture *capture, struct process *process)
{
	struct known_process *known = process ? know(capture, process) : NULL;

	if (!known)
		return 0;
	capture_put_process(&capture->fields, known->number, process, &capture->room);
	capture_write_change(&capture->writer, CAPTURE_PROCESS, known->number, &capture->fields);
	return write_space(capture, known, &process->space) ? known->number : 0;
}

void capture_thread(struct capture *capture, const struct named_sample *sample)
{
	const struct thread_at at = {
		.tid = sample->tid, .time_ns = sample->time_ns, .comm = sample->comm};
	const char *cut;

	if (!sample->process)
		return;
	bytes_add_varint(&capture->fields, capture->current.number);
	bytes_add_varint(&capture->fields, (uint64_t)sample->tid);
	capture_put_text(&capture->fields, process_thread_name_at(sample->process, &at, &cut));
	capture_put_text(&capture->fields, cut ? cut : "");
	capture_write_change(&capture->writer, CAPTURE_THREAD,
			     (uint64_t)capture->current.number << 32 | (uint32_t)sample->tid,
			     &capture->fields);
}

static void write_code(struct capture *capture, const struct code_range *range, bool is_foreign)
{
	const uint32_t number = capture->current.number;
	uint64_t hash = capture_hash(capture, range->addr, range->birth_ns);

	hash = capture_hash(capture, hash ^ range->death_ns,
			    (uint64_t)number << 32 | (uint64_t)range->level << 8 | is_foreign);
	hash = capture_hash(capture, hash, range->frame.size);
	if (range->inlines)
		hash = capture_hash(capture, hash, inline_table_serial(range->inlines));
	if (number == 0 || capture_was_seen(capture, hash))
		return;
	capture->writer.is_full |= capture->n_code++ == CAPTURE_MAX_CODE;
	capture_put_code(&capture->fields, number, range, is_foreign, &capture->room);
	capture_write_fact(&capture->writer, CAPTURE_CODE, &capture->fields);
}

static const struct code_range *on_code(void *arg, uint64_t addr, uint64_t time_ns,
					const struct code_range *range)
{
	struct capture *const capture = arg;
	const struct code_map_watch *const before = capture->code_before;

	if (before)
		range = before->find(before->arg, addr, time_ns, range);
	if (range)
		write_code(capture, range, false);
	return range;
}

static const struct code_range *on_foreign_code(void *arg, uint64_t addr, uint64_t time_ns,
						const struct code_range *range)
{
	(void)addr;
	(void)time_ns;
	if (range)
		write_code(arg, range, true);
	return range;
}

void capture_processes_init(struct capture *capture)
{
	capture->code = (struct code_map_watch){.find = on_code, .arg = capture};
	capture->foreign = (struct code_map_watch){.find = on_foreign_code, .arg = capture};
}

void capture_watch_code(struct capture *capture, struct process *process)
{
	if (process && process->code)
		capture->code_before = code_map_set_watch(process->code, &capture->code);
	if (process && process->foreign.map)
		foreign_map_set_watch(process->foreign.map, &capture->foreign);
}

void capture_unwatch_code(struct capture *capture, struct process *process)
{
	if (process && process->code)
		code_map_set_watch(process->code, capture->code_before);
	if (process && process->foreign.map)
		foreign_map_set_watch(process->foreign.map, NULL);
}

void capture_processes_fini(struct capture *capture)
{
	map64_fini_all(&capture->processes, free);
}
