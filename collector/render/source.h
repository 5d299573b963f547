// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   a node -> where its source is, as viewers look for it
 * units:   none
 * threads: any
 * errors:  kept in the bytes
 * source:  the layout of Java's source trees: a package is a directory
 */
#ifndef FG_RENDER_SOURCE_H
#define FG_RENDER_SOURCE_H

#include "profile/profile.h"
#include "encode/bytes.h"

/*
 * The file of a node that has one. A Java class says its file without its directory; that is made
 * from the package in the method's name where it has one: java/lang/String.java.
 */
void source_path(struct bytes *out, const struct profile_node *node);

#endif
