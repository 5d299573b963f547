// SPDX-License-Identifier: Apache-2.0
/* Inline tables: who is named, when, how often, and what a region says. */
#include "fake_steps.h"
#include "scenarios.h"

#include <jvmticmlr.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

/* Loads that are posted before the first is read: they come at the agent's ticks. */
#define BATCH 20

/* The next load, of that method, with the method told like that. */
static void expect_load(size_t method, enum wire_method_how how)
{
	const struct wire_record record = expect_kind(WIRE_METHOD_LOAD);

	check_load(&record, method);
	CHECK(peer.load->hows[0] == how);
}

static uint32_t count_named(void)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < peer.load->n_methods; i++)
		n += peer.load->hows[i] != WIRE_METHOD_KNOWN;
	return n;
}

void a_method_is_named_once(void)
{
	struct wire_method_load raw;
	struct wire_record record;

	start_agent(",label=team:red");
	connect_agent(256 << 10, 1);
	fake_jvm.n_inlined = 3;
	fake_jvm_post_load(5);
	expect_load(5, WIRE_METHOD_SELF);
	CHECK(count_named() == 4);
	fake_jvm_post_load(5);
	record = expect_kind(WIRE_METHOD_LOAD);
	check_load(&record, 5);
	CHECK(count_named() == 0);
	CHECK(wire_decode_method_load(&record, &raw) == 0);
	CHECK(raw.class_sig.len + raw.method.len + raw.method_sig.len + raw.source_file.len == 0);
	fake_jvm_post_load(7);
	expect_load(7, WIRE_METHOD_KNOWN);
	CHECK(count_named() == 2);
	end_jvm();
}

void a_new_connection_names_again(void)
{
	fake_jvm.n_methods = 20;
	fake_jvm.n_inlined = 2;
	start_agent(",label=team:red");
	for (uint32_t epoch = 1; epoch <= 3; epoch++) {
		connect_agent(256 << 10, epoch);
		fake_jvm_post_load(5);
		expect_load(5, WIRE_METHOD_KNOWN);
		fake_jvm_post_load(30);
		expect_load(30, WIRE_METHOD_SELF);
		if (epoch < 3)
			peer_close(&peer);
	}
	end_jvm();
}

/*
 * Reads all that was posted: a method that comes is the last one, and one that is lost is followed
 * by another one, because how often records are lost depends on when the agent's thread runs.
 */
static void read_all_from(size_t method)
{
	struct wire_record record;
	char sig[32];

	do {
		snprintf(sig, sizeof(sig), "Lfake/C%zu;", method);
		fake_jvm_post_load(method++);
		do {
			CHECK(peer_next(&peer, &record));
		} while (record.kind != WIRE_RESYNC_END &&
			 (record.kind != WIRE_METHOD_LOAD ||
			  strcmp(peer.load->methods[0]->class_sig, sig) != 0));
	} while (record.kind == WIRE_RESYNC_END);
}

/* What a lost record would have named is named when it comes again. */
void a_lost_record_names_nobody(void)
{
	/* More than a socket has room for, and posted before the agent takes the peer for stuck. */
	const size_t n = 6000;

	fake_jvm.n_inlined = 2;
	start_agent(",buffer=16k,label=team:red");
	connect_agent(16 << 10, 1);
	for (size_t i = 0; i < n; i++)
		fake_jvm_post_load(i);
	expect_kind(WIRE_LOSS);
	expect_kind(WIRE_RESYNC_END);
	read_all_from(2 * n);
	for (size_t i = n; i > n - 1000; i -= BATCH) {
		for (size_t j = 0; j < BATCH; j++)
			fake_jvm_post_load(i - j);
		for (size_t j = 0; j < BATCH; j++) {
			expect_kind(WIRE_METHOD_LOAD);
			check_method(peer.load->methods[0], i - j);
		}
	}
	end_jvm();
}

/* Twice: while all are repeated, and when some come again. */
void ids_change_hands(void)
{
	fake_jvm.n_methods = 50000; /* more than there are IDs */
	fake_jvm.n_inlined = 1;
	start_agent(",label=team:red");
	connect_agent(256 << 10, 1);
	for (size_t i = 0; i < 50000; i += 50 * BATCH) {
		for (size_t j = 0; j < BATCH; j++)
			fake_jvm_post_load(i + 50 * j);
		for (size_t j = 0; j < BATCH; j++) {
			const struct wire_record record = expect_kind(WIRE_METHOD_LOAD);

			check_load(&record, i + 50 * j);
		}
	}
	end_jvm();
}

