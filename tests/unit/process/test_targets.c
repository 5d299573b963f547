// SPDX-License-Identifier: Apache-2.0
/*
 * What agents say and what the kernel says, applied to the model; the processes are real ones: this
 * test and a child of it.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "code/java_text.h"
#include "common/child.h"
#include "common/files.h"
#include "targets_fixture.h"

static void an_agent_makes_its_process_known(void **state)
{
	const struct process *process;
	const struct code_range *range;
	char title[64];

	say(INTAKE_OPENED);
	say_hello("com.acme.Main --port 80");
	say_load(0x1000, 64, "run", 500);
	process = targets_find(&targets, child);
	assert_non_null(process);
	assert_true(process->space.count > 0);
	process_title(process, title, sizeof(title));
	assert_string_equal(title, "com.acme.Main");
	range = code_map_find(process->code, 0x1010, 500);
	assert_non_null(range);
	assert_string_equal(range->class_name, "com/acme/Main");
	assert_string_equal(range->name, "run");
	say_hello("/opt/app/service.jar --x");
	process_title(process, title, sizeof(title));
	assert_string_equal(title, "service.jar");
}

/* The child is killed, and forgotten when its samples are named. */
static bool is_map_kept_of(const char *command)
{
	const pid_t pid = child;
	char path[96];

	snprintf(path, sizeof(path), "%s/perf-%d.map", map_dir, (int)child);
	say(INTAKE_OPENED);
	say_hello(command);
	say_load(0x1000, 64, "run", 500);
	tick(clock_now_ns() + 60 * CLOCK_NS_PER_MS);
	assert_int_equal(access(path, F_OK), 0);
	end_child();
	tick(clock_now_ns() + 2 * CLOCK_NS_PER_SEC);
	assert_true(targets_find(&targets, pid)->gone_ns > 0);
	tick(clock_now_ns() + 10 * CLOCK_NS_PER_SEC);
	tick(clock_now_ns() + 20 * CLOCK_NS_PER_SEC);
	assert_null(targets_find(&targets, pid));
	return access(path, F_OK) == 0;
}

static void a_tool_that_passes_leaves_no_map(void **state)
{
	assert_false(is_map_kept_of("jdk.jcmd/sun.tools.jcmd.JCmd 1 VM.version"));
	assert_int_equal(outputs.store.stats.room.live_bytes, 0);
}

static void a_program_that_passes_leaves_its_map(void **state)
{
	assert_true(is_map_kept_of("com.acme.Main"));
}

static void a_tool_that_was_asked_for_leaves_its_map(void **state)
{
	outputs.keeps_tools = true;
	assert_true(is_map_kept_of("jdk.jcmd/sun.tools.jcmd.JCmd 1 VM.version"));
}

static void map_is_in_the_style_that_was_chosen(void **state)
{
	char path[96], *text;

	snprintf(path, sizeof(path), "%s/perf-%d.map", map_dir, (int)child);
	outputs.style.dotted = true;
	connect_agent();
	say_load(0x1000, 64, "run", 500);
	tick(clock_now_ns() + 60 * CLOCK_NS_PER_MS);
	assert_true(file_read_whole(path, 1 << 20, &text) > 0);
	assert_non_null(strstr(text, "1000 40 com.acme.Main::run\n"));
	free(text);
}

static void map_is_written_at_most_every_100_ms(void **state)
{
	char path[96], *text;
	uint64_t now;

	snprintf(path, sizeof(path), "%s/perf-%d.map", map_dir, (int)child);
	connect_agent();
	say_load(0x1000, 64, "run", 500);
	now = clock_now_ns();
	tick(now + 60 * CLOCK_NS_PER_MS);
	assert_true(file_read_whole(path, 1 << 20, &text) > 0);
	assert_non_null(strstr(text, "1000 40 Lcom/acme/Main;::run\n"));
	free(text);
	assert_int_equal(outputs.writes, 1);
	say_load(0x2000, 64, "later", 501);
	tick(now + 120 * CLOCK_NS_PER_MS);
	assert_int_equal(outputs.writes, 1);
	/* Ten times as long as the first one took, at the latest. */
	tick(now + 20 * CLOCK_NS_PER_SEC);
	assert_int_equal(outputs.writes, 2);
	tick(now + 40 * CLOCK_NS_PER_SEC);
	assert_int_equal(outputs.writes, 2); /* nothing new */
}

