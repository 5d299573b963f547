// SPDX-License-Identifier: Apache-2.0
/*
 * What only the BPF program does: it leaves out whom nobody wants, reads past pages that were never
 * written to, takes so many samples a second at most, and counts what has no room. Needs root and a
 * kernel with BTF.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <bpf/bpf.h>
#include <dirent.h>
#include <linux/perf_event.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "common/child.h"
#include "sample/bpf_source.h"
#include "sample/sampler.h"

#define HZ	     499
#define PAGE_BYTES   4096
#define HOLE_PAGES   5
#define UNUSED_PAGES 256
#define PATIENCE_NS  UINT64_C(20000000000)
#define NO_PID	     (1 << 22) /* the kernel gives none of these */
#define MARK	     UINT64_C(0x6d61726b6d61726b)
#define RING_BYTES   ((size_t)1 << 20)
#define FULL	     2000 /* samples that a full ring has no room for */

static const enum sampler_source variants[] = {SAMPLER_BPF_EXACT, SAMPLER_BPF_SLICES,
					       SAMPLER_BPF_SCRATCH};

struct seen {
	pid_t pid, other;
	uint64_t records, weight, others, holes;
	uint64_t first_ns, last_ns;
	bool has_mark;
	char comm[16]; /* of the last record */
};

static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

static void spin(void)
{
	for (volatile uint64_t i = 0;; i++)
		;
}

/* The number that the caller knows of lies above pages that were never written to. */
__attribute__((noinline)) static void spin_above_a_hole(void)
{
	volatile uint8_t hole[HOLE_PAGES * PAGE_BYTES];

	__asm__ volatile("" : : "r"(hole) : "memory"); /* nothing of it is written to */
	spin();
}

__attribute__((noinline)) static void spin_deep(void)
{
	volatile uint64_t mark[8];

	for (size_t i = 0; i < 8; i++)
		mark[i] = MARK;
	__asm__ volatile("" : : "r"(mark) : "memory");
	spin_above_a_hole();
}

/* Further down than the test itself has been, whose pages a child has. */
__attribute__((noinline)) static void spin_far_down(void)
{
	volatile uint8_t above[UNUSED_PAGES * PAGE_BYTES];

	for (size_t i = 0; i < sizeof(above); i += PAGE_BYTES)
		above[i] = 1;
	__asm__ volatile("" : : "r"(above) : "memory");
	spin_deep();
}

static pid_t start(void (*run)(void))
{
	const pid_t pid = fork();

	if (pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		run();
	}
	assert_true(pid > 0);
	return pid;
}

static struct sampler *open_sampler(const struct sampler_options *options)
{
	struct sampler *sampler;

	if (sampler_open(options, &sampler) < 0) {
		print_message("no BPF here: %s\n", sampler_problem());
		skip();
	}
	return sampler;
}

static struct sampler_options options_of(enum sampler_source source)
{
	return (struct sampler_options){.source = source,
					.event = "cpu-clock",
					.hz = HZ,
					.stack_bytes = SAMPLER_DEFAULT_STACK_BYTES};
}

static bool has_mark(const struct sample *sample)
{
	for (size_t off = 0; off + sizeof(uint64_t) <= sample->stack_len; off += sizeof(uint64_t)) {
		uint64_t word;

		memcpy(&word, sample->stack + off, sizeof(word));
		if (word == MARK)
			return true;
	}
	return false;
}

static void on_record(void *arg, const struct record *record)
{
	struct seen *const seen = arg;
	const struct sample *const sample = &record->sample;

	if (record->kind != RECORD_SAMPLE)
		return;
	seen->others += record->pid == seen->other;
	if (record->pid != seen->pid)
		return;
	seen->first_ns = seen->records++ ? seen->first_ns : record->time_ns;
	seen->last_ns = record->time_ns;
	seen->weight += sample->weight;
	seen->holes += sample->unread_pages != 0;
	seen->has_mark |= has_mark(sample);
	memcpy(seen->comm, sample->comm, sizeof(seen->comm));
}

static void read_for(struct sampler *sampler, struct seen *seen, uint64_t ns)
{
	const uint64_t until = now_ns() + ns;

	while (now_ns() < until) {
		poll(NULL, 0, 20);
		sampler_read(sampler, on_record, seen);
	}
}

