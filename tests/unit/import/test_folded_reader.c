// SPDX-License-Identifier: Apache-2.0
/* Folded stacks: what is read, what is refused and how that is told. */
#include "imported.h"

#include "profile/frame_text.h"

#include <errno.h>
#include <stdio.h>

static void check_no_siblings_are_alike(const struct profile *profile)
{
	const struct profile_node *const nodes = profile->nodes;

	for (uint32_t id = 1; id < profile->count; id++)
		for (uint32_t other = nodes[id].next_sibling; other;
		     other = nodes[other].next_sibling)
			assert_false(nodes[id].kind == nodes[other].kind &&
				     strcmp(nodes[id].name, nodes[other].name) == 0);
}

static void check(const char *text, const char *expected, uint64_t ignored)
{
	struct imported imported;

	check_import(&all_marks, text, expected, ignored);
	import_bytes(&imported, &all_marks, text, strlen(text));
	check_no_siblings_are_alike(&imported.profile);
	check_no_siblings_are_alike(&imported.before);
	imported_fini(&imported);
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

static void names_are_as_their_sources_have_them(void **state)
{
	check("main;_ZN3foo3barEi;_ZNSt6vectorIiSaIiEE9push_backERKi_[i] 1\n"
	      "main;_RNvNtCs1234_7mycrate3foo3bar 2\n"
	      "main;_ZN4core3fmt9Formatter9write_str17h0123456789abcdefE 3\n"
	      "main;_$LT$T$u20$as$u20$core..any..Any$GT$::type_id::h0123456789abcdef_[j] 4\n"
	      "main;_Zebra;_R;Z::h01 5\n",
	      "main;<T as core::any::Any>::type_id_[j] 4\n"
	      "main;_Zebra;_R;Z::h01 5\n"
	      "main;core::fmt::Formatter::write_str 3\n"
	      "main;foo::bar;std::vector<int, std::allocator<int> >::push_back_[i] 1\n"
	      "main;mycrate::foo::bar 2\n",
	      0);
}

/* They differ in what is no part of the name, and so in their order. */
static void names_that_become_alike_are_one_frame(void **state)
{
	check("main;a::b::h0000000000000000;x 1\n"
	      "main;a::b::h0000000000000001;x 2\n"
	      "main;a::b::h0000000000000001;y 4\n"
	      "main;a::b;x 8\n",
	      "main;a::b;x 11\nmain;a::b;y 4\n", 0);
}

/*
 * What two lines begin with in common is not read again: it must not be taken for more than it is.
 */
static void lines_that_begin_alike_are_told_apart(void **state)
{
	check("a;bc;d 1\na;bcd;d 2\na;b 4\na;bc 8\na 16\nab;c 32\na;bc;d e 64\n",
	      "a 16\na;b 4\na;bc 8\na;bc;d 1\na;bc;d e 64\na;bcd;d 2\nab;c 32\n", 0);
}

/* The stacks of both sides, as they are written, whatever the order of the lines. */
struct expected {
	char *texts[2]; /* NULL: not known yet */
};

static void check_side(const struct profile *profile, char **expected)
{
	char *const now = folded_of(profile);

	if (*expected) {
		assert_string_equal(now, *expected);
		free(now);
	} else {
		*expected = now;
	}
}

/* Reads the lines, joined, as a file. */
static void check_lines(char (*lines)[64], size_t n, struct expected *expected)
{
	struct imported imported;
	char *const text = calloc(n + 1, sizeof(*lines));
	size_t len = 0;

	assert_non_null(text);
	for (size_t i = 0; i < n; i++)
		len += (size_t)sprintf(text + len, "%s\n", lines[i]);
	import_bytes(&imported, &all_marks, text, len);
	assert_int_equal(imported.rc, 0);
	assert_int_equal(imported.report.stacks, n);
	check_no_siblings_are_alike(&imported.profile);
	check_no_siblings_are_alike(&imported.before);
	check_side(&imported.profile, &expected->texts[0]);
	check_side(&imported.before, &expected->texts[1]);
	imported_fini(&imported);
	free(text);
}

static int by_line(const void *a, const void *b)
{
	return strcmp(a, b);
}

/* Orders lines by their stacks alone. The shorter of two that begin alike is first. */
static int by_stack(const void *a, const void *b)
{
	const char *const x = a, *const y = b;
	const size_t x_len = strcspn(x, " "), y_len = strcspn(y, " ");
	const int order = memcmp(x, y, x_len < y_len ? x_len : y_len);

	return order != 0 ? order : (x_len > y_len) - (x_len < y_len);
}

static int by_line_reversed(const void *a, const void *b)
{
	return strcmp(b, a);
}

/* Frames of one and two letters, of which some are less than ';' and some are greater. */
static void make_lines(char (*lines)[64], size_t n, bool have_two_counts)
{
	uint32_t random = 1;

	for (size_t i = 0; i < n; i++) {
		char *to = lines[i];

		for (unsigned frame = 0; frame < 1 + (random >> 20) % 5; frame++) {
			if (frame > 0)
				*to++ = ';';
			for (unsigned letter = 0; letter < 1 + (random >> 24) % 2; letter++) {
				random = random * 1664525 + 1013904223;
				*to++ = "a1-<z"[(random >> 16) % 5];
			}
		}
		to += sprintf(to, " %u", random >> 29);
		if (have_two_counts)
			sprintf(to, " %u", (random >> 26) % 3);
	}
}

static void a_frame_is_one_node_whatever_the_order_of_lines(void **state)
{
	enum { LINES = 2000 };
	static char lines[LINES][64];
	int (*const orders[])(const void *a, const void *b) = {by_line, by_stack, by_line_reversed};

	for (int have_two_counts = 0; have_two_counts < 2; have_two_counts++) {
		struct expected expected = {0};

		make_lines(lines, LINES, have_two_counts);
		check_lines(lines, LINES, &expected);
		for (size_t i = 0; i < sizeof(orders) / sizeof(*orders); i++) {
			qsort(lines, LINES, sizeof(*lines), orders[i]);
			check_lines(lines, LINES, &expected);
		}
		free(expected.texts[0]);
		free(expected.texts[1]);
	}
}

static void a_frame_that_ended_a_stack_goes_on_later(void **state)
{
	check("a;b 1\na;b2;c 2\na;b;c 4\n", "a;b 1\na;b2;c 2\na;b;c 4\n", 0);
	check("a 1\na1 2\na12 4\na12;x 8\na1;x 16\na;x 32\n",
	      "a 1\na1 2\na12 4\na12;x 8\na1;x 16\na;x 32\n", 0);
}

/* Of a, aa, aaa and so on, each ends a stack at first, the longest last, and later goes on. */
static void many_stacks_with_which_others_begin_are_kept(void **state)
{
	enum { MANY = 300 };
	struct imported imported;
	char *const text = malloc(2 * MANY * (MANY + 8));
	size_t len = 0;

	assert_non_null(text);
	for (int i = 1; i <= MANY; i++)
		len += (size_t)sprintf(text + len, "%0*d 1\n", i, 0);
	for (int i = MANY; i > 0; i--)
		len += (size_t)sprintf(text + len, "%0*d;x 1\n", i, 0);
	import_bytes(&imported, &all_marks, text, len);
	assert_int_equal(imported.profile.count, 1 + 2 * MANY);
	check_no_siblings_are_alike(&imported.profile);
	imported_fini(&imported);
	free(text);
}

/* A NUL in the first 64 KiB would make the file binary. */
static void what_is_behind_a_nul_is_no_part_of_a_name(void **state)
{
	static const char first[] = "a;y 1\n", last[] = "z\0b;x 1\nz\0c;x 2\n";
	enum { FIRST = 12000 };
	struct imported imported;
	char *const text = malloc(FIRST * (sizeof(first) - 1) + sizeof(last) - 1);
	char *to = text;

	assert_non_null(text);
	for (int i = 0; i < FIRST; i++, to += sizeof(first) - 1)
		memcpy(to, first, sizeof(first) - 1);
	memcpy(to, last, sizeof(last) - 1);
	import_bytes(&imported, &all_marks, text, (size_t)(to - text) + sizeof(last) - 1);
	check_profile(&imported.profile, "a;y 12000\nz;x 3\n");
	check_no_siblings_are_alike(&imported.profile);
	imported_fini(&imported);
	free(text);
}

static void a_second_file_adds_to_nodes_of_the_first(void **state)
{
	static const char text[] = "a;b 1\na;c 2\n";
	struct profile profile;
	struct import_target target = {.profile = &profile};

	assert_int_equal(profile_init(&profile, IMPORT_MAX_NODES), 0);
	for (int i = 0; i < 2; i++) {
		const int fd = files_open_memory(text, strlen(text));

		assert_int_equal(import_read(fd, &all_marks, &target), 0);
		close(fd);
	}
	assert_int_equal(profile.count, 4);
	check_profile(&profile, "a;b 2\na;c 4\n");
	profile_fini(&profile);
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

static void comments_are_passed_over(void **state)
{
	check("P1;T1;main 90\n# duration: 4000\n", "P1;T1;main 90\n", 0);
	check("# mode: cpu\n#\n#\ttab 3\na;b 1\na;c 2\n", "a;b 1\na;c 2\n", 0);
	check("#1;b 1\n#;c 2\n##x 4\n", "##x 4\n#1;b 1\n#_;c 2\n", 0);
	check("a 1\n# a;b 2\n", "a 1\n", 1);
}

static void frames_without_a_text_are_passed_over(void **state)
{
	check("a;;b 1\na;b 2\n", "a;b 3\n", 0);
	check(";a 1\na; 2\na;;;b;; 4\n", "a 3\na;b 4\n", 0);
	check("a;b 1\na;b;;c 2\na;b;c 4\n;;a;b 8\n", "a;b 9\na;b;c 6\n", 0);
}

static void commas_behind_counts_are_passed_over(void **state)
{
	check("a;b 1,\na;c 2,  \n", "a;b 1\na;c 2\n", 0);
	check("a;b, 1\n", "a;b, 1\n", 0);
	check("a;b 1 2,\n", "a;b 2\n", 0);
	check("a;b ,\n", "", 1);
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
	assert_int_equal(kind_of_leaf("github.com/acme/db.(*Cache).Get"), FRAME_NATIVE);
	assert_int_equal(kind_of_leaf("github.com/acme/pkg.New[...]"), FRAME_NATIVE);
	assert_int_equal(kind_of_leaf("net/http.HandlerFunc.ServeHTTP"), FRAME_NATIVE);
	assert_int_equal(kind_of_leaf("main.(*T).run"), FRAME_NATIVE);
	assert_int_equal(kind_of_leaf("net/sf/x/Y.z"), FRAME_JAVA);
	assert_int_equal(kind_of_leaf("a/b/c.d"), FRAME_JAVA);
	assert_int_equal(kind_of_leaf("[libc.so.6]"), FRAME_UNKNOWN);
	assert_int_equal(kind_of_leaf("[unknown: x, no symbols]"), FRAME_UNKNOWN);
	assert_int_equal(kind_of_leaf("[truncated: snapshot ended]"), FRAME_LABEL);
	assert_int_equal(kind_of_leaf("vfs_read_[k]"), FRAME_KERNEL);
	assert_int_equal(kind_of_leaf("_[k]"), FRAME_NATIVE);
	assert_int_equal(kind_of_leaf("[runnable]_[w]"), FRAME_WAIT);
	assert_int_equal(kind_of_leaf("[blocked: page fault]_[w]"), FRAME_WAIT);
	assert_int_equal(kind_of_leaf("byte[]_[c]"), FRAME_CLASS);
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
		cmocka_unit_test(names_are_as_their_sources_have_them),
		cmocka_unit_test(names_that_become_alike_are_one_frame),
		cmocka_unit_test(lines_that_begin_alike_are_told_apart),
		cmocka_unit_test(a_frame_is_one_node_whatever_the_order_of_lines),
		cmocka_unit_test(a_frame_that_ended_a_stack_goes_on_later),
		cmocka_unit_test(many_stacks_with_which_others_begin_are_kept),
		cmocka_unit_test(what_is_behind_a_nul_is_no_part_of_a_name),
		cmocka_unit_test(a_second_file_adds_to_nodes_of_the_first),
		cmocka_unit_test(path_is_forgotten_behind_a_bad_line),
		cmocka_unit_test(bad_lines_are_told_with_number_and_reason),
		cmocka_unit_test(greatest_count_is_kept),
		cmocka_unit_test(comments_are_passed_over),
		cmocka_unit_test(frames_without_a_text_are_passed_over),
		cmocka_unit_test(commas_behind_counts_are_passed_over),
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