/* The process has a code generator besides HotSpot. */
static void perf_map_of_a_jvm_is_read_while_it_is_wanted(void **state)
{
	const struct mapping generated = {.start = 0x10000, .end = 0x20000, .path = ""};
	struct process *const process = connect_agent();
	char path[64];

	snprintf(path, sizeof(path), "/tmp/perf-%d.map", (int)child);
	files_write(path, "10000 10 second\n");
	assert_int_equal(address_space_add(&process->space, &generated), 0);
	tick(clock_now_ns());
	assert_null(process->foreign.map);
	foreign_reader_want(&process->foreign, clock_now_ns());
	foreign_upkeep_note(&targets.foreign, process);
	for (int i = 0; i < 1000000 && !process->foreign.whole_ns; i++) {
		process->foreign.next_ns = targets.foreign.next_ns = 0;
		tick(clock_now_ns());
	}
	unlink(path);
	assert_non_null(process->foreign.map);
	assert_string_equal(foreign_map_find(process->foreign.map, 0x10008, clock_now_ns())->name,
			    "second");
	process->foreign.wanted_ns = 1; /* long ago */
	targets.foreign.next_ns = 0;
	tick(clock_now_ns());
	assert_false(targets.foreign.has_jvms);
}

static void a_gap_ends_the_session_so_that_the_agent_resynchronises(void **state)
{
	assert_int_equal(say(INTAKE_OPENED), TARGETS_KEEP);
	assert_int_equal(say(INTAKE_GAP), TARGETS_END_SESSION);
	assert_int_equal(targets_find(&targets, child)->jvm->gaps, 1);
	say(INTAKE_CLOSED);
	assert_int_equal(targets_find(&targets, child)->jvm->state, JVM_DISCONNECTED);
}

static void say_as(uint32_t id, enum intake_kind kind)
{
	session.id = id;
	say(kind);
}

static void of_two_connections_of_an_agent_the_newer_counts(void **state)
{
	const struct process *process = connect_agent();

	session.id++;
	connect_agent();
	assert_int_equal(n_ended, 1);
	assert_int_equal(ended[0], 3);
	assert_int_equal(process->jvm->session, 4);
	assert_int_equal(targets.second_agents, 0);
	say_as(3, INTAKE_CLOSED);
	assert_int_equal(process->jvm->state, JVM_RESYNCING);
}

/* None ends the other's session, and the second is heard when the first has gone. */
static void of_two_agents_the_first_is_heard(void **state)
{
	const struct intake_event event = {.kind = INTAKE_RECORD, .session = &session};
	const struct process *process = connect_agent();

	session.id++;
	loaded_ns = 1;
	connect_agent();
	assert_int_equal(n_ended, 0);
	assert_int_equal(process->jvm->session, 3);
	assert_int_equal(targets.second_agents, 1);
	say_load(0x1000, 64, "second", 500);
	assert_null(code_map_living(process->code, 0x1000));
	assert_int_equal(targets.second_agent_records, 2);
	session.id = 3;
	say_load(0x1000, 64, "first", 501);
	assert_non_null(code_map_living(process->code, 0x1000));
	say_as(3, INTAKE_CLOSED);
	session.id = 4;
	assert_int_equal(targets_apply_intake(&targets, &event), TARGETS_END_SESSION);
	say_as(4, INTAKE_CLOSED);
	session.id = 5;
	connect_agent();
	assert_int_equal(process->jvm->session, 5);
	loaded_ns = 0;
}

static void code_survives_a_new_connection_and_dies_if_not_repeated(void **state)
{
	const struct process *process;
	struct code_map_stats stats;

	connect_agent();
	say_load(0x1000, 64, "stays", 500);
	say_load(0x2000, 64, "goes", 501);
	say(INTAKE_CLOSED);
	session.id = 4;
	process = connect_agent();
	wire_encode_resync(&buf, WIRE_RESYNC_BEGIN, &(struct wire_resync){.time_ns = 600});
	say_records(&buf);
	assert_int_equal(process->jvm->state, JVM_RESYNCING);
	say_load(0x1000, 64, "stays", 601);
	wire_encode_resync(&buf, WIRE_RESYNC_END,
			   &(struct wire_resync){.time_ns = 602, .complete = true});
	say_records(&buf);
	assert_int_equal(process->jvm->state, JVM_CURRENT);
	code_map_stats(process->code, &stats);
	assert_int_equal(stats.live, 1);
	assert_string_equal(code_map_find(process->code, 0x2000, 550)->name, "goes");
}

