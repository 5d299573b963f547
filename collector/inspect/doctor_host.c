// SPDX-License-Identifier: Apache-2.0
/*
 * The host and this process's rights. Everything is tried, not concluded: an event is opened, ring
 * buffers are mapped, memory is read. Settings are read to explain failures.
 */
#include "inspect/doctor.h"
#include "sample/perf_parse.h"
#include "sample/sampler.h"
#include "sample/uprobe.h"

#include "base/capability.h"
#include "base/cleanup.h"
#include "base/file.h"
#include "base/log.h"
#include "guard/mount_namespace.h"
#include "symbolize/kernel_hidden.h"
#include "symbolize/kernel_symbols.h"
#include "wall/thread_source.h"
#include "wall/wait_source.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#define FIRST_PID_NAMESPACE UINT64_C(0xEFFFFFFC) /* PROC_PID_INIT_INO of the kernel */

/* ---- perf events ---- */

static int open_event(uint32_t type, uint64_t config)
{
	struct perf_event_attr attr = {
		.type = type,
		.size = sizeof(attr),
		.config = config,
		.sample_freq = 1,
		.freq = 1,
		.sample_type = PARSED_TYPE_STACK,
		.sample_stack_user = SAMPLER_LEAST_STACK_BYTES,
		.sample_regs_user = 1,
		.disabled = 1,
	};
	const int fd = (int)syscall(SYS_perf_event_open, &attr, -1, 0, -1, PERF_FLAG_FD_CLOEXEC);

	return fd < 0 ? -errno : fd;
}

static long read_setting(const char *path, long unknown)
{
	char text[32];
	char *end;
	long value;

	if (file_read_small(path, text, sizeof(text)) <= 0)
		return unknown;
	value = strtol(text, &end, 10);
	return end == text ? unknown : value;
}

/* What forbids perf events besides the usual rights: the end of a sentence, or "". */
static const char *other_hand(void)
{
	static char text[256];
	char lockdown[128] = "", profile[128] = "", status[4096] = "";
	const char *seccomp;

	file_read_small("/sys/kernel/security/lockdown", lockdown, sizeof(lockdown));
	if (strstr(lockdown, "[confidentiality]"))
		return "; the kernel is locked down (confidentiality)";
	file_read_small("/proc/self/status", status, sizeof(status));
	seccomp = strstr(status, "\nSeccomp:\t");
	if (seccomp && seccomp[10] == '2')
		return "; this process runs under a seccomp filter";
	file_read_small("/proc/self/attr/current", profile, sizeof(profile));
	profile[strcspn(profile, "\n")] = '\0';
	if (!profile[0] || strcmp(profile, "unconfined") == 0)
		return "";
	snprintf(text, sizeof(text), "; this process is confined as %s", profile);
	return text;
}

static void say_forbidden(struct doctor *doctor, int err)
{
	const long paranoid = read_setting("/proc/sys/kernel/perf_event_paranoid", 99);
	const bool may =
		capability_is_effective(CAP_PERFMON) || capability_is_effective(CAP_SYS_ADMIN);
	const struct finding finding = {.check = "perf-events", .state = FINDING_PROBLEM};

	if (err == -ENOSYS)
		doctor_say(doctor, &finding,
			   "use a kernel with CONFIG_PERF_EVENTS, and let the container's seccomp "
			   "profile allow perf_event_open",
			   "the kernel does not offer perf_event_open%s", other_hand());
	else if (may)
		doctor_say(doctor, &finding,
			   "let the container's seccomp profile or security module allow "
			   "perf_event_open (Docker: --security-opt seccomp=PROFILE; Kubernetes: "
			   "seccompProfile)",
			   "perf_event_open fails although the capability is there: %s%s",
			   strerror(-err), other_hand());
	else
		doctor_say(doctor, &finding,
			   "run as root, grant CAP_PERFMON, or sysctl "
			   "kernel.perf_event_paranoid=-1",
			   "the whole system may not be sampled: perf_event_open: %s, and "
			   "kernel.perf_event_paranoid is %ld%s",
			   strerror(-err), paranoid, other_hand());
}

