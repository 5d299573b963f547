// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   libyaml -> its functions, for files of --push
 * units:   as of the library
 * threads: any for load; otherwise as of the library
 * errors:  NULL, or why the library cannot be loaded
 * source:  libyaml
 *
 * In place of the library's own header, see lazy/lazy_library.h.
 */
#ifndef FG_LAZY_LAZY_YAML_H
#define FG_LAZY_LAZY_YAML_H

#include "lazy/lazy_library.h"

#include <yaml.h>

#define LAZY_YAML(X)                                                                               \
	X(yaml_document_delete)                                                                    \
	X(yaml_document_get_node)                                                                  \
	X(yaml_document_get_root_node)                                                             \
	X(yaml_parser_delete)                                                                      \
	X(yaml_parser_initialize)                                                                  \
	X(yaml_parser_load)                                                                        \
	X(yaml_parser_set_input_string)

extern struct lazy_yaml {
	LAZY_YAML(LAZY_MEMBER)
} lazy_yaml;

/* Before the first call of any. */
const char *lazy_yaml_load(void);

#define yaml_document_delete	     lazy_yaml.yaml_document_delete
#define yaml_document_get_node	     lazy_yaml.yaml_document_get_node
#define yaml_document_get_root_node  lazy_yaml.yaml_document_get_root_node
#define yaml_parser_delete	     lazy_yaml.yaml_parser_delete
#define yaml_parser_initialize	     lazy_yaml.yaml_parser_initialize
#define yaml_parser_load	     lazy_yaml.yaml_parser_load
#define yaml_parser_set_input_string lazy_yaml.yaml_parser_set_input_string

#endif
