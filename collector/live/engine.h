// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   intake, targets, recordings: everything that happens, in one loop of one thread
 * units:   CLOCK_MONOTONIC nanoseconds
 * threads: the model's, which is the thread that calls engine_step
 * errors:  negative errno, said on stderr where it arose
 * source:  none
 */
#ifndef FG_LIVE_ENGINE_H
#define FG_LIVE_ENGINE_H

#include "live/daemon_stats.h"
#include "live/recording.h"
#include "intake/intake.h"
#include "intake/outreach.h"

#define ENGINE_MAX_RECORDINGS 8

/* One more descriptor that the loop waits for. */
struct engine_fd {
	int fd; /* -1: none */
	void (*ready)(void *arg);
	void *arg;
};

/* What is kept of all processes together, and the most of it. */
struct kept_stats {
	uint64_t processes, jvms, sessions, code_bytes, mappings, threads, thread_names,
		interpreted_methods, threads_forgotten;
	uint64_t held_bytes, held_dropped; /* held_dropped: since the start */
	size_t name_bytes;		   /* of frames */
	uint64_t names_forgotten;	   /* times that all were */
	uint64_t refused_clients;	   /* of the control socket, because they were too many */
	uint64_t recordings;
};

/* What the stages count for all processes together. */
struct engine_stats {
	struct intake_stats intake;
	struct outreach_stats outreach;
	struct unwinder_stats stacks;
	struct table_stats unwind_tables;
	struct table_stats symbol_tables;
	struct table_cache_stats files;
	struct debuginfod_stats debuginfod;
	struct native_lines_stats native_lines;
	struct kernel_code_stats kernel;
	struct recording_counts recordings;
	struct daemon_stats daemon;
	struct kept_stats kept;
};

/* Where things are, and how much they may take. */
struct engine_options {
	const char *socket_path;
	const char *map_dir;
	const char *jitdump_dir; /* NULL: no jitdump */
	size_t table_bytes;	 /* of symbols and unwind rules */
};

struct engine {
	struct intake *intake;
	struct outreach outreach; /* to agents that listen */
	struct targets targets;
	struct table_cache *tables;
	struct unwinder *unwinder;
	struct symbolizer *symbolizer;
	struct recording_model model;
	struct recording *recordings;
	uint32_t n_recordings;
	uint32_t next_id;
	uint64_t woke_ns;	      /* when the last step's wait ended */
	uint64_t owed_ns;	      /* how long that step did what has to be done at any time */
	uint64_t took_ns;	      /* and all else */
	uint64_t young_until_ns;      /* a JVM has begun that may end before that */
	uint64_t refused_clients;     /* of the control socket */
	uint64_t held_dropped;	      /* of recordings that are no more */
	struct recording_counts past; /* of recordings that are no more */
	struct engine_fd control;     /* the control socket's */
	const struct daemon_stats *daemon; /* borrowed; NULL: there is no daemon */
	int signal_fd;
	bool is_interrupted; /* SIGINT or SIGTERM came */
	bool is_hung_up;     /* SIGHUP came; whoever acts on it takes it back */
};

/*
 * Blocks SIGINT, SIGTERM and SIGHUP in the calling thread: call it before others are made. The
 * texts of options are borrowed until engine_close.
 */
int engine_open(struct engine *engine, const struct engine_options *options);
void engine_close(struct engine *engine);

/* Waits until something happens, at most max_wait_ns, and does it. */
void engine_step(struct engine *engine, uint64_t max_wait_ns);

/* -EBUSY past ENGINE_MAX_RECORDINGS. Owned by the engine; sink as recording_start says. */
int engine_start_recording(struct engine *engine, const struct recording_options *options,
			   struct sink *sink, struct recording **ret);
struct recording *engine_find_recording(const struct engine *engine, uint32_t id);
void engine_end_recording(struct engine *engine, struct recording *recording);

void engine_stats(const struct engine *engine, struct engine_stats *ret);

/* JVMs with an agent that is connected; of these, those whose code is all known. */
void engine_count_jvms(const struct engine *engine, uint32_t *ret_connected, uint32_t *ret_current);

#endif
