// SPDX-License-Identifier: Apache-2.0
/* How a recording is started in steps, up to the sampler. The processes are those of this host. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/process_stat.h"
#include "common/child.h"
#include "serve/starting.h"

static struct engine engine;
static struct starting demand;
static struct starting *starting;
static pid_t child;

static int set_up(void **state)
{
	(void)state;
	engine = (struct engine){0};
	targets_init(&engine.targets);
	dialer_init(&engine.dialer, NULL, "/proc");
	demand = (struct starting){.engine = &engine, .socket_path = "/tmp/none", .wake_fd = -1};
	child = child_start();
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	child_end(child);
	dialer_fini(&engine.dialer);
	targets_fini(&engine.targets);
	return 0;
}

/* Steps until there is an answer, with no time for any of them. */
static enum starting_state finish(size_t *ret_steps)
{
	enum starting_state state;

	*ret_steps = 0;
	do {
		state = starting_step(starting, 0);
		++*ret_steps;
	} while (state == STARTING_GOES_ON);
	return state;
}

static void assert_nothing_is_wanted(void)
{
	assert_int_equal(engine.targets.all_users, 0);
	assert_int_equal(engine.targets.surveys, 0);
	assert_int_equal(engine.targets.processes.count, 0);
}

static void what_nobody_knows_is_looked_for_a_process_a_step(void **state)
{
	size_t steps;

	(void)state;
	strcpy(demand.options.select.comm, "nobody-has-it");
	assert_int_equal(starting_begin(&demand, &starting), 0);
	assert_int_equal(finish(&steps), STARTING_REFUSED);
	assert_non_null(strstr(starting->message, "nobody-has-it"));
	assert_true(engine.targets.processes.count > 1);
	assert_true(steps > engine.targets.processes.count);
	assert_int_equal(starting_end(starting, NULL), 0);
	assert_nothing_is_wanted();
}

static void without_a_name_the_message_says_so(void **state)
{
	size_t steps;

	(void)state;
	assert_int_equal(starting_begin(&demand, &starting), 0);
	assert_int_equal(finish(&steps), STARTING_REFUSED);
	assert_non_null(strstr(starting->message, "JVM"));
	assert_true(steps > 2);
	assert_int_equal(starting_end(starting, NULL), 0);
	assert_nothing_is_wanted();
}

static void a_young_process_is_expected_if_the_client_waits(void **state)
{
	size_t steps;

	(void)state;
	process_stat_comm(child, child, demand.options.select.comm,
			  sizeof(demand.options.select.comm));
	demand.may_expect = true;
	assert_int_equal(starting_begin(&demand, &starting), 0);
	assert_int_equal(finish(&steps), STARTING_EXPECTS);
	assert_int_equal(starting_end(starting, NULL), 0);
	assert_nothing_is_wanted();
}

static void a_name_of_nobody_is_refused_though_the_client_waits(void **state)
{
	size_t without, steps;

	(void)state;
	strcpy(demand.options.select.comm, "nobody-has-it");
	assert_int_equal(starting_begin(&demand, &starting), 0);
	assert_int_equal(finish(&without), STARTING_REFUSED);
	assert_int_equal(starting_end(starting, NULL), 0);
	demand.may_expect = true;
	assert_int_equal(starting_begin(&demand, &starting), 0);
	assert_int_equal(finish(&steps), STARTING_REFUSED);
	/* All processes are looked at twice more: before the survey, and after it. */
	assert_true(steps > 2 * without + without / 2);
	assert_true(steps < 3 * without + without / 2);
	assert_int_equal(starting_end(starting, NULL), 0);
	assert_nothing_is_wanted();
}

/* A process that gets the name when the socket's other end is written to, and says so. */
static pid_t start_namesake(int *ret_sock)
{
	int ends[2];
	char byte;
	pid_t pid;

	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0);
	pid = fork();
	if (pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (read(ends[1], &byte, 1) == 1 && prctl(PR_SET_NAME, "fg-late") == 0 &&
		    write(ends[1], &byte, 1) == 1)
			pause();
		_exit(1);
	}
	close(ends[1]);
	*ret_sock = ends[0];
	return pid;
}

static enum starting_state finish_with_a_namesake(void)
{
	enum starting_state end;
	size_t steps;
	char byte = 0;
	int sock;
	const pid_t pid = start_namesake(&sock);

