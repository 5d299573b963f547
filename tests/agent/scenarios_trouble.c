// SPDX-License-Identifier: Apache-2.0
/* Collectors that are none, stall or are not there, JVMs that are left alone, and the end. */
#include "fake_steps.h"
#include "scenarios.h"

#include <dlfcn.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

/* A stranger's greeting is refused, and the next dial tries again. */
void strangers_are_refused(void)
{
	static const uint8_t push[] = {0, 'S', 'P', 0, 0, 0x50, 0, 0};
	static const uint8_t version[] = {0, 'S', 'P', 1, 0, 0x51, 0, 0};
	static const char http[] = "HTTP/1.1 400 Bad Request\r\n\r\n";

	start_agent(",label=team:red");
	peer_accept(&peer, push, sizeof(push));
	peer_expect_greeting(&peer);
	peer_expect_close(&peer);
	peer_accept(&peer, version, sizeof(version));
	peer_expect_greeting(&peer);
	peer_expect_close(&peer);
	peer_accept(&peer, http, sizeof(http) - 1);
	peer_expect_greeting(&peer);
	peer_expect_close(&peer);
	peer_accept(&peer, "", 0); /* silence */
	peer_expect_greeting(&peer);
	peer_expect_close(&peer);
	peer_accept(&peer, push, 3); /* half a greeting */
	peer_close(&peer);
	CHECK(fake_jvm.attaches == 0);
	connect_agent(256 << 10, 1);
	end_jvm();
}

/* Who says more than the greeting is hung up on, and left alone for a while. */
void chatter_ends_the_connection(void)
{
	static const char chatter[5000] = "blah";
	struct timespec begin, end;

	start_agent(",label=team:red");
	connect_agent(256 << 10, 1);
	clock_gettime(CLOCK_MONOTONIC, &begin);
	CHECK(write(peer.fd, chatter, sizeof(chatter)) == sizeof(chatter));
	peer_expect_close(&peer);
	connect_agent(256 << 10, 2);
	clock_gettime(CLOCK_MONOTONIC, &end);
	CHECK(end.tv_sec - begin.tv_sec >= 9);
	end_jvm();
}

static void meet_without_reading(void)
{
	peer_accept(&peer, NULL, 0);
	peer_expect_greeting(&peer);
}

/*
 * GenerateEvents returns while nobody reads, and all code is told all the same, on the same
 * connection.
 */
void generate_events_waits_for_nobody(void)
{
	fake_jvm.n_methods = 50000;
	fake_jvm.n_stubs = 400;
	start_agent(",buffer=16k,label=team:red");
	meet_without_reading();
	while (fake_jvm.returned < 2)
		sleep_ms(1);
	expect_hello(16 << 10);
	expect_resync(1);
	CHECK(fake_jvm.attaches > 2);
	end_jvm();
}

/* A new socket at the path is one that has not been tried. */
static void listen_anew(void)
{
	peer_close(&peer);
	peer_fini(&peer);
	CHECK(unlink(socket_path) == 0);
	peer_listen(&peer, socket_path);
}

/* Who does not read for 5 s is hung up on and left alone, but not a collector in its place. */
void a_stalled_reader_is_dropped(void)
{
	struct pollfd gone = {.events = POLLRDHUP}, dialled = {.events = POLLIN};
	struct wire_record record;
	struct wire_loss loss;

	fake_jvm.n_methods = 50000;
	start_agent(",buffer=16k,label=team:red");
	meet_without_reading();
	gone.fd = peer.fd;
	CHECK(poll(&gone, 1, 10 * STALL_MS) == 1 && fake_jvm.attached == 0);
	dialled.fd = peer.listen_fd;
	CHECK(poll(&dialled, 1, 3000) == 0);
	listen_anew();
	peer_accept(&peer, NULL, 0);
	peer_expect_greeting(&peer);
	expect_hello(16 << 10);
	expect_resync(2);
	record = expect_kind(WIRE_LOSS);
	CHECK(wire_decode_loss(&record, &loss) == 0 && loss.count[WIRE_LOSS_DISCONNECT] > 0);
	end_jvm();
}

static void limit_descriptors(rlim_t n)
{
	struct rlimit limit;

	CHECK(getrlimit(RLIMIT_NOFILE, &limit) == 0);
	limit.rlim_cur = n;
	CHECK(setrlimit(RLIMIT_NOFILE, &limit) == 0);
}

/* The lowest number that is free; all below are used. */
static rlim_t next_descriptor(void)
{
	const int fd = dup(0);

	CHECK(fd >= 0);
	close(fd);
	return (rlim_t)fd;
}

/* The agent takes none of them, and begins when there are enough. */
void the_last_descriptors_are_the_programs(void)
{
	const rlim_t used = next_descriptor();
	struct pollfd dialled = {.fd = peer.listen_fd, .events = POLLIN};

	limit_descriptors(used + 7);
	start_agent(",label=team:red");
	while (count_agent_threads() == 0)
		sleep_ms(1);
	CHECK(poll(&dialled, 1, 2000) == 0 && next_descriptor() == used);
	limit_descriptors(used + 9); /* one of which is for the collector's end */
	connect_agent(256 << 10, 1);
	end_jvm();
}

static void expect_idle(void)
{
	static const unsigned none[64];

	CHECK(memcmp(fake_jvm.enabled, none, sizeof(none)) == 0);
	CHECK(!fake_jvm.callbacks.VMInit && !fake_jvm.callbacks.CompiledMethodLoad);
	CHECK(count_agent_threads() == 0);
	CHECK(fake_jvm.allocations == 0);
}

