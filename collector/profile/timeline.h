// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   samples -> the time, thread and leaf node of each
 * units:   nanoseconds since the recording's start; buckets of bucket_ns; weights as the profile's
 * threads: one at a time while it grows; immutable and free to share once it is complete
 * errors:  -ENOMEM; past the limits below a sample is left out and counted
 * source:  the sub-second heat map of FlameScope; a bucket divides a second evenly
 *
 * Times and threads are not frames of the tree: they are kept beside it, so that the tree can be
 * filtered by thread or time and equal stacks stay one. Equal samples of one bucket are one entry.
 * A bucket is a 64th of a second at first. The bucket's length doubles when a recording would have
 * more than TIMELINE_MAX_BUCKETS, or when entries run out. Texts are copied.
 *
 * A sample that is left out here is still in the profile. lost_samples counts such samples, and the
 * timeline's owner shows that number.
 */
#ifndef FG_PROFILE_TIMELINE_H
#define FG_PROFILE_TIMELINE_H

#include "base/intern.h"
#include "base/map64.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define TIMELINE_BUCKET_NS UINT64_C(15625000) /* a 64th of a second */
/* four minutes of buckets of a 64th of a second */
#define TIMELINE_MAX_BUCKETS 16384u
#define TIMELINE_MAX_ENTRIES 4000000u /* of 16 bytes */
/* beyond it, one row stands for the other threads of a process */
#define TIMELINE_MAX_THREADS	65536u
#define TIMELINE_MAX_NAMES	256u	    /* of a thread; samples of the rest are one row */
#define TIMELINE_MAX_TEXT_BYTES (16u << 20) /* beyond it, new names are not kept */
#define TIMELINE_MAX_PROCESSES	4096u	    /* beyond it, samples are left out */
#define TIMELINE_MAX_PIECES	64u	    /* entries of one sample: 256 GiB of an allocation */

/* The name of a row that stands for other threads, and of the pool of threads without a name. */
#define TIMELINE_OTHER_THREADS "[other threads]"
/* The name of a row that stands for the other names of a thread. */
#define TIMELINE_OTHER_NAMES "[other names]"

struct timeline_process {
	pid_t pid;
	const char *title;     /* main class or jar, else comm */
	const char *container; /* its ID, "" if in no container */
	const char *runtime;   /* the JVM's name and version, "" if there is no JVM */
	const char *pod;       /* its name, else its UID, "" if in no pod */
	/* "" where not known: */
	const char *container_name;
	const char *name_space; /* the pod's namespace */
	const char *image;	/* the reference of the container's image */
	const char *service;	/* OpenTelemetry's service.name */
};

/* A row: a thread, as long as it has one name. */
struct timeline_thread {
	uint32_t process; /* index in processes */
	pid_t tid;	  /* 0: the process's threads for which there was no room */
	const char *name; /* "" if none was known */
	/*
	 * What the program itself has marked samples with, "" if with nothing. A line each: the
	 * key, a tab, and a text; or the key, a tab, a number, a tab, and the number's unit. A
	 * thread has a row for each set of labels, as long as half of all rows are free.
	 */
	const char *labels;
	/* Given only: the beginning of name, under which samples stand that came before all of it
	 * was known; NULL or "": there are none. */
	const char *cut_name;
	/* The timeline's own: numbers of rows of the same thread and labels. */
	uint32_t first;	 /* the one that came first */
	uint32_t latest; /* of the first row: the one that was taken last */
	uint32_t next;	 /* the one that was added next; 0: none */
};

struct timeline_entry {
	uint32_t bucket;
	uint32_t thread;
	uint32_t node; /* node of the profile */
	uint32_t weight;
};

struct timeline {
	struct intern texts;
	struct timeline_process *processes;
	struct timeline_thread *threads;
	struct timeline_entry *entries;
	struct map64 process_numbers; /* PID -> number + 1 */
	struct map64 thread_numbers;  /* process, TID and labels -> number of the first row + 1 */
	struct map64 label_numbers;   /* labels' address in texts -> number, from 1 on */
	size_t n_processes, processes_size;
	size_t n_threads, threads_size;
	size_t n_entries, entries_size, max_entries;
	uint64_t bucket_ns;
	bool is_closed; /* no process is added, and no thread but the others; set by the owner */
	uint64_t lost_names;   /* how often a name or labels had no room */
	uint64_t lost_samples; /* samples left out for lack of memory or by a limit */
};

/* max_entries 0: TIMELINE_MAX_ENTRIES. */
void timeline_init(struct timeline *timeline, size_t max_entries);
void timeline_fini(struct timeline *timeline);
/* The memory of entries, threads and texts. */
size_t timeline_bytes(const struct timeline *timeline);

/*
 * The number of a process, which is added if it is new. Texts other than "" replace older texts.
 * UINT32_MAX: no room, and timeline_add counts the sample as left out.
 */
uint32_t timeline_process(struct timeline *timeline, const struct timeline_process *process);
/*
 * The number of a thread's row of that name, which is added if it is new; UINT32_MAX as above. A
 * thread that is renamed has a row for each name. A row without a name takes the first one; without
 * a name the row is the one that was taken last.
 */
uint32_t timeline_thread(struct timeline *timeline, const struct timeline_thread *thread);

/* The name of the process's pod, container or service, see container/place_name.h; borrowed. */
const char *timeline_process_place(const struct timeline_process *process);
/* Writes what people call the process, see container/place_name.h, into ret, terminated. */
void timeline_process_write_called(const struct timeline_process *process, char *ret, size_t size);

/* Adds a sample at at_ns; entry's bucket is ignored. */
void timeline_add(struct timeline *timeline, uint64_t at_ns, const struct timeline_entry *entry);

/*
 * Like timeline_add, with a weight that may have more than 32 bits: as many entries are added as it
 * takes. What TIMELINE_MAX_PIECES entries have no room for is left out. entry's weight is ignored.
 */
void timeline_add_weight(struct timeline *timeline, uint64_t at_ns,
			 const struct timeline_entry *entry, uint64_t weight);

/* Sorts entries by bucket, thread and node, and joins equal ones. More can be added afterwards. */
void timeline_sort(struct timeline *timeline);

#endif
