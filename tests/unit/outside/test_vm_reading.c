// SPDX-License-Identifier: Apache-2.0
#include "fake_vm.h"

#include "outside/code_heaps.h"
#include "outside/code_telling.h"
#include "outside/guest_names.h"
#include "outside/stub_list.h"
#include "outside/vm_reading.h"
#include "shared/wire.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define INVOCATION (-1)

/* A JVM, its reading, and what the last step has told, as text. */
struct fixture {
	struct fake_vm vm;
	struct vm_reading *reading;
	struct vm_reading_told told;
	char text[1 << 16];
	char known[1024][128]; /* methods by their IDs */
	size_t named;	       /* methods that were told of by their names */
	bool says_inlines;
	uint64_t now_ns;
};

static struct fixture *new_fixture_of(bool has_pointers, bool is_beside)
{
	struct fixture *const fixture = calloc(1, sizeof(*fixture));

	assert_non_null(fixture);
	fixture->vm.has_pointers = has_pointers;
	fake_vm_init(&fixture->vm);
	assert_int_equal(vm_reading_new(&fixture->vm.libjvm, is_beside, &fixture->reading), 0);
	fixture->now_ns = 1000;
	return fixture;
}

static struct fixture *new_fixture(bool has_pointers)
{
	return new_fixture_of(has_pointers, false);
}

static void free_fixture(struct fixture *fixture)
{
	vm_reading_free(fixture->reading);
	fake_vm_fini(&fixture->vm);
	free(fixture);
}

static void say(struct fixture *fixture, const char *format, ...)
{
	const size_t len = strlen(fixture->text);
	va_list args;

	va_start(args, format);
	vsnprintf(fixture->text + len, sizeof(fixture->text) - len, format, args);
	va_end(args);
}

static void name_of(struct fixture *fixture, const struct wire_method *method, char ret[128])
{
	struct wire_line line = {0};
	size_t pos = 0, len;

	assert_true(method->id < 1024);
	if (method->how == WIRE_METHOD_KNOWN) {
		assert_true(fixture->known[method->id][0]);
		memcpy(ret, fixture->known[method->id], 128);
		return;
	}
	assert_int_equal(method->how, WIRE_METHOD_NAMED);
	fixture->named++;
	snprintf(ret, 128, "%.*s.%.*s%.*s", method->class_sig.len, method->class_sig.data,
		 method->name.len, method->name.data, method->sig.len, method->sig.data);
	if (fixture->says_inlines)
		strcat(ret, " (");
	for (size_t i = 0; fixture->says_inlines && wire_method_next_line(method, &pos, &line);
	     i++) {
		len = strlen(ret);
		snprintf(ret + len, 128 - len, "%s%u:%u", i ? " " : "", line.bci, line.line);
	}
	if (fixture->says_inlines)
		strcat(ret, ")");
	memcpy(fixture->known[method->id], ret, 128);
}

/* Says the compiled method, and if wanted each region with its new frames. */
static void say_inlines(struct fixture *fixture, const uint8_t *data, uint32_t len)
{
	static char names[1024][128];
	struct wire_inline table;
	struct wire_method method;
	struct wire_region region;
	struct wire_inline_frame frame;
	uint32_t n = 0, end = 0;

	assert_int_equal(wire_inline_init(&table, data, len), 0);
	while (wire_inline_next_method(&table, &method) == 1)
		name_of(fixture, &method, names[n++]);
	say(fixture, "%s\n", names[0]);
	while (wire_inline_next_region(&table, &region) == 1) {
		end += region.size;
		if (fixture->says_inlines)
			say(fixture, "  to %u, of %u:", end, region.depth);
		for (uint32_t i = region.shared; i < region.depth; i++) {
			assert_int_equal(wire_inline_next_frame(&table, &frame), 1);
			assert_true(frame.method < n);
			if (fixture->says_inlines)
				say(fixture, " %s@%d", names[frame.method], frame.bci);
		}
		if (fixture->says_inlines)
			say(fixture, "\n");
	}
}

static void say_load(struct fixture *fixture, const struct wire_record *record)
{
	struct wire_method_load load;
	const uint8_t *data;
	size_t pos = 0;
	uint16_t tag;
	uint32_t len;
	bool has_inlines = false;

	assert_int_equal(wire_decode_method_load(record, &load), 0);
	assert_int_equal(load.class_sig.len + load.method_sig.len, 0);
	say(fixture, "load%s %llx+%u kind %d level %d frame %u/%u/%u at %llu: ",
	    record->flags & WIRE_FLAG_RESYNC ? " again" : "",
	    (unsigned long long)(load.addr - FAKE_BASE), load.size, load.code_kind, load.level,
	    load.frame.size, load.frame.complete, load.frame.entry,
	    (unsigned long long)load.time_ns);
	if (load.method.len > 0)
		say(fixture, ".%.*s, ", load.method.len, load.method.data);
	while (wire_section_next(load.sections, load.sections_len, &pos, &tag, &data, &len) > 0) {
		if (tag != WIRE_SECTION_INLINE)
			continue;
		has_inlines = true;
		say_inlines(fixture, data, len);
	}
	if (!has_inlines)
		say(fixture, ".\n");
}

static void say_record(struct fixture *fixture, const struct wire_record *record)
{
	struct wire_stub stub;
	struct wire_method_unload unload;

	switch (record->kind) {
	case WIRE_METHOD_LOAD:
		say_load(fixture, record);
		break;
	case WIRE_STUB:
		assert_int_equal(wire_decode_stub(record, &stub), 0);
		say(fixture, "stub %llx+%u frame %u: %.*s\n",
		    (unsigned long long)(stub.addr - FAKE_BASE), stub.size, stub.frame.size,
		    stub.name.len, stub.name.data);
		break;
	case WIRE_METHOD_UNLOAD:
		assert_int_equal(wire_decode_method_unload(record, &unload), 0);
		say(fixture, "gone %llx at %llu\n", (unsigned long long)(unload.addr - FAKE_BASE),
		    (unsigned long long)unload.time_ns);
		break;
	case WIRE_HELLO:
		say(fixture, "hello\n");
		break;
	case WIRE_RESYNC_BEGIN:
		say(fixture, "begin\n");
		break;
	case WIRE_RESYNC_END:
		say(fixture, "end\n");
		break;
	default:
		fail();
	}
}

static int step(struct fixture *fixture)
{
	const struct vm_reading_now now = {.time_ns = fixture->now_ns, .inner_pid = 7};
	struct wire_reader reader;
	struct wire_record record;
	int err;

	fixture->text[0] = '\0';
	fixture->now_ns += 1000;
	err = vm_reading_step(fixture->reading, &fixture->vm.memory, &now, &fixture->told);
	reader = (struct wire_reader){.data = fixture->told.records, .len = fixture->told.len};
	while (!err && wire_reader_next(&reader, &record) == 1)
		say_record(fixture, &record);
	assert_true(err || reader.pos == reader.len);
	return err;
}

/* Makes a step that succeeds and tells so. */
static void check_step(struct fixture *fixture, const char *expected)
{
	assert_int_equal(step(fixture), 0);
	assert_string_equal(fixture->text, expected);
}

static struct fake_code nmethod(struct fixture *fixture, const char *name, int32_t compile_id)
{
	return (struct fake_code){
		.name = fixture->vm.nmethod_name,
		.method = fake_vm_method(&fixture->vm, "com/example/Main", name, "(I)V"),
		.bytes = 200,
		.compile_id = compile_id,
		.entry_bci = INVOCATION,
		.frame_words = 6,
		.level = 4,
	};
}

