// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   a laid-out profile, its timeline and what is known of it -> the page's data
 * units:   samples, nanoseconds
 * threads: as graph.h
 * errors:  negative errno
 * source:  svg_data.h, of which this is more; RFC 1950 (zlib), RFC 4648 (base64)
 *
 * base64 of zlib's format of parts, each a varint of its bytes and then these:
 *
 *   facts      lines: key, TAB, value, LF; see html_data.c for the keys
 *   tree       as svg_data.h has it
 *   before     varints of every node in order: its own samples before (the tree
 *              has those after); no bytes: not compared
 *   processes  lines: PID, TAB, title, TAB, container's ID, TAB, JVM, TAB, container's name, TAB,
 *              pod, TAB, its namespace, LF
 *   threads    lines: number of its process, TAB, TID, TAB, name, TAB, its pool's, LF
 *   times      varint: entries; then of all entries, by time, varints of each column: buckets
 *              since the entry before, thread, node's place in order, weight; no bytes: no times
 *
 * A node that has no sample but one before is in the tree, with 0 of its own.
 */
#ifndef FG_RENDER_HTML_DATA_H
#define FG_RENDER_HTML_DATA_H

#include "render/graph.h"
#include "render/render.h"

#include <stdio.h>

int html_data_write(const struct graph *graph, const struct render_options *options, FILE *stream);

#endif
