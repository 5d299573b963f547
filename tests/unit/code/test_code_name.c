// SPDX-License-Identifier: Apache-2.0
/* Claims about code/code_name.h; those about the default style are in test_perf_map.c. */
#include "code/code_name.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#define MAX_FRAMES 200
#define GUARD	   '#'

static const struct code_name_method get = {"a/Map", "get", "(I)I", "Map.java", 17};
static const struct code_name_method walk = {"a/b/Tree", "walk", "()V", "Tree.java", 0};
static const struct code_name_method root = {"Main", "main", "()V", "Main.java", 3};

static const struct perf_map_style all = {.dotted = true, .signatures = true, .sourcepos = true};

static void check_range(struct perf_map_style style, struct code_range range, const char *expected)
{
	char text[CODE_NAME_MAX_BYTES + 1];
	size_t len = code_name_styled(&style, &range, text);

	text[len] = '\0';
	assert_string_equal(text, expected);
}

static void check_unfolded(struct perf_map_style style, const struct code_name_method *frames,
			   size_t count, const char *expected)
{
	char text[CODE_NAME_MAX_BYTES + 1];
	size_t len = code_name_unfolded(&style, frames, count, text);

	text[len] = '\0';
	assert_string_equal(text, expected);
}

static void each_style_adds_what_it_says(void **state)
{
	const struct code_range range = {.class_name = "java/lang/String",
					 .name = "charAt",
					 .signature = "(I)C",
					 .source_file = "String.java"};

	check_range((struct perf_map_style){0}, range, "Ljava/lang/String;::charAt");
	check_range((struct perf_map_style){.dotted = true}, range, "java.lang.String::charAt");
	check_range((struct perf_map_style){.signatures = true}, range,
		    "Ljava/lang/String;::charAt(I)C");
	check_range((struct perf_map_style){.sourcepos = true}, range,
		    "Ljava/lang/String;::charAt(String.java)");
	check_range(all, range, "java.lang.String::charAt(I)C(String.java)");
}

struct harm {
	const char *text, *shown;
};

/* perf prints names as they are, and reads a name up to the end of its line. */
static void what_harms_a_reader_is_replaced_wherever_it_stands(void **state)
{
	static const struct harm harms[] = {
		{"\n", "?"},
		{"\r\t\b\x1b", "????"},
		{"\x7f", "?"},
		{"\xc2\x80\xc2\x85\xc2\x9b\xc2\x9f", "????"}, /* C1: line end, CSI */
		{"\xd8\x9c", "?"},			      /* U+061C */
		{"\xe2\x80\x8e\xe2\x80\x8f", "??"},	      /* U+200E, U+200F */
		{"\xe2\x80\xa8\xe2\x80\xa9", "??"},	      /* U+2028, U+2029 */
		{"\xe2\x80\xaa\xe2\x80\xab\xe2\x80\xac\xe2\x80\xad\xe2\x80\xae", "?????"},
		{"\xe2\x81\xa6\xe2\x81\xa7\xe2\x81\xa8\xe2\x81\xa9", "????"},
		{"\xef\xbb\xbf\xef\xbf\xbe", "??"},	/* U+FEFF, U+FFFE */
		{"\x80\xff\xf5\x80\x80\x80", "??????"}, /* bytes of no character */
		{"\xc0\x80\xe0\x80\x8a", "?????"},	/* longer than needed */
		{"\xed\xa0\xbd\xed\xb8\x80", "??????"}, /* surrogates */
		{"\xe2\x80", "??"},			/* half a character */
		{"\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80 ~",
		 "\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80 ~"},
	};

	for (size_t i = 0; i < sizeof(harms) / sizeof(harms[0]); i++) {
		const char *const text = harms[i].text, *const shown = harms[i].shown;
		char expected[256];

		check_range(all, (struct code_range){.name = text},
			    strlen(text) < 3 ? strcat(strcpy(expected, shown), "()") : shown);
		snprintf(expected, sizeof(expected), "%s::%s%s(%s)", shown, shown, shown, shown);
		check_range(all,
			    (struct code_range){.class_name = text,
						.name = text,
						.signature = text,
						.source_file = text},
			    expected);
	}
}

static void what_is_not_known_is_left_out(void **state)
{
	check_range(all, (struct code_range){.class_name = "A", .name = "b"}, "A::b");
	check_range(all, (struct code_range){.class_name = "A", .name = ""}, "A::[unnamed]");
	check_range(all, (struct code_range){.name = "java/stub"}, "java/stub");
	check_range(all, (struct code_range){.name = "x"}, "x()");
	check_range(
		all,
		(struct code_range){
			.class_name = "A", .name = "b", .signature = "(\n)", .source_file = "\t"},
		"A::b(?)(?)");
}

