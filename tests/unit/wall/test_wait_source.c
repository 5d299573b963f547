// SPDX-License-Identifier: Apache-2.0
/*
 * Waits of a real process, and what is read of them. Needs root and a kernel of version 6.18 with
 * BTF.
 *
 * The threads of the process know how long they were blocked: by the clock, less what the kernel
 * says of their time on a CPU and of their waits for one.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <asm/unistd.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <math.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "common/child.h"
#include "sample/bpf_layout.h"
#include "sample/sample_regs.h"
#include "wall/wait_source.h"

#define STACK_BYTES (48u << 10)
#define QUANTUM_NS  UINT64_C(2000000)
#define MARK	    UINT64_C(0x6d61726b6d61726b)
#define MAX_PAIRS   4096
#define HOLE_BYTES  (5 * 4096)
#define SHORT_NS    1000000
#define LONG_NS	    50000000
#define PIPE_FILL   (1u << 20) /* written in one call: more than a pipe has room for */
/* So much blocked time of each kind: some 500 samples of short waits. */
#define EACH_NS UINT64_C(1000000000)
/* That the counters of a wait may be off: what the thread runs around it comes late to them. */
#define SLACK_NS UINT64_C(20000)

enum kind {
	BY_FUTEX,
	BY_PIPE,
	BY_SLEEP,
	N_KINDS,
};

static const int calls[N_KINDS] = {
	[BY_FUTEX] = __NR_futex,
	[BY_PIPE] = __NR_read,
	[BY_SLEEP] = __NR_clock_nanosleep,
};

/* In memory of both processes. */
struct board {
	_Atomic pid_t waiter, partner;
	_Atomic bool is_done;
	/* Between these was the time that it was blocked. */
	_Atomic uint64_t least_ns[N_KINDS], most_ns[N_KINDS];
	_Atomic uint64_t n_waits[N_KINDS];
	uint32_t futex;
};

struct run {
	struct wait_source *source;
	pid_t pid;
	uint64_t n, n_of[N_KINDS], weight_ns[N_KINDS];
	uint64_t total_ns, blocked_ns, n_waits, n_merged;
	uint64_t n_elsewhere; /* of no kind: read after the call, because its end was not told */
	uint64_t n_marked, n_cut, n_kernel;
	uint64_t n_by_partner, n_by_irq, n_by_nobody;
	uint64_t n_wakers, n_wakers_marked;
	/* when waits began that the partner ended, and of the partner's stacks those of which */
	uint64_t since_ns[MAX_PAIRS], of_ns[MAX_PAIRS];
	size_t n_since, n_of_wakers;
};

static struct board *board;
static int go[2], asks[2], answers[2];

static uint64_t now_ns(void)
{
	return clock_now_ns();
}

static void sleep_ns(long ns)
{
	const struct timespec time = {.tv_nsec = ns};

	clock_nanosleep(CLOCK_MONOTONIC, 0, &time, NULL);
}

static void wait_by(enum kind kind)
{
	const struct timespec time = {.tv_nsec = SHORT_NS};
	char byte = 0;

	if (kind == BY_FUTEX)
		syscall(SYS_futex, &board->futex, FUTEX_WAIT, 0, &time, NULL, 0);
	else if (kind == BY_SLEEP)
		sleep_ns(LONG_NS);
	else if (write(asks[1], &byte, 1) != 1 || read(answers[0], &byte, 1) != 1)
		_exit(1);
}

/* The time that the calling thread has run, or waited to. */
static uint64_t not_blocked_ns(int schedstat)
{
	unsigned long long run_ns, delay_ns;
	char text[128] = "";

	if (pread(schedstat, text, sizeof(text) - 1, 0) <= 0 ||
	    sscanf(text, "%llu %llu", &run_ns, &delay_ns) != 2)
		_exit(1);
	return run_ns + delay_ns;
}

/* The number that the test looks for lies above memory that was never written to. */
__attribute__((noinline)) static void wait_above_a_hole(enum kind kind)
{
	volatile uint8_t hole[HOLE_BYTES];

	__asm__ volatile("" : : "r"(hole) : "memory"); /* nothing of it is written to */
	wait_by(kind);
	__asm__ volatile("" : : "r"(hole) : "memory");
}

