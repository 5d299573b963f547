// SPDX-License-Identifier: Apache-2.0
/* Texts in the form of /proc/kallsyms, and the real one. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "symbolize/kernel_symbols.h"

static const char text[] = "ffffffff81000000 T _stext\n"
			   "ffffffff81000100 t local_one\n"
			   "ffffffff81000100 T global_one\n"
			   "ffffffff81000100 W weak_one\n"
			   "ffffffff81000200 t __noisy\n"
			   "ffffffff81000200 t clean\n"
			   "ffffffff81000200 t _less\n"
			   "ffffffff81000300 D some_data\n"
			   "ffffffff81000400 W weak_two\n"
			   "ffffffff81001000 T _etext\n"
			   "ffffffff81002000 t after_text\n"
			   "ffffffffc0000000 t nft_one\t[nf_tables]\n"
			   "ffffffffc0000100 t nft_two\t[nf_tables]\n"
			   "ffffffffc0001000 t bpf_prog_1\t[bpf]\n";

static struct kernel_symbols *parse(const char *from)
{
	struct kernel_symbols *symbols;

	assert_int_equal(kernel_symbols_parse(from, strlen(from), &symbols), 0);
	return symbols;
}

static void assert_found(uint64_t addr, const char *name, const char *module)
{
	struct kernel_symbols *symbols = parse(text);
	const char *found_module = NULL;
	const char *found = kernel_symbols_find(symbols, addr, &found_module);

	if (name) {
		assert_non_null(found);
		assert_string_equal(found, name);
		assert_string_equal(found_module, module);
	} else {
		assert_null(found);
	}
	kernel_symbols_free(symbols);
}

static void an_address_belongs_to_the_symbol_before_it(void **state)
{
	assert_found(0xffffffff81000000, "_stext", "[kernel]");
	assert_found(0xffffffff810000ff, "_stext", "[kernel]");
	assert_found(0xffffffff81000400, "weak_two", "[kernel]");
}

static void data_is_not_code(void **state)
{
	assert_found(0xffffffff81000300, "_less", "[kernel]");
}

static void of_aliases_the_last_one_is_shown_as_perf_does(void **state)
{
	assert_found(0xffffffff81000180, "weak_one", "[kernel]");
	assert_found(0xffffffff81000280, "_less", "[kernel]");
}

static void modules_and_bpf_keep_their_brackets(void **state)
{
	assert_found(0xffffffffc0000080, "nft_one", "[nf_tables]");
	assert_found(0xffffffffc0000100, "nft_two", "[nf_tables]");
	assert_found(0xffffffffc0001004, "bpf_prog_1", "[bpf]");
}

static void the_last_symbol_does_not_hold_everything_above(void **state)
{
	assert_found(0xffffffff81000fff, "weak_two", "[kernel]");
	assert_found(0xffffffff81001000, NULL, NULL); /* _etext */
	assert_found(0xffffffff81002000, "after_text", "[kernel]");
	assert_found(0xffffffff90000000, NULL, NULL);
	assert_found(0xffffffffffffffff, NULL, NULL);
}

static void a_modules_last_symbol_ends_with_the_page_behind_it(void **state)
{
	assert_found(0xffffffffc0000fff, "nft_two", "[nf_tables]");
	assert_found(0xffffffffc0002fff, "bpf_prog_1", "[bpf]");
	assert_found(0xffffffffc0003000, NULL, NULL);
}

static void nothing_is_below_the_first_symbol(void **state)
{
	assert_found(0, NULL, NULL);
	assert_found(0xffffffff80ffffff, NULL, NULL);
}

static void one_symbol_an_address_is_kept(void **state)
{
	struct kernel_symbols *symbols = parse(text);

	assert_int_equal(kernel_symbols_count(symbols), 8);
	kernel_symbols_free(symbols);
}

static void order_does_not_matter(void **state)
{
	struct kernel_symbols *symbols = parse("ffffffff81000200 t second\n"
					       "ffffffff81000100 t first\n");
	const char *module;

	assert_string_equal(kernel_symbols_find(symbols, 0xffffffff81000150, &module), "first");
	kernel_symbols_free(symbols);
}

static void hidden_addresses_are_eacces(void **state)
{
	static const char hidden[] = "0000000000000000 T _stext\n0000000000000000 t other\n";
	struct kernel_symbols *symbols = NULL;

	assert_int_equal(kernel_symbols_parse(hidden, strlen(hidden), &symbols), -EACCES);
	assert_null(symbols);
}

