// SPDX-License-Identifier: Apache-2.0
/* What agents cannot do to the model, and its upkeep when processes come and go as they like. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/process_stat.h"
#include "common/child.h"
#include "targets_fixture.h"

/* ---- sessions ---- */

/* Has so many sessions be opened, and takes what is logged meanwhile. */
static void hear_sessions(int count, char *ret, size_t size)
{
	const int saved = dup(STDERR_FILENO);
	FILE *const log = tmpfile();

	assert_non_null(log);
	fflush(stderr);
	assert_true(dup2(fileno(log), STDERR_FILENO) >= 0);
	for (int i = 0; i < count; i++)
		say(INTAKE_OPENED);
	fflush(stderr);
	dup2(saved, STDERR_FILENO);
	close(saved);
	rewind(log);
	ret[fread(ret, 1, size - 1, log)] = '\0';
	fclose(log);
}

static void a_second_connection_ends_the_first(void **state)
{
	struct process *process;

	process = connect_agent();
	session.id = 4;
	connect_agent();
	assert_int_equal(n_ended, 1);
	assert_int_equal(ended[0], 3);
	session.id = 3;
	say(INTAKE_CLOSED); /* of the older one: the newer goes on */
	assert_int_equal(process->jvm->state, JVM_RESYNCING);
	session.id = 4;
	say_load(0x1000, 64, "run", 500);
	assert_non_null(code_map_find(process->code, 0x1000, 500));
}

static void the_session_of_a_process_that_is_gone_is_ended(void **state)
{
	const uint64_t now = clock_now_ns();

	connect_agent();
	tick(now);
	assert_int_equal(n_ended, 0);
	end_child();
	tick(now + 3 * CLOCK_NS_PER_SEC);
	assert_int_equal(n_ended, 1);
	assert_int_equal(ended[0], 3);
}

static void the_session_of_a_pid_that_is_used_again_is_ended(void **state)
{
	connect_agent()->start_ticks++;
	session.id = 4;
	connect_agent();
	assert_int_equal(n_ended, 1);
	assert_int_equal(ended[0], 3);
	assert_int_equal(targets.n_jvms, 1);
}

static void the_session_of_a_process_that_cannot_be_read_is_refused(void **state)
{
	end_child();
	assert_int_equal(say(INTAKE_OPENED), TARGETS_END_SESSION);
	assert_int_equal(targets.refused_sessions, 1);
	assert_int_equal(targets.processes.count, 0);
	say(INTAKE_CLOSED);
}

static void whoever_has_ended_at_once_is_no_warning(void **state)
{
	char text[4096];

	end_child();
	hear_sessions(1, text, sizeof(text));
	assert_int_equal(targets.refused_sessions, 1);
	assert_non_null(strstr(text, "has ended before"));
	assert_null(strstr(text, "cannot"));
}

static void jvms_past_the_limit_are_refused(void **state)
{
	targets.n_jvms = TARGETS_MAX_JVMS;
	assert_int_equal(say(INTAKE_OPENED), TARGETS_END_SESSION);
	assert_int_equal(targets.refused_sessions, 1);
	assert_null(targets_find(&targets, child));
	targets.n_jvms = TARGETS_MAX_JVMS - 1;
	connect_agent();
	session.id = 4;
	connect_agent(); /* known already */
	assert_int_equal(targets.n_jvms, TARGETS_MAX_JVMS);
}

#define N_JVMS 3

/* JVMs of a container, beside that of the fixture, which is of a user of the host. */
static void add_jvms_of_container(struct process **ret)
{
	const struct intake_session own = session;

	for (uint32_t i = 0; i < N_JVMS; i++) {
		child = child_start();
		session = (struct intake_session){.id = 10 + i, .pid = child};
		assert_int_equal(process_stat_start_ticks(child, &session.start_ticks), 0);
		ret[i] = connect_agent();
		process_pool_set(&targets.pool, ret[i], (struct owner){.container = 7});
	}
	session = own;
}

static void end_jvms(const pid_t *pids)
{
	for (size_t i = 0; i < N_JVMS; i++)
		child_end(pids[i]);
}

