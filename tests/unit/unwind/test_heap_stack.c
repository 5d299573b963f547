// SPDX-License-Identifier: Apache-2.0
/*
 * Claims about unwind/heap_stack.h. A Continuation and its chunks are laid out in the memory of
 * this process, in each form that HotSpot gives them, and are read as those of a JVM.
 */
#include "../process/own_jvm.h"
#include "unwind/heap_stack.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include <sys/mman.h>
#include <unistd.h>

#define NOW	    UINT64_C(1000)
#define HEAP_ADDR   UINT64_C(0x40000000) /* below 32 GiB, so that a narrow reference reaches it */
#define HEAP_BYTES  (1u << 20)
#define CODE	    UINT64_C(0x7f0000000000)
#define CODE_BYTES  0x1000
#define INTERPRETER UINT64_C(0x7f0000100000)
#define MOST_WORDS  64

/* Compiled methods that are known by their names. */
#define OSR   8 /* in the place of an interpreted loop */
#define YIELD 9
#define RUN   10 /* of the method that OSR is of */

/* Offsets of the members in a form, noted from running JVMs. */
struct form {
	const char *name;
	uint32_t reference;
	bool is_coloured;
	uint32_t tail;					/* offset in a Continuation */
	uint32_t size, sp, bottom, parent, cont, stack; /* offsets in a StackChunk */
};

static const struct form forms[] = {
	{"compressed references and classes", 4, false, 32, 12, 24, 28, 40, 44, 48},
	{"compressed classes", 8, false, 48, 12, 24, 28, 40, 48, 56},
	{"generational ZGC", 8, true, 48, 12, 24, 28, 40, 48, 56},
	{"compressed references", 4, false, 36, 24, 28, 32, 44, 48, 56},
	{"nothing compressed", 8, false, 56, 24, 28, 32, 48, 56, 64},
	{"compact headers", 4, false, 28, 16, 20, 24, 36, 40, 48},
	{"compact headers, wide references", 8, false, 48, 16, 20, 24, 40, 48, 56},
};

#define N_FORMS (sizeof(forms) / sizeof(forms[0]))

static uint8_t *heap;
static size_t heap_used;
static struct process *process;
static const struct form *form;
static struct vm_facts facts;
static struct heap_stack found;
static uint32_t max_reads = UINT32_MAX;

/*
 * The carrier's stack, from the callee's stack pointer on. The ContinuationEntry is in the middle.
 */
static uint64_t stack_words[32];
static struct snapshot stack;
static struct heap_callee callee;

/* ---- building ---- */

static uint8_t *allocate(size_t bytes)
{
	uint8_t *object = heap + heap_used;

	heap_used += (bytes + 15) / 16 * 16;
	assert_true(heap_used <= HEAP_BYTES);
	return object;
}

static void put_u32(uint8_t *object, uint32_t at, uint32_t value)
{
	memcpy(object + at, &value, sizeof(value));
}

static void put_reference(uint8_t *object, uint32_t at, const uint8_t *to)
{
	uint64_t value = to ? (uintptr_t)to : 0;

	if (form->is_coloured && value)
		value = value << 15 | 1 << 14 | 0x350; /* the third of four, and other colours */
	else if (form->reference == 4)
		value >>= 3;
	memcpy(object + at, &value, form->reference);
}

static uint8_t *make_continuation(void)
{
	return allocate(96);
}

struct made_chunk {
	uint8_t *object;
	uint64_t *words;
	uint32_t size;
};

static struct made_chunk make_chunk(const uint8_t *continuation, uint32_t size, uint32_t sp,
				    const uint8_t *parent)
{
	struct made_chunk made = {.object = allocate(form->stack + size * 8 + 64), .size = size};

	made.words = (uint64_t *)(void *)(made.object + form->stack);
	put_u32(made.object, form->size, size);
	put_u32(made.object, form->sp, sp);
	put_u32(made.object, form->bottom, size);
	put_reference(made.object, form->parent, parent);
	put_reference(made.object, form->cont, continuation);
	return made;
}

/* A pc in the nth compiled method, whose frame has 4 + n words. */
static uint64_t pc_of(uint32_t n)
{
	return CODE + n * CODE_BYTES + 0x100;
}

