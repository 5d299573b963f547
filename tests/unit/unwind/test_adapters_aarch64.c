// SPDX-License-Identifier: Apache-2.0
/*
 * Claims about adapters between compiled and interpreted code on aarch64, on any machine. Recorded
 * stacks do not tell a correct rule from a rule that is nearly correct; these stacks do.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "../process/own_jvm.h"
#include "unwind/unwinder.h"

#include <string.h>
#include <sys/mman.h>

#define CODE_BYTES   4096
#define ADAPTER_SIZE 512
#define MOV_X19_SP   0x910003f3u
#define NOP	     0xd503201fu
#define N_WORDS	     128
#define NOW	     1000

enum { X19 = 19, X29 = 29, X30 = 30, SP = 31, PC = 32, N_REGS };

static struct table_cache *tables;
static struct unwinder *unwinder;
static struct process *self;
static struct stack stack;
static uint32_t *code;
static uint64_t adapter, caller, last;
static uint64_t regs[N_REGS];
static _Alignas(16) uint64_t words[N_WORDS];

static uint64_t add_code(uint32_t offset, uint32_t size, enum code_kind kind, const char *name)
{
	const struct code_range range = {
		.addr = (uint64_t)(uintptr_t)code + offset,
		.size = size,
		.kind = (uint8_t)kind,
		.class_name = kind == CODE_STUB ? NULL : "a/B",
		.name = name,
		.frame = {.size = kind == CODE_STUB ? 0 : 48, .complete = 16},
	};

	assert_int_equal(code_map_add(self->code, &range, false), 1);
	return range.addr;
}

static int set_up(void **state)
{
	self = own_jvm_new();
	if (table_cache_new(1u << 20, false, &tables) < 0 || unwinder_new(tables, &unwinder) < 0)
		return -1;
	unwinder_set_arch(unwinder, &arch_aarch64);
	code = mmap(NULL, CODE_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (code == MAP_FAILED)
		return -1;
	for (size_t i = 0; i < CODE_BYTES / sizeof(*code); i++)
		code[i] = NOP;
	memset(words, 0, sizeof(words));
	memset(regs, 0, sizeof(regs));
	adapter = add_code(0, ADAPTER_SIZE, CODE_STUB, "I2C/C2I adapters");
	caller = add_code(1024, 256, CODE_JAVA, "caller");
	last = add_code(1280, 256, CODE_JAVA, "last");
	return 0;
}

static int tear_down(void **state)
{
	munmap(code, CODE_BYTES);
	unwinder_free(unwinder);
	table_cache_free(tables);
	process_free(self);
	return 0;
}

static uint64_t word_addr(size_t i)
{
	return (uint64_t)(uintptr_t)&words[i];
}

/* Walks from pc on, with the stack pointer at the first word. */
static void check_walk(uint64_t pc, const uint64_t *addrs, uint32_t n)
{
	const struct sample sample = {
		.regs = regs, .stack = (const uint8_t *)words, .stack_len = sizeof(words)};

	regs[PC] = pc;
	regs[SP] = word_addr(0);
	unwinder_walk(unwinder, self, NOW, &sample, &stack);
	assert_in_range(stack.depth, n + 1, STACK_MAX);
	for (uint32_t i = 0; i < n; i++)
		assert_int_equal(stack.entries[1 + i].addr, addrs[i]);
}

/* The caller's frame may begin at the stack pointer or at the note, and both frames lead on. */
static void call_adapter(void)
{
	words[5] = last + 60;
	words[8 + 5] = last + 80;
	regs[X30] = caller + 100;
	regs[X19] = word_addr(8);
}

static void an_adapter_that_is_about_to_note_is_left_at_the_stack_pointer(void **state)
{
	call_adapter();
	code[100 / 4 + 3] = MOV_X19_SP;
	check_walk(adapter + 100, (const uint64_t[]){caller + 100, last + 60}, 2);
}

static void an_adapter_that_has_noted_is_left_by_its_note(void **state)
{
	call_adapter();
	code[100 / 4 - 3] = MOV_X19_SP;
	check_walk(adapter + 100, (const uint64_t[]){caller + 100, last + 80}, 2);
}

/*
 * The adapter is back from the VM: the link register has the address behind the adapter's call, and
 * the frame has the caller.
 */
static void an_adapter_that_has_called_is_left_by_its_frame(void **state)
{
	call_adapter();
	regs[X30] = adapter + 200;
	regs[X29] = word_addr(80);
	words[80] = word_addr(90);
	words[81] = caller + 100;
	words[82 + 5] = last + 40;
	check_walk(adapter + 204, (const uint64_t[]){caller + 100, last + 40}, 2);
}

/* The adapter has made its frame. The link register still has the caller. */
static void an_adapter_that_is_about_to_call_is_left_by_its_frame(void **state)
{
	call_adapter();
	regs[X29] = word_addr(80);
	words[80] = word_addr(90);
	words[81] = caller + 100;
	words[82 + 5] = last + 40;
	check_walk(adapter + 180, (const uint64_t[]){caller + 100, last + 40}, 2);
}

/*
 * All registers are saved below the adapter's frame. They hold the caller's address more than once.
 */
static void an_adapter_that_the_vm_returns_to_is_left_by_its_frame(void **state)
{
	const uint64_t stub = add_code(2048, 64, CODE_STUB, "vtable stub");

	regs[X30] = adapter + 200;
	regs[X29] = word_addr(80);
	words[20] = caller + 100;
	words[21] = caller + 100;
	words[22 + 5] = last + 80;
	words[80] = word_addr(90);
	words[81] = caller + 100;
	words[82 + 5] = last + 40;
	check_walk(stub + 8, (const uint64_t[]){adapter + 200, caller + 100, last + 40}, 3);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(an_adapter_that_is_about_to_note_is_left_at_the_stack_pointer),
		TEST(an_adapter_that_has_noted_is_left_by_its_note),
		TEST(an_adapter_that_has_called_is_left_by_its_frame),
		TEST(an_adapter_that_is_about_to_call_is_left_by_its_frame),
		TEST(an_adapter_that_the_vm_returns_to_is_left_by_its_frame),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
