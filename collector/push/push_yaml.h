// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   a small YAML file -> a tree of nodes; nodes -> texts and lists
 * units:   none
 * threads: one at a time
 * errors:  said on stderr with file and line; -EINVAL, or negative errno of the file
 * source:  YAML 1.1, by libyaml
 *
 * The nodes are libyaml's, borrowed until push_yaml_fini. Aliases are refused by libyaml's limits
 * of depth; a file has at most PUSH_YAML_BYTES.
 */
#ifndef FG_PUSH_PUSH_YAML_H
#define FG_PUSH_PUSH_YAML_H

#include "lazy/lazy_yaml.h"

#include <stdbool.h>
#include <stddef.h>

#define PUSH_YAML_BYTES (1u << 20)

struct push_yaml {
	const char *path; /* borrowed */
	yaml_document_t document;
	bool has_document;
};

int push_yaml_read(const char *path, struct push_yaml *ret);
void push_yaml_fini(struct push_yaml *yaml); /* a zero-filled struct is legal */

yaml_node_t *push_yaml_root(struct push_yaml *yaml); /* NULL: the file is empty */
/* Walks the pairs of a mapping, or the items of a list: i from 0 on. */
bool push_yaml_pair(struct push_yaml *yaml, const yaml_node_t *mapping, size_t i,
		    const char **ret_key, yaml_node_t **ret_value);
/* Whether an earlier pair of the mapping has the key of pair i. */
bool push_yaml_is_repeated(struct push_yaml *yaml, const yaml_node_t *mapping, size_t i);
yaml_node_t *push_yaml_item(struct push_yaml *yaml, const yaml_node_t *list, size_t i);
/* The text of a scalar; NULL: the node is no scalar, or has a NUL. */
const char *push_yaml_text(const yaml_node_t *node);
/* Says what is wrong at the node, and returns -EINVAL. */
int push_yaml_refuse(const struct push_yaml *yaml, const yaml_node_t *node, const char *what,
		     const char *why);

#endif
