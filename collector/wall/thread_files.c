// SPDX-License-Identifier: Apache-2.0
/*
 * Reads threads from /proc, see thread_files.h.
 *
 * schedstat   "<ns on a CPU> <ns that it waited for one> <how often it got one>"
 * syscall     "<number> <six arguments> <stack pointer> <program counter>", in hexadecimal but for
 *             the number; "-1 <stack pointer> <program counter>" outside of a system call; or
 *             "running"
 * comm        "<name>\n"
 *
 * How often a thread got a CPU stands for how often it left one: while the number is the same, a
 * thread that does not run waits where it waited.
 */
#include "wall/thread_files.h"

#include "base/clock.h"
#include "base/map64.h"
#include "base/process_stat.h"
#include "guard/reader.h"
#include "sample/sample_regs.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#define TEXT_BYTES 512

/* What the last tick saw of a thread. */
struct known {
	uint64_t start_ns, run_ns, slices, tick;
	enum thread_state state;
	bool has_stack; /* as of slices */
	char comm[SAMPLE_COMM_BYTES];
};

struct thread_files {
	uint32_t stack_bytes;
	uint8_t *stack;
	pid_t *pids;
	size_t n_pids;
	struct map64 stackless; /* PIDs */
	struct map64 threads;	/* TID -> struct known */
	uint64_t tick;
	uint64_t regs[SAMPLE_REGS_COUNT];
	/* Read by other threads: */
	uint64_t progress;
	pid_t reading;
};

struct schedstat {
	uint64_t run_ns, delay_ns, slices;
};

static ssize_t read_text(int dir_fd, const char *path, char text[TEXT_BYTES])
{
	const int fd = openat(dir_fd, path, O_RDONLY | O_CLOEXEC);
	ssize_t got;

	if (fd < 0)
		return -errno;
	got = read(fd, text, TEXT_BYTES - 1);
	if (got < 0)
		got = -errno;
	else
		text[got] = '\0';
	close(fd);
	return got;
}

static bool read_schedstat(int task_fd, pid_t tid, struct schedstat *ret)
{
	char path[32], text[TEXT_BYTES];

	snprintf(path, sizeof(path), "%d/schedstat", (int)tid);
	return read_text(task_fd, path, text) > 0 &&
	       sscanf(text, "%" SCNu64 " %" SCNu64 " %" SCNu64, &ret->run_ns, &ret->delay_ns,
		      &ret->slices) == 3;
}

/*
 * How long the machine was suspended. The clocks are read one after the other, and what lies
 * between may be long: so that a thread's start is always the same number, the answer stays as it
 * is until it is clearly another one.
 */
static uint64_t suspended_ns(void)
{
	static _Atomic uint64_t last_ns;
	const uint64_t before_ns = last_ns;
	const uint64_t now_ns = clock_read_ns(CLOCK_MONOTONIC);
	const uint64_t ns = clock_read_ns(CLOCK_BOOTTIME) - now_ns;
	const uint64_t change_ns = ns > before_ns ? ns - before_ns : before_ns - ns;

	if (change_ns < CLOCK_NS_PER_SEC / 10)
		return before_ns;
	last_ns = ns;
	return ns;
}

/* In CLOCK_MONOTONIC; 0: not known. The kernel counts from boot, suspended time too. */
static uint64_t start_ns_of(pid_t pid, pid_t tid)
{
	const uint64_t hz = (uint64_t)sysconf(_SC_CLK_TCK), slept_ns = suspended_ns();
	uint64_t ticks;
	char comm[32];

	if (!process_stat_read_thread(pid, tid, &ticks, comm, sizeof(comm)))
		return 0;
	ticks = ticks / hz * CLOCK_NS_PER_SEC + ticks % hz * CLOCK_NS_PER_SEC / hz;
	return ticks > slept_ns ? ticks - slept_ns : 0;
}

