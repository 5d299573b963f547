// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   the user registers of a sample -> the value of one register
 * units:   registers by their numbers in <asm/perf_regs.h>
 * threads: pure
 * errors:  to ask for a register outside SAMPLE_REGS_MASK is a bug of the caller
 * source:  perf_event_open(2), sample_regs_user; <asm/perf_regs.h>
 *
 * Samples carry the general registers, which is all that unwinding needs. A 32-bit process has
 * other registers, and its samples carry none.
 */
#ifndef FG_SAMPLE_SAMPLE_REGS_H
#define FG_SAMPLE_SAMPLE_REGS_H

#include <asm/perf_regs.h>
#include <assert.h>
#include <stdint.h>

#if defined(__x86_64__)
/* AX BX CX DX SI DI BP SP IP, R8..R15; not the flags and segments between them */
#define SAMPLE_REGS_MASK                                                                           \
	(((UINT64_C(2) << PERF_REG_X86_IP) - 1) |                                                  \
	 ((UINT64_C(2) << PERF_REG_X86_R15) - (UINT64_C(1) << PERF_REG_X86_R8)))
#define SAMPLE_REGS_COUNT 17
#define SAMPLE_REG_SP	  PERF_REG_X86_SP
#define SAMPLE_REG_PC	  PERF_REG_X86_IP
#elif defined(__aarch64__)
/* X0..X29, LR, SP, PC */
#define SAMPLE_REGS_MASK  ((UINT64_C(2) << PERF_REG_ARM64_PC) - 1)
#define SAMPLE_REGS_COUNT 33
#define SAMPLE_REG_SP	  PERF_REG_ARM64_SP
#define SAMPLE_REG_PC	  PERF_REG_ARM64_PC
#else
#error "which registers have samples on this architecture?"
#endif

static_assert(__builtin_popcountll(SAMPLE_REGS_MASK) == SAMPLE_REGS_COUNT, "one value a bit");

/* regs: SAMPLE_REGS_COUNT values, in rising order of the mask's bits. */
static inline uint64_t sample_regs_get(const uint64_t *regs, unsigned perf_reg)
{
	assert(perf_reg < 64 && SAMPLE_REGS_MASK >> perf_reg & 1);
	return regs[__builtin_popcountll(SAMPLE_REGS_MASK & ((UINT64_C(1) << perf_reg) - 1))];
}

#endif