static uint64_t add(struct fixture *fixture, const char *name, int32_t compile_id)
{
	const struct fake_code code = nmethod(fixture, name, compile_id);

	return fake_vm_add_code(&fixture->vm, &code);
}

static struct vm_reading_stats stats_of(const struct fixture *fixture)
{
	struct vm_reading_stats stats;

	vm_reading_stats(fixture->reading, &stats);
	return stats;
}

static void check_first(bool has_pointers)
{
	struct fixture *const fixture = new_fixture(has_pointers);
	struct fake_code osr = nmethod(fixture, "loop", 2), native = nmethod(fixture, "read", 3);
	struct fake_code stub = {.name = fake_vm_text(&fixture->vm, "Interpreter"), .bytes = 500};
	char expected[1024];
	uint64_t at[4];

	osr.entry_bci = 7;
	osr.level = 3;
	native.name = fixture->vm.native_name;
	at[0] = fake_vm_add_code(&fixture->vm, &stub) - FAKE_BASE;
	at[1] = add(fixture, "run", 1) - FAKE_BASE;
	at[2] = fake_vm_add_code(&fixture->vm, &osr) - FAKE_BASE;
	at[3] = fake_vm_add_code(&fixture->vm, &native) - FAKE_BASE;
	snprintf(expected, sizeof(expected),
		 "hello\nbegin\nstub %llx+500 frame 0: Interpreter\n"
		 "load again %llx+200 kind 1 level 4 frame 48/12/4 at 1000: "
		 "com/example/Main.run(I)V\n"
		 "load again %llx+200 kind 3 level 3 frame 48/12/4 at 1000: "
		 "com/example/Main.loop(I)V\n"
		 "load again %llx+200 kind 2 level 4 frame 48/12/4 at 1000: "
		 "com/example/Main.read(I)V\nend\n",
		 (unsigned long long)at[0], (unsigned long long)at[1], (unsigned long long)at[2],
		 (unsigned long long)at[3]);
	check_step(fixture, expected);
	assert_false(fixture->told.has_more);
	check_step(fixture, "");
	free_fixture(fixture);
}

static void all_code_is_told_of_once(void **state)
{
	check_first(false);
}

static void all_code_of_blobs_with_pointers_is_told_of_once(void **state)
{
	check_first(true);
}

/* Makes a step, and takes the hello that it begins with. */
static void hear_hello(struct fixture *fixture, const struct vm_reading_now *now,
		       struct wire_hello *ret)
{
	struct wire_reader reader;
	struct wire_record record;

	assert_int_equal(
		vm_reading_step(fixture->reading, &fixture->vm.memory, now, &fixture->told), 0);
	reader = (struct wire_reader){.data = fixture->told.records, .len = fixture->told.len};
	assert_int_equal(wire_reader_next(&reader, &record), 1);
	assert_int_equal(wire_decode_hello(&record, ret), 0);
}

static void check_attr(const struct wire_hello *hello, const char *key, const char *text)
{
	struct wire_attr attr;
	size_t pos = 0;

	while (wire_hello_next_attr(hello, &pos, &attr)) {
		if (attr.key.len != strlen(key) || memcmp(attr.key.data, key, attr.key.len) != 0)
			continue;
		assert_non_null(text);
		assert_int_equal(attr.text.len, strlen(text));
		assert_memory_equal(attr.text.data, text, attr.text.len);
		return;
	}
	assert_null(text);
}

static void hello_has_the_layout_and_the_program(void **state)
{
	const struct vm_reading_now now = {.time_ns = 1000, .inner_pid = 7};
	struct fixture *const fixture = new_fixture(false);
	struct wire_hello hello;

	hear_hello(fixture, &now, &hello);
	assert_int_equal(hello.pid, 7);
	assert_true(hello.n_values > 30);
	check_attr(&hello, "jvm.name", "Fake 64-Bit VM");
	check_attr(&hello, "jvm.version", "99.0.1+7");
	check_attr(&hello, "java.command", "com.example.Main --fast");
	check_attr(&hello, "command", NULL);
	free_fixture(fixture);
}

static void hello_has_what_names_the_process(void **state)
{
	static struct program_texts texts = {
		.command = "java -jar com.example.Main --fast",
		.jar = "com.example.Main",
		.variables = {[PROGRAM_POD] = "shop-1", [PROGRAM_OTEL_SERVICE] = "shop"},
	};
	const struct vm_reading_now now = {.time_ns = 1000, .inner_pid = 7, .texts = &texts};
	struct fixture *const fixture = new_fixture(false);
	struct wire_hello hello;

	hear_hello(fixture, &now, &hello);
	check_attr(&hello, "command", "java -jar com.example.Main --fast");
	check_attr(&hello, "java.jar", "com.example.Main");
	check_attr(&hello, "env.POD_NAME", "shop-1");
	check_attr(&hello, "env.OTEL_SERVICE_NAME", "shop");
	check_attr(&hello, "env.POD_NAMESPACE", NULL);
	free_fixture(fixture);
}

static void a_reading_for_names_alone_reads_no_code(void **state)
{
	const struct vm_reading_now now = {.time_ns = 1000, .inner_pid = 7, .only_hello = true};
	struct fixture *const fixture = new_fixture(false);
	struct wire_hello hello;

	add(fixture, "run", 1);
	hear_hello(fixture, &now, &hello);
	check_attr(&hello, "java.command", "com.example.Main --fast");
	assert_false(fixture->told.has_more);
	assert_int_equal(stats_of(fixture).named, 0);
	free_fixture(fixture);
}

static void what_comes_and_goes_is_told_in_the_middle_of_two_steps(void **state)
{
	struct fixture *const fixture = new_fixture(false);
	const uint64_t first = add(fixture, "run", 1);
	uint64_t second;
	char expected[512];

	assert_int_equal(step(fixture), 0);
	second = add(fixture, "walk", 2);
	snprintf(expected, sizeof(expected),
		 "load %llx+200 kind 1 level 4 frame 48/12/4 at 1500: com/example/Main.walk(I)V\n",
		 (unsigned long long)(second - FAKE_BASE));
	check_step(fixture, expected);
	fake_vm_free_code(&fixture->vm, first);
	snprintf(expected, sizeof(expected), "gone %llx at 2500\n",
		 (unsigned long long)(first - FAKE_BASE));
	check_step(fixture, expected);
	assert_int_equal(stats_of(fixture).reused, 0);
	free_fixture(fixture);
}

static void an_address_that_is_used_again_has_its_new_name_and_counts(void **state)
{
	struct fixture *const fixture = new_fixture(false);
	const uint64_t code = add(fixture, "run", 1), blob = fake_vm_blob_of(code);
	const int32_t compile_id = 2;
	char expected[512];

	assert_int_equal(step(fixture), 0);
	fake_vm_set_u64(&fixture->vm, blob + FAKE_NMETHOD_METHOD,
			fake_vm_method(&fixture->vm, "com/example/Other", "go", "()V"));
	fake_vm_set(&fixture->vm, blob + FAKE_NMETHOD_COMPILE_ID, &compile_id, sizeof(compile_id));
	snprintf(expected, sizeof(expected),
		 "gone %llx at 1500\n"
		 "load %llx+200 kind 1 level 4 frame 48/12/4 at 1500: com/example/Other.go()V\n",
		 (unsigned long long)(code - FAKE_BASE), (unsigned long long)(code - FAKE_BASE));
	check_step(fixture, expected);
	assert_int_equal(stats_of(fixture).reused, 1);
	free_fixture(fixture);
}

