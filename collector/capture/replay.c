// SPDX-License-Identifier: Apache-2.0
/* Runs the stages on a capture, see replay.h. */
#include "capture/replay.h"

#include "base/array.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/log.h"
#include "capture/capture.h"
#include "capture/replay_facts.h"
#include "capture/replay_memory.h"
#include "capture/replay_model.h"
#include "import/decompressor.h"
#include "memory/process_memory.h"
#include "sample/perf_parse.h"

#include <errno.h>
#include <stdlib.h>

#define FILE_MAX_BYTES (CAPTURE_MAX_BYTES + (1u << 20)) /* gzip adds little to any bytes */

struct replay {
	struct replay_facts facts;
};

/*
 * The most work of a run. A step may ask again for bytes that earlier steps have read, and for
 * texts of lines. So frames and bytes are counted when they are answered.
 */
#define MAX_FRAMES	   (2 * CAPTURE_MAX_FRAMES)
#define MAX_ANSWERED_BYTES (16 * CAPTURE_MAX_BYTES)
#define BYTES_A_FRAME	   256 /* bytes of texts that take as long as a frame */

/* A table that was missing in the recording's step, and may have been there in the next one. */
struct missing {
	uint64_t file; /* number of the file */
	enum table_of of;
	unsigned why; /* a number of capture_late */
};

/* Room for the sample of a step. */
struct sample_room {
	uint64_t chain[CAPTURE_MAX_CHAIN], regs[CAPTURE_MAX_REGS];
	struct record record;
};

/* The state of one run. */
struct run {
	struct replay_facts *facts;
	const struct replay_run *wanted;
	struct replay_model model;
	struct replay_memory memory;
	struct table_cache *tables;
	struct unwinder *unwinder;
	struct symbolizer *symbolizer;
	struct sample_watch *watch;
	struct missing missing[CAPTURE_MAX_MISSING];
	size_t n_missing;
	struct sample_room sample;
	struct stack stack;
	char texts[2 * DWARF_LINES_MAX_DEPTH][CAPTURE_MAX_TEXT]; /* names and files of lines */
	uint64_t n_frames; /* frames walked and frames named */
	struct replay_counts counts;
};

/* ---- life ---- */

int replay_open_bytes(const void *data, size_t len, struct replay **ret, const char **ret_reason)
{
	struct replay *replay = calloc(1, sizeof(*replay));
	unsigned char *bytes;
	size_t n;
	int err;

	*ret_reason = "there is not enough memory for the capture";
	if (!replay)
		return -ENOMEM;
	err = decompressor_gunzip(data, len, CAPTURE_MAX_BYTES, &bytes, &n);
	if (err) {
		if (err == -EINVAL)
			*ret_reason =
				decompressor_is_gzip(data, len)
					? "the capture is damaged or cut short"
					: "the file is no capture: record --capture makes one";
		else if (err == -EFBIG)
			*ret_reason = "the capture is larger than any that record makes";
		free(replay);
		return err;
	}
	err = replay_facts_read(bytes, n, &replay->facts, ret_reason);
	if (err) {
		replay_free(replay);
		return err;
	}
	*ret = replay;
	return 0;
}

int replay_open(int fd, struct replay **ret, const char **ret_reason)
{
	const size_t step = 1u << 20;
	size_t len = 0, size = 0;
	char *data = NULL;
	ssize_t n = 1;
	int err = 0;

	*ret_reason = "the file cannot be read";
	while (!err && n > 0) {
		if (len == size)
			err = ARRAY_RESERVE(data, size, len + step);
		n = err ? 0 : file_read_up_to(fd, data + len, size - len);
		err = n < 0 ? (int)n : err;
		len += n > 0 ? (size_t)n : 0;
		if (len > FILE_MAX_BYTES) {
			*ret_reason = "the file is larger than any capture that record makes";
			err = -EFBIG;
		}
	}
	if (!err)
		err = replay_open_bytes(data, len, ret, ret_reason);
	free(data);
	return err;
}

void replay_free(struct replay *replay)
{
	if (!replay)
		return;
	replay_facts_fini(&replay->facts);
	free(replay);
}

