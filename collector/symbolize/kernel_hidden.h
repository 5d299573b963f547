// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   what the kernel lets this process see of its symbols -> why there are none, and the
 *          remedy
 * units:   none
 * threads: any
 * errors:  none
 * source:  Documentation/admin-guide/sysctl/kernel.rst, kernel/kallsyms.c
 */
#ifndef FG_SYMBOLIZE_KERNEL_HIDDEN_H
#define FG_SYMBOLIZE_KERNEL_HIDDEN_H

#include <stdbool.h>
#include <stddef.h>

struct kernel_rights {
	int err;	   /* error of reading the symbols, negative errno */
	int kptr_restrict; /* kernel.kptr_restrict; -1: not known */
	int paranoid;	   /* kernel.perf_event_paranoid; -9: not known */
	bool has_syslog;   /* CAP_SYSLOG, in effect */
};

#define KERNEL_PARANOID_UNKNOWN (-9)

/* Reads the current settings and rights. err: see struct kernel_rights. */
struct kernel_rights kernel_rights_read(int err);

/*
 * kernel_hidden_sentence: a sentence with the remedy. kernel_hidden_frame: a few words for a frame,
 * "[kernel: kptr_restrict is 2]".
 */
void kernel_hidden_sentence(const struct kernel_rights *rights, char *ret, size_t size);
void kernel_hidden_frame(const struct kernel_rights *rights, char *ret, size_t size);

#endif
