// SPDX-License-Identifier: Apache-2.0
/* Notes the steps of samples, and the memory that they read, see capture.h. */
#include "capture/capture.h"

#include "base/clock.h"
#include "base/hash.h"
#include "guard/heap_bytes.h"
#include "capture/capture_codec.h"
#include "capture/capture_self.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define HASH_PURPOSE	  UINT64_C(0x736565)
#define ZIP_BYTES	  ((size_t)266 << 10) /* of zlib for deflate, by zconf.h */
#define MAX_BETWEEN_BYTES 16384		      /* limit of a read between steps */
#define MAX_SEEN	  (1u << 20) /* past it all are forgotten, and facts may be repeated */

uint64_t capture_hash(const struct capture *capture, uint64_t a, uint64_t b)
{
	return quick_hash_mix(capture->seed, a, b);
}

bool capture_was_seen(struct capture *capture, uint64_t hash)
{
	if (map64_find(&capture->seen, hash))
		return true;
	if (capture->seen.count >= MAX_SEEN)
		map64_fini(&capture->seen);
	(void)map64_put(&capture->seen, hash, capture);
	return false;
}

/* ---- memory that it takes ---- */

static uint64_t heap_of(const struct capture *capture)
{
	const struct current *const current = &capture->current;
	const struct capture_writer *const writer = &capture->writer;

	return heap_bytes(sizeof(*capture)) + ZIP_BYTES + map64_bytes(&capture->processes) +
	       capture->processes.count * heap_bytes(sizeof(struct known_process)) +
	       map64_bytes(&capture->files) + map64_bytes(&capture->samples) +
	       map64_bytes(&capture->seen) + map64_bytes(&writer->facts) +
	       map64_bytes(&writer->last) + heap_bytes(current->reads.size) +
	       heap_bytes(current->missing.size) + heap_bytes(capture->fields.size);
}

/* The file is in memory, too: recording_capture.h. */
static uint64_t bytes_of(const struct sample_watch *watch)
{
	const struct capture *const capture = (const struct capture *)watch;

	return heap_of(capture) + capture->writer.compressor.z.total_out;
}

/* ---- shares of it ---- */

static struct capture_amounts amounts_of(const struct capture *capture)
{
	struct capture_amounts amounts;

	amounts.of[CAPTURE_POOL_BYTES] = capture->writer.bytes;
	amounts.of[CAPTURE_POOL_RECORDS] = capture->writer.records;
	amounts.of[CAPTURE_POOL_PROCESSES] = capture->n_processes;
	amounts.of[CAPTURE_POOL_FILES] = capture->n_files;
	amounts.of[CAPTURE_POOL_CODE] = capture->n_code;
	amounts.of[CAPTURE_POOL_FRAMES] = capture->n_frames;
	/* But for what is made anew when it is full. */
	amounts.of[CAPTURE_POOL_MEMORY] = bytes_of(&capture->watch) - map64_bytes(&capture->seen);
	return amounts;
}

static bool has_share(const struct capture *capture, uint64_t group)
{
	struct capture_amounts limits;

	limits.of[CAPTURE_POOL_BYTES] = CAPTURE_MAX_BYTES;
	limits.of[CAPTURE_POOL_RECORDS] = CAPTURE_MAX_RECORDS;
	limits.of[CAPTURE_POOL_PROCESSES] = CAPTURE_MAX_PROCESSES;
	limits.of[CAPTURE_POOL_FILES] = CAPTURE_MAX_FILES;
	limits.of[CAPTURE_POOL_CODE] = CAPTURE_MAX_CODE;
	limits.of[CAPTURE_POOL_FRAMES] = CAPTURE_MAX_FRAMES;
	limits.of[CAPTURE_POOL_MEMORY] = capture->max_bytes;
	return capture_share_has(&capture->share, group, &limits);
}

