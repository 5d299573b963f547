// SPDX-License-Identifier: Apache-2.0
/*
 * Reads a JVM's tables once and its code heaps in each step, and tells of what is different, see
 * vm_reading.h.
 *
 * One step: list the blocks of all heaps (code_heaps.h), read the beginning of the blob in each
 * (code_blob.h), compare the blobs, in order of address, with those of the step before, read the
 * names of those that are new (method_batch.h), and write records.
 */
#include "outside/vm_reading.h"

#include "base/arena.h"
#include "base/map64.h"
#include "outside/blob_names.h"
#include "outside/code_blob.h"
#include "outside/code_heaps.h"
#include "outside/code_layout.h"
#include "outside/code_records.h"
#include "outside/guest_names.h"
#include "outside/vm_hello.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define WINDOWS_AT_ONCE 256

/* Blobs in rising order of address. */
struct blobs {
	struct code_blob *at;
	size_t count, size;
};

struct vm_reading {
	struct vm_image_mapping libjvm;
	bool is_beside;
	bool has_layout, is_begun, is_whole; /* is_whole: all code has been told once */
	struct code_layout layout;
	struct vm_layout methods;
	struct code_blocks blocks;
	struct blobs known;
	struct blob_names names;
	uint8_t *windows; /* the beginnings of WINDOWS_AT_ONCE blobs */
	uint8_t *records;
	uint64_t step_ns; /* of the step before */
	struct vm_reading_stats stats;
};

/* What one step has at hand. */
struct stepping {
	struct vm_reading *reading;
	struct vm_memory *memory;
	struct code_records out;
	struct blobs now;   /* what the heaps have */
	struct blobs kept;  /* what is known after the step */
	struct blobs fresh; /* what is to be told of */
	bool has_more;
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
	free(reading->known.at);
	free(reading->windows);
	free(reading->records);
	free(reading);
}

static int add_blob(struct blobs *blobs, const struct code_blob *blob)
{
	if (blobs->count == blobs->size) {
		const size_t size = blobs->size ? 2 * blobs->size : 1024;
		struct code_blob *const more = realloc(blobs->at, size * sizeof(*more));

		if (!more)
			return -ENOMEM;
		blobs->at = more;
		blobs->size = size;
	}
	blobs->at[blobs->count++] = *blob;
	return 0;
}

static int by_addr(const void *a, const void *b)
{
	const struct code_blob *const one = a, *const other = b;

	return one->addr < other->addr ? -1 : one->addr > other->addr;
}

/* ---- reading blobs ---- */

static uint32_t window_bytes(const struct vm_reading *reading)
{
	return reading->layout.header_bytes + reading->layout.nmethod_bytes;
}

/* Decodes a block's bytes. False: it is free, or no blob that can be told of. */
static bool decode(struct stepping *step, const struct code_block *block, const uint8_t *window,
		   struct code_blob *ret)
{
	const struct code_layout *const layout = &step->reading->layout;

	if (window[layout->used] == 0 ||
	    !code_blob_decode(layout, window + layout->header_bytes,
			      block->addr + layout->header_bytes, block->end, ret))
		return false;
	ret->kind = blob_names_kind(&step->reading->names, step->memory, ret->name_at);
	if (ret->kind == BLOB_UNREADABLE)
		return false;
	if (ret->kind == BLOB_STUB)
		code_blob_forget_nmethod(ret);
	return true;
}

/* Reads the windows of some blocks. What lies behind the end of a heap's memory is zeros. */
static void read_windows(struct stepping *step, const struct code_block *blocks, size_t n,
			 struct vm_piece pieces[WINDOWS_AT_ONCE])
{
	const uint32_t bytes = window_bytes(step->reading);

	memset(step->reading->windows, 0, (size_t)WINDOWS_AT_ONCE * bytes);
	for (size_t i = 0; i < n; i++) {
		const uint64_t left = blocks[i].end - blocks[i].addr;

		pieces[i] = (struct vm_piece){.addr = blocks[i].addr,
					      .into = step->reading->windows + i * bytes,
					      .len = left < bytes ? (uint32_t)left : bytes};
	}
	vm_memory_gather(step->memory, pieces, n);
}

