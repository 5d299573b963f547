// SPDX-License-Identifier: Apache-2.0
/* Reads the frames of a thread out of its chunks, see heap_stack.h. */
#include "unwind/heap_stack.h"

#include "base/unaligned.h"
#include "memory/process_memory.h"
#include "unwind/heap_form.h"
#include "unwind/heap_frames.h"
#include "unwind/zgc.h"

#include <stdlib.h>
#include <string.h>

#define OBJECT_BYTES 96	  /* read of either object, in front of the stack's words */
#define FIRST_BYTES  1024 /* read of the first chunk of a process */
#define CHUNK_BYTES  (OBJECT_BYTES + HEAP_STACK_WORDS * 8) /* read of any chunk at most */
/*
 * ContinuationEntry::_cont lies behind _parent. Arguments of the callee on the stack, if any, lie
 * in front of _parent.
 */
#define CONT_MAX_WORDS 12
#define LEAST_ADDR     4096
#define STACK_REACH    (1u << 20)

/*
 * The mark of an object that a collector has copied is the address of the copy, with these low
 * bits.
 */
#define MARK_FORWARDED 3u

/*
 * Low bits of generational ZGC's references. One of these four bits says how far a reference is
 * shifted.
 */
#define ZGC_REMAPPED	 12
#define ZGC_REMAPPED_MAX 16
/*
 * Low bits of an address of ZGC before generations: they say where the object lies. The bits above
 * are colours.
 */
#define ZGC_ADDRESS_BITS 42

/* The reader of one thread's frames. */
struct reader {
	const struct process *process;
	const struct arch *arch;
	uint64_t time_ns;
	uint64_t cont;	     /* the address of the Continuation */
	uint64_t cont_moved; /* the address of its copy; 0: there is none */
	struct heap_form form;
	struct vm_facts *facts;
	struct zgc zgc;
	struct heap_stack *ret;
};

/* Reads up to len bytes. Returns the number of bytes that were read. */
static size_t read_some(struct reader *reader, uint64_t addr, void *ret, size_t len)
{
	const struct iovec to = {ret, len};
	const struct iovec from = {(void *)(uintptr_t)addr, len};
	ssize_t n;

	if (reader->ret->reads >= reader->ret->max_reads)
		return 0;
	reader->ret->reads++;
	n = process_memory_read(reader->process->pid, &to, &from, 1);
	return n > 0 ? (size_t)n : 0;
}

static bool read_memory(struct reader *reader, uint64_t addr, void *ret, size_t len)
{
	return read_some(reader, addr, ret, len) == len;
}

/* ---- references ---- */

/* The address in a coloured reference; 0: the reference has no colour. */
static uint64_t uncoloured(uint64_t reference)
{
	for (uint32_t bit = ZGC_REMAPPED; bit < ZGC_REMAPPED_MAX; bit++) {
		if (reference >> bit & 1)
			return reference >> (bit + 1);
	}
	return 0;
}

/* The address that the reference at offset at in an object leads to; 0: a null reference. */
static uint64_t reference_at(struct reader *reader, const uint8_t *object, uint32_t at)
{
	uint64_t narrow;

	if (reader->form.is_coloured)
		return zgc_resolve(&reader->zgc, unaligned_u64(object, at),
				   uncoloured(unaligned_u64(object, at)));
	if (reader->form.reference == 8)
		return unaligned_u64(object, at);
	narrow = unaligned_u32(object, at);
	return narrow ? reader->facts->narrow_base + (narrow << reader->facts->narrow_shift) : 0;
}

static bool is_same_object(uint64_t a, uint64_t b)
{
	return ((a ^ b) & ((UINT64_C(1) << ZGC_ADDRESS_BITS) - 1)) == 0;
}

/*
 * The address of the copy that a collector has made of the object; 0: there is none. Of Shenandoah
 * references lead to the object until all of them have been changed, and the program changes the
 * copy alone. Other collectors, which stop the program, have the same mark also before they copy.
 */
static uint64_t copy_of(const struct reader *reader, const uint8_t *object)
{
	const uint64_t mark = unaligned_u64(object, 0);
	const uint64_t addr = mark & ~(uint64_t)MARK_FORWARDED;
	const bool is_copied = (mark & MARK_FORWARDED) == MARK_FORWARDED && addr % 8 == 0;

	return is_copied && !reader->form.is_coloured && addr >= LEAST_ADDR ? addr : 0;
}

