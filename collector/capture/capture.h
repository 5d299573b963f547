// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   the steps of a recording's samples -> a capture file
 * units:   CLOCK_MONOTONIC nanoseconds, bytes
 * threads: the model's
 * errors:  negative errno from capture_finish; samples without room are counted
 * source:  capture_format.h, recording/sample_watch.h
 *
 * A capture is a sample watch. While a sample passes a step, the capture notes what the stages ask
 * of the process's memory, of code, of files and of the kernel's symbols, and the answers. A replay
 * (replay.h) answers from these notes. So a replay needs no JVM, no files and no rights, and gives
 * the same stacks.
 *
 * A capture holds bytes of the process's stacks and memory, which may be secrets of the program.
 */
#ifndef FG_CAPTURE_CAPTURE_H
#define FG_CAPTURE_CAPTURE_H

#include "capture/capture_stages.h"
#include "recording/sample_watch.h"
#include "profile/profile_info.h"

#include <stdint.h>
#include <stdio.h>

struct capture; /* opaque */

/*
 * Makes a capture that is written to stream. The stream is closed when the capture is freed, or at
 * once on an error.
 */
int capture_new(const struct capture_stages *stages, FILE *stream, struct capture **ret);

/* The watch of a capture, for struct recording. capture_of returns the capture of such a watch. */
struct sample_watch *capture_watch(struct capture *capture);
struct capture *capture_of(struct sample_watch *watch);

/*
 * Writes the end of the file: the facts of the recording, which began at start_ns. Returns a
 * descriptor of the file, which the caller closes. May be called once.
 */
int capture_finish(struct capture *capture, const struct profile_info *info, uint64_t start_ns);
void capture_counts(const struct capture *capture, struct capture_counts *ret);

#endif
