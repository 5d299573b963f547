// SPDX-License-Identifier: Apache-2.0
/*
 * A program that closes the agent's descriptors, and has what it opens next under their numbers.
 * Here dup2(2) does both at once. Not under the thread sanitizer, which reports each such call, and
 * rightly so, as a race with the agent.
 */
#include "fake_steps.h"
#include "scenarios.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

#define NUMBERS 1024
#define TAKEN	8

/* The descriptors that are there without the agent. */
static bool others[NUMBERS];

/* What the program has in place of the agent's: a file each, or an end of a pair each. */
static struct taken {
	int number, far_end;
	struct stat st;
} taken[TAKEN];
static size_t n_taken;

static void each_socket(void (*act)(int fd))
{
	DIR *numbers = opendir("/proc/self/fd");
	const struct dirent *entry;
	struct stat st;

	CHECK(numbers);
	while ((entry = readdir(numbers))) {
		const int fd = atoi(entry->d_name);

		if (fd > 2 && fd < NUMBERS && fstat(fd, &st) == 0 && S_ISSOCK(st.st_mode))
			act(fd);
	}
	closedir(numbers);
}

static void note_other(int fd)
{
	others[fd] = true;
}

/* Moves the new descriptor to the agent's number. */
static void put(int fd, int number, int far_end)
{
	CHECK(n_taken < TAKEN && dup2(fd, number) == number);
	close(fd);
	others[number] = true;
	taken[n_taken].number = number;
	taken[n_taken].far_end = far_end;
	CHECK(fstat(number, &taken[n_taken++].st) == 0);
}

static bool is_agents(int fd)
{
	return !others[fd] && fd != peer.fd && fd != peer.listen_fd;
}

static void put_file(int number)
{
	char path[] = "/tmp/fake-agent-file-XXXXXX";
	int fd;

	if (!is_agents(number))
		return;
	fd = mkstemp(path);
	CHECK(fd >= 0 && unlink(path) == 0);
	put(fd, number, -1);
}

static void put_pair(int number, int type)
{
	int ends[2];

	if (!is_agents(number))
		return;
	CHECK(socketpair(AF_UNIX, type | SOCK_NONBLOCK, 0, ends) == 0);
	others[ends[1]] = true;
	put(ends[0], number, ends[1]);
}

static void put_stream(int number)
{
	put_pair(number, SOCK_STREAM);
}

static void put_datagrams(int number)
{
	put_pair(number, SOCK_DGRAM);
}

static void close_number(int number)
{
	if (is_agents(number))
		close(number);
}

static void shut_down(int number)
{
	if (is_agents(number))
		shutdown(number, SHUT_RDWR);
}

/* Nothing was written, read or closed. */
static void check_taken(void)
{
	char byte = 'x';
	struct stat st;

	for (size_t i = 0; i < n_taken; i++) {
		CHECK(fstat(taken[i].number, &st) == 0 && st.st_ino == taken[i].st.st_ino);
		CHECK(st.st_size == 0 && lseek(taken[i].number, 0, SEEK_CUR) <= 0);
		if (taken[i].far_end < 0)
			continue;
		CHECK(recv(taken[i].far_end, &byte, 1, MSG_DONTWAIT) < 0);
		CHECK(send(taken[i].far_end, &byte, 1, 0) == 1);
	}
	fake_jvm_post_load(3);
	sleep_ms(100);
	for (size_t i = 0; i < n_taken; i++) {
		if (taken[i].far_end < 0)
			continue;
		CHECK(recv(taken[i].number, &byte, 1, MSG_DONTWAIT) == 1);
		close(taken[i].number);
		others[taken[i].number] = false;
		close(taken[i].far_end);
		others[taken[i].far_end] = false;
	}
	n_taken = 0;
}

static void hear_the_end(void)
{
	struct wire_record record;

	while (peer_next(&peer, &record))
		;
	peer_close(&peer);
}

static void lose(void (*act)(int number), uint32_t epoch)
{
	each_socket(act);
	fake_jvm_post_load(2);
	hear_the_end();
	connect_agent(256 << 10, epoch);
	fake_jvm_post_load(1);
	expect_kind(WIRE_METHOD_LOAD);
	check_taken();
	expect_kind(WIRE_METHOD_LOAD);
}

