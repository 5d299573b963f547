// SPDX-License-Identifier: Apache-2.0
/* Notes what the steps of samples ask and are told, see capture.h. */
#include "capture/capture.h"

#include "base/clock.h"
#include "base/quick_hash.h"
#include "capture/capture_codec.h"
#include "capture/capture_facts.h"
#include "capture/capture_writer.h"
#include "code/inline_table.h"
#include "files/cfi_cache.h"
#include "maps/foreign_map.h"
#include "memory/process_memory.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define HASH_PURPOSE	  UINT64_C(0x736565)
#define NEWBORN_BYTES	  16	     /* step_native looks at that row, too */
#define MAX_BETWEEN_BYTES 16384	     /* of a read between steps */
#define MAX_SEEN	  (1u << 20) /* past it all are forgotten, and written again if they are new */

/* A process of the capture. */
struct known_process {
	uint32_t number;
	uint64_t start_ticks;
	const struct code_map *code; /* another map: the process runs another program */
	struct address_space space;  /* as last written */
	bool has_space;
};

/* The step that is going on. */
struct current {
	bool is_on;
	enum sample_step step;
	struct process *process; /* or NULL */
	uint32_t number;	 /* of process; 0: none */
	const struct perf_record *record;
	uint64_t now_ns;
	bool is_gone;
	struct bytes reads, missing;
	size_t n_reads, n_missing;
};

struct capture {
	struct sample_watch watch;
	struct capture_stages stages;
	FILE *stream;
	struct capture_writer writer;
	struct process_memory_source memory;
	struct code_map_watch code, foreign;
	const struct process_memory_source *memory_before; /* who answered before the capture */
	const struct code_map_watch *code_before;	   /* likewise, during a step */
	struct file_watch unwind_files;
	struct name_watch names;
	struct map64 processes; /* PID -> struct known_process */
	struct map64 files;	/* hash of PID and mapping -> number */
	struct map64 samples;	/* hash of thread and time -> number, while a step may come */
	struct map64 seen;	/* hashes of questions that have been answered */
	uint64_t seed;
	uint32_t n_processes;
	uint64_t n_files, n_samples;
	struct current current;
	struct bytes fields;
	struct capture_counts counts;
	struct capture_room room;
};

static uint64_t hash_of(const struct capture *capture, uint64_t a, uint64_t b)
{
	return quick_hash_mix(capture->seed, a, b);
}

/* Whether the question has been answered before; from now on it has. */
static bool was_seen(struct capture *capture, uint64_t hash)
{
	if (map64_find(&capture->seen, hash))
		return true;
	if (capture->seen.count >= MAX_SEEN)
		map64_fini(&capture->seen);
	(void)map64_put(&capture->seen, hash, capture);
	return false;
}

/* ---- processes and code ---- */

static void known_free(struct known_process *known)
{
	if (!known)
		return;
	address_space_fini(&known->space);
	free(known);
}

static struct known_process *know(struct capture *capture, const struct process *process)
{
	const uint64_t key = (uint64_t)process->pid;
	struct known_process *known = map64_find(&capture->processes, key);

	if (known && known->start_ticks == process->start_ticks &&
	    (known->code == process->code || !known->code)) {
		known->code = process->code;
		return known;
	}
	known_free(map64_remove(&capture->processes, key));
	known = calloc(1, sizeof(*known));
	if (!known || map64_put(&capture->processes, key, known) < 0) {
		free(known);
		return NULL;
	}
	known->number = ++capture->n_processes;
	known->start_ticks = process->start_ticks;
	known->code = process->code;
	return known;
}

static bool is_same_space(const struct address_space *a, const struct address_space *b)
{
	if (a->count != b->count)
		return false;
	for (size_t i = 0; i < a->count; i++) {
		const struct mapping *x = &a->mappings[i], *y = &b->mappings[i];

		if (x->start != y->start || x->end != y->end || x->file_off != y->file_off ||
		    x->inode != y->inode || x->dev_major != y->dev_major ||
		    x->dev_minor != y->dev_minor || x->is_deleted != y->is_deleted ||
		    strcmp(x->path, y->path) != 0)
			return false;
	}
	return true;
}

