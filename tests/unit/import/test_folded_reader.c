// SPDX-License-Identifier: Apache-2.0
/* Folded stacks: what is read, what is refused and how that is told. */
#include "imported.h"

#include "profile/frame_text.h"

#include <errno.h>
#include <stdio.h>

static void check(const char *text, const char *expected, uint64_t ignored)
{
	check_import(&all_marks, text, expected, ignored);
}

/* The only line is refused for that reason. */
static void check_refused(const char *line, const char *reason)
{
	struct imported imported;
	char text[256];

	snprintf(text, sizeof(text), "a 1\n%s\nb 2\n", line);
	import_bytes(&imported, &all_marks, text, strlen(text));
	assert_int_equal(imported.rc, 0);
	check_profile(&imported.profile, "a 1\nb 2\n");
	assert_int_equal(imported.report.ignored, 1);
	assert_int_equal(imported.report.first_ignored, 2);
	assert_non_null(strstr(imported.report.first_reason, reason));
	imported_fini(&imported);
}

static void what_is_written_is_read_again(void **state)
{
	static const char text[] = "main;a/B.c_[0];d_[k] 1\n"
				   "main;a/B.c_[1];d_[i] 2\n"
				   "main;a/B.c_[j];d 3\n"
				   "main;java/lang/String.hashCode 4\n"
				   "main;with space;x y 5\n";

	check(text, text, 0);
}

static void unsorted_and_equal_lines_are_summed(void **state)
{
	check("b;c 1\na 2\nb;c 4\nb 8\na;x 16\n", "a 2\na;x 16\nb 8\nb;c 5\n", 0);
}

/*
 * What two lines begin with in common is not read again: it must not be taken for more than it is.
 */
static void lines_that_begin_alike_are_told_apart(void **state)
{
	check("a;bc;d 1\na;bcd;d 2\na;b 4\na;bc 8\na 16\nab;c 32\na;bc;d e 64\n",
	      "a 16\na;b 4\na;bc 8\na;bc;d 1\na;bc;d e 64\na;bcd;d 2\nab;c 32\n", 0);
}

static void path_is_forgotten_behind_a_bad_line(void **state)
{
	check("a;b;c 1\na;b;c x\na;b;c 2\n", "a;b;c 3\n", 1);
	check("a;b;c 1\nx;b;c y\nx;b;c 2\n", "a;b;c 1\nx;b;c 2\n", 1);
	check("a;b;c 1\nx;b;c 0\nx;b;c 2\n", "a;b;c 1\nx;b;c 2\n", 0);
}

static void bad_lines_are_told_with_number_and_reason(void **state)
{
	check_refused("", "empty");
	check_refused("a;b", "does not end in a count");
	check_refused("a;b 1e3", "does not end in a count");
	check_refused("a;b 1.2.3", "does not end in a count");
	check_refused("a;b -3", "negative");
	check_refused("17", "no stack");
	check_refused("  17", "no stack");
	check_refused(" 17 18", "no stack");
	check_refused("a 18446744073709551616", "greater");
	check_refused("a 18446744073709551615", "sum");
}

static void greatest_count_is_kept(void **state)
{
	check("a 18446744073709551615\n", "a 18446744073709551615\n", 0);
	check("a 18446744073709551615\nb 1\n", "a 18446744073709551615\n", 1);
}

static void decimals_are_rounded_and_told(void **state)
{
	struct imported imported;
	static const char text[] = "a 1.5\nb 2.49\nc 3.\nd 4.0\n";

	import_bytes(&imported, &all_marks, text, strlen(text));
	check_profile(&imported.profile, "a 2\nb 2\nc 3\nd 4\n");
	assert_int_equal(imported.report.rounded, 2);
	imported_fini(&imported);
}

static void two_counts_are_before_and_after(void **state)
{
	struct imported imported;
	static const char text[] = "a;b 1 2\na;c 0 4\na;d 8 0\na;d;e 16 32\n";

	import_bytes(&imported, &all_marks, text, strlen(text));
	check_profile(&imported.before, "a;b 1\na;d 8\na;d;e 16\n");
	check_profile(&imported.profile, "a;b 2\na;c 4\na;d;e 32\n");
	assert_int_equal(imported.report.two_counts, 4);
	imported_fini(&imported);
}

