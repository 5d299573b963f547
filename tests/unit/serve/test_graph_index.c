// SPDX-License-Identifier: Apache-2.0
/* The page over a directory of graphs. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/temp_dir.h"
#include "draw/graph_index.h"

#define ID "3f2a4b5c6d7e"

static char path[TEMP_DIR_BYTES];
static struct graph_dir dir;
static struct wall_clock now;
static char *text;

static int set_up(void **state)
{
	now = (struct wall_clock){.boot = "first", .boot_sec = 1000, .unix_sec = 1795305600};
	temp_dir_make(path);
	return graph_dir_open(&dir, path, &now) < 0 ? -1 : 0;
}

static int tear_down(void **state)
{
	graph_dir_close(&dir);
	temp_dir_remove(path);
	free(text);
	text = NULL;
	return 0;
}

static int write_x(void *arg, FILE *stream)
{
	(void)arg;
	return putc('x', stream) == 'x' ? 0 : -EIO;
}

/* A graph of that many minutes after the first. */
static void put(const char *place, const char *container, const char *title, unsigned minute)
{
	char name[GRAPH_DIR_NAME_BYTES];
	const struct graph_name of = {.unix_sec = 1795305600 + 60 * minute,
				      .place = place,
				      .container = container,
				      .comm = "java",
				      .payer = "user-0",
				      .title = title,
				      .pid = 17,
				      .format = RENDER_HTML};

	assert_int_equal(graph_dir_write(&dir, &now, &of, write_x, NULL, name), 0);
}

static const char *print(void)
{
	size_t len;
	FILE *const stream = open_memstream(&text, &len);

	assert_int_equal(graph_index_print(&dir, stream), 0);
	fclose(stream);
	return text;
}

static size_t count_of(const char *words)
{
	size_t n = 0;

	for (const char *at = strstr(text, words); at; at = strstr(at + 1, words))
		n++;
	return n;
}

static void a_program_has_a_row_with_its_newest_graph_first(void **state)
{
	const char *newer, *older;

	put("shop-1", ID "0011", "app.jar", 0);
	put("shop-1", ID "0011", "app.jar", 10);
	put("", "", "Main", 5);
	print();
	assert_int_equal(count_of("<tr><td>"), 2);
	assert_non_null(strstr(text, "<td>shop-1-app.jar-17<br><small>" ID "</small></td>"));
	assert_non_null(strstr(text, "<td>java-Main-17</td>"));
	newer = strstr(text, "T001000Z-" ID "-shop-1-app.jar-17.html\">2026-11-22 00:10</a>");
	older = strstr(text, "T000000Z-" ID "-shop-1-app.jar-17.html\">2026-11-22 00:00</a>");
	assert_non_null(newer);
	assert_true(older > newer);
}

static void containers_of_one_name_have_rows_of_their_own(void **state)
{
	put("shop", "aaaaaaaaaaaa", "app.jar", 0);
	put("shop", "bbbbbbbbbbbb", "app.jar", 0);
	print();
	assert_int_equal(count_of("<tr><td>shop-app.jar-17<br>"), 2);
}

static void what_has_no_place_is_counted(void **state)
{
	for (unsigned i = 0; i < GRAPH_INDEX_LINKS + 3; i++)
		put("shop", "", "app.jar", i);
	print();
	assert_int_equal(count_of("<a href="), GRAPH_INDEX_LINKS);
	assert_non_null(strstr(text, "and 3 older"));
	assert_null(strstr(text, "have no place here"));
}

static void programs_with_the_newest_graphs_keep_their_rows(void **state)
{
	char title[16];

	for (unsigned i = 0; i < GRAPH_INDEX_PROGRAMS + 2; i++) {
		snprintf(title, sizeof(title), "P%05u", i);
		put("", "", title, i);
	}
	print();
	assert_int_equal(count_of("<tr><td>"), GRAPH_INDEX_PROGRAMS);
	assert_non_null(strstr(text, "<p>2 graphs of other programs have no place here.</p>"));
	assert_null(strstr(text, "java-P00001-17<"));
	assert_non_null(strstr(text, "java-P00002-17<"));
}

static void the_page_is_replaced_and_another_one_stays(void **state)
{
	char file[TEMP_DIR_BYTES + 16];
	struct stat st;
	int fd;

	put("shop", "", "app.jar", 0);
	assert_int_equal(graph_index_write(&dir), 0);
	assert_int_equal(graph_index_write(&dir), 0);
	assert_int_equal(fstatat(dir.fd, GRAPH_INDEX_NAME, &st, 0), 0);
	snprintf(file, sizeof(file), "%s/" GRAPH_INDEX_NAME, path);
	fd = open(file, O_WRONLY | O_TRUNC);
	assert_int_equal(write(fd, "mine", 4), 4);
	close(fd);
	assert_int_equal(graph_index_write(&dir), -EEXIST);
	assert_int_equal(fstatat(dir.fd, GRAPH_INDEX_NAME, &st, 0), 0);
	assert_int_equal(st.st_size, 4);
	assert_int_equal(unlinkat(dir.fd, GRAPH_INDEX_NAME, 0), 0);
	assert_int_equal(symlinkat("/etc/hostname", dir.fd, GRAPH_INDEX_NAME), 0);
	assert_int_equal(graph_index_write(&dir), -EEXIST);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_program_has_a_row_with_its_newest_graph_first),
		TEST(containers_of_one_name_have_rows_of_their_own),
		TEST(what_has_no_place_is_counted),
		TEST(programs_with_the_newest_graphs_keep_their_rows),
		TEST(the_page_is_replaced_and_another_one_stays),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
