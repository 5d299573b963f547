// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   a name and a width -> the longest form of the name that fits
 * units:   columns, of one letter each; a wide character takes two
 * threads: any
 * errors:  "" if no form fits, or memory is out
 * source:  JVM specification 4.2 (class names); the C++ names of demanglers
 *
 * The least telling parts are dropped first. Java: the parameters, if there are any; then the
 * package's names down to their initials; the package; the class. C++: the parameters; the template
 * arguments and the return type; then one qualifier after the other. Go: the path of the package,
 * its name, the receiver. Only the last part of a name is ever cut.
 *
 *   java/util/HashMap.getNode  j.u.HashMap.getNode  HashMap.getNode  getNode  getN..
 */
#ifndef FG_RENDER_LABEL_H
#define FG_RENDER_LABEL_H

#include "encode/bytes.h"
#include "render/kinds.h"

#define LABEL_MIN_COLUMNS 3u

/*
 * The form that fits, borrowed: name itself, or the content of out. name must be clean text, see
 * text.h.
 */
const char *label_fit(struct bytes *out, const char *name, enum kind kind, size_t columns);

#endif
