// SPDX-License-Identifier: Apache-2.0
/* Heat maps and lists of processes, by samples whose times are known. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "../store/samples.h"

#include "common/temp_dir.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/log.h"
#include "store/store_merge.h"
#include "web/web_heat.h"

#define NOW    1699999200 /* a full hour */
#define NOW_MS (NOW * INT64_C(1000))
#define MIB    (UINT64_C(1) << 20)

static char dir[TEMP_DIR_BYTES];
static struct web_pool pool;
static struct store *store;
static json_t *answered;
static struct log_catch caught;
static char warning[LOG_CATCH_BYTES];
static bool is_over;

static int set_up(void **state)
{
	temp_dir_make(dir);
	web_pool_init(&pool, 16 * MIB);
	store = samples_open(dir, NOW);
	is_over = false;
	return 0;
}

static int tear_down(void **state)
{
	store_close(store);
	assert_int_equal(web_pool_bytes(&pool), 0);
	web_pool_fini(&pool);
	temp_dir_remove(dir);
	json_decref(answered);
	answered = NULL;
	return 0;
}

/* Writes a window with a sample of that weight at each of the times, in seconds after NOW. */
static void write_window(pid_t pid, const struct profile_kind *kind, unsigned start_sec,
			 const double *times, size_t n, uint64_t weight)
{
	const struct store_process process = samples_process(pid, 7, "org.example.Main");
	const struct wall_clock now = samples_clock(NOW + 100);
	struct samples samples;
	struct store_window window;

	samples_init(&samples, kind, NOW + start_sec, 10);
	for (size_t i = 0; i < n; i++)
		samples_add(&samples, "A.a", times[i] - start_sec, weight);
	samples_end(&samples);
	window = (struct store_window){.process = process,
				       .start_ns = (NOW + start_sec) * SAMPLES_SEC,
				       .end_ns = (NOW + start_sec + 10) * SAMPLES_SEC,
				       .parts = &samples.part,
				       .n_parts = 1};
	assert_int_equal(store_begin(store, &now), 0);
	assert_int_equal(store_add(store, &window), 0);
	assert_int_equal(store_commit(store), 0);
	samples_fini(&samples);
}

static bool over(void *arg)
{
	return is_over;
}

/* Asks as of so many seconds after NOW. parameters: "name=value&name=value". */
static int ask(enum web_what what, const char *text, unsigned now_sec)
{
	const struct web_context context = {.dir = dir,
					    .host = "h",
					    .window_ns = 10 * SAMPLES_SEC,
					    .now_ns = (NOW + now_sec) * SAMPLES_SEC,
					    .is_over = over,
					    .pool = &pool};
	struct web_parameters parameters = {0};
	struct web_answer answer = {.fd = -1};
	struct web_query *const query = malloc(sizeof(*query));
	char copy[1024], *rest = copy, *one;
	char *bytes = calloc(1, MIB);
	int err;

	assert_true(query && bytes);
	snprintf(copy, sizeof(copy), "%s", text);
	while ((one = strsep(&rest, "&")))
		web_parameters_add(&parameters, one, strcspn(one, "="), strchr(one, '=') + 1,
				   strlen(strchr(one, '=') + 1));
	caught = (struct log_catch){0};
	log_catch(&caught);
	err = web_query_parse(what, &parameters, context.now_ns, query);
	assert_string_equal(caught.errors, "");
	err = what == WEB_HEAT ? web_heat_answer(&context, query, &answer)
			       : web_store_answer_processes(&context, query, &answer);
	log_catch(NULL);
	snprintf(warning, sizeof(warning), "%s", caught.warnings);
	json_decref(answered);
	answered = NULL;
	if (!err) {
		assert_true(web_answer_read(&answer, 0, bytes, MIB) > 0);
		answered = json_loads(bytes, 0, NULL);
		assert_non_null(answered);
	}
	web_answer_fini(&answer);
	web_parameters_fini(&parameters);
	free(bytes);
	free(query);
	return err;
}

static json_int_t number(const char *key)
{
	return json_integer_value(json_object_get(answered, key));
}

/* words: the cells, "0 3 - 5"; "-" is null. */
static void check_cells(const char *words)
{
	const json_t *const cells = json_object_get(answered, "cells");
	char text[1024] = "";

	for (size_t i = 0; i < json_array_size(cells); i++) {
		const json_t *const cell = json_array_get(cells, i);
		const size_t len = strlen(text);

		if (json_is_null(cell))
			snprintf(text + len, sizeof(text) - len, "%s-", i > 0 ? " " : "");
		else
			snprintf(text + len, sizeof(text) - len, "%s%" JSON_INTEGER_FORMAT,
				 i > 0 ? " " : "", json_integer_value(cell));
	}
	assert_string_equal(text, words);
}

