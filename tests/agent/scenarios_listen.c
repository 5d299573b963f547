// SPDX-License-Identifier: Apache-2.0
/* Agents that listen: who is served, who is not, and what stands in the way of the socket. */
#include "fake_steps.h"
#include "scenarios.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

static char listen_path[128];

/* With the directory and the PID for what is in the pattern; the agent resolves it as it is. */
static void set_path(const char *name)
{
	char directory[96];

	strcpy(directory, socket_path);
	*strrchr(directory, '/') = 0;
	snprintf(listen_path, sizeof(listen_path), "%s/%s", directory, name);
}

static int tasks_before;

/*
 * Of this process, whatever they are called: a thread that has just begun has no name of its own.
 */
static int count_tasks(void)
{
	DIR *tasks = opendir("/proc/self/task");
	const struct dirent *entry;
	int n = 0;

	CHECK(tasks);
	while ((entry = readdir(tasks)))
		n += entry->d_name[0] != '.';
	closedir(tasks);
	return n;
}

static void *do_nothing(void *arg)
{
	return arg;
}

/* Those that are there without an agent: with the first thread a sanitizer makes one of its own. */
static void count_tasks_before(void)
{
	pthread_t thread;
	int last;

	CHECK(pthread_create(&thread, NULL, do_nothing, NULL) == 0);
	CHECK(pthread_join(thread, NULL) == 0);
	/* One that has been joined may be listed for a moment. */
	do {
		last = count_tasks();
		sleep_ms(20);
		tasks_before = count_tasks();
	} while (tasks_before != last);
}

static void start_listener(const char *name)
{
	char options[256];

	set_path(name);
	count_tasks_before();
	snprintf(options, sizeof(options), ",socket=listen:%s,label=team:red", listen_path);
	start_agent(options);
}

/* As start_listener, for an agent whom no collector of this machine is to find. */
static void start_hidden(void)
{
	start_listener("listen.sock");
	hide_listener();
}

static void dial_agent(uint32_t epoch)
{
	peer_dial(&peer, listen_path, NULL, 0);
	peer_expect_greeting(&peer);
	expect_hello(256 << 10);
	expect_resync(epoch);
}

static bool exists(const char *path)
{
	struct stat st;

	return lstat(path, &st) == 0;
}

static void wait_without_thread(void)
{
	int tasks = count_tasks();

	for (int i = 0; i < 1000 && tasks > tasks_before; i++) {
		sleep_ms(10);
		tasks = count_tasks();
	}
	CHECK(tasks <= tasks_before);
}

static int bind_to(const char *path)
{
	struct sockaddr_un addr = {.sun_family = AF_UNIX};
	const int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	strcpy(addr.sun_path, path);
	CHECK(bind(fd, (const struct sockaddr *)&addr, sizeof(addr)) == 0);
	return fd;
}

/* It speaks as it does when it dials, and again with whoever comes next; its file is its own. */
void a_listening_agent_is_dialled(void)
{
	struct stat st;

	umask(0);
	fake_jvm.n_methods = 20;
	start_hidden();
	dial_agent(1);
	CHECK(lstat(listen_path, &st) == 0 && (st.st_mode & 0777) == 0600 && S_ISSOCK(st.st_mode));
	CHECK(count_agent_threads() == 1);
	fake_jvm_post_load(4);
	expect_kind(WIRE_METHOD_LOAD);
	peer_close(&peer);
	dial_agent(2);
	end_jvm();
	wait_without_thread();
	CHECK(!exists(listen_path));
}

/* Who comes while another is served waits for its turn. */
void a_listening_agent_serves_one_at_a_time(void)
{
	struct peer first;

	start_hidden();
	dial_agent(1);
	first = peer;
	peer_init(&peer);
	peer_dial(&peer, listen_path, NULL, 0);
	CHECK(poll(&(struct pollfd){.fd = peer.fd, .events = POLLIN}, 1, 300) == 0);
	peer_close(&first);
	peer_fini(&first);
	peer_expect_greeting(&peer);
	expect_hello(256 << 10);
	expect_resync(2);
	end_jvm();
}

/*
 * Other protocols, half a greeting, and silence; then it serves as before, and nothing was asked.
 */
void a_listening_agent_hangs_up_on_strangers(void)
{
	static const uint8_t push[] = {0, 'S', 'P', 0, 0, 0x50, 0, 0};
	static const char http[] = "GET / HTTP/1.1\r\n\r\n";

	start_hidden();
	peer_dial(&peer, listen_path, push, sizeof(push));
	peer_expect_greeting(&peer);
	peer_expect_close(&peer);
	peer_dial(&peer, listen_path, http, sizeof(http) - 1);
	peer_expect_greeting(&peer);
	peer_expect_close(&peer);
	peer_dial(&peer, listen_path, "", 0);
	peer_expect_greeting(&peer);
	peer_expect_close(&peer);
	peer_dial(&peer, listen_path, push, 3);
	peer_close(&peer);
	CHECK(fake_jvm.attaches == 0);
	dial_agent(1);
	end_jvm();
}