static void spaces_and_carriage_returns_at_the_end_are_no_matter(void **state)
{
	check("a;b  1\r\na;c\t2 \nx 3", "a;b 1\na;c 2\nx 3\n", 0);
}

static enum frame_kind kind_of_leaf(const char *leaf)
{
	struct imported imported;
	enum frame_kind kind;
	char text[256];

	snprintf(text, sizeof(text), "root;%s 1\n", leaf);
	import_bytes(&imported, &all_marks, text, strlen(text));
	kind = (enum frame_kind)imported.profile.nodes[2].kind;
	imported_fini(&imported);
	return kind;
}

static void names_without_suffix_get_a_kind(void **state)
{
	assert_int_equal(kind_of_leaf("java/lang/String.hashCode"), FRAME_JAVA);
	assert_int_equal(kind_of_leaf("me/x/Y.z"), FRAME_JAVA);
	assert_int_equal(kind_of_leaf("Main.main"), FRAME_JAVA);
	assert_int_equal(kind_of_leaf("Lorg/x/Y:::m"), FRAME_JAVA);
	assert_int_equal(kind_of_leaf("Thread::run()"), FRAME_NATIVE);
	assert_int_equal(kind_of_leaf("std::operator/(A, B)"), FRAME_NATIVE);
	assert_int_equal(kind_of_leaf("-[NSObject init]"), FRAME_NATIVE);
	assert_int_equal(kind_of_leaf("read(/dev/null)"), FRAME_NATIVE);
	assert_int_equal(kind_of_leaf("start_thread"), FRAME_NATIVE);
	assert_int_equal(kind_of_leaf("[libc.so.6]"), FRAME_UNKNOWN);
	assert_int_equal(kind_of_leaf("[unknown: x, no symbols]"), FRAME_UNKNOWN);
	assert_int_equal(kind_of_leaf("[truncated: snapshot ended]"), FRAME_LABEL);
	assert_int_equal(kind_of_leaf("vfs_read_[k]"), FRAME_KERNEL);
	assert_int_equal(kind_of_leaf("_[k]"), FRAME_NATIVE);
	assert_int_equal(kind_of_leaf("[runnable]_[w]"), FRAME_WAIT);
	assert_int_equal(kind_of_leaf("[blocked: page fault]_[w]"), FRAME_WAIT);
}

/* A line of len bytes "aa..a;aa..a 1" with frames of that many. */
static char *long_line(size_t len, size_t frame)
{
	char *const text = malloc(len + 8);

	assert_non_null(text);
	memset(text, 'a', len);
	for (size_t i = frame; i < len; i += frame + 1)
		text[i] = ';';
	text[len - 1] = 'b';
	strcpy(text + len, " 1\nz 2\n");
	return text;
}

static void check_long(size_t len, size_t frame, const char *reason)
{
	char *const text = long_line(len, frame);
	struct imported imported;

	import_bytes(&imported, &all_marks, text, strlen(text));
	assert_int_equal(imported.rc, 0);
	assert_int_equal(imported.report.ignored, reason ? 1 : 0);
	if (reason)
		assert_non_null(strstr(imported.report.first_reason, reason));
	assert_int_equal(imported.report.lines, 2);
	assert_int_equal(imported.profile.quality.samples, reason ? 2 : 3);
	imported_fini(&imported);
	free(text);
}

static void lines_of_many_megabytes_are_read(void **state)
{
	check_long(10u << 20, 1000, NULL);
	check_long(10u << 20, 100, "frames");
	check_long(1u << 20, 2u << 20, "64 KiB");
	check_long(IMPORT_MAX_LINE + (1u << 20), 10000, "16 MiB");
}

/* Lines that straddle the buffer's end at every place. */
static void chunks_do_not_matter(void **state)
{
	const size_t size = 3u << 20;
	char *const text = malloc(size + 64);
	size_t len = 0;
	uint64_t sum = 0;
	struct imported imported;

	for (unsigned i = 0; len < size; i++) {
		len += (size_t)sprintf(text + len, "a;f%u;g%u 1\n", i % 97, i % 1009);
		sum++;
	}
	import_bytes(&imported, &all_marks, text, len);
	assert_int_equal(imported.profile.quality.samples, sum);
	assert_int_equal(imported.profile.nodes[0].total, sum);
	assert_int_equal(imported.report.ignored, 0);
	assert_int_equal(imported.profile.count, 2 + 97 + 97 * 1009);
	imported_fini(&imported);
	free(text);
}

