// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   the command line of render or diff -> the files to read, the drawing and the comparison
 * units:   as render.h
 * threads: one
 * errors:  -EINVAL, said on stderr; the caller exits with 2
 * source:  getopt_long(3); the options of flamegraph.pl, stackcollapse-perf.pl and difffolded.pl
 */
#ifndef FG_DRAW_DRAW_OPTIONS_H
#define FG_DRAW_DRAW_OPTIONS_H

#include "draw/draw_store_options.h"
#include "draw/output_path.h"
#include "import/import.h"
#include "options/option_row.h"
#include "profile/diff.h"
#include "render/render.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#define DRAW_DEFAULT_TOP 20
#define DRAW_BEGINS_MAX	 32

enum draw_command {
	DRAW_RENDER,
	DRAW_DIFF,
};

struct draw_options {
	enum draw_command command;
	bool wants_help;
	char **inputs; /* of argv; "-" is standard input */
	size_t n_inputs;
	struct draw_store_options store; /* read in place of files */
	struct output_path outputs[OUTPUT_PATHS_MAX];
	size_t n_outputs;
	bool to_stdout; /* standard output gets format */
	bool says_checksum;
	FILE *stream; /* takes what is for standard output; NULL: that does */
	enum render_format format;
	struct import_options import;
	struct render_options render;
	struct diff_options diff;
	const char *kind; /* the only kind of samples that is read, or NULL */
	bool is_reversed;
	bool has_palette_map;
	const char *begins[DRAW_BEGINS_MAX + 1]; /* frames at which stacks begin; NULL ends them */
	bool keeps_others;			 /* stacks without such a frame stay whole */
	bool has_format;			 /* format was asked for */
	bool has_own_suffix[OUTPUT_PATHS_MAX];	 /* the output's suffix says its format */
	bool is_negated; /* of two counts of a line the first is the one after */
	bool json;
	bool verbose;
	size_t top;
};

/* argv[0] is the command. */
int draw_options_parse(struct draw_options *options, enum draw_command command, int argc,
		       char **argv);

/* Each reads the text of an option, for the option table; told is its name, for messages. */
int draw_set_min_width(struct render_options *render, const char *told, const char *text);
int draw_set_background(uint32_t *rgb, const char *told, const char *text);
int draw_set_random(uint32_t *random, const char *told, const char *text);
int draw_set_format(struct draw_options *options, const char *told, const char *text);
int draw_set_top(struct draw_options *options, const char *told, const char *text);
int draw_check_encoding(const struct draw_options *options, const char *told, const char *text);
int draw_add_output(struct draw_options *options, const char *told, const char *text);
/* A frame at which stacks begin; keeps_others: stacks without such a frame stay whole. */
int draw_add_begin(struct draw_options *options, bool keeps_others, const char *told,
		   const char *text);

/* What the options of the table set. text "": the option has no value. */
int draw_set(struct draw_options *options, const struct option_row *row, const char *text);

#endif