static void inlined_code_is_named_as_its_style_says(void **state)
{
	const struct code_name_method frames[] = {get, walk, root};

	check_unfolded((struct perf_map_style){.unfold = PERF_MAP_UNFOLD}, frames, 3,
		       "La/Map;::get in LMain;::main");
	check_unfolded((struct perf_map_style){.unfold = PERF_MAP_UNFOLD_ALL}, frames, 3,
		       "LMain;::main->La/b/Tree;::walk->La/Map;::get");
	check_unfolded((struct perf_map_style){.unfold = PERF_MAP_UNFOLD_SIMPLE}, frames, 3,
		       "La/Map;::get");
	check_unfolded((struct perf_map_style){0}, frames, 3, "LMain;::main");
	check_unfolded((struct perf_map_style){.unfold = PERF_MAP_UNFOLD, .sourcepos = true},
		       frames, 2, "La/Map;::get(Map.java:17) in La/b/Tree;::walk(Tree.java)");
}

static void code_that_was_not_inlined_has_its_methods_name(void **state)
{
	for (int unfold = PERF_MAP_FOLDED; unfold <= PERF_MAP_UNFOLD_SIMPLE; unfold++)
		check_unfolded((struct perf_map_style){.unfold = (enum perf_map_unfold)unfold},
			       &root, 1, "LMain;::main");
}

static void too_long_signature_and_file_give_way_first(void **state)
{
	char text[1001], expected[CODE_NAME_MAX_BYTES + 1];

	memset(text, 'x', 1000);
	text[1000] = '\0';
	/* 508 bytes are left for class, method and signature; a quarter of them is 127. */
	snprintf(expected, sizeof(expected), "La/Map;::get%.127s", text);
	check_range((struct perf_map_style){.signatures = true},
		    (struct code_range){.class_name = "a/Map", .name = "get", .signature = text},
		    expected);
	/* With the brackets 506, a quarter 126, and 380 for class and method: 95 are its. */
	snprintf(expected, sizeof(expected), "L%.285s;::%.95s(%.126s)", text, text, text);
	check_range((struct perf_map_style){.sourcepos = true},
		    (struct code_range){.class_name = text, .name = text, .source_file = text},
		    expected);
}

static void long_stack_keeps_both_its_ends(void **state)
{
	struct code_name_method frames[MAX_FRAMES];
	char expected[CODE_NAME_MAX_BYTES + 1] = "LMain;::main->...";

	for (size_t i = 0; i < MAX_FRAMES - 1; i++)
		frames[i] = walk;
	frames[0] = get;
	frames[MAX_FRAMES - 1] = root;
	/* 12 for the root, 6 for the dots, 14 for get: 480 are left for 26 times 18. */
	for (int i = 0; i < 26; i++)
		strcat(expected, "->La/b/Tree;::walk");
	strcat(expected, "->La/Map;::get");
	check_unfolded((struct perf_map_style){.unfold = PERF_MAP_UNFOLD_ALL}, frames, MAX_FRAMES,
		       expected);
}

/* Whatever is long, in whatever style: never longer than it may be, no byte behind it touched. */
static void no_name_is_longer_than_it_may_be(void **state)
{
	char text[1001], name[CODE_NAME_MAX_BYTES + 1];
	struct code_name_method frames[3];

	memset(text, 'x', 1000);
	text[1000] = '\0';
	for (size_t i = 0; i < 3; i++)
		frames[i] = (struct code_name_method){text, text, text, text, UINT32_MAX};
	for (int bits = 0; bits < 32; bits++) {
		const struct perf_map_style style = {
			.unfold = (enum perf_map_unfold)(bits >> 3),
			.dotted = bits & 1,
			.signatures = bits & 2,
			.sourcepos = bits & 4,
		};

		for (size_t count = 1; count <= 3; count++) {
			memset(name, GUARD, sizeof(name));
			const size_t len = code_name_unfolded(&style, frames, count, name);

			assert_in_range(len, 200, CODE_NAME_CUT_BYTES);
			assert_int_equal(name[len], GUARD);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_style_adds_what_it_says),
		cmocka_unit_test(what_harms_a_reader_is_replaced_wherever_it_stands),
		cmocka_unit_test(what_is_not_known_is_left_out),
		cmocka_unit_test(inlined_code_is_named_as_its_style_says),
		cmocka_unit_test(code_that_was_not_inlined_has_its_methods_name),
		cmocka_unit_test(too_long_signature_and_file_give_way_first),
		cmocka_unit_test(long_stack_keeps_both_its_ends),
		cmocka_unit_test(no_name_is_longer_than_it_may_be),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
