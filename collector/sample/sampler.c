// SPDX-License-Identifier: Apache-2.0
/*
 * Opens the events and reads their rings, see sampler.h.
 *
 * Every CPU has two ring buffers: one for samples and a side ring for records of processes.
 *
 * System-wide, one event a CPU fills the ring buffer of samples. For one process, one event for
 * each thread and CPU does, with inherit for threads that start later; all events of a CPU are
 * redirected into the CPU's ring buffer.
 *
 * The side ring is filled by an event that counts nothing (PERF_COUNT_SW_DUMMY), and by the
 * tracepoint sched:sched_process_exec. The kernel would write PERF_RECORD_COMM, which tells of exec
 * too, for each new name of any thread of the host. For PERF_RECORD_MMAP2 each mmap of the host has
 * to allocate memory and write out a path, whichever process is recorded.
 *
 * One file, because opening events, explaining refusals and reading share the events of each CPU.
 */
#include "sample/sampler.h"

#include "base/array.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/log.h"
#include "guard/heap_bytes.h"
#include "sample/bpf_source.h"
#include "sample/perf_parse.h"
#include "sample/ring.h"
#include "sample/sample_regs.h"
#include "sample/tracepoint.h"
#include "sample/uprobe_line.h"
#include "sample/uprobe_multi.h"

#include <dirent.h>
#include <errno.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define SAMPLER_CPUS_NS (100 * CLOCK_NS_PER_MS)
#define SIDE_EVENTS	64 /* that are taken at once */

/* A ring buffer and the event that owns the buffer. */
struct event_ring {
	struct ring ring;
	int fd;
};

struct cpu_rings {
	int cpu;
	bool is_online, is_listed; /* since the last look at all CPUs, and at this one */
	size_t again_at, n_again;  /* of fds: events that were opened when the CPU came back */
	struct event_ring samples, side;
};

struct sampler {
	struct perf_event_attr attr;
	bool is_without_ksymbols;
	bool is_exact; /* the event says at which instruction it happened */
	bool follows_all, follows_threads;
	bool is_wide;  /* the events are those of CPUs, not those of threads */
	bool has_exec; /* exec_id is the ID of the exec tracepoint */
	uint64_t exec_id;
	const char *event;
	struct bpf_source *bpf;	   /* takes the samples; NULL: ring buffers of CPUs do */
	struct bpf_source *probes; /* takes samples of uprobes; NULL: none are asked for */
	bool is_unattached;	   /* the kernel has refused to have the program run by an event */
	char source[SAMPLER_SOURCE_BYTES];
	uint32_t stack_bytes;
	size_t ring_bytes; /* bytes of each ring buffer for samples */
	struct cpu_rings *cpus;
	int *poll_fds;
	int side_fd; /* an epoll set of the side rings; -1: none */
	size_t n_cpus;
	int *fds; /* descriptors of all events, owned */
	size_t n_fds, size_fds;
	uint64_t cpus_at_ns;   /* the next look at CPUs is not earlier */
	size_t listed;	       /* while CPUs are looked at: those before have been */
	struct worker *worker; /* those who end events; NULL: the caller */
	struct worker_task stopping, closing;
	bool is_stopped; /* the events are the tasks': none is opened or closed here */
	struct sampler_stats stats;
};

static const struct {
	const char *name;
	uint32_t type;
	uint64_t config;
	bool is_exact; /* the instruction is known; other events interrupt a later one */
} events[] = {
	{"cycles", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES, false},
	{"instructions", PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS, false},
	{"cache-misses", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CACHE_MISSES, false},
	{"branch-misses", PERF_TYPE_HARDWARE, PERF_COUNT_HW_BRANCH_MISSES, false},
	{"cpu-clock", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_CLOCK, false},
	{"task-clock", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_TASK_CLOCK, false},
	{"page-faults", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS, true},
	{"context-switches", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CONTEXT_SWITCHES, true},
};

#define N_EVENTS (sizeof(events) / sizeof(events[0]))

bool sampler_is_event(const char *event)
{
	for (size_t i = 0; i < N_EVENTS; i++) {
		if (strcmp(events[i].name, event) == 0)
			return true;
	}
	return false;
}

const char *sampler_events(void)
{
	static char names[256];

	if (!names[0]) {
		for (size_t i = 0, at = 0; i < N_EVENTS; i++)
			at += (size_t)snprintf(names + at, sizeof(names) - at, "%s%s", i ? " " : "",
					       events[i].name);
	}
	return names;
}

static void set_event(struct sampler *sampler, const char *event)
{
	for (size_t i = 0; i < N_EVENTS; i++) {
		if (strcmp(events[i].name, event) != 0)
			continue;
		sampler->attr.type = events[i].type;
		sampler->attr.config = events[i].config;
		sampler->event = events[i].name;
		sampler->is_exact = events[i].is_exact;
	}
}