static uint64_t without(uint64_t whole_ns, uint64_t part_ns)
{
	return whole_ns > part_ns ? whole_ns - part_ns : 0;
}

/* What lies between the clock and the counters may be of either: it is read on both sides. */
static void wait_and_note(enum kind kind, int schedstat)
{
	const uint64_t outer_ns = now_ns(), outer_ran_ns = not_blocked_ns(schedstat);
	const uint64_t inner_ns = now_ns(), inner_ran_ns = not_blocked_ns(schedstat);
	uint64_t ran_ns, took_ns;

	wait_above_a_hole(kind);
	ran_ns = not_blocked_ns(schedstat) - inner_ran_ns;
	took_ns = now_ns() - inner_ns;
	board->least_ns[kind] += without(took_ns, not_blocked_ns(schedstat) - outer_ran_ns);
	board->most_ns[kind] += without(now_ns() - outer_ns, ran_ns);
	board->n_waits[kind]++;
}

static void *waiter(void *arg)
{
	volatile uint64_t mark[8];
	char byte;
	int schedstat;

	for (size_t i = 0; i < 8; i++)
		mark[i] = MARK;
	__asm__ volatile("" : : "r"(mark) : "memory");
	schedstat = open("/proc/thread-self/schedstat", O_RDONLY);
	board->waiter = (pid_t)syscall(SYS_gettid);
	if (read(go[0], &byte, 1) != 1)
		_exit(1);
	/* The kind that has waited least comes next: they take turns, the short ones more often. */
	for (;;) {
		enum kind least = BY_FUTEX;

		for (enum kind kind = BY_PIPE; kind < N_KINDS; kind++)
			least = board->most_ns[kind] < board->most_ns[least] ? kind : least;
		if (board->most_ns[least] >= EACH_NS)
			break;
		wait_and_note(least, schedstat);
	}
	board->is_done = true;
	for (;;)
		pause();
	return arg;
}

static void *partner(void *arg)
{
	volatile uint64_t mark[2] = {MARK, MARK};
	char byte;

	board->partner = (pid_t)syscall(SYS_gettid);
	while (mark[0] == MARK) {
		if (read(asks[0], &byte, 1) != 1)
			_exit(1);
		sleep_ns(SHORT_NS);
		if (write(answers[1], &byte, 1) != 1)
			_exit(1);
	}
	return arg;
}

/* Writes more than fits into a pipe at once: the call waits again and again. */
static void *filler(void *arg)
{
	static char bytes[PIPE_FILL];
	char byte;

	board->waiter = (pid_t)syscall(SYS_gettid);
	if (read(go[0], &byte, 1) != 1 || write(asks[1], bytes, sizeof(bytes)) != sizeof(bytes))
		_exit(1);
	board->is_done = true;
	for (;;)
		pause();
	return arg;
}

static void *drainer(void *arg)
{
	char bytes[16384];

	board->partner = (pid_t)syscall(SYS_gettid);
	for (;;) {
		sleep_ns(SHORT_NS);
		if (read(asks[0], bytes, sizeof(bytes)) <= 0)
			_exit(1);
	}
	return arg;
}

/* Starts a process with two threads that wait until they are told to go. */
static pid_t start(void *(*one)(void *), void *(*other)(void *))
{
	pthread_t thread;
	pid_t pid;

	memset(board, 0, sizeof(*board));
	assert_int_equal(pipe(go) | pipe(asks) | pipe(answers), 0);
	pid = fork();
	assert_true(pid >= 0);
	if (pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (pthread_create(&thread, NULL, other, NULL) != 0 ||
		    pthread_create(&thread, NULL, one, NULL) != 0)
			_exit(1);
		for (;;)
			pause();
	}
	while (!board->waiter || !board->partner)
		poll(NULL, 0, 1);
	return pid;
}

static void end(struct run *run)
{
	wait_source_close(run->source);
	child_end(run->pid);
	for (int i = 0; i < 2; i++) {
		close(go[i]);
		close(asks[i]);
		close(answers[i]);
	}
}

