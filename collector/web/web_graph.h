// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   a query -> the file that render or diff writes of it
 * units:   those of render.h
 * threads: any, one for each context
 * errors:  negative errno; the reason is logged; -ENODATA: there is nothing to draw
 * source:  none
 *
 * The file is made by what the commands make it with, so it is the same byte by byte.
 */
#ifndef FG_WEB_WEB_GRAPH_H
#define FG_WEB_WEB_GRAPH_H

#include "web/web_store.h"

/* query is not to be used again. */
int web_graph_answer(const struct web_context *context, struct web_query *query,
		     struct web_answer *answer);

#endif
