// SPDX-License-Identifier: Apache-2.0
/*
 * hanging_process exec|connect|pages|flush|place DIRECTORY, or hanging_process lock DIRECTORY
 * MAPPED:
 * mounts a file system there whose server falls silent, and has a process of user 65534 suffer from
 * that.
 *
 * exec: the process has a file of the file system open that is closed by execve(2), and calls
 * execve(2). Closing asks the server (FLUSH), which does not answer. Until this program ends, the
 * kernel holds the lock by which it protects what the process is (exec_update_lock).
 *
 * connect: the process listens at a socket in the file system, and says so as a listening agent
 * does. Whoever connects needs the right to write to the socket's file, for which the kernel asks
 * the server (GETATTR, because of default_permissions), which does not answer. The path itself is
 * known to the kernel.
 *
 * pages: the process spins, and the file lies in the middle of its stack and is its perf map, if
 * its TMPDIR is DIRECTORY. Who reads either asks the server (READ), which does not answer.
 *
 * flush: the same, but the server answers READ. Who closes the file asks it (FLUSH), also who
 * is ended by a signal, and has no answer.
 *
 * place: DIRECTORY is a file, which the file system's one file hides. Who looks at it asks the
 * server (GETATTR, OPEN), which does not answer.
 *
 * lock: the process maps the file MAPPED, and reads a page of the file of the file system by way of
 * /proc/self/mem. The kernel asks the server (READ), which does not answer, and has the lock of the
 * process's mappings meanwhile. Who wants to change each process that maps MAPPED waits for that
 * lock, and nobody on the host forks while the kernel waits so. This program ends after LOCK_SEC at
 * the latest.
 *
 * The protocol is that of fuse(4): a request is a header, struct fuse_in_header, and a body by its
 * opcode; an answer is a header with the request's number, and a body. "ready PID" is said when the
 * process hangs, or listens.
 */
#include <alloca.h>
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/fuse.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#define SOMEBODY 65534
#define FILE_ID	 2
#define LONG	 3600 /* seconds that the kernel may believe what it was told */

#define STACK_BYTES (1u << 20)
#define DEEP_BYTES  (80u << 10) /* deeper than a snapshot of the stack */
#define FILE_BYTES  (4 * 4096)
#define FILE_AT	    (STACK_BYTES - 2 * FILE_BYTES)

#define LOCK_SEC 20

enum kind { KIND_EXEC, KIND_CONNECT, KIND_PAGES, KIND_FLUSH, KIND_PLACE, KIND_LOCK };

static const char *const kinds[] = {"exec", "connect", "pages", "flush", "place", "lock"};

#define N_KINDS (sizeof(kinds) / sizeof(kinds[0]))

struct server {
	enum kind kind;
	int device;
	const char *directory;
	pid_t victim;  /* 0: it has not been started */
	uint32_t mode; /* of the one file; 0: there is none */
};

static void fail(const char *what)
{
	perror(what);
	exit(1);
}

static void become_somebody(void)
{
	if (setgroups(0, NULL) < 0 || setresgid(SOMEBODY, SOMEBODY, SOMEBODY) < 0 ||
	    setresuid(SOMEBODY, SOMEBODY, SOMEBODY) < 0)
		fail("setresuid");
	prctl(PR_SET_DUMPABLE, 1);
}

/* ---- the processes that suffer ---- */

static void hang_in_exec(const char *directory)
{
	char path[256];

	snprintf(path, sizeof(path), "%s/file", directory);
	if (open(path, O_WRONLY | O_CLOEXEC) < 0)
		fail(path);
	execl("/bin/sleep", "sleep", "1000", NULL);
	fail("execl");
}

/* The region's name is the announcement of an agent that listens, see intake/announcement.h. */
static void say_announcement(const char *path)
{
	char name[300];
	int fd;

	snprintf(name, sizeof(name), "fgagent-listen:%s", path);
	fd = memfd_create(name, MFD_CLOEXEC);
	if (fd < 0 || ftruncate(fd, 4096) < 0 ||
	    mmap(NULL, 4096, PROT_READ, MAP_SHARED, fd, 0) == MAP_FAILED)
		fail("memfd_create");
}

static void listen_in_vain(const char *directory)
{
	const int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	struct sockaddr_un addr = {.sun_family = AF_UNIX};

	snprintf(addr.sun_path, sizeof(addr.sun_path), "%s/file", directory);
	if (fd < 0 || bind(fd, (const struct sockaddr *)&addr, sizeof(addr)) < 0 ||
	    listen(fd, 16) < 0)
		fail(addr.sun_path);
	/* What the kernel knew of the directory ended with the socket in it. */
	if (access(directory, X_OK) < 0)
		fail(directory);
	say_announcement(addr.sun_path);
	printf("ready %d\n", (int)getpid());
	fflush(stdout);
	for (;;)
		pause();
}

static volatile int is_deep;

