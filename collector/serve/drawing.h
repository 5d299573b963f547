// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   a recording that is over -> the bytes of its graph, drawn by a thread
 * units:   bytes in a memory file
 * threads: the model's; the thread reads the recording's tree, which nobody changes any more
 * errors:  negative errno
 * source:  pthreads(7), eventfd(2), memfd_create(2)
 *
 * The graph of a large recording takes seconds to draw. The loop goes on meanwhile. From
 * drawing_start to drawing_end the recording must neither be freed nor changed.
 */
#ifndef FG_SERVE_DRAWING_H
#define FG_SERVE_DRAWING_H

#include "recording/recording.h"

#include <jansson.h>
#include <stdbool.h>

/* A descriptor of a memory file with the bytes that write_bytes has written, or negative errno. */
int drawing_bytes_of(int (*write_bytes)(void *arg, FILE *stream), void *arg);

struct drawing {
	struct recording *recording;
	json_t *request; /* owned; the thread reads texts of it */
	enum render_format format;
	int client; /* for the caller; drawing.h does not use it */
	struct drawing *next;
	struct drawing_thread *thread; /* opaque */
};

/*
 * Starts to draw what the request asks for, whose members are in control.h. wake_fd is an eventfd
 * that is written to when the drawing is done.
 */
int drawing_start(struct recording *recording, const json_t *request, enum render_format format,
		  int wake_fd, struct drawing **ret);
bool drawing_is_done(const struct drawing *drawing);
/* Waits for the thread, and frees the drawing. A descriptor of the bytes, or negative errno. */
int drawing_end(struct drawing *drawing);

#endif
