// SPDX-License-Identifier: Apache-2.0
/* Stacks of this very process, with code of an imagined JVM among its real functions. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "../target/fake_hotspot.h"
#include "symbolize/symbolizer.h"
#include "target/inline_table.h"

static struct symbolizer *symbolizer;
static struct process *process;
static void *code; /* where a JVM would keep its code: executable, without a file */

static int setup(void **state)
{
	(void)state;
	code = mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	return code == MAP_FAILED || symbolizer_new(&symbolizer) < 0 ||
	       process_new(getpid(), 0, &process) < 0 || process_add_jvm(process) < 0;
}

static int teardown(void **state)
{
	(void)state;
	process_free(process);
	symbolizer_free(symbolizer);
	return munmap(code, 4096);
}

/* A function of known name to be found in this program's symbols. */
int function_to_be_found(int x);

__attribute__((noinline)) int function_to_be_found(int x)
{
	return x * 3 + 1;
}

static struct frame frames[SYMBOLIZER_MAX_FRAMES];
static struct java_name_options names;

static struct symbolizer_verdict name(const struct stack *stack, uint64_t time_ns)
{
	const struct symbolizer_context context = {
		.process = process, .time_ns = time_ns, .names = names};
	struct symbolizer_verdict verdict;

	symbolizer_name(symbolizer, &context, stack, frames, &verdict);
	return verdict;
}

static void each_frame_is_named_by_what_holds_its_address(void **state)
{
	const uint64_t base = (uint64_t)(uintptr_t)code;
	const struct code_range method = {.addr = base,
					  .size = 64,
					  .kind = CODE_JAVA,
					  .level = 1,
					  .birth_ns = 10,
					  .class_name = "com/acme/Main",
					  .name = "run"};
	const struct code_range stub = {.addr = base + 64,
					.size = 64,
					.kind = CODE_STUB,
					.birth_ns = 10,
					.name = "Interpreter"};
	struct stack stack = {.depth = 3};
	struct symbolizer_verdict verdict;

	(void)state;
	assert_int_equal(code_map_add(process->code, &method, false), 1);
	assert_int_equal(code_map_add(process->code, &stub, false), 1);
	stack.entries[0] = (struct stack_entry){.addr = base};
	/* A return address just behind the method still belongs to its last call. */
	stack.entries[1] = (struct stack_entry){.addr = base + 64, .is_return = true};
	stack.entries[2] = (struct stack_entry){.addr = (uint64_t)(uintptr_t)&function_to_be_found};
	verdict = name(&stack, 20);
	assert_string_equal(frames[0].name, "com/acme/Main.run");
	assert_int_equal(frames[0].kind, FRAME_C1);
	assert_string_equal(frames[1].name, "com/acme/Main.run");
	assert_string_equal(frames[2].name, "function_to_be_found");
	assert_int_equal(frames[2].kind, FRAME_NATIVE);
	assert_true(verdict.is_java_named);
	assert_false(verdict.is_rooted);
	stack.entries[0].addr = base + 64;
	name(&stack, 20);
	assert_string_equal(frames[0].name, "Interpreter");
	assert_int_equal(frames[0].kind, FRAME_INTERPRETED);
}

/* Of burn, inlined into run in the first 16 bytes, at their lines 11 and 12. */
static struct inline_table *new_table(void)
{
	static struct code_method *methods[2];
	/* Two lines each: 11 from bytecode 0, 12 from bytecode 4. */
	const uint8_t lines[] = {0, 22, 4, 2};
	const struct wire_method said = {.n_lines = 2, .lines = lines, .lines_len = sizeof(lines)};
	uint8_t regions[16];
	struct wire_buf buf = {.data = regions, .size = sizeof(regions)};
	struct wire_inline wire = {
		.n_methods = 2, .n_regions = 1, .regions_left = 1, .has_regions = true};
	struct inline_table *table;

	for (int i = 0; i < 2; i++) {
		const struct code_method texts = {.class_name = "com/acme/Main",
						  .name = i ? "burn" : "run",
						  .source_file = "Main.java"};

		assert_int_equal(code_methods_add(&process->methods, &texts, &said, &methods[i]),
				 0);
	}
	wire_encode_inline_region(&buf, &(struct wire_region){.size = 16, .depth = 2});
	wire_encode_inline_frame(&buf, &(struct wire_inline_frame){.method = 0, .bci = 3});
	wire_encode_inline_frame(&buf, &(struct wire_inline_frame){.method = 1, .bci = 4});
	wire.data = buf.data;
	wire.left = buf.len;
	assert_int_equal(inline_table_new(&process->methods, methods, &wire, 64, &table), 0);
	for (int i = 0; i < 2; i++)
		code_methods_unref(&process->methods, methods[i]);
	return table;
}

