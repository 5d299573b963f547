// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   what of perf script's text is kept, and how it is called
 * units:   none
 * threads: any
 * errors:  none
 * source:  perf-script(1); the options of stackcollapse-perf.pl
 */
#ifndef FG_IMPORT_IMPORT_OPTIONS_H
#define FG_IMPORT_IMPORT_OPTIONS_H

#include <stdbool.h>

/* The event is borrowed. */
struct import_options {
	bool has_pid;	     /* PIDs in the lowest level: comm-PID */
	bool has_tid;	     /* comm-PID/TID */
	bool marks_kernel;   /* kinds of frames are kept: the kernel's, */
	bool marks_jit;	     /* and those of generated code */
	bool has_addrs;	     /* functions without a name by their address */
	bool counts_samples; /* each sample once, whatever its period */
	bool has_inlined;    /* functions inlined in files, by these files' DWARF */
	const char *event;   /* only this one; NULL: the first that is met */
};

#endif
