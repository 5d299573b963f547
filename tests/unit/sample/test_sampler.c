// SPDX-License-Identifier: Apache-2.0
/*
 * Samples of children that are busy with a known stack, by root or of an own child by anybody.
 * Skips where the kernel lets this user have no perf events at all.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "common/child.h"
#include "sample/sample_regs.h"
#include "sample/sampler.h"

#define MAX_CHILDREN 64
#define WORDS	     1024 /* on the child's stack, each its own address */
#define LEAST	     11u
#define PATIENCE_NS  UINT64_C(20000000000)
#define NEAR_BYTES   4096 /* from the stack pointer to these, and from a function to its code */

/* What a child says of itself. */
struct child {
	pid_t pid;
	uint64_t words, stack_end;
	volatile uint64_t since_ns, rounds;
};

struct run {
	struct child *children;
	size_t n_children;
	uint32_t stack_bytes;
	enum sampler_source source;
	uint64_t samples, wrong;
	char first_wrong[256];
};

static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

static uint64_t stack_end(void)
{
	unsigned long from, to, end = 0;
	char line[512];
	FILE *maps = fopen("/proc/self/maps", "r");

	while (maps && fgets(line, sizeof(line), maps)) {
		if (strstr(line, "[stack]") && sscanf(line, "%lx-%lx", &from, &to) == 2)
			end = to;
	}
	if (maps)
		fclose(maps);
	return end;
}

__attribute__((noinline, noreturn, no_sanitize("address", "thread"))) static void
spin(struct child *child)
{
	volatile uint64_t words[WORDS];

	for (size_t i = 0; i < WORDS; i++)
		words[i] = (uintptr_t)&words[i];
	child->words = (uintptr_t)words;
	child->since_ns = now_ns();
	for (;;)
		child->rounds++;
}

