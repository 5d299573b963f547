// SPDX-License-Identifier: Apache-2.0
/* Stacks of this very process, with code of an imagined JVM among its real functions. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <dlfcn.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "../code/fake_hotspot.h"
#include "../process/own_jvm.h"
#include "base/clock.h"
#include "code/inline_table.h"
#include "fixture.h"
#include "symbolize/java_frames.h"
#include "symbolize/symbolizer.h"

static struct table_cache *tables;
static struct symbolizer *symbolizer;
static struct process *process;
static void *code; /* where a JVM would keep its code: executable, without a file */

static int setup(void **state)
{
	code = mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	process = own_jvm_new();
	return code == MAP_FAILED || table_cache_new(64u << 20, false, &tables) < 0 ||
	       symbolizer_new(tables, &symbolizer) < 0;
}

static int teardown(void **state)
{
	process_free(process);
	symbolizer_free(symbolizer);
	table_cache_free(tables);
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

static void frame_of_a_file_says_its_build(void **state)
{
	const struct stack stack = {
		.depth = 1,
		.entries = {{.addr = (uint64_t)(uintptr_t)&function_to_be_found}},
	};
	const int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	char expected[2 * ELF_LAYOUT_MAX_BUILD_ID + 1] = "";
	struct elf_symbols *symbols;
	const unsigned char *bytes;
	size_t len;

	assert_int_equal(elf_symbols_load(fd, NULL, &symbols), 0);
	close(fd);
	bytes = elf_symbols_build_id(symbols, &len);
	assert_true(len > 0);
	for (size_t i = 0; i < len; i++)
		sprintf(expected + 2 * i, "%02x", bytes[i]);
	elf_symbols_free(symbols);
	for (int i = 0; i < 2; i++) { /* made, and out of the cache */
		name(&stack, 20);
		assert_string_equal(frames[0].build_id, expected);
	}
}

/* Of burn, inlined into run in the first 16 bytes, at their lines 11 and 12. */
static struct inline_table *new_table_of(const char *inlined)
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
						  .name = i ? inlined : "run",
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

static struct inline_table *new_table(void)
{
	return new_table_of("burn");
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

static void a_frame_says_if_nobody_knows_what_was_inlined_there(void **state)
{
	const uint64_t base = (uint64_t)(uintptr_t)code;
	const struct code_range method = {.addr = base,
					  .size = 64,
					  .kind = CODE_JAVA,
					  .class_name = "com/acme/Main",
					  .name = "run",
					  .inlines = new_table()};
	struct stack stack = {.depth = 1};

	assert_int_equal(code_map_add(process->code, &method, false), 1);
	stack.entries[0] =
		(struct stack_entry){.addr = base + 32, .is_return = true, .lacks_inlined = true};
	assert_false(name(&stack, 20).is_java_named);
	assert_string_equal(frames[0].name, "com/acme/Main.run [inlined frames not known]");
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

	stack.entries[0].addr = (uint64_t)(uintptr_t)code + 2048;
	assert_false(name(&stack, 20).is_java_named);
	assert_int_equal(frames[0].kind, FRAME_UNKNOWN);
	assert_string_equal(frames[0].name, "[unknown: generated code]");
}

/* Its perf map is open, and the file's end has not been reached. */
static void generated_code_waits_for_the_lines_that_its_process_has_written(void **state)
{
	const uint64_t ran_ns = clock_now_ns() + 60 * CLOCK_NS_PER_SEC; /* however slow we are */
	struct jvm *const before = process->jvm;
	struct stack stack = {.depth = 1};

	stack.entries[0].addr = (uint64_t)(uintptr_t)code + 2048;
	process->jvm = NULL;
	table_cache_be_patient(tables, true);
	assert_false(name(&stack, ran_ns).is_waiting);
	process->foreign.is_open = true;
	process->foreign.opened_ns = ran_ns;
	assert_true(name(&stack, ran_ns).is_waiting);
	table_cache_be_patient(tables, false);
	assert_false(name(&stack, ran_ns).is_waiting);
	assert_int_equal(symbolizer_put_off(symbolizer), 1);
	table_cache_be_patient(tables, true);
	process->foreign.whole_ns = ran_ns;
	assert_false(name(&stack, ran_ns).is_waiting);
	process->foreign = (struct foreign_reader){0};
	process->jvm = before;
}

/* The agent knows nothing of the code of a second code generator, whose perf map may. */
static void generated_code_that_the_agent_does_not_know_waits_for_another_perf_map(void **state)
{
	const uint64_t ran_ns = clock_now_ns() + 60 * CLOCK_NS_PER_SEC; /* however slow we are */
	struct jvm jvm = {0}, *const before = process->jvm;
	struct stack stack = {.depth = 1};

	stack.entries[0].addr = (uint64_t)(uintptr_t)code + 2048;
	table_cache_be_patient(tables, true);
	process->jvm = &jvm;
	assert_true(name(&stack, ran_ns).is_waiting);
	assert_true(foreign_reader_is_wanted(&process->foreign, clock_now_ns()));
	process->foreign.looks = 1;
	assert_false(name(&stack, ran_ns).is_waiting);
	process->foreign = (struct foreign_reader){0};
	process->jvm = before;
}

static void what_is_nowhere_says_so(void **state)
{
	const struct symbolizer_context gone = {.process = NULL};
	struct symbolizer_verdict verdict;
	struct stack stack = {.depth = 1};

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

/* Compiled code may use the frame pointer for values; the walk then leaves its caller out. */
static void compiled_code_is_left_by_frame_pointers_if_the_jvm_keeps_them(void **state)
{
	extern void _start(void);
	const uint64_t base = (uint64_t)(uintptr_t)code;
	struct code_range range = {.addr = base, .size = 64, .kind = CODE_JAVA, .birth_ns = 10};
	struct stack stack = {.depth = 2, .end = STACK_BY_FP};

	range.class_name = "com/acme/Main";
	range.name = "run";
	assert_int_equal(code_map_add(process->code, &range, false), 1);
	range = (struct code_range){.addr = base + 64,
				    .size = 64,
				    .kind = CODE_STUB,
				    .birth_ns = 10,
				    .name = "call_stub"};
	assert_int_equal(code_map_add(process->code, &range, false), 1);
	stack.entries[0].addr = base + 16;
	stack.entries[1].addr = (uint64_t)(uintptr_t)&_start;
	assert_false(name(&stack, 20).is_rooted);
	assert_string_equal(frames[2].name, "[truncated: frame pointers only]");
	process->jvm->hello_flags = WIRE_HELLO_FP_WAS_ON;
	assert_true(name(&stack, 20).is_rooted);
	process->jvm->hello_flags = 0;
	stack.entries[0].addr = base + 80;
	assert_true(name(&stack, 20).is_rooted);
	stack.entries[0].addr = base + 300; /* nobody knows what code this is */
	assert_false(name(&stack, 20).is_rooted);
}

/* ---- below the kernel's frames ---- */

#define KERNEL	  UINT64_C(0xffffffffe0000000) /* of code that the kernel tells of, not its own */
#define UNMAPPED  0x10
#define IN_SCHED  (KERNEL + 0x10)
#define IN_EXECVE (KERNEL + 0x110)
#define IN_FORK	  (KERNEL + 0x210)
#define IN_FILTER (KERNEL + 0x310)
#define UNTOLD	  (KERNEL + 0x1000)

static void tell_kernel(void)
{
	static const char *const functions[] = {"schedule", "do_execveat_common.isra.0",
						"ret_from_fork_asm", "__seccomp_filter.isra.0"};

	for (size_t i = 0; i < 4; i++) {
		const struct record record = {
			.kind = RECORD_KSYMBOL,
			.time_ns = 1,
			.ksymbol = {.addr = KERNEL + i * 0x100, .len = 0x100, .name = functions[i]},
		};

		symbolizer_apply_kernel(symbolizer, &record);
	}
}

/* How many of the four are named. The walk came to an end that is none. */
static size_t name_below(uint64_t kernel_leaf, uint64_t kernel_root, uint64_t user, bool is_rooted)
{
	const struct stack stack = {
		.depth = 4,
		.end = STACK_NO_RULE,
		.entries = {{.addr = kernel_leaf, .is_kernel = true},
			    {.addr = kernel_root, .is_kernel = true, .is_return = true},
			    {.addr = user},
			    {.addr = 0x41414141, .is_return = true}},
	};
	const struct symbolizer_context context = {.process = process, .time_ns = 20};
	struct symbolizer_verdict verdict;
	const size_t n = symbolizer_name(symbolizer, &context, &stack, frames, &verdict);

	assert_int_equal(verdict.is_rooted, is_rooted);
	return verdict.is_rooted ? n : n - 1; /* the end has a frame */
}

/* The registers are those of the program before, whose code is gone. */
static void between_two_programs_nobody_has_called_the_kernel(void **state)
{
	tell_kernel();
	assert_int_equal(name_below(IN_SCHED, IN_EXECVE, UNMAPPED, true), 2);
	assert_string_equal(frames[1].name, "do_execveat_common.isra.0");
	assert_int_equal(name_below(IN_EXECVE, IN_SCHED, UNMAPPED, true), 2);
}

static void who_calls_execve_is_shown_while_its_code_is_there(void **state)
{
	tell_kernel();
	assert_int_equal(
		name_below(IN_SCHED, IN_EXECVE, (uint64_t)(uintptr_t)&function_to_be_found, false),
		4);
	assert_string_equal(frames[2].name, "function_to_be_found");
}

static void a_call_of_the_kernel_from_nowhere_is_not_rooted(void **state)
{
	tell_kernel();
	assert_int_equal(name_below(IN_SCHED, IN_SCHED, UNMAPPED, false), 4);
	assert_string_equal(frames[2].name, "[unknown: not mapped]");
}

static void a_thread_that_has_not_run_has_no_frames_but_the_kernels(void **state)
{
	tell_kernel();
	assert_int_equal(
		name_below(IN_SCHED, IN_FORK, (uint64_t)(uintptr_t)&function_to_be_found, true), 2);
	assert_string_equal(frames[1].name, "ret_from_fork_asm");
	/* As the outermost frame alone. */
	assert_int_equal(
		name_below(IN_FORK, IN_SCHED, (uint64_t)(uintptr_t)&function_to_be_found, false),
		4);
}

/* Compiled, and without a symbol. */
static void a_filter_without_a_symbol_is_named_by_who_calls_it(void **state)
{
	struct kernel_code_stats before, after;

	tell_kernel();
	symbolizer_kernel_stats(symbolizer, &before);
	name_below(UNTOLD, IN_FILTER, (uint64_t)(uintptr_t)&function_to_be_found, false);
	assert_string_equal(frames[0].name, "[seccomp filter]");
	assert_int_equal(frames[0].kind, FRAME_KERNEL);
	/* Without looking for it in symbols that are read anew. */
	symbolizer_kernel_stats(symbolizer, &after);
	assert_int_equal(after.unnamed, before.unnamed);
	name_below(UNTOLD, IN_SCHED, (uint64_t)(uintptr_t)&function_to_be_found, false);
	assert_string_equal(frames[0].name, "[unknown: no kernel symbol]");
	assert_int_equal(frames[0].kind, FRAME_UNKNOWN);
	/* What has a name keeps it. */
	name_below(IN_SCHED, IN_FILTER, (uint64_t)(uintptr_t)&function_to_be_found, false);
	assert_string_equal(frames[0].name, "schedule");
}

static void an_interpreted_method_is_named_from_memory(void **state)
{
	static struct fake_hotspot fake;
	struct stack stack = {.depth = 2};

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
	struct symbolizer_verdict verdict;

	verdict = name(&stack, 20);
	assert_false(verdict.is_java_named);
	assert_true(verdict.is_interpreted_unnamed);
	assert_int_equal(verdict.unnamed[JAVA_METHODS_NO_LAYOUT], 1);
	assert_string_equal(frames[0].name, "[interpreted]");
	assert_int_equal(frames[0].kind, FRAME_INTERPRETED);
	fake_hotspot_say_hello(process, NULL);
	verdict = name(&stack, 20);
	assert_string_equal(frames[0].name, "[interpreted]");
	assert_int_equal(verdict.unnamed[JAVA_METHODS_NOT_MAPPED], 1);
	assert_int_equal(process->jvm->unnamed_methods[JAVA_METHODS_NOT_MAPPED], 0);
	process_count_unnamed(process, verdict.unnamed);
	assert_int_equal(process->jvm->unnamed_methods[JAVA_METHODS_NOT_MAPPED], 1);
}

/* As where frame pointers alone lead to it: the interpreter's code is no method. */
static void the_interpreter_is_no_name(void **state)
{
	const struct code_range interpreter = {
		.addr = fake_addr(code), .size = 64, .kind = CODE_STUB, .name = "Interpreter"};
	const struct stack stack = {.depth = 1, .entries = {{.addr = fake_addr(code) + 8}}};
	struct symbolizer_verdict verdict;

	code_map_add(process->code, &interpreter, false);
	verdict = name(&stack, 20);
	assert_string_equal(frames[0].name, "Interpreter");
	assert_false(verdict.is_java_named);
	assert_true(verdict.is_interpreted_unnamed);
}

static bool is_hidden_by(const char *last, enum frame_kind kind)
{
	const struct frame stack[] = {{.name = "write", .kind = FRAME_NATIVE},
				      {.name = last, .kind = kind}};

	return java_frames_are_hidden(stack, 2);
}

static void the_interpreter_of_a_zero_vm_hides_java(void **state)
{
	assert_true(is_hidden_by("ZeroInterpreter::native_entry(Method*)", FRAME_JVM));
	assert_true(is_hidden_by("void BytecodeInterpreter::run<false, true>(x)", FRAME_JVM));
	assert_true(is_hidden_by("CppInterpreter::main_loop", FRAME_JVM));
	assert_false(is_hidden_by("InterpreterRuntime::ldc", FRAME_JVM));
	assert_false(is_hidden_by("ZeroInterpreter::main_loop", FRAME_NATIVE));
}

/* The library is loaded by no name that it has, as from a file that was copied. */
static void the_agent_is_known_by_its_soname(void **state)
{
	struct stack stack = {.depth = 1};
	char *path;
	void *library;

	fixture_need_compiler();
	path = fixture_new_library("c", "int in_the_agent(int x) { return x * 7; }",
				   "-Wl,-soname,libfgagent.so");
	library = dlopen(path, RTLD_NOW);
	assert_non_null(library);
	process_free(process);
	process = own_jvm_new();
	stack.entries[0].addr = (uint64_t)(uintptr_t)dlsym(library, "in_the_agent");
	name(&stack, 20);
	assert_string_equal(frames[0].name, "in_the_agent");
	assert_string_equal(frames[0].module, "libfgagent.so");
	names = (struct java_name_options){.is_raw = true};
	name(&stack, 20);
	names = (struct java_name_options){0};
	assert_string_not_equal(frames[0].module, "libfgagent.so");
	dlclose(library);
	free(path);
}

static void frames_in_the_heap_that_could_not_be_had_are_a_frame(void **state)
{
	const struct stack stack = {.depth = 1, .entries = {{.is_gap = true}}};

	assert_true(name(&stack, 20).is_java_named);
	assert_string_equal(frames[0].name, "[older frames are in the heap]");
	assert_int_equal(frames[0].kind, FRAME_LABEL);
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

/* ---- what was named before ---- */

static char class_name[32];

static void add_code(const char *text, uint64_t birth_ns, struct inline_table *inlines)
{
	const struct code_range range = {.addr = fake_addr(code),
					 .size = 64,
					 .kind = CODE_JAVA,
					 .birth_ns = birth_ns,
					 .class_name = text,
					 .name = "run",
					 .inlines = inlines};

	assert_int_equal(code_map_add(process->code, &range, false), 1);
}

static const char *name_at(uint64_t time_ns)
{
	const struct stack stack = {.depth = 1, .entries = {{.addr = fake_addr(code)}}};

	name(&stack, time_ns);
	return frames[0].name;
}

/* The memory of a pool that is gone has other texts later. */
static void a_pools_names_are_not_taken_for_the_next_ones(void **state)
{
	strcpy(class_name, "com/acme/Old");
	add_code(class_name, 10, NULL);
	assert_string_equal(name_at(20), "com/acme/Old.run");
	name_pool_fini(&process->names);
	assert_int_equal(name_pool_init(&process->names), 0);
	strcpy(class_name, "com/acme/New");
	assert_string_equal(name_at(20), "com/acme/New.run");
}

static void names_that_move_are_what_they_were(void **state)
{
	const uint64_t before = process->names.serial;
	char text[64];

	add_code(process_name(process, "com/acme/Main", 13), 10, NULL);
	assert_string_equal(name_at(20), "com/acme/Main.run");
	for (int i = 0; i < 1000000 && process->names.serial == before; i++) {
		const int len = snprintf(text, sizeof(text), "com/acme/gone/Class%d", i);

		process_name(process, text, (size_t)len);
		process_compact_names(process, 30);
	}
	assert_true(process->names.serial != before);
	assert_string_equal(name_at(40), "com/acme/Main.run");
}

static void code_in_the_place_of_other_code_has_its_own_names(void **state)
{
	add_code("com/acme/Old", 10, new_table_of("burn"));
	assert_string_equal(name_at(15), "com/acme/Main.burn");
	assert_string_equal(frames[1].name, "com/acme/Old.run");
	add_code("com/acme/New", 20, new_table_of("turn"));
	assert_string_equal(name_at(25), "com/acme/Main.turn");
	assert_string_equal(frames[1].name, "com/acme/New.run");
	/* A sample of the time before is still named as of then. */
	assert_string_equal(name_at(15), "com/acme/Main.burn");
	assert_string_equal(frames[1].name, "com/acme/Old.run");
	code_map_expire(process->code, 30, 0);
	add_code("com/acme/Newest", 40, new_table_of("churn"));
	assert_string_equal(name_at(45), "com/acme/Main.churn");
}

static void a_process_is_not_named_by_the_one_before_it(void **state)
{
	strcpy(class_name, "com/acme/Old");
	add_code(class_name, 10, new_table_of("burn"));
	assert_string_equal(name_at(20), "com/acme/Main.burn");
	process_free(process);
	process = own_jvm_new();
	strcpy(class_name, "com/acme/New");
	add_code(class_name, 10, NULL);
	assert_string_equal(name_at(20), "com/acme/New.run");
}

static void a_level_that_becomes_known_is_shown(void **state)
{
	struct code_range range = {.addr = fake_addr(code),
				   .size = 64,
				   .kind = CODE_JAVA,
				   .level = CODE_LEVEL_UNKNOWN,
				   .birth_ns = 10,
				   .class_name = "com/acme/Main",
				   .name = "run",
				   .inlines = new_table()};

	assert_int_equal(code_map_add(process->code, &range, false), 1);
	name_at(20);
	assert_int_equal(frames[1].kind, FRAME_JIT);
	range.level = 1;
	range.inlines = NULL;
	assert_int_equal(code_map_add(process->code, &range, false), 0);
	name_at(20);
	assert_int_equal(frames[0].kind, FRAME_INLINED);
	assert_int_equal(frames[1].kind, FRAME_C1);
}

static void styles_are_kept_apart(void **state)
{
	add_code("com/acme/Main", 10, new_table());
	for (int round = 0; round < 2; round++) {
		names = (struct java_name_options){0};
		assert_string_equal(name_at(20), "com/acme/Main.burn");
		names.style = JAVA_NAME_DOT;
		assert_string_equal(name_at(20), "com.acme.Main.burn");
		names.has_lines = true;
		assert_string_equal(name_at(20), "com.acme.Main.burn:12");
		assert_string_equal(frames[1].name, "com.acme.Main.run:11");
	}
	names = (struct java_name_options){0};
}

/* The symbolizer forgets its texts when they are too many. */
static void names_are_written_anew_when_their_texts_are_gone(void **state)
{
	const size_t len = 33u << 20;
	char *text = malloc(len + 1);

	assert_non_null(text);
	add_code("com/acme/Main", 10, new_table());
	assert_string_equal(name_at(20), "com/acme/Main.burn");
	memset(text, 'x', len);
	text[len] = '\0';
	assert_non_null(symbolizer_label(symbolizer, text).name);
	free(text);
	assert_string_equal(name_at(20), "com/acme/Main.burn");
	assert_ptr_equal(symbolizer_label(symbolizer, "com/acme/Main.burn").name, frames[0].name);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
		TEST(each_frame_is_named_by_what_holds_its_address),
		TEST(frame_of_a_file_says_its_build),
		TEST(inlined_frames_stand_in_front_of_their_caller),
		TEST(a_frame_says_if_nobody_knows_what_was_inlined_there),
		TEST(methods_are_called_as_the_caller_asks),
		TEST(an_interpreted_method_is_named_from_memory),
		TEST(an_interpreted_method_without_a_name_is_unnamed_java),
		TEST(the_interpreter_is_no_name),
		TEST(the_interpreter_of_a_zero_vm_hides_java),
		TEST(the_agent_is_known_by_its_soname),
		TEST(frames_in_the_heap_that_could_not_be_had_are_a_frame),
		TEST(generated_code_without_a_name_is_unnamed_java),
		TEST(generated_code_waits_for_the_lines_that_its_process_has_written),
		TEST(generated_code_that_the_agent_does_not_know_waits_for_another_perf_map),
		TEST(what_is_nowhere_says_so),
		TEST(a_stack_down_to_the_programs_start_is_rooted),
		TEST(compiled_code_is_left_by_frame_pointers_if_the_jvm_keeps_them),
		TEST(between_two_programs_nobody_has_called_the_kernel),
		TEST(who_calls_execve_is_shown_while_its_code_is_there),
		TEST(a_call_of_the_kernel_from_nowhere_is_not_rooted),
		TEST(a_thread_that_has_not_run_has_no_frames_but_the_kernels),
		TEST(a_filter_without_a_symbol_is_named_by_who_calls_it),
		TEST(a_virtual_threads_stack_can_end_where_it_was_mounted),
		TEST(a_pools_names_are_not_taken_for_the_next_ones),
		TEST(names_that_move_are_what_they_were),
		TEST(code_in_the_place_of_other_code_has_its_own_names),
		TEST(a_process_is_not_named_by_the_one_before_it),
		TEST(a_level_that_becomes_known_is_shown),
		TEST(styles_are_kept_apart),
		TEST(names_are_written_anew_when_their_texts_are_gone),
	};

	return cmocka_run_group_tests(tests, NULL, fixture_remove_all);
}