const struct profile_info *replay_info(const struct replay *replay)
{
	return &replay->facts.info;
}

uint64_t replay_start_ns(const struct replay *replay)
{
	return replay->facts.start_ns;
}

/* ---- answers ---- */

static ssize_t read_memory(void *arg, pid_t pid, const struct iovec *to, const struct iovec *from,
			   unsigned long n)
{
	struct run *const run = arg;

	(void)pid;
	return replay_memory_read(&run->memory, to, from, n);
}

/* NULL: the table is not missing in this step. */
static const struct missing *find_missing(const struct run *run, const struct replay_file *file,
					  enum table_of of)
{
	for (size_t i = 0; i < run->n_missing; i++) {
		if (run->missing[i].of == of && run->facts->files[run->missing[i].file - 1] == file)
			return &run->missing[i];
	}
	return NULL;
}

static const char *const table_names[CAPTURE_TABLE_KINDS] = {
	[TABLE_UNWIND] = "the unwind table",
	[TABLE_SYMBOLS] = "the symbols",
};

static void *find_table(void *arg, enum table_of of, pid_t pid, const struct mapping *mapping,
			const char **ret_reason, enum table_answer *ret_answer)
{
	struct run *const run = arg;
	struct replay_file *const file = replay_facts_file(run->facts, pid, mapping);
	const struct missing *missing;
	void *table;

	*ret_reason = "not in the capture";
	if (of >= CAPTURE_TABLE_KINDS)
		return NULL;
	missing = file ? find_missing(run, file, of) : NULL;
	if (missing) {
		*ret_reason = capture_late[missing->why];
		*ret_answer =
			missing->why < CAPTURE_LATE_ONES ? TABLE_ANSWER_LATE : TABLE_ANSWER_PASSES;
		return NULL;
	}
	if (!file || !file->is_known[of]) {
		log_debug("not in the capture: %s of %s", table_names[of], mapping->path);
		run->counts.unanswered++;
		return NULL;
	}
	*ret_reason = file->reason[of];
	if (file->reason[of][0])
		return NULL;
	table = of == TABLE_UNWIND ? (void *)replay_file_unwind(file)
				   : (void *)replay_file_symbols(file);
	*ret_reason = table ? NULL : "not in the capture";
	return table;
}

static bool name_kernel(void *arg, const struct kernel_call *call, struct frame *ret)
{
	struct run *const run = arg;
	const bool is_known = replay_facts_kernel(run->facts, call, ret);

	if (!is_known)
		log_debug("not in the capture: the kernel's 0x%llx",
			  (unsigned long long)call->addr);
	run->counts.unanswered += !is_known;
	return is_known;
}

static size_t find_lines(void *arg, const struct line_place *place, struct dwarf_place *ret)
{
	struct run *const run = arg;
	struct capture_cursor cursor;
	size_t n;

	if (!replay_facts_lines(run->facts, place, &cursor))
		return 0;
	run->n_frames += (uint64_t)(cursor.end - cursor.at) / BYTES_A_FRAME;
	n = (size_t)capture_get_up_to(&cursor, DWARF_LINES_MAX_DEPTH);
	for (size_t i = 0; i < n; i++) {
		char *const name = run->texts[2 * i], *const file = run->texts[2 * i + 1];

		capture_get_text(&cursor, name, CAPTURE_MAX_TEXT);
		capture_get_text(&cursor, file, CAPTURE_MAX_TEXT);
		ret[i] = (struct dwarf_place){
			.name = name[0] ? name : NULL,
			.file = file[0] ? file : NULL,
			.line = (uint32_t)capture_get_up_to(&cursor, UINT32_MAX),
		};
	}
	return cursor.failed ? 0 : n;
}

/* ---- steps ---- */

