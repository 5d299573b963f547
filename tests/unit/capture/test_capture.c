// SPDX-License-Identifier: Apache-2.0
/*
 * What is captured is replayed alike. The process is this test's own, with code of a JVM that is
 * made up: a compiled method with an inlined one, called by another method, called by a function of
 * this program. Memory and the kernel's symbols are made up, too.
 */
#include "capture/capture.h"

#include "base/clock.h"
#include "capture/capture_format.h"
#include "capture/capture_self.h"
#include "capture/replay.h"
#include "code/inline_table.h"
#include "import/decompressor.h"
#include "sinks/tree_sink.h"
#include "process/code_inlines.h"
#include "sample/sample_regs.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <errno.h>
#include <linux/perf_event.h>
#include <poll.h>
#include <sys/mman.h>
#include <unistd.h>

#define HOT    UINT64_C(0x10000000) /* the methods' code */
#define CALLER UINT64_C(0x10002000)
#define UPCALL UINT64_C(0x10003000) /* the stub by which a file's function calls them */
#define SCRIPT UINT64_C(0x10004000) /* a function of the perf map of this process */
#define STACK  UINT64_C(0x20000000)
#define KERNEL UINT64_C(0xffffffff81000000)
#define NOW    UINT64_C(5000000000)
#define WORDS  64

/* Its characters are beyond U+FFFF, which the JVM's texts have in another way than UTF-8. */
#define HOT_NAME "h\xf0\x9f\x94\xa5t"

static const struct chain_style style = {
	.names = {.style = JAVA_NAME_SIGNATURE, .has_lines = true},
	.has_native_lines = true,
	.by_thread = true,
};

static struct process *process;
static struct table_cache *tables;
static struct unwinder *unwinder;
static struct symbolizer *symbolizer;
static struct capture *capture;
static struct replay *replay;
static int fd; /* the capture's file */

/* A sample. */
static uint64_t regs[SAMPLE_REGS_COUNT], words[WORDS], chain[8];
static struct record record;

/* A named sample, and what else is known of it. */
struct seen {
	char frames[1 << 16];
	char container[CONTAINER_ID_BYTES], pod[512], comm[PROCESS_COMM_BYTES], path[256];
	char image[CONTAINER_IMAGE_BYTES];
	bool is_outside;
	size_t n_mappings;
	uint64_t id;
	unsigned count;
};

static struct seen live, replayed;

/* ---- what the world is ---- */

/* It calls the methods. Its return address is one byte behind its start. */
__attribute__((noinline, used)) static int native_caller(int x)
{
	return x * 3 + 1;
}

static uint64_t native_addr(void)
{
	return (uint64_t)(uintptr_t)native_caller;
}

/* The memory of the process: code of no operation, and nothing else. */
static ssize_t read_fake(void *arg, pid_t pid, const struct iovec *to, const struct iovec *from,
			 unsigned long n)
{
	const uint64_t addr = (uintptr_t)from[0].iov_base;

	if (n != 1 || addr < HOT || addr >= STACK)
		return -EFAULT;
	memset(to[0].iov_base, 0x90, to[0].iov_len);
	return (ssize_t)to[0].iov_len;
}

static bool name_kernel(void *arg, const struct kernel_call *call, struct frame *ret)
{
	*ret = (struct frame){.name = call->addr < KERNEL + 0x100 ? "do_work" : "entry_64",
			      .module = "[kernel]",
			      .kind = FRAME_KERNEL};
	return true;
}

static size_t find_lines(void *arg, const struct line_place *place, struct dwarf_place *ret)
{
	ret[0] = (struct dwarf_place){.name = "inlined_in_c", .file = "demo.c", .line = 7};
	ret[1] = (struct dwarf_place){.name = "native_caller", .file = "demo.c", .line = 70};
	return 2;
}

static const struct process_memory_source fake_memory = {.read = read_fake};
static const struct name_source fake_names = {.kernel = name_kernel, .lines = find_lines};

static void say_hello(void)
{
	static uint8_t room[1024];
	struct wire_buf buf = {.data = room, .size = sizeof(room)};
	const struct wire_attr attr = {wire_str_from("java.command"),
				       wire_str_from("com.acme.Demo --port 80")};
	const struct wire_value value = {wire_str_from("answer"), 42};
	struct wire_reader reader = {.data = room};
	struct wire_record said;
	struct wire_hello hello;

	assert_true(wire_encode_hello(
		&buf, &(struct wire_hello){.pid = 1, .n_attrs = 1, .n_values = 1}, &attr, &value));
	reader.len = buf.len;
	assert_int_equal(wire_reader_next(&reader, &said), 1);
	assert_int_equal(wire_decode_hello(&said, &hello), 0);
	assert_int_equal(process_set_hello(process, &hello), 0);
}

