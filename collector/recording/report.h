// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   a recording's figures -> the lines that commands print and graphs show
 * units:   samples, per cent
 * threads: any
 * errors:  none
 * source:  none
 */
#ifndef FG_RECORDING_REPORT_H
#define FG_RECORDING_REPORT_H

#include "recording/recording.h"
#include "profile/profile_part.h"

#include <stddef.h>

#define REPORT_BYTES 1024

/*
 * Of samples of the CPU "quality: 1,980 samples, 99.9 % named, 100.0 % of Java named, 99.2 %
 * rooted, 0 lost". Behind that follow the parts whose count is not 0: ", 0.8 % truncated (snapshot
 * ended 12, bad return address 4)" with the most frequent reason first; ", 0.1 % without their
 * frames in the heap"; ", 3 without the copy of their stack"; ", 2 cut at the memory limit". Of
 * time "quality of wall: 90.2 s, ...", where the parts are times.
 */
void report_quality(const struct profile_kind *kind, const struct profile_quality *quality,
		    char ret[REPORT_BYTES]);

/* Adds who took the samples: ", by BPF (exact)". Nothing for "". */
void report_source(const char *source, char quality[REPORT_BYTES]);

/* "2 JVMs", or "" for 0 JVMs. Returns ret. */
const char *report_jvms(unsigned jvms, char ret[32]);

/* Adds who read the threads: ", threads by BPF". Nothing for "". */
void report_clock(const char *source, char quality[REPORT_BYTES]);

/* Adds which JVMs had their probes open: ", 2 JVMs armed, 1 not: PID 17: its agent is older...". */
void report_probes(const struct probe_arms_stats *stats, char quality[REPORT_BYTES]);

/*
 * "1,980 samples of cpu-clock at 99 Hz in 10.0 s: 20.0 s, 2.00 cores, 2 JVMs"; where time is the
 * first kind "90.2 s of threads (wall), read 20 times a second, in 10.0 s, 2 JVMs".
 */
void report_subtitle(const struct recording_status *status, unsigned hz, char ret[REPORT_BYTES]);

/* ", names of 2 JVMs read from outside". */
void report_outside(unsigned jvms, char quality[REPORT_BYTES]);

/*
 * Adds to the quality of living objects how many of those that were watched live; ", 12,000 that
 * others stand for", and what makes them wrong.
 */
void report_live(const struct recording_live *live, char quality[REPORT_BYTES]);

/* A share in per cent. 100.0 only if part is whole, and 0.0 only if part is 0. */
double report_percent(uint64_t part, uint64_t whole);

/* 1234567 -> "1,234,567" */
const char *report_count(uint64_t count, char ret[32]);

#endif
