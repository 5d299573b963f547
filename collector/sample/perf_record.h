// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   the bytes of one record of a perf ring buffer -> the record, decoded
 * units:   CLOCK_MONOTONIC nanoseconds, PIDs and TIDs as the collector sees them
 * threads: a value; its pointers are borrowed
 * errors:  a record that is shorter than its type needs is -EBADMSG and counted by the caller
 * source:  perf_event_open(2), include/uapi/linux/perf_event.h
 */
#ifndef FG_SAMPLE_PERF_RECORD_H
#define FG_SAMPLE_PERF_RECORD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

enum perf_kind {
	PERF_SAMPLE,
	PERF_MMAP,	/* an executable mapping came into being */
	PERF_EXEC,	/* a process has begun another program */
	PERF_FORK,	/* a thread or process began */
	PERF_EXIT,	/* a thread ended */
	PERF_KSYMBOL,	/* code of the kernel came or went: a BPF program, a trampoline */
	PERF_LOST,	/* the kernel had no room in a ring buffer of samples */
	PERF_LOST_SIDE, /* the kernel had no room in a side ring; set by the sampler */
	PERF_THROTTLED, /* the kernel held the event back for a while */
};

struct perf_sample {
	uint64_t period;
	/* The first address is that of the instruction itself; if false, maybe the one behind. */
	bool is_exact;
	const uint64_t *chain; /* call chain with PERF_CONTEXT_ marks, leaf first */
	uint32_t chain_len;
	/*
	 * The user registers, SAMPLER_REGS_COUNT values, see perf_regs.h. NULL for a thread of the
	 * kernel, for a 32-bit process, and without snapshots.
	 */
	const uint64_t *regs;
	/*
	 * The snapshot: the user stack from the stack pointer upwards, of any length. NULL and 0
	 * if there is none, as always without regs.
	 */
	const uint8_t *stack;
	uint32_t stack_len;
};

struct perf_mmap {
	uint64_t addr, len, file_off;
	uint32_t dev_major, dev_minor;
	uint64_t inode;
	const char *path; /* terminated */
};

struct perf_ksymbol {
	uint64_t addr;
	uint32_t len;
	bool is_bpf, is_gone;
	const char *name; /* terminated */
};

struct perf_record {
	enum perf_kind kind;
	uint64_t time_ns;
	pid_t pid, tid;
	uint32_t cpu;
	union {
		struct perf_sample sample;
		struct perf_mmap mmap;
		struct perf_ksymbol ksymbol;
		struct {
			pid_t parent_pid;
		} fork;
		uint64_t lost; /* the number of lost records */
	};
};

/*
 * Decodes one record as the kernel writes it with sample_id_all and sample_type, which is
 * SAMPLER_TYPE, SAMPLER_TYPE_STACK or SAMPLER_TYPE_EXEC of sampler.h; a sample of SAMPLER_TYPE_EXEC
 * is a PERF_EXEC. Returns 1 and *ret, which borrows from data; 0 for a record that no stage needs,
 * a thread's new name for instance; or -EBADMSG. data is aligned to 8 bytes and len bytes long,
 * perf_event_header included.
 */
int perf_parse(const void *data, size_t len, uint64_t sample_type, struct perf_record *ret);

#endif