int thread_files_open(const struct thread_source_options *options, struct thread_files **ret,
		      char why[BPF_LOAD_WHY_BYTES])
{
	struct thread_files *files;
	char text[TEXT_BYTES];
	ssize_t got = read_text(AT_FDCWD, "/proc/thread-self/schedstat", text);

	if (got >= 0)
		got = read_text(AT_FDCWD, "/proc/thread-self/syscall", text);
	if (got < 0) {
		snprintf(why, BPF_LOAD_WHY_BYTES,
			 "/proc/<TID>/schedstat and /proc/<TID>/syscall cannot be read: %s",
			 strerror((int)-got));
		return (int)got;
	}
	files = calloc(1, sizeof(*files));
	if (!files)
		return -ENOMEM;
	files->stack_bytes = options->stack_bytes;
	files->stack = options->stack_bytes ? malloc(options->stack_bytes) : NULL;
	if (options->stack_bytes && !files->stack) {
		free(files);
		return -ENOMEM;
	}
	*ret = files;
	return 0;
}

static void forget_all(struct thread_files *files)
{
	map64_fini_all(&files->threads, free);
}

void thread_files_close(struct thread_files *files)
{
	if (!files)
		return;
	forget_all(files);
	map64_fini(&files->stackless);
	free(files->pids);
	free(files->stack);
	free(files);
}

size_t thread_files_want(struct thread_files *files, const pid_t *pids, size_t n)
{
	pid_t *const copy = malloc((n + 1) * sizeof(*copy));

	if (!copy)
		return n; /* those that were wanted stay so */
	if (n)
		memcpy(copy, pids, n * sizeof(*copy));
	free(files->pids);
	files->pids = copy;
	files->n_pids = n;
	return 0;
}

void thread_files_forget(struct thread_files *files, pid_t tid)
{
	struct known *const known = map64_find(&files->threads, (uint64_t)tid);

	if (known)
		known->has_stack = false;
}

bool thread_files_set_stackless(struct thread_files *files, pid_t pid, bool is_stackless)
{
	if (is_stackless)
		return map64_put(&files->stackless, (uint64_t)pid, files) == 0;
	map64_remove(&files->stackless, (uint64_t)pid);
	return true;
}

uint64_t thread_files_progress(const struct thread_files *files, pid_t *ret_pid)
{
	*ret_pid = __atomic_load_n(&files->reading, __ATOMIC_RELAXED);
	return __atomic_load_n(&files->progress, __ATOMIC_RELAXED);
}

static bool is_stackless(const struct thread_files *files, pid_t pid)
{
	return files->stack_bytes == 0 || map64_find(&files->stackless, (uint64_t)pid);
}

/* The thread's system call, stack pointer and program counter; false: it runs, or is gone. */
static bool read_place(int task_fd, pid_t tid, struct thread_reading *reading, uint64_t *ret_sp,
		       uint64_t *ret_pc)
{
	char path[32], text[TEXT_BYTES];
	int number;

	snprintf(path, sizeof(path), "%d/syscall", (int)tid);
	if (read_text(task_fd, path, text) <= 0)
		return false;
	reading->syscall = -1;
	if (sscanf(text, "-1 %" SCNx64 " %" SCNx64, ret_sp, ret_pc) == 2)
		return true;
	if (sscanf(text, "%d %*x %*x %*x %*x %*x %*x %" SCNx64 " %" SCNx64, &number, ret_sp,
		   ret_pc) != 3)
		return false;
	reading->syscall = number;
	return true;
}

/* Who wants another name has to run for it, unless another thread gives the name. */
static void read_name(int task_fd, pid_t tid, struct known *known)
{
	char path[32], text[TEXT_BYTES];

	snprintf(path, sizeof(path), "%d/comm", (int)tid);
	if (read_text(task_fd, path, text) > 0)
		snprintf(known->comm, sizeof(known->comm), "%.*s", (int)strcspn(text, "\n"), text);
}

static uint32_t read_stack(const struct thread_files *files, pid_t pid, uint64_t sp)
{
	const struct iovec to = {files->stack, files->stack_bytes};
	const struct iovec from = {(void *)(uintptr_t)sp, files->stack_bytes};
	const ssize_t got = reader_read_memory(pid, &to, 1, &from, 1);

	return got > 0 ? (uint32_t)got / sizeof(uint64_t) * sizeof(uint64_t) : 0;
}

/* Registers and memory of a thread that does not run, of one and the same moment. */
static void take_stack(struct thread_files *files, int task_fd, struct known *known,
		       struct thread_reading *reading)
{
	struct schedstat after;
	uint64_t sp, pc;

