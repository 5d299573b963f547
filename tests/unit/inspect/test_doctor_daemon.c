// SPDX-License-Identifier: Apache-2.0
/* Claims about inspect/doctor_daemon.h: who answers here, and how others are asked. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <string.h>

#include "base/json_value.h"
#include "inspect/doctor_daemon.h"

#define ID    "2cee386e639f0123456789012345678901234567890123456789012345678901"
#define OTHER "ffee386e639f0123456789012345678901234567890123456789012345678901"

static struct doctor doctor;
static struct doctor_daemons daemons;

static int set_up(void **state)
{
	doctor = (struct doctor){.findings = json_array()};
	daemons = (struct doctor_daemons){0};
	return 0;
}

static int tear_down(void **state)
{
	json_decref(doctor.findings);
	return 0;
}

static void check(size_t i, const char *what, const char *fix)
{
	const json_t *const finding = json_array_get(doctor.findings, i);

	assert_string_equal(json_value_text(finding, "check"), "daemon");
	assert_non_null(strstr(json_value_text(finding, "what"), what));
	assert_non_null(strstr(json_value_text(finding, "fix"), fix));
}

static void no_daemon_is_told_with_how_to_start_one(void **state)
{
	doctor_check_daemons(&doctor, &daemons);
	check(0, "none is running", "fgcollect --watch");
	assert_int_equal(doctor.counts[FINDING_NOTE], 1);
}

static void a_daemon_that_answers_is_all_that_is_told(void **state)
{
	daemons.answers = true;
	daemons.owner = 4711;
	doctor_daemons_add(&daemons, 12, ID);
	doctor_check_daemons(&doctor, &daemons);
	check(0, "one answers", "");
	assert_int_equal(json_array_size(doctor.findings), 1);
	assert_int_equal(doctor.counts[FINDING_OK], 1);
}

static void who_listens_and_is_no_daemon_is_told_by_its_pid(void **state)
{
	daemons.owner = 4711;
	doctor_check_daemons(&doctor, &daemons);
	check(0, "PID 4711", "wait until it ends");
}

static void a_collector_in_a_container_is_asked_there(void **state)
{
	doctor_daemons_add(&daemons, 12, ID);
	doctor_daemons_add(&daemons, 13, ID);
	doctor_daemons_add(&daemons, 14, "");
	doctor_check_daemons(&doctor, &daemons);
	check(0, "in container 2cee386e639f, PID 12", "docker exec 2cee386e639f fgcollect record");
	assert_int_equal(json_array_size(doctor.findings), 1);
}

static void a_collector_in_the_doctors_own_container_is_no_other(void **state)
{
	snprintf(daemons.own_id, sizeof(daemons.own_id), "%s", ID);
	doctor_daemons_add(&daemons, 12, ID);
	doctor_daemons_add(&daemons, 13, OTHER);
	assert_int_equal(daemons.n_others, 1);
	assert_int_equal(daemons.others[0].pid, 13);
}

static void more_containers_than_are_told_do_no_harm(void **state)
{
	char id[CONTAINER_ID_BYTES];

	for (int i = 0; i < 2 * DOCTOR_COLLECTORS; i++) {
		snprintf(id, sizeof(id), "%012d", i);
		doctor_daemons_add(&daemons, i + 1, id);
	}
	assert_int_equal(daemons.n_others, DOCTOR_COLLECTORS);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(no_daemon_is_told_with_how_to_start_one),
		TEST(a_daemon_that_answers_is_all_that_is_told),
		TEST(who_listens_and_is_no_daemon_is_told_by_its_pid),
		TEST(a_collector_in_a_container_is_asked_there),
		TEST(a_collector_in_the_doctors_own_container_is_no_other),
		TEST(more_containers_than_are_told_do_no_harm),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
