// SPDX-License-Identifier: Apache-2.0
/*
 * Claims about what recording/recording.h notes of records when they come. The recording has no
 * sampler. The test makes the records, of this process and of unknown processes.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <fcntl.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/process_stat.h"
#include "common/child.h"
#include "common/temp_dir.h"
#include "recording/recording.h"
#include "recording/source_threads.h"
#include "sample/sample_regs.h"

#define STRANGER 0x7ffffff0 /* beyond any PID */
#define SEC	 UINT64_C(1000000000)

static struct targets targets;
static struct recording_model model = {.targets = &targets};
static struct recording recording;

static int set_up(void **state)
{
	targets_init(&targets);
	recording = (struct recording){0};
	if (table_cache_new(64u << 20, false, &model.tables) < 0)
		return -1;
	return unwinder_new(model.tables, &model.unwinder);
}

static int tear_down(void **state)
{
	hold_fini(&recording.hold);
	map64_fini(&recording.execs);
	map64_fini(&recording.left_out);
	targets_fini(&targets);
	unwinder_free(model.unwinder);
	table_cache_free(model.tables);
	return 0;
}

/* ---- processes that are known at the start ---- */

static uint64_t files_discovered(void)
{
	struct table_cache_stats stats;

	table_cache_stats(model.tables, &stats);
	return stats.mappings;
}

static void no_turn_meets_more_processes_than_it_may(void **state)
{
	const int others = 10 * RECORDING_DISCOVERIES;
	struct process *process;
	int turns = 0;

	recording.options.all = true;
	for (int i = 0; i < others; i++) {
		assert_int_equal(process_new_replayed(STRANGER - i, 1, &process), 0);
		assert_int_equal(map64_put(&targets.processes, (uint64_t)process->pid, process), 0);
	}
	assert_non_null(targets_find_or_read(&targets, getpid()));
	recording_note_undiscovered(&recording, &model);
	assert_int_equal(recording.n_undiscovered, others + 1);
	assert_int_equal(files_discovered(), 0);
	process_free(map64_remove(&targets.processes, STRANGER)); /* ends before it is met */
	for (; recording.n_undiscovered > 0; turns++) {
		const size_t before = recording.n_undiscovered;

		recording_discover_some(&recording, &model);
		assert_true(before - recording.n_undiscovered <= RECORDING_DISCOVERIES);
	}
	assert_int_equal(turns, 11);
	assert_true(files_discovered() > 0);
	assert_null(recording.undiscovered);
	recording_discover_some(&recording, &model); /* nobody is left */
}

/* ---- a program begins ---- */

static void begin_program(pid_t pid, uint64_t time_ns)
{
	const struct record record = {
		.kind = RECORD_EXEC, .pid = pid, .tid = pid, .time_ns = time_ns};

	recording_receive(&recording, &model, &record);
}

/* Whether a sample is wanted, of a process that has become a JVM since. */
static bool wants_sample_at(pid_t pid, uint64_t time_ns)
{
	static struct jvm jvm;
	const struct process process = {.pid = pid, .jvm = &jvm};
	const struct record record = {.kind = RECORD_SAMPLE, .pid = pid, .time_ns = time_ns};

	return recording_wants_sample(&recording, &process, &record);
}

static void samples_of_the_program_before_are_not_counted(void **state)
{
	begin_program(STRANGER, 10 * SEC);
	assert_false(wants_sample_at(STRANGER, 9 * SEC));
	assert_true(wants_sample_at(STRANGER, 10 * SEC));
	assert_true(wants_sample_at(STRANGER + 1, 9 * SEC));
	begin_program(STRANGER, 20 * SEC); /* launchers start themselves again */
	assert_false(wants_sample_at(STRANGER, 19 * SEC));
}

static void of_all_processes_every_program_is_counted(void **state)
{
	begin_program(STRANGER, 10 * SEC);
	recording.options.all = true;
	assert_true(wants_sample_at(STRANGER, 9 * SEC));
}

static void programs_without_end_take_no_more_than_their_room(void **state)
{
	for (int i = 0; i < 3 * RECORDING_MAX_EXECS; i++) {
		begin_program(STRANGER - i, 10 * SEC);
		assert_true(recording.execs.count <= RECORDING_MAX_EXECS);
		assert_false(wants_sample_at(STRANGER - i, 9 * SEC));
	}
}