static void start_children(struct run *run, size_t n)
{
	run->n_children = n;
	run->children = mmap(NULL, n * sizeof(*run->children), PROT_READ | PROT_WRITE,
			     MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	assert_ptr_not_equal(run->children, MAP_FAILED);
	for (size_t i = 0; i < n; i++) {
		struct child *child = &run->children[i];
		const pid_t pid = fork();

		if (pid == 0) {
			prctl(PR_SET_PDEATHSIG, SIGKILL);
			child->stack_end = stack_end();
			spin(child);
		}
		assert_true(pid > 0);
		child->pid = pid;
		while (!child->rounds)
			poll(NULL, 0, 1);
		child->since_ns = now_ns(); /* from here on it is in the loop */
	}
}

static void end_children(struct run *run)
{
	for (size_t i = 0; i < run->n_children; i++)
		child_end(run->children[i].pid);
	munmap(run->children, run->n_children * sizeof(*run->children));
}

static uint64_t word_at(const struct sample *sample, uint64_t off)
{
	uint64_t word;

	memcpy(&word, sample->stack + off, sizeof(word));
	return word;
}

static const char *what_is_wrong(const struct run *run, const struct child *child,
				 const struct sample *sample)
{
	uint64_t sp, pc, known;

	if (!run->stack_bytes)
		return sample->regs || sample->stack ? "it has a stack" : NULL;
	if (!sample->regs)
		return "it has no registers";
	sp = sample_regs_get(sample->regs, SAMPLE_REG_SP);
	pc = sample_regs_get(sample->regs, SAMPLE_REG_PC);
	if (pc - (uintptr_t)spin >= NEAR_BYTES)
		return "it was elsewhere";
	if (child->words - sp >= NEAR_BYTES)
		return "its stack pointer points elsewhere";
	/* Beyond the words a page may be missing that nobody has touched yet. */
	known = child->words + WORDS * sizeof(uint64_t) - sp;
	if (sample->stack_len < (known < run->stack_bytes ? known : run->stack_bytes))
		return "its stack is not whole";
	if (sample->stack_len > run->stack_bytes || sample->stack_len > child->stack_end - sp)
		return "its stack is longer than there is";
	for (uint64_t off = child->words - sp; off + 8 <= sample->stack_len && off < known;
	     off += 8) {
		if (word_at(sample, off) != sp + off)
			return "its stack holds something else";
	}
	return NULL;
}

static void on_record(void *arg, const struct record *record)
{
	struct run *run = arg;

	for (size_t i = 0; record->kind == RECORD_SAMPLE && i < run->n_children; i++) {
		const struct child *child = &run->children[i];
		const char *wrong;

		/* A sanitizer may have a thread of its own there. */
		if (record->tid != child->pid || record->time_ns < child->since_ns)
			continue;
		run->samples++;
		wrong = what_is_wrong(run, child, &record->sample);
		if (wrong && run->wrong++ == 0)
			snprintf(run->first_wrong, sizeof(run->first_wrong), "%s, %u bytes", wrong,
				 record->sample.stack_len);
	}
}

/*
 * Reads the rings each interval, or when one of them says so. On a busy machine it takes longer
 * until there are LEAST samples.
 */
static void sample_for(struct run *run, struct sampler *sampler, uint64_t ns, int interval_ms)
{
	const uint64_t until = now_ns() + ns, patience = until + PATIENCE_NS;
	struct pollfd polled[MAX_CHILDREN];
	const int *fds;
	size_t n = sampler_fds(sampler, &fds);

	n = n < MAX_CHILDREN ? n : MAX_CHILDREN;
	for (size_t i = 0; i < n; i++)
		polled[i] = (struct pollfd){.fd = fds[i], .events = POLLIN};
	while (now_ns() < until || (run->samples < LEAST && now_ns() < patience)) {
		poll(polled, n, interval_ms);
		sampler_read(sampler, on_record, run);
	}
	sampler_stop(sampler);
	sampler_read(sampler, on_record, run);
}

static struct sampler_stats check_run(struct run *run, unsigned hz, uint64_t ns)
{
	const struct sampler_options options = {
		.event = "cpu-clock",
		.hz = hz,
		.fallback_pid = run->children[0].pid,
		.stack_bytes = run->stack_bytes,
		.source = run->source,
	};
	struct sampler_stats stats;
	struct sampler *sampler;

	if (sampler_open(&options, &sampler) < 0) {
		end_children(run);
		print_message("not for this user here: %s\n", sampler_problem());
		skip();
	}
	assert_int_equal(sampler_stack_bytes(sampler), run->stack_bytes);
	sample_for(run, sampler, ns, 100);
	sampler_stats(sampler, &stats);
	sampler_close(sampler);
	end_children(run);
	print_message("%s, %u Hz, %zu busy, %u bytes: %llu samples, %llu lost, %zu KiB of rings\n",
		      sampler_source_word(run->source), hz, run->n_children, run->stack_bytes,
		      (unsigned long long)run->samples, (unsigned long long)stats.lost,
		      stats.ring_bytes >> 10);
	if (run->wrong)
		fail_msg("%llu of %llu samples are wrong, the first: %s",
			 (unsigned long long)run->wrong, (unsigned long long)run->samples,
			 run->first_wrong);
	assert_int_equal(stats.broken, 0);
	return stats;
}

static void carry_stacks(enum sampler_source source)
{
	static const uint32_t sizes[] = {SAMPLER_LEAST_STACK_BYTES * 8, SAMPLER_DEFAULT_STACK_BYTES,
					 SAMPLER_MAX_STACK_BYTES, 0};

	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		struct run run = {.stack_bytes = sizes[i], .source = source};

		start_children(&run, 1);
		check_run(&run, 999, 500000000);
		assert_true(run.samples >= LEAST);
	}
}

static void samples_carry_the_stack_that_the_child_has(void **state)
{
	carry_stacks(SAMPLER_AUTO);
}

static void so_do_those_of_perf(void **state)
{
	carry_stacks(SAMPLER_PERF);
}

static void so_do_those_of_the_exact_program(void **state)
{
	carry_stacks(SAMPLER_BPF_EXACT);
}

static void so_do_those_of_the_program_with_slices(void **state)
{
	carry_stacks(SAMPLER_BPF_SLICES);
}

static void so_do_those_of_the_program_with_memory_of_its_own(void **state)
{
	carry_stacks(SAMPLER_BPF_SCRATCH);
}

