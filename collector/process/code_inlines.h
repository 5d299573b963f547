// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   a METHOD_LOAD record -> the names of its method and its inline table
 * units:   none
 * threads: the model's
 * errors:  a table that cannot be kept is counted in jvm->lost_inlines; its names are kept
 * source:  shared/README.md, METHOD_LOAD, section 1
 */
#ifndef FG_PROCESS_CODE_INLINES_H
#define FG_PROCESS_CODE_INLINES_H

#include "code/inline_table.h"
#include "process/process.h"

/*
 * Sets ret_names to the names in the record, or to those of the inline table's first method if the
 * record has no names. Returns the inline table, which the caller owns, or NULL if there is none.
 * Method IDs that the record introduces are known afterwards, even if the table is not kept.
 */
struct inline_table *code_inlines_read(struct process *process, const struct wire_method_load *load,
				       struct code_method *ret_names);

#endif