static void charge(struct capture *capture, uint64_t group, const struct capture_amounts *before)
{
	const struct capture_amounts after = amounts_of(capture);

	capture_share_take(&capture->share, group, before, &after);
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
 * Notes a read. Between steps, caches that the steps share are filled, for example with a process's
 * interpreted methods. So reads between steps are noted, too, but only of processes of which the
 * capture has samples: other recordings read others.
 */
static ssize_t on_read(void *arg, pid_t pid, const struct iovec *to, const struct iovec *from,
		       unsigned long n)
{
	struct capture *const capture = arg;
	struct current *const current = &capture->current;
	const struct process_memory_source *const before = capture->memory_before;
	const ssize_t got = before ? before->read(before->arg, pid, to, from, n)
				   : process_memory_read_live(pid, to, from, n);
	const struct known_process *const known = map64_find(&capture->processes, (uint64_t)pid);

	if (n > CAPTURE_MAX_PIECES || !known)
		return got;
	if (current->is_on && current->n_reads < CAPTURE_MAX_READS) {
		put_read(&current->reads, to, from, n, got);
		current->n_reads++;
	} else if (!current->is_on && got > 0 && got <= MAX_BETWEEN_BYTES &&
		   has_share(capture, known->group)) {
		const struct capture_amounts amounts = amounts_of(capture);

		current->reads.len = 0;
		put_read(&current->reads, to, from, n, got);
		write_memory(capture, pid, 1, &current->reads);
		charge(capture, known->group, &amounts);
	}
	return got;
}

/* ---- steps ---- */

static void listen(struct capture *capture, struct process *process)
{
	unwinder_watch(capture->stages.unwinder, &capture->unwind_files);
	symbolizer_watch(capture->stages.symbolizer, &capture->names);
	capture_watch_code(capture, process);
}

static void stop_listening(struct capture *capture, struct process *process)
{
	unwinder_watch(capture->stages.unwinder, NULL);
	symbolizer_watch(capture->stages.symbolizer, NULL);
	capture_unwatch_code(capture, process);
}

struct capture *capture_of(struct sample_watch *watch)
{
	return (struct capture *)watch; /* the watch is the first member */
}

static void set_max_bytes(struct sample_watch *watch, uint64_t bytes)
{
	capture_of(watch)->max_bytes = bytes;
}

static void begin(struct sample_watch *watch, enum sample_step step, struct process *process,
		  const struct record *record)
{
	struct capture *const capture = capture_of(watch);
	struct current *const current = &capture->current;

	capture->writer.is_full |= bytes_of(watch) > capture->max_bytes;
	current->group = process ? process->group : 0;
	current->is_on = !capture->writer.is_full && !capture->writer.err &&
			 has_share(capture, current->group);
	if (!current->is_on)
		return;
	current->before = amounts_of(capture);
	current->number = capture_process(capture, process);
	current->is_on = !process || current->number;
	if (!current->is_on) {
		charge(capture, current->group, &current->before);
		return;
	}
	current->step = step;
	current->process = process;
	current->record = record;
	current->is_gone = process && process->gone_ns;
	current->reads.len = current->missing.len = 0;
	current->n_reads = current->n_missing = 0;
	current->now_ns = clock_now_ns();
	clock_pretend(current->now_ns); /* a replay of the step has this time alone */
	listen(capture, process);
}

/* As a reader counts them: walked ahead, walked, and named. */
static void count_frames(struct capture *capture, const struct named_sample *sample)
{
	capture->n_frames += 2 * (uint64_t)sample->stack->depth + sample->n_frames;
	capture->writer.is_full |= capture->n_frames > CAPTURE_MAX_FRAMES;
}

/*
 * Returns the sample's number; 0: no memory, or no room. The sample is written when its first step
 * ends.
 */
static uint64_t write_sample(struct capture *capture, const struct record *record)
{
	const uint64_t thread = (uint64_t)record->tid << 32 | record->sample.stack_len;
	const uint64_t key = capture_hash(capture, thread, record->time_ns);
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

/* Writes what the step has asked. Returns whether the sample is in the capture. */
static bool note_step(struct capture *capture, bool counts, const struct named_sample *sample)
{
	const struct current *const current = &capture->current;

	if (!counts && current->n_reads > 0)
		write_memory(capture, current->record->pid, current->n_reads, &current->reads);
	/* A SAMPLE_REMAINDER that has read nothing has changed nothing. */
	if (!counts || (current->step == SAMPLE_REMAINDER && current->n_reads == 0))
		return false;
	if (sample) {
		capture_thread(capture, sample);
		count_frames(capture, sample);
	}
	return write_step(capture);
}

static void end(struct sample_watch *watch, bool counts, const struct named_sample *sample)
{
	struct capture *const capture = capture_of(watch);
	struct current *const current = &capture->current;
	bool is_written = false;

	if (current->is_on) {
		stop_listening(capture, current->process);
		clock_pretend(0);
		current->is_on = false;
		is_written = note_step(capture, counts, sample);
		charge(capture, current->group, &current->before);
	}
	capture->counts.samples += counts && sample && is_written;
	capture->counts.left_out += counts && sample && !is_written;
}

/* ---- life ---- */

static void write_header(struct capture *capture)
{
	capture_put_text(&capture->fields, capture->stages.arch->name);
	bytes_add_varint(&capture->fields, capture->stages.arch->n_regs);
	capture_write(&capture->writer, CAPTURE_HEADER, &capture->fields);
}

/* Takes the capture out of the sources of memory. A source set after the capture stays. */
static void stop_reading(struct capture *capture)
{
	const struct process_memory_source *const last = process_memory_use(capture->memory_before);

	if (last != &capture->memory)
		process_memory_use(last);
}

static void free_capture(struct sample_watch *watch)
{
	struct capture *const capture = capture_of(watch);

	stop_reading(capture);
	capture_processes_fini(capture);
	map64_fini(&capture->files);
	map64_fini(&capture->samples);
	map64_fini(&capture->seen);
	capture_share_fini(&capture->share);
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
		.begin = begin,
		.end = end,
		.bytes = bytes_of,
		.set_max_bytes = set_max_bytes,
		.free = free_capture,
	};
	struct capture *capture = calloc(1, sizeof(*capture));
	int err;

	if (!capture) {
		fclose(stream);
		return -ENOMEM;
	}
	capture->stream = stream;
	capture->max_bytes = UINT64_MAX;
	capture->watch.ops = &ops;
	capture->stages = *stages;
	if (!stages->arch)
		capture->stages.arch = arch_native;
	capture->seed = quick_hash_seed(HASH_PURPOSE);
	capture->memory = (struct process_memory_source){.read = on_read, .arg = capture};
	capture_processes_init(capture);
	capture_files_init(capture);
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