static void set_attr(struct sampler *sampler, const struct sampler_options *options,
		     uint32_t stack_bytes)
{
	sampler->attr = (struct perf_event_attr){
		.size = sizeof(struct perf_event_attr),
		.sample_type = stack_bytes ? PARSED_TYPE_STACK : PARSED_TYPE,
		.sample_regs_user = stack_bytes ? SAMPLE_REGS_MASK : 0,
		.sample_stack_user = stack_bytes,
		.freq = 1,
		.sample_freq = options->hz,
		.disabled = 1,
		.sample_id_all = 1,
		.exclude_guest = 1,
		.exclude_idle = 1,
		.watermark = 1,
		.wakeup_watermark = (uint32_t)(sampler->ring_bytes / 4),
		.use_clockid = 1,
		.clockid = CLOCK_MONOTONIC,
	};
}

/*
 * An event with the rights and the clock of the samples' event, and with an equal ID at the end of
 * records. Its ring buffer wakes a reader when half of it has been written.
 */
static struct perf_event_attr side_attr(const struct sampler *sampler)
{
	const bool follows = sampler->follows_all;

	return (struct perf_event_attr){
		.size = sizeof(struct perf_event_attr),
		.type = PERF_TYPE_SOFTWARE,
		.config = PERF_COUNT_SW_DUMMY,
		.sample_type = PARSED_TYPE_EXEC,
		.sample_period = 1,
		.disabled = 1,
		.inherit = sampler->attr.inherit,
		.exclude_kernel = sampler->attr.exclude_kernel,
		.exclude_guest = 1,
		.mmap = follows,
		.mmap2 = follows,
		.comm = follows && !sampler->has_exec,
		.comm_exec = follows && !sampler->has_exec,
		.task = follows || sampler->follows_threads,
		.ksymbol = !sampler->is_without_ksymbols,
		.sample_id_all = 1,
		.watermark = 1,
		.wakeup_watermark = (uint32_t)(sampler_side_bytes(sampler->n_cpus) / 2),
		.use_clockid = 1,
		.clockid = CLOCK_MONOTONIC,
	};
}

/* Each program that begins wakes the reader of the side ring. */
static struct perf_event_attr exec_attr(const struct sampler *sampler)
{
	struct perf_event_attr attr = side_attr(sampler);

	attr.type = PERF_TYPE_TRACEPOINT;
	attr.config = sampler->exec_id;
	attr.mmap = attr.mmap2 = attr.comm = attr.comm_exec = attr.task = attr.ksymbol = 0;
	attr.watermark = 0;
	attr.wakeup_events = 1;
	return attr;
}

static int open_event(struct sampler *sampler, const struct perf_event_attr *attr, pid_t tid,
		      int cpu)
{
	int fd;

	fd = (int)syscall(SYS_perf_event_open, attr, tid, cpu, -1, PERF_FLAG_FD_CLOEXEC);
	if (fd < 0)
		return -errno;
	if (ARRAY_RESERVE(sampler->fds, sampler->size_fds, sampler->n_fds + 1) < 0) {
		close(fd);
		return -ENOMEM;
	}
	sampler->fds[sampler->n_fds++] = fd;
	return fd;
}

static bool is_refusal(int err)
{
	return err == -EACCES || err == -EPERM;
}

static int try_attr(struct sampler *sampler, const struct perf_event_attr *attr, pid_t pid)
{
	const int fd = open_event(sampler, attr, pid, sampler->cpus[0].cpu);

	if (fd < 0)
		return fd;
	close(fd);
	sampler->n_fds--;
	return 0;
}

/* 0: the kernel allows the event with these attributes. */
static int try_event(struct sampler *sampler, pid_t pid)
{
	return try_attr(sampler, &sampler->attr, pid);
}

static bool is_missing(int err)
{
	return err == -ENOENT || err == -EOPNOTSUPP || err == -ENODEV;
}

/*
 * Tries the event for the whole system, else for the one process, else for that process without the
 * kernel. *ret_pid is -1 or the process.
 */
static int try_rights(struct sampler *sampler, pid_t fallback_pid, pid_t *ret_pid)
{
	int err;

	sampler->attr.inherit = 0;
	sampler->attr.exclude_kernel = 0;
	*ret_pid = -1;
	err = try_event(sampler, -1);
	if (!is_refusal(err) || fallback_pid <= 0)
		return err;
	sampler->attr.inherit = 1;
	*ret_pid = fallback_pid;
	err = try_event(sampler, fallback_pid);
	if (!is_refusal(err))
		return err;
	sampler->attr.exclude_kernel = 1;
	return try_event(sampler, fallback_pid);
}

/*
 * Chooses the event that was asked for, else hardware cycles, else cpu-clock on machines without
 * hardware cycles.
 */
static int choose_event(struct sampler *sampler, const struct sampler_options *options,
			pid_t *ret_pid)
{
	int err;

	set_event(sampler, options->event ? options->event : "cycles");
	err = try_rights(sampler, options->fallback_pid, ret_pid);
	if (!is_missing(err) || options->event)
		return err;
	set_event(sampler, "cpu-clock");
	return try_rights(sampler, options->fallback_pid, ret_pid);
}

static _Thread_local char problem[SAMPLER_PROBLEM_BYTES];