static void a_text_without_code_is_enodata(void **state)
{
	struct kernel_symbols *symbols = NULL;

	assert_int_equal(kernel_symbols_parse("", 0, &symbols), -ENODATA);
	assert_int_equal(kernel_symbols_parse("garbage\n\n", 9, &symbols), -ENODATA);
}

static void lines_that_do_not_parse_are_skipped(void **state)
{
	struct kernel_symbols *symbols = parse("\n"
					       "ffffffff81000000\n"
					       "ffffffff81000000 T\n"
					       "ffffffff81000000 T \n"
					       "ffffffff81000000T name\n"
					       "fffffffff81000000 T too_wide\n"
					       "xyz T name\n"
					       "ffffffff81000010 T good\n"
					       "ffffffff81000020 T last_without_newline");

	assert_int_equal(kernel_symbols_count(symbols), 2);
	kernel_symbols_free(symbols);
}

static void every_cut_of_the_text_parses_or_says_why(void **state)
{
	for (size_t len = 0; len <= strlen(text); len++) {
		struct kernel_symbols *symbols = NULL;
		char *copy = malloc(len + 1); /* exact, for the address sanitizer */
		int err;

		assert_non_null(copy);
		copy = realloc(copy, len ? len : 1);
		memcpy(copy, text, len);
		err = kernel_symbols_parse(copy, len, &symbols);
		assert_true(err == 0 || err == -ENODATA || err == -EACCES);
		kernel_symbols_free(symbols);
		free(copy);
	}
}

static void modules_past_the_bound_are_one(void **state)
{
	const size_t size = 5000 * 64;
	char *many = malloc(size);
	struct kernel_symbols *symbols;
	const char *module;
	size_t len = 0;

	assert_non_null(many);
	for (unsigned i = 0; i < 5000; i++)
		len += (size_t)snprintf(many + len, size - len, "%016x t f%u\t[m%u]\n",
					0x1000 + i * 16, i, i);
	symbols = parse(many);
	assert_string_equal(kernel_symbols_find(symbols, 0x1000 + 100 * 16, &module), "f100");
	assert_string_equal(module, "[m100]");
	assert_string_equal(kernel_symbols_find(symbols, 0x1000 + 4999 * 16, &module), "f4999");
	assert_string_equal(module, "[module]");
	kernel_symbols_free(symbols);
	free(many);
}

static void this_kernel_names_its_own_functions(void **state)
{
	struct kernel_symbols *symbols;
	const int err = kernel_symbols_load(&symbols);
	unsigned long long addr = 0;
	char line[512], name[256], type;
	const char *module;
	FILE *file;

	if (err) {
		print_message("/proc/kallsyms: %s\n", strerror(-err));
		skip();
	}
	file = fopen("/proc/kallsyms", "r");
	assert_non_null(file);
	while (fgets(line, sizeof(line), file)) {
		if (sscanf(line, "%llx %c %255s", &addr, &type, name) == 3 &&
		    strcmp(name, "vfs_read") == 0)
			break;
	}
	fclose(file);
	assert_string_equal(kernel_symbols_find(symbols, addr + 1, &module), "vfs_read");
	assert_string_equal(module, "[kernel]");
	kernel_symbols_free(symbols);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_address_belongs_to_the_symbol_before_it),
		cmocka_unit_test(data_is_not_code),
		cmocka_unit_test(of_aliases_the_last_one_is_shown_as_perf_does),
		cmocka_unit_test(modules_and_bpf_keep_their_brackets),
		cmocka_unit_test(the_last_symbol_does_not_hold_everything_above),
		cmocka_unit_test(a_modules_last_symbol_ends_with_the_page_behind_it),
		cmocka_unit_test(nothing_is_below_the_first_symbol),
		cmocka_unit_test(one_symbol_an_address_is_kept),
		cmocka_unit_test(order_does_not_matter),
		cmocka_unit_test(hidden_addresses_are_eacces),
		cmocka_unit_test(a_text_without_code_is_enodata),
		cmocka_unit_test(lines_that_do_not_parse_are_skipped),
		cmocka_unit_test(every_cut_of_the_text_parses_or_says_why),
		cmocka_unit_test(modules_past_the_bound_are_one),
		cmocka_unit_test(this_kernel_names_its_own_functions),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
