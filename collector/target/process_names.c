// SPDX-License-Identifier: Apache-2.0
/* The names of one process's code and threads, see process.h and name_pool.h. */
#include "target/process.h"

#include "target/java_text.h"

#include <string.h>

const char *process_name(struct process *process, const char *text, size_t len)
{
	char utf8[WIRE_STRING_MAX_BYTES];
	const char *name;

	if (len == 0 || len > sizeof(utf8))
		return NULL;
	len = java_text_to_utf8(text, len, utf8);
	len = java_text_cut(utf8, len, PROCESS_MAX_NAME_BYTES);
	name = name_pool_add(&process->names, utf8, len);
	process->jvm->name_limit_hits += name == process->names.limit_text;
	return name;
}

/* On the way from the process's pool to a fresh one. */
struct move {
	struct process *process;
	struct name_pool to;
};

static const char *move_name(void *arg, const char *name)
{
	struct move *move = arg;
	const char *moved = name_pool_add(&move->to, name, strlen(name));

	if (moved == move->to.limit_text && name != move->process->names.limit_text)
		move->process->jvm->name_limit_hits++;
	return moved;
}

void process_compact_names(struct process *process, uint64_t now_ns)
{
	struct move move = {.process = process};
	struct map64 *threads = &process->thread_names;

	if (!name_pool_is_due(&process->names, now_ns) || name_pool_init(&move.to) < 0)
		return;
	code_map_rename(process->code, move_name, &move);
	code_methods_rename(&process->methods, move_name, &move);
	java_methods_rename(&process->java_methods, move_name, &move);
	for (size_t i = 0; i < threads->size; i++) {
		if (threads->slots[i].value)
			threads->slots[i].value =
				(void *)(uintptr_t)move_name(&move, threads->slots[i].value);
	}
	move.to.kept_bytes = name_pool_bytes(&move.to);
	move.to.moved_ns = now_ns;
	name_pool_fini(&process->names);
	process->names = move.to;
}