static bool check_rate(struct doctor *doctor)
{
	const long max = read_setting("/proc/sys/kernel/perf_event_max_sample_rate", 100000);
	const struct finding finding = {
		.check = "sample-rate",
		.state = max < SAMPLER_DEFAULT_HZ ? FINDING_PROBLEM : FINDING_OK,
	};

	doctor_say(doctor, &finding,
		   finding.state ? "sysctl kernel.perf_event_max_sample_rate=100000" : NULL,
		   "the kernel allows %ld samples a second and CPU, %d are the default", max,
		   SAMPLER_DEFAULT_HZ);
	return finding.state == FINDING_OK;
}

static void check_hardware(struct doctor *doctor)
{
	const int fd = open_event(PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES);
	const struct finding finding = {.check = "hardware-counter",
					.state = fd >= 0 ? FINDING_OK : FINDING_NOTE};

	if (fd >= 0)
		close(fd);
	doctor_say(doctor, &finding, NULL, "%s",
		   fd >= 0 ? "cycles can be sampled"
			   : "there is none, as in many virtual machines: cpu-clock is sampled, "
			     "which does not see code that runs with interrupts off");
}

/* Says whether a recording hears of programs that begin, without a cost for the whole host. */
static void say_exec(struct doctor *doctor, bool is_heard)
{
	const struct finding finding = {.check = "exec-events",
					.state = is_heard ? FINDING_OK : FINDING_NOTE};

	doctor_say(doctor, &finding,
		   is_heard ? NULL
			    : "mount -t tracefs none /sys/kernel/tracing, or show it to the "
			      "collector's container (docker run -v "
			      "/sys/kernel/tracing:/sys/kernel/tracing:ro)",
		   "%s",
		   is_heard ? "the kernel tells of programs that begin"
			    : "the number of the tracepoint sched:sched_process_exec cannot be "
			      "read: a JVM is known from when its agent connects, not from its "
			      "first sample on, and with -a each name that a thread of the host "
			      "takes costs it a microsecond");
}

/* Says who takes the samples, and if that is perf, why. */
static void say_source(struct doctor *doctor, const char *source, bool is_bpf)
{
	const bool is_chosen = doctor->source == SAMPLER_PERF;
	const struct finding finding = {.check = "sampler",
					.state = is_bpf || is_chosen ? FINDING_OK : FINDING_NOTE};

	doctor_say(doctor, &finding,
		   is_bpf || is_chosen
			   ? NULL
			   : "use Linux 5.8 or later with CONFIG_DEBUG_INFO_BTF, and grant CAP_BPF "
			     "and CAP_PERFMON (or run as root)",
		   "samples are taken by %s%s", source,
		   is_bpf ? ""
			  : ": stacks end at pages that were never written to, and are "
			    "shorter on more than 32 CPUs");
}

/*
 * Opens ring buffers as a recording would: on all CPUs, with snapshots. Errors are said here and
 * not by the sampler.
 */
