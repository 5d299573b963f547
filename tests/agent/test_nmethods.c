// SPDX-License-Identifier: Apache-2.0
/*
 * A code heap of our own making, described by tables as libjvm's: 64 segments of a page, of
 * which the upper half is not committed and cannot be touched.
 */
#include "agent/hotspot/nmethods.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>
#include <sys/mman.h>
#include <cmocka.h>

#define SEGMENT_BYTES 4096u
#define SEGMENTS      64u
#define COMMITTED     32u

struct space {
	char *low, *high;
};

struct heap {
	struct space memory, segmap;
	int32_t log2_segment;
};

struct array {
	int32_t len;
	struct heap **data;
};

struct block {
	uint64_t length;
	uint8_t used;
};

struct nmethod {
	char *code_begin;
	int32_t code_offset;
	int32_t entry_bci;
	int32_t frame_size;
	int32_t complete;
	char *entry;
	uint16_t entry_offset;
	int8_t level;
};

struct field {
	const char *type, *name, *declared;
	int32_t is_static;
	uint64_t offset;
	void *address;
};

struct type {
	const char *name;
	uint64_t size;
};

static struct heap heap, *heap_list[2] = {NULL, &heap};
static struct array array = {2, heap_list}, *heaps;
static struct heap *one_heap;

#define STATIC(type, name, variable)                                                               \
	{                                                                                          \
		type, name, "void*", 1, 0, &(variable)                                             \
	}
#define FIELD(type, name, where) DECLARED(type, name, where, "int")
#define DECLARED(type, name, where, declared)                                                      \
	{                                                                                          \
		type, name, declared, 0, where, NULL                                               \
	}
#define COMMON                                                                                     \
	FIELD("GrowableArrayBase", "_len", offsetof(struct array, len)),                           \
		FIELD("GrowableArray<int>", "_data", offsetof(struct array, data)),                \
		FIELD("CodeHeap", "_memory", offsetof(struct heap, memory)),                       \
		FIELD("CodeHeap", "_segmap", offsetof(struct heap, segmap)),                       \
		FIELD("CodeHeap", "_log2_segment_size", offsetof(struct heap, log2_segment)),      \
		FIELD("VirtualSpace", "_low", offsetof(struct space, low)),                        \
		FIELD("VirtualSpace", "_high", offsetof(struct space, high)),                      \
		FIELD("HeapBlock::Header", "_used", offsetof(struct block, used)),                 \
		FIELD("nmethod", "_entry_bci", offsetof(struct nmethod, entry_bci)),               \
		FIELD("nmethod", "_comp_level", offsetof(struct nmethod, level))

static struct field with_pointer[] = {
	STATIC("CodeCache", "_heaps", heaps),
	FIELD("CodeBlob", "_code_begin", offsetof(struct nmethod, code_begin)),
	FIELD("CodeBlob", "_frame_size", offsetof(struct nmethod, frame_size)),
	FIELD("CodeBlob", "_frame_complete_offset", offsetof(struct nmethod, complete)),
	FIELD("nmethod", "_verified_entry_point", offsetof(struct nmethod, entry)),
	COMMON,
	{0}};
static struct field with_offset[] = {
	STATIC("CodeCache", "_heap", one_heap),
	FIELD("CodeBlob", "_code_offset", offsetof(struct nmethod, code_offset)),
	FIELD("CodeBlob", "_frame_size", offsetof(struct nmethod, frame_size)),
	DECLARED("CodeBlob", "_frame_complete_offset", offsetof(struct nmethod, complete),
		 "int16_t"),
	FIELD("nmethod", "_verified_entry_offset", offsetof(struct nmethod, entry_offset)),
	COMMON,
	{0}};
static struct field without_width[] = {
	STATIC("CodeCache", "_heap", one_heap),
	FIELD("CodeBlob", "_code_offset", offsetof(struct nmethod, code_offset)),
	FIELD("CodeBlob", "_frame_size", offsetof(struct nmethod, frame_size)),
	DECLARED("CodeBlob", "_frame_complete_offset", offsetof(struct nmethod, complete), NULL),
	COMMON,
	{0}};
