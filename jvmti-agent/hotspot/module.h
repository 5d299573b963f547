// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   an address in a loaded shared object -> the object; a name -> its exported data
 * units:   addresses of this process
 * threads: any; only the caller's structs hold state
 * errors:  false or NULL; a malformed object is one without symbols
 * source:  dl_iterate_phdr(3), elf(5), the System V gABI on DT_HASH, GNU's DT_GNU_HASH
 *
 * Replaces dlopen and dlsym, which old glibc has in a library of its own. Every pointer read from
 * the object is checked against the object's segments before it is used.
 */
#ifndef FGAGENT_HOTSPOT_MODULE_H
#define FGAGENT_HOTSPOT_MODULE_H

#include <link.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* phdr is borrowed and lives as long as the object is loaded; libjvm is never unloaded. */
struct module {
	uintptr_t base;
	const ElfW(Phdr) * phdr;
	size_t n_phdr;
};

/* Finds the object that has addr in one of its segments. */
bool module_find(const void *addr, struct module *ret);

/* Whether [addr, addr+len) lies in one segment that has all of access (PF_R, PF_W). */
bool module_holds(const struct module *module, const void *addr, size_t len, uint32_t access);

/*
 * The address of the defined data symbol of that name, if at least len bytes can be read there, or
 * NULL.
 */
const void *module_find_symbol(const struct module *module, const char *name, size_t len);

#endif
