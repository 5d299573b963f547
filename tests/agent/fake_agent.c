// SPDX-License-Identifier: Apache-2.0
/*
 * The whole agent in a fake JVM, one scenario a run:
 *
 *   fake_agent SCENARIO [libfgagent.so]
 *
 * With a file, the agent is loaded from it as a JVM would; this is also built for musl. Without one
 * it is linked in, so that sanitizers see it.
 */
#include "fake_jvm.h"
#include "peer.h"

#include <dirent.h>
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#ifdef FAKE_AGENT_LINKED
JNIEXPORT jint JNICALL Agent_OnLoad(JavaVM *vm, char *options, void *reserved);
#endif

#define STALL_MS 5000 /* what a collector that does not read is granted, and the end is not */

static char directory[64] = "/tmp/fake-agent-XXXXXX";
static char socket_path[96];
static jint (*on_load)(JavaVM *, char *, void *);
static struct peer peer;

/* --- what a scenario is made of ------------------------------------------------------- */

static void load_agent(const char *extra)
{
	char options[512];

	snprintf(options, sizeof(options), "socket=%s%s", socket_path, extra);
	CHECK(on_load(fake_jvm_start(), options, NULL) == 0);
}

static void start_agent(const char *extra)
{
	load_agent(extra);
	fake_jvm_post_init();
}

/* Threads of the agent's: sanitizers have their own. */
static int count_agent_threads(void)
{
	DIR *tasks = opendir("/proc/self/task");
	const struct dirent *entry;
	char path[300], comm[32];
	int n = 0;

	while ((entry = readdir(tasks))) {
		FILE *file;

		snprintf(path, sizeof(path), "/proc/self/task/%s/comm", entry->d_name);
		file = fopen(path, "r");
		if (file && fgets(comm, sizeof(comm), file))
			n += strcmp(comm, "fgagent\n") == 0;
		if (file)
			fclose(file);
	}
	closedir(tasks);
	return n;
}

static void sleep_ms(long ms)
{
	nanosleep(&(struct timespec){.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000}, NULL);
}

static uint64_t now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

static bool is_text(struct wire_str s, const char *text)
{
	return s.len == strlen(text) && memcmp(s.data, text, s.len) == 0;
}

static bool has_attr(const struct wire_hello *hello, const char *key, const char *text)
{
	struct wire_attr attr;

	for (size_t pos = 0; wire_hello_next_attr(hello, &pos, &attr);) {
		if (is_text(attr.key, key) && is_text(attr.text, text))
			return true;
	}
	return false;
}

static void expect_hello(uint32_t buffer_bytes)
{
	struct wire_record record;
	struct wire_hello hello;

	CHECK(peer_next(&peer, &record) && record.kind == WIRE_HELLO);
	CHECK(wire_decode_hello(&record, &hello) == 0);
	CHECK(hello.pid == (uint32_t)getpid());
	CHECK(hello.buffer_bytes == buffer_bytes);
	CHECK(hello.flags == 0);
	CHECK(hello.loaded_ns <= hello.monotonic_ns && hello.loaded_ns > 0);
	CHECK(has_attr(&hello, "jvm.version", fake_jvm.vm_version));
	CHECK(has_attr(&hello, "label.team", "red"));
	CHECK(has_attr(&hello, "env.POD_NAME", "pod-7"));
}

static void check_load(const struct wire_record *record, size_t method)
{
	struct wire_method_load load;
	char text[32];

	CHECK(wire_decode_method_load(record, &load) == 0);
	CHECK(load.addr == FAKE_CODE_BASE + method * 256 && load.size == 100);
	CHECK(load.level == WIRE_LEVEL_UNKNOWN);
	CHECK(load.code_kind == (method % 10 == 9 ? WIRE_CODE_NATIVE_WRAPPER : WIRE_CODE_JAVA));
	snprintf(text, sizeof(text), "Lfake/C%zu;", method);
	CHECK(is_text(load.class_sig, text));
	snprintf(text, sizeof(text), "m%zu", method);
	CHECK(is_text(load.method, text));
	CHECK(is_text(load.method_sig, "()V"));
	snprintf(text, sizeof(text), "C%zu.java", method);
	CHECK(is_text(load.source_file, method % 7 == 3 ? "" : text));
}

