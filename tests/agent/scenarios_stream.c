// SPDX-License-Identifier: Apache-2.0
/* A collector that listens: what it hears, what is lost, what is repeated. */
#include "fake_steps.h"
#include "scenarios.h"

#include <pthread.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

void stream(void)
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

static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

/* Two a tick at most: what ended a pause, and what came until the tick. */
void a_busy_jvm_speaks_at_ticks(void)
{
	struct wire_record record;
	uint64_t begin_ns, before;

	fake_jvm.n_methods = 300;
	start_agent(",label=team:red");
	connect_agent(256 << 10, 1);
	before = peer.next_seq;
	begin_ns = now_ns();
	for (size_t i = 0; i < fake_jvm.n_methods; i++) {
		fake_jvm_post_load(i);
		usleep(1000);
	}
	for (size_t i = 0; i < fake_jvm.n_methods; i++) {
		CHECK(peer_next(&peer, &record) && record.flags == 0);
		check_load(&record, i);
	}
	CHECK(peer.next_seq - before <= 2 * ((now_ns() - begin_ns) / WIRE_TICK_NS + 2));
	end_jvm();
}

static void read_loads(size_t begin, size_t end)
{
	struct wire_record record;

	for (size_t i = begin; i < end; i++) {
		CHECK(peer_next(&peer, &record) && record.flags == 0);
		check_load(&record, i);
	}
}

/*
 * Tells of a third of a buffer, so many times; true if the first of them came quickly. Two thirds
 * fit in, because the agent may not have let go of what was read a moment ago.
 */
static bool is_quicker_than_ticks(uint64_t times)
{
	uint64_t waited_ns = 0;

	for (uint64_t n = 0; n < times; n++) {
		const uint64_t begin_ns = now_ns();

		for (size_t i = 0; i < fake_jvm.n_methods; i++)
			fake_jvm_post_load(i);
		read_loads(0, fake_jvm.n_methods / 3);
		waited_ns += now_ns() - begin_ns;
		read_loads(fake_jvm.n_methods / 3, fake_jvm.n_methods); /* until a tick */
	}
	return waited_ns < times * WIRE_TICK_NS / 2;
}

/* Who waited for the tick would never be that quick; who does not may be held up now and then. */
void a_flood_does_not_wait_for_a_tick(void)
{
	int tries = 0;

	fake_jvm.n_methods = 190;
	start_agent(",buffer=32k,label=team:red");
	connect_agent(32 << 10, 1);
	while (!is_quicker_than_ticks(20))
		CHECK(++tries < 20);
	end_jvm();
}

void many_methods_pass_a_small_buffer(void)
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
void a_new_connection_resynchronises(void)
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

void a_full_buffer_is_counted_and_repaired(void)
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
void losses_add_up(void)
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

void failing_names_are_counted_and_sent_empty(void)
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

void too_large_a_record_is_cut(void)
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

void source_files_are_optional(void)
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
void an_incomplete_resync_is_repeated(void)
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
void a_resync_is_complete_in_a_crowd(void)
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
