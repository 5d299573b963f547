// SPDX-License-Identifier: Apache-2.0
/* What keys do to the rows, without a terminal. */
#include "top/top_view.h"
#include "top_samples.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#define PAGE 10

static struct top_samples samples;
static struct top_view view;

static void show(void)
{
	assert_int_equal(top_view_show(&view, &samples.profile, &samples.timeline), 0);
}

/* self: b 5, c 3, a 2; total: a 10, b 5, c 3; and another process's c, 1. */
static int set_up(void **state)
{
	top_samples_init(&samples);
	top_samples_add(&samples, 1, 10, "a_[j];b_[j]", 5);
	top_samples_add(&samples, 1, 11, "a_[j];c_[j]", 3);
	top_samples_add(&samples, 1, 10, "a_[j]", 2);
	top_samples_add(&samples, 2, 20, "c_[j]", 1);
	top_view_init(&view);
	return top_view_show(&view, &samples.profile, &samples.timeline);
}

static int tear_down(void **state)
{
	top_view_fini(&view);
	top_samples_fini(&samples);
	return 0;
}

static void press(uint32_t key)
{
	assert_int_equal(top_view_key(&view, key, PAGE), 0);
}

static void type(const char *keys)
{
	for (; *keys; keys++)
		press((unsigned char)*keys);
}

/* Names of the rows with spaces between them; callers have a '<'. */
static void assert_rows(const char *expected)
{
	char text[1024] = "";
	size_t n = 0;

	for (size_t i = 0; i < view.n_rows; i++)
		n += (size_t)snprintf(text + n, sizeof(text) - n, "%s%.*s%s", i ? " " : "",
				      (int)view.rows[i].depth, "<<<<<<<<", view.rows[i].name);
	assert_string_equal(text, expected);
}

static void rows_are_sorted_as_the_keys_say(void **state)
{
	assert_rows("b c a c");
	press('s'); /* total */
	assert_rows("a b c c");
	press('>'); /* name */
	assert_rows("a b c c");
	press('r');
	assert_rows("c c b a");
	press('r');
	press('s'); /* by process, the one with the most samples first */
	assert_rows("b c a c");
	assert_int_equal(view.rows[3].process, 1);
	press('s');
	assert_int_equal(view.sort, TOP_BY_SELF);
	press('<');
	assert_int_equal(view.sort, TOP_BY_PROCESS);
}

static void filter_keeps_what_matches_whatever_the_case(void **state)
{
	type("/[AB]");
	assert_true(view.has_prompt);
	assert_rows("b a"); /* as it is typed */
	press(TOP_KEY_ENTER);
	assert_false(view.has_prompt);
	assert_rows("b a");
	assert_int_equal(view.n_own, 4);
	assert_int_equal(view.n_matching, 2);
	assert_int_equal(view.matching_self, 7);
	type("/zzz");
	assert_rows("");
	press(TOP_KEY_ESCAPE); /* as before */
	assert_rows("b a");
	press(TOP_KEY_ESCAPE); /* none */
	assert_rows("b c a c");
	type("/q"); /* is no command now */
	assert_false(view.is_done);
	press(TOP_KEY_BACKSPACE);
	assert_rows("b c a c");
}

static void what_is_no_expression_leaves_the_one_before(void **state)
{
	assert_int_equal(top_view_set_filter(&view, "^b$"), 0);
	assert_int_equal(top_view_set_filter(&view, "("), -EINVAL);
	assert_true(view.note[0] != '\0');
	assert_string_equal(view.filter, "^b$");
	show();
	assert_rows("b");
	type("/(");
	press(TOP_KEY_ENTER);
	assert_true(view.has_prompt); /* until it is one */
	press(TOP_KEY_ESCAPE);
	assert_rows("b");
}

static void filters_longer_than_their_room_are_cut(void **state)
{
	press('/');
	for (unsigned i = 0; i < 3 * TOP_FILTER_BYTES; i++)
		press(i % 2 ? 'x' : 0x1f600);
	assert_true(strlen(view.filter) < TOP_FILTER_BYTES);
	for (unsigned i = 0; i < 3 * TOP_FILTER_BYTES; i++)
		press(TOP_KEY_BACKSPACE);
	assert_string_equal(view.filter, "");
}

