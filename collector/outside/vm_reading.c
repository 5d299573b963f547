// SPDX-License-Identifier: Apache-2.0
/*
 * Reads a JVM's tables once and its code heaps in each step, and tells of what is different, see
 * vm_reading.h.
 *
 * One step: list the blocks of all heaps (code_heaps.h), read the beginning of the blob in each
 * (blob_windows.h), compare the blobs, in order of address, with those of the step before, and tell
 * of those that are new (code_telling.h).
 */
#include "outside/vm_reading.h"

#include "base/array.h"
#include "outside/code_telling.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_THREAD_FAILURES 64

struct vm_reading {
	struct vm_image_mapping libjvm;
	bool is_beside;
	bool has_layout, is_begun, is_whole; /* is_whole: all code has been told once */
	struct code_layout layout;
	struct vm_layout methods;
	struct vm_tables *tables; /* until the layout of threads is known */
	unsigned thread_failures;
	struct thread_layout threads;
	struct code_blocks blocks;
	struct blob_list known;
	struct blob_names names;
	struct method_names method_names;
	struct vm_span variables; /* of the library */
	struct stub_list stubs;
	struct blob_windows *windows;
	uint8_t *records;
	uint64_t step_ns; /* of the step before */
	struct vm_reading_stats stats;
	struct code_telling_stats told; /* which belong to the stats */
};

/* What becomes of a blob that is known. */
enum known_state {
	KNOWN_STAYS,
	KNOWN_GONE,
	KNOWN_AGAIN, /* it is told of again */
};

/* What one step has at hand. Lists are in order of address. */
struct stepping {
	struct vm_reading *reading;
	struct vm_memory *memory;
	struct code_telling telling;
	uint8_t *states;	/* of those that are known; NULL: the heaps are not listed */
	size_t passed;		/* so many of these are in front of the blob that is listed */
	size_t changed;		/* of these do not stay */
	struct blob_list stubs; /* what is in the heaps and is no nmethod */
	struct blob_list fresh; /* what is to be told of */
	struct blob_list told;	/* what was told of */
};

int vm_reading_new(const struct vm_image_mapping *libjvm, bool is_beside, struct vm_reading **ret)
{
	struct vm_reading *const reading = calloc(1, sizeof(*reading));

	if (!reading)
		return -ENOMEM;
	reading->libjvm = *libjvm;
	reading->is_beside = is_beside;
	*ret = reading;
	return 0;
}

void vm_reading_free(struct vm_reading *reading)
{
	if (!reading)
		return;
	code_blocks_fini(&reading->blocks);
	blob_names_fini(&reading->names);
	method_names_fini(&reading->method_names);
	stub_list_fini(&reading->stubs);
	blob_list_fini(&reading->known);
	free(reading->windows);
	free(reading->records);
	free(reading->tables);
	free(reading);
}

/* ---- reading blobs ---- */

static void pass_known(struct stepping *step, enum known_state state)
{
	step->states[step->passed++] = state;
	step->changed += state != KNOWN_STAYS;
}

/* Whether the next blob of the heaps is known. Those in front of it are gone. */
static bool is_known(struct stepping *step, const struct code_blob *blob)
{
	struct blob_list *const known = &step->reading->known;

	while (step->passed < known->count && known->at[step->passed].addr <= blob->addr) {
		struct code_blob *const old = &known->at[step->passed];

		if (code_blob_is(old, blob)) {
			*old = *blob;
			pass_known(step, KNOWN_STAYS);
			return true;
		}
		step->reading->stats.reused += old->addr == blob->addr;
		pass_known(step, KNOWN_GONE);
	}
	return false;
}

static int note_blob(struct stepping *step, const struct code_blob *blob)
{
	int err = 0;

	if (!is_known(step, blob))
		err = blob_list_add(&step->fresh, blob);
	if (!err && blob->kind == BLOB_STUB)
		err = blob_list_add(&step->stubs, blob);
	return err;
}

