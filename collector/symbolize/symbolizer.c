// SPDX-License-Identifier: Apache-2.0
/*
 * One address after the other: the kernel's by kallsyms, generated code by the process's code map
 * at the sample's time, everything else by the ELF file behind the mapping. See symbolizer.h.
 */
#include "symbolize/symbolizer.h"

#include "base/intern.h"
#include "symbolize/kernel_symbols.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SYMBOL_CACHE_BYTES (256u << 20)

struct symbolizer {
	struct intern names;
	struct kernel_symbols *kernel; /* NULL: kernel_err says why */
	int kernel_err;
	struct module_cache *modules;
};

int symbolizer_new(struct symbolizer **ret)
{
	struct symbolizer *symbolizer = calloc(1, sizeof(*symbolizer));
	int err;

	if (!symbolizer)
		return -ENOMEM;
	err = module_cache_new(SYMBOL_CACHE_BYTES, &symbolizer->modules);
	if (err) {
		symbolizer_free(symbolizer);
		return err;
	}
	symbolizer->kernel_err = kernel_symbols_load(&symbolizer->kernel);
	*ret = symbolizer;
	return 0;
}

void symbolizer_free(struct symbolizer *symbolizer)
{
	if (!symbolizer)
		return;
	kernel_symbols_free(symbolizer->kernel);
	module_cache_free(symbolizer->modules);
	intern_fini(&symbolizer->names);
	free(symbolizer);
}

const char *symbolizer_kernel_problem(const struct symbolizer *symbolizer)
{
	if (symbolizer->kernel_err == -EACCES)
		return "kernel addresses are hidden; run as root, or lower kernel.kptr_restrict "
		       "(sysctl kernel.kptr_restrict=0)";
	if (symbolizer->kernel_err)
		return "/proc/kallsyms cannot be read";
	return NULL;
}

static const char *intern_format(struct symbolizer *symbolizer, const char *format,
				 const char *text)
{
	char buf[512];

	snprintf(buf, sizeof(buf), format, text);
	return intern_add_str(&symbolizer->names, buf);
}

static struct frame unknown(struct symbolizer *symbolizer, const char *reason)
{
	return (struct frame){.name = intern_format(symbolizer, "[unknown: %s]", reason),
			      .kind = FRAME_UNKNOWN};
}

static struct frame name_kernel(struct symbolizer *symbolizer, uint64_t addr)
{
	const char *module = NULL, *name;

	if (!symbolizer->kernel)
		return (struct frame){
			.name = intern_add_str(&symbolizer->names, "[kernel: symbols hidden]"),
			.kind = FRAME_KERNEL};
	name = kernel_symbols_find(symbolizer->kernel, addr, &module);
	if (!name)
		return unknown(symbolizer, "no kernel symbol");
	return (struct frame){.name = intern_add_str(&symbolizer->names, name),
			      .module = intern_add_str(&symbolizer->names, module),
			      .kind = FRAME_KERNEL};
}

static enum frame_kind kind_of(const struct code_range *range)
{
	if (range->kind == CODE_STUB)
		return FRAME_STUB;
	if (range->kind == CODE_NATIVE_WRAPPER)
		return FRAME_NATIVE_WRAPPER;
	/* Levels 1 to 3 are C1's, with more or less profiling; 4 is C2's. */
	if (range->level >= 1 && range->level <= 3)
		return FRAME_C1;
	return FRAME_JIT;
}

static struct frame name_code(struct symbolizer *symbolizer, const struct code_range *range)
{
	struct frame frame = {.kind = kind_of(range)};
	char name[4096];

	if (range->class_name)
		snprintf(name, sizeof(name), "%s.%s", range->class_name, range->name);
	else
		snprintf(name, sizeof(name), "%s", range->name);
	frame.name = intern_add_str(&symbolizer->names, name);
	if (range->source_file)
		frame.file = intern_add_str(&symbolizer->names, range->source_file);
	return frame;
}

static bool is_generated(const struct mapping *mapping)
{
	return mapping->inode == 0 && mapping->path[0] != '[';
}

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash && slash[1] ? slash + 1 : path;
}