static PCStackInfo entry(ptrdiff_t end, jint depth, jmethodID *methods, jint *bcis)
{
	return (PCStackInfo){
		.pc = (uint8_t *)(uintptr_t)fake_jvm_address(0) + end,
		.numstackframes = depth,
		.methods = methods,
		.bcis = bcis,
	};
}

#define ID(method) ((jmethodID)(uintptr_t)((method) + 1))

static void check_region(size_t i, uint32_t end, uint32_t depth, const size_t *methods,
			 const int32_t *bcis)
{
	const struct known_region *region = &peer.load->regions[i];

	CHECK(region->end == end && region->depth == depth);
	for (uint32_t j = 0; j < depth; j++) {
		check_method(peer.load->methods[region->frames[j].method], methods[j]);
		CHECK(region->frames[j].bci == bcis[j]);
	}
}

void regions_are_told_outermost_first(void)
{
	jmethodID deep[] = {ID(2), ID(1), ID(0)}, deep_too[] = {ID(2), ID(1), ID(0)};
	jmethodID other[] = {ID(4), ID(1), ID(0)}, root[] = {ID(0)}, none[] = {NULL, ID(0)};
	jint bcis[] = {22, 11, 5}, bcis_too[] = {22, 11, 5}, at_entry[] = {-1}, odd[] = {8};
	PCStackInfo entries[] = {
		entry(10, 1, root, at_entry),	  entry(20, 3, deep, bcis),
		entry(15, 1, root, odd), /* back again */
		entry(20, 1, root, odd), /* nothing */
		entry(30, 3, deep_too, bcis_too), entry(40, 3, other, bcis),
		entry(101, 1, root, odd), /* beyond the code */
		entry(-8, 1, root, odd),	  entry(50, 2, none, bcis),
		entry(60, 0, root, odd),
	};
	PCStackInfo more[] = {entry(70, 2, deep + 1, bcis + 1), entry(100, 1, root, odd)};
	jvmtiCompiledMethodLoadInlineRecord last = {
		.header = {JVMTI_CMLR_INLINE_INFO, JVMTI_CMLR_MAJOR_VERSION_1, 0, NULL},
		.numpcs = 2,
		.pcinfo = more,
	};
	jvmtiCompiledMethodLoadInlineRecord first = {
		.header = {JVMTI_CMLR_INLINE_INFO, JVMTI_CMLR_MAJOR_VERSION_1, 3, &last.header},
		.numpcs = sizeof(entries) / sizeof(*entries),
		.pcinfo = entries,
	};
	jvmtiCompiledMethodLoadInlineRecord future = {
		.header = {JVMTI_CMLR_INLINE_INFO, 2, 0, &first.header},
		.numpcs = 1,
		.pcinfo = more,
	};
	jvmtiCompiledMethodLoadDummyRecord dummy = {
		.header = {JVMTI_CMLR_DUMMY, JVMTI_CMLR_MAJOR_VERSION_1, 0, &future.header}};

	start_agent(",label=team:red");
	connect_agent(256 << 10, 1);
	fake_jvm_post_load_with(0, &dummy);
	expect_kind(WIRE_METHOD_LOAD);
	CHECK(peer.load->n_methods == 4 && peer.load->n_regions == 5);
	check_region(0, 10, 1, (size_t[]){0}, (int32_t[]){WIRE_BCI_UNKNOWN});
	check_region(1, 30, 3, (size_t[]){0, 1, 2}, (int32_t[]){5, 11, 22});
	check_region(2, 40, 3, (size_t[]){0, 1, 4}, (int32_t[]){5, 11, 22});
	check_region(3, 70, 2, (size_t[]){0, 1}, (int32_t[]){5, 11});
	check_region(4, 100, 1, (size_t[]){0}, (int32_t[]){8});
	/* A chain that is a ring ends too. */
	last.header.next = &dummy.header;
	fake_jvm_post_load_with(0, &dummy);
	expect_kind(WIRE_METHOD_LOAD);
	CHECK(peer.load->n_methods == 4 && peer.load->n_regions == 5);
	end_jvm();
}

