// SPDX-License-Identifier: Apache-2.0
/* The JVM that is read is this program, which has a fake one in its memory. */
#include "../outside/fake_vm.h"

#include "base/guarded.h"
#include "base/log.h"
#include "base/process_stat.h"
#include "process/code_events.h"
#include "process/outside_upkeep.h"

#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#define AGENT_SESSION 7
#define AGE_NS	      UINT64_C(10000000000) /* past all that a young process is waited for */

struct fixture {
	struct fake_vm vm;
	struct process *process;
	struct outside_upkeep upkeep;
	struct outside_host host;
	struct map64 processes;
	uint64_t now_ns;
	bool has_room;
	enum outside_want wanted;
	unsigned named;		  /* calls of the host's named */
	unsigned read[UINT8_MAX]; /* records of the host's read, by kind */
};

static bool take(void *arg, struct process *process)
{
	const struct fixture *const fixture = arg;

	return fixture->has_room && process_add_jvm(process) == 0;
}

static void changed(void *arg, struct process *process, size_t bytes)
{
	assert_true(bytes < VM_READING_RECORD_BYTES);
}

static void named(void *arg, const struct process *process)
{
	struct fixture *const fixture = arg;

	assert_ptr_equal(process, fixture->process);
	fixture->named++;
}

/* The model has what the record tells. */
static void note_read(void *arg, const struct process *process, const struct wire_record *record)
{
	struct fixture *const fixture = arg;
	struct wire_method_load load;

	assert_ptr_equal(process, fixture->process);
	if (record->kind == WIRE_METHOD_LOAD && wire_decode_method_load(record, &load) == 0)
		assert_non_null(code_map_living(process->code, load.addr));
	fixture->read[record->kind]++;
}

static enum outside_want wanted(void *arg, const struct process *process)
{
	const struct fixture *const fixture = arg;

	return fixture->wanted;
}

static int set_up(void **state)
{
	struct fixture *const fixture = calloc(1, sizeof(*fixture));
	struct mapping libjvm = {.inode = 5, .path = "/opt/jdk/lib/server/libjvm.so"};

	assert_non_null(fixture);
	fake_vm_init(&fixture->vm);
	libjvm.start = fixture->vm.libjvm.start;
	libjvm.end = fixture->vm.libjvm.end;
	libjvm.file_off = fixture->vm.libjvm.file_off;
	assert_int_equal(process_new(getpid(), 0, PROCESS_READ_ALL, &fixture->process), 0);
	fixture->process->start_ticks = 1; /* as old as the machine, whenever the test has begun */
	assert_int_equal(address_space_add(&fixture->process->space, &libjvm), 0);
	assert_int_equal(map64_put(&fixture->processes, (uint64_t)getpid(), fixture->process), 0);
	fixture->host = (struct outside_host){.take = take,
					      .changed = changed,
					      .named = named,
					      .read = note_read,
					      .wanted = wanted,
					      .arg = fixture};
	fixture->upkeep.most_ns = UINT64_MAX / 2; /* nothing depends on how long a step takes */
	fixture->upkeep.share = 1;
	fixture->now_ns = AGE_NS;
	fixture->has_room = true;
	fixture->wanted = OUTSIDE_WANT_CODE;
	*state = fixture;
	return 0;
}

static int tear_down(void **state)
{
	struct fixture *const fixture = *state;

	guarded_use(NULL);
	map64_fini(&fixture->processes);
	process_free(fixture->process);
	fake_vm_fini(&fixture->vm);
	free(fixture);
	return 0;
}

static void step(struct fixture *fixture)
{
	fixture->upkeep.next_ns = 0;
	outside_upkeep_step(&fixture->upkeep, &fixture->host, &fixture->processes, fixture->now_ns);
}

/* Lets time pass, step by step, as the loop does. */
static void pass(struct fixture *fixture, uint64_t ns)
{
	const uint64_t until_ns = fixture->now_ns + ns;

	for (; fixture->now_ns < until_ns; fixture->now_ns += OUTSIDE_LOOK_NS)
		step(fixture);
}

static uint64_t add(struct fixture *fixture, const char *name, int32_t compile_id)
{
	const struct fake_code code = {
		.name = fixture->vm.nmethod_name,
		.method = fake_vm_method(&fixture->vm, "com/example/Main", name, "(I)V"),
		.bytes = 200,
		.compile_id = compile_id,
		.entry_bci = -1,
		.frame_words = 6,
		.level = 4,
	};

	return fake_vm_add_code(&fixture->vm, &code);
}

static const char *name_at(const struct fixture *fixture, uint64_t addr)
{
	const struct code_range *const range =
		fixture->process->code
			? code_map_find(fixture->process->code, addr, fixture->now_ns)
			: NULL;

	return range ? range->name : "";
}

static void check_is_read(const struct fixture *fixture)
{
	assert_non_null(fixture->process->jvm);
	assert_true(fixture->process->jvm->is_outside);
	assert_int_equal(fixture->process->jvm->state, JVM_CURRENT);
	assert_string_equal(jvm_state_name(fixture->process->jvm), "read from outside");
}

static void a_jvm_without_an_agent_is_read(void **state)
{
	struct fixture *const fixture = *state;
	const uint64_t code = add(fixture, "run", 1);

	pass(fixture, OUTSIDE_PATIENCE_NS);
	check_is_read(fixture);
	assert_string_equal(name_at(fixture, code), "run");
	assert_string_equal(process_attr(fixture->process, "java.command"),
			    "com.example.Main --fast");
	assert_non_null(strstr(process_attr(fixture->process, "command"), "test_outside_upkeep"));
	assert_int_equal(fixture->named, 1);
	assert_true(fixture->process->jvm->layout.has_methods);
	assert_false(process_has_agent(fixture->process));
	assert_int_equal(fixture->process->jvm->bad_records, 0);
	assert_int_equal(fixture->upkeep.stats.errors, 0);
}