/* Compares what the heaps have with what is known. */
static int list_blobs(struct stepping *step)
{
	const struct code_blocks *const blocks = &step->reading->blocks;
	struct blob_windows *const windows = step->reading->windows;
	const size_t n_known = step->reading->known.count;
	int err = 0;

	step->states = calloc(n_known + 1, sizeof(*step->states));
	if (!step->states)
		return -ENOMEM;
	for (size_t at = 0; !err && at < blocks->count; at += BLOB_WINDOWS_MAX) {
		const size_t left = blocks->count - at;
		const size_t n = left < BLOB_WINDOWS_MAX ? left : BLOB_WINDOWS_MAX;

		memcpy(windows->blocks, blocks->blocks + at, n * sizeof(*windows->blocks));
		blob_windows_read(windows, n);
		if (step->memory->err)
			return step->memory->err;
		for (size_t i = 0; !err && i < n; i++) {
			struct code_blob blob;

			if (blob_windows_decode(windows, i, &blob))
				err = note_blob(step, &blob);
		}
	}
	while (!err && step->passed < n_known)
		pass_known(step, KNOWN_GONE);
	return err;
}

/* Known blobs in which there are new stubs are told of again. */
static int tell_again(struct stepping *step)
{
	const struct blob_list *const known = &step->reading->known;
	int err = 0;

	if (!stub_list_has_news(&step->reading->stubs))
		return 0;
	for (size_t i = 0; !err && i < step->stubs.count; i++) {
		const struct code_blob *const blob = &step->stubs.at[i];
		const size_t at =
			ARRAY_COUNT_BELOW(0, known->count, k, known->at[k].addr < blob->addr);

		if (at < known->count && known->at[at].addr == blob->addr &&
		    step->states[at] == KNOWN_STAYS &&
		    stub_list_has_new(&step->reading->stubs, blob)) {
			step->states[at] = KNOWN_AGAIN;
			step->changed++;
			err = blob_list_add(&step->fresh, blob);
		}
	}
	blob_list_sort(&step->fresh);
	return err;
}

/* Code without room for the record that it is gone stays known. */
static void tell_gone(struct stepping *step)
{
	const struct blob_list *const known = &step->reading->known;

	for (size_t i = 0; step->changed > 0 && i < known->count; i++) {
		if (step->states[i] != KNOWN_GONE ||
		    code_records_gone(&step->telling.out, &known->at[i]))
			continue;
		step->telling.has_more = true;
		step->states[i] = KNOWN_STAYS;
	}
}

/* What is known after a step that has ended well: blobs that stay, and those that were told of. */
static void take_known(struct stepping *step)
{
	struct blob_list *const known = &step->reading->known;
	size_t n = 0;

	for (size_t i = 0; step->changed > 0 && i < known->count; i++) {
		if (step->states[i] == KNOWN_STAYS)
			known->at[n++] = known->at[i];
	}
	if (step->changed > 0)
		known->count = n;
	blob_list_merge(known, &step->told);
}

/* ---- telling ---- */

/* Whether the step has done as much as one may. */
static bool is_enough(const struct stepping *step, size_t told)
{
	return told >= VM_READING_NEW || step->telling.has_more ||
	       code_telling_is_enough(&step->telling) ||
	       step->memory->bytes + VM_READING_STEP_BYTES / 2 > step->memory->max_bytes;
}

static int tell_fresh(struct stepping *step)
{
	const struct blob_list *const fresh = &step->fresh;
	size_t at = 0, n = 0;
	int err = 0;

	while (!err && at < fresh->count && !(at > 0 && is_enough(step, at))) {
		err = code_telling_some(&step->telling, fresh->at + at, fresh->count - at, &n);
		at += n;
	}
	step->telling.has_more |= at < fresh->count;
	blob_list_sort(&step->told);
	return err ? err
		   : blob_list_reserve(&step->reading->known,
				       step->reading->known.count + step->told.count);
}

