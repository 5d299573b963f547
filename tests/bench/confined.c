// SPDX-License-Identifier: Apache-2.0
/*
 * confined [kill:]CALL[,CALL...] PROGRAM [ARGUMENT...]: runs a program whose system calls of these
 * names fail with EPERM, as in a container with a strict seccomp profile, or end the program.
 */
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#define CALLS_MAX 16

static const struct {
	const char *name;
	unsigned number;
} calls[] = {
	{"socket", SYS_socket},
	{"socketpair", SYS_socketpair},
	{"connect", SYS_connect},
	{"sendmsg", SYS_sendmsg},
	{"poll", SYS_poll},
	{"ppoll", SYS_ppoll},
	{"memfd_create", SYS_memfd_create},
	{"process_vm_readv", SYS_process_vm_readv},
	{"getdents64", SYS_getdents64},
	{"fstat", SYS_fstat},
};

static unsigned number_of(const char *name)
{
	for (size_t i = 0; i < sizeof(calls) / sizeof(*calls); i++) {
		if (strcmp(calls[i].name, name) == 0)
			return calls[i].number;
	}
	fprintf(stderr, "confined: no call %s\n", name);
	exit(2);
}

int main(int argc, char **argv)
{
	struct sock_filter code[2 * CALLS_MAX + 2];
	struct sock_fprog program = {.filter = code};
	unsigned short n = 0;
	unsigned answer = SECCOMP_RET_ERRNO | EPERM;
	char *list;

	if (argc < 3)
		return 2;
	list = argv[1];
	if (strncmp(list, "kill:", 5) == 0) {
		answer = SECCOMP_RET_KILL_PROCESS;
		list += 5;
	}
	code[n++] = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
						 offsetof(struct seccomp_data, nr));
	for (char *name = strtok(list, ","); name && n < 2 * CALLS_MAX; name = strtok(NULL, ",")) {
		code[n++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, number_of(name),
							 0, 1);
		code[n++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, answer);
	}
	code[n++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
	program.len = n;
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
	    prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0) {
		perror("confined");
		return 2;
	}
	execvp(argv[2], argv + 2);
	perror(argv[2]);
	return 2;
}