/* Whoever spins has so many samples after a while, however many share the CPUs. */
static void read_until(struct sampler *sampler, struct seen *seen, uint64_t records,
		       uint64_t others)
{
	const uint64_t until = now_ns() + PATIENCE_NS;

	while ((seen->records < records || seen->others < others) && now_ns() < until) {
		poll(NULL, 0, 20);
		sampler_read(sampler, on_record, seen);
	}
	assert_true(seen->records >= records && seen->others >= others);
}

static void samples_of_whom_nobody_wants_do_not_come(void **state)
{
	for (size_t i = 0; i < sizeof(variants) / sizeof(variants[0]); i++) {
		const struct sampler_options options = options_of(variants[i]);
		struct sampler *sampler = open_sampler(&options);
		struct seen seen = {.pid = start(spin), .other = start(spin)};

		read_until(sampler, &seen, 10, 10); /* nobody has said whom */
		sampler_want(sampler, &seen.pid, 1);
		sampler_read(sampler, on_record, &seen);
		seen.records = seen.others = 0;
		read_until(sampler, &seen, 10, 0);
		assert_int_equal(seen.others, 0);
		sampler_want(sampler, &seen.other, 1);
		sampler_want_one(sampler, seen.pid);
		read_until(sampler, &seen, 0, 10);
		sampler_want(sampler, &seen.other, 1);
		sampler_read(sampler, on_record, &seen);
		seen.records = 0;
		read_for(sampler, &seen, 200000000);
		assert_int_equal(seen.records, 0);
		sampler_close(sampler);
		child_end(seen.pid);
		child_end(seen.other);
	}
}

static void spin_by_a_name(void)
{
	prctl(PR_SET_NAME, "has-a-long-name-of-its-own");
	spin();
}

static void a_sample_says_what_its_thread_is_called(void **state)
{
	for (size_t i = 0; i < sizeof(variants) / sizeof(variants[0]); i++) {
		const struct sampler_options options = options_of(variants[i]);
		struct sampler *sampler = open_sampler(&options);
		struct seen seen = {.pid = start(spin_by_a_name)};
		const uint64_t until = now_ns() + PATIENCE_NS;

		while (strcmp(seen.comm, "has-a-long-name") != 0 && now_ns() < until)
			read_until(sampler, &seen, seen.records + 1, 0);
		assert_string_equal(seen.comm, "has-a-long-name");
		sampler_close(sampler);
		child_end(seen.pid);
	}
}

/* The last one of a list has no room. */
static void a_full_table_costs_no_sample_and_is_told(void **state)
{
	static pid_t pids[BPF_MAX_WANTED + 1];
	const struct sampler_options options = options_of(SAMPLER_BPF);
	struct sampler *sampler = open_sampler(&options);
	struct seen seen = {.pid = start(spin), .other = start(spin)};
	struct sampler_stats stats;
	size_t bytes;

	for (pid_t i = 0; i < (pid_t)BPF_MAX_WANTED; i++)
		pids[i] = NO_PID + i;
	pids[BPF_MAX_WANTED] = seen.pid;
	bytes = sampler_bytes(sampler);
	sampler_want(sampler, pids, BPF_MAX_WANTED);
	assert_true(sampler_bytes(sampler) >= bytes + sizeof(pids));
	sampler_stats(sampler, &stats);
	assert_int_equal(stats.unlisted, 0);
	sampler_want(sampler, pids, BPF_MAX_WANTED + 1);
	read_until(sampler, &seen, 10, 10);
	sampler_want(sampler, &seen.pid, 1);
	sampler_read(sampler, on_record, &seen);
	seen.records = seen.others = 0;
	read_until(sampler, &seen, 10, 0);
	assert_int_equal(seen.others, 0);
	sampler_stats(sampler, &stats);
	assert_int_equal(stats.unlisted, 1);
	sampler_close(sampler);
	child_end(seen.pid);
	child_end(seen.other);
}

static void begin_program(void)
{
	execl("/bin/sh", "sh", "-c", "while :; do :; done", (char *)NULL);
	_exit(127);
}

/* The samples of one such program, which is read when it is young no more, too. */
static uint64_t weigh_program(struct sampler *sampler)
{
	struct seen seen = {.pid = start(begin_program)};

	read_for(sampler, &seen, 3 * BPF_YOUNG_NS);
	child_end(seen.pid);
	assert_true(seen.last_ns - seen.first_ns <= BPF_YOUNG_NS);
	return seen.weight;
}