static void say(const char *format, ...) __attribute__((format(printf, 1, 2)));

static void say(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(problem, sizeof(problem), format, args);
	va_end(args);
	log_error("%s", problem);
}

const char *sampler_problem(void)
{
	return problem;
}

void sampler_problem_set(const char *text)
{
	snprintf(problem, sizeof(problem), "%s", text);
}

/* Says that not even the smallest ring buffers can be mapped. */
static void explain_ring(const struct sampler *sampler)
{
	const uint32_t stack_bytes = sampler->attr.sample_stack_user;
	char limit[16] = "?";

	file_read_small("/proc/sys/kernel/perf_event_mlock_kb", limit, sizeof(limit));
	limit[strcspn(limit, "\n")] = '\0';
	say("cannot map perf rings of %zu KiB for %zu CPUs%s: the limit of locked memory is "
	    "too low: raise kernel.perf_event_mlock_kb (it is %s) or ulimit -l, %sor grant "
	    "CAP_IPC_LOCK",
	    sampler_least_ring_bytes(stack_bytes) >> 10, sampler->n_cpus,
	    stack_bytes ? ", which snapshots of the stack need" : "", limit,
	    stack_bytes ? "choose a smaller --stack-size or --unwind=fp, " : "");
}

static void explain(const struct sampler *sampler, const struct sampler_options *options, int err)
{
	char paranoid[16] = "?", max_rate[16] = "?";

	file_read_small("/proc/sys/kernel/perf_event_paranoid", paranoid, sizeof(paranoid));
	file_read_small("/proc/sys/kernel/perf_event_max_sample_rate", max_rate, sizeof(max_rate));
	paranoid[strcspn(paranoid, "\n")] = '\0';
	max_rate[strcspn(max_rate, "\n")] = '\0';
	if (err == -ENOBUFS)
		explain_ring(sampler);
	else if (is_refusal(err))
		say("perf_event_open: %s; kernel.perf_event_paranoid is %s: run as root, "
		    "grant CAP_PERFMON, or lower it (sysctl kernel.perf_event_paranoid=-1); "
		    "in a container the seccomp profile must allow perf_event_open too",
		    strerror(-err), paranoid);
	else if (is_missing(err) && sampler->event)
		say("perf_event_open: this machine has no event %s: leave -e out, or use "
		    "-e cpu-clock",
		    sampler->event);
	else if (err == -EINVAL && (long)options->hz > strtol(max_rate, NULL, 10))
		say("perf_event_open: %u Hz is more than kernel.perf_event_max_sample_rate, "
		    "%s: choose a lower -F or raise it",
		    options->hz, max_rate);
	else if (err == -ESRCH)
		say("perf_event_open: PID %d does not exist any more", (int)options->fallback_pid);
	else if (err == -EMFILE)
		say("perf_event_open: too many open files: raise the limit (ulimit -n)");
	else
		say("perf_event_open for %s at %u Hz: %s",
		    sampler->event ? sampler->event : "any event", options->hz, strerror(-err));
}

/* Calls add for each CPU in a list like "0-3,8". Stops at the first error. */
static int for_each_online_cpu(struct sampler *sampler, int (*add)(struct sampler *, int cpu))
{
	char text[4096], *p = text;

	if (file_read_small("/sys/devices/system/cpu/online", text, sizeof(text)) <= 0)
		return -ENOENT;
	while (*p >= '0' && *p <= '9') {
		const long first = strtol(p, &p, 10);
		const long last = *p == '-' ? strtol(p + 1, &p, 10) : first;

		for (long cpu = first; cpu <= last; cpu++) {
			const int err = add(sampler, (int)cpu);

			if (err)
				return err;
		}
		if (*p == ',')
			p++;
	}
	return 0;
}

static int add_cpu(struct sampler *sampler, int cpu)
{
	struct cpu_rings *cpus =
		realloc(sampler->cpus, (sampler->n_cpus + 1) * sizeof(*sampler->cpus));

	if (!cpus)
		return -ENOMEM;
	sampler->cpus = cpus;
	cpus[sampler->n_cpus++] = (struct cpu_rings){.cpu = cpu, .is_online = true};
	return 0;
}

/* -ENOBUFS: the kernel does not allow so much locked memory. */
static int open_ring(struct sampler *sampler, struct event_ring *to, int fd, size_t bytes)
{
	const int err = ring_open(&to->ring, fd, bytes);

	if (err)
		return err == -EPERM ? -ENOBUFS : err;
	to->fd = fd;
	sampler->stats.ring_bytes += to->ring.data_bytes;
	return 0;
}

/*
 * Opens an event of a thread on a CPU. The event owns the ring buffer if the buffer is new, else
 * writes into it.
 */
static int open_into(struct sampler *sampler, const struct perf_event_attr *attr, pid_t tid,
		     int cpu, struct event_ring *to)
{
	const bool is_side = attr != &sampler->attr;
	const int fd = open_event(sampler, attr, tid, cpu);

	if (fd < 0)
		return fd;
	if (to->ring.base)
		return ioctl(fd, PERF_EVENT_IOC_SET_OUTPUT, to->fd) < 0 ? -errno : 0;
	return open_ring(sampler, to, fd,
			 is_side ? sampler_side_bytes(sampler->n_cpus) : sampler->ring_bytes);
}

