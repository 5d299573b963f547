// SPDX-License-Identifier: Apache-2.0
/*
 * Claims about live/period.h: which graph a sample goes to, and what happens when memory is short.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <unistd.h>

#include "live/period.h"

#define SEC UINT64_C(1000000000)

static struct period *period;

static int set_up(void **state)
{
	return period_new(100 * SEC, 60 * SEC, &period);
}

static int tear_down(void **state)
{
	period_free(period);
	return 0;
}

static struct process process_of(pid_t pid, uint64_t start_ticks)
{
	return (struct process){.pid = pid, .start_ticks = start_ticks, .comm = "java"};
}

static void a_process_has_one_graph(void **state)
{
	const struct process process = process_of(5, 1);
	struct period_graph *graph = period_graph_of(period, &process);

	assert_non_null(graph);
	assert_ptr_equal(period_graph_of(period, &process), graph);
	assert_int_equal(period->count, 1);
	assert_int_equal(period->bytes, period_graph_bytes(graph));
}

static void a_pid_that_is_used_again_has_another_graph(void **state)
{
	const struct process first = process_of(5, 1), second = process_of(5, 2);
	struct period_graph *graph = period_graph_of(period, &first);

	assert_ptr_not_equal(period_graph_of(period, &second), graph);
	assert_int_equal(period->count, 2);
}

static void a_period_ends_early_when_it_is_too_large(void **state)
{
	const struct process process = process_of(5, 1);
	struct period_graph *graph = period_graph_of(period, &process);

	period->bytes = PERIOD_MAX_BYTES - 1;
	period_note_sample(period, graph, period_graph_bytes(graph), 120 * SEC);
	assert_int_equal(period->end_ns, 160 * SEC);
	period->bytes = PERIOD_MAX_BYTES;
	period_note_sample(period, graph, period_graph_bytes(graph), 130 * SEC);
	assert_int_equal(period->end_ns, 130 * SEC + 1);
	assert_true(period->is_cut_short);
	assert_null(period_graph_of(period, &process));
	assert_int_equal(period->left_out, 1);
}

static void a_flood_does_not_make_periods_of_a_moment(void **state)
{
	const struct process process = process_of(5, 1);
	struct period_graph *graph = period_graph_of(period, &process);

	period->bytes = PERIOD_MAX_BYTES;
	period_note_sample(period, graph, period_graph_bytes(graph), 100 * SEC + 1);
	assert_int_equal(period->end_ns, 100 * SEC + PERIOD_LEAST_NS);
}

static void graphs_of_those_that_are_gone_are_taken_at_once(void **state)
{
	struct process gone = process_of(0x7ffffff0, 1);
	struct period *ended;
	struct targets targets;
	struct process *alive;
	struct period_graph *graph;

	targets_init(&targets, "/tmp");
	alive = targets_find_or_read(&targets, getpid());
	assert_non_null(alive);
	graph = period_graph_of(period, alive);
	assert_int_equal(period_steal_ended(period, &targets, &ended), 0);
	assert_null(ended);
	assert_non_null(period_graph_of(period, &gone));
	gone = process_of(alive->pid, alive->start_ticks + 1); /* an earlier process with the PID */
	assert_non_null(period_graph_of(period, &gone));
	assert_int_equal(period_steal_ended(period, &targets, &ended), 0);
	assert_non_null(ended);
	assert_int_equal(ended->count, 2);
	assert_int_equal(period->count, 1);
	assert_ptr_equal(period->graphs, graph);
	assert_int_equal(period->bytes, period_graph_bytes(graph));
	period_free(ended);
	targets_fini(&targets);
}

#define CLAIM(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CLAIM(a_process_has_one_graph),
		CLAIM(a_pid_that_is_used_again_has_another_graph),
		CLAIM(a_period_ends_early_when_it_is_too_large),
		CLAIM(a_flood_does_not_make_periods_of_a_moment),
		CLAIM(graphs_of_those_that_are_gone_are_taken_at_once),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
