// SPDX-License-Identifier: Apache-2.0
/*
 * Two programs of classic BPF, see syscall_filter.h: each compares the number of a system call with
 * one number after the other. The calls that a parser makes most often come first.
 */
#include "confine/syscall_filter.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/bpf.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#if defined(__x86_64__)
#define OWN_ARCH  AUDIT_ARCH_X86_64
#define X32_CALLS 0x40000000u /* numbers from here on are calls of the x32 ABI */
#elif defined(__aarch64__)
#define OWN_ARCH AUDIT_ARCH_AARCH64
#endif

#define MAX_PROGRAM 256

/* Calls that the headers of old C libraries have no name for; the numbers are equal everywhere. */
#define CALL_MOVE_MOUNT	      429
#define CALL_PIDFD_GETFD      438
#define CALL_PROCESS_MADVISE  440
#define CALL_MOUNT_SETATTR    442
#define CALL_PROCESS_MRELEASE 448

struct program {
	struct sock_filter code[MAX_PROGRAM];
	unsigned short len;
};

static void add(struct program *program, struct sock_filter instruction)
{
	if (program->len < MAX_PROGRAM)
		program->code[program->len] = instruction;
	program->len++;
}

static void load(struct program *program, size_t offset)
{
	add(program, (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, (uint32_t)offset));
}

static void end_with(struct program *program, uint32_t action)
{
	add(program, (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, action));
}

/* Ends with action if the loaded value is value. */
static void end_if_equal(struct program *program, uint32_t value, uint32_t action)
{
	add(program, (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, value, 0, 1));
	end_with(program, action);
}

/* Leaves the number of the call loaded. Calls of another ABI end with action. */
static void begin(struct program *program, uint32_t action)
{
	load(program, offsetof(struct seccomp_data, arch));
	add(program, (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, OWN_ARCH, 1, 0));
	end_with(program, action);
	load(program, offsetof(struct seccomp_data, nr));
#ifdef X32_CALLS
	add(program, (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, X32_CALLS, 0, 1));
	end_with(program, action);
#endif
}

/* The third argument of mmap(2) and mprotect(2) must not have PROT_EXEC. */
static void allow_not_executable(struct program *program, uint32_t number)
{
	add(program, (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, number, 0, 4));
	/* The lower half of the argument, on machines whose lower byte comes first. */
	load(program, offsetof(struct seccomp_data, args[2]));
	add(program, (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, PROT_EXEC, 0, 1));
	end_with(program, SECCOMP_RET_KILL_PROCESS);
	end_with(program, SECCOMP_RET_ALLOW);
}

/*
 * Commands of fcntl(2) that parsers' libraries give. Others have the kernel send signals in the
 * parser's name, to any process of its UID: F_SETOWN and F_SETSIG, with O_ASYNC of F_SETFL,
 * F_SETLEASE or F_NOTIFY.
 */
static const uint32_t fcntl_commands[] = {F_GETFD, F_GETFL, F_DUPFD_CLOEXEC};

#define N_FCNTL_COMMANDS (sizeof(fcntl_commands) / sizeof(fcntl_commands[0]))

static void allow_few_fcntl(struct program *program)
{
	const uint8_t skipped = 2 + 2 * N_FCNTL_COMMANDS;

	add(program,
	    (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_fcntl, 0, skipped));
	load(program, offsetof(struct seccomp_data, args[1]));
	for (size_t i = 0; i < N_FCNTL_COMMANDS; i++)
		end_if_equal(program, fcntl_commands[i], SECCOMP_RET_ALLOW);
	end_with(program, SECCOMP_RET_KILL_PROCESS);
}

/* abort(3) sends a signal to its own thread. */
static void allow_own_signals(struct program *program)
{
	add(program, (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_tgkill, 0, 4));
	load(program, offsetof(struct seccomp_data, args[0]));
	add(program,
	    (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)getpid(), 1, 0));
	end_with(program, SECCOMP_RET_KILL_PROCESS);
	end_with(program, SECCOMP_RET_ALLOW);
}

static int install(const struct program *program, unsigned flags)
{
	const struct sock_fprog filter = {.len = program->len,
					  .filter = (struct sock_filter *)program->code};
	long thread;

	if (program->len > MAX_PROGRAM)
		return -E2BIG;
	thread = syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, flags, &filter);
	return thread == 0 ? 0 : thread > 0 ? -ESRCH : -errno; /* a thread that did not follow */
}

/*
 * fstat(2) of the C library is newfstatat with an empty path, and sort functions ask sysinfo(2) for
 * the memory of the machine. What is missing on purpose: sendmsg(2), by which descriptors are sent,
 * and whoever receives a file of a slow file system may wait when that file is closed; and
 * memfd_create(2), because bytes of files in memory are past the limit of a process's memory.
 */
static const uint32_t parser_calls[] = {
	SYS_pread64,	     SYS_read,
	SYS_write,	     SYS_brk,
	SYS_munmap,	     SYS_mremap,
	SYS_madvise,	     SYS_futex,
	SYS_sendto,	     SYS_recvfrom,
	SYS_recvmsg,	     SYS_writev,
	SYS_close,	     SYS_lseek,
	SYS_fstat,	     SYS_newfstatat,
	SYS_sysinfo,	     SYS_getrandom,
	SYS_getpid,	     SYS_gettid,
	SYS_clock_gettime,   SYS_rt_sigprocmask,
	SYS_rt_sigreturn,    SYS_exit,
	SYS_exit_group,
#ifdef FG_SANITIZED
	SYS_sigaltstack,     SYS_rt_sigaction,
	SYS_sched_yield,     SYS_sched_getaffinity,
	SYS_clock_nanosleep, SYS_mincore,
	SYS_prctl,	     SYS_getrlimit,
	SYS_prlimit64,	     SYS_dup,
	SYS_getuid,	     SYS_uname,
#endif
};

