// SPDX-License-Identifier: Apache-2.0
/*
 * Events at points of a program that runs: whom they arm, when a program of BPF runs, which way is
 * taken with which rights, and what is left behind. Needs root. A trace file system is mounted in a
 * mount namespace of the test's own.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "common/child.h"
#include "common/temp_dir.h"
#include "elf/probe_notes.h"
#include "sample/uprobe.h"
#include "sample/uprobe_multi.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/bpf.h>
#include <linux/capability.h>
#include <linux/perf_event.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#define LINES	    "/sys/kernel/tracing/uprobe_events"
#define HITS	    20 /* of both threads */
#define MAX_TARGETS 2
#define BIT(cap)    (UINT64_C(1) << (cap))

struct target {
	pid_t pid;
	int to, from;
};

static char dir[TEMP_DIR_BYTES];
static int file_fd = -1; /* the targets' file */
static struct probe_notes *notes;
static struct target targets[MAX_TARGETS];
static size_t n_targets;
static char why[UPROBE_WHY_BYTES];

static const enum uprobe_way ways[] = {UPROBE_PMU, UPROBE_LINE};

/* ---- targets ---- */

static void copy_target(void)
{
	char path[128], bytes[4096];
	const int from = open(FG_TARGET, O_RDONLY | O_CLOEXEC);
	ssize_t len;
	int to;

	snprintf(path, sizeof(path), "%s/target", dir);
	to = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0755);
	assert_true(from >= 0 && to >= 0);
	while ((len = read(from, bytes, sizeof(bytes))) > 0)
		assert_int_equal(write(to, bytes, (size_t)len), len);
	close(from);
	close(to);
	file_fd = open(path, O_PATH | O_CLOEXEC);
	assert_true(file_fd >= 0);
}

static void load_notes(void)
{
	char path[64];
	int fd;

	snprintf(path, sizeof(path), "/proc/self/fd/%d", file_fd);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	assert_int_equal(probe_notes_load(fd, &notes), 0);
	close(fd);
}

static struct target *start_target(void)
{
	struct target *const target = &targets[n_targets];
	int to[2], from[2];
	char path[128];

	snprintf(path, sizeof(path), "%s/target", dir);
	assert_int_equal(pipe2(to, O_CLOEXEC), 0);
	assert_int_equal(pipe2(from, O_CLOEXEC), 0);
	target->pid = fork();
	if (target->pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		dup2(to[0], STDIN_FILENO);
		dup2(from[1], STDOUT_FILENO);
		execl(path, path, (char *)NULL);
		_exit(1);
	}
	assert_true(target->pid > 0);
	close(to[0]);
	close(from[1]);
	target->to = to[1];
	target->from = from[0];
	n_targets++;
	return target;
}

static unsigned ask(const struct target *target, char command)
{
	unsigned short semaphore;

	assert_int_equal(write(target->to, &command, 1), 1);
	assert_int_equal(read(target->from, &semaphore, sizeof(semaphore)), sizeof(semaphore));
	return semaphore;
}

/* The kernel lets go a moment after the last event was closed. */
static void wait_until_fallen(const struct target *target)
{
	while (ask(target, 's') != 0)
		usleep(1000);
}

static int set_up(void **state)
{
	temp_dir_make(dir);
	copy_target();
	load_notes();
	return 0;
}

static int tear_down(void **state)
{
	while (n_targets > 0) {
		struct target *const target = &targets[--n_targets];

		close(target->to);
		close(target->from);
		child_end(target->pid);
	}
	probe_notes_free(notes);
	notes = NULL;
	close(file_fd);
	file_fd = -1;
	temp_dir_remove(dir);
	return 0;
}

/* ---- events ---- */

static struct uprobe_place place_of(const char *name)
{
	const struct probe_point *const point = probe_notes_find(notes, "fgagent", name, NULL);

	assert_non_null(point);
	return (struct uprobe_place){file_fd, point->file_off, point->semaphore_off};
}

static struct uprobe probe_of(const char *name, enum uprobe_way way)
{
	const struct uprobe_place place = place_of(name);
	struct uprobe uprobe;

	uprobe_init(&uprobe, &place, way);
	return uprobe;
}

