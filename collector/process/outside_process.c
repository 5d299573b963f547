// SPDX-License-Identifier: Apache-2.0
/* What is known of how a process is read from outside, see outside_process.h. */
#include "process/outside_process.h"

#include "guard/heap_bytes.h"

#include <errno.h>
#include <stdlib.h>

void outside_process_free(struct outside_process *outside)
{
	if (outside)
		outside_reader_free(outside->reader);
	free(outside);
}

void outside_process_end_reader(struct outside_process *outside)
{
	outside_reader_free(outside->reader);
	outside->reader = NULL;
	outside->reader_bytes = 0;
	outside->is_telling = false;
	outside->ended.steps += outside->stats.steps;
	outside->ended.bytes += outside->stats.bytes;
	outside->ended.reads += outside->stats.reads;
	outside->ended.named += outside->stats.named;
	outside->ended.unnamed += outside->stats.unnamed;
	outside->ended.uninlined += outside->stats.uninlined;
	outside->ended.unlined += outside->stats.unlined;
	outside->ended.reused += outside->stats.reused;
	outside->ended.changed += outside->stats.changed;
	outside->stats = (struct vm_reading_stats){0};
}

uint64_t outside_process_hot_ns(const struct outside_process *outside)
{
	return OUTSIDE_HOT_NS << (outside->quiet < 2 * OUTSIDE_QUIET
					  ? outside->quiet / OUTSIDE_QUIET
					  : 2);
}

size_t outside_process_bytes(const struct outside_process *outside)
{
	return outside ? heap_bytes(sizeof(*outside)) + outside->reader_bytes : 0;
}

void outside_process_note_sample(struct outside_process *outside, uint64_t now_ns)
{
	if (!outside)
		return;
	outside->sampled_ns = now_ns;
	if (outside->is_beside && !outside->beside.has_told)
		return;
	if (outside->due_ns > now_ns + outside_process_hot_ns(outside) && !outside->err)
		outside->due_ns = now_ns > outside->ready_ns ? now_ns : outside->ready_ns;
}

bool outside_process_wants_threads(const struct outside_process *outside)
{
	return outside->is_beside && outside->sampled_ns > outside->started_ns;
}

static const char *reason_of(int err)
{
	switch (-err) {
	case EPERM:
	case EACCES:
		return "its memory may not be read: run as root or grant CAP_SYS_PTRACE";
	case ESRCH:
		return "it has ended";
	case ENOEXEC:
		return "its libjvm.so has no tables of HotSpot's: it is another virtual machine";
	case EPROTO:
		return "its tables cannot be HotSpot's";
	case ENOTSUP:
		return "its HotSpot does not say how its code is laid out";
	case ENOMEM:
	case ENOSPC:
	case EDQUOT:
		return "there is no room for its code";
	default:
		return "its memory cannot be read, or changes while it is read";
	}
}

const char *outside_process_problem(const struct outside_process *outside)
{
	if (outside->is_late)
		return "its memory does not answer";
	return outside->err ? reason_of(outside->err) : "";
}