static void what_is_harmful_cannot_be_typed(void **state)
{
	press('/');
	press(0xe9);
	press(0x202e);
	press(0xfeff);
	press(0xd800);
	press(0x20ac);
	assert_string_equal(view.filter, "\xc3\xa9\xe2\x82\xac");
	press(TOP_KEY_BACKSPACE);
	assert_string_equal(view.filter, "\xc3\xa9");
}

static void enter_opens_callers_and_their_callers(void **state)
{
	top_samples_add(&samples, 1, 10, "main_[j];a_[j];b_[j]", 20);
	show();
	assert_rows("b c a c main");
	press(TOP_KEY_ENTER);
	assert_rows("b <a c a c main");
	assert_int_equal(view.rows[1].total, 25);
	press(TOP_KEY_DOWN);
	press(TOP_KEY_RIGHT);
	assert_rows("b <a <<main c a c main");
	assert_int_equal(view.rows[2].total, 20);
	press(TOP_KEY_RIGHT); /* is open */
	assert_rows("b <a <<main c a c main");
	press('s'); /* stays below its row */
	assert_rows("a b <a <<main main c c");
	press(TOP_KEY_HOME);
	press(TOP_KEY_DOWN);
	press(TOP_KEY_LEFT);
	assert_rows("a b main c c");
	press(TOP_KEY_RIGHT); /* as it was */
	assert_rows("a b <a <<main main c c");
	press('C');
	assert_rows("a b main c c");
}

static void what_is_open_stays_open_in_the_next_window(void **state)
{
	press(TOP_KEY_ENTER);
	assert_rows("b <a c a c");
	top_samples_fini(&samples);
	top_samples_init(&samples);
	top_samples_add(&samples, 1, 11, "a_[j];c_[j]", 3);
	top_samples_add(&samples, 1, 10, "z_[j];b_[j]", 2);
	show();
	assert_rows("c b <z a z");
}

static void no_more_rows_are_open_than_there_is_room_for(void **state)
{
	char stack[64];

	for (unsigned i = 0; i < TOP_MAX_OPEN + 10; i++) {
		snprintf(stack, sizeof(stack), "a_[j];x%03u_[j]", i);
		top_samples_add(&samples, 1, 10, stack, 100);
	}
	show();
	for (unsigned i = 0; i < TOP_MAX_OPEN; i++) {
		press(TOP_KEY_ENTER);
		press(TOP_KEY_DOWN);
		press(TOP_KEY_DOWN);
	}
	assert_int_equal(view.n_open, TOP_MAX_OPEN);
	assert_string_equal(view.note, "");
	press(TOP_KEY_ENTER);
	assert_int_equal(view.n_open, TOP_MAX_OPEN);
	assert_non_null(strstr(view.note, "close some"));
}

static void threads_and_jvms_are_views_of_their_own(void **state)
{
	press('t');
	assert_rows("thread-10 thread-11 thread-20");
	assert_int_equal(view.rows[0].self, 7);
	press('j');
	assert_rows("app1 app2");
	assert_int_equal(view.rows[0].self, 10);
	press('j');
	assert_rows("b c a c");
}

static void enter_on_a_thread_shows_its_methods_and_escape_goes_back(void **state)
{
	press('t');
	press(TOP_KEY_DOWN);
	press(TOP_KEY_ENTER);
	assert_rows("c a");
	assert_int_equal(view.table.samples, 3);
	press(TOP_KEY_ESCAPE);
	assert_rows("thread-10 thread-11 thread-20");
	press('j');
	press(TOP_KEY_END);
	press(TOP_KEY_ENTER);
	assert_rows("c");
	assert_int_equal(view.rows[0].process, 1);
	press(TOP_KEY_ESCAPE);
	press(TOP_KEY_ESCAPE);
	assert_rows("b c a c");
}

static void cursor_stays_on_its_row_unless_it_is_the_first(void **state)
{
	press(TOP_KEY_DOWN);
	press(TOP_KEY_DOWN);
	assert_string_equal(view.rows[view.cursor].name, "a");
	top_samples_add(&samples, 1, 10, "d_[j]", 50);
	show();
	assert_rows("d b c a c");
	assert_string_equal(view.rows[view.cursor].name, "a");
	press(TOP_KEY_HOME);
	top_samples_add(&samples, 1, 10, "e_[j]", 60);
	show();
	assert_rows("e d b c a c");
	assert_int_equal(view.cursor, 0);
}

