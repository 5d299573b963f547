// SPDX-License-Identifier: Apache-2.0
/* Claims about publish/publish_request.h. */
#include "publish/publish_request.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <limits.h>
#include <string.h>

static struct publish_request parsed(const char *text)
{
	struct publish_request request;

	assert_null(publish_request_parse(text, strlen(text), &request));
	return request;
}

static void check_refused(const char *text, const char *why)
{
	struct publish_request request = {.pid = 17};
	const char *const told = publish_request_parse(text, strlen(text), &request);

	assert_non_null(told);
	assert_non_null(strstr(told, why));
	assert_int_equal(request.pid, 17);
}

static void requests_say_what_is_asked_for(void **state)
{
	assert_int_equal(parsed("jvms").form, PUBLISH_JVMS);
	assert_int_equal(parsed("jvms\n").from, 0);
	assert_int_equal(parsed("jvms 4711").from, 4711);
	assert_int_equal(parsed("code.wire 17 18\n").form, PUBLISH_CODE_WIRE);
	assert_int_equal(parsed("code.json 17 18").form, PUBLISH_CODE_JSON);
	assert_int_equal(parsed("code.wire 17 18 19").pid, 17);
	assert_int_equal(parsed("code.wire 17 18 19").start_ticks, 18);
	assert_int_equal(parsed("code.wire 17 18 19").from, 19);
	assert_true(parsed("code.wire 1 18446744073709551615").start_ticks == UINT64_MAX);
}

static void other_words_are_refused(void **state)
{
	check_refused("", "none of jvms");
	check_refused("\n", "none of jvms");
	check_refused("jvm", "none of jvms");
	check_refused("jvmsx", "none of jvms");
	check_refused(" jvms", "none of jvms");
	check_refused("code.wire", "a PID");
	check_refused("code.wire 0 1", "a PID");
	check_refused("code.wire 2147483648 1", "a PID");
	check_refused("code.wire -1 1", "a PID");
	check_refused("code.wire 17", "a start time");
	check_refused("code.wire 17 x", "a start time");
	check_refused("code.wire 17 18446744073709551616", "a start time");
	check_refused("code.wire 17  18", "a start time");
	check_refused("code.wire 17 18 x", "FROM");
	check_refused("code.wire 17 18 19 20", "more words");
	check_refused("jvms 17 18", "more words");
}

/* Nothing behind its length is read, and a NUL is no end. */
static void bytes_are_no_text(void **state)
{
	struct publish_request request;

	assert_null(publish_request_parse("jvmsx", 4, &request));
	assert_non_null(publish_request_parse("jvms\0", 5, &request));
	assert_non_null(publish_request_parse("\xff\xfe", 2, &request));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(requests_say_what_is_asked_for),
		cmocka_unit_test(other_words_are_refused),
		cmocka_unit_test(bytes_are_no_text),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
