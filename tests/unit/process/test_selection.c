// SPDX-License-Identifier: Apache-2.0
/* Claims about process/selection.h and workload.h: which processes a name means. */
#include "process/selections.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <errno.h>

#define ID_A	 "aaaa456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
#define ID_B	 "aabb456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
#define ID_C	 "cccc456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
#define UID_A	 "3f2a4b5c-0000-4000-8000-00000000000a"
#define UID_B	 "3f2a4b5c-0000-4000-8000-00000000000b"
#define UID_NONE "3f2a4b5c-0000-4000-8000-00000000000c"
#define MAX	 8

static struct targets targets;
static struct process processes[MAX];
static struct jvm jvms[MAX];
static struct container_entry entries[MAX];
static struct jvm_attr attrs[MAX][4];
static struct selector selector;
static struct selection selection;
static size_t count;

static int set_up(void **state)
{
	memset(&targets, 0, sizeof(targets));
	memset(processes, 0, sizeof(processes));
	memset(jvms, 0, sizeof(jvms));
	memset(entries, 0, sizeof(entries));
	selector = (struct selector){0};
	selection = (struct selection){0};
	count = 0;
	return 0;
}

static int tear_down(void **state)
{
	selection_fini(&selection);
	for (size_t i = 0; i < MAX; i++) {
		workload_fini(&processes[i].workload);
		container_fini(&entries[i].container);
	}
	map64_fini(&targets.processes);
	return 0;
}

struct made {
	const char *id, *name, *pod, *name_space, *label, *command, *pod_uid;
};

static void set(char *to, const char *text)
{
	strcpy(to, text ? text : "");
}

/* A JVM with PID 100 and up. */
static struct process *add(const struct made *made)
{
	struct process *process = &processes[count];
	struct container *container = &entries[count].container;

	process->pid = (pid_t)(100 + count);
	process->jvm = &jvms[count];
	process->container = &entries[count];
	strcpy(process->comm, "java");
	set(process->container_id, made->id);
	set(process->pod_uid, made->pod_uid);
	set(container->name, made->name);
	set(container->pod, made->pod);
	set(container->name_space, made->name_space);
	if (made->label)
		label_set_add(&container->labels, "app", made->label);
	attrs[count][0] = (struct jvm_attr){"java.command", made->command ? made->command : "Main"};
	jvms[count].hello.attrs = attrs[count];
	jvms[count].hello.n_attrs = 1;
	process_identify(process);
	assert_int_equal(map64_put(&targets.processes, (uint64_t)process->pid, process), 0);
	count++;
	return process;
}

/* Sets a part in place of what it was. */
static const char *set_container(const char *text)
{
	selector.container[0] = '\0';
	return selector_set_container(&selector, text);
}

static const char *set_pod(const char *text)
{
	selector.pod[0] = '\0';
	return selector_set_pod(&selector, text);
}

static const char *set_comm(const char *text)
{
	selector.comm[0] = '\0';
	return selector_set_comm(&selector, text);
}

static const char *set_jvm(const char *text)
{
	selector.jvm[0] = '\0';
	return selector_set_jvm(&selector, text);
}

static int narrow(void)
{
	assert_int_equal(selection_init(&selection, &selector), 0);
	return selection_narrow(&selection, &targets);
}

/* One 'x' or '-' for each process. */
static void check(const char *wanted)
{
	char got[MAX + 1] = "";

	for (size_t i = 0; i < count; i++)
		got[i] = selection_wants(&selection, &processes[i]) ? 'x' : '-';
	assert_string_equal(got, wanted);
	for (size_t i = 0; i < count; i++)
		got[i] = selection_wants(&selection, &processes[i]) ? 'x' : '-';
	assert_string_equal(got, wanted); /* remembered */
}

/* What a word means: an error, or so many processes. */
struct asked {
	const char *word;
	int err;
	const char *wanted; /* NULL: an error */
};

static void check_cases(const struct asked *cases, size_t n,
			const char *(*set_word)(struct selector *selector, const char *word))
{
	for (size_t i = 0; i < n; i++) {
		selector = (struct selector){0};
		assert_null(set_word(&selector, cases[i].word));
		assert_int_equal(narrow(), cases[i].err);
		if (cases[i].wanted)
			check(cases[i].wanted);
		selection_fini(&selection);
	}
}

static void add_three(void)
{
	add(&(struct made){.id = ID_A, .name = "web", .label = "shop", .command = "a.Front x"});
	add(&(struct made){.id = ID_B, .name = "web-1", .command = "/opt/back.jar y"});
	add(&(struct made){.id = ID_C, .name = "aabb", .label = "shop", .command = "a.Back"});
}

