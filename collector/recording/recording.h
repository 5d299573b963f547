// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   one recording: the perf records of its own sampler -> a profile
 * units:   CLOCK_MONOTONIC nanoseconds
 * threads: the model's
 * errors:  negative errno, said on stderr by the sampler
 * source:  none
 *
 * The chain of stages is spelled in take_sample of recording.c. The sources of a recording give its
 * samples (source.h), the sinks keep them. Life cycle: recording_start, then recording_read and
 * recording_advance until is_done; recording_stop ends a recording early and keeps its samples.
 */
#ifndef FG_RECORDING_RECORDING_H
#define FG_RECORDING_RECORDING_H

#include "base/counters.h"
#include "base/map64.h"
#include "guard/budget.h"
#include "recording/chain.h"
#include "sinks/dump.h"
#include "probes/live_samples.h"
#include "probes/lock_waits.h"
#include "recording/mapping_watch.h"
#include "recording/patience.h"
#include "probes/probe_arms.h"
#include "recording/sample_watch.h"
#include "recording/source.h"
#include "sinks/tree_sink.h"
#include "sinks/window_sink.h"
#include "process/selections.h"
#include "process/targets.h"
#include "profile/profile_info.h"
#include "render/render.h"
#include "sample/hold.h"
#include "sample/sampler.h"
#include "wall/thread_clock.h"
#include "symbolize/symbolizer.h"
#include "unwind/unwinder.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/utsname.h>

/* For this time after its agent has connected, a JVM may end at any moment. */
#define RECORDING_YOUNG_NS UINT64_C(2000000000)
/* For this time after a program has begun, it may become a JVM whose agent connects soon. */
#define RECORDING_PROGRAM_YOUNG_NS UINT64_C(200000000)

/* Limit of struct recording's execs. Past the limit all of them are forgotten. */
#define RECORDING_MAX_EXECS 4096

/* A list of all kinds, as text. */
#define RECORDING_KINDS_BYTES 80

/* Processes that are discovered in a turn: some 3 ms. */
#define RECORDING_DISCOVERIES 16

#define RECORDING_ENDLESS_NS (UINT64_MAX / 4)

/* PIDs beside the first, as of containers and pods (process/selector.h). */
#define RECORDING_MORE_PIDS SELECTOR_MAX_MORE

struct recording_options {
	pid_t pid; /* 0: any */
	pid_t more_pids[RECORDING_MORE_PIDS];
	size_t n_more_pids;	/* 0 without pid */
	struct selector select; /* by names, among the processes that pid and all allow */
	bool all;		/* also processes without an agent */
	unsigned kinds;		/* SAMPLES_OF_CPU and so on; 0: SAMPLES_OF_CPU */
	unsigned hz;
	unsigned wall_hz; /* how often threads are read for time; 0: the usual rate */
	struct thread_clock_waits waits;  /* go with kinds of time */
	struct probe_arms_options probes; /* go with kinds of probes */
	char event[32];			  /* "": the best event of this machine */
	uint64_t duration_ns;
	uint32_t stack_bytes; /* size of a snapshot; 0: no snapshots, frame pointers alone */
	enum sampler_source source;
	unsigned max_samples_hz; /* see sampler_options; 0: the usual number */
	struct chain_style style;
	/*
	 * process_stat_last_pid from before what is meant by name was looked for: who has begun
	 * since is looked at when the recording has begun. 0: nobody is
	 */
	pid_t last_pid;
	bool has_capture; /* a capture is wanted; the recording's caller begins the capture */
	/* 0: all samples are kept; else those of the last seconds, see window.h */
	uint32_t window_seconds;
};

/* What a recording has of one kind of samples. */
struct recording_part {
	const struct sample_kind *kind;
	struct profile_quality quality;
};

/* What is known of the objects of a recording of living objects. */
struct recording_live {
	uint64_t watched;   /* samples whose object was */
	uint64_t dead;	    /* of these */
	uint64_t living;    /* likewise, once the recording has ended */
	uint64_t unwatched; /* samples that others stand for */
	uint64_t left_out;  /* past the limits of memory */
	uint64_t lost;	    /* records that told of deaths, or may have: objects may be dead */
};

