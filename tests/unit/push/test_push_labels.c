// SPDX-License-Identifier: Apache-2.0
/* Claims about push/push_labels.h: which labels a series has. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "push/push_labels.h"

static struct period_graph *graph;
static struct push_labels labels;

static int set_up(void **state)
{
	struct timeline *timeline;
	struct timeline_process process = {.pid = 7,
					   .title = "org.example.Shop",
					   .container = "",
					   .runtime = "OpenJDK 17",
					   .pod = "api-1",
					   .container_name = "app",
					   .name_space = "shop",
					   .image = "registry.example/shop/cart:1.4.2"};

	graph = calloc(1, sizeof(*graph));
	graph->pid = 7;
	strcpy(graph->comm, "java");
	graph->n_parts = 1;
	timeline = &graph->parts[0].timeline;
	timeline_init(timeline, 0);
	timeline_process(timeline, &process);
	labels = (struct push_labels){0};
	return 0;
}

static int tear_down(void **state)
{
	timeline_fini(&graph->parts[0].timeline);
	label_set_fini(&graph->labels);
	free(graph);
	push_labels_fini(&labels);
	return 0;
}

static void assert_label(const char *name, const char *value)
{
	const char *const found = push_labels_find(&labels, name);

	if (!value) {
		assert_null(found);
		return;
	}
	assert_non_null(found);
	assert_string_equal(found, value);
}

static void a_service_is_called_by_its_main_class_unless_it_says_another_name(void **state)
{
	push_labels_add_graph(&labels, graph, "node-1");
	assert_label("service_name", "org.example.Shop");
	push_labels_fini(&labels);
	label_set_add(&graph->labels, "resource.opentelemetry.io/service.name", "annotated");
	push_labels_add_graph(&labels, graph, "node-1");
	assert_label("service_name", "annotated");
	push_labels_fini(&labels);
	label_set_add(&graph->labels, "profiles.grafana.com/service_name", "grafana");
	push_labels_add_graph(&labels, graph, "node-1");
	assert_label("service_name", "grafana");
	push_labels_fini(&labels);
	label_set_add(&graph->labels, "service.name", "shop-api");
	push_labels_add_graph(&labels, graph, "node-1");
	assert_label("service_name", "shop-api");
}

static void what_is_known_of_the_workload_is_there(void **state)
{
	label_set_add(&graph->labels, "service.version", "1.2");
	push_labels_add_graph(&labels, graph, "node-1");
	assert_label("namespace", "shop");
	assert_label("pod", "api-1");
	assert_label("container", "app");
	assert_label("node", "node-1");
	assert_label("version", "1.2");
	assert_label("image", "registry.example/shop/cart:1.4.2");
	assert_label("__meta_fgcollect_label_image", NULL);
}

static void an_image_that_nobody_knows_is_no_label(void **state)
{
	graph->parts[0].timeline.processes[0].image = "";
	push_labels_add_graph(&labels, graph, "node-1");
	assert_label("image", NULL);
}

static void what_is_for_rules_is_not_sent(void **state)
{
	label_set_add(&graph->labels, "team/na-me", "a");
	push_labels_add_graph(&labels, graph, "node-1");
	assert_label("__meta_fgcollect_pid", "7");
	assert_label("__meta_fgcollect_label_team_na_me", "a");
	push_labels_finish(&labels, "x");
	assert_label("__meta_fgcollect_pid", NULL);
	assert_label("__meta_fgcollect_label_team_na_me", NULL);
}

static void a_service_name_is_never_missing(void **state)
{
	push_labels_finish(&labels, "Shop");
	assert_label("service_name", "Shop");
	push_labels_set(&labels, "service_name", "");
	push_labels_finish(&labels, "");
	assert_label("service_name", "unknown");
}

static void labels_are_sorted_and_no_more_than_servers_take(void **state)
{
	for (int i = 39; i >= 0; i--) {
		char name[16];

		snprintf(name, sizeof(name), "a%02d", i);
		push_labels_set(&labels, name, "v");
	}
	push_labels_set(&labels, "zebra", "v");
	push_labels_set(&labels, "thread", "main");
	push_labels_finish(&labels, "x");
	assert_int_equal(labels.count, PUSH_LABELS_SENT);
	assert_int_equal(labels.left_out, 43 - PUSH_LABELS_SENT);
	assert_label("service_name", "x");
	assert_label("thread", "main");
	for (size_t i = 1; i < labels.count; i++)
		assert_true(strcmp(labels.items[i - 1].name, labels.items[i].name) < 0);
}

static void hostile_texts_become_harmless(void **state)
{
	char *const text = malloc(100000);

	memset(text, 'x', 99999);
	text[99999] = '\0';
	push_labels_set(&labels, "9-\xff name", "a\x1b[2Jb");
	assert_label("_9___name", "a?[2Jb");
	push_labels_set(&labels, text, text);
	assert_int_equal(strlen(labels.items[1].name), PUSH_NAME_BYTES);
	assert_int_equal(strlen(labels.items[1].value), PUSH_VALUE_BYTES);
	free(text);
}

static void labels_without_room_are_counted(void **state)
{
	for (unsigned i = 0; i < PUSH_LABELS_MAX + 5; i++) {
		char name[16];

		snprintf(name, sizeof(name), "n%u", i);
		push_labels_set(&labels, name, "v");
	}
	assert_int_equal(labels.count, PUSH_LABELS_MAX);
	assert_int_equal(labels.left_out, 5);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define LABELS(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
		LABELS(a_service_is_called_by_its_main_class_unless_it_says_another_name),
		LABELS(what_is_known_of_the_workload_is_there),
		LABELS(an_image_that_nobody_knows_is_no_label),
		LABELS(what_is_for_rules_is_not_sent),
		LABELS(a_service_name_is_never_missing),
		LABELS(labels_are_sorted_and_no_more_than_servers_take),
		LABELS(hostile_texts_become_harmless),
		LABELS(labels_without_room_are_counted),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