/* ---- a step ---- */

static int read_layout(struct stepping *step, const struct vm_reading_now *now, char *ret_lacks)
{
	struct vm_reading *const reading = step->reading;
	struct vm_tables *const tables = malloc(sizeof(*tables));
	const struct code_records_who who = {now->inner_pid, now->texts};
	const char *lacks = "";
	int err = tables ? vm_tables_read(step->memory, &reading->libjvm, tables) : -ENOMEM;

	if (!err)
		err = vm_image_variables(step->memory, &reading->libjvm, &reading->variables);
	if (!err && !code_layout_init(&reading->layout, tables, &lacks))
		err = -ENOTSUP;
	if (!err)
		err = code_records_hello(&step->telling.out, step->memory, tables, &who,
					 &reading->methods);
	if (reading->is_beside)
		step->telling.out.buf.len = 0; /* the agent has said hello */
	if (!err && !vm_layout_has_methods(&reading->methods)) {
		lacks = "the layout of methods";
		err = -ENOTSUP;
	}
	if (!err)
		reading->windows = blob_windows_new(&reading->layout, &reading->names);
	if (!err && !reading->windows)
		err = -ENOMEM;
	reading->layout.scopes.is_biased = reading->methods.lines_are_biased;
	reading->has_layout = !err;
	snprintf(ret_lacks, VM_READING_LACKS_BYTES, "%s", err == -ENOTSUP ? lacks : "");
	reading->tables = tables;
	return err;
}

/* ---- threads ---- */

static void tell_thread(void *arg, uint32_t tid, const char *name, size_t len)
{
	struct stepping *const step = arg;

	code_records_thread(&step->telling.out, tid, name, len);
}

/* A JVM that is starting may have no class of threads yet. */
static void read_thread_layout(struct stepping *step)
{
	struct vm_reading *const reading = step->reading;
	const int err = thread_layout_init(&reading->threads, step->memory, reading->tables);

	if (err && err != -ENOTSUP && ++reading->thread_failures < MAX_THREAD_FAILURES)
		return;
	free(reading->tables);
	reading->tables = NULL;
}

/* Names that cannot be read are not told: whoever wants them has the kernel's. */
static void tell_threads(struct stepping *step, const struct vm_reading_now *now)
{
	struct vm_reading *const reading = step->reading;

	if (now->n_tids == 0)
		return;
	if (reading->tables)
		read_thread_layout(step);
	step->telling.out.time_ns = now->time_ns; /* a name is of when it was seen */
	if (reading->threads.is_valid)
		thread_names_read(step->memory, &reading->threads, now->tids, now->n_tids,
				  tell_thread, step);
}

/* The records are in a buffer that is no larger than they are. */
static void take_records(struct stepping *step, struct vm_reading_told *ret)
{
	struct vm_reading *const reading = step->reading;
	const size_t len = step->telling.out.buf.len;
	uint8_t *const less = realloc(reading->records, len ? len : 1);

	if (less)
		reading->records = less;
	ret->records = reading->records;
	ret->len = len;
	ret->has_more = step->telling.has_more;
	ret->has_news = step->changed > 0 || step->told.count > 0;
	memcpy(ret->heaps, reading->blocks.heaps, sizeof(ret->heaps));
	ret->n_heaps = reading->blocks.n_heaps;
}

/* Reads and tells; after an error nothing is known but what was. */
static int read_code(struct stepping *step, const struct vm_reading_now *now)
{
	struct vm_reading *const reading = step->reading;
	int err;

	if (!reading->is_begun && !reading->is_beside)
		code_records_begin(&step->telling.out, now->time_ns);
	reading->is_begun = true;
	reading->windows->memory = step->memory;
	step->telling.windows = reading->windows;
	err = code_heaps_list(step->memory, &reading->layout, &reading->blocks);
	reading->stats.left_out = reading->blocks.left_out;
	if (!err)
		err = list_blobs(step);
	if (!err)
		err = stub_list_update(&reading->stubs, step->memory, &reading->variables,
				       &step->stubs);
	if (!err)
		err = tell_again(step);
	if (!err)
		tell_gone(step);
	if (!err)
		err = tell_fresh(step);
	if (!err && !step->telling.has_more && !reading->is_whole) {
		reading->is_whole =
			reading->is_beside || code_records_end(&step->telling.out, now->time_ns);
		step->telling.has_more = !reading->is_whole;
	}
	return err;
}