/* The tables are read in memory, and the file that is mapped stays as long as it is mapped. */
static void an_upgrade_of_the_library_under_a_jvm_changes_nothing(void **state)
{
	struct fixture *const fixture = *state;
	const struct mapping replaced = {.start = fixture->vm.libjvm.start,
					 .end = fixture->vm.libjvm.end,
					 .file_off = fixture->vm.libjvm.file_off,
					 .inode = 5,
					 .path = "/opt/jdk/lib/server/libjvm.so (deleted)"};
	uint64_t code = add(fixture, "before", 1);

	assert_int_equal(address_space_add(&fixture->process->space, &replaced), 0);
	pass(fixture, OUTSIDE_PATIENCE_NS);
	check_is_read(fixture);
	assert_string_equal(name_at(fixture, code), "before");
	code = add(fixture, "after", 2);
	pass(fixture, OUTSIDE_CALM_NS + OUTSIDE_LOOK_NS);
	assert_string_equal(name_at(fixture, code), "after");
	assert_int_equal(fixture->upkeep.stats.errors, 0);
}

static void code_that_comes_and_goes_is_seen(void **state)
{
	struct fixture *const fixture = *state;
	uint64_t code;

	pass(fixture, OUTSIDE_PATIENCE_NS);
	code = add(fixture, "walk", 2);
	pass(fixture, OUTSIDE_CALM_NS + OUTSIDE_LOOK_NS);
	assert_string_equal(name_at(fixture, code), "walk");
	assert_int_equal(fixture->read[WIRE_RESYNC_END], 1);
	assert_true(fixture->read[WIRE_METHOD_LOAD] > 0);
	assert_int_equal(fixture->read[WIRE_METHOD_UNLOAD], 0);
	fake_vm_free_code(&fixture->vm, code);
	pass(fixture, OUTSIDE_CALM_NS + OUTSIDE_LOOK_NS);
	assert_null(code_map_living(fixture->process->code, code));
	assert_int_equal(fixture->read[WIRE_METHOD_UNLOAD], 1);
}

static void a_jvm_of_which_samples_come_is_read_sooner(void **state)
{
	struct fixture *const fixture = *state;
	uint64_t code;

	pass(fixture, OUTSIDE_PATIENCE_NS);
	pass(fixture, OUTSIDE_LOOK_NS);
	code = add(fixture, "walk", 2);
	fixture->process->outside->due_ns = fixture->now_ns + OUTSIDE_CALM_NS;
	outside_process_note_sample(fixture->process->outside, fixture->now_ns);
	step(fixture);
	step(fixture);
	assert_string_equal(name_at(fixture, code), "walk");
}

/* Lets time pass in which samples come. Returns how many readings there were. */
static uint64_t pass_sampled(struct fixture *fixture, uint64_t ns)
{
	const uint64_t steps = fixture->upkeep.stats.steps;

	for (uint64_t at = 0; at < ns; at += OUTSIDE_LOOK_NS) {
		outside_process_note_sample(fixture->process->outside, fixture->now_ns);
		pass(fixture, OUTSIDE_LOOK_NS);
	}
	return fixture->upkeep.stats.steps - steps;
}

static void a_jvm_without_news_is_read_less_often_until_a_sample_comes_upon_code(void **state)
{
	struct fixture *const fixture = *state;
	uint64_t code, often;

	pass(fixture, OUTSIDE_PATIENCE_NS);
	add(fixture, "run", 1);
	pass_sampled(fixture, 2 * OUTSIDE_HOT_NS);
	often = pass_sampled(fixture, OUTSIDE_QUIET * OUTSIDE_HOT_NS);
	pass_sampled(fixture, 20 * OUTSIDE_HOT_NS);
	assert_true(pass_sampled(fixture, 2 * OUTSIDE_QUIET * OUTSIDE_HOT_NS) <= often);
	while (pass_sampled(fixture, OUTSIDE_LOOK_NS) == 0) /* until a reading has just ended */
		;
	code = add(fixture, "walk", 2);
	outside_upkeep_ask(&fixture->upkeep, fixture->process, code, fixture->now_ns);
	assert_true(fixture->upkeep.next_ns <= fixture->now_ns + OUTSIDE_HOT_NS);
	pass(fixture, OUTSIDE_HOT_NS + 2 * OUTSIDE_LOOK_NS);
	assert_string_equal(name_at(fixture, code), "walk");
}

#define TINY_SHARE 1000000000u /* of the time: no second step is due in a test */

static void samples_do_not_have_a_jvm_read_for_more_than_its_share(void **state)
{
	struct fixture *const fixture = *state;
	uint64_t steps;

	fixture->upkeep.share = TINY_SHARE;
	fixture->upkeep.burst_ns = 1;
	pass(fixture, OUTSIDE_PATIENCE_NS);
	check_is_read(fixture);
	steps = fixture->upkeep.stats.steps;
	for (int i = 0; i < 100; i++) {
		outside_process_note_sample(fixture->process->outside, fixture->now_ns);
		pass(fixture, OUTSIDE_LOOK_NS);
	}
	assert_int_equal(fixture->upkeep.stats.steps, steps);
}

