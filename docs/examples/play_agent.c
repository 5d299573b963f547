// SPDX-License-Identifier: Apache-2.0
/*
 * Plays an agent with libnng alone: a PUSH socket is what a collector hears.
 *
 *   cc -o play_agent play_agent.c -lnng
 *   play_agent ipc:///run/fgcollect/agent.sock
 *
 * Says that this process is a JVM with one method, example.Played::run at 0x7f0000001000, and stays
 * until it is killed. The bytes are those of shared/README.md.
 */
#define _GNU_SOURCE

#include <nng/nng.h>
#include <nng/protocol/pipeline0/push.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static uint8_t out[512];
static size_t n;

static void put(uint64_t value, size_t bytes)
{
	for (size_t i = 0; i < bytes; i++)
		out[n++] = (uint8_t)(value >> (8 * i));
}

static void put_str(const char *text)
{
	put(strlen(text), 2);
	memcpy(out + n, text, strlen(text));
	n += strlen(text);
}

static void put_mark(unsigned kind, uint64_t now, unsigned is_complete)
{
	put(kind, 2), put(1, 2), put(16, 4); /* kind, flag RESYNC, length */
	put(now, 8), put(1, 4), put(is_complete, 4);
}

static void put_all(uint64_t now, uint64_t unix_now)
{
	put(0x31574746, 4), put(1, 2), put(24, 2), put(0, 8), put(now, 8); /* "FGW1" */
	put(1, 2), put(0, 2), put(66, 4);				   /* HELLO */
	put(1, 4), put(0, 4), put(now, 8), put(now, 8), put(unix_now, 8), put(65536, 4);
	put(1, 2), put(0, 2);
	put_str("java.command"), put_str("Played 123");
	put_mark(2, now, 0);
	put(4, 2), put(1, 2), put(57, 4); /* METHOD_LOAD */
	put(now, 8), put(0x7f0000001000, 8), put(64, 4), put(4, 1), put(1, 1), put(0, 2);
	put_str("Lexample/Played;"), put_str("run"), put_str("()V"), put_str("P.j");
	put_mark(3, now, 1);
}

int main(int argc, char **argv)
{
	struct timespec t, u;
	nng_socket socket;

	clock_gettime(CLOCK_MONOTONIC, &t);
	clock_gettime(CLOCK_REALTIME, &u);
	put_all((uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec,
		(uint64_t)u.tv_sec * 1000000000 + (uint64_t)u.tv_nsec);
	if (argc < 2 || nng_push0_open(&socket) || nng_dial(socket, argv[1], NULL, 0) ||
	    nng_send(socket, out, n, 0))
		return 1;
	puts("said");
	fflush(stdout);
	pause();
	return 0;
}
