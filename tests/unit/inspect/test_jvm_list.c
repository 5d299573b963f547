// SPDX-License-Identifier: Apache-2.0
/* The table of JVMs: what agents say of themselves reaches root's terminal only as text. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "../process/own_jvm.h"
#include "files/table_cache.h"
#include "guard/guard.h"
#include "inspect/jvm_list.h"
#include "recording/recording.h"

static char *print(json_t *list)
{
	char *text = NULL;
	size_t len = 0;
	FILE *stream = open_memstream(&text, &len);

	jvm_list_print(list, stream);
	fclose(stream);
	json_decref(list);
	return text;
}

static void escapes_of_agents_are_shown_as_text(void **state)
{
	json_t *list = json_pack("{s:[{s:i,s:i,s:s,s:s,s:s,s:s,s:s}]}", "jvms", "pid", 4711,
				 "inner_pid", 1, "container", "\x1b]0;x\a", "state", "current",
				 "jvm_version", "\x1b[2J17", "command",
				 "a\nb\x7f\xc2\x9b"
				 "31mJ\xc3\xa4va\xe2\x80\xae\xef\xbb\xbf",
				 "shadowed_by", "/tmp/\x1b[1m");
	char *text = print(list);

	assert_null(strpbrk(text, "\x1b\a\x7f"));
	assert_null(strstr(text, "\xc2\x9b"));
	assert_non_null(strstr(text, "a?b??31mJ\xc3\xa4va??\n"));
	assert_non_null(strstr(text, "?[2J17"));
	free(text);
}

static void losses_add_up_and_end_at_the_greatest(void **state)
{
	json_t *list = json_pack("{s:[{s:i,s:i,s:i,s:{s:I,s:I}}]}", "jvms", "pid", 1, "gaps", 2,
				 "bad_records", 3, "lost_by_agent", "buffer full",
				 (json_int_t)INT64_MAX, "no memory", (json_int_t)INT64_MAX);
	char *text = print(list);

	assert_non_null(strstr(text, " 9223372036854775807 "));
	free(text);
	text = print(
		json_pack("{s:[{s:i,s:i,s:i}]}", "jvms", "pid", 1, "gaps", 2, "bad_records", 3));
	assert_non_null(strstr(text, "      5  "));
	free(text);
}

static void nothing_is_printed_of_nothing(void **state)
{
	char *text = print(json_pack("{s:[]}", "jvms"));

	assert_string_equal(text, "");
	free(text);
}

static void what_the_collector_refused_is_shown(void **state)
{
	const struct targets targets = {.refused_sessions = 2};
	const struct intake_stats intake = {.refused = 3};
	json_t *const collector = json_object();
	char *text;

	counters_put(collector, &intake_counters, &intake);
	counters_put(collector, &targets_counters, &targets);
	text = print(jvm_list_to_json(&targets, collector));
	assert_string_equal(text, "collector: 3 refused connections, 2 refused sessions\n");
	free(text);
}

static void unnamed_interpreted_frames_are_shown_by_reason(void **state)
{
	const json_t *unnamed;
	struct process *process;
	struct targets targets;
	json_t *list;

	targets_init(&targets);
	process = own_jvm_in(&targets);
	process->jvm->unnamed_methods[JAVA_METHODS_NO_PERMISSION] = 3;
	list = jvm_list_to_json(&targets, json_object());
	unnamed = json_object_get(json_array_get(json_object_get(list, "jvms"), 0),
				  "unnamed_interpreted");
	assert_int_equal(json_object_size(unnamed), 1);
	assert_int_equal(json_integer_value(json_object_get(unnamed, "no permission")), 3);
	json_decref(list);
	targets_fini(&targets);
}

static void labels_without_room_in_a_process_are_counted_with_those_of_containers(void **state)
{
	struct containers_stats stats;
	struct process *process;
	struct targets targets;

	targets_init(&targets);
	process = own_jvm_in(&targets);
	for (int i = 0; i < LABEL_SET_MAX + 2; i++) {
		char key[16];

		snprintf(key, sizeof(key), "key%d", i);
		label_set_add(&process->workload.labels, key, "v");
	}
	targets_count_containers(&targets, &stats);
	assert_int_equal(stats.labels_left_out, 2);
	targets_fini(&targets);
}

static void check_probe(const struct process *process, const char *probe, const char *state)
{
	json_t *row = jvm_list_row(process);
	const json_t *probes = json_object_get(row, "probes");

	assert_string_equal(json_string_value(json_object_get(probes, probe)), state);
	json_decref(row);
}

static void set_offers(struct process *process, int64_t alloc, int64_t lock)
{
	const struct wire_value values[] = {{wire_str_from("probes.alloc"), alloc},
					    {wire_str_from("probes.lock"), lock}};
	uint8_t bytes[256];
	struct wire_buf buf = {.data = bytes, .size = sizeof(bytes)};

	wire_encode_hello(&buf, &(struct wire_hello){.n_values = 2}, NULL, values);
	own_jvm_hear(process, &buf, 1);
}

static void each_probe_says_how_it_is(void **state)
{
	struct process *process;
	struct targets targets;

	targets_init(&targets);
	process = own_jvm_in(&targets);
	check_probe(process, "alloc", "unknown");
	set_offers(process, 0, 1);
	check_probe(process, "alloc", "not available");
	check_probe(process, "lock", "off");
	process->jvm->probes.flags = WIRE_PROBES_LOCK | WIRE_PROBES_ALLOC_REFUSED;
	check_probe(process, "lock", "on");
	set_offers(process, 1, 1);
	process->jvm->probes.flags = WIRE_PROBES_LOCK_REFUSED | WIRE_PROBES_ALLOC;
	check_probe(process, "alloc", "on");
	check_probe(process, "lock", "refused");
	targets_fini(&targets);
}

static json_t *collector;

static int begin_collector(void **state)
{
	collector = json_object();
	return 0;
}

static int end_collector(void **state)
{
	json_decref(collector);
	return 0;
}

static json_int_t count_at(const char *group, const char *key)
{
	const json_t *object = json_object_get(collector, group);

	assert_true(json_is_integer(json_object_get(object, key)));
	return json_integer_value(json_object_get(object, key));
}

static void how_stacks_ended_is_in_the_json(void **state)
{
	struct unwinder_stats stacks = {.joined = 1,
					.extended = 2,
					.unread_code = 3,
					.reads = 4,
					.unread_stacks = 5,
					.unread_instructions = 6,
					.in_heap = 7,
					.heap_gaps = 8};
	const json_t *ends;

	for (int end = 0; end < STACK_ENDS; end++)
		stacks.ends[end] = (uint64_t)end + 100;
	counters_put(collector, &unwinder_counters, &stacks);
	ends = json_object_get(json_object_get(collector, "stacks"), "ends");
	assert_int_equal(json_object_size(ends), STACK_ENDS);
	for (int end = 0; end < STACK_ENDS; end++)
		assert_int_equal(json_integer_value(json_object_get(
					 ends, stack_end_name((enum stack_end)end))),
				 end + 100);
	assert_int_equal(count_at("stacks", "joined"), 1);
	assert_int_equal(count_at("stacks", "extended"), 2);
	assert_int_equal(count_at("stacks", "unread_code"), 3);
	assert_int_equal(count_at("stacks", "reads"), 4);
	assert_int_equal(count_at("stacks", "unread_stacks"), 5);
	assert_int_equal(count_at("stacks", "unread_instructions"), 6);
	assert_int_equal(count_at("stacks", "in_heap"), 7);
	assert_int_equal(count_at("stacks", "heap_gaps"), 8);
}

static void tables_of_each_kind_are_in_the_json(void **state)
{
	static const char *const keys[] = {"tables", "failed", "bytes", "loads", "hits", "evicted"};
	const struct table_stats unwind = {4, 5, 6, 7, 8, 9, 16, 5000000, 2, 17, 0};
	const struct table_stats symbols = {10, 11, 12, 13, 14, 15, 0, 0, 0, 18, 0};
	const struct table_stats probes = {50, 51, 52, 53, 54, 55, 56, 0, 0, 57, 58};

	counters_put(collector, &unwind_table_counters, &unwind);
	counters_put(collector, &symbol_table_counters, &symbols);
	counters_put(collector, &probe_table_counters, &probes);
	assert_int_equal(count_at("unwind_tables", "put_off"), 16);
	assert_int_equal(count_at("unwind_tables", "load_ms"), 5);
	assert_int_equal(count_at("unwind_tables", "loading"), 2);
	assert_int_equal(count_at("unwind_tables", "stuck"), 17);
	assert_int_equal(count_at("symbol_tables", "stuck"), 18);
	assert_int_equal(count_at("probe_tables", "stuck"), 57);
	assert_int_equal(count_at("probe_tables", "points_left_out"), 58);
	for (int i = 0; i < 6; i++) {
		assert_int_equal(count_at("unwind_tables", keys[i]), 4 + i);
		assert_int_equal(count_at("symbol_tables", keys[i]), 10 + i);
		assert_int_equal(count_at("probe_tables", keys[i]), 50 + i);
	}
}

static void what_waits_for_files_is_in_the_json(void **state)
{
	const struct table_cache_stats files = {
		.max_bytes = 1, .files = 2, .descriptors = 3, .descriptors_closed = 4};
	const struct recording_counts recordings = {
		.waits = 5, .hurried = 6, .unread = 7, .received = 8, .lost = 9};
	const struct guard_stats guard = {40, 41, 42, 43};
	const struct kernel_code_stats kernel = {20, 21, 25, 22, 23, 24, 26};
	const struct foreign_upkeep foreign = {
		.stats = {.maps = {.refused = 30}, .refused = 31, .unread = 32}, .put_off = 33};

	counters_put(collector, &table_cache_counters, &files);
	counters_put(collector, &recording_counters, &recordings);
	counters_put(collector, &guard_counters, &guard);
	counters_put(collector, &kernel_code_counters, &kernel);
	counters_put(collector, &foreign_upkeep_counters, &foreign);
	counters_put(collector, &foreign_reader_counters, &foreign.stats);
	assert_int_equal(count_at("files", "max_table_bytes"), 1);
	assert_int_equal(count_at("files", "known"), 2);
	assert_int_equal(count_at("files", "descriptors"), 3);
	assert_int_equal(count_at("files", "descriptors_closed"), 4);
	assert_int_equal(count_at("recordings", "samples_waited"), 5);
	assert_int_equal(count_at("recordings", "samples_hurried"), 6);
	assert_int_equal(count_at("recordings", "processes_unread"), 7);
	assert_int_equal(count_at("recordings", "process_records"), 8);
	assert_int_equal(count_at("recordings", "process_records_lost"), 9);
	assert_int_equal(count_at("guarded", "unanswered"), 40);
	assert_int_equal(count_at("guarded", "late_calls"), 41);
	assert_int_equal(count_at("guarded", "paused_calls"), 42);
	assert_int_equal(count_at("guarded", "left_calls"), 43);
	assert_int_equal(count_at("kernel", "symbols"), 20);
	assert_int_equal(count_at("kernel", "reads"), 21);
	assert_int_equal(count_at("kernel", "late"), 25);
	assert_int_equal(count_at("kernel", "told"), 22);
	assert_int_equal(count_at("kernel", "lost"), 23);
	assert_int_equal(count_at("kernel", "unnamed"), 24);
	assert_int_equal(count_at("foreign_maps", "refused_lines"), 30);
	assert_int_equal(count_at("foreign_maps", "refused_files"), 31);
	assert_int_equal(count_at("foreign_maps", "too_large"), 32);
	assert_int_equal(count_at("foreign_maps", "put_off"), 33);
}

static void what_is_no_loss_is_not_shown_to_people(void **state)
{
	const struct unwinder_stats stacks = {.ends = {1, 2}};
	const struct table_stats tables = {.tables = 3};
	struct targets targets = {0};
	char *text;

	counters_put(collector, &unwinder_counters, &stacks);
	counters_put(collector, &unwind_table_counters, &tables);
	text = print(jvm_list_to_json(&targets, json_incref(collector)));
	assert_string_equal(text, "");
	free(text);
}

#define COLLECTOR(name) cmocka_unit_test_setup_teardown(name, begin_collector, end_collector)

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(escapes_of_agents_are_shown_as_text),
		cmocka_unit_test(losses_add_up_and_end_at_the_greatest),
		cmocka_unit_test(what_the_collector_refused_is_shown),
		cmocka_unit_test(unnamed_interpreted_frames_are_shown_by_reason),
		cmocka_unit_test(
			labels_without_room_in_a_process_are_counted_with_those_of_containers),
		cmocka_unit_test(each_probe_says_how_it_is),
		cmocka_unit_test(nothing_is_printed_of_nothing),
		COLLECTOR(how_stacks_ended_is_in_the_json),
		COLLECTOR(tables_of_each_kind_are_in_the_json),
		COLLECTOR(what_waits_for_files_is_in_the_json),
		COLLECTOR(what_is_no_loss_is_not_shown_to_people),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