static void expect_begin(uint32_t epoch)
{
	struct wire_record record;
	struct wire_resync resync;

	do {
		CHECK(peer_next(&peer, &record));
	} while (record.kind != WIRE_RESYNC_BEGIN);
	CHECK(wire_decode_resync(&record, &resync) == 0 && resync.epoch == epoch);
}

/* All stubs, then all methods, in order, then a complete end; ordinary records may come between. */
static void expect_rest_of_resync(uint32_t epoch)
{
	size_t stubs = 0, methods = 0;
	struct wire_record record;
	struct wire_resync resync;

	for (;;) {
		CHECK(peer_next(&peer, &record));
		if (record.kind == WIRE_RESYNC_END)
			break;
		if (!(record.flags & WIRE_FLAG_RESYNC))
			continue;
		if (record.kind == WIRE_METHOD_LOAD)
			check_load(&record, methods++);
		else if (record.kind == WIRE_STUB)
			stubs++;
	}
	CHECK(wire_decode_resync(&record, &resync) == 0);
	CHECK(resync.epoch == epoch && resync.complete);
	CHECK(methods == fake_jvm.n_methods && stubs == fake_jvm.n_stubs);
}

static void expect_resync(uint32_t epoch)
{
	expect_begin(epoch);
	expect_rest_of_resync(epoch);
}

/* Skips to the next record of the kind. */
static struct wire_record expect_kind(enum wire_kind kind)
{
	struct wire_record record;

	do {
		CHECK(peer_next(&peer, &record));
	} while (record.kind != kind);
	return record;
}

static void connect_agent(uint32_t buffer_bytes, uint32_t epoch)
{
	peer_accept(&peer, NULL, 0);
	peer_expect_greeting(&peer);
	expect_hello(buffer_bytes);
	expect_resync(epoch);
}

static void *read_to_bye(void *arg)
{
	(void)arg;
	expect_kind(WIRE_BYE);
	peer_expect_close(&peer);
	return NULL;
}

/* The JVM ends, and BYE is the last that is heard. */
static void end_jvm(void)
{
	pthread_t reader;

	CHECK(pthread_create(&reader, NULL, read_to_bye, NULL) == 0);
	fake_jvm_post_death();
	CHECK(pthread_join(reader, NULL) == 0);
	CHECK(fake_jvm.allocations == 0);
	CHECK(fake_jvm.local_refs == 0);
	CHECK(fake_jvm.attached == 0);
	fake_jvm_post_load(1);
	fake_jvm_post_unload(1);
}

/* --- scenarios ------------------------------------------------------------------------ */

static void stream(void)
{
	struct wire_method_unload unload;
	struct wire_record record;
	struct wire_stub stub;

	fake_jvm.n_methods = 300;
	fake_jvm.n_stubs = 40;
	start_agent(",label=team:red");
	connect_agent(256 << 10, 1);
	fake_jvm_post_load(5);
	fake_jvm_post_stub(3);
	fake_jvm_post_unload(5);
	CHECK(peer_next(&peer, &record) && record.flags == 0);
	check_load(&record, 5);
	CHECK(peer_next(&peer, &record) && record.flags == 0);
	CHECK(wire_decode_stub(&record, &stub) == 0 && is_text(stub.name, "stub 3"));
	CHECK(stub.addr == FAKE_CODE_BASE / 2 + 3 * 64 && stub.size == 64);
	CHECK(peer_next(&peer, &record));
	CHECK(wire_decode_method_unload(&record, &unload) == 0);
	CHECK(unload.addr == FAKE_CODE_BASE + 5 * 256);
	CHECK(fake_jvm.attaches == 1 && fake_jvm.attached == 0);
	end_jvm();
}

static void many_methods_pass_a_small_buffer(void)
{
	fake_jvm.n_methods = 50000;
	fake_jvm.n_stubs = 400;
	start_agent(",buffer=16k,label=team:red");
	connect_agent(16 << 10, 1);
	end_jvm();
}

