// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   a process -> whether this copy of the agent is the one that works
 * units:   none
 * threads: in Agent_OnLoad only
 * errors:  none
 * source:  elf(5), PT_NOTE; dl_iterate_phdr(3)
 *
 * The agent may be given twice: in JAVA_TOOL_OPTIONS by one image and in JDK_JAVA_OPTIONS by
 * another, from two files. Each file is an object of its own to the dynamic linker, with variables
 * of its own. Two agents would tell the same twice, as two sessions of one process.
 */
#ifndef FGAGENT_ONLY_ONE_H
#define FGAGENT_ONLY_ONE_H

#include <stdbool.h>

/* True for the first call in this process, whatever file it is made from. */
bool only_one_claim(void);

#endif