static void code_that_changes_while_it_is_read_is_left_for_the_next_step(void **state)
{
	struct fixture *const fixture = new_fixture(false);
	struct fake_code code = nmethod(fixture, "old", 1);
	const uint64_t blob = fake_vm_blob_of(fake_vm_add_code(&fixture->vm, &code));

	fixture->vm.watched_at = code.method + 8; /* the first that is read of the method */
	fixture->vm.changed_at = blob + FAKE_NMETHOD_COMPILE_ID;
	fixture->vm.changed_to = 2;
	check_step(fixture, "hello\nbegin\nend\n");
	assert_int_equal(stats_of(fixture).changed, 1);
	assert_int_equal(step(fixture), 0);
	assert_non_null(strstr(fixture->text, "com/example/Main.old"));
	free_fixture(fixture);
}

static void the_same_method_compiled_again_in_its_place_is_told_of(void **state)
{
	struct fixture *const fixture = new_fixture(false);
	const uint64_t blob = fake_vm_blob_of(add(fixture, "run", 1));
	const int32_t compile_id = 2;

	assert_int_equal(step(fixture), 0);
	fake_vm_set(&fixture->vm, blob + FAKE_NMETHOD_COMPILE_ID, &compile_id, sizeof(compile_id));
	assert_int_equal(step(fixture), 0);
	assert_non_null(strstr(fixture->text, "com/example/Main.run"));
	free_fixture(fixture);
}

static void bytes_of_code_are_no_part_of_what_a_stub_is(void **state)
{
	struct fixture *const fixture = new_fixture(false);
	const struct fake_code stub = {.name = fake_vm_text(&fixture->vm, "vtable chunks"),
				       .bytes = 500};
	const uint64_t blob = fake_vm_blob_of(fake_vm_add_code(&fixture->vm, &stub));

	assert_int_equal(step(fixture), 0);
	fake_vm_set_u64(&fixture->vm, blob + FAKE_NMETHOD_METHOD, 0x4141414141414141);
	check_step(fixture, "");
	free_fixture(fixture);
}

static void a_stub_has_its_frame_whatever_lies_where_a_method_has_its_entry(void **state)
{
	struct fixture *const fixture = new_fixture(false);
	const struct fake_code stub = {.name = fake_vm_text(&fixture->vm, "DeoptimizationBlob"),
				       .bytes = 500,
				       .frame_words = 20};
	const uint64_t code = fake_vm_add_code(&fixture->vm, &stub);
	const uint16_t entry = 0x9090;
	char expected[128];

	fake_vm_set(&fixture->vm, fake_vm_blob_of(code) + FAKE_NMETHOD_ENTRY, &entry,
		    sizeof(entry));
	assert_int_equal(step(fixture), 0);
	snprintf(expected, sizeof(expected), "stub %llx+500 frame 160: DeoptimizationBlob\n",
		 (unsigned long long)(code - FAKE_BASE));
	assert_non_null(strstr(fixture->text, expected));
	free_fixture(fixture);
}

static void hidden_classes_have_the_names_that_agents_tell(void **state)
{
	struct fixture *const fixture = new_fixture(false);
	struct fake_code code = nmethod(fixture, "unused", 1);

	code.method = fake_vm_method(&fixture->vm, "Main$$Lambda+0x00007f0012", "apply", "()V");
	fake_vm_add_code(&fixture->vm, &code);
	assert_int_equal(step(fixture), 0);
	assert_non_null(strstr(fixture->text, "Main$$Lambda.0x00007f0012.apply()V"));
	free_fixture(fixture);
}

static void more_than_a_step_may_name_is_told_in_several(void **state)
{
	struct fixture *const fixture = new_fixture(false);
	struct fake_code code = nmethod(fixture, "run", 0);
	size_t loads = 0;

	code.bytes = 8; /* a segment each */
	for (int i = 0; i < FAKE_SEGMENTS; i++) {
		code.compile_id = i;
		fake_vm_add_code(&fixture->vm, &code);
	}
	fixture->vm.memory.max_bytes = UINT64_MAX;
	do {
		assert_int_equal(step(fixture), 0);
		for (const char *at = fixture->text; (at = strstr(at, "load")); at++)
			loads++;
	} while (fixture->told.has_more);
	assert_int_equal(loads, FAKE_SEGMENTS);
	assert_non_null(strstr(fixture->text, "end\n"));
	free_fixture(fixture);
}

static void a_jvm_without_heaps_yet_has_no_code(void **state)
{
	struct fixture *const fixture = new_fixture(false);

	memset(fake_vm_at(&fixture->vm, fixture->vm.heaps_array), 0, 32);
	check_step(fixture, "hello\nbegin\nend\n");
	free_fixture(fixture);
}

static void a_jvm_that_lacks_a_member_says_which(void **state)
{
	struct fixture *const fixture = new_fixture(false);

	/* The third field is CodeHeap::_segmap. */
	fake_vm_set_u64(&fixture->vm, fixture->vm.structs + 2 * 64 + 16,
			fake_vm_text(&fixture->vm, "_renamed"));
	assert_int_equal(step(fixture), -ENOTSUP);
	assert_string_equal(fixture->told.lacks, "CodeHeap::_segmap");
	free_fixture(fixture);
}

/* A heap whose word at an offset has a value is refused. */
static void check_heap(uint32_t at, uint64_t value, int expected)
{
	struct fixture *const fixture = new_fixture(false);

	add(fixture, "run", 1);
	fake_vm_set_u64(&fixture->vm, fixture->vm.heap + at, value);
	assert_int_equal(step(fixture), expected);
	free_fixture(fixture);
}

static void heaps_that_lie_are_refused(void **state)
{
	check_heap(8 + 8, UINT64_MAX, -EPROTO);	 /* the memory begins behind its end */
	check_heap(8 + 16, UINT64_MAX, -EPROTO); /* and ends nowhere */
	check_heap(40 + 16, 4096, -EPROTO);	 /* the map ends before it begins */
	check_heap(72, 63, -EPROTO);		 /* segments of 2^63 bytes */
	check_heap(72, 0, -EPROTO);
	check_heap(40 + 8, 0x1000, -EFAULT); /* a map that is not mapped */
}

/* Makes a second heap of the upper half of the memory, as the second or the first of the list. */
static void split_heap(struct fixture *fixture, bool is_upper, uint64_t overlap)
{
	struct fake_vm *const vm = &fixture->vm;
	const uint64_t half = (uint64_t)FAKE_SEGMENTS / 2, bytes = half << FAKE_LOG2_SEGMENT;
	const int32_t heaps = 2;
	const uint64_t second = fake_vm_take(vm, 128);
	uint64_t array;

	memcpy(fake_vm_at(vm, second), fake_vm_at(vm, vm->heap), 128);
	memcpy(&array, fake_vm_at(vm, vm->heaps_array + 8), sizeof(array));
	fake_vm_set(vm, vm->heaps_array + 4, &heaps, sizeof(heaps));
	fake_vm_set_u64(vm, array + (is_upper ? 8 : 0), second);
	fake_vm_set_u64(vm, array + (is_upper ? 0 : 8), vm->heap);
	fake_vm_set_u64(vm, second + 8 + 8, vm->code + bytes);
	fake_vm_set_u64(vm, second + 40 + 8, vm->segmap + half);
	fake_vm_set_u64(vm, vm->heap + 8 + 16, vm->code + bytes + overlap);
}