static int open_event(struct uprobe *uprobe, pid_t pid, int cpu, bool is_disabled)
{
	const struct uprobe_who who = {.pid = pid, .cpu = cpu, .is_disabled = is_disabled};
	const int fd = uprobe_open_event(uprobe, &who, why);

	if (fd < 0)
		fail_msg("%s (%s)", why, strerror(-fd));
	assert_string_equal(why, "");
	assert_int_equal(fcntl(fd, F_GETFD) & FD_CLOEXEC, FD_CLOEXEC);
	return fd;
}

static void finish(struct uprobe *uprobe)
{
	assert_int_equal(uprobe_fini(uprobe), 0);
	assert_string_equal(uprobe->line.name, "");
}

static uint64_t count_of(int fd)
{
	uint64_t count;

	assert_int_equal(read(fd, &count, sizeof(count)), sizeof(count));
	return count;
}

/* A program that counts, and its count. */
struct program {
	int map, fd;
};

static struct program load_program_for(unsigned attach_type)
{
	const struct bpf_prog_load_opts options = {
		.sz = sizeof(options),
		.expected_attach_type = (enum bpf_attach_type)attach_type,
	};
	const struct program program = {
		.map = bpf_map_create(BPF_MAP_TYPE_ARRAY, "hits", 4, 8, 1, NULL),
	};
	const struct bpf_insn code[] = {
		{BPF_ST | BPF_MEM | BPF_W, BPF_REG_10, 0, -4, 0},
		{BPF_ALU64 | BPF_MOV | BPF_X, BPF_REG_2, BPF_REG_10, 0, 0},
		{BPF_ALU64 | BPF_ADD | BPF_K, BPF_REG_2, 0, 0, -4},
		{BPF_LD | BPF_DW | BPF_IMM, BPF_REG_1, BPF_PSEUDO_MAP_FD, 0, program.map},
		{0, 0, 0, 0, 0},
		{BPF_JMP | BPF_CALL, 0, 0, 0, BPF_FUNC_map_lookup_elem},
		{BPF_JMP | BPF_JEQ | BPF_K, BPF_REG_0, 0, 2, 0},
		{BPF_ALU64 | BPF_MOV | BPF_K, BPF_REG_1, 0, 0, 1},
		{BPF_STX | BPF_ATOMIC | BPF_DW, BPF_REG_0, BPF_REG_1, 0, BPF_ADD},
		{BPF_ALU64 | BPF_MOV | BPF_K, BPF_REG_0, 0, 0, 0},
		{BPF_JMP | BPF_EXIT, 0, 0, 0, 0},
	};
	struct program ret = program;

	assert_true(program.map >= 0);
	ret.fd = bpf_prog_load(BPF_PROG_TYPE_KPROBE, "count", "GPL", code,
			       sizeof(code) / sizeof(code[0]), &options);
	assert_true(ret.fd >= 0);
	return ret;
}

static struct program load_program(void)
{
	return load_program_for(0);
}

static uint64_t hits_of(const struct program *program)
{
	uint64_t hits = 0;
	uint32_t key = 0;

	assert_int_equal(bpf_map_lookup_elem(program->map, &key, &hits), 0);
	return hits;
}

static void attach(int fd, const struct program *program)
{
	assert_int_equal(ioctl(fd, PERF_EVENT_IOC_SET_BPF, program->fd), 0);
}

static void unload(const struct program *program)
{
	close(program->fd);
	close(program->map);
}

/* ---- what events do ---- */

static void a_semaphore_rises_and_falls_with_the_event(void **state)
{
	const struct target *const target = start_target();

	for (size_t i = 0; i < sizeof(ways) / sizeof(ways[0]); i++) {
		struct uprobe uprobe = probe_of("hit", ways[i]);
		int fd;

		assert_int_equal(ask(target, 's'), 0);
		fd = open_event(&uprobe, target->pid, -1, false);
		assert_int_equal(ask(target, 's'), 1);
		close(fd);
		wait_until_fallen(target);
		finish(&uprobe);
	}
}

