// SPDX-License-Identifier: Apache-2.0
/*
 * usage: hostile_agent SOCKET WHAT PROCESSES COUNT
 *
 * What a container could send to the collector in place of an agent, from PROCESSES processes. Each
 * says "ready" when all is sent, stays for STAY_SEC more, and ends. WHAT is one of
 *
 *   names       COUNT stubs with names of 900 bytes
 *   mappings    COUNT mappings in each process, before it connects
 *   reconnect   connects COUNT times, and hangs up each time
 *   garbage     connects COUNT times, and sends what no agent sends
 *   unfinished  a message of COUNT KiB of which the last byte does not come
 *   short       COUNT processes one after another, each of which is a JVM and computes for a moment
 *   lines       COUNT methods, each with a thousand lines that no class file can hold
 *   methods     COUNT messages, each an inline table of 60,000 methods with names of their own
 *   frames      COUNT messages, each an inline table of which a region says many frames in few
 *   bytes paths       COUNT executable mappings in each process, of a file with a path of 4,000
 *   bytes all         names, lines and frames in turn, COUNT times
 */
#include "shared/wire.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define STAY_SEC      5
#define SHORT_NS      80000000
#define DIAL_NS	      10000000000ull
#define MESSAGE_BYTES (WIRE_MESSAGE_MAX_BYTES - WIRE_MESSAGE_HEADER_BYTES)
#define FULL_BYTES    (60u << 10) /* of a message of many records */
#define NAME_BYTES    900
#define PAGE	      4096

#define LINES_A_METHOD	1000
#define METHODS_A_TABLE 29
#define METHODS_MOST	60000L
#define PATH_NAME_BYTES 200
#define PATH_DEPTH	19

static uint8_t message[WIRE_SP_FRAME_HEADER_BYTES + WIRE_MESSAGE_HEADER_BYTES + MESSAGE_BYTES];
static uint8_t section[MESSAGE_BYTES], sections[MESSAGE_BYTES];
static uint64_t sequence, next_addr = 0x7f0000000000;

static void fail(const char *what)
{
	fprintf(stderr, "hostile_agent: %s: %s\n", what, strerror(errno));
	exit(1);
}

static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

/* Returns 0 or negative errno. */
static int send_whole(int fd, const void *data, size_t len)
{
	const uint8_t *at = data;

	while (len > 0) {
		const ssize_t n = send(fd, at, len, MSG_NOSIGNAL);

		if (n <= 0)
			return -errno;
		at += n;
		len -= (size_t)n;
	}
	return 0;
}

static void write_all(int fd, const void *data, size_t len)
{
	if (send_whole(fd, data, len) < 0)
		fail("send");
}

static int connect_to(const char *path)
{
	const int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	struct sockaddr_un addr = {.sun_family = AF_UNIX};

	snprintf(addr.sun_path, sizeof(addr.sun_path), "%s", path);
	if (fd < 0 || connect(fd, (const struct sockaddr *)&addr, sizeof(addr)) < 0)
		fail(path);
	return fd;
}

/* Past its limits the daemon hangs up on some: those begin anew. */
static int dial(const char *path)
{
	const uint64_t until = now_ns() + DIAL_NS;
	uint8_t greeting[WIRE_SP_GREETING_BYTES];

	wire_encode_greeting(greeting, WIRE_SP_PUSH);
	for (;;) {
		const int fd = connect_to(path);
		const int err = send_whole(fd, greeting, sizeof(greeting));

		if (!err)
			return fd;
		close(fd);
		errno = -err;
		if (err != -EPIPE || now_ns() > until)
			fail("send of the greeting");
	}
}

static struct wire_buf begin_message(size_t size)
{
	return (struct wire_buf){
		.data = message + WIRE_SP_FRAME_HEADER_BYTES + WIRE_MESSAGE_HEADER_BYTES,
		.size = size,
	};
}

/* Returns the bytes of the message. */
static size_t finish_message(const struct wire_buf *buf)
{
	wire_encode_frame(message, WIRE_MESSAGE_HEADER_BYTES + buf->len);
	wire_encode_message(message + WIRE_SP_FRAME_HEADER_BYTES, sequence++, now_ns());
	return WIRE_SP_FRAME_HEADER_BYTES + WIRE_MESSAGE_HEADER_BYTES + buf->len;
}

static void send_message(int fd, const struct wire_buf *buf)
{
	write_all(fd, message, finish_message(buf));
}

/* A greeting of a protocol that does not exist. */
static void send_garbage(const char *path, long count)
{
	for (long i = 0; i < count; i++) {
		const int fd = connect_to(path);

		(void)!send(fd, "\xc2\x9b[2J\xff\xfe garbage", 16, MSG_NOSIGNAL);
		close(fd);
	}
}

