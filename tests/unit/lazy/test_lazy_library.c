// SPDX-License-Identifier: Apache-2.0
/* Claims about lazy/: a library is loaded whole, or refused for good with the reason. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>

#include "lazy/lazy_curl.h"
#include "lazy/lazy_gnutls.h"
#include "lazy/lazy_library.h"
#include "lazy/lazy_microhttpd.h"
#include "lazy/lazy_ncurses.h"
#include "lazy/lazy_nng.h"
#include "lazy/lazy_sqlite.h"
#include "lazy/lazy_systemd.h"
#include "lazy/lazy_yaml.h"

static void functions_are_found_by_their_names(void **state)
{
	static const char *const names[] = {"cos", "sin", NULL};
	struct {
		double (*cos)(double);
		double (*sin)(double);
	} math = {0};
	struct lazy_library library = {.file = "libm.so.6",
				       .names = names,
				       .functions = &math,
				       .lock = PTHREAD_MUTEX_INITIALIZER};

	assert_null(lazy_library_load(&library));
	assert_true(math.cos(0) == 1);
	assert_true(math.sin(0) == 0);
	assert_null(lazy_library_load(&library));
}

static void assert_is_refused(const char *file, const char *name, const char *said)
{
	const char *const names[] = {name, NULL};
	void *function = NULL;
	struct lazy_library library = {.file = file,
				       .names = names,
				       .functions = &function,
				       .lock = PTHREAD_MUTEX_INITIALIZER};
	const char *const why = lazy_library_load(&library);

	assert_non_null(why);
	assert_non_null(strstr(why, file));
	assert_non_null(strstr(why, said));
	assert_non_null(strstr(why, "install"));
	assert_null(function);
	assert_ptr_equal(lazy_library_load(&library), why);
}

static void what_is_missing_is_said(void **state)
{
	assert_is_refused("libnowhere.so.0", "cos", "No such file");
	assert_is_refused("libm.so.6", "fg_nowhere", "fg_nowhere");
}

#define ASSERT_FOUND(library)                                                                      \
	do {                                                                                       \
		const char *const why = lazy_##library##_load();                                   \
		void *functions[sizeof(lazy_##library) / sizeof(void *)];                          \
                                                                                                   \
		if (why)                                                                           \
			fail_msg("%s", why);                                                       \
		memcpy(functions, &lazy_##library, sizeof(functions));                             \
		for (size_t i = 0; i < sizeof(functions) / sizeof(functions[0]); i++)              \
			assert_non_null(functions[i]);                                             \
	} while (false)

static void every_library_has_all_its_functions(void **state)
{
	ASSERT_FOUND(curl);
	ASSERT_FOUND(gnutls);
	ASSERT_FOUND(microhttpd);
	ASSERT_FOUND(ncurses);
	ASSERT_FOUND(nng);
	ASSERT_FOUND(sqlite);
	ASSERT_FOUND(systemd);
	ASSERT_FOUND(yaml);
}

/* The two that are functions of our own give what they were given to the library's. */
static void what_is_set_is_told(void **state)
{
	char place;
	char *told = NULL;
	CURL *curl;

	assert_null(lazy_curl_load());
	curl = curl_easy_init();
	assert_non_null(curl);
	assert_int_equal(curl_easy_setopt(curl, CURLOPT_PRIVATE, &place), CURLE_OK);
	assert_int_equal(curl_easy_getinfo(curl, CURLINFO_PRIVATE, &told), CURLE_OK);
	assert_ptr_equal(told, &place);
	assert_int_equal(curl_easy_setopt(curl, CURLOPT_TIMEOUT, -1L), CURLE_BAD_FUNCTION_ARGUMENT);
	assert_int_equal(curl_easy_setopt(curl, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)1 << 40),
			 CURLE_OK);
	assert_int_equal(curl_easy_setopt(curl, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)-2),
			 CURLE_BAD_FUNCTION_ARGUMENT);
	curl_easy_cleanup(curl);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(functions_are_found_by_their_names),
		cmocka_unit_test(what_is_missing_is_said),
		cmocka_unit_test(every_library_has_all_its_functions),
		cmocka_unit_test(what_is_set_is_told),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