/* A reading that took long does not have the next one wait. */
static void a_jvm_is_read_beyond_its_share_for_a_while(void **state)
{
	struct fixture *const fixture = *state;
	uint64_t code;

	fixture->upkeep.share = TINY_SHARE;
	fixture->upkeep.burst_ns = UINT64_MAX / 2;
	pass(fixture, OUTSIDE_PATIENCE_NS);
	check_is_read(fixture);
	code = add(fixture, "run", 2);
	outside_process_note_sample(fixture->process->outside, fixture->now_ns);
	pass(fixture, OUTSIDE_HOT_NS + 2 * OUTSIDE_LOOK_NS);
	assert_string_equal(name_at(fixture, code), "run");
	assert_true(fixture->process->outside->spent_ns > 0);
	fixture->upkeep.share = 1; /* time pays for what was spent */
	pass(fixture, OUTSIDE_CALM_NS);
	assert_true(fixture->process->outside->spent_ns < OUTSIDE_CALM_NS);
}

/* The JVM has twice as much code as a step tells of. */
static void add_much(struct fixture *fixture)
{
	struct fake_code code = {.name = fixture->vm.nmethod_name, .bytes = 8};

	for (int i = 0; i < 2 * VM_READING_NEW; i++)
		fake_vm_add_code(&fixture->vm, &code);
}

static void what_a_step_cannot_tell_follows_at_once(void **state)
{
	struct fixture *const fixture = *state;

	fixture->upkeep.share = TINY_SHARE;
	add_much(fixture);
	pass(fixture, OUTSIDE_PATIENCE_NS);
	check_is_read(fixture);
	assert_int_equal(fixture->upkeep.stats.named, 2 * VM_READING_NEW);
}

static void who_always_has_more_to_tell_is_read_for_its_share(void **state)
{
	struct fixture *const fixture = *state;

	fixture->upkeep.share = TINY_SHARE;
	fixture->upkeep.at_once_ns = 1;
	add_much(fixture);
	pass(fixture, OUTSIDE_PATIENCE_NS);
	assert_int_equal(fixture->upkeep.stats.steps, 1);
	assert_int_equal(fixture->upkeep.stats.named, VM_READING_NEW);
}

/* Whoever makes a reading tell much keeps others waiting for no more than a step. */
static void what_was_told_is_applied_a_piece_in_each_step(void **state)
{
	struct fixture *const fixture = *state;
	const unsigned *const loads = &fixture->read[WIRE_METHOD_LOAD];

	add_much(fixture);
	pass(fixture, OUTSIDE_YOUNG_NS);
	fixture->upkeep.most_ns = 1;
	while (*loads < 2 * VM_READING_NEW) {
		const unsigned before = *loads;
		const uint64_t steps = fixture->upkeep.stats.steps;

		step(fixture);
		assert_in_range(*loads, before, before + 1);
		if (*loads > before && *loads < VM_READING_NEW)
			assert_int_equal(fixture->upkeep.stats.steps, steps);
	}
	while (fixture->read[WIRE_RESYNC_END] == 0)
		step(fixture);
	check_is_read(fixture);
	assert_int_equal(fixture->process->jvm->bad_records, 0);
}

static void who_is_not_wanted_is_not_read(void **state)
{
	struct fixture *const fixture = *state;

	fixture->wanted = OUTSIDE_WANT_NOTHING;
	pass(fixture, OUTSIDE_PATIENCE_NS);
	assert_null(fixture->process->jvm);
	assert_null(fixture->process->outside);
}

static void check_names(const struct fixture *fixture)
{
	char title[64];

	process_title(fixture->process, title, sizeof(title));
	assert_string_equal(title, "com.example.Main");
}

static void for_its_names_alone_a_jvm_is_read_once_and_stays_as_it_was(void **state)
{
	struct fixture *const fixture = *state;
	uint64_t steps;

	add(fixture, "run", 1);
	fixture->wanted = OUTSIDE_WANT_NAMES;
	assert_true(outside_is_naming(fixture->process, false, fixture->now_ns));
	pass(fixture, OUTSIDE_PATIENCE_NS);
	assert_false(outside_is_naming(fixture->process, false, fixture->now_ns));
	check_names(fixture);
	assert_true(process_has_program(fixture->process));
	assert_null(fixture->process->jvm);
	assert_int_equal(fixture->named, 1);
	assert_int_equal(fixture->upkeep.stats.named, 0);
	assert_int_equal(fixture->upkeep.stats.read_now, 0); /* nobody reads its code */
	steps = fixture->upkeep.stats.steps;
	pass(fixture, 2 * OUTSIDE_CALM_NS);
	assert_int_equal(fixture->upkeep.stats.steps, steps);
}

static void a_jvm_found_by_its_names_is_read_at_once(void **state)
{
	struct fixture *const fixture = *state;
	const uint64_t code = add(fixture, "run", 1);

	fixture->wanted = OUTSIDE_WANT_NAMES;
	pass(fixture, OUTSIDE_PATIENCE_NS);
	fixture->wanted = OUTSIDE_WANT_CODE;
	pass(fixture, 2 * OUTSIDE_LOOK_NS);
	check_is_read(fixture);
	check_names(fixture);
	assert_null(fixture->process->program);
	assert_string_equal(name_at(fixture, code), "run");
}

/* Has the process begun at this instant, and stay of the age 0. */
static void make_young(struct fixture *fixture)
{
	fixture->process->start_ticks = UINT64_C(1) << 32;
}

