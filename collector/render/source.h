// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   a node -> the path of its source file, as viewers look for it
 * units:   none
 * threads: any
 * errors:  kept in the bytes
 * source:  the layout of Java's source trees: a package is a directory
 */
#ifndef FG_RENDER_SOURCE_H
#define FG_RENDER_SOURCE_H

#include "encode/bytes.h"
#include "profile/profile.h"

/*
 * Adds the path of the node's file, which must not be NULL. The file of a Java class has no
 * directory; the directory is made from the package in the method's name, if there is one:
 * java/lang/String.java.
 */
void source_path(struct bytes *out, const struct profile_node *node);

#endif
