// SPDX-License-Identifier: Apache-2.0
/* See targets_fixture.h. */
#include "targets_fixture.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/clock.h"
#include "base/process_stat.h"
#include "common/child.h"

#define HOUR_NS (3600 * CLOCK_NS_PER_SEC)

struct targets targets;
struct map_outputs outputs;
struct intake_session session;
char map_dir[TEMP_DIR_BYTES];
pid_t child;
uint32_t ended[8];
size_t n_ended;

static void on_end_session(void *arg, uint32_t id)
{
	assert_ptr_equal(arg, &session);
	assert_true(n_ended < 8);
	ended[n_ended++] = id;
}

int set_up_targets(void **state)
{
	temp_dir_make(map_dir);
	targets_init(&targets);
	map_outputs_init(&outputs, &targets, map_dir);
	/* A tick is a whole one, however long the machine leaves this test waiting. */
	targets.turn.sweep_ns = outputs.turn_ns = targets.turn.payers_ns = HOUR_NS;
	targets.end_session = on_end_session;
	targets.end_session_arg = &session;
	n_ended = 0;
	child = child_start();
	session = (struct intake_session){.id = 3, .pid = child};
	return process_stat_start_ticks(child, &session.start_ticks);
}

void end_child(void)
{
	if (child > 0)
		child_end(child);
	child = 0;
}

int tear_down_targets(void **state)
{
	end_child();
	map_outputs_fini(&outputs);
	targets_fini(&targets);
	temp_dir_remove(map_dir);
	return 0;
}

void tick(uint64_t now_ns)
{
	map_outputs_step(&outputs, now_ns);
	targets_tick(&targets, now_ns, 0);
}

enum targets_verdict say(enum intake_kind kind)
{
	return targets_apply_intake(&targets,
				    &(struct intake_event){.kind = kind, .session = &session});
}

void say_records(struct wire_buf *records)
{
	struct wire_message message = {.records = records->data, .records_len = records->len};
	struct intake_event event = {.kind = INTAKE_RECORD, .session = &session};
	struct wire_reader reader;

	wire_reader_init(&reader, &message);
	while (wire_reader_next(&reader, &event.record) > 0)
		targets_apply_intake(&targets, &event);
	records->len = 0;
}

uint8_t bytes[65536];
struct wire_buf buf = {.data = bytes, .size = sizeof(bytes)};

uint64_t loaded_ns;

void say_hello(const char *command)
{
	const struct wire_attr attr = {wire_str_from("java.command"), wire_str_from(command)};

	wire_encode_hello(&buf,
			  &(struct wire_hello){.pid = 1, .loaded_ns = loaded_ns, .n_attrs = 1},
			  &attr, NULL);
	say_records(&buf);
}

struct process *connect_agent(void)
{
	assert_int_equal(say(INTAKE_OPENED), TARGETS_KEEP);
	say_hello("com.acme.Main");
	return targets_find(&targets, child);
}

void say_load(uint64_t addr, uint32_t size, const char *method, uint64_t time_ns)
{
	wire_encode_method_load(&buf, 0,
				&(struct wire_method_load){
					.time_ns = time_ns,
					.addr = addr,
					.size = size,
					.level = 4,
					.class_sig = wire_str_from("Lcom/acme/Main;"),
					.method = wire_str_from(method),
					.method_sig = wire_str_from("()V"),
				});
	say_records(&buf);
}