static void a_young_jvm_has_its_names_read_before_its_code(void **state)
{
	struct fixture *const fixture = *state;

	make_young(fixture);
	fixture->wanted = OUTSIDE_WANT_NAMES;
	pass(fixture, OUTSIDE_NAMES_YOUNG_NS - OUTSIDE_LOOK_NS);
	assert_false(process_has_program(fixture->process));
	assert_true(outside_is_naming(fixture->process, false, fixture->now_ns));
	pass(fixture, 4 * OUTSIDE_LOOK_NS);
	check_names(fixture);
	fixture->wanted = OUTSIDE_WANT_CODE; /* an agent may still come */
	pass(fixture, OUTSIDE_YOUNG_NS - OUTSIDE_LOOK_NS);
	assert_null(fixture->process->jvm);
	pass(fixture, 4 * OUTSIDE_LOOK_NS);
	check_is_read(fixture);
}

/* Samples wait for it as for one of which no agent was to be expected. */
static void the_first_reading_is_late_where_an_agent_may_connect(void **state)
{
	struct fixture *const fixture = *state;
	const struct mapping agent = {
		.start = 4096, .end = 8192, .inode = 6, .path = "/opt/fgcollect/libfgagent.so"};

	assert_int_equal(address_space_add(&fixture->process->space, &agent), 0);
	pass(fixture, OUTSIDE_PATIENCE_NS + 2 * OUTSIDE_LOOK_NS);
	check_is_read(fixture);
	assert_true(outside_is_begun_lately(fixture->process, fixture->now_ns));
	pass(fixture, OUTSIDE_FIRST_NS);
	assert_false(outside_is_begun_lately(fixture->process, fixture->now_ns));
}

static void an_agent_that_may_connect_is_waited_for_by_names_too(void **state)
{
	struct fixture *const fixture = *state;
	const struct mapping agent = {
		.start = 4096, .end = 8192, .inode = 6, .path = "/opt/fgcollect/libfgagent.so"};

	assert_int_equal(address_space_add(&fixture->process->space, &agent), 0);
	fixture->wanted = OUTSIDE_WANT_NAMES;
	pass(fixture, OUTSIDE_PATIENCE_NS - OUTSIDE_LOOK_NS);
	assert_false(process_has_program(fixture->process));
	pass(fixture, 4 * OUTSIDE_LOOK_NS);
	check_names(fixture);
	fixture->wanted = OUTSIDE_WANT_CODE; /* the agent has been waited for */
	pass(fixture, 4 * OUTSIDE_LOOK_NS);
	check_is_read(fixture);
}

/* The JVM has just begun, and the tables are not yet what they will be. */
static void names_that_were_not_there_yet_are_looked_for_again_soon(void **state)
{
	struct fixture *const fixture = *state;
	uint8_t tables[4096];

	memcpy(tables, fixture->vm.bytes, sizeof(tables));
	memset(fixture->vm.bytes, 0, sizeof(tables));
	make_young(fixture);
	fixture->wanted = OUTSIDE_WANT_NAMES;
	pass(fixture, OUTSIDE_NAMES_YOUNG_NS + 2 * OUTSIDE_LOOK_NS);
	assert_int_equal(fixture->upkeep.stats.errors, 1);
	memcpy(fixture->vm.bytes, tables, sizeof(tables));
	pass(fixture, OUTSIDE_NAMES_YOUNG_NS + 2 * OUTSIDE_LOOK_NS);
	check_names(fixture);
}

static void names_that_cannot_be_read_are_waited_for_no_more(void **state)
{
	struct fixture *const fixture = *state;

	memset(fixture->vm.bytes, 0, 4096);
	fixture->wanted = OUTSIDE_WANT_NAMES;
	pass(fixture, OUTSIDE_PATIENCE_NS);
	assert_false(outside_is_naming(fixture->process, false, fixture->now_ns));
	assert_false(process_has_program(fixture->process));
	assert_int_equal(fixture->named, 0);
}

static void a_log_has_nothing_of_who_is_only_listed(void **state)
{
	struct fixture *const fixture = *state;
	struct log_catch caught = {0};

	memset(fixture->vm.bytes, 0, 4096);
	log_catch(&caught);
	fixture->wanted = OUTSIDE_WANT_NAMES;
	pass(fixture, UINT64_C(40000000000));
	log_catch(NULL);
	assert_true(fixture->upkeep.stats.errors > 1);
	assert_string_equal(caught.warnings, "");
}

static void another_program_has_none_of_these_names(void **state)
{
	struct fixture *const fixture = *state;
	char title[64];

	fixture->wanted = OUTSIDE_WANT_NAMES;
	pass(fixture, OUTSIDE_PATIENCE_NS);
	process_exec(fixture->process, UINT64_MAX);
	process_title(fixture->process, title, sizeof(title));
	assert_string_equal(title, fixture->process->comm);
	assert_false(process_has_program(fixture->process));
}

static void an_agent_takes_over(void **state)
{
	struct fixture *const fixture = *state;
	const uint64_t code = add(fixture, "run", 1);

	pass(fixture, OUTSIDE_PATIENCE_NS);
	process_open_session(fixture->process, AGENT_SESSION, fixture->now_ns);
	step(fixture);
	assert_null(fixture->process->outside);
	assert_false(fixture->process->jvm->is_outside);
	assert_true(process_has_agent(fixture->process));
	assert_string_equal(name_at(fixture, code), "run"); /* until the agent has told all */
}

