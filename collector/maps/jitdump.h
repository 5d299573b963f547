// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   pieces of code as they are born, of any process -> <dir>/jit-<own pid>.dump
 * units:   PIDs as the collector sees them, addr in the target, CLOCK_MONOTONIC nanoseconds
 * threads: one at a time
 * errors:  negative errno; what cannot be written is left out whole and counted
 * source:  linux tools/perf/Documentation/jitdump-specification.txt, tools/perf/util/jitdump.c
 *
 * One file for all JVMs. perf finds it by an executable mapping of it, which this process has until
 * jitdump_close: so a recording must include this process (-a, or -p JVM,COLLECTOR), and use the
 * same clock (-k mono). `perf inject --jit` then makes an ELF file beside it of each record, and
 * says in the recording that it was mapped at the record's time: a sample before it stays unnamed,
 * and a later record at the same address wins. There is no record of an unload.
 *
 * The file holds whole records only, whenever it is looked at. It has max_bytes at most; there, or
 * where the disk is full, it ends, which is logged once, and all that follows is counted as
 * skipped.
 */
#ifndef FG_MAPS_JITDUMP_H
#define FG_MAPS_JITDUMP_H

#include "code/code_map.h"

#include <sys/types.h>

#include <stddef.h>
#include <stdint.h>

#define JITDUMP_MAX_BYTES (UINT64_C(4) << 30)

/* Larger pieces are skipped. The largest of HotSpot's, its interpreter, has less than 1 MiB. */
#define JITDUMP_MAX_CODE_BYTES (4u << 20)

/* The most that one process may take, so that none takes it all. */
#define JITDUMP_MAX_PROCESS_BYTES (UINT64_C(1) << 30)

/* Source lines past these are left out, the last first. */
#define JITDUMP_MAX_LINE_BYTES (1u << 20)

/* From addr to the next entry's or the end of the code, it is this line's. */
struct jitdump_line {
	uint64_t addr;
	uint32_t line;
	const char *file;
};

struct jitdump_load {
	pid_t pid;
	uint64_t time_ns;
	const struct code_range *range;
	const struct jitdump_line *lines; /* rising by addr; NULL: none are known */
	size_t n_lines;
};

struct jitdump_stats {
	uint64_t written; /* pieces of code, those included that are not flushed yet */
	uint64_t skipped; /* unreadable or too large, or after the file's end */
};

struct jitdump; /* opaque */

/*
 * Makes the file, 0600: code may hold what its source calls a secret, and who may run perf inject
 * on a recording of this process is its user or root. A file that an earlier process of the same
 * PID left there is replaced, any other is not. What fails is said on stderr, with the remedy.
 */
int jitdump_open(const char *dir, uint64_t max_bytes, struct jitdump **ret);

/* Flushes, writes the end and unmaps it; the file stays for perf inject. NULL is legal. */
void jitdump_close(struct jitdump *dump);

/* The next range->dump_index: from 1, for all processes. */
uint32_t jitdump_number(struct jitdump *dump);

/*
 * Reads the code of load->pid and adds it to what will be written. *used_bytes, what that process
 * has taken so far, grows by what it takes. 0, or negative errno, which is counted:
 * -ESRCH: the process is gone; -EPERM; -EFAULT: nothing is there; -EFBIG: too large, or the process
 * has had its share; -ENOSPC: the file has ended.
 */
int jitdump_add_load(struct jitdump *dump, const struct jitdump_load *load, uint64_t *used_bytes);

/*
 * Says again, since load->time_ns, what was added before with the same range->dump_index: for perf,
 * whatever the kernel told it of that place until then has ended. 0, or negative errno as above; it
 * counts neither as written nor as skipped.
 */
int jitdump_add_repeat(struct jitdump *dump, const struct jitdump_load *load, uint64_t *used_bytes);

/* 0, or when jitdump_step has something to do: 100 ms after the first load that is not flushed. */
uint64_t jitdump_due_ns(const struct jitdump *dump);
void jitdump_step(struct jitdump *dump, uint64_t now_ns);

void jitdump_stats(const struct jitdump *dump, struct jitdump_stats *ret);

#endif