static struct wait_source *open_source(size_t ring_bytes, bool has_wakers)
{
	const struct wait_source_options options = {.quantum_ns = QUANTUM_NS,
						    .stack_bytes = STACK_BYTES,
						    .ring_bytes = ring_bytes,
						    .has_wakers = has_wakers};
	struct wait_source *source;
	char why[BPF_LOAD_WHY_BYTES];
	const int err = wait_source_open(&options, &source, why);

	if (err < 0) {
		print_message("no waits here: %s\n", why);
		assert_true(wait_source_check(why) < 0); /* or else it has to be possible */
		skip();
	}
	return source;
}

static bool has_mark(const struct wait_reading *wait, uint32_t from)
{
	for (uint32_t off = from; off + sizeof(uint64_t) <= wait->stack_len;
	     off += sizeof(uint64_t)) {
		uint64_t word;

		memcpy(&word, wait->stack + off, sizeof(word));
		if (word == MARK)
			return true;
	}
	return false;
}

static void on_wait(void *arg, const struct wait_reading *wait)
{
	struct run *const run = arg;

	assert_int_equal(wait->pid, run->pid);
	if (wait->is_waker) {
		if (wait->waited_tid != board->waiter)
			return;
		assert_int_equal(wait->tid, board->partner);
		run->n_wakers++;
		run->n_wakers_marked += has_mark(wait, 0);
		run->of_ns[run->n_of_wakers++ % MAX_PAIRS] = wait->since_ns;
		return;
	}
	assert_true(wait->weight_ns >= QUANTUM_NS && wait->weight_ns % QUANTUM_NS == 0);
	assert_true(wait->n_waits > 0);
	if (wait->tid != board->waiter)
		return;
	run->n++;
	run->total_ns += wait->weight_ns;
	run->blocked_ns += wait->blocked_ns;
	run->n_waits += wait->n_waits;
	run->n_merged += wait->n_waits > 1;
	run->n_cut += wait->is_cut;
	run->n_kernel += wait->kernel.len > 0;
	run->n_by_nobody += wait->waker.kind == WAKER_UNKNOWN;
	run->n_by_irq += wait->waker.kind == WAKER_IRQ;
	run->n_by_partner += wait->waker.kind == WAKER_THREAD &&
			     wait->waker.tid == board->partner && wait->waker.pid == run->pid;
	if (wait->waker.tid == board->partner)
		run->since_ns[run->n_since++ % MAX_PAIRS] = wait->since_ns;
	run->n_elsewhere++;
	for (enum kind kind = BY_FUTEX; kind < N_KINDS; kind++) {
		if (wait->syscall != calls[kind])
			continue;
		run->n_elsewhere--;
		run->n_of[kind]++;
		run->n_marked += has_mark(wait, HOLE_BYTES);
		run->weight_ns[kind] += wait->weight_ns;
	}
	assert_non_null(wait->regs);
	assert_int_equal(sample_regs_get(wait->regs, SAMPLE_REG_SP) % 8, 0);
}

/* Lets the threads go, and reads until they are done. */
static void read_all(struct run *run, bool reads_on)
{
	const char byte = 0;

	assert_int_equal(wait_source_want(run->source, NULL, &run->pid, 1), 0);
	assert_int_equal(write(go[1], &byte, 1), 1);
	while (!board->is_done) {
		poll(NULL, 0, 20);
		if (reads_on)
			wait_source_read(run->source, on_wait, run);
	}
	wait_source_read(run->source, on_wait, run);
}

/* Whether what was found is what is known, but for a tolerance. */
static void check_time(const char *what, uint64_t found_ns, const uint64_t known_ns[2],
		       uint64_t tolerance_ns)
{
	print_message("%s: blocked %.1f to %.1f ms, found %.1f ms\n", what,
		      (double)known_ns[0] / 1e6, (double)known_ns[1] / 1e6, (double)found_ns / 1e6);
	assert_true(found_ns + tolerance_ns >= known_ns[0]);
	assert_true(found_ns <= known_ns[1] + tolerance_ns);
}