static int read_sample(struct run *run, uint64_t id)
{
	const struct replay_item *const item = map64_find(&run->facts->samples, id);
	struct sample_room *const room = &run->sample;
	struct record *const record = &room->record;
	struct sample *const sample = &record->sample;
	struct capture_cursor cursor;
	const uint8_t *stack;
	size_t n_regs, stack_len;
	uint32_t chain_len;
	uint64_t flags;

	if (!item)
		return -EINVAL;
	cursor = item->fields;
	*record = (struct record){.kind = RECORD_SAMPLE, .time_ns = capture_get(&cursor)};
	record->pid = (pid_t)capture_get_up_to(&cursor, CAPTURE_MAX_PIDS);
	record->tid = (pid_t)capture_get_up_to(&cursor, CAPTURE_MAX_PIDS);
	sample->period = capture_get(&cursor);
	flags = capture_get_up_to(&cursor, CAPTURE_SAMPLE_FLAGS);
	sample->is_exact = flags & CAPTURE_SAMPLE_EXACT;
	sample->ends_at_page = flags & CAPTURE_SAMPLE_PAGE_OUT;
	sample->weight = 1;
	if (flags & CAPTURE_SAMPLE_WEIGHS)
		sample->weight = capture_get_up_to(&cursor, CAPTURE_MAX_WEIGHT);
	sample->weight += sample->weight == 0;
	if (flags & CAPTURE_SAMPLE_HOLES)
		sample->unread_pages = capture_get(&cursor);
	if (flags & CAPTURE_SAMPLE_COMM)
		capture_get_text(&cursor, sample->comm, sizeof(sample->comm));
	chain_len = (uint32_t)capture_get_up_to(&cursor, CAPTURE_MAX_CHAIN);
	for (uint32_t i = 0; i < chain_len; i++)
		room->chain[i] = capture_get(&cursor);
	perf_split_chain(room->chain, chain_len, sample);
	n_regs = (size_t)capture_get_up_to(&cursor, CAPTURE_MAX_REGS);
	for (size_t i = 0; i < n_regs; i++)
		room->regs[i] = capture_get(&cursor);
	stack = capture_get_data(&cursor, CAPTURE_MAX_SNAPSHOT, &stack_len);
	if (cursor.failed || (n_regs != 0 && n_regs != run->facts->arch->n_regs))
		return -EINVAL;
	sample->regs = n_regs ? room->regs : NULL;
	sample->stack = stack;
	sample->stack_len = n_regs ? (uint32_t)stack_len : 0;
	return 0;
}

static int read_missing(struct run *run, struct capture_cursor *cursor)
{
	run->n_missing = (size_t)capture_get_up_to(cursor, CAPTURE_MAX_MISSING);
	for (size_t i = 0; i < run->n_missing; i++) {
		struct missing *const missing = &run->missing[i];
		uint64_t what;

		missing->file = capture_get_up_to(cursor, run->facts->n_files);
		what = capture_get_up_to(cursor, CAPTURE_TABLE_KINDS * CAPTURE_LATE - 1);
		missing->of = (enum table_of)(what % CAPTURE_TABLE_KINDS);
		missing->why = (unsigned)(what / CAPTURE_TABLE_KINDS);
		if (missing->file == 0)
			return -EINVAL;
	}
	return cursor->failed ? -EINVAL : 0;
}

static void take(struct run *run, uint64_t id, struct process *process)
{
	const struct record *const record = &run->sample.record;
	const struct chain_walk walked = {
		.record = record, .process = process, .stack = &run->stack};
	struct named_sample sample;
	bool is_named;

	dump_record(run->wanted->dump, record);
	unwinder_walk(run->unwinder, process, record->time_ns, &record->sample, &run->stack);
	is_named = chain_name(run->wanted->style, run->symbolizer, &walked, &sample);
	run->n_frames += run->stack.depth;
	if (is_named) {
		dump_sample(run->wanted->dump, &sample);
		run->n_frames += sample.n_frames;
		chain_keep(run->wanted->sinks, &sample);
		if (run->wanted->named)
			run->wanted->named(run->wanted->arg, id, &sample);
	}
	run->counts.samples += is_named;
	sample_watch_end(run->watch, is_named, is_named ? &sample : NULL);
}

