// SPDX-License-Identifier: Apache-2.0
/*
 * Opens perf events at a place of a file, see uprobe.h. An event of the uprobe PMU has
 *
 *   type     of /sys/bus/event_source/devices/uprobe/type
 *   config1  a pointer to the file's path
 *   config2  the offset of the instruction
 *   config   the offset of the semaphore, in the bits that format/ref_ctr_offset names
 */
#include "sample/uprobe.h"

#include "base/capability.h"
#include "base/cleanup.h"
#include "base/file.h"
#include "sample/uprobe_multi.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>

#define PMU_DIR	  "/sys/bus/event_source/devices/uprobe/"
#define ENOTSUPP  524 /* the kernel's own, which it also gives to programs */
#define NEVER_RUN 0   /* a file begins with its headers */
#define N_WAYS	  3

/* The best one first. An error of the PMU says most about what is missing. */
static const enum uprobe_way ways[N_WAYS] = {UPROBE_LINK, UPROBE_PMU, UPROBE_LINE};

static int open_perf_event(const struct perf_event_attr *attr, const struct uprobe_who *who)
{
	const int fd = (int)syscall(SYS_perf_event_open, attr, who->pid, who->cpu, -1,
				    PERF_FLAG_FD_CLOEXEC);

	return fd < 0 ? -errno : fd;
}

/* ---- the PMU ---- */

static int read_type(uint32_t *ret)
{
	char text[32], *end;
	const ssize_t len = file_read_small(PMU_DIR "type", text, sizeof(text));

	if (len < 0)
		return len == -ENOENT ? -EOPNOTSUPP : (int)len;
	*ret = (uint32_t)strtoul(text, &end, 10);
	return end == text ? -EBADMSG : 0;
}

/* The value of config that says where the semaphore is. */
static int place_semaphore(uint64_t semaphore_off, uint64_t *ret)
{
	char text[32];
	unsigned first, last;

	if (semaphore_off == 0) {
		*ret = 0;
		return 0;
	}
	if (file_read_small(PMU_DIR "format/ref_ctr_offset", text, sizeof(text)) < 0)
		return -EOPNOTSUPP;
	if (sscanf(text, "config:%u-%u", &first, &last) != 2 || first > last || last > 63)
		return -EOPNOTSUPP;
	if (last - first < 63 && semaphore_off >> (last - first + 1))
		return -EINVAL;
	*ret = semaphore_off << first;
	return 0;
}

static int open_by_pmu(const struct uprobe_place *place, const struct uprobe_who *who)
{
	struct perf_event_attr attr = {
		.size = sizeof(attr),
		.disabled = who->is_disabled,
		.config2 = place->file_off,
	};
	char path[64];
	int err;

	err = read_type(&attr.type);
	if (!err) {
		uint64_t config = 0;

		err = place_semaphore(place->semaphore_off, &config);
		attr.config = config;
	}
	if (err)
		return err;
	snprintf(path, sizeof(path), "/proc/self/fd/%d", place->file_fd);
	attr.config1 = (uintptr_t)path;
	return open_perf_event(&attr, who);
}

/* ---- links ---- */

static int open_by_link(const struct uprobe_place *place, const struct uprobe_who *who)
{
	if (who->program_fd <= 0 || who->pid <= 0)
		return -EOPNOTSUPP;
	return uprobe_multi_open(place->file_fd, place->file_off, place->semaphore_off, who->pid,
				 who->program_fd);
}

/* ---- lines ---- */

static int open_by_line(struct uprobe *uprobe, const struct uprobe_who *who)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_TRACEPOINT,
		.size = sizeof(attr),
		.disabled = who->is_disabled,
	};
	int err = 0, fd;

	if (!uprobe->line.name[0])
		err = uprobe_line_add(uprobe->place.file_fd, uprobe->place.file_off,
				      uprobe->place.semaphore_off, &uprobe->line);
	if (err)
		return err;
	attr.config = uprobe->line.id;
	fd = open_perf_event(&attr, who);
	if (fd < 0 && uprobe->way == UPROBE_ANY)
		(void)uprobe_line_remove(&uprobe->line);
	return fd;
}

/* ---- reasons ---- */

static const char *pmu_reason(int err, bool is_admin)
{
	switch (-err) {
	case EACCES:
	case EPERM:
		return is_admin ? "the kernel refuses uprobes although CAP_SYS_ADMIN is there: "
				  "lockdown, "
				  "a security module or seccomp"
				: "CAP_SYS_ADMIN is missing, without which the kernel opens no "
				  "uprobes "
				  "since the fix for CVE-2025-38466";
	case EOPNOTSUPP:
		return "the kernel has no uprobes, or cannot raise a semaphore: use Linux 4.20 or "
		       "later "
		       "with CONFIG_UPROBE_EVENTS";
	case ENOENT:
		return "the file cannot be found by its descriptor: /proc is not there";
	default:
		return NULL;
	}
}

static const char *link_reason(int err)
{
	switch (-err) {
	case EACCES:
	case EPERM:
		return "CAP_BPF or CAP_PERFMON is missing, with which BPF programs are linked to "
		       "uprobes";
	case EOPNOTSUPP:
		return "the kernel links no BPF programs to uprobes of a process (Linux 6.10 does)";
	default:
		return NULL;
	}
}

