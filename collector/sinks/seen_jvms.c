// SPDX-License-Identifier: Apache-2.0
/* Remembers the JVMs of which there were samples, see seen_jvms.h. */
#include "sinks/seen_jvms.h"

/* PID and start time. A PID is used again, but with another start time. */
static uint64_t key_of(const struct process *process)
{
	return process->start_ticks << 32 | (uint32_t)process->pid;
}

void seen_jvms_fini(struct seen_jvms *jvms)
{
	map64_fini(&jvms->seen);
}

void seen_jvms_add(struct seen_jvms *jvms, const struct process *process)
{
	const size_t before = jvms->seen.count;

	if (!process || !process_is_jvm(process) || before >= SEEN_JVMS_MAX)
		return;
	map64_put(&jvms->seen, key_of(process), jvms);
	jvms->outside += process->jvm->is_outside && jvms->seen.count > before;
}

bool seen_jvms_has(const struct seen_jvms *jvms, const struct process *process)
{
	return map64_find(&jvms->seen, key_of(process)) != NULL;
}