static int do_step(struct run *run, struct capture_cursor cursor)
{
	const enum sample_step step =
		(enum sample_step)capture_get_up_to(&cursor, SAMPLE_STEPS - 1);
	const uint64_t id = capture_get(&cursor);
	const uint32_t number = (uint32_t)capture_get_up_to(&cursor, UINT32_MAX);
	struct process *const process = replay_model_find(&run->model, number);
	const uint64_t now_ns = capture_get(&cursor);
	const bool is_gone = capture_get_bool(&cursor);
	int err = cursor.failed || (number && !process) ? -EINVAL : read_missing(run, &cursor);

	if (!err)
		err = replay_memory_begin(&run->memory, process ? process->pid : 0, &cursor);
	if (!err)
		err = read_sample(run, id);
	/* The names of a process's threads are facts of their own. */
	if (process)
		run->sample.record.sample.comm[0] = '\0';
	if (!err && step != SAMPLE_TAKE && !process)
		err = -EINVAL;
	if (err || (run->wanted->wants && !run->wanted->wants(run->wanted->arg, id)))
		return err;
	clock_pretend(now_ns ? now_ns : 1);
	if (process)
		process->gone_ns = is_gone ? now_ns : 0;
	run->counts.steps++;
	sample_watch_begin(run->watch, step, process, &run->sample.record);
	if (step == SAMPLE_TAKE) {
		take(run, id, process);
	} else {
		run->n_frames += chain_prepare(step, run->unwinder, process, &run->sample.record);
		sample_watch_end(run->watch, true, NULL);
	}
	return run->n_frames > MAX_FRAMES || run->memory.answered_bytes > MAX_ANSWERED_BYTES
		       ? -EINVAL
		       : 0;
}

/* ---- runs ---- */

static int open_stages(struct run *run, const struct name_source *names,
		       const struct table_source *tables)
{
	struct capture_stages stages = {.arch = run->facts->arch};
	int err = table_cache_new(TABLE_CACHE_DEFAULT_BYTES, false, &run->tables);

	if (err)
		return err;
	table_cache_set_source(run->tables, tables);
	err = unwinder_new(run->tables, &run->unwinder);
	if (!err)
		err = symbolizer_new_replayed(run->tables, names, &run->symbolizer);
	if (err)
		return err;
	unwinder_set_arch(run->unwinder, run->facts->arch);
	stages.tables = run->tables;
	stages.unwinder = run->unwinder;
	stages.symbolizer = run->symbolizer;
	return run->wanted->watch ? run->wanted->watch(run->wanted->arg, &stages, &run->watch) : 0;
}

static int do_item(struct run *run, const struct replay_item *item)
{
	struct capture_cursor cursor = item->fields;
	pid_t pid;

	switch (item->kind) {
	case CAPTURE_STEP:
		return do_step(run, cursor);
	case CAPTURE_MEMORY:
		pid = (pid_t)capture_get_up_to(&cursor, CAPTURE_MAX_PIDS);
		return replay_memory_begin(&run->memory, pid, &cursor);
	default:
		return replay_model_apply(&run->model, item);
	}
}

static int do_all(struct run *run)
{
	int err = 0;

	for (size_t i = 0; !err && i < run->facts->n_items; i++) {
		const struct replay_item *const item = &run->facts->items[i];

		err = do_item(run, item);
		if (err)
			log_debug("record %zu, of kind %d, is damaged", i, (int)item->kind);
	}
	clock_pretend(0);
	return err;
}

int replay_run(struct replay *replay, const struct replay_run *wanted, struct replay_counts *ret)
{
	struct run *run = calloc(1, sizeof(*run));
	const struct name_source names = {.kernel = name_kernel, .lines = find_lines, .arg = run};
	const struct table_source tables = {.find = find_table, .arg = run};
	const struct process_memory_source memory = {.read = read_memory, .arg = run};
	const struct process_memory_source *before;
	int err;

	if (!run)
		return -ENOMEM;
	run->facts = &replay->facts;
	run->wanted = wanted;
	replay_model_init(&run->model, &replay->facts);
	before = process_memory_use(&memory);
	err = open_stages(run, &names, &tables);
	if (!err)
		err = do_all(run);
	process_memory_use(before);
	*ret = run->counts;
	ret->unanswered += run->memory.unanswered;
	ret->left_out = replay->facts.left_out;
	unwinder_free(run->unwinder);
	symbolizer_free(run->symbolizer);
	replay_model_fini(&run->model);
	replay_memory_fini(&run->memory);
	table_cache_free(run->tables);
	free(run);
	return err;
}
