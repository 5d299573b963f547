// SPDX-License-Identifier: Apache-2.0
/* What stands before a BPF program of ours, and how its object is opened, see bpf_load.h. */
#include "sample/bpf_load.h"

#include "base/capability.h"
#include "base/file.h"
#include "base/log.h"

#include <bpf/libbpf.h>
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define INITIAL_PID_NAMESPACE 0xeffffffc /* the inode of /proc/<pid>/ns/pid */

/* libbpf says line by line what the verifier says, which is of use to who looks for it alone. */
static int print(enum libbpf_print_level level, const char *format, va_list args)
	__attribute__((format(printf, 2, 0)));

static int print(enum libbpf_print_level level, const char *format, va_list args)
{
	char *text = NULL, *rest, *line;

	if (level == LIBBPF_DEBUG || vasprintf(&text, format, args) < 0)
		return 0;
	for (line = strtok_r(text, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest))
		log_debug("%s", line);
	free(text);
	return 0;
}

static void set_print(void)
{
	libbpf_set_print(print);
}

static bool is_initial_pid_namespace(void)
{
	struct stat st;

	return stat("/proc/self/ns/pid", &st) == 0 && st.st_ino == INITIAL_PID_NAMESPACE;
}

static bool is_confidential(void)
{
	char text[128];

	return file_read_small("/sys/kernel/security/lockdown", text, sizeof(text)) > 0 &&
	       strstr(text, "[confidentiality]");
}

/* What is known to stand in the way; NULL: nothing. */
static const char *obstacle(void)
{
	const bool is_admin = capability_is_effective(CAP_SYS_ADMIN);

	if (!is_admin && !capability_is_effective(CAP_BPF))
		return "CAP_BPF is missing";
	if (!is_admin && !capability_is_effective(CAP_PERFMON))
		return "CAP_PERFMON is missing, without which a BPF program may not read memory";
	if (!is_initial_pid_namespace())
		return "fgcollect runs in a PID namespace, and BPF has the PIDs of the host";
	if (access("/sys/kernel/btf/vmlinux", R_OK) < 0)
		return "the kernel has no BTF (/sys/kernel/btf/vmlinux, CONFIG_DEBUG_INFO_BTF)";
	if (is_confidential())
		return "the kernel is locked down (confidentiality)";
	return NULL;
}

int bpf_load_check(char why[BPF_LOAD_WHY_BYTES])
{
	const char *const known = obstacle();

	if (!known)
		return 0;
	snprintf(why, BPF_LOAD_WHY_BYTES, "%s", known);
	return -EPERM;
}

int bpf_load_open(const unsigned char *bytes, size_t len, struct bpf_object **ret)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;
	const struct bpf_object_open_opts open = {.sz = sizeof(open), .object_name = "fgcollect"};
	struct bpf_object *object;

	pthread_once(&once, set_print);
	object = bpf_object__open_mem(bytes, len, &open);
	if (!object)
		return -errno;
	*ret = object;
	return 0;
}

void bpf_load_explain(int err, char why[BPF_LOAD_WHY_BYTES])
{
	const char *more = "; -v shows what the kernel's verifier says";

	if (err == -ESRCH) { /* libbpf's word for what it does not find in BTF */
		snprintf(why, BPF_LOAD_WHY_BYTES,
			 "the BPF program cannot be loaded: the kernel's BTF "
			 "(/sys/kernel/btf/vmlinux) lacks what it needs; -v shows what");
		return;
	}
	if (err == -EPERM)
		more = ": CAP_BPF and CAP_PERFMON are needed, a seccomp profile that allows bpf, "
		       "and before Linux 5.11 a limit of locked memory (ulimit -l) for the ring";
	else if (err == -ENOMEM)
		more = ": its ring buffer is charged to the cgroup";
	snprintf(why, BPF_LOAD_WHY_BYTES, "the BPF program cannot be loaded: %s%s", strerror(-err),
		 more);
}