static void write_space(struct capture *capture, struct known_process *known,
			const struct address_space *space)
{
	if (known->has_space && is_same_space(&known->space, space))
		return;
	known->has_space = address_space_copy(&known->space, space) == 0;
	capture_put_mappings(&capture->fields, known->number, space);
	capture_write(&capture->writer, CAPTURE_MAPPINGS, &capture->fields);
}

static uint32_t write_process(struct capture *capture, const struct process *process)
{
	struct known_process *known = process ? know(capture, process) : NULL;

	if (!known)
		return 0;
	capture_put_process(&capture->fields, known->number, process, &capture->room);
	capture_write_change(&capture->writer, CAPTURE_PROCESS, known->number, &capture->fields);
	write_space(capture, known, &process->space);
	return known->number;
}

static void write_thread(struct capture *capture, const struct named_sample *sample)
{
	if (!sample->process)
		return;
	bytes_add_varint(&capture->fields, capture->current.number);
	bytes_add_varint(&capture->fields, (uint64_t)sample->tid);
	capture_put_text(&capture->fields, process_thread_name(sample->process, sample->tid));
	capture_write_change(&capture->writer, CAPTURE_THREAD,
			     (uint64_t)capture->current.number << 32 | (uint32_t)sample->tid,
			     &capture->fields);
}