/* Whatever their order in the list. */
static void code_of_several_heaps_is_told_and_stays(void **state)
{
	for (int is_upper = 0; is_upper < 2; is_upper++) {
		struct fixture *const fixture = new_fixture(false);
		struct fake_code code = nmethod(fixture, "run", 1);

		for (int i = 0; i < FAKE_SEGMENTS / 3; i++)
			fake_vm_add_code(&fixture->vm, &code);
		split_heap(fixture, is_upper, 0);
		do {
			assert_int_equal(step(fixture), 0);
		} while (fixture->told.has_more);
		check_step(fixture, "");
		add(fixture, "walk", 2);
		assert_int_equal(step(fixture), 0);
		assert_non_null(strstr(fixture->text, "com/example/Main.walk(I)V"));
		assert_null(strstr(fixture->text, "gone"));
		free_fixture(fixture);
	}
}

static void heaps_that_overlap_are_refused(void **state)
{
	struct fixture *const fixture = new_fixture(false);

	split_heap(fixture, true, 1 << FAKE_LOG2_SEGMENT);
	assert_int_equal(step(fixture), -EPROTO);
	free_fixture(fixture);
}

static void a_list_of_heaps_that_lies_is_refused(void **state)
{
	struct fixture *const fixture = new_fixture(false);
	const int32_t many = INT32_MAX;

	fake_vm_set(&fixture->vm, fixture->vm.heaps_array + 4, &many, sizeof(many));
	assert_int_equal(step(fixture), -EPROTO);
	free_fixture(fixture);
}

/* A method of which a word has been changed has no name, and the others keep theirs. */
static void check_method(uint64_t at, uint64_t value)
{
	struct fixture *const fixture = new_fixture(false);
	struct fake_code code = nmethod(fixture, "good", 1);

	fake_vm_add_code(&fixture->vm, &code);
	code.method = fake_vm_method(&fixture->vm, "com/example/Bad", "bad", "()V");
	code.compile_id = 2;
	fake_vm_add_code(&fixture->vm, &code);
	if (at == 0) {
		fake_vm_set_u64(&fixture->vm, code.method + 8, value);
	} else {
		uint64_t const_method;

		memcpy(&const_method, fake_vm_at(&fixture->vm, code.method + 8),
		       sizeof(const_method));
		fake_vm_set(&fixture->vm, const_method + at, &value, at == 8 ? 8 : 2);
	}
	assert_int_equal(step(fixture), 0);
	assert_non_null(strstr(fixture->text, "com/example/Main.good"));
	assert_null(strstr(fixture->text, "bad"));
	assert_int_equal(stats_of(fixture).unnamed, 1);
	free_fixture(fixture);
}

static void methods_that_lie_have_no_name(void **state)
{
	check_method(0, 0);
	check_method(0, 0x1001);	 /* no address of a ConstMethod */
	check_method(0, 0x2000);	 /* not mapped */
	check_method(8, UINT64_MAX - 7); /* the constant pool */
	check_method(22, 60000);	 /* the index of the name */
	check_method(24, 0);		 /* and of the signature */
}

static void blobs_that_lie_are_passed_over(void **state)
{
	struct fixture *const fixture = new_fixture(false);
	const int32_t huge = INT32_MAX, negative = -5;
	const uint64_t one = fake_vm_blob_of(add(fixture, "run", 1));
	const uint64_t other = fake_vm_blob_of(add(fixture, "walk", 2));
	const uint64_t nameless = fake_vm_blob_of(add(fixture, "sit", 3));

	add(fixture, "good", 4);
	fake_vm_set(&fixture->vm, one + FAKE_BLOB_DATA, &huge, sizeof(huge));
	fake_vm_set(&fixture->vm, other + FAKE_BLOB_CODE, &negative, sizeof(negative));
	fake_vm_set_u64(&fixture->vm, nameless + FAKE_BLOB_NAME, 0x1000);
	assert_int_equal(step(fixture), 0);
	assert_int_equal(stats_of(fixture).named, 1);
	assert_non_null(strstr(fixture->text, "com/example/Main.good"));
	free_fixture(fixture);
}

static void frames_that_cannot_be_are_left_out(void **state)
{
	struct fixture *const fixture = new_fixture(false);
	struct fake_code code = nmethod(fixture, "run", 1);

	code.frame_words = INT32_MAX;
	fake_vm_add_code(&fixture->vm, &code);
	assert_int_equal(step(fixture), 0);
	assert_non_null(strstr(fixture->text, "frame 0/0/0"));
	free_fixture(fixture);
}

static void one_page_that_cannot_be_read_costs_its_own_blobs(void **state)
{
	struct fixture *const fixture = new_fixture(false);
	const uint64_t lost = fake_vm_blob_of(add(fixture, "lost", 1));

	add(fixture, "good", 2);
	fixture->vm.refused_at = lost;
	assert_int_equal(step(fixture), 0);
	assert_null(strstr(fixture->text, "lost"));
	assert_non_null(strstr(fixture->text, "com/example/Main.good"));
	free_fixture(fixture);
}

static void a_segment_map_of_zeros_is_bounded(void **state)
{
	struct fixture *const fixture = new_fixture(false);

	memset(fake_vm_at(&fixture->vm, fixture->vm.segmap), 0, FAKE_SEGMENTS);
	memset(fake_vm_at(&fixture->vm, fixture->vm.code), 1,
	       (size_t)FAKE_SEGMENTS << FAKE_LOG2_SEGMENT);
	assert_int_equal(step(fixture), 0);
	assert_int_equal(stats_of(fixture).named, 0);
	assert_true(fixture->vm.calls < 2000);
	free_fixture(fixture);
}

static void beside_an_agent_code_alone_is_told_of(void **state)
{
	struct fixture *const fixture = new_fixture_of(false, true);
	const uint64_t first = add(fixture, "run", 1);
	char expected[512];

	snprintf(expected, sizeof(expected),
		 "load %llx+200 kind 1 level 4 frame 48/12/4 at 1000: com/example/Main.run(I)V\n",
		 (unsigned long long)(first - FAKE_BASE));
	check_step(fixture, expected);
	assert_string_equal(fixture->known[1], ""); /* IDs are the agent's */
	assert_int_equal(fixture->told.n_heaps, 1);
	assert_true(first >= fixture->told.heaps[0].low && first < fixture->told.heaps[0].high);
	fake_vm_free_code(&fixture->vm, first);
	snprintf(expected, sizeof(expected), "gone %llx at 1500\n",
		 (unsigned long long)(first - FAKE_BASE));
	check_step(fixture, expected);
	free_fixture(fixture);
}

/* The end of an nmethod's data as JDK 21's compilers of JVMCI write it: 64 bytes. */
static const char with_name[] = "\x01??\0\xff\xff\xff\xff\x10\0\0\0????"
				"\x00\x40\x00\x00\x10\x7f\0\0"
				"fib#2\0\0";

/* Adds a method of the class whose blob ends with 24 bytes and a name. */
static uint64_t add_guest(struct fixture *fixture, const char *class_name)
{
	struct fake_code code = nmethod(fixture, "unused", 1);
	const int32_t size = FAKE_BLOB_HEADER + 256;
	uint64_t at, blob;

	code.method = fake_vm_method(&fixture->vm, class_name, "profiledPERoot", "()V");
	code.bytes = 300;
	at = fake_vm_add_code(&fixture->vm, &code);
	blob = fake_vm_blob_of(at);
	fake_vm_set(&fixture->vm, blob + FAKE_BLOB_SIZE, &size, sizeof(size));
	fake_vm_set(&fixture->vm, blob + (uint64_t)size - sizeof(with_name), with_name,
		    sizeof(with_name));
	return at;
}

