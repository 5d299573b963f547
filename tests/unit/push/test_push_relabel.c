// SPDX-License-Identifier: Apache-2.0
/* Claims about push/push_relabel.h: rules do what Prometheus's do. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/log.h"
#include "common/temp_dir.h"
#include "push/push_relabel.h"

static char dir[TEMP_DIR_BYTES], path[TEMP_DIR_BYTES + 16];
static struct push_labels labels;
static struct push_relabel *rules;

static int set_up(void **state)
{
	temp_dir_make(dir);
	snprintf(path, sizeof(path), "%s/rules", dir);
	labels = (struct push_labels){0};
	push_labels_set(&labels, "service_name", "Shop");
	push_labels_set(&labels, "namespace", "prod-eu");
	push_labels_set(&labels, "__meta_fgcollect_label_team", "core");
	rules = NULL;
	log_set_level(LOG_LEVEL_SILENT);
	return 0;
}

static int tear_down(void **state)
{
	push_relabel_free(rules);
	push_labels_fini(&labels);
	temp_dir_remove(dir);
	return 0;
}

static int read_rules(const char *text)
{
	FILE *const file = fopen(path, "w");

	assert_non_null(file);
	fputs(text, file);
	fclose(file);
	push_relabel_free(rules);
	rules = NULL;
	return push_relabel_read(path, &rules);
}

static bool apply(const char *text)
{
	assert_int_equal(read_rules(text), 0);
	return push_relabel_apply(rules, &labels);
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

static void assert_refused(const char *text)
{
	assert_int_equal(read_rules(text), -EINVAL);
	assert_null(rules);
}

static void what_is_not_kept_is_not_wanted(void **state)
{
	assert_true(apply("- {source_labels: [namespace], regex: prod-.*, action: keep}"));
	assert_false(apply("- {source_labels: [namespace], regex: prod, action: keep}"));
	assert_false(apply("- {source_labels: [namespace], regex: test-.*, action: keep}"));
	assert_false(apply("- {source_labels: [nothing], regex: .+, action: keep}"));
}

static void what_is_dropped_is_not_wanted(void **state)
{
	assert_false(apply("- {source_labels: [namespace], regex: prod-.*, action: drop}"));
	assert_true(apply("- {source_labels: [namespace], regex: prod, action: drop}"));
}

static void groups_become_a_new_value(void **state)
{
	assert_true(apply("- source_labels: [namespace, service_name]\n"
			  "  regex: (\\w+)-(.*);(.*)\n"
			  "  target_label: service_name\n"
			  "  replacement: ${2}/$3 $$1\n"));
	assert_label("service_name", "eu/Shop $1");
}

static void the_defaults_copy_a_label(void **state)
{
	assert_true(apply("relabel_configs:\n"
			  "- source_labels: [__meta_fgcollect_label_team]\n"
			  "  target_label: team\n"));
	assert_label("team", "core");
}

static void sources_are_joined_by_the_separator(void **state)
{
	assert_true(apply("- {source_labels: [namespace, nothing, service_name], separator: '/', "
			  "target_label: x}"));
	assert_label("x", "prod-eu//Shop");
}

static void an_empty_value_removes_a_label(void **state)
{
	assert_true(apply("- {target_label: namespace, replacement: ''}"));
	assert_label("namespace", NULL);
}

static void what_does_not_fit_is_not_replaced(void **state)
{
	assert_true(apply("- {source_labels: [namespace], regex: test, target_label: namespace, "
			  "replacement: x}"));
	assert_label("namespace", "prod-eu");
}

static void names_are_mapped(void **state)
{
	assert_true(apply("- {action: labelmap, regex: __meta_fgcollect_label_(.+)}"));
	assert_label("team", "core");
	assert_label("__meta_fgcollect_label_team", "core");
}

static void names_are_dropped_or_kept(void **state)
{
	assert_true(apply("- {action: labeldrop, regex: name.*}"));
	assert_label("namespace", NULL);
	assert_label("service_name", "Shop");
	assert_true(apply("- {action: labelkeep, regex: team}"));
	assert_int_equal(labels.count, 0);
}

static void case_is_changed(void **state)
{
	assert_true(apply("- {action: uppercase, source_labels: [namespace], target_label: a}\n"
			  "- {action: lowercase, source_labels: [service_name], target_label: b}"));
	assert_label("a", "PROD-EU");
	assert_label("b", "shop");
}

static void rules_are_applied_in_order_until_one_says_no(void **state)
{
	assert_false(apply("- {target_label: a, replacement: x}\n"
			   "- {source_labels: [a], regex: x, action: drop}\n"
			   "- {target_label: b, replacement: y}"));
	assert_label("a", "x");
	assert_label("b", NULL);
}

static void an_empty_file_has_no_rules(void **state)
{
	assert_true(apply(""));
	assert_true(apply("[]"));
}

static void what_is_not_known_is_refused(void **state)
{
	assert_refused("- {action: hashmod, target_label: a}");
	assert_refused("- {source_label: [a]}");
	assert_refused("- {source_labels: a}");
	assert_refused("- {regex: '(?:a)', target_label: a}");
	assert_refused("- {regex: '\\d+', target_label: a}");
	assert_refused("- {regex: '(a', target_label: a}");
	assert_refused("- {regex: 'a\\', target_label: a}");
	assert_refused("- {target_label: a, replacement: '${name}'}");
	assert_refused("- {target_label: 'a-b'}");
	assert_refused("- {action: replace}");
	assert_refused("- word");
	assert_refused("word");
	assert_refused("- {target_label: a, target_label: b}");
	assert_refused("rules: []");
	assert_refused("relabel_configs: []\nother: []");
	assert_refused("- {a: [");
}

static void many_rules_are_refused(void **state)
{
	char text[129 * 24 + 1] = "";

	for (int i = 0; i < 129; i++)
		strcat(text, "- {target_label: a}\n");
	assert_refused(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define RULES(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
		RULES(what_is_not_kept_is_not_wanted),
		RULES(what_is_dropped_is_not_wanted),
		RULES(groups_become_a_new_value),
		RULES(the_defaults_copy_a_label),
		RULES(sources_are_joined_by_the_separator),
		RULES(an_empty_value_removes_a_label),
		RULES(what_does_not_fit_is_not_replaced),
		RULES(names_are_mapped),
		RULES(names_are_dropped_or_kept),
		RULES(case_is_changed),
		RULES(rules_are_applied_in_order_until_one_says_no),
		RULES(an_empty_file_has_no_rules),
		RULES(what_is_not_known_is_refused),
		RULES(many_rules_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