static const char *name(const char *text)
{
	return name_pool_add(&process->names, text, strlen(text));
}

/* Of two regions: with an inlined method, and of the method itself. The last bytes have none. */
static struct inline_table *make_table(const struct wire_method_load *load)
{
	static const struct wire_line lines[] = {{0, 10}, {5, 15}};
	static uint8_t table_bytes[512], section_bytes[512];
	struct wire_buf table = {.data = table_bytes, .size = sizeof(table_bytes)};
	struct wire_buf section = {.data = section_bytes, .size = sizeof(section_bytes)};
	const struct wire_method self = {.how = WIRE_METHOD_SELF, .n_lines = 2};
	const struct wire_method inner = {.how = WIRE_METHOD_NAMED,
					  .class_sig = wire_str_from("Lcom/acme/Inner;"),
					  .name = wire_str_from("inner"),
					  .sig = wire_str_from("()V"),
					  .source_file = wire_str_from("Inner.java"),
					  .n_lines = 2};
	struct wire_method_load all = *load;
	struct code_method names;

	wire_encode_inline_count(&table, 2);
	wire_encode_inline_method(&table, &self, lines);
	wire_encode_inline_method(&table, &inner, lines);
	wire_encode_inline_count(&table, 2);
	wire_encode_inline_region(&table, &(struct wire_region){.size = 32, .depth = 2});
	wire_encode_inline_frame(&table, &(struct wire_inline_frame){.method = 0, .bci = 6});
	wire_encode_inline_frame(&table, &(struct wire_inline_frame){.method = 1, .bci = 2});
	wire_encode_inline_region(&table,
				  &(struct wire_region){.size = 16, .depth = 1, .shared = 1});
	assert_true(wire_encode_section(&section, WIRE_SECTION_INLINE, table.data,
					(uint32_t)table.len));
	all.sections = section.data;
	all.sections_len = section.len;
	return code_inlines_read(process, &all, &names);
}

static void add_methods(void)
{
	const struct wire_method_load load = {.addr = HOT,
					      .size = 64,
					      .class_sig = wire_str_from("Lcom/acme/Outer;"),
					      .method = wire_str_from("h\xed\xa0\xbd\xed\xb4\xa5t"),
					      .method_sig = wire_str_from("(I)V"),
					      .source_file = wire_str_from("Outer.java")};
	struct code_range hot = {.addr = HOT,
				 .size = 64,
				 .kind = CODE_JAVA,
				 .level = 4,
				 .frame = {.size = 32, .complete = 8, .entry = 4},
				 .birth_ns = 100,
				 .class_name = name("com/acme/Outer"),
				 .name = name(HOT_NAME),
				 .signature = name("(I)V"),
				 .source_file = name("Outer.java"),
				 .inlines = make_table(&load)};
	struct code_range caller = {.addr = CALLER,
				    .size = 64,
				    .kind = CODE_OSR,
				    .level = 3,
				    .frame = {.size = 16, .complete = 8},
				    .birth_ns = 200,
				    .class_name = name("com/acme/Demo"),
				    .name = name("loop"),
				    .signature = name("()V")};
	struct code_range upcall = {.addr = UPCALL,
				    .size = 64,
				    .kind = CODE_STUB,
				    .frame = {.size = 16},
				    .birth_ns = 200,
				    .name = name("upcall_stub")};

	assert_non_null(hot.inlines);
	assert_string_equal(inline_table_root(hot.inlines)->name, HOT_NAME);
	assert_int_equal(code_map_add(process->code, &hot, false), 1);
	assert_int_equal(code_map_add(process->code, &caller, false), 1);
	assert_int_equal(code_map_add(process->code, &upcall, false), 1);
}

static int make_process(void)
{
	int err = process_new(getpid(), 0, PROCESS_READ_ALL, &process);

	if (!err)
		err = process_add_jvm(process);
	if (err)
		return err;
	process_open_session(process, 1, 1);
	say_hello();
	add_methods();
	process_set_comm(process, getpid(), "worker-with-a-l", 1); /* as the kernel cuts it */
	snprintf(process->comm, sizeof(process->comm), "demo");
	memset(process->container_id, 'c', sizeof(process->container_id) - 1);
	snprintf(process->workload.container, sizeof(process->workload.container), "web-1");
	label_set_add(&process->workload.labels, WORKLOAD_IMAGE, "shop/cart:1.4.2");
	snprintf(process->workload.pod, sizeof(process->workload.pod), "api-7");
	return process_set_thread_name(process, process->inner_pid, name("worker-with-a-long-name"),
				       1);
}

