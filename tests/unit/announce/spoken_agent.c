// SPDX-License-Identifier: Apache-2.0
/* Says what agents say, see spoken_agent.h. */
#include "spoken_agent.h"

#include "base/process_stat.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <unistd.h>

struct engine agent_engine;
struct intake_session agent_session;
static uint8_t bytes[1 << 20];
struct wire_buf agent_buf = {.data = bytes, .size = sizeof(bytes)};

void agent_init(void)
{
	agent_engine = (struct engine){.budget = {.publish = 16 << 20}};
	targets_init(&agent_engine.targets);
	agent_session = (struct intake_session){.id = 7, .pid = getpid()};
	process_stat_start_ticks(getpid(), &agent_session.start_ticks);
	agent_buf.len = 0;
}

void agent_hear(enum intake_kind kind, const struct wire_record *record)
{
	struct intake_event event = {.kind = kind, .session = &agent_session};

	if (record)
		event.record = *record;
	targets_apply_intake(&agent_engine.targets, &event);
	if (agent_engine.listener.heard)
		agent_engine.listener.heard(agent_engine.listener.arg, &event);
}

void agent_say(void)
{
	const struct wire_message message = {.records = agent_buf.data,
					     .records_len = agent_buf.len};
	struct wire_record record;
	struct wire_reader reader;

	assert_false(agent_buf.overflow);
	wire_reader_init(&reader, &message);
	while (wire_reader_next(&reader, &record) > 0)
		agent_hear(INTAKE_RECORD, &record);
	agent_buf.len = 0;
}

void agent_say_hello(void)
{
	wire_encode_hello(&agent_buf, &(struct wire_hello){.pid = 1}, NULL, NULL);
	agent_say();
}

void agent_say_load(uint64_t addr, uint32_t size, const char *class_name, const char *method)
{
	wire_encode_method_load(&agent_buf, 0,
				&(struct wire_method_load){
					.time_ns = 1,
					.addr = addr,
					.size = size,
					.level = 4,
					.code_kind = WIRE_CODE_JAVA,
					.class_sig = wire_str_from(class_name),
					.method = wire_str_from(method),
					.method_sig = wire_str_from("()V"),
				});
	agent_say();
}

void agent_say_resync(enum wire_kind kind)
{
	wire_encode_resync(&agent_buf, kind, &(struct wire_resync){.epoch = 1, .complete = true});
	agent_say();
}

void agent_say_all(void)
{
	agent_say_hello();
	agent_say_resync(WIRE_RESYNC_BEGIN);
	agent_say_resync(WIRE_RESYNC_END);
}