struct recording_status {
	uint64_t elapsed_ns;
	/* The kinds that were asked for; the members below that count are those of the first. */
	struct recording_part parts[SAMPLE_KINDS];
	size_t n_parts;
	uint64_t samples, lost;
	/* JVMs that can be sampled; without a window also sampled JVMs that have ended */
	uint32_t jvms;
	uint32_t outside; /* those of them that are, or were, read from outside */
	bool is_done;
	struct profile_quality quality;
	char event[32];
	char source[SAMPLER_SOURCE_BYTES]; /* who takes the samples */
	/* who reads the threads; "": nobody, or not known yet */
	char clock_source[THREAD_CLOCK_WHY_BYTES];
	unsigned wall_hz;		/* 0: threads are not read */
	struct probe_arms_stats probes; /* zero without kinds of probes */
	struct recording_live live;	/* zero unless living objects are recorded */
};

struct recording_counts {
	uint64_t waits;		 /* samples that waited for a table or for mappings */
	uint64_t hurried;	 /* samples that were named while a table was missing */
	uint64_t unread;	 /* processes not read when they began, because too many began */
	uint64_t received;	 /* records other than samples: mappings, forks, execs, exits */
	uint64_t lost;		 /* records about processes that the kernel had no room for */
	uint64_t reread;	 /* processes whose mappings were read again */
	uint64_t merged;	 /* samples for which another one stands: more came than may */
	uint64_t unread_pages;	 /* samples of which a page of the stack was not in memory */
	uint64_t reread_put_off; /* samples whose process had to be read again, and was not yet */
	struct thread_clock_stats clock;   /* of reading threads, and of their waits */
	uint64_t waker_stacks_unnamed;	   /* of processes that were not known any more */
	uint64_t unlisted;		   /* wanted processes for which BPF's table had no room */
	uint64_t probe_lost, probe_merged; /* of lost samples and of merged, those of probes */
	uint64_t probe_senseless;	   /* samples of probes that told what cannot be true */
	uint64_t parked_elsewhere;	   /* samples of threads that parked, but not for a lock */
	struct recording_live live;
	uint64_t outside_left_out;    /* JVMs without an agent past RECORDING_MAX_OUTSIDE */
	uint64_t open_lock_waits;     /* waits that went on at the end, or whose end was lost */
	uint64_t lock_waits_left_out; /* past the limits, or whose begin was not sampled */
};
extern const struct counters recording_counters;

/* Adds what is declared of from. */
void recording_counts_add(struct recording_counts *to, const struct recording_counts *from);

/*
 * What became of the samples that were read from the rings: received is the sum of the others, and
 * of the samples that wait in the hold or were dropped there. A wait for a monitor is two of them,
 * and is one more of kept when it ends; so is an object that lives at the end.
 */
struct recording_samples {
	uint64_t received;
	uint64_t unwanted;    /* of processes or threads that were not selected */
	uint64_t untimely;    /* from before the recording's start, or from behind its end */
	uint64_t running;     /* time on a CPU, which samples of the CPU get */
	uint64_t wakers;      /* stacks of wakers, which are no samples */
	uint64_t senseless;   /* samples of probes that told what cannot be true */
	uint64_t parked;      /* samples of threads that parked, but not for a lock */
	uint64_t waits;	      /* begins and ends of waits for locks; one sample at most is made */
	uint64_t live;	      /* of recordings of living objects: allocations, and deaths */
	uint64_t kept;	      /* given to all sinks */
	uint64_t memory_less; /* a sink had no memory */
};

/* JVMs without an agent that a recording by name may have. */
#define RECORDING_MAX_OUTSIDE 256

/* A JVM without an agent that was found by name. */
struct recording_found {
	pid_t pid;
	uint64_t start_ticks;
};