/* Whether the reference leads to the Continuation, or to what the Continuation was copied from. */
static bool leads_to_continuation(struct reader *reader, uint64_t reference)
{
	uint8_t object[8];
	uint64_t copy;

	if (is_same_object(reference, reader->cont) ||
	    (reader->cont_moved && reference == reader->cont_moved))
		return true;
	if (reference < LEAST_ADDR || reference % 8 != 0 ||
	    !read_memory(reader, reference, object, sizeof(object)))
		return false;
	copy = copy_of(reader, object);
	return copy && (copy == reader->cont || copy == reader->cont_moved);
}

/* Reads a static variable into ret, which stays as it is if the variable is not known. */
static bool read_static(struct reader *reader, const char *const keys[2], void *ret, size_t len)
{
	int64_t addr;

	for (int i = 0; i < 2; i++) {
		if (process_value(reader->process, keys[i], &addr) && addr > 0 &&
		    read_memory(reader, (uint64_t)addr, ret, len))
			return true;
	}
	return false;
}

/*
 * Reads how narrow references become addresses. If the agent has not told it, the values of most
 * JVMs are taken.
 */
static void read_narrow(struct reader *reader)
{
	static const char *const base[] = {"CompressedOops::_base",
					   "CompressedOops::_narrow_oop._base"};
	static const char *const shift[] = {"CompressedOops::_shift",
					    "CompressedOops::_narrow_oop._shift"};

	struct vm_facts *const facts = reader->facts;

	if (facts->has_narrow)
		return;
	facts->narrow_base = 0;
	facts->narrow_shift = 3;
	facts->has_narrow = read_static(reader, base, &facts->narrow_base, sizeof(uint64_t)) &&
			    read_static(reader, shift, &facts->narrow_shift, sizeof(uint32_t));
	facts->narrow_shift &= 7;
}

/* ---- objects ---- */

/* Notes how many bytes a chunk had. Where chunks differ, the larger ones are expected. */
static void note_chunk_bytes(struct vm_facts *facts, uint32_t bytes)
{
	if (bytes > facts->chunk_bytes)
		facts->chunk_bytes = bytes;
	else
		facts->chunk_bytes -= (facts->chunk_bytes - bytes) / 8;
}

/*
 * Reads the words of the chunk's stack that have not been read with its object. n_read: bytes that
 * were.
 */
static bool read_words(struct reader *reader, uint64_t addr, uint8_t bytes[CHUNK_BYTES],
		       size_t n_read, const struct heap_chunk *chunk)
{
	const uint32_t at = heap_form_stack_at(&reader->form);
	const uint32_t end = at + (chunk->end - chunk->first) * 8;

	if (chunk->first > 0)
		return read_memory(reader, addr + at + (uint64_t)chunk->first * 8, bytes + at,
				   end - at);
	note_chunk_bytes(reader->facts, end);
	return n_read >= end || read_memory(reader, addr + n_read, bytes + n_read, end - n_read);
}

/* Reads the object at addr, and with it as many bytes behind as chunks have had before. */
static size_t read_chunk_object(struct reader *reader, uint64_t addr, uint8_t bytes[CHUNK_BYTES])
{
	const uint32_t expected = reader->facts->chunk_bytes;
	size_t n;

	if (addr == 0 || addr % 8 != 0)
		return 0;
	n = read_some(reader, addr, bytes, expected > FIRST_BYTES ? expected : FIRST_BYTES);
	return n < OBJECT_BYTES ? 0 : n;
}

static bool is_of_thread(struct reader *reader, const uint8_t *object)
{
	return leads_to_continuation(
		reader, reference_at(reader, object, heap_form_cont_at(&reader->form)));
}

/*
 * Reads the chunk's object at *addr, or its copy, and sets *addr to where that lies. Returns how
 * many bytes were read, or 0 unless the object is a chunk of the thread.
 */