/* The event of a CPU for the BPF program, which has no ring buffer. */
static int open_for_bpf(struct sampler *sampler, int cpu)
{
	const int fd = open_event(sampler, &sampler->attr, -1, cpu);
	const int err = fd < 0 ? fd : bpf_source_attach(sampler->bpf, fd, BPF_KIND_CPU);

	sampler->is_unattached |= fd >= 0 && err < 0;
	return err;
}

static int open_side(struct sampler *sampler, pid_t tid, struct cpu_rings *cpu)
{
	struct perf_event_attr side = side_attr(sampler);
	const int err = open_into(sampler, &side, tid, cpu->cpu, &cpu->side);

	if (err != -EINVAL || sampler->is_without_ksymbols)
		return err;
	sampler->is_without_ksymbols = true; /* kernels before 5.1 do not report BPF programs */
	side = side_attr(sampler);
	return open_into(sampler, &side, tid, cpu->cpu, &cpu->side);
}

static int open_exec(struct sampler *sampler, struct cpu_rings *cpu)
{
	const struct perf_event_attr exec = exec_attr(sampler);

	return open_into(sampler, &exec, -1, cpu->cpu, &cpu->side);
}

/* Opens the events of one thread (-1: of all) on a CPU. */
static int open_on(struct sampler *sampler, pid_t tid, struct cpu_rings *cpu)
{
	int err = sampler->bpf ? open_for_bpf(sampler, cpu->cpu)
			       : open_into(sampler, &sampler->attr, tid, cpu->cpu, &cpu->samples);

	if (!err)
		err = open_side(sampler, tid, cpu);
	if (!err && sampler->has_exec)
		err = open_exec(sampler, cpu);
	return err;
}

/* Opens the events of one thread (-1: of all) on all CPUs. */
static int open_thread(struct sampler *sampler, pid_t tid)
{
	for (size_t i = 0; i < sampler->n_cpus; i++) {
		const int err = open_on(sampler, tid, &sampler->cpus[i]);

		if (err)
			return err;
	}
	return 0;
}

static int open_process(struct sampler *sampler, pid_t pid)
{
	_cleanup_closedir_ DIR *dir = NULL;
	const struct dirent *entry;
	char path[64];
	int err = 0;

	snprintf(path, sizeof(path), "/proc/%d/task", (int)pid);
	dir = opendir(path);
	if (!dir)
		return errno == ENOENT ? -ESRCH : -errno;
	while (!err && (entry = readdir(dir))) {
		const pid_t tid = (pid_t)strtol(entry->d_name, NULL, 10);

		if (tid > 0)
			err = open_thread(sampler, tid);
		if (err == -ESRCH)
			err = 0; /* the thread has just ended */
	}
	return err;
}

static int enable_from(const struct sampler *sampler, size_t first)
{
	for (size_t i = first; i < sampler->n_fds; i++) {
		if (ioctl(sampler->fds[i], PERF_EVENT_IOC_ENABLE, 0) < 0)
			return -errno;
	}
	return 0;
}

/*
 * Makes the set of side rings, where they tell of programs that begin. Processes and threads that
 * begin without a program, and mappings, wake nobody: who follows all of them looks by the clock.
 */
static void listen_to_sides(struct sampler *sampler)
{
	if (!sampler->has_exec || sampler->follows_threads || sampler->follows_all)
		return;
	sampler->side_fd = epoll_create1(EPOLL_CLOEXEC);
	for (size_t i = 0; sampler->side_fd >= 0 && i < sampler->n_cpus; i++) {
		struct epoll_event event = {.events = EPOLLIN};

		if (epoll_ctl(sampler->side_fd, EPOLL_CTL_ADD, sampler->cpus[i].side.fd, &event) <
		    0) {
			close(sampler->side_fd);
			sampler->side_fd = -1;
		}
	}
}

static int start(struct sampler *sampler)
{
	sampler->poll_fds = malloc(sampler->n_cpus * sizeof(*sampler->poll_fds));
	if (!sampler->poll_fds)
		return -ENOMEM;
	for (size_t i = 0; i < sampler->n_cpus; i++) {
		const struct cpu_rings *cpu = &sampler->cpus[i];

		if ((!sampler->bpf && !cpu->samples.ring.base) || !cpu->side.ring.base)
			return -ESRCH;
		sampler->poll_fds[i] = cpu->samples.fd;
	}
	listen_to_sides(sampler);
	return enable_from(sampler, 0);
}

static void close_from(struct sampler *sampler, size_t first)
{
	while (sampler->n_fds > first) {
		if (sampler->fds[--sampler->n_fds] >= 0)
			close(sampler->fds[sampler->n_fds]);
	}
}

static void close_events(struct sampler *sampler)
{
	for (size_t i = 0; i < sampler->n_cpus; i++) {
		ring_close(&sampler->cpus[i].samples.ring);
		ring_close(&sampler->cpus[i].side.ring);
	}
	close_from(sampler, 0);
	sampler->stats.ring_bytes = 0;
}