struct recording {
	struct recording_options options;
	struct selections selections;			       /* made of options.select */
	struct recording_found outside[RECORDING_MAX_OUTSIDE]; /* JVMs without an agent */
	size_t n_outside;
	struct map64 left_out;	       /* PIDs of those past the most: each counts once */
	uint64_t search_ns;	       /* when JVMs without an agent are searched for again */
	uint64_t searched_ns;	       /* when programs that have begun were last searched */
	bool asks_names;	       /* what JVMs without an agent run is wanted */
	struct sample_source *sources; /* owned */
	struct sampler *sampler;       /* the first source's */
	struct waker_stack *waker; /* of the next wait that has one; NULL: wakers are not told */
	bool has_unread;	   /* a source has more records than it gave in the last turn */
	uint64_t lost;		   /* samples for which sources had no room */
	struct hold hold;
	struct sink *sinks;	    /* owned */
	struct sample_watch *watch; /* owned, or NULL */
	/*
	 * Owned, of a recording with a watch, which has seen all that this unwinder's caches know;
	 * or NULL.
	 */
	struct unwinder *unwinder;
	/* the sinks that are trees, one for each kind, in the order of sample_kinds */
	struct tree_sink *trees[SAMPLE_KINDS];
	size_t n_trees;
	struct window_sink *window;    /* the sink that is a window, or NULL */
	struct sink_progress progress; /* as last given to the sinks */
	uint64_t start_ns, end_ns;
	uint64_t start_unix_ns; /* start_ns in the wall clock's time */
	struct utsname host;
	const char *host_name; /* the environment's FGCOLLECT_HOST, else host.nodename */
	char boot_id[40];
	bool is_done;
	/* its descriptors have hung up; its ring buffers can still be read */
	bool is_hung_up;
	bool has_more;	 /* a turn ended before all samples that are due were taken */
	bool is_waiting; /* the oldest held sample waits for a table or for mappings */
	bool is_patient; /* the sample that is taken can wait for mappings */
	bool is_stopped; /* it was asked to end */
	struct patience patience;
	uint64_t retry_ns;	/* when a sample that waits for mappings is taken again; 0: none */
	uint64_t waiting_since; /* table_cache_loads when that wait began */
	/* PID -> time of its last exec, for processes that were not of interest then */
	struct map64 execs;
	uint64_t young_until_ns;	 /* until then a process that has become a JVM may end */
	uint64_t hasty_until_ns;	 /* until then its ring buffers are read more often */
	uint64_t program_young_until_ns; /* until then a program that has begun may become a JVM */
	uint64_t wanted_ns;		 /* the sampler is told again who is wanted, not earlier */
	uint64_t deep_stacks; /* last value given to recording_note_depth, if knows_depth */
	bool knows_depth;
	uint64_t budget_ns;  /* when budget is filled up again */
	pid_t *undiscovered; /* processes known at the start whose files are not held yet */
	size_t n_undiscovered;
	unsigned budget; /* how many more unknown processes may be read until then */
	struct mapping_watch mappings;
	struct recording_counts counts;
	struct recording_samples samples;
	struct recording *next; /* next in the engine's list */
	uint32_t id;
	uint64_t asked_ns;   /* when its client last asked, by guard/loop_clock.h; 0: no client */
	bool is_being_drawn; /* another thread reads the tree: must not be ended */
};

/* What a recording uses and does not own. */
struct recording_model {
	struct targets *targets;
	struct table_cache *tables;
	struct unwinder *unwinder;
	struct symbolizer *symbolizer;
	void (*on_jvm)(void *arg, pid_t pid); /* process pid becomes a JVM; NULL: not called */
	void *on_jvm_arg;
	const struct budget *budget; /* borrowed; NULL: the limits are the greatest ones */
	struct worker *worker;	     /* borrowed, end perf events; NULL: recordings do */
	const struct dump *dump;     /* borrowed; NULL: nothing is dumped */
	bool is_ending;		     /* the program is to end, see PATIENCE_LAST_NS */
	bool has_others;	     /* another recording has yet to name samples by the model */
};

/*
 * Starts sampling. sampler has been opened with recording_sampler_options; NULL: a sampler is
 * opened here, which takes long. sink and the sinks behind it take the samples. The recording owns
 * sampler and sinks, even if an error is returned. sink NULL: the recording makes a window_sink if
 * options have window_seconds, else a tree_sink.
 */
int recording_start(const struct recording_options *options, struct recording_model *model,
		    struct sampler *sampler, struct sink *sink, struct recording **ret);
/* Of the sampler for a recording. The texts of ret belong to options. */
struct sampler_options recording_sampler_options(const struct recording_options *options,
						 const struct recording_model *model);
void recording_free(struct recording *recording); /* NULL is legal */
/*
 * Takes the limits of the model's budget, which has changed. What the recording has beyond them
 * stays until its usual end, and no more comes to it.
 */
void recording_take_budget(struct recording *recording, const struct recording_model *model);

/*
 * Takes hold of the files of a process that has become known, if the recording wants its samples.
 */
void recording_discover(struct recording *recording, struct recording_model *model,
			struct process *process);
/*
 * Notes all known processes, and then discovers at most RECORDING_DISCOVERIES of them at each call.
 */
void recording_note_undiscovered(struct recording *recording, const struct recording_model *model);
void recording_discover_some(struct recording *recording, struct recording_model *model);
/*
 * Whether the sample may wait for tables of files, when samples are taken up to until_ns. Sets
 * is_patient: whether it may wait for what its process does not tell, of which no load gets on.
 */
