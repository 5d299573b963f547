// SPDX-License-Identifier: Apache-2.0
/* The SVG: what other tools read of it, what names cannot do to it, and the data it carries. */
#include "data_of.h"

#include <math.h>
#include <stdio.h>

#define DEEP 100000

static void draw(struct fixture *fixture, const struct render_options *options)
{
	free(fixture->drawn);
	fixture->drawn = written(&fixture->profile, RENDER_SVG, options);
}

static size_t count_of(const char *text, const char *what)
{
	const size_t len = strlen(what);
	size_t count = 0;

	/* No strstr: AddressSanitizer's measures the whole rest of the text at each call. */
	for (; *text; text++)
		if (*text == *what && strncmp(text, what, len) == 0)
			count++;
	return count;
}

static void frames_keep_the_contract(void **state)
{
	struct fixture *const fixture = *state;

	ADD(1234, F("java (7)", LABEL), F("a/B.c", JIT));
	ADD(8766, F("java (7)", LABEL), F("sys_read", KERNEL));
	draw(fixture, NULL);
	HAS("<g id=\"frames\">\n<g><title>all (10,000 samples, 100%)</title><rect x=\"10.00\" ");
	HAS("<g><title>java (7) (10,000 samples, 100.00%)</title><rect ");
	HAS("<g><title>a/B.c (1,234 samples, 12.34%)</title><rect x=\"10.00\" y=\"38\" "
	    "width=\"145.61\" height=\"15\" fill=\"#");
	HAS("<text x=\"13.00\" y=\"49.5\">a/B.c</text></g>\n");
	HAS("<g><title>sys_read (8,766 samples, 87.66%)</title><rect x=\"155.61\" ");
	HAS(">Flame Graph</text>");
	HAS("<title>Flame Graph</title>\n<style>");
	LACKS("_[");
}

static void root_stands_at_the_bottom(void **state)
{
	struct fixture *const fixture = *state;

	ADD(1, F("a", NATIVE), F("b", NATIVE));
	draw(fixture, NULL);
	HAS("<title>all (1 samples, 100%)</title><rect x=\"10.00\" y=\"70\"");
	HAS("<title>a (1 samples, 100.00%)</title><rect x=\"10.00\" y=\"54\"");
	HAS("<title>b (1 samples, 100.00%)</title><rect x=\"10.00\" y=\"38\"");
}

static void siblings_are_in_order_of_name(void **state)
{
	struct fixture *const fixture = *state;

	ADD(1, F("b", NATIVE));
	ADD(1, F("c", NATIVE));
	ADD(2, F("a", NATIVE));
	draw(fixture, NULL);
	HAS("<title>a (2 samples, 50.00%)</title><rect x=\"10.00\"");
	HAS("<title>b (1 samples, 25.00%)</title><rect x=\"600.00\"");
	HAS("<title>c (1 samples, 25.00%)</title><rect x=\"895.00\"");
}

static void names_cannot_become_markup(void **state)
{
	struct fixture *const fixture = *state;
	const struct render_options options = {
		.title = "<b>&", .subtitle = "</text><script>", .notes = "\"]]>\x02"};

	ADD(1, F("</title><script>alert('x')</script>", NATIVE), F("]]>&amp;\"\x01\xff", JIT));
	ADD(1, F("\xe2\x80\xae"
		 "gnp.exe",
		 NATIVE));
	draw(fixture, &options);
	HAS("<title>&lt;/title&gt;&lt;script&gt;alert(&#39;x&#39;)&lt;/script&gt; (1 samples");
	HAS("<title>]]&gt;&amp;amp;&quot;\xef\xbf\xbd\xef\xbf\xbd (1 samples");
	HAS("<title>\xef\xbf\xbdgnp.exe (1 samples");
	HAS(">&lt;b&gt;&amp;</text>");
	HAS(">&lt;/text&gt;&lt;script&gt;</text>");
	HAS(">&quot;]]&gt;\xef\xbf\xbd</text>");
	assert_int_equal(count_of(fixture->drawn, "<script"), 1);
	assert_int_equal(count_of(fixture->drawn, "]]>"), count_of(fixture->drawn, "<![CDATA["));
}