/* Whether the exec tracepoint exists and may be used. Sampling also works without it. */
static bool find_exec(struct sampler *sampler)
{
	struct perf_event_attr attr;

	if (tracepoint_find("sched", "sched_process_exec", &sampler->exec_id) < 0)
		return false;
	attr = exec_attr(sampler);
	return try_attr(sampler, &attr, -1) == 0;
}

static bool is_auto(const struct sampler_options *options)
{
	return options->source == SAMPLER_AUTO;
}

static enum bpf_variant variant_of(enum sampler_source source)
{
	return source == SAMPLER_BPF_EXACT     ? BPF_EXACT
	       : source == SAMPLER_BPF_SLICES  ? BPF_SLICES
	       : source == SAMPLER_BPF_SCRATCH ? BPF_SCRATCH
					       : BPF_ANY_VARIANT;
}

/* Loads the BPF program, or notes why not. */
static int open_bpf(struct sampler *sampler, const struct sampler_options *options)
{
	const struct bpf_source_options bpf = {
		.variant = variant_of(options->source),
		.stack_bytes = options->stack_bytes,
		.n_cpus = sampler->n_cpus,
		.hz = options->hz,
		.max_hz =
			options->max_samples_hz ? options->max_samples_hz : SAMPLER_MAX_SAMPLES_HZ,
		.ring_bytes = options->ring_bytes,
	};
	char why[BPF_LOAD_WHY_BYTES];
	const int err = bpf_source_open(&bpf, &sampler->bpf, why);

	if (!err) {
		snprintf(sampler->source, sizeof(sampler->source), "BPF (%s)",
			 bpf_source_variant(sampler->bpf));
		return 0;
	}
	snprintf(sampler->source, sizeof(sampler->source), "perf (%s)", why);
	if (!is_auto(options))
		say("--sampler: %s", why);
	return is_auto(options) ? 0 : err;
}

/* Says who takes the samples, and has BPF take them if it may. */
static int choose_source(struct sampler *sampler, const struct sampler_options *options)
{
	int err = 0;

	if (sampler->bpf || sampler->source[0])
		return 0;
	if (options->source == SAMPLER_PERF)
		snprintf(sampler->source, sizeof(sampler->source), "perf");
	else if (sampler->is_wide)
		err = open_bpf(sampler, options);
	else if (is_auto(options))
		snprintf(sampler->source, sizeof(sampler->source),
			 "perf (BPF needs the rights to sample all processes)");
	else
		err = -EPERM;
	if (err == -EPERM && !problem[0])
		say("--sampler: BPF needs the rights to sample all processes: run as root, or "
		    "grant CAP_BPF and CAP_PERFMON");
	return err;
}

/* What the event of a CPU need not have if a BPF program takes the samples. */
static void strip_attr(struct sampler *sampler)
{
	sampler->attr.sample_type = 0;
	sampler->attr.sample_regs_user = 0;
	sampler->attr.sample_stack_user = 0;
	sampler->attr.watermark = 0;
	sampler->attr.wakeup_watermark = 0;
}

static int open_events(struct sampler *sampler, const struct sampler_options *options,
		       uint32_t stack_bytes)
{
	pid_t pid;
	int err;

	set_attr(sampler, options, stack_bytes);
	sampler->stack_bytes = stack_bytes;
	err = choose_event(sampler, options, &pid);
	if (err)
		return err;
	sampler->is_wide = pid <= 0;
	err = choose_source(sampler, options);
	if (err)
		return err;
	if (sampler->bpf) {
		strip_attr(sampler);
		sampler->stack_bytes = options->stack_bytes;
	}
	sampler->follows_all = options->follows_all && pid <= 0;
	sampler->follows_threads = options->follows_threads;
	sampler->has_exec = sampler->is_wide && find_exec(sampler);
	return pid <= 0 ? open_thread(sampler, -1) : open_process(sampler, pid);
}

/*
 * The kernel has refused to have an event run the program. 0: perf's ring buffers take the samples
 * after all.
 */
static int leave_bpf(struct sampler *sampler, const struct sampler_options *options, int err)
{
	if (!is_auto(options)) {
		say("--sampler: no event may run the BPF program: %s", strerror(-err));
		return err;
	}
	close_events(sampler);
	bpf_source_close(sampler->bpf);
	sampler->bpf = NULL;
	snprintf(sampler->source, sizeof(sampler->source),
		 "perf (no event may run the BPF program: %s)", strerror(-err));
	return 0;
}

/*
 * Opens ring buffers of the wanted size, or smaller ones if the kernel does not allow so much
 * locked memory.
 */