bool recording_waits_for_tables(struct recording *recording, const struct recording_model *model,
				const struct record *record, uint64_t until_ns);
/*
 * Unwinds and symbolizes the sample. False: tables or mappings are missing, and the sample can wait
 * for them.
 */
bool recording_name_sample(struct recording *recording, struct recording_model *model,
			   struct process *process, const struct record *record,
			   struct named_sample *ret);
/*
 * Keeps the named stack of a waker for the wait that comes next. False: as recording_name_sample.
 */
bool recording_take_waker(struct recording *recording, struct recording_model *model,
			  struct process *process, const struct record *record);
/* The unwinder of the recording's stacks. */
struct unwinder *recording_unwinder(const struct recording *recording,
				    const struct recording_model *model);
/* The kinds of samples that are asked for. */
unsigned recording_kinds(const struct recording_options *options);
/* How often a second threads are read, if they are. */
unsigned recording_wall_hz(const struct recording_options *options);
/* Whether samples of probes are asked for. */
bool recording_has_probes(const struct recording_options *options);
/* Whether there is more than one kind, beside the one that comes with alloc or lock by itself. */
bool recording_has_several(const struct recording_options *options);
/* Whether threads are read, for their time. */
bool recording_has_time(const struct recording_options *options);
/*
 * Whether all processes of the host are to be read at the beginning: those among which a name is
 * looked for, and those whose threads are read. A thread that waits gives no sample by which its
 * process would become known.
 */
bool recording_needs_survey(const struct recording_options *options);
/*
 * The kinds of a list such as "cpu,wall"; "alloc" stands for alloc and objects, "lock" for lock and
 * contentions. 0, and *ret_bad is the first word that is no kind: there is one, or the list is
 * empty.
 */
unsigned recording_kinds_of(const char *list, char ret_bad[16]);
/* "cpu,wall" */
const char *recording_kinds_text(unsigned kinds, char ret[RECORDING_KINDS_BYTES]);

/*
 * Whether JVMs without an agent are searched for by name. With options->all every process is wanted
 * as it is.
 */
bool recording_searches_outside(const struct recording_options *options);
/*
 * Finds the JVMs without an agent that fit by name, among all processes that are known, and wants
 * them (targets_want), up to RECORDING_MAX_OUTSIDE at a time. Those that are known no more make
 * room. Returns how many are new, which are the last of recording->outside.
 */
size_t recording_want_outside(struct recording *recording, struct targets *targets);
void recording_unwant_outside(struct recording *recording, struct targets *targets);
/*
 * Looks now and then for JVMs without an agent that have begun, or whose names have become known.
 * A JVM may map its library some time after its program has begun, when nobody is told of it: so
 * programs that nobody knows are searched RECORDING_PROGRAM_SEARCHES times, the last time when they
 * are 8 s old.
 */
#define RECORDING_PROGRAM_SEARCHES 6
void recording_search_outside(struct recording *recording, struct recording_model *model,
			      uint64_t now_ns);
/*
 * Has programs searched that have begun since options.last_pid, of which no sampler has told. To be
 * called once the sampler is open.
 */
void recording_note_programs(struct recording *recording, const struct targets *targets);
/* Takes a process that maps libjvm.so for a JVM that starts. */
void recording_note_jvm(struct recording *recording, const struct recording_model *model,
			struct process *process, uint64_t time_ns);
/* Takes one of the processes that may be read now. False: no more may. */
bool recording_take_place(struct recording *recording, uint64_t now_ns);

/* Reads the records of all sources. */
void recording_read(struct recording *recording, struct recording_model *model);
/* Gives a named sample to the sinks that want its kind. */
void recording_keep(struct recording *recording, const struct named_sample *named);
/* The same for another value or part of a sample, which does not count as one sample more. */
void recording_keep_more(struct recording *recording, const struct named_sample *named);
/* Handles one record when it is read: does what cannot wait, and adds the record to the hold. */
void recording_receive(struct recording *recording, struct recording_model *model,
		       const struct record *record);
/* recording_receive as a function of what reads records: arg is a struct recording_context. */
void recording_on_record(void *arg, const struct record *record);
/* A sample after which the known mappings of its process may be incomplete. */
struct recording_miss {
	uint64_t time_ns; /* time of the sample */
	bool has_missed;  /* nothing is known at one of the sample's addresses */
};

