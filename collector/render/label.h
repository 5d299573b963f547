// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   a name and a width -> the longest form of the name that fits
 * units:   columns, of one letter each; a wide character takes two
 * threads: any
 * errors:  "" when nothing sensible fits, or memory is out
 * source:  JVM specification 4.2 (class names), the C++ names that demanglers write
 *
 * What is dropped is what tells least: for Java first the parameters, if the name has any, then the
 * package's names down to their initials, then the package, then the class; for C++ the parameters,
 * the template arguments and the return type, then one qualifier after the other. Only the last
 * part of a name is ever cut.
 *
 *   java/util/HashMap.getNode  j.u.HashMap.getNode  HashMap.getNode  getNode  getN..
 */
#ifndef FG_RENDER_LABEL_H
#define FG_RENDER_LABEL_H

#include "encode/bytes.h"
#include "render/kinds.h"

#define LABEL_MIN_COLUMNS 3u

/* Borrowed: name itself, or what out now holds. name is clean text, see text.h. */
const char *label_fit(struct bytes *out, const char *name, enum kind kind, size_t columns);

#endif