/* Nobody tells of who begins between the look at all processes and the opening of the sampler. */
static void programs_that_began_before_the_sampler_are_searched(void **state)
{
	const pid_t older = child_start(), last = process_stat_last_pid(), younger = child_start();

	assert_true(last > 0);
	recording.start_ns = 7 * SEC;
	recording_note_programs(&recording, &targets);
	assert_int_equal(recording.execs.count, 0); /* nothing was looked for by name */
	recording.options.last_pid = last;
	recording_note_programs(&recording, &targets);
	assert_null(map64_find(&recording.execs, (uint64_t)older));
	assert_int_equal((uintptr_t)map64_find(&recording.execs, (uint64_t)younger), 7 * SEC);
	assert_int_equal(recording.program_young_until_ns, 7 * SEC + RECORDING_PROGRAM_YOUNG_NS);
	child_end(older);
	child_end(younger);
}

/* ---- a JVM begins ---- */

static void map_file(pid_t pid, const char *path)
{
	const struct record record = {
		.kind = RECORD_MMAP,
		.pid = pid,
		.tid = pid,
		.time_ns = 10 * SEC,
		.mmap = {.addr = 0x10000, .len = 0x1000, .inode = 1, .path = path}};

	recording_receive(&recording, &model, &record);
}

static void a_process_is_known_from_when_it_maps_libjvm(void **state)
{
	const struct process *process;

	map_file(getpid(), "/lib/jvm/lib/server/libjvm.so");
	process = targets_find(&targets, getpid());
	assert_non_null(process);
	assert_int_equal(process->jvm_mapped_ns, 10 * SEC);
	assert_int_equal(recording.young_until_ns, 10 * SEC + RECORDING_YOUNG_NS);
	assert_false(recording_wants(&recording.options, process)); /* no agent has been heard */
}

static void a_process_that_maps_anything_else_stays_unknown(void **state)
{
	static const char *const paths[] = {"/lib/libjvm.so.1",
					    "/lib/notlibjvm.so",
					    "libjvm.so",
					    "/lib/libjvm.so (deleted)",
					    "",
					    "//anon"};

	for (size_t i = 0; i < sizeof(paths) / sizeof(paths[0]); i++)
		map_file(getpid(), paths[i]);
	assert_null(targets_find(&targets, getpid()));
	assert_int_equal(recording.young_until_ns, 0);
	assert_int_equal(recording.hold.bytes, 0);
}

static void a_jvm_that_is_gone_already_is_nobody(void **state)
{
	map_file(STRANGER, "/lib/jvm/lib/server/libjvm.so");
	assert_null(targets_find(&targets, STRANGER));
	assert_int_equal(recording.young_until_ns, 0);
}

/* ---- the kernel loses records ---- */

static void hear(enum record_kind kind, pid_t pid)
{
	const struct record record = {
		.kind = kind, .pid = pid, .tid = pid, .time_ns = clock_now_ns()};

	recording_receive(&recording, &model, &record);
}

/* Makes this process known, as of a second ago. is_told: the kernel reports mappings. */
static struct process *know_self(bool is_told)
{
	struct process *process = targets_find_or_read(&targets, getpid());

	assert_non_null(process);
	process->space_read_ns -= SEC;
	recording.options.pid = getpid();
	recording.mappings.is_told = is_told;
	return process;
}

/*
 * Maps this program's file again as code, at at or anywhere. The kernel does not report the
 * mapping.
 */
static void *map_secretly(void *at, off_t off)
{
	const int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	void *mapped =
		mmap(at, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE | (at ? MAP_FIXED : 0), fd, off);

	assert_true(fd >= 0);
	assert_ptr_not_equal(mapped, MAP_FAILED);
	close(fd);
	return mapped;
}

static const struct mapping *mapping_at(const struct process *process, const void *addr)
{
	return address_space_find(&process->space, (uintptr_t)addr);
}

static void after_a_loss_a_process_with_samples_is_read_again_once(void **state)
{
	struct process *process = know_self(true);
	void *secret = map_secretly(NULL, 0);

	hear(RECORD_SAMPLE, getpid());
	assert_null(mapping_at(process, secret));
	hear(RECORD_LOST, getpid()); /* of samples */
	hear(RECORD_SAMPLE, getpid());
	assert_null(mapping_at(process, secret));
	hear(RECORD_LOST_SIDE, 0);
	assert_null(mapping_at(process, secret));
	for (int i = 0; i < 9; i++)
		hear(RECORD_SAMPLE, getpid());
	assert_non_null(mapping_at(process, secret));
	assert_int_equal(recording.counts.reread, 1);
	assert_int_equal(recording.counts.reread_put_off, 0);
	munmap(secret, 4096);
}