static void who_has_the_most_jvms_makes_room(void **state)
{
	struct process *many[N_JVMS];
	pid_t own = child, pids[N_JVMS];

	add_jvms_of_container(many);
	for (size_t i = 0; i < N_JVMS; i++)
		pids[i] = many[i]->pid;
	many[1]->jvm->state = JVM_DISCONNECTED;
	targets.max_jvms = N_JVMS;
	child = own;
	assert_non_null(connect_agent());
	assert_null(targets_find(&targets, pids[1]));
	assert_non_null(targets_find(&targets, pids[0]));
	assert_non_null(targets_find(&targets, pids[2]));
	assert_int_equal(targets.dropped_jvms, 1);
	assert_int_equal(targets.n_jvms, N_JVMS);
	child = pids[1]; /* comes back, and nobody else has as many */
	session = (struct intake_session){.id = 20, .pid = child};
	assert_int_equal(process_stat_start_ticks(child, &session.start_ticks), 0);
	process_pool_set(&targets.pool, targets_find(&targets, own),
			 (struct owner){.container = 7});
	assert_int_equal(say(INTAKE_OPENED), TARGETS_KEEP);
	assert_int_equal(targets.n_jvms, N_JVMS);
	process_pool_set(&targets.pool, targets_find(&targets, pids[1]),
			 (struct owner){.container = 8});
	child = own;
	end_jvms(pids);
}

static void who_has_the_most_code_pays_and_not_the_largest_jvm(void **state)
{
	const uint64_t now = clock_now_ns();
	struct process *many[N_JVMS], *own = connect_agent();
	pid_t pid = child, pids[N_JVMS];
	struct code_range range = {.size = 16, .name = "a stub"};

	add_jvms_of_container(many);
	child = pid;
	for (uint64_t i = 0; i < 60000; i++) {
		range.addr = 0x1000 + 16 * i;
		assert_int_equal(code_map_add(own->code, &range, false), 1);
		for (size_t k = 0; k < N_JVMS && i < 40000 + k; k++)
			assert_int_equal(code_map_add(many[k]->code, &range, false), 1);
	}
	for (size_t i = 0; i < N_JVMS; i++)
		pids[i] = many[i]->pid;
	tick(now + CLOCK_NS_PER_SEC);
	assert_int_equal(targets.dropped_jvms, 0);
	targets.max_bytes = targets.bytes - 1;
	tick(now + 2 * CLOCK_NS_PER_SEC);
	assert_int_equal(targets.dropped_jvms, 1);
	assert_non_null(targets_find(&targets, pid));
	assert_int_equal(targets.n_jvms, N_JVMS);
	end_jvms(pids);
}

static void refusals_do_not_flood_the_log(void **state)
{
	char text[4096];
	int lines = 0;

	targets.n_jvms = TARGETS_MAX_JVMS;
	hear_sessions(100, text, sizeof(text));
	for (const char *at = text; *at; at++)
		lines += *at == '\n';
	assert_int_equal(targets.refused_sessions, 100);
	assert_in_range(lines, 1, 11);
}

static void mappings_are_read_at_most_once_a_second(void **state)
{
	struct process *process;

	process = connect_agent();
	address_space_fini(&process->space);
	session.id = 4;
	connect_agent();
	assert_int_equal(process->space.count, 0);
	process->space_read_ns -= CLOCK_NS_PER_SEC;
	session.id = 5;
	connect_agent();
	assert_true(process->space.count > 0);
}

/* ---- upkeep ---- */

static void closing_a_session_looks_at_its_process_alone(void **state)
{
	const uint64_t now = clock_now_ns();
	const pid_t pid = child, other = child_start();

	connect_agent();
	assert_non_null(targets_find_or_read(&targets, other));
	tick(now);
	end_child();
	child_end(other);
	say(INTAKE_CLOSED);
	assert_int_equal(targets_find(&targets, pid)->jvm->state, JVM_ENDED);
	assert_true(targets_find(&targets, pid)->gone_ns > 0);
	assert_int_equal(targets_find(&targets, other)->gone_ns, 0);
	assert_true(targets.next_sweep_ns > now);
}

/* One sweep, which may take several turns on a busy host. */
static void sweep(uint64_t now)
{
	do {
		tick(now);
	} while (!targets.is_swept);
}

static void one_sweep_forgets_all_that_are_gone(void **state)
{
	const uint64_t now = clock_now_ns();
	pid_t pids[20];

	for (int i = 0; i < 20; i++) {
		pids[i] = child_start();
		assert_non_null(targets_find_or_read(&targets, pids[i]));
	}
	for (int i = 0; i < 20; i++)
		child_end(pids[i]);
	sweep(now);
	assert_int_equal(targets.processes.count, 20);
	sweep(now + 5 * CLOCK_NS_PER_SEC);
	assert_int_equal(targets.processes.count, 0);
}

/* Processes that have ended: no process has these PIDs. */
#define N_ENDED	  200
#define FIRST_PID 10000000

static void add_ended(void)
{
	struct process *process;

	for (pid_t pid = FIRST_PID; pid < FIRST_PID + N_ENDED; pid++) {
		assert_int_equal(process_new(getpid(), 0, 0, &process), 0);
		process->pid = pid;
		assert_int_equal(map64_put(&targets.processes, (uint64_t)pid, process), 0);
	}
}