/* On a busy machine a program has no CPU for long. */
static void a_program_that_begins_is_sampled_for_a_moment_unasked(void **state)
{
	const struct sampler_options options = options_of(SAMPLER_BPF);
	struct sampler *sampler = open_sampler(&options);
	const uint64_t until = now_ns() + PATIENCE_NS;
	uint64_t weight = 0;

	sampler_want(sampler, NULL, 0);
	while (weight < 10 && now_ns() < until)
		weight += weigh_program(sampler);
	sampler_close(sampler);
	assert_true(weight >= 10);
}

static void pages_that_were_never_written_to_are_named_and_do_not_end_the_stack(void **state)
{
	for (size_t i = 0; i < sizeof(variants) / sizeof(variants[0]); i++) {
		const struct sampler_options options = options_of(variants[i]);
		struct sampler *sampler = open_sampler(&options);
		struct seen seen = {.pid = start(spin_far_down)};

		const uint64_t until = now_ns() + PATIENCE_NS;

		/* The first ones may be of before the program is where it stays. */
		while (seen.holes == 0 && now_ns() < until)
			read_until(sampler, &seen, seen.records + 1, 0);
		seen.records = seen.holes = 0;
		read_until(sampler, &seen, 20, 0);
		sampler_close(sampler);
		child_end(seen.pid);
		assert_int_equal(seen.holes, seen.records);
		assert_true(seen.has_mark);
	}
}

static void one_sample_stands_for_those_that_are_too_many(void **state)
{
	for (size_t i = 0; i < sizeof(variants) / sizeof(variants[0]); i++) {
		struct sampler_options options = options_of(variants[i]);
		struct sampler_stats stats;
		struct sampler *sampler;
		struct seen seen = {0};
		uint64_t began_ns;
		double due;

		options.hz = 2000;
		options.max_samples_hz = 5 * (unsigned)sysconf(_SC_NPROCESSORS_ONLN);
		sampler = open_sampler(&options);
		seen.pid = start(spin);
		sampler_want(sampler, &seen.pid, 1);
		began_ns = now_ns();
		/* On a busy machine the child has few samples a second. */
		while (seen.weight < 1000 && now_ns() - began_ns < PATIENCE_NS) {
			poll(NULL, 0, 20);
			sampler_read(sampler, on_record, &seen);
		}
		due = (double)(now_ns() - began_ns) / 1e9;
		sampler_stats(sampler, &stats);
		sampler_close(sampler);
		child_end(seen.pid);
		print_message("%llu records stand for %llu samples, %llu merged\n",
			      (unsigned long long)seen.records, (unsigned long long)seen.weight,
			      (unsigned long long)stats.merged);
		assert_true((double)seen.records <= options.max_samples_hz * due + 40);
		assert_true(seen.weight > 4 * seen.records);
		/* Those that are merged may be of others too: of programs that have just begun. */
		assert_true(stats.merged + seen.records + 50 >= seen.weight);
	}
}

static void what_has_no_room_is_counted(void **state)
{
	for (size_t i = 0; i < sizeof(variants) / sizeof(variants[0]); i++) {
		struct sampler_options options = options_of(variants[i]);
		struct sampler_stats full, after;
		struct sampler *sampler;
		struct seen seen = {0};

		options.hz = 4000;
		options.max_samples_hz = SAMPLER_MOST_SAMPLES_HZ;
		options.ring_bytes = 64 << 10;
		sampler = open_sampler(&options);
		seen.pid = start(spin);
		sampler_want(sampler, &seen.pid, 1);
		poll(NULL, 0, 500); /* nobody reads */
		sampler_stats(sampler, &full);
		read_until(sampler, &seen, 4, 0);
		sampler_stop(sampler);
		sampler_stats(sampler, &after);
		sampler_read(sampler, on_record, &seen);
		print_message("%llu KiB of ring: %llu read, %llu lost\n",
			      (unsigned long long)options.ring_bytes >> 10,
			      (unsigned long long)seen.records, (unsigned long long)after.lost);
		assert_true(full.lost > 100);
		sampler_close(sampler);
		child_end(seen.pid);
	}
}