static const uint32_t opening_calls[] = {
#ifdef SYS_open
	SYS_open,   SYS_readlink,   SYS_access,
#endif
	SYS_openat, SYS_readlinkat, SYS_faccessat,
};

int syscall_filter_parser(bool opens_fail)
{
	struct program program = {.len = 0};

#ifdef FG_SANITIZED
	opens_fail = true; /* a sanitizer's report looks for symbols */
#endif
	begin(&program, SECCOMP_RET_KILL_PROCESS);
	allow_not_executable(&program, SYS_mmap);
	load(&program, offsetof(struct seccomp_data, nr));
	allow_not_executable(&program, SYS_mprotect);
	load(&program, offsetof(struct seccomp_data, nr));
	allow_own_signals(&program);
	load(&program, offsetof(struct seccomp_data, nr));
	allow_few_fcntl(&program);
	for (size_t i = 0; i < sizeof(parser_calls) / sizeof(parser_calls[0]); i++)
		end_if_equal(&program, parser_calls[i], SECCOMP_RET_ALLOW);
	for (size_t i = 0; opens_fail && i < sizeof(opening_calls) / sizeof(opening_calls[0]); i++)
		end_if_equal(&program, opening_calls[i], SECCOMP_RET_ERRNO | EACCES);
	end_with(&program, SECCOMP_RET_KILL_PROCESS);
	return install(&program, 0);
}

/*
 * What loading a program of one's own, its maps and its links takes (sample/bpf_source.c). Others'
 * programs and maps are out of reach, and so is what outlives the collector.
 */
static const uint32_t bpf_commands[] = {
	BPF_MAP_CREATE,	     BPF_MAP_LOOKUP_ELEM,     BPF_MAP_UPDATE_ELEM,
	BPF_MAP_DELETE_ELEM, BPF_MAP_GET_NEXT_KEY,    BPF_PROG_LOAD,
	BPF_BTF_LOAD,	     BPF_MAP_FREEZE,	      BPF_LINK_CREATE,
	BPF_PROG_BIND_MAP,   BPF_RAW_TRACEPOINT_OPEN, BPF_OBJ_GET_INFO_BY_FD,
	BPF_ITER_CREATE,
};

#define N_BPF_COMMANDS (sizeof(bpf_commands) / sizeof(bpf_commands[0]))

/* Calls of bpf(2) with another command fail with EPERM. */
static void allow_own_bpf(struct program *program)
{
	const uint8_t skipped = 2 + 2 * N_BPF_COMMANDS;

	add(program, (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_bpf, 0, skipped));
	load(program, offsetof(struct seccomp_data, args[0]));
	for (size_t i = 0; i < N_BPF_COMMANDS; i++)
		end_if_equal(program, bpf_commands[i], SECCOMP_RET_ALLOW);
	end_with(program, SECCOMP_RET_ERRNO | EPERM);
}

static const uint32_t refused_calls[] = {
	/* programs, and other processes */
	SYS_execve,
	SYS_execveat,
	SYS_ptrace,
	SYS_process_vm_writev,
	CALL_PIDFD_GETFD,
	CALL_PROCESS_MADVISE,
	CALL_PROCESS_MRELEASE,
	SYS_kcmp,
	SYS_userfaultfd,
	/* another user, another namespace, another root directory */
	SYS_setuid,
	SYS_setgid,
	SYS_setreuid,
	SYS_setregid,
	SYS_setresuid,
	SYS_setresgid,
	SYS_setgroups,
	SYS_setfsuid,
	SYS_setfsgid,
	SYS_setns,
	SYS_unshare,
	SYS_chroot,
	SYS_pivot_root,
	SYS_personality,
	/* mounts; fsopen and fsmount serve tracepoint.c, whose instance lies in no directory */
	SYS_mount,
	SYS_umount2,
	CALL_MOVE_MOUNT,
	CALL_MOUNT_SETATTR,
	/* the host */
	SYS_init_module,
	SYS_finit_module,
	SYS_delete_module,
	SYS_kexec_load,
#ifdef SYS_kexec_file_load
	SYS_kexec_file_load,
#endif
	SYS_reboot,
	SYS_swapon,
	SYS_swapoff,
	SYS_acct,
	SYS_quotactl,
	SYS_sethostname,
	SYS_setdomainname,
	SYS_settimeofday,
	SYS_clock_settime,
	SYS_clock_adjtime,
	SYS_adjtimex,
	SYS_add_key,
	SYS_request_key,
	SYS_keyctl,
	SYS_mknodat,
	SYS_fchownat,
	SYS_fchown,
	SYS_open_by_handle_at,
	SYS_fanotify_init,
#ifdef __x86_64__
	SYS_iopl,
	SYS_ioperm,
	SYS_modify_ldt,
	SYS_mknod,
	SYS_chown,
	SYS_lchown,
#endif
};

int syscall_filter_collector(void)
{
	struct program program = {.len = 0};

	begin(&program, SECCOMP_RET_ERRNO | EPERM);
	allow_own_bpf(&program);
	for (size_t i = 0; i < sizeof(refused_calls) / sizeof(refused_calls[0]); i++)
		end_if_equal(&program, refused_calls[i], SECCOMP_RET_ERRNO | EPERM);
	end_with(&program, SECCOMP_RET_ALLOW);
	return install(&program, SECCOMP_FILTER_FLAG_TSYNC);
}