static void a_disabled_event_arms_its_process_alone(void **state)
{
	const struct target *const target = start_target(), *const other = start_target();

	for (size_t i = 0; i < sizeof(ways) / sizeof(ways[0]); i++) {
		struct uprobe uprobe = probe_of("arm", ways[i]);
		const int fd = open_event(&uprobe, target->pid, -1, true);

		assert_int_equal(ask(target, 'h'), 1);
		assert_int_equal(ask(other, 'h'), 0);
		assert_int_equal(count_of(fd), 0);
		close(fd);
		wait_until_fallen(target);
		finish(&uprobe);
	}
}

static void a_point_without_a_semaphore_raises_none(void **state)
{
	const struct target *const target = start_target();

	for (size_t i = 0; i < sizeof(ways) / sizeof(ways[0]); i++) {
		struct uprobe uprobe = probe_of("bare", ways[i]);
		const int fd = open_event(&uprobe, target->pid, -1, false);

		assert_int_equal(ask(target, 'h'), 0);
		close(fd);
		finish(&uprobe);
	}
}

static void a_program_runs_for_all_threads_of_the_process_alone(void **state)
{
	const struct target *const target = start_target(), *const other = start_target();

	for (size_t i = 0; i < sizeof(ways) / sizeof(ways[0]); i++) {
		struct uprobe uprobe = probe_of("hit", ways[i]);
		const struct program program = load_program();
		const int fd = open_event(&uprobe, target->pid, -1, true);

		attach(fd, &program);
		ask(other, 'h');
		assert_int_equal(hits_of(&program), 0);
		ask(target, 'h');
		assert_int_equal(hits_of(&program), HITS);
		assert_int_equal(count_of(fd), 0);
		assert_int_equal(ioctl(fd, PERF_EVENT_IOC_ENABLE, 0), 0);
		ask(target, 'h');
		assert_int_equal(hits_of(&program), 2 * HITS);
		close(fd);
		wait_until_fallen(target);
		ask(target, 'h');
		assert_int_equal(hits_of(&program), 2 * HITS);
		unload(&program);
		finish(&uprobe);
	}
}

static void a_program_of_one_cpu_sees_all_processes_on_all_cpus(void **state)
{
	const struct target *const target = start_target(), *later;

	for (size_t i = 0; i < sizeof(ways) / sizeof(ways[0]); i++) {
		struct uprobe uprobe = probe_of("bare", ways[i]);
		const struct program program = load_program();
		const int fd = open_event(&uprobe, -1, 0, true);

		attach(fd, &program);
		ask(target, 'h');
		assert_int_equal(hits_of(&program), HITS);
		if (i == 0) { /* a process that maps the file later */
			later = start_target();
			ask(later, 'h');
			assert_int_equal(hits_of(&program), 2 * HITS);
		}
		close(fd);
		unload(&program);
		finish(&uprobe);
	}
}

static void only_an_event_that_is_enabled_counts(void **state)
{
	const struct target *const target = start_target();

	for (size_t i = 0; i < sizeof(ways) / sizeof(ways[0]); i++) {
		struct uprobe uprobe = probe_of("bare", ways[i]);
		const int enabled = open_event(&uprobe, -1, 0, false);
		const int disabled = open_event(&uprobe, -1, 0, true);

		ask(target, 'h');
		assert_true(count_of(enabled) > 0);
		assert_int_equal(count_of(disabled), 0);
		close(enabled);
		close(disabled);
		finish(&uprobe);
	}
}

static void events_of_one_place_are_several(void **state)
{
	const struct target *const target = start_target(), *const other = start_target();

	for (size_t i = 0; i < sizeof(ways) / sizeof(ways[0]); i++) {
		struct uprobe uprobe = probe_of("arm", ways[i]);
		const int first = open_event(&uprobe, target->pid, -1, true);
		const int second = open_event(&uprobe, other->pid, -1, true);

		assert_int_equal(ask(target, 's'), 1);
		assert_int_equal(ask(other, 's'), 1);
		close(first);
		wait_until_fallen(target);
		assert_int_equal(ask(other, 's'), 1);
		close(second);
		wait_until_fallen(other);
		finish(&uprobe);
	}
}