static long address_space_bytes(void)
{
	FILE *statm = fopen("/proc/self/statm", "r");
	long pages = 0;

	CHECK(statm && fscanf(statm, "%ld", &pages) == 1);
	fclose(statm);
	return pages * sysconf(_SC_PAGESIZE);
}

/* And the buffer of the one before is gone. */
static void a_new_connection_resynchronises(void)
{
	const long buffer_bytes = 16 << 20;
	long before = 0;

	fake_jvm.n_methods = 20;
	start_agent(",buffer=16m,label=team:red");
	for (uint32_t epoch = 1; epoch <= 5; epoch++) {
		connect_agent(buffer_bytes, epoch);
		if (epoch == 2)
			before = address_space_bytes();
		if (epoch < 5)
			peer_close(&peer);
	}
	CHECK(address_space_bytes() - before < 2 * buffer_bytes);
	end_jvm();
}

static void a_full_buffer_is_counted_and_repaired(void)
{
	struct wire_record record;
	struct wire_loss loss;
	uint64_t kept = 0, sent = 0;

	fake_jvm.n_methods = 100;
	start_agent(",buffer=16k,label=team:red");
	connect_agent(16 << 10, 1);
	/* Nothing is read until far more has come than socket and buffer hold. */
	for (; sent < 20000; sent++)
		fake_jvm_post_load(1);
	do {
		CHECK(peer_next(&peer, &record));
		kept += record.kind == WIRE_METHOD_LOAD;
	} while (record.kind != WIRE_LOSS);
	CHECK(wire_decode_loss(&record, &loss) == 0);
	CHECK(loss.count[WIRE_LOSS_BUFFER_FULL] > 0 && kept < sent);
	expect_resync(2);
	fake_jvm_post_load(2);
	expect_kind(WIRE_METHOD_LOAD);
	end_jvm();
}

/* Every load is either received or counted. */
static void losses_add_up(void)
{
	struct wire_record record;
	struct wire_loss loss = {0};
	uint64_t kept = 0;
	const uint64_t sent = 20000;

	start_agent(",buffer=16k,label=team:red");
	connect_agent(16 << 10, 1);
	for (uint64_t i = 0; i < sent; i++)
		fake_jvm_post_load(1);
	while (kept + loss.count[WIRE_LOSS_BUFFER_FULL] < sent) {
		CHECK(peer_next(&peer, &record));
		kept += record.kind == WIRE_METHOD_LOAD;
		if (record.kind == WIRE_LOSS)
			CHECK(wire_decode_loss(&record, &loss) == 0);
	}
	CHECK(kept + loss.count[WIRE_LOSS_BUFFER_FULL] == sent);
	CHECK(loss.count[WIRE_LOSS_BUFFER_FULL] > 0);
	end_jvm();
}

/* A stranger's greeting is refused, and the next dial tries again. */
static void strangers_are_refused(void)
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

/* What the collector says after the greeting is of no interest. */
static void chatter_is_ignored(void)
{
	static const char chatter[5000] = "blah";

	start_agent(",label=team:red");
	connect_agent(256 << 10, 1);
	CHECK(write(peer.fd, chatter, sizeof(chatter)) == sizeof(chatter));
	fake_jvm_post_load(4);
	expect_kind(WIRE_METHOD_LOAD);
	end_jvm();
}

/* Who does not read for 5 s is hung up on, in the middle of a resynchronisation. */
static void a_stalled_reader_is_dropped(void)
{
	struct wire_record record;
	struct wire_loss loss;

	fake_jvm.n_methods = 50000;
	start_agent(",buffer=16k,label=team:red");
	peer_accept(&peer, NULL, 0);
	peer_expect_greeting(&peer);
	while (fake_jvm.attaches == 0 || fake_jvm.attached > 0)
		sleep_ms(10);
	peer_close(&peer);
	peer_accept(&peer, NULL, 0);
	peer_expect_greeting(&peer);
	expect_hello(16 << 10);
	expect_resync(2);
	record = expect_kind(WIRE_LOSS);
	CHECK(wire_decode_loss(&record, &loss) == 0 && loss.count[WIRE_LOSS_DISCONNECT] > 0);
	end_jvm();
}

