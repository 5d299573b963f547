// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   options of recordings and drawings <-> members of a request to the daemon
 * units:   as the structs have them
 * threads: any
 * errors:  -EINVAL, and why: the member at fault, its value and what is needed; ret is as it was
 * source:  ../options/README.md: the field "json"
 *
 * Which members there are, and their limits, is said by the table of options. A member that is
 * missing has its default.
 */
#ifndef FG_SERVE_REQUEST_H
#define FG_SERVE_REQUEST_H

#include "recording/recording.h"
#include "options/option_row.h"
#include "render/render.h"

#include <jansson.h>

/* A sentence about a member: '"hz" is 0: a whole number is needed, from 1 to 100000'. */
#define REQUEST_WHY_BYTES 512

void request_put_record(const struct recording_options *options, json_t *object);
int request_take_record(const json_t *object, struct recording_options *ret,
			char why[REQUEST_WHY_BYTES]);
/* The part of the options that says which processes are meant: by PID or by names. */
void request_put_list(const struct recording_options *options, json_t *object);
int request_take_list(const json_t *object, struct recording_options *ret,
		      char why[REQUEST_WHY_BYTES]);
/* The texts of ret are those of object. */
void request_put_render(const struct render_options *options, json_t *object);
int request_take_render(const json_t *object, struct render_options *ret,
			char why[REQUEST_WHY_BYTES]);

/*
 * -EINVAL, and why: members of a request are of options that do not go together. command:
 * OPTIONS_OF_RECORD or OPTIONS_OF_LIST.
 */
int request_check(const json_t *object, unsigned command, char why[OPTION_WHY_BYTES]);

#endif