static uint32_t words_of(uint32_t n)
{
	return 4 + n;
}

/*
 * Puts frames of these methods into the chunk, the youngest first. The last frame ends where the
 * chunk ends. Returns where the first frame begins.
 */
static uint32_t put_frames(struct made_chunk *chunk, const uint32_t *methods, uint32_t n)
{
	uint32_t at = chunk->size;

	for (uint32_t i = n; i-- > 0;) {
		at -= words_of(methods[i]);
		chunk->words[at - 1] = pc_of(methods[i]);
	}
	return at;
}

static void add_method(uint64_t addr, uint32_t kind, const char *class_name, const char *name,
		       uint32_t frame_words)
{
	const struct code_range range = {.addr = addr,
					 .size = CODE_BYTES,
					 .kind = (uint8_t)kind,
					 .name = name,
					 .class_name = class_name,
					 .birth_ns = 1,
					 .frame = {.size = frame_words * 8}};

	assert_true(code_map_add(process->code, &range, false) >= 0);
}

static void add_code(uint64_t addr, uint32_t kind, const char *name, uint32_t frame_words)
{
	add_method(addr, kind, NULL, name, frame_words);
}

/* Puts the callee on the stack: the nth compiled method, with a word of its own for the turn. */
static void put_callee(uint32_t n, const uint8_t *continuation)
{
	const uint32_t size = words_of(n);

	memset(stack_words, 0, sizeof(stack_words));
	stack_words[size + 2] = (uintptr_t)continuation; /* behind an argument and _parent */
	stack = (struct snapshot){.addr = (uintptr_t)stack_words,
				  .bytes = (const uint8_t *)stack_words,
				  .len = sizeof(stack_words)};
	callee = (struct heap_callee){.range = code_map_find(process->code, pc_of(n), NOW),
				      .sp = stack.addr,
				      .entry = stack.addr + size * 8,
				      .stack = &stack};
}

static bool read_stack(void)
{
	found.max_reads = max_reads;
	return heap_stack_read(process, NOW, &arch_x86_64, &callee, &facts, &found);
}

/* Checks that frames of these compiled methods were found, in this order. */
static void assert_found(const uint32_t *methods, uint32_t n)
{
	assert_int_equal(found.depth, n);
	for (uint32_t i = 0; i < n; i++) {
		assert_int_equal(found.entries[i].addr, pc_of(methods[i]));
		assert_true(found.entries[i].is_return);
		assert_int_equal(found.entries[i].method, 0);
	}
}

static int set_up(void **state)
{
	form = &forms[0];
	heap_used = 64;
	facts = (struct vm_facts){0};
	memset(heap, 0, HEAP_BYTES);
	process = own_jvm_new();
	process->jvm->layout.interpreter_bcp_words = -8;
	for (uint32_t i = 0; i < OSR; i++)
		add_code(CODE + i * CODE_BYTES, CODE_JAVA, "m", words_of(i));
	add_method(CODE + OSR * CODE_BYTES, CODE_OSR, "com/example/Task", "loop", words_of(OSR));
	add_method(CODE + YIELD * CODE_BYTES, CODE_JAVA, "jdk/internal/vm/Continuation", "yield0",
		   words_of(YIELD));
	add_method(CODE + RUN * CODE_BYTES, CODE_JAVA, "com/example/Task", "loop", words_of(RUN));
	add_code(INTERPRETER, CODE_STUB, "Interpreter", 0);
	return 0;
}

static int tear_down(void **state)
{
	process->jvm->hello.values = NULL; /* a test's own */
	process->jvm->hello.n_values = 0;
	process_free(process);
	return 0;
}

/* ---- claims ---- */

static void frames_are_read_in_each_form(void **state)
{
	static const uint32_t frozen[] = {1, 2, 3, 4}, older[] = {3, 4};

	for (size_t i = 0; i < N_FORMS; i++) {
		uint8_t *continuation;
		struct made_chunk chunk;

		form = &forms[i];
		continuation = make_continuation();
		chunk = make_chunk(continuation, 48, 0, NULL);
		put_u32(chunk.object, form->sp, put_frames(&chunk, frozen, 4));
		put_reference(continuation, form->tail, chunk.object);
		put_callee(2, continuation);
		if (!read_stack())
			fail_msg("none with %s", form->name);
		assert_found(older, 2);
	}
}