static void a_process_that_ends_is_noticed_and_later_forgotten(void **state)
{
	const uint64_t now = clock_now_ns();
	const pid_t pid = child;
	char path[96];

	connect_agent();
	say_load(0x1000, 64, "run", 500);
	tick(now + CLOCK_NS_PER_SEC);
	end_child();
	tick(now + 3 * CLOCK_NS_PER_SEC);
	assert_int_equal(targets_find(&targets, pid)->jvm->state, JVM_ENDED);
	tick(now + 60 * CLOCK_NS_PER_SEC);
	assert_null(targets_find(&targets, pid));
	snprintf(path, sizeof(path), "%s/perf-%d.map", map_dir, (int)pid);
	assert_int_equal(access(path, F_OK), 0); /* for perf report */
}

static void the_largest_jvm_pays_when_the_code_of_all_is_too_much(void **state)
{
	const uint64_t now = clock_now_ns();
	const pid_t pid = child;

	connect_agent();
	say_load(0x1000, 64, "run", 500);
	tick(now + CLOCK_NS_PER_SEC);
	assert_non_null(targets_find(&targets, pid));
	assert_int_equal(targets.dropped_jvms, 0);
	targets.max_bytes = 64;
	tick(now + 3 * CLOCK_NS_PER_SEC);
	assert_null(targets_find(&targets, pid));
	assert_int_equal(targets.dropped_jvms, 1);
	assert_int_equal(targets.n_jvms, 0);
	assert_int_equal(n_ended, 1);
	assert_int_equal(ended[0], session.id);
	targets.max_bytes = TARGETS_MAX_BYTES;
	connect_agent(); /* its agent has dialled again */
	assert_non_null(targets_find(&targets, pid)->jvm);
}

static void a_pid_that_is_used_again_is_another_process(void **state)
{
	struct process *process;

	session.start_ticks++; /* as if child had taken over the PID of an earlier one */
	connect_agent();
	say_load(0x1000, 64, "run", 500);
	process = targets_find(&targets, child);
	assert_non_null(process);
	process->start_ticks = session.start_ticks;
	session.start_ticks--;
	session.id++;
	say(INTAKE_OPENED);
	process = targets_find(&targets, child);
	assert_null(code_map_find(process->code, 0x1000, 500));
}

/* As if child had taken over the PID of a process that has just ended, and is not forgotten yet. */
static void make_earlier(struct process *process)
{
	process->start_ticks--;
	process->gone_ns = 1;
	process->comm[0] = '?';
}

static void what_is_wanted_is_who_has_the_pid_now(void **state)
{
	const struct record fork = {
		.kind = RECORD_FORK, .pid = child, .fork = {.parent_pid = getpid()}};
	struct process *process = targets_find_or_read(&targets, child);
	uint64_t ticks;

	assert_non_null(process);
	ticks = process->start_ticks;
	make_earlier(process);
	targets_want(&targets, child);
	process = targets_find(&targets, child);
	assert_non_null(process);
	assert_true(process->start_ticks == ticks && !process->gone_ns && process->comm[0] != '?');
	targets_want_all(&targets);
	assert_non_null(targets_find_or_read(&targets, getpid()));
	make_earlier(process);
	targets_apply_record(&targets, &fork);
	process = targets_find(&targets, child);
	assert_true(process->start_ticks == ticks && !process->gone_ns && process->comm[0] != '?');
	targets_unwant_all(&targets);
	targets_unwant(&targets, child);
}

