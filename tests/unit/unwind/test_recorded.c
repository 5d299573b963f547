// SPDX-License-Identifier: Apache-2.0
/*
 * Claims about walks of stacks that were recorded in JVMs on aarch64. The walks run on any machine,
 * see recorded/README.md. The true stacks come from HotSpot's own walk of Java frames, and from
 * libgcc's walk of native frames.
 *
 *	test_recorded [RECORDING...]	checks these recordings instead, and prints all errors
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "../process/own_jvm.h"
#include "unwind/unwinder.h"
#include "recording.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define BCP_WORDS (-9) /* of JDK 9 and later on aarch64 */
#define NOW	  (UINT64_C(1) << 60)
#define PATHS_MAX 8

static struct table_cache *tables;
static struct unwinder *unwinder;
static struct process *process;
static struct recorded_sample sample;
static struct stack stack;

static int set_up(void **state)
{
	process = own_jvm_new();
	if (table_cache_new(64u << 20, false, &tables) < 0 || unwinder_new(tables, &unwinder) < 0)
		return -1;
	process->jvm->layout.interpreter_bcp_words = BCP_WORDS;
	unwinder_set_arch(unwinder, &arch_aarch64);
	return 0;
}

static int tear_down(void **state)
{
	unwinder_free(unwinder);
	table_cache_free(tables);
	process_free(process);
	return 0;
}

static void walk(void)
{
	const struct sample taken = {.regs = sample.regs,
				     .stack = (const uint8_t *)sample.stack,
				     .stack_len = sample.n_words * 8};

	unwinder_walk(unwinder, process, NOW, &taken, &stack);
}

/* ---- what is true ---- */

static bool is_native_as_it_was(void)
{
	for (uint32_t i = 0; i < sample.n_native; i++) {
		if (i >= stack.depth || stack.entries[i].addr != sample.native[i])
			return false;
	}
	return true;
}

/* A Java method on the walked stack. */
struct seen {
	char name[512];
	bool is_interpreted;
	uint64_t bcp;
	const struct recorded_method *method;
};

/* False: the entry is no Java method. */
static bool see(const struct recording *recording, const struct stack_entry *entry,
		struct seen *ret)
{
	const struct code_range *range =
		code_map_find(process->code, entry->addr - entry->is_return, NOW);

	if (!range)
		return false;
	*ret = (struct seen){.is_interpreted = range->kind == CODE_STUB};
	if (range->kind != CODE_STUB) {
		snprintf(ret->name, sizeof(ret->name), "%s.%s", range->class_name, range->name);
		return true;
	}
	ret->method = recording_find_method(recording, entry->method);
	ret->bcp = entry->bcp;
	snprintf(ret->name, sizeof(ret->name), "%s", ret->method ? ret->method->name : "?");
	return strcmp(range->name, "Interpreter") == 0 && entry->method;
}

static bool is_at_bytecode(const struct recording *recording, const struct seen *seen, int64_t bci)
{
	return bci < 0 || seen->bcp == 0 || !seen->method ||
	       seen->bcp == seen->method->const_method + recording_const_method_bytes(recording) +
				    (uint64_t)bci;
}

static bool is_named(uint32_t i, const struct seen *seen)
{
	return sample.java[i].method && strcmp(sample.java[i].method->name, seen->name) == 0;
}

/*
 * Compares from the root on. HotSpot's walk has each Java method of the stack in the same order. In
 * between HotSpot's walk has only inlined methods, and so nothing behind an interpreted method,
 * whose bytecode it has too.
 */
static bool is_java_as_it_was(const struct recording *recording)
{
	uint32_t left = sample.n_java;
	bool may_inline = false;
	struct seen seen;

	for (uint32_t i = stack.depth; i > 0 && sample.n_java > 0; i--) {
		if (!see(recording, &stack.entries[i - 1], &seen))
			continue;
		while (may_inline && left > 0 && !is_named(left - 1, &seen))
			left--;
		/* HotSpot does not see a leaf before it has a frame. */
		if (i == 1 && seen.is_interpreted && (left == 0 || !is_named(left - 1, &seen)))
			break;
		if (left == 0 || !is_named(left - 1, &seen))
			return false;
		left--;
		/* For the leaf, HotSpot takes the bytecode from the register or from the frame. */
		if (i > 1 && !is_at_bytecode(recording, &seen, sample.java[left].bci))
			return false;
		may_inline = !seen.is_interpreted;
	}
	return left == 0 || may_inline;
}