/* The agent says hello and repeats the code, as a resynchronisation. */
static void resync(struct fixture *fixture, uint64_t code)
{
	static uint8_t bytes[4096];
	struct wire_buf buf = {.data = bytes, .size = sizeof(bytes)};
	const struct wire_hello hello = {.pid = (uint32_t)getpid()};
	const struct wire_resync mark = {.time_ns = fixture->now_ns, .epoch = 3, .complete = true};
	const struct wire_method_load load = {.time_ns = fixture->now_ns,
					      .addr = code,
					      .size = 200,
					      .level = 4,
					      .code_kind = WIRE_CODE_JAVA,
					      .class_sig = wire_str_from("Lcom/example/Main;"),
					      .method = wire_str_from("run"),
					      .method_sig = wire_str_from("(I)V")};
	struct wire_reader reader = {.data = bytes};
	struct wire_record record;

	assert_true(wire_encode_hello(&buf, &hello, NULL, NULL));
	assert_true(wire_encode_resync(&buf, WIRE_RESYNC_BEGIN, &mark));
	assert_true(wire_encode_method_load(&buf, WIRE_FLAG_RESYNC, &load));
	assert_true(wire_encode_resync(&buf, WIRE_RESYNC_END, &mark));
	reader.len = buf.len;
	while (wire_reader_next(&reader, &record) == 1)
		code_events_apply(fixture->process, &record, fixture->now_ns);
}

/* Samples from before and after have one name at the place: the code has lived on. */
static void code_lives_on_when_an_agent_takes_over(void **state)
{
	struct fixture *const fixture = *state;
	const uint64_t code = add(fixture, "run", 1), other = add(fixture, "walk", 2);
	uint64_t birth_ns, read_ns;

	pass(fixture, OUTSIDE_PATIENCE_NS);
	birth_ns = code_map_living(fixture->process->code, code)->birth_ns;
	read_ns = fixture->now_ns;
	fixture->now_ns += AGE_NS;
	process_open_session(fixture->process, AGENT_SESSION, fixture->now_ns);
	assert_string_equal(name_at(fixture, other), "walk");
	resync(fixture, code);
	assert_int_equal(fixture->process->jvm->state, JVM_CURRENT);
	assert_string_equal(name_at(fixture, code), "run");
	assert_int_equal(code_map_living(fixture->process->code, code)->birth_ns, birth_ns);
	assert_null(code_map_living(fixture->process->code, other)); /* it was not repeated */
	assert_string_equal(code_map_find(fixture->process->code, other, read_ns)->name, "walk");
}

static void an_agent_that_goes_leaves_the_reading(void **state)
{
	struct fixture *const fixture = *state;
	const uint64_t code = add(fixture, "run", 1);

	assert_int_equal(process_add_jvm(fixture->process), 0);
	process_open_session(fixture->process, AGENT_SESSION, fixture->now_ns);
	fixture->process->jvm->state = JVM_CURRENT;
	pass(fixture, OUTSIDE_PATIENCE_NS);
	assert_null(fixture->process->outside);
	fixture->process->jvm->state = JVM_DISCONNECTED;
	pass(fixture, OUTSIDE_PATIENCE_NS / 2);
	assert_false(fixture->process->jvm->is_outside); /* it may dial again */
	pass(fixture, OUTSIDE_PATIENCE_NS);
	check_is_read(fixture);
	assert_true(process_has_agent(fixture->process));
	assert_string_equal(name_at(fixture, code), "run");
}

static void another_virtual_machine_is_told_and_tried_less_and_less_often(void **state)
{
	struct fixture *const fixture = *state;
	struct log_catch caught = {0};

	memset(fixture->vm.bytes, 0, 4096);
	log_catch(&caught);
	pass(fixture, UINT64_C(40000000000));
	log_catch(NULL);
	assert_non_null(strstr(caught.warnings, "is a JVM without an agent"));
	assert_null(fixture->process->jvm);
	assert_non_null(strstr(outside_process_problem(fixture->process->outside),
			       "another virtual machine"));
	assert_int_equal(fixture->upkeep.stats.errors, 6); /* after 0, 1, 3, 7, 15 and 31 s */
}

/* As if it were a JVM again, for one reading, each time that its pause has become long. */
static void readings_that_fail_take_no_more_than_their_share(void **state)
{
	struct fixture *const fixture = *state;

	fixture->upkeep.share = TINY_SHARE;
	fixture->upkeep.burst_ns = 1;
	memset(fixture->vm.bytes, 0, 4096);
	while (fixture->upkeep.stats.errors == 0)
		pass(fixture, OUTSIDE_LOOK_NS);
	fixture->process->outside->failures = 0;
	pass(fixture, UINT64_C(40000000000));
	assert_int_equal(fixture->upkeep.stats.errors, 1);
}

static void what_a_jvm_lacks_is_kept(void **state)
{
	struct fixture *const fixture = *state;

	fake_vm_set_u64(&fixture->vm, fixture->vm.structs + 2 * 64 + 16,
			fake_vm_text(&fixture->vm, "_renamed"));
	pass(fixture, OUTSIDE_PATIENCE_NS);
	assert_string_equal(fixture->process->outside->lacks, "CodeHeap::_segmap");
}

static void a_jvm_for_which_there_is_no_room_is_counted(void **state)
{
	struct fixture *const fixture = *state;

	fixture->has_room = false;
	pass(fixture, OUTSIDE_PATIENCE_NS);
	assert_null(fixture->process->jvm);
	assert_true(fixture->upkeep.stats.refused > 0);
}

static void a_program_that_begins_ends_the_reading(void **state)
{
	struct fixture *const fixture = *state;

	pass(fixture, OUTSIDE_PATIENCE_NS);
	check_is_read(fixture);
	process_exec(fixture->process, UINT64_MAX);
	assert_null(fixture->process->outside);
	assert_string_equal(jvm_state_name(fixture->process->jvm), "ended");
}

