// SPDX-License-Identifier: Apache-2.0
/*
 * The points, their notes and their semaphores. A note in .note.stapsdt:
 *
 *   u32 8, u32 length of the descriptor, u32 3, "stapsdt\0"
 *   u64 address of the point, u64 address of .stapsdt.base, u64 address of the semaphore or 0
 *   "fgagent\0", the point's name, the text of its arguments, each with a NUL
 *
 * All addresses are those of the file: a tool corrects them if .stapsdt.base has been moved since.
 *
 * The kernel refuses a second tracer at one place that names another semaphore. Therefore the
 * collector has places of its own: NAME__sample runs at the same time as NAME and has no semaphore,
 * and NAME__arm has a semaphore and never runs. This file is compiled without a red zone, because
 * the kernel (6.18, [uprobes-trampoline]) replaces the x86_64 form of a traced point by a call.
 */
#include "probes/points.h"

#if defined(__x86_64__)
#define NOP  ".byte 0x0f, 0x1f, 0x44, 0x00, 0x00\n"
#define ARG1 "rdi"
#define ARG2 "rsi"
#define ARG3 "rdx"
#define ARG4 "rcx"
#define ARG5 "r8"
#define ARG6 "r9"
#define REG  "%%"
#elif defined(__aarch64__)
#define NOP  "nop\n"
#define ARG1 "x0"
#define ARG2 "x1"
#define ARG3 "x2"
#define ARG4 "x3"
#define ARG5 "x4"
#define ARG6 "x5"
#define REG  ""
#else
#error "the arguments' registers are known for x86_64 and aarch64"
#endif

#define THREE_ARGS "8@" REG ARG1 " 8@" REG ARG2 " 8@" REG ARG3
#define FIVE_ARGS  THREE_ARGS " 8@" REG ARG4 " 8@" REG ARG5
#define SIX_ARGS   FIVE_ARGS " 8@" REG ARG6

/* A point and its note; semaphore is a symbol or 0. */
#define POINT(name, semaphore, args)                                                               \
	"990: " NOP ".pushsection .note.stapsdt, \"\", \"note\"\n"                                 \
	".balign 4\n"                                                                              \
	".4byte 992f - 991f, 994f - 993f, 3\n"                                                     \
	"991: .asciz \"stapsdt\"\n"                                                                \
	"992: .balign 4\n"                                                                         \
	"993: .8byte 990b, points_base, " semaphore "\n"                                           \
	".asciz \"fgagent\"\n"                                                                     \
	".asciz \"" name "\"\n"                                                                    \
	".asciz \"" args "\"\n"                                                                    \
	"994: .balign 4\n"                                                                         \
	".popsection\n"

__asm__(".pushsection .stapsdt.base, \"a\", \"progbits\"\n"
	"points_base: .byte 0\n"
	".popsection\n");

/*
 * The kernel finds a semaphore by its place in the file: it must lie in the file (not in .bss) and
 * stay writable (not in .data.rel.ro).
 */
#define SEMAPHORE __attribute__((used, section(".probes"), visibility("hidden")))
SEMAPHORE volatile unsigned short points_alloc;
SEMAPHORE volatile unsigned short points_alloc_16k;
SEMAPHORE volatile unsigned short points_alloc_64k;
SEMAPHORE volatile unsigned short points_alloc_2m;
SEMAPHORE volatile unsigned short points_dead;
SEMAPHORE volatile unsigned short points_lock;

static bool is_raised(const volatile unsigned short *semaphore)
{
	return __atomic_load_n(semaphore, __ATOMIC_RELAXED) != 0;
}

uint32_t points_alloc_interval(void)
{
	if (is_raised(&points_alloc_16k))
		return 16u << 10;
	if (is_raised(&points_alloc_64k))
		return 64u << 10;
	if (is_raised(&points_alloc))
		return 512u << 10;
	if (is_raised(&points_alloc_2m))
		return 2u << 20;
	return 0;
}

bool points_deaths_are_traced(void)
{
	return is_raised(&points_dead);
}

bool points_locks_are_traced(void)
{
	return is_raised(&points_lock);
}

__attribute__((noinline)) void points_fire_alloc(const char *class_sig, uint64_t size,
						 uint64_t interval, uint64_t object, uint64_t round)
{
	register const char *arg1 __asm__(ARG1) = class_sig;
	register uint64_t arg2 __asm__(ARG2) = size;
	register uint64_t arg3 __asm__(ARG3) = interval;
	register uint64_t arg4 __asm__(ARG4) = object;
	register uint64_t arg5 __asm__(ARG5) = round;

	__asm__ volatile(POINT("alloc", "points_alloc", FIVE_ARGS)
				 POINT("alloc__sample", "0", FIVE_ARGS)
			 :
			 : "r"(arg1), "r"(arg2), "r"(arg3), "r"(arg4), "r"(arg5)
			 : "memory");
}

__attribute__((noinline)) void points_fire_dead(uint64_t round,
						const uint64_t objects[POINTS_DEAD_OBJECTS])
{
	const uint64_t first = objects[0], second = objects[1], third = objects[2];
	const uint64_t fourth = objects[3], fifth = objects[4];
	register uint64_t arg1 __asm__(ARG1) = round;
	register uint64_t arg2 __asm__(ARG2) = first;
	register uint64_t arg3 __asm__(ARG3) = second;
	register uint64_t arg4 __asm__(ARG4) = third;
	register uint64_t arg5 __asm__(ARG5) = fourth;
	register uint64_t arg6 __asm__(ARG6) = fifth;

	__asm__ volatile(POINT("alloc_dead", "points_dead", SIX_ARGS)
				 POINT("alloc_dead__sample", "0", SIX_ARGS)
			 :
			 : "r"(arg1), "r"(arg2), "r"(arg3), "r"(arg4), "r"(arg5), "r"(arg6)
			 : "memory");
}

__attribute__((noinline)) void points_fire_lock_enter(const char *class_sig, uint64_t wait)
{
	register const char *arg1 __asm__(ARG1) = class_sig;
	register uint64_t arg2 __asm__(ARG2) = wait;
	register uint64_t arg3 __asm__(ARG3) = 0;

	__asm__ volatile(POINT("lock_enter", "points_lock", THREE_ARGS)
				 POINT("lock_enter__sample", "0", THREE_ARGS)
			 :
			 : "r"(arg1), "r"(arg2), "r"(arg3)
			 : "memory");
}

__attribute__((noinline)) void points_fire_lock_entered(const char *class_sig, uint64_t duration_ns,
							uint64_t wait)
{
	register const char *arg1 __asm__(ARG1) = class_sig;
	register uint64_t arg2 __asm__(ARG2) = duration_ns;
	register uint64_t arg3 __asm__(ARG3) = wait;

	__asm__ volatile(POINT("lock_entered", "points_lock", THREE_ARGS)
				 POINT("lock_entered__sample", "0", THREE_ARGS)
			 :
			 : "r"(arg1), "r"(arg2), "r"(arg3)
			 : "memory");
}

/* Never called. Its points are opened for their semaphores alone, in one process. */
__attribute__((used, noinline)) static void never_run(void)
{
	__asm__ volatile(POINT("alloc__arm", "points_alloc", "") POINT("alloc__arm_16k",
								       "points_alloc_16k", "")
				 POINT("alloc__arm_64k", "points_alloc_64k", "")
					 POINT("alloc__arm_2m", "points_alloc_2m", "")
						 POINT("alloc_dead__arm", "points_dead", "")
							 POINT("lock__arm", "points_lock", ""));
}
