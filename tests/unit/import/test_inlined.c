// SPDX-License-Identifier: Apache-2.0
/* Functions inlined into what perf script's text names, by the DWARF of a library made here. */
#include "imported.h"

#include "../symbolize/fixture.h"
#include "symbolize/parsers.h"

#include <sys/stat.h>

#define BASE UINT64_C(0x7f0012340000) /* where a process might have it */

static const char source[] =
	"#define IN static inline __attribute__((always_inline))\n"
	"IN double inner(double x) { return x * 1.5 + 1 / x; }\n"
	"IN double middle(double x)\n"
	"{ double s = 0; for (int i = 0; i < 9; i++) s += inner(x + i); return s; }\n"
	"double outer(double x) { return middle(x) + 1; }\n"
	"double plain(double x) { return x; }\n";

static char *library;

static int make(void **state)
{
	if (fixture_has_compiler())
		library = fixture_new_library("c", source, "-g -O2");
	return 0;
}

static int remove_all(void **state)
{
	free(library);
	return fixture_remove_all(state);
}

/* Where a function of the library begins. */
static uint64_t start_of(const char *name)
{
	struct elf_symbols *symbols;
	uint64_t start = 0;

	assert_int_equal(fixture_load(library, &symbols), 0);
	for (uint64_t low = 0; low < 4096 && start == 0; low++)
		if (elf_symbols_find_start_of(symbols, name, low, &start) < 0)
			start = 0;
	elf_symbols_free(symbols);
	assert_true(start > 0);
	return start;
}

static void import_text(struct imported *ret, const char *text, bool has_inlined)
{
	struct import_options options = all_marks;

	options.has_inlined = has_inlined;
	import_bytes(ret, &options, text, strlen(text));
	assert_int_equal(ret->rc, 0);
}

/*
 * The stack of one frame at an offset in outer, below the frame that head names. The caller frees.
 */
static char *stack_at(uint64_t offset, const char *head)
{
	const uint64_t pc = BASE + start_of("outer") + offset;
	struct imported imported;
	char text[1024], *folded;

	snprintf(text, sizeof(text), "x 1 [0] 1.0: 1 c:\n%s\t%llx outer+0x%llx (%s)\n\n", head,
		 (unsigned long long)pc, (unsigned long long)offset, library);
	import_text(&imported, text, true);
	folded = folded_of(&imported.profile);
	imported_fini(&imported);
	return folded;
}

/* The first offset at which inner's code is. */
static uint64_t offset_of_inner(void)
{
	for (uint64_t offset = 0; offset < 4096; offset++) {
		char *const folded = stack_at(offset, "");
		const bool is_there = strcmp(folded, "x;outer;middle_[i];inner_[i] 1\n") == 0;

		assert_int_equal(strncmp(folded, "x;outer", 7), 0);
		free(folded);
		if (is_there)
			return offset;
	}
	fail_msg("inner is nowhere");
	return 0;
}

static void functions_inlined_at_a_place_are_frames(void **state)
{
	struct imported imported;
	char text[1024];

	if (!library)
		skip();
	assert_true(offset_of_inner() > 0);
	snprintf(text, sizeof(text), "x 1 [0] 1.0: 1 c:\n\t%llx plain+0x0 (%s)\n\n",
		 (unsigned long long)(BASE + start_of("plain")), library);
	import_text(&imported, text, true);
	check_profile(&imported.profile, "x;plain 1\n");
	assert_string_equal(imported.profile.nodes[2].file, "fixture0.c");
	assert_int_equal(imported.profile.nodes[2].line, 6);
	imported_fini(&imported);
}

/* The place of a call is the byte before that to which it returns. */
static void caller_is_where_it_called(void **state)
{
	uint64_t offset;
	char *folded;

	if (!library)
		skip();
	offset = offset_of_inner();
	folded = stack_at(offset, "\t1 f+0x1 (/no/such)\n");
	assert_null(strstr(folded, "inner"));
	free(folded);
	folded = stack_at(offset, "\tffffffff81000000 irq+0x1 ([kernel.kallsyms])\n");
	assert_string_equal(folded, "x;outer;middle_[i];inner_[i];irq_[k] 1\n");
	free(folded);
}

