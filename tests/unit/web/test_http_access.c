// SPDX-License-Identifier: Apache-2.0
/* Who may see what the store has. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/log.h"
#include "common/files.h"
#include "common/temp_dir.h"
#include "web/http_access.h"

#define TOKEN "0123456789abcdef0123"

static char dir[TEMP_DIR_BYTES];
static char path[TEMP_DIR_BYTES + 32];
static struct http_access server;
static bool is_local, is_tls; /* what requests come over */
static struct log_catch caught;

static int set_up(void **state)
{
	temp_dir_make(dir);
	snprintf(path, sizeof(path), "%s/token", dir);
	server = (struct http_access){0};
	is_local = is_tls = false;
	caught = (struct log_catch){0};
	log_catch(&caught);
	return 0;
}

static int tear_down(void **state)
{
	log_catch(NULL);
	http_token_close(&server.token);
	temp_dir_remove(dir);
	return 0;
}

static void write_token(const char *text, mode_t mode)
{
	FILE *const file = fopen(path, "w");

	assert_non_null(file);
	fputs(text, file);
	fclose(file);
	assert_int_equal(chmod(path, mode), 0);
}

static void use_token(const char *text, mode_t mode)
{
	write_token(text, mode);
	server.has_token = true;
	http_token_close(&server.token);
	http_token_open(&server.token, path);
}

static void check(enum http_verdict verdict, const char *token, bool has_certificate)
{
	const struct http_shown shown = {.is_local = is_local,
					 .is_tls = is_tls,
					 .token = token,
					 .has_certificate = has_certificate};

	assert_int_equal(http_access_judge(&server, &shown, true), verdict);
	assert_int_equal(http_access_judge(&server, &shown, false), verdict);
	assert_int_equal(!http_access_say(verdict), verdict == HTTP_ALLOWED);
}

static void loopback_is_for_everybody(void **state)
{
	is_local = true;
	check(HTTP_ALLOWED, NULL, false);
}

static void elsewhere_nobody_may_look(void **state)
{
	check(HTTP_FORBIDDEN, NULL, false);
	check(HTTP_FORBIDDEN, "", false);
	check(HTTP_FORBIDDEN, TOKEN, true);
}

static void whoever_has_the_token_may_look(void **state)
{
	use_token("  " TOKEN " \nrest\n", 0600);
	check(HTTP_ALLOWED, TOKEN, false);
	check(HTTP_ASKED, NULL, false);
	check(HTTP_ASKED, "", false);
	check(HTTP_ASKED, TOKEN "4", false);
	check(HTTP_ASKED, "1123456789abcdef0123", false);
	check(HTTP_ASKED, "0123456789abcdef012", false);
	is_local = true; /* other users of the host have no token */
	check(HTTP_ASKED, NULL, false);
}

static void whoever_has_a_certificate_may_look(void **state)
{
	server.has_ca = true;
	is_tls = true;
	check(HTTP_ALLOWED, NULL, true);
	check(HTTP_UNCERTAIN, NULL, false);
	check(HTTP_UNCERTAIN, TOKEN, false);
	use_token(TOKEN, 0600);
	check(HTTP_ALLOWED, NULL, true);
	check(HTTP_ALLOWED, TOKEN, false);
	check(HTTP_ASKED, NULL, false);
}

static void a_unix_socket_needs_no_certificate(void **state)
{
	server.has_ca = true;
	is_local = true;
	check(HTTP_ALLOWED, NULL, false);
	is_tls = true;
	check(HTTP_UNCERTAIN, NULL, false);
	is_tls = false;
	is_local = false;
	check(HTTP_FORBIDDEN, NULL, false);
	is_local = true;
	use_token(TOKEN, 0600);
	check(HTTP_ASKED, NULL, false);
	check(HTTP_ALLOWED, TOKEN, false);
}

static void pages_of_other_sites_get_no_data(void **state)
{
	static const char *const others[] = {"cross-site", "same-site", "Cross-Site", "x", ""};

	is_local = true;
	for (size_t i = 0; i < sizeof(others) / sizeof(*others); i++) {
		const struct http_shown shown = {.is_local = true, .fetch_site = others[i]};

		assert_int_equal(http_access_judge(&server, &shown, true), HTTP_CROSS);
		assert_int_equal(http_access_judge(&server, &shown, false), HTTP_ALLOWED);
	}
	assert_int_equal(http_access_judge(&server,
					   &(struct http_shown){.is_local = true,
								.fetch_site = "same-origin"},
					   true),
			 HTTP_ALLOWED);
	assert_int_equal(
		http_access_judge(&server,
				  &(struct http_shown){.is_local = true, .fetch_site = "none"},
				  true),
		HTTP_ALLOWED);
}

static void a_bad_file_lets_nobody_in(void **state)
{
	char most[HTTP_TOKEN_MOST + 3];

	use_token(TOKEN, 0644);
	check(HTTP_ASKED, TOKEN, false);
	assert_non_null(strstr(caught.errors, "chmod 600"));
	use_token("short\n", 0600);
	check(HTTP_ASKED, "short", false);
	use_token("\n", 0600);
	check(HTTP_ASKED, "", false);
	memset(most, 'x', sizeof(most) - 1);
	most[sizeof(most) - 1] = '\0';
	use_token(most, 0600);
	check(HTTP_ASKED, most, false);
	most[HTTP_TOKEN_MOST] = '\0';
	use_token(most, 0600);
	check(HTTP_ALLOWED, most, false);
	assert_int_equal(unlink(path), 0);
	assert_int_equal(mkdir(path, 0700), 0);
	http_token_close(&server.token);
	assert_true(http_token_open(&server.token, path) < 0);
	assert_int_equal(rmdir(path), 0);
	assert_int_equal(mkfifo(path, 0600), 0); /* is not waited for */
	http_token_close(&server.token);
	assert_int_equal(http_token_open(&server.token, path), -EBADF);
	check(HTTP_ASKED, "", false);
}

static void a_file_that_changes_is_read_again(void **state)
{
	use_token(TOKEN, 0600);
	assert_int_equal(unlink(path), 0);
	write_token("another-token-0123456789", 0600);
	check(HTTP_ALLOWED, TOKEN, false);
	http_token_refresh(&server.token);
	check(HTTP_ASKED, TOKEN, false);
	check(HTTP_ALLOWED, "another-token-0123456789", false);
	assert_int_equal(unlink(path), 0);
	http_token_refresh(&server.token);
	check(HTTP_ASKED, "another-token-0123456789", false);
	write_token(TOKEN, 0600);
	http_token_refresh(&server.token);
	check(HTTP_ALLOWED, TOKEN, false);
	write_token(TOKEN, 0604);
	http_token_refresh(&server.token);
	check(HTTP_ASKED, TOKEN, false);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(loopback_is_for_everybody, set_up, tear_down),
		cmocka_unit_test_setup_teardown(elsewhere_nobody_may_look, set_up, tear_down),
		cmocka_unit_test_setup_teardown(whoever_has_the_token_may_look, set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_unix_socket_needs_no_certificate, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(whoever_has_a_certificate_may_look, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(pages_of_other_sites_get_no_data, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(a_bad_file_lets_nobody_in, set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_file_that_changes_is_read_again, set_up,
						tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
