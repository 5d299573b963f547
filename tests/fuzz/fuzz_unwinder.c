// SPDX-License-Identifier: Apache-2.0
/*
 * The unwinder, over registers and stacks of any bytes, in a process that has a little of each kind
 * of code. Addresses are made of the input's words so that they often hit: the top byte chooses
 * what a word is relative to.
 */
#include "fuzzer.h"

#include "code/code_map.h"
#include "sample/sample_regs.h"
#include "unwind/step.h"
#include "unwind/unwinder.h"

#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define CODE_BYTES  (64u << 10)
#define STACK_WORDS 4096
#define CHAIN_WORDS 64
#define STACK_ADDR  UINT64_C(0x7ffff0000000)

static struct unwinder *unwinder;
static struct process *process;
static uint8_t *code;

static void add(uint32_t offset, uint32_t size, enum code_kind kind, const char *name,
		struct code_frame frame)
{
	const struct code_range range = {
		.addr = (uint64_t)(uintptr_t)code + offset,
		.size = size,
		.kind = (uint8_t)kind,
		.class_name = kind == CODE_STUB ? NULL : "a/B",
		.name = name,
		.frame = frame,
	};

	code_map_add(process->code, &range, false);
}

static void set_up(void)
{
	struct table_cache *tables;

	code = mmap(NULL, CODE_BYTES, PROT_READ | PROT_WRITE | PROT_EXEC,
		    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (code == MAP_FAILED || process_new(getpid(), 0, PROCESS_READ_ALL, &process) < 0 ||
	    process_add_jvm(process) < 0 || table_cache_new(64u << 20, false, &tables) < 0 ||
	    unwinder_new(tables, &unwinder) < 0)
		abort();
	process_read_space(process, 1, PROCESS_READ_ALL);
	for (uint32_t i = 0; i < CODE_BYTES; i++)
		code[i] = (uint8_t)(i * 7 + (i >> 8));
	memcpy(code, "\x55\x48\x8b\xec\x48\x83\xec\x20", 8);
	add(0, 4096, CODE_JAVA, "small", (struct code_frame){48, 8, 0});
	add(4096, 4096, CODE_JAVA, "large", (struct code_frame){UINT32_MAX - 7, 4000, 4095});
	add(8192, 16384, CODE_STUB, "Interpreter", (struct code_frame){0});
	add(24576, 64, CODE_STUB, "cont_returnBarrier", (struct code_frame){0});
	add(28672, 4096, CODE_STUB, "call_stub", (struct code_frame){0});
	add(32768, 4096, CODE_STUB, "RuntimeStub", (struct code_frame){32, 5, 0});
	add(36864, 256, CODE_NATIVE_WRAPPER, "glue", (struct code_frame){112, 20, 300});
	add(40960, 64, CODE_STUB, "vtable stub", (struct code_frame){0});
}

static uint64_t place(uint64_t word)
{
	const uint64_t low = word & 0xffff;

	switch (word >> 56 & 7) {
	case 0:
		return (uint64_t)(uintptr_t)code + low;
	case 1:
	case 2:
		return STACK_ADDR + low;
	case 3: /* native code: this program's own */
		return (uint64_t)(uintptr_t)&LLVMFuzzerTestOneInput + low;
	default:
		return word;
	}
}

/* The kernel's walk: some of the stack's words, which ours may come by too. */
static void make_chain(struct sample *sample, const uint64_t *stack, size_t n)
{
	static uint64_t chain[CHAIN_WORDS];

	if (n > CHAIN_WORDS)
		n = CHAIN_WORDS;
	memcpy(chain, stack, n * sizeof(*stack));
	sample->user = (struct sample_chain){chain, (uint32_t)n};
}

/* Steps, not time: a walk is bounded whatever its stack says. */
static void check_steps(const struct stack *stack)
{
	static uint64_t reads;
	struct unwinder_stats stats;

	unwinder_stats(unwinder, &stats);
	if (stack->depth == 0 || stack->depth > STACK_MAX || stack->end >= STACK_ENDS ||
	    stats.reads - reads > STEP_MAX_READS + STEP_MAX_HEAP_READS)
		abort();
	reads = stats.reads;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static uint64_t words[SAMPLE_REGS_COUNT + STACK_WORDS];
	static struct stack stack;
	size_t n = size / 8;
	struct sample sample = {.regs = words};

	if (!unwinder)
		set_up();
	if (n > SAMPLE_REGS_COUNT + STACK_WORDS)
		n = SAMPLE_REGS_COUNT + STACK_WORDS;
	if (n <= SAMPLE_REGS_COUNT)
		return 0;
	memcpy(words, data, n * 8);
	for (size_t i = 0; i < n; i++)
		words[i] = place(words[i]);
	sample.stack = (const uint8_t *)&words[SAMPLE_REGS_COUNT];
	sample.stack_len = (uint32_t)((n - SAMPLE_REGS_COUNT) * 8);
	if (words[SAMPLE_REGS_COUNT] % 2)
		make_chain(&sample, &words[SAMPLE_REGS_COUNT], n - SAMPLE_REGS_COUNT);
	unwinder_walk(unwinder, process, 2, &sample, &stack);
	unwinder_accept(unwinder, &stack, true);
	check_steps(&stack);
	return 0;
}
