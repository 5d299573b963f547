// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   the kernel's symbols: address -> name and module
 * units:   kernel addresses
 * threads: a loaded table is immutable
 * errors:  negative errno; -EACCES: addresses are hidden (kernel.kptr_restrict, no CAP_SYSLOG);
 *          -ENODATA: no symbol of code in the text
 * source:  /proc/kallsyms; perf's choice among several names of one address
 */
#ifndef FG_SYMBOLIZE_KERNEL_SYMBOLS_H
#define FG_SYMBOLIZE_KERNEL_SYMBOLS_H

#include <stddef.h>
#include <stdint.h>

struct kernel_symbols; /* opaque */

int kernel_symbols_load(struct kernel_symbols **ret);
int kernel_symbols_load_from(const char *path, struct kernel_symbols **ret);
typedef int (*kernel_load_fn)(const char *path, struct kernel_symbols **ret);
/* Parses a text in the form of /proc/kallsyms; lines that do not parse are skipped. */
int kernel_symbols_parse(const char *text, size_t len, struct kernel_symbols **ret);
void kernel_symbols_free(struct kernel_symbols *symbols); /* NULL is legal */

/*
 * The name of the symbol that holds addr, borrowed, or NULL. *ret_module is "[kernel]" or the
 * module's name in brackets, such as [nf_tables] or [bpf].
 */
const char *kernel_symbols_find(const struct kernel_symbols *symbols, uint64_t addr,
				const char **ret_module);
size_t kernel_symbols_count(const struct kernel_symbols *symbols);
size_t kernel_symbols_bytes(const struct kernel_symbols *symbols); /* memory; 0 for NULL */
/* Memory of all tables that threads are loading now. Any thread may ask. */
size_t kernel_symbols_loading_bytes(void);

#endif
