// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   instructions of code without unwind rules -> a rule for each instruction
 * units:   offsets as in struct code_steps; bytes
 * threads: values
 * errors:  -ENOMEM; an instruction about which nothing is known has no rule
 * source:  System V ABI for x86_64: a function's return address lies on top of the stack when it
 *          begins and when it returns, and its caller's rbp is in rbp then
 *
 * Two things are known of any function: where its frame is when it begins, and where when it
 * returns. What each instruction does to the stack is known too. So the place of the frame is
 * carried from instruction to instruction, forward from functions' begins and backward from their
 * returns, along all jumps and across all calls. The first answer at an instruction stays.
 *
 * Code with nothing to return to is known by what it does: it clears a frame pointer that it has
 * not saved, the ABI's mark of the deepest frame, and nothing behind that returns. So is the code
 * at the file's entry point. The code to which a signal's handler returns is known by its system
 * call, and the frame by the kernel's layout.
 */
#ifndef FG_FLOW_CODE_RULES_H
#define FG_FLOW_CODE_RULES_H

#include "flow/cfi_rows.h"
#include "flow/code_decode.h"

/* What is found. */
struct code_rules {
	struct cfi_row *rows; /* by rising start */
	size_t row_count;
	uint32_t *starts; /* offsets at which functions begin, rising */
	size_t start_count;
	size_t known;	 /* instructions that have a rule */
	size_t doubtful; /* of known, instructions that two ways lead to with two answers */
};

/*
 * Finds a row for each stretch of instructions with one rule, and a row outside of functions for
 * those without. Functions are known to begin at instructions with is_entry. entry: the offset of
 * the file's entry point, or CODE_NO_TARGET.
 */
int code_rules_make(const struct code_steps *steps, uint32_t entry, struct code_rules *ret);
void code_rules_fini(struct code_rules *rules);

#endif
