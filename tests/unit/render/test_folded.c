// SPDX-License-Identifier: Apache-2.0
/* Folded stacks: exact bytes, order, and names that would mislead a reader. */
#include "profile_of.h"

#include <errno.h>

#define DEEP 100000

static void check(const struct note *notes, size_t n, const char *expected)
{
	struct profile profile;
	char *text;

	assert_int_equal(profile_init(&profile, 0), 0);
	for (size_t i = 0; i < n; i++)
		add_note(&profile, &notes[i]);
	text = written(&profile, RENDER_FOLDED,
		       &(const struct render_options){.splits_levels = true});
	assert_string_equal(text, expected);
	free(text);
	profile_fini(&profile);
}

#define CHECK(expected, ...)                                                                       \
	do {                                                                                       \
		const struct note notes[] = {__VA_ARGS__};                                         \
		check(notes, sizeof(notes) / sizeof(*notes), expected);                            \
	} while (0)

static void each_kind_has_its_suffix(void **state)
{
	CHECK("t;a/B.c_[0];d_[k] 1\n"
	      "t;a/B.c_[1];d_[i] 2\n"
	      "t;a/B.c_[j];[blocked: futex]_[w] 4\n"
	      "t;a/B.c_[j];byte[]_[c] 5\n"
	      "t;a/B.c_[j];d 3\n",
	      {{F("t", LABEL), F("a/B.c", JIT), F("byte[]", CLASS)}, 5},
	      {{F("t", LABEL), F("a/B.c", JIT), F("[blocked: futex]", WAIT)}, 4},
	      {{F("t", LABEL), F("a/B.c", JIT), F("d", NATIVE)}, 3},
	      {{F("t", LABEL), F("a/B.c", C1), F("d", INLINED)}, 2},
	      {{F("t", LABEL), F("a/B.c", INTERPRETED), F("d", KERNEL)}, 1});
}

static void a_method_is_one_frame_unless_levels_are_split(void **state)
{
	const struct note notes[] = {{{F("t", LABEL), F("a/B.c", JIT), F("d", NATIVE)}, 3},
				     {{F("t", LABEL), F("a/B.c", C1)}, 2},
				     {{F("t", LABEL), F("a/B.c", INTERPRETED), F("d", KERNEL)}, 1}};
	struct render_options options = {.java_only = true};
	struct profile profile;
	char *text;

	assert_int_equal(profile_init(&profile, 0), 0);
	for (size_t i = 0; i < sizeof(notes) / sizeof(*notes); i++)
		add_note(&profile, &notes[i]);
	text = written(&profile, RENDER_FOLDED, NULL);
	assert_string_equal(text, "t;a/B.c_[j] 2\nt;a/B.c_[j];d 3\nt;a/B.c_[j];d_[k] 1\n");
	free(text);
	text = written(&profile, RENDER_FOLDED, &options);
	assert_string_equal(text, "t;a/B.c_[j] 6\n");
	free(text);
	options.splits_levels = true;
	text = written(&profile, RENDER_FOLDED, &options);
	assert_string_equal(text, "t;a/B.c_[0] 1\nt;a/B.c_[1] 2\nt;a/B.c_[j] 3\n");
	free(text);
	profile_fini(&profile);
}

static void only_stacks_that_end_are_lines(void **state)
{
	CHECK("a 1\na;b;c 2\n", {{F("a", NATIVE)}, 1},
	      {{F("a", NATIVE), F("b", NATIVE), F("c", NATIVE)}, 2});
}

/* "a 9" < "a!" < "a;b": a subtree does not stand together when a sibling's name goes on. */
static void lines_are_in_byte_order(void **state)
{
	CHECK("a 9\n"
	      "a b;c 1\n"
	      "a! 2\n"
	      "a(int);x 3\n"
	      "a;b 4\n"
	      "a<T> 5\n",
	      {{F("a", NATIVE), F("b", NATIVE)}, 4}, {{F("a(int)", NATIVE), F("x", NATIVE)}, 3},
	      {{F("a", NATIVE)}, 9}, {{F("a<T>", NATIVE)}, 5}, {{F("a!", NATIVE)}, 2},
	      {{F("a b", NATIVE), F("c", NATIVE)}, 1});
}

static void bytes_above_ascii_come_last(void **state)
{
	CHECK("z 1\n\xc3\xa4 2\n", {{F("\xc3\xa4", NATIVE)}, 2}, {{F("z", NATIVE)}, 1});
}

static void equal_lines_are_summed(void **state)
{
	CHECK("s 3\ns;x_[j] 12\n", {{F("s", STUB)}, 1}, {{F("s", NATIVE)}, 2},
	      {{F("s", STUB), F("x", JIT)}, 4}, {{F("s", NATIVE), F("x", NATIVE_WRAPPER)}, 8});
}

static void twins_share_what_is_below_them(void **state)
{
	CHECK("s;a 1\ns;b 2\ns;c 4\n", {{F("s", STUB), F("a", NATIVE)}, 1},
	      {{F("s", STUB), F("c", NATIVE)}, 4}, {{F("s", JVM), F("b", NATIVE)}, 2});
}

static void separators_in_names_are_replaced(void **state)
{
	CHECK("??z 3\nLa:m 1\nx?y 2\n", {{F("La;m", NATIVE)}, 1}, {{F("x\ny", NATIVE)}, 2},
	      {{F("\x1b\xffz", NATIVE)}, 3});
}