static struct frame name_file(struct symbolizer *symbolizer, pid_t pid,
			      const struct mapping *mapping, uint64_t addr)
{
	const char *module = base_name(mapping->path), *reason = NULL, *name = NULL;
	struct elf_symbols *symbols =
		module_cache_find(symbolizer->modules, pid, mapping, &reason);
	struct frame frame = {.kind = FRAME_NATIVE};
	uint64_t elf_addr, offset;

	if (symbols && elf_symbols_addr_of(symbols, addr - mapping->start + mapping->file_off,
					   &elf_addr) == 0)
		name = elf_symbols_find(symbols, elf_addr, &offset);
	if (!name)
		return unknown(symbolizer, module);
	if (strcmp(module, "libjvm.so") == 0)
		frame.kind = FRAME_JVM;
	frame.name = intern_add_str(&symbolizer->names, name);
	frame.module = intern_add_str(&symbolizer->names, module);
	return frame;
}

static struct frame name_user(struct symbolizer *symbolizer,
			      const struct symbolizer_context *context, uint64_t addr,
			      struct symbolizer_verdict *verdict)
{
	const struct process *process = context->process;
	const struct code_range *range = NULL;
	const struct mapping *mapping;

	if (!process)
		return unknown(symbolizer, "process gone");
	if (process->code)
		range = code_map_find(process->code, addr, context->time_ns);
	if (range)
		return name_code(symbolizer, range);
	mapping = address_space_find(&process->space, addr);
	if (!mapping)
		return unknown(symbolizer, "not mapped");
	if (is_generated(mapping)) {
		verdict->is_java_named = false;
		return unknown(symbolizer, "generated code");
	}
	return name_file(symbolizer, process->pid, mapping, addr);
}

/* Where threads and processes begin, in glibc, musl and the kernel. */
static bool is_entry(const struct frame *frame)
{
	static const char *const entries[] = {
		"_start", "_start_c", "__clone", "__clone3", "clone", "clone3", "start_thread",
		"start", "__libc_start_main", "__libc_start_call_main", "ret_from_fork",
		"ret_from_fork_asm", "secondary_startup_64_no_verify"};

	for (size_t i = 0; frame->name && i < sizeof(entries) / sizeof(entries[0]); i++) {
		const size_t len = strlen(entries[i]);

		/* Older libraries carry versions and clones in names: __libc_start_main_impl. */
		if (strncmp(frame->name, entries[i], len) == 0 &&
		    (frame->name[len] == '\0' || strchr("@.", frame->name[len]) ||
		     strcmp(frame->name + len, "_impl") == 0))
			return frame->kind == FRAME_NATIVE || frame->kind == FRAME_KERNEL;
	}
	return false;
}

void symbolizer_name(struct symbolizer *symbolizer, const struct symbolizer_context *context,
		     const struct stack *stack, struct frame *ret,
		     struct symbolizer_verdict *ret_verdict)
{
	struct symbolizer_verdict verdict = {.is_named = true, .is_java_named = true};

	for (uint32_t i = 0; i < stack->depth; i++) {
		const struct stack_entry *entry = &stack->entries[i];
		const uint64_t probe = stack_probe(entry);

		ret[i] = entry->is_kernel ? name_kernel(symbolizer, probe)
					  : name_user(symbolizer, context, probe, &verdict);
		if (!ret[i].name)
			ret[i] = (struct frame){.name = "[unknown: out of memory]",
						.kind = FRAME_UNKNOWN};
		verdict.is_named &= ret[i].kind != FRAME_UNKNOWN;
	}
	verdict.is_rooted = stack->depth > 0 && !stack->is_cut && is_entry(&ret[stack->depth - 1]);
	*ret_verdict = verdict;
}

struct frame symbolizer_label(struct symbolizer *symbolizer, const char *text)
{
	return (struct frame){.name = intern_add_str(&symbolizer->names, text),
			      .kind = FRAME_LABEL};
}

void symbolizer_forget(struct symbolizer *symbolizer, pid_t pid)
{
	module_cache_forget(symbolizer->modules, pid);
}

void symbolizer_stats(const struct symbolizer *symbolizer, struct module_cache_stats *ret)
{
	module_cache_stats(symbolizer->modules, ret);
}
