// SPDX-License-Identifier: Apache-2.0
/*
 * The object files of the BPF programs, as the build has made them, see bpf_load.h. Their bytes are
 * aligned as an ELF file's must be.
 */
#include "sample/bpf_load.h"

#ifdef BPF_SAMPLER_FILE /* not where this file is only compiled to see whether it compiles */
#define EMBED(name, file)                                                                          \
	__asm__(".pushsection .rodata\n"                                                           \
		".balign 16\n"                                                                     \
		".global " name "_bytes\n"                                                         \
		".global " name "_len\n" name "_bytes: .incbin \"" file "\"\n"                     \
		"1: .balign 8\n" name "_len: .quad 1b - " name "_bytes\n"                          \
		".popsection\n")

EMBED("bpf_sampler", BPF_SAMPLER_FILE);
EMBED("bpf_probes", BPF_PROBES_FILE);
EMBED("bpf_threads", BPF_THREADS_FILE);
EMBED("bpf_waits", BPF_WAITS_FILE);
EMBED("bpf_waits_before7", BPF_WAITS_BEFORE7_FILE);
#endif
