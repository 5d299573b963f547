// SPDX-License-Identifier: Apache-2.0
/*
 * Claims about push/push_config.h and push/push_options.h: what is refused, and with what it goes.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/log.h"
#include "common/files.h"
#include "common/temp_dir.h"
#include "push/push_options.h"

#define URL "  - url: otlp+https://h:4318\n"

static char dir[TEMP_DIR_BYTES], path[TEMP_DIR_BYTES + 16];
static struct push_options options;

static int set_up(void **state)
{
	log_set_level(LOG_LEVEL_SILENT);
	temp_dir_make(dir);
	snprintf(path, sizeof(path), "%s/config", dir);
	push_options_init(&options);
	return 0;
}

static int tear_down(void **state)
{
	push_options_fini(&options);
	temp_dir_remove(dir);
	return 0;
}

static int read_config(const char *text)
{
	files_write(path, text);
	push_config_fini(&options.config);
	return push_config_read(&options.config, path);
}

static void assert_refused(const char *text)
{
	assert_int_equal(read_config(text), -EINVAL);
}

static void a_target_has_what_its_file_says(void **state)
{
	const struct push_target *const target = &options.config.targets[0];

	assert_int_equal(read_config("targets:\n" URL "    tenant: shop\n"
				     "    bearer_token_file: /t\n"
				     "    ca_file: /ca\n"
				     "    cert_file: /c\n"
				     "    key_file: /k\n"
				     "    timeout: 20s\n"
				     "  - url: pyroscope+http://h\n"
				     "    username: u\n"
				     "    password_file: /p\n"),
			 0);
	assert_int_equal(options.config.count, 2);
	assert_string_equal(target->url.name, "otlp+https://h:4318");
	assert_string_equal(target->tenant, "shop");
	assert_string_equal(target->token_file, "/t");
	assert_string_equal(target->key_file, "/k");
	assert_int_equal(target->timeout_sec, 20);
	assert_int_equal(target[1].timeout_sec, PUSH_DEFAULT_TIMEOUT_SEC);
	assert_string_equal(target[1].user, "u");
}

static void what_does_not_go_together_is_refused(void **state)
{
	assert_refused("targets:\n" URL "    username: u\n");
	assert_refused("targets:\n" URL "    password_file: u\n");
	assert_refused("targets:\n" URL "    key_file: u\n");
	assert_refused("targets:\n" URL "    tenant: u\n    tenant_file: f\n");
	assert_refused("targets:\n" URL
		       "    bearer_token_file: t\n    username: u\n    password_file: f\n");
}

static void what_is_not_known_is_refused(void **state)
{
	assert_refused("targets:\n" URL "    bearer_token: secret\n");
	assert_refused("targets:\n" URL "    timeout: 0s\n");
	assert_refused("targets:\n" URL "    timeout: 61s\n");
	assert_refused("targets:\n" URL "    timeout: 5m\n");
	assert_refused("targets:\n" URL "    tenant: [a]\n");
	assert_refused("targets:\n" URL "    tenant: ''\n");
	assert_refused("targets:\n" URL "    tenant: '  '\n");
	assert_refused("targets:\n" URL "spool: x\n");
	assert_refused("interval: 15s\ntargets:\n" URL);
	assert_refused("targets:\n  - tenant: x\n");
	assert_refused("targets:\n  - url: http://h\n");
	assert_refused("targets: x\n");
	assert_refused("target:\n" URL);
	assert_refused("");
	assert_int_equal(push_config_read(&options.config, "/nowhere/x"), -ENOENT);
}

static void a_url_is_given_once(void **state)
{
	assert_refused("targets:\n" URL URL);
	assert_refused("targets:\n" URL "    url: otlp+https://other\n");
	assert_refused("targets:\n" URL "targets:\n  - url: otlp+https://other\n");
	assert_refused("targets:\n" URL "    tenant: a\n    tenant: b\n");
	assert_int_equal(read_config("targets:\n" URL), 0);
	assert_int_equal(push_options_add_target(&options, "--push", "otlp+https://h:4318/"),
			 -EINVAL);
}

static void there_is_a_limit_of_targets(void **state)
{
	char url[64];

	for (int i = 0; i < PUSH_MAX_TARGETS; i++) {
		snprintf(url, sizeof(url), "otlp+http://h%d", i);
		assert_int_equal(push_options_add_target(&options, "--push", url), 0);
	}
	assert_int_equal(push_options_add_target(&options, "--push", "otlp+http://h"), -EINVAL);
}

static void a_label_is_a_key_and_a_value(void **state)
{
	assert_int_equal(push_options_add_label(&options, "--push-label", "env"), -EINVAL);
	assert_int_equal(push_options_add_label(&options, "--push-label", "env="), -EINVAL);
	assert_int_equal(push_options_add_label(&options, "--push-label", "a-b=c"), -EINVAL);
	assert_int_equal(push_options_add_label(&options, "--push-label", "env=prod=1"), 0);
	assert_int_equal(push_options_finish(&options), 0);
	assert_false(push_options_is_on(&options));
	assert_int_equal(push_options_add_target(&options, "--push", "otlp+http://h"), 0);
	assert_true(push_options_is_on(&options));
}

static void the_label_of_thread_pools_is_nobody_elses(void **state)
{
	assert_int_equal(push_options_add_target(&options, "--push", "otlp+http://h"), 0);
	assert_int_equal(push_options_add_label(&options, "--push-label", "thread=x"), 0);
	assert_int_equal(push_options_finish(&options), 0);
	options.by_pool = true;
	assert_int_equal(push_options_finish(&options), -EINVAL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define CONFIG(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
		CONFIG(a_target_has_what_its_file_says),
		CONFIG(what_does_not_go_together_is_refused),
		CONFIG(what_is_not_known_is_refused),
		CONFIG(a_url_is_given_once),
		CONFIG(there_is_a_limit_of_targets),
		CONFIG(a_label_is_a_key_and_a_value),
		CONFIG(the_label_of_thread_pools_is_nobody_elses),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