static void inlined_frames_stand_in_front_of_their_caller(void **state)
{
	const uint64_t base = (uint64_t)(uintptr_t)code;
	const struct code_range method = {.addr = base,
					  .size = 64,
					  .kind = CODE_JAVA,
					  .level = 4,
					  .birth_ns = 10,
					  .class_name = "com/acme/Main",
					  .name = "run",
					  .inlines = new_table()};
	struct stack stack = {.depth = 2};
	const struct symbolizer_context context = {.process = process, .time_ns = 20};
	struct symbolizer_verdict verdict;

	(void)state;
	assert_int_equal(code_map_add(process->code, &method, false), 1);
	stack.entries[0] = (struct stack_entry){.addr = base + 16}; /* behind the region */
	/* The call before a return address at the region's end is still in it. */
	stack.entries[1] = (struct stack_entry){.addr = base + 16, .is_return = true};
	assert_int_equal(symbolizer_name(symbolizer, &context, &stack, frames, &verdict), 4);
	assert_string_equal(frames[3].name, "[truncated: frame pointers only]");
	assert_string_equal(frames[0].name, "com/acme/Main.run");
	assert_int_equal(frames[0].kind, FRAME_JIT);
	assert_string_equal(frames[1].name, "com/acme/Main.burn");
	assert_int_equal(frames[1].kind, FRAME_INLINED);
	assert_string_equal(frames[1].file, "Main.java");
	assert_string_equal(frames[2].name, "com/acme/Main.run");
	assert_int_equal(frames[2].kind, FRAME_JIT);
	assert_int_equal(frames[2].line, 11);
	names.has_lines = true;
	name(&stack, 20);
	names.has_lines = false;
	assert_string_equal(frames[0].name, "com/acme/Main.run");
	assert_string_equal(frames[1].name, "com/acme/Main.burn:12");
	assert_string_equal(frames[2].name, "com/acme/Main.run:11");
}

static void methods_are_called_as_the_caller_asks(void **state)
{
	const uint64_t base = (uint64_t)(uintptr_t)code;
	const struct code_range method = {.addr = base,
					  .size = 64,
					  .kind = CODE_JAVA,
					  .class_name = "a/Foo$$Lambda$1.0x00007fa83c001428",
					  .name = "run",
					  .signature = "(I)V"};
	struct stack stack = {.depth = 1};

	(void)state;
	stack.entries[0].addr = base;
	assert_int_equal(code_map_add(process->code, &method, false), 1);
	name(&stack, 20);
	assert_string_equal(frames[0].name, "a/Foo$$Lambda.run");
	names = (struct java_name_options){.style = JAVA_NAME_SIGNATURE, .is_raw = true};
	name(&stack, 20);
	names = (struct java_name_options){0};
	assert_string_equal(frames[0].name, "a/Foo$$Lambda$1.0x00007fa83c001428.run(I)V");
}

static void generated_code_without_a_name_is_unnamed_java(void **state)
{
	struct stack stack = {.depth = 1};

	(void)state;
	stack.entries[0].addr = (uint64_t)(uintptr_t)code + 2048;
	assert_false(name(&stack, 20).is_java_named);
	assert_int_equal(frames[0].kind, FRAME_UNKNOWN);
	assert_string_equal(frames[0].name, "[unknown: generated code]");
}

static void what_is_nowhere_says_so(void **state)
{
	const struct symbolizer_context gone = {.process = NULL};
	struct symbolizer_verdict verdict;
	struct stack stack = {.depth = 1};

	(void)state;
	stack.entries[0].addr = 0x10;
	assert_true(name(&stack, 20).is_java_named);
	assert_string_equal(frames[0].name, "[unknown: not mapped]");
	symbolizer_name(symbolizer, &gone, &stack, frames, &verdict);
	assert_string_equal(frames[0].name, "[unknown: process gone]");
}

static void a_stack_down_to_the_programs_start_is_rooted(void **state)
{
	extern void _start(void);
	struct stack stack = {.depth = 2};

	(void)state;
	stack.entries[0].addr = (uint64_t)(uintptr_t)&function_to_be_found;
	stack.entries[1].addr = (uint64_t)(uintptr_t)&_start;
	assert_true(name(&stack, 20).is_rooted);
	stack.end = STACK_FRAME_LIMIT;
	assert_false(name(&stack, 20).is_rooted);
	assert_string_equal(frames[2].name, "[truncated: too many frames]");
	assert_int_equal(frames[2].kind, FRAME_LABEL);
	stack.depth = 1;
	stack.end = STACK_WHOLE;
	assert_true(name(&stack, 20).is_rooted);
	stack.depth = 2;
	stack.end = STACK_BY_FP;
	stack.depth = 1;
	assert_false(name(&stack, 20).is_rooted);
	stack.depth = 0;
	assert_false(name(&stack, 20).is_rooted);
}