/*
 * Four frames on the stack: the hot method's, its caller's, the stub's, and the native function's.
 */
static void make_sample(uint64_t time_ns)
{
	for (size_t i = 0; i < WORDS; i++)
		words[i] = 0;
	words[3] = CALLER + 16;
	words[5] = UPCALL + 16;
	words[7] = native_addr() + 1;
	memset(regs, 0, sizeof(regs));
	for (unsigned reg = 0, at = 0; reg < 64; reg++) {
		if (!(SAMPLE_REGS_MASK >> reg & 1))
			continue;
		if (reg == SAMPLE_REG_PC)
			regs[at] = HOT + 16;
		else if (reg == SAMPLE_REG_SP)
			regs[at] = STACK;
		at++;
	}
	record = (struct record){.kind = RECORD_SAMPLE,
				 .pid = getpid(),
				 .tid = getpid(),
				 .time_ns = time_ns,
				 .sample = {.period = 1,
					    .regs = regs,
					    .stack = (const uint8_t *)words,
					    .stack_len = sizeof(words)}};
}

static void set_pc(uint64_t addr)
{
	for (unsigned reg = 0, at = 0; reg < 64; reg++) {
		if (reg == SAMPLE_REG_PC)
			regs[at] = addr;
		at += SAMPLE_REGS_MASK >> reg & 1;
	}
}

static void add_kernel_frames(void)
{
	chain[0] = KERNEL + 0x10;
	chain[1] = KERNEL + 0x210;
	chain[2] = HOT + 16;
	record.sample.kernel = (struct sample_chain){chain, 2};
	record.sample.user = (struct sample_chain){chain + 2, 1};
}

/* ---- capturing ---- */

static int set_up(void **state)
{
	struct capture_stages stages = {0};
	int err = make_process();

	fd = -1;
	memset(&live, 0, sizeof(live));
	memset(&replayed, 0, sizeof(replayed));
	if (!err)
		err = table_cache_new(TABLE_CACHE_DEFAULT_BYTES, false, &tables);
	if (!err)
		err = unwinder_new(tables, &unwinder);
	if (!err)
		err = symbolizer_new_replayed(tables, &fake_names, &symbolizer);
	if (err)
		return err;
	process_memory_use(&fake_memory);
	stages.tables = tables;
	stages.unwinder = unwinder;
	stages.symbolizer = symbolizer;
	make_sample(NOW);
	return capture_new(&stages, fdopen(memfd_create("capture", 0), "w"), &capture);
}

static void free_capture(void)
{
	if (capture)
		capture_watch(capture)->ops->free(capture_watch(capture));
	capture = NULL;
}

static int tear_down(void **state)
{
	free_capture();
	process_memory_use(NULL);
	replay_free(replay);
	replay = NULL;
	if (fd >= 0)
		close(fd);
	symbolizer_free(symbolizer);
	unwinder_free(unwinder);
	table_cache_free(tables);
	process_free(process);
	return 0;
}

static void see(struct seen *seen, const struct named_sample *sample)
{
	size_t len = strlen(seen->frames);

	for (size_t i = 0; i < sample->n_frames; i++) {
		const struct frame *const frame = &sample->frames[i];

		len += (size_t)snprintf(seen->frames + len, sizeof(seen->frames) - len,
					"%s %s %s %s %u\n", frame_kind_word(frame->kind),
					frame->name, frame->module ? frame->module : "-",
					frame->file ? frame->file : "-", frame->line);
		assert_true(len < sizeof(seen->frames));
	}
	seen->count++;
	if (!sample->process)
		return;
	snprintf(seen->container, sizeof(seen->container), "%s", sample->process->container_id);
	snprintf(seen->pod, sizeof(seen->pod), "%s/%s", sample->process->workload.pod,
		 sample->process->workload.container);
	snprintf(seen->image, sizeof(seen->image), "%s",
		 workload_image(&sample->process->workload));
	seen->is_outside = sample->process->jvm && sample->process->jvm->is_outside;
	snprintf(seen->comm, sizeof(seen->comm), "%s", sample->process->comm);
	seen->n_mappings = sample->process->space.count;
	if (address_space_find(&sample->process->space, native_addr()))
		snprintf(seen->path, sizeof(seen->path), "%s",
			 address_space_find(&sample->process->space, native_addr())->path);
}

