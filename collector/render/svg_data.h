// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   a laid-out profile -> the whole profile as text in the SVG, for its script
 * units:   samples
 * threads: those of graph.h
 * errors:  negative errno
 * source:  RFC 1950 (zlib), RFC 4648 (base64)
 *
 * The picture leaves out frames that are too narrow to see, but search and zoom need them. So the
 * file holds every node, in base64 of zlib's format of:
 *
 *   varint  number of keys
 *   varint  bytes of key lines
 *   varint  number of nodes
 *   lines   one for each key: class ('a' + class), shade ('0' + shade), name, [TAB module,
 *           empty where there is none, [TAB colour, #rrggbb]], LF
 *   varints of every node in order (see graph.h): its key
 *   varints of every node in order: how many levels its parent is above the node before it
 *   varints of every node in order: its self weight, in a diff its own width (of a
 *           graph of graph_init_compared: its self weight after)
 *   in a diff, varints of every node in order: its self weight before; and likewise after
 *   in a picture without a diff, varint: number of nodes that have samples of several levels; of
 *           each, varints: how many places in order behind the one before, its samples by level
 *
 * A page of several kinds of samples has a tree of each. Keys of a tree are not in the key lines of
 * the trees behind it: the keys of these are numbered behind those of all trees before.
 *
 * varint: LEB128, see bytes.h. Keys are numbered by use, the commonest first. Columns are used
 * instead of rows because zlib makes them half as large: 100,000 stacks, 1.1 million nodes, take
 * some 1.2 bytes a node.
 */
#ifndef FG_RENDER_SVG_DATA_H
#define FG_RENDER_SVG_DATA_H

#include "base/intern.h"
#include "base/map64.h"
#include "encode/bytes.h"
#include "encode/packed.h"
#include "profile/reshape.h"
#include "render/graph.h"
#include "render/palette.h"

#include <stdio.h>

/* The key lines of a file's trees, as far as these are written. A zero-filled struct has none. */
struct svg_keys {
	struct intern lines;
	struct map64 numbers; /* address of a line -> number + 1 */
	uint32_t count;
};

void svg_keys_fini(struct svg_keys *keys);

/* A tree that is about to be written. A zero-filled struct is valid for svg_data_fini. */
struct svg_data {
	const struct graph *graph;
	const struct looks *looks;
	struct bytes lines;
	uint32_t n_lines;
	uint32_t *key_of; /* key of each node, in the graph's order */
	uint32_t classes; /* a bit for each class of the nodes */
};

/*
 * Finds the tree's keys. keys: those of the file's trees before, to which this one's are added;
 * NULL: the file has one tree. graph and looks are borrowed until svg_data_fini.
 */
int svg_data_init(struct svg_data *data, const struct graph *graph, const struct looks *looks,
		  struct svg_keys *keys);
void svg_data_fini(struct svg_data *data);

/* Adds the above, without zlib and base64, and without nodes of several levels. */
void svg_data_encode(const struct svg_data *data, struct packer *packer);
/* Writes all. levels: by node number of the profile, or NULL. */
int svg_data_write(const struct svg_data *data, const struct level_counts *levels, FILE *stream);

#endif