void lines_can_be_switched_off(void)
{
	fake_jvm.n_inlined = 2;
	start_agent(",lines=off,label=team:red");
	CHECK(!fake_jvm.capabilities.can_get_line_numbers);
	CHECK(fake_jvm.capabilities.can_get_source_file_name);
	connect_agent(256 << 10, 1);
	fake_jvm_post_load(0);
	expect_load(0, WIRE_METHOD_SELF);
	CHECK(peer.load->methods[0]->n_lines == 0);
	end_jvm();
}

void lines_are_optional(void)
{
	fake_jvm.no_lines = true;
	start_agent(",label=team:red");
	CHECK(fake_jvm.capabilities.can_get_source_file_name);
	connect_agent(256 << 10, 1);
	fake_jvm_post_load(0);
	expect_load(0, WIRE_METHOD_SELF);
	CHECK(peer.load->methods[0]->n_lines == 0);
	end_jvm();
}

/* The method goes out with all its names, and those it would have named are named later. */
void too_large_a_table_is_left_out(void)
{
	struct wire_method_load load;
	struct wire_record record;
	struct wire_loss loss;

	start_agent(",buffer=16k,label=team:red");
	connect_agent(16 << 10, 1);
	fake_jvm_post_load(0);
	expect_load(0, WIRE_METHOD_SELF);
	fake_jvm.n_inlined = FAKE_CODE_BYTES;
	fake_jvm_post_load(0);
	record = expect_kind(WIRE_METHOD_LOAD);
	CHECK(!peer.load->has_table);
	CHECK(wire_decode_method_load(&record, &load) == 0);
	CHECK(is_text(load.class_sig, "Lfake/C0;") && is_text(load.method, "m0"));
	CHECK(is_text(load.method_sig, "()V") && is_text(load.source_file, "C0.java"));
	record = expect_kind(WIRE_LOSS);
	CHECK(wire_decode_loss(&record, &loss) == 0 && loss.count[WIRE_LOSS_TOO_LARGE] == 1);
	fake_jvm.n_inlined = 2;
	fake_jvm_post_load(0);
	expect_load(0, WIRE_METHOD_KNOWN);
	CHECK(count_named() == 2);
	end_jvm();
}

static atomic_bool enough;

/*
 * All that comes must have been named; who it is, the address says. The JVM's end waits for nobody,
 * so a reader that is behind then is cut off, and need not see BYE.
 */
static void *read_crowd(void *arg)
{
	struct wire_record record = {0};
	uint64_t n = 0;

	(void)arg;
	connect_agent(16 << 10, 1);
	while (record.kind != WIRE_BYE && peer_next(&peer, &record)) {
		if (record.kind == WIRE_METHOD_LOAD) {
			check_load(&record, (peer.load->load.addr - FAKE_CODE_BASE) / 256);
			n++;
		}
		if (n == 30000)
			atomic_store(&enough, true);
	}
	CHECK(n >= 30000);
	return NULL;
}

static void *post_crowd(void *arg)
{
	for (size_t i = (uintptr_t)arg; !atomic_load(&enough); i = (i + 7) % 3000)
		fake_jvm_post_load(i);
	return NULL;
}

/* Several threads and the repetition tell of the same methods, and records are lost. */
void ids_are_named_before_use_in_a_crowd(void)
{
	pthread_t reader, threads[3];

	fake_jvm.n_methods = 3000;
	fake_jvm.n_inlined = 5;
	start_agent(",buffer=16k,label=team:red");
	CHECK(pthread_create(&reader, NULL, read_crowd, NULL) == 0);
	for (uintptr_t i = 0; i < 3; i++)
		CHECK(pthread_create(&threads[i], NULL, post_crowd, (void *)i) == 0);
	for (int i = 0; i < 3; i++)
		CHECK(pthread_join(threads[i], NULL) == 0);
	fake_jvm_post_death();
	CHECK(pthread_join(reader, NULL) == 0);
	peer_close(&peer);
	CHECK(fake_jvm.local_refs == 0 && fake_jvm.allocations == 0);
}