static void elements_are_balanced(void **state)
{
	static const char *const names[][2] = {{"<g", "</g>"},
					       {"<title>", "</title>"},
					       {"<text ", "</text>"},
					       {"<metadata", "</metadata>"},
					       {"<svg ", "</svg>"}};
	struct fixture *const fixture = *state;
	const struct render_options options = {.subtitle = "s", .notes = "n"};
	char *script;

	for (int kind = 0; kind < FRAME_KINDS; kind++)
		ADD(1, {.name = "x", .kind = (enum frame_kind)kind});
	draw(fixture, &options);
	script = strstr(fixture->drawn, "<script>");
	assert_non_null(script);
	memset(script, ' ', (size_t)(strstr(script, "</script>") - script));
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		assert_int_equal(count_of(fixture->drawn, names[i][0]),
				 count_of(fixture->drawn, names[i][1]));
	for (const char *c = fixture->drawn; *c; c++)
		assert_true((unsigned char)*c >= ' ' || *c == '\n' || *c == '\t');
}

static void narrow_frames_are_not_drawn_but_counted(void **state)
{
	struct fixture *const fixture = *state;
	const struct render_options all = {.min_width_px = 0.01};

	ADD(9999, F("wide", NATIVE));
	ADD(1, F("w", NATIVE), F("narrow", NATIVE));
	draw(fixture, NULL);
	HAS("<title>all (10,000 samples, 100%)");
	LACKS("<title>w (");
	LACKS("<title>narrow (");
	draw(fixture, &all);
	HAS("<title>narrow (1 samples, 0.01%)");
}

static void legend_names_the_kinds_that_occur(void **state)
{
	struct fixture *const fixture = *state;

	ADD(1, F("a", JIT), F("b", KERNEL));
	draw(fixture, NULL);
	HAS(">Java, compiled</text>");
	HAS(">kernel</text>");
	LACKS(">Java, inlined</text>");
}

static void profile_without_samples_is_drawn(void **state)
{
	struct fixture *const fixture = *state;

	draw(fixture, NULL);
	HAS("<title>all (0 samples, 100%)</title>");
	HAS("</svg>\n");
	LACKS("nan");
}

static void nothing_comes_from_the_network(void **state)
{
	struct fixture *const fixture = *state;

	ADD(1, F("a", JIT));
	draw(fixture, NULL);
	LACKS("href");
	LACKS("url(");
	LACKS("@import");
	LACKS("https:");
	LACKS("src=");
	/* The two name spaces, which are names only. */
	assert_int_equal(count_of(fixture->drawn, "http:"),
			 count_of(fixture->drawn, "http://www.w3.org/2000/svg") +
				 count_of(fixture->drawn, "http://www.w3.org/1999/xhtml"));
}

static void deep_stack_is_drawn(void **state)
{
	struct fixture *const fixture = *state;

	add_deep(&fixture->profile, DEEP);
	draw(fixture, NULL);
	assert_int_equal(count_of(fixture->drawn, "<g><title>"), DEEP + 1);
}

static void full_disk_is_an_error(void **state)
{
	struct fixture *const fixture = *state;

	ADD(1, F("a", JIT));
	check_full_disk(&fixture->profile, RENDER_SVG);
}

/* ---- the data ---- */

/* all -+- a - x    the key of x, used twice, comes first
 *      +- b - x  */
static void data_holds_every_node_in_order(void **state)
{
	static const uint64_t keys[] = {1, 2, 0, 3, 0};
	static const uint64_t ups[] = {0, 0, 0, 2, 0};
	static const uint64_t selves[] = {0, 300, 1, 0, 2};
	struct fixture *const fixture = *state;
	static struct data data;
	size_t text_len;

	ADD(2, F("b", NATIVE), {.name = "x\t", .kind = FRAME_KERNEL, .module = "[kernel]"});
	ADD(1, F("a", NATIVE), {.name = "x\t", .kind = FRAME_KERNEL, .module = "[kernel]"});
	ADD(300, F("a", NATIVE));
	draw(fixture, &(struct render_options){.min_width_px = 100});
	LACKS("<title>b");
	unpack(fixture->drawn, "<metadata id=\"fg-data\">", &data);
	assert_int_equal(varint(&data), 4);
	text_len = varint(&data);
	assert_int_equal(varint(&data), 5);
	assert_memory_equal(data.bytes + data.at + 2, "x\xef\xbf\xbd\t[kernel]\n", 14);
	assert_int_equal(data.bytes[data.at], 'i'); /* KIND_KERNEL */
	data.at += text_len;
	check_varints(&data, keys, 5);
	check_varints(&data, ups, 5);
	check_varints(&data, selves, 5);
	assert_int_equal(varint(&data), 0); /* no method ran in several ways */
	assert_int_equal(data.at, data.len);
}