static const char *line_reason(int err)
{
	switch (-err) {
	case EACCES:
	case EPERM:
		return "the trace file system may not be written, or CAP_PERFMON is missing: grant "
		       "CAP_PERFMON and CAP_DAC_OVERRIDE";
	case ENOENT:
		return "no trace file system with uprobes is mounted at /sys/kernel/tracing";
	case EROFS:
		return "the trace file system is mounted read-only";
	default:
		return NULL;
	}
}

static const char *reason_of(int err)
{
	switch (-err) {
	case EINVAL:
		return "the kernel refuses the place: another tracer has opened it with another "
		       "semaphore, or no instruction begins there";
	case ENOTSUPP:
		return "the instruction there cannot be probed";
	case EBUSY:
		return "the place is busy: another tracer is changing it";
	case EIO:
		return "the kernel cannot read the file's code";
	case ESRCH:
		return "the process is gone";
	default:
		return strerror(-err);
	}
}

void uprobe_explain(enum uprobe_way way, int err, bool is_admin, char why[UPROBE_WHY_BYTES])
{
	const char *reason;

	if (way == UPROBE_PMU)
		reason = pmu_reason(err, is_admin);
	else
		reason = way == UPROBE_LINK ? link_reason(err) : line_reason(err);
	snprintf(why, UPROBE_WHY_BYTES, "%s", reason ? reason : reason_of(err));
}

/* ---- all ---- */

void uprobe_init(struct uprobe *uprobe, const struct uprobe_place *place, enum uprobe_way way)
{
	*uprobe = (struct uprobe){.place = *place, .way = way};
}

static void say(enum uprobe_way way, int err, char why[UPROBE_WHY_BYTES])
{
	uprobe_explain(way, err, capability_is_effective(CAP_SYS_ADMIN), why);
}

/* Why no way can be had: each reason has its part of the room. */
static void say_all(char whys[][UPROBE_WHY_BYTES], size_t n, char why[UPROBE_WHY_BYTES])
{
	size_t len = 0;

	for (size_t i = 0; i < n; i++)
		len += (size_t)snprintf(why + len, UPROBE_WHY_BYTES - len, "%s%.*s",
					i > 0 ? "; and " : "", (int)(UPROBE_WHY_BYTES / n - 8),
					whys[i]);
}

static int open_by(enum uprobe_way way, struct uprobe *uprobe, const struct uprobe_who *who,
		   char why[UPROBE_WHY_BYTES])
{
	int fd;

	if (way == UPROBE_PMU)
		fd = open_by_pmu(&uprobe->place, who);
	else if (way == UPROBE_LINK)
		fd = open_by_link(&uprobe->place, who);
	else
		fd = open_by_line(uprobe, who);
	if (fd < 0) {
		say(way, fd, why);
		return fd;
	}
	uprobe->way = way;
	why[0] = '\0';
	return fd;
}

/* Whether the way is refused everywhere, so that another way can help. */
static bool is_refused(enum uprobe_way way, int err)
{
	if (way == UPROBE_LINE)
		return line_reason(err) != NULL;
	return err == -EACCES || err == -EPERM || err == -EOPNOTSUPP;
}

int uprobe_open_event(struct uprobe *uprobe, const struct uprobe_who *who,
		      char why[UPROBE_WHY_BYTES])
{
	char whys[N_WAYS][UPROBE_WHY_BYTES];
	int fd, pmu_err = 0;

	if (uprobe->way != UPROBE_ANY)
		return open_by(uprobe->way, uprobe, who, why);
	for (size_t i = 0; i < N_WAYS; i++) {
		fd = open_by(ways[i], uprobe, who, whys[i]);
		if (fd >= 0 || !is_refused(ways[i], fd)) {
			memcpy(why, whys[i], UPROBE_WHY_BYTES);
			return fd;
		}
		pmu_err = ways[i] == UPROBE_PMU ? fd : pmu_err;
	}
	say_all(whys, N_WAYS, why);
	return pmu_err;
}

int uprobe_fini(struct uprobe *uprobe)
{
	return uprobe_line_remove(&uprobe->line);
}

/* As uprobe_open_event, and closes all. */
static int try_way(const struct uprobe_place *place, enum uprobe_way way,
		   char why[UPROBE_WHY_BYTES])
{
	const struct uprobe_who who = {.pid = getpid(), .cpu = -1, .is_disabled = true};
	struct uprobe uprobe;
	int fd;

	if (way == UPROBE_LINK) { /* which takes no place that never runs */
		fd = uprobe_multi_check();
		say(way, fd, why);
		return fd;
	}
	uprobe_init(&uprobe, place, way);
	fd = uprobe_open_event(&uprobe, &who, why);
	if (fd >= 0)
		close(fd);
	(void)uprobe_fini(&uprobe);
	return fd < 0 ? fd : 0;
}

int uprobe_check(enum uprobe_way *ret, char why[UPROBE_WHY_BYTES])
{
	_cleanup_close_ int file_fd = open("/proc/self/exe", O_PATH | O_CLOEXEC);
	const struct uprobe_place place = {.file_fd = file_fd, .file_off = NEVER_RUN};
	char whys[N_WAYS][UPROBE_WHY_BYTES];
	int err, pmu_err = 0;

	for (size_t i = 0; i < N_WAYS; i++) {
		err = try_way(&place, ways[i], whys[i]);
		if (!err) {
			snprintf(why, UPROBE_WHY_BYTES, "%s", i > 0 ? whys[i - 1] : "");
			*ret = ways[i];
			return 0;
		}
		pmu_err = ways[i] == UPROBE_PMU ? err : pmu_err;
	}
	say_all(whys, N_WAYS, why);
	return pmu_err;
}