/* The second thread's frames take two reads: its Continuation, and its chunk as a whole. */
static void what_is_found_out_of_a_heap_is_found_once(void **state)
{
	static const uint32_t sizes[] = {48, 1000, 100, 1000, 4000};
	static const uint32_t frozen[] = {1, 2, 3, 4}, older[] = {3, 4};

	form = &forms[4];
	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		uint8_t *continuation = make_continuation();
		struct made_chunk chunk = make_chunk(continuation, sizes[i], 0, NULL);

		put_frames(&chunk, frozen, 4);
		put_u32(continuation, forms[0].tail, HEAP_ADDR >> 3); /* of another form */
		put_reference(continuation, form->tail, chunk.object);
		put_callee(2, continuation);
		for (int again = 0; again < 2; again++) {
			assert_true(read_stack());
			assert_found(older, 2);
		}
		assert_int_equal(found.reads, 2);
	}
}

/* The JVM has told where it keeps what narrow references are made with. */
static void static_variables_are_read_once(void **state)
{
	static const uint32_t frozen[] = {1, 2, 3, 4}, older[] = {3, 4};
	static uint64_t base = HEAP_ADDR - 800;
	static uint32_t shift = 3;
	struct jvm_value values[] = {
		{.key = "CompressedOops::_base", .value = (int64_t)(uintptr_t)&base},
		{.key = "CompressedOops::_shift", .value = (int64_t)(uintptr_t)&shift}};
	uint8_t *continuation = make_continuation();
	struct made_chunk chunk = make_chunk(continuation, 48, 0, NULL);

	process->jvm->hello.values = values;
	process->jvm->hello.n_values = 2;
	put_frames(&chunk, frozen, 4);
	put_u32(chunk.object, form->cont, (uint32_t)(((uintptr_t)continuation - base) >> shift));
	put_u32(continuation, form->tail, (uint32_t)(((uintptr_t)chunk.object - base) >> shift));
	put_callee(2, continuation);
	for (uint32_t reads = 4; reads >= 2; reads -= 2) {
		assert_true(read_stack());
		assert_found(older, 2);
		assert_int_equal(found.reads, reads);
	}
}

/* Whatever a heap says: so many reads and no more. */
static void no_more_is_read_than_the_caller_allows(void **state)
{
	static const uint32_t frozen[] = {1, 2, 3, 4}, older[] = {3, 4};
	uint8_t *continuation = make_continuation();
	struct made_chunk chunk = make_chunk(continuation, 48, 0, NULL);
	uint32_t needed;

	put_frames(&chunk, frozen, 4);
	put_reference(continuation, form->tail, chunk.object);
	put_callee(2, continuation);
	assert_true(read_stack());
	needed = found.reads;
	assert_true(needed > 0);
	for (max_reads = 0; max_reads < needed; max_reads++) {
		facts = (struct vm_facts){0};
		assert_false(read_stack());
		assert_int_equal(found.reads, max_reads);
	}
	facts = (struct vm_facts){0};
	assert_true(read_stack());
	assert_found(older, 2);
	max_reads = UINT32_MAX;
}

/* The thread has gone on since the sample. By now its chunk is empty, or has more frames. */
static void frames_are_found_wherever_the_thread_is_by_now(void **state)
{
	static const uint32_t frozen[] = {1, 2, 3, 4}, older[] = {3, 4};
	uint8_t *continuation = make_continuation();
	struct made_chunk chunk = make_chunk(continuation, 48, 0, NULL);

	put_frames(&chunk, frozen, 4);
	put_reference(continuation, form->tail, chunk.object);
	put_callee(2, continuation);
	for (uint32_t sp = 0; sp <= 48; sp++) {
		put_u32(chunk.object, form->sp, sp);
		assert_true(read_stack());
		assert_found(older, 2);
	}
}

/* Puts the callee as it was frozen last, interpreted, in front of the frames that begin at sp. */
static void put_interpreted_callee(struct made_chunk *chunk, uint32_t sp)
{
	chunk->words[(int32_t)sp - 2 + arch_x86_64.interpreter.sender_sp] = 2;
	put_u32(chunk->object, form->sp, sp);
}

