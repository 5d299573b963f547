// SPDX-License-Identifier: Apache-2.0
/*
 * Kernels and rights that refuse BPF: another program or perf takes the samples, or a sentence says
 * why nobody does. The refusals are this test's: it stands between libbpf and the kernel. Needs
 * root and a kernel with BTF.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <linux/bpf.h>
#include <linux/perf_event.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/capability.h"
#include "base/cleanup.h"
#include "base/file.h"
#include "base/log.h"
#include "common/child.h"
#include "common/files.h"
#include "sample/bpf_source.h"
#include "sample/sampler.h"
#include "wall/thread_clock.h"
#include "wall/thread_source.h"

#define HZ	     499
#define PATIENCE_NS  UINT64_C(20000000000)
#define LITTLE_BYTES (64u << 10) /* that may be locked */
#define BPF_RIGHTS   (UINT64_C(1) << CAP_BPF)
#define PERF_RIGHTS  (UINT64_C(1) << CAP_PERFMON)

/* In the order in which they are tried, and those of threads. */
static const char *const programs[] = {"sample_exact", "sample_slices", "sample_scratch",
				       "read_threads"};
#define ALL 4u

/* What the kernel refuses. */
static struct {
	unsigned n_programs;  /* the first ones of programs */
	int program_err;      /* 0: the verifier says it, of a program without an end */
	int ring_err;	      /* of a ring buffer */
	int attach_err;	      /* of an event that is to run a program */
	unsigned n_attaching; /* events that have been asked; the first one is not refused */
} refused;

static unsigned n_lines; /* of the log */

static bool is_refused(const char *name)
{
	for (unsigned i = 0; i < refused.n_programs; i++) {
		if (strcmp(name, programs[i]) == 0)
			return true;
	}
	return false;
}

/* The error of a call, or 0. */
static int refuse(int command, union bpf_attr *attr)
{
	if (command == BPF_MAP_CREATE && attr->map_type == BPF_MAP_TYPE_RINGBUF)
		return refused.ring_err;
	if (command != BPF_PROG_LOAD || !is_refused(attr->prog_name))
		return 0;
	if (!refused.program_err)
		attr->insn_cnt--;
	return refused.program_err;
}

/*
 * libbpf calls these, because a program's own functions go before those of the C library. Arguments
 * that a caller did not give are read and passed on as well, as the C library does.
 */
__attribute__((no_sanitize("address"))) long syscall(long number, ...)
{
	static long (*next)(long number, ...);
	long args[6];
	va_list list;

	va_start(list, number);
	for (size_t i = 0; i < 6; i++)
		args[i] = va_arg(list, long);
	va_end(list);
	if (number == SYS_bpf) {
		const int err = refuse((int)args[0], (union bpf_attr *)args[1]);

		if (err) {
			errno = err;
			return -1;
		}
	}
	if (!next)
		next = (long (*)(long, ...))dlsym(RTLD_NEXT, "syscall");
	return next(number, args[0], args[1], args[2], args[3], args[4], args[5]);
}

int ioctl(int fd, unsigned long request, ...)
{
	static int (*next)(int fd, unsigned long request, ...);
	va_list list;
	void *arg;

	va_start(list, request);
	arg = va_arg(list, void *);
	va_end(list);
	if (request == PERF_EVENT_IOC_SET_BPF && refused.n_attaching++ > 0 && refused.attach_err) {
		errno = refused.attach_err;
		return -1;
	}
	if (!next)
		next = (int (*)(int, unsigned long, ...))dlsym(RTLD_NEXT, "ioctl");
	return next(fd, request, arg);
}

static void count_line(void)
{
	n_lines++;
}

/* A kernel that refuses nothing, and an empty log. */
static int begin(void **state)
{
	memset(&refused, 0, sizeof(refused));
	n_lines = 0;
	log_set_level(LOG_LEVEL_INFO);
	log_set_before_line(count_line);
	return 0;
}

static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

static struct sampler_options options_of(enum sampler_source source)
{
	return (struct sampler_options){.source = source,
					.event = "cpu-clock",
					.hz = HZ,
					.stack_bytes = SAMPLER_DEFAULT_STACK_BYTES};
}