static void check_unreadable(const char *data, size_t len, const char *reason)
{
	struct imported imported;

	import_bytes(&imported, &all_marks, data, len);
	assert_int_equal(imported.rc, -EINVAL);
	assert_non_null(strstr(imported.report.first_reason, reason));
	imported_fini(&imported);
}

static void binary_files_are_called_by_what_they_are(void **state)
{
	check_unreadable("PERFILE2\0\0\0", 11, "perf script");
	check_unreadable("FLR\0\0\2", 6, "Flight Recorder");
	check_unreadable("\177ELF\2\1\1", 7, "program");
	check_unreadable("abc\0def", 7, "binary");
}

static void drawings_are_told_from_what_they_are_made_of(void **state)
{
	static const char page[] = "<!DOCTYPE html>\n<html>\nh1 12\n";
	static const char svg[] = "<?xml version=\"1.0\"?>\n<svg>\nwidth 1200\n";

	check_unreadable(page, strlen(page), "drawn already");
	check_unreadable(svg, strlen(svg), "drawn already");
}

static void stack_is_one_whatever_its_first_frame_begins_with(void **state)
{
	static const char *const files[] = {"<?xml;a;b 3\n", "<svg;a 1",
					    "PERFILE2 main;a 12\nb 1\n", "fgrec main;a 3\n",
					    "fgrec 3\nb 1\n"};
	struct imported imported;

	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
		import_bytes(&imported, &all_marks, files[i], strlen(files[i]));
		assert_int_equal(imported.rc, 0);
		assert_int_equal(imported.report.format, IMPORT_FOLDED);
		assert_true(imported.report.stacks > 0);
		imported_fini(&imported);
	}
}

static void empty_file_is_nothing(void **state)
{
	struct imported imported;

	import_bytes(&imported, &all_marks, "", 0);
	assert_int_equal(imported.rc, 0);
	assert_int_equal(imported.report.format, IMPORT_NOTHING);
	assert_int_equal(imported.report.stacks, 0);
	imported_fini(&imported);
}

static void check_inlined(const char *name, enum frame_kind kind)
{
	char text[64];
	const int len = snprintf(text, sizeof(text), "%s_[i]", name);
	const struct frame frame = frame_text_parse(text, (size_t)len, false);

	assert_string_equal(frame.name, name);
	assert_int_equal(frame.kind, kind);
}

static void name_tells_whether_java_or_a_file_was_inlined(void **state)
{
	check_inlined("java/lang/String.hashCode", FRAME_INLINED);
	check_inlined("java.lang.String.hashCode", FRAME_INLINED);
	check_inlined("String.hashCode", FRAME_INLINED);
	check_inlined("std::sort(int*, char...)", FRAME_NATIVE_INLINED);
	check_inlined("deflate", FRAME_NATIVE_INLINED);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_written_is_read_again),
		cmocka_unit_test(unsorted_and_equal_lines_are_summed),
		cmocka_unit_test(lines_that_begin_alike_are_told_apart),
		cmocka_unit_test(path_is_forgotten_behind_a_bad_line),
		cmocka_unit_test(bad_lines_are_told_with_number_and_reason),
		cmocka_unit_test(greatest_count_is_kept),
		cmocka_unit_test(decimals_are_rounded_and_told),
		cmocka_unit_test(two_counts_are_before_and_after),
		cmocka_unit_test(spaces_and_carriage_returns_at_the_end_are_no_matter),
		cmocka_unit_test(names_without_suffix_get_a_kind),
		cmocka_unit_test(lines_of_many_megabytes_are_read),
		cmocka_unit_test(chunks_do_not_matter),
		cmocka_unit_test(binary_files_are_called_by_what_they_are),
		cmocka_unit_test(drawings_are_told_from_what_they_are_made_of),
		cmocka_unit_test(stack_is_one_whatever_its_first_frame_begins_with),
		cmocka_unit_test(empty_file_is_nothing),
		cmocka_unit_test(name_tells_whether_java_or_a_file_was_inlined),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
