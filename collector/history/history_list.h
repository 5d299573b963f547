// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   a list of a store's processes -> a table, or JSON
 * units:   local time in the table; RFC 3339 in UTC in JSON; bytes; weights of the kinds
 * threads: one
 * errors:  -ENOMEM
 * source:  none
 */
#ifndef FG_HISTORY_HISTORY_LIST_H
#define FG_HISTORY_HISTORY_LIST_H

#include "store/store_list.h"

#include <jansson.h>
#include <stdio.h>

void history_list_print(const struct store_list *list, FILE *stream);
int history_list_print_json(const char *dir, const struct store_list *list, FILE *stream);

/* An object of the process's labels, and an array of a row's kinds, whose names have that key. */
json_t *history_list_labels(const struct store_process *process);
json_t *history_list_kinds(const struct store_row *row, const char *key);

#endif