static int open_rings(struct sampler *sampler, const struct sampler_options *options)
{
	const size_t wanted =
		sampler_ring_bytes(sampler->n_cpus, options->stack_bytes, options->hz);
	const uint32_t stack_bytes = sampler_fit_stack(wanted, options->stack_bytes);
	const size_t least = sampler_least_ring_bytes(stack_bytes);
	int err;

	sampler->ring_bytes = wanted;
	for (;;) {
		err = open_events(sampler, options, stack_bytes);
		if (sampler->bpf && sampler->is_unattached) {
			err = leave_bpf(sampler, options, err);
			if (err)
				return err;
			continue;
		}
		if (err != -ENOBUFS || sampler->ring_bytes / 2 < least)
			return err;
		/*
		 * Closes all ring buffers, because the first ones must leave locked memory for the
		 * last ones.
		 */
		close_events(sampler);
		sampler->ring_bytes /= 2;
		sampler->stats.is_ring_smaller = true;
	}
}

/* Loads the BPF programs of probes if they are asked for. */
static int open_probes(struct sampler *sampler, const struct sampler_options *options)
{
	const struct bpf_source_options bpf = {
		.variant = variant_of(options->source),
		.is_of_probes = true,
		.has_links = uprobe_multi_check() == 0,
		.wants_watched = options->wants_watched,
		.stack_bytes = options->stack_bytes,
		.max_hz =
			options->max_samples_hz ? options->max_samples_hz : SAMPLER_MAX_SAMPLES_HZ,
		.process_max_hz = SAMPLER_PROCESS_PROBE_HZ,
	};
	char why[BPF_LOAD_WHY_BYTES];
	int err;

	if (!options->has_probes)
		return 0;
	uprobe_line_sweep(); /* of collectors that were killed */
	err = bpf_source_open(&bpf, &sampler->probes, why);
	if (err)
		say("probes cannot be sampled: %s", why);
	return err;
}

static void close_now(struct sampler *sampler)
{
	if (sampler->side_fd >= 0)
		close(sampler->side_fd);
	close_events(sampler);
	bpf_source_close(sampler->bpf);
	bpf_source_close(sampler->probes);
	free(sampler->cpus);
	free(sampler->fds);
	free(sampler->poll_fds);
	free(sampler);
}

int sampler_open(const struct sampler_options *options, struct sampler **ret)
{
	struct sampler *sampler = calloc(1, sizeof(*sampler));
	int err;

	problem[0] = '\0';
	if (!sampler)
		return -ENOMEM;
	sampler->worker = options->worker;
	sampler->side_fd = -1;
	err = for_each_online_cpu(sampler, add_cpu);
	if (!err)
		err = open_rings(sampler, options);
	if (!err)
		err = open_probes(sampler, options);
	if (!err)
		err = start(sampler);
	if (err) {
		if (!problem[0])
			explain(sampler, options, err);
		close_now(sampler);
		return err;
	}
	*ret = sampler;
	return 0;
}

static struct sampler *sampler_of(struct worker_task *task, size_t offset)
{
	return (struct sampler *)(void *)((char *)task - offset);
}

static void run_stopping(struct worker_task *task)
{
	const struct sampler *const sampler = sampler_of(task, offsetof(struct sampler, stopping));

	for (size_t i = 0; i < sampler->n_fds; i++)
		ioctl(sampler->fds[i], PERF_EVENT_IOC_DISABLE, 0);
}

static void run_closing(struct worker_task *task)
{
	close_now(sampler_of(task, offsetof(struct sampler, closing)));
}

/* The kernel has to reach the event's CPU, and to wait for whoever changes events there. */
void sampler_stop(struct sampler *sampler)
{
	if (sampler->is_stopped)
		return;
	sampler->is_stopped = true;
	sampler->stopping.run = run_stopping;
	if (sampler->worker)
		worker_add(sampler->worker, &sampler->stopping);
	else
		run_stopping(&sampler->stopping);
}

size_t sampler_bytes(const struct sampler *sampler)
{
	const size_t cpu_bytes = sizeof(*sampler->cpus) + sizeof(*sampler->poll_fds) +
				 2 * heap_bytes(RING_MAX_RECORD_BYTES);

	return heap_bytes(sizeof(*sampler)) + sampler->n_cpus * cpu_bytes +
	       sampler->size_fds * sizeof(*sampler->fds) +
	       (sampler->bpf ? bpf_source_bytes(sampler->bpf) : 0) +
	       (sampler->probes ? bpf_source_bytes(sampler->probes) : 0);
}

void sampler_close(struct sampler *sampler)
{
	if (!sampler)
		return;
	sampler->closing.run = run_closing;
	if (sampler->worker)
		worker_add(sampler->worker, &sampler->closing);
	else
		close_now(sampler);
}

const char *sampler_event(const struct sampler *sampler)
{
	return sampler->event;
}

static uint64_t events_read_ns(const struct sampler *sampler)
{
	const unsigned hz = (unsigned)sampler->attr.sample_freq;

	if (sampler->bpf)
		return sampler_quarter_ns(bpf_source_ring_bytes(sampler->bpf), sampler->stack_bytes,
					  hz * (unsigned)sampler->n_cpus);
	return sampler_quarter_ns(sampler->ring_bytes, sampler->stack_bytes, hz);
}

