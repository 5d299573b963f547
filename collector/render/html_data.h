// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   a laid-out profile, its timeline and its facts -> the page's data
 * units:   samples, nanoseconds
 * threads: those of graph.h
 * errors:  negative errno
 * source:  svg_data.h, which this format extends; RFC 1950 (zlib), RFC 4648 (base64)
 *
 * base64 of zlib's format of parts. Each part is a varint, the number of its bytes, and these
 * bytes:
 *
 *   facts      lines: key, TAB, value, LF; see html_data.c for the keys
 *   tree       as svg_data.h has it
 *   before     varints of every node in order: its self weight before (the tree has the
 *              weights after); no bytes: no diff
 *   processes  lines: PID, TAB, title, TAB, container's ID, TAB, JVM, TAB, container's name, TAB,
 *              pod, TAB, its namespace, TAB, image, LF
 *   threads    lines: number of its process, TAB, TID, TAB, name, TAB, name of its pool, LF
 *   times      varint: entries; then of all entries, by time, varints of each column: buckets
 *              since the entry before, thread, node's place in order, weight; no bytes: no times
 *   labels     of each thread a line: what its samples are marked with, "key: value", with TABs
 *              between them, LF; no bytes: no thread has labels
 *
 * A page has data of each kind of samples, each packed by itself, so that a kind is unpacked when
 * it is shown. Only keys of the tree are shared.
 *
 * A node with samples before and none after is in the tree, with self weight 0.
 */
#ifndef FG_RENDER_HTML_DATA_H
#define FG_RENDER_HTML_DATA_H

#include "render/graph.h"
#include "render/render.h"
#include "render/svg_data.h"

#include <stdio.h>

/* keys: see svg_data.h. */
int html_data_write(const struct graph *graph, const struct render_options *options,
		    struct svg_keys *keys, FILE *stream);

#endif