static void losses_without_end_have_a_process_read_now_and_then(void **state)
{
	know_self(true);
	for (int i = 0; i < 100; i++) {
		hear(RECORD_LOST_SIDE, 0);
		hear(RECORD_SAMPLE, getpid());
	}
	assert_true(recording.counts.reread >= 1 && recording.counts.reread < 50);
	assert_int_equal(recording.counts.reread + recording.counts.reread_put_off, 100);
}

static void no_more_than_a_tenth_of_the_time_is_spent_on_mappings(void **state)
{
	know_self(true);
	hear(RECORD_LOST_SIDE, 0);
	recording.mappings.turn_ns = UINT64_MAX;
	recording.mappings.spent_ns = MAPPING_WATCH_SPENT_NS;
	hear(RECORD_SAMPLE, getpid());
	assert_int_equal(recording.counts.reread, 0);
	assert_int_equal(recording.counts.reread_put_off, 1);
	recording.mappings.turn_ns = 0; /* the next turn */
	hear(RECORD_SAMPLE, getpid());
	assert_int_equal(recording.counts.reread, 1);
}

static void what_took_a_place_unseen_has_it_from_when_it_was_read(void **state)
{
	void *secret = map_secretly(NULL, 0);
	struct process *process = know_self(true);
	const struct record *record;
	bool is_held = false;

	assert_int_equal(mapping_at(process, secret)->file_off, 0);
	map_secretly(secret, 4096);
	hear(RECORD_LOST_SIDE, 0);
	hear(RECORD_SAMPLE, getpid());
	assert_int_equal(mapping_at(process, secret)->file_off, 0); /* of samples that wait */
	while ((record = hold_next(&recording.hold, UINT64_MAX))) {
		is_held |= record->kind == RECORD_MMAP && record->mmap.addr == (uintptr_t)secret &&
			   record->mmap.file_off == 4096 &&
			   record->time_ns >= recording.mappings.lost_ns;
		targets_apply_record(&targets, record);
	}
	assert_true(is_held);
	assert_int_equal(mapping_at(process, secret)->file_off, 4096);
	munmap(secret, 4096);
}

/* ---- the kernel tells of no mappings ---- */

static void hear_sample_at(const void *addr)
{
	const uint64_t chain[] = {(uintptr_t)addr};
	const struct record record = {.kind = RECORD_SAMPLE,
				      .pid = getpid(),
				      .tid = getpid(),
				      .time_ns = clock_now_ns(),
				      .sample = {.user = {chain, 1}}};

	recording_receive(&recording, &model, &record);
}

static void a_sample_where_nothing_is_known_has_its_process_read(void **state)
{
	struct process *process = know_self(false);
	void *secret = map_secretly(NULL, 0);
	const void *here = (const void *)(uintptr_t)hear_sample_at;

	process->space_checked_ns = UINT64_MAX / 2; /* by this alone */
	hear_sample_at(here);
	assert_int_equal(recording.counts.reread, 0);
	hear_sample_at(secret);
	assert_int_equal(recording.counts.reread, 1);
	assert_non_null(mapping_at(process, secret));
	munmap(secret, 4096);
}

/* A clock of threads is never asked anything when a sample is heard. */
static void threads_of_others_take_no_room_for_time_that_ran(void **state)
{
	struct record other = {.kind = RECORD_SAMPLE, .tid = STRANGER, .time_ns = clock_now_ns()};
	struct source_threads threads = {.source = {.ops = &source_threads_ops}};

	know_self(false);
	recording.options.pid = getpid();
	recording.sources = &threads.source;
	for (pid_t pid = STRANGER; pid > STRANGER - 9; pid--) {
		other.pid = other.tid = pid;
		recording_receive(&recording, &model, &other);
	}
	assert_int_equal(threads.running.threads.count, 0);
	hear_sample_at((const void *)(uintptr_t)hear_sample_at);
	assert_int_equal(threads.running.threads.count, 1);
	running_time_fini(&threads.running);
}

