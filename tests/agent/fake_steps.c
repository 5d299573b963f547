// SPDX-License-Identifier: Apache-2.0
/*
 * The steps of scenarios. Every agent here carries the label team:red and runs with POD_NAME=pod-7,
 * which its hello must show.
 */
#include "fake_steps.h"

#include <dirent.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

char socket_path[96];
jint (*on_load)(JavaVM *, char *, void *);
const char *agent_path;
struct peer peer;

void load_agent(const char *extra)
{
	char options[512];

	snprintf(options, sizeof(options), "socket=%s%s", socket_path, extra);
	CHECK(on_load(fake_jvm_start(), options, NULL) == 0);
}

void start_agent(const char *extra)
{
	load_agent(extra);
	fake_jvm_post_init();
}

/* Threads of the agent's: sanitizers have their own. */
int count_agent_threads(void)
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

bool find_mapping(const char *text, char line[512])
{
	FILE *maps = fopen("/proc/self/maps", "r");
	bool found = false;

	CHECK(maps);
	while (!found && fgets(line, 512, maps))
		found = strstr(line, text) != NULL;
	fclose(maps);
	return found;
}

void hide_listener(void)
{
	const size_t page = (size_t)sysconf(_SC_PAGESIZE);
	uintptr_t addr;
	char line[512];

	while (!find_mapping("/memfd:" WIRE_LISTEN_REGION, line))
		sleep_ms(1);
	addr = strtoul(line, NULL, 16);
	CHECK(mmap((void *)addr, page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) ==
	      (void *)addr);
}

void sleep_ms(long ms)
{
	nanosleep(&(struct timespec){.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000}, NULL);
}

uint64_t now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

bool is_text(struct wire_str s, const char *text)
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

static bool has_value(const struct wire_hello *hello, const char *key, int64_t number)
{
	struct wire_value value;

	for (size_t pos = 0; wire_hello_next_value(hello, &pos, &value);) {
		if (is_text(value.key, key) && value.value == number)
			return true;
	}
	return false;
}

void expect_hello(uint32_t buffer_bytes)
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
	CHECK(has_value(&hello, "probes.alloc", fake_jvm.jdk == 0));
	CHECK(has_value(&hello, "probes.lock", !fake_jvm.no_monitor_events));
}

static void check_text(const char *text, const char *format, size_t number)
{
	char expected[32];

	snprintf(expected, sizeof(expected), format, number);
	CHECK(strcmp(text, expected) == 0);
}

/* Names are as in fake_jvm.c. */
void check_method(const struct known_method *known, size_t method)
{
	const bool has_lines =
		fake_jvm.capabilities.can_get_line_numbers && method % 10 != 9 && method % 7 != 3;

	check_text(known->class_sig, "Lfake/C%zu;", method);
	check_text(known->name, "m%zu", method);
	check_text(known->sig, "()V", method);
	check_text(known->source_file, method % 7 == 3 ? "" : "C%zu.java", method);
	CHECK(known->n_lines == (has_lines ? 3 : 0));
	CHECK(!has_lines || (known->first.bci == 0 && known->first.line == 100));
	CHECK(!has_lines || (known->last.bci == 9 && known->last.line == 90));
}

/* Whether each of the load's regions is a byte of the method inlined there. */
static void check_inlined(const struct known_load *load, size_t method)
{
	CHECK(load->n_regions == fake_jvm.n_inlined);
	CHECK(load->n_methods == fake_jvm.n_inlined + 1);
	for (uint32_t i = 0; i < load->n_regions; i++) {
		const struct known_region *region = &load->regions[i];

		CHECK(region->end == i + 1 && region->depth == 2);
		CHECK(region->frames[0].method == 0 && region->frames[0].bci == 7);
		CHECK(region->frames[1].bci == (int32_t)i);
		check_method(load->methods[region->frames[1].method], method + 1 + i);
	}
}

void check_load(const struct wire_record *record, size_t method)
{
	const struct wire_method_load *load = &peer.load->load;

	CHECK(record->kind == WIRE_METHOD_LOAD);
	CHECK(load->addr == FAKE_CODE_BASE + method * 256 && load->size == FAKE_CODE_BYTES);
	CHECK(load->level == WIRE_LEVEL_UNKNOWN);
	CHECK(load->code_kind == (method % 10 == 9 ? WIRE_CODE_NATIVE_WRAPPER : WIRE_CODE_JAVA));
	CHECK(peer.load->has_table);
	check_method(peer.load->methods[0], method);
	check_inlined(peer.load, method);
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

/* Which of the fake JVM's code a resynchronisation has told. */
struct told {
	uint8_t *methods, *stubs;
	size_t n_methods, n_stubs;
};

static void note_told(uint8_t *flags, size_t *n, size_t index)
{
	*n += flags[index] == 0;
	flags[index] = 1;
}

static void take_told(struct told *told, const struct wire_record *record)
{
	struct wire_stub stub;
	size_t index;

	if (!(record->flags & WIRE_FLAG_RESYNC))
		return;
	if (record->kind == WIRE_METHOD_LOAD) {
		index = (peer.load->load.addr - FAKE_CODE_BASE) / 256;
		CHECK(index < fake_jvm.n_methods);
		check_load(record, index);
		note_told(told->methods, &told->n_methods, index);
	} else if (record->kind == WIRE_STUB) {
		CHECK(wire_decode_stub(record, &stub) == 0);
		index = (stub.addr - FAKE_CODE_BASE / 2) / 64;
		CHECK(index < fake_jvm.n_stubs);
		note_told(told->stubs, &told->n_stubs, index);
	}
}

/*
 * All stubs and all methods, some of them twice, then a complete end; ordinary records may come
 * between.
 */
static void expect_rest_of_resync(uint32_t epoch)
{
	struct told told = {.methods = calloc(fake_jvm.n_methods + 1, 1),
			    .stubs = calloc(fake_jvm.n_stubs + 1, 1)};
	struct wire_record record;
	struct wire_resync resync;

	for (;;) {
		CHECK(peer_next(&peer, &record));
		if (record.kind == WIRE_RESYNC_END)
			break;
		take_told(&told, &record);
	}
	CHECK(wire_decode_resync(&record, &resync) == 0);
	CHECK(resync.epoch == epoch && resync.complete);
	CHECK(told.n_methods == fake_jvm.n_methods && told.n_stubs == fake_jvm.n_stubs);
	free(told.methods);
	free(told.stubs);
}

void expect_resync(uint32_t epoch)
{
	expect_begin(epoch);
	expect_rest_of_resync(epoch);
}

/* Skips to the next record of the kind. */
struct wire_record expect_kind(enum wire_kind kind)
{
	struct wire_record record;

	do {
		CHECK(peer_next(&peer, &record));
	} while (record.kind != kind);
	return record;
}

void connect_agent(uint32_t buffer_bytes, uint32_t epoch)
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
void end_jvm(void)
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
