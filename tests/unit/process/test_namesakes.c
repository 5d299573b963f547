// SPDX-License-Identifier: Apache-2.0
/* Claims about process/namesakes.h: JVMs of one name stay apart. */
#include "process/namesakes.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#define MAX 3

static struct targets targets;
static struct process processes[MAX];
static struct jvm jvms[MAX];

static int set_up(void **state)
{
	memset(&targets, 0, sizeof(targets));
	memset(processes, 0, sizeof(processes));
	memset(jvms, 0, sizeof(jvms));
	return 0;
}

static int tear_down(void **state)
{
	map64_fini(&targets.processes);
	return 0;
}

/* The process's comm is its title, because its agent says nothing. Those made first are older. */
static struct process *make(unsigned i, const char *container, const char *title)
{
	struct process *const process = &processes[i];

	process->pid = (pid_t)(100 + i);
	process->start_ticks = 1000 + i;
	process->jvm = &jvms[i];
	strcpy(process->comm, title);
	strcpy(process->workload.container, container);
	workload_touch(&process->workload);
	assert_int_equal(map64_put(&targets.processes, (uint64_t)process->pid, process), 0);
	return process;
}

static bool is_namesake(struct process *process)
{
	namesakes_part(&targets, process);
	return process->is_namesake;
}

static void the_older_of_two_keeps_the_name_whichever_is_asked_for_first(void **state)
{
	struct process *const old = make(0, "web", "app.jar");
	struct process *const young = make(1, "web", "app.jar");

	assert_true(is_namesake(young));
	assert_false(is_namesake(old));
}

static void a_name_that_has_been_given_stays(void **state)
{
	struct process *const young = make(1, "web", "app.jar");
	struct process *old;

	assert_false(is_namesake(young));
	old = make(0, "web", "app.jar");
	assert_true(is_namesake(old));
	assert_false(is_namesake(young));
}

static void other_containers_make_other_names(void **state)
{
	struct process *const one = make(0, "web-1", "app.jar");
	struct process *const two = make(1, "web-2", "app.jar");

	assert_false(is_namesake(one));
	assert_false(is_namesake(two));
}

static void a_name_that_comes_later_is_decided_anew(void **state)
{
	struct process *const two = make(1, "", "app.jar");

	make(0, "", "app.jar");
	assert_true(is_namesake(two));
	strcpy(two->workload.container, "web-2");
	workload_touch(&two->workload);
	assert_false(is_namesake(two));
}

static void a_jvm_that_has_ended_leaves_its_name(void **state)
{
	struct process *const old = make(0, "web", "app.jar");

	assert_false(is_namesake(old));
	old->gone_ns = 1;
	assert_false(is_namesake(make(1, "web", "app.jar")));
}

static void what_is_no_jvm_has_no_namesakes(void **state)
{
	struct process *const jvm = make(1, "", "java"), *const other = make(0, "", "java");

	other->jvm = NULL;
	assert_false(is_namesake(jvm));
	assert_false(is_namesake(other));
	namesakes_part(&targets, NULL);
}

#define TEST(claim) cmocka_unit_test_setup_teardown(claim, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(the_older_of_two_keeps_the_name_whichever_is_asked_for_first),
		TEST(a_name_that_has_been_given_stays),
		TEST(other_containers_make_other_names),
		TEST(a_name_that_comes_later_is_decided_anew),
		TEST(a_jvm_that_has_ended_leaves_its_name),
		TEST(what_is_no_jvm_has_no_namesakes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