static void a_sample_from_before_the_last_reading_says_nothing(void **state)
{
	struct process *process = know_self(false);

	process->space_checked_ns = UINT64_MAX / 2;
	process->space_read_ns = clock_now_ns() + SEC;
	hear_sample_at(NULL);
	assert_int_equal(recording.counts.reread + recording.counts.reread_put_off, 0);
}

static void a_process_is_read_less_often_where_nothing_is_new(void **state)
{
	struct process *process = know_self(false);

	process->space_checked_ns = UINT64_MAX / 2;
	hear_sample_at(NULL);
	assert_int_equal(recording.counts.reread, 1);
	assert_int_equal(process->space_wait_ns, 2 * MAPPING_WATCH_WAIT_NS);
	hear_sample_at(NULL);
	assert_int_equal(recording.counts.reread, 1);
	assert_int_equal(recording.counts.reread_put_off, 1);
	for (int i = 0; i < 20; i++) {
		process->space_read_ns -= MAPPING_WATCH_MOST_WAIT_NS;
		recording.mappings.turn_ns = 0;
		hear_sample_at(NULL);
	}
	assert_int_equal(recording.counts.reread, 21);
	assert_int_equal(process->space_wait_ns, MAPPING_WATCH_MOST_WAIT_NS);
}

/*
 * The library replaces a known library. No address shows the change, but the size of code has
 * grown.
 */
static void a_library_that_took_anothers_place_is_seen_by_the_size_of_code(void **state)
{
	void *secret = map_secretly(NULL, 0);
	struct process *process = know_self(false);
	void *more = mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	const struct record *record;

	map_secretly(secret, 4096);
	hear_sample_at(secret);
	assert_int_equal(recording.counts.reread, 1);
	while ((record = hold_next(&recording.hold, UINT64_MAX)))
		targets_apply_record(&targets, record);
	assert_int_equal(mapping_at(process, secret)->file_off, 4096);
	hear_sample_at(secret); /* asked for once a second */
	assert_int_equal(recording.counts.reread, 1);
	process->space_read_ns -= SEC;
	process->space_checked_ns -= SEC;
	hear_sample_at(secret); /* and it is the same */
	assert_int_equal(recording.counts.reread, 1);
	munmap(secret, 4096);
	munmap(more, 4096);
}

/* ---- samples wait for mappings ---- */

/* Names a sample with that pc, on a stack of zeros. */
static bool name_sample_at(struct process *process, const void *addr)
{
	static const uint64_t stack[64];
	const uint64_t below_pc = (UINT64_C(1) << SAMPLE_REG_PC) - 1,
		       below_sp = (UINT64_C(1) << SAMPLE_REG_SP) - 1;
	uint64_t regs[SAMPLE_REGS_COUNT] = {0};
	const struct record record = {.kind = RECORD_SAMPLE,
				      .pid = getpid(),
				      .tid = getpid(),
				      .time_ns = clock_now_ns(),
				      .sample = {.regs = regs,
						 .stack = (const uint8_t *)stack,
						 .stack_len = sizeof(stack)}};
	struct named_sample sample;

	regs[__builtin_popcountll(SAMPLE_REGS_MASK & below_pc)] = (uintptr_t)addr;
	regs[__builtin_popcountll(SAMPLE_REGS_MASK & below_sp)] = 0x7000;
	return recording_name_sample(&recording, &model, process, &record, &sample);
}

static uint64_t walks(void)
{
	struct unwinder_stats stats;
	uint64_t sum = 0;

	unwinder_stats(model.unwinder, &stats);
	for (size_t i = 0; i < STACK_ENDS; i++)
		sum += stats.ends[i];
	return sum;
}

/* Others' samples wait for a JVM's first reading, and no less often for the JVM's next ones. */
static void waits_for_the_first_reading_of_a_jvm_are_not_made_up_for(void **state)
{
	struct process *process = know_self(false);
	void *known = &process;

	assert_int_equal(symbolizer_new(model.tables, &model.symbolizer), 0);
	process->outside = calloc(1, sizeof(*process->outside));
	assert_non_null(process->outside);
	process->outside->first_ns = clock_now_ns();
	process->waiting_ns = clock_now_ns() - SEC;
	assert_true(name_sample_at(process, known));
	assert_int_equal(process->waiting_ns, 0);
	assert_int_equal(process->patience_ns, 0);
	process->outside->first_ns = clock_now_ns() - OUTSIDE_FIRST_NS;
	process->waiting_ns = clock_now_ns() - SEC;
	assert_true(name_sample_at(process, known));
	assert_true(process->patience_ns > clock_now_ns());
	symbolizer_free(model.symbolizer);
}