/* The callee was compiled while it ran, and the thread has not been frozen since. */
static void a_callee_that_was_not_frozen_is_called_by_the_first_frame(void **state)
{
	static const uint32_t frozen[] = {1, 2, 3, 4};
	uint8_t *continuation = make_continuation();
	struct made_chunk chunk = make_chunk(continuation, 48, 0, NULL);
	const uint32_t at = put_frames(&chunk, frozen, 4);

	put_interpreted_callee(&chunk, at);
	put_reference(continuation, form->tail, chunk.object);
	put_callee(OSR, continuation);
	assert_true(read_stack());
	assert_found(frozen, 4);
	put_u32(chunk.object, form->sp, 3); /* a place at which no frame begins */
	assert_false(read_stack());
	assert_int_equal(found.depth, 0);
}

/* The thread has gone on, and the callee's chunk is gone: nobody knows who called it. */
static void other_code_that_is_not_in_the_chunk_has_no_callers(void **state)
{
	static const uint32_t frozen[] = {1, 2, 3, 4};
	uint8_t *continuation = make_continuation();
	struct made_chunk chunk = make_chunk(continuation, 48, 0, NULL);
	const uint32_t at = put_frames(&chunk, frozen, 4);

	put_interpreted_callee(&chunk, at);
	put_reference(continuation, form->tail, chunk.object);
	put_callee(5, continuation);
	assert_false(read_stack());
	assert_int_equal(found.depth, 0);
	put_callee(OSR, continuation);
	chunk.words[(int32_t)at - 2 + arch_x86_64.interpreter.sender_sp] = 0; /* no frame */
	assert_false(read_stack());
}

static void of_recursion_the_frame_that_is_most_alike_counts(void **state)
{
	static const uint32_t frozen[] = {4, 4, 4, 4, 4, 7};
	uint8_t *continuation = make_continuation();
	struct made_chunk chunk = make_chunk(continuation, 64, 0, NULL);
	uint32_t at = put_frames(&chunk, frozen, 6);

	put_reference(continuation, form->tail, chunk.object);
	put_callee(4, continuation);
	for (uint32_t i = 0; i < 5; i++)
		chunk.words[at + i * words_of(4) + 3] = 100 + i; /* number of the turn */
	for (uint32_t i = 0; i < 5; i++) {
		stack_words[3] = 100 + i;
		assert_true(read_stack());
		assert_int_equal(found.depth, 5 - i);
	}
}

/* Between the frames of both lie the arguments of the interpreted one. */
static void a_callee_that_has_called_interpreted_code_is_found(void **state)
{
	static const uint32_t older[] = {3, 4};
	uint8_t *continuation = make_continuation();
	struct made_chunk chunk = make_chunk(continuation, 48, 3, NULL);
	const uint32_t begin = put_frames(&chunk, older, 2) - words_of(2), fp = begin - 3 - 2;

	chunk.words[fp + 1] = pc_of(2);
	chunk.words[(int32_t)fp + arch_x86_64.interpreter.sender_sp] = begin - fp;
	put_reference(continuation, form->tail, chunk.object);
	put_callee(2, continuation);
	assert_true(read_stack());
	assert_found(older, 2);
}

/* The thread has waited again: what was on its stack is in the chunk, and so is the callee. */
static void of_a_thread_that_waits_again_the_callee_is_not_called_by_the_first_frame(void **state)
{
	static const uint32_t waiting[] = {YIELD, 2, 3}, running[] = {1, RUN, 3};
	uint8_t *continuation = make_continuation();
	struct made_chunk chunk = make_chunk(continuation, 64, 0, NULL);

	put_interpreted_callee(&chunk, put_frames(&chunk, waiting, 3));
	put_reference(continuation, form->tail, chunk.object);
	put_callee(OSR, continuation);
	assert_false(read_stack());
	assert_int_equal(found.depth, 0);
	memset(chunk.words, 0, 64 * sizeof(*chunk.words));
	put_interpreted_callee(&chunk, put_frames(&chunk, running, 3));
	assert_false(read_stack());
	assert_int_equal(found.depth, 0);
}

