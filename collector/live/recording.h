// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   one recording: perf records of its own sampler -> a profile
 * units:   CLOCK_MONOTONIC nanoseconds
 * threads: the model's
 * errors:  negative errno, said on stderr by the sampler
 * source:  none
 *
 * The chain of stages is spelled in recording.c, in take_sample. What samples go into is a sink.
 * Life cycle: start, then read and
 * advance until is_done; stop ends it early and keeps what there is.
 */
#ifndef FG_LIVE_RECORDING_H
#define FG_LIVE_RECORDING_H

#include "live/mapping_watch.h"
#include "live/tree_sink.h"
#include "live/window_sink.h"
#include "base/map64.h"
#include "profile/profile_info.h"
#include "render/render.h"
#include "sample/hold.h"
#include "sample/sampler.h"
#include "symbolize/symbolizer.h"
#include "process/selection.h"
#include "process/targets.h"
#include "unwind/unwinder.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/utsname.h>

/* So long from when its agent connects a JVM may end at any moment. */
#define RECORDING_YOUNG_NS UINT64_C(2000000000)
/* So long from when a program begins it may become a JVM; its agent connects soon after. */
#define RECORDING_NEWCOMER_NS UINT64_C(200000000)

/*
 * A sample waits so long for tables of files, beyond HOLD_NS; then it is named without. No process
 * is forgotten before that.
 */
#define RECORDING_PATIENCE_NS UINT64_C(5000000000)
/* Nor does any when so much waits: snapshots would have to be left out. */
#define RECORDING_PATIENCE_BYTES (HOLD_STACKS_BYTES / 4 * 3)

/* Programs that began in processes that were not of interest; past it all are forgotten. */
#define RECORDING_MAX_EXECS 4096

#define RECORDING_ENDLESS_NS (UINT64_MAX / 4)

struct recording_options {
	pid_t pid;		/* 0: any */
	struct selector select; /* by names; of what all, or the lack of it, leaves */
	bool all;		/* processes without an agent too */
	bool by_pid, by_thread; /* in the graph */
	bool cuts_carriers;	/* a virtual thread's stack ends where it was mounted */
	unsigned hz;
	char event[32]; /* "" the best there is */
	uint64_t duration_ns;
	uint32_t stack_bytes; /* of the snapshots that stacks are unwound from; 0: frame pointers */
	struct java_name_options names;
	enum demangle_style cxx_names;
	bool has_native_lines;
	uint32_t window_seconds; /* 0: all is kept; else the last seconds alone, see window */
};

struct recording_status {
	uint64_t elapsed_ns;
	uint64_t samples, lost;
	uint32_t jvms; /* that samples can be of; without a window also those that have ended */
	bool is_done;
	struct profile_quality quality;
	char event[32];
};

struct recording_counts {
	uint64_t waits;		 /* samples that waited for a table */
	uint64_t hurried;	 /* samples that were named although a table was still missing */
	uint64_t unread;	 /* processes that were too many to be looked at as they began */
	uint64_t heard;		 /* records of what happened to processes */
	uint64_t lost;		 /* the kernel's count of those without room */
	uint64_t reread;	 /* processes whose mappings were read again */
	uint64_t reread_put_off; /* samples whose process would have been, and had to wait */
};

