// SPDX-License-Identifier: Apache-2.0
/*
 * Claims about unwind/unwinder.h. Walks go over this process's own stack, whose frames backtrace(3)
 * knows too, over made-up frames of generated code, and over garbage.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <execinfo.h>
#include <link.h>
#include <linux/perf_event.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/uio.h>
#include <ucontext.h>
#include <unistd.h>

#include "../process/own_jvm.h"
#include "base/clock.h"
#include "base/log.h"
#include "code/code_map.h"
#include "code/inline_table.h"
#include "common/child.h"
#include "sample/sample_regs.h"
#include "unwind/live_stack.h"
#include "unwind/step.h"
#include "unwind/unwinder.h"

#define STACK_BYTES (32u << 10)
#define CUT_BYTES   1016
#define NOW	    1000

static struct table_cache *tables;
static struct unwinder *unwinder;
static struct process *self;
static struct stack stack;

static int set_up(void **state)
{
	self = own_process_new();
	if (table_cache_new(64u << 20, false, &tables) < 0)
		return -1;
	return unwinder_new(tables, &unwinder);
}

static int tear_down(void **state)
{
	unwinder_free(unwinder);
	table_cache_free(tables);
	process_free(self);
	return 0;
}

/* ---- this process's own stack ---- */

struct taken {
	uint64_t regs[SAMPLE_REGS_COUNT];
	uint8_t bytes[STACK_BYTES];
	size_t len;
	void *frames[64];
	int n;
};

/* A thread whose stack stays as it was sampled until the thread is let go. */
static pthread_t thread;
static sem_t was_taken, is_over;

static uint64_t top_of_stack; /* stack top of the sampled thread */

static void set_reg(uint64_t *regs, unsigned int reg, uint64_t value)
{
	const uint64_t below = SAMPLE_REGS_MASK & ((UINT64_C(1) << reg) - 1);

	regs[__builtin_popcountll(below)] = value;
}

/* Copies the stack by the kernel, because sanitizers forbid reads between variables. */
static void copy_stack(struct taken *taken, uint64_t sp)
{
	const struct iovec to = {.iov_base = taken->bytes, .iov_len = taken->len};
	const struct iovec from = {.iov_base = (void *)(uintptr_t)sp, .iov_len = taken->len};

	assert_int_equal(process_vm_readv(getpid(), &to, 1, &from, 1, 0), taken->len);
}

/*
 * Drops the first frames of backtrace. Sanitizers wrap backtrace in frames of their own. The first
 * frame that stays is the one below caller.
 */
static void drop_above(struct taken *taken, const void *caller)
{
	while (taken->n > 2 && taken->frames[1] != caller)
		memmove(taken->frames, taken->frames + 1,
			(size_t)--taken->n * sizeof(taken->frames[0]));
}

/*
 * A function whose frame has the size in its source. A sanitizer would enlarge the frame and fill
 * the copy.
 */
#define PLAIN_FRAME __attribute__((noinline, no_sanitize_address))

/* Takes what the kernel would put into a sample of this place. */
PLAIN_FRAME static void take(struct taken *taken)
{
	uint64_t sp, fp, pc;

#if defined(__x86_64__)
	__asm__ volatile("leaq 0(%%rip), %0\n\tmovq %%rsp, %1\n\tmovq %%rbp, %2"
			 : "=r"(pc), "=r"(sp), "=r"(fp));
	set_reg(taken->regs, SAMPLE_REG_PC, pc);
	set_reg(taken->regs, SAMPLE_REG_SP, sp);
	set_reg(taken->regs, PERF_REG_X86_BP, fp);
#else
	__asm__ volatile("adr %0, .\n\tmov %1, sp\n\tmov %2, x29" : "=r"(pc), "=r"(sp), "=r"(fp));
	set_reg(taken->regs, SAMPLE_REG_PC, pc);
	set_reg(taken->regs, SAMPLE_REG_SP, sp);
	set_reg(taken->regs, PERF_REG_ARM64_X29, fp);
#endif
	taken->len = top_of_stack - sp < STACK_BYTES ? top_of_stack - sp : STACK_BYTES;
	copy_stack(taken, sp);
	taken->n = backtrace(taken->frames, 64);
	drop_above(taken, __builtin_return_address(0));
}

/* Makes a deep stack of frames whose size only unwind tables know. */
PLAIN_FRAME static int descend(struct taken *taken, int depth)
{
	volatile char room[64 + 16 * 3];

	/*
	 * Compilers may shrink an array of which only a part is used. This statement prevents that.
	 */
	__asm__ volatile("" : : "r"(room) : "memory");
	room[0] = (char)depth;
	if (depth == 0) {
		take(taken);
		sem_post(&was_taken);
		sem_wait(&is_over);
	} else {
		descend(taken, depth - 1);
	}
	return room[0];
}

static uint64_t unread_pages; /* of the next walks' samples */

static void walk_at(uint64_t time_ns, const struct sample *sample)
{
	unwinder_walk(unwinder, self, time_ns, sample, &stack);
	unwinder_accept(unwinder, &stack, true);
}

static void walk(const struct taken *taken, uint32_t len)
{
	const struct sample sample = {.regs = taken->regs,
				      .stack = taken->bytes,
				      .stack_len = len,
				      .unread_pages = unread_pages};

	walk_at(NOW, &sample);
}

/*
 * The walk's frames are those of backtrace. Only the first frame differs: it is where the pc was
 * taken, not the call of backtrace.
 */
static void check_frames(const struct taken *taken, uint32_t least)
{
	assert_true(stack.depth >= least);
	for (uint32_t i = 1; i < least; i++)
		assert_ptr_equal(stack.entries[i].addr, taken->frames[i]);
}

static uint64_t hole; /* the address of an array that nobody has written to */

#define HOLE_PAGES 3

PLAIN_FRAME static int descend_behind_a_hole(struct taken *taken)
{
	volatile char room[HOLE_PAGES * SNAPSHOT_PAGE_BYTES];

	__asm__ volatile("" : : "r"(room) : "memory");
	hole = (uintptr_t)room;
	return descend(taken, 30) + room[0];
}

static void *on_thread(void *arg)
{
	top_of_stack = (uint64_t)(uintptr_t)__builtin_frame_address(0) + 4096;
	top_of_stack &= ~UINT64_C(4095);
	descend_behind_a_hole(arg);
	return NULL;
}

static struct taken *take_on_thread(void)
{
	struct taken *taken = calloc(1, sizeof(*taken));

	assert_non_null(taken);
	sem_init(&was_taken, 0, 0);
	sem_init(&is_over, 0, 0);
	assert_int_equal(pthread_create(&thread, NULL, on_thread, taken), 0);
	sem_wait(&was_taken);
	assert_true(taken->n > 32);
	return taken;
}

static void let_go(struct taken *taken)
{
	sem_post(&is_over);
	pthread_join(thread, NULL);
	free(taken);
}

static void a_native_stack_is_walked_to_the_threads_entry(void **state)
{
	struct taken *taken = take_on_thread();

	walk(taken, (uint32_t)taken->len);
	check_frames(taken, (uint32_t)taken->n);
	assert_int_equal(stack.end, STACK_WHOLE);
	assert_true(stack.depth - (uint32_t)taken->n <= 1);
	let_go(taken);
}

static void a_stack_that_goes_on_behind_the_copy_says_so(void **state)
{
	struct taken *taken = take_on_thread();

	taken->bytes[CUT_BYTES - 1] ^= 1; /* what is there now is another's */
	walk(taken, CUT_BYTES);
	assert_true(stack.depth > 3 && stack.depth < (uint32_t)taken->n);
	check_frames(taken, stack.depth);
	assert_int_equal(stack.end, STACK_SNAPSHOT_ENDED);
	let_go(taken);
}

/* The pages that are wholly in the array. */
static void forget_hole(struct taken *taken)
{
	const uint64_t sp = sample_regs_get(taken->regs, SAMPLE_REG_SP);
	const uint64_t first = hole / SNAPSHOT_PAGE_BYTES + 1 - sp / SNAPSHOT_PAGE_BYTES;

	unread_pages = ((UINT64_C(1) << (HOLE_PAGES - 1)) - 1) << first;
	memset(taken->bytes + ((hole / SNAPSHOT_PAGE_BYTES + 1) * SNAPSHOT_PAGE_BYTES - sp), 0xee,
	       (HOLE_PAGES - 1) * SNAPSHOT_PAGE_BYTES);
}

static void a_walk_goes_over_a_hole_of_which_it_needs_nothing(void **state)
{
	struct taken *taken = take_on_thread();

	forget_hole(taken);
	walk(taken, (uint32_t)taken->len);
	unread_pages = 0;
	check_frames(taken, (uint32_t)taken->n);
	assert_int_equal(stack.end, STACK_WHOLE);
	let_go(taken);
}

static void a_walk_ends_at_a_hole_of_which_it_needs_a_word(void **state)
{
	struct taken *taken = take_on_thread();

	unread_pages = ~UINT64_C(0);
	walk(taken, (uint32_t)taken->len);
	unread_pages = 0;
	assert_true(stack.depth < (uint32_t)taken->n);
	check_frames(taken, stack.depth);
	assert_int_equal(stack.end, STACK_PAGE_OUT);
	let_go(taken);
}

static void a_deep_stack_goes_on_in_the_process(void **state)
{
	struct taken *taken = take_on_thread();
	struct unwinder_stats stats;

	walk(taken, 2048);
	check_frames(taken, (uint32_t)taken->n);
	assert_int_equal(stack.end, STACK_WHOLE);
	unwinder_stats(unwinder, &stats);
	assert_int_equal(stats.extended, 1);
	let_go(taken);
}

static void a_walk_counts_where_it_is_accepted(void **state)
{
	struct taken *taken = take_on_thread();
	const struct sample sample = {
		.regs = taken->regs, .stack = taken->bytes, .stack_len = 2048};
	struct unwinder_stats stats;

	for (int i = 0; i < 3; i++)
		unwinder_walk(unwinder, self, NOW, &sample, &stack);
	unwinder_stats(unwinder, &stats);
	assert_int_equal(stats.ends[STACK_WHOLE] + stats.extended + stats.reads, 0);
	unwinder_accept(unwinder, &stack, false); /* a waker's */
	unwinder_accept(unwinder, &stack, true);
	unwinder_stats(unwinder, &stats);
	assert_int_equal(stats.ends[STACK_WHOLE], 1);
	assert_int_equal(stats.extended, 2);
	assert_int_equal(stats.reads, 2 * stack.counts.reads);
	let_go(taken);
}

static void a_stack_that_has_changed_since_is_not_gone_on_with(void **state)
{
	struct taken *taken = take_on_thread();

	taken->bytes[2047] ^= 1;
	walk(taken, 2048);
	assert_int_equal(stack.end, STACK_SNAPSHOT_ENDED);
	let_go(taken);
}

