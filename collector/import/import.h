// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   what other programs have written of stacks -> a profile
 * units:   the file's own: samples, or the event's periods
 * threads: one at a time
 * errors:  negative errno where nothing can be read at all; bad lines are counted, the first is
 *          told
 * source:  folded stacks, the text of perf-script(1), pprof and recordings of our own: see
 *          folded_reader.c, perf_reader.c, pprof.h and recording_reader.h
 *
 * All are read in one go, a chunk at a time, so that pipes will do and a file's size does not
 * matter; pprof is read whole. All of it is hostile: lines, names, depths and counts have limits.
 */
#ifndef FG_IMPORT_IMPORT_H
#define FG_IMPORT_IMPORT_H

#include "import/inlined.h"
#include "profile/profile.h"
#include "profile/profile_info.h"
#include "profile/timeline.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define IMPORT_MAX_LINE	       ((size_t)16 << 20)
#define IMPORT_MAX_NAME	       ((size_t)64 << 10)
#define IMPORT_MAX_DEPTH       ((size_t)16 << 10)
#define IMPORT_MAX_NODES       16000000u
#define IMPORT_MAX_NAMES_BYTES ((size_t)1 << 30) /* all names together; past it -EFBIG */
#define IMPORT_EVENT_BYTES     64

enum import_format {
	IMPORT_NOTHING, /* an empty file */
	IMPORT_FOLDED,
	IMPORT_PERF_SCRIPT,
	IMPORT_PPROF,
	IMPORT_RECORDING,  /* of our own */
	IMPORT_UNREADABLE, /* none of these; import_report.first_reason says what it looks like */
};

/* What of perf script's text is kept, and how it is called. */
struct import_options {
	bool has_pid;	     /* PIDs in the lowest level: comm-PID */
	bool has_tid;	     /* comm-PID/TID */
	bool marks_kernel;   /* kinds of frames are kept: the kernel's, */
	bool marks_jit;	     /* and those of generated code */
	bool has_addrs;	     /* functions without a name by their address */
	bool counts_samples; /* each sample once, whatever its period */
	bool has_inlined;    /* functions inlined in files, by these files' DWARF */
	const char *event;   /* only this one; NULL: the first that is met */
};

struct import_report {
	enum import_format format;
	uint64_t lines;
	uint64_t stacks;	/* counted */
	uint64_t ignored;	/* lines, stacks of perf script, or samples of pprof */
	uint64_t first_ignored; /* its line, or its number among samples, from 1 */
	const char *first_reason;
	uint64_t rounded;		      /* counts that were not whole */
	uint64_t two_counts;		      /* lines with a count for before and one for after */
	uint64_t other_events;		      /* samples of events that were not asked for */
	struct inlined_stats inlined;	      /* what was not found of these, if it was asked */
	bool has_periods;		      /* perf script's counts are the event's periods */
	char event[IMPORT_EVENT_BYTES];	      /* perf script's that was kept, or "" */
	char other_event[IMPORT_EVENT_BYTES]; /* the first that was not */
};

/* What a recording of our own has beside its stacks. Texts are those of the target's profile. */
struct import_recording {
	struct timeline timeline; /* the caller's to end; sorted */
	struct profile_info info;
	const char *title, *subtitle, *notes, *count_name; /* or NULL */
	bool is_read;
};

/* Where stacks go. Several files may go into one, one after the other; sums are made by then. */
struct import_target {
	struct profile *profile;
	struct profile *before; /* of lines with two counts; NULL: the first count is left out */
	struct import_recording *recording; /* for one file alone; NULL: not wanted */
	struct import_report report;
};

/*
 * Reads fd to its end. -EINVAL with report.first_reason where it is of none of the formats; of
 * pprof and a recording that cannot be read, first_reason says why whatever the error is.
 */
int import_read(int fd, const struct import_options *options, struct import_target *target);

/* Counts a line that cannot be used; reason is a literal. For the readers. */
void import_ignore(struct import_report *report, uint64_t line, const char *reason);

#endif