static void shares_of_levels_are_told_and_the_greatest_gives_the_colour(void **state)
{
	static const uint64_t levels[] = {1, 2, 10, 30, 60, 0};
	struct fixture *const fixture = *state;
	static struct data data;
	size_t text_len;

	ADD(10, F("app", LABEL), F("a/B.run", INTERPRETED));
	ADD(30, F("app", LABEL), F("a/B.run", C1));
	ADD(60, F("app", LABEL), F("a/B.run", JIT));
	draw(fixture, NULL);
	HAS("<title>a/B.run (100 samples, 100.00%), interpreted 10%, C1 30%, C2 60%</title>");
	unpack(fixture->drawn, "<metadata id=\"fg-data\">", &data);
	assert_int_equal(varint(&data), 3);
	text_len = varint(&data);
	assert_int_equal(varint(&data), 3);
	data.at += text_len + 3 * 3; /* keys, ups and selves, of a byte each */
	check_varints(&data, levels, 6);
	assert_int_equal(data.at, data.len);
}

static void equal_profiles_give_equal_files(void **state)
{
	struct fixture *const fixture = *state;
	char *first;

	ADD(1, F("a", JIT), F("b", NATIVE));
	ADD(1, F("c", JIT), F("b", NATIVE));
	draw(fixture, NULL);
	first = fixture->drawn;
	profile_fini(&fixture->profile);
	assert_int_equal(profile_init(&fixture->profile, 0), 0);
	ADD(1, F("c", JIT), F("b", NATIVE));
	ADD(1, F("a", JIT), F("b", NATIVE));
	fixture->drawn = NULL;
	draw(fixture, NULL);
	assert_string_equal(first, fixture->drawn);
	free(first);
}

static void options_shape_the_drawing(void **state)
{
	struct fixture *const fixture = *state;
	const struct render_options options = {
		.count_name = "a<b",
		.name_type = "Function:",
		.factor = 0.5,
		.total = 40,
		.width_px = 820,
		.row_px = 20,
		.font = "Sans\"Serif",
		.font_size = 14,
		.background = 0xf0f0f0,
		.is_inverted = true,
		.palette = PALETTE_HOT,
	};

	ADD(10, F("a", NATIVE));
	draw(fixture, &options);
	HAS("<title>a (5 a&lt;b, 25.00%)</title>");
	HAS("width=\"820\"");
	HAS("height=\"19\"");
	HAS("font-family=\"Sans&quot;Serif\" font-size=\"14\"");
	HAS("--light-paper: #f0f0f0");
	HAS("data-inverted=\"1\"");
	HAS("data-total=\"40\"");
	HAS("data-width=\"820\"");
	HAS("data-factor=\"0.5\"");
	HAS("data-count-name=\"a&lt;b\"");
	HAS("data-name-type=\"Function:\"");
	LACKS("<g id=\"legend\" fill=\"#333333\" class=\"fg-soft\">\n<rect");
}

static double top_of(const struct fixture *fixture, const char *name)
{
	const char *const title = strstr(fixture->drawn, name);

	assert_non_null(title);
	return strtod(strstr(title, " y=\"") + 4, NULL);
}

static void inverted_root_stands_on_top(void **state)
{
	struct fixture *const fixture = *state;
	const struct render_options options = {.is_inverted = true};

	ADD(10, F("outer", NATIVE), F("inner", NATIVE));
	draw(fixture, &options);
	assert_true(top_of(fixture, "<title>all") < top_of(fixture, "<title>outer"));
	assert_true(top_of(fixture, "<title>outer") < top_of(fixture, "<title>inner"));
}