/* Whether libjvm.so is mapped is asked for each sample, and looked for once. */
static void mappings_are_looked_through_when_they_have_changed(void **state)
{
	struct fixture *const fixture = *state;
	const struct mapping other = {.start = 0x1000, .end = 0x2000, .inode = 6, .path = "/a"};

	assert_true(process_maps_libjvm_now(fixture->process));
	fixture->process->maps_libjvm = false; /* as if it had been found so */
	assert_false(process_has_libjvm(fixture->process));
	assert_int_equal(address_space_add(&fixture->process->space, &other), 0);
	assert_true(process_has_libjvm(fixture->process));
	assert_true(process_maps_libjvm_now(fixture->process));
}

/* The process has an agent that has told of nothing. */
static void begin_beside(struct fixture *fixture)
{
	assert_int_equal(process_add_jvm(fixture->process), 0);
	process_open_session(fixture->process, AGENT_SESSION, fixture->now_ns);
	fixture->process->jvm->state = JVM_CURRENT;
	step(fixture);
	assert_null(fixture->process->outside);
}

static bool ask(struct fixture *fixture, uint64_t addr)
{
	return outside_process_ask(fixture->process, addr, fixture->now_ns, fixture->now_ns);
}

static void code_of_which_an_agent_cannot_tell_is_read_beside_it(void **state)
{
	struct fixture *const fixture = *state;
	const uint64_t code = add(fixture, "run", 1);
	uint64_t other;

	begin_beside(fixture);
	assert_true(ask(fixture, code));
	pass(fixture, 2 * OUTSIDE_LOOK_NS);
	assert_string_equal(name_at(fixture, code), "run");
	assert_int_equal(fixture->upkeep.stats.beside, 1);
	assert_false(fixture->process->jvm->is_outside);
	assert_string_equal(outside_process_problem(fixture->process->outside), "");
	/* It is read on while samples come. */
	other = add(fixture, "walk", 2);
	fake_vm_free_code(&fixture->vm, code);
	outside_process_note_sample(fixture->process->outside, fixture->now_ns);
	pass(fixture, OUTSIDE_HOT_NS + 2 * OUTSIDE_LOOK_NS);
	assert_string_equal(name_at(fixture, other), "walk");
	assert_null(code_map_living(fixture->process->code, code));
}

static void an_answer_that_is_there_is_not_waited_for(void **state)
{
	struct fixture *const fixture = *state;
	const uint64_t code = add(fixture, "run", 1), asked_ns = fixture->now_ns;

	begin_beside(fixture);
	assert_true(ask(fixture, code));
	fixture->now_ns += OUTSIDE_LOOK_NS;
	pass(fixture, 2 * OUTSIDE_LOOK_NS);
	assert_false(outside_process_ask(fixture->process, code, asked_ns, fixture->now_ns));
	/* No code of the JVM lies there: another code generator's is no reason to read. */
	assert_false(ask(fixture, 0x1000));
	assert_false(fixture->process->outside->beside.is_asked);
}

static void readings_in_vain_are_made_less_and_less_often(void **state)
{
	struct fixture *const fixture = *state;
	uint64_t steps;

	begin_beside(fixture);
	for (uint64_t end_ns = fixture->now_ns + 40 * OUTSIDE_VAIN_NS; fixture->now_ns < end_ns;) {
		ask(fixture, fixture->vm.code);
		pass(fixture, OUTSIDE_LOOK_NS);
	}
	steps = fixture->upkeep.stats.steps;
	assert_int_equal(steps, 6); /* after 0, 1, 3, 7, 15 and 31 s */
	assert_int_equal(fixture->upkeep.stats.beside, 0);
}

/* A sample of the own thread has come. */
static void sample(struct fixture *fixture)
{
	process_see_thread(fixture->process,
			   &(struct thread_at){.tid = getpid(), .time_ns = fixture->now_ns});
	outside_upkeep_note_sample(&fixture->upkeep, fixture->process, fixture->now_ns);
}

static void names_of_threads_are_read_beside_an_agent_while_samples_come(void **state)
{
	struct fixture *const fixture = *state;
	const uint64_t code = add(fixture, "run", 1);

	begin_beside(fixture);
	sample(fixture);
	assert_int_equal(fixture->upkeep.threads_now, 1);
	pass(fixture, 5 * PROCESS_NAME_AGE_NS);
	assert_int_equal(fixture->upkeep.stats.steps, 1);
	assert_int_equal(fixture->upkeep.stats.errors, 0);
	for (int i = 0; i < 1000 && fixture->upkeep.stats.steps < 3; i++) {
		sample(fixture);
		pass(fixture, PROCESS_NAME_AGE_NS);
	}
	assert_int_equal(fixture->upkeep.stats.steps, 3);
	/* Code is left to the agent. */
	assert_null(code_map_living(fixture->process->code, code));
	assert_int_equal(fixture->upkeep.stats.beside, 0);
	assert_int_equal(fixture->upkeep.stats.read_now, 0);
}

static void code_is_read_beside_names_of_threads(void **state)
{
	struct fixture *const fixture = *state;
	const uint64_t code = add(fixture, "run", 1);

	begin_beside(fixture);
	sample(fixture);
	pass(fixture, 2 * PROCESS_NAME_AGE_NS);
	ask(fixture, code);
	pass(fixture, 2 * OUTSIDE_LOOK_NS);
	assert_string_equal(name_at(fixture, code), "run");
	/* What was told stays told while names alone are read, and so its end is told. */
	fixture->process->outside->beside.has_told = false; /* so that no code is read on */
	fixture->process->outside->threads_due_ns = 0;
	sample(fixture);
	pass(fixture, 2 * PROCESS_NAME_AGE_NS);
	assert_true(fixture->process->outside->only_threads);
	assert_string_equal(name_at(fixture, code), "run");
	fake_vm_free_code(&fixture->vm, code);
	fixture->process->outside->due_ns = 0;
	ask(fixture, code);
	pass(fixture, 2 * OUTSIDE_LOOK_NS);
	assert_null(code_map_living(fixture->process->code, code));
	assert_int_equal(fixture->upkeep.stats.beside, 1);
}