static void without_the_option_no_file_is_read(void **state)
{
	struct imported imported;
	char text[1024];

	if (!library)
		skip();
	snprintf(text, sizeof(text), "x 1 [0] 1.0: 1 c:\n\t%llx outer+0x%llx (%s)\n\n",
		 (unsigned long long)(BASE + start_of("outer") + offset_of_inner()),
		 (unsigned long long)offset_of_inner(), library);
	import_text(&imported, text, false);
	check_profile(&imported.profile, "x;outer 1\n");
	imported_fini(&imported);
}

static void what_perf_has_inlined_is_not_inlined_again(void **state)
{
	char *folded;

	if (!library)
		skip();
	folded = stack_at(offset_of_inner(), "\t0 inner (inlined)\n\t0 middle (inlined)\n");
	assert_string_equal(folded, "x;outer;middle_[i];inner_[i] 1\n");
	free(folded);
}

static void what_is_not_found_is_counted(void **state)
{
	struct imported imported;
	char text[2048];

	if (!library)
		skip();
	snprintf(text, sizeof(text),
		 "x 1 [0] 1.0: 1 c:\n"
		 "\t1000 none+0x1 (%s)\n"  /* no such function */
		 "\t1001 outer+0x0 (%s)\n" /* not in that place of a page, or not there */
		 "\t10 f+0x1 (/no/such/file)\n"
		 "\t10 f+0x1 (/dev/zero)\n"
		 "\t10 f+0x1 (/etc/passwd)\n"
		 "\t10 f+0x1 (relative)\n\n",
		 library, library);
	import_text(&imported, text, true);
	check_profile(&imported.profile, "x;f;f;f;f;outer;none 1\n");
	assert_int_equal(imported.report.inlined.no_symbols, 2);
	assert_int_equal(imported.report.inlined.no_files, 3);
	assert_int_equal(imported.report.inlined.late, 0);
	imported_fini(&imported);
}

/* To open it would wait for ever. */
static void fifo_is_not_opened(void **state)
{
	struct imported imported;
	char *const path = fixture_new_path("fifo");
	char text[1024];

	assert_int_equal(mkfifo(path, 0600), 0);
	snprintf(text, sizeof(text), "x 1 [0] 1.0: 1 c:\n\t1000 f+0x1 (%s)\n\n", path);
	import_text(&imported, text, true);
	assert_int_equal(imported.report.inlined.no_files, 1);
	imported_fini(&imported);
	unlink(path);
	free(path);
}

static void too_many_files_are_counted(void **state)
{
	struct imported imported;
	char *text = NULL;
	size_t len;
	FILE *const stream = open_memstream(&text, &len);

	for (int i = 0; i < INLINED_MAX_FILES + 5; i++)
		fprintf(stream, "x 1 [0] 1.0: 1 c:\n\t1000 f+0x1 (/no/such/%d)\n\n", i);
	fclose(stream);
	import_text(&imported, text, true);
	assert_int_equal(imported.report.inlined.no_files, INLINED_MAX_FILES + 5);
	free(text);
	imported_fini(&imported);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(functions_inlined_at_a_place_are_frames),
		cmocka_unit_test(caller_is_where_it_called),
		cmocka_unit_test(without_the_option_no_file_is_read),
		cmocka_unit_test(what_perf_has_inlined_is_not_inlined_again),
		cmocka_unit_test(what_is_not_found_is_counted),
		cmocka_unit_test(fifo_is_not_opened),
		cmocka_unit_test(too_many_files_are_counted),
	};

	zygote_become(argc, argv, parser_roles);
	return cmocka_run_group_tests(tests, make, remove_all);
}