static size_t count_gone(void)
{
	const struct process *process;
	size_t pos = 0, n = 0;

	while ((process = targets_next(&targets, &pos)))
		n += process->gone_ns != 0;
	return n;
}

static void a_sweep_of_many_goes_on_in_the_next_turns(void **state)
{
	const uint64_t now = clock_now_ns();
	size_t before = 0, gone;
	unsigned turns = 0;

	(void)state;
	targets.turn.sweep_ns = 0; /* one process a turn */
	add_ended();
	do {
		tick(now);
		gone = count_gone();
		assert_true(gone > before);
		before = gone;
		turns++;
		assert_int_equal(targets_next_tick_ns(&targets) == 0, !targets.is_swept);
	} while (gone < N_ENDED);
	assert_true(turns > 1);
	while (!targets.is_swept)
		tick(now);
	assert_int_equal(targets.sweep_pos, 0);
	tick(now + CLOCK_NS_PER_SEC / 2); /* the next one is not due */
	assert_true(targets.next_sweep_ns == now + CLOCK_NS_PER_SEC);
	assert_true(targets_next_tick_ns(&targets) > now);
}

static void a_process_whose_map_cannot_be_written_is_forgotten_too(void **state)
{
	const uint64_t now = clock_now_ns();

	outputs.dir = "/nonexistent/fg";
	connect_agent();
	say_load(0x1000, 64, "run", 500);
	tick(now + CLOCK_NS_PER_SEC);
	assert_int_equal(outputs.failures, 1);
	assert_true(targets_find(&targets, child)->output->map.changed_ns > 0); /* tried again */
	end_child();
	for (unsigned int sec = 2; sec < 10; sec++)
		tick(now + sec * CLOCK_NS_PER_SEC);
	assert_int_equal(targets.processes.count, 0);
	assert_int_equal(targets.n_jvms, 0);
}

static void a_slow_map_rests_ten_times_as_long_as_it_took(void **state)
{
	struct code_range range = {.size = 16, .name = "a stub with a name of some length"};
	struct process *process;
	uint64_t at;

	process = connect_agent();
	for (range.addr = 0x1000; range.addr < 0x1000 + 200000 * 16; range.addr += 16)
		assert_int_equal(code_map_add(process->code, &range, false), 1);
	say_load(0x800, 16, "run", 500);
	at = clock_now_ns() + CLOCK_NS_PER_SEC;
	for (int pieces = 0; outputs.writes == 0; pieces++, at += CLOCK_NS_PER_MS) {
		assert_true(pieces <= 200000 / (int)PERF_MAP_PIECE + 2);
		tick(at);
	}
	/* Or there is nothing to see here. */
	assert_true(10 * process->output->map.took_ns > 100 * CLOCK_NS_PER_MS);
	assert_true(process->output->map.next_ns >
		    at - CLOCK_NS_PER_MS + 10 * process->output->map.took_ns);
	say_load(0x900, 16, "later", 501);
	tick(map_writer_due_ns(&process->output->map) - 1);
	assert_int_equal(outputs.writes, 1);
	tick(map_writer_due_ns(&process->output->map)); /* its draft */
	assert_int_equal(outputs.writes, 1);
	tick(map_writer_due_ns(&process->output->map));
	assert_int_equal(outputs.writes, 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TARGETS_TEST(a_second_connection_ends_the_first),
		TARGETS_TEST(the_session_of_a_process_that_is_gone_is_ended),
		TARGETS_TEST(the_session_of_a_pid_that_is_used_again_is_ended),
		TARGETS_TEST(whoever_has_ended_at_once_is_no_warning),
		TARGETS_TEST(the_session_of_a_process_that_cannot_be_read_is_refused),
		TARGETS_TEST(jvms_past_the_limit_are_refused),
		TARGETS_TEST(who_has_the_most_jvms_makes_room),
		TARGETS_TEST(who_has_the_most_code_pays_and_not_the_largest_jvm),
		TARGETS_TEST(refusals_do_not_flood_the_log),
		TARGETS_TEST(mappings_are_read_at_most_once_a_second),
		TARGETS_TEST(closing_a_session_looks_at_its_process_alone),
		TARGETS_TEST(one_sweep_forgets_all_that_are_gone),
		TARGETS_TEST(a_sweep_of_many_goes_on_in_the_next_turns),
		TARGETS_TEST(a_process_whose_map_cannot_be_written_is_forgotten_too),
		TARGETS_TEST(a_slow_map_rests_ten_times_as_long_as_it_took),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