static void records_without_a_session_or_cut_short_do_no_harm(void **state)
{
	const struct wire_record cut = {.kind = WIRE_METHOD_LOAD, .payload = bytes, .len = 3};
	const struct wire_record unknown = {.kind = 4711, .payload = bytes, .len = 3};

	say_load(0x1000, 64, "run", 500);
	connect_agent();
	targets_apply_intake(
		&targets,
		&(struct intake_event){.kind = INTAKE_RECORD, .session = &session, .record = cut});
	targets_apply_intake(&targets, &(struct intake_event){.kind = INTAKE_RECORD,
							      .session = &session,
							      .record = unknown});
	assert_int_equal(targets_find(&targets, child)->jvm->bad_records, 1);
	assert_int_equal(targets_find(&targets, child)->jvm->unknown_records, 1);
	session.pid = 0; /* the collector is in a PID namespace of its own */
	session.id++;
	say(INTAKE_OPENED);
	say_load(0x1000, 64, "run", 500);
	assert_true(targets.said_blind);
}

static void times_from_the_future_count_as_now(void **state)
{
	const struct process *process;

	connect_agent();
	say_load(0x1000, 64, "run", UINT64_MAX / 2);
	process = targets_find(&targets, child);
	assert_true(code_map_find(process->code, 0x1000, 1)->birth_ns <= clock_now_ns());
}

static void mappings_and_names_follow_the_kernels_records(void **state)
{
	const struct record record = {
		.kind = RECORD_MMAP,
		.pid = child,
		.tid = child,
		.mmap = {.addr = 0x10000, .len = 0x1000, .inode = 9, .path = "/x.so (deleted)"},
	};
	struct process *process;
	const struct mapping *mapping;

	process = connect_agent();
	targets_apply_record(&targets, &record);
	mapping = address_space_find(&process->space, 0x10500);
	assert_non_null(mapping);
	assert_string_equal(mapping->path, "/x.so");
	assert_true(mapping->is_deleted);
	process_set_comm(process, child, "http-nio-8080-e", 1);
	assert_string_equal(process_thread_name(process, child), "http-nio-8080-e");
	wire_encode_thread(&buf,
			   &(struct wire_thread){.tid = (uint32_t)child,
						 .name = wire_str_from("http-nio-8080-exec-7")});
	say_records(&buf);
	assert_string_equal(process_thread_name(process, child), "http-nio-8080-exec-7");
	process_set_comm(process, child, "another-of-that", 1); /* it has been renamed since */
	assert_string_equal(process_thread_name(process, child), "another-of-that");
	process_set_comm(process, child, "http-ni..exec-7", 1); /* as HotSpot cuts from 21 on */
	assert_string_equal(process_thread_name(process, child), "http-nio-8080-exec-7");
}

/* A name is asked for after the first sample, and is the name of that sample too. */
static void a_name_that_was_read_late_is_that_of_earlier_samples(void **state)
{
	const pid_t tid = getpid();
	struct thread_at at = {.tid = tid, .time_ns = 10, .comm = "java"};
	struct process *process;
	const char *cut;

	process = targets_find_or_read(&targets, tid);
	assert_int_equal(process_add_jvm(process), 0);
	process_see_thread(process, &at);
	assert_string_equal(process_thread_name_at(process, &at, &cut), "java");
	assert_null(cut);
	assert_int_equal(process_set_thread_name(process, tid, "main", 20), 0);
	at.time_ns = 30;
	process_see_thread(process, &at);
	assert_string_equal(process_thread_name_at(process, &at, &cut), "main");
	assert_null(cut); /* an agent tells each name at its time */
	process->jvm->is_outside = true;
	assert_string_equal(process_thread_name_at(process, &at, &cut), "main");
	assert_string_equal(cut, "java");
	at.time_ns = 10; /* a sample that has waited */
	assert_string_equal(process_thread_name_at(process, &at, &cut), "main");
	assert_int_equal(process_set_thread_name(process, tid, "server", 40), 0);
	at.time_ns = 50;
	assert_string_equal(process_thread_name_at(process, &at, &cut), "server");
	assert_null(cut);
}

/* ---- everything ---- */