static void a_reading_beside_an_agent_ends_with_it(void **state)
{
	struct fixture *const fixture = *state;
	const uint64_t code = add(fixture, "run", 1);

	begin_beside(fixture);
	assert_true(ask(fixture, code));
	pass(fixture, 2 * OUTSIDE_LOOK_NS);
	fixture->process->jvm->state = JVM_DISCONNECTED;
	pass(fixture, 2 * OUTSIDE_PATIENCE_NS);
	check_is_read(fixture);
	assert_false(fixture->process->outside->is_beside);
}

static void without_an_agent_that_has_told_all_nothing_is_read_beside_it(void **state)
{
	struct fixture *const fixture = *state;

	assert_false(ask(fixture, fixture->vm.code));
	assert_null(fixture->process->outside);
	begin_beside(fixture);
	fixture->process->jvm->state = JVM_RESYNCING; /* it is telling */
	assert_false(ask(fixture, fixture->vm.code));
	assert_null(fixture->process->outside);
}

/* A copy of this program, which waits. */
static pid_t start_copy(void)
{
	const pid_t pid = fork();

	if (pid == 0) {
		pause();
		_exit(0);
	}
	return pid;
}

static void a_forked_jvm_is_read_though_it_has_the_agents_file(void **state)
{
	struct fixture *const fixture = *state;
	struct mapping agent = {
		.start = 0x1000, .end = 0x2000, .inode = 6, .path = "/opt/libfgagent.so"};
	const uint64_t code = add(fixture, "run", 1);
	const pid_t pid = start_copy();

	assert_int_equal(address_space_add(&fixture->process->space, &agent), 0);
	fixture->process->pid = pid;
	fixture->process->proc_inode = 0;
	assert_int_equal(process_stat_start_ticks(pid, &fixture->process->start_ticks), 0);
	step(fixture);
	assert_non_null(fixture->process->outside);
	assert_true(fixture->process->outside->due_ns <= fixture->now_ns);
	assert_true(ask(fixture, code));
	pass(fixture, 2 * OUTSIDE_LOOK_NS);
	check_is_read(fixture);
	assert_string_equal(name_at(fixture, code), "run");
	kill(pid, SIGKILL);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	fixture->process->pid = getpid();
}

/* Keeps the calls that are left, as if each were late. */
static struct guarded_call *late;

static void keep_call(void *arg, pid_t pid, struct guarded_call *call)
{
	assert_null(late);
	late = call;
}

static enum guarded_end run_call(void *arg, pid_t pid, struct guarded_call *call)
{
	call->run(call);
	return GUARDED_DONE;
}

static void a_step_that_does_not_return_is_left_alone(void **state)
{
	static const struct guarded_runner runner = {.run = run_call, .leave = keep_call};
	struct fixture *const fixture = *state;

	guarded_use(&runner);
	pass(fixture, OUTSIDE_PATIENCE_NS);
	assert_non_null(late); /* one call, for all that time */
	assert_null(fixture->process->jvm);
	pass(fixture, OUTSIDE_LATE_NS);
	assert_string_equal(outside_process_problem(fixture->process->outside),
			    "its memory does not answer");
	outside_process_free(fixture->process->outside);
	fixture->process->outside = NULL;
	late->run(late); /* the process is known no more */
	late->free(late);
	late = NULL;
}

/* On a busy host a reading is late. Code that it does not find is not waited for any more. */
static void a_sample_waits_for_the_first_reading_that_begins_after_it(void **state)
{
	struct fixture *const fixture = *state;
	const uint64_t code = add(fixture, "run", 1);
	uint64_t asked_ns;

	assert_false(ask(fixture, code)); /* it is not being read */
	pass(fixture, OUTSIDE_PATIENCE_NS);
	check_is_read(fixture);
	asked_ns = fixture->now_ns;
	outside_upkeep_note_sample(&fixture->upkeep, fixture->process, asked_ns);
	assert_true(outside_process_ask(fixture->process, code, asked_ns, asked_ns));
	assert_false(outside_process_ask(fixture->process, 0x1000, asked_ns, asked_ns));
	pass(fixture, 2 * OUTSIDE_HOT_NS);
	assert_false(outside_process_ask(fixture->process, code, asked_ns, fixture->now_ns));
	fixture->process->outside->is_late = true;
	assert_false(ask(fixture, code)); /* nobody knows when it ends */
}

/* As a step does that gets a processor now and then. */
static void a_step_that_goes_on_is_not_late_however_long_it_takes(void **state)
{
	static const struct guarded_runner runner = {.run = run_call, .leave = keep_call};
	struct fixture *const fixture = *state;
	const uint64_t code = add(fixture, "run", 1);
	struct outside_process *outside;

	guarded_use(&runner);
	while (!late)
		pass(fixture, OUTSIDE_LOOK_NS);
	outside = fixture->process->outside;
	assert_int_equal(outside_reader_turns(outside->reader) % 2, 1);
	for (uint64_t ns = 0; ns < 5 * OUTSIDE_LATE_NS; ns += OUTSIDE_LOOK_NS) {
		outside->turns -= 2; /* what it was when it was last looked at */
		pass(fixture, OUTSIDE_LOOK_NS);
		assert_false(outside->is_late);
		assert_true(ask(fixture, code)); /* samples go on waiting for its answer */
	}
	late->run(late);
	assert_int_equal(outside_reader_turns(outside->reader) % 2, 0);
	late->free(late);
	late = NULL;
	guarded_use(NULL);
	pass(fixture, 2 * OUTSIDE_LOOK_NS);
	check_is_read(fixture);
}