static void a_sample_is_in_the_cell_of_its_time(void **state)
{
	static const double times[] = {0, 0.25, 1, 3.5, 3.5, 9.75};

	write_window(4711, &profile_kind_cpu, 0, times, 6, 1);
	/* columns of 2 s, rows of 0.5 s */
	assert_int_equal(ask(WEB_HEAT, "from=1699999200000&to=1699999212000&columns=6&rows=4", 60),
			 0);
	check_cells("2 0 1 0 0 0 0 2 0 0 0 0 0 0 0 0 0 0 0 1 - - - -");
	assert_int_equal(number("total"), 6);
	assert_int_equal(number("max"), 2);
	assert_int_equal(number("from_ms"), NOW_MS);
	assert_true(json_real_value(json_object_get(answered, "column_ms")) == 2000);
	assert_true(json_real_value(json_object_get(answered, "row_ms")) == 500);
	assert_true(json_real_value(json_object_get(answered, "finest_ms")) == 15.625);
}

static void the_range_cuts_exactly(void **state)
{
	static const double times[] = {1, 2, 3};

	write_window(4711, &profile_kind_cpu, 0, times, 3, 1);
	assert_int_equal(ask(WEB_HEAT, "from=1699999202000&to=1699999203000&columns=1&rows=1", 60),
			 0);
	check_cells("1");
	assert_int_equal(ask(WEB_HEAT, "from=1699999202001&to=1699999203000&columns=1&rows=1", 60),
			 0);
	check_cells("0");
	assert_int_equal(ask(WEB_HEAT, "from=1699999202001&to=1699999203001&columns=1&rows=1", 60),
			 0);
	check_cells("1");
}

static void processes_and_kinds_are_apart(void **state)
{
	static const double times[] = {1};

	write_window(4711, &profile_kind_cpu, 0, times, 1, 3);
	write_window(4712, &profile_kind_cpu, 0, times, 1, 4);
	write_window(4712, &profile_kind_alloc, 10, (const double[]){11}, 1, 512);
	assert_int_equal(ask(WEB_HEAT, "from=1699999200000&to=1699999220000&columns=2&rows=1", 60),
			 0);
	check_cells("7 -");
	assert_int_equal(
		ask(WEB_HEAT, "from=1699999200000&to=1699999220000&columns=2&rows=1&pid=4712", 60),
		0);
	check_cells("4 -");
	assert_int_equal(ask(WEB_HEAT,
			     "from=1699999200000&to=1699999220000&columns=2&rows=1&kind=alloc", 60),
			 0);
	check_cells("- 512");
	assert_string_equal(json_string_value(json_object_get(answered, "unit")), "bytes");
}

static void a_merged_hour_has_the_same_sums(void **state)
{
	static const double times[] = {0.5, 100.25, 3599.75};
	const struct wall_clock later = samples_clock(NOW + 4000);

	write_window(4711, &profile_kind_cpu, 0, times, 1, 5);
	write_window(4711, &profile_kind_cpu, 100, times + 1, 1, 6);
	write_window(4711, &profile_kind_cpu, 3590, times + 2, 1, 7);
	assert_int_equal(store_merge(store, &later), 1);
	/* columns of a minute, rows of a quarter of a second would be more cells */
	assert_int_equal(
		ask(WEB_HEAT, "from=1699999200000&to=1700002800000&columns=3600&rows=4", 4000), 0);
	assert_int_equal(number("total"), 18);
	assert_int_equal(
		json_integer_value(json_array_get(json_object_get(answered, "cells"), 401)), 6);
	assert_int_equal(
		json_integer_value(json_array_get(json_object_get(answered, "cells"), 14399)), 7);
	assert_true(json_real_value(json_object_get(answered, "finest_ms")) == 250);
}

static double finest_ms(const char *question)
{
	assert_int_equal(ask(WEB_HEAT, question, 4000), 0);
	return json_real_value(json_object_get(answered, "finest_ms"));
}

static json_int_t cell(size_t n)
{
	return json_integer_value(json_array_get(json_object_get(answered, "cells"), n));
}