static void processes_without_an_agent_are_forgotten_with_the_last_who_wants_them(void **state)
{
	const pid_t other = child_start();

	connect_agent();
	targets_want_all(&targets);
	targets_want_all(&targets);
	assert_non_null(targets_find_or_read(&targets, other));
	targets_unwant_all(&targets);
	assert_int_equal(targets.all_users, 1);
	assert_non_null(targets_find(&targets, other));
	targets_unwant_all(&targets);
	assert_int_equal(targets.all_users, 0);
	assert_null(targets_find(&targets, other));
	assert_non_null(targets_find(&targets, child));
	child_end(other);
}

static void threads_are_looked_up_anew_after_a_refresh(void **state)
{
	struct process *process;

	process = connect_agent();
	process_set_comm(process, child, "stale", 1);
	targets_refresh(&targets);
	assert_int_equal(process->threads.count, 0);
	assert_string_not_equal(process_thread_name(process, child), "stale");
}

static void see(struct process *process, uint64_t time_ns)
{
	process_see_thread(process, &(struct thread_at){.tid = getpid(), .time_ns = time_ns});
}

/* Of this process: its own names are to be had. */
static void a_threads_name_is_read_again_after_a_second(void **state)
{
	const uint64_t now_ns = clock_now_ns();
	struct process *process;
	char before[PROCESS_COMM_BYTES];

	process = targets_find_or_read(&targets, getpid());
	prctl(PR_GET_NAME, before);
	prctl(PR_SET_NAME, "first");
	see(process, now_ns);
	assert_string_equal(process_thread_name(process, getpid()), "first");
	prctl(PR_SET_NAME, "second");
	see(process, now_ns + PROCESS_NAME_AGE_NS - 1);
	assert_string_equal(process_thread_name(process, getpid()), "first");
	see(process, now_ns + PROCESS_NAME_AGE_NS);
	assert_string_equal(process_thread_name(process, getpid()), "second");
	assert_string_equal(process->comm, "second"); /* it is the main thread */
	prctl(PR_SET_NAME, before);
}

/* Samples wait before they are named, and a thread may have been renamed meanwhile. */
static void a_sample_has_the_name_of_its_time(void **state)
{
	const uint64_t now_ns = clock_now_ns();
	const pid_t tid = getpid();
	const struct thread_at old = {.tid = tid, .time_ns = now_ns, .comm = "job-1"};
	const struct thread_at new = {.tid = tid, .time_ns = now_ns + 1, .comm = "job-2"};
	const struct thread_at untold = {.tid = tid, .time_ns = now_ns};
	struct process *process;
	const char *cut;

	process = targets_find_or_read(&targets, tid);
	process_see_thread(process, &old);
	process_see_thread(process, &new);
	assert_string_equal(process_thread_name_at(process, &old, &cut), "job-1");
	assert_string_equal(process_thread_name_at(process, &untold, &cut), "job-1");
	assert_string_equal(process_thread_name_at(process, &new, &cut), "job-2");
	assert_null(cut);
	assert_string_equal(process->comm, "job-2");
}

/* As where it was recorded: samples under the name's beginning then become those of the name. */
static void a_capture_s_longer_name_continues_the_kernel_s(void **state)
{
	const struct thread_at at = {.tid = 7, .time_ns = 1};
	struct process *process;
	const char *cut;

	assert_int_equal(process_new_replayed(7, 1, &process), 0);
	assert_int_equal(process_add_jvm(process), 0);
	assert_int_equal(process_set_thread(process, 7, "the-name-of-a-w", NULL), 0);
	assert_string_equal(process_thread_name_at(process, &at, &cut), "the-name-of-a-w");
	assert_null(cut);
	assert_int_equal(process_set_thread(process, 7, "the-name-of-a-worker-1", NULL), 0);
	assert_string_equal(process_thread_name_at(process, &at, &cut), "the-name-of-a-worker-1");
	assert_string_equal(cut, "the-name-of-a-w");
	assert_int_equal(process_set_thread(process, 7, "another-name-altogether", NULL), 0);
	assert_string_equal(process_thread_name_at(process, &at, &cut), "another-name-altogether");
	assert_null(cut);
	assert_int_equal(process_set_thread(process, 7, "main", "java"), 0); /* told */
	assert_string_equal(process_thread_name_at(process, &at, &cut), "main");
	assert_string_equal(cut, "java");
	process_free(process);
}

