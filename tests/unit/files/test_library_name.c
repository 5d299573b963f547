// SPDX-License-Identifier: Apache-2.0
/* The names that real libraries are unpacked under, and those that only look like them. */
#include "files/library_name.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static void check(const char *name, const char *soname, const char *expected)
{
	const struct library_own own = {.soname = soname, .build_id = "0123456789abcdef"};
	char room[LIBRARY_NAME_BYTES];
	const char *shown = library_name(name, &own, room);

	if (strcmp(shown, expected) != 0)
		print_message("%s is %s\n", name, shown);
	assert_string_equal(shown, expected);
}

static void unpacked_libraries_have_one_name(void **state)
{
	check("jna1080333495942294812.tmp", "", "jna.tmp");
	check("libnetty_tcnative_linux_x86_643108031495942294812.so", "",
	      "libnetty_tcnative_linux_x86_64.so");
	check("libnetty_transport_native_epoll_aarch_6417000000000000000001.so", "",
	      "libnetty_transport_native_epoll_aarch_64.so");
	check("snappy-1.1.10-7a3bf7bd-0a44-4c79-9d53-1f5e37f0ad2e-libsnappyjava.so", "",
	      "snappy-1.1.10-libsnappyjava.so");
	check("librocksdbjni10803334959422948.so", "", "librocksdbjni.so");
	check("libzstd-jni-1.5.6-41080333495942294812.so", "", "libzstd-jni-1.5.6.so");
	check("jansi-2.4.0-a1b2c3d4e5f60718-libjansi.so", "", "jansi-2.4.0-libjansi.so");
	check("7a3bf7bd-0a44-4c79-9d53-1f5e37f0ad2e_lib.so", "", "lib.so");
	check("108033349594-7a3bf7bd-0a44-4c79-9d53-1f5e37f0ad2e-x.so", "", "x.so");
}

static void the_soname_comes_first(void **state)
{
	check("jna1080333495942294812.tmp", "libjnidispatch.so", "libjnidispatch.so");
	check("jna1080333495942294812.tmp", "jna2080333495942294812.so", "jna.tmp");
}

static void a_name_of_nothing_else_is_the_build_id(void **state)
{
	const struct library_own nothing = {.soname = "", .build_id = ""};
	char room[LIBRARY_NAME_BYTES];

	check("1080333495942294812.so", "", "build-id-0123456789ab.so");
	assert_string_equal(library_name("1080333495942294812.so", &nothing, room), "unpacked.so");
}

static void ordinary_names_stay(void **state)
{
	static const char *const names[] = {
		"libc.so.6",
		"libjvm.so",
		"libabsl_base.so.20220623",
		"libcrypto.so.1.1",
		"libfoo-20240131.so",
		"python3.12",
		"deadbeefcafe",
		"effacedeffacedefface",
		"[vdso]",
		"",
	};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		check(names[i], "libother.so", names[i]);
		assert_false(library_name_is_random(names[i]));
	}
}

static void a_name_longer_than_its_room_stays(void **state)
{
	char name[LIBRARY_NAME_BYTES + 8];

	memset(name, '1', sizeof(name) - 1);
	name[sizeof(name) - 1] = '\0';
	check(name, "lib.so", name);
	name[LIBRARY_NAME_BYTES - 1] = '\0';
	check(name, "lib.so", "lib.so");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(unpacked_libraries_have_one_name),
		cmocka_unit_test(the_soname_comes_first),
		cmocka_unit_test(a_name_of_nothing_else_is_the_build_id),
		cmocka_unit_test(ordinary_names_stay),
		cmocka_unit_test(a_name_longer_than_its_room_stays),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
