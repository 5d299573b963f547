// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   the graphs of a directory -> a page that lists them, by program and time
 * units:   none
 * threads: one at a time, that of graph_dir.h
 * errors:  negative errno; -EEXIST: another page has the name, and stays
 * source:  graph_dir.h
 *
 * The page has a row for each program, with links to its graphs, the newest first. It is written
 * anew after each period. Programs and graphs that have no room are counted on the page. The page
 * is no graph: it is not counted with the directory's files, and is never removed.
 */
#ifndef FG_DRAW_GRAPH_INDEX_H
#define FG_DRAW_GRAPH_INDEX_H

#include "draw/graph_dir.h"

#define GRAPH_INDEX_NAME     "index.html"
#define GRAPH_INDEX_PROGRAMS 2000 /* rows: those with the newest graphs */
#define GRAPH_INDEX_LINKS    36	  /* of a program */

/* Writes the page into the directory. Only a page that was written so before is replaced. */
int graph_index_write(const struct graph_dir *dir);
/* Writes the page's text. */
int graph_index_print(const struct graph_dir *dir, FILE *stream);

#endif