static struct field without_frame[] = {
	STATIC("CodeCache", "_heap", one_heap),
	FIELD("CodeBlob", "_code_offset", offsetof(struct nmethod, code_offset)),
	FIELD("nmethod", "_verified_entry_offset", offsetof(struct nmethod, entry_offset)),
	COMMON,
	{0}};
static struct type types[] = {
	{"HeapBlock", sizeof(struct block)}, {"nmethod", sizeof(struct nmethod)}, {0}};

static struct nmethods init(const struct field *fields)
{
	struct vmstructs vm = {
		.fields = {.entries = (const char *)fields, .stride = sizeof(*fields)},
		.field_at = {offsetof(struct field, type), offsetof(struct field, name),
			     offsetof(struct field, declared), offsetof(struct field, is_static),
			     offsetof(struct field, offset), offsetof(struct field, address), true},
		.types = {.entries = (const char *)types, .stride = sizeof(*types)},
		.type_at = {offsetof(struct type, name), offsetof(struct type, size)},
	};
	struct nmethods nmethods;

	assert_true(module_find(with_pointer, &vm.module));
	nmethods_init(&nmethods, &vm);
	return nmethods;
}

static char *memory_at(size_t segment)
{
	return heap.memory.low + segment * SEGMENT_BYTES;
}

/* A used block from there on with an nmethod whose code begins that far behind; its code. */
static char *put(size_t segment, size_t segments, size_t code, int level, int entry_bci)
{
	struct block *block = (struct block *)memory_at(segment);
	struct nmethod *nmethod = (struct nmethod *)(block + 1);

	block->used = 1;
	nmethod->code_begin = (char *)nmethod + code;
	nmethod->code_offset = (int32_t)code;
	nmethod->level = (int8_t)level;
	nmethod->entry_bci = entry_bci;
	nmethod->frame_size = 0;
	for (size_t i = 0; i < segments; i++)
		heap.segmap.low[segment + i] = (char)i;
	return nmethod->code_begin;
}