static void lose_nothing(enum sampler_source source)
{
	const long n = sysconf(_SC_NPROCESSORS_ONLN);
	struct run run = {.stack_bytes = SAMPLER_DEFAULT_STACK_BYTES, .source = source};

	if (n > 32) {
		print_message("so many CPUs: snapshots would be shorter\n");
		skip();
	}
	start_children(&run, (size_t)n);
	assert_int_equal(check_run(&run, SAMPLER_DEFAULT_HZ, 1000000000).lost, 0);
	assert_true(run.samples >= LEAST);
}

static void nothing_is_lost_while_every_cpu_is_busy(void **state)
{
	lose_nothing(SAMPLER_AUTO);
	lose_nothing(SAMPLER_PERF);
}

/* What is heard of a child. */
struct heard {
	pid_t pid;
	uint64_t execs, ends, all; /* all: that is no sample */
};

static void on_child_record(void *arg, const struct record *record)
{
	struct heard *heard = arg;

	if (record->pid != heard->pid || record->kind == RECORD_SAMPLE)
		return;
	heard->execs += record->kind == RECORD_EXEC;
	heard->ends += record->kind == RECORD_EXIT;
	heard->all++;
}

/* Takes a name and maps code; then is another program, unless that is NULL. */
static void live(const char *program)
{
	void *code = mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	prctl(PR_SET_NAME, "renamed");
	munmap(code, 4096);
	if (program)
		execl(program, program, (char *)NULL);
	_exit(0);
}

static struct sampler *open_hearing(bool follows_threads, bool follows_all)
{
	const struct sampler_options options = {.event = "cpu-clock",
						.hz = 1,
						.follows_threads = follows_threads,
						.follows_all = follows_all};
	struct sampler *sampler;

	if (sampler_open(&options, &sampler) < 0) {
		print_message("no system-wide events for this user here\n");
		skip();
	}
	if (!sampler_hears_exec(sampler)) {
		sampler_close(sampler);
		print_message("no tracepoints for this user here\n");
		skip();
	}
	return sampler;
}

/* What is heard of a child that lives so. */
static struct heard hear_child(bool follows_all, const char *program)
{
	struct sampler *const sampler = open_hearing(false, follows_all);
	struct heard heard = {0};

	heard.pid = fork();
	if (heard.pid == 0)
		live(program);
	waitpid(heard.pid, NULL, 0);
	if (follows_all || program)
		assert_true(sampler_has_side(sampler));
	for (int i = 0; i == 0 || sampler_has_side(sampler); i++) {
		assert_true(i < 1000); /* programs that others have begun meanwhile */
		sampler_read(sampler, on_child_record, &heard);
	}
	sampler_close(sampler);
	return heard;
}

static void only_that_a_program_begins_is_heard_of_everybody(void **state)
{
	struct heard heard = hear_child(false, "/bin/true");

	assert_int_equal(heard.execs, 1);
	assert_int_equal(heard.all, 1);
	heard = hear_child(false, NULL);
	assert_int_equal(heard.all, 0);
}

static void who_follows_all_hears_of_mappings_and_ends(void **state)
{
	const struct heard heard = hear_child(true, "/bin/true");

	assert_int_equal(heard.execs, 1);
	assert_true(heard.ends >= 1);
	assert_true(heard.all >= 5); /* and its begin, the program's file, its C library */
}

static void a_program_that_begins_wakes_the_reader(void **state)
{
	struct sampler *const sampler = open_hearing(false, false);
	struct pollfd polled = {.fd = sampler_side_fd(sampler), .events = POLLIN};
	pid_t child;

	assert_true(polled.fd >= 0);
	for (int i = 0; poll(&polled, 1, 0) != 0; i++)
		assert_true(i < 1000); /* programs that others have begun meanwhile */
	child = fork();
	if (child == 0)
		live("/bin/true");
	assert_int_equal(waitpid(child, NULL, 0), child);
	assert_int_equal(poll(&polled, 1, 1000), 1);
	for (int i = 0; poll(&polled, 1, 0) != 0; i++)
		assert_true(i < 1000); /* though nothing was read */
	assert_true(sampler_has_side(sampler));
	sampler_close(sampler);
}

static void begin_a_program_on(int cpu)
{
	cpu_set_t cpus;
	pid_t child = fork();

	if (child == 0) {
		CPU_ZERO(&cpus);
		CPU_SET(cpu, &cpus);
		sched_setaffinity(0, sizeof(cpus), &cpus);
		live("/bin/true");
	}
	assert_int_equal(waitpid(child, NULL, 0), child);
}