/* Words that are left from an earlier wait lead by chance to frames of now. */
static void what_leads_through_the_end_of_a_wait_is_not_believed(void **state)
{
	static const uint32_t frozen[] = {4, YIELD, 4, 2, 3}, older[] = {2, 3};
	uint8_t *continuation = make_continuation();
	struct made_chunk chunk = make_chunk(continuation, 64, 0, NULL);

	put_frames(&chunk, frozen, 5);
	put_reference(continuation, form->tail, chunk.object);
	put_callee(4, continuation);
	assert_true(read_stack());
	assert_found(older, 2);
}

/* The callee has called itself, and its caller's caller has not. */
static void frames_on_the_stack_tell_frames_that_are_alike_apart(void **state)
{
	static const uint32_t frozen[] = {6, 4, 4, 2};
	uint8_t *continuation = make_continuation();
	struct made_chunk chunk = make_chunk(continuation, 64, 0, NULL);
	const uint32_t size = words_of(4);

	put_frames(&chunk, frozen, 4);
	put_reference(continuation, form->tail, chunk.object);
	put_callee(4, continuation);
	memset(stack_words, 0, sizeof(stack_words));
	stack_words[0] = stack_words[size] = pc_of(4);
	stack_words[1 + 2 * size + 2] = (uintptr_t)continuation;
	callee.sp = stack.addr + (1 + size) * 8;
	callee.entry = callee.sp + size * 8;
	assert_true(read_stack());
	assert_found(&frozen[3], 1);
}

/* Of recursion deeper than what is read, the callee may be any of the frames, also in front. */
static void what_may_lie_in_words_that_are_not_read_is_not_guessed(void **state)
{
	const uint32_t frames = HEAP_STACK_MAX / 2, last = words_of(7);
	const uint32_t size = HEAP_STACK_WORDS + 100, step = words_of(6);
	uint8_t *continuation = make_continuation();
	struct made_chunk chunk = make_chunk(continuation, size, 3, NULL);

	assert_true(frames * step < HEAP_STACK_WORDS);
	chunk.words[size - last - 1] = pc_of(7);
	for (uint32_t i = 1; i <= frames; i++)
		chunk.words[size - last - i * step - 1] = pc_of(6);
	put_reference(continuation, form->tail, chunk.object);
	put_callee(6, continuation);
	assert_false(read_stack());
	assert_int_equal(found.depth, 0);
	/* Of the frames at the youngest end, one that is like no other. */
	chunk.words[size - last - (frames - 5) * step + 3] = stack_words[3] = 100;
	assert_true(read_stack());
	assert_int_equal(found.depth, frames - 5);
}

/* A process may fill a chunk with frames that lead nowhere: each word begins one. */
static void frames_that_lead_nowhere_are_looked_at_up_to_a_bound(void **state)
{
	const uint32_t size = HEAP_STACK_WORDS - 8;
	uint8_t *continuation = make_continuation();
	struct made_chunk chunk = make_chunk(continuation, size, 3, NULL);

	for (uint32_t i = 0; i < size - 16; i++)
		chunk.words[i] = pc_of(0);
	put_reference(continuation, form->tail, chunk.object);
	put_callee(0, continuation);
	assert_false(read_stack());
	assert_in_range(found.walked, HEAP_STACK_WALKED, HEAP_STACK_WALKED + 4 * HEAP_STACK_MAX);
}

static void chunks_are_read_up_to_the_first(void **state)
{
	static const uint32_t frozen[] = {1, 2}, above[] = {3, 4}, oldest[] = {5},
			      all[] = {2, 3, 4, 5};
	uint8_t *continuation = make_continuation();
	struct made_chunk first = make_chunk(continuation, 16, 0, NULL);
	struct made_chunk empty = make_chunk(continuation, 16, 16, first.object);
	struct made_chunk middle = make_chunk(continuation, 32, 0, empty.object);
	struct made_chunk last = make_chunk(continuation, 32, 0, middle.object);

	put_u32(first.object, form->sp, put_frames(&first, oldest, 1));
	put_u32(middle.object, form->sp, put_frames(&middle, above, 2));
	put_frames(&last, frozen, 2);
	put_reference(continuation, form->tail, last.object);
	put_callee(1, continuation);
	assert_true(read_stack());
	assert_found(all, 4);
	put_callee(2, continuation); /* the chunk's last: its caller is in the one before */
	assert_true(read_stack());
	assert_found(&all[1], 3);
	assert_false(found.has_gap);
}

