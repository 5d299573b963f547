// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   samples -> when, on which thread and at which leaf of a profile's tree they were taken
 * units:   nanoseconds since the recording's start; buckets of bucket_ns; weights are samples
 * threads: one at a time while it grows; immutable and free to share once it no longer does
 * errors:  -ENOMEM; past its caps a sample is left out and counted
 * source:  the sub-second heat map of FlameScope's users: a bucket divides a second evenly
 *
 * Beside the tree, not in it: a thread is a dimension of samples, no frame, so that a filter by
 * thread or time leaves stacks together. Equal samples of one bucket are one entry. A bucket is a
 * 64th of a second; it doubles when a recording becomes so long that there are more than
 * TIMELINE_MAX_BUCKETS, or when entries run out. Texts are copied.
 *
 * What was left out is missing here alone: the profile has it. An owner shows lost_samples.
 */
#ifndef FG_PROFILE_TIMELINE_H
#define FG_PROFILE_TIMELINE_H

#include "base/intern.h"
#include "base/map64.h"

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define TIMELINE_BUCKET_NS	UINT64_C(15625000) /* a 64th of a second */
#define TIMELINE_MAX_BUCKETS	16384u		   /* four minutes of the shortest ones */
#define TIMELINE_MAX_ENTRIES	4000000u	   /* of 16 bytes */
#define TIMELINE_MAX_THREADS	65536u	    /* past it, one stands for the rest of a process */
#define TIMELINE_MAX_TEXT_BYTES (16u << 20) /* past it, names stay as they were */
#define TIMELINE_MAX_PROCESSES	4096u	    /* past it, samples are left out */

/* The name of a thread that stands for others, and of the pool of threads without a name. */
#define TIMELINE_OTHER_THREADS "[other threads]"

struct timeline_process {
	pid_t pid;
	const char *title;     /* main class or jar, else comm */
	const char *container; /* its ID, "" if in none */
	const char *runtime;   /* the JVM's name and version, "" if it has none */
	const char *pod;       /* its name, else its UID, "" if in none */
	/* "" where they are not known: */
	const char *container_name;
	const char *name_space; /* the pod's */
};

struct timeline_thread {
	uint32_t process; /* number in processes */
	pid_t tid;	  /* 0: those of the process for which there was no room */
	const char *name; /* the last one known */
};

struct timeline_entry {
	uint32_t bucket;
	uint32_t thread;
	uint32_t node; /* of the profile */
	uint32_t weight;
};

struct timeline {
	struct intern texts;
	struct timeline_process *processes;
	struct timeline_thread *threads;
	struct timeline_entry *entries;
	struct map64 process_numbers; /* PID -> number + 1 */
	struct map64 thread_numbers;  /* PID and TID -> number + 1 */
	size_t n_processes, processes_size;
	size_t n_threads, threads_size;
	size_t n_entries, entries_size, max_entries;
	uint64_t bucket_ns;
	uint64_t lost_names;   /* times that a name had no room */
	uint64_t lost_samples; /* left out: memory, or too many of anything */
};

/* max_entries 0: TIMELINE_MAX_ENTRIES. */
void timeline_init(struct timeline *timeline, size_t max_entries);
void timeline_fini(struct timeline *timeline);

/*
 * The number of a process or of its thread, made on first sight. Texts that are not "" replace
 * what was known. UINT32_MAX if there is no room; timeline_add then counts the sample.
 */
uint32_t timeline_process(struct timeline *timeline, const struct timeline_process *process);
uint32_t timeline_thread(struct timeline *timeline, const struct timeline_thread *thread);

/* entry's bucket is ignored; at_ns says it. */
void timeline_add(struct timeline *timeline, uint64_t at_ns, const struct timeline_entry *entry);

/* Orders entries by bucket, thread and node, and joins equal ones. Adding may go on. */
void timeline_sort(struct timeline *timeline);

#endif