static void least_width_may_be_a_share(void **state)
{
	struct fixture *const fixture = *state;
	const struct render_options options = {.min_width_percent = 10};

	ADD(9, F("small", NATIVE));
	ADD(91, F("large", NATIVE));
	draw(fixture, &options);
	HAS("<title>large");
	LACKS("<title>small");
}

static void diff_says_what_changed(void **state)
{
	struct fixture *const fixture = *state;
	const struct diff_options how = {.width = DIFF_WIDTH_UNION};
	struct render_options options = {0};
	struct profile before;
	struct profile_diff diff;

	assert_int_equal(profile_init(&before, 0), 0);
	add_note(&before, &(struct note){{F("gone", NATIVE)}, 100});
	add_note(&before, &(struct note){{F("same", NATIVE)}, 900});
	ADD(1000, F("same", NATIVE));
	ADD(1000, F("fresh", NATIVE));
	assert_int_equal(diff_init(&diff, &before, &fixture->profile, &how), 0);
	options.diff = &diff;
	free(fixture->drawn);
	fixture->drawn = written(&diff.tree, RENDER_SVG, &options);
	HAS("<title>gone (0 samples, 0.00%; -10.00%, before 10.00%; gone)</title>");
	HAS("<title>fresh (1,000 samples, 50.00%; +50.00%, before 0.00%; new)</title>");
	HAS("<title>same (1,000 samples, 50.00%; -40.00%, before 90.00%; less)</title>");
	HAS("data-diff=\"shares\"");
	diff_fini(&diff);
	profile_fini(&before);
}

static void samples_of_a_clock_have_their_processor_time(void **state)
{
	static const struct profile_info info = {
		.event = "cycles", .hz = 100, .duration_ns = 2000000000};
	struct render_options options = {.info = &info};
	struct fixture *const fixture = *state;

	ADD(40, F("works", NATIVE));
	ADD(60, F("sleeps", NATIVE));
	draw(fixture, &options);
	HAS("<title>all (100 samples, 100%), 1.00 s, 0.50 cores</title>");
	HAS("<title>works (40 samples, 40.00%), 400 ms, 0.20 cores</title>");
	HAS("data-cpu-period=\"10000000\" data-duration=\"2000000000\"");
	/* Counts that were asked for in other parts are nobody's time. */
	options.factor = 2;
	draw(fixture, &options);
	HAS("<title>works (80 samples, 40.00%)</title>");
	LACKS("data-cpu-period");
}

static void times_are_told_in_seconds(void **state)
{
	struct fixture *const fixture = *state;

	ADD(12345000, F("parks", NATIVE));
	ADD(7, F("spins", NATIVE));
	draw(fixture, &(struct render_options){.kind = &profile_kind_wall, .width_px = 10000000});
	HAS("<title>all (12.3 s, 100%)</title>");
	HAS("<title>parks (12.3 s, 100.00%)</title>");
	HAS("<title>spins (7 \u00b5s, 0.00%)</title>");
	HAS("data-count-name=\"microseconds\"");
	/* A name that was asked for stands beside a number. */
	draw(fixture, &(struct render_options){.kind = &profile_kind_wall, .count_name = "us"});
	HAS("<title>parks (12,345,000 us, 100.00%)</title>");
}

static void sizes_and_things_are_told_in_their_unit(void **state)
{
	struct fixture *const fixture = *state;

	ADD(3221225472, F("a/B.grow", JIT), F("byte[]", CLASS));
	ADD(3072, F("java.lang.String", CLASS));
	draw(fixture, &(struct render_options){.kind = &profile_kind_alloc, .width_px = 10000000});
	HAS("<title>all (3.00 GiB, 100%)</title>");
	HAS("<title>byte[] (3.00 GiB, 100.00%)</title>");
	HAS("<title>java.lang.String (3.0 KiB, 0.00%)</title>");
	HAS("class of the object or lock");
	draw(fixture, &(struct render_options){.kind = &profile_kind_objects});
	HAS("<title>byte[] (3,221,225,472 objects, 100.00%)</title>");
}