/* Other programs of the host may begin behind the clearing, so it may take some attempts. */
static void programs_on_all_cpus_wake_the_reader_once(void **state)
{
	struct sampler *const sampler = open_hearing(false, false);
	struct pollfd polled = {.fd = sampler_side_fd(sampler), .events = POLLIN};
	bool is_clear = false;

	for (int i = 0; i < 50 && !is_clear; i++) {
		for (int cpu = 0; cpu < sysconf(_SC_NPROCESSORS_ONLN); cpu++)
			begin_a_program_on(cpu);
		sampler_clear_side(sampler);
		is_clear = poll(&polled, 1, 0) == 0;
	}
	assert_true(is_clear);
	begin_a_program_on(0);
	assert_int_equal(poll(&polled, 1, 1000), 1);
	sampler_close(sampler);
}

static void who_counts_threads_or_follows_all_looks_by_the_clock(void **state)
{
	for (int all = 0; all < 2; all++) {
		struct sampler *const sampler = open_hearing(!all, all);

		assert_int_equal(sampler_side_fd(sampler), -1);
		sampler_close(sampler);
	}
}

/* A ring wakes once for each quarter of it that is written, whoever the samples are of. */
static void samples_wake_nobody(void **state)
{
	struct run run = {.stack_bytes = SAMPLER_DEFAULT_STACK_BYTES};
	struct sampler_options options = {.source = SAMPLER_PERF,
					  .event = "cpu-clock",
					  .hz = 99,
					  .stack_bytes = SAMPLER_DEFAULT_STACK_BYTES};
	struct pollfd polled[MAX_CHILDREN];
	struct sampler_stats stats = {0};
	struct sampler *sampler;
	const int *fds;
	uint64_t n_woken = 0, quarter;
	size_t n;

	start_children(&run, 1);
	options.fallback_pid = run.children[0].pid;
	if (sampler_open(&options, &sampler) < 0) {
		end_children(&run);
		print_message("no perf events for this user here\n");
		skip();
	}
	n = sampler_fds(sampler, &fds);
	n = n < MAX_CHILDREN ? n : MAX_CHILDREN;
	for (size_t i = 0; i < n; i++)
		polled[i] = (struct pollfd){.fd = fds[i], .events = POLLIN};
	quarter = sampler_read_ns(sampler) * options.hz / 1000000000;
	while (run.samples < 20) {
		const int ready = poll(polled, n, 100);

		assert_true(ready >= 0);
		n_woken += (uint64_t)ready;
		sampler_read(sampler, on_record, &run);
	}
	sampler_stats(sampler, &stats);
	sampler_close(sampler);
	end_children(&run);
	assert_true(quarter >= 10);
	assert_true(n_woken * quarter <= stats.records);
}

static void why_it_does_not_sample_is_kept_as_a_sentence(void **state)
{
	/* More than any kernel allows; without privilege that is said instead. */
	const struct sampler_options options = {.event = "cpu-clock", .hz = 4000000000u};
	struct sampler *sampler;

	assert_true(sampler_open(&options, &sampler) < 0);
	assert_non_null(strstr(sampler_problem(), "perf_event_open: "));
	assert_non_null(strstr(sampler_problem(), "kernel.perf_event_"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(samples_carry_the_stack_that_the_child_has),
		cmocka_unit_test(so_do_those_of_perf),
		cmocka_unit_test(so_do_those_of_the_exact_program),
		cmocka_unit_test(so_do_those_of_the_program_with_slices),
		cmocka_unit_test(so_do_those_of_the_program_with_memory_of_its_own),
		cmocka_unit_test(only_that_a_program_begins_is_heard_of_everybody),
		cmocka_unit_test(who_follows_all_hears_of_mappings_and_ends),
		cmocka_unit_test(a_program_that_begins_wakes_the_reader),
		cmocka_unit_test(programs_on_all_cpus_wake_the_reader_once),
		cmocka_unit_test(who_counts_threads_or_follows_all_looks_by_the_clock),
		cmocka_unit_test(samples_wake_nobody),
		cmocka_unit_test(nothing_is_lost_while_every_cpu_is_busy),
		cmocka_unit_test(why_it_does_not_sample_is_kept_as_a_sentence),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
