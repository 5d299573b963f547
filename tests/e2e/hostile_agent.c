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
 *   unfinished  a message of COUNT KiB of which the last byte does not come
 */
#include "shared/wire.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define STAY_SEC      5
#define MESSAGE_BYTES (60u << 10)
#define NAME_BYTES    900
#define PAGE	      4096

static uint8_t message[WIRE_SP_FRAME_HEADER_BYTES + WIRE_MESSAGE_HEADER_BYTES + MESSAGE_BYTES];
static uint64_t sequence;

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

static void write_all(int fd, const void *data, size_t len)
{
	const uint8_t *at = data;

	while (len > 0) {
		const ssize_t n = send(fd, at, len, MSG_NOSIGNAL);

		if (n <= 0)
			fail("send");
		at += n;
		len -= (size_t)n;
	}
}

static int dial(const char *path)
{
	const int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	uint8_t greeting[WIRE_SP_GREETING_BYTES];
	struct sockaddr_un addr = {.sun_family = AF_UNIX};

	snprintf(addr.sun_path, sizeof(addr.sun_path), "%s", path);
	if (fd < 0 || connect(fd, (const struct sockaddr *)&addr, sizeof(addr)) < 0)
		fail(path);
	wire_encode_greeting(greeting, WIRE_SP_PUSH);
	write_all(fd, greeting, sizeof(greeting));
	return fd;
}

static struct wire_buf begin_message(void)
{
	return (struct wire_buf){
		.data = message + WIRE_SP_FRAME_HEADER_BYTES + WIRE_MESSAGE_HEADER_BYTES,
		.size = MESSAGE_BYTES,
	};
}

static void send_message(int fd, const struct wire_buf *buf)
{
	wire_encode_frame(message, WIRE_MESSAGE_HEADER_BYTES + buf->len);
	wire_encode_message(message + WIRE_SP_FRAME_HEADER_BYTES, sequence++, now_ns());
	write_all(fd, message, WIRE_SP_FRAME_HEADER_BYTES + WIRE_MESSAGE_HEADER_BYTES + buf->len);
}

static void send_hello(int fd)
{
	struct wire_buf buf = begin_message();
	const struct wire_attr attrs[] = {
		{wire_str_from("main"), wire_str_from("hostile")},
	};
	const struct wire_hello hello = {
		.pid = (uint32_t)getpid(), .monotonic_ns = now_ns(), .n_attrs = 1};

	wire_encode_hello(&buf, &hello, attrs, NULL);
	send_message(fd, &buf);
}

static void send_names(int fd, long count)
{
	char name[NAME_BYTES + 1];

	memset(name, 'n', NAME_BYTES);
	name[NAME_BYTES] = '\0';
	for (long i = 0; i < count;) {
		struct wire_buf buf = begin_message();
		bool fits = true;

		while (fits && i < count) {
			char digits[24];
			struct wire_stub stub = {.time_ns = now_ns(),
						 .addr = 0x7f0000000000 + 64 * (uint64_t)i,
						 .size = 64};

			snprintf(digits, sizeof(digits), "%020ld", i);
			memcpy(name, digits, 20);
			stub.name = wire_str_from(name);
			fits = wire_encode_stub(&buf, 0, &stub);
			i += fits;
		}
		send_message(fd, &buf);
	}
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

static void attack(const char *socket_path, const char *what, long count)
{
	int fd;

	if (strcmp(what, "mappings") == 0)
		make_mappings(count);
	for (long i = 1; strcmp(what, "reconnect") == 0 && i < count; i++)
		close(dial(socket_path));
	fd = dial(socket_path);
	if (strcmp(what, "unfinished") == 0) {
		send_unfinished(fd, count);
	} else {
		send_hello(fd);
		if (strcmp(what, "names") == 0)
			send_names(fd, count);
	}
	puts("ready");
	fflush(stdout);
	sleep(STAY_SEC);
}

int main(int argc, char **argv)
{
	static const char *const known[] = {"names", "mappings", "reconnect", "unfinished"};
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
