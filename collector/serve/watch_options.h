// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   what is said of the daemon on the command line -> values
 * units:   nanoseconds, bytes, seconds
 * threads: one
 * errors:  -EINVAL, said on stderr
 * source:  none
 */
#ifndef FG_SERVE_WATCH_OPTIONS_H
#define FG_SERVE_WATCH_OPTIONS_H

#include "render/render.h"

#include <netinet/in.h>
#include <stdbool.h>
#include <stdint.h>

/*
 * The rate of a daemon that samples for weeks, unless -F says another. A fifth of what a recording
 * has: ten minutes still have 11,400 samples of each busy CPU, which shows a method of 1 % to
 * within a tenth of itself. Like 99 it is prime to the rates at which timers tick.
 */
#define WATCH_DEFAULT_HZ 19

#define WATCH_DEFAULT_PERIOD_SEC 600
#define WATCH_DEFAULT_KEEP_SEC	 (7 * 24 * 60 * 60)
#define WATCH_DEFAULT_KEEP_BYTES (UINT64_C(1) << 30)

struct watch_options {
	const char *output_dir; /* NULL: nothing is sampled unless somebody asks for it */
	enum render_format format;
	bool has_format; /* which record has a use for, too */
	uint64_t period_ns;
	uint64_t keep_sec;
	uint64_t keep_bytes;
	bool has_http;
	struct sockaddr_storage http;
	const char *first_given; /* of these options, for whoever has no use for them; or NULL */
};

void watch_options_init(struct watch_options *options);

/* Each takes a value as it was given. */
int watch_options_set_format(struct watch_options *options, const char *text);
int watch_options_set_period(struct watch_options *options, const char *text);
int watch_options_set_keep(struct watch_options *options, const char *text);
int watch_options_set_keep_bytes(struct watch_options *options, const char *text);
int watch_options_set_http(struct watch_options *options, const char *text);

/* Whether those that need another one have it. */
int watch_options_check(const struct watch_options *options);

#endif