static const char *what_is_wrong(const struct recording *recording)
{
	if (stack.end != STACK_WHOLE)
		return stack_end_name((enum stack_end)stack.end);
	if (!is_native_as_it_was())
		return "native frames";
	if (!is_java_as_it_was(recording))
		return "Java frames";
	return NULL;
}

static void print_stack(const struct recording *recording, const char *wrong)
{
	struct seen seen;

	print_message("%s: %s at %" PRIx64 "\n", sample.place, wrong, stack.end_addr);
	for (uint32_t i = 0; i < stack.depth && i < 40; i++) {
		const struct code_range *range = code_map_find(
			process->code, stack.entries[i].addr - stack.entries[i].is_return, NOW);
		const bool is_seen = see(recording, &stack.entries[i], &seen);

		print_message("  %12" PRIx64 " %s", stack.entries[i].addr,
			      is_seen ? seen.name
			      : range ? range->name
				      : "-");
		if (range)
			print_message("+%" PRIx64, stack.entries[i].addr - range->addr);
		print_message("\n");
	}
	for (uint32_t i = 0; i < sample.n_native; i++)
		print_message("  native %" PRIx64 "\n", sample.native[i]);
	for (uint32_t i = 0; i < sample.n_java; i++)
		print_message("  Java %s@%" PRId64 "\n",
			      sample.java[i].method ? sample.java[i].method->name : "?",
			      sample.java[i].bci);
}

/* Returns the number of samples whose stacks are not the true stacks. */
static uint32_t check(const char *path, uint32_t *ret_samples, uint32_t *ret_java)
{
	struct recording *recording = recording_open(path, process);
	uint32_t bad = 0;

	while (recording_next(recording, &sample)) {
		const char *wrong;

		++*ret_samples;
		*ret_java += sample.n_java > 0;
		walk();
		wrong = what_is_wrong(recording);
		if (wrong)
			print_stack(recording, wrong);
		bad += wrong != NULL;
	}
	recording_close(recording);
	return bad;
}

static void check_ours(const char *name, uint32_t least, uint32_t least_java)
{
	uint32_t samples = 0, java = 0;
	char path[512];

	snprintf(path, sizeof(path), "%s/tests/unit/unwind/recorded/%s", FG_SOURCE_DIR, name);
	assert_int_equal(check(path, &samples, &java), 0);
	assert_in_range(samples, least, UINT32_MAX);
	assert_in_range(java, least_java, UINT32_MAX);
}

static void stacks_of_jdk_17_are_as_they_were(void **state)
{
	check_ours("jdk-17.txt", 14, 5);
}

static void stacks_of_jdk_17_with_frame_pointers_are_as_they_were(void **state)
{
	check_ours("jdk-17-fp.txt", 6, 4);
}

static void stacks_of_jdk_21_are_as_they_were(void **state)
{
	check_ours("jdk-21.txt", 10, 5);
}

static void stacks_of_jdk_25_are_as_they_were(void **state)
{
	check_ours("jdk-25.txt", 12, 5);
}

static int check_given(int argc, char **argv)
{
	uint32_t all_wrong = 0;

	for (int i = 1; i < argc; i++) {
		uint32_t samples = 0, java = 0, wrong;

		if (set_up(NULL) < 0)
			return 1;
		wrong = check(argv[i], &samples, &java);
		print_message("%s: %u of %u samples are wrong; of %u HotSpot has told\n", argv[i],
			      wrong, samples, java);
		all_wrong += wrong;
		tear_down(NULL);
	}
	return all_wrong > 0;
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		TEST(stacks_of_jdk_17_are_as_they_were),
		TEST(stacks_of_jdk_17_with_frame_pointers_are_as_they_were),
		TEST(stacks_of_jdk_21_are_as_they_were),
		TEST(stacks_of_jdk_25_are_as_they_were),
	};

	return argc > 1 ? check_given(argc, argv) : cmocka_run_group_tests(tests, NULL, NULL);
}
