// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   an ELF file -> how its table's rules compare with libdw's
 * units:   addresses that were compared
 * threads: one
 * errors:  fails the test if the file cannot be read
 * source:  elfutils libdw: dwarf_cfi_addrframe, dwarf_frame_cfa, dwarf_frame_register
 *
 * Rules are not compared by form but by what they give: registers and memory get values at random,
 * and both sides must come to the same CFA and the same places.
 */
#ifndef FG_TESTS_ELF_CFI_GROUND_TRUTH_H
#define FG_TESTS_ELF_CFI_GROUND_TRUTH_H

#include <stddef.h>

struct cfi_comparison {
	size_t addresses; /* where libdw has a rule */
	size_t equal;	  /* and the table the same */
	size_t unsaid;	  /* and the table says that a row cannot tell */
	size_t missing;	  /* and the table has nothing */
	size_t different; /* and the table another: a bug */
	size_t outside;	  /* neither has a rule */
	size_t surplus;	  /* libdw has none, the table has one */
	size_t signals, roots, derefs, plts;
	size_t rbx;	    /* addresses where the table says where rbx is, and libdw the same */
	size_t rbx_unknown; /* and where it does not */
};

/* Of the functions each one's changes of rules, or those of every stride-th. */
struct cfi_comparison cfi_ground_truth_compare(const char *path, size_t stride);
void cfi_ground_truth_print(const char *path, const struct cfi_comparison *comparison);

#endif