static void a_file_is_found_whatever_its_name_leads_to(void **state)
{
	const struct target *const target = start_target();
	char path[128], moved[128];

	assert_int_equal(ask(target, 's'), 0); /* it has begun */
	snprintf(path, sizeof(path), "%s/target", dir);
	snprintf(moved, sizeof(moved), "%s/a name: with more", dir);
	assert_int_equal(rename(path, moved), 0);
	for (size_t i = 0; i < sizeof(ways) / sizeof(ways[0]); i++) {
		struct uprobe uprobe = probe_of("arm", ways[i]);
		const int fd = open_event(&uprobe, target->pid, -1, true);

		assert_int_equal(ask(target, 's'), 1);
		close(fd);
		wait_until_fallen(target);
		finish(&uprobe);
		unlink(moved); /* the second time, the file has no name */
	}
}

/* ---- links ---- */

/* A kernel without links is said so, as by uprobe_open_event. */
static void need_links(void)
{
	if (uprobe_multi_check() == 0)
		return;
	assert_int_equal(uprobe_multi_check(), -EOPNOTSUPP);
	print_message("the kernel has no links of uprobes\n");
	skip();
}

static int open_link(struct uprobe *uprobe, pid_t pid, const struct program *program)
{
	const struct uprobe_who who = {.pid = pid, .cpu = -1, .program_fd = program->fd};
	const int fd = uprobe_open_event(uprobe, &who, why);

	if (fd < 0)
		fail_msg("%s (%s)", why, strerror(-fd));
	assert_int_equal(uprobe->way, UPROBE_LINK);
	assert_string_equal(why, "");
	return fd;
}

static void a_link_runs_its_program_for_all_threads_of_the_process_alone(void **state)
{
	const struct target *const target = start_target(), *const other = start_target();
	struct uprobe uprobe = probe_of("hit", UPROBE_LINK);
	struct program program;
	int fd;

	need_links();
	program = load_program_for(UPROBE_MULTI_TYPE);
	fd = open_link(&uprobe, target->pid, &program);
	assert_int_equal(ask(target, 's'), 1);
	assert_int_equal(ask(other, 's'), 0);
	ask(other, 'h');
	assert_int_equal(hits_of(&program), 0);
	ask(target, 'h');
	assert_int_equal(hits_of(&program), HITS);
	close(fd);
	wait_until_fallen(target);
	ask(target, 'h');
	assert_int_equal(hits_of(&program), HITS);
	unload(&program);
	finish(&uprobe);
}

static void links_of_one_place_are_several_and_need_no_name_of_the_file(void **state)
{
	const struct target *const target = start_target(), *const other = start_target();
	struct uprobe first = probe_of("arm", UPROBE_LINK), second = probe_of("arm", UPROBE_LINK);
	struct program program;
	char path[128];
	int fds[2];

	need_links();
	assert_int_equal(ask(target, 's') | ask(other, 's'), 0); /* they have begun */
	snprintf(path, sizeof(path), "%s/target", dir);
	unlink(path);
	program = load_program_for(UPROBE_MULTI_TYPE);
	fds[0] = open_link(&first, target->pid, &program);
	fds[1] = open_link(&second, other->pid, &program);
	assert_int_equal(ask(target, 's'), 1);
	assert_int_equal(ask(other, 's'), 1);
	close(fds[0]);
	wait_until_fallen(target);
	assert_int_equal(ask(other, 's'), 1);
	close(fds[1]);
	wait_until_fallen(other);
	unload(&program);
}

static void a_program_for_links_serves_events_too(void **state)
{
	const struct target *const target = start_target();
	struct program program;

	need_links();
	for (size_t i = 0; i < sizeof(ways) / sizeof(ways[0]); i++) {
		struct uprobe uprobe = probe_of("hit", ways[i]);
		const int fd = open_event(&uprobe, target->pid, -1, true);

		program = load_program_for(UPROBE_MULTI_TYPE);
		attach(fd, &program);
		ask(target, 'h');
		assert_int_equal(hits_of(&program), HITS);
		close(fd);
		wait_until_fallen(target);
		unload(&program);
		finish(&uprobe);
	}
}

/* ---- errors ---- */

static void assert_refused(struct uprobe *uprobe, pid_t pid, int err, const char *words)
{
	const struct uprobe_who who = {.pid = pid, .cpu = -1, .is_disabled = true};

	assert_int_equal(uprobe_open_event(uprobe, &who, why), err);
	if (!strstr(why, words))
		fail_msg("%s", why);
	finish(uprobe);
}

