// SPDX-License-Identifier: Apache-2.0
/* Claims about probes/probe_arms.h: who is armed when there are too many. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "probes/probe_arms.h"

#include <stdlib.h>
#include <string.h>

#define MANY  (PROBE_ARMS_MAX_JVMS + 100)
#define SEC   UINT64_C(1000000000)
#define FIRST 1000 /* PID of the first JVM of many; the others follow */
#define OTHER 7

static struct jvm jvm = {.has_hello = true};
static struct process *processes; /* the other one, and then the many */
static const struct process *wanted[MANY + 1];

static int setup(void **state)
{
	processes = calloc(MANY + 1, sizeof(*processes));
	for (size_t i = 0; i <= MANY; i++) {
		processes[i].pid = i == 0 ? OTHER : FIRST + (pid_t)i;
		processes[i].owner = (struct owner){.user = i == 0 ? 2 : 1};
		processes[i].jvm = &jvm;
		wanted[i] = &processes[i];
	}
	return 0;
}

static int teardown(void **state)
{
	free(processes);
	return 0;
}

/* None of the JVMs maps a file: one that has a place is looked at, and says so. */
static void who_has_the_most_armed_jvms_leaves_places_to_others(void **state)
{
	static const struct probe_arms_options options;
	struct probe_arms_stats stats;
	struct probe_arms *arms;

	assert_int_equal(probe_arms_new(&options, PROBES_OF_ALLOC, NULL, &arms), 0);
	probe_arms_want(arms, NULL, wanted + 1, MANY, SEC, 2 * SEC);
	probe_arms_want(arms, NULL, wanted, MANY + 1, SEC, 2 * SEC);
	probe_arms_stats(arms, &stats);
	assert_int_equal(stats.refused, MANY + 1);
	assert_non_null(strstr(stats.why, "PID 7: no file called"));
	/* The last of the many has none, though places are free. */
	wanted[0] = &processes[MANY];
	probe_arms_want(arms, NULL, wanted, MANY, SEC, 2 * SEC);
	probe_arms_stats(arms, &stats);
	assert_non_null(strstr(stats.why, "armed already"));
	wanted[0] = &processes[0];
	probe_arms_free(arms);
}

static void places_of_jvms_that_are_not_wanted_are_free_again(void **state)
{
	static const struct probe_arms_options options;
	struct probe_arms_stats stats;
	struct probe_arms *arms;

	assert_int_equal(probe_arms_new(&options, PROBES_OF_ALLOC, NULL, &arms), 0);
	probe_arms_want(arms, NULL, wanted + 1, MANY, SEC, 2 * SEC);
	probe_arms_want(arms, NULL, NULL, 0, SEC, 2 * SEC);
	probe_arms_want(arms, NULL, wanted + MANY, 1, SEC, 2 * SEC);
	probe_arms_stats(arms, &stats);
	assert_non_null(strstr(stats.why, "no file called"));
	probe_arms_free(arms);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(who_has_the_most_armed_jvms_leaves_places_to_others),
		cmocka_unit_test(places_of_jvms_that_are_not_wanted_are_free_again),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