/* The room of this process's only ring buffer, as the kernel has it. */
static uint64_t find_ring_bytes(void)
{
	_cleanup_closedir_ DIR *fds = opendir("/proc/self/fd");
	const struct dirent *entry;

	assert_non_null(fds);
	while ((entry = readdir(fds))) {
		struct bpf_map_info info = {0};
		__u32 len = sizeof(info);

		if (bpf_obj_get_info_by_fd(atoi(entry->d_name), &info, &len) == 0 &&
		    info.type == BPF_MAP_TYPE_RINGBUF && info.max_entries)
			return info.max_entries;
	}
	return 0;
}

static void the_ring_is_as_large_as_is_said(void **state)
{
	struct sampler_options options = options_of(SAMPLER_BPF);
	struct sampler_stats with, without;
	struct sampler *sampler;

	options.ring_bytes = RING_BYTES;
	sampler = open_sampler(&options);
	sampler_stats(sampler, &with);
	assert_int_equal(find_ring_bytes(), RING_BYTES);
	sampler_close(sampler);
	options.ring_bytes = 0;
	sampler = open_sampler(&options);
	sampler_stats(sampler, &without);
	assert_int_equal(without.ring_bytes - with.ring_bytes, find_ring_bytes() - RING_BYTES);
	sampler_close(sampler);
}

/* How often the programs of this process have run, by the kernel's own count. */
static uint64_t count_runs(void)
{
	_cleanup_closedir_ DIR *fds = opendir("/proc/self/fd");
	const struct dirent *entry;
	uint64_t runs = 0;

	assert_non_null(fds);
	while ((entry = readdir(fds))) {
		struct bpf_prog_info info = {0};
		__u32 len = sizeof(info);

		if (bpf_obj_get_info_by_fd(atoi(entry->d_name), &info, &len) == 0 &&
		    info.type == BPF_PROG_TYPE_PERF_EVENT)
			runs += info.run_cnt;
	}
	return runs;
}

/* An event of the thread alone, so that the program runs for nobody else. */
static int open_event_of(pid_t pid)
{
	struct perf_event_attr attr = {
		.size = sizeof(attr),
		.type = PERF_TYPE_SOFTWARE,
		.config = PERF_COUNT_SW_CPU_CLOCK,
		.sample_period = 100000,
		.disabled = 1,
	};
	const int fd = (int)syscall(SYS_perf_event_open, &attr, pid, -1, -1, 0);

	assert_true(fd >= 0);
	return fd;
}

static void fill(struct bpf_source *source, int event)
{
	const uint64_t until = now_ns() + PATIENCE_NS;

	assert_int_equal(bpf_source_attach(source, event, BPF_KIND_CPU), 0);
	assert_int_equal(ioctl(event, PERF_EVENT_IOC_ENABLE, 0), 0);
	while (bpf_source_counters(source).lost < FULL && now_ns() < until)
		poll(NULL, 0, 20);
	assert_int_equal(ioctl(event, PERF_EVENT_IOC_DISABLE, 0), 0);
}

/* The kernel counts the program's runs beside it; that takes nothing from the samples. */
static void what_is_taken_and_what_is_lost_is_all(void **state)
{
	static const enum bpf_variant programs[] = {BPF_EXACT, BPF_SLICES, BPF_SCRATCH};
	const int stats = bpf_enable_stats(BPF_STATS_RUN_TIME);

	for (size_t i = 0; i < sizeof(programs) / sizeof(programs[0]); i++) {
		const struct bpf_source_options options = {.variant = programs[i],
							   .stack_bytes =
								   SAMPLER_DEFAULT_STACK_BYTES,
							   .n_cpus = 1,
							   .hz = HZ,
							   .ring_bytes = RING_BYTES};
		char why[BPF_LOAD_WHY_BYTES];
		struct bpf_shared counters;
		struct bpf_source *source = NULL;
		uint64_t broken = 0, runs;
		struct seen seen = {0};
		int event;

		if (stats < 0 || bpf_source_open(&options, &source, why) < 0) {
			print_message("no BPF here, or nobody counts its runs\n");
			skip();
		}
		seen.pid = start(spin);
		event = open_event_of(seen.pid);
		fill(source, event);
		runs = count_runs();
		counters = bpf_source_counters(source);
		bpf_source_read(source, on_record, &seen, &broken);
		print_message("%s: of %llu samples %llu are lost, %llu read\n",
			      bpf_source_variant(source), (unsigned long long)runs,
			      (unsigned long long)counters.lost, (unsigned long long)seen.weight);
		assert_true(counters.lost >= FULL);
		assert_true(seen.records > 10);
		assert_int_equal(broken, 0);
		assert_int_equal(counters.taken, seen.records);
		assert_int_equal(counters.lost + seen.weight, runs);
		close(event);
		bpf_source_close(source);
		child_end(seen.pid);
	}
	close(stats);
}