static void what_is_behind_an_unreadable_chunk_is_a_gap(void **state)
{
	static const uint32_t frozen[] = {1, 2}, above[] = {3, 4}, all[] = {1, 2, 3, 4};
	uint8_t *continuation = make_continuation();
	struct made_chunk first = make_chunk(continuation, 16, 0, NULL);
	struct made_chunk last = make_chunk(continuation, 32, 0, first.object);

	put_u32(first.object, form->sp, put_frames(&first, above, 2));
	put_interpreted_callee(&last, put_frames(&last, frozen, 2));
	put_reference(continuation, form->tail, last.object);
	put_callee(OSR, continuation);
	assert_true(read_stack());
	assert_found(all, 4);
	assert_false(found.has_gap);
	put_reference(first.object, form->cont, NULL); /* no chunk of the thread */
	assert_true(read_stack());
	assert_found(frozen, 2);
	assert_true(found.has_gap);
	put_reference(last.object, form->parent, last.object); /* the parents form a circle */
	assert_true(read_stack());
	assert_int_equal(found.depth, 2 * HEAP_STACK_CHUNKS);
	assert_true(found.has_gap);
}

/* Puts the address of the object's copy in the place of its mark, as a collector does. */
static void put_copied(uint8_t *object, const uint8_t *copy)
{
	const uint64_t mark = (uintptr_t)copy | 3;

	memcpy(object, &mark, sizeof(mark));
}

/*
 * Shenandoah copies objects while the program runs. The thread goes on in the copies: what it froze
 * by then stays as it was in the object. Any reference may lead to either.
 */
static void frames_are_read_in_the_copies_of_objects(void **state)
{
	static const uint32_t stale[] = {1, 2}, frozen[] = {1, 4, 3};
	uint8_t *before = make_continuation(), *after = make_continuation();
	struct made_chunk chunk = make_chunk(before, 32, 0, NULL);
	struct made_chunk copy = make_chunk(before, 32, 0, NULL);
	uint8_t *const continuations[] = {before, after};
	const uint8_t *const chunks[] = {chunk.object, copy.object};

	put_u32(chunk.object, form->sp, put_frames(&chunk, stale, 2));
	put_u32(copy.object, form->sp, put_frames(&copy, frozen, 3));
	put_copied(before, after);
	put_copied(chunk.object, copy.object);
	for (int i = 0; i < 16; i++) {
		put_reference(before, form->tail, chunk.object);
		put_reference(after, form->tail, chunks[i & 1]);
		put_reference(chunk.object, form->cont, before);
		put_reference(copy.object, form->cont, continuations[i >> 1 & 1]);
		facts.heap_form = i & 4 ? facts.heap_form : 0;
		put_callee(1, continuations[i >> 3 & 1]);
		assert_true(read_stack());
		assert_found(&frozen[1], 2);
		assert_false(found.has_gap);
	}
}

/* Collectors that stop the program say where an object will lie before they copy it. */
static void what_has_not_been_copied_yet_is_read_where_it_lies(void **state)
{
	static const uint32_t frozen[] = {1, 2};
	uint8_t *continuation = make_continuation();
	struct made_chunk chunk = make_chunk(continuation, 32, 0, NULL);

	put_u32(chunk.object, form->sp, put_frames(&chunk, frozen, 2));
	put_reference(continuation, form->tail, chunk.object);
	put_copied(continuation, allocate(96));
	put_copied(chunk.object, allocate(512));
	put_callee(1, continuation);
	assert_true(read_stack());
	assert_found(&frozen[1], 1);
	put_copied(chunk.object, (const uint8_t *)UINTPTR_MAX - 7); /* there is no memory */
	assert_true(read_stack());
	assert_found(&frozen[1], 1);
}

/*
 * Slots from the frame pointer on, in words: -1 the distance of the caller's stack pointer, -3 the
 * method, -8 its bytecode, 0 the distance of the caller's frame pointer, 1 the return address.
 */