static void a_thread_with_the_number_of_another_is_another(void **state)
{
	const uint64_t now_ns = clock_now_ns();
	struct process *process;
	struct thread *thread;

	process = targets_find_or_read(&targets, getpid());
	see(process, now_ns);
	thread = map64_find(&process->threads, (uint64_t)getpid());
	thread->inner_tid = 4711; /* of the one before */
	see(process, now_ns + PROCESS_NAME_AGE_NS);
	assert_int_equal(thread->inner_tid, getpid());
}

static void exec(uint64_t time_ns)
{
	const struct record record = {
		.kind = RECORD_EXEC, .time_ns = time_ns, .pid = child, .tid = child};

	targets_apply_record(&targets, &record);
}

static void exec_empties_mappings_and_threads(void **state)
{
	struct process *process;

	process = targets_find_or_read(&targets, child);
	assert_true(process->space.count > 0);
	process_set_comm(process, child + 1, "stale", 1);
	exec(clock_now_ns());
	assert_int_equal(process->space.count, 0);
	assert_int_equal(process->threads.count, 0);
}

/* exec maps the new program's file before the kernel says that there is one. */
static void memory_in_the_place_of_a_files_code_is_looked_at(void **state)
{
	const uint64_t now_ns = clock_now_ns();
	struct record record = {
		.kind = RECORD_MMAP,
		.pid = child,
		.tid = child,
		.time_ns = now_ns,
		.mmap = {.addr = 0x10000, .len = 0x8000, .inode = 7, .path = "/libjvm.so"},
	};
	struct process *const process = targets_find_or_read(&targets, child);

	targets_apply_record(&targets, &record);
	assert_int_equal(process->space_due_ns, 0);
	record.mmap.inode = 0;
	record.mmap.path = "//anon";
	record.mmap.addr = 0x40000; /* in the place of nothing */
	targets_apply_record(&targets, &record);
	assert_int_equal(process->space_due_ns, 0);
	assert_int_equal(address_space_find(&process->space, 0x40000)->inode, 0);
	record.mmap.addr = 0x11000;
	record.mmap.len = 0x2000;
	targets_apply_record(&targets, &record);
	assert_int_equal(address_space_find(&process->space, 0x11000)->inode, 7);
	assert_true(process->space_due_ns >= now_ns);
	assert_true(targets.spaces.next_ns && targets.spaces.next_ns <= process->space_due_ns);
}

static void exec_leaves_what_was_mapped_just_before(void **state)
{
	const uint64_t now_ns = clock_now_ns() + CLOCK_NS_PER_SEC;
	struct record record = {
		.kind = RECORD_MMAP,
		.pid = child,
		.tid = child,
		.time_ns = now_ns - 100 * CLOCK_NS_PER_MS,
		.mmap = {.addr = 0x10000, .len = 0x1000, .inode = 7, .path = "/old.so"},
	};
	struct process *process;

	process = targets_find_or_read(&targets, child);
	targets_apply_record(&targets, &record);
	record.mmap.addr = 0x20000;
	record.mmap.path = "/bin/new";
	record.time_ns = now_ns - 10 * CLOCK_NS_PER_MS;
	targets_apply_record(&targets, &record);
	exec(now_ns);
	assert_int_equal(process->space.count, 1);
	assert_string_equal(process->space.mappings[0].path, "/bin/new");
	assert_int_equal(process->space_read_ns, 0);
}

/* As when its record waited in one CPU's ring, and what made the process known was in another's. */
static void exec_before_mappings_and_threads_were_read_leaves_them(void **state)
{
	const uint64_t before = clock_now_ns();
	struct process *process;
	size_t count;

	process = targets_find_or_read(&targets, child);
	count = process->space.count;
	assert_true(count > 0);
	process_set_comm(process, child + 1, "read", 1);
	exec(before - 1);
	assert_int_equal(process->space.count, count);
	assert_string_equal(process_thread_name(process, child + 1), "read");
}

static void exec_ends_the_jvm_and_its_session(void **state)
{
	struct process *process;
	char title[64];

	process = connect_agent();
	say_load(0x1000, 64, "run", 500);
	process_set_comm(process, child, "other", 1);
	exec(clock_now_ns());
	assert_int_equal(process->jvm->state, JVM_ENDED);
	assert_false(process_is_jvm(process));
	assert_int_equal(n_ended, 1);
	assert_int_equal(ended[0], 3);
	assert_null(code_map_find(process->code, 0x1000, 500));
	process_title(process, title, sizeof(title));
	assert_string_equal(title, "other");
	say_load(0x1000, 64, "run", 500);
	assert_null(code_map_find(process->code, 0x1000, 500));
}