static void need_bpf(enum sampler_source source)
{
	const struct sampler_options options = options_of(source);
	struct sampler *sampler;

	if (sampler_open(&options, &sampler) < 0) {
		print_message("no BPF here: %s\n", sampler_problem());
		skip();
	}
	sampler_close(sampler);
	begin(NULL);
}

struct spinner {
	pid_t pid;
	uint64_t samples;
};

static void on_record(void *arg, const struct record *record)
{
	struct spinner *const spinner = arg;

	spinner->samples += record->kind == RECORD_SAMPLE && record->pid == spinner->pid &&
			    record->sample.regs && record->sample.stack;
}

/* Whether somebody takes samples with stacks. */
static bool takes_samples(struct sampler *sampler)
{
	const uint64_t until = now_ns() + PATIENCE_NS;
	struct spinner spinner = {.pid = fork()};

	if (spinner.pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		for (volatile uint64_t i = 0;; i++)
			;
	}
	sampler_want(sampler, &spinner.pid, 1);
	while (spinner.samples < 10 && now_ns() < until) {
		poll(NULL, 0, 20);
		sampler_read(sampler, on_record, &spinner);
	}
	child_end(spinner.pid);
	return spinner.samples >= 10;
}

/* Whether the sampler of these options says so of itself, and takes samples. */
static bool samples_as(enum sampler_source source, const char *text)
{
	const struct sampler_options options = options_of(source);
	struct sampler *sampler;
	bool is_right;

	if (sampler_open(&options, &sampler) < 0)
		return false;
	is_right = strstr(sampler_source_text(sampler), text) && takes_samples(sampler);
	if (!is_right)
		print_error("%s, not %s\n", sampler_source_text(sampler), text);
	sampler_close(sampler);
	return is_right;
}

static bool fails_as(enum sampler_source source, const char *text)
{
	const struct sampler_options options = options_of(source);
	struct sampler *sampler;

	if (sampler_open(&options, &sampler) == 0) {
		sampler_close(sampler);
		return false;
	}
	if (!strstr(sampler_problem(), text))
		print_error("%s, not %s\n", sampler_problem(), text);
	return strstr(sampler_problem(), text);
}

/* Where a test changes what it has: rights, mounts, limits. */
static void run_in_child(bool (*run)(void))
{
	pid_t pid;

	fflush(stdout);
	pid = fork();
	assert_true(pid >= 0);
	if (pid == 0) {
		const bool is_right = run();

		fflush(stdout);
		_exit(!is_right);
	}
	child_check(pid);
}

static void a_program_that_is_refused_gives_way_to_the_next_one(void **state)
{
	static const int errors[] = {0, EINVAL, E2BIG, EACCES, EPERM, ENOSPC, EOPNOTSUPP};

	need_bpf(SAMPLER_BPF_EXACT);
	for (size_t i = 0; i < sizeof(errors) / sizeof(errors[0]); i++) {
		refused.program_err = errors[i];
		refused.n_programs = 1;
		assert_true(samples_as(SAMPLER_BPF, "BPF (slices)"));
		refused.n_programs = 2;
		assert_true(samples_as(SAMPLER_AUTO, "BPF (scratch)"));
	}
	assert_int_equal(n_lines, 0);
}

static void perf_takes_the_samples_if_every_program_is_refused(void **state)
{
	need_bpf(SAMPLER_BPF);
	refused.n_programs = ALL;
	assert_true(samples_as(SAMPLER_AUTO,
			       "perf (the BPF program cannot be loaded: Invalid "
			       "argument; -v shows what the kernel's verifier says)"));
	refused.program_err = E2BIG;
	assert_true(samples_as(SAMPLER_AUTO, "loaded: Argument list too long; -v shows"));
	assert_int_equal(n_lines, 0);
}

/* As where the kernel is locked down, or a seccomp profile forbids bpf. */
static void without_permission_perf_takes_them_and_it_is_said_what_is_needed(void **state)
{
	need_bpf(SAMPLER_BPF);
	refused.n_programs = ALL;
	refused.program_err = EPERM;
	assert_true(samples_as(SAMPLER_AUTO, "perf (the BPF program cannot be loaded: Operation "
					     "not permitted: CAP_BPF and CAP_PERFMON are needed, "
					     "a seccomp profile that allows bpf"));
	assert_int_equal(n_lines, 0);
}

