// SPDX-License-Identifier: Apache-2.0
/* Which HotSpot is too old for method events. */
#include "agent/hotspot/jvm_version.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#define OPENJDK "OpenJDK 64-Bit Server VM"
#define ORACLE	"Java HotSpot(TM) 64-Bit Server VM"

static void hotspot_8_before_382_is_not_safe(void **state)
{
	assert_false(jvm_version_is_safe(OPENJDK, "25.381-b09"));
	assert_false(jvm_version_is_safe(OPENJDK, "25.71-b00"));
	assert_false(jvm_version_is_safe(ORACLE, "25.0-b70"));
	assert_false(jvm_version_is_safe(ORACLE, "24.80-b11"));
}

static void hotspot_8_from_382_is_safe(void **state)
{
	assert_true(jvm_version_is_safe(OPENJDK, "25.382-b05"));
	assert_true(jvm_version_is_safe(ORACLE, "25.421-b09"));
}

static void jdk_25_is_not_taken_for_hotspot_25(void **state)
{
	assert_true(jvm_version_is_safe(OPENJDK, "25+36-LTS"));
	assert_true(jvm_version_is_safe(OPENJDK, "25.0.1+8-LTS"));
	assert_true(jvm_version_is_safe(OPENJDK, "25.0.1-beta+8"));
	assert_true(jvm_version_is_safe(OPENJDK, "25.1-beta+8"));
	assert_true(jvm_version_is_safe(OPENJDK, "24.0.2+12"));
	assert_true(jvm_version_is_safe(OPENJDK, "17.0.15+6-Debian-1deb12u1"));
}

static void what_is_not_hotspot_or_not_understood_is_trusted(void **state)
{
	assert_true(jvm_version_is_safe("Eclipse OpenJ9 VM", "25.1-b01"));
	assert_true(jvm_version_is_safe(OPENJDK, ""));
	assert_true(jvm_version_is_safe(OPENJDK, "25."));
	assert_true(jvm_version_is_safe(OPENJDK, "25.1-x5"));
	assert_true(jvm_version_is_safe(OPENJDK, "x25.1-b01"));
	assert_true(jvm_version_is_safe(OPENJDK, "99999999999999999999.1-b01"));
	assert_true(jvm_version_is_safe(OPENJDK, NULL));
	assert_true(jvm_version_is_safe(NULL, "25.1-b01"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(hotspot_8_before_382_is_not_safe),
		cmocka_unit_test(hotspot_8_from_382_is_safe),
		cmocka_unit_test(jdk_25_is_not_taken_for_hotspot_25),
		cmocka_unit_test(what_is_not_hotspot_or_not_understood_is_trusted),
	};

	return cmocka_run_group_tests_name("agent jvm_version", tests, NULL, NULL);
}
