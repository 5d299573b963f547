// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   rules of a YAML file and labels -> labels as they are wanted, or not wanted
 * units:   none
 * threads: one at a time; rules are constant once they are read
 * errors:  said on stderr with file and line; -EINVAL
 * source:  Prometheus: relabel_config
 *
 * The file is a list of rules, or a mapping whose key relabel_configs has that list. Actions are
 * replace, keep, drop, labelmap, labeldrop, labelkeep, lowercase and uppercase; the keys and their
 * defaults are Prometheus's. Regular expressions are POSIX's extended ones and fit a whole value.
 * What only RE2 has is refused: groups that begin with "(?", and escapes of letters other than
 * those that glibc knows. $1 or ${1} is what a group has found.
 */
#ifndef FG_PUSH_PUSH_RELABEL_H
#define FG_PUSH_PUSH_RELABEL_H

#include "push/push_labels.h"

struct push_relabel; /* opaque */

int push_relabel_read(const char *path, struct push_relabel **ret);
void push_relabel_free(struct push_relabel *rules); /* NULL is legal, and keeps all */

/* Whether the labels are wanted, after all rules. On false they are as they were then. */
bool push_relabel_apply(const struct push_relabel *rules, struct push_labels *labels);

#endif