static void containers_and_pods_add_up_and_each_is_meant_by_itself(void **state)
{
	struct selections selections;

	add(&(struct made){.id = ID_A, .name = "web", .pod = "api-1", .name_space = "shop"});
	add(&(struct made){.id = ID_B, .name = "web-1", .pod = "api-2", .name_space = "shop"});
	add(&(struct made){.id = ID_C, .name = "app", .pod = "api-3", .name_space = "shop"});
	assert_null(selector_set_container(&selector, "web"));
	assert_null(selector_set_container(&selector, "ap"));
	assert_int_equal(selections_init(&selections, &selector), 0);
	selections_narrow(&selections, &targets);
	assert_true(selections_want(&selections, &processes[0]));
	assert_false(selections_want(&selections, &processes[1])); /* web is exact */
	assert_true(selections_want(&selections, &processes[2]));
	selections_fini(&selections);
	assert_null(selector_set_pod(&selector, "shop/api-2"));
	assert_null(selector_set_pod(&selector, "api-3"));
	assert_int_equal(selector_alternatives(&selector), 4);
	assert_int_equal(selections_init(&selections, &selector), 0);
	assert_false(selections_fit(&selections, &processes[0])); /* web is in another pod */
	assert_true(selections_fit(&selections, &processes[1]));
	assert_true(selections_fit(&selections, &processes[2]));
	selections_fini(&selections);
}

static void names_past_the_most_are_refused(void **state)
{
	for (int i = 0; i <= SELECTOR_MAX_MORE; i++)
		assert_null(selector_set_container(&selector, "web"));
	assert_non_null(selector_set_container(&selector, "web"));
	assert_null(selector_set_pod(&selector, "a"));
	assert_null(selector_set_pod(&selector, "b"));
	assert_non_null(selector_set_pod(&selector, "c")); /* 24 pairs */
	assert_int_equal(selector_alternatives(&selector), SELECTOR_MAX_ALTERNATIVES);
}

static void what_cannot_add_up_can_be_given_once(void **state)
{
	assert_null(selector_set_jvm(&selector, "Shop"));
	assert_non_null(selector_set_jvm(&selector, "Cart"));
	assert_null(selector_set_comm(&selector, "java"));
	assert_non_null(selector_set_comm(&selector, "node"));
	assert_string_equal(selector.jvm, "Shop");
	assert_string_equal(selector.comm, "java");
}

static void nothing_asked_for_is_everything(void **state)
{
	add_three();
	check("xxx");
}

static void a_container_is_meant_by_name_or_id(void **state)
{
	static const struct asked cases[] = {
		{ID_A, 0, "x--"},    {"aaaa", 0, "x--"}, {"web", 0, "x--"},  {"web-", 0, "-x-"},
		{"web-1", 0, "-x-"}, {"cc", 0, "--x"},	 {"aabb", 0, "--x"}, {"aabb4", 0, "-x-"}};

	add_three();
	check_cases(cases, sizeof(cases) / sizeof(cases[0]), selector_set_container);
}

/* A user, or a container, may make up the ID of any other's. */
static void an_id_that_a_user_made_up_is_not_taken_for_the_containers(void **state)
{
	static const struct asked cases[] = {{ID_A, 0, "x--"},
					     {"aaaa", 0, "x--"},
					     {"user-1000:" ID_A, 0, "-x-"},
					     {"user-1000:aaaa", 0, "-x-"},
					     {"in-cccccccccccc:" ID_A, 0, "--x"}};

	add(&(struct made){.id = ID_A});
	add(&(struct made){.id = "user-1000:" ID_A});
	add(&(struct made){.id = "in-cccccccccccc:" ID_A});
	check_cases(cases, sizeof(cases) / sizeof(cases[0]), selector_set_container);
}

static void a_name_of_the_form_of_an_id_is_not_taken_for_the_id(void **state)
{
	static const struct asked containers[] = {
		{ID_A, -ENOENT, NULL}, {"user-1000:" ID_A, -ENOENT, NULL}, {"web", 0, "--x"}};
	static const struct asked pods[] = {{UID_A, -ENOENT, NULL}, {"api", 0, "---x"}};

	add(&(struct made){.id = ID_B, .name = ID_A, .pod = UID_A});
	add(&(struct made){.id = ID_B, .name = "user-1000:" ID_A});
	add(&(struct made){.id = ID_C, .name = "web"});
	check_cases(containers, sizeof(containers) / sizeof(containers[0]), selector_set_container);
	add(&(struct made){.id = ID_C, .name = "app", .pod = "api"});
	check_cases(pods, sizeof(pods) / sizeof(pods[0]), selector_set_pod);
}