static void write_code(struct capture *capture, const struct code_range *range, bool is_foreign)
{
	const uint32_t number = capture->current.number;
	uint64_t hash = hash_of(capture, range->addr, range->birth_ns);

	hash = hash_of(capture, hash ^ range->death_ns,
		       (uint64_t)number << 32 | (uint64_t)range->level << 8 | is_foreign);
	hash = hash_of(capture, hash, range->frame.size);
	if (range->inlines)
		hash = hash_of(capture, hash, inline_table_serial(range->inlines));
	if (number == 0 || was_seen(capture, hash))
		return;
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

/* ---- files ---- */

/* The number of the file; 0 without memory. */
static uint64_t find_file(struct capture *capture, pid_t pid, const struct mapping *mapping)
{
	const uint64_t dev = (uint64_t)mapping->dev_major << 32 | mapping->dev_minor;
	uint64_t hash = hash_of(capture, (uint64_t)pid ^ dev << 16, mapping->inode);
	struct bytes *const fields = &capture->fields;
	uint64_t number;

	hash ^= quick_hash_text(capture->seed, mapping->path, strlen(mapping->path));
	number = (uintptr_t)map64_find(&capture->files, hash);
	if (number)
		return number;
	number = ++capture->n_files;
	if (map64_put(&capture->files, hash, (void *)(uintptr_t)number) < 0)
		return 0;
	bytes_add_varint(fields, number);
	bytes_add_varint(fields, (uint64_t)pid);
	bytes_add_varint(fields, mapping->dev_major);
	bytes_add_varint(fields, mapping->dev_minor);
	bytes_add_varint(fields, mapping->inode);
	capture_put_text(fields, mapping->path);
	capture_write(&capture->writer, CAPTURE_FILE, fields);
	return number;
}

/* What a table is, or why there is none: layout or reason is NULL. */
struct table_fact {
	enum table_of of;
	const struct elf_layout *layout;
	const char *reason, *soname;
};

static void write_table(struct capture *capture, uint64_t file, const struct table_fact *table)
{
	struct bytes *const fields = &capture->fields;

	if (was_seen(capture, hash_of(capture, file, 0x7461626c65u + table->of)))
		return;
	bytes_add_varint(fields, file);
	bytes_add_varint(fields, table->of);
	capture_put_text(fields, table->reason);
	if (table->layout) {
		capture_put_text(fields, table->soname);
		capture_put_layout(fields, table->layout);
	}
	capture_write(&capture->writer, CAPTURE_TABLE, fields);
}

/* Returns whether there is a row, of any kind. */
static bool write_row(struct capture *capture, uint64_t file, const struct cfi_table *table,
		      uint64_t elf_addr)
{
	const struct cfi_row *const row = cfi_table_find(table, elf_addr);
	struct bytes *const fields = &capture->fields;
	uint64_t start, end;

	if (!row)
		return false;
	cfi_table_span(table, row, &start, &end);
	bytes_add_varint(fields, file);
	bytes_add_varint(fields, start);
	bytes_add_varint(fields, end - start);
	capture_put_signed(fields, row->cfa_off);
	capture_put_signed(fields, row->cfa_add);
	capture_put_signed(fields, row->fp_off);
	capture_put_signed(fields, row->ra_off);
	bytes_add_varint(fields, row->kind);
	bytes_add_varint(fields, row->cfa_reg);
	bytes_add_varint(fields, row->save_reg);
	bytes_add_varint(fields, (uint64_t)row->is_signal | (uint64_t)row->is_root << 1 |
					 (uint64_t)row->fp_is_at_reg << 2 |
					 (uint64_t)row->ra_is_at_reg << 3);
	capture_put_signed(fields, cfi_table_rbx_off(table, row));
	capture_write_fact(&capture->writer, CAPTURE_ROW, fields);
	return row->kind != CFI_NONE;
}

static void write_rows(struct capture *capture, uint64_t file, const struct cfi_table *table,
		       uint64_t file_off)
{
	uint64_t elf_addr;

	write_table(capture, file,
		    &(struct table_fact){.of = TABLE_UNWIND, .layout = cfi_table_layout(table)});
	if (cfi_table_addr_of(table, file_off, &elf_addr) == 0 &&
	    !write_row(capture, file, table, elf_addr))
		write_row(capture, file, table, elf_addr + NEWBORN_BYTES);
}

static void write_symbol(struct capture *capture, uint64_t file, const struct elf_symbols *symbols,
			 uint64_t file_off)
{
	struct bytes *const fields = &capture->fields;
	uint64_t elf_addr, offset, start;
	const char *name;

	write_table(capture, file,
		    &(struct table_fact){.of = TABLE_SYMBOLS,
					 .layout = elf_symbols_layout(symbols),
					 .soname = elf_symbols_soname(symbols)});
	if (elf_symbols_addr_of(symbols, file_off, &elf_addr) < 0)
		return;
	name = elf_symbols_find_linker_name(symbols, elf_addr, &offset);
	if (name) {
		bytes_add_varint(fields, file);
		bytes_add_varint(fields, elf_addr - offset);
		bytes_add_varint(fields, offset);
		capture_put_text(fields, name);
		capture_write_fact(&capture->writer, CAPTURE_SYMBOL, fields);
	} else if (elf_symbols_find_start(symbols, elf_addr, &start) == 0) {
		bytes_add_varint(fields, file);
		bytes_add_varint(fields, start);
		capture_write_fact(&capture->writer, CAPTURE_START, fields);
	}
}

/* No table now; whether there will be one, the table cache has counted. */
static void write_no_table(struct capture *capture, uint64_t file, enum table_of of, bool is_late,
			   const char *reason)
{
	struct current *const current = &capture->current;

	if (!is_late) {
		write_table(capture, file, &(struct table_fact){.of = of, .reason = reason});
		return;
	}
	if (current->n_missing == CAPTURE_MAX_MISSING)
		return;
	bytes_add_varint(&current->missing, file);
	bytes_add_varint(&current->missing, of);
	current->n_missing++;
}

static uint64_t waits_of(const struct table_cache *tables)
{
	return table_cache_missing(tables) + table_cache_put_off(tables);
}

static void on_file(void *arg, enum table_of of, pid_t pid, const struct mapping *mapping,
		    uint64_t addr)
{
	struct capture *const capture = arg;
	struct table_cache *const tables = capture->stages.tables;
	const uint64_t file_off = addr - mapping->start + mapping->file_off;
	const uint64_t file = find_file(capture, pid, mapping);
	const uint64_t hash = hash_of(capture, file << 1 | of, file_off);
	const uint64_t waits = waits_of(tables);
	const char *reason = "";
	void *table;

	if (file == 0 || map64_find(&capture->seen, hash))
		return;
	table = table_cache_find(tables, of, pid, mapping, &reason);
	if (!table)
		write_no_table(capture, file, of, waits_of(tables) != waits, reason);
	else if (of == TABLE_UNWIND)
		write_rows(capture, file, table, file_off);
	else
		write_symbol(capture, file, table, file_off);
	if (table)
		was_seen(capture, hash);
}

/* ---- names ---- */

static void on_kernel(void *arg, const struct kernel_call *call, const struct frame *frame)
{
	struct capture *const capture = arg;
	struct bytes *const fields = &capture->fields;

	bytes_add_varint(fields, call->addr);
	bytes_add_varint(fields, call->caller);
	capture_put_text(fields, frame_kind_word(frame->kind));
	capture_put_text(fields, frame->name);
	capture_put_text(fields, frame->module);
	capture_write_fact(&capture->writer, CAPTURE_KERNEL, fields);
}

static void on_lines(void *arg, const struct line_place *place, const struct dwarf_place *found,
		     size_t n)
{
	struct capture *const capture = arg;
	const uint64_t file = find_file(capture, place->pid, place->mapping);
	struct bytes *const fields = &capture->fields;

	if (file == 0 || n == 0)
		return;
	bytes_add_varint(fields, file);
	bytes_add_varint(fields, place->elf_addr);
	bytes_add_varint(fields, n);
	for (size_t i = 0; i < n; i++) {
		capture_put_text(fields, found[i].name);
		capture_put_text(fields, found[i].file);
		bytes_add_varint(fields, found[i].line);
	}
	capture_write_fact(&capture->writer, CAPTURE_LINES, fields);
}

/* ---- memory ---- */

static void put_read(struct bytes *bytes, const struct iovec *to, const struct iovec *from,
		     unsigned long n, ssize_t got)
{
	size_t left = got > 0 ? (size_t)got : 0;

	bytes_add_varint(bytes, n);
	for (unsigned long i = 0; i < n; i++) {
		bytes_add_varint(bytes, (uint64_t)(uintptr_t)from[i].iov_base);
		bytes_add_varint(bytes, from[i].iov_len);
	}
	capture_put_signed(bytes, got);
	for (unsigned long i = 0; i < n && left > 0; i++) {
		const size_t part = to[i].iov_len < left ? to[i].iov_len : left;

		bytes_add(bytes, to[i].iov_base, part);
		left -= part;
	}
}

static void write_memory(struct capture *capture, pid_t pid, size_t n_reads,
			 const struct bytes *reads)
{
	struct bytes *const fields = &capture->fields;

	bytes_add_varint(fields, (uint64_t)pid);
	bytes_add_varint(fields, n_reads);
	bytes_add(fields, reads->data, reads->len);
	fields->failed |= reads->failed;
	capture_write(&capture->writer, CAPTURE_MEMORY, fields);
}

/*
 * Between steps others read, and caches that they share with the steps have it then: what a process
 * has of interpreted methods.
 */
static ssize_t on_read(void *arg, pid_t pid, const struct iovec *to, const struct iovec *from,
		       unsigned long n)
{
	struct capture *const capture = arg;
	struct current *const current = &capture->current;
	const struct process_memory_source *const before = capture->memory_before;
	const ssize_t got = before ? before->read(before->arg, pid, to, from, n)
				   : process_memory_read_live(pid, to, from, n);

	if (n > CAPTURE_MAX_PIECES)
		return got;
	if (current->is_on && current->n_reads < CAPTURE_MAX_READS) {
		put_read(&current->reads, to, from, n, got);
		current->n_reads++;
	} else if (!current->is_on && got > 0 && got <= MAX_BETWEEN_BYTES) {
		current->reads.len = 0;
		put_read(&current->reads, to, from, n, got);
		write_memory(capture, pid, 1, &current->reads);
	}
	return got;
}

/* ---- steps ---- */

static void listen(struct capture *capture, struct process *process)
{
	unwinder_watch(capture->stages.unwinder, &capture->unwind_files);
	symbolizer_watch(capture->stages.symbolizer, &capture->names);
	if (process && process->code)
		capture->code_before = code_map_set_watch(process->code, &capture->code);
	if (process && process->foreign.map)
		foreign_map_set_watch(process->foreign.map, &capture->foreign);
}

static void stop_listening(struct capture *capture, struct process *process)
{
	unwinder_watch(capture->stages.unwinder, NULL);
	symbolizer_watch(capture->stages.symbolizer, NULL);
	if (process && process->code)
		code_map_set_watch(process->code, capture->code_before);
	if (process && process->foreign.map)
		foreign_map_set_watch(process->foreign.map, NULL);
}

struct capture *capture_of(struct sample_watch *watch)
{
	return (struct capture *)watch; /* the first member */
}

static void begin(struct sample_watch *watch, enum sample_step step, struct process *process,
		  const struct perf_record *record)
{
	struct capture *const capture = capture_of(watch);
	struct current *const current = &capture->current;

	current->is_on = !capture->writer.is_full && !capture->writer.err;
	if (!current->is_on)
		return;
	current->step = step;
	current->process = process;
	current->record = record;
	current->now_ns = clock_now_ns();
	current->is_gone = process && process->gone_ns;
	current->reads.len = current->missing.len = 0;
	current->n_reads = current->n_missing = 0;
	current->number = write_process(capture, process);
	listen(capture, process);
}

/* The number of the sample, which is written when its first step ends. */
static uint64_t write_sample(struct capture *capture, const struct perf_record *record)
{
	const uint64_t thread = (uint64_t)record->tid << 32 | record->sample.stack_len;
	const uint64_t key = hash_of(capture, thread, record->time_ns);
	uint64_t id = (uintptr_t)map64_find(&capture->samples, key);

	if (id)
		return id;
	id = ++capture->n_samples;
	if (map64_put(&capture->samples, key, (void *)(uintptr_t)id) < 0)
		return 0;
	capture_put_sample(&capture->fields, id, record, capture->stages.arch->n_regs);
	return capture_write(&capture->writer, CAPTURE_SAMPLE, &capture->fields) ? id : 0;
}

static bool write_step(struct capture *capture)
{
	const struct current *const current = &capture->current;
	const uint64_t id = write_sample(capture, current->record);
	struct bytes *const fields = &capture->fields;

	if (id == 0)
		return false;
	bytes_add_varint(fields, current->step);
	bytes_add_varint(fields, id);
	bytes_add_varint(fields, current->number);
	bytes_add_varint(fields, current->now_ns);
	bytes_add_varint(fields, current->is_gone);
	bytes_add_varint(fields, current->n_missing);
	bytes_add(fields, current->missing.data, current->missing.len);
	bytes_add_varint(fields, current->n_reads);
	bytes_add(fields, current->reads.data, current->reads.len);
	fields->failed |= current->missing.failed || current->reads.failed;
	return capture_write(&capture->writer, CAPTURE_STEP, fields);
}

static void end(struct sample_watch *watch, bool counts, const struct named_sample *sample)
{
	struct capture *const capture = capture_of(watch);
	struct current *const current = &capture->current;
	const bool is_on = current->is_on;
	bool is_written = false;

	if (is_on)
		stop_listening(capture, current->process);
	current->is_on = false;
	if (!counts && is_on && current->n_reads > 0)
		write_memory(capture, current->record->pid, current->n_reads, &current->reads);
	if (!counts)
		return;
	/* A remainder that was not read has changed nothing. */
	if (is_on && (current->step != SAMPLE_REMAINDER || current->n_reads > 0)) {
		if (sample)
			write_thread(capture, sample);
		is_written = write_step(capture);
	}
	capture->counts.samples += sample && is_written;
	capture->counts.left_out += sample && !is_written;
}

/* ---- life ---- */

static void write_header(struct capture *capture)
{
	capture_put_text(&capture->fields, capture->stages.arch->name);
	bytes_add_varint(&capture->fields, capture->stages.arch->n_regs);
	capture_write(&capture->writer, CAPTURE_HEADER, &capture->fields);
}

/* Who has come behind the capture stays. */
static void stop_reading(struct capture *capture)
{
	const struct process_memory_source *const last = process_memory_use(capture->memory_before);

	if (last != &capture->memory)
		process_memory_use(last);
}

static void free_capture(struct sample_watch *watch)
{
	struct capture *const capture = capture_of(watch);
	size_t pos = 0;
	uint64_t key;
	void *value;

	stop_reading(capture);
	while (map64_next(&capture->processes, &pos, &key, &value))
		known_free(value);
	map64_fini(&capture->processes);
	map64_fini(&capture->files);
	map64_fini(&capture->samples);
	map64_fini(&capture->seen);
	bytes_fini(&capture->fields);
	bytes_fini(&capture->current.reads);
	bytes_fini(&capture->current.missing);
	capture_writer_fini(&capture->writer);
	fclose(capture->stream);
	free(capture);
}

int capture_new(const struct capture_stages *stages, FILE *stream, struct capture **ret)
{
	static const struct sample_watch_ops ops = {
		.begin = begin, .end = end, .free = free_capture};
	struct capture *capture = calloc(1, sizeof(*capture));
	int err;

	if (!capture) {
		fclose(stream);
		return -ENOMEM;
	}
	capture->stream = stream;
	capture->watch.ops = &ops;
	capture->stages = *stages;
	if (!stages->arch)
		capture->stages.arch = arch_native;
	capture->seed = quick_hash_seed(HASH_PURPOSE);
	capture->memory = (struct process_memory_source){.read = on_read, .arg = capture};
	capture->code = (struct code_map_watch){.find = on_code, .arg = capture};
	capture->foreign = (struct code_map_watch){.find = on_foreign_code, .arg = capture};
	capture->unwind_files = (struct file_watch){.asked = on_file, .arg = capture};
	capture->names = (struct name_watch){.files = capture->unwind_files,
					     .kernel = on_kernel,
					     .lines = on_lines,
					     .arg = capture};
	err = capture_writer_init(&capture->writer, stream);
	if (err) {
		fclose(stream);
		free(capture);
		return err;
	}
	write_header(capture);
	capture->memory_before = process_memory_use(&capture->memory);
	*ret = capture;
	return 0;
}

struct sample_watch *capture_watch(struct capture *capture)
{
	return &capture->watch;
}

int capture_finish(struct capture *capture, const struct profile_info *info, uint64_t start_ns)
{
	struct bytes *const fields = &capture->fields;
	int err, fd;

	fields->len = 0;
	capture_put_text(fields, info->host);
	capture_put_text(fields, info->boot_id);
	capture_put_text(fields, info->kernel);
	capture_put_text(fields, info->event);
	capture_put_text(fields, info->program);
	bytes_add_varint(fields, info->hz);
	bytes_add_varint(fields, info->start_unix_ns);
	bytes_add_varint(fields, start_ns);
	bytes_add_varint(fields, info->duration_ns);
	bytes_add_varint(fields, info->quality.lost_samples);
	bytes_add_varint(fields, info->quality.stackless_samples);
	bytes_add_varint(fields, capture->counts.left_out);
	err = capture_writer_end(&capture->writer, CAPTURE_END, fields);
	if (!err && fflush(capture->stream) != 0)
		err = -errno;
	fd = err ? err : dup(fileno(capture->stream));
	return fd == -1 ? -errno : fd;
}

void capture_counts(const struct capture *capture, struct capture_counts *ret)
{
	*ret = capture->counts;
	ret->bytes = capture->writer.bytes;
}