/* Whoever has another one that fits goes on without it, and is not held up until it is late. */
static void a_step_that_does_not_return_holds_up_those_alone_who_have_nobody_else(void **state)
{
	static const struct guarded_runner runner = {.run = run_call, .leave = keep_call};
	struct fixture *const fixture = *state;

	guarded_use(&runner);
	fixture->wanted = OUTSIDE_WANT_NAMES;
	while (!late)
		pass(fixture, OUTSIDE_LOOK_NS);
	assert_true(outside_is_naming(fixture->process, true, fixture->now_ns));
	pass(fixture, OUTSIDE_ANSWER_NS + OUTSIDE_LOOK_NS);
	assert_false(outside_is_naming(fixture->process, true, fixture->now_ns));
	assert_true(outside_is_naming(fixture->process, false, fixture->now_ns));
	pass(fixture, OUTSIDE_LATE_NS);
	assert_false(outside_is_naming(fixture->process, false, fixture->now_ns));
	late->run(late); /* it answers after all */
	late->free(late);
	late = NULL;
	pass(fixture, 2 * OUTSIDE_LATE_NS);
	assert_true(process_has_program(fixture->process));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(a_jvm_without_an_agent_is_read, set_up, tear_down),
		cmocka_unit_test_setup_teardown(
			an_upgrade_of_the_library_under_a_jvm_changes_nothing, set_up, tear_down),
		cmocka_unit_test_setup_teardown(code_that_comes_and_goes_is_seen, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(a_jvm_of_which_samples_come_is_read_sooner, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(
			a_jvm_without_news_is_read_less_often_until_a_sample_comes_upon_code,
			set_up, tear_down),
		cmocka_unit_test_setup_teardown(mappings_are_looked_through_when_they_have_changed,
						set_up, tear_down),
		cmocka_unit_test_setup_teardown(
			samples_do_not_have_a_jvm_read_for_more_than_its_share, set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_jvm_is_read_beyond_its_share_for_a_while, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(what_a_step_cannot_tell_follows_at_once, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(what_was_told_is_applied_a_piece_in_each_step,
						set_up, tear_down),
		cmocka_unit_test_setup_teardown(who_always_has_more_to_tell_is_read_for_its_share,
						set_up, tear_down),
		cmocka_unit_test_setup_teardown(who_is_not_wanted_is_not_read, set_up, tear_down),
		cmocka_unit_test_setup_teardown(
			for_its_names_alone_a_jvm_is_read_once_and_stays_as_it_was, set_up,
			tear_down),
		cmocka_unit_test_setup_teardown(a_jvm_found_by_its_names_is_read_at_once, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(a_young_jvm_has_its_names_read_before_its_code,
						set_up, tear_down),
		cmocka_unit_test_setup_teardown(
			the_first_reading_is_late_where_an_agent_may_connect, set_up, tear_down),
		cmocka_unit_test_setup_teardown(
			an_agent_that_may_connect_is_waited_for_by_names_too, set_up, tear_down),
		cmocka_unit_test_setup_teardown(
			names_that_were_not_there_yet_are_looked_for_again_soon, set_up, tear_down),
		cmocka_unit_test_setup_teardown(names_that_cannot_be_read_are_waited_for_no_more,
						set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_log_has_nothing_of_who_is_only_listed, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(another_program_has_none_of_these_names, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(an_agent_takes_over, set_up, tear_down),
		cmocka_unit_test_setup_teardown(code_lives_on_when_an_agent_takes_over, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(an_agent_that_goes_leaves_the_reading, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(
			another_virtual_machine_is_told_and_tried_less_and_less_often, set_up,
			tear_down),
		cmocka_unit_test_setup_teardown(readings_that_fail_take_no_more_than_their_share,
						set_up, tear_down),
		cmocka_unit_test_setup_teardown(what_a_jvm_lacks_is_kept, set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_jvm_for_which_there_is_no_room_is_counted, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(a_program_that_begins_ends_the_reading, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(
			code_of_which_an_agent_cannot_tell_is_read_beside_it, set_up, tear_down),
		cmocka_unit_test_setup_teardown(an_answer_that_is_there_is_not_waited_for, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(readings_in_vain_are_made_less_and_less_often,
						set_up, tear_down),
		cmocka_unit_test_setup_teardown(
			names_of_threads_are_read_beside_an_agent_while_samples_come, set_up,
			tear_down),
		cmocka_unit_test_setup_teardown(code_is_read_beside_names_of_threads, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(a_reading_beside_an_agent_ends_with_it, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(
			without_an_agent_that_has_told_all_nothing_is_read_beside_it, set_up,
			tear_down),
		cmocka_unit_test_setup_teardown(a_forked_jvm_is_read_though_it_has_the_agents_file,
						set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_step_that_does_not_return_is_left_alone, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(
			a_sample_waits_for_the_first_reading_that_begins_after_it, set_up,
			tear_down),
		cmocka_unit_test_setup_teardown(
			a_step_that_goes_on_is_not_late_however_long_it_takes, set_up, tear_down),
		cmocka_unit_test_setup_teardown(
			a_step_that_does_not_return_holds_up_those_alone_who_have_nobody_else,
			set_up, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