static void a_second_semaphore_at_a_place_is_refused(void **state)
{
	const struct target *const target = start_target();
	struct uprobe uprobe = probe_of("arm", UPROBE_PMU);
	const int fd = open_event(&uprobe, target->pid, -1, true);
	const uint64_t semaphores[] = {0, uprobe.place.semaphore_off + 2};

	for (size_t i = 0; i < 2; i++) {
		struct uprobe other = uprobe;

		other.place.semaphore_off = semaphores[i];
		other.way = UPROBE_ANY; /* the other way would not help */
		assert_refused(&other, target->pid, -EINVAL, "another semaphore");
	}
	close(fd);
	wait_until_fallen(target);
}

static void a_place_that_cannot_be_is_refused(void **state)
{
	const struct target *const target = start_target();
	struct uprobe uprobe = probe_of("hit", UPROBE_ANY);

	uprobe.place.file_off = UINT64_C(1) << 40;
	assert_refused(&uprobe, target->pid, -EINVAL, "refuses the place");
	uprobe = probe_of("hit", UPROBE_ANY);
	uprobe.place.semaphore_off = UINT64_C(1) << 32;
	assert_refused(&uprobe, target->pid, -EINVAL, "refuses the place");
	uprobe = probe_of("hit", UPROBE_ANY);
	uprobe.place.semaphore_off++;
	assert_refused(&uprobe, target->pid, -EINVAL, "refuses the place");
	uprobe = probe_of("hit", UPROBE_LINE);
	uprobe.place.file_off = UINT64_C(1) << 40;
	assert_refused(&uprobe, target->pid, -EINVAL, "refuses the place");
}

static void a_process_that_is_gone_is_told(void **state)
{
	const pid_t gone = child_gone();
	struct uprobe uprobe = probe_of("hit", UPROBE_ANY);

	assert_refused(&uprobe, gone, -ESRCH, "the process is gone");
	uprobe = probe_of("hit", UPROBE_LINE);
	assert_refused(&uprobe, gone, -ESRCH, "the process is gone");
}

static void a_link_without_its_program_or_process_is_refused(void **state)
{
	const struct target *const target = start_target();
	struct uprobe uprobe = probe_of("hit", UPROBE_LINK);
	struct uprobe_who who = {.pid = child_gone(), .cpu = -1};

	assert_refused(&uprobe, target->pid, -EOPNOTSUPP, "links no BPF programs");
	need_links();
	who.program_fd = uprobe_multi_load_nothing();
	assert_int_equal(uprobe_open_event(&uprobe, &who, why), -ESRCH);
	assert_non_null(strstr(why, "the process is gone"));
	who.pid = target->pid;
	uprobe.place.file_off = UINT64_C(1) << 40;
	assert_true(uprobe_open_event(&uprobe, &who, why) < 0);
	assert_string_not_equal(why, "");
	close(who.program_fd);
}

static void assert_sentence(enum uprobe_way way, int err, bool is_admin, const char *words)
{
	uprobe_explain(way, err, is_admin, why);
	if (!strstr(why, words))
		fail_msg("%s", why);
}

static void each_error_has_a_sentence(void **state)
{
	assert_sentence(UPROBE_PMU, -EACCES, false, "CAP_SYS_ADMIN is missing");
	assert_sentence(UPROBE_PMU, -EPERM, false, "CVE-2025-38466");
	assert_sentence(UPROBE_PMU, -EACCES, true, "although CAP_SYS_ADMIN is there");
	assert_sentence(UPROBE_PMU, -EOPNOTSUPP, true, "CONFIG_UPROBE_EVENTS");
	assert_sentence(UPROBE_PMU, -EINVAL, true, "another semaphore");
	assert_sentence(UPROBE_PMU, -524, true, "cannot be probed");
	assert_sentence(UPROBE_PMU, -EBUSY, true, "busy");
	assert_sentence(UPROBE_PMU, -EIO, true, "cannot read the file's code");
	assert_sentence(UPROBE_PMU, -ESRCH, true, "the process is gone");
	assert_sentence(UPROBE_PMU, -EMFILE, true, "Too many open files");
	assert_sentence(UPROBE_LINK, -EPERM, false, "CAP_BPF or CAP_PERFMON");
	assert_sentence(UPROBE_LINK, -EOPNOTSUPP, false, "Linux 6.10");
	assert_sentence(UPROBE_LINE, -EACCES, false, "CAP_DAC_OVERRIDE");
	assert_sentence(UPROBE_LINE, -ENOENT, false, "is mounted at");
	assert_sentence(UPROBE_LINE, -EROFS, false, "read-only");
	assert_sentence(UPROBE_LINE, -EINVAL, false, "another semaphore");
}