static void a_sample_waits_for_mappings_that_are_being_read(void **state)
{
	struct process *process = know_self(false);
	void *secret = map_secretly(NULL, 0);
	uint64_t since_ns;

	assert_int_equal(symbolizer_new(model.tables, &model.symbolizer), 0);
	process->space_due_ns = UINT64_MAX;
	recording.is_patient = true;
	assert_false(name_sample_at(process, secret));
	assert_true(recording.retry_ns > 0);
	recording.is_waiting = true;
	assert_false(name_sample_at(process, secret));
	assert_int_equal(recording.counts.reread_put_off, 1);
	assert_int_equal(walks(), 0);
	recording.is_patient = false;
	since_ns = process->waiting_ns;
	process->waiting_ns -= SEC;
	assert_true(name_sample_at(process, secret)); /* as well as can be */
	assert_int_equal(walks(), 1);
	assert_int_equal(recording.counts.reread, 0);
	recording.is_patient = true;
	assert_true(process->patience_ns >= since_ns + 9 * SEC);
	process->patience_ns = UINT64_MAX; /* of others' samples enough have waited for this one */
	assert_true(name_sample_at(process, secret));
	assert_int_equal(walks(), 2);
	process->patience_ns = 0;
	process->space_due_ns = 0;
	process->space_wait_ns = MAPPING_WATCH_MOST_WAIT_NS;
	recording.is_patient = true;
	while (!name_sample_at(process, secret))
		process_read_on(process, PROCESS_READ_ALL);
	assert_int_equal(recording.counts.reread, 1);
	assert_non_null(mapping_at(process, secret));
	assert_int_equal(walks(), 3);
	symbolizer_free(model.symbolizer);
	model.symbolizer = NULL;
	munmap(secret, 4096);
}

static void a_sample_does_not_wait_where_no_code_has_come(void **state)
{
	void *data = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct process *process;

	assert_int_equal(symbolizer_new(model.tables, &model.symbolizer), 0);
	process = know_self(false);
	process->space_read_ns = clock_now_ns();
	process->space_wait_ns = UINT64_MAX / 2;
	recording.mappings.turn_ns = 0;
	recording.is_patient = true;
	while (!name_sample_at(process, data)) /* there may be no time to look */
		recording.mappings.turn_ns = 0;
	assert_int_equal(recording.counts.reread, 0);
	symbolizer_free(model.symbolizer);
	model.symbolizer = NULL;
	munmap(data, 4096);
}

/* ---- tables that are loaded ---- */

/* Whether a sample of that second waits for tables when samples are taken up to that other one. */
static bool waits_for_tables(uint64_t sec, uint64_t until_sec)
{
	const struct record record = {.kind = RECORD_SAMPLE, .time_ns = sec * SEC};

	return recording_waits_for_tables(&recording, &model, &record, until_sec * SEC);
}

static void load_a_table(void)
{
	const uint64_t loads = table_cache_loads(model.tables);
	struct process *process = know_self(false);
	const char *reason;

	for (size_t i = 0; i < process->space.count; i++)
		table_cache_find(model.tables, TABLE_UNWIND, getpid(), &process->space.mappings[i],
				 &reason);
	assert_true(table_cache_loads(model.tables) > loads);
}

static void what_ends_by_itself_waits_while_tables_are_loaded(void **state)
{
	recording.options.duration_ns = 10 * SEC;
	assert_true(waits_for_tables(100, 104));
	assert_false(waits_for_tables(100, 105));
	load_a_table();
	assert_true(waits_for_tables(100, 110));
	assert_false(recording.is_patient); /* for its process's mappings */
	assert_true(waits_for_tables(106, 110));
	assert_true(recording.is_patient);
	assert_false(waits_for_tables(80, 110));
	assert_false(waits_for_tables(100, 115));
}

