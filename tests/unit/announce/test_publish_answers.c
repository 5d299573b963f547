// SPDX-License-Identifier: Apache-2.0
/* Claims about announce/publish_answers.h: an agent of this very process has spoken. */
#include "announce/publish_answers.h"

#include "spoken_agent.h"

#include "base/json_value.h"
#include "base/log.h"
#include "common/temp_dir.h"
#include "publish/publish_entry.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define ADDR   UINT64_C(0x7f0000000000)
#define PLACES 1024u

static char dir[TEMP_DIR_BYTES];
static struct publish_batch *answer;

static int set_up(void **state)
{
	log_set_level(LOG_LEVEL_SILENT);
	temp_dir_make(dir);
	agent_init();
	agent_hear(INTAKE_OPENED, NULL);
	agent_say_all();
	return 0;
}

static int tear_down(void **state)
{
	publish_batch_free(answer);
	answer = NULL;
	targets_fini(&agent_engine.targets);
	temp_dir_remove(dir);
	return 0;
}

static void ask(const char *request)
{
	publish_batch_free(answer);
	answer = publish_answer(&agent_engine.targets, request, strlen(request));
	assert_non_null(answer);
	assert_true(answer->is_answer);
	assert_true(answer->bytes.len <= PUBLISH_BATCH_MOST);
}

static void ask_code(const char *form, uint64_t from)
{
	char request[128];

	snprintf(request, sizeof(request), "%s %d %" PRIu64 " %" PRIu64, form, (int)getpid(),
		 agent_session.start_ticks, from);
	ask(request);
}

static void check_error(const char *why, bool is_again)
{
	json_t *line;

	assert_int_equal(answer->form, PUBLISH_ERROR);
	line = json_loadb(answer->bytes.data, answer->bytes.len, 0, NULL);
	assert_non_null(line);
	assert_non_null(strstr(json_value_text(line, "error"), why));
	assert_true(strlen(json_value_text(line, "example")) > 0);
	assert_int_equal(json_value_bool(line, "again"), is_again);
	json_decref(line);
}

static void say_drop(uint64_t addr)
{
	wire_encode_method_unload(&agent_buf, &(struct wire_method_unload){.addr = addr});
	agent_say();
}

static void jvms_have_what_identifies_them(void **state)
{
	json_t *row;

	ask("jvms");
	assert_int_equal(answer->form, PUBLISH_JVMS);
	assert_int_equal(answer->count, 1);
	assert_int_equal(answer->more, 0);
	row = json_loadb(answer->bytes.data, answer->bytes.len, 0, NULL);
	assert_int_equal(json_value_int(row, "pid"), getpid());
	assert_int_equal(json_value_int(row, "start_ticks"), agent_session.start_ticks);
	json_decref(row);
	ask("jvms 4194305");
	assert_int_equal(answer->count, 0);
}

static void wrong_requests_are_told_why(void **state)
{
	char request[64];

	ask("hello");
	check_error("none of jvms", false);
	snprintf(request, sizeof(request), "code.wire %d 1", (int)getpid());
	ask(request);
	check_error("no JVM with this PID and start time", false);
	ask_code("code.wire", 1);
	check_error("FROM is of another walk", false);
}

static void jvm_that_tells_its_code_is_asked_again(void **state)
{
	agent_say_resync(WIRE_RESYNC_BEGIN);
	ask_code("code.wire", 0);
	check_error("ask again", true);
	agent_say_resync(WIRE_RESYNC_END);
	ask_code("code.wire", 0);
	assert_int_equal(answer->form, PUBLISH_CODE_WIRE);
}

/* Between two pages. */
static void jvm_that_ends_has_no_code_any_more(void **state)
{
	uint64_t more;

	for (uint32_t n = 0; n < PUBLISH_ANSWER_RANGES + 1; n++)
		agent_say_load(ADDR + 64 * n, 64, "Lcom/x/A;", "run");
	ask_code("code.wire", 0);
	more = answer->more;
	assert_true(more > 0);
	wire_encode_bye(&agent_buf, &(struct wire_bye){.reason = 1});
	agent_say();
	ask_code("code.wire", more);
	check_error("ended", false);
}