static void what_fits_several_or_none_is_said(void **state)
{
	add_three();
	assert_null(set_container("we"));
	assert_int_equal(narrow(), -ENOTUNIQ);
	selection_fini(&selection);
	assert_null(set_container("aa"));
	assert_int_equal(narrow(), -ENOTUNIQ);
	selection_fini(&selection);
	assert_null(set_container("webb"));
	assert_int_equal(narrow(), -ENOENT);
}

static void one_of_several_is_meant_if_something_else_tells(void **state)
{
	add_three();
	assert_null(set_container("we"));
	assert_null(selector_add_label(&selector, "app=shop"));
	assert_int_equal(narrow(), 0);
	check("x--");
}

static void a_pod_is_meant_with_or_without_its_namespace(void **state)
{
	static const struct asked cases[] = {
		{"api-1", -ENOTUNIQ, NULL},    {"shop/api-1", 0, "xx--"},
		{"test/api", 0, "--x-"},       {"api-12", 0, "---x"},
		{"shop/api", -ENOTUNIQ, NULL}, {"none/api", -ENOENT, NULL},
		{"sho/api-1", -ENOENT, NULL}};

	add(&(struct made){.id = ID_A, .name = "app", .pod = "api-1", .name_space = "shop"});
	add(&(struct made){.id = ID_B, .name = "side", .pod = "api-1", .name_space = "shop"});
	add(&(struct made){.id = ID_C, .name = "app", .pod = "api-1", .name_space = "test"});
	add(&(struct made){.id = ID_C, .name = "app", .pod = "api-12", .name_space = "shop"});
	check_cases(cases, sizeof(cases) / sizeof(cases[0]), selector_set_pod);
	selector = (struct selector){0};
	assert_null(set_container("app"));
	assert_int_equal(narrow(), -ENOTUNIQ); /* the same name in three pods */
	selection_fini(&selection);
	assert_null(set_pod("shop/api-1"));
	assert_int_equal(narrow(), 0);
	check("x---");
}

/* One without a JVM that is known, whose name is the beginning of another's, is not mixed up. */
static void a_pod_is_meant_by_its_uid_whatever_it_is_called(void **state)
{
	static const struct asked cases[] = {
		{UID_A, 0, "xx--"},
		{UID_B, 0, "--x-"},
		{UID_NONE, -ENOENT, NULL},
		{"3f2a4b5c", -ENOENT, NULL}}; /* whole, or it is none */

	add(&(struct made){.id = ID_A, .name = "app", .pod_uid = UID_A});
	add(&(struct made){.id = ID_B, .pod = "api-1", .name_space = "shop", .pod_uid = UID_A});
	add(&(struct made){.id = ID_C, .name = "app", .pod_uid = UID_B});
	add(&(struct made){.name = "app", .command = "Host"});
	check_cases(cases, sizeof(cases) / sizeof(cases[0]), selector_set_pod);
	assert_null(set_pod(UID_A));
	assert_null(set_container("app"));
	assert_int_equal(narrow(), 0);
	check("x---");
}

static void a_container_that_is_made_anew_under_its_name_is_the_same(void **state)
{
	add_three();
	assert_null(set_container("web"));
	assert_int_equal(narrow(), 0);
	add(&(struct made){.id = "dddd", .name = "web"});
	add(&(struct made){.id = "eeee", .name = "web-2"});
	check("x--x-");
}

static void one_that_has_ended_makes_no_name_ambiguous(void **state)
{
	add_three();
	jvms[1].state = JVM_ENDED;
	assert_null(set_container("we"));
	assert_int_equal(narrow(), 0);
	check("x--");
}

static void labels_commands_and_classes_mean_all_that_fit(void **state)
{
	add_three();
	assert_null(selector_add_label(&selector, "app=shop"));
	assert_int_equal(narrow(), 0);
	check("x-x");
	selection_fini(&selection);
	assert_null(set_jvm("Back$"));
	assert_int_equal(narrow(), 0);
	check("--x");
	selection_fini(&selection);
	selector = (struct selector){0};
	assert_null(set_jvm("^back\\.jar$"));
	assert_int_equal(narrow(), 0);
	check("-x-");
	selection_fini(&selection);
	selector = (struct selector){0};
	assert_null(set_comm("jav"));
	assert_int_equal(narrow(), -ENOENT);
	selection_fini(&selection);
	assert_null(set_comm("java"));
	assert_int_equal(narrow(), 0);
	check("xxx");
}