static void nothing_else_waits_longer_than_usual(void **state)
{
	static struct window_sink window;

	recording.options.duration_ns = RECORDING_ENDLESS_NS;
	load_a_table();
	assert_false(waits_for_tables(100, 106));
	recording.options.duration_ns = 10 * SEC;
	assert_true(waits_for_tables(100, 106));
	recording.window = &window;
	assert_false(waits_for_tables(100, 106));
	recording.window = NULL;
	recording.is_stopped = true;
	assert_false(waits_for_tables(100, 106));
	assert_true(waits_for_tables(102, 106));
	recording.is_stopped = false;
	recording.hold.bytes = HOLD_MAX_BYTES / 16 * 9;
	assert_false(waits_for_tables(106, 106));
	recording.hold.bytes = 0;
	assert_true(waits_for_tables(100, 106));
	model.is_ending = true;
	assert_false(waits_for_tables(100, 106));
	assert_true(waits_for_tables(106, 106));
	model.is_ending = false;
}

/* ---- programs that may become JVMs ---- */

static void a_program_that_begins_has_rings_read_more_often(void **state)
{
	begin_program(STRANGER, 10 * SEC);
	assert_int_equal(recording.program_young_until_ns, 10 * SEC + RECORDING_PROGRAM_YOUNG_NS);
}

static void a_young_program_without_libjvm_stays_unknown(void **state)
{
	begin_program(getpid(), clock_now_ns());
	hear_sample_at(NULL);
	assert_null(targets_find(&targets, getpid()));
	assert_int_equal(recording.young_until_ns, 0);
}

/* A process counts as a JVM if it maps a file of that name. */
static void a_young_program_with_libjvm_is_known_before_its_agent(void **state)
{
	char directory[TEMP_DIR_BYTES], path[TEMP_DIR_BYTES + 16];
	struct process *process;
	void *code;
	int fd;

	temp_dir_make(directory);
	snprintf(path, sizeof(path), "%s/libjvm.so", directory);
	fd = open(path, O_CREAT | O_RDWR | O_CLOEXEC, 0700);
	assert_int_equal(ftruncate(fd, 4096), 0);
	code = mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0);
	assert_ptr_not_equal(code, MAP_FAILED);
	hear_sample_at(NULL); /* nothing was heard of its begin */
	assert_null(targets_find(&targets, getpid()));
	begin_program(getpid(), clock_now_ns() - 2 * RECORDING_PROGRAM_YOUNG_NS);
	hear_sample_at(NULL); /* it was too long ago */
	assert_null(targets_find(&targets, getpid()));
	begin_program(getpid(), clock_now_ns());
	hear_sample_at(NULL);
	process = targets_find(&targets, getpid());
	assert_non_null(process);
	assert_true(process->jvm_mapped_ns > 0);
	assert_true(recording.young_until_ns > 0);
	munmap(code, 4096);
	close(fd);
	temp_dir_remove(directory);
}

static void rings_are_read_more_often_while_stacks_are_deep(void **state)
{
	recording = (struct recording){0};
	recording_note_depth(&recording, 7, 10 * SEC); /* of earlier recordings */
	assert_int_equal(recording.hasty_until_ns, 0);
	recording_note_depth(&recording, 7, 11 * SEC);
	assert_int_equal(recording.hasty_until_ns, 0);
	recording_note_depth(&recording, 8, 12 * SEC);
	assert_int_equal(recording.hasty_until_ns, 13 * SEC);
	recording_note_depth(&recording, 8, 14 * SEC);
	assert_int_equal(recording.hasty_until_ns, 13 * SEC);
	recording.hasty_until_ns = 20 * SEC; /* for another reason */
	recording_note_depth(&recording, 9, 15 * SEC);
	assert_int_equal(recording.hasty_until_ns, 20 * SEC);
}

/* ---- JVMs without an agent, by name ---- */

static void a_name_finds_jvms_without_an_agent_and_no_other_program(void **state)
{
	const struct mapping libjvm = {
		.start = 0x10000, .end = 0x11000, .inode = 5, .path = "/java/lib/server/libjvm.so"};
	struct recording_options *const options = &recording.options;
	struct process *process = targets_find_or_read(&targets, getpid());

	assert_non_null(process);
	snprintf(options->select.comm, sizeof(options->select.comm), "%s", process->comm);
	targets_want_all(&targets); /* as while all processes are looked at */
	assert_int_equal(selections_init(&recording.selections, &options->select), 0);
	recording_want_outside(&recording, &targets);
	assert_int_equal(recording.n_outside, 0);
	assert_int_equal(address_space_add(&process->space, &libjvm), 0);
	assert_false(recording_is_of_interest(options, process));
	recording_want_outside(&recording, &targets);
	assert_int_equal(recording.n_outside, 1);
	targets_unwant_all(&targets);
	assert_ptr_equal(targets_find(&targets, getpid()), process);
	assert_true(recording_wants(options, process));
	recording_unwant_outside(&recording, &targets);
	assert_null(targets_find(&targets, getpid()));
	selections_fini(&recording.selections);
}

