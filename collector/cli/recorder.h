// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   what the record and top commands ask for, whoever does it: this process, or a running
 *          daemon
 * units:   nanoseconds
 * threads: one
 * errors:  negative errno, said on stderr where it arose
 * source:  none
 *
 * Life cycle: open (one of the two), start, then status until is_done, render any number of times,
 * close. status waits about 200 ms when there is nothing new. For a recording with a window: wait
 * and window instead of status and render.
 */
#ifndef FG_CLI_RECORDER_H
#define FG_CLI_RECORDER_H

#include "cli/options.h"
#include "live/recording.h"
#include "render/render.h"

struct recorder;

struct recorder_ops {
	int (*start)(struct recorder *recorder, const struct recording_options *options);
	int (*status)(struct recorder *recorder, struct recording_status *ret);
	int (*stop)(struct recorder *recorder);
	int (*render)(struct recorder *recorder, enum render_format format,
		      const struct render_options *options, FILE *stream);
	/*
	 * What the last seconds hold, with the figures of these. ret is the caller's to end with
	 * window_copy_fini. -EREMOTEIO: the daemon has forgotten the recording, which may be
	 * started again.
	 */
	int (*window)(struct recorder *recorder, struct recording_status *ret_status,
		      struct window_copy *ret);
	/* Until fd can be read (-1: none), the time is over or a signal comes; sampling goes on. */
	int (*wait)(struct recorder *recorder, int fd, uint64_t wait_ns);
	bool (*is_interrupted)(struct recorder *recorder);
	void (*close)(struct recorder *recorder);
};

struct recorder {
	const struct recorder_ops *ops;
};

/*
 * The daemon's if there is one, else in this process. What only a daemon could do for this command
 * line is refused if there is one: maps, jitdumps and tables are its.
 */
int recorder_open(const struct options *options, struct recorder **ret);

/* In this process: opens the agents' socket itself and waits for the agents to dial again. */
int recorder_open_local(const struct options *options, struct recorder **ret);

/* Through the daemon at options->socket_path. -ENOENT, unsaid, if there is none. */
int recorder_open_remote(const struct options *options, struct recorder **ret);

#endif