/* The new program may be a JVM, too. */
static void a_process_is_a_jvm_again_once_an_agent_connects(void **state)
{
	struct process *process = connect_agent();

	exec(clock_now_ns());
	assert_false(process_is_jvm(process));
	assert_ptr_equal(connect_agent(), process);
	assert_true(process_is_jvm(process));
}

/* Nobody tells of programs that begin, but the agent's connection is closed. */
static void a_jvm_that_has_left_libjvm_runs_another_program(void **state)
{
	const struct mapping libjvm = {.start = 0x10000,
				       .end = 0x20000,
				       .inode = 7,
				       .path = "/opt/java/lib/server/libjvm.so"};
	struct process *process = connect_agent();

	say(INTAKE_CLOSED); /* it has none that could be left, such as a static JVM */
	assert_true(process_is_jvm(process));
	while (process_is_jvm(process)) {
		connect_agent();
		address_space_add(&process->space, &libjvm);
		process->left_checked_ns = 0;
		say(INTAKE_CLOSED);
	}
	assert_int_equal(process->jvm->state, JVM_ENDED);
}

static void exec_before_the_agent_connected_leaves_the_jvm(void **state)
{
	const uint64_t before = clock_now_ns();
	struct process *process;

	process = connect_agent();
	say_load(0x1000, 64, "run", 500);
	exec(before - 1);
	assert_int_equal(process->jvm->state, JVM_RESYNCING);
	assert_int_equal(n_ended, 0);
	assert_non_null(code_map_find(process->code, 0x1000, 500));
}

static void java_text_becomes_utf8(void **state)
{
	/*
	 * A NUL, U+1F525 as two surrogates, a lone surrogate, a lone tail, '/' in two bytes and
	 * three.
	 */
	static const char in[] = "a\xc0\x80\xed\xa0\xbd\xed\xb4\xa5\xed\xa0\xbdz\x80\xc3\xa4"
				 "\xc0\xaf\xe0\x80\xaf";
	char out[sizeof(in)];
	const size_t len = java_text_to_utf8(in, sizeof(in) - 1, out);
	const char *name = "Ljava/lang/String;";
	size_t name_len = strlen(name);

	out[len] = '\0';
	assert_string_equal(out, "a?\xf0\x9f\x94\xa5?z?\xc3\xa4?????");
	java_text_strip_class(&name, &name_len);
	assert_int_equal(name_len, 16);
	assert_memory_equal(name, "java/lang/String", 16);
}

static void utf8_becomes_java_text(void **state)
{
	static const char in[] = "a\xf0\x9f\x94\xa5\xc3\xa4\xf4\x90\x80\x80\xf0\x9f";
	static const char expected[] = "a\xed\xa0\xbd\xed\xb4\xa5\xc3\xa4\xf4\x90\x80\x80\xf0\x9f";
	char out[32];

	assert_int_equal(java_text_from_utf8(in, sizeof(in) - 1, out, sizeof(out)),
			 sizeof(expected) - 1);
	assert_memory_equal(out, expected, sizeof(expected) - 1);
	assert_int_equal(java_text_from_utf8(in, sizeof(in) - 1, out, 6), 1); /* no half pair */
	assert_int_equal(java_text_from_utf8(in, sizeof(in) - 1, out, 7), 7);
}

/* ---- names of containers that come late ---- */

static pthread_mutex_t gate = PTHREAD_MUTEX_INITIALIZER;

static void read_late(struct container_names *names, struct container *container)
{
	pthread_mutex_lock(&gate);
	strcpy(container->name, "web");
	pthread_mutex_unlock(&gate);
}

/* The child, as if it were in a container, whose name is asked for and does not come yet. */
static struct process *put_into_container(void)
{
	struct container container = {.id = "0123456789abcdef"};
	struct process *const process = targets_find_or_read(&targets, child);