static void times_of_a_diff_are_told_in_seconds(void **state)
{
	struct fixture *const fixture = *state;
	struct render_options options = {.kind = &profile_kind_offcpu};
	struct profile_diff diff;

	ADD(450000, F("parks", NATIVE));
	assert_int_equal(
		diff_init(&diff, &fixture->profile, &fixture->profile, &(struct diff_options){0}),
		0);
	options.diff = &diff;
	free(fixture->drawn);
	fixture->drawn = written(&diff.tree, RENDER_SVG, &options);
	HAS("<title>parks (450 ms, 100.00%; +0.00%, before 100.00%;");
	diff_fini(&diff);
}

/* The colour of the frame whose title begins so. */
static void fill_of(const char *svg, const char *title, char ret[8])
{
	const char *at = strstr(svg, title);

	assert_non_null(at);
	at = strstr(at, "fill=\"");
	assert_non_null(at);
	snprintf(ret, 8, "%.7s", at + strlen("fill=\""));
}

static void diff_is_darker_where_more_has_changed(void **state)
{
	struct fixture *const fixture = *state;
	const struct diff_options how = {.is_raw = true};
	struct render_options options = {0};
	struct profile before;
	struct profile_diff diff;
	char slight[8], twice[8];

	assert_int_equal(profile_init(&before, 0), 0);
	add_note(&before, &(struct note){{F("slight", NATIVE)}, 1000000});
	add_note(&before, &(struct note){{F("twice", NATIVE)}, 1000000});
	ADD(1020000, F("slight", NATIVE));
	ADD(2000000, F("twice", NATIVE));
	assert_int_equal(diff_init(&diff, &before, &fixture->profile, &how), 0);
	options.diff = &diff;
	free(fixture->drawn);
	fixture->drawn = written(&diff.tree, RENDER_SVG, &options);
	fill_of(fixture->drawn, "<title>slight (", slight);
	fill_of(fixture->drawn, "<title>twice (", twice);
	assert_string_not_equal(slight, twice);
	assert_true(strtoul(slight + 5, NULL, 16) > strtoul(twice + 5, NULL, 16)); /* less blue */
	diff_fini(&diff);
	profile_fini(&before);
}

/* Relative luminance against black, as WCAG 2.1 defines it. */
static double channel(uint32_t rgb, int shift)
{
	const double c = (rgb >> shift & 0xff) / 255.0;

	return c <= 0.03928 ? c / 12.92 : pow((c + 0.055) / 1.055, 2.4);
}

static void every_palette_carries_black_letters(void **state)
{
	struct looks looks;

	for (int palette = 0; palette < PALETTES; palette++) {
		looks_init(&looks, (enum palette)palette, NULL);
		for (unsigned class = 0; class < looks.n_classes; class ++)
			for (unsigned shade = 0; shade < KIND_SHADES; shade++) {
				const uint32_t rgb = looks.rgb[class][shade];
				const double light = 0.2126 * channel(rgb, 16) +
						     0.7152 * channel(rgb, 8) +
						     0.0722 * channel(rgb, 0);

				assert_true((light + 0.05) / 0.05 >= 4.5);
			}
	}
}

int main(void)
{
#define test(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	const struct CMUnitTest tests[] = {
		test(frames_keep_the_contract),
		test(root_stands_at_the_bottom),
		test(siblings_are_in_order_of_name),
		test(names_cannot_become_markup),
		test(elements_are_balanced),
		test(narrow_frames_are_not_drawn_but_counted),
		test(legend_names_the_kinds_that_occur),
		test(profile_without_samples_is_drawn),
		test(nothing_comes_from_the_network),
		test(deep_stack_is_drawn),
		test(full_disk_is_an_error),
		test(data_holds_every_node_in_order),
		test(shares_of_levels_are_told_and_the_greatest_gives_the_colour),
		test(equal_profiles_give_equal_files),
		test(options_shape_the_drawing),
		test(inverted_root_stands_on_top),
		test(least_width_may_be_a_share),
		test(diff_says_what_changed),
		test(samples_of_a_clock_have_their_processor_time),
		test(times_are_told_in_seconds),
		test(times_of_a_diff_are_told_in_seconds),
		test(sizes_and_things_are_told_in_their_unit),
		test(diff_is_darker_where_more_has_changed),
		test(every_palette_carries_black_letters),
	};

	return cmocka_run_group_tests_name("svg", tests, NULL, NULL);
}