/* 0: it was hung up on without a word. */
static int visit_as_other_user(void)
{
	char byte;
	struct peer visitor;

	if (setgid(12345) != 0 || setuid(12345) != 0)
		return 2;
	peer_init(&visitor);
	peer_dial(&visitor, listen_path, "", 0);
	return read(visitor.fd, &byte, 1) <= 0 ? 0 : 1;
}

/* Not even if the socket's mode has been widened. Only root can try that. */
void other_users_are_not_served(void)
{
	char directory[96];
	int status;
	pid_t child;

	start_hidden();
	while (!exists(listen_path))
		sleep_ms(1);
	strcpy(directory, socket_path);
	*strrchr(directory, '/') = 0;
	CHECK(chmod(directory, 0755) == 0 && chmod(listen_path, 0666) == 0);
	if (geteuid() == 0) {
		child = fork();
		if (child == 0)
			_exit(visit_as_other_user());
		CHECK(waitpid(child, &status, 0) == child && status == 0);
	}
	dial_agent(1);
	end_jvm();
}

/* By its whole path, the PID in it, without the symbolic link; children do not inherit that. */
void a_listening_agent_tells_where(void)
{
	char name[32], line[512], path[128], *text;
	int status;
	pid_t child;

	set_path("link");
	CHECK(symlink(".", listen_path) == 0);
	start_listener("link/%p.sock");
	snprintf(name, sizeof(name), "%d.sock", (int)getpid());
	set_path(name);
	dial_agent(1);
	CHECK(find_mapping("/memfd:" WIRE_LISTEN_REGION, line));
	text = strstr(line, WIRE_LISTEN_REGION) + strlen(WIRE_LISTEN_REGION);
	*strstr(text, " (deleted)") = 0;
	strcpy(path, text);
	CHECK(strcmp(path, listen_path) == 0);
	child = fork();
	if (child == 0)
		_exit(find_mapping(WIRE_LISTEN_REGION, line));
	CHECK(waitpid(child, &status, 0) == child && status == 0);
	end_jvm();
	wait_without_thread();
	CHECK(!find_mapping(WIRE_LISTEN_REGION, line));
	set_path("link");
	unlink(listen_path);
}

void a_dead_jvms_socket_is_replaced(void)
{
	set_path("listen.sock");
	close(bind_to(listen_path));
	start_hidden();
	dial_agent(1);
	end_jvm();
}

static void expect_left_alone(void)
{
	struct stat before, after;

	CHECK(lstat(listen_path, &before) == 0);
	start_listener("listen.sock");
	wait_without_thread();
	CHECK(lstat(listen_path, &after) == 0 && before.st_ino == after.st_ino);
	fake_jvm_post_load(1);
	fake_jvm_post_death();
	CHECK(exists(listen_path));
}

/* One line, and the JVM runs without an agent's thread. */
static void in_child(void (*stand)(void))
{
	const pid_t child = fork();
	int status;

	if (child == 0) {
		stand();
		expect_left_alone();
		_exit(0);
	}
	CHECK(waitpid(child, &status, 0) == child && status == 0);
	unlink(listen_path);
}

static void stand_file(void)
{
	close(open(listen_path, O_CREAT | O_EXCL | O_WRONLY, 0600));
}

static void stand_fifo(void)
{
	CHECK(mkfifo(listen_path, 0600) == 0);
}

/* To a dead socket, which would be replaced if it stood there itself. */
static void stand_link(void)
{
	char target[140];

	snprintf(target, sizeof(target), "%s.dead", listen_path);
	unlink(target);
	close(bind_to(target));
	CHECK(symlink(target, listen_path) == 0);
}

static void stand_live_socket(void)
{
	CHECK(listen(bind_to(listen_path), 1) == 0);
}

/* So many wait to be served that no more can. */
static void stand_busy_socket(void)
{
	struct sockaddr_un addr = {.sun_family = AF_UNIX};
	int fd;

	CHECK(listen(bind_to(listen_path), 0) == 0);
	strcpy(addr.sun_path, listen_path);
	do {
		fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0);
	} while (connect(fd, (const struct sockaddr *)&addr, sizeof(addr)) == 0);
	CHECK(errno == EAGAIN);
}

static void stand_others_socket(void)
{
	close(bind_to(listen_path));
	if (geteuid() == 0)
		CHECK(chown(listen_path, 103, 103) == 0);
	else
		stand_live_socket();
}

void what_is_not_its_own_is_left_alone(void)
{
	char target[140];

	set_path("listen.sock");
	in_child(stand_file);
	in_child(stand_fifo);
	in_child(stand_link);
	in_child(stand_live_socket);
	in_child(stand_busy_socket);
	in_child(stand_others_socket);
	snprintf(target, sizeof(target), "%s.dead", listen_path);
	unlink(target);
}

/* Also when no collector ever came. */
void a_listening_agent_leaves_nothing(void)
{
	start_hidden();
	while (!exists(listen_path))
		sleep_ms(1);
	fake_jvm_post_death();
	wait_without_thread();
	CHECK(!exists(listen_path));
}