static int set_up(void **state)
{
	char *memory =
		mmap(NULL, SEGMENTS * SEGMENT_BYTES, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	char *segmap = mmap(NULL, 2 * 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	mprotect(memory, COMMITTED * SEGMENT_BYTES, PROT_READ | PROT_WRITE);
	mprotect(segmap, 4096, PROT_READ | PROT_WRITE);
	heap.memory = (struct space){memory, memory + COMMITTED * SEGMENT_BYTES};
	/* The map's last byte is the last that may be read. */
	heap.segmap = (struct space){segmap + 4096 - COMMITTED, segmap + 4096};
	memset(heap.segmap.low, 0xff, COMMITTED);
	heap.log2_segment = 12;
	heaps = &array;
	one_heap = &heap;
	return 0;
}

static int tear_down(void **state)
{
	munmap(heap.memory.low, SEGMENTS * SEGMENT_BYTES);
	munmap(heap.segmap.high - 4096, 2 * 4096);
	return 0;
}

static void check_found(const struct nmethods *n, const char *code, int level, bool is_osr)
{
	struct nmethods_facts facts;

	assert_true(nmethods_find(n, code, &facts));
	assert_int_equal(facts.level, level);
	assert_int_equal(facts.is_osr, is_osr);
}

static void check_absent(const struct nmethods *n, const char *code)
{
	struct nmethods_facts facts;

	assert_false(nmethods_find(n, code, &facts));
}

static void level_and_osr_are_read_in_each_layout(void **state)
{
	const struct nmethods pointer = init(with_pointer), offset = init(with_offset);
	char *near = put(0, 3, 200, 4, -1), *far = put(3, 6, 4 * SEGMENT_BYTES, 3, 17);
	char *last = put(COMMITTED - 1, 1, 100, 0, -1);

	check_found(&pointer, near, 4, false);
	check_found(&pointer, far, 3, true);
	check_found(&pointer, last, 0, false);
	check_found(&offset, near, 4, false);
	check_found(&offset, far, 3, true);
	check_found(&offset, last, 0, false);
}

static void what_does_not_fit_is_absent(void **state)
{
	const struct nmethods n = init(with_pointer);
	char *code = put(4, 2, 200, 2, -1);

	check_absent(&n, code + 1);
	check_absent(&n, memory_at(1));		/* free */
	check_absent(&n, heap.memory.low - 1);	/* no heap's */
	check_absent(&n, memory_at(COMMITTED)); /* not committed */
	check_absent(&n, NULL);
	put(6, 2, 200, 5, -1);
	check_absent(&n, memory_at(6) + sizeof(struct block) + 200); /* no such level */
	((struct block *)memory_at(4))->used = 0;
	check_absent(&n, code);
}

static void a_broken_map_leads_nowhere(void **state)
{
	const struct nmethods n = init(with_pointer);
	char *code = put(4, 2, SEGMENT_BYTES, 2, -1);

	check_found(&n, code, 2, false);
	heap.segmap.low[5] = 6; /* before the heap */
	check_absent(&n, code);
	heap.segmap.low[5] = 2; /* to what is free */
	check_absent(&n, code);
	heap.segmap.low[5] = 1;
	heap.segmap.high = heap.segmap.low + 5; /* beyond the map */
	check_absent(&n, code);
	heap.segmap.high = heap.segmap.low + COMMITTED;
	/* A header at the very end, with no room for what follows. */
	heap.memory.high = memory_at(4) + sizeof(struct block) + sizeof(struct nmethod) - 1;
	code = put(4, 2, 4, 2, -1);
	check_absent(&n, code);
	heap.memory.high++;
	check_found(&n, code, 2, false);
}

static void heaps_may_come_later_or_not_at_all(void **state)
{
	const struct nmethods n = init(with_pointer), none = {0};
	const struct field nothing[] = {{0}};
	struct nmethods bare = init(nothing);
	char *code = put(4, 2, 200, 2, -1);

	heaps = NULL;
	check_absent(&n, code);
	heaps = &array;
	check_found(&n, code, 2, false);
	heap.log2_segment = 0;
	check_absent(&n, code);
	heap.log2_segment = 64;
	check_absent(&n, code);
	check_absent(&none, code);
	assert_false(bare.on);
}

/* Of the nmethod that put made. */
static struct nmethod *set_frame(size_t segment, int32_t words, int32_t complete, size_t entry)
{
	struct nmethod *nmethod = (struct nmethod *)(memory_at(segment) + sizeof(struct block));

	nmethod->frame_size = words;
	nmethod->complete = complete;
	nmethod->entry = nmethod->code_begin + entry;
	nmethod->entry_offset = (uint16_t)entry;
	return nmethod;
}

static void check_frame(const struct nmethods *n, const char *code, struct wire_frame expected)
{
	struct nmethods_facts facts;

	assert_true(nmethods_find(n, code, &facts));
	assert_int_equal(facts.frame.size, expected.size);
	assert_int_equal(facts.frame.complete, expected.complete);
	assert_int_equal(facts.frame.entry, expected.entry);
}

static void frames_are_read_in_each_layout(void **state)
{
	const struct nmethods pointer = init(with_pointer), offset = init(with_offset);
	const struct nmethods no_width = init(without_width), none = init(without_frame);
	char *code = put(4, 2, 200, 4, -1);

	set_frame(4, 6, 300, 32);
	check_frame(&pointer, code, (struct wire_frame){48, 300, 32});
	check_frame(&offset, code, (struct wire_frame){48, 300, 32});
	check_frame(&no_width, code, (struct wire_frame){48, 300, 0});
	check_frame(&none, code, (struct wire_frame){0});
}

/* What lies behind 16 bits belongs to another field, unless they are declared as an int's. */
static void completion_has_the_width_that_is_declared(void **state)
{
	const struct nmethods pointer = init(with_pointer), offset = init(with_offset);
	const struct nmethods no_width = init(without_width);
	char *code = put(4, 2, 200, 4, -1);

	set_frame(4, 6, 0x10020, 0);
	check_frame(&pointer, code, (struct wire_frame){48, 0x10020, 0});
	check_frame(&offset, code, (struct wire_frame){48, 0x20, 0});
	check_frame(&no_width, code, (struct wire_frame){48, 0x20, 0});
}

static void frames_that_cannot_be_are_not_told(void **state)
{
	const struct nmethods n = init(with_pointer), offset = init(with_offset);
	char *code = put(4, 2, 200, 4, -1);

	set_frame(4, -1, 20, 4);
	check_frame(&n, code, (struct wire_frame){0});
	set_frame(4, 1 << 30, 20, 4);
	check_frame(&n, code, (struct wire_frame){0});
	set_frame(4, 2, -1, 4); /* never safe to walk */
	check_frame(&n, code, (struct wire_frame){16, 0, 4});
	check_frame(&offset, code, (struct wire_frame){16, 0, 4});
	set_frame(4, 2, 20, 4)->entry = code - 1;
	check_frame(&n, code, (struct wire_frame){16, 20, 0});
	set_frame(4, 2, 20, 4)->entry = NULL;
	check_frame(&n, code, (struct wire_frame){16, 20, 0});
}

static void check_stub(const struct nmethods *n, const char *code, bool found,
		       struct wire_frame expected)
{
	struct wire_frame frame = {1, 2, 3};

	assert_int_equal(nmethods_find_stub(n, code, &frame), found);
	if (!found)
		expected = (struct wire_frame){1, 2, 3};
	assert_int_equal(frame.size, expected.size);
	assert_int_equal(frame.complete, expected.complete);
	assert_int_equal(frame.entry, expected.entry);
}

static void a_stub_with_a_blob_to_itself_has_its_frame(void **state)
{
	const struct nmethods n = init(with_pointer), none = {0};
	char *code = put(4, 2, 200, 4, -1);

	set_frame(4, 356, 105, 77); /* the entry is no field of such a blob */
	check_stub(&n, code, true, (struct wire_frame){2848, 105, 0});
	check_stub(&n, code + 64, false, (struct wire_frame){0}); /* one among others */
	check_stub(&none, code, false, (struct wire_frame){0});
	set_frame(4, 0, 105, 0);
	check_stub(&n, code, false, (struct wire_frame){0});
	set_frame(4, 2, 105, 0);
	((struct block *)memory_at(4))->used = 0;
	check_stub(&n, code, false, (struct wire_frame){0});
}

/* A blob may be smaller than an nmethod, and the last of what is committed. */
static void a_small_blob_at_the_end_is_read(void **state)
{
	const struct nmethods n = init(with_pointer);
	const size_t end = offsetof(struct nmethod, complete) + sizeof(int32_t);
	char *code = put(COMMITTED - 1, 1, 40, 4, -1);

	set_frame(COMMITTED - 1, 2, 4, 0);
	heap.memory.high = memory_at(COMMITTED - 1) + sizeof(struct block) + end;
	code = ((struct nmethod *)(memory_at(COMMITTED - 1) + sizeof(struct block)))->code_begin =
		heap.memory.high - 1;
	check_stub(&n, code, true, (struct wire_frame){16, 4, 0});
	check_absent(&n, code);
	heap.memory.high--;
	check_stub(&n, heap.memory.high - 1, false, (struct wire_frame){0});
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(level_and_osr_are_read_in_each_layout, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(what_does_not_fit_is_absent, set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_broken_map_leads_nowhere, set_up, tear_down),
		cmocka_unit_test_setup_teardown(heaps_may_come_later_or_not_at_all, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(frames_are_read_in_each_layout, set_up, tear_down),
		cmocka_unit_test_setup_teardown(completion_has_the_width_that_is_declared, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(frames_that_cannot_be_are_not_told, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(a_stub_with_a_blob_to_itself_has_its_frame, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(a_small_blob_at_the_end_is_read, set_up, tear_down),
	};

	return cmocka_run_group_tests_name("agent nmethods", tests, NULL, NULL);
}