static void __attribute__((noinline)) spin(void)
{
	is_deep = 1;
	for (volatile uint64_t i = 0;; i++)
		;
}

static void *spin_deep(void *arg)
{
	volatile char *room = alloca(DEEP_BYTES);

	for (size_t i = 0; i < DEEP_BYTES; i += 64)
		room[i] = 1;
	spin();
	return arg;
}

/* In code of its own, for which its perf map is read. */
static void *spin_in_generated_code(void *arg)
{
#if defined(__x86_64__)
	static const unsigned char code[] = {0xeb, 0xfe};
#else
	static const unsigned char code[] = {0x00, 0x00, 0x00, 0x14};
#endif
	void *const at = mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC,
			      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	void (*function)(void);

	if (at == MAP_FAILED)
		fail("mmap");
	memcpy(at, code, sizeof(code));
	__builtin___clear_cache(at, (char *)at + sizeof(code));
	*(void **)&function = at;
	function();
	return arg;
}

/* The file takes the place of pages of a thread's stack that the thread has passed. */
static void spin_over_file(const char *directory)
{
	char *const stack =
		mmap(NULL, STACK_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	pthread_attr_t attr;
	pthread_t threads[2];
	char path[256];
	int fd;

	snprintf(path, sizeof(path), "%s/file", directory);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0 || stack == MAP_FAILED)
		fail(path);
	pthread_attr_init(&attr);
	pthread_attr_setstack(&attr, stack, STACK_BYTES);
	if (pthread_create(&threads[0], &attr, spin_deep, NULL) != 0 ||
	    pthread_create(&threads[1], NULL, spin_in_generated_code, NULL) != 0)
		fail("pthread_create");
	while (!is_deep)
		usleep(1000);
	if (mmap(stack + FILE_AT, FILE_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_FIXED, fd,
		 0) == MAP_FAILED)
		fail("mmap");
	printf("ready %d\n", (int)getpid());
	fflush(stdout);
	for (;;)
		pause();
}

static void *map_file(const char *path)
{
	const int fd = open(path, O_RDONLY | O_CLOEXEC);
	const off_t len = fd < 0 ? 0 : lseek(fd, 0, SEEK_END);
	void *const at =
		len > 0 ? mmap(NULL, (size_t)len, PROT_READ, MAP_PRIVATE, fd, 0) : MAP_FAILED;

	if (at == MAP_FAILED)
		fail(path);
	return at;
}

static void hold_lock(const char *directory)
{
	char path[256], byte;
	const void *page;
	int memory;

	snprintf(path, sizeof(path), "%s/file", directory);
	page = map_file(path);
	memory = open("/proc/self/mem", O_RDONLY | O_CLOEXEC);
	if (memory < 0 || pread(memory, &byte, sizeof(byte), (off_t)(uintptr_t)page) < 0)
		fail("/proc/self/mem");
	exit(0);
}

static void start_victim(struct server *server)
{
	server->victim = fork();
	if (server->victim < 0)
		fail("fork");
	if (server->victim > 0)
		return;
	close(server->device);
	become_somebody();
	prctl(PR_SET_PDEATHSIG, SIGKILL); /* another user ID clears it */
	if (server->kind == KIND_EXEC)
		hang_in_exec(server->directory);
	if (server->kind == KIND_PAGES || server->kind == KIND_FLUSH)
		spin_over_file(server->directory);
	if (server->kind == KIND_LOCK)
		hold_lock(server->directory);
	listen_in_vain(server->directory);
}

/* ---- the file system ---- */

static void answer(const struct server *server, uint64_t unique, int err, const void *body,
		   size_t len)
{
	static char text[sizeof(struct fuse_out_header) + (1u << 17)];
	const struct fuse_out_header header = {
		.len = (uint32_t)(sizeof(header) + len), .error = err, .unique = unique};

	memcpy(text, &header, sizeof(header));
	if (len > 0)
		memcpy(text + sizeof(header), body, len);
	/* The request may have been given up. */
	if (write(server->device, text, header.len) < 0 && errno != ENOENT)
		fail("answer");
}

static struct fuse_attr attributes(const struct server *server, uint64_t node)
{
	return (struct fuse_attr){
		.ino = node,
		.mode = node == FUSE_ROOT_ID ? S_IFDIR | 0777 : server->mode,
		.nlink = 1,
		.uid = SOMEBODY,
		.gid = SOMEBODY,
		.size = node == FUSE_ROOT_ID || server->kind == KIND_EXEC ? 0 : FILE_BYTES,
		.mtime = (uint64_t)time(NULL),
		.blksize = 4096};
}

static void answer_entry(const struct server *server, uint64_t unique)
{
	const struct fuse_entry_out entry = {
		.nodeid = FILE_ID, .entry_valid = LONG, .attr = attributes(server, FILE_ID)};

	answer(server, unique, 0, &entry, sizeof(entry));
}