static void take_of(struct process *of)
{
	static struct stack stack;
	const struct chain_walk walk = {.record = &record, .process = of, .stack = &stack};
	struct named_sample sample;

	sample_watch_begin(capture_watch(capture), SAMPLE_TAKE, of, &record);
	assert_true(unwinder_walk(unwinder, of, record.time_ns, &record.sample, &stack));
	assert_true(chain_name(&style, symbolizer, &walk, &sample));
	sample_watch_end(capture_watch(capture), true, &sample);
	see(&live, &sample);
}

static void take(void)
{
	take_of(process);
}

static void open_capture(void)
{
	static const struct profile_info info = {
		.host = "host",
		.boot_id = "boot",
		.kernel = "6.1",
		.event = "cpu-clock",
		.program = "test",
		.hz = 99,
		.start_unix_ns = 3,
		.duration_ns = 4,
		.quality = {.lost_samples = 5, .stackless_samples = 6}};
	const char *reason = "none";

	fd = capture_finish(capture, &info, NOW - 1);
	assert_true(fd >= 0);
	assert_int_equal(lseek(fd, 0, SEEK_SET), 0);
	if (replay_open(fd, &replay, &reason) < 0)
		fail_msg("not opened: %s", reason);
}

/* ---- replaying ---- */

static void see_replayed(void *arg, uint64_t id, const struct named_sample *sample)
{
	see(&replayed, sample);
	replayed.id = id;
}

static struct replay_counts run_with(struct replay_run run)
{
	struct replay_counts counts;

	memset(&replayed, 0, sizeof(replayed));
	run.style = &style;
	if (!run.named)
		run.named = see_replayed;
	process_memory_use(NULL);
	assert_int_equal(replay_run(replay, &run, &counts), 0);
	return counts;
}

static struct replay_counts run(void)
{
	return run_with((struct replay_run){0});
}

static void check_same(void)
{
	assert_string_equal(replayed.frames, live.frames);
	assert_int_equal(replayed.count, live.count);
}

static void check_frame(const char *line)
{
	if (!strstr(replayed.frames, line))
		fail_msg("no %sin:\n%s", line, replayed.frames);
}

/* ---- claims ---- */

static void frames_of_each_kind_come_back(void **state)
{
	struct replay_counts counts;

	add_kernel_frames();
	take();
	open_capture();
	counts = run();
	check_same();
	check_frame("kernel do_work [kernel] - 0\nkernel entry_64 [kernel] - 0\n");
	check_frame("inlined com/acme/Inner.inner()V:10 - Inner.java 10\n"
		    "jit com/acme/Outer." HOT_NAME "(I)V:15 - Outer.java 15\n");
	check_frame("com/acme/Demo.loop()V");
	check_frame("inlined_in_c");
	check_frame("native_caller");
	assert_int_equal(counts.samples, 1);
	assert_int_equal(counts.steps, 1);
	assert_int_equal(counts.unanswered, 0);
	assert_int_equal(counts.left_out, 0);
}

static void the_process_and_its_thread_come_back(void **state)
{
	take();
	open_capture();
	run();
	check_same();
	check_frame("com.acme.Demo"); /* of the JVM's hello */
	check_frame("label worker-with-a-long-name");
	assert_string_equal(replayed.comm, "demo");
	assert_string_equal(replayed.container, process->container_id);
	assert_int_equal(strlen(replayed.container), CONTAINER_ID_BYTES - 1);
	assert_string_equal(replayed.pod, "api-7/web-1");
	assert_string_equal(replayed.image, "shop/cart:1.4.2");
	assert_false(replayed.is_outside);
}

static void a_jvm_that_was_read_from_outside_comes_back_as_such(void **state)
{
	process->jvm->is_outside = true;
	take();
	open_capture();
	run();
	check_same();
	assert_true(replayed.is_outside);
	process->jvm->is_outside = false;
}

static void mappings_come_back(void **state)
{
	take();
	open_capture();
	run();
	assert_true(live.n_mappings > 1);
	assert_int_equal(replayed.n_mappings, live.n_mappings);
	assert_non_null(strstr(live.path, "test_capture"));
	assert_string_equal(replayed.path, live.path);
}

/* The recording knows them as they are then. */
static void a_change_of_a_process_holds_from_its_sample_on(void **state)
{
	const struct mapping mapping = {
		.start = 0x30000000, .end = 0x30001000, .inode = 1, .path = "/lib/late.so"};
	const size_t before = process->space.count;

	take();
	snprintf(process->comm, sizeof(process->comm), "renamed");
	assert_int_equal(address_space_add(&process->space, &mapping), 0);
	make_sample(NOW + 1);
	set_pc(0x30000010);
	take();
	open_capture();
	run();
	check_same();
	check_frame("late.so");
	assert_string_equal(replayed.comm, "renamed");
	assert_int_equal(replayed.n_mappings, before + 1);
}