static void an_interpreted_method_is_named_from_memory(void **state)
{
	static struct fake_hotspot fake;
	struct stack stack = {.depth = 2};

	(void)state;
	fake_hotspot_init(&fake);
	fake_hotspot_say_hello(process, NULL);
	stack.entries[0] = (struct stack_entry){.addr = fake_addr(code),
						.method = fake_addr(&fake.method),
						.bcp = fake_addr(fake.const_method.code) + 4};
	stack.entries[1] = (struct stack_entry){
		.addr = fake_addr(code) + 64, .is_return = true, .method = fake_addr(&fake.method)};
	assert_true(name(&stack, 20).is_java_named);
	assert_string_equal(frames[0].name, "com/acme/Main.run");
	assert_int_equal(frames[0].kind, FRAME_INTERPRETED);
	assert_string_equal(frames[0].file, "Main.java");
	assert_int_equal(frames[0].line, 12);
	assert_int_equal(frames[1].line, 0);
	names = (struct java_name_options){.style = JAVA_NAME_SIGNATURE, .has_lines = true};
	name(&stack, 20);
	assert_string_equal(frames[0].name, "com/acme/Main.run(I)V:12");
	assert_string_equal(frames[1].name, "com/acme/Main.run(I)V");
	names = (struct java_name_options){0};
}

static void an_interpreted_method_without_a_name_is_unnamed_java(void **state)
{
	const struct stack stack = {.depth = 1,
				    .entries = {{.addr = fake_addr(code), .method = 0x10000}}};

	(void)state;
	assert_false(name(&stack, 20).is_java_named);
	assert_string_equal(frames[0].name, "[interpreted]");
	assert_int_equal(frames[0].kind, FRAME_INTERPRETED);
	fake_hotspot_say_hello(process, NULL);
	name(&stack, 20);
	assert_string_equal(frames[0].name, "[interpreted]");
	assert_int_equal(process->jvm->unnamed_methods[JAVA_METHODS_NO_LAYOUT], 1);
	assert_int_equal(process->jvm->unnamed_methods[JAVA_METHODS_NOT_MAPPED], 1);
}

static void a_virtual_threads_stack_can_end_where_it_was_mounted(void **state)
{
	const uint64_t base = (uint64_t)(uintptr_t)code;
	struct code_range method = {.addr = base,
				    .size = 64,
				    .kind = CODE_JAVA,
				    .class_name = "com/acme/Main",
				    .name = "run"};
	const struct code_range mounting = {.addr = base + 64,
					    .size = 64,
					    .kind = CODE_NATIVE_WRAPPER,
					    .class_name = "jdk/internal/vm/Continuation",
					    .name = "enterSpecial"};
	struct symbolizer_context context = {.process = process, .time_ns = 20};
	struct symbolizer_verdict verdict;
	struct stack stack = {.depth = 3};

	(void)state;
	assert_int_equal(code_map_add(process->code, &method, false), 1);
	assert_int_equal(code_map_add(process->code, &mounting, false), 1);
	stack.entries[0] = (struct stack_entry){.addr = base + 16};
	stack.entries[1] = (struct stack_entry){.addr = base + 80, .is_return = true};
	stack.entries[2] = (struct stack_entry){.addr = base + 32, .is_return = true};
	stack.end = STACK_WHOLE;
	assert_int_equal(symbolizer_name(symbolizer, &context, &stack, frames, &verdict), 3);
	context.cuts_carriers = true;
	assert_int_equal(symbolizer_name(symbolizer, &context, &stack, frames, &verdict), 1);
	assert_string_equal(frames[0].name, "com/acme/Main.run");
	assert_true(verdict.is_rooted);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
		TEST(each_frame_is_named_by_what_holds_its_address),
		TEST(inlined_frames_stand_in_front_of_their_caller),
		TEST(methods_are_called_as_the_caller_asks),
		TEST(an_interpreted_method_is_named_from_memory),
		TEST(an_interpreted_method_without_a_name_is_unnamed_java),
		TEST(generated_code_without_a_name_is_unnamed_java),
		TEST(what_is_nowhere_says_so),
		TEST(a_stack_down_to_the_programs_start_is_rooted),
		TEST(a_virtual_threads_stack_can_end_where_it_was_mounted),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