static void whoever_asks_for_a_program_that_is_refused_gets_one_line(void **state)
{
	static const struct {
		enum sampler_source source;
		const char *text;
	} cases[] = {
		{SAMPLER_BPF, "--sampler: the BPF program cannot be loaded: Invalid argument"},
		{SAMPLER_BPF_EXACT, "--sampler: the BPF program cannot be loaded"},
		{SAMPLER_BPF_SLICES, "--sampler: the BPF program cannot be loaded"},
		{SAMPLER_BPF_SCRATCH, "--sampler: the BPF program cannot be loaded"},
	};

	need_bpf(SAMPLER_BPF);
	refused.n_programs = ALL;
	for (unsigned i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		assert_true(fails_as(cases[i].source, cases[i].text));
		assert_int_equal(n_lines, i + 1);
	}
}

/* Whether the log of what the verifier refuses has the words. */
static bool verifier_is_heard(void)
{
	char text[16384] = "";
	const int fd = files_open_memory("", 0);
	bool is_heard;

	dup2(fd, STDERR_FILENO);
	log_set_level(LOG_LEVEL_DEBUG);
	if (!fails_as(SAMPLER_BPF_EXACT, "-v shows what the kernel's verifier says"))
		return false;
	is_heard = pread(fd, text, sizeof(text) - 1, 0) > 0 && strstr(text, "sample_exact") &&
		   strstr(text, "last insn is not an exit or jmp");
	if (!is_heard)
		print_error("%s\n", text);
	return is_heard;
}

static void what_the_verifier_says_is_shown_to_who_looks_for_it(void **state)
{
	need_bpf(SAMPLER_BPF_EXACT);
	refused.n_programs = 1;
	run_in_child(verifier_is_heard);
}

static unsigned count_descriptors(void)
{
	_cleanup_closedir_ DIR *fds = opendir("/proc/self/fd");
	unsigned n = 0;

	while (fds && readdir(fds))
		n++;
	return n;
}

/* How many descriptors a sampler has. */
static unsigned count_events(enum sampler_source source)
{
	const struct sampler_options options = options_of(source);
	const unsigned before = count_descriptors();
	struct sampler *sampler;
	unsigned n;

	assert_int_equal(sampler_open(&options, &sampler), 0);
	n = count_descriptors() - before;
	sampler_close(sampler);
	assert_int_equal(count_descriptors(), before);
	return n;
}

/* The first CPU's event runs the program, the second one's is refused. */
static void perf_takes_the_samples_if_no_event_may_run_the_program(void **state)
{
	if (sysconf(_SC_NPROCESSORS_ONLN) < 2)
		skip();
	need_bpf(SAMPLER_BPF);
	refused.attach_err = EACCES;
	assert_true(samples_as(SAMPLER_AUTO,
			       "perf (no event may run the BPF program: Permission denied)"));
	assert_int_equal(n_lines, 0);
	refused.n_attaching = 0;
	assert_int_equal(count_events(SAMPLER_AUTO), count_events(SAMPLER_PERF));
}

static void whoever_asks_for_a_program_that_no_event_may_run_is_told(void **state)
{
	if (sysconf(_SC_NPROCESSORS_ONLN) < 2)
		skip();
	need_bpf(SAMPLER_BPF);
	refused.attach_err = EACCES;
	assert_true(fails_as(SAMPLER_BPF,
			     "--sampler: no event may run the BPF program: Permission denied"));
	assert_int_equal(n_lines, 1);
}

/* The ring buffer of a kernel before 5.11 counts as locked memory. */
static void a_ring_that_may_not_be_locked_is_said(void **state)
{
	need_bpf(SAMPLER_BPF);
	refused.ring_err = EPERM;
	assert_true(samples_as(SAMPLER_AUTO, "a limit of locked memory (ulimit -l) for the ring"));
	refused.ring_err = ENOMEM;
	assert_true(samples_as(SAMPLER_AUTO, "Cannot allocate memory: its ring buffer is charged"));
	assert_int_equal(n_lines, 0);
}

static bool little_memory_is_enough(void)
{
	const struct rlimit limit = {LITTLE_BYTES, LITTLE_BYTES};

	return setrlimit(RLIMIT_MEMLOCK, &limit) == 0 &&
	       child_becomes_nobody_with(BPF_RIGHTS | PERF_RIGHTS) &&
	       samples_as(SAMPLER_BPF, "BPF (");
}