static size_t read_own_chunk(struct reader *reader, uint64_t *addr, uint8_t bytes[CHUNK_BYTES])
{
	size_t n = read_chunk_object(reader, *addr, bytes);
	const uint64_t copy = n > 0 ? copy_of(reader, bytes) : 0;

	if (copy) {
		n = read_chunk_object(reader, copy, bytes);
		if (n > 0 && is_of_thread(reader, bytes)) {
			*addr = copy;
			return n;
		}
		n = read_chunk_object(reader, *addr, bytes);
	}
	return n > 0 && is_of_thread(reader, bytes) ? n : 0;
}

/* Reads the chunk, and up to HEAP_STACK_WORDS words of its stack. *ret borrows bytes. */
static bool read_chunk(struct reader *reader, uint64_t addr, uint8_t bytes[CHUNK_BYTES],
		       struct heap_chunk *ret)
{
	const struct heap_form *form = &reader->form;
	const uint8_t *const object = bytes;
	const size_t n_read = read_own_chunk(reader, &addr, bytes);
	uint32_t size, bottom;

	if (n_read == 0)
		return false;
	size = unaligned_u32(object, heap_form_chunk_int_at(form, 0));
	bottom = unaligned_u32(object, heap_form_chunk_int_at(form, 2));
	*ret = (struct heap_chunk){
		.parent = reference_at(reader, object, heap_form_parent_at(form)),
		.sp = unaligned_u32(object, heap_form_chunk_int_at(form, 1)),
		.end = bottom <= size && bottom >= size / 2 ? bottom : size - bottom,
		.words = (const uint64_t *)(const void *)(bytes + heap_form_stack_at(form))};
	if (size == 0 || size > INT32_MAX / 8 || ret->end > size || ret->sp > size)
		return false;
	ret->first = ret->end > HEAP_STACK_WORDS ? ret->end - HEAP_STACK_WORDS : 0;
	return read_words(reader, addr, bytes, n_read, ret);
}

/* ---- chunks ---- */

/*
 * Adds the frames of one chunk. callee: for the last chunk, whose frames are the callee's callers;
 * else NULL. False: the chunk cannot be read.
 */
static bool add_chunk(struct reader *reader, uint64_t addr, const struct heap_callee *callee,
		      uint8_t bytes[CHUNK_BYTES], uint64_t *ret_parent)
{
	struct heap_chunk chunk;
	struct heap_frames frames = {.process = reader->process,
				     .arch = reader->arch,
				     .time_ns = reader->time_ns,
				     .ret = reader->ret};

	if (!read_chunk(reader, addr, bytes, &chunk))
		return false;
	*ret_parent = chunk.parent;
	return heap_frames_add(&frames, &chunk, callee);
}

/* Adds the frames of the last chunk, then of the chunks before it, as far as they can be read. */
static bool walk_chunks(struct reader *reader, uint64_t tail, const struct heap_callee *callee,
			uint8_t bytes[CHUNK_BYTES])
{
	uint64_t next = tail;

	for (uint32_t i = 0; i < HEAP_STACK_CHUNKS && next; i++) {
		if (!add_chunk(reader, next, i == 0 ? callee : NULL, bytes, &next))
			break;
	}
	reader->ret->has_gap = next != 0;
	return reader->ret->depth > 0;
}

/* Whether addr lies on the stack itself, near sp. */
static bool is_near(uint64_t addr, uint64_t sp)
{
	return addr - sp < STACK_REACH || sp - addr < STACK_REACH;
}

/* The index of the form that is tried as the nth: first the form that fitted last. */
static uint32_t nth_form(uint32_t last, uint32_t n)
{
	if (n == 0)
		return last;
	return n <= last ? n - 1 : n;
}

/* Adds the frames of the Continuation whose object this is, by the first form that gives frames. */
static bool walk_continuation(struct reader *reader, const uint8_t object[OBJECT_BYTES],
			      const struct heap_callee *callee, uint8_t bytes[CHUNK_BYTES])
{
	const uint32_t last = reader->facts->heap_form;
	uint64_t tail;

	for (uint32_t n = 0; n < HEAP_FORMS; n++) {
		const uint32_t i = nth_form(last, n);

		reader->form = heap_forms[i];
		tail = reference_at(reader, object, heap_form_tail_at(&reader->form));
		if (walk_chunks(reader, tail, callee, bytes)) {
			reader->facts->heap_form = i;
			return true;
		}
		reader->ret->depth = 0;
	}
	return false;
}