static void check_rings(struct doctor *doctor)
{
	const struct sampler_options options = {
		.hz = SAMPLER_DEFAULT_HZ,
		.stack_bytes = doctor->stack_bytes,
		.source = doctor->source,
	};
	struct finding finding = {.check = "rings", .state = FINDING_PROBLEM};
	struct sampler_stats stats = {0};
	struct sampler *sampler;
	enum log_level level;
	bool hears_exec = false, is_bpf = false;
	char source[SAMPLER_SOURCE_BYTES];
	int err;

	level = log_set_level(LOG_LEVEL_SILENT);
	err = sampler_open(&options, &sampler);
	log_set_level(level);
	if (!err) {
		sampler_stats(sampler, &stats);
		hears_exec = sampler_hears_exec(sampler);
		is_bpf = sampler_is_bpf(sampler);
		snprintf(source, sizeof(source), "%s", sampler_source_text(sampler));
		sampler_close(sampler);
	}
	if (err || stats.is_ring_smaller) {
		doctor_say(
			doctor, &finding,
			"run as root, raise 'ulimit -l' or kernel.perf_event_mlock_kb, or use "
			"--unwind=fp",
			"rings for samples on all CPUs %s: %s; kernel.perf_event_mlock_kb is %ld",
			err ? "cannot be had" : "are smaller than they should be",
			err ? strerror(-err) : "too little memory may be locked",
			read_setting("/proc/sys/kernel/perf_event_mlock_kb", -1));
		return;
	}
	finding.state = FINDING_OK;
	doctor_say(doctor, &finding, NULL, "%zu KiB on all CPUs", stats.ring_bytes >> 10);
	say_source(doctor, source, is_bpf);
	say_exec(doctor, hears_exec);
}

/* ---- time that is waited ---- */

/* Who reads the threads for --kind wall and offcpu. */
static void check_threads(struct doctor *doctor)
{
	const struct thread_source_options options = {0};
	struct thread_source *source = NULL;
	struct finding finding = {.check = "threads", .state = FINDING_OK};
	char why[BPF_LOAD_WHY_BYTES] = "";

	if (doctor->source == SAMPLER_PERF || thread_source_open(&options, &source, why) == 0) {
		thread_source_close(source);
		doctor_say(doctor, &finding, NULL, "those that wait (--kind wall) are read by %s",
			   source ? "BPF" : "/proc, not by BPF, as was asked for");
		return;
	}
	finding.state = FINDING_NOTE;
	doctor_say(doctor, &finding,
		   "use Linux 5.18 or later with CONFIG_DEBUG_INFO_BTF, and grant CAP_BPF and "
		   "CAP_PERFMON (or run as root)",
		   "those that wait (--kind wall) are read by /proc (%s): interpreted native "
		   "methods have no callers",
		   why);
}

static void check_short_waits(struct doctor *doctor)
{
	char why[BPF_LOAD_WHY_BYTES] = "";
	const bool is_there = doctor->source != SAMPLER_PERF && wait_source_check(why) == 0;
	const struct finding finding = {
		.check = "short-waits",
		.state = is_there || doctor->source == SAMPLER_PERF ? FINDING_OK : FINDING_NOTE};

	if (is_there)
		doctor_say(doctor, &finding, NULL, "--short-waits can be had");
	else if (doctor->source == SAMPLER_PERF)
		doctor_say(doctor, &finding, NULL, "not without BPF, as was asked for");
	else
		doctor_say(doctor, &finding,
			   "use Linux 6.18 or later with CONFIG_DEBUG_INFO_BTF, and grant CAP_BPF "
			   "and CAP_PERFMON (or run as root); or go without --short-waits",
			   "--short-waits cannot be had: %s", why);
}

/* Which events at places of files there are, for --kind alloc, lock and exceptions. */
static void check_uprobes(struct doctor *doctor)
{
	static const char *const names[] = {
		[UPROBE_PMU] = "the kernel's uprobe PMU",
		[UPROBE_LINK] = "links of BPF programs",
		[UPROBE_LINE] = "lines of the trace file system",
	};
	struct finding finding = {.check = "uprobes", .state = FINDING_OK};
	char why[UPROBE_WHY_BYTES];
	enum uprobe_way way;

	if (uprobe_check(&way, why) == 0) {
		doctor_say(doctor, &finding, NULL, "probe points can be opened by %s%s%s",
			   names[way], why[0] ? ": " : "", why);
		return;
	}
	finding.state = FINDING_NOTE;
	doctor_say(
		doctor, &finding,
		"run as root, or grant CAP_SYS_ADMIN; or use Linux 6.10 or later with CAP_BPF and "
		"CAP_PERFMON; or grant CAP_PERFMON and CAP_DAC_OVERRIDE and mount tracefs at "
		"/sys/kernel/tracing; or go without --kind alloc, lock and exceptions",
		"probe points cannot be opened: %s", why);
}