/* Each place in the code has what the table says of it. */
static void an_inline_table_comes_back_whole(void **state)
{
	static const uint64_t offsets[] = {8, 31, 32, 47, 48, 63};

	for (size_t i = 0; i < sizeof(offsets) / sizeof(offsets[0]); i++) {
		make_sample(NOW + i);
		set_pc(HOT + offsets[i]);
		take();
	}
	open_capture();
	run();
	check_same();
	assert_int_equal(replayed.count, 6);
}

static void a_function_of_a_foreign_perf_map_comes_back(void **state)
{
	static const char line[] = "10004000 40 LazyCompile:~work /srv/app.js:1\n";
	const struct mapping anonymous = {.start = SCRIPT, .end = SCRIPT + 4096, .path = ""};
	struct foreign_map_stats stats = {0};

	assert_int_equal(address_space_add(&process->space, &anonymous), 0);
	assert_int_equal(foreign_map_new(&process->foreign.map), 0);
	foreign_map_feed(process->foreign.map, line, strlen(line), 0, &stats);
	set_pc(SCRIPT + 16);
	take();
	open_capture();
	run();
	check_same();
	check_frame("LazyCompile:~work");
}

static void a_sample_of_a_process_that_is_gone_comes_back(void **state)
{
	add_kernel_frames();
	take_of(NULL);
	open_capture();
	run();
	check_same();
	check_frame("label [gone]");
	check_frame("do_work");
}

static void what_the_kernel_called_a_thread_that_is_gone_comes_back(void **state)
{
	strcpy(record.sample.comm, "sh");
	take_of(NULL);
	open_capture();
	run();
	record.sample.comm[0] = '\0';
	check_same();
	check_frame("label [gone: sh]");
}

static void *find_no_table(void *arg, enum table_of of, pid_t pid, const struct mapping *mapping,
			   const char **ret_reason, enum table_answer *ret_answer)
{
	*ret_reason = arg;
	*ret_answer = TABLE_ANSWER_PASSES;
	return NULL;
}

static void a_table_that_comes_later_is_missing_until_then_alone(void **state)
{
	static char reason[] = "its process does not answer";
	static const struct table_source nothing = {.find = find_no_table, .arg = reason};

	table_cache_set_source(tables, &nothing);
	take();
	assert_non_null(strstr(live.frames, reason));
	assert_null(strstr(live.frames, "native_caller"));
	table_cache_set_source(tables, NULL);
	make_sample(NOW + 1);
	take();
	assert_non_null(strstr(live.frames, "native_caller"));
	open_capture();
	assert_int_equal(run().unanswered, 0);
	check_same();
}

static void facts_of_the_recording_come_back(void **state)
{
	const struct profile_info *info;

	take();
	open_capture();
	info = replay_info(replay);
	assert_string_equal(info->host, "host");
	assert_string_equal(info->boot_id, "boot");
	assert_string_equal(info->kernel, "6.1");
	assert_string_equal(info->event, "cpu-clock");
	assert_string_equal(info->program, "test");
	assert_int_equal(info->hz, 99);
	assert_int_equal(info->start_unix_ns, 3);
	assert_int_equal(info->duration_ns, 4);
	assert_int_equal(info->quality.lost_samples, 5);
	assert_int_equal(info->quality.stackless_samples, 6);
	assert_int_equal(replay_start_ns(replay), NOW - 1);
}

static void samples_go_to_the_sinks_each_time_a_capture_is_run(void **state)
{
	struct tree_sink *tree;

	take();
	make_sample(NOW + 1);
	take();
	open_capture();
	for (int i = 0; i < 2; i++) {
		assert_int_equal(tree_sink_new(&tree), 0);
		tree->sink.ops->begin(&tree->sink, replay_start_ns(replay));
		assert_int_equal(run_with((struct replay_run){.sinks = &tree->sink}).samples, 2);
		assert_int_equal(tree->profile.quality.samples, 2);
		sink_free_all(&tree->sink);
		check_same();
	}
}

/* ---- what a sample has beside its stack ---- */

#define WEIGHTS 4u
#define HOLES	4u
#define CASES	(4 * WEIGHTS * HOLES) /* each with the two marks and without */

static const uint64_t weights[WEIGHTS] = {1, 2, 4711, CAPTURE_MAX_WEIGHT};
static const uint64_t holes[HOLES] = {0, 1 << 1, 0xf0f0 << 1, UINT64_C(1) << 63 | 1 << 2};

