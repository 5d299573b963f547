// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   texts -> values of JSON
 * units:   none
 * threads: any
 * errors:  NULL without memory
 * source:  RFC 8259; jansson.h
 */
#ifndef FG_BASE_JSON_VALUE_H
#define FG_BASE_JSON_VALUE_H

#include <jansson.h>

/* A string, as clean as utf8_clean makes it, for JSON is UTF-8. NULL is "". */
json_t *json_value_new_text(const char *text);

#endif