/* The index has these; a cell of seven seconds would have one step of five or two. */
static void cells_of_whole_steps_are_read_from_the_index(void **state)
{
	static const double times[] = {0.5, 104.75, 3599.75};
	const struct wall_clock later = samples_clock(NOW + 4000);

	write_window(4711, &profile_kind_cpu, 0, times, 1, 5);
	write_window(4711, &profile_kind_cpu, 100, times + 1, 1, 6);
	write_window(4711, &profile_kind_cpu, 3590, times + 2, 1, 7);
	assert_int_equal(store_merge(store, &later), 1);
	assert_true(finest_ms("from=1699999200000&to=1700002800000&columns=720&rows=1") == 5000);
	assert_int_equal(cell(0), 5);
	assert_int_equal(cell(20), 6);
	assert_int_equal(cell(719), 7);
	assert_true(finest_ms("from=1699999200000&to=1700002800000&columns=36&rows=1") == 5000);
	assert_int_equal(cell(1), 6);
	/* From a second later; cells of seven seconds; and of five and a bit. */
	assert_true(finest_ms("from=1699999201000&to=1700002801000&columns=720&rows=1") == 250);
	assert_int_equal(cell(20), 6);
	assert_true(finest_ms("from=1699999200000&to=1700002700000&columns=500&rows=1") == 250);
	assert_int_equal(cell(14), 6);
	assert_true(finest_ms("from=1699999200000&to=1700002800001&columns=720&rows=1") == 250);
	/* Without a begin the first step is whole. */
	assert_true(finest_ms("to=1700002800000&columns=36&rows=1") == 5000);
	assert_int_equal(number("total"), 18);
}

static void nothing_and_the_future_are_empty(void **state)
{
	assert_int_equal(ask(WEB_HEAT, "from=1699999200000&to=1699999202000&columns=2&rows=1", 60),
			 0);
	check_cells("- -");
	write_window(4711, &profile_kind_cpu, 0, (const double[]){1}, 1, 1);
	assert_int_equal(ask(WEB_HEAT, "from=1800000000000&columns=2&rows=1", 60), 0);
	check_cells("- -");
	assert_int_equal(ask(WEB_HEAT, "to=1699999190000&columns=1&rows=1", 60), 0);
	check_cells("-");
	assert_int_equal(ask(WEB_PROCESSES, "from=1800000000000", 60), 0);
	assert_int_equal(json_array_size(json_object_get(answered, "processes")), 0);
}

static void damaged_segments_cost_themselves(void **state)
{
	char path[TEMP_DIR_BYTES + 160];
	int fd;

	write_window(4711, &profile_kind_cpu, 0, (const double[]){1}, 1, 3);
	write_window(4711, &profile_kind_cpu, 10, (const double[]){11}, 1, 4);
	snprintf(path, sizeof(path), "%s/segments/20231114T220010Z-4711-7.fgrec", dir);
	fd = open(path, O_RDWR | O_TRUNC);
	assert_true(fd >= 0);
	close(fd);
	assert_int_equal(ask(WEB_HEAT, "from=1699999200000&to=1699999220000&columns=2&rows=1", 60),
			 0);
	check_cells("3 0");
	assert_non_null(strstr(warning, "1 of 2 files"));
	assert_int_equal(unlink(path), 0);
	assert_int_equal(ask(WEB_HEAT, "from=1699999200000&to=1699999220000&columns=2&rows=1", 60),
			 0);
	check_cells("3 0");
}

static void a_query_that_nobody_waits_for_ends(void **state)
{
	write_window(4711, &profile_kind_cpu, 0, (const double[]){1}, 1, 1);
	is_over = true;
	assert_int_equal(ask(WEB_HEAT, "columns=2&rows=1", 60), -ECANCELED);
	assert_int_equal(ask(WEB_PROCESSES, "buckets=2", 60), -ECANCELED);
}

static const json_t *row(size_t i)
{
	return json_array_get(json_object_get(answered, "processes"), i);
}

static json_int_t spark(size_t i, size_t bucket)
{
	return json_integer_value(json_array_get(json_object_get(row(i), "spark"), bucket));
}

static void a_line_has_the_sums_of_windows(void **state)
{
	write_window(4711, &profile_kind_cpu, 0, (const double[]){1}, 1, 30);
	write_window(4711, &profile_kind_cpu, 20, (const double[]){21}, 1, 50);
	assert_int_equal(ask(WEB_PROCESSES, "from=1699999200000&to=1699999230000&buckets=6", 30),
			 0);
	assert_int_equal(spark(0, 0), 15);
	assert_int_equal(spark(0, 1), 15);
	assert_int_equal(spark(0, 2), 0);
	assert_int_equal(spark(0, 4), 25);
	assert_int_equal(spark(0, 5), 25);
	/* a range that cuts a window has its share */
	assert_int_equal(ask(WEB_PROCESSES, "from=1699999205000&to=1699999225000&buckets=1", 30),
			 0);
	assert_int_equal(spark(0, 0), 40);
}