static void repeats_are_allowed_as_far_as_they_can_be_expanded(void **state)
{
	assert_null(set_jvm("^(com|org)(\\.[a-z0-9]+)+\\.Main[0-9]{1,3}$"));
	assert_null(set_jvm("a{1000}"));
	assert_null(set_jvm("a+b+c+d+e+f+g+h+i+j+k+l+m+n+o+p+q+r+s+t+u+v+w+"));
	assert_null(set_jvm("^.*?Main\\++[*+]{2}$"));
	assert_null(set_jvm("((((((a*b*)+)?)+)*)+)+"));
	assert_non_null(set_jvm("(a+){32767}"));
	assert_non_null(set_jvm("^M+*+++++ruei.}*"));		   /* took 10 s */
	assert_non_null(set_jvm("(.*)(.*)(.*)(.*)\\4\\3\\2\\1x")); /* for ever */
	assert_null(set_jvm("[\\1]\\.x"));
	assert_non_null(set_jvm("a*??"));
	assert_non_null(set_jvm("(((((((a*b*)+)?)+)*)+)+)?"));
	assert_non_null(set_jvm("a{99999999999999999999}"));
}

static void a_verdict_lasts_until_the_process_is_called_otherwise(void **state)
{
	add_three();
	assert_null(set_comm("java"));
	assert_int_equal(narrow(), 0);
	check("xxx");
	strcpy(processes[1].comm, "other"); /* unsaid: nobody looks */
	check("xxx");
	process_set_comm(&processes[2], 102, "other", 1);
	check("xx-");
	free(map64_remove(&processes[2].threads, 102));
	map64_fini(&processes[2].threads);
}

/* ---- what the agent says ---- */

static void the_agents_words_fill_what_the_host_does_not_know(void **state)
{
	struct process *process = add(&(struct made){.id = ID_A, .name = "app", .label = "host"});

	attrs[0][1] = (struct jvm_attr){"label.app", "agent"};
	attrs[0][2] = (struct jvm_attr){"env.POD_NAME", "api\x1b-1"};
	attrs[0][3] =
		(struct jvm_attr){"env.OTEL_RESOURCE_ATTRIBUTES",
				  "k8s.namespace.name=shop, "
				  "k8s.pod.name=x,k8s.container.name=y,t=a%20b%2Cc%,=,broken"};
	jvms[0].hello.n_attrs = 4;
	process_identify(process);
	assert_string_equal(process->workload.container, "app");
	assert_string_equal(process->workload.pod, "api?-1");
	assert_string_equal(process->workload.name_space, "shop");
	assert_string_equal(label_set_find(&process->workload.labels, "app"), "host");
	assert_string_equal(label_set_find(&process->workload.labels, "t"), "a b,c%");
}

static void each_change_has_a_version_of_its_own(void **state)
{
	struct process *process = add(&(struct made){.id = ID_A});
	const uint64_t version = process->workload.version;

	process_identify(process);
	assert_true(process->workload.version > version);
	assert_true(version > 0);
}

#define TEST(claim) cmocka_unit_test_setup_teardown(claim, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(nothing_asked_for_is_everything),
		TEST(a_container_is_meant_by_name_or_id),
		TEST(containers_and_pods_add_up_and_each_is_meant_by_itself),
		TEST(names_past_the_most_are_refused),
		TEST(what_cannot_add_up_can_be_given_once),
		TEST(an_id_that_a_user_made_up_is_not_taken_for_the_containers),
		TEST(a_name_of_the_form_of_an_id_is_not_taken_for_the_id),
		TEST(what_fits_several_or_none_is_said),
		TEST(one_of_several_is_meant_if_something_else_tells),
		TEST(a_pod_is_meant_with_or_without_its_namespace),
		TEST(a_pod_is_meant_by_its_uid_whatever_it_is_called),
		TEST(a_container_that_is_made_anew_under_its_name_is_the_same),
		TEST(one_that_has_ended_makes_no_name_ambiguous),
		TEST(labels_commands_and_classes_mean_all_that_fit),
		TEST(repeats_are_allowed_as_far_as_they_can_be_expanded),
		TEST(a_verdict_lasts_until_the_process_is_called_otherwise),
		TEST(the_agents_words_fill_what_the_host_does_not_know),
		TEST(each_change_has_a_version_of_its_own),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
