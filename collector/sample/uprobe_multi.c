// SPDX-License-Identifier: Apache-2.0
/* Links of uprobes and BPF programs by bpf(2) itself, see uprobe_multi.h: libbpf 1.1 knows none. */
#include "sample/uprobe_multi.h"

#include "base/cleanup.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <linux/bpf.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

/* The part of union bpf_attr for BPF_LINK_CREATE that counts here. */
struct link_attr {
	uint32_t prog_fd, target_fd, attach_type, flags;
	uint64_t path, offsets, semaphore_offsets, cookies;
	uint32_t count, multi_flags, pid, unused;
};

static int create(const char *path, uint64_t off, uint64_t semaphore_off, pid_t pid, int program_fd)
{
	const struct link_attr attr = {
		.prog_fd = (uint32_t)program_fd,
		.attach_type = UPROBE_MULTI_TYPE,
		.path = (uintptr_t)path,
		.offsets = (uintptr_t)&off,
		.semaphore_offsets = semaphore_off ? (uintptr_t)&semaphore_off : 0,
		.count = 1,
		.pid = (uint32_t)pid,
	};
	const long fd = syscall(SYS_bpf, BPF_LINK_CREATE, &attr, sizeof(attr));

	return fd < 0 ? -errno : (int)fd;
}

int uprobe_multi_load_nothing(void)
{
	const struct bpf_prog_load_opts options = {
		.sz = sizeof(options),
		.expected_attach_type = (enum bpf_attach_type)UPROBE_MULTI_TYPE,
	};
	const struct bpf_insn code[] = {
		{.code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_0},
		{.code = BPF_JMP | BPF_EXIT},
	};
	const int fd = bpf_prog_load(BPF_PROG_TYPE_KPROBE, "fg_nothing", "Dual BSD/GPL", code,
				     sizeof(code) / sizeof(code[0]), &options);

	return fd < 0 ? -errno : fd;
}

/*
 * Kernels without such links refuse all with -EINVAL; those that have them know that a directory is
 * no file. The ones that take a process's PID for a thread's look for one of any number. The others
 * know that -1 is no PID.
 */
int uprobe_multi_check(void)
{
	_cleanup_close_ const int program = uprobe_multi_load_nothing();
	int err;

	if (program < 0)
		return program == -EINVAL ? -EOPNOTSUPP : program;
	err = create("/", 1, 0, 0, program);
	if (err >= 0)
		close(err);
	if (err != -EBADF)
		return err == -EPERM || err == -EACCES ? err : -EOPNOTSUPP;
	err = create("/proc/self/exe", 1, 0, -1, program);
	if (err >= 0)
		close(err);
	return err == -EINVAL ? 0 : err == -EPERM || err == -EACCES ? err : -EOPNOTSUPP;
}

int uprobe_multi_open(int file_fd, uint64_t file_off, uint64_t semaphore_off, pid_t pid,
		      int program_fd)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/self/fd/%d", file_fd);
	return create(path, file_off, semaphore_off, pid, program_fd);
}