void whatever_gets_its_numbers_is_left_alone(void)
{
	fake_jvm.n_methods = 20;
	each_socket(note_other);
	start_agent(",label=team:red");
	connect_agent(256 << 10, 1);
	lose(put_file, 2);
	lose(put_stream, 3);
	lose(put_datagrams, 4);
	lose(close_number, 5);
	lose(shut_down, 6);
	end_jvm();
}

/* Nothing is recorded meanwhile, so that nothing but the loss itself wakes the agent. */
void a_sleeping_agent_notices_the_loss(void)
{
	each_socket(note_other);
	start_agent(",label=team:red,threads=off");
	connect_agent(256 << 10, 1);
	sleep_ms(200);
	each_socket(put_stream);
	hear_the_end();
	connect_agent(256 << 10, 2);
	sleep_ms(200);
	each_socket(close_number);
	hear_the_end();
	connect_agent(256 << 10, 3);
	check_taken();
	end_jvm();
}

static void dial_again(const char *path, uint32_t epoch)
{
	peer_dial(&peer, path, NULL, 0);
	peer_expect_greeting(&peer);
	expect_hello(256 << 10);
	expect_resync(epoch);
}

static int n_agents;

static void count_agents(int number)
{
	n_agents += is_agents(number);
}

/* The system call in which the agent's thread sleeps; -1: it runs, or there is none. */
static long call_of_agent(void)
{
	DIR *tasks = opendir("/proc/self/task");
	const struct dirent *entry;
	long call = -1;

	CHECK(tasks);
	while ((entry = readdir(tasks))) {
		char path[300], line[64] = "";
		FILE *file;

		snprintf(path, sizeof(path), "/proc/self/task/%s/comm", entry->d_name);
		file = fopen(path, "r");
		if (file && fgets(line, sizeof(line), file) && strcmp(line, "fgagent\n") == 0) {
			snprintf(path, sizeof(path), "/proc/self/task/%s/syscall", entry->d_name);
			CHECK(freopen(path, "r", file));
			if (fscanf(file, "%ld", &call) != 1)
				call = -1;
		}
		if (file)
			fclose(file);
	}
	closedir(tasks);
	return call;
}

static bool is_poll(long call)
{
#ifdef SYS_poll
	if (call == SYS_poll)
		return true;
#endif
	return call == SYS_ppoll;
}

/* Until the agent has nothing but the listening socket, and waits for it. */
static void wait_until_it_listens(void)
{
	do {
		sleep_ms(5);
		n_agents = 0;
		each_socket(count_agents);
	} while (n_agents != 1 || !is_poll(call_of_agent()));
}

/*
 * Dials, as a collector does, until the socket is a new one. A socket that is closed is still
 * reached while somebody polls it, as the agent does: the connection ends at once, and wakes it.
 */
static void knock_until_replaced(const char *path, struct timespec made)
{
	struct sockaddr_un addr = {.sun_family = AF_UNIX};
	struct stat st;

	strcpy(addr.sun_path, path);
	while (lstat(path, &st) != 0 ||
	       (st.st_ctim.tv_sec == made.tv_sec && st.st_ctim.tv_nsec == made.tv_nsec)) {
		const int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0);

		others[fd] = true;
		if (connect(fd, (const struct sockaddr *)&addr, sizeof(addr)) != 0)
			sleep_ms(5);
		close(fd);
		others[fd] = false;
	}
}

static void lose_while_listening(const char *path, void (*act)(int number), uint32_t epoch)
{
	struct stat st;

	peer_close(&peer);
	wait_until_it_listens();
	CHECK(lstat(path, &st) == 0);
	each_socket(act);
	knock_until_replaced(path, st.st_ctim);
	dial_again(path, epoch);
	check_taken();
}

void a_listening_agent_listens_again(void)
{
	char options[160], path[128];

	each_socket(note_other);
	strcpy(path, socket_path);
	strcpy(strrchr(path, '/'), "/listen.sock");
	snprintf(options, sizeof(options), ",socket=listen:%s,label=team:red", path);
	start_agent(options);
	hide_listener();
	dial_again(path, 1);
	lose_while_listening(path, put_file, 2);
	lose_while_listening(path, close_number, 3);
	lose_while_listening(path, shut_down, 4);
	end_jvm();
}