static void rings_of_bpf_need_no_locked_memory(void **state)
{
	need_bpf(SAMPLER_BPF);
	run_in_child(little_memory_is_enough);
}

/* Both rights of an ordinary user suffice, whatever this setting is. */
static bool two_rights_are_enough(void)
{
	char text[16] = "?";

	file_read_small("/proc/sys/kernel/unprivileged_bpf_disabled", text, sizeof(text));
	print_message("kernel.unprivileged_bpf_disabled: %s", text);
	return child_becomes_nobody_with(BPF_RIGHTS | PERF_RIGHTS) &&
	       samples_as(SAMPLER_BPF, "BPF (");
}

static void two_rights_are_enough_where_bpf_is_forbidden_to_users(void **state)
{
	static const char path[] = "/proc/sys/kernel/unprivileged_bpf_disabled";
	char before[16] = "";

	need_bpf(SAMPLER_BPF);
	assert_true(file_read_small(path, before, sizeof(before)) > 0);
	if (before[0] == '0')
		files_write(path, "2\n"); /* 1 can never be undone */
	run_in_child(two_rights_are_enough);
	if (before[0] == '0')
		files_write(path, before);
}

/* Whether neither samples nor threads are read by BPF, and this is the reason of both. */
static bool both_say(const char *text)
{
	const struct bpf_source_options samples = {
		.stack_bytes = SAMPLER_DEFAULT_STACK_BYTES, .n_cpus = 2, .hz = HZ};
	const struct thread_source_options threads = {.stack_bytes = SAMPLER_DEFAULT_STACK_BYTES};
	struct thread_source *thread_source;
	struct bpf_source *source;
	char why[BPF_LOAD_WHY_BYTES] = "", why_threads[BPF_LOAD_WHY_BYTES] = "";

	if (bpf_source_open(&samples, &source, why) == 0 ||
	    thread_source_open(&threads, &thread_source, why_threads) == 0)
		return false;
	if (!strstr(why, text) || !strstr(why_threads, text))
		print_error("%s; %s; not %s\n", why, why_threads, text);
	return strstr(why, text) && strstr(why_threads, text);
}

static bool bpf_alone_is_not_enough(void)
{
	return child_becomes_nobody_with(BPF_RIGHTS) &&
	       both_say("CAP_PERFMON is missing, without which a BPF program may not read memory");
}

static bool perfmon_alone_is_not_enough(void)
{
	return child_becomes_nobody_with(PERF_RIGHTS) && both_say("CAP_BPF is missing") &&
	       samples_as(SAMPLER_AUTO, "perf (CAP_BPF is missing)");
}

static void one_of_the_two_rights_is_not_enough_and_the_other_is_named(void **state)
{
	need_bpf(SAMPLER_BPF);
	run_in_child(bpf_alone_is_not_enough);
	run_in_child(perfmon_alone_is_not_enough);
}

/* Has other files there, for this process alone. */
static bool cover(const char *directory)
{
	return unshare(CLONE_NEWNS) == 0 &&
	       mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0 &&
	       mount("none", directory, "tmpfs", 0, NULL) == 0;
}

static bool samples_without_btf(void)
{
	static const char why[] = "the kernel has no BTF (/sys/kernel/btf/vmlinux, "
				  "CONFIG_DEBUG_INFO_BTF)";

	return cover("/sys/kernel/btf") && both_say(why) && fails_as(SAMPLER_BPF, why) &&
	       samples_as(SAMPLER_AUTO, "perf (the kernel has no BTF");
}

static bool samples_with_broken_btf(void)
{
	if (!cover("/sys/kernel/btf"))
		return false;
	files_write("/sys/kernel/btf/vmlinux", "no BTF");
	return fails_as(SAMPLER_BPF, "the kernel's BTF (/sys/kernel/btf/vmlinux) lacks what it") &&
	       samples_as(SAMPLER_AUTO, "perf (the BPF program cannot be loaded: the kernel's BTF");
}

static void a_kernel_without_btf_is_said_and_sampled_by_perf(void **state)
{
	need_bpf(SAMPLER_BPF);
	run_in_child(samples_without_btf);
	run_in_child(samples_with_broken_btf);
}