static void leaf_that_ends_in_a_number_is_no_count(void **state)
{
	CHECK("f_300 1\n"
	      "g_1.5 2\n"
	      "h__7. 3\n"
	      "i_ 4\n"
	      "j 3x 5\n"
	      "k1 6\n"
	      "l 8_[j] 7\n",
	      {{F("f 300", NATIVE)}, 1}, {{F("g 1.5", NATIVE)}, 2}, {{F("h  7.", NATIVE)}, 3},
	      {{F("i ", NATIVE)}, 4}, {{F("j 3x", NATIVE)}, 5}, {{F("k1", NATIVE)}, 6},
	      {{F("l 8", JIT)}, 7});
}

static void caller_is_spelt_as_the_leaf_is(void **state)
{
	CHECK("f_300 1\nf_300;g 2\n", {{F("f 300", NATIVE)}, 1},
	      {{F("f 300", NATIVE), F("g", NATIVE)}, 2});
}

static void stack_without_frames_is_a_line(void **state)
{
	CHECK("Z 1\n[no frames] 5\na 2\n", {{F(NULL, LABEL)}, 5}, {{F("Z", NATIVE)}, 1},
	      {{F("a", NATIVE)}, 2});
}

static void empty_profile_is_empty(void **state)
{
	struct profile profile;
	char *text;

	assert_int_equal(profile_init(&profile, 0), 0);
	text = written(&profile, RENDER_FOLDED, NULL);
	assert_string_equal(text, "");
	free(text);
	profile_fini(&profile);
}

static void deep_stack_is_one_line(void **state)
{
	struct profile profile;
	char *text;

	assert_int_equal(profile_init(&profile, 0), 0);
	add_deep(&profile, DEEP);
	text = written(&profile, RENDER_FOLDED, NULL);
	assert_int_equal(strlen(text), DEEP * strlen("f_[j];") - 1 + strlen(" 1\n"));
	free(text);
	profile_fini(&profile);
}

static void full_disk_is_an_error(void **state)
{
	const struct note note = {{F("a", NATIVE)}, 1};
	struct profile profile;

	assert_int_equal(profile_init(&profile, 0), 0);
	add_note(&profile, &note);
	check_full_disk(&profile, RENDER_FOLDED);
	profile_fini(&profile);
}

static void suffix_chooses_the_format(void **state)
{
	enum render_format format = RENDER_FOLDED;

	assert_int_equal(render_format_of("a/b.svg", &format), 0);
	assert_int_equal(format, RENDER_SVG);
	assert_int_equal(render_format_of("x.y.folded", &format), 0);
	assert_int_equal(format, RENDER_FOLDED);
	assert_int_equal(render_format_of("x.png", &format), -EINVAL);
	assert_int_equal(render_format_of(".svg", &format), -EINVAL);
	assert_int_equal(render_format_of("svg", &format), -EINVAL);
}

static void diff_has_two_counts_and_may_hide_addresses(void **state)
{
	const struct diff_options how = {.splits_kinds = true};
	struct render_options options = {.hides_addresses = true};
	struct profile before, after;
	struct profile_diff diff;
	char *text;

	assert_int_equal(profile_init(&before, 0), 0);
	assert_int_equal(profile_init(&after, 0), 0);
	add_note(&before, &(struct note){{F("a", NATIVE), F("f 0x7f10", JIT)}, 1});
	add_note(&before, &(struct note){{F("gone 0x1", NATIVE)}, 2});
	add_note(&after, &(struct note){{F("a", NATIVE), F("f 0x8f", JIT)}, 4});
	add_note(&after, &(struct note){{F("a", NATIVE)}, 8});
	assert_int_equal(diff_init(&diff, &before, &after, &how), 0);
	options.diff = &diff;
	text = written(&diff.tree, RENDER_FOLDED, &options);
	assert_string_equal(text, "a 0 8\na;f 0x..._[j] 1 4\ngone 0x... 2 0\n");
	free(text);
	diff_fini(&diff);
	profile_fini(&before);
	profile_fini(&after);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_kind_has_its_suffix),
		cmocka_unit_test(a_method_is_one_frame_unless_levels_are_split),
		cmocka_unit_test(only_stacks_that_end_are_lines),
		cmocka_unit_test(lines_are_in_byte_order),
		cmocka_unit_test(bytes_above_ascii_come_last),
		cmocka_unit_test(equal_lines_are_summed),
		cmocka_unit_test(twins_share_what_is_below_them),
		cmocka_unit_test(separators_in_names_are_replaced),
		cmocka_unit_test(leaf_that_ends_in_a_number_is_no_count),
		cmocka_unit_test(caller_is_spelt_as_the_leaf_is),
		cmocka_unit_test(stack_without_frames_is_a_line),
		cmocka_unit_test(empty_profile_is_empty),
		cmocka_unit_test(deep_stack_is_one_line),
		cmocka_unit_test(full_disk_is_an_error),
		cmocka_unit_test(suffix_chooses_the_format),
		cmocka_unit_test(diff_has_two_counts_and_may_hide_addresses),
	};

	return cmocka_run_group_tests_name("folded", tests, NULL, NULL);
}
