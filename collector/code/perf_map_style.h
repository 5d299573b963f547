// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   the words with which a user chooses the names of a perf map -> a style
 * units:   none
 * threads: any
 * errors:  -EINVAL for an unknown word, or for two ways to unfold
 * source:  the options of perf-map-agent
 *
 *   dotted      java.lang.String::hashCode rather than Ljava/lang/String;::hashCode
 *   signatures  Ljava/lang/String;::hashCode()I
 *   sourcepos   Ljava/lang/String;::hashCode(String.java:1520), or (String.java) without a line
 *   unfold      inlined code has entries of its own in the map: "inlined in root"
 *   unfoldall   as unfold, with the whole stack: "root->caller->inlined"
 *   simple      as unfold, with the name of the inlined method alone
 *
 * perf-map-agent's own words are understood too: dottedclass, msig, unfoldsimple.
 */
#ifndef FG_CODE_PERF_MAP_STYLE_H
#define FG_CODE_PERF_MAP_STYLE_H

#include <stdbool.h>

enum perf_map_unfold {
	PERF_MAP_FOLDED,
	PERF_MAP_UNFOLD,
	PERF_MAP_UNFOLD_ALL,
	PERF_MAP_UNFOLD_SIMPLE,
};

/* A zero-filled struct is the default. */
struct perf_map_style {
	enum perf_map_unfold unfold;
	bool dotted, signatures, sourcepos;
};

/* list is words with commas between them, in any order. */
int perf_map_style_parse(const char *list, struct perf_map_style *ret);
const char *perf_map_style_words(void); /* all words, for messages */

#endif
