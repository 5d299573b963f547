// SPDX-License-Identifier: Apache-2.0
/* Claims about push/push_url.h: where requests go to, and which URLs are refused. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <string.h>

#include "push/push_url.h"

static void assert_goes_to(const char *text, enum push_protocol protocol, const char *http)
{
	struct push_url url;
	const char *why;

	assert_int_equal(push_url_parse(text, &url, &why), 0);
	assert_int_equal(url.protocol, protocol);
	assert_string_equal(url.http, http);
}

static void assert_asks(const char *text, const char *ready)
{
	struct push_url url;
	const char *why;

	assert_int_equal(push_url_parse(text, &url, &why), 0);
	assert_string_equal(url.ready, ready);
}

static void assert_refused(const char *text)
{
	struct push_url url;
	const char *why = NULL;

	assert_int_equal(push_url_parse(text, &url, &why), -EINVAL);
	assert_non_null(why);
}

static void the_protocols_path_is_added(void **state)
{
	assert_goes_to("otlp+http://collector:4318", PUSH_OTLP,
		       "http://collector:4318/v1development/profiles");
	assert_goes_to("otlp+https://[::1]:4318/", PUSH_OTLP,
		       "https://[::1]:4318/v1development/profiles");
	assert_goes_to("pyroscope+https://example.com/base/", PUSH_PYROSCOPE,
		       "https://example.com/base/push.v1.PusherService/Push");
}

static void a_path_that_is_whole_stays(void **state)
{
	assert_goes_to("otlp+http://h/x/v1development/profiles", PUSH_OTLP,
		       "http://h/x/v1development/profiles");
}

static void the_question_goes_beside_the_protocols_path(void **state)
{
	assert_asks("pyroscope+http://h:4040", "http://h:4040/ready");
	assert_asks("pyroscope+https://h/base//", "https://h/base/ready");
	assert_asks("pyroscope+http://h/push.v1.PusherService/Push", "http://h/ready");
	assert_asks("pyroscope+http://h/base/push.v1.PusherService/Push/", "http://h/base/ready");
}

static void other_protocols_are_refused(void **state)
{
	assert_refused("http://collector:4318");
	assert_refused("otlp://collector:4318");
	assert_refused("otlp+file:///etc/passwd");
	assert_refused("jaeger+http://h");
	assert_refused("");
	assert_refused("otlp+http://");
	assert_refused("otlp+http://h:99999");
}

static void secrets_and_queries_are_refused(void **state)
{
	assert_refused("otlp+http://user:secret@h");
	assert_refused("otlp+http://user@h");
	assert_refused("otlp+http://h/?a=b");
	assert_refused("otlp+http://h/#x");
	assert_refused("otlp+http://h/x?");
	assert_refused("otlp+http://h#");
}

static void a_url_without_end_is_refused(void **state)
{
	char text[2000] = "otlp+http://h/";

	memset(text + 14, 'a', sizeof(text) - 15);
	text[sizeof(text) - 1] = '\0';
	assert_refused(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_protocols_path_is_added),
		cmocka_unit_test(a_path_that_is_whole_stays),
		cmocka_unit_test(the_question_goes_beside_the_protocols_path),
		cmocka_unit_test(other_protocols_are_refused),
		cmocka_unit_test(secrets_and_queries_are_refused),
		cmocka_unit_test(a_url_without_end_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
