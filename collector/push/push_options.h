// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   the daemon's options of pushing on the command line -> values, and what their files say
 * units:   nanoseconds, bytes, seconds
 * threads: one at a time while they are read; then constant
 * errors:  -EINVAL, said on stderr
 * source:  docs/push.md
 */
#ifndef FG_PUSH_PUSH_OPTIONS_H
#define FG_PUSH_PUSH_OPTIONS_H

#include "push/push_config.h"
#include "push/push_relabel.h"

#include <stdbool.h>
#include <stdint.h>

#define PUSH_MAX_LABELS		 16
#define PUSH_DEFAULT_INTERVAL	 15
#define PUSH_DEFAULT_SPOOL_BYTES (UINT64_C(256) << 20)
#define PUSH_DEFAULT_SPOOL_AGE	 (60 * 60) /* Pyroscope takes nothing that is older */

struct push_options {
	struct push_config config;
	struct push_label labels[PUSH_MAX_LABELS]; /* owned texts */
	size_t n_labels;
	const char *config_path, *relabel_path, *spool_dir; /* borrowed */
	struct push_relabel *relabel;			    /* or NULL */
	uint64_t interval_ns, spool_bytes, spool_age_sec;
	bool by_pool; /* each thread pool of a process has series of its own */
};

void push_options_init(struct push_options *options);
void push_options_fini(struct push_options *options);

/* Each takes one more; told is the option's name, for messages. */
int push_options_add_target(struct push_options *options, const char *told, const char *text);
int push_options_add_label(struct push_options *options, const char *told, const char *text);
/* Reads the files, and refuses labels that another option makes. */
int push_options_finish(struct push_options *options);

/* Whether there is anywhere to push to. */
bool push_options_is_on(const struct push_options *options);

#endif