static void mark_sample(unsigned i)
{
	make_sample(NOW + i);
	record.sample.is_exact = i & 1;
	record.sample.ends_at_page = i >> 1 & 1;
	record.sample.weight = weights[i / 4 % WEIGHTS];
	record.sample.unread_pages = holes[i / 4 / WEIGHTS];
}

static unsigned n_begun;

static void check_marks(struct sample_watch *watch, enum sample_step step, struct process *of,
			const struct record *replayed_record)
{
	const struct sample *const sample = &replayed_record->sample;

	mark_sample(n_begun++);
	assert_int_equal(replayed_record->time_ns, record.time_ns);
	assert_int_equal(sample->is_exact, record.sample.is_exact);
	assert_int_equal(sample->ends_at_page, record.sample.ends_at_page);
	assert_int_equal(sample->weight, record.sample.weight);
	assert_int_equal(sample->unread_pages, record.sample.unread_pages);
}

static void end_nothing(struct sample_watch *watch, bool counts, const struct named_sample *sample)
{
}

static void free_nothing(struct sample_watch *watch)
{
}

static int watch_marks(void *arg, const struct capture_stages *stages,
		       struct sample_watch **ret_watch)
{
	static const struct sample_watch_ops ops = {
		.begin = check_marks, .end = end_nothing, .free = free_nothing};
	static struct sample_watch watch = {&ops};

	*ret_watch = &watch;
	return 0;
}

static void weights_and_pages_that_were_not_read_come_back(void **state)
{
	for (unsigned i = 0; i < CASES; i++) {
		mark_sample(i);
		take();
	}
	open_capture();
	n_begun = 0;
	run_with((struct replay_run){.watch = watch_marks});
	assert_int_equal(n_begun, CASES);
	check_same();
	assert_null(strstr(replayed.frames, "page not in memory")); /* the first page was read */
}

static void a_stack_that_was_cut_for_a_page_is_cut_for_it_again(void **state)
{
	record.sample.unread_pages = 1;
	take();
	make_sample(NOW + 1);
	record.sample.ends_at_page = true;
	record.sample.stack_len = 2 * sizeof(words[0]);
	take();
	open_capture();
	run();
	check_same();
	assert_non_null(strstr(strstr(replayed.frames, "[truncated: page not in memory]") + 1,
			       "[truncated: page not in memory]"));
}

static void the_weight_counts_again(void **state)
{
	struct tree_sink *tree;

	record.sample.weight = 4711;
	take();
	open_capture();
	assert_int_equal(tree_sink_new(&tree), 0);
	tree->sink.ops->begin(&tree->sink, replay_start_ns(replay));
	run_with((struct replay_run){.sinks = &tree->sink});
	assert_int_equal(tree->profile.quality.samples, 4711);
	sink_free_all(&tree->sink);
}

/* ---- steps ---- */

/* Reads four bytes of code, as a walk may. */
static ssize_t read_code(uint64_t addr)
{
	char bytes[4] = "";
	const struct iovec to = {.iov_base = bytes, .iov_len = sizeof(bytes)},
			   from = {.iov_base = (void *)(uintptr_t)addr, .iov_len = sizeof(bytes)};
	const ssize_t n = process_memory_read(getpid(), &to, &from, 1);

	if (n == (ssize_t)sizeof(bytes))
		assert_memory_equal(bytes, "\x90\x90\x90\x90", sizeof(bytes));
	return n;
}

static void read_in_replay(void *arg, uint64_t id, const struct named_sample *sample)
{
	assert_int_equal(read_code(HOT + 0x800), 4);
	assert_int_equal(read_code(HOT + 0x900), -EFAULT);
	see(&replayed, sample);
}

static void of_a_step_that_did_not_count_there_is_the_memory_alone(void **state)
{
	struct replay_counts counts;

	sample_watch_begin(capture_watch(capture), SAMPLE_TAKE, process, &record);
	assert_int_equal(read_code(HOT + 0x800), 4);
	sample_watch_end(capture_watch(capture), false, NULL);
	take();
	open_capture();
	counts = run_with((struct replay_run){.named = read_in_replay});
	assert_int_equal(counts.samples, 1);
	assert_int_equal(counts.steps, 1);
	assert_int_equal(counts.unanswered, 1); /* what nobody has read */
	check_same();
}

static bool is_second(void *arg, uint64_t id)
{
	return id == 2;
}