/* As many JVMs are found as can be. */
static void fill_outside(void)
{
	for (int i = 0; i < RECORDING_MAX_OUTSIDE; i++) {
		struct process *process;

		assert_int_equal(process_new_replayed(STRANGER - i, 1, &process), 0);
		assert_int_equal(map64_put(&targets.processes, (uint64_t)process->pid, process), 0);
		process->users++;
		targets.one_users++;
		recording.outside[recording.n_outside++] =
			(struct recording_found){process->pid, process->start_ticks};
	}
}

static void jvms_without_an_agent_past_the_most_are_counted(void **state)
{
	const struct mapping libjvm = {
		.start = 0x10000, .end = 0x11000, .inode = 5, .path = "/java/lib/server/libjvm.so"};
	struct recording_options *const options = &recording.options;
	struct process *process = targets_find_or_read(&targets, getpid());

	assert_non_null(process);
	snprintf(options->select.comm, sizeof(options->select.comm), "%s", process->comm);
	targets_want_all(&targets);
	assert_int_equal(selections_init(&recording.selections, &options->select), 0);
	assert_int_equal(address_space_add(&process->space, &libjvm), 0);
	fill_outside();
	assert_int_equal(recording_want_outside(&recording, &targets), 0);
	assert_int_equal(recording.n_outside, RECORDING_MAX_OUTSIDE);
	assert_int_equal(recording.counts.outside_left_out, 1);
	recording_want_outside(&recording, &targets);
	assert_int_equal(recording.counts.outside_left_out, 1);	  /* it is the same one */
	process_free(map64_remove(&targets.processes, STRANGER)); /* one is gone and forgotten */
	assert_int_equal(recording_want_outside(&recording, &targets), 1);
	assert_int_equal(recording.n_outside, RECORDING_MAX_OUTSIDE);
	assert_int_equal(recording.outside[RECORDING_MAX_OUTSIDE - 1].pid, getpid());
	recording_unwant_outside(&recording, &targets);
	targets_unwant_all(&targets);
	selections_fini(&recording.selections);
}

/* Of a class, as if the JVM's memory had been read. */
static void set_class(struct process *process, const char *class)
{
	static uint8_t bytes[4096];
	struct wire_buf buf = {.data = bytes, .size = sizeof(bytes)};
	const struct wire_attr attr = {wire_str_from("java.command"), wire_str_from(class)};
	struct wire_hello hello = {.n_attrs = 1};
	struct wire_reader reader = {.data = bytes};
	struct wire_record record;

	assert_true(wire_encode_hello(&buf, &hello, &attr, NULL));
	reader.len = buf.len;
	assert_int_equal(wire_reader_next(&reader, &record), 1);
	assert_int_equal(wire_decode_hello(&record, &hello), 0);
	assert_int_equal(process_set_program(process, &hello), 0);
}

static void a_jvm_without_an_agent_is_found_once_its_class_is_known(void **state)
{
	const struct mapping libjvm = {
		.start = 0x10000, .end = 0x11000, .inode = 5, .path = "/java/lib/server/libjvm.so"};
	struct recording_options *const options = &recording.options;
	struct process *process = targets_find_or_read(&targets, getpid());

	assert_non_null(process);
	assert_null(selector_set_jvm(&options->select, "example.Shop"));
	assert_int_equal(selections_init(&recording.selections, &options->select), 0);
	assert_int_equal(address_space_add(&process->space, &libjvm), 0);
	recording_search_outside(&recording, &model, 10 * SEC);
	assert_int_equal(recording.n_outside, 0);
	set_class(process, "com.example.Shop --fast");
	recording_search_outside(&recording, &model, 10 * SEC); /* it has just looked */
	assert_int_equal(recording.n_outside, 0);
	assert_int_equal(files_discovered(), 0);
	recording_search_outside(&recording, &model, 11 * SEC);
	assert_int_equal(recording.n_outside, 1);
	assert_true(recording_selects(&recording, process));
	assert_true(files_discovered() > 0);
	recording_unwant_outside(&recording, &targets);
	selections_fini(&recording.selections);
}