/*
 * What is chosen of a kind is a number of quanta with a variance of that number at most: four
 * standard deviations.
 */
static void check_share(const struct run *run, enum kind kind, uint64_t n_untold)
{
	static const char *const names[N_KINDS] = {"futex", "pipe", "sleep"};
	const uint64_t known_ns[2] = {board->least_ns[kind], board->most_ns[kind]};
	const double quanta = (double)known_ns[1] / (double)QUANTUM_NS;

	check_time(names[kind], run->weight_ns[kind], known_ns,
		   (uint64_t)(4 * sqrt(quanta) * (double)QUANTUM_NS) + n_untold * LONG_NS);
}

static void shares_of_blocked_time_are_known_by_length(void **state)
{
	struct run run = {.source = open_source(0, false)};
	uint64_t known_ns[2] = {0}, n = 0, n_untold;
	struct wait_source_stats stats;

	(void)state;
	run.pid = start(waiter, partner);
	read_all(&run, true);
	wait_source_stats(run.source, &stats);
	n_untold = stats.unended + run.n_elsewhere;
	for (enum kind kind = BY_FUTEX; kind < N_KINDS; kind++) {
		check_share(&run, kind, n_untold);
		known_ns[0] += board->least_ns[kind];
		known_ns[1] += board->most_ns[kind];
		n += board->n_waits[kind];
	}
	print_message("%d long waits, %d read; of all %d chosen, %d read, %d lost, %d refused, "
		      "of %d the end was not told\n",
		      (int)board->n_waits[BY_SLEEP], (int)run.n_of[BY_SLEEP], (int)stats.sampled,
		      (int)run.n, (int)stats.lost, (int)stats.refused, (int)n_untold);
	/* Every long wait is read, and no time is lost but the last debt, and what was not told. */
	assert_in_range(board->n_waits[BY_SLEEP] - run.n_of[BY_SLEEP], 0, n_untold);
	assert_in_range(n_untold, 0, n / 50);
	check_time("all", run.total_ns, known_ns,
		   2 * QUANTUM_NS + n * SLACK_NS + n_untold * LONG_NS);
	assert_true(stats.waits >= n); /* of the partner, too */
	assert_true(stats.sampled >= run.n);
	assert_int_equal(stats.lost + stats.refused + stats.broken + stats.unread, 0);
	assert_int_equal(run.n_by_nobody, run.n);
	/* Stacks are whole, above a hole of pages that were never written to. */
	assert_int_equal(run.n_marked, run.n_of[BY_FUTEX] + run.n_of[BY_PIPE] + run.n_of[BY_SLEEP]);
#ifndef FG_SANITIZED /* a sanitizer keeps much above a thread's stack */
	assert_int_equal(run.n_cut, 0);
#endif
	assert_int_equal(run.n_kernel, run.n);
	end(&run);
}

static void waits_of_one_system_call_are_one_reading(void **state)
{
	struct run run = {.source = open_source(0, false)};

	(void)state;
	run.pid = start(filler, drainer);
	read_all(&run, true);
	print_message("%d readings of %d waits, blocked %.1f ms, weight %.1f ms\n", (int)run.n,
		      (int)run.n_waits, (double)run.blocked_ns / 1e6, (double)run.total_ns / 1e6);
	assert_int_equal(run.n, 1);
	assert_int_equal(run.n_merged, 1);
	assert_true(run.n_waits > 4);
	assert_true(run.total_ns > 4 * QUANTUM_NS);
	end(&run);
}

/* How many waits that the partner ended have their waker's stack. */
static size_t count_pairs(const struct run *run)
{
	size_t n = 0;

	for (size_t i = 0; i < run->n_since; i++) {
		for (size_t j = 0; j < run->n_of_wakers; j++) {
			if (run->since_ns[i] != run->of_ns[j])
				continue;
			n++;
			break;
		}
	}
	return n;
}

