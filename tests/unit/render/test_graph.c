// SPDX-License-Identifier: Apache-2.0
/* The order of nodes in a drawing, and what a packer makes of many bytes. */
#include "encode/packed.h"
#include "render/graph.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <zlib.h>

#define TEXT_BYTES 4096

/* Adds stacks of frames of one letter, root first. */
static void add(struct profile *profile, const char *const *stacks)
{
	for (; *stacks; stacks++) {
		struct frame frames[8];
		char names[8][2];
		const size_t n = strlen(*stacks);

		for (size_t i = 0; i < n; i++) {
			snprintf(names[i], sizeof(names[i]), "%c", (*stacks)[n - 1 - i]);
			frames[i] = (struct frame){.name = names[i], .kind = FRAME_NATIVE};
		}
		assert_int_equal(profile_add(profile, frames, n, 1), 0);
	}
}

/* Writes names in order, each behind the levels that its parent is above the node before. */
static void write_order(const char *const *stacks, bool expects_order, char ret[TEXT_BYTES])
{
	struct profile profile;
	struct graph graph;
	size_t len = 0;

	assert_int_equal(profile_init(&profile, 0), 0);
	add(&profile, stacks);
	assert_int_equal(graph_init(&graph, &profile), 0);
	assert_int_equal(graph.order != NULL, expects_order);
	assert_int_equal(graph.count, profile.count);
	for (uint32_t i = 0; i < graph.count; i++)
		len += (size_t)snprintf(ret + len, TEXT_BYTES - len, "%u%s ",
					graph_levels_up(&graph, i),
					profile.nodes[graph_node(&graph, i)].name);
	graph_fini(&graph);
	profile_fini(&profile);
}

static void check_order(const char *const *stacks, bool expects_order, const char *expected)
{
	char text[TEXT_BYTES];

	write_order(stacks, expects_order, text);
	assert_string_equal(text, expected);
}

static void nodes_of_sorted_stacks_need_no_order(void **state)
{
	static const char expected[] = "0all 0a 0b 0c 1d 3e 0b 1f ";

	check_order((const char *[]){"abc", "abd", "eb", "ef", NULL}, false, expected);
	check_order((const char *[]){"abd", "abc", "eb", "ef", NULL}, true, expected);
	check_order((const char *[]){"abc", "eb", "abd", "ef", NULL}, true, expected);
	check_order((const char *[]){"eb", "ef", "abc", "abd", NULL}, true, expected);
	check_order((const char *[]){"a", "e", "eb", "ef", "ab", "abc", "abd", NULL}, true,
		    expected);
	check_order((const char *[]){NULL}, false, "0all ");
}

static void nodes_without_samples_are_left_out(void **state)
{
	const struct frame a = {.name = "a", .kind = FRAME_NATIVE};
	struct profile profile;
	struct graph graph;
	uint32_t leaf;

	assert_int_equal(profile_init(&profile, 0), 0);
	assert_int_equal(profile_add_leaf(&profile, &a, 1, 0, &leaf), 0);
	add(&profile, (const char *[]){"b", NULL});
	assert_int_equal(graph_init(&graph, &profile), 0);
	assert_int_equal(graph.count, 2);
	assert_string_equal(profile.nodes[graph_node(&graph, 1)].name, "b");
	graph_fini(&graph);
	profile_fini(&profile);
}

static void siblings_of_one_name_are_in_order_of_their_kinds(void **state)
{
	const struct frame frames[] = {{.name = "a", .kind = FRAME_NATIVE},
				       {.name = "a", .kind = FRAME_JIT}};
	struct profile profile;
	struct graph graph;

	assert_true(FRAME_JIT < FRAME_NATIVE);
	assert_int_equal(profile_init(&profile, 0), 0);
	assert_int_equal(profile_add(&profile, &frames[0], 1, 1), 0);
	assert_int_equal(profile_add(&profile, &frames[1], 1, 1), 0);
	assert_int_equal(graph_init(&graph, &profile), 0);
	assert_int_equal(graph_node(&graph, 1), 2);
	assert_int_equal(graph_node(&graph, 2), 1);
	graph_fini(&graph);
	profile_fini(&profile);
}

static int value_of(char digit)
{
	static const char digits[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

	return (int)(strchr(digits, digit) - digits);
}

/* Decodes base64 in lines. Returns the number of bytes. */
static size_t decode(const char *text, unsigned char *ret)
{
	uint32_t bits = 0;
	size_t n = 0;
	int count = 0;

	for (; *text && *text != '='; text++) {
		if (*text == '\n')
			continue;
		bits = bits << 6 | (uint32_t)value_of(*text);
		count += 6;
		if (count >= 8) {
			count -= 8;
			ret[n++] = (unsigned char)(bits >> count);
		}
	}
	return n;
}

static void many_bytes_are_packed_as_they_come(void **state)
{
	enum { NUMBERS = 100000 };
	_Static_assert(NUMBERS * 2 > 1 << 17, "more than a packer's buffers");
	struct packer *const counter = packer_new(NULL, PACKED_FAST);
	char *text = NULL;
	size_t text_len = 0;
	FILE *const stream = open_memstream(&text, &text_len);
	struct packer *const packer = packer_new(stream, PACKED_SMALL);
	unsigned char *packed, *plain = malloc(10 * NUMBERS);
	uLongf len = 10 * NUMBERS;
	uint32_t random = 1;
	size_t at = 0;

	assert_true(packer && counter && stream && plain);
	for (int i = 0; i < NUMBERS; i++) {
		random = random * 1664525 + 1013904223;
		packer_add_varint(packer, random >> random % 32);
		packer_add_varint(counter, random >> random % 32);
		packer_add(packer, &random, 4);
		packer_add(counter, &random, 4);
	}
	assert_int_equal(packer_end(packer), 0);
	fclose(stream);
	packed = malloc(text_len);
	assert_non_null(packed);
	assert_int_equal(uncompress(plain, &len, packed, decode(text, packed)), Z_OK);
	assert_int_equal(len, packer_bytes(counter));
	random = 1;
	for (int i = 0; i < NUMBERS; i++) {
		uint64_t value = 0;
		int shift = 0;

		random = random * 1664525 + 1013904223;
		do {
			value |= (uint64_t)(plain[at] & 0x7f) << shift;
			shift += 7;
		} while (plain[at++] & 0x80);
		assert_int_equal(value, random >> random % 32);
		assert_memory_equal(plain + at, &random, 4);
		at += 4;
	}
	for (const char *line = text; *line; line = strchr(line + 1, '\n') ?: "")
		assert_true(strcspn(line + 1, "\n") <= 120);
	packer_free(packer);
	packer_free(counter);
	free(text);
	free(packed);
	free(plain);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nodes_of_sorted_stacks_need_no_order),
		cmocka_unit_test(nodes_without_samples_are_left_out),
		cmocka_unit_test(siblings_of_one_name_are_in_order_of_their_kinds),
		cmocka_unit_test(many_bytes_are_packed_as_they_come),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
