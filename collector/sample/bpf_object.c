// SPDX-License-Identifier: Apache-2.0
/*
 * The object file of the BPF program, as the build has made it, for bpf_source.c. Its bytes are
 * aligned as an ELF file's must be.
 */
#ifdef BPF_OBJECT_FILE /* not where this file is only compiled to see whether it compiles */
__asm__(".pushsection .rodata\n"
	".balign 16\n"
	".global bpf_object_bytes\n"
	".global bpf_object_len\n"
	"bpf_object_bytes: .incbin \"" BPF_OBJECT_FILE "\"\n"
	"1: .balign 8\n"
	"bpf_object_len: .quad 1b - bpf_object_bytes\n"
	".popsection\n");
#endif

extern const unsigned char bpf_object_bytes[];