	assert_int_equal(starting_begin(&demand, &starting), 0);
	do
		assert_int_equal(starting_step(starting, 0), STARTING_GOES_ON);
	while (!starting->has_expected);
	assert_int_equal(write(sock, &byte, 1), 1);
	assert_int_equal(read(sock, &byte, 1), 1);
	end = finish(&steps);
	assert_int_equal(starting_end(starting, NULL), 0);
	child_end(pid);
	close(sock);
	return end;
}

/*
 * As when the name of a container has been read in between. A process that is not young any more,
 * because this machine is busy, is not expected: then with another one.
 */
static void what_begins_to_fit_while_others_are_looked_at_is_expected(void **state)
{
	enum starting_state end;

	(void)state;
	strcpy(demand.options.select.comm, "fg-late");
	demand.may_expect = true;
	do
		end = finish_with_a_namesake();
	while (end == STARTING_REFUSED);
	assert_int_equal(end, STARTING_EXPECTS);
	assert_nothing_is_wanted();
}

/* So that JVMs without an agent are known, too. */
static void check_all_are_read_first(bool all)
{
	demand.options.all = all;
	strcpy(demand.options.select.comm, "nobody-has-it");
	assert_int_equal(starting_begin(&demand, &starting), 0);
	assert_int_equal(starting_step(starting, 0), STARTING_GOES_ON);
	assert_int_equal(engine.targets.processes.count, 1);
	assert_int_equal(engine.targets.surveys, 0);
	assert_int_equal(starting_step(starting, clock_now_ns() + 60 * CLOCK_NS_PER_SEC),
			 STARTING_GOES_ON);
	assert_int_equal(engine.targets.surveys, 1);
	assert_non_null(targets_find(&engine.targets, child));
	assert_int_equal(starting_end(starting, NULL), 0); /* its client is gone */
	assert_nothing_is_wanted();
}

static void all_processes_are_read_before_a_name_is_judged(void **state)
{
	(void)state;
	check_all_are_read_first(false);
	check_all_are_read_first(true);
}

/* Each process a step, because with thousands of them it takes longer than a turn may last. */
static void all_processes_are_read_before_the_time_of_all_is_recorded(void **state)
{
	(void)state;
	demand.options.all = true;
	demand.options.kinds = SAMPLES_OF_WALL;
	assert_int_equal(starting_begin(&demand, &starting), 0);
	assert_int_equal(engine.targets.all_users, 1);
	for (int i = 0; i < 100000 && !targets_find(&engine.targets, child); i++)
		assert_int_equal(starting_step(starting, 0), STARTING_GOES_ON);
	assert_non_null(targets_find(&engine.targets, child));
	assert_int_equal(starting_end(starting, NULL), 0);
	assert_nothing_is_wanted();
}

static void note_wake(void *arg)
{
	++*(unsigned *)arg;
}

static struct process *make_jvm(pid_t pid)
{
	const struct mapping libjvm = {
		.start = 0x10000, .end = 0x11000, .inode = 5, .path = "/java/lib/server/libjvm.so"};
	struct process *const process = targets_find(&engine.targets, pid);

	assert_non_null(process);
	assert_int_equal(address_space_add(&process->space, &libjvm), 0);
	return process;
}

/* JVMs of this host may run meanwhile; their names are not awaited. */
static void forget_strangers(void)
{
	struct process *process;
	size_t pos = 0;

	while ((process = targets_next(&engine.targets, &pos))) {
		if (process->pid != getpid() && process->pid != child)
			process->gone_ns = clock_now_ns();
	}
}

/* This process, as the only JVM without an agent whose names are about to be read. */
static void begin_naming(void)
{
	struct process *const process = make_jvm(getpid());

	forget_strangers();
	process->outside = calloc(1, sizeof(*process->outside));
	assert_non_null(process->outside);
	process->outside->only_names = true;
}

static void a_class_is_judged_once_jvms_without_an_agent_have_names(void **state)
{
	unsigned wakes = 0;
	size_t steps;

	(void)state;
	assert_null(selector_set_jvm(&demand.options.select, "nobody.has.it"));
	engine.targets.on_named = note_wake;
	engine.targets.on_named_arg = &wakes;
	assert_int_equal(starting_begin(&demand, &starting), 0);
	while (engine.targets.surveys == 0)
		assert_int_equal(starting_step(starting, 0), STARTING_GOES_ON);
	begin_naming();
	assert_int_equal(finish(&steps), STARTING_SLEEPS);
	assert_int_equal(wakes, 0);
	while (wakes == 0) /* it is no JVM that can be read, which is an answer too */
		targets_tick(&engine.targets, clock_now_ns(), 0);
	assert_int_equal(finish(&steps), STARTING_REFUSED);
	assert_non_null(strstr(starting->message, "nobody.has.it"));
	assert_int_equal(starting_end(starting, NULL), 0);
	assert_int_equal(engine.targets.name_users, 0);
	assert_nothing_is_wanted();
}

