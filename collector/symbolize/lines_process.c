// SPDX-License-Identifier: Apache-2.0
/*
 * The process that reads a file's DWARF: opens the file, gives up its rights, and answers
 * questions. See lines_process.h.
 */
#include "symbolize/lines_process.h"

#include "base/cleanup.h"
#include "base/root_file.h"
#include "elf/debug_file.h"
#include "elf/elf_section.h"
#include "files/module_file.h"
#include "symbolize/dwarf_lines.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#define MAX_MEMORY_BYTES (UINT64_C(6) << 30)
#define MAX_CPU_SECONDS	 120
#define MAX_END_MS	 20
#define MAX_NAME_BYTES	 512
#define MAX_FILE_BYTES	 128

static bool has_dwarf(const struct elf_file *file)
{
	GElf_Shdr header;

	return elf_section_find(file, ".debug_info", &header) ||
	       elf_section_find(file, ".zdebug_info", &header);
}

/* Returns the descriptor of the file with the DWARF: fd, or a descriptor of its debug file. */
static int find_dwarf(int fd, const struct debug_place *place)
{
	struct elf_file file;
	bool is_targets;
	int ret = elf_file_open(fd, &file);

	if (ret < 0)
		return ret;
	ret = has_dwarf(&file) ? fd : debug_file_open(fd, &file, place, &is_targets);
	elf_file_close(&file);
	return ret;
}

static int find_shared(int fd, const struct debug_place *place)
{
	struct elf_file file;
	int ret = elf_file_open_debug(fd, &file);

	if (ret < 0)
		return ret;
	ret = debug_file_open_shared(&file, place);
	elf_file_close(&file);
	return ret;
}

static struct dwarf_lines *open_lines(pid_t pid, const struct mapping *mapping, bool sees_root)
{
	const struct debug_place place = {.root = sees_root ? root_file_open_root(pid) : -1,
					  .path = mapping->path};
	const struct rlimit no_files = {0, 0};
	struct dwarf_lines *lines = NULL;
	const char *reason;
	struct stat st;
	const int path_fd = module_file_open(pid, mapping, &st, &reason);
	int fd = path_fd < 0 ? path_fd : root_file_read(path_fd), shared = -1;

	if (path_fd >= 0)
		close(path_fd);
	if (fd >= 0)
		fd = find_dwarf(fd, &place);
	if (fd >= 0)
		shared = find_shared(fd, &place);
	/* Without this limit libdw would open files that other files name. */
	if (fd < 0 || setrlimit(RLIMIT_NOFILE, &no_files) < 0 ||
	    dwarf_lines_open(fd, shared, &lines) < 0)
		return NULL;
	return lines;
}

/* Copies text. A text that is too long is cut. */
static size_t put_text(char *to, const char *text, size_t max)
{
	const size_t len = text ? strnlen(text, max - 1) : 0;

	if (len > 0)
		memcpy(to, text, len);
	to[len] = '\0';
	return len + 1;
}

static int answer(struct dwarf_lines *lines, int sock, uint64_t elf_addr)
{
	static char bytes[LINES_PROCESS_MAX_ANSWER];
	struct dwarf_place places[DWARF_LINES_MAX_DEPTH];
	const size_t n = dwarf_lines_find(lines, elf_addr, places);
	size_t len = sizeof(elf_addr);

	memcpy(bytes, &elf_addr, sizeof(elf_addr));
	for (size_t i = 0; i < n; i++) {
		memcpy(bytes + len, &places[i].line, sizeof(places[i].line));
		len += sizeof(places[i].line);
		len += put_text(bytes + len, places[i].name, MAX_NAME_BYTES);
		len += put_text(bytes + len, places[i].file, MAX_FILE_BYTES);
	}
	return send(sock, bytes, len, MSG_NOSIGNAL) < 0 ? -errno : 0;
}

static void limit_all(pid_t parent)
{
	const struct rlimit cpu = {MAX_CPU_SECONDS, MAX_CPU_SECONDS}, no_core = {0, 0};

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	prctl(PR_SET_NAME, "fgcollect-lines");
	if (getppid() != parent)
		_exit(1);
	signal(SIGINT, SIG_IGN); /* a terminal's; the parent ends this process */
	signal(SIGSEGV, SIG_DFL);
	setpriority(PRIO_PROCESS, 0, 10);
	setrlimit(RLIMIT_CPU, &cpu);
	setrlimit(RLIMIT_CORE, &no_core);
#ifndef FG_SANITIZED
	/* Sanitizers reserve more memory than any machine has. */
	const struct rlimit memory = {MAX_MEMORY_BYTES, MAX_MEMORY_BYTES};

	setrlimit(RLIMIT_AS, &memory);
#endif
}

static _Noreturn void serve(pid_t pid, const struct mapping *mapping, bool sees_root, int sock)
{
	struct dwarf_lines *lines;
	uint64_t elf_addr;

	/*
	 * Descriptors 0 to 2 stay open. All others are closed, because this process must not use
	 * them.
	 */
	if (dup2(sock, 3) != 3 || close_range(4, ~0U, 0) < 0)
		_exit(1);
	lines = open_lines(pid, mapping, sees_root);
	if (!lines)
		_exit(1);
	while (recv(3, &elf_addr, sizeof(elf_addr), 0) == sizeof(elf_addr)) {
		if (answer(lines, 3, elf_addr) < 0)
			_exit(1);
	}
	_exit(0);
}

int lines_process_start(pid_t pid, const struct mapping *mapping, bool sees_root,
			struct lines_process *ret)
{
	const pid_t parent = getpid();
	int sockets[2], err;
	pid_t child;

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, sockets) < 0)
		return -errno;
	child = fork();
	if (child == 0) {
		limit_all(parent);
		serve(pid, mapping, sees_root, sockets[1]);
	}
	err = child < 0 ? -errno : 0;
	close(sockets[1]);
	if (err) {
		close(sockets[0]);
		return err;
	}
	*ret = (struct lines_process){.pid = child, .socket = sockets[0]};
	return 0;
}

void lines_process_stop(struct lines_process *process)
{
	close(process->socket);
	kill(process->pid, SIGKILL);
	for (unsigned i = 0; i < MAX_END_MS && waitpid(process->pid, NULL, WNOHANG) == 0; i++)
		usleep(1000);
	*process = (struct lines_process){.socket = -1};
}