struct recording {
	struct recording_options options;
	struct selection selection; /* of options.select */
	struct sampler *sampler;
	struct hold hold;
	struct sink *sinks;	       /* owned */
	struct tree_sink *tree;	       /* one of them, or NULL */
	struct window_sink *window;    /* one of them, or NULL */
	struct sink_progress progress; /* that they were told of last */
	uint64_t start_ns, end_ns;
	uint64_t start_unix_ns; /* start_ns by the wall clock */
	struct utsname host;
	const char *host_name; /* what FGCOLLECT_HOST says, else that of host */
	char boot_id[40];
	bool is_done;
	bool is_hung_up;	 /* its descriptors tell nothing any more; the rings still do */
	bool has_more;		 /* samples whose time has come: others wait for their turn, too */
	bool is_waiting;	 /* the oldest sample, for a table */
	uint64_t waiting_since;	 /* the table cache's count of loads then */
	struct map64 execs;	 /* PID -> time, of processes that were not of interest then */
	uint64_t young_until_ns; /* a process has become a JVM that may end before that */
	uint64_t hasty_until_ns; /* its rings are read more often until then */
	uint64_t newcomer_until_ns; /* a program has begun that may become a JVM before that */
	uint64_t deep_stacks;	    /* so many had been walked, if that is known */
	bool knows_depth;
	uint64_t budget_ns; /* when the next look at processes that nobody knew may begin */
	unsigned budget;    /* how many are left until then */
	struct mapping_watch mappings;
	struct recording_counts counts;
	struct recording *next; /* the engine's */
	uint32_t id;
	uint64_t asked_ns; /* when its client last asked for it; 0: it has no client */
};

/* What a recording works with and does not own. */
struct recording_model {
	struct targets *targets;
	struct table_cache *tables;
	struct unwinder *unwinder;
	struct symbolizer *symbolizer;
	void (*on_jvm)(void *arg, pid_t pid); /* that process becomes one; NULL: nobody asks */
	void *on_jvm_arg;
};

/*
 * sink takes the samples, and is the recording's from here on, whatever is returned. NULL: a tree
 * does, or a window if options have one.
 */
int recording_start(const struct recording_options *options, struct recording_model *model,
		    struct sink *sink, struct recording **ret);
void recording_free(struct recording *recording); /* NULL is legal */

/* A process has become known: takes hold of its files if samples of it are wanted. */
void recording_meet(struct recording *recording, struct recording_model *model,
		    struct process *process);
/* Takes what the rings hold. */
void recording_read(struct recording *recording, struct recording_model *model);
/* Takes one record of them: notes what cannot wait, and holds it. */
void recording_hear(struct recording *recording, struct recording_model *model,
		    const struct perf_record *record);
/* Where a sample says that the mappings that are known may not be all. */
struct recording_miss {
	uint64_t time_ns; /* of the sample */
	bool has_missed;  /* at one of its addresses nothing is known */
};

/* Reads the process's mappings anew if that is due; whether there were any that nobody knew. */
bool recording_read_mappings(struct recording *recording, struct recording_model *model,
			     struct process *process, const struct recording_miss *miss);
/* Names what has been held long enough; finishes when all up to the end has been. */
void recording_advance(struct recording *recording, struct recording_model *model, uint64_t now_ns);
/*
 * So many stacks deeper than their copies, or in the heap, have been walked by now. Where there are
 * any, the rest is read from the process when the ring is, and has changed the less the sooner that
 * is: so rings are read more often for a second.
 */
void recording_note_depth(struct recording *recording, uint64_t deep_stacks, uint64_t now_ns);
/* No samples after now_ns. */
void recording_stop(struct recording *recording, uint64_t now_ns);

void recording_status(const struct recording *recording, const struct recording_model *model,
		      uint64_t now_ns, struct recording_status *ret);

/* What is known beside the samples; its texts are the recording's, or for ever. */
void recording_info(const struct recording *recording, uint64_t now_ns, struct profile_info *ret);
/* Its tree as a file of that format; with options' info and timeline in place of what is there. */
int recording_render(struct recording *recording, enum render_format format,
		     const struct render_options *options, FILE *stream);

/* What its window holds, as a file of render's RENDER_RECORDING. */
int recording_write_window(const struct recording *recording, FILE *stream);

/* Before names are asked for: what is no JVM is wanted with all, what has a PID by that. */
bool recording_is_of_interest(const struct recording_options *options,
			      const struct process *process);
/* Whether samples of this process belong to it; NULL: one that is gone. */
bool recording_selects(struct recording *recording, const struct process *process);
/* The same before there is a recording; by a name that several fit, of all these. */
bool recording_wants(const struct recording_options *options, const struct process *process);
/* Whether this one does: it may be of what ran in the process before. */
bool recording_wants_sample(struct recording *recording, const struct process *process,
			    const struct perf_record *record);

#endif