/* Reads the process's mappings again if that is due. Returns whether there were new mappings. */
bool recording_read_mappings(struct recording *recording, struct recording_model *model,
			     struct process *process, const struct recording_miss *miss);
/*
 * The same for a sample whose walk came to an address at which nothing is known.
 * MAPPING_HOPE_NOW: the mappings have been read, and the sample is to be walked again.
 */
enum mapping_hope recording_seek_mappings(struct recording *recording,
					  struct recording_model *model, struct process *process,
					  uint64_t time_ns);
/*
 * Names samples that have been held long enough. Finishes the recording when all samples up to its
 * end have been named.
 */
void recording_advance(struct recording *recording, struct recording_model *model, uint64_t now_ns);
/*
 * deep_stacks: how many stacks so far were deeper than their snapshots, or had frames in the heap.
 * If the number has grown, the ring buffers are read more often for a second: a stack remainder is
 * read when the sample is read from the ring buffer, and the sooner, the less of it has changed.
 */
void recording_note_depth(struct recording *recording, uint64_t deep_stacks, uint64_t now_ns);
/*
 * Tells the sampler whose samples are wanted, unless it was told a moment ago. No process is missed
 * by it that the recording selects: such a one is told when it becomes a JVM.
 */
void recording_tell_wanted(struct recording *recording, struct recording_model *model,
			   uint64_t now_ns);
/* For a while the ring buffers are read more often, and the wanted are told more often. */
void recording_hurry(struct recording *recording, uint64_t now_ns);
/*
 * Finds out what the unread pages of the record's snapshot were. Pages that were never written to
 * are zeros. In front of one that has been swapped out the snapshot ends, and what lies behind is
 * read as that of a deep stack is. Of the others, which are there now and may have been zeros then,
 * nothing is known: they stay unread, and a walk needs nothing of them or ends there. The bytes of
 * *ret are borrowed until the next call.
 */
void recording_settle_pages(const struct record *record, struct record *ret);
/* Whether the process is becoming a JVM and may have an agent, but no agent has connected yet. */
bool recording_is_starting(const struct process *process, uint64_t time_ns);
/*
 * The time of the oldest sample, or other record, that is held; UINT64_MAX: none is. What the model
 * knows of that time and later may be needed.
 */
uint64_t recording_held_since_ns(const struct recording *recording);
/* Ends the recording at now_ns: later samples are not taken, and no wait is longer than usual. */
void recording_stop(struct recording *recording, uint64_t now_ns);

void recording_status(const struct recording *recording, const struct recording_model *model,
		      uint64_t now_ns, struct recording_status *ret);

/*
 * The facts of one tree of the recording beside its samples. The texts of ret belong to the
 * recording or are static.
 */
void recording_info(const struct recording *recording, const struct tree_sink *tree,
		    uint64_t now_ns, struct profile_info *ret);
/*
 * Writes the recording's trees as a file of that format; only the first if the format has one kind.
 * options' info, timeline and kinds are ignored: the recording's own are used.
 */
int recording_render(struct recording *recording, enum render_format format,
		     const struct render_options *options, FILE *stream);

/* Writes the content of the recording's window in the format RENDER_RECORDING. */
int recording_write_window(const struct recording *recording, FILE *stream);

/*
 * Several PIDs, containers or pods are alternatives, of which each means processes by itself:
 * recording_alternative writes one, with one of each at most.
 */
size_t recording_alternatives(const struct recording_options *options);
void recording_alternative(const struct recording_options *options, size_t number,
			   struct recording_options *ret);
/* Whether the process is one of those that options name by PID. */
bool recording_has_pid(const struct recording_options *options, pid_t pid);

/*
 * Whether pid or all of options lets the process in, before it is selected by names. Without
 * either, only JVMs with an agent are of interest. process NULL: a process that is gone.
 */
bool recording_is_of_interest(const struct recording_options *options,
			      const struct process *process);
/* Whether samples of the process belong to the recording. process NULL: a process that is gone. */
bool recording_selects(struct recording *recording, const struct process *process);
/*
 * recording_selects for options without a recording: if several containers or pods fit a name, all
 * of them are wanted.
 */
bool recording_wants(const struct recording_options *options, const struct process *process);
/*
 * Whether one sample belongs to the recording. A sample from before the process's last exec may
 * not.
 */
bool recording_wants_sample(struct recording *recording, const struct process *process,
			    const struct record *record);

#endif