static void cursor_never_leaves_the_rows_nor_the_screen(void **state)
{
	static const uint32_t keys[] = {TOP_KEY_UP,   TOP_KEY_DOWN, TOP_KEY_PAGE_UP,
					TOP_KEY_HOME, TOP_KEY_END,  TOP_KEY_PAGE_DOWN};
	char stack[64];

	for (unsigned i = 0; i < 50; i++) {
		snprintf(stack, sizeof(stack), "x%03u_[j]", i);
		top_samples_add(&samples, 1, 10, stack, i);
	}
	show();
	for (unsigned i = 0; i < 2000; i++) {
		const size_t page = i % 7;

		assert_int_equal(top_view_key(&view, keys[i * 7919 % 6], page), 0);
		assert_true(view.cursor < view.n_rows);
		assert_true(view.first <= view.cursor);
		assert_true(view.cursor < view.first + (page ? page : 1));
	}
	press('/');
	type("nothing");
	press(TOP_KEY_DOWN);
	press(TOP_KEY_END);
	assert_int_equal(view.n_rows, 0);
	press(TOP_KEY_ENTER);
	press(TOP_KEY_ENTER);
	assert_int_equal(view.n_rows, 0);
}

static void pause_help_and_quit_are_keys(void **state)
{
	press('p');
	assert_true(view.is_paused);
	press(' ');
	assert_false(view.is_paused);
	press('?');
	assert_true(view.has_help);
	press('p'); /* any key goes on */
	assert_false(view.has_help);
	assert_false(view.is_paused);
	press('q');
	assert_true(view.is_done);
}

static void idle_threads_are_shown_when_they_are_asked_for(void **state)
{
	top_samples_add(&samples, 1, 12,
			"java/util/concurrent/ForkJoinPool.awaitWork_[j];[blocked: futex]_[w]", 90);
	top_samples_add(&samples, 1, 12, "a_[j];[runnable]_[w]", 4);
	show();
	assert_int_equal(view.table.samples, 15);
	assert_int_equal(view.table.waits.idle, 90);
	assert_rows("a b c c");
	type("i");
	assert_int_equal(view.table.samples, 105);
	type("i");
	assert_int_equal(view.table.samples, 15);
	view.choice.waits.states = 1u << WAIT_RUNNABLE;
	show();
	assert_rows("a");
}

/* Which stacks are wanted outlasts a chosen thread. */
static void escape_keeps_what_is_wanted_of_threads_that_wait(void **state)
{
	view.choice.waits.states = 1u << WAIT_RUNNING;
	show();
	type("t");
	press(TOP_KEY_ENTER);
	press(TOP_KEY_ESCAPE);
	assert_int_equal(view.choice.waits.states, 1u << WAIT_RUNNING);
}

static void without_samples_every_key_is_harmless(void **state)
{
	top_view_show(&view, NULL, NULL);
	for (uint32_t key = 1; key < 0x80; key++) {
		press(key);
		press(TOP_KEY_ESCAPE);
	}
	for (uint32_t key = TOP_KEY_UP; key <= TOP_KEY_BACKSPACE; key++)
		press(key);
	assert_int_equal(view.n_rows, 0);
}

#define CLAIM(function) cmocka_unit_test_setup_teardown(function, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CLAIM(rows_are_sorted_as_the_keys_say),
		CLAIM(filter_keeps_what_matches_whatever_the_case),
		CLAIM(what_is_no_expression_leaves_the_one_before),
		CLAIM(filters_longer_than_their_room_are_cut),
		CLAIM(what_is_harmful_cannot_be_typed),
		CLAIM(enter_opens_callers_and_their_callers),
		CLAIM(what_is_open_stays_open_in_the_next_window),
		CLAIM(no_more_rows_are_open_than_there_is_room_for),
		CLAIM(threads_and_jvms_are_views_of_their_own),
		CLAIM(enter_on_a_thread_shows_its_methods_and_escape_goes_back),
		CLAIM(cursor_stays_on_its_row_unless_it_is_the_first),
		CLAIM(cursor_never_leaves_the_rows_nor_the_screen),
		CLAIM(pause_help_and_quit_are_keys),
		CLAIM(idle_threads_are_shown_when_they_are_asked_for),
		CLAIM(escape_keeps_what_is_wanted_of_threads_that_wait),
		CLAIM(without_samples_every_key_is_harmless),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
