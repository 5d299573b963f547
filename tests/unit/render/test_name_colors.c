// SPDX-License-Identifier: Apache-2.0
/* Colours by name: what palette.map says, and that it has all names afterwards. */
#include "profile_of.h"

#include "render/name_colors.h"

#include <errno.h>

static const struct note stacks[] = {
	{{F("app", LABEL), F("a/B.c", JIT)}, 3},
	{{F("app", LABEL), F("x\ny", NATIVE)}, 2},
};

static void read_text(struct name_colors *colors, const char *text)
{
	FILE *const stream = fmemopen((char *)(uintptr_t)text, strlen(text), "r");

	assert_non_null(stream);
	assert_int_equal(name_colors_read(colors, stream), 0);
	fclose(stream);
}

static char *text_of(const struct name_colors *colors)
{
	char *text = NULL;
	size_t len;
	FILE *const stream = open_memstream(&text, &len);

	assert_int_equal(name_colors_write(colors, stream), 0);
	fclose(stream);
	return text;
}

static char *drawn(struct name_colors *colors, enum palette palette)
{
	struct profile profile;
	char *svg;

	assert_int_equal(profile_init(&profile, 0), 0);
	for (size_t i = 0; i < 2; i++)
		add_note(&profile, &stacks[i]);
	svg = written(&profile, RENDER_SVG,
		      &(struct render_options){.colors = colors, .palette = palette});
	profile_fini(&profile);
	return svg;
}

static void check_color(const struct name_colors *colors, const char *name, enum frame_kind kind,
			int64_t rgb)
{
	const struct profile_node node = {.name = name, .kind = (uint8_t)kind};
	const uint32_t *const found = name_colors_find(colors, &node);

	assert_int_equal(found ? (int64_t)*found : -1, rgb);
}

static void name_has_the_colour_that_was_chosen_for_its_kind(void **state)
{
	struct name_colors colors = {0};

	read_text(&colors, "a/B.c_[j]->rgb(1,2,3)\n->rgb(9,9,9)\nop->x->rgb(255,0,10)\r\n"
			   "last->rgb(4,5,6)\nlast->rgb(7,8,9)");
	check_color(&colors, "a/B.c", FRAME_JIT, 0x010203);
	check_color(&colors, "a/B.c", FRAME_C1, -1);
	check_color(&colors, "op->x", FRAME_NATIVE, 0xff000a);
	check_color(&colors, "last", FRAME_NATIVE, 0x070809);
	assert_int_equal(colors.ignored, 0);
	name_colors_fini(&colors);
}

static void lines_that_are_none_are_counted(void **state)
{
	static const char *const lines[] = {"a->rgb(256,0,0)", "a->rgb(1,2)",	  "a->rgb(1,2,3",
					    "a->#010203",      "a rgb(1,2,3)",	  "",
					    "a->rgb(-1,2,3)",  "a->rgb(1,2,3333)"};

	for (size_t i = 0; i < sizeof(lines) / sizeof(*lines); i++) {
		struct name_colors colors = {0};
		char text[64];

		snprintf(text, sizeof(text), "b->rgb(1,1,1)\n%s\n", lines[i]);
		read_text(&colors, text);
		assert_int_equal(colors.ignored, 1);
		assert_int_equal(colors.first_ignored, 2);
		check_color(&colors, "a", FRAME_NATIVE, -1);
		name_colors_fini(&colors);
	}
}

static void chosen_colour_is_drawn_and_in_the_data(void **state)
{
	struct name_colors colors = {0};
	char *svg, *plain;

	read_text(&colors, "a/B.c_[j]->rgb(1,2,3)\n");
	svg = drawn(&colors, PALETTE_KINDS);
	plain = drawn(NULL, PALETTE_KINDS);
	assert_non_null(strstr(svg, "fill=\"#010203\""));
	assert_null(strstr(plain, "fill=\"#010203\""));
	free(svg);
	free(plain);
	name_colors_fini(&colors);
}

/* Whatever palette the second one asks for. */
static void every_name_keeps_its_colour_in_the_next_drawing(void **state)
{
	struct name_colors colors = {0}, again = {0};
	char *map, *first, *second;

	first = drawn(&colors, PALETTE_KINDS);
	map = text_of(&colors);
	assert_int_equal(colors.count, 4);
	assert_non_null(strstr(map, "\nall->rgb("));
	assert_non_null(strstr(map, "\nx?y->rgb("));
	read_text(&again, map);
	second = drawn(&again, PALETTE_BLUE);
	for (const char *at = first; (at = strstr(at, "<rect x")); at++) {
		char rect[200];

		snprintf(rect, sizeof(rect), "%.*s", (int)strcspn(at, ">"), at);
		if (strstr(rect, "height=\"15\""))
			assert_non_null(strstr(second, rect));
	}
	free(map);
	free(first);
	free(second);
	name_colors_fini(&colors);
	name_colors_fini(&again);
}

static void many_names_are_found_again(void **state)
{
	struct name_colors colors = {0};

	for (uint32_t i = 0; i < 5000; i++) {
		char name[16];

		snprintf(name, sizeof(name), "n%u", i);
		assert_int_equal(
			name_colors_add(&colors,
					&(struct profile_node){.name = name, .kind = FRAME_NATIVE},
					i),
			0);
	}
	check_color(&colors, "n0", FRAME_NATIVE, 0);
	check_color(&colors, "n4999", FRAME_NATIVE, 4999);
	check_color(&colors, "n5000", FRAME_NATIVE, -1);
	name_colors_fini(&colors);
}

static void random_shades_are_one_a_name_and_of_its_kind(void **state)
{
	struct profile profile;
	char *one, *same, *other;

	assert_int_equal(profile_init(&profile, 0), 0);
	for (char name[] = "a"; *name <= 'z'; ++*name)
		assert_int_equal(profile_add(&profile,
					     &(struct frame){.name = name, .kind = FRAME_JIT}, 1,
					     1),
				 0);
	one = written(&profile, RENDER_SVG, &(struct render_options){.random = 1});
	same = written(&profile, RENDER_SVG, &(struct render_options){.random = 1});
	other = written(&profile, RENDER_SVG, &(struct render_options){.random = 3});
	assert_string_equal(one, same);
	assert_string_not_equal(one, other);
	free(one);
	free(same);
	free(other);
	profile_fini(&profile);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(name_has_the_colour_that_was_chosen_for_its_kind),
		cmocka_unit_test(lines_that_are_none_are_counted),
		cmocka_unit_test(chosen_colour_is_drawn_and_in_the_data),
		cmocka_unit_test(every_name_keeps_its_colour_in_the_next_drawing),
		cmocka_unit_test(many_names_are_found_again),
		cmocka_unit_test(random_shades_are_one_a_name_and_of_its_kind),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