void off_does_nothing(void)
{
	CHECK(setenv("FGAGENT_OPTS", "off", 1) == 0);
	start_agent("");
	expect_idle();
	CHECK(!fake_jvm.capabilities.can_generate_compiled_method_load_events);
}

void an_old_hotspot_is_left_alone(void)
{
	fake_jvm.vm_version = "25.381-b09";
	start_agent("");
	expect_idle();
	CHECK(fake_jvm.disposed);
}

void a_jvm_without_the_events_is_left_alone(void)
{
	fake_jvm.no_method_events = true;
	start_agent("");
	expect_idle();
	CHECK(fake_jvm.disposed);
}

/* Without a collector the end is not waited for, and events cost nothing that could be lost. */
void nobody_listens(void)
{
	peer_fini(&peer);
	unlink(socket_path);
	start_agent("");
	fake_jvm_post_load(1);
	CHECK(fake_jvm.allocations == 0);
	fake_jvm_post_death();
	while (count_agent_threads() > 0)
		sleep_ms(5);
	peer_listen(&peer, socket_path);
}

/* The end while the collector reads nothing: the callback returns soon all the same. */
void the_end_waits_for_nobody(void)
{
	uint64_t begin_ms;

	fake_jvm.n_methods = 50000;
	start_agent(",buffer=16k,label=team:red");
	peer_accept(&peer, NULL, 0);
	peer_expect_greeting(&peer);
	while (fake_jvm.returned < 2)
		sleep_ms(1);
	begin_ms = now_ms();
	fake_jvm_post_death();
	CHECK(now_ms() - begin_ms < STALL_MS / 2);
	while (count_agent_threads() > 0)
		sleep_ms(5);
	CHECK(now_ms() - begin_ms < STALL_MS / 2);
	peer_close(&peer);
}

static unsigned times_enabled(jvmtiEvent event)
{
	return fake_jvm.enabled[event - JVMTI_MIN_EVENT_TYPE_VAL];
}

static void expect_events_of_code(unsigned times)
{
	CHECK(times_enabled(JVMTI_EVENT_COMPILED_METHOD_LOAD) == times);
	CHECK(times_enabled(JVMTI_EVENT_COMPILED_METHOD_UNLOAD) == times);
	CHECK(times_enabled(JVMTI_EVENT_DYNAMIC_CODE_GENERATED) == times);
}

/* No event before; then all code that there is, and what comes. */
void an_agent_with_a_delay_begins_late(void)
{
	struct wire_record record;
	uint64_t begin_ms;

	fake_jvm.n_methods = 100;
	load_agent(",delay=2s,label=team:red");
	begin_ms = now_ms();
	fake_jvm_post_init();
	expect_events_of_code(0);
	connect_agent(256 << 10, 1);
	CHECK(now_ms() - begin_ms >= 2000);
	expect_events_of_code(1);
	fake_jvm_post_load(5);
	CHECK(peer_next(&peer, &record));
	check_load(&record, 5);
	end_jvm();
}

void a_jvm_that_ends_before_its_delay_is_left_alone(void)
{
	start_agent(",delay=3600s");
	while (count_agent_threads() == 0)
		sleep_ms(1);
	fake_jvm_post_death();
	while (count_agent_threads() > 0)
		sleep_ms(5);
	CHECK(fake_jvm.attaches == 0);
	expect_events_of_code(0);
}

static void copy_file(const char *from, const char *to)
{
	char bytes[65536];
	FILE *in = fopen(from, "rb"), *out = fopen(to, "wb");
	size_t len;

	CHECK(in && out);
	while ((len = fread(bytes, 1, sizeof(bytes), in)) > 0)
		CHECK(fwrite(bytes, 1, len, out) == len);
	fclose(in);
	CHECK(fclose(out) == 0);
}

/* The agent of another file, which the dynamic linker takes for another library. */
static jint (*load_copy(void))(JavaVM *, char *, void *)
{
	jint (*copy)(JavaVM *, char *, void *);
	char path[128];
	void *library;

	snprintf(path, sizeof(path), "%s.so", socket_path);
	copy_file(agent_path, path);
	library = dlopen(path, RTLD_LAZY);
	CHECK(library && unlink(path) == 0);
	*(void **)&copy = dlsym(library, "Agent_OnLoad");
	CHECK(copy && copy != on_load);
	return copy;
}

void loaded_from_two_files_runs_once(void)
{
	jint (*second)(JavaVM *, char *, void *) = load_copy();
	char options[160];

	load_agent(",label=team:red");
	snprintf(options, sizeof(options), "socket=%s", socket_path);
	CHECK(second(fake_jvm_start(), options, NULL) == 0);
	CHECK(load_copy()(fake_jvm_start(), options, NULL) == 0);
	for (int i = 0; i < 64; i++)
		CHECK(fake_jvm.enabled[i] <= 1);
	fake_jvm_post_init();
	connect_agent(256 << 10, 1);
	CHECK(count_agent_threads() == 1);
	end_jvm();
}

void loaded_twice_runs_once(void)
{
	load_agent(",label=team:red");
	CHECK(on_load(fake_jvm_start(), NULL, NULL) == 0);
	for (int i = 0; i < 64; i++)
		CHECK(fake_jvm.enabled[i] <= 1);
	fake_jvm_post_init();
	connect_agent(256 << 10, 1);
	CHECK(count_agent_threads() == 1);
	end_jvm();
}