/* ---- rights ---- */

/* What a child with these rights has. */
struct outcome {
	int err; /* of an event of the target; 0: open */
	enum uprobe_way way, checked;
	int check_err;
	unsigned semaphore;
	int fini_err;
	char why[UPROBE_WHY_BYTES];
	char check_why[UPROBE_WHY_BYTES];
};

static struct outcome try_with(uint64_t capabilities, const struct target *target)
{
	struct uprobe_who who = {.pid = target->pid, .cpu = -1, .is_disabled = true};
	struct outcome outcome = {.way = UPROBE_ANY};
	int result[2];
	pid_t child;

	assert_int_equal(pipe2(result, O_CLOEXEC), 0);
	child = fork();
	if (child == 0) {
		struct uprobe uprobe = probe_of("arm", UPROBE_ANY);
		int fd;

		if (!child_becomes_nobody_with(capabilities))
			_exit(1);
		who.program_fd = uprobe_multi_load_nothing(); /* negative: none */
		outcome.check_err = uprobe_check(&outcome.checked, outcome.check_why);
		fd = uprobe_open_event(&uprobe, &who, outcome.why);
		outcome.err = fd < 0 ? fd : 0;
		outcome.way = uprobe.way;
		outcome.semaphore = ask(target, 's');
		close(fd);
		outcome.fini_err = uprobe_fini(&uprobe);
		_exit(write(result[1], &outcome, sizeof(outcome)) != sizeof(outcome));
	}
	child_check(child);
	assert_int_equal(read(result[0], &outcome, sizeof(outcome)), sizeof(outcome));
	close(result[0]);
	close(result[1]);
	wait_until_fallen(target);
	return outcome;
}

/* What the lines are, which the caller frees. */
static char *read_lines(void)
{
	char *const text = calloc(1, 1 << 16);
	const int fd = open(LINES, O_RDONLY | O_CLOEXEC);
	size_t len = 0;
	ssize_t got;

	assert_non_null(text);
	assert_true(fd >= 0);
	while ((got = read(fd, text + len, (1 << 16) - 1 - len)) > 0)
		len += (size_t)got;
	close(fd);
	return text;
}

static void assert_no_line_of(pid_t pid)
{
	char *const lines = read_lines();
	char group[32];

	snprintf(group, sizeof(group), "fgcollect_%d_", (int)pid);
	assert_null(strstr(lines, group));
	free(lines);
}

static void an_administrator_has_a_link_too(void **state)
{
	const struct target *const target = start_target();
	struct outcome outcome;

	need_links();
	outcome = try_with(BIT(CAP_SYS_ADMIN), target);
	assert_int_equal(outcome.err, 0);
	assert_int_equal(outcome.way, UPROBE_LINK);
	assert_int_equal(outcome.check_err, 0);
	assert_int_equal(outcome.checked, UPROBE_LINK);
	assert_string_equal(outcome.check_why, "");
	assert_int_equal(outcome.semaphore, 1);
}

/* As on kernels that know no links. */
static void without_a_program_an_administrator_has_the_pmu(void **state)
{
	const struct target *const target = start_target();
	struct uprobe uprobe = probe_of("arm", UPROBE_ANY);
	const int fd = open_event(&uprobe, target->pid, -1, true);

	assert_int_equal(uprobe.way, UPROBE_PMU);
	assert_int_equal(ask(target, 's'), 1);
	close(fd);
	wait_until_fallen(target);
	finish(&uprobe);
}

/* Before the fix for CVE-2025-38466, CAP_PERFMON was enough for the PMU. */
static bool is_pmu_for_all(const struct target *target)
{
	return try_with(BIT(CAP_PERFMON) | BIT(CAP_SYS_PTRACE), target).err == 0;
}