uint64_t sampler_read_ns(const struct sampler *sampler)
{
	const uint64_t read_ns = events_read_ns(sampler);

	return sampler->probes && read_ns > SAMPLER_PROBE_READ_NS ? SAMPLER_PROBE_READ_NS : read_ns;
}

bool sampler_hears_exec(const struct sampler *sampler)
{
	return sampler->has_exec || sampler->follows_all;
}

bool sampler_follows_all(const struct sampler *sampler)
{
	return sampler->follows_all;
}

bool sampler_has_side(const struct sampler *sampler)
{
	for (size_t i = 0; i < sampler->n_cpus; i++) {
		if (ring_has_more(&sampler->cpus[i].side.ring))
			return true;
	}
	return false;
}

int sampler_side_fd(const struct sampler *sampler)
{
	return sampler->side_fd;
}

/*
 * poll(2) on a set stops at the first ring that is ready, so that each other one would wake the
 * reader once more.
 */
void sampler_clear_side(const struct sampler *sampler)
{
	struct epoll_event ready[SIDE_EVENTS];

	for (size_t i = 0; i < sampler->n_cpus; i += SIDE_EVENTS) {
		if (epoll_wait(sampler->side_fd, ready, SIDE_EVENTS, 0) < SIDE_EVENTS)
			break;
	}
}

uint32_t sampler_stack_bytes(const struct sampler *sampler)
{
	return sampler->stack_bytes;
}

/* Reads a ring buffer. *lost counts the losses of that buffer. */
static void read_ring(struct sampler *sampler, struct event_ring *from, uint64_t *lost,
		      sampler_fn fn, void *arg)
{
	const uint64_t type =
		lost == &sampler->stats.lost ? sampler->attr.sample_type : PARSED_TYPE_EXEC;
	struct record record;
	const void *data;
	size_t len;

	while ((data = ring_next(&from->ring, &len))) {
		const int n = perf_parse(data, len, type, &record);

		sampler->stats.records++;
		sampler->stats.broken += n < 0;
		if (n <= 0)
			continue;
		*lost += record.kind == RECORD_LOST ? record.lost : 0;
		if (record.kind == RECORD_LOST && lost == &sampler->stats.lost_side)
			record.kind = RECORD_LOST_SIDE;
		if (record.kind == RECORD_SAMPLE)
			record.sample.is_exact |= sampler->is_exact;
		sampler->stats.throttled += record.kind == RECORD_THROTTLED;
		fn(arg, &record);
	}
	ring_done(&from->ring);
}

struct bpf_reading {
	struct sampler *sampler;
	sampler_fn fn;
	void *arg;
};

static void on_bpf_record(void *arg, const struct record *record)
{
	const struct bpf_reading *const reading = arg;
	struct record copy = *record;

	reading->sampler->stats.records++;
	if (copy.sample.kind == SAMPLE_OF_CPU)
		copy.sample.is_exact |= reading->sampler->is_exact;
	reading->fn(reading->arg, &copy);
}

static void read_bpf(struct sampler *sampler, struct bpf_source *from, sampler_fn fn, void *arg)
{
	struct bpf_reading reading = {.sampler = sampler, .fn = fn, .arg = arg};

	bpf_source_read(from, on_bpf_record, &reading, &sampler->stats.broken);
}

/* ---- CPUs that are taken away and come back ---- */

/* Both the list and the sampler's CPUs ascend. */
static int list_cpu(struct sampler *sampler, int cpu)
{
	size_t *const i = &sampler->listed;

	while (*i < sampler->n_cpus && sampler->cpus[*i].cpu < cpu)
		++*i;
	if (*i < sampler->n_cpus && sampler->cpus[*i].cpu == cpu)
		sampler->cpus[*i].is_listed = true;
	return 0;
}

/* Opens the events of a CPU again. They write into the rings that the CPU's first events own. */
static int open_again(struct sampler *sampler, struct cpu_rings *cpu)
{
	const size_t first = sampler->n_fds;
	int err = open_on(sampler, -1, cpu);

	if (!err)
		err = enable_from(sampler, first);
	if (err) {
		close_from(sampler, first);
		return err;
	}
	for (size_t i = 0; i < cpu->n_again; i++) {
		close(sampler->fds[cpu->again_at + i]);
		sampler->fds[cpu->again_at + i] = -1;
	}
	cpu->again_at = first;
	cpu->n_again = sampler->n_fds - first;
	return 0;
}

/*
 * The kernel takes the events of a CPU out with the CPU, and does not put them back. Events of
 * threads stay.
 */
static void look_at_cpus(struct sampler *sampler)
{
	for (size_t i = 0; i < sampler->n_cpus; i++)
		sampler->cpus[i].is_listed = false;
	sampler->listed = 0;
	if (for_each_online_cpu(sampler, list_cpu))
		return;
	for (size_t i = 0; i < sampler->n_cpus; i++) {
		struct cpu_rings *cpu = &sampler->cpus[i];

		if (cpu->is_online && !cpu->is_listed) {
			log_warning("CPU %d was taken away: the other ones are sampled", cpu->cpu);
			cpu->is_online = false;
		} else if (!cpu->is_online && cpu->is_listed && open_again(sampler, cpu) == 0) {
			log_warning("CPU %d is back, and is sampled again", cpu->cpu);
			cpu->is_online = true;
		}
	}
}