/* Code came and went in the middle between two steps, as far as can be known. */
static uint64_t event_ns(const struct vm_reading *reading, uint64_t now_ns)
{
	if (!reading->is_whole || now_ns < reading->step_ns)
		return now_ns;
	return reading->step_ns + (now_ns - reading->step_ns) / 2;
}

static void prepare(struct stepping *step, const struct vm_reading_now *now)
{
	struct vm_reading *const reading = step->reading;
	struct code_telling *const telling = &step->telling;

	*telling = (struct code_telling){
		.memory = step->memory,
		.methods = &reading->methods,
		.names = &reading->method_names,
		.stubs = &reading->stubs,
		.told = &step->told,
		.stats = &reading->told,
	};
	code_records_init(&telling->out, reading->records, VM_READING_RECORD_BYTES);
	telling->out.time_ns = event_ns(reading, now->time_ns);
	telling->out.is_resync = !reading->is_whole && !reading->is_beside;
	method_names_begin(&reading->method_names);
	reading->method_names.has_no_ids = reading->is_beside;
}

static void end(struct stepping *step)
{
	free(step->states);
	blob_list_fini(&step->stubs);
	blob_list_fini(&step->fresh);
	blob_list_fini(&step->told);
	code_telling_fini(&step->telling);
	method_names_begin(&step->reading->method_names); /* frees what the step has read */
}

int vm_reading_step(struct vm_reading *reading, struct vm_memory *memory,
		    const struct vm_reading_now *now, struct vm_reading_told *ret)
{
	struct stepping step = {.reading = reading, .memory = memory};
	const uint64_t bytes = memory->bytes, reads = memory->reads;
	int err = 0;

	*ret = (struct vm_reading_told){0};
	memory->max_bytes = memory->bytes + VM_READING_STEP_BYTES;
	vm_memory_forget(memory);
	free(reading->records);
	reading->records = malloc(VM_READING_RECORD_BYTES);
	if (!reading->records)
		return -ENOMEM;
	prepare(&step, now);
	if (!reading->has_layout)
		err = read_layout(&step, now, ret->lacks);
	if (!err && !now->only_hello && !now->only_threads)
		err = read_code(&step, now);
	if (!err)
		tell_threads(&step, now);
	if (!err && step.states)
		take_known(&step);
	if (!err && !now->only_threads)
		reading->step_ns = now->time_ns;
	if (!err)
		take_records(&step, ret);
	end(&step);
	reading->stats.steps++;
	reading->stats.bytes += memory->bytes - bytes;
	reading->stats.reads += memory->reads - reads;
	return err;
}

void vm_reading_stats(const struct vm_reading *reading, struct vm_reading_stats *ret)
{
	*ret = reading->stats;
	ret->named = reading->told.named;
	ret->unnamed = reading->told.unnamed;
	ret->uninlined = reading->told.uninlined;
	ret->unlined = reading->method_names.unlined;
	ret->changed = reading->told.changed;
}

size_t vm_reading_bytes(const struct vm_reading *reading)
{
	return sizeof(*reading) + (reading->tables ? sizeof(*reading->tables) : 0) +
	       reading->known.size * sizeof(struct code_blob) +
	       reading->blocks.size * sizeof(struct code_block) +
	       blob_windows_bytes(reading->windows) + blob_names_bytes(&reading->names) +
	       method_names_bytes(&reading->method_names) +
	       reading->stubs.size * sizeof(struct stub_desc);
}