static void who_may_write_traces_has_a_line(void **state)
{
	const struct target *const target = start_target();
	struct outcome outcome;

	if (is_pmu_for_all(target)) {
		print_message("the kernel lets CAP_PERFMON open uprobes\n");
		skip();
	}
	outcome = try_with(BIT(CAP_PERFMON) | BIT(CAP_DAC_OVERRIDE), target);
	assert_string_equal(outcome.why, "");
	assert_int_equal(outcome.err, 0);
	assert_int_equal(outcome.way, UPROBE_LINE);
	assert_int_equal(outcome.semaphore, 1);
	assert_int_equal(outcome.fini_err, 0);
	assert_int_equal(outcome.check_err, 0);
	assert_int_equal(outcome.checked, UPROBE_LINE);
	assert_non_null(strstr(outcome.check_why, "CAP_SYS_ADMIN is missing"));
}

static void who_may_load_programs_has_a_link(void **state)
{
	const struct target *const target = start_target();
	struct outcome outcome;

	need_links();
	if (is_pmu_for_all(target)) {
		print_message("the kernel lets CAP_PERFMON open uprobes\n");
		skip();
	}
	outcome = try_with(BIT(CAP_PERFMON) | BIT(CAP_BPF), target);
	assert_string_equal(outcome.why, "");
	assert_int_equal(outcome.err, 0);
	assert_int_equal(outcome.way, UPROBE_LINK);
	assert_int_equal(outcome.semaphore, 1);
	assert_int_equal(outcome.check_err, 0);
	assert_int_equal(outcome.checked, UPROBE_LINK);
	assert_string_equal(outcome.check_why, "");
}

static void an_event_that_fails_leaves_no_line(void **state)
{
	const struct target *const target = start_target();
	const struct uprobe_who who = {.pid = target->pid, .cpu = -1, .is_disabled = true};
	struct uprobe uprobe = probe_of("arm", UPROBE_PMU), other = probe_of("arm", UPROBE_ANY);
	const int fd = open_event(&uprobe, target->pid, -1, true);
	const pid_t child = fork();

	if (child == 0) {
		if (!child_becomes_nobody_with(BIT(CAP_PERFMON) | BIT(CAP_DAC_OVERRIDE)))
			_exit(1);
		other.place.semaphore_off = 0; /* not as the first event has it */
		_exit(uprobe_open_event(&other, &who, why) != -EINVAL ||
		      !strstr(why, "another semaphore") || other.line.name[0]);
	}
	child_check(child);
	assert_no_line_of(child);
	close(fd);
	wait_until_fallen(target);
	finish(&uprobe);
}

static void without_rights_the_sentence_says_which_is_missing(void **state)
{
	const struct target *const target = start_target();
	struct outcome outcome;

	if (is_pmu_for_all(target)) {
		print_message("the kernel lets CAP_PERFMON open uprobes\n");
		skip();
	}
	outcome = try_with(BIT(CAP_PERFMON) | BIT(CAP_SYS_PTRACE), target);
	assert_int_equal(outcome.err, -EACCES);
	assert_non_null(strstr(outcome.why, "CAP_SYS_ADMIN is missing"));
	assert_int_equal(outcome.semaphore, 0);
	assert_int_equal(outcome.check_err, -EACCES);
	assert_non_null(strstr(outcome.check_why, "CAP_SYS_ADMIN is missing"));
	assert_non_null(strstr(outcome.check_why, "CAP_DAC_OVERRIDE"));
}

/* ---- lines ---- */

static void a_line_is_there_while_it_is_needed(void **state)
{
	const struct target *const target = start_target();
	struct uprobe uprobe = probe_of("arm", UPROBE_LINE);
	const int fd = open_event(&uprobe, target->pid, -1, true);
	char *const lines = read_lines();

	assert_non_null(strstr(lines, uprobe.line.name));
	free(lines);
	assert_int_equal(uprobe_fini(&uprobe), -EBUSY);
	assert_string_not_equal(uprobe.line.name, "");
	close(fd);
	finish(&uprobe);
	assert_no_line_of(getpid());
	finish(&uprobe); /* again is legal */
}