static void a_process_is_found_by_its_key(void **state)
{
	char key[64], parameters[128];

	write_window(4711, &profile_kind_cpu, 0, (const double[]){1}, 1, 1);
	write_window(4712, &profile_kind_cpu, 0, (const double[]){1}, 1, 2);
	assert_int_equal(ask(WEB_PROCESSES, "buckets=1", 30), 0);
	assert_int_equal(json_array_size(json_object_get(answered, "processes")), 2);
	snprintf(key, sizeof(key), "%s", json_string_value(json_object_get(row(1), "key")));
	assert_true(store_process_is_key(key));
	snprintf(parameters, sizeof(parameters), "process=%s", key);
	assert_int_equal(ask(WEB_PROCESSES, parameters, 30), 0);
	assert_int_equal(json_array_size(json_object_get(answered, "processes")), 1);
	assert_int_equal(json_integer_value(json_object_get(row(0), "pid")), 4712);
	assert_int_equal(ask(WEB_PROCESSES, "process=4712-7-00000000", 30), 0);
	assert_int_equal(json_array_size(json_object_get(answered, "processes")), 0);
}

static void whoever_ran_a_moment_ago_is_live(void **state)
{
	write_window(4711, &profile_kind_cpu, 0, (const double[]){1}, 1, 1);
	assert_int_equal(ask(WEB_PROCESSES, "buckets=1", 59), 0);
	assert_true(json_is_true(json_object_get(row(0), "is_live")));
	/* also where the range has ended long ago */
	write_window(4711, &profile_kind_cpu, 90, (const double[]){91}, 1, 1);
	assert_int_equal(ask(WEB_PROCESSES, "to=1699999205000", 120), 0);
	assert_true(json_is_true(json_object_get(row(0), "is_live")));
	assert_int_equal(ask(WEB_PROCESSES, "buckets=1", 151), 0);
	assert_true(json_is_false(json_object_get(row(0), "is_live")));
}

static void a_part_of_a_range_is_found_without_overflow(void **state)
{
	const struct store_range all = {0, UINT64_MAX};

	assert_int_equal(web_heat_part(&all, 20000, 0), 0);
	assert_int_equal(web_heat_part(&all, 20000, UINT64_MAX - 1), 19999);
	assert_int_equal(web_heat_part(&(struct store_range){10, 13}, 3, 12), 2);
}

static void answers_have_bounded_room(void **state)
{
	struct web_answer first, second;
	char bytes[64 << 10] = "";

	web_pool_set_max_bytes(&pool, 256 << 10);
	assert_int_equal(web_answer_open(&first, &pool), 0);
	for (unsigned i = 0; i < 2; i++)
		assert_int_equal(fwrite(bytes, sizeof(bytes), 1, first.stream), 1);
	assert_int_equal(web_answer_close(&first, 0), 0);
	assert_int_equal(web_pool_bytes(&pool), 2 * sizeof(bytes));
	assert_int_equal(web_answer_open(&second, &pool), 0);
	for (unsigned i = 0; i < 3; i++)
		fwrite(bytes, sizeof(bytes), 1, second.stream);
	assert_int_equal(web_answer_close(&second, 0), -EFBIG); /* more than a half */
	web_answer_error(&second, &pool, 500, "too large");
	assert_int_equal(second.status, 500);
	web_pool_set_max_bytes(&pool, 160 << 10);
	web_answer_fini(&second);
	assert_int_equal(web_answer_open(&second, &pool), 0);
	fwrite(bytes, sizeof(bytes), 1, second.stream);
	assert_int_equal(web_answer_close(&second, 0), -ENOBUFS); /* the first has the rest */
	web_answer_fini(&second);
	web_answer_fini(&first);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(a_sample_is_in_the_cell_of_its_time, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(the_range_cuts_exactly, set_up, tear_down),
		cmocka_unit_test_setup_teardown(processes_and_kinds_are_apart, set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_merged_hour_has_the_same_sums, set_up, tear_down),
		cmocka_unit_test_setup_teardown(cells_of_whole_steps_are_read_from_the_index,
						set_up, tear_down),
		cmocka_unit_test_setup_teardown(nothing_and_the_future_are_empty, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(damaged_segments_cost_themselves, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(a_query_that_nobody_waits_for_ends, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(a_line_has_the_sums_of_windows, set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_process_is_found_by_its_key, set_up, tear_down),
		cmocka_unit_test_setup_teardown(whoever_ran_a_moment_ago_is_live, set_up,
						tear_down),
		cmocka_unit_test(a_part_of_a_range_is_found_without_overflow),
		cmocka_unit_test_setup_teardown(answers_have_bounded_room, set_up, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