static bool samples_when_locked_down(void)
{
	if (!cover("/sys/kernel/security"))
		return false;
	files_write("/sys/kernel/security/lockdown", "none integrity [confidentiality]\n");
	if (!both_say("the kernel is locked down (confidentiality)") ||
	    !samples_as(SAMPLER_AUTO, "perf (the kernel is locked down"))
		return false;
	files_write("/sys/kernel/security/lockdown", "none [integrity] confidentiality\n");
	return samples_as(SAMPLER_AUTO, "BPF (");
}

static void a_kernel_that_is_locked_down_is_said_and_sampled_by_perf(void **state)
{
	need_bpf(SAMPLER_BPF);
	run_in_child(samples_when_locked_down);
}

/* The caller's children are in a namespace of their own; whoever samples is the first of them. */
static bool samples_in_a_pid_namespace(void)
{
	static const char why[] = "fgcollect runs in a PID namespace, and BPF has the PIDs of the "
				  "host";
	int status = -1;
	pid_t pid;

	if (unshare(CLONE_NEWPID) < 0)
		return false;
	pid = fork();
	if (pid == 0)
		_exit(getpid() != 1 || !both_say(why) || !fails_as(SAMPLER_BPF, why) ||
		      !samples_as(SAMPLER_AUTO, "perf (fgcollect runs in a PID namespace"));
	return waitpid(pid, &status, 0) == pid && status == 0;
}

static void in_a_pid_namespace_perf_takes_the_samples(void **state)
{
	need_bpf(SAMPLER_BPF);
	run_in_child(samples_in_a_pid_namespace);
}

static void threads_are_read_from_proc_if_their_program_is_refused(void **state)
{
	const struct thread_clock_options options = {.stack_bytes = SAMPLER_DEFAULT_STACK_BYTES,
						     .start_ns = now_ns(),
						     .end_ns = UINT64_MAX};
	const uint64_t until = now_ns() + PATIENCE_NS;
	char text[THREAD_CLOCK_WHY_BYTES] = "";
	struct spinner nobody = {0};
	struct thread_clock *clock;

	need_bpf(SAMPLER_BPF);
	refused.n_programs = ALL;
	assert_int_equal(thread_clock_start(&options, &clock), 0);
	while (!text[0] && now_ns() < until) {
		poll(NULL, 0, 20);
		thread_clock_source_text(clock, text);
	}
	thread_clock_stop(clock, now_ns());
	while (!thread_clock_is_ended(clock)) {
		thread_clock_read(clock, 100, on_record, &nobody);
		poll(NULL, 0, 10);
	}
	thread_clock_close(clock);
	assert_string_equal(text, "/proc (the BPF program cannot be loaded: Invalid argument; "
				  "-v shows what the kernel's verifier says)");
	assert_int_equal(n_lines, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(a_program_that_is_refused_gives_way_to_the_next_one, begin),
		cmocka_unit_test_setup(perf_takes_the_samples_if_every_program_is_refused, begin),
		cmocka_unit_test_setup(
			without_permission_perf_takes_them_and_it_is_said_what_is_needed, begin),
		cmocka_unit_test_setup(whoever_asks_for_a_program_that_is_refused_gets_one_line,
				       begin),
		cmocka_unit_test_setup(what_the_verifier_says_is_shown_to_who_looks_for_it, begin),
		cmocka_unit_test_setup(perf_takes_the_samples_if_no_event_may_run_the_program,
				       begin),
		cmocka_unit_test_setup(whoever_asks_for_a_program_that_no_event_may_run_is_told,
				       begin),
		cmocka_unit_test_setup(a_ring_that_may_not_be_locked_is_said, begin),
		cmocka_unit_test_setup(rings_of_bpf_need_no_locked_memory, begin),
		cmocka_unit_test_setup(two_rights_are_enough_where_bpf_is_forbidden_to_users,
				       begin),
		cmocka_unit_test_setup(one_of_the_two_rights_is_not_enough_and_the_other_is_named,
				       begin),
		cmocka_unit_test_setup(a_kernel_without_btf_is_said_and_sampled_by_perf, begin),
		cmocka_unit_test_setup(a_kernel_that_is_locked_down_is_said_and_sampled_by_perf,
				       begin),
		cmocka_unit_test_setup(in_a_pid_namespace_perf_takes_the_samples, begin),
		cmocka_unit_test_setup(threads_are_read_from_proc_if_their_program_is_refused,
				       begin),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