static void memory_that_was_read_between_steps_is_there(void **state)
{
	take();
	assert_int_equal(read_code(HOT + 0x800), 4);
	make_sample(NOW + 1);
	take();
	open_capture();
	assert_int_equal(run_with((struct replay_run){.wants = is_second, .named = read_in_replay})
				 .unanswered,
			 1);
}

static void find_nothing(void *arg, uint64_t id, const struct named_sample *sample)
{
	assert_int_equal(read_code(HOT + 0x800), -EFAULT);
}

static void memory_of_a_process_without_samples_is_not_there(void **state)
{
	assert_int_equal(read_code(HOT + 0x800), 4); /* as another recording may */
	take();
	open_capture();
	assert_int_equal(run_with((struct replay_run){.named = find_nothing}).unanswered, 1);
}

/* Methods of a process are read again from its first sample on, for the capture to see. */
static void interpreted_methods_are_read_again(void **state)
{
	assert_int_equal(map64_put(&process->java_methods.by_addr, 8, calloc(1, 1024)), 0);
	take();
	assert_int_equal(process->java_methods.by_addr.count, 0);
}

static void a_remainder_that_was_not_read_is_no_step(void **state)
{
	sample_watch_begin(capture_watch(capture), SAMPLE_REMAINDER, process, &record);
	sample_watch_end(capture_watch(capture), true, NULL);
	sample_watch_begin(capture_watch(capture), SAMPLE_LOOK, process, &record);
	chain_prepare(SAMPLE_LOOK, unwinder, process, &record);
	sample_watch_end(capture_watch(capture), true, NULL);
	take();
	open_capture();
	assert_int_equal(run().steps, 2);
	check_same();
}

static void steps_of_samples_that_are_not_wanted_are_left_out(void **state)
{
	struct replay_counts counts;

	take();
	memset(&live, 0, sizeof(live));
	make_sample(NOW + 1);
	set_pc(CALLER + 16);
	take();
	open_capture();
	counts = run_with((struct replay_run){.wants = is_second});
	assert_int_equal(counts.samples, 1);
	assert_int_equal(counts.steps, 1);
	assert_int_equal(replayed.id, 2);
}

/* ---- limits ---- */

static void samples_without_room_are_counted(void **state)
{
	struct capture_counts counts;
	struct replay_counts in_replay;

	take();
	capture->writer.is_full = true;
	make_sample(NOW + 1);
	take();
	make_sample(NOW + 2);
	take();
	capture_counts(capture, &counts);
	assert_int_equal(counts.samples, 1);
	assert_int_equal(counts.left_out, 2);
	open_capture();
	in_replay = run();
	assert_int_equal(in_replay.samples, 1);
	assert_int_equal(in_replay.left_out, 2);
}

/* The capture is full when a second sample comes. */
static void check_second_is_left_out(void)
{
	struct capture_counts counts;
	uint64_t now_ns;

	take();
	/* The clock goes on, whatever was left out. */
	now_ns = clock_now_ns();
	poll(NULL, 0, 1);
	assert_true(clock_now_ns() > now_ns);
	capture_counts(capture, &counts);
	assert_int_equal(counts.samples, 1);
	assert_int_equal(counts.left_out, 1);
	open_capture();
	assert_int_equal(run().samples, 1);
}

static void of_processes_there_are_as_many_as_a_reader_takes(void **state)
{
	struct process *const first = process;
	struct process *other;

	take();
	capture->n_processes = CAPTURE_MAX_PROCESSES;
	assert_int_equal(process_new_replayed(4711, 1, &other), 0);
	process = other;
	check_second_is_left_out();
	process = first;
	process_free(other);
}

static void a_process_with_too_many_mappings_is_left_out(void **state)
{
	static char path[4000];
	struct process *const first = process;
	struct mapping mapping = {.path = path};
	struct process *other;

	take();
	assert_int_equal(process_new_replayed(4711, 1, &other), 0);
	memset(path, 'x', sizeof(path) - 1);
	do {
		mapping.start = mapping.end + 4096;
		mapping.end = mapping.start + 4096;
	} while (address_space_add(&other->space, &mapping) == 0);
	process = other;
	check_second_is_left_out();
	process = first;
	process_free(other);
}

static void of_files_there_are_as_many_as_a_reader_takes(void **state)
{
	take();
	capture->n_files = CAPTURE_MAX_FILES;
	process->space.mappings[0].inode++;
	make_sample(NOW + 1);
	set_pc(process->space.mappings[0].start + 16);
	check_second_is_left_out();
}