/* Returns 0 or negative errno. */
static int send_hello(int fd)
{
	struct wire_buf buf = begin_message(FULL_BYTES);
	const struct wire_attr attrs[] = {
		{wire_str_from("main"), wire_str_from("hostile")},
	};
	const struct wire_hello hello = {
		.pid = (uint32_t)getpid(), .monotonic_ns = now_ns(), .n_attrs = 1};

	wire_encode_hello(&buf, &hello, attrs, NULL);
	return send_whole(fd, message, finish_message(&buf));
}

/* Connects and says hello. Past its limits the daemon hangs up on some: those begin anew. */
static int join(const char *path)
{
	const uint64_t until = now_ns() + DIAL_NS;

	for (;;) {
		const int fd = dial(path);
		int err;

		sequence = 0;
		err = send_hello(fd);
		if (!err)
			return fd;
		close(fd);
		errno = -err;
		if (err != -EPIPE || now_ns() > until)
			fail("send of the hello");
	}
}

static void send_names(int fd, long count)
{
	char name[NAME_BYTES + 1];

	memset(name, 'n', NAME_BYTES);
	name[NAME_BYTES] = '\0';
	for (long i = 0; i < count;) {
		struct wire_buf buf = begin_message(FULL_BYTES);
		bool fits = true;

		while (fits && i < count) {
			char digits[24];
			struct wire_stub stub = {
				.time_ns = now_ns(), .addr = next_addr, .size = 64};

			snprintf(digits, sizeof(digits), "%020llu", (unsigned long long)next_addr);
			memcpy(name, digits, 20);
			stub.name = wire_str_from(name);
			fits = wire_encode_stub(&buf, 0, &stub);
			i += fits;
			next_addr += fits ? 64 : 0;
		}
		send_message(fd, &buf);
	}
}

/* Sends the inline table in section as that of a new method of so many bytes. */
static void send_table(int fd, const struct wire_buf *table, uint32_t size)
{
	struct wire_buf buf = begin_message(MESSAGE_BYTES);
	struct wire_buf outer = {.data = sections, .size = sizeof(sections)};
	const struct wire_method_load load = {
		.time_ns = now_ns(),
		.addr = next_addr,
		.size = size,
		.level = 4,
		.code_kind = WIRE_CODE_JAVA,
		.class_sig = wire_str_from("LHostile;"),
		.method = wire_str_from("run"),
		.method_sig = wire_str_from("()V"),
		.sections = sections,
	};
	struct wire_method_load whole = load;

	next_addr += size;
	wire_encode_section(&outer, WIRE_SECTION_INLINE, table->data, (uint32_t)table->len);
	whole.sections_len = outer.len;
	if (table->overflow || outer.overflow || !wire_encode_method_load(&buf, 0, &whole))
		fail("a table that is too large");
	send_message(fd, &buf);
}

static void send_lines(int fd, long count)
{
	static struct wire_line lines[LINES_A_METHOD];
	const struct wire_method method = {.how = WIRE_METHOD_NAMED, .n_lines = LINES_A_METHOD};

	for (size_t i = 0; i < LINES_A_METHOD; i++)
		lines[i].bci = 1u << 20; /* no method is so long */
	for (long i = 0; i < count; i += METHODS_A_TABLE) {
		struct wire_buf table = {.data = section, .size = sizeof(section)};

		wire_encode_inline_count(&table, METHODS_A_TABLE);
		for (size_t j = 0; j < METHODS_A_TABLE; j++)
			wire_encode_inline_method(&table, &method, lines);
		wire_encode_inline_count(&table, 0);
		send_table(fd, &table, 64);
	}
}

static void send_methods(int fd, long count)
{
	for (long i = 0; i < count; i++) {
		struct wire_buf table = {.data = section, .size = sizeof(section)};

		wire_encode_inline_count(&table, METHODS_MOST);
		for (long j = 0; j < METHODS_MOST; j++) {
			struct wire_method method = {.how = WIRE_METHOD_NAMED};
			char name[8];

			snprintf(name, sizeof(name), "%06lx", (i * METHODS_MOST + j) & 0xffffff);
			method.name = wire_str_from(name);
			wire_encode_inline_method(&table, &method, NULL);
		}
		wire_encode_inline_count(&table, 0);
		send_table(fd, &table, 64);
	}
}

/* The first region says all frames, each further one that it has the same. */
static void send_frames(int fd, long count)
{
	const struct wire_method method = {.how = WIRE_METHOD_SELF};
	const struct wire_inline_frame frame = {.method = 0, .bci = INT32_MAX - 1};
	const struct wire_region region = {
		.size = 1, .depth = WIRE_INLINE_MAX_DEPTH, .shared = WIRE_INLINE_MAX_DEPTH};
	const uint32_t n = (MESSAGE_BYTES - (16u << 10)) / 5;

	for (long i = 0; i < count; i++) {
		struct wire_buf table = {.data = section, .size = sizeof(section)};
		struct wire_region first = region;

		first.shared = 0;
		wire_encode_inline_count(&table, 1);
		wire_encode_inline_method(&table, &method, NULL);
		wire_encode_inline_count(&table, n);
		wire_encode_inline_region(&table, &first);
		for (size_t j = 0; j < WIRE_INLINE_MAX_DEPTH; j++)
			wire_encode_inline_frame(&table, &frame);
		for (uint32_t j = 1; j < n; j++)
			wire_encode_inline_region(&table, &region);
		send_table(fd, &table, n);
	}
}