static void failing_names_are_counted_and_sent_empty(void)
{
	struct wire_method_load load;
	struct wire_record record;
	struct wire_loss loss;

	start_agent(",label=team:red");
	connect_agent(256 << 10, 1);
	fake_jvm.broken_names = true;
	fake_jvm_post_load(6);
	record = expect_kind(WIRE_METHOD_LOAD);
	CHECK(wire_decode_method_load(&record, &load) == 0);
	CHECK(load.addr == FAKE_CODE_BASE + 6 * 256 && load.method.len == 0);
	record = expect_kind(WIRE_LOSS);
	CHECK(wire_decode_loss(&record, &loss) == 0 && loss.count[WIRE_LOSS_JVMTI] == 1);
	end_jvm();
}

static void too_large_a_record_is_cut(void)
{
	struct wire_method_load load;
	struct wire_record record;
	struct wire_loss loss;

	start_agent(",buffer=16k,label=team:red");
	connect_agent(16 << 10, 1);
	fake_jvm.name_bytes = 60000;
	fake_jvm_post_load(0);
	record = expect_kind(WIRE_METHOD_LOAD);
	CHECK(wire_decode_method_load(&record, &load) == 0);
	CHECK(load.addr == FAKE_CODE_BASE && load.method.len == 1000);
	record = expect_kind(WIRE_LOSS);
	CHECK(wire_decode_loss(&record, &loss) == 0 && loss.count[WIRE_LOSS_TOO_LARGE] == 1);
	end_jvm();
}

static void source_files_are_optional(void)
{
	struct wire_method_load load;
	struct wire_record record;

	fake_jvm.no_source_files = true;
	start_agent(",label=team:red");
	connect_agent(256 << 10, 1);
	fake_jvm_post_load(1);
	record = expect_kind(WIRE_METHOD_LOAD);
	CHECK(wire_decode_method_load(&record, &load) == 0 && load.source_file.len == 0);
	end_jvm();
}

static void expect_end(uint32_t epoch, bool complete)
{
	struct wire_record record = expect_kind(WIRE_RESYNC_END);
	struct wire_resync resync;

	CHECK(wire_decode_resync(&record, &resync) == 0);
	CHECK(resync.epoch == epoch && resync.complete == complete);
}

/* A JVM that lets nobody attach, or fails to tell its code, is tried again. */
static void an_incomplete_resync_is_repeated(void)
{
	fake_jvm.n_methods = 10;
	fake_jvm.attach_fails = true;
	start_agent(",label=team:red");
	peer_accept(&peer, NULL, 0);
	peer_expect_greeting(&peer);
	expect_hello(256 << 10);
	expect_end(1, false);
	fake_jvm.generate_fails = true;
	fake_jvm.attach_fails = false;
	expect_end(2, false);
	fake_jvm.generate_fails = false;
	expect_resync(3);
	end_jvm();
}

static atomic_bool resync_seen;

static void *read_resync(void *arg)
{
	(void)arg;
	connect_agent(16 << 10, 1);
	atomic_store(&resync_seen, true);
	expect_kind(WIRE_BYE);
	return NULL;
}

/* The JVM's threads fill the buffer all the while; the repetition waits for room and is complete.
 */
static void a_resync_is_complete_in_a_crowd(void)
{
	pthread_t reader;

	fake_jvm.n_methods = 1000;
	fake_jvm.n_stubs = 1000;
	fake_jvm.stub_name_bytes = 15000;
	start_agent(",buffer=16k,label=team:red");
	CHECK(pthread_create(&reader, NULL, read_resync, NULL) == 0);
	while (!atomic_load(&resync_seen))
		fake_jvm_post_unload(1);
	fake_jvm_post_death();
	CHECK(pthread_join(reader, NULL) == 0);
	peer_close(&peer);
}

static void expect_idle(void)
{
	static const unsigned none[64];

	CHECK(memcmp(fake_jvm.enabled, none, sizeof(none)) == 0);
	CHECK(!fake_jvm.callbacks.VMInit && !fake_jvm.callbacks.CompiledMethodLoad);
	CHECK(count_agent_threads() == 0);
	CHECK(fake_jvm.allocations == 0);
}

