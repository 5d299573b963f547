// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   new code ranges of all processes -> <dir>/jit-<collector's pid>.dump
 * units:   PIDs as the collector sees them, addr in the target, CLOCK_MONOTONIC nanoseconds
 * threads: one at a time
 * errors:  negative errno; a code range that cannot be written is left out whole and counted
 * source:  linux tools/perf/Documentation/jitdump-specification.txt, tools/perf/util/jitdump.c
 *
 * There is one jitdump for all JVMs. perf finds a jitdump by an executable mapping of the file,
 * which the collector keeps until jitdump_close. So a recording of perf must include the collector
 * (-a, or -p JVM,COLLECTOR), and must use the jitdump's clock (-k mono). `perf inject --jit` makes
 * an ELF file of each code load record, beside the jitdump, and adds an event to the recording: the
 * ELF file was mapped at the record's time. A sample from before this time stays unnamed. A later
 * record at the same address goes before an earlier one. There is no record of an unload.
 *
 * At any time the file holds whole records only. The file ends at max_bytes, or where the disk is
 * full. The end is logged once, and code ranges that come later are counted as skipped.
 */
#ifndef FG_MAPS_JITDUMP_H
#define FG_MAPS_JITDUMP_H

#include "base/counters.h"
#include "code/code_map.h"

#include <sys/types.h>

#include <stddef.h>
#include <stdint.h>

#define JITDUMP_MAX_BYTES (UINT64_C(4) << 30)

/* A larger code range is skipped. HotSpot's largest, the interpreter, has less than 1 MiB. */
#define JITDUMP_MAX_CODE_BYTES (4u << 20)

/* The most bytes of the file for one process, so that no process takes the whole file. */
#define JITDUMP_MAX_PROCESS_BYTES (UINT64_C(1) << 30)

/* The most bytes for the source lines of a code range; lines past it are left out. */
#define JITDUMP_MAX_LINE_BYTES (1u << 20)

/* The source line of the code from addr to the addr of the next entry, or to the code's end. */
struct jitdump_line {
	uint64_t addr;
	uint32_t line;
	const char *file;
};

struct jitdump_load {
	pid_t pid;
	uint64_t time_ns;
	const struct code_range *range;
	const struct jitdump_line *lines; /* rising by addr; NULL: no lines are known */
	size_t n_lines;
};

struct jitdump_stats {
	uint64_t written; /* code ranges, also those that are not flushed yet */
	uint64_t skipped; /* code ranges: unreadable, past a limit, or after the file's end */
};
extern const struct counters jitdump_counters;

struct jitdump; /* opaque */

/*
 * Makes the file, with mode 0600: code may hold secrets of its source, and only the collector's
 * user or root can run perf inject on a recording of the collector. A jitdump that an earlier
 * process with the collector's PID left there is replaced; any other file is not. A failure is
 * logged with its remedy.
 */
int jitdump_open(const char *dir, uint64_t max_bytes, struct jitdump **ret);

/* Flushes, writes the close record, unmaps and closes the file, which stays. NULL is legal. */
void jitdump_close(struct jitdump *dump);

/* The next number for a range's dump_index: from 1, one sequence for all processes. */
uint32_t jitdump_number(struct jitdump *dump);

/*
 * Reads the bytes of the code range from the memory of load->pid and adds a code load record.
 * *used_bytes, the bytes of the file that this process has taken so far, grows by the record's
 * size. Returns 0, or negative errno, counted as skipped: -ESRCH: the process is gone; -EPERM;
 * -EFAULT: the range is not mapped; -EFBIG: the range is too large, or the process has had its
 * share; -ENOSPC: the file has ended.
 */
int jitdump_add_load(struct jitdump *dump, const struct jitdump_load *load, uint64_t *used_bytes);

/*
 * Adds a record that the code range, which was added before with this range->dump_index, is still
 * there at load->time_ns. perf then takes the code's mapping to begin anew at this time. Returns 0,
 * or negative errno as jitdump_add_load; counts neither as written nor as skipped.
 */
int jitdump_add_repeat(struct jitdump *dump, const struct jitdump_load *load, uint64_t *used_bytes);

/* When jitdump_step is due: 100 ms after the first record that is not flushed; 0: never. */
uint64_t jitdump_due_ns(const struct jitdump *dump);
void jitdump_step(struct jitdump *dump, uint64_t now_ns);

void jitdump_stats(const struct jitdump *dump, struct jitdump_stats *ret);

#endif