/*
 * Makes directories in each other until the path of the file in them is almost as long as can be.
 */
static int open_long_path(void)
{
	char name[PATH_NAME_BYTES + 1];
	int fd;

	memset(name, 'p', PATH_NAME_BYTES);
	name[PATH_NAME_BYTES] = '\0';
	if (chdir("/tmp") < 0)
		fail("/tmp");
	snprintf(name, 24, "hostile-%d", (int)getpid());
	name[strlen(name)] = '-';
	for (int i = 0; i < PATH_DEPTH; i++) {
		if (mkdir(name, 0700) < 0 || chdir(name) < 0)
			fail("mkdir");
	}
	fd = open("mapped", O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	if (fd < 0 || ftruncate(fd, 2 * PAGE) < 0)
		fail("a file");
	if (unlink("mapped") < 0)
		fail("unlink");
	for (int i = 0; i < PATH_DEPTH; i++) {
		if (chdir("..") < 0 || rmdir(name) < 0)
			fail("rmdir");
	}
	return fd;
}

/* Neighbours are of the file's first page, so that the kernel does not join them. */
static void make_paths(long count)
{
	const int fd = open_long_path();

	for (long i = 0; i < count; i++) {
		if (mmap(NULL, PAGE, PROT_READ | PROT_EXEC, MAP_SHARED, fd, 0) == MAP_FAILED)
			fail("mmap");
	}
	close(fd);
}

/* Neighbours differ in their rights, so that the kernel does not join them. */
static void make_mappings(long count)
{
	for (long i = 0; i < count; i++) {
		if (mmap(NULL, PAGE, i % 2 ? PROT_READ : PROT_READ | PROT_WRITE,
			 MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) == MAP_FAILED)
			fail("mmap");
	}
}

static void send_unfinished(int fd, long kib)
{
	uint8_t header[WIRE_SP_FRAME_HEADER_BYTES];
	static const uint8_t zeros[1024];

	wire_encode_frame(header, (uint64_t)kib * 1024 + 1);
	write_all(fd, header, sizeof(header));
	for (long i = 0; i < kib; i++)
		write_all(fd, zeros, sizeof(zeros));
}

static void be_short(const char *socket_path, long count)
{
	for (long i = 0; i < count; i++) {
		const pid_t pid = fork();

		if (pid < 0)
			fail("fork");
		if (pid > 0) {
			waitpid(pid, NULL, 0);
			continue;
		}
		join(socket_path);
		for (const uint64_t until = now_ns() + SHORT_NS; now_ns() < until;)
			;
		_exit(0);
	}
}

static void attack(const char *socket_path, const char *what, long count)
{
	int fd;

	if (strcmp(what, "short") == 0) {
		be_short(socket_path, count);
		return;
	}
	if (strcmp(what, "mappings") == 0)
		make_mappings(count);
	if (strcmp(what, "paths") == 0)
		make_paths(count);
	for (long i = 1; strcmp(what, "reconnect") == 0 && i < count; i++)
		close(dial(socket_path));
	if (strcmp(what, "garbage") == 0)
		send_garbage(socket_path, count);
	if (strcmp(what, "unfinished") == 0) {
		send_unfinished(dial(socket_path), count);
	} else {
		fd = join(socket_path);
		if (strcmp(what, "names") == 0)
			send_names(fd, count);
		if (strcmp(what, "lines") == 0)
			send_lines(fd, count);
		if (strcmp(what, "methods") == 0)
			send_methods(fd, count);
		if (strcmp(what, "frames") == 0)
			send_frames(fd, count);
		for (long i = 0; strcmp(what, "all") == 0 && i < count; i++) {
			send_lines(fd, 1000);
			send_frames(fd, 1);
			send_names(fd, 1000);
		}
	}
	puts("ready");
	fflush(stdout);
	sleep(STAY_SEC);
}

int main(int argc, char **argv)
{
	static const char *const known[] = {"names",  "mappings",   "reconnect", "garbage",
					    "short",  "unfinished", "lines",	 "methods",
					    "frames", "paths",	    "all"};
	bool is_known = false;
	int status, code = 0;

	for (size_t i = 0; argc == 5 && i < sizeof(known) / sizeof(known[0]); i++)
		is_known |= strcmp(argv[2], known[i]) == 0;
	if (!is_known) {
		fprintf(stderr, "usage: hostile_agent SOCKET WHAT PROCESSES COUNT\n");
		return 2;
	}
	for (long i = 0; i < atol(argv[3]); i++) {
		const pid_t pid = fork();

		if (pid < 0)
			fail("fork");
		if (pid == 0) {
			attack(argv[1], argv[2], atol(argv[4]));
			return 0;
		}
	}
	while (wait(&status) > 0)
		code |= status;
	return code ? 1 : 0;
}
