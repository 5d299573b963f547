// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   what a METHOD_LOAD says of methods -> its names and its inline table
 * units:   none
 * threads: the model's
 * errors:  a table that cannot be kept is counted in jvm->lost_inlines; names are kept all the same
 * source:  shared/README.md, METHOD_LOAD, section 1
 */
#ifndef FG_PROCESS_CODE_INLINES_H
#define FG_PROCESS_CODE_INLINES_H

#include "code/inline_table.h"
#include "process/process.h"

/*
 * The names that the record says, or those of the table's first method where it says none. Returns
 * the table, the caller's, or NULL if there is none. IDs that the record introduces are known from
 * here on, also if the table is not kept.
 */
struct inline_table *code_inlines_read(struct process *process, const struct wire_method_load *load,
				       struct code_method *ret_names);

#endif
