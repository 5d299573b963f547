// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   a recording that the record or top command asks for, made by this process or by a
 *          running daemon
 * units:   nanoseconds
 * threads: one
 * errors:  negative errno, said on stderr where it arose
 * source:  none
 *
 * Life cycle: open, start, then status until is_done, render any number of times, close. status
 * waits about 200 ms when nothing is new. A recording with a window has wait and window in place of
 * status and render.
 */
#ifndef FG_CLI_RECORDER_H
#define FG_CLI_RECORDER_H

#include "capture/capture.h"
#include "cli/options.h"
#include "recording/recording.h"
#include "render/render.h"

struct recorder;

struct recorder_ops {
	int (*start)(struct recorder *recorder, const struct recording_options *options);
	int (*status)(struct recorder *recorder, struct recording_status *ret);
	int (*stop)(struct recorder *recorder);
	int (*render)(struct recorder *recorder, enum render_format format,
		      const struct render_options *options, FILE *stream);
	/*
	 * Ends the capture of a recording that is done. Returns a descriptor of the capture's
	 * bytes, which the caller closes.
	 */
	int (*capture)(struct recorder *recorder, struct capture_counts *ret);
	/*
	 * Copies the window, with the status of its seconds. The caller ends ret with
	 * window_copy_fini. -EREMOTEIO: the daemon has forgotten the recording, which may be
	 * started again.
	 */
	int (*window)(struct recorder *recorder, struct recording_status *ret_status,
		      struct window_copy *ret);
	/*
	 * Waits until fd can be read (-1: no descriptor), the time is over or a signal comes.
	 * Sampling goes on meanwhile.
	 */
	int (*wait)(struct recorder *recorder, int fd, uint64_t wait_ns);
	bool (*is_interrupted)(struct recorder *recorder);
	void (*close)(struct recorder *recorder);
};

struct recorder {
	const struct recorder_ops *ops;
};

/*
 * Opens a recorder of the running daemon; without a daemon, one in this process. Where a daemon
 * runs, options for perf maps, the jitdump and tables are refused, because they are the daemon's.
 */
int recorder_open(const struct options *options, struct recorder **ret);

/* Records in this process: opens the agents' socket and waits for agents to connect again. */
int recorder_open_local(const struct options *options, struct recorder **ret);

/* Records through the daemon at options->socket_path. -ENOENT, not logged: no daemon runs there. */
int recorder_open_remote(const struct options *options, struct recorder **ret);

#endif
