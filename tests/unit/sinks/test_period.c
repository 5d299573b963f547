// SPDX-License-Identifier: Apache-2.0
/*
 * Claims about sinks/period.h: which graph a sample goes to, and what happens when memory is short.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "sinks/period.h"

#define SEC UINT64_C(1000000000)

static struct period *period;

static int set_up(void **state)
{
	return period_new(SAMPLES_OF_CPU, 100 * SEC, 60 * SEC, &period);
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

/* A tool that began at the time, in ticks, of which the agent has told. */
static struct process tool_of(pid_t pid, uint64_t start_ticks, const char *command)
{
	static struct jvm_attr attrs[8];
	static struct jvm jvms[8];
	static size_t n;
	struct process process = process_of(pid, start_ticks);

	attrs[n] = (struct jvm_attr){"java.command", command};
	jvms[n].hello = (struct jvm_hello){.attrs = &attrs[n], .n_attrs = 1};
	process.jvm = &jvms[n++];
	return process;
}

static uint64_t now_ticks(void)
{
	struct timespec now;

	clock_gettime(CLOCK_BOOTTIME, &now);
	return (uint64_t)now.tv_sec * (uint64_t)sysconf(_SC_CLK_TCK);
}

static void add_samples(const struct process *process, unsigned count)
{
	while (count-- > 0) {
		struct period_graph *const graph = period_graph_of(period, process);

		period_note_sample(period, graph, period_graph_bytes(graph), 120 * SEC);
	}
}

static void graphs_of_tools_that_pass_are_dropped_and_counted(void **state)
{
	const uint64_t now = now_ticks(), second = (uint64_t)sysconf(_SC_CLK_TCK);
	const struct process tool = tool_of(5, now, "jdk.jcmd/sun.tools.jcmd.JCmd 1"),
			     again = tool_of(6, now, "jdk.jcmd/sun.tools.jcmd.JCmd 1"),
			     own = tool_of(7, now, "com.acme.Main"),
			     lasting = tool_of(8, now > 60 * second ? now - 60 * second : 1,
					       "jdk.jshell/jdk.internal.jshell.tool.JShell");
	struct period_passing sum = {0};

	add_samples(&tool, 3);
	add_samples(&again, 2);
	add_samples(&own, 4);
	add_samples(&lasting, 1);
	period_drop_passing(period, &sum);
	assert_int_equal(sum.graphs, 2);
	assert_int_equal(sum.samples, 5);
	assert_int_equal(period->count, 2);
	for (const struct period_graph *graph = period->graphs; graph; graph = graph->next)
		assert_true(graph->pid == 7 || graph->pid == 8);
	assert_int_equal(period->samples, 10); /* all that were taken */
}

/* Bytes that the graph has besides those that period_graph_bytes knows of. */
static void grow(struct period_graph *graph, size_t bytes)
{
	struct period_share *const share = map64_find(&period->shares, graph->group);

	period->bytes += bytes;
	share->bytes += bytes;
}

static void a_period_ends_early_when_one_has_a_half_of_it(void **state)
{
	const struct process process = process_of(5, 1);
	struct period_graph *graph = period_graph_of(period, &process);

	grow(graph, PERIOD_MAX_BYTES / 2 - 1 - period_graph_bytes(graph));
	period_note_sample(period, graph, period_graph_bytes(graph), 120 * SEC);
	assert_int_equal(period->end_ns, 160 * SEC);
	grow(graph, 1);
	period_note_sample(period, graph, period_graph_bytes(graph), 130 * SEC);
	assert_int_equal(period->end_ns, 130 * SEC + 1);
	assert_true(period->is_cut_short);
	assert_null(period_graph_of(period, &process));
	assert_int_equal(period->left_out, 1);
}

static struct process contained(pid_t pid, char digit)
{
	struct process process = process_of(pid, 1);

	memset(process.container_id, digit, 64);
	return process;
}

/* As the containers come: each takes all that it may have. */
static void whoever_fills_a_period_leaves_room_for_others(void **state)
{
	static const char digits[] = "abcdef";
	struct process processes[sizeof(digits)];
	const struct period_share *share;
	struct period_graph *graph;
	pid_t pid = 5;

	for (size_t i = 0; digits[i]; i++) {
		processes[i] = contained(pid++, digits[i]);
		graph = period_graph_of(period, &processes[i]);
		assert_non_null(graph);
		share = map64_find(&period->shares, graph->group);
		grow(graph, (PERIOD_MAX_BYTES - period->bytes - share->bytes + 1) / 2);
		/* Neither the process nor another one of the container. */
		assert_null(period_graph_of(period, &processes[i]));
		processes[i].pid += 100;
		assert_null(period_graph_of(period, &processes[i]));
		assert_int_equal(period->left_out, 2 * (i + 1));
		assert_true(period->bytes < PERIOD_MAX_BYTES);
	}
}

/* 456 processes are one container's. */
static void many_processes_of_a_container_have_one_share(void **state)
{
	const struct process victim = contained(4, 'f');
	struct process process = contained(5, 'a');
	struct period_graph *graph;

	for (; (graph = period_graph_of(period, &process)); process.pid++) {
		assert_true(process.pid < 461);
		grow(graph, PERIOD_MAX_BYTES / 400);
	}
	assert_true(period->bytes <= PERIOD_MAX_BYTES / 2 + PERIOD_MAX_BYTES / 400);
	graph = period_graph_of(period, &victim);
	assert_non_null(graph);
	grow(graph, PERIOD_MAX_BYTES / 5);
	assert_non_null(period_graph_of(period, &victim));
}

static void a_graph_says_who_pays(void **state)
{
	struct process process = contained(5, 'a');

	strcpy(process.container_id + 64, ":1234");
	assert_int_equal(strlen(period_graph_of(period, &process)->payer), 64);
	process = process_of(6, 1);
	process.owner.user = 1000;
	assert_string_equal(period_graph_of(period, &process)->payer, "user-1000");
	process = process_of(7, 1);
	process.owner.user = OWNER_NOBODY;
	assert_string_equal(period_graph_of(period, &process)->payer, "nobody");
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

	targets_init(&targets);
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
		CLAIM(graphs_of_tools_that_pass_are_dropped_and_counted),
		CLAIM(a_period_ends_early_when_one_has_a_half_of_it),
		CLAIM(whoever_fills_a_period_leaves_room_for_others),
		CLAIM(many_processes_of_a_container_have_one_share),
		CLAIM(a_graph_says_who_pays),
		CLAIM(a_flood_does_not_make_periods_of_a_moment),
		CLAIM(graphs_of_those_that_are_gone_are_taken_at_once),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
