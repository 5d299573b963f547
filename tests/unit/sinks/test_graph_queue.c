// SPDX-License-Identifier: Apache-2.0
/* Claims about sinks/graph_queue.h: whose graphs are dropped when there is no room. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>

#include "sinks/graph_queue.h"

#define SEC UINT64_C(1000000000)

static struct graph_queue queue;
static size_t graph_bytes, dropped;

/* A period of so many graphs of each container; each graph has graph_bytes. */
static struct period *period_with(size_t of_victim, size_t of_flood)
{
	struct process process = {.start_ticks = 1, .comm = "java"};
	struct period_graph *graph;
	struct period *period;

	assert_int_equal(period_new(SAMPLES_OF_CPU, 100 * SEC, 60 * SEC, &period), 0);
	for (size_t i = 0; i < of_victim + of_flood; i++) {
		process.pid = (pid_t)(i + 5);
		memset(process.container_id, i < of_victim ? 'a' : 'f', 64);
		graph = period_graph_of(period, &process);
		assert_non_null(graph);
		graph_bytes = period_graph_bytes(graph);
	}
	return period;
}

static size_t count_of(const struct period *period, char digit)
{
	size_t count = 0;

	for (const struct period_graph *graph = period->graphs; graph; graph = graph->next)
		count += graph->container[0] == digit;
	return count;
}

static void add(size_t of_victim, size_t of_flood)
{
	assert_int_equal(graph_queue_add(&queue, period_with(of_victim, of_flood), &dropped), 0);
}

/* Takes a period, checks and frees it. */
static void take(size_t of_victim, size_t of_flood)
{
	struct period *period = graph_queue_take(&queue);

	assert_non_null(period);
	assert_int_equal(count_of(period, 'a'), of_victim);
	assert_int_equal(count_of(period, 'f'), of_flood);
	assert_int_equal(period->count, of_victim + of_flood);
	assert_int_equal(period->bytes, period->count * graph_bytes);
	period_free(period);
}

static int set_up(void **state)
{
	period_free(period_with(1, 0)); /* for graph_bytes */
	graph_queue_init(&queue, 20 * graph_bytes);
	return 0;
}

static int tear_down(void **state)
{
	graph_queue_fini(&queue);
	assert_int_equal(queue.bytes, 0);
	return 0;
}

static void periods_come_out_as_they_went_in(void **state)
{
	add(1, 2);
	add(3, 4);
	assert_int_equal(dropped, 0);
	assert_int_equal(queue.bytes, 10 * graph_bytes);
	take(1, 2);
	graph_queue_done(&queue);
	assert_int_equal(queue.bytes, 7 * graph_bytes);
	take(3, 4);
	graph_queue_done(&queue);
	assert_null(graph_queue_take(&queue));
}

static void a_flood_drops_its_own_graphs_the_oldest_first(void **state)
{
	add(2, 10);
	add(2, 4);
	assert_int_equal(dropped, 0);
	add(2, 10);
	assert_int_equal(dropped, 10);
	assert_int_equal(queue.bytes, 20 * graph_bytes);
	take(2, 0);
	graph_queue_done(&queue);
	take(2, 4);
	graph_queue_done(&queue);
	take(2, 10);
	graph_queue_done(&queue);
}

/* The period that is written cannot be made smaller any more. */
static void what_is_being_written_keeps_its_room(void **state)
{
	struct period *writing;

	add(0, 15);
	writing = graph_queue_take(&queue);
	add(2, 15);
	assert_int_equal(dropped, 12);
	assert_int_equal(queue.bytes, 20 * graph_bytes);
	period_free(writing);
	graph_queue_done(&queue);
	take(2, 3);
	graph_queue_done(&queue);
}

static void more_than_all_the_room_is_being_written(void **state)
{
	struct period *writing;

	add(2, 15);
	writing = graph_queue_take(&queue);
	queue.max_bytes = 5 * graph_bytes;
	add(1, 1);
	assert_int_equal(dropped, 2);
	assert_int_equal(queue.bytes, 17 * graph_bytes);
	period_free(writing);
	graph_queue_done(&queue);
	take(0, 0);
	graph_queue_done(&queue);
}

#define CLAIM(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CLAIM(periods_come_out_as_they_went_in),
		CLAIM(a_flood_drops_its_own_graphs_the_oldest_first),
		CLAIM(what_is_being_written_keeps_its_room),
		CLAIM(more_than_all_the_room_is_being_written),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