/* Adds the frames of the Continuation at reader->cont, or of its copy. */
static bool read_continuation(struct reader *reader, const struct heap_callee *callee,
			      uint8_t bytes[CHUNK_BYTES])
{
	uint8_t object[OBJECT_BYTES], copy[OBJECT_BYTES];

	if (!read_memory(reader, reader->cont, object, sizeof(object)))
		return false;
	reader->form = heap_forms[reader->facts->heap_form];
	reader->cont_moved = copy_of(reader, object);
	if (reader->cont_moved && read_memory(reader, reader->cont_moved, copy, sizeof(copy)) &&
	    walk_continuation(reader, copy, callee, bytes))
		return true;
	return walk_continuation(reader, object, callee, bytes);
}

/* Adds the frames by the first word of the ContinuationEntry that leads to a Continuation. */
static bool read_by_entry(struct reader *reader, const struct heap_callee *callee,
			  uint8_t bytes[CHUNK_BYTES])
{
	for (uint64_t i = 1; i <= CONT_MAX_WORDS; i++) {
		const uint64_t at = callee->entry + i * WORD_BYTES;

		if (snapshot_read(callee->stack, at, &reader->cont) && reader->cont >= LEAST_ADDR &&
		    reader->cont % 8 == 0 && !is_near(reader->cont, at) &&
		    read_continuation(reader, callee, bytes))
			return true;
	}
	return false;
}

bool heap_stack_read(const struct process *process, uint64_t time_ns, const struct arch *arch,
		     const struct heap_callee *callee, struct vm_facts *facts,
		     struct heap_stack *ret)
{
	struct reader reader = {
		.process = process, .arch = arch, .time_ns = time_ns, .facts = facts, .ret = ret};
	uint8_t *bytes;
	bool is_read;

	ret->depth = ret->reads = 0;
	ret->has_gap = false;
	bytes = process->code ? malloc(CHUNK_BYTES) : NULL;
	if (!bytes)
		return false;
	read_narrow(&reader);
	zgc_init(&reader.zgc, process, &ret->reads, ret->max_reads);
	is_read = read_by_entry(&reader, callee, bytes);
	free(bytes);
	return is_read;
}

/* ---- kept until the sample is walked: a ring, searched from the newest on ---- */

static size_t bytes_of(uint32_t depth)
{
	return depth * sizeof(struct stack_entry);
}

static void drop_oldest(struct heap_stacks *stacks)
{
	struct heap_kept *oldest = &stacks->ring[stacks->oldest];

	stacks->bytes -= bytes_of(oldest->depth);
	free(oldest->entries);
	*oldest = (struct heap_kept){0};
	stacks->oldest = (stacks->oldest + 1) % HEAP_STACKS_MAX;
	stacks->count--;
	stacks->dropped++;
}

void heap_stacks_fini(struct heap_stacks *stacks)
{
	while (stacks->count > 0)
		drop_oldest(stacks);
}

void heap_stacks_keep(struct heap_stacks *stacks, const struct heap_key *key,
		      const struct heap_stack *stack)
{
	const size_t bytes = bytes_of(stack->depth);
	struct stack_entry *entries = malloc(bytes);

	if (!entries)
		return;
	memcpy(entries, stack->entries, bytes);
	while (stacks->count == HEAP_STACKS_MAX ||
	       (stacks->count > 0 && stacks->bytes + bytes > HEAP_STACKS_MAX_BYTES))
		drop_oldest(stacks);
	stacks->ring[(stacks->oldest + stacks->count) % HEAP_STACKS_MAX] = (struct heap_kept){
		.key = *key, .entries = entries, .depth = stack->depth, .has_gap = stack->has_gap};
	stacks->count++;
	stacks->bytes += bytes;
}

const struct heap_kept *heap_stacks_find(const struct heap_stacks *stacks,
					 const struct heap_key *key)
{
	for (uint32_t i = stacks->count; i-- > 0;) {
		const struct heap_kept *kept =
			&stacks->ring[(stacks->oldest + i) % HEAP_STACKS_MAX];

		if (kept->key.time_ns == key->time_ns && kept->key.sp == key->sp &&
		    kept->key.pid == key->pid)
			return kept;
	}
	return NULL;
}