static void functions_of_other_languages_have_their_names(void **state)
{
	struct fixture *const fixture = new_fixture(true);

	assert_int_equal(sizeof(with_name), 32);
	add_guest(fixture, "com/oracle/truffle/runtime/OptimizedCallTarget");
	assert_int_equal(step(fixture), 0);
	assert_non_null(strstr(fixture->text, ": .fib, com/oracle/truffle/runtime/"));
	free_fixture(fixture);
}

/* The function's own frame has its name, and those of Java that were inlined have theirs. */
static void what_is_inlined_into_functions_of_other_languages_is_told(void **state)
{
	struct fixture *const fixture = new_fixture(true);
	const uint64_t at = add_guest(fixture, "com/oracle/truffle/runtime/OptimizedCallTarget");
	const uint64_t in = fake_vm_method(&fixture->vm, "com/example/Node", "execute", "()I");
	uint64_t method;

	memcpy(&method, fake_vm_at(&fixture->vm, fake_vm_blob_of(at) + FAKE_NMETHOD_METHOD),
	       sizeof(method));
	fixture->says_inlines = true;
	fake_vm_set_scopes(&fixture->vm, at,
			   &(const struct fake_region){16, {{method, 2}, {in, 1}}}, 1);
	assert_int_equal(step(fixture), 0);
	assert_non_null(strstr(fixture->text, ": .fib, com/oracle/truffle/runtime/"));
	assert_non_null(strstr(fixture->text, "com/example/Node.execute()I (" FAKE_LINES ")@1"));
	assert_int_equal(stats_of(fixture).uninlined, 0);
	free_fixture(fixture);
}

static void other_methods_are_not_named_by_their_data(void **state)
{
	struct fixture *const fixture = new_fixture(true);

	add_guest(fixture, "com/example/Main");
	assert_int_equal(step(fixture), 0);
	assert_non_null(strstr(fixture->text, "com/example/Main.profiledPERoot"));
	free_fixture(fixture);
}

static void check_tail(const char *bytes, size_t len, const char *expected)
{
	char name[GUEST_NAME_BYTES] = "";

	assert_int_equal(guest_names_decode((const uint8_t *)bytes, len, name),
			 expected[0] != '\0');
	assert_string_equal(name, expected);
}

#define TAIL(bytes, expected) check_tail(bytes, sizeof(bytes) - 1, expected)

static void names_are_believed_with_all_that_stands_around_them(void **state)
{
	/* JDK 17: a number, a bool, a pointer. */
	TAIL("\xff\xff\xff\xff\x01???\0\0\0\0\0\0\0\0a\0\0\0\0\0\0\0", "a");
	TAIL("\xff\xff\xff\xff\x00???\0\0\0\0\0\0\0\0a\0\0\0\0\0\0\0", "");
	TAIL("\xff\xff\xff\xfe\x01???\0\0\0\0\0\0\0\0a\0\0\0\0\0\0\0", "");
	TAIL("\xff\xff\xff\xff\x01???\1\0\0\0\0\0\0\0a\0\0\0\0\0\0\0", "");
	TAIL("\xff\xff\xff\xff\x01???\0\0\0\0\0\0\0\377a\0\0\0\0\0\0\0", "");
	/* Pointers to methods, as other compilers' data end. */
	TAIL("\x80\x83\x03\xa4\x2c\x7f\0\0\x80\x83\x03\xa4\x2c\x7f\0\0", "");
	TAIL("\0\0\0\0\0\0\0\0", "");
	TAIL("", "");
	/* A name that is not terminated. */
	TAIL("\xff\xff\xff\xff\x01???\0\0\0\0\0\0\0\0abcdefgh", "");
	/* One that begins with a number sign, and one whose number is its own. */
	TAIL("\xff\xff\xff\xff\x01???\0\0\0\0\0\0\0\0#12\0\0\0\0\0", "#12");
	TAIL("\xff\xff\xff\xff\x01???\0\0\0\0\0\0\0\0a12\0\0\0\0\0", "a12");
}

/* The memory of a process that has ended. */
static ssize_t read_none(void *arg, const struct iovec *to, const struct iovec *from,
			 unsigned long n)
{
	return -ESRCH;
}

static void a_process_that_ends_ends_the_reading(void **state)
{
	struct fixture *const fixture = new_fixture(false);

	add(fixture, "run", 1);
	assert_int_equal(step(fixture), 0);
	fixture->vm.memory.read = read_none;
	assert_int_equal(step(fixture), -ESRCH);
	free_fixture(fixture);
}

/* ---- inlined methods and lines ---- */

#define MAIN "com/example/Main"

static void check_inlines(bool has_pointers)
{
	struct fixture *const fixture = new_fixture(has_pointers);
	struct fake_code code = nmethod(fixture, "run", 1);
	const uint64_t in = fake_vm_method(&fixture->vm, "com/example/In", "get", "()I");
	const struct fake_region regions[] = {
		{16, {{code.method, 2}}},	    {24, {{code.method, 3}, {in, -1}}},
		{32, {{code.method, 3}, {in, -1}}}, /* is joined to the one before */
		{40, {{code.method, 3}, {in, 4}}},  {201, {{code.method, 9}}}, /* behind the code */
	};
	const uint64_t at = fake_vm_add_code(&fixture->vm, &code);
	char expected[1024];

	fixture->says_inlines = true;
	fake_vm_set_scopes(&fixture->vm, at, regions, 5);
	snprintf(expected, sizeof(expected),
		 "hello\nbegin\nload again %llx+200 kind 1 level 4 frame 48/12/4 at 1000: " MAIN
		 ".run(I)V (" FAKE_LINES ")\n"
		 "  to 16, of 1: " MAIN ".run(I)V (" FAKE_LINES ")@2\n"
		 "  to 32, of 2: " MAIN ".run(I)V (" FAKE_LINES ")@3"
		 " com/example/In.get()I (" FAKE_LINES ")@-1\n"
		 "  to 40, of 2: com/example/In.get()I (" FAKE_LINES ")@4\n"
		 "end\n",
		 (unsigned long long)(at - FAKE_BASE));
	check_step(fixture, expected);
	assert_int_equal(stats_of(fixture).uninlined, 0);
	free_fixture(fixture);
}

static void inlined_methods_and_lines_are_told(void **state)
{
	check_inlines(false);
}

static void inlined_methods_and_lines_of_older_jdks_are_told(void **state)
{
	check_inlines(true);
}

/* Tells of code with a method in it that another piece of code had in it before. */
static void a_method_is_named_once_until_another_takes_its_place(void **state)
{
	struct fixture *const fixture = new_fixture(false);
	struct fake_code code = nmethod(fixture, "run", 1);
	const uint64_t in = fake_vm_method(&fixture->vm, "com/example/In", "get", "()I");
	const struct fake_region region = {16, {{code.method, 2}, {in, 1}}};

	fixture->says_inlines = true;
	fake_vm_set_scopes(&fixture->vm, fake_vm_add_code(&fixture->vm, &code), &region, 1);
	assert_int_equal(step(fixture), 0);
	assert_int_equal(fixture->named, 2);
	code.compile_id = 2;
	fake_vm_set_scopes(&fixture->vm, fake_vm_add_code(&fixture->vm, &code), &region, 1);
	assert_int_equal(step(fixture), 0);
	assert_int_equal(fixture->named, 2);
	assert_non_null(strstr(fixture->text, "com/example/In.get()I (" FAKE_LINES ")@1"));
	/* The class is gone, and another one has come to its place. */
	memcpy(fake_vm_at(&fixture->vm, in),
	       fake_vm_at(&fixture->vm,
			  fake_vm_method(&fixture->vm, "com/example/Other", "set", "()I")),
	       88);
	code.compile_id = 3;
	fake_vm_set_scopes(&fixture->vm, fake_vm_add_code(&fixture->vm, &code), &region, 1);
	assert_int_equal(step(fixture), 0);
	assert_non_null(strstr(fixture->text, "com/example/Other.set()I (" FAKE_LINES ")@1"));
	free_fixture(fixture);
}

