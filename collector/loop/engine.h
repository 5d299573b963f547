// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   intake, targets and recordings in one loop of one thread
 * units:   CLOCK_MONOTONIC nanoseconds
 * threads: the model's thread, which is the thread that calls engine_step
 * errors:  negative errno, already said on stderr
 * source:  none
 */
#ifndef FG_LOOP_ENGINE_H
#define FG_LOOP_ENGINE_H

#include "intake/intake.h"
#include "intake/dialer.h"
#include "loop/kept_stats.h"
#include "loop/loop_wait.h"
#include "loop/memory_stats.h"
#include "loop/part.h"
#include "recording/recording.h"
#include "loop/signal_watch.h"
#include "loop/turns.h"
#include "guard/budget.h"
#include "guard/worker.h"
#include "guard/guard.h"
#include "maps/map_outputs.h"
#include "memory/guarded_memory.h"
#include "sample/sampler_opening.h"

#define ENGINE_MAX_RECORDINGS 8
#define ENGINE_MAX_PARTS      LOOP_WAIT_FDS

/* Is told of each event of an agent, after the model has taken the event. */
struct engine_listener {
	void (*heard)(void *arg, const struct intake_event *event); /* NULL: nobody listens */
	void *arg;
};

/* The engine's paths, and its limit of memory for tables of files. */
struct engine_options {
	uint64_t memory_bytes; /* of everything; 0: what this machine allows, see guard/budget.h */
	const struct budget_files *budget_files; /* where that is read; NULL: the usual ones */
	const char *socket_path;
	const char *map_dir;
	uint64_t map_bytes;	 /* of all perf maps; 0: MAP_STORE_BYTES */
	const char *jitdump_dir; /* NULL: no jitdump */
	size_t table_bytes;    /* limit of all symbol tables and unwind tables; 0: by the budget */
	uint64_t capabilities; /* a mask of those to keep beside the engine's own */
	const struct dump *dump; /* what is dumped, and where; NULL: nothing */
};

struct engine {
	struct intake *intake;
	struct dialer dialer; /* connections to agents that listen */
	struct targets targets;
	struct map_outputs outputs; /* what is written of the targets' code */
	struct table_cache *tables;
	struct unwinder *unwinder;
	struct symbolizer *symbolizer;
	struct guard *guard;
	struct budget budget;
	const struct budget_files *budget_files;
	size_t table_bytes;	  /* as asked for */
	uint64_t budget_next_ns;  /* when to read it again; UINT64_MAX: never, it was asked for */
	uint64_t users_next_ns;	  /* when to read again which user IDs are subordinate */
	struct memory_stats used; /* as of used_ns */
	uint64_t used_ns;
	struct guarded_memory *memory; /* who reads processes' memory meanwhile */
	struct worker *worker;	       /* begin and end perf events */
	struct dump dump;	       /* with a queue of the engine's, if anything is dumped */
	struct recording_model model;
	struct recording *recordings;
	uint32_t n_recordings;
	uint32_t next_id;
	struct turns turns;
	uint64_t woke_ns; /* when the wait of the last step ended */
	struct loop_wait wait;
	/* time of that step for agents and naming: needed at any pace */
	uint64_t owed_ns;
	uint64_t took_ns;		     /* time of that step for everything else */
	uint64_t heard_for_ns;		     /* time for which agents were heard last */
	bool outputs_are_next;		     /* the next step writes perf maps and hears no agent */
	uint64_t young_until_ns;	     /* until then a JVM that has just begun may end */
	uint64_t refused_clients;	     /* clients of the control socket beyond its limit */
	uint64_t held_dropped;		     /* samples dropped by recordings that have ended */
	struct recording_counts past;	     /* counts of recordings that have ended */
	char sampler[SAMPLER_SOURCE_BYTES];  /* sampler_source_text of the last recording */
	struct engine_listener listener;     /* set by the owner; ends with the engine */
	struct part parts[ENGINE_MAX_PARTS]; /* of a turn, in their order */
	size_t n_parts;
	int signal_fd;
	int host_fd; /* the host's root directory; negative: not known */
	struct signal_watch *signals;
	bool is_interrupted; /* SIGINT or SIGTERM came */
	bool is_hung_up;     /* SIGHUP came; the code that acts on SIGHUP clears this */
};

/*
 * Blocks SIGINT, SIGTERM and SIGHUP in the calling thread: call engine_open before other threads
 * are made. The texts of options are borrowed until engine_close.
 */
int engine_open(struct engine *engine, const struct engine_options *options);
void engine_close(struct engine *engine);

/*
 * Adds a part of the engine's owner, behind those of its stage. Whatever the owner adds has an arg
 * of its own, by which it is removed.
 */
void engine_add_part(struct engine *engine, const struct part *part);
void engine_remove_part(struct engine *engine, const void *arg);
/* What all parts hold. */
void engine_hold(const struct engine *engine, struct memory_stats *ret);

/* One turn of the loop: waits until a part has work, at most max_wait_ns; all parts work. */
void engine_step(struct engine *engine, uint64_t max_wait_ns);

/*
 * The engine owns the recording, and the sampler and the sink as recording_start says. -EBUSY:
 * there are ENGINE_MAX_RECORDINGS already.
 */
int engine_start_recording(struct engine *engine, const struct recording_options *options,
			   struct sampler *sampler, struct sink *sink, struct recording **ret);
/*
 * Starts to open the sampler of a recording. wake_fd is an eventfd that is written to when that is
 * done.
 */
int engine_open_sampler(struct engine *engine, const struct recording_options *options, int wake_fd,
			struct sampler_opening **ret);
struct recording *engine_find_recording(const struct engine *engine, uint32_t id);
void engine_end_recording(struct engine *engine, struct recording *recording);

/* The counts of all recordings, also of those that have ended. */
void engine_recording_counts(const struct engine *engine, struct recording_counts *ret);
void engine_kept_stats(const struct engine *engine, struct kept_stats *ret);
void engine_memory_stats(const struct engine *engine, struct memory_stats *ret);

/*
 * ret_connected: JVMs with a connected agent. ret_current: those of them whose code is all known.
 */
void engine_count_jvms(const struct engine *engine, uint32_t *ret_connected, uint32_t *ret_current);

/* ---- between the engine's own files ---- */

void engine_add_own_parts(struct engine *engine);
/* Gives each pool its part of the budget. */
void engine_share_budget(struct engine *engine);
/* Reads which user IDs are subordinate, if that is due. */
void engine_renew_users(struct engine *engine, uint64_t now_ns);

/* The parts of recordings; arg is the engine (part.h). */
uint64_t engine_recordings_due_ns(const void *arg);
void engine_recordings_read(void *arg);
void engine_recordings_advance(void *arg);
/* How far recordings lag behind heard_ns, see patience_lag_ns; 0: nothing is recorded. */
uint64_t engine_recordings_lag_ns(const struct engine *engine, uint64_t heard_ns);
void engine_recordings_hold(const void *arg, struct memory_stats *ret);
void engine_recordings_reap(void *arg);

#endif