static void of_code_there_are_as_many_facts_as_a_reader_takes(void **state)
{
	take();
	capture->n_code = CAPTURE_MAX_CODE;
	assert_int_equal(code_map_remove(process->code, HOT, NOW), 1); /* a new fact */
	make_sample(NOW - 1);
	check_second_is_left_out();
}

static void of_frames_there_are_as_many_as_a_reader_takes(void **state)
{
	take();
	assert_true(capture->n_frames > 12 && capture->n_frames < 40);
	capture->n_frames = CAPTURE_MAX_FRAMES - capture->n_frames + 1;
	make_sample(NOW + 1);
	check_second_is_left_out();
}

static void the_capture_says_how_large_it_is(void **state)
{
	struct capture_counts counts;
	unsigned char *unzipped;
	char file[65536];
	size_t len;
	ssize_t n;

	take();
	open_capture();
	capture_counts(capture, &counts);
	assert_int_equal(lseek(fd, 0, SEEK_SET), 0);
	n = read(fd, file, sizeof(file));
	assert_true(n > 0 && n < (ssize_t)sizeof(file));
	assert_int_equal(decompressor_gunzip(file, (size_t)n, CAPTURE_MAX_BYTES, &unzipped, &len),
			 0);
	free(unzipped);
	assert_int_equal(counts.bytes, len);
}

/* ---- other captures ---- */

static struct capture *second;

static int capture_again(void *arg, const struct capture_stages *stages,
			 struct sample_watch **ret_watch)
{
	const int err = capture_new(stages, fdopen(memfd_create("again", 0), "w"), &second);

	*ret_watch = err ? NULL : capture_watch(second);
	return err;
}

static void a_capture_of_a_replay_is_replayed_alike(void **state)
{
	add_kernel_frames();
	take();
	open_capture();
	run_with((struct replay_run){.watch = capture_again});
	check_same();
	free_capture();
	replay_free(replay);
	close(fd);
	capture = second;
	open_capture();
	assert_int_equal(run().unanswered, 0);
	check_same();
}

static void whoever_read_memory_before_does_so_again(void **state)
{
	const struct process_memory_source *const of_capture = process_memory_use(&fake_memory);

	assert_non_null(of_capture);
	assert_ptr_not_equal(of_capture, &fake_memory);
	process_memory_use(of_capture);
	free_capture();
	assert_ptr_equal(process_memory_use(NULL), &fake_memory);
}

static void whoever_reads_memory_after_the_capture_stays(void **state)
{
	static const struct process_memory_source later = {.read = read_fake};

	process_memory_use(&later);
	free_capture();
	assert_ptr_equal(process_memory_use(NULL), &later);
}

#define CASE(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(frames_of_each_kind_come_back),
		CASE(the_process_and_its_thread_come_back),
		CASE(a_jvm_that_was_read_from_outside_comes_back_as_such),
		CASE(mappings_come_back),
		CASE(a_change_of_a_process_holds_from_its_sample_on),
		CASE(an_inline_table_comes_back_whole),
		CASE(a_function_of_a_foreign_perf_map_comes_back),
		CASE(a_sample_of_a_process_that_is_gone_comes_back),
		CASE(what_the_kernel_called_a_thread_that_is_gone_comes_back),
		CASE(a_table_that_comes_later_is_missing_until_then_alone),
		CASE(facts_of_the_recording_come_back),
		CASE(samples_go_to_the_sinks_each_time_a_capture_is_run),
		CASE(weights_and_pages_that_were_not_read_come_back),
		CASE(a_stack_that_was_cut_for_a_page_is_cut_for_it_again),
		CASE(the_weight_counts_again),
		CASE(of_a_step_that_did_not_count_there_is_the_memory_alone),
		CASE(memory_that_was_read_between_steps_is_there),
		CASE(memory_of_a_process_without_samples_is_not_there),
		CASE(interpreted_methods_are_read_again),
		CASE(a_process_with_too_many_mappings_is_left_out),
		CASE(a_remainder_that_was_not_read_is_no_step),
		CASE(steps_of_samples_that_are_not_wanted_are_left_out),
		CASE(samples_without_room_are_counted),
		CASE(of_processes_there_are_as_many_as_a_reader_takes),
		CASE(of_files_there_are_as_many_as_a_reader_takes),
		CASE(of_code_there_are_as_many_facts_as_a_reader_takes),
		CASE(of_frames_there_are_as_many_as_a_reader_takes),
		CASE(the_capture_says_how_large_it_is),
		CASE(a_capture_of_a_replay_is_replayed_alike),
		CASE(whoever_read_memory_before_does_so_again),
		CASE(whoever_reads_memory_after_the_capture_stays),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
