// SPDX-License-Identifier: Apache-2.0
/* What program a process runs: whether it is a JVM, which, and one that passes, see process.h. */
#include "process/process.h"

#include "base/clock.h"
#include "base/process_stat.h"
#include "code/java_program.h"
#include "container/place_name.h"
#include "memory/space_reader.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LOOK_NS (2 * CLOCK_NS_PER_MS) /* for a library, among what can be read within that time */

const struct jvm_hello *process_hello(const struct process *process)
{
	if (process->program)
		return process->program;
	return process->jvm ? &process->jvm->hello : NULL;
}

const char *process_attr(const struct process *process, const char *key)
{
	const struct jvm_hello *const hello = process_hello(process);

	return hello ? jvm_hello_attr(hello, key) : NULL;
}

void process_forget_program(struct process *process)
{
	if (process->program)
		jvm_hello_fini(process->program);
	free(process->program);
	process->program = NULL;
}

int process_set_program(struct process *process, const struct wire_hello *hello)
{
	struct wire_hello texts = *hello;
	uint64_t bad = 0;
	int err;

	process_forget_program(process);
	process->program = calloc(1, sizeof(*process->program));
	if (!process->program)
		return -ENOMEM;
	texts.n_values = 0; /* where members lie is read anew with the code */
	err = jvm_hello_set(process->program, &texts, &bad);
	if (err)
		process_forget_program(process);
	process_identify(process);
	return err;
}

bool process_is_zero_vm(const struct process *process)
{
	const char *const name = process_attr(process, "jvm.name");

	return name && strstr(name, " Zero VM");
}

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

static bool has_file(const struct address_space *space, const char *name)
{
	for (size_t i = 0; i < space->count; i++) {
		const char *slash = strrchr(space->mappings[i].path, '/');

		if (slash && strcmp(slash + 1, name) == 0)
			return true;
	}
	return false;
}

bool process_has_generated(const struct process *process)
{
	for (size_t i = 0; i < process->space.count; i++) {
		if (mapping_is_generated(&process->space.mappings[i]))
			return true;
	}
	return false;
}

/* Returns what space_reader_step does; what has been read is in *ret. */
static int look(pid_t pid, struct address_space *ret)
{
	struct space_reader *const reader = space_reader_new(pid);
	const int more = reader ? space_reader_step(reader, LOOK_NS) : -ENOMEM;

	if (more >= 0)
		space_reader_take(reader, ret);
	space_reader_free(reader);
	return more;
}

bool process_maps_libjvm(pid_t pid)
{
	struct address_space space = {0};
	bool has;

	look(pid, &space);
	has = has_file(&space, "libjvm.so");
	address_space_fini(&space);
	return has;
}

bool process_has_left_libjvm(const struct process *process)
{
	struct address_space space = {0};
	bool has_left;

	if (!process_has_libjvm(process))
		return false;
	has_left = look(process->pid, &space) == 0 && space.count > 0 &&
		   !has_file(&space, "libjvm.so");
	address_space_fini(&space);
	return has_left;
}

bool process_has_file(const struct process *process, const char *name)
{
	return has_file(&process->space, name);
}

/* Each sample may ask, and there may be thousands of mappings. */
static bool is_libjvm_known(const struct process *process)
{
	return process->libjvm_serial == process->space.serial && process->space.serial != 0;
}

bool process_has_libjvm(const struct process *process)
{
	return is_libjvm_known(process) ? process->maps_libjvm
					: process_has_file(process, "libjvm.so");
}

bool process_maps_libjvm_now(struct process *process)
{
	process->maps_libjvm = process_has_libjvm(process);
	process->libjvm_serial = process->space.serial;
	return process->maps_libjvm;
}
