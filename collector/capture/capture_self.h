// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   a capture, as capture.c, capture_processes.c and capture_files.c see it
 * units:   CLOCK_MONOTONIC nanoseconds
 * threads: the model's
 * errors:  kept in the writer
 * source:  none
 *
 * capture.c notes the steps and the memory that they read. capture_processes.c notes processes and
 * their code. capture_files.c notes files, and the names that do not come from processes.
 */
#ifndef FG_CAPTURE_CAPTURE_SELF_H
#define FG_CAPTURE_CAPTURE_SELF_H

#include "capture/capture_facts.h"
#include "capture/capture_share.h"
#include "capture/capture_stages.h"
#include "capture/capture_writer.h"
#include "recording/sample_watch.h"
#include "memory/process_memory.h"

/* A process of the capture. */
struct known_process {
	uint32_t number;
	uint64_t start_ticks;
	uint64_t group;		     /* of its owner */
	const struct code_map *code; /* if the process has another map, it runs another program */
	uint64_t space_serial;	     /* of the mappings as last looked at; UINT64_MAX: not yet */
	bool has_space;		     /* these mappings are in the capture */
};

/* The present step. */
struct current {
	bool is_on;
	enum sample_step step;
	struct process *process; /* or NULL */
	uint32_t number;	 /* number of process; 0: no process */
	const struct record *record;
	uint64_t group; /* of the owner of process */
	struct capture_amounts before;
	uint64_t now_ns;
	bool is_gone;
	struct bytes reads, missing;
	size_t n_reads, n_missing;
};

struct capture {
	struct sample_watch watch;
	struct capture_stages stages;
	FILE *stream;
	struct capture_writer writer;
	struct process_memory_source memory;
	struct code_map_watch code, foreign;
	const struct process_memory_source *memory_before; /* the source before the capture */
	const struct code_map_watch *code_before; /* the watch before the capture, during a step */
	struct file_watch unwind_files;
	struct name_watch names;
	struct map64 processes; /* PID -> struct known_process */
	struct map64 files;	/* hash of PID and mapping -> number */
	struct map64 samples;	/* hash of a sample -> the sample's number */
	struct map64 seen;	/* hashes of questions that have been answered */
	uint64_t seed;
	uint32_t n_processes, n_code;
	uint64_t n_files, n_samples, n_frames;
	struct current current;
	struct bytes fields;
	struct capture_counts counts;
	struct capture_share share;
	struct capture_room room;
	uint64_t max_bytes; /* of all memory, the file included */
};

/* A hash of two numbers for the capture's tables. */
uint64_t capture_hash(const struct capture *capture, uint64_t a, uint64_t b);
/* Whether the question has been answered before. From now on the question counts as answered. */
bool capture_was_seen(struct capture *capture, uint64_t hash);

/* ---- capture_processes.c ---- */

/*
 * Writes what has changed of the process. Returns the process's number; 0: process is NULL, its
 * mappings are too many, or there is no memory or no room in the capture.
 */
uint32_t capture_process(struct capture *capture, struct process *process);
/* Writes the name of the sample's thread, if the name has changed. */
void capture_thread(struct capture *capture, const struct named_sample *sample);
/* Notes the code ranges of the process that are found from now on; NULL is legal. */
void capture_watch_code(struct capture *capture, struct process *process);
void capture_unwatch_code(struct capture *capture, struct process *process);
void capture_processes_init(struct capture *capture);
void capture_processes_fini(struct capture *capture);

/* ---- capture_files.c ---- */

void capture_files_init(struct capture *capture);

#endif
