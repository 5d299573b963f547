// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   which parts of perf script's text are kept, and how frames are named
 * units:   none
 * threads: any
 * errors:  none
 * source:  perf-script(1); the options of stackcollapse-perf.pl
 */
#ifndef FG_IMPORT_IMPORT_OPTIONS_H
#define FG_IMPORT_IMPORT_OPTIONS_H

#include <stdbool.h>

/* The text of event is borrowed. */
struct import_options {
	bool has_pid;	     /* the lowest frame is comm-PID */
	bool has_tid;	     /* the lowest frame is comm-PID/TID */
	bool marks_kernel;   /* the kernel's frames get a kind of their own */
	bool marks_jit;	     /* frames of generated code get kinds of their own */
	bool has_addrs;	     /* functions without a name are named by their address */
	bool counts_samples; /* each sample counts once, whatever its period */
	bool has_inlined;    /* inlined functions are read from the DWARF of files */
	const char *event;   /* the event whose samples are kept; NULL: the first in the file */
};

#endif