static void answer_attributes(struct server *server, const struct fuse_in_header *header)
{
	const struct fuse_attr_out out = {.attr_valid = header->nodeid == FUSE_ROOT_ID ? LONG : 0,
					  .attr = attributes(server, header->nodeid)};

	if (server->kind == KIND_PLACE)
		return;
	if (header->nodeid == FUSE_ROOT_ID || server->kind != KIND_CONNECT)
		answer(server, header->unique, 0, &out, sizeof(out));
}

static void answer_init(struct server *server, const struct fuse_in_header *header)
{
	const struct fuse_init_out out = {
		.major = FUSE_KERNEL_VERSION, .minor = 31, .max_write = 4096, .time_gran = 1};

	answer(server, header->unique, 0, &out, sizeof(out));
	if (server->kind != KIND_PLACE) {
		start_victim(server);
		return;
	}
	printf("ready %d\n", (int)getpid());
	fflush(stdout);
}

/* A line of a perf map, and zeros. */
static void answer_read(const struct server *server, const struct fuse_in_header *header,
			const struct fuse_read_in *asked)
{
	static char bytes[FILE_BYTES] = "1000 10 one\n";
	const uint64_t left = asked->offset < FILE_BYTES ? FILE_BYTES - asked->offset : 0;

	if (server->kind == KIND_LOCK) {
		printf("ready %d\n", (int)server->victim);
		fflush(stdout);
	}
	if (server->kind == KIND_EXEC || server->kind == KIND_FLUSH)
		answer(server, header->unique, 0, bytes + FILE_BYTES - left,
		       asked->size < left ? asked->size : left);
}

static void answer_request(struct server *server, const struct fuse_in_header *header,
			   const void *body)
{
	const struct fuse_open_out opened = {0};

	switch (header->opcode) {
	case FUSE_INIT:
		answer_init(server, header);
		break;
	case FUSE_LOOKUP:
		if (server->mode)
			answer_entry(server, header->unique);
		else
			answer(server, header->unique, -ENOENT, NULL, 0);
		break;
	case FUSE_MKNOD:
		server->mode = ((const struct fuse_mknod_in *)body)->mode;
		answer_entry(server, header->unique);
		break;
	case FUSE_GETATTR:
		answer_attributes(server, header);
		break;
	case FUSE_OPEN:
		if (server->kind != KIND_PLACE)
			answer(server, header->unique, 0, &opened, sizeof(opened));
		break;
	case FUSE_READ:
		answer_read(server, header, body);
		break;
	case FUSE_FLUSH:
		if (server->kind != KIND_EXEC)
			break;
		printf("ready %d\n", (int)server->victim);
		fflush(stdout);
		break;
	case FUSE_FORGET:
	case FUSE_BATCH_FORGET:
		break;
	default:
		answer(server, header->unique, -ENOSYS, NULL, 0);
	}
}

static void serve(struct server *server)
{
	static _Alignas(8) char request[1u << 17];

	for (;;) {
		const ssize_t len = read(server->device, request, sizeof(request));

		if (len < (ssize_t)sizeof(struct fuse_in_header) && errno != EINTR)
			fail("/dev/fuse");
		if (len >= (ssize_t)sizeof(struct fuse_in_header))
			answer_request(server, (const struct fuse_in_header *)request,
				       request + sizeof(struct fuse_in_header));
	}
}

int main(int argc, char **argv)
{
	struct server server = {0};
	char options[160];
	unsigned kind = 0;

	while (argc >= 3 && kind < N_KINDS && strcmp(argv[1], kinds[kind]) != 0)
		kind++;
	if (argc != (kind == KIND_LOCK ? 4 : 3) || kind == N_KINDS) {
		fputs("usage: hanging_process exec|connect|pages|flush|place DIRECTORY\n"
		      "       hanging_process lock DIRECTORY MAPPED\n",
		      stderr);
		return 2;
	}
	server.kind = (enum kind)kind;
	server.directory = argv[2];
	if (server.kind == KIND_LOCK) {
		(void)map_file(argv[3]); /* which the process may not be let to open */
		alarm(LOCK_SEC);
	}
	server.mode = server.kind == KIND_CONNECT ? 0 : S_IFREG | 0666;
	server.device = open("/dev/fuse", O_RDWR | O_CLOEXEC);
	if (server.device < 0)
		fail("/dev/fuse");
	snprintf(options, sizeof(options), "fd=%d,rootmode=%o,user_id=%d,group_id=%d,allow_other%s",
		 server.device, server.kind == KIND_PLACE ? S_IFREG : S_IFDIR, SOMEBODY, SOMEBODY,
		 server.kind == KIND_CONNECT ? ",default_permissions" : "");
	if (mount("hanging", server.directory, "fuse", MS_NOSUID | MS_NODEV, options) < 0)
		fail("mount");
	serve(&server);
	return 0;
}
