// SPDX-License-Identifier: Apache-2.0
/* What program a process's JVM runs, and whether it is one that passes, see process.h. */
#include "process/process.h"

#include "base/clock.h"
#include "base/process_stat.h"
#include "container/place_name.h"
#include "process/java_program.h"

#include <stdio.h>

static struct java_program program_of(const struct process *process)
{
	return (struct java_program){.command = process_attr(process, "java.command"),
				     .jar = process_attr(process, "java.jar"),
				     .line = process_attr(process, "command")};
}

void process_title(const struct process *process, char *ret, size_t size)
{
	const struct java_program program = program_of(process);

	java_program_title(&program, ret, size);
	if (!ret[0])
		snprintf(ret, size, "%s", process->comm);
}

void process_write_called(const struct process *process, char *ret, size_t size)
{
	char title[512];
	const struct place_name name = {
		.pod = process->workload.pod,
		.container = process->workload.container,
		.service = label_set_find(&process->workload.labels, WORKLOAD_SERVICE),
		.program = title,
	};

	process_title(process, title, sizeof(title));
	place_name_write(&name, ret, size);
}

bool process_is_passing(const struct process *process)
{
	const struct java_program program = program_of(process);
	const uint64_t now_ns = clock_now_ns();
	uint64_t age_ns, gone_ns = 0;

	if (!process->jvm || process->start_ticks == 0 || !java_program_is_tool(&program))
		return false;
	if (process->gone_ns && now_ns > process->gone_ns)
		gone_ns = now_ns - process->gone_ns;
	age_ns = process_stat_ticks_age_ns(process->start_ticks);
	return age_ns < PROCESS_PASSING_NS + gone_ns;
}
