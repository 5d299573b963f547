// SPDX-License-Identifier: Apache-2.0
/* A test's spool, see own_spool.h. */
#include "own_spool.h"

#include "base/log.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

char own_dir[TEMP_DIR_BYTES];
struct push_spool *own_spool;

void own_spool_open(const char *where, uint64_t max_bytes)
{
	const struct push_spool_options options = {.dir = where,
						   .name = "otlp+http://h",
						   .max_bytes = max_bytes,
						   .max_age_ns = 60 * SEC,
						   .max_memory = 1000};

	assert_int_equal(push_spool_open(&options, &own_spool), 0);
}

int own_spool_set_up(void **state)
{
	(void)state;
	log_set_level(LOG_LEVEL_SILENT);
	temp_dir_make(own_dir);
	own_spool_open(own_dir, 10000);
	return 0;
}

int own_spool_tear_down(void **state)
{
	(void)state;
	push_spool_close(own_spool);
	temp_dir_remove(own_dir);
	return 0;
}

void own_spool_reopen(void)
{
	push_spool_close(own_spool);
	own_spool_open(own_dir, 10000);
}

void own_spool_add(const char *text, uint64_t samples, uint64_t at_ns)
{
	const struct bytes body = {.data = (char *)(uintptr_t)text, .len = strlen(text)};

	push_spool_add(own_spool, &body, samples, at_ns);
}

struct push_target_stats own_spool_stats(void)
{
	struct push_target_stats ret;

	push_spool_stats(own_spool, &ret);
	assert_int_equal(ret.made.samples + ret.found.samples,
			 ret.sent.samples + ret.refused.samples + ret.in_doubt.samples +
				 ret.dropped_full.samples + ret.dropped_old.samples +
				 ret.dropped_failed.samples + ret.waiting.samples);
	return ret;
}

void own_spool_settle(const char *text, uint64_t now_ns, enum push_fate fate)
{
	struct push_entry *const entry = push_spool_take(own_spool, now_ns);
	struct bytes body = {0};

	if (!text) {
		assert_null(entry);
		return;
	}
	assert_non_null(entry);
	assert_int_equal(push_spool_load(own_spool, entry, &body), 0);
	assert_string_equal(bytes_text(&body), text);
	bytes_fini(&body);
	push_spool_settle(own_spool, entry, fate, "answers 400: bad");
}

unsigned own_spool_count_files(const char *suffix, char *ret_path)
{
	char command[256];
	FILE *listed;
	unsigned count = 0;
	char line[256];

	snprintf(command, sizeof(command), "find %s -name '*%s'", own_dir, suffix);
	listed = popen(command, "r");
	assert_non_null(listed);
	while (fgets(line, sizeof(line), listed)) {
		line[strcspn(line, "\n")] = '\0';
		if (ret_path)
			strcpy(ret_path, line);
		count++;
	}
	pclose(listed);
	return count;
}
