// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   whatever takes samples for one recording -> records, and what becomes of its samples
 * units:   CLOCK_MONOTONIC nanoseconds, bytes
 * threads: the model's
 * errors:  as said at each operation
 * source:  none
 *
 * A recording has a list of sources, as it has a list of sinks. There are three: the sampler
 * (source_cpu.c), the clock of threads (source_threads.c), and the probes (source_probes.c). A
 * struct sample_source is the first member of a larger structure. A source claims some of the
 * numbers of enum sample_of, or numbers behind them, and decides alone what samples with these
 * numbers are: the recording knows how a stack is walked and named, and none of the kinds.
 *
 * Life cycle: read and received as records come; take, then keep for each sample that leaves the
 * hold; advance at each turn; stop, then end, then free. An operation that is NULL does nothing.
 */
#ifndef FG_RECORDING_SOURCE_H
#define FG_RECORDING_SOURCE_H

#include "process/process.h"
#include "sample/record.h"
#include "sinks/named_sample.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct recording;
struct recording_model;
struct recording_status;
struct sample_source;

/* What a source gives its records to. */
struct recording_context {
	struct recording *recording;
	struct recording_model *model;
};

/* The processes whose samples are wanted. */
struct source_wanted {
	const pid_t *pids;
	const uint64_t *groups; /* by owner, see guard/owner.h */
	const struct process *const *processes;
	size_t n;
	uint64_t now_ns;
};

/* A sample that has left the hold. */
struct source_sample {
	const struct recording_context *context;
	struct process *process; /* NULL: not known, or gone */
	const struct record *record;
	struct record changed; /* room for take: record may point here afterwards */
};

/* What is to become of a sample. */
enum source_verdict {
	SOURCE_NAMES, /* its stack is walked and named, and comes to keep */
	SOURCE_TAKEN, /* the source has taken and counted it */
	SOURCE_WAITS, /* something is missing: it is put back, and taken again */
};

struct sample_source_ops {
	/*
	 * Gives the records that there are to recording_receive, for a turn at most. True: more are
	 * there.
	 */
	bool (*read)(struct sample_source *source, const struct recording_context *context);
	/*
	 * Sees a sample of any source, and forks and ends of known processes, before they are held.
	 * process NULL: it is not known.
	 */
	void (*received)(struct sample_source *source, struct recording *recording,
			 const struct process *process, const struct record *record);
	/* Only if is_told: these processes and no others are wanted. */
	void (*want)(struct sample_source *source, const struct recording_context *context,
		     const struct source_wanted *wanted);
	/* Decides about a sample of the source, or about an event; NULL: SOURCE_NAMES. */
	enum source_verdict (*take)(struct sample_source *source, struct source_sample *sample);
	/* Keeps its named sample; NULL: recording_keep does. */
	void (*keep)(struct sample_source *source, const struct source_sample *sample,
		     struct named_sample *named);
	/* Sees a named sample of any source, after it has been kept. named may be changed. */
	void (*kept)(struct sample_source *source, struct recording *recording,
		     struct named_sample *named);
	/* Counts, and does what is due; samples before until_ns have been taken, if not stopped. */
	void (*advance)(struct sample_source *source, const struct recording_context *context,
			uint64_t until_ns);
	/* Takes no sample from end_ns on. */
	void (*stop)(struct sample_source *source, uint64_t end_ns);
	/* Whether all records up to the recording's end have been read; NULL: they have. */
	bool (*is_read)(const struct sample_source *source);
	/*
	 * All samples have been taken: keeps what was waiting for that. False: call it again at the
	 * next turn. NULL: true.
	 */
	bool (*end)(struct sample_source *source, const struct recording_context *context);
	void (*status)(const struct sample_source *source, struct recording_status *ret);
	size_t (*bytes)(const struct sample_source *source);
	void (*free)(struct sample_source *source);
};

struct sample_source {
	const struct sample_source_ops *ops;
	struct sample_source *next;
	unsigned samples; /* mask of 1 << enum sample_of: selected, walked and named */
	unsigned events;  /* likewise, of what is no sample: given to take whosever it is */
	unsigned bare;	  /* of these events, those without a stack */
	bool is_told;	  /* want is called */
};

/* The source of samples, or of events, with the number; NULL: none. */
struct sample_source *sample_source_find(struct sample_source *sources, unsigned number);
/* Adds the source behind all others. */
void sample_source_append(struct sample_source **sources, struct sample_source *source);
/* Whether an event with that number has no stack. */
bool sample_source_is_bare(struct sample_source *sources, unsigned number);
/* Frees the last first: a source may borrow from those before it. */
void sample_source_free_all(struct sample_source *sources);

/*
 * The sources that a recording has, if its options ask for them. Each adds itself to the recording.
 */
int source_cpu_add(const struct recording_context *context);
int source_threads_add(const struct recording_context *context);
int source_probes_add(const struct recording_context *context);

#endif