	assert_non_null(process);
	containers_release(&targets.containers, process->container);
	names_reader_use(targets.containers.reader, read_late);
	pthread_mutex_lock(&gate);
	process->container = containers_hold_as(&targets.containers, &container, 1);
	process_identify(process);
	targets_settle_names(&targets);
	assert_string_equal(process->workload.container, "");
	return process;
}

static void a_late_name_is_the_processs_with_the_next_turn(void **state)
{
	struct process *const process = put_into_container();
	struct pollfd polled = {.fd = containers_fd(&targets.containers), .events = POLLIN};
	const uint64_t now = clock_now_ns();

	tick(now); /* the next sweep is a second later */
	pthread_mutex_unlock(&gate);
	assert_int_equal(poll(&polled, 1, -1), 1);
	tick(now + 1);
	assert_string_equal(process->workload.container, "web");
}

static void who_asks_by_name_may_wait_for_a_late_one(void **state)
{
	struct process *const process = put_into_container();

	pthread_mutex_unlock(&gate);
	targets.names_wait_ns = 60 * CLOCK_NS_PER_SEC;
	targets_settle_names(&targets);
	assert_string_equal(process->workload.container, "web");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TARGETS_TEST(an_agent_makes_its_process_known),
		TARGETS_TEST(map_is_in_the_style_that_was_chosen),
		TARGETS_TEST(a_tool_that_passes_leaves_no_map),
		TARGETS_TEST(a_program_that_passes_leaves_its_map),
		TARGETS_TEST(a_tool_that_was_asked_for_leaves_its_map),
		TARGETS_TEST(map_is_written_at_most_every_100_ms),
		TARGETS_TEST(perf_map_of_a_jvm_is_read_while_it_is_wanted),
		TARGETS_TEST(a_gap_ends_the_session_so_that_the_agent_resynchronises),
		TARGETS_TEST(of_two_connections_of_an_agent_the_newer_counts),
		TARGETS_TEST(of_two_agents_the_first_is_heard),
		TARGETS_TEST(code_survives_a_new_connection_and_dies_if_not_repeated),
		TARGETS_TEST(a_process_that_ends_is_noticed_and_later_forgotten),
		TARGETS_TEST(the_largest_jvm_pays_when_the_code_of_all_is_too_much),
		TARGETS_TEST(a_pid_that_is_used_again_is_another_process),
		TARGETS_TEST(what_is_wanted_is_who_has_the_pid_now),
		TARGETS_TEST(records_without_a_session_or_cut_short_do_no_harm),
		TARGETS_TEST(times_from_the_future_count_as_now),
		TARGETS_TEST(mappings_and_names_follow_the_kernels_records),
		TARGETS_TEST(processes_without_an_agent_are_forgotten_with_the_last_who_wants_them),
		TARGETS_TEST(threads_are_looked_up_anew_after_a_refresh),
		TARGETS_TEST(exec_empties_mappings_and_threads),
		TARGETS_TEST(memory_in_the_place_of_a_files_code_is_looked_at),
		TARGETS_TEST(exec_leaves_what_was_mapped_just_before),
		TARGETS_TEST(a_threads_name_is_read_again_after_a_second),
		TARGETS_TEST(a_sample_has_the_name_of_its_time),
		TARGETS_TEST(a_name_that_was_read_late_is_that_of_earlier_samples),
		TARGETS_TEST(a_capture_s_longer_name_continues_the_kernel_s),
		TARGETS_TEST(a_thread_with_the_number_of_another_is_another),
		TARGETS_TEST(exec_before_mappings_and_threads_were_read_leaves_them),
		TARGETS_TEST(a_process_is_a_jvm_again_once_an_agent_connects),
		TARGETS_TEST(a_jvm_that_has_left_libjvm_runs_another_program),
		TARGETS_TEST(exec_ends_the_jvm_and_its_session),
		TARGETS_TEST(exec_before_the_agent_connected_leaves_the_jvm),
		TARGETS_TEST(a_late_name_is_the_processs_with_the_next_turn),
		TARGETS_TEST(who_asks_by_name_may_wait_for_a_late_one),
		cmocka_unit_test(java_text_becomes_utf8),
		cmocka_unit_test(utf8_becomes_java_text),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