/* Code whose scopes were changed at an offset is told of without what was inlined. */
static void check_scopes(size_t at, uint8_t value)
{
	struct fixture *const fixture = new_fixture(false);
	struct fake_code code = nmethod(fixture, "run", 1);
	const uint64_t in = fake_vm_method(&fixture->vm, "com/example/In", "get", "()I");
	const struct fake_region region = {16, {{code.method, 2}, {in, 1}}};
	uint64_t scopes;

	fixture->says_inlines = true;
	scopes =
		fake_vm_set_scopes(&fixture->vm, fake_vm_add_code(&fixture->vm, &code), &region, 1);
	*(uint8_t *)fake_vm_at(&fixture->vm, scopes + at) = value;
	assert_int_equal(step(fixture), 0);
	assert_non_null(strstr(fixture->text, MAIN ".run(I)V"));
	assert_null(strstr(fixture->text, "  to "));
	assert_int_equal(stats_of(fixture).uninlined, 1);
	assert_int_equal(stats_of(fixture).unnamed, 0);
	free_fixture(fixture);
}

static void scopes_that_lie_cost_what_was_inlined(void **state)
{
	check_scopes(4, 5);   /* the inner scope is its own caller */
	check_scopes(4, 200); /* its caller is behind the end */
	check_scopes(5, 60);  /* a Method that there is not */
	check_scopes(5, 1);   /* the number 0 */
	check_scopes(2, 3);   /* the outermost is not the compiled method */
	check_scopes(5, 0);   /* no byte of a number is 0 */
}

/* An int of the nmethod that says where its parts are is changed. */
static void check_place(bool has_pointers, uint32_t at, int32_t value)
{
	struct fixture *const fixture = new_fixture(has_pointers);
	struct fake_code code = nmethod(fixture, "run", 1);
	const struct fake_region region = {16, {{code.method, 2}}};
	const uint64_t addr = fake_vm_add_code(&fixture->vm, &code);

	fixture->says_inlines = true;
	fake_vm_set_scopes(&fixture->vm, addr, &region, 1);
	fake_vm_set(&fixture->vm, fake_vm_blob_of(addr) + at, &value, sizeof(value));
	assert_int_equal(step(fixture), 0);
	assert_non_null(strstr(fixture->text, MAIN ".run(I)V"));
	assert_null(strstr(fixture->text, "  to "));
	free_fixture(fixture);
}

static void places_of_debug_information_that_lie_are_not_followed(void **state)
{
	check_place(false, FAKE_NMETHOD_PCS, -1);
	check_place(false, FAKE_NMETHOD_PCS_END, INT32_MAX);
	check_place(false, FAKE_NMETHOD_APART_BYTES, 0);
	check_place(false, FAKE_NMETHOD_METHODS_END, INT32_MAX);
	check_place(false, FAKE_NMETHOD_SCOPES + 4, -1);
	check_place(true, FAKE_NMETHOD_PCS_END, 0);
	check_place(true, FAKE_NMETHOD_METHODS, INT32_MAX);
	check_place(true, FAKE_NMETHOD_SCOPES, 0);
}

static void lines_that_cannot_be_read_are_counted(void **state)
{
	struct fixture *const fixture = new_fixture(false);
	const struct fake_code code = nmethod(fixture, "run", 1);
	uint64_t const_method;

	memcpy(&const_method, fake_vm_at(&fixture->vm, code.method + 8), sizeof(const_method));
	memset(fake_vm_at(&fixture->vm, const_method + 64 + 8), 1 << 3, 56); /* without an end */
	fixture->says_inlines = true;
	fake_vm_add_code(&fixture->vm, &code);
	assert_int_equal(step(fixture), 0);
	assert_non_null(strstr(fixture->text, MAIN ".run(I)V ()"));
	assert_int_equal(stats_of(fixture).unlined, 1);
	free_fixture(fixture);
}

/* ---- much debug information ---- */

#define REGIONS	 4096
#define PC_BYTES 16

/* Debug information that several pieces of code have, made by hand. */
struct much {
	uint64_t pcs, scopes, methods;
	uint32_t scopes_len, n_methods;
};

static void add_number(struct fixture *fixture, struct much *much, uint32_t value)
{
	uint8_t *const at = fake_vm_at(&fixture->vm, much->scopes);

	for (; value >= 191; value = (value - 191) >> 6)
		at[much->scopes_len++] = (uint8_t)(192 + ((value - 191) & 63));
	at[much->scopes_len++] = (uint8_t)(value + 1);
}

static uint32_t add_scope(struct fixture *fixture, struct much *much, uint32_t caller,
			  uint32_t number)
{
	const uint32_t at = much->scopes_len;

	add_number(fixture, much, caller);
	add_number(fixture, much, number);
	add_number(fixture, much, 1);
	return at;
}

static void set_region(struct fixture *fixture, const struct much *much, uint32_t i, uint32_t scope)
{
	const int32_t pc = (int32_t)i + 1, at = (int32_t)scope;
	const uint64_t desc = much->pcs + (uint64_t)i * PC_BYTES;

	fake_vm_set(&fixture->vm, desc + 4, &pc, sizeof(pc));
	fake_vm_set(&fixture->vm, desc + 8, &at, sizeof(at));
}

static struct much new_much(struct fixture *fixture)
{
	const uint64_t from = (FAKE_BASE + fixture->vm.used + 15) / 16 * 16;
	const struct much much = {.pcs = from + 16,
				  .scopes = from + 16 + (uint64_t)REGIONS * PC_BYTES,
				  .methods = from + 2 * (uint64_t)REGIONS * PC_BYTES + 16,
				  .scopes_len = 1};

	fixture->vm.used = much.methods - FAKE_BASE;
	return much;
}

static void add_method(struct fixture *fixture, struct much *much, uint64_t method)
{
	fake_vm_set_u64(&fixture->vm, much->methods + much->n_methods++ * 8, method);
	fixture->vm.used = much->methods + much->n_methods * 8 - FAKE_BASE;
}

static void add_much_code(struct fixture *fixture, const struct much *much, uint64_t method,
			  int32_t compile_id)
{
	struct fake_code code = nmethod(fixture, "run", compile_id);
	const int32_t pcs = 16, scopes = pcs + REGIONS * PC_BYTES, relocations = 16;
	const int32_t apart_bytes = scopes + (int32_t)much->scopes_len;
	const int32_t methods_end = relocations + (int32_t)much->n_methods * 8;
	uint64_t blob;

	code.method = method;
	code.bytes = REGIONS;
	blob = fake_vm_blob_of(fake_vm_add_code(&fixture->vm, &code));
	fake_vm_set_u64(&fixture->vm, blob + FAKE_NMETHOD_SCOPES, much->pcs - 16);
	fake_vm_set_u64(&fixture->vm, blob + FAKE_NMETHOD_METHODS, much->methods - 16);
	fake_vm_set(&fixture->vm, blob + FAKE_NMETHOD_PCS, &pcs, sizeof(pcs));
	fake_vm_set(&fixture->vm, blob + FAKE_NMETHOD_PCS_END, &scopes, sizeof(scopes));
	fake_vm_set(&fixture->vm, blob + FAKE_NMETHOD_APART_BYTES, &apart_bytes, 4);
	fake_vm_set(&fixture->vm, blob + FAKE_NMETHOD_RELOCATIONS, &relocations, 4);
	fake_vm_set(&fixture->vm, blob + FAKE_NMETHOD_METHODS_END, &methods_end, 4);
}