static void off_does_nothing(void)
{
	CHECK(setenv("FGAGENT_OPTS", "off", 1) == 0);
	start_agent("");
	expect_idle();
	CHECK(!fake_jvm.capabilities.can_generate_compiled_method_load_events);
}

static void an_old_hotspot_is_left_alone(void)
{
	fake_jvm.vm_version = "25.381-b09";
	start_agent("");
	expect_idle();
	CHECK(fake_jvm.disposed);
}

static void a_jvm_without_the_events_is_left_alone(void)
{
	fake_jvm.no_method_events = true;
	start_agent("");
	expect_idle();
	CHECK(fake_jvm.disposed);
}

/* Without a collector the end is not waited for, and events cost nothing that could be lost. */
static void nobody_listens(void)
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
static void the_end_waits_for_nobody(void)
{
	uint64_t begin_ms;

	fake_jvm.n_methods = 50000;
	start_agent(",buffer=16k,label=team:red");
	peer_accept(&peer, NULL, 0);
	peer_expect_greeting(&peer);
	while (fake_jvm.attached == 0)
		sleep_ms(1);
	sleep_ms(100);
	begin_ms = now_ms();
	fake_jvm_post_death();
	CHECK(now_ms() - begin_ms < STALL_MS / 2);
	while (count_agent_threads() > 0)
		sleep_ms(5);
	CHECK(now_ms() - begin_ms < STALL_MS / 2);
	peer_close(&peer);
}

static void loaded_twice_runs_once(void)
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

#define SCENARIO(name)                                                                             \
	{                                                                                          \
#name, name                                                                        \
	}
static const struct {
	const char *name;
	void (*run)(void);
} scenarios[] = {
	SCENARIO(stream),
	SCENARIO(many_methods_pass_a_small_buffer),
	SCENARIO(a_new_connection_resynchronises),
	SCENARIO(a_full_buffer_is_counted_and_repaired),
	SCENARIO(losses_add_up),
	SCENARIO(strangers_are_refused),
	SCENARIO(chatter_is_ignored),
	SCENARIO(a_stalled_reader_is_dropped),
	SCENARIO(failing_names_are_counted_and_sent_empty),
	SCENARIO(too_large_a_record_is_cut),
	SCENARIO(source_files_are_optional),
	SCENARIO(an_incomplete_resync_is_repeated),
	SCENARIO(a_resync_is_complete_in_a_crowd),
	SCENARIO(off_does_nothing),
	SCENARIO(an_old_hotspot_is_left_alone),
	SCENARIO(a_jvm_without_the_events_is_left_alone),
	SCENARIO(nobody_listens),
	SCENARIO(the_end_waits_for_nobody),
	SCENARIO(loaded_twice_runs_once),
};

static void find_agent(const char *path)
{
	void *library;

#ifdef FAKE_AGENT_LINKED
	on_load = Agent_OnLoad;
#endif
	if (!path)
		return;
	library = dlopen(path, RTLD_LAZY);
	if (!library)
		peer_fail(__FILE__, __LINE__, dlerror());
	*(void **)&on_load = dlsym(library, "Agent_OnLoad");
}

int main(int argc, char **argv)
{
	CHECK(argc >= 2);
	find_agent(argv[2]);
	CHECK(on_load);
	CHECK(mkdtemp(directory));
	snprintf(socket_path, sizeof(socket_path), "%s/agent.sock", directory);
	CHECK(setenv("POD_NAME", "pod-7", 1) == 0);
	CHECK(unsetenv("FGAGENT_OPTS") == 0);
	peer_listen(&peer, socket_path);
	for (size_t i = 0; i < sizeof(scenarios) / sizeof(*scenarios); i++) {
		if (strcmp(argv[1], scenarios[i].name) != 0)
			continue;
		scenarios[i].run();
		peer_fini(&peer);
		unlink(socket_path);
		rmdir(directory);
		return 0;
	}
	peer_fail(__FILE__, __LINE__, "no such scenario");
}