/* A target may map more memory behind its stack after each read. */
static void a_stack_that_grows_while_it_is_read_is_not_run_after(void **state)
{
	const size_t page = 4096, mapped = 64 * page;
	uint8_t *const grown = mmap(NULL, mapped, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct snapshot copy = {.addr = (uint64_t)(uintptr_t)grown, .bytes = grown, .len = 2048};
	struct live_stack live = {0};

	assert_true(grown != MAP_FAILED);
	assert_int_equal(mprotect(grown, 8 * page, PROT_READ | PROT_WRITE), 0);
	assert_true(live_stack_extend(&live, getpid(), &copy, copy.addr));
	assert_int_equal(copy.len, 8 * page);
	assert_int_equal(mprotect(grown, 16 * page, PROT_READ | PROT_WRITE), 0);
	assert_true(live_stack_extend(&live, getpid(), &copy, copy.addr));
	assert_int_equal(copy.len, 16 * page);
	assert_int_equal(mprotect(grown, 24 * page, PROT_READ | PROT_WRITE), 0);
	assert_false(live_stack_extend(&live, getpid(), &copy, copy.addr));
	assert_int_equal(copy.len, 16 * page);
	copy = (struct snapshot){.addr = copy.addr, .bytes = grown, .len = 2048};
	assert_true(live_stack_extend(&live, getpid(), &copy, copy.addr)); /* another sample */
	live_stack_fini(&live);
	munmap(grown, mapped);
}

/* The kernel's chain has the frames behind the copy, and skips a frame in the copy. */
static void behind_the_copy_the_kernels_walk_goes_on(void **state)
{
	struct taken *taken = take_on_thread();
	uint64_t chain[70];
	struct sample sample = {.regs = taken->regs,
				.stack = taken->bytes,
				.stack_len = CUT_BYTES,
				.user = {.addrs = chain}};

	taken->bytes[CUT_BYTES - 1] ^= 1; /* what is there now is another's */
	chain[sample.user.len++] = sample_regs_get(taken->regs, SAMPLE_REG_PC);
	for (int i = 2; i < taken->n; i++)
		chain[sample.user.len++] = (uint64_t)(uintptr_t)taken->frames[i];
	walk_at(NOW, &sample);
	check_frames(taken, (uint32_t)taken->n);
	assert_int_equal(stack.depth, taken->n);
	assert_int_equal(stack.end, STACK_BY_FP);
	let_go(taken);
}

static void without_registers_it_is_the_kernels_walk(void **state)
{
	const uint64_t chain[] = {0x10, 0x20};

	walk_at(NOW, &(struct sample){.user = {chain, 2}});
	assert_int_equal(stack.depth, 2);
	assert_int_equal(stack.end, STACK_BY_FP);
}

/* ---- generated code ---- */

#define CODE_BYTES 4096

/*
 * Memory for made-up code and for the code that calls it. A native frame of this program could be
 * the caller, too, but would have to be found.
 */
static uint8_t *code;
static uint64_t sample_regs[SAMPLE_REGS_COUNT];
#define N_WORDS 512
static _Alignas(16) uint64_t room[1 + N_WORDS];
static uint64_t *words; /* off the alignment by a word, as with a return address on top */

static size_t n_kernel; /* frames of the kernel that samples have */

static int set_up_code(void **state)
{
	n_kernel = 0;
	if (set_up(state) < 0)
		return -1;
	code = mmap(NULL, CODE_BYTES, PROT_READ | PROT_WRITE | PROT_EXEC,
		    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	memset(code, 0x90, CODE_BYTES);
	memset(room, 0, sizeof(room));
	words = room + 1;
	process_read_space(self, NOW, PROCESS_READ_ALL);
	return code == MAP_FAILED ? -1 : process_add_jvm(self);
}

static int tear_down_code(void **state)
{
	munmap(code, CODE_BYTES);
	return tear_down(state);
}

static uint64_t add_code_of_level(uint32_t offset, uint32_t size, enum code_kind kind,
				  const char *name, struct code_frame frame, uint8_t level)
{
	const struct code_range range = {
		.addr = (uint64_t)(uintptr_t)code + offset,
		.size = size,
		.kind = (uint8_t)kind,
		.class_name = kind == CODE_STUB ? NULL : "a/B",
		.name = name,
		.frame = frame,
		.level = level,
	};

	assert_int_equal(code_map_add(self->code, &range, false), 1);
	return range.addr;
}

static uint64_t add_code(uint32_t offset, uint32_t size, enum code_kind kind, const char *name,
			 struct code_frame frame)
{
	return add_code_of_level(offset, size, kind, name, frame, 1);
}

/* Stack words are numbered from the stack pointer. */
static uint64_t word_addr(size_t i)
{
	return (uint64_t)(uintptr_t)&words[i];
}

static void walk_code(uint64_t pc, uint64_t fp, size_t n_words)
{
	static const uint64_t kernel[] = {0xffffffff81000000};
	const struct sample sample = {.kernel = {kernel, (uint32_t)n_kernel},
				      .regs = sample_regs,
				      .stack = (const uint8_t *)words,
				      .stack_len = (uint32_t)(n_words * 8)};

#if defined(__x86_64__)
	set_reg(sample_regs, SAMPLE_REG_PC, pc);
	set_reg(sample_regs, SAMPLE_REG_SP, word_addr(0));
	set_reg(sample_regs, PERF_REG_X86_BP, fp);
#else
	set_reg(sample_regs, SAMPLE_REG_PC, pc);
	set_reg(sample_regs, SAMPLE_REG_SP, word_addr(0));
	set_reg(sample_regs, PERF_REG_ARM64_X29, fp);
#endif
	walk_at(NOW, &sample);
}

/* Checks the addresses of the frames behind the first one. More frames may follow. */
static void check_callers(const uint64_t *addrs, uint32_t n)
{
	assert_true(stack.depth > n);
	for (uint32_t i = 0; i < n; i++)
		assert_int_equal(stack.entries[1 + i].addr, addrs[i]);
}

#define CHECK_CALLERS(...)                                                                         \
	check_callers((const uint64_t[]){__VA_ARGS__},                                             \
		      sizeof((const uint64_t[]){__VA_ARGS__}) / sizeof(uint64_t))

#define LARGE_WORDS 200 /* words of a frame, the return address included */
#define SHORT_WORDS 150 /* words of a copy; enough to tell that the remainder belongs to the copy */

/* Puts a call through a register in front of an offset in the generated code. */
static void put_call_in_front(uint32_t offset)
{
#if defined(__x86_64__)
	static const uint8_t call[] = {0xff, 0xd0}; /* call rax */
#else
	static const uint8_t call[] = {0x00, 0x01, 0x3f, 0xd6}; /* blr x8 */
#endif

	memcpy(code + offset - sizeof(call), call, sizeof(call));
}

static const struct code_frame FRAME_48 = {.size = 48, .complete = 16};

/* Adds a compiled method of 256 bytes with a frame of 48 bytes. */
static uint64_t add_java(uint32_t offset, const char *name)
{
	return add_code(offset, 256, CODE_JAVA, name, FRAME_48);
}

/* Adds a stub without the size of a frame. */
static uint64_t add_stub(uint32_t offset, uint32_t size, const char *name)
{
	return add_code(offset, size, CODE_STUB, name, (struct code_frame){0});
}

#if defined(__x86_64__)
/* ---- a coroutine ---- */

static ucontext_t outside, coroutine;
static struct taken *of_coroutine;

PLAIN_FRAME static void run_coroutine(void)
{
	take(of_coroutine);
}

/* The function of makecontext returns to code that did not call it. */
static void a_coroutine_ends_at_code_that_nothing_has_called(void **state)
{
	uint8_t *const bytes = calloc(1, STACK_BYTES);
	const struct stack_entry *last;

	of_coroutine = calloc(1, sizeof(*of_coroutine));
	assert_non_null(bytes);
	assert_non_null(of_coroutine);
	top_of_stack = (uintptr_t)bytes + STACK_BYTES;
	assert_int_equal(getcontext(&coroutine), 0);
	coroutine.uc_stack.ss_sp = bytes;
	coroutine.uc_stack.ss_size = STACK_BYTES;
	coroutine.uc_link = &outside;
	makecontext(&coroutine, run_coroutine, 0);
	assert_int_equal(swapcontext(&outside, &coroutine), 0);
	walk(of_coroutine, (uint32_t)of_coroutine->len);
	check_frames(of_coroutine, (uint32_t)of_coroutine->n);
	assert_int_equal(stack.depth, of_coroutine->n);
	last = &stack.entries[stack.depth - 1];
	assert_false(last->is_return); /* in front of it lies another function */
	free(of_coroutine);
	free(bytes);
}

/* The kernel starts a process at the loader's first instruction, and nothing called that code. */
static void a_process_that_has_just_begun_is_at_its_root(void **state)
{
	const uint64_t base = getauxval(AT_BASE);
	const ElfW(Ehdr) *const header = (const void *)(uintptr_t)base;

	if (base == 0)
		skip(); /* the program is linked without a loader */
	words[0] = 1;	/* arguments of the process, as the kernel puts them on the stack */
	words[1] = word_addr(20);
	walk_code(base + header->e_entry, 0, 60);
	assert_int_equal(stack.end, STACK_WHOLE);
	assert_int_equal(stack.depth, 1);
}

extern void _init(void);

/* _init has no rules. It has made room for a word when it checks whether to call a function. */
static void a_files_first_function_is_left_by_what_is_below_its_word(void **state)
{
	const uint64_t caller = add_java(0, "caller");

	put_call_in_front(100);
	words[0] = caller + 104; /* code, which is behind no call */
	words[1] = caller + 100;
	walk_code((uint64_t)(uintptr_t)_init + 8, 0x1234, 60);
	assert_true(stack.depth >= 2);
	assert_int_equal(stack.entries[1].addr, caller + 100);
}

/* On musl it is the C library too, which hardly any stack ends in. */
static void a_file_called_a_loader_is_no_root(void **state)
{
	const struct mapping loader = {.start = 0x10000,
				       .end = 0x20000,
				       .inode = 4711,
				       .path = "/lib/ld-musl-x86_64.so.1"};

	add_code(0, 256, CODE_STUB, "blob", FRAME_48);
	assert_int_equal(address_space_add(&self->space, &loader), 0);
	words[5] = loader.start + 100;
	walk_code((uint64_t)(uintptr_t)code + 60, 1, 60);
	assert_int_equal(stack.depth, 2);
	assert_int_equal(stack.entries[1].addr, loader.start + 100);
	assert_int_equal(stack.end, STACK_NO_RULE);
}
#endif

/* The code, or a file's unwind table, may not be known yet, for example. */
static void a_look_that_leads_nowhere_keeps_what_is_behind_the_copy(void **state)
{
	const uint64_t leaf = (uint64_t)(uintptr_t)code, caller = leaf + 256, last = leaf + 512;
	const struct sample sample = {
		.regs = sample_regs, .stack = (const uint8_t *)words, .stack_len = 10 * 8};

	words[5] = caller + 100;
	words[11] = last + 100;
	set_reg(sample_regs, SAMPLE_REG_PC, leaf + 60);
	set_reg(sample_regs, SAMPLE_REG_SP, word_addr(0));
	unwinder_look(unwinder, self, NOW, &sample, &stack);
	assert_int_equal(stack.depth, 1);
	words[11] = 0;
	add_java(0, "leaf");
	add_java(256, "caller");
	add_java(512, "last");
	walk_code(leaf + 60, 0x1234, 10);
	assert_true(stack.depth >= 3);
	CHECK_CALLERS(caller + 100, last + 100);
}

/* Makes a sample of a leaf whose caller's frame ends behind the copy, and keeps the remainder. */
static uint64_t take_short_copy(const struct sample *sample)
{
	const uint64_t leaf = (uint64_t)(uintptr_t)code, time_ns = clock_now_ns();

	words[5] = leaf + 256 + 100;
	set_reg(sample_regs, SAMPLE_REG_PC, leaf + 60);
	set_reg(sample_regs, SAMPLE_REG_SP, word_addr(0));
	unwinder_keep_remainder(unwinder, self, time_ns, sample);
	return time_ns;
}

static void add_leaf_and_callers(void)
{
	add_java(0, "leaf");
	add_java(256, "caller");
	add_java(512, "last");
	add_java(768, "another");
}

/*
 * The thread has returned and called again: the frames in the copy are equal, and the frames behind
 * the copy are not.
 */
static void a_stack_that_changed_behind_the_copy_about_then_ends_with_the_copy(void **state)
{
	const struct sample sample = {
		.regs = sample_regs, .stack = (const uint8_t *)words, .stack_len = 10 * 8};
	const uint64_t caller = (uint64_t)(uintptr_t)code + 256;
	struct unwinder_stats stats;
	uint64_t first, second;

	add_leaf_and_callers();
	words[11] = caller + 256 + 100;
	first = take_short_copy(&sample);
	words[11] = caller + 512 + 100;
	second = take_short_copy(&sample);
	walk_at(second, &sample);
	assert_int_equal(stack.end, STACK_SNAPSHOT_ENDED);
	assert_int_equal(stack.depth, 2);
	assert_int_equal(stack.entries[1].addr, caller + 100);
	unwinder_stats(unwinder, &stats);
	assert_int_equal(stats.doubtful, 1);
	/* Before it changed there is no doubt. */
	walk_at(first, &sample);
	assert_true(stack.depth >= 3);
	assert_int_equal(stack.entries[2].addr, caller + 256 + 100);
	unwinder_stats(unwinder, &stats);
	assert_int_equal(stats.doubtful, 1);
}

/* The garbage collector may have moved objects that the frames hold, for example. */
static void what_changed_behind_the_copy_but_frames_is_no_matter(void **state)
{
	const struct sample sample = {
		.regs = sample_regs, .stack = (const uint8_t *)words, .stack_len = 10 * 8};
	const uint64_t caller = (uint64_t)(uintptr_t)code + 256;
	struct unwinder_stats stats;
	uint64_t second;

	add_leaf_and_callers();
	words[11] = caller + 256 + 100;
	words[13] = 77;
	take_short_copy(&sample);
	words[13] = 78;
	second = take_short_copy(&sample);
	walk_at(second, &sample);
	assert_true(stack.depth >= 3);
	assert_int_equal(stack.entries[2].addr, caller + 256 + 100);
	unwinder_stats(unwinder, &stats);
	assert_int_equal(stats.doubtful, 0);
	assert_int_equal(stats.extended, 1);
}

#if defined(__x86_64__)
static void put_call(uint64_t at, uint64_t target)
{
	const int32_t distance = (int32_t)(target - (at + 5));

	code[at - (uint64_t)(uintptr_t)code] = 0xe8;
	memcpy(&code[at + 1 - (uint64_t)(uintptr_t)code], &distance, sizeof(distance));
}

/*
 * Walks a sample with an empty snapshot, because the stack's page had not been written to. When the
 * sample is walked, the page has content.
 */
static void walk_unseen(uint64_t pc)
{
	const struct sample sample = {.regs = sample_regs, .stack = (const uint8_t *)words};

	set_reg(sample_regs, SAMPLE_REG_PC, pc);
	set_reg(sample_regs, SAMPLE_REG_SP, word_addr(0));
	unwinder_look(unwinder, self, NOW, &sample, &stack);
	memset(room, 0, sizeof(room));
	walk_at(NOW, &sample);
}

static void a_stack_of_which_there_is_no_copy_is_read_if_it_leads_behind_a_call(void **state)
{
	const uint64_t leaf = add_java(0, "leaf");
	const uint64_t caller = add_java(256, "caller");

	put_call(caller + 95, leaf);
	words[5] = caller + 100;
	words[11] = caller + 200; /* further down there is more to go by */
	walk_unseen(leaf + 60);
	assert_true(stack.depth >= 3);
	CHECK_CALLERS(caller + 100, caller + 200);
}

static void a_stack_of_which_there_is_no_copy_is_not_believed_without_a_call(void **state)
{
	const uint64_t leaf = add_java(0, "leaf");
	const uint64_t caller = add_java(256, "caller");

	put_call(caller + 95, caller + 10); /* of another function, behind this one */
	words[5] = caller + 100;
	walk_unseen(leaf + 60);
	assert_int_equal(stack.depth, 0);
}
#endif

/* 48 bytes: four words of its own, the caller's frame pointer, the return address. */
static void compiled_frames_are_left_by_their_size(void **state)
{
	const uint64_t leaf = add_java(0, "leaf");
	const uint64_t caller = add_java(256, "caller");
	const uint64_t last = add_java(512, "last");

	words[5] = caller + 100;
	words[11] = last + 50;
	walk_code(leaf + 60, 0x1234, 18); /* the frame pointer is used for something else */
	assert_int_equal(stack.depth, 3);
	assert_int_equal(stack.entries[0].addr, leaf + 60);
	CHECK_CALLERS(caller + 100, last + 50);
	assert_true(stack.entries[1].is_return && !stack.entries[0].is_return);
	assert_int_equal(stack.end, STACK_BAD_RETURN); /* Java's frames do not return to nowhere */
	assert_int_equal(stack.end_addr, 0);
}

static void a_frame_that_is_not_yet_whole_is_read_from_its_code(void **state)
{
	static const uint8_t prologue[] = {0x55, 0x48, 0x83, 0xec, 0x20};
	const uint64_t leaf = add_java(0, "leaf");
	const uint64_t caller = add_java(256, "caller");

	memcpy(code, prologue, sizeof(prologue));
	words[0] = caller + 100;
	walk_code(leaf, 0x1234, 18);
	assert_int_equal(stack.entries[1].addr, caller + 100);
	words[0] = 0x1234;
	words[1] = caller + 104;
	walk_code(leaf + 1, 0x1234, 18);
	assert_int_equal(stack.entries[1].addr, caller + 104);
}

#if defined(__x86_64__)
#define BCP_REG PERF_REG_X86_R13
#else
#define BCP_REG PERF_REG_ARM64_X22
#endif
#define BCP_REGISTER 0xbc8

/* Slots of HotSpot's interpreted frame: -1 the sender's sp, -3 the method, -8 the bytecode. */
static void interpreted_frames_are_left_by_their_slots(void **state)
{
	const uint64_t interpreter = add_stub(0, 1024, "Interpreter");
	const uint64_t caller = add_java(1024, "caller");

	words[20] = word_addr(40); /* fp of the caller: not used, it is compiled */
	words[21] = caller + 100;  /* return address */
	words[19] = word_addr(30); /* arguments were put behind the caller's frame */
	words[17] = 0xdead0;	   /* Method* */
	words[12] = 0xbc0;	   /* bcp */
	words[35] = caller + 60;
	set_reg(sample_regs, BCP_REG, BCP_REGISTER);
	walk_code(interpreter + 500, word_addr(20), 60);
	assert_int_equal(stack.entries[0].method, 0xdead0);
	assert_int_equal(stack.entries[0].bcp, BCP_REGISTER); /* the frame's is older */
	assert_int_equal(stack.entries[1].addr, caller + 100);
	assert_int_equal(stack.entries[1].method, 0);
	assert_int_equal(stack.entries[2].addr, caller + 60);
}

/* The method is entered from compiled code and has no frame yet: registers hold its values. */
static void an_interpreted_frame_that_is_not_made_yet_is_left_by_registers(void **state)
{
	const uint64_t interpreter = add_stub(0, 1024, "Interpreter");
	const uint64_t caller = add_java(1024, "caller");
	const uint64_t last = add_java(1280, "last");

#if defined(__x86_64__)
	words[0] = caller + 100;
	words[4 + 5] = last + 60;
	set_reg(sample_regs, PERF_REG_X86_R13, word_addr(4));
	set_reg(sample_regs, PERF_REG_X86_BX, 0xdead0);
	walk_code(interpreter + 20, 0x1234, 60);
	assert_int_equal(stack.entries[0].method, 0xdead0);
	CHECK_CALLERS(caller + 100, last + 60);
#else
	(void)interpreter;
	(void)caller;
	(void)last;
#endif
}

#if defined(__x86_64__)
/*
 * The frame pointer is set, and the caller's frame pointer is saved. The caller's stack pointer is
 * in a register.
 */
static void an_interpreted_frame_that_has_its_pointer_is_left_by_that(void **state)
{
	const uint64_t interpreter = add_stub(0, 1024, "Interpreter");
	const uint64_t last = add_java(1280, "last");

	words[1] = word_addr(6);
	words[2] = word_addr(20);
	words[3] = interpreter + 500;
	words[21] = last + 60;
	set_reg(sample_regs, PERF_REG_X86_AX, interpreter + 500);
	set_reg(sample_regs, PERF_REG_X86_R13, word_addr(6));
	set_reg(sample_regs, PERF_REG_X86_BX, 0xdead0);
	walk_code(interpreter + 20, word_addr(2), 60);
	assert_int_equal(stack.depth, 3);
	assert_int_equal(stack.entries[0].method, 0xdead0);
	CHECK_CALLERS(interpreter + 500, last + 60);
}
#endif

/*
 * The frame is made word by word. So far it has the sender's sp, a zero and the method, but no
 * caller.
 */
static void an_interpreted_frame_that_is_half_made_is_left_by_what_there_is(void **state)
{
	const uint64_t interpreter = add_stub(0, 1024, "Interpreter");
	const uint64_t caller = add_java(1024, "caller");
	const uint64_t last = add_java(1280, "last");

	words[0] = 0xdead0;
	words[2] = word_addr(8);
	words[4] = caller + 100;
	words[8 + 5] = last + 60;
	set_reg(sample_regs, BCP_REG, BCP_REGISTER);
	walk_code(interpreter + 500, word_addr(3), 60);
	assert_int_equal(stack.entries[0].method, 0xdead0);
	CHECK_CALLERS(caller + 100, last + 60);
}

#if defined(__x86_64__)
/*
 * The method's frame is gone, its return address popped into r13, and its caller's stack pointer,
 * which is above what an adapter has pushed, still in rbx.
 */
static void an_interpreted_frame_that_was_taken_down_is_left_by_registers(void **state)
{
	static const uint8_t end[] = {0xc9, 0x41, 0x5d, 0x48, 0x8b, 0xe3, 0x41, 0xff, 0xe5};
	const uint64_t interpreter = add_stub(0, 1024, "Interpreter");
	const uint64_t caller = add_java(1024, "caller");
	const uint64_t last = add_java(1280, "last");

	memcpy(code + 500, end, sizeof(end));
	words[0] = 0xbad;
	words[4 + 5] = last + 60;
	set_reg(sample_regs, PERF_REG_X86_R13, caller + 100);
	set_reg(sample_regs, PERF_REG_X86_BX, word_addr(4));
	walk_code(interpreter + 503, 0x1234, 60);
	assert_int_equal(stack.entries[0].method, 0); /* it was in the frame */
	CHECK_CALLERS(caller + 100, last + 60);
}

/*
 * The stale words where a whole frame's return address would be are a return address, too: that of
 * some other call.
 */
static void a_frame_that_is_gone_before_its_last_check_is_left_from_the_top(void **state)
{
	static const uint8_t end[] = {0x48, 0x83, 0xc4, 0x20, 0x5d,		/* add; pop rbp */
				      0x49, 0x3b, 0xa7, 0xb8, 0x03, 0x00, 0x00, /* cmp */
				      0x0f, 0x82, 0x3f, 0x00, 0x00, 0x00,	/* jb */
				      0x49, 0x8b, 0xff};			/* mov */
	const uint64_t leaf = add_java(0, "leaf");
	const uint64_t caller = add_java(256, "caller");
	const uint64_t other = add_java(512, "other");

	memcpy(code + 100, end, sizeof(end));
	words[0] = caller + 100;
	words[5] = other + 100;
	words[6] = other + 60;
	for (uint64_t pc = leaf + 105; pc <= leaf + 112; pc += 7) {
		walk_code(pc, 0x1234, 60);
		CHECK_CALLERS(caller + 100, other + 60);
	}
}
#endif

/*
 * The VM is asked for an exception's handler when the frame that the exception left is gone
 * already.
 */
static void an_interpreted_frame_that_is_gone_is_left_from_the_top(void **state)
{
	const uint64_t interpreter = add_stub(0, 1024, "Interpreter");
	const uint64_t leaf = add_stub(2048, 64, "vtable stub");
	const uint64_t caller = add_java(1024, "caller");
	const uint64_t last = add_java(1280, "last");

	words[0] = interpreter + 500;
	words[1] = caller + 100;
	words[2] = 0xe0; /* the exception */
	words[3 + 5] = last + 60;
	walk_code(leaf + 8, 0x1234, 60);
	assert_int_equal(stack.entries[1].addr, interpreter + 500);
	assert_int_equal(stack.entries[1].method, 0);
	assert_int_equal(stack.entries[2].addr, caller + 100);
	assert_int_equal(stack.entries[3].addr, last + 60);
}

static void the_stub_for_exceptions_that_leave_a_frame_is_left_from_the_top(void **state)
{
	const uint64_t stub = add_stub(0, 64, "unwind_exception Runtime1 stub");
	const uint64_t leaf = add_stub(64, 64, "vtable stub");
	const uint64_t caller = add_java(1024, "caller");
	const uint64_t last = add_java(1280, "last");

	words[0] = stub + 32;
	words[1] = 0xe0; /* the exception */
	words[2] = caller + 100;
	words[3 + 5] = last + 60;
	walk_code(leaf + 8, 0x1234, 60);
	assert_int_equal(stack.entries[2].addr, caller + 100);
	assert_int_equal(stack.entries[3].addr, last + 60);
}

#if defined(__x86_64__)
/* The frame pointer is that of an interpreted method far up the stack. */
static void the_blob_for_exceptions_is_left_for_where_they_were_thrown(void **state)
{
	const uint64_t blob =
		add_code(0, 256, CODE_STUB, "ExceptionBlob", (struct code_frame){.size = 16});
	const uint64_t thrower = add_java(256, "thrower");
	const uint64_t last = add_java(512, "last");

	words[20] = word_addr(40);
	words[21] = last + 80;
	words[5] = last + 60;
	set_reg(sample_regs, PERF_REG_X86_DX, thrower + 100);
	walk_code(blob + 60, word_addr(20), 60); /* the pc has been popped */
	CHECK_CALLERS(thrower + 100, last + 60);
	words[0] = thrower + 104;
	words[6] = last + 64;
	walk_code(blob, word_addr(20), 60); /* it lies on top */
	CHECK_CALLERS(thrower + 104, last + 64);
	words[1] = thrower + 108;
	words[7] = last + 68;
	walk_code(blob + 30, word_addr(20), 60); /* there is a frame */
	CHECK_CALLERS(thrower + 108, last + 68);
}

/* The register holds an old note of another adapter. */
static void an_adapter_that_has_noted_nothing_is_left_from_the_top(void **state)
{
	const uint64_t adapter = add_stub(0, 512, "I2C/C2I adapters");
	const uint64_t caller = add_java(1024, "caller");
	const uint64_t last = add_java(1280, "last");

	words[0] = caller + 100;
	words[1 + 5] = last + 60;
	words[9 + 5] = last + 80;
	set_reg(sample_regs, PERF_REG_X86_R13, word_addr(9));
	walk_code(adapter + 100, 0x1234, 60);
	CHECK_CALLERS(caller + 100, last + 60);
}

/* It has popped the return address into a register, and what is on top is left over. */
static void an_adapter_was_not_called_by_a_file(void **state)
{
	const uint64_t adapter = add_stub(0, 512, "I2C/C2I adapters");
	const uint64_t caller = add_java(1024, "caller");
	const uint64_t last = add_java(1280, "last");

	words = room;
	words[0] = (uint64_t)(uintptr_t)&on_thread + 4;
	words[4 + 5] = last + 60;
	set_reg(sample_regs, PERF_REG_X86_AX, caller + 100);
	set_reg(sample_regs, PERF_REG_X86_R13, word_addr(4));
	walk_code(adapter + 100, 0x1234, 60);
	CHECK_CALLERS(caller + 100, last + 60);
}

/*
 * The adapter has noted the stack pointer. The stack then has room for arguments, and is aligned.
 */
static void an_adapter_is_left_by_what_it_has_noted(void **state)
{
	const uint64_t adapter = add_stub(0, 512, "I2C/C2I adapters");
	const uint64_t caller = add_java(1024, "caller");
	const uint64_t last = add_java(1280, "last");

	words = room;
	words[0] = caller + 100;
	words[1 + 5] = last + 80; /* left over */
	words[4 + 5] = last + 60;
	set_reg(sample_regs, PERF_REG_X86_R13, word_addr(4));
	walk_code(adapter + 100, 0x1234, 60);
	CHECK_CALLERS(caller + 100, last + 60);
}
#endif

/* Between the two addresses lie the other saved registers, and alignment. */
static void an_adapter_that_has_saved_all_is_left_by_the_address_that_is_there_twice(void **state)
{
	const uint64_t adapter = add_stub(0, 512, "I2C/C2I adapters");
	const uint64_t leaf = add_stub(2048, 64, "vtable stub");
	const uint64_t caller = add_java(1024, "caller");
	const uint64_t last = add_java(1280, "last");

	words[0] = adapter + 300;
	words[60] = last + 100; /* left over */
	words[100] = caller + 100;
	words[104] = caller + 100;
	words[105 + 5] = last + 60;
	walk_code(leaf + 8, 0x1234, 200);
	CHECK_CALLERS(adapter + 300, caller + 100, last + 60);
}

/* Each adapter returns to an adapter behind hundreds of words. */
static void searches_for_an_address_that_is_there_twice_are_few(void **state)
{
	const uint64_t adapter = add_stub(0, 512, "I2C/C2I adapters");
	const uint64_t leaf = add_stub(2048, 64, "vtable stub");
	const uint64_t java = add_code(1024, 256, CODE_JAVA, "java", (struct code_frame){16, 4, 0});

	for (size_t i = 0; i < N_WORDS; i++)
		words[i] = i % 4 == 0 ? adapter + 300 : java + 100;
	walk_code(leaf + 8, 0x1234, N_WORDS);
	assert_int_equal(stack.end, STACK_NO_RULE);
	assert_true(stack.depth <= 1 + 3 * (STEP_MAX_SEARCHES + 1));
}

/* C2's comparison of strings pushes a word for a while. */
static void a_leaf_that_has_pushed_a_word_is_left_all_the_same(void **state)
{
	const uint64_t leaf = add_java(0, "leaf");
	const uint64_t caller = add_java(256, "caller");
	const uint64_t last = add_java(512, "last");

	put_call_in_front(256 + 100);
	words[5] = 0x77; /* the frame pointer that was saved */
	words[6] = caller + 100;
	words[12] = last + 100;
	walk_code(leaf + 60, 0x1234, 60);
	CHECK_CALLERS(caller + 100, last + 100);
}

/* The stub finds the target of a method handle, and has no frame. */
static void a_stub_that_an_interpreted_method_jumps_to_is_left_for_that_method(void **state)
{
	const uint64_t interpreter = add_stub(0, 1024, "Interpreter");
	const uint64_t stub = add_stub(1024, 64, "_invokeBasic");
	const uint64_t java = add_java(1280, "java");

	words[0] = interpreter + 500; /* behind no call */
	words[19] = word_addr(22);    /* the sender's stack pointer */
	words[21] = java + 100;
	walk_code(stub + 8, word_addr(20), 60);
	CHECK_CALLERS(interpreter + 500, java + 100);
}

#define INLINED_BYTES 160 /* of code: handlers lie behind */

/* Adds a compiled method as add_java does, into which another one was inlined. */
static uint64_t add_inlining(uint32_t offset, const char *name)
{
	struct code_range range = {.addr = (uint64_t)(uintptr_t)code + offset,
				   .size = 256,
				   .kind = CODE_JAVA,
				   .class_name = "a/B",
				   .name = name,
				   .frame = FRAME_48};
	const struct code_method texts = {.class_name = "a/B", .name = name};
	uint8_t regions[16];
	struct wire_buf buf = {.data = regions, .size = sizeof(regions)};
	struct wire_inline wire = {
		.n_methods = 1, .n_regions = 1, .regions_left = 1, .has_regions = true};
	struct code_method *method;

	assert_int_equal(
		code_methods_add(&self->methods, &texts, &(struct wire_method){0}, &method), 0);
	wire_encode_inline_region(&buf, &(struct wire_region){.size = INLINED_BYTES, .depth = 1});
	wire_encode_inline_frame(&buf, &(struct wire_inline_frame){.bci = 3});
	wire.data = buf.data;
	wire.left = buf.len;
	assert_int_equal(inline_table_new(&self->methods, &method, &wire, 256, &range.inlines), 0);
	code_methods_unref(&self->methods, method);
	assert_int_equal(code_map_add(self->code, &range, false), 1);
	return range.addr;
}

/* C2's handler and C1's. */
static void put_deopt_handler(uint32_t offset, bool is_of_c1)
{
#if defined(__x86_64__)
	static const uint8_t of_c2[] = {0xe8, 0, 0, 0, 0, 0x48, 0x83, 0x2c, 0x24, 5, 0xe9};
	static const uint8_t of_c1[] = {0x49, 0xba, 1, 2, 3, 4, 5, 6, 7, 8, 0x41, 0x52, 0xe9};

	memcpy(code + offset, is_of_c1 ? of_c1 : of_c2, is_of_c1 ? sizeof(of_c1) : sizeof(of_c2));
#else
	static const uint8_t handler[] = {0x1e, 0x00, 0x00, 0x10};

	(void)is_of_c1;
	memcpy(code + offset, handler, sizeof(handler));
#endif
}

/* What HotSpot puts in the place of its return address would say nothing of what was inlined. */
static void a_deoptimized_frame_stands_where_it_had_been_left(void **state)
{
	const uint64_t leaf = add_java(0, "leaf");
	const uint64_t caller = add_inlining(256, "caller");
	const uint64_t last = add_java(512, "last");

	for (uint32_t i = 0; i < 2; i++) {
		put_deopt_handler(256 + 180 + 20 * i, i == 1);
		words[5] = caller + 180 + 20 * i;
		words[7] = caller + 100;
		words[11] = last + 100;
		walk_code(leaf + 60, 0x1234, 60);
		CHECK_CALLERS(caller + 100, last + 100);
		assert_true(stack.entries[1].is_return && !stack.entries[1].lacks_inlined);
	}
}

static void of_the_words_of_a_deoptimized_frame_the_one_behind_a_call_counts(void **state)
{
	const uint64_t leaf = add_java(0, "leaf");
	const uint64_t caller = add_inlining(256, "caller");
	const uint64_t last = add_java(512, "last");

	put_deopt_handler(256 + 180, false);
	put_call_in_front(256 + 100);
	words[5] = caller + 180;
	words[7] = words[8] = caller + 100;
	words[9] = caller + 60;
	words[10] = caller + 200; /* behind what has inlined methods */
	words[11] = last + 100;
	walk_code(leaf + 60, 0x1234, 60);
	CHECK_CALLERS(caller + 100, last + 100);
	assert_false(stack.entries[1].lacks_inlined);
}

/* The frame is left all the same: its size is known. */
static void a_deoptimized_frame_says_if_nobody_knows_where_it_had_been_left(void **state)
{
	const uint64_t leaf = add_java(0, "leaf");
	const uint64_t caller = add_inlining(256, "caller");
	const uint64_t last = add_java(512, "last");

	put_deopt_handler(256 + 180, false);
	put_call_in_front(256 + 60);
	put_call_in_front(256 + 100);
	words[5] = caller + 180;
	words[11] = last + 100;
	walk_code(leaf + 60, 0x1234, 60);
	CHECK_CALLERS(caller + 180, last + 100);
	assert_true(stack.entries[1].lacks_inlined);
	words[7] = caller + 100;
	words[9] = caller + 60;
	walk_code(leaf + 60, 0x1234, 60);
	CHECK_CALLERS(caller + 180, last + 100);
	assert_true(stack.entries[1].lacks_inlined);
}

static void code_behind_inlined_methods_is_no_handler_for_that(void **state)
{
	const uint64_t leaf = add_java(0, "leaf");
	const uint64_t caller = add_inlining(256, "caller");
	const uint64_t last = add_java(512, "last");

	words[5] = caller + 180;
	words[7] = caller + 100;
	words[11] = last + 100;
	walk_code(leaf + 60, 0x1234, 60);
	CHECK_CALLERS(caller + 180, last + 100);
	assert_false(stack.entries[1].lacks_inlined);
}

/* C2's search for a string leaves other return addresses in the frame. */
static void a_leaf_that_searches_a_string_is_left_by_the_stack_pointer_that_it_keeps(void **state)
{
	const uint64_t leaf = add_code_of_level(0, 256, CODE_JAVA, "leaf", FRAME_48, 4);
	const uint64_t caller = add_java(256, "caller");
	const uint64_t last = add_java(512, "last");

	words[0] = word_addr(7);
	words[5] = words[6] = last + 60;
	words[12] = caller + 100;
	words[18] = last + 100;
	walk_code(leaf + 60, 0x1234, 60);
	CHECK_CALLERS(caller + 100, last + 100);
}

/* C1 has no such search. And a frame pointer at its place says that no search is going on. */
static void an_address_left_over_in_a_frame_is_no_stack_pointer(void **state)
{
	const uint64_t of_c1 = add_code_of_level(0, 256, CODE_JAVA, "ofC1", FRAME_48, 3);
	const uint64_t of_c2 = add_code_of_level(256, 256, CODE_JAVA, "ofC2", FRAME_48, 4);
	const uint64_t caller = add_java(512, "caller");
	const uint64_t last = add_java(768, "last");

	words[0] = word_addr(3);
	words[5] = caller + 100;
	words[8] = last + 60;
	words[14] = last + 100;
	walk_code(of_c1 + 60, 0x1234, 60);
	assert_int_equal(stack.entries[1].addr, caller + 100);
	walk_code(of_c2 + 60, word_addr(4), 60);
	assert_int_equal(stack.entries[1].addr, caller + 100);
	walk_code(of_c2 + 60, 0x1234, 60); /* as of a search */
	assert_int_equal(stack.entries[1].addr, last + 60);
	/* What calls it is left well without that, or with neither. */
	words[11] = last + 100;
	walk_code(of_c2 + 60, 0x1234, 60);
	CHECK_CALLERS(caller + 100, last + 100);
	words[11] = words[14] = 0;
	walk_code(of_c2 + 60, 0x1234, 60);
	assert_int_equal(stack.entries[1].addr, caller + 100);
}

/* add rsp, 0x20; jmp: the end of C2's stubs that have saved registers. */
static void registers_that_a_stub_saved_are_left_out(void **state)
{
	static const uint8_t end[] = {0x48, 0x83, 0xc4, 0x20, 0xe9, 0x00, 0xff, 0xff, 0xff};
	const uint64_t leaf = add_java(0, "leaf");
	const uint64_t caller = add_java(256, "caller");
	const uint64_t last = add_java(512, "last");

	memcpy(code + 256 + 200, end, sizeof(end));
	words[5] = caller + 200;
	words[11] = 0x1234; /* where its frame would end if nothing was saved */
	words[15] = last + 100;
	words[21] = last + 100;
	walk_code(leaf + 60, 0x1234, 60);
	CHECK_CALLERS(caller + 200, last + 100, last + 100);
	/* A leaf in the stub itself is left in this way, too. */
	words[5] = 0x1234;
	words[9] = last + 100;
	words[15] = last + 100;
	walk_code(caller + 200, 0x1234, 60);
	CHECK_CALLERS(last + 100, last + 100);
}

static void compiled_code_is_not_returned_from_to_a_file(void **state)
{
	const uint64_t leaf = add_java(0, "leaf");
	const uint64_t caller = add_java(256, "caller");

	put_call_in_front(256 + 100);
	words[5] = (uint64_t)(uintptr_t)&on_thread + 4; /* left over */
	words[6] = caller + 100;
	walk_code(leaf + 60, 0x1234, 60);
	assert_int_equal(stack.entries[1].addr, caller + 100);
}

/*
 * The stub aligns and pushes. The caller is where a return address lies behind a call of the stub.
 */
static void a_stub_of_unknown_frame_is_left_by_its_call(void **state)
{
	static const uint8_t begin[] = {0x53, 0x55, 0x41, 0x54}; /* push rbx; push rbp; push r12 */
	const uint64_t stub = add_stub(0, 64, "sha512");
	const uint64_t caller = add_java(1024, "caller");
	const uint64_t other = add_java(2048, "other");
	const int32_t distance = (int32_t)(stub - (caller + 100));

	memcpy(code, begin, sizeof(begin));
	code[1024 + 95] = 0xe8;
	memcpy(code + 1024 + 96, &distance, sizeof(distance));
	words[7] = other + 100; /* left over: there is no call of the stub before it */
	words[30] = caller + 100;
	words[36] = other + 50;
	walk_code(stub + 20, 0x1234, 60);
	CHECK_CALLERS(caller + 100, other + 50);
}

#if defined(__x86_64__)
/* Among its three words are old return addresses, too. */
static void the_trampoline_of_probes_is_left_by_its_call(void **state)
{
	const uint64_t caller = add_java(1024, "caller");
	const uint64_t other = add_java(2048, "other");
	const uint64_t at = (uintptr_t)code + 8192;
	const struct mapping trampoline = {
		.start = at, .end = at + 4096, .path = "[uprobes-trampoline]"};

	assert_int_equal(address_space_add(&self->space, &trampoline), 0);
	put_call(caller + 95, at);
	put_call(other + 95, at + 4096);
	words[0] = caller + 50;
	words[2] = other + 100;
	words[3] = caller + 100;
	words[9] = other + 50;
	walk_code(at + 13, 0x1234, 60);
	CHECK_CALLERS(caller + 100, other + 50);
	words[3] = other + 100;
	walk_code(at + 13, 0x1234, 60);
	assert_int_equal(stack.depth, 1);
	assert_int_equal(stack.end, STACK_NO_RULE);
}
#endif

#if defined(__x86_64__)
/* Where the return address of the whole frame will be lies an older one, or another caller's. */
static void a_stub_that_has_no_frame_yet_is_left_for_its_call(void **state)
{
	const uint64_t stub = add_code(0, 256, CODE_STUB, "blob", FRAME_48);
	const uint64_t caller = add_java(1024, "caller");
	const uint64_t other = add_java(2048, "other");

	put_call(caller + 95, stub);
	put_call(other + 95, caller);
	words[0] = caller + 100;
	words[5] = words[6] = other + 100;
	walk_code(stub, 0x1234, 60);
	CHECK_CALLERS(caller + 100, other + 100);
	words[0] = 0x1234; /* the frame pointer that was pushed */
	words[1] = caller + 100;
	words[7] = other + 100;
	walk_code(stub + 1, 0x1234, 60);
	CHECK_CALLERS(caller + 100, other + 100);
	words[5] = caller + 100; /* and once there is a frame, it counts */
	words[11] = other + 100;
	words[1] = 0x1234;
	walk_code(stub + 60, 0x1234, 60);
	CHECK_CALLERS(caller + 100, other + 100);
}

/* As a word that a stub has pushed, or one of its caller's. */
static void a_word_on_top_of_a_stub_is_no_caller_without_a_call(void **state)
{
	const uint64_t stub = add_code(0, 256, CODE_STUB, "blob", FRAME_48);
	const uint64_t unsized = add_stub(256, 64, "some_copy");
	const uint64_t caller = add_java(1024, "caller");

	words[0] = words[1] = caller + 100;
	walk_code(stub, 0x1234, 60);
	assert_int_equal(stack.depth, 1);
	assert_int_equal(stack.end, STACK_NO_RULE);
	walk_code(unsized, 0x1234, 60);
	assert_int_equal(stack.depth, 1);
	assert_int_equal(stack.end, STACK_NO_RULE);
	put_call_in_front(1024 + 100);
	walk_code(unsized, 0x1234, 60);
	assert_true(stack.depth >= 2);
	assert_int_equal(stack.entries[1].addr, caller + 100);
}

/* Compiled code and assembler may use the register for anything, as for a place in the stack. */
static void a_frame_pointer_is_none_that_leads_behind_no_call(void **state)
{
	const uint64_t stub = add_stub(0, 64, "some_stub");
	const uint64_t leaf = add_stub(64, 64, "vtable stub");
	const uint64_t caller = add_java(1024, "caller");

	words[0] = stub + 32;
	words[21] = caller + 100;
	walk_code(leaf + 8, word_addr(20), 60);
	assert_int_equal(stack.depth, 2);
	assert_int_equal(stack.end, STACK_NO_RULE);
	words[0] = 0;
	walk_code((uint64_t)(uintptr_t)_init + 8, word_addr(20), 60);
	assert_int_equal(stack.depth, 1);
	assert_int_equal(stack.end, STACK_NO_RULE);
	put_call_in_front(1024 + 100);
	walk_code((uint64_t)(uintptr_t)_init + 8, word_addr(20), 60);
	assert_true(stack.depth >= 2);
	assert_int_equal(stack.entries[1].addr, caller + 100);
}

static void what_an_exception_left_was_not_called_by_a_file(void **state)
{
	const uint64_t stub = add_stub(0, 64, "unwind_exception Runtime1 stub");
	const uint64_t leaf = add_stub(64, 64, "vtable stub");
	const uint64_t caller = add_java(1024, "caller");

	words[0] = stub + 32;
	words[1] = (uint64_t)(uintptr_t)&on_thread + 4; /* left over */
	words[2] = caller + 100;
	walk_code(leaf + 8, 0x1234, 60);
	assert_true(stack.depth >= 3);
	assert_int_equal(stack.entries[2].addr, caller + 100);
}

/* The ways out of a leaf's frame that its code did not ask for. */
static void a_word_or_two_on_a_leafs_frame_lead_behind_a_call(void **state)
{
	const uint64_t leaf = add_java(0, "leaf");
	const uint64_t caller = add_java(256, "caller");

	put_call_in_front(256 + 100);
	words[6] = caller + 104; /* data, which looks like code */
	words[7] = caller + 100;
	walk_code(leaf + 60, 0x1234, 60);
	assert_true(stack.depth >= 2);
	assert_int_equal(stack.entries[1].addr, caller + 100);
}
#endif

/* C1 pushes the two classes before the call, and pops them behind it. */
static void what_the_caller_of_the_subtype_check_pushed_is_left_out(void **state)
{
	static const uint8_t begin[] = {0x57, 0x56, 0x51, 0x50}; /* push rdi, rsi, rcx, rax */
	const uint64_t stub = add_stub(0, 64, "C1 Runtime slow_subtype_check_blob");
	const uint64_t caller = add_java(1024, "caller");
	const uint64_t other = add_java(2048, "other");
	const int32_t distance = (int32_t)(stub - (caller + 100));

	memcpy(code, begin, sizeof(begin));
	code[1024 + 95] = 0xe8;
	memcpy(code + 1024 + 96, &distance, sizeof(distance));
	words[4] = caller + 100;
	words[5 + 2 + 5] = other + 50;
	walk_code(stub + 20, 0x1234, 60);
	CHECK_CALLERS(caller + 100, other + 50);
}

#if defined(__x86_64__)
/* The end of a function: the frame pointer has been popped, and the rules do not say so. */
__asm__(".text\n"
	".type pops_rbp, @function\n"
	"pops_rbp:\n"
	"	.cfi_startproc\n"
	"	push %rbp\n"
	"	.cfi_def_cfa_offset 16\n"
	"	.cfi_offset 6, -16\n"
	"	pop %rbp\n"
	"	.cfi_def_cfa_offset 8\n"
	".globl pops_rbp_end\n"
	"pops_rbp_end:\n"
	"	ret\n"
	"	.cfi_endproc\n"
	".size pops_rbp, . - pops_rbp\n");
extern const char pops_rbp_end[];

/* Code that binds lazily keeps its CFA in rbx, which this code and its callees save. */
__asm__(".text\n"
	".type realigns, @function\n"
	"realigns:\n"
	"	.cfi_startproc\n"
	"	push %rbx\n"
	"	.cfi_def_cfa_offset 16\n"
	"	.cfi_offset 3, -16\n"
	"	mov %rsp, %rbx\n"
	"	.cfi_def_cfa_register 3\n"
	"	and $-64, %rsp\n"
	"	call saves_rbx\n"
	".globl realigns_called\n"
	"realigns_called:\n"
	"	mov %rbx, %rsp\n"
	"	pop %rbx\n"
	"	.cfi_def_cfa 7, 8\n"
	"	.cfi_restore 3\n"
	"	ret\n"
	"	.cfi_endproc\n"
	".size realigns, . - realigns\n"
	".type saves_rbx, @function\n"
	"saves_rbx:\n"
	"	.cfi_startproc\n"
	"	push %rbx\n"
	"	.cfi_def_cfa_offset 16\n"
	"	.cfi_offset 3, -16\n"
	"	xor %ebx, %ebx\n"
	"	call keeps_rbx\n"
	".globl saves_rbx_called\n"
	"saves_rbx_called:\n"
	"	pop %rbx\n"
	"	.cfi_def_cfa_offset 8\n"
	".globl saves_rbx_end\n"
	"saves_rbx_end:\n"
	"	ret\n"
	"	.cfi_endproc\n"
	".size saves_rbx, . - saves_rbx\n"
	".type keeps_rbx, @function\n"
	".globl keeps_rbx\n"
	"keeps_rbx:\n"
	"	.cfi_startproc\n"
	"	nop\n"
	"	ret\n"
	"	.cfi_endproc\n"
	".size keeps_rbx, . - keeps_rbx\n");
extern const char realigns_called[], saves_rbx_called[], saves_rbx_end[];
extern const char keeps_rbx[];

static uint64_t addr_of(const char *label)
{
	return (uint64_t)(uintptr_t)label;
}

/* The frame of realigns ends at word 20, its return address. */
static void put_realigned_frame(size_t callee_return, uint64_t caller)
{
	words[callee_return] = addr_of(realigns_called);
	words[19] = 0x77; /* the caller's rbx */
	words[20] = caller;
}

static void a_frame_whose_address_is_in_rbx_is_left_by_what_its_callees_saved(void **state)
{
	const uint64_t caller = add_java(0, "caller");

	words[0] = addr_of(saves_rbx_called);
	words[1] = word_addr(19);
	put_realigned_frame(2, caller + 100);
	set_reg(sample_regs, PERF_REG_X86_BX, 0);
	walk_code(addr_of(keeps_rbx), 0, 60);
	CHECK_CALLERS(addr_of(saves_rbx_called), addr_of(realigns_called), caller + 100);
}

static void a_frame_whose_address_is_in_rbx_is_left_by_what_its_callee_restored(void **state)
{
	const uint64_t caller = add_java(0, "caller");

	put_realigned_frame(0, caller + 100);
	set_reg(sample_regs, PERF_REG_X86_BX, word_addr(19));
	walk_code(addr_of(saves_rbx_end), 0, 60);
	CHECK_CALLERS(addr_of(realigns_called), caller + 100);
}

/* The rules of the other file say nothing of rbx. rbx may have changed since the call. */
static void through_another_files_frame_rbx_is_lost(void **state)
{
	const uint64_t leaf = add_stub(256, 64, "vtable stub");
	const uint64_t caller = add_java(0, "caller");

	put_realigned_frame(0, caller + 100);
	set_reg(sample_regs, PERF_REG_X86_BX, word_addr(19));
	walk_code(leaf + 8, 0, 60);
	assert_int_equal(stack.depth, 2);
	assert_int_equal(stack.end, STACK_NO_RULE);
	assert_int_equal(stack.end_addr, addr_of(realigns_called));
}

/* The address from rbx is checked like each address from a stack. */
static void an_rbx_that_leads_nowhere_ends_the_stack(void **state)
{
	const uint64_t places[] = {0, 8, word_addr(0) - 64, UINT64_MAX, (uint64_t)INT64_MIN};

	words[0] = addr_of(saves_rbx_called);
	put_realigned_frame(2, 0x1234);
	for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
		words[1] = places[i];
		walk_code(addr_of(keeps_rbx), 0, 60);
		assert_int_equal(stack.depth, 3);
		assert_true(stack.end != STACK_WHOLE);
	}
}

/* Memory that nobody has written to has no return address either. */
static void no_return_address_is_no_root(void **state)
{
	const uint64_t stub =
		add_code(0, 64, CODE_STUB, "blob", (struct code_frame){.size = LARGE_WORDS * 8});

	words[LARGE_WORDS - 1] = addr_of(saves_rbx_called);
	words[LARGE_WORDS + 1] = 0;
	walk_code(stub + 32, 0, SHORT_WORDS);
	assert_int_equal(stack.depth, 2);
	assert_int_equal(stack.end, STACK_SNAPSHOT_ENDED);
	walk_code(stub + 32, 0, LARGE_WORDS + 2);
	assert_int_equal(stack.depth, 2);
	assert_int_equal(stack.end, STACK_BAD_RETURN);
	assert_int_equal(stack.end_addr, 0);
}

/* The stub pushes the frame pointer, and then a few registers. */
static void what_asks_the_processor_is_left_by_the_first_word_behind_a_call(void **state)
{
	static const char *const names[] = {"get_cpu_info_stub", "getCPUIDNameInfo_stub",
					    "detect_virt_stub"};
	const uint64_t stub = add_stub(0, 64, "other_stub");
	const uint64_t last = add_java(256, "last");

	put_call_in_front(32);
	put_call_in_front(36);
	put_call_in_front(256 + 100);
	put_call_in_front(256 + 104);
	for (uint32_t i = 0; i < 3; i++) {
		const uint64_t asking =
			add_code(512 + i * 64, 64, CODE_STUB, names[i], (struct code_frame){0});

		memset(words, 0, N_WORDS * sizeof(*words));
		words[0] = 1;
		words[6] = word_addr(40);
		words[7] = stub + 32;
		words[41] = last + 100;
		walk_code(asking + 40, word_addr(20), 80);
		assert_int_equal(stack.entries[1].addr, stub + 32);
		assert_int_equal(stack.entries[2].addr, last + 100);
		words[0] = stub + 36; /* before anything is pushed */
		words[21] = last + 104;
		walk_code(asking, word_addr(20), 80);
		assert_int_equal(stack.entries[1].addr, stub + 36);
		assert_int_equal(stack.entries[2].addr, last + 104);
	}
}

static void what_asks_the_processor_is_not_looked_for_beyond_what_it_pushes(void **state)
{
	const uint64_t asking = add_stub(0, 64, "get_cpu_info_stub");
	const uint64_t last = add_java(256, "last");

	words[8] = last + 100;
	walk_code(asking + 40, word_addr(20), 80);
	assert_int_equal(stack.depth, 1);
	assert_int_equal(stack.end, STACK_NO_RULE);
	walk_code(asking + 40, word_addr(20), 7); /* and the copy is too short */
	assert_int_equal(stack.end, STACK_SNAPSHOT_ENDED);
}

static void a_register_that_was_popped_is_where_it_belongs(void **state)
{
	const uint64_t stub = add_stub(0, 64, "other_stub");
	const uint64_t last = add_java(256, "last");

	put_call_in_front(256 + 100);
	words[0] = stub + 32;
	words[21] = last + 100;
	walk_code((uint64_t)(uintptr_t)pops_rbp_end, word_addr(20), 60);
	CHECK_CALLERS(stub + 32, last + 100);
}
#endif

#if defined(__x86_64__)
/*
 * The end of clone: first the rules of the calling thread, then no rules, then the rules of the new
 * thread.
 */
__asm__(".text\n"
	".type makes_thread, @function\n"
	"makes_thread:\n"
	"	.cfi_startproc\n"
	"	nop\n"
	"	.cfi_endproc\n"
	".globl made_thread\n"
	"made_thread:\n"
	"	test %rax, %rax\n"
	"	jz 1f\n"
	"	ret\n"
	"1:\n"
	"	.cfi_startproc\n"
	"	.cfi_undefined rip\n"
	"	pop %rax\n"
	"	call *%rax\n"
	"	mov $60, %eax\n"
	"	syscall\n"
	"	hlt\n"
	"	nop\n"
	"	nop\n"
	"	nop\n"
	"	.cfi_endproc\n"
	".size makes_thread, . - makes_thread\n");
extern const char made_thread[];

static void a_thread_that_was_made_a_moment_ago_is_its_own_root(void **state)
{
	const uint64_t other = add_java(0, "other");

	put_call_in_front(100);
	words[0] = other + 100; /* the thread's function; and where the maker's call returns to */
	set_reg(sample_regs, PERF_REG_X86_AX, 0);
	walk_code((uint64_t)(uintptr_t)made_thread, 0, 60);
	assert_int_equal(stack.depth, 1);
	assert_int_equal(stack.end, STACK_WHOLE);
	set_reg(sample_regs, PERF_REG_X86_AX, 4711);
	walk_code((uint64_t)(uintptr_t)made_thread, 0, 60);
	assert_int_equal(stack.entries[1].addr, other + 100);
}
#endif

#if defined(__x86_64__)
/*
 * A function that ends with a system call, as the code to which a signal's handler returns. Other
 * code follows at once.
 */
__asm__(".text\n"
	".type ends_in_syscall, @function\n"
	"ends_in_syscall:\n"
	"	.cfi_startproc\n"
	"	sub $24, %rsp\n"
	"	.cfi_def_cfa_offset 32\n"
	"	mov $15, %eax\n"
	"	syscall\n"
	"	.cfi_endproc\n"
	".size ends_in_syscall, . - ends_in_syscall\n"
	".globl behind_syscall\n"
	".type behind_syscall, @function\n"
	"behind_syscall:\n"
	"	.cfi_startproc\n"
	"	.cfi_undefined rip\n"
	"	pop %rax\n"
	"	call *%rax\n"
	".globl behind_nothing\n"
	"behind_nothing:\n"
	"	hlt\n"
	"	.cfi_endproc\n"
	".size behind_syscall, . - behind_syscall\n");
extern const char behind_syscall[], behind_nothing[];

static void a_system_call_is_left_by_the_rule_of_its_own_function(void **state)
{
	const uint64_t pc = (uintptr_t)behind_syscall, other = add_java(0, "other");

	words[3] = other + 100;
	set_reg(sample_regs, PERF_REG_X86_CX, pc);
	walk_code(pc, 0, 60);
	assert_int_equal(stack.entries[0].addr, pc);
	assert_int_equal(stack_probe(&stack.entries[0]), pc - 1);
	assert_int_equal(stack.entries[1].addr, other + 100);
	set_reg(sample_regs, PERF_REG_X86_CX, pc + 1); /* the other function is at its begin */
	walk_code(pc, 0, 60);
	assert_int_equal(stack_probe(&stack.entries[0]), pc);
	assert_int_equal(stack.depth, 1);
	assert_int_equal(stack.end, STACK_WHOLE);
}

static void a_register_alone_makes_no_system_call(void **state)
{
	const uint64_t pc = (uintptr_t)behind_nothing;

	set_reg(sample_regs, PERF_REG_X86_CX, pc);
	walk_code(pc, 0, 60);
	assert_int_equal(stack_probe(&stack.entries[0]), pc);
}
#endif

#if defined(__x86_64__)
/* A function whose first instruction, a push, has made room for a breakpoint. */
__asm__(".text\n"
	".type has_probe, @function\n"
	"	int3\n" /* fills the gap between two functions */
	".globl has_probe\n"
	"has_probe:\n"
	"	.cfi_startproc\n"
	"	int3\n"
	"	.cfi_def_cfa_offset 16\n"
	"	pop %rax\n"
	"	.cfi_def_cfa_offset 8\n"
	"	ret\n"
	"	.cfi_endproc\n"
	".size has_probe, . - has_probe\n"
	".type had_probe, @function\n"
	".globl had_probe\n"
	"had_probe:\n"
	"	.cfi_startproc\n"
	"	push %rax\n"
	"	.cfi_def_cfa_offset 16\n"
	"	pop %rax\n"
	"	.cfi_def_cfa_offset 8\n"
	"	ret\n"
	"	.cfi_endproc\n"
	".size had_probe, . - had_probe\n");
extern const char has_probe[], had_probe[];

static void a_breakpoint_is_left_as_the_instruction_that_it_stands_for(void **state)
{
	const uint64_t pc = (uintptr_t)has_probe, caller = add_java(0, "caller");

	put_call_in_front(100);
	put_call_in_front(150);
	words[0] = caller + 100;
	words[1] = caller + 150; /* an older return address */
	n_kernel = 1;
	walk_code(pc + 1, 0, 60);
	assert_int_equal(stack_probe(&stack.entries[1]), pc);
	assert_int_equal(stack.entries[2].addr, caller + 100);
	/* What lies in front of a function is no instruction of it. */
	walk_code(pc, 0, 60);
	assert_int_equal(stack_probe(&stack.entries[1]), pc);
	assert_int_equal(stack.entries[2].addr, caller + 100);
	/* The breakpoint is gone, and the push has not been executed, or it has. */
	walk_code((uintptr_t)had_probe + 1, 0, 60);
	assert_int_equal(stack_probe(&stack.entries[1]), (uintptr_t)had_probe);
	assert_int_equal(stack.entries[2].addr, caller + 100);
	words[0] = word_addr(40);
	walk_code((uintptr_t)had_probe + 1, 0, 60);
	assert_int_equal(stack_probe(&stack.entries[1]), (uintptr_t)had_probe + 1);
	assert_int_equal(stack.entries[2].addr, caller + 150);
	words[0] = caller + 100;
	/* Out of the kernel nobody is at a breakpoint. */
	n_kernel = 0;
	walk_code(pc + 1, 0, 60);
	assert_int_equal(stack_probe(&stack.entries[0]), pc + 1);
	assert_int_equal(stack.entries[1].addr, caller + 150);
}
#endif

#if defined(__x86_64__)
/* A function whose end has the rules of its middle, as compilers may make them. */
__asm__(".text\n"
	".type ends_without_rules, @function\n"
	"ends_without_rules:\n"
	"	.cfi_startproc\n"
	"	push %rbp\n"
	"	push %rbx\n"
	"	sub $8, %rsp\n"
	"	.cfi_def_cfa_offset 32\n"
	"	nop\n"
	"	add $8, %rsp\n"
	"	pop %rbx\n"
	".globl end_pops_rbp\n"
	"end_pops_rbp:\n"
	"	pop %rbp\n"
	".globl end_returns\n"
	"end_returns:\n"
	"	ret\n"
	"	.cfi_endproc\n"
	"	.skip 32, 0x90\n"
	".size ends_without_rules, . - ends_without_rules\n");
extern const char end_pops_rbp[], end_returns[];

static void a_functions_end_is_left_by_what_it_pops(void **state)
{
	const uint64_t caller = add_java(0, "caller");

	put_call_in_front(100);
	words[0] = caller + 100;
	words[3] = 0x1234;
	walk_code((uintptr_t)end_returns, 0, 60);
	assert_int_equal(stack.entries[1].addr, caller + 100);
	words[0] = word_addr(20);
	words[1] = caller + 100;
	walk_code((uintptr_t)end_pops_rbp, 0, 60);
	assert_int_equal(stack.entries[1].addr, caller + 100);
	/* The rule is right in the function's middle. */
	words[0] = words[1] = 0x1234;
	words[3] = caller + 100;
	walk_code((uintptr_t)end_pops_rbp - 6, 0, 60);
	assert_int_equal(stack.entries[1].addr, caller + 100);
}
#endif

#if defined(__x86_64__)
/* A function as those of musl, without rules; and short, between functions that are not aligned. */
__asm__(".text\n"
	".p2align 4\n"
	".cfi_startproc\n"
	"	ret\n"
	".cfi_endproc\n"
	".type without_rules, @function\n"
	"without_rules:\n"
	"	push %rbx\n"
	"	sub $24, %rsp\n"
	".globl within_rules\n"
	"within_rules:\n"
	"	call *%rax\n"
	"	add $24, %rsp\n"
	"	pop %rbx\n"
	"	ret\n"
	".size without_rules, . - without_rules\n"
	".cfi_startproc\n"
	"	ret\n"
	".cfi_endproc\n");
extern const char within_rules[];

static void code_without_rules_is_left_by_what_it_will_pop(void **state)
{
	const uint64_t caller = add_java(0, "caller");

	put_call_in_front(100);
	words[0] = caller + 104; /* looks like a return address, and is none of this frame */
	words[4] = caller + 100;
	walk_code((uint64_t)(uintptr_t)within_rules, 1, 60);
	CHECK_CALLERS(caller + 100);
}

/* A stack that is not as the code says is cut, and not called whole. */
static void code_without_rules_does_not_return_to_where_there_is_no_call(void **state)
{
	const uint64_t caller = add_java(0, "caller");

	words[4] = caller + 100;
	walk_code((uint64_t)(uintptr_t)within_rules, 1, 60);
	assert_int_equal(stack.depth, 1);
	assert_int_equal(stack.end, STACK_NO_RULE);
}

static void a_call_is_looked_for_once(void **state)
{
	const uint64_t caller = add_java(0, "caller");

	put_call_in_front(100);
	words[4] = caller + 100;
	walk_code((uint64_t)(uintptr_t)within_rules, 1, 60);
	memset(code + 98, 0, 2);
	walk_code((uint64_t)(uintptr_t)within_rules, 1, 60);
	CHECK_CALLERS(caller + 100);
}
#endif

static uint64_t count_reads(void)
{
	struct unwinder_stats stats;

	unwinder_stats(unwinder, &stats);
	return stats.reads;
}

/*
 * Until other code takes the place. The caller leads nowhere, so each walk also reads the caller's
 * code: a stub might have saved registers there.
 */
static void a_place_in_code_is_read_once(void **state)
{
	static const uint8_t prologue[] = {0x55, 0x48, 0x83, 0xec, 0x20};
	const uint64_t caller = add_java(256, "caller");
	const struct code_range other = {.addr = (uint64_t)(uintptr_t)code,
					 .size = 256,
					 .kind = CODE_JAVA,
					 .class_name = "a/B",
					 .name = "other",
					 .frame = FRAME_48,
					 .birth_ns = NOW - 1};
	const uint64_t leaf = add_java(0, "leaf");
	uint64_t before;

	put_call_in_front(256 + 100);
	put_call_in_front(256 + 104);
	memcpy(code, prologue, sizeof(prologue));
	words[1] = caller + 100;
	words[5] = caller + 104;
	before = count_reads();
	walk_code(leaf + 1, 0x1234, 18);
	assert_int_equal(count_reads() - before, 2);
	memset(code, 0x90, 64); /* the code is not read again */
	walk_code(leaf + 1, 0x1234, 18);
	assert_int_equal(count_reads() - before, 3);
	assert_int_equal(stack.entries[1].addr, caller + 100);
	assert_int_equal(code_map_add(self->code, &other, false), 1);
	walk_code(leaf + 1, 0x1234, 18);
	assert_int_equal(count_reads() - before, 6); /* one looks for the call */
}

/* Each word is a return address into code that calls something else. */
static void a_search_for_a_call_reads_no_more_than_its_bound(void **state)
{
	const uint64_t stub = add_stub(0, 64, "sha512");
	const uint64_t other = add_java(2048, "other");
	uint64_t before;

	code[0] = 0x55; /* push rbp, but no more of a frame: what is on top is no return address */
	for (size_t i = 0; i < 512; i++)
		words[i] = other + 100;
	words[0] = 0;
	before = count_reads();
	walk_code(stub + 20, 0x1234, 512);
	assert_int_equal(stack.depth, 1);
	assert_int_equal(stack.end, STACK_NO_RULE);
	assert_int_equal(count_reads() - before, STEP_MAX_READS);
}

/* A process may report values that lead from the barrier to the barrier. */
static void a_barrier_that_leads_to_itself_ends_the_stack(void **state)
{
	static uint64_t mounting_pc;
	const uint64_t leaf = add_java(0, "leaf");
	const uint64_t barrier = add_stub(1024, 64, "Cont thaw return barrier");
	struct jvm_value value = {.key = "ContinuationEntry::_return_pc",
				  .value = (int64_t)(uintptr_t)&mounting_pc};
	uint64_t before = count_reads();

	mounting_pc = barrier;
	self->jvm->hello.values = &value;
	self->jvm->hello.n_values = 1;
	words[5] = barrier;
	walk_code(leaf + 60, 0x1234, 60);
	self->jvm->hello.values = NULL;
	self->jvm->hello.n_values = 0;
	assert_true(stack.depth > 2 && stack.depth <= STEP_MAX_BARRIERS + 2);
	assert_int_equal(stack.end, STACK_NO_RULE);
	assert_true(count_reads() - before <= STEP_MAX_READS);
}

static void a_stack_of_too_many_frames_is_left_at_the_bound(void **state)
{
	enum { N = 2 * STACK_MAX + 64 };
	const uint64_t leaf = add_code(0, 256, CODE_JAVA, "leaf", (struct code_frame){16, 4, 0});
	uint64_t *deep = calloc(N, sizeof(*deep));
	const struct sample sample = {
		.regs = sample_regs, .stack = (const uint8_t *)deep, .stack_len = N * 8};

	assert_non_null(deep);
	for (size_t i = 0; i < N; i++)
		deep[i] = leaf + 60;
	set_reg(sample_regs, SAMPLE_REG_PC, leaf + 60);
	set_reg(sample_regs, SAMPLE_REG_SP, (uint64_t)(uintptr_t)deep);
	walk_at(NOW, &sample);
	assert_int_equal(stack.depth, STACK_MAX);
	assert_int_equal(stack.end, STACK_FRAME_LIMIT);
	free(deep);
}

static void a_stub_without_a_frame_returns_from_the_top(void **state)
{
	const uint64_t stub = add_stub(0, 64, "vtable stub");
	const uint64_t caller = add_java(256, "caller");

	words[0] = caller + 100;
	walk_code(stub + 8, 0x1234, 18);
	assert_int_equal(stack.entries[1].addr, caller + 100);
}

/* The barrier in front of methods, which prologues call, is such a stub. */
static void a_stub_with_a_word_of_ones_below_its_frame_is_left(void **state)
{
	const uint64_t stub = add_stub(0, 64, "barrier");
	const uint64_t leaf = add_stub(64, 64, "vtable stub");
	const uint64_t caller = add_java(256, "caller");
	const uint64_t last = add_java(512, "last");

	put_call_in_front(256 + 100);
	words[0] = stub + 32;
	words[21] = UINT64_MAX;
	words[22] = caller + 100;
	words[28] = last + 100;
	walk_code(leaf + 8, word_addr(20), 60);
	CHECK_CALLERS(stub + 32, caller + 100, last + 100);
}

/* The deoptimization blob has a frame of its size at one call, and not at another call. */
static void a_stub_whose_size_leads_nowhere_is_left_by_its_frame_pointer(void **state)
{
	const uint64_t stub = add_code(0, 64, CODE_STUB, "blob", (struct code_frame){.size = 32});
	const uint64_t leaf = add_stub(64, 64, "vtable stub");
	const uint64_t caller = add_java(256, "caller");

	words[0] = stub + 32;
	words[4] = 0x77;
	words[21] = caller + 100;
	walk_code(leaf + 8, word_addr(20), 60);
	CHECK_CALLERS(stub + 32, caller + 100);
}

/*
 * The address of the barrier's first byte is in the place of a return address. Any code may lie in
 * front of that byte.
 */
static void a_barrier_leads_to_the_frame_that_mounts(void **state)
{
	const uint64_t leaf = add_java(0, "leaf");
	const uint64_t barrier = add_stub(256, 64, "cont_returnBarrier");
	const uint64_t caller = add_java(512, "caller");
	static uint64_t return_pc;

	return_pc = caller + 100;
	self->jvm->hello.values = calloc(1, sizeof(*self->jvm->hello.values));
	assert_non_null(self->jvm->hello.values);
	self->jvm->hello.n_values = 1;
	self->jvm->hello.values[0] = (struct jvm_value){.key = "ContinuationEntry::_return_pc",
							.value = (int64_t)(uintptr_t)&return_pc};
	words[5] = barrier;
	words[6 + 5] = leaf + 60;
	walk_code(leaf + 60, 0x1234, 40);
	assert_int_equal(stack.entries[1].addr, barrier);
	assert_false(stack.entries[1].is_return);
	assert_int_equal(stack.entries[2].addr, caller + 100);
	assert_true(stack.entries[2].is_return);
	assert_int_equal(stack.entries[3].addr, leaf + 60);
}

/* JDK 21 does not say where the mounting frame goes on. */
static void a_barrier_leads_to_the_code_that_mounts(void **state)
{
	const uint64_t leaf = add_java(0, "leaf");
	const uint64_t barrier = add_stub(256, 64, "Cont thaw return barrier");
	const uint64_t mounts = add_code(512, 256, CODE_NATIVE_WRAPPER, "enterSpecial", FRAME_48);

	self->jvm->mounting_pc = mounts + 20;
	words[5] = barrier;
	words[6 + 5] = leaf + 60;
	walk_code(leaf + 60, 0x1234, 40);
	CHECK_CALLERS(barrier, mounts + 20, leaf + 60);
}

#if defined(__x86_64__)
#define REG_THAWED_SP PERF_REG_X86_BX
#else
#define REG_THAWED_SP PERF_REG_ARM64_X9
#endif

/* A mounting frame whose frame pointer is at word 20, and its caller. */
static uint64_t add_mounting_frame(void)
{
	const uint64_t mounts = add_code(512, 256, CODE_NATIVE_WRAPPER, "enterSpecial", FRAME_48);

	self->jvm->mounting_pc = mounts + 20;
	words[20] = 0x1234;
	words[21] = add_java(768, "run") + 60;
	return self->jvm->mounting_pc;
}

/* The barrier has taken its stack down to the mounting frame. Frames are still in the heap. */
static void code_that_will_thaw_leads_to_the_barrier(void **state)
{
	const uint64_t barrier = add_stub(256, 64, "cont_returnBarrier");
	const uint64_t mounting = add_mounting_frame();

	set_reg(sample_regs, REG_THAWED_SP, 0x78); /* bytes that the frames will need */
	walk_code(barrier + 17, word_addr(20), 40);
	CHECK_CALLERS(barrier, mounting, words[21]);
	assert_true(stack.is_in_heap);
	/* The VM copies frames. */
	words[4] = word_addr(20);
	words[5] = barrier + 40;
	walk_code(add_java(0, "thaw") + 60, 0x1234, 40);
	CHECK_CALLERS(barrier + 40, barrier, mounting, words[21]);
}

/*
 * A frame that the VM has thawed the slow way leaves the mounting frame's stack pointer, at word
 * 16, in the frame pointer. Any words may lie where the frame would end that had this frame
 * pointer.
 */
static void a_thawed_frame_leaves_its_callers_stack_pointer_to_the_barrier(void **state)
{
	const uint64_t barrier = add_stub(256, 64, "cont_returnBarrier");
	const uint64_t mounting = add_mounting_frame();
	const uint64_t thaw = add_java(0, "thaw");

	words[4] = word_addr(16);
	words[5] = barrier + 40;
	words[17] = 0;
	walk_code(thaw + 60, 0x1234, 40);
	CHECK_CALLERS(barrier + 40, barrier, mounting, words[21]);
	words[17] = 0x77;
	walk_code(thaw + 60, 0x1234, 40);
	CHECK_CALLERS(barrier + 40, barrier, mounting, words[21]);
}

static void code_that_mounts_leads_to_the_frame_that_mounts(void **state)
{
	const uint64_t thaw = add_stub(256, 64, "cont_thaw");
	const uint64_t mounting = add_mounting_frame();

	set_reg(sample_regs, REG_THAWED_SP, 0x78);
	walk_code(thaw + 17, word_addr(20), 40);
	CHECK_CALLERS(mounting, words[21]);
	assert_false(stack.is_in_heap);
}

/* The code has no frame of its own yet when it asks how many frames there are. */
static void code_that_mounts_may_be_as_low_as_the_frame_that_mounts(void **state)
{
	const uint64_t asked = add_code(0, 256, CODE_JAVA, "asked", (struct code_frame){128, 4, 0});
	const uint64_t thaw = add_stub(256, 64, "cont_thaw");
	const uint64_t mounting = add_mounting_frame();

	words[14] = word_addr(20);
	words[15] = thaw + 17;
	walk_code(asked + 60, 0x1234, 40);
	CHECK_CALLERS(thaw + 17, mounting, words[21]);
}

/* Another stub may have been called where the frame would end. */
static void code_that_mounts_does_not_lead_to_what_a_stub_has_called(void **state)
{
	const uint64_t thaw = add_stub(256, 64, "cont_thaw");

	add_mounting_frame();
	words[21] = thaw + 40;
	walk_code(thaw + 17, word_addr(20), 40);
	assert_int_not_equal(stack.entries[1].addr, self->jvm->mounting_pc);
}

/* The youngest frame has been copied to word 10, and the stack pointer is below. */
static void code_that_has_thawed_leads_to_the_thawed_frame(void **state)
{
	const uint64_t barrier = add_stub(256, 64, "cont_returnBarrier");
	const uint64_t leaf = add_java(0, "leaf");
	const uint64_t mounting = add_mounting_frame();

	words[9] = leaf + 60;
	words[15] = barrier;
	set_reg(sample_regs, REG_THAWED_SP, word_addr(10));
	walk_code(barrier + 50, word_addr(20), 40);
	CHECK_CALLERS(leaf + 60, barrier, mounting, words[21]);
}

/* ---- where Java is entered ---- */

#if defined(__x86_64__)
/* A thread's entry, which calls. */
__asm__(".text\n"
	"	.cfi_startproc\n"
	"	.cfi_undefined 16\n"
	"	call *%rax\n"
	".globl behind_call_of_root\n"
	"behind_call_of_root:\n"
	"	hlt\n"
	"	.cfi_endproc\n");
extern const char behind_call_of_root[];

#define CALL_STUB_FP  40		  /* the word of its frame pointer */
#define ARGUMENTS_END (CALL_STUB_FP - 12) /* arguments are below */

/*
 * Compiled code whose frame ends in front of the word at begin, and leads to a call stub that has
 * pushed so many words of arguments. A function of a file has called the stub, and is the root.
 */
static void check_entered(uint64_t arguments, uint32_t begin, enum stack_end end)
{
	static uint32_t offset;
	const uint64_t stub = (uintptr_t)code;
	uint64_t leaf;

	if (code_map_find(self->code, stub, NOW))
		offset += 128;
	else
		offset = (uint32_t)(add_stub(0, 64, "call_stub") - stub) + 128;
	leaf = add_code(offset, 128, CODE_JAVA, "leaf", (struct code_frame){begin * 8, 16, 0});
	memset(words, 0, N_WORDS * sizeof(*words));
	words[begin - 2] = word_addr(CALL_STUB_FP);
	words[begin - 1] = stub + 32;
	words[CALL_STUB_FP + 1] = (uintptr_t)behind_call_of_root;
	words[CALL_STUB_FP + 2] = arguments;
	walk_code(leaf + 60, 0, 60);
	assert_int_equal(stack.end, end);
	assert_int_equal(stack.depth, end == STACK_WHOLE ? 3 : 1);
}

static void java_is_entered_where_the_call_stub_has_pushed_arguments(void **state)
{
	check_entered(2, ARGUMENTS_END - 2, STACK_WHOLE);
	check_entered(2, ARGUMENTS_END - 4, STACK_WHOLE); /* the adapter has aligned the stack */
	check_entered(9, ARGUMENTS_END - 11, STACK_WHOLE);
	check_entered(9, ARGUMENTS_END - 15, STACK_WHOLE); /* and has moved arguments */
}

static void an_older_word_leads_to_the_call_stub_and_is_not_believed(void **state)
{
	check_entered(2, ARGUMENTS_END - 6, STACK_IN_DOUBT); /* a small frame is missing */
	check_entered(9, ARGUMENTS_END - 16, STACK_IN_DOUBT);
	check_entered(2, 4, STACK_IN_DOUBT);
	check_entered(4, ARGUMENTS_END - 2, STACK_IN_DOUBT);
	check_entered(256, ARGUMENTS_END, STACK_IN_DOUBT); /* no call stub's frame */
}

/* It has a call stub's name in its own, and no words of arguments in its frame. */
static void a_stub_by_which_a_native_function_calls_java_is_no_call_stub(void **state)
{
	const uint64_t stub = add_stub(0, 64, "upcall_stub_(JJ)J");
	const uint64_t leaf = add_java(256, "leaf");

	words[4] = word_addr(20); /* the leaf's frame has 48 bytes */
	words[5] = stub + 32;
	words[21] = (uintptr_t)behind_call_of_root;
	words[22] = 4711;
	walk_code(leaf + 60, 0x1234, 60);
	assert_int_equal(stack.end, STACK_WHOLE);
	assert_int_equal(stack.depth, 3);
}

/* Where code has no known frame, its frame pointer leads to a root: it may have missed frames. */
static void a_root_behind_unknown_code_of_a_jvm_is_one_by_frame_pointers(void **state)
{
	const uint64_t unknown = (uintptr_t)code + 1024, fp = word_addr(20);
	struct jvm *const jvm = self->jvm;

	words[21] = (uintptr_t)behind_call_of_root;
	walk_code(unknown, fp, 60);
	assert_int_equal(stack.depth, 2);
	assert_int_equal(stack.end, STACK_BY_FP);
	self->jvm = NULL; /* other programs' generated code keeps a frame pointer */
	walk_code(unknown, fp, 60);
	self->jvm = jvm;
	assert_int_equal(stack.depth, 2);
	assert_int_equal(stack.end, STACK_WHOLE);
}

static void a_root_behind_a_method_of_unknown_size_is_one_by_frame_pointers(void **state)
{
	const uint64_t stub = add_stub(0, 64, "call_stub");
	const uint64_t leaf = add_java(256, "leaf");
	const uint64_t caller = add_code(512, 128, CODE_JAVA, "caller", (struct code_frame){0});

	put_call_in_front(512 + 32);
	words[4] = word_addr(ARGUMENTS_END - 2); /* the leaf's frame has 48 bytes */
	words[5] = caller + 32;
	words[ARGUMENTS_END - 2] = word_addr(CALL_STUB_FP);
	words[ARGUMENTS_END - 1] = stub + 32;
	words[CALL_STUB_FP + 1] = (uintptr_t)behind_call_of_root;
	walk_code(leaf + 60, 0, 60);
	CHECK_CALLERS(caller + 32, stub + 32, (uintptr_t)behind_call_of_root);
	assert_int_equal(stack.end, STACK_BY_FP);
}

static void no_file_calls_java(void **state)
{
	const uint64_t leaf = add_java(0, "leaf");
	const uint64_t caller = add_java(256, "caller");

	words[5] = caller + 100;
	words[11] = (uintptr_t)behind_syscall + 1;
	walk_code(leaf + 60, 0x1234, 60);
	assert_int_equal(stack.depth, 2);
	assert_int_equal(stack.end, STACK_IN_DOUBT);
}
#endif

static void a_return_address_without_code_ends_the_stack(void **state)
{
	const uint64_t leaf = add_java(0, "leaf");

	words[5] = 0x41414141;
	walk_code(leaf + 60, 0, 18);
	assert_int_equal(stack.depth, 1);
	assert_int_equal(stack.end, STACK_BAD_RETURN);
	assert_int_equal(stack.end_addr, 0x41414141);
}

/* Memory behind the copy may be of another time. */
static void a_return_address_behind_the_copy_without_code_is_the_copys_end(void **state)
{
	const uint64_t leaf =
		add_code(0, 256, CODE_JAVA, "leaf", (struct code_frame){LARGE_WORDS * 8, 16, 0});

	words[LARGE_WORDS - 1] = 0x41414141;
	walk_code(leaf + 60, 0, SHORT_WORDS);
	assert_int_equal(stack.depth, 1);
	assert_int_equal(stack.end, STACK_SNAPSHOT_ENDED);
	assert_int_equal(stack.end_addr, 0x41414141);
	walk_code(leaf + 60, 0, LARGE_WORDS);
	assert_int_equal(stack.depth, 1);
	assert_int_equal(stack.end, STACK_BAD_RETURN);
}

static void frame_pointers_in_a_circle_end_the_stack(void **state)
{
	const uint64_t interpreter = add_stub(0, 1024, "Interpreter");

	words[20] = word_addr(20);
	words[21] = interpreter + 100;
	walk_code(interpreter + 500, word_addr(20), 60);
	assert_int_equal(stack.depth, 2);
	assert_int_equal(stack.end, STACK_NO_RULE);
}

/* ---- code that a process told of itself ---- */

static uint64_t tell_code_as(uint32_t offset, uint32_t size, const char *name)
{
	const uint64_t addr = (uint64_t)(uintptr_t)code + offset;
	struct foreign_map_stats stats = {0};
	char line[128];
	const int len = snprintf(line, sizeof(line), "%llx %x %s%u\n", (unsigned long long)addr,
				 size, name, offset);

	if (!self->foreign.map)
		assert_int_equal(foreign_map_new(&self->foreign.map), 0);
	foreign_map_feed(self->foreign.map, line, (size_t)len, 0, &stats);
	assert_int_equal(stats.text.lines, 1);
	return addr;
}

static uint64_t tell_code(uint32_t offset, uint32_t size)
{
	return tell_code_as(offset, size, "JS:*f");
}

static void other_runtimes_code_is_left_by_its_frame_pointer(void **state)
{
	const uint64_t leaf = tell_code(0, 256), caller = tell_code(256, 256);

	words[4] = word_addr(10);
	words[5] = caller + 100;
	words[10] = 0; /* the deepest, or a register that holds something else */
	words[11] = caller + 50;
	walk_code(leaf + 200, word_addr(4), 60);
	assert_int_equal(stack.depth, 3);
	CHECK_CALLERS(caller + 100, caller + 50);
	assert_int_equal(stack.end, STACK_NO_RULE);
}

static void stacks_of_erlang_end_where_a_process_begins(void **state)
{
	const uint64_t leaf = tell_code(0, 256);
	const uint64_t begin =
		tell_code_as(256, 256, "$erts_beamasm:normal_exit/0-CodeInfoPrologue");

	words[4] = 0;
	words[5] = begin + 100;
	walk_code(leaf + 200, word_addr(4), 60);
	assert_int_equal(stack.depth, 2);
	assert_int_equal(stack.end, STACK_WHOLE);
}

static void other_runtimes_code_without_code_above_it_ends_the_stack(void **state)
{
	const uint64_t leaf = tell_code(0, 256);

	words[4] = word_addr(10);
	words[5] = 0x1234;
	walk_code(leaf + 200, word_addr(4), 60);
	assert_int_equal(stack.depth, 1);
	assert_int_equal(stack.end, STACK_BAD_RETURN);
}

#if defined(__x86_64__)
static void a_frame_that_v8_has_not_made_yet_is_none(void **state)
{
	static const uint8_t prologue[] = {0x48, 0x8b, 0x59, 0xf8, 0x55, 0x48, 0x89, 0xe5};
	const uint64_t leaf = tell_code(0, 256), caller = tell_code(256, 256);

	memcpy(code, prologue, sizeof(prologue));
	words[0] = caller + 100;
	words[4] = 0;
	words[5] = caller + 50;
	walk_code(leaf + 4, word_addr(4), 60);
	assert_int_equal(stack.entries[1].addr, caller + 100);
	words[0] = word_addr(4);
	words[1] = caller + 104;
	walk_code(leaf + 5, word_addr(4), 60);
	assert_int_equal(stack.entries[1].addr, caller + 104);
}

/* sub rsp, 8; call rcx; add rsp, 8; ret */
static void a_trampoline_without_a_frame_pointer_is_left_by_its_size(void **state)
{
	static const uint8_t trampoline[] = {0x48, 0x83, 0xec, 0x08, 0xff, 0xd1,
					     0x48, 0x83, 0xc4, 0x08, 0xc3};
	const uint64_t callee = tell_code(256, 256), addr = tell_code(0, sizeof(trampoline));
	const uint64_t caller = tell_code(512, 256);

	memcpy(code, trampoline, sizeof(trampoline));
	words[2] = word_addr(30); /* the trampoline's caller's, which its callee saved */
	words[3] = addr + 6;
	words[5] = caller + 20;
	words[30] = 0;
	words[31] = caller + 10;
	walk_code(callee + 100, word_addr(2), 60);
	assert_int_equal(stack.depth, 4);
	CHECK_CALLERS(addr + 6, caller + 20, caller + 10);
}
#endif

static void garbage_harms_nobody(void **state)
{
	const uint64_t interpreter = add_stub(0, 1024, "Interpreter");
	const uint64_t leaf = add_code(1024, 1024, CODE_JAVA, "leaf", FRAME_48);
	const uint64_t places[] = {interpreter + 7,
				   leaf + 300,
				   word_addr(9),
				   UINT64_MAX,
				   0,
				   1,
				   (uint64_t)(uintptr_t)&garbage_harms_nobody};

	srandom(1);
	for (int i = 0; i < 20000; i++) {
		for (size_t j = 0; j < 64; j++)
			words[j] = random() % 3
					   ? places[random() % 7] + (uint64_t)(random() % 3) * 8
					   : (uint64_t)random() << 16;
		walk_code(places[random() % 7], places[random() % 7], (size_t)(random() % 64) + 1);
		assert_true(stack.depth <= 80 && stack.end < STACK_ENDS);
	}
}

/* ---- without permission ---- */

static int lines; /* lines of the log */

static void count_line(void)
{
	lines++;
}

/* Walks in a child without privilege. walk_all returns 0, or the line of the first failure. */
static void check_as_nobody(int (*walk_all)(const void *arg), const void *arg)
{
	pid_t pid;

	if (getuid() != 0)
		skip(); /* only root can become somebody else */
	pid = fork();
	if (pid == 0) {
		int line = __LINE__;

		log_set_before_line(count_line);
		if (child_becomes_nobody())
			line = walk_all(arg);
		if (line)
			fprintf(stderr, "line %d\n", line);
		_exit(line != 0);
	}
	child_check(pid);
}

static int walk_unread(const void *arg)
{
	const uint64_t leaf = *(const uint64_t *)arg;
	struct unwinder_stats stats;

	for (int i = 0; i < 3; i++)
		walk_code(leaf + 60, 0x1234, 18);
	unwinder_stats(unwinder, &stats);
	if (stats.unread_code != 3 || stack.depth != 2)
		return __LINE__;
	return lines == 1 ? 0 : __LINE__;
}

static void code_that_may_not_be_read_is_said_once_and_counted_each_time(void **state)
{
	const uint64_t leaf = add_java(0, "leaf");
	const uint64_t caller = add_java(256, "caller");

	words[5] = caller + 100;
	check_as_nobody(walk_unread, &leaf);
}

/* Walks a copy that is too short. The rest of the stack could be read. */
static int walk_short(const void *taken)
{
	struct unwinder_stats stats;

	for (int i = 0; i < 3; i++)
		walk(taken, 2048);
	unwinder_stats(unwinder, &stats);
	if (stats.unread_stacks != 3 || stack.end != STACK_SNAPSHOT_ENDED)
		return __LINE__;
	return lines == 1 ? 0 : __LINE__;
}

static void a_stack_that_may_not_be_read_is_said_once_and_counted_each_time(void **state)
{
	struct taken *taken = take_on_thread();

	walk(taken, 2048); /* the files' rules, which only root can read */
	check_as_nobody(walk_short, taken);
	let_go(taken);
}

static void code_that_is_gone_is_counted_and_not_said(void **state)
{
	const uint64_t leaf = add_java(0, "leaf");
	struct unwinder_stats stats;

	lines = 0;
	log_set_before_line(count_line);
	mprotect(code, CODE_BYTES, PROT_NONE); /* tear_down_code still unmaps it */
	walk_code(leaf + 60, 0x1234, 18);
	log_set_before_line(NULL);
	unwinder_stats(unwinder, &stats);
	assert_int_equal(stats.unread_code, 1);
	assert_int_equal(lines, 0);
}

#define OWN(name)  cmocka_unit_test_setup_teardown(name, set_up, tear_down)
#define CODE(name) cmocka_unit_test_setup_teardown(name, set_up_code, tear_down_code)

int main(void)
{
	const struct CMUnitTest tests[] = {
		OWN(a_native_stack_is_walked_to_the_threads_entry),
		OWN(a_stack_that_goes_on_behind_the_copy_says_so),
		OWN(a_walk_goes_over_a_hole_of_which_it_needs_nothing),
		OWN(a_walk_ends_at_a_hole_of_which_it_needs_a_word),
		OWN(a_deep_stack_goes_on_in_the_process),
		OWN(a_walk_counts_where_it_is_accepted),
		OWN(a_stack_that_has_changed_since_is_not_gone_on_with),
		OWN(a_stack_that_grows_while_it_is_read_is_not_run_after),
		OWN(behind_the_copy_the_kernels_walk_goes_on),
		OWN(without_registers_it_is_the_kernels_walk),
#if defined(__x86_64__)
		OWN(a_coroutine_ends_at_code_that_nothing_has_called),
		CODE(a_process_that_has_just_begun_is_at_its_root),
		CODE(a_files_first_function_is_left_by_what_is_below_its_word),
#endif
		CODE(a_look_that_leads_nowhere_keeps_what_is_behind_the_copy),
		CODE(a_stack_that_changed_behind_the_copy_about_then_ends_with_the_copy),
		CODE(what_changed_behind_the_copy_but_frames_is_no_matter),
#if defined(__x86_64__)
		CODE(a_stack_of_which_there_is_no_copy_is_read_if_it_leads_behind_a_call),
		CODE(a_stack_of_which_there_is_no_copy_is_not_believed_without_a_call),
#endif
		CODE(compiled_frames_are_left_by_their_size),
		CODE(a_frame_that_is_not_yet_whole_is_read_from_its_code),
		CODE(interpreted_frames_are_left_by_their_slots),
		CODE(an_interpreted_frame_that_is_not_made_yet_is_left_by_registers),
#if defined(__x86_64__)
		CODE(an_interpreted_frame_that_has_its_pointer_is_left_by_that),
		CODE(an_interpreted_frame_that_was_taken_down_is_left_by_registers),
		CODE(a_frame_that_is_gone_before_its_last_check_is_left_from_the_top),
#endif
		CODE(an_interpreted_frame_that_is_half_made_is_left_by_what_there_is),
		CODE(an_interpreted_frame_that_is_gone_is_left_from_the_top),
		CODE(the_stub_for_exceptions_that_leave_a_frame_is_left_from_the_top),
#if defined(__x86_64__)
		CODE(the_blob_for_exceptions_is_left_for_where_they_were_thrown),
		CODE(an_adapter_that_has_noted_nothing_is_left_from_the_top),
		CODE(an_adapter_is_left_by_what_it_has_noted),
		CODE(an_adapter_was_not_called_by_a_file),
#endif
		CODE(an_adapter_that_has_saved_all_is_left_by_the_address_that_is_there_twice),
		CODE(searches_for_an_address_that_is_there_twice_are_few),
		CODE(what_the_caller_of_the_subtype_check_pushed_is_left_out),
		CODE(a_leaf_that_has_pushed_a_word_is_left_all_the_same),
		CODE(registers_that_a_stub_saved_are_left_out),
		CODE(a_stub_that_an_interpreted_method_jumps_to_is_left_for_that_method),
		CODE(a_deoptimized_frame_stands_where_it_had_been_left),
		CODE(of_the_words_of_a_deoptimized_frame_the_one_behind_a_call_counts),
		CODE(a_deoptimized_frame_says_if_nobody_knows_where_it_had_been_left),
		CODE(code_behind_inlined_methods_is_no_handler_for_that),
		CODE(a_leaf_that_searches_a_string_is_left_by_the_stack_pointer_that_it_keeps),
		CODE(an_address_left_over_in_a_frame_is_no_stack_pointer),
		CODE(compiled_code_is_not_returned_from_to_a_file),
		CODE(a_stub_of_unknown_frame_is_left_by_its_call),
#if defined(__x86_64__)
		CODE(a_frame_whose_address_is_in_rbx_is_left_by_what_its_callees_saved),
		CODE(a_frame_whose_address_is_in_rbx_is_left_by_what_its_callee_restored),
		CODE(through_another_files_frame_rbx_is_lost),
		CODE(an_rbx_that_leads_nowhere_ends_the_stack),
		CODE(no_return_address_is_no_root),
		CODE(what_asks_the_processor_is_left_by_the_first_word_behind_a_call),
		CODE(what_asks_the_processor_is_not_looked_for_beyond_what_it_pushes),
		CODE(a_register_that_was_popped_is_where_it_belongs),
		CODE(a_thread_that_was_made_a_moment_ago_is_its_own_root),
		CODE(java_is_entered_where_the_call_stub_has_pushed_arguments),
		CODE(an_older_word_leads_to_the_call_stub_and_is_not_believed),
		CODE(a_stub_by_which_a_native_function_calls_java_is_no_call_stub),
		CODE(a_root_behind_unknown_code_of_a_jvm_is_one_by_frame_pointers),
		CODE(a_root_behind_a_method_of_unknown_size_is_one_by_frame_pointers),
		CODE(no_file_calls_java),
		CODE(a_stub_that_has_no_frame_yet_is_left_for_its_call),
		CODE(a_word_on_top_of_a_stub_is_no_caller_without_a_call),
		CODE(a_frame_pointer_is_none_that_leads_behind_no_call),
		CODE(what_an_exception_left_was_not_called_by_a_file),
		CODE(a_word_or_two_on_a_leafs_frame_lead_behind_a_call),
		CODE(the_trampoline_of_probes_is_left_by_its_call),
		CODE(a_system_call_is_left_by_the_rule_of_its_own_function),
		CODE(a_register_alone_makes_no_system_call),
		CODE(a_breakpoint_is_left_as_the_instruction_that_it_stands_for),
		CODE(a_functions_end_is_left_by_what_it_pops),
		CODE(a_file_called_a_loader_is_no_root),
		CODE(code_without_rules_is_left_by_what_it_will_pop),
		CODE(code_without_rules_does_not_return_to_where_there_is_no_call),
		CODE(a_call_is_looked_for_once),
#endif
		CODE(a_place_in_code_is_read_once),
		CODE(a_search_for_a_call_reads_no_more_than_its_bound),
		CODE(a_barrier_that_leads_to_itself_ends_the_stack),
		CODE(a_stack_of_too_many_frames_is_left_at_the_bound),
		CODE(a_stub_without_a_frame_returns_from_the_top),
		CODE(a_stub_with_a_word_of_ones_below_its_frame_is_left),
		CODE(a_stub_whose_size_leads_nowhere_is_left_by_its_frame_pointer),
		CODE(a_barrier_leads_to_the_frame_that_mounts),
		CODE(a_barrier_leads_to_the_code_that_mounts),
		CODE(code_that_will_thaw_leads_to_the_barrier),
		CODE(a_thawed_frame_leaves_its_callers_stack_pointer_to_the_barrier),
		CODE(code_that_mounts_may_be_as_low_as_the_frame_that_mounts),
		CODE(code_that_mounts_does_not_lead_to_what_a_stub_has_called),
		CODE(code_that_mounts_leads_to_the_frame_that_mounts),
		CODE(code_that_has_thawed_leads_to_the_thawed_frame),
		CODE(a_return_address_without_code_ends_the_stack),
		CODE(a_return_address_behind_the_copy_without_code_is_the_copys_end),
		CODE(frame_pointers_in_a_circle_end_the_stack),
		CODE(other_runtimes_code_is_left_by_its_frame_pointer),
		CODE(stacks_of_erlang_end_where_a_process_begins),
		CODE(other_runtimes_code_without_code_above_it_ends_the_stack),
#if defined(__x86_64__)
		CODE(a_frame_that_v8_has_not_made_yet_is_none),
		CODE(a_trampoline_without_a_frame_pointer_is_left_by_its_size),
#endif
		CODE(garbage_harms_nobody),
		CODE(code_that_may_not_be_read_is_said_once_and_counted_each_time),
		OWN(a_stack_that_may_not_be_read_is_said_once_and_counted_each_time),
		CODE(code_that_is_gone_is_counted_and_not_said),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