static void interpreted_frames_keep_distances(void **state)
{
	uint8_t *continuation = make_continuation();
	struct made_chunk chunk = make_chunk(continuation, 60, 10, NULL);
	uint64_t *words = chunk.words;

	put_reference(continuation, form->tail, chunk.object);
	/*
	 * An interpreted callee with its frame pointer at 20, an interpreted caller with its frame
	 * pointer at 40, and a compiled caller.
	 */
	words[20 - 3] = 0x1111;
	words[20 - 1] = 2;
	words[20] = 20;
	words[21] = INTERPRETER + 0x200;
	words[40 - 3] = 0x2222;
	words[40 - 8] = 0x2222 + 8;
	words[40 - 1] =
		12; /* it was given ten words by its caller, whose frame begins behind them */
	words[40] = 0;
	words[41] = pc_of(4);
	put_callee(1, continuation);
	callee.range = code_map_find(process->code, INTERPRETER, NOW);
	callee.method = 0x1111;
	assert_true(read_stack());
	assert_int_equal(found.depth, 2);
	assert_int_equal(found.entries[0].addr, INTERPRETER + 0x200);
	assert_int_equal(found.entries[0].method, 0x2222);
	assert_int_equal(found.entries[0].bcp, 0x2222 + 8);
	assert_int_equal(found.entries[1].addr, pc_of(4));
	assert_int_equal(found.entries[1].method, 0);
	words[40 - 1] = 20; /* the last one of the chunk, with 18 words of arguments behind it */
	assert_true(read_stack());
	assert_int_equal(found.depth, 1);
	words[40 - 1] = UINT64_MAX; /* down */
	assert_false(read_stack());
	words[40 - 1] = 12;
	words[20] = (uint64_t)-30; /* in front of the frame */
	assert_false(read_stack());
	words[20] = UINT64_MAX / 2;
	assert_false(read_stack());
}

static void what_does_not_lead_to_the_end_is_not_believed(void **state)
{
	static const uint32_t frozen[] = {1, 2, 3, 4};
	uint8_t *continuation = make_continuation();
	struct made_chunk chunk = make_chunk(continuation, 48, 0, NULL);
	uint32_t at = put_frames(&chunk, frozen, 4);
	const uint32_t third = at + words_of(1) + words_of(2);

	put_reference(continuation, form->tail, chunk.object);
	put_callee(1, continuation);
	assert_true(read_stack());
	chunk.words[third - 1] = 0x1234; /* no code */
	assert_false(read_stack());
	chunk.words[third - 1] = pc_of(3);
	assert_true(read_stack());
	chunk.words[third + words_of(3) - 1] = pc_of(11); /* it would end behind the chunk */
	assert_false(read_stack());
}

static void an_object_that_names_no_chunk_gives_nothing(void **state)
{
	static const uint32_t frozen[] = {1, 2};
	uint8_t *continuation = make_continuation(), *other = make_continuation();
	struct made_chunk chunk = make_chunk(other, 48, 0, NULL);

	put_frames(&chunk, frozen, 2);
	put_callee(1, continuation);
	assert_false(read_stack()); /* the Continuation names no chunk */
	put_reference(continuation, form->tail, chunk.object);
	assert_false(read_stack()); /* the chunk is another thread's */
	put_reference(chunk.object, form->cont, continuation);
	assert_true(read_stack());
	put_callee(1, (const uint8_t *)16); /* no address */
	assert_false(read_stack());
	put_callee(1, NULL);
	assert_false(read_stack());
}

static void a_chunk_that_lies_about_its_size_gives_nothing(void **state)
{
	static const uint32_t sizes[] = {0, 3, 0x7fffffff, 0xffffffff};
	static const uint32_t frozen[] = {1, 2};
	uint8_t *continuation = make_continuation();
	struct made_chunk chunk = make_chunk(continuation, 48, 0, NULL);

	put_frames(&chunk, frozen, 2);
	put_reference(continuation, form->tail, chunk.object);
	put_callee(1, continuation);
	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		put_u32(chunk.object, form->size, sizes[i]);
		assert_false(read_stack());
	}
}

/* The stack has more frames than are kept. Only the older end of its chunk is read. */
static void a_very_deep_stack_has_a_limit(void **state)
{
	const uint32_t size = 3 * HEAP_STACK_MAX * words_of(1);
	uint8_t *continuation = make_continuation();
	struct made_chunk chunk = make_chunk(continuation, size, 0, NULL);

	for (uint32_t at = size - words_of(1); at > words_of(1); at -= words_of(1))
		chunk.words[at - 1] = pc_of(1);
	put_reference(continuation, form->tail, chunk.object);
	put_callee(1, continuation);
	read_stack();
	assert_true(found.depth <= HEAP_STACK_MAX);
}