/* How many pieces of code a step has told of. */
static size_t step_loads(struct fixture *fixture)
{
	size_t loads = 0;

	assert_int_equal(step(fixture), 0);
	for (const char *at = fixture->text; (at = strstr(at, "load")); at++)
		loads++;
	return loads;
}

static void a_step_decodes_so_many_scopes_at_most(void **state)
{
	struct fixture *const fixture = new_fixture(false);
	struct much much = new_much(fixture);
	const struct fake_code code = nmethod(fixture, "run", 1);
	const size_t most = CODE_TELLING_MAX_FRAMES / (REGIONS * SCOPES_MAX_DEPTH) + 1;
	uint32_t scope = 0;

	add_method(fixture, &much, code.method);
	for (int i = 0; i < SCOPES_MAX_DEPTH; i++)
		scope = add_scope(fixture, &much, scope, 1);
	for (uint32_t i = 0; i < REGIONS; i++)
		set_region(fixture, &much, i, scope);
	for (int i = 0; i < 7; i++)
		add_much_code(fixture, &much, code.method, i);
	assert_int_equal(step_loads(fixture), most);
	assert_true(fixture->told.has_more);
	assert_int_equal(step_loads(fixture), 7 - most);
	assert_false(fixture->told.has_more);
	assert_int_equal(stats_of(fixture).uninlined, 0);
	free_fixture(fixture);
}

static void a_step_names_so_many_methods_at_most(void **state)
{
	struct fixture *const fixture = new_fixture(false);
	const struct fake_code code = nmethod(fixture, "run", 1);
	struct much much[3];

	for (uint32_t k = 0; k < 3; k++) {
		much[k] = new_much(fixture);
		add_method(fixture, &much[k], code.method);
		for (uint32_t i = 0; i < REGIONS; i++) {
			const uint32_t scope = add_scope(fixture, &much[k], 0, 1);

			/* Methods that cannot be read. */
			add_method(fixture, &much[k], 0x10000 + (k * REGIONS + i) * 8);
			set_region(fixture, &much[k], i,
				   add_scope(fixture, &much[k], scope, i + 2));
		}
		add_much_code(fixture, &much[k], code.method, (int32_t)k);
	}
	assert_int_equal(step_loads(fixture), METHOD_NAMES_STEP / REGIONS);
	assert_true(fixture->told.has_more);
	assert_int_equal(step_loads(fixture), 3 - METHOD_NAMES_STEP / REGIONS);
	assert_int_equal(stats_of(fixture).uninlined, 3);
	free_fixture(fixture);
}

/* ---- stubs that share a blob ---- */

#define STUBS 16 /* a shorter list is none that is believed */

static uint64_t add_stub_blob(struct fixture *fixture)
{
	const struct fake_code blob = {.name = fake_vm_text(&fixture->vm, "StubRoutines (1)"),
				       .bytes = 4096};
	const uint64_t at = fake_vm_add_code(&fixture->vm, &blob);
	char name[32];

	for (unsigned i = 0; i < STUBS; i++) {
		snprintf(name, sizeof(name), "stub %u", i);
		fake_vm_add_stub(&fixture->vm, name, at + i * 64, i == 1 ? 32 : 64);
	}
	return at;
}

static void stubs_of_a_blob_have_their_names_and_gaps_that_of_the_blob(void **state)
{
	struct fixture *const fixture = new_fixture(false);
	const uint64_t at = add_stub_blob(fixture) - FAKE_BASE;
	char expected[128];

	assert_int_equal(step(fixture), 0);
	snprintf(expected, sizeof(expected), "stub %llx+64 frame 0: stub 0\n",
		 (unsigned long long)at);
	assert_non_null(strstr(fixture->text, expected));
	snprintf(expected, sizeof(expected), "stub %llx+32 frame 0: StubRoutines (1)\n",
		 (unsigned long long)at + 96);
	assert_non_null(strstr(fixture->text, expected));
	snprintf(expected, sizeof(expected), "stub %llx+%u frame 0: StubRoutines (1)\n",
		 (unsigned long long)at + STUBS * 64, 4096 - STUBS * 64);
	assert_non_null(strstr(fixture->text, expected));
	check_step(fixture, "");
	free_fixture(fixture);
}

static void a_stub_that_is_generated_later_is_told_of(void **state)
{
	struct fixture *const fixture = new_fixture(false);
	const uint64_t at = add_stub_blob(fixture);

	assert_int_equal(step(fixture), 0);
	fake_vm_add_stub(&fixture->vm, "late", at + 2048, 64);
	assert_int_equal(step(fixture), 0);
	assert_non_null(strstr(fixture->text, "+64 frame 0: late\n"));
	check_step(fixture, "");
	free_fixture(fixture);
}

/* A list that cannot be one leaves the blob its own name. */
static void check_no_list(struct fixture *fixture)
{
	assert_int_equal(step(fixture), 0);
	assert_null(strstr(fixture->text, "stub 0\n"));
	assert_non_null(strstr(fixture->text, "+4096 frame 0: StubRoutines (1)\n"));
	assert_true(fixture->vm.calls < 2000);
	free_fixture(fixture);
}

static void lists_of_stubs_that_lie_are_none(void **state)
{
	struct fixture *fixture = new_fixture(false);
	uint64_t head;

	add_stub_blob(fixture); /* a chain without an end */
	memcpy(&head, fake_vm_at(&fixture->vm, fixture->vm.stub_head), sizeof(head));
	fake_vm_set_u64(&fixture->vm, head, head);
	check_no_list(fixture);

	fixture = new_fixture(false);
	add_stub_blob(fixture); /* a descriptor that leads nowhere */
	memcpy(&head, fake_vm_at(&fixture->vm, fixture->vm.stub_head), sizeof(head));
	fake_vm_set_u64(&fixture->vm, head, 0x1000);
	check_no_list(fixture);

	fixture = new_fixture(false);
	add_stub_blob(fixture); /* code that ends before it begins */
	memcpy(&head, fake_vm_at(&fixture->vm, fixture->vm.stub_head), sizeof(head));
	fake_vm_set_u64(&fixture->vm, head + 32, 1);
	check_no_list(fixture);
}

#define MANY_STUBS 128
#define MANY_BLOBS 400