static int list_blobs(struct stepping *step)
{
	const struct code_blocks *const blocks = &step->reading->blocks;
	const uint32_t bytes = window_bytes(step->reading);
	struct vm_piece pieces[WINDOWS_AT_ONCE];
	int err = 0;

	for (size_t at = 0; !err && at < blocks->count; at += WINDOWS_AT_ONCE) {
		const size_t left = blocks->count - at;
		const size_t n = left < WINDOWS_AT_ONCE ? left : WINDOWS_AT_ONCE;

		read_windows(step, blocks->blocks + at, n, pieces);
		if (step->memory->err)
			return step->memory->err;
		for (size_t i = 0; !err && i < n; i++) {
			struct code_blob blob;

			if (pieces[i].is_read && decode(step, &blocks->blocks[at + i],
							step->reading->windows + i * bytes, &blob))
				err = add_blob(&step->now, &blob);
		}
	}
	if (!err && step->now.count > 0)
		qsort(step->now.at, step->now.count, sizeof(*step->now.at), by_addr);
	return err;
}

/* ---- comparing ---- */

/* Code that was known is gone. Without room for the record it stays known. */
static int tell_gone(struct stepping *step, const struct code_blob *blob)
{
	if (code_records_gone(&step->out, blob))
		return 0;
	step->has_more = true;
	return add_blob(&step->kept, blob);
}

/* Walks both lists in order of address. */
static int compare(struct stepping *step)
{
	const struct blobs *const known = &step->reading->known, *const now = &step->now;
	size_t i = 0, k = 0;
	int err = 0;

	while (!err && (i < known->count || k < now->count)) {
		const struct code_blob *const old = i < known->count ? &known->at[i] : NULL;
		const struct code_blob *const new = k < now->count ? &now->at[k] : NULL;

		if (old && new &&code_blob_is(old, new)) {
			err = add_blob(&step->kept, old);
			i++, k++;
		} else if (old && (!new || old->addr <= new->addr)) {
			step->reading->stats.reused += new && old->addr == new->addr;
			err = tell_gone(step, old);
			i++;
		} else {
			err = add_blob(&step->fresh, new);
			k++;
		}
	}
	return err;
}

/* ---- telling ---- */

/* Whether the blob is still what it was before its names were read. */
static bool is_same(struct stepping *step, const struct vm_piece *piece,
		    const struct code_blob *blob)
{
	const struct code_block block = {.addr = piece->addr, .end = UINT64_MAX};
	struct code_blob again;

	return piece->is_read && decode(step, &block, piece->into, &again) &&
	       code_blob_is(&again, blob);
}

/* Reads the beginnings of the blobs again. */
static void read_again(struct stepping *step, const struct code_blob *blobs, size_t n,
		       struct vm_piece pieces[WINDOWS_AT_ONCE])
{
	struct code_block blocks[WINDOWS_AT_ONCE];

	for (size_t i = 0; i < n; i++)
		blocks[i] = (struct code_block){.addr = blobs[i].addr -
							step->reading->layout.header_bytes,
						.end = blobs[i].code + blobs[i].size};
	read_windows(step, blocks, n, pieces);
}

static void tell_one(struct stepping *step, const struct code_blob *blob,
		     const struct method_batch_entry *method, const char *guest)
{
	struct vm_reading_stats *const stats = &step->reading->stats;
	bool fits;

	if (blob->kind == BLOB_STUB)
		fits = code_records_stub(
			&step->out, blob,
			blob_names_text(&step->reading->names, step->memory, blob->name_at));
	else
		fits = code_records_method(&step->out, blob, method->is_named ? method : NULL,
					   guest);
	if (!fits || add_blob(&step->kept, blob) < 0) {
		step->has_more = true;
		return;
	}
	stats->named++;
	stats->unnamed += blob->kind != BLOB_STUB && !method->is_named;
}

/* Too large for a thread's stack. */
struct naming {
	struct method_batch batch;
	struct guest_names guests;
};

/* Tells of some blobs, METHOD_BATCH_MAX at most. */
static void tell_some(struct stepping *step, struct naming *naming, const struct code_blob *blobs,
		      size_t n)
{
	struct method_batch *const batch = &naming->batch;
	struct vm_piece pieces[WINDOWS_AT_ONCE];

	batch->count = n;
	for (size_t i = 0; i < n; i++)
		batch->entries[i].method = blobs[i].kind == BLOB_STUB ? 0 : blobs[i].method;
	method_batch_read(step->memory, &step->reading->methods, batch);
	guest_names_read(&naming->guests, step->memory, blobs, batch);
	read_again(step, blobs, n, pieces);
	for (size_t i = 0; i < n; i++) {
		if (is_same(step, &pieces[i], &blobs[i]))
			tell_one(step, &blobs[i], &batch->entries[i], naming->guests.names[i]);
		else
			step->reading->stats.changed++;
	}
}

