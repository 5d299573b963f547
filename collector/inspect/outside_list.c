// SPDX-License-Identifier: Apache-2.0
/* What has been read from outside, as JSON; see outside_list.h. */
#include "inspect/outside_list.h"

#define NS_PER_US 1000

json_t *outside_list_row(const struct process *process)
{
	const struct outside_process *const outside = process->outside;
	const struct vm_reading_stats *const now = &outside->stats, *const before = &outside->ended;

	return json_pack("{s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:s, s:s}",
			 "steps", (json_int_t)(now->steps + before->steps), "bytes",
			 (json_int_t)(now->bytes + before->bytes), "reads",
			 (json_int_t)(now->reads + before->reads), "took_us",
			 (json_int_t)(outside->took_ns / NS_PER_US), "named",
			 (json_int_t)(now->named + before->named), "unnamed",
			 (json_int_t)(now->unnamed + before->unnamed), "uninlined",
			 (json_int_t)(now->uninlined + before->uninlined), "unlined",
			 (json_int_t)(now->unlined + before->unlined), "reused",
			 (json_int_t)(now->reused + before->reused), "changed",
			 (json_int_t)(now->changed + before->changed), "left_out",
			 (json_int_t)now->left_out, "errors", (json_int_t)outside->errors,
			 "problem", outside_process_problem(outside), "lacks", outside->lacks);
}