/* Blobs that are said to have the same code, in which there are many stubs. */
static void a_step_looks_at_so_many_stubs_at_most(void **state)
{
	struct fixture *const fixture = new_fixture(true);
	const struct fake_code code = {.name = fake_vm_text(&fixture->vm, "StubRoutines (1)"),
				       .bytes = 64};
	const uint64_t at = fake_vm_add_code(&fixture->vm, &code);
	struct vm_reading_stats stats;

	for (unsigned i = 0; i < MANY_STUBS; i++)
		fake_vm_add_stub(&fixture->vm, "stub", at + MANY_BLOBS * 256 + 64 * i, 64);
	for (unsigned i = 1; i < MANY_BLOBS; i++)
		fake_vm_add_code(&fixture->vm, &code);
	for (unsigned i = 0; i < MANY_BLOBS; i++) {
		const uint64_t blob = fake_vm_blob_of(at + (i << FAKE_LOG2_SEGMENT));

		fake_vm_set_u64(&fixture->vm, blob + FAKE_BLOB_CODE, at + MANY_BLOBS * 256);
		fake_vm_set_u64(&fixture->vm, blob + FAKE_BLOB_DATA, at + (MANY_BLOBS + 32) * 256);
	}
	assert_int_equal(step(fixture), 0);
	vm_reading_stats(fixture->reading, &stats);
	assert_int_equal(stats.named, CODE_TELLING_MAX_STUBS / MANY_STUBS);
	assert_int_equal(step(fixture), 0);
	vm_reading_stats(fixture->reading, &stats);
	assert_int_equal(stats.named, MANY_BLOBS);
	free_fixture(fixture);
}

static void new_stubs_are_found_in_the_blobs_that_have_them(void **state)
{
	struct stub_desc stubs[STUB_LIST_MAX];
	const struct stub_list list = {.at = stubs, .count = STUB_LIST_MAX};
	const struct code_blob all = {.code = 0x1000, .size = 16 * STUB_LIST_MAX};
	const struct code_blob last = {.code = 0x1000 + 16 * (STUB_LIST_MAX - 1), .size = 16};
	size_t n;

	for (uint32_t i = 0; i < STUB_LIST_MAX; i++)
		stubs[i] = (struct stub_desc){.addr = 0x1000 + 16 * i, .size = 16, .news = i > 0};
	assert_ptr_equal(stub_list_in(&list, &all, &n), stubs);
	assert_int_equal(n, STUB_LIST_MAX);
	assert_false(stub_list_has_new(&list, &last));
	assert_true(stub_list_has_new(&list, &all));
}

/* Variables may be said to lie anywhere. */
static void variables_at_the_end_of_all_addresses_are_not_searched(void **state)
{
	struct fixture *const fixture = new_fixture(false);
	const uint64_t end = UINT64_MAX / 8 * 8;
	const struct vm_span data = {.low = end - 3 * 64 * 1024 + 8, .high = end};
	const struct blob_list blobs = {.count = 1};
	struct stub_list list = {.scans = 0};

	fixture->vm.memory.max_bytes = UINT64_MAX;
	assert_int_equal(stub_list_update(&list, &fixture->vm.memory, &data, &blobs), 0);
	assert_int_equal(fixture->vm.calls, 0);
	stub_list_fini(&list);
	free_fixture(fixture);
}

/* A chain of stubs without an end, to which many variables lead. */
static void a_search_for_the_list_of_stubs_is_bounded(void **state)
{
	static const uint32_t n_variables = 1000;
	struct fixture *const fixture = new_fixture(false);
	const uint64_t code = add_stub_blob(fixture);
	struct code_blob blob = {.code = code, .size = 4096, .kind = BLOB_STUB};
	const struct blob_list blobs = {.at = &blob, .count = 1};
	struct stub_list list = {.scans = 0};
	struct vm_span data;
	uint64_t head;

	memcpy(&head, fake_vm_at(&fixture->vm, fixture->vm.stub_head), sizeof(head));
	fake_vm_set_u64(&fixture->vm, head, head);
	data.low = FAKE_BASE + fixture->vm.used;
	data.high = data.low + n_variables * 8;
	for (uint64_t at = data.low; at < data.high; at += 8)
		fake_vm_set_u64(&fixture->vm, at, head);
	fixture->vm.memory.max_bytes = UINT64_MAX;
	assert_int_equal(stub_list_update(&list, &fixture->vm.memory, &data, &blobs), 0);
	assert_int_equal(list.head_at, 0);
	assert_in_range(list.looks, 1, STUB_LIST_MAX_LOOKS + STUB_LIST_MAX);
	stub_list_fini(&list);
	free_fixture(fixture);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(all_code_is_told_of_once),
		cmocka_unit_test(all_code_of_blobs_with_pointers_is_told_of_once),
		cmocka_unit_test(hello_has_the_layout_and_the_program),
		cmocka_unit_test(hello_has_what_names_the_process),
		cmocka_unit_test(a_reading_for_names_alone_reads_no_code),
		cmocka_unit_test(what_comes_and_goes_is_told_in_the_middle_of_two_steps),
		cmocka_unit_test(an_address_that_is_used_again_has_its_new_name_and_counts),
		cmocka_unit_test(code_that_changes_while_it_is_read_is_left_for_the_next_step),
		cmocka_unit_test(the_same_method_compiled_again_in_its_place_is_told_of),
		cmocka_unit_test(bytes_of_code_are_no_part_of_what_a_stub_is),
		cmocka_unit_test(a_stub_has_its_frame_whatever_lies_where_a_method_has_its_entry),
		cmocka_unit_test(hidden_classes_have_the_names_that_agents_tell),
		cmocka_unit_test(more_than_a_step_may_name_is_told_in_several),
		cmocka_unit_test(a_jvm_without_heaps_yet_has_no_code),
		cmocka_unit_test(a_jvm_that_lacks_a_member_says_which),
		cmocka_unit_test(heaps_that_lie_are_refused),
		cmocka_unit_test(code_of_several_heaps_is_told_and_stays),
		cmocka_unit_test(heaps_that_overlap_are_refused),
		cmocka_unit_test(a_list_of_heaps_that_lies_is_refused),
		cmocka_unit_test(methods_that_lie_have_no_name),
		cmocka_unit_test(blobs_that_lie_are_passed_over),
		cmocka_unit_test(frames_that_cannot_be_are_left_out),
		cmocka_unit_test(one_page_that_cannot_be_read_costs_its_own_blobs),
		cmocka_unit_test(a_segment_map_of_zeros_is_bounded),
		cmocka_unit_test(beside_an_agent_code_alone_is_told_of),
		cmocka_unit_test(functions_of_other_languages_have_their_names),
		cmocka_unit_test(what_is_inlined_into_functions_of_other_languages_is_told),
		cmocka_unit_test(other_methods_are_not_named_by_their_data),
		cmocka_unit_test(names_are_believed_with_all_that_stands_around_them),
		cmocka_unit_test(a_process_that_ends_ends_the_reading),
		cmocka_unit_test(inlined_methods_and_lines_are_told),
		cmocka_unit_test(inlined_methods_and_lines_of_older_jdks_are_told),
		cmocka_unit_test(a_method_is_named_once_until_another_takes_its_place),
		cmocka_unit_test(scopes_that_lie_cost_what_was_inlined),
		cmocka_unit_test(places_of_debug_information_that_lie_are_not_followed),
		cmocka_unit_test(lines_that_cannot_be_read_are_counted),
		cmocka_unit_test(a_step_decodes_so_many_scopes_at_most),
		cmocka_unit_test(a_step_names_so_many_methods_at_most),
		cmocka_unit_test(stubs_of_a_blob_have_their_names_and_gaps_that_of_the_blob),
		cmocka_unit_test(a_stub_that_is_generated_later_is_told_of),
		cmocka_unit_test(lists_of_stubs_that_lie_are_none),
		cmocka_unit_test(a_step_looks_at_so_many_stubs_at_most),
		cmocka_unit_test(new_stubs_are_found_in_the_blobs_that_have_them),
		cmocka_unit_test(variables_at_the_end_of_all_addresses_are_not_searched),
		cmocka_unit_test(a_search_for_the_list_of_stubs_is_bounded),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