/* ---- what is kept ---- */

static void what_was_read_for_a_sample_is_found_for_it(void **state)
{
	static struct heap_stacks stacks;
	static struct heap_stack read;
	const struct heap_key key = {.pid = 1, .time_ns = 2, .sp = 3};
	struct heap_key other = key;

	read = (struct heap_stack){.depth = 2, .entries = {{.addr = 7}, {.addr = 8}}};
	heap_stacks_keep(&stacks, &key, &read);
	assert_int_equal(heap_stacks_find(&stacks, &key)->depth, 2);
	assert_int_equal(heap_stacks_find(&stacks, &key)->entries[1].addr, 8);
	other.sp = 4;
	assert_null(heap_stacks_find(&stacks, &other));
	other = key;
	other.time_ns = 3;
	assert_null(heap_stacks_find(&stacks, &other));
	other = key;
	other.pid = 2;
	assert_null(heap_stacks_find(&stacks, &other));
	heap_stacks_fini(&stacks);
	assert_int_equal(stacks.bytes, 0);
}

static void the_oldest_make_way(void **state)
{
	static struct heap_stacks stacks;
	static struct heap_stack read;
	struct heap_key key = {.pid = 1};

	read.depth = HEAP_STACK_MAX;
	for (uint64_t i = 0; i < 3 * HEAP_STACKS_MAX; i++) {
		key.time_ns = i;
		heap_stacks_keep(&stacks, &key, &read);
		assert_true(stacks.bytes <= HEAP_STACKS_MAX_BYTES);
		assert_true(stacks.count <= HEAP_STACKS_MAX);
		assert_non_null(heap_stacks_find(&stacks, &key));
	}
	assert_true(stacks.dropped > 0);
	key.time_ns = 0;
	assert_null(heap_stacks_find(&stacks, &key));
	heap_stacks_fini(&stacks);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
	const struct CMUnitTest tests[] = {
		TEST(frames_are_read_in_each_form),
		TEST(what_is_found_out_of_a_heap_is_found_once),
		TEST(static_variables_are_read_once),
		TEST(no_more_is_read_than_the_caller_allows),
		TEST(frames_are_found_wherever_the_thread_is_by_now),
		TEST(a_callee_that_was_not_frozen_is_called_by_the_first_frame),
		TEST(other_code_that_is_not_in_the_chunk_has_no_callers),
		TEST(of_recursion_the_frame_that_is_most_alike_counts),
		TEST(a_callee_that_has_called_interpreted_code_is_found),
		TEST(of_a_thread_that_waits_again_the_callee_is_not_called_by_the_first_frame),
		TEST(what_leads_through_the_end_of_a_wait_is_not_believed),
		TEST(frames_on_the_stack_tell_frames_that_are_alike_apart),
		TEST(what_may_lie_in_words_that_are_not_read_is_not_guessed),
		TEST(frames_that_lead_nowhere_are_looked_at_up_to_a_bound),
		TEST(chunks_are_read_up_to_the_first),
		TEST(what_is_behind_an_unreadable_chunk_is_a_gap),
		TEST(frames_are_read_in_the_copies_of_objects),
		TEST(what_has_not_been_copied_yet_is_read_where_it_lies),
		TEST(interpreted_frames_keep_distances),
		TEST(what_does_not_lead_to_the_end_is_not_believed),
		TEST(an_object_that_names_no_chunk_gives_nothing),
		TEST(a_chunk_that_lies_about_its_size_gives_nothing),
		TEST(a_very_deep_stack_has_a_limit),
		cmocka_unit_test(what_was_read_for_a_sample_is_found_for_it),
		cmocka_unit_test(the_oldest_make_way),
	};

	heap = mmap((void *)(uintptr_t)HEAP_ADDR, HEAP_BYTES, PROT_READ | PROT_WRITE,
		    MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
	if (heap != (void *)(uintptr_t)HEAP_ADDR)
		return 1;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
