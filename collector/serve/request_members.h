// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   one option, or several of a subject <-> a member of a request
 * units:   as the structs have them
 * threads: any
 * errors:  -EINVAL, and why: the member is not what it has to be
 * source:  ../options/README.md: the field "json"
 *
 * The table of options calls the functions request_put_X and request_take_X of "by X".
 */
#ifndef FG_SERVE_REQUEST_MEMBERS_H
#define FG_SERVE_REQUEST_MEMBERS_H

#include "options/option_value.h"
#include "recording/recording.h"
#include "render/render.h"
#include "serve/request.h"

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

/* A member of a request to record, and its option. */
struct request_option {
	int number; /* 0 ends the list */
	const char *key;
};
extern const struct request_option request_options[];

/* "": there is no such member. NULL: it is no text. */
const char *request_text(const json_t *object, const char *key);
void request_put_text(json_t *object, const char *key, const char *text);
/* Whether the member is missing, or is true or false; or is a whole number that is not below 0. */
bool request_is_flag(const json_t *object, const char *key);
bool request_is_count(const json_t *object, const char *key);
/* Whether the number is within limits. 0 stands for a number that is not given. */
bool request_has_count(uint64_t count, uint64_t least, uint64_t most, bool is_needed);

/*
 * Say what is wrong with a member, into REQUEST_WHY_BYTES, and return -EINVAL. wanted: "true or
 * false is needed".
 */
int request_refuse(const json_t *object, const char *key, const char *wanted, char *why);
int request_refuse_count(const json_t *object, const char *key, const struct option_range *range,
			 char *why);
int request_refuse_word(const json_t *object, const char *key, const char *words, char *why);

/* Several PIDs are "pid" and a list "more_pids". */
void request_put_pids(json_t *object, const char *key, const struct recording_options *options);
int request_take_pids(const json_t *object, const char *key, struct recording_options *options,
		      char *why);
/* A part of the selector: a text, or a list of them. */
void request_put_names(json_t *object, const char *key, const struct recording_options *options,
		       enum selector_part_number part);
int request_take_names(const json_t *object, const char *key, struct recording_options *options,
		       enum selector_part_number part, char *why);
void request_put_event(json_t *object, const char *key, const struct recording_options *options);
int request_take_event(const json_t *object, const char *key, struct recording_options *options,
		       char *why);
void request_put_kinds(json_t *object, const char *key, const struct recording_options *options);
int request_take_kinds(const json_t *object, const char *key, struct recording_options *options,
		       char *why);
void request_put_stack_bytes(json_t *object, const char *key,
			     const struct recording_options *options);
int request_take_stack_bytes(const json_t *object, const char *key,
			     struct recording_options *options, char *why);

/* A list of "running", "runnable" and "blocked"; empty or missing: all. */
void request_put_states(json_t *object, const char *key, const struct render_options *options);
int request_take_states(const json_t *object, const char *key, struct render_options *options,
			char *why);
/* "hidden" or "shown"; missing: as the format has it. */
void request_put_idle(json_t *object, const char *key, const struct render_options *options);
int request_take_idle(const json_t *object, const char *key, struct render_options *options,
		      char *why);
/* A list of at most WAITS_MAX_FRAMES patterns, or missing. */
void request_put_idle_frames(json_t *object, const char *key, const struct render_options *options);
int request_take_idle_frames(const json_t *object, const char *key, struct render_options *options,
			     char *why);

#endif
