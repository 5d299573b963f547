// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   an embedded object file of BPF programs -> the object, or a sentence that says why not
 * units:   none
 * threads: any
 * errors:  negative errno
 * source:  bpf(2), capabilities(7), libbpf; bpf_object.c
 */
#ifndef FG_SAMPLE_BPF_LOAD_H
#define FG_SAMPLE_BPF_LOAD_H

#include <stddef.h>
#include <stdint.h>

#define BPF_LOAD_WHY_BYTES 240

struct bpf_object;

/* The object files, see bpf_object.c. */
extern const unsigned char bpf_sampler_bytes[], bpf_threads_bytes[], bpf_waits_bytes[],
	bpf_waits_before7_bytes[], bpf_probes_bytes[];
extern const uint64_t bpf_probes_len, bpf_sampler_len, bpf_threads_len, bpf_waits_len,
	bpf_waits_before7_len;

/* 0, or -EPERM and in why what is known to stand in the way of any program. */
int bpf_load_check(char why[BPF_LOAD_WHY_BYTES]);

/* Opens an object file, of which the kernel knows nothing yet. Messages of libbpf go to the log. */
int bpf_load_open(const unsigned char *bytes, size_t len, struct bpf_object **ret);

/* Says why the kernel has refused an object; err is a negative errno. */
void bpf_load_explain(int err, char why[BPF_LOAD_WHY_BYTES]);

#endif