void sampler_read(struct sampler *sampler, sampler_fn fn, void *arg)
{
	const uint64_t now_ns = clock_now_ns();

	if (sampler->is_wide && !sampler->is_stopped && now_ns >= sampler->cpus_at_ns) {
		sampler->cpus_at_ns = now_ns + SAMPLER_CPUS_NS;
		look_at_cpus(sampler);
	}
	for (size_t i = 0; i < sampler->n_cpus; i++)
		read_ring(sampler, &sampler->cpus[i].side, &sampler->stats.lost_side, fn, arg);
	if (sampler->probes)
		read_bpf(sampler, sampler->probes, fn, arg);
	if (sampler->bpf) {
		read_bpf(sampler, sampler->bpf, fn, arg);
		return;
	}
	for (size_t i = 0; i < sampler->n_cpus; i++)
		read_ring(sampler, &sampler->cpus[i].samples, &sampler->stats.lost, fn, arg);
}

size_t sampler_fds(const struct sampler *sampler, const int **ret_fds)
{
	*ret_fds = sampler->poll_fds;
	return sampler->bpf ? 0 : sampler->n_cpus;
}

/* Adds what a BPF program has counted. */
static void add_counters(const struct bpf_source *source, struct sampler_stats *ret)
{
	const struct bpf_shared counters = bpf_source_counters(source);

	ret->lost += counters.lost;
	ret->merged += counters.merged;
	ret->unread += counters.unread;
	ret->unlisted += bpf_source_most_left_out(source);
	ret->ring_bytes += bpf_source_ring_bytes(source);
}

void sampler_stats(const struct sampler *sampler, struct sampler_stats *ret)
{
	struct sampler_stats probes = {0};

	*ret = sampler->stats;
	if (sampler->probes)
		add_counters(sampler->probes, &probes);
	if (sampler->bpf)
		add_counters(sampler->bpf, ret);
	ret->probe_lost = probes.lost;
	ret->probe_merged = probes.merged;
	if (sampler->probes) {
		ret->unwatched = bpf_source_counters(sampler->probes).unwatched;
		ret->deaths_lost = bpf_source_counters(sampler->probes).deaths_lost;
	}
	ret->lost += probes.lost;
	ret->merged += probes.merged;
	ret->unread += probes.unread;
	ret->unlisted += probes.unlisted;
	ret->ring_bytes += probes.ring_bytes;
}

static const struct {
	const char *word;
	enum sampler_source source;
} sources[] = {
	{"auto", SAMPLER_AUTO},
	{"bpf", SAMPLER_BPF},
	{"perf", SAMPLER_PERF},
	{"bpf-exact", SAMPLER_BPF_EXACT},
	{"bpf-slices", SAMPLER_BPF_SLICES},
	{"bpf-scratch", SAMPLER_BPF_SCRATCH},
};

int sampler_source_of(const char *word, enum sampler_source *ret)
{
	for (size_t i = 0; i < sizeof(sources) / sizeof(sources[0]); i++) {
		if (strcmp(sources[i].word, word) == 0) {
			*ret = sources[i].source;
			return 0;
		}
	}
	return -EINVAL;
}

const char *sampler_source_word(enum sampler_source source)
{
	for (size_t i = 0; i < sizeof(sources) / sizeof(sources[0]); i++) {
		if (sources[i].source == source)
			return sources[i].word;
	}
	return "auto";
}

const char *sampler_source_words(void)
{
	return "auto bpf perf bpf-exact bpf-slices bpf-scratch";
}

const char *sampler_source_text(const struct sampler *sampler)
{
	return sampler->source;
}

bool sampler_is_bpf(const struct sampler *sampler)
{
	return sampler->bpf;
}

bool sampler_has_probes(const struct sampler *sampler)
{
	return sampler->probes;
}

int sampler_attach_probe(const struct sampler *sampler, int event_fd, unsigned kind)
{
	return bpf_source_attach(sampler->probes, event_fd, kind);
}

int sampler_probe_program(const struct sampler *sampler, int kind)
{
	return bpf_source_program(sampler->probes, kind);
}

uint64_t sampler_probe_hits(const struct sampler *sampler, pid_t pid, unsigned kind)
{
	return bpf_source_hits(sampler->probes, pid, kind);
}

void sampler_want(struct sampler *sampler, const pid_t *pids, size_t n)
{
	if (sampler->bpf)
		bpf_source_want(sampler->bpf, pids, n);
}

void sampler_want_one(struct sampler *sampler, pid_t pid)
{
	if (sampler->bpf)
		bpf_source_want_one(sampler->bpf, pid);
}

void sampler_want_probes(struct sampler *sampler, const pid_t *pids, const uint64_t *groups,
			 size_t n, size_t n_groups)
{
	if (sampler->probes)
		bpf_source_want_of(sampler->probes, pids, groups, n, n_groups);
}