/* The child, as a JVM without an agent whose names have been read. */
static void name_child(const char *class)
{
	const struct wire_attr attrs[] = {{wire_str_from("java.command"), wire_str_from(class)}};
	uint8_t data[256];
	struct wire_buf buf = {.data = data, .size = sizeof(data)};
	struct wire_hello hello = {.n_attrs = 1};
	struct wire_reader reader = {.data = data};
	struct wire_record record;

	wire_encode_hello(&buf, &hello, attrs, NULL);
	reader.len = buf.len;
	assert_int_equal(wire_reader_next(&reader, &record), 1);
	assert_int_equal(wire_decode_hello(&record, &hello), 0);
	assert_int_equal(process_set_program(make_jvm(child), &hello), 0);
}

static struct guarded_call *kept;

static void keep_call(void *arg, pid_t pid, struct guarded_call *call)
{
	(void)arg;
	(void)pid;
	assert_null(kept);
	kept = call;
}

static enum guarded_end run_call(void *arg, pid_t pid, struct guarded_call *call)
{
	(void)arg;
	(void)pid;
	call->run(call);
	return GUARDED_DONE;
}

static void a_jvm_that_fits_is_recorded_though_another_ones_memory_does_not_answer(void **state)
{
	static const struct guarded_runner runner = {.run = run_call, .leave = keep_call};
	struct outside_process *outside;

	(void)state;
	assert_null(selector_set_jvm(&demand.options.select, "com.example.Shop"));
	assert_int_equal(starting_begin(&demand, &starting), 0);
	while (engine.targets.surveys == 0)
		assert_int_equal(starting_step(starting, 0), STARTING_GOES_ON);
	begin_naming();
	guarded_use(&runner);
	while (!kept)
		targets_tick(&engine.targets, clock_now_ns(), 0);
	outside = targets_find(&engine.targets, getpid())->outside;
	outside->moved_ns -= 2 * OUTSIDE_ANSWER_NS; /* it has been out for so long */
	assert_int_equal(starting_step(starting, 0), STARTING_SLEEPS);
	name_child("com.example.Shop");
	assert_int_equal(starting_step(starting, 0), STARTING_GOES_ON);
	assert_int_equal(starting_end(starting, NULL), 0);
	assert_nothing_is_wanted();
	kept->run(kept);
	kept->free(kept);
	guarded_use(NULL);
}

static void after_a_survey_nothing_is_read_again(void **state)
{
	struct survey survey = {0};
	pid_t later;

	(void)state;
	assert_int_equal(survey_begin(&survey, &engine.targets), 0);
	while (!survey_step(&survey, &engine.targets, 0))
		;
	later = child_start();
	targets_read_all(&engine.targets);
	assert_null(targets_find(&engine.targets, later));
	survey_end(&survey, &engine.targets);
	assert_nothing_is_wanted();
	targets_want_all(&engine.targets);
	targets_read_all(&engine.targets);
	assert_non_null(targets_find(&engine.targets, later));
	targets_unwant_all(&engine.targets);
	survey_end(&survey, &engine.targets); /* once more */
	assert_nothing_is_wanted();
	child_end(later);
}

#define CLAIM(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CLAIM(what_nobody_knows_is_looked_for_a_process_a_step),
		CLAIM(without_a_name_the_message_says_so),
		CLAIM(a_young_process_is_expected_if_the_client_waits),
		CLAIM(a_name_of_nobody_is_refused_though_the_client_waits),
		CLAIM(what_begins_to_fit_while_others_are_looked_at_is_expected),
		CLAIM(all_processes_are_read_before_a_name_is_judged),
		CLAIM(all_processes_are_read_before_the_time_of_all_is_recorded),
		CLAIM(a_class_is_judged_once_jvms_without_an_agent_have_names),
		CLAIM(a_jvm_that_fits_is_recorded_though_another_ones_memory_does_not_answer),
		CLAIM(after_a_survey_nothing_is_read_again),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