	if (!read_place(task_fd, reading->tid, reading, &sp, &pc)) {
		reading->state = known->state = THREAD_RUNNING;
		return;
	}
	reading->state = known->state = THREAD_BLOCKED;
	if (is_stackless(files, reading->pid) || sp == 0)
		return;
	memset(files->regs, 0, sizeof(files->regs));
	files->regs[SAMPLE_REG_SP] = sp;
	files->regs[SAMPLE_REG_PC] = pc;
	reading->regs = files->regs;
	reading->stack_len = read_stack(files, reading->pid, sp);
	reading->stack = reading->stack_len ? files->stack : NULL;
	reading->is_cut = reading->stack_len == files->stack_bytes;
	if (!read_schedstat(task_fd, reading->tid, &after) || after.slices != reading->switches) {
		reading->is_changed = true;
		return;
	}
	reading->has_stack = known->has_stack = true;
}

static struct known *find_or_add(struct thread_files *files, pid_t pid, pid_t tid)
{
	struct known *known = map64_find(&files->threads, (uint64_t)tid);

	if (known)
		return known;
	known = calloc(1, sizeof(*known));
	if (known && map64_put(&files->threads, (uint64_t)tid, known) < 0) {
		free(known);
		return NULL;
	}
	if (known)
		known->start_ns = start_ns_of(pid, tid);
	return known;
}

/* False: there is no memory for what is known of the thread. */
static bool read_thread(struct thread_files *files, int task_fd, struct thread_reading *reading)
{
	struct schedstat stat;
	struct known *known;

	if (!read_schedstat(task_fd, reading->tid, &stat))
		return true; /* gone */
	known = find_or_add(files, reading->pid, reading->tid);
	if (!known)
		return false;
	if (stat.run_ns < known->run_ns) { /* another thread has the TID */
		known->start_ns = start_ns_of(reading->pid, reading->tid);
		known->has_stack = false;
	}
	reading->time_ns = clock_now_ns();
	reading->start_ns = known->start_ns;
	reading->run_ns = stat.run_ns;
	reading->delay_ns = stat.delay_ns;
	reading->switches = reading->voluntary = stat.slices;
	reading->state = known->state;
	if (!known->has_stack || stat.slices != known->slices || stat.run_ns != known->run_ns) {
		known->has_stack = false;
		take_stack(files, task_fd, known, reading);
		read_name(task_fd, reading->tid, known);
	}
	memcpy(reading->comm, known->comm, sizeof(reading->comm));
	known->run_ns = stat.run_ns;
	known->slices = stat.slices;
	known->tick = files->tick;
	return true;
}

static void step(struct thread_files *files, pid_t pid)
{
	__atomic_store_n(&files->reading, pid, __ATOMIC_RELAXED);
	__atomic_fetch_add(&files->progress, 1, __ATOMIC_RELAXED);
}

static uint64_t read_process(struct thread_files *files, pid_t pid, thread_source_fn fn, void *arg)
{
	const struct dirent *entry;
	uint64_t lost = 0;
	char path[32];
	DIR *dir;

	snprintf(path, sizeof(path), "/proc/%d/task", (int)pid);
	dir = opendir(path);
	while (dir && (entry = readdir(dir))) {
		struct thread_reading reading = {.pid = pid, .syscall = -1};

		reading.tid = (pid_t)atoi(entry->d_name);
		if (reading.tid <= 0)
			continue;
		step(files, pid);
		if (!read_thread(files, dirfd(dir), &reading))
			lost++;
		else if (reading.time_ns)
			fn(arg, &reading);
	}
	if (dir)
		closedir(dir);
	return lost;
}

/* Forgets threads that were not there. */
static void forget_gone(struct thread_files *files)
{
	struct map64 kept = {0};
	uint64_t tid;
	size_t pos = 0;
	void *value;

	while (map64_next(&files->threads, &pos, &tid, &value)) {
		struct known *const known = value;

		if (known->tick != files->tick || map64_put(&kept, tid, known) < 0)
			free(known);
	}
	map64_fini(&files->threads);
	files->threads = kept;
}

int thread_files_tick(struct thread_files *files, thread_source_fn fn, void *arg,
		      uint64_t *ret_lost)
{
	uint64_t lost = 0;

	files->tick++;
	for (size_t i = 0; i < files->n_pids; i++)
		lost += read_process(files, files->pids[i], fn, arg);
	step(files, 0);
	if (files->tick % 64 == 0)
		forget_gone(files);
	*ret_lost = lost;
	return 0;
}