/* In its own PID namespace it is 1. */
static void a_process_of_a_pid_namespace_has_the_hosts_number(void **state)
{
	const struct sampler_options options = options_of(SAMPLER_BPF);
	struct sampler *sampler = open_sampler(&options);
	struct seen seen = {0};

	seen.pid = (pid_t)syscall(SYS_clone, CLONE_NEWPID | SIGCHLD, NULL, NULL, NULL, NULL);
	if (seen.pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (getpid() == 1)
			spin();
		_exit(1);
	}
	assert_true(seen.pid > 0);
	sampler_want(sampler, &seen.pid, 1);
	read_until(sampler, &seen, 10, 0);
	sampler_close(sampler);
	child_end(seen.pid);
}

static void whoever_asks_for_bpf_without_the_right_is_told(void **state)
{
	const pid_t pid = fork();

	if (pid == 0) {
		const struct sampler_options options = options_of(SAMPLER_BPF);
		struct sampler *sampler;

		if (!child_becomes_nobody() || sampler_open(&options, &sampler) == 0)
			_exit(1);
		_exit(strstr(sampler_problem(), "CAP_BPF") ||
				      strstr(sampler_problem(), "perf_event_open")
			      ? 0
			      : 2);
	}
	child_check(pid);
}

/* As large as the samples of 1.65 s, and never above the limit, however many CPUs there are. */
static void all_cpus_share_a_ring_of_limited_size(void **state)
{
	struct bpf_source_options options = {
		.n_cpus = 2, .hz = 99, .stack_bytes = SAMPLER_DEFAULT_STACK_BYTES};

	assert_int_equal(bpf_source_fit_ring(&options), 8 << 20);
	options.n_cpus = 256;
	assert_int_equal(bpf_source_fit_ring(&options), 64 << 20);
	options.max_hz = 1000;
	assert_int_equal(bpf_source_fit_ring(&options), 32 << 20);
	options.stack_bytes = 0;
	assert_int_equal(bpf_source_fit_ring(&options), 16 << 20);
	options.max_hz = 1;
	assert_int_equal(bpf_source_fit_ring(&options), 1 << 20);
}

static void sources_have_words(void **state)
{
	enum sampler_source source = SAMPLER_PERF;
	char words[128];

	snprintf(words, sizeof(words), "%s", sampler_source_words());
	for (char *rest, *word = strtok_r(words, " ", &rest); word;
	     word = strtok_r(NULL, " ", &rest))
		assert_int_equal(sampler_source_of(word, &source), 0);
	for (int i = SAMPLER_AUTO; i <= SAMPLER_BPF_SCRATCH; i++) {
		const char *word = sampler_source_word((enum sampler_source)i);

		assert_non_null(strstr(sampler_source_words(), word));
		assert_int_equal(sampler_source_of(word, &source), 0);
		assert_int_equal(source, i);
	}
	assert_true(sampler_source_of("ebpf", &source) < 0);
	assert_int_equal(source, SAMPLER_BPF_SCRATCH);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(samples_of_whom_nobody_wants_do_not_come),
		cmocka_unit_test(a_sample_says_what_its_thread_is_called),
		cmocka_unit_test(a_full_table_costs_no_sample_and_is_told),
		cmocka_unit_test(a_program_that_begins_is_sampled_for_a_moment_unasked),
		cmocka_unit_test(
			pages_that_were_never_written_to_are_named_and_do_not_end_the_stack),
		cmocka_unit_test(one_sample_stands_for_those_that_are_too_many),
		cmocka_unit_test(what_has_no_room_is_counted),
		cmocka_unit_test(the_ring_is_as_large_as_is_said),
		cmocka_unit_test(what_is_taken_and_what_is_lost_is_all),
		cmocka_unit_test(a_process_of_a_pid_namespace_has_the_hosts_number),
		cmocka_unit_test(whoever_asks_for_bpf_without_the_right_is_told),
		cmocka_unit_test(all_cpus_share_a_ring_of_limited_size),
		cmocka_unit_test(sources_have_words),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