static void check_perf(struct doctor *doctor)
{
	const struct finding finding = {.check = "perf-events", .state = FINDING_OK};
	const int fd = open_event(PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_CLOCK);

	if (fd < 0) {
		say_forbidden(doctor, fd);
		return;
	}
	close(fd);
	doctor_say(doctor, &finding, NULL, "the whole system can be sampled, kernel included");
	check_hardware(doctor);
	if (check_rate(doctor))
		check_rings(doctor);
	check_threads(doctor);
	check_short_waits(doctor);
	check_uprobes(doctor);
}

/* ---- rights ---- */

static void check_capabilities(struct doctor *doctor)
{
	static const struct {
		int bit;
		const char *name, *without;
	} wanted[] = {
		{CAP_SYS_PTRACE, "CAP_SYS_PTRACE",
		 "other users' processes cannot be looked into: libraries without names, "
		 "[interpreted] frames, stacks that are not whole"},
		{CAP_DAC_READ_SEARCH, "CAP_DAC_READ_SEARCH",
		 "files that their owner alone may read have no names"},
	};

	for (size_t i = 0; i < sizeof(wanted) / sizeof(*wanted); i++) {
		const bool has = capability_is_effective(wanted[i].bit) ||
				 (wanted[i].bit == CAP_DAC_READ_SEARCH &&
				  capability_is_effective(CAP_DAC_OVERRIDE));
		const struct finding finding = {
			.check = "capabilities",
			.state = has				   ? FINDING_OK
				 : wanted[i].bit == CAP_SYS_PTRACE ? FINDING_PROBLEM
								   : FINDING_NOTE,
			.object = wanted[i].name,
		};
		char fix[128];

		snprintf(fix, sizeof(fix), "run as root, or grant %s (Docker: --cap-add %s)",
			 wanted[i].name, wanted[i].name + strlen("CAP_"));
		doctor_say(doctor, &finding, has ? NULL : fix, "%s",
			   has ? "is there" : wanted[i].without);
	}
}

static bool may_open_in_roots(void)
{
	const struct open_how how = {.flags = O_PATH | O_CLOEXEC, .resolve = RESOLVE_IN_ROOT};
	const int fd = (int)syscall(SYS_openat2, AT_FDCWD, "/", &how, sizeof(how));

	if (fd >= 0)
		close(fd);
	return fd >= 0;
}

static bool may_read_memory(void)
{
	char from = 'x', to = ' ';
	struct iovec local = {&to, 1}, remote = {&from, 1};

	return process_vm_readv(getpid(), &local, 1, &remote, 1, 0) == 1;
}

/* Tries, on this process, system calls that a seccomp filter for other programs may forbid. */
static void check_calls(struct doctor *doctor)
{
	const struct {
		const char *name, *without;
		bool may;
	} calls[] = {
		{"openat2",
		 "files of containers are not read, and names of their libraries missing",
		 may_open_in_roots()},
		{"process_vm_readv",
		 "names of interpreted methods, names of threads past 15 bytes and all names of "
		 "JVMs without the agent are missing",
		 may_read_memory()},
	};
	const struct finding bad = {.check = "system-calls", .state = FINDING_PROBLEM};
	const struct finding good = {.check = "system-calls", .state = FINDING_OK};
	bool has_all = true;

	for (size_t i = 0; i < sizeof(calls) / sizeof(*calls); i++) {
		if (!calls[i].may)
			doctor_say(doctor, &bad,
				   "let the seccomp profile allow openat2 and process_vm_readv "
				   "(Docker: --security-opt seccomp=PROFILE; Kubernetes: "
				   "seccompProfile)",
				   "%s is not allowed%s: %s", calls[i].name, other_hand(),
				   calls[i].without);
		has_all &= calls[i].may;
	}
	if (has_all)
		doctor_say(doctor, &good, NULL, "what is needed is allowed");
}