static void wakers_are_told(void **state)
{
	struct run run = {.source = open_source(0, true)};
	struct wait_source_stats stats;

	(void)state;
	run.pid = start(waiter, partner);
	read_all(&run, true);
	print_message("woken by the partner %d, by a timer %d, not known %d; by calls: pipe %d, "
		      "others %d\n",
		      (int)run.n_by_partner, (int)run.n_by_irq, (int)run.n_by_nobody,
		      (int)run.n_of[BY_PIPE], (int)(run.n_of[BY_FUTEX] + run.n_of[BY_SLEEP]));
	/* Who wakes a thread that is just about to leave its CPU is not seen. */
	assert_true(run.n_by_nobody <= 2 + run.n / 50);
	assert_true(run.n_by_partner > 0 && run.n_by_irq > 0);
	assert_true(run.n_by_partner <= run.n_of[BY_PIPE]);
	assert_true(run.n_of[BY_PIPE] <= run.n_by_partner + run.n_by_nobody);
	assert_true(run.n_by_partner + run.n_by_irq + run.n_by_nobody >= run.n - run.n / 100);
	wait_source_stats(run.source, &stats);
	print_message("%d stacks of the partner, %d with its mark, %d of the waits, %d lost\n",
		      (int)run.n_wakers, (int)run.n_wakers_marked, (int)count_pairs(&run),
		      (int)stats.wakers_lost);
	assert_true(run.n_of_wakers <= MAX_PAIRS && run.n_since <= MAX_PAIRS);
	assert_int_equal(run.n_wakers, run.n_wakers_marked);
	assert_true(count_pairs(&run) + stats.wakers_lost >= run.n_by_partner);
	assert_true(count_pairs(&run) * 10 >= run.n_by_partner * 9);
	end(&run);
}

static void a_ring_that_is_too_small_counts_losses(void **state)
{
	struct run run = {.source = open_source(131072, false)};
	struct wait_source_stats stats;

	(void)state;
	run.pid = start(waiter, partner);
	read_all(&run, false);
	wait_source_stats(run.source, &stats);
	print_message("%d read, %d lost of %d\n", (int)run.n, (int)stats.lost, (int)stats.sampled);
	assert_true(run.n > 0);
	assert_true(stats.lost > 0);
	assert_true(run.n + stats.lost <= stats.sampled);
	end(&run);
}

static void unwanted_processes_are_not_read(void **state)
{
	struct run run = {.source = open_source(0, false)};
	const pid_t other = getpid();
	const char byte = 0;
	struct wait_source_stats stats;

	(void)state;
	run.pid = start(waiter, partner);
	assert_int_equal(wait_source_want(run.source, NULL, &run.pid, 1), 0);
	assert_int_equal(wait_source_want(run.source, NULL, NULL, 0), 0);
	assert_int_equal(write(go[1], &byte, 1), 1);
	while (!board->is_done)
		poll(NULL, 0, 20);
	wait_source_read(run.source, on_wait, &run);
	wait_source_stats(run.source, &stats);
	assert_int_equal(run.n, 0);
	/* Waits of this process itself are seen once it is wanted. */
	assert_int_equal(stats.waits, 0);
	assert_int_equal(wait_source_want(run.source, NULL, &other, 1), 0);
	poll(NULL, 0, 1);
	wait_source_stats(run.source, &stats);
	assert_true(stats.waits > 0);
	end(&run);
}

static void one_without_rights_is_told_why(void **state)
{
	const pid_t pid = fork();
	char why[BPF_LOAD_WHY_BYTES] = "";

	(void)state;
	assert_true(pid >= 0);
	if (pid == 0)
		_exit(child_becomes_nobody() && wait_source_check(why) < 0 &&
				      strstr(why, "CAP_BPF is missing")
			      ? 0
			      : 1);
	child_check(pid);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(shares_of_blocked_time_are_known_by_length),
		cmocka_unit_test(waits_of_one_system_call_are_one_reading),
		cmocka_unit_test(wakers_are_told),
		cmocka_unit_test(a_ring_that_is_too_small_counts_losses),
		cmocka_unit_test(unwanted_processes_are_not_read),
		cmocka_unit_test(one_without_rights_is_told_why),
	};

	board = mmap(NULL, sizeof(*board), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1,
		     0);
	if (board == MAP_FAILED)
		return 1;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