/* A new session is another walk. */
static void agent_that_connects_anew_begins_another_walk(void **state)
{
	uint64_t more;

	for (uint32_t n = 0; n < PUBLISH_ANSWER_RANGES + 1; n++)
		agent_say_load(ADDR + 64 * n, 64, "Lcom/x/A;", "run");
	ask_code("code.wire", 0);
	more = answer->more;
	agent_hear(INTAKE_CLOSED, NULL);
	agent_session.id++;
	agent_hear(INTAKE_OPENED, NULL);
	agent_say_all();
	ask_code("code.wire", more);
	check_error("FROM is of another walk", false);
}

static void pages_have_all_code_once(void **state)
{
	const uint32_t ranges = 2 * PUBLISH_ANSWER_RANGES + 10;
	uint32_t pages = 0, count = 0;
	uint64_t from = 0;

	for (uint32_t n = 0; n < ranges; n++)
		agent_say_load(ADDR + 64 * n, 64, "Lcom/x/A;", "run");
	do {
		ask_code("code.wire", from);
		assert_in_range(answer->count, 0, PUBLISH_ANSWER_RANGES);
		count += answer->count;
		from = answer->more;
		pages++;
	} while (from);
	assert_int_equal(count, ranges);
	assert_int_equal(pages, 3);
}

/* Also if each character takes two in JSON. */
static void page_of_long_names_fits_a_message(void **state)
{
	static const char *const forms[] = {"code.wire", "code.json"};
	char name[1024], class_name[1000];

	memset(name, '"', sizeof(name) - 1);
	name[sizeof(name) - 1] = '\0';
	snprintf(class_name, sizeof(class_name), "L%.900s;", name);
	for (uint32_t n = 0; n < 100; n++)
		agent_say_load(ADDR + 64 * n, 64, class_name, name);
	for (size_t i = 0; i < 2; i++) {
		uint64_t from = 0;
		uint32_t count = 0;

		do {
			ask_code(forms[i], from); /* checks the length */
			assert_true(answer->count > 0);
			count += answer->count;
			from = answer->more;
		} while (from);
		assert_int_equal(count, 100);
	}
}

/* ---- a subscriber's map ---- */

/* Of each place the size of the code that begins there; 0: none does. */
static uint32_t known[PLACES];

static void know(uint64_t place, uint32_t size)
{
	for (uint64_t i = place < 7 ? 0 : place - 7; i < place + size / 64 && i < PLACES; i++)
		if (i + known[i] / 64 > place)
			known[i] = 0;
	known[place] = size;
}

static void know_page(void)
{
	struct publish_entry entry;
	size_t pos = 0;

	while (publish_entry_next(answer->bytes.data, answer->bytes.len, &pos, &entry) == 1)
		know((entry.addr - ADDR) / 64, entry.size);
}

/* What the agent says, and a subscriber hears. */
static void churn(void)
{
	const uint64_t place = (uint64_t)(rand() % (int)PLACES);

	if (rand() % 3 == 0) {
		say_drop(ADDR + 64 * place);
		known[place] = 0;
	} else {
		const uint32_t size = 64 * (1 + (uint32_t)rand() % 7);

		agent_say_load(ADDR + 64 * place, size, "Lcom/x/A;", "run");
		know(place, size);
	}
}

static void check_known(void)
{
	const struct process *const process = targets_find(&agent_engine.targets, getpid());

	for (uint64_t i = 0; i < PLACES; i++) {
		const struct code_range *const range =
			code_map_living(process->code, ADDR + 64 * i);

		assert_int_equal(known[i], range ? range->size : 0);
	}
}

/* Each page is taken at its place among the events, which begin with the first page. */
static void pages_and_the_events_since_make_the_map(void **state)
{
	srand(1);
	for (int round = 0; round < 20; round++) {
		uint64_t from = 0;

		for (int i = 0; i < 1000; i++)
			churn();
		memset(known, 0, sizeof(known));
		do {
			ask_code(round % 2 ? "code.json" : "code.wire", from);
			know_page();
			from = answer->more;
			for (int i = 0; i < 50; i++)
				churn();
		} while (from);
		check_known();
	}
}

int main(void)
{
#define CLAIM(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
	const struct CMUnitTest tests[] = {
		CLAIM(jvms_have_what_identifies_them),
		CLAIM(wrong_requests_are_told_why),
		CLAIM(jvm_that_tells_its_code_is_asked_again),
		CLAIM(jvm_that_ends_has_no_code_any_more),
		CLAIM(agent_that_connects_anew_begins_another_walk),
		CLAIM(pages_have_all_code_once),
		CLAIM(page_of_long_names_fits_a_message),
		CLAIM(pages_and_the_events_since_make_the_map),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
