// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   words -> samples of a process in a window, as the store takes them
 * units:   seconds since 1970
 * threads: one
 * errors:  the test fails
 * source:  store/store_writer.h
 */
#ifndef FG_TESTS_STORE_SAMPLES_H
#define FG_TESTS_STORE_SAMPLES_H

#include "profile/profile_part.h"
#include "store/store_reader.h"
#include "store/store_writer.h"

#define SAMPLES_SEC UINT64_C(1000000000)

/* Samples of one kind of one process. The info's texts are constants. */
struct samples {
	struct profile profile;
	struct timeline timeline;
	struct profile_info info;
	struct profile_part part;
};

/* start_sec: the start of the samples' times. */
void samples_init(struct samples *samples, const struct profile_kind *kind, uint64_t start_sec,
		  unsigned seconds);
void samples_fini(struct samples *samples);
/* A sample of the method in the thread, so long after the start. */
void samples_add(struct samples *samples, const char *method, double at_sec, uint64_t weight);
/* Sorts times, and says the quality. To be called once, behind the last sample. */
void samples_end(struct samples *samples);

/* The clocks of a host that booted at 1,000,000. */
struct wall_clock samples_clock(int64_t unix_sec);

/* Opens the store in dir with large limits. */
struct store *samples_open(const char *dir, int64_t now_sec);
/* The process of that PID, on host h, in boot b. */
struct store_process samples_process(pid_t pid, uint64_t ticks, const char *title);
/* Writes a window of ten seconds with so many samples of a method; returns what the store says. */
int samples_write(struct store *store, int64_t now_sec, const struct store_process *process,
		  const char *method, uint64_t start_sec, uint64_t weight);

/* How often the method is in what the store has of the range; 0 if it is not there. */
uint64_t samples_count(const char *dir, const char *method, uint64_t from_sec, uint64_t to_sec);
uint64_t samples_count_in(const struct store_sum *sum, const char *method);

#endif