static int tell_fresh(struct stepping *step)
{
	const struct blobs *const fresh = &step->fresh;
	struct naming *naming;
	size_t at = 0;

	if (fresh->count == 0)
		return 0;
	naming = malloc(sizeof(*naming));
	if (!naming)
		return -ENOMEM;
	while (at < fresh->count && at < VM_READING_NEW && !step->has_more) {
		const size_t left = fresh->count - at;
		const size_t n = left < METHOD_BATCH_MAX ? left : METHOD_BATCH_MAX;

		tell_some(step, naming, fresh->at + at, n);
		at += n;
	}
	free(naming);
	step->has_more |= at < fresh->count;
	if (step->kept.count > 0)
		qsort(step->kept.at, step->kept.count, sizeof(*step->kept.at), by_addr);
	return step->memory->err;
}

/* ---- a step ---- */

static int read_layout(struct stepping *step, const struct vm_reading_now *now, char *ret_lacks)
{
	struct vm_reading *const reading = step->reading;
	struct vm_tables *const tables = malloc(sizeof(*tables));
	const char *lacks = "";
	int err = tables ? vm_tables_read(step->memory, &reading->libjvm, tables) : -ENOMEM;

	if (!err && !code_layout_init(&reading->layout, tables, &lacks))
		err = -ENOTSUP;
	if (!err)
		err = vm_hello_write(step->memory, tables, now->inner_pid, &step->out.buf,
				     &reading->methods);
	if (reading->is_beside)
		step->out.buf.len = 0; /* the agent has said hello */
	if (!err && !vm_layout_has_methods(&reading->methods)) {
		lacks = "the layout of methods";
		err = -ENOTSUP;
	}
	if (!err)
		reading->windows = malloc((size_t)WINDOWS_AT_ONCE * window_bytes(reading));
	if (!err && !reading->windows)
		err = -ENOMEM;
	reading->has_layout = !err;
	snprintf(ret_lacks, VM_READING_LACKS_BYTES, "%s", err == -ENOTSUP ? lacks : "");
	free(tables);
	return err;
}

/* The records are in a buffer that is no larger than they are. */
static void take_records(struct stepping *step, struct vm_reading_told *ret)
{
	struct vm_reading *const reading = step->reading;
	const size_t len = step->out.buf.len;
	uint8_t *const less = realloc(reading->records, len ? len : 1);

	if (less)
		reading->records = less;
	ret->records = reading->records;
	ret->len = len;
	ret->has_more = step->has_more;
	memcpy(ret->heaps, reading->blocks.heaps, sizeof(ret->heaps));
	ret->n_heaps = reading->blocks.n_heaps;
}

/* Reads and tells; after an error nothing is known but what was. */
static int read_code(struct stepping *step, const struct vm_reading_now *now)
{
	struct vm_reading *const reading = step->reading;
	int err;

	if (!reading->is_begun && !reading->is_beside)
		code_records_begin(&step->out, now->time_ns);
	reading->is_begun = true;
	err = code_heaps_list(step->memory, &reading->layout, &reading->blocks);
	reading->stats.left_out = reading->blocks.left_out;
	if (!err)
		err = list_blobs(step);
	if (!err)
		err = compare(step);
	if (!err)
		err = tell_fresh(step);
	if (!err && !step->has_more && !reading->is_whole) {
		reading->is_whole =
			reading->is_beside || code_records_end(&step->out, now->time_ns);
		step->has_more = !reading->is_whole;
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
	code_records_init(&step.out, reading->records, VM_READING_RECORD_BYTES);
	step.out.time_ns = event_ns(reading, now->time_ns);
	step.out.is_resync = !reading->is_whole && !reading->is_beside;
	if (!reading->has_layout)
		err = read_layout(&step, now, ret->lacks);
	if (!err)
		err = read_code(&step, now);
	if (!err) {
		free(reading->known.at);
		reading->known = step.kept;
		step.kept = (struct blobs){0};
		reading->step_ns = now->time_ns;
		take_records(&step, ret);
	}
	free(step.now.at);
	free(step.kept.at);
	free(step.fresh.at);
	reading->stats.steps++;
	reading->stats.bytes += memory->bytes - bytes;
	reading->stats.reads += memory->reads - reads;
	return err;
}

void vm_reading_stats(const struct vm_reading *reading, struct vm_reading_stats *ret)
{
	*ret = reading->stats;
}

size_t vm_reading_bytes(const struct vm_reading *reading)
{
	return sizeof(*reading) + reading->known.size * sizeof(struct code_blob) +
	       reading->blocks.size * sizeof(struct code_block) +
	       (reading->windows ? (size_t)WINDOWS_AT_ONCE * window_bytes(reading) : 0) +
	       blob_names_bytes(&reading->names);
}
