// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   a recording -> the bytes of a capture of its samples
 * units:   bytes
 * threads: the model's
 * errors:  negative errno
 * source:  memfd_create(2)
 *
 * The bytes stay in memory, zipped, until the recording has ended: no file is written to while the
 * loop runs. Their limit is CAPTURE_MAX_BYTES.
 */
#ifndef FG_CAPTURE_RECORDING_CAPTURE_H
#define FG_CAPTURE_RECORDING_CAPTURE_H

#include "capture/capture.h"
#include "recording/recording.h"

/* Begins a capture with the next sample. The recording owns the capture. */
int recording_capture_start(struct recording *recording, const struct recording_model *model);
/*
 * Ends the capture of a recording that is done. Returns a descriptor of the file's bytes, which the
 * caller closes. -ENOENT: the recording has no capture.
 */
int recording_capture_end(struct recording *recording, uint64_t now_ns, struct capture_counts *ret);

#endif
