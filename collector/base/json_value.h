// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   members of a JSON object <-> texts, numbers, booleans
 * units:   none
 * threads: any
 * errors:  a member that is missing, or of another type, is "", 0 or false
 * source:  RFC 8259; jansson.h
 */
#ifndef FG_BASE_JSON_VALUE_H
#define FG_BASE_JSON_VALUE_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

const char *json_value_text(const json_t *object, const char *key); /* borrowed */
json_int_t json_value_int(const json_t *object, const char *key);
/* A number below 0 counts as 0. */
uint64_t json_value_count(const json_t *object, const char *key);
bool json_value_bool(const json_t *object, const char *key);

void json_value_put_count(json_t *object, const char *key, uint64_t count);

/* A JSON string of text, cleaned by utf8_clean. text NULL: "". Returns NULL without memory. */
json_t *json_value_new_text(const char *text);

#endif