static void lines_of_collectors_that_are_gone_are_removed(void **state)
{
	struct uprobe mine = probe_of("arm", UPROBE_LINE);
	struct uprobe_line line;
	const pid_t child = fork();
	int fd;

	if (child == 0) /* its line stays behind */
		_exit(uprobe_line_add(file_fd, mine.place.file_off, mine.place.semaphore_off,
				      &line) != 0);
	child_check(child);
	fd = open(LINES, O_WRONLY | O_APPEND | O_CLOEXEC);
	assert_true(fd >= 0);
	dprintf(fd, "p:fgother_%d_1/p1 /proc/self/fd/%d:0x%llx\n", (int)child, file_fd,
		(unsigned long long)mine.place.file_off + 1);
	assert_int_equal(
		uprobe_line_add(file_fd, mine.place.file_off, mine.place.semaphore_off, &mine.line),
		0);
	assert_no_line_of(child); /* removed as the other was added */
	assert_int_equal(uprobe_line_sweep(), 0);
	{
		char *const lines = read_lines();

		assert_non_null(strstr(lines, mine.line.name));
		assert_non_null(strstr(lines, "fgother_"));
		free(lines);
	}
	dprintf(fd, "-:fgother_%d_1/p1\n", (int)child);
	/* A process that began at another time had this PID. */
	dprintf(fd, "p:fgcollect_%d_1/p1 /proc/self/fd/%d:0x%llx\n", (int)getpid(), file_fd,
		(unsigned long long)mine.place.file_off + 1);
	close(fd);
	assert_int_equal(uprobe_line_sweep(), 1);
	finish(&mine);
	assert_no_line_of(getpid());
}

static void without_a_trace_file_system_there_is_no_line(void **state)
{
	const pid_t child = fork();

	if (child == 0) {
		struct uprobe_line line;

		if (unshare(CLONE_NEWNS) < 0)
			_exit(1);

		while (umount2("/sys/kernel/tracing", MNT_DETACH) == 0)
			;
		_exit(uprobe_line_add(file_fd, 0, 0, &line) != -ENOENT ||
		      uprobe_line_sweep() != -ENOENT);
	}
	child_check(child);
}

/* False: the test cannot run here. */
static bool prepare(void)
{
	if (geteuid() != 0 || unshare(CLONE_NEWNS) < 0 ||
	    mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0)
		return false;
	if (access(LINES, W_OK) < 0 &&
	    mount("tracefs", "/sys/kernel/tracing", "tracefs", 0, NULL) < 0)
		return false;
	return access(LINES, W_OK) == 0 &&
	       access("/sys/bus/event_source/devices/uprobe", F_OK) == 0;
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
	const struct CMUnitTest tests[] = {
		TEST(a_semaphore_rises_and_falls_with_the_event),
		TEST(a_disabled_event_arms_its_process_alone),
		TEST(a_point_without_a_semaphore_raises_none),
		TEST(a_program_runs_for_all_threads_of_the_process_alone),
		TEST(a_program_of_one_cpu_sees_all_processes_on_all_cpus),
		TEST(only_an_event_that_is_enabled_counts),
		TEST(events_of_one_place_are_several),
		TEST(a_link_runs_its_program_for_all_threads_of_the_process_alone),
		TEST(links_of_one_place_are_several_and_need_no_name_of_the_file),
		TEST(a_program_for_links_serves_events_too),
		TEST(a_link_without_its_program_or_process_is_refused),
		TEST(who_may_load_programs_has_a_link),
		TEST(a_file_is_found_whatever_its_name_leads_to),
		TEST(a_second_semaphore_at_a_place_is_refused),
		TEST(a_place_that_cannot_be_is_refused),
		TEST(a_process_that_is_gone_is_told),
		TEST(each_error_has_a_sentence),
		TEST(an_administrator_has_a_link_too),
		TEST(without_a_program_an_administrator_has_the_pmu),
		TEST(who_may_write_traces_has_a_line),
		TEST(an_event_that_fails_leaves_no_line),
		TEST(without_rights_the_sentence_says_which_is_missing),
		TEST(a_line_is_there_while_it_is_needed),
		TEST(lines_of_collectors_that_are_gone_are_removed),
		TEST(without_a_trace_file_system_there_is_no_line),
	};

	if (!prepare()) {
		print_message("no root, no trace file system or no uprobes\n");
		return 77;
	}
	return cmocka_run_group_tests(tests, NULL, NULL);
}