/* Maps a file of that name, with as much code as the library has at least. */
static void *map_libjvm(char directory[TEMP_DIR_BYTES], size_t bytes)
{
	char path[TEMP_DIR_BYTES + 16];
	void *code;
	int fd;

	temp_dir_make(directory);
	snprintf(path, sizeof(path), "%s/libjvm.so", directory);
	fd = open(path, O_CREAT | O_RDWR | O_CLOEXEC, 0700);
	assert_int_equal(ftruncate(fd, (off_t)bytes), 0);
	code = mmap(NULL, bytes, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0);
	assert_ptr_not_equal(code, MAP_FAILED);
	close(fd);
	return code;
}

static void a_program_that_becomes_a_jvm_late_is_found(void **state)
{
	const uint64_t exec_ns = 100 * SEC;
	const size_t bytes = 4u << 20;
	char directory[TEMP_DIR_BYTES];
	void *code;

	strcpy(recording.options.select.comm, "java");
	assert_int_equal(selections_init(&recording.selections, &recording.options.select), 0);
	begin_program(getpid(), exec_ns);
	recording.searched_ns = exec_ns;
	recording_search_outside(&recording, &model, exec_ns + SEC);
	assert_null(targets_find(&targets, getpid())); /* it has no libjvm.so */
	code = map_libjvm(directory, bytes);
	recording_search_outside(&recording, &model, exec_ns + SEC + SEC / 2);
	assert_null(targets_find(&targets, getpid())); /* it is looked at with 1 and 2 s */
	recording_search_outside(&recording, &model, exec_ns + 2 * SEC);
	assert_non_null(targets_find(&targets, getpid()));
	assert_true(recording.young_until_ns > 0);
	munmap(code, bytes);
	temp_dir_remove(directory);
	selections_fini(&recording.selections);
}

static void without_a_name_jvms_without_an_agent_are_not_looked_for(void **state)
{
	struct recording_options options = {0};

	assert_false(recording_searches_outside(&options));
	strcpy(options.select.comm, "java");
	assert_true(recording_searches_outside(&options));
	options.all = true;
	assert_false(recording_searches_outside(&options));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rings_are_read_more_often_while_stacks_are_deep),
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
		TEST(no_turn_meets_more_processes_than_it_may),
		TEST(samples_of_the_program_before_are_not_counted),
		TEST(of_all_processes_every_program_is_counted),
		TEST(programs_without_end_take_no_more_than_their_room),
		TEST(programs_that_began_before_the_sampler_are_searched),
		TEST(a_process_is_known_from_when_it_maps_libjvm),
		TEST(a_process_that_maps_anything_else_stays_unknown),
		TEST(a_jvm_that_is_gone_already_is_nobody),
		TEST(after_a_loss_a_process_with_samples_is_read_again_once),
		TEST(losses_without_end_have_a_process_read_now_and_then),
		TEST(no_more_than_a_tenth_of_the_time_is_spent_on_mappings),
		TEST(waits_for_the_first_reading_of_a_jvm_are_not_made_up_for),
		TEST(what_took_a_place_unseen_has_it_from_when_it_was_read),
		TEST(a_sample_where_nothing_is_known_has_its_process_read),
		TEST(threads_of_others_take_no_room_for_time_that_ran),
		TEST(a_sample_from_before_the_last_reading_says_nothing),
		TEST(a_process_is_read_less_often_where_nothing_is_new),
		TEST(a_library_that_took_anothers_place_is_seen_by_the_size_of_code),
		TEST(a_sample_waits_for_mappings_that_are_being_read),
		TEST(a_sample_does_not_wait_where_no_code_has_come),
		TEST(what_ends_by_itself_waits_while_tables_are_loaded),
		TEST(nothing_else_waits_longer_than_usual),
		TEST(a_program_that_begins_has_rings_read_more_often),
		TEST(a_young_program_without_libjvm_stays_unknown),
		TEST(a_young_program_with_libjvm_is_known_before_its_agent),
		cmocka_unit_test_setup_teardown(
			a_name_finds_jvms_without_an_agent_and_no_other_program, set_up, tear_down),
		TEST(a_jvm_without_an_agent_is_found_once_its_class_is_known),
		TEST(a_program_that_becomes_a_jvm_late_is_found),
		cmocka_unit_test_setup_teardown(jvms_without_an_agent_past_the_most_are_counted,
						set_up, tear_down),
		cmocka_unit_test(without_a_name_jvms_without_an_agent_are_not_looked_for),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