static void check_yama(struct doctor *doctor)
{
	const long scope = read_setting("/proc/sys/kernel/yama/ptrace_scope", 0);
	const struct finding finding = {.check = "yama", .state = FINDING_PROBLEM};

	if (scope >= 3)
		doctor_say(doctor, &finding,
			   "set kernel.yama.ptrace_scope to 2 or less at boot (3 cannot be undone)",
			   "kernel.yama.ptrace_scope is %ld: no process may look into another, "
			   "root neither",
			   scope);
}

/* ---- names, namespaces ---- */

static void check_kernel_names(struct doctor *doctor)
{
	struct kernel_symbols *symbols = NULL;
	const int err = kernel_symbols_load(&symbols);
	const struct finding bad = {.check = "kernel-symbols", .state = FINDING_PROBLEM};
	const struct finding good = {.check = "kernel-symbols", .state = FINDING_OK};
	const struct kernel_rights rights = kernel_rights_read(err);
	char sentence[512], *remedy;

	if (err) {
		kernel_hidden_sentence(&rights, sentence, sizeof(sentence));
		remedy = strstr(sentence, ": ");
		if (remedy)
			*remedy = '\0';
		doctor_say(doctor, &bad, remedy ? remedy + 2 : NULL, "%s", sentence);
		return;
	}
	doctor_say(doctor, &good, NULL, "%zu", kernel_symbols_count(symbols));
	kernel_symbols_free(symbols);
}

static void check_namespace(struct doctor *doctor)
{
	const struct finding bad = {.check = "pid-namespace", .state = FINDING_PROBLEM};
	const struct finding nested = {.check = "pid-namespace", .state = FINDING_NOTE};
	const struct finding good = {.check = "pid-namespace", .state = FINDING_OK};
	struct stat st;

	if (stat("/proc/self/ns/pid", &st) == 0 && st.st_ino == FIRST_PID_NAMESPACE)
		doctor_say(doctor, &good, NULL, "all processes of the host can be seen");
	else if (mount_namespace_is_other(1, NULL) > 0) /* PID 1 is outside of this container */
		doctor_say(
			doctor, &nested,
			"run the collector with the host's PIDs, unless these are a node's: docker "
			"run --pid=host, Kubernetes: hostPID: true",
			"the processes that can be seen are another container's, a node's as of "
			"kind or a pod's: those outside of it are not sampled");
	else
		doctor_say(
			doctor, &bad,
			"run the collector with the host's PIDs: docker run --pid=host, "
			"Kubernetes: hostPID: true",
			"this process sees the PIDs of its own container only: samples of others "
			"belong to nobody, and their agents are refused");
}

static void check_hidden_pids(struct doctor *doctor)
{
	_cleanup_free_ char *mounts = NULL;
	const struct finding finding = {.check = "hidden-pids", .state = FINDING_PROBLEM};

	if (geteuid() == 0 || capability_is_effective(CAP_SYS_PTRACE) ||
	    file_read_whole("/proc/self/mounts", 1 << 20, &mounts) < 0)
		return;
	for (const char *line = strtok(mounts, "\n"); line; line = strtok(NULL, "\n")) {
		const char *hide = strstr(line, "hidepid=");

		if (strstr(line, " /proc proc ") && hide && strncmp(hide, "hidepid=0", 9) != 0 &&
		    strncmp(hide, "hidepid=off", 11) != 0)
			doctor_say(doctor, &finding,
				   "run as root, grant CAP_SYS_PTRACE, or mount -o "
				   "remount,hidepid=0 /proc",
				   "/proc hides other users' processes (%.20s)", hide);
	}
}

void doctor_check_host(struct doctor *doctor)
{
	check_perf(doctor);
	check_capabilities(doctor);
	check_calls(doctor);
	check_yama(doctor);
	check_kernel_names(doctor);
	check_namespace(doctor);
	check_hidden_pids(doctor);
}
