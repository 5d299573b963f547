// SPDX-License-Identifier: Apache-2.0
/* Applies what an agent says to the process it says it of, see code_events.h. */
#include "target/code_events.h"

#include "base/log.h"
#include "target/java_text.h"

#include <errno.h>
#include <string.h>

/*
 * Agents say when on their own clock, which a time namespace may have moved. A time in the future
 * would outlive every later event at that address, so there is none.
 */
static uint64_t host_time(const struct process *process, uint64_t time_ns, uint64_t now_ns)
{
	const uint64_t host = time_ns - (uint64_t)process->clock_offset_ns;

	return host < now_ns ? host : now_ns;
}

static const char *java_str(struct process *process, struct wire_str s)
{
	return process_name(process, s.data, s.len);
}

static const char *class_name(struct process *process, struct wire_str signature)
{
	const char *text = signature.data;
	size_t len = signature.len;

	java_text_strip_class(&text, &len);
	return process_name(process, text, len);
}

/* A name of ours where the JVM says none. */
static const char *name_or(struct process *process, struct wire_str s, const char *otherwise)
{
	return s.len > 0 ? java_str(process, s)
			 : process_name(process, otherwise, strlen(otherwise));
}

static void add_range(struct process *process, const struct code_range *range, bool is_resync,
		      uint64_t now_ns)
{
	const int n = code_map_add(process->code, range, is_resync);

	if (n < 0)
		process->jvm->bad_records++;
	else if (n > 0)
		map_writer_mark(&process->map, range, now_ns);
}

static int apply_load(struct process *process, const struct wire_record *record, uint64_t now_ns)
{
	static const uint8_t kinds[] = {
		[WIRE_CODE_UNKNOWN] = CODE_JAVA,
		[WIRE_CODE_JAVA] = CODE_JAVA,
		[WIRE_CODE_NATIVE_WRAPPER] = CODE_NATIVE_WRAPPER,
		[WIRE_CODE_OSR] = CODE_OSR,
	};
	struct wire_method_load load;
	const int err = wire_decode_method_load(record, &load);
	struct code_range range;

	if (err)
		return err;
	if (!code_range_is_valid(load.addr, load.size))
		return -EINVAL; /* before its names are kept */
	range = (struct code_range){
		.addr = load.addr,
		.size = load.size,
		.kind = load.code_kind < sizeof(kinds) ? kinds[load.code_kind] : CODE_JAVA,
		.level = load.level,
		.birth_ns = host_time(process, load.time_ns, now_ns),
		.class_name = class_name(process, load.class_sig),
		.name = name_or(process, load.method, "[unnamed method]"),
		.signature = java_str(process, load.method_sig),
		.source_file = java_str(process, load.source_file),
	};
	add_range(process, &range, record->flags & WIRE_FLAG_RESYNC, now_ns);
	return 0;
}

static int apply_stub(struct process *process, const struct wire_record *record, uint64_t now_ns)
{
	struct wire_stub stub;
	const int err = wire_decode_stub(record, &stub);
	struct code_range range;

	if (err)
		return err;
	if (!code_range_is_valid(stub.addr, stub.size))
		return -EINVAL;
	range = (struct code_range){
		.addr = stub.addr,
		.size = stub.size,
		.kind = CODE_STUB,
		.level = CODE_LEVEL_UNKNOWN,
		.birth_ns = host_time(process, stub.time_ns, now_ns),
		.name = name_or(process, stub.name, "[unnamed stub]"),
	};
	add_range(process, &range, record->flags & WIRE_FLAG_RESYNC, now_ns);
	return 0;
}

static int apply_unload(struct process *process, const struct wire_record *record, uint64_t now_ns)
{
	struct wire_method_unload unload;
	const int err = wire_decode_method_unload(record, &unload);

	/* The map keeps a dropped method's line until its addresses are used again. */
	if (!err)
		code_map_remove(process->code, unload.addr,
				host_time(process, unload.time_ns, now_ns));
	return err;
}

static int apply_resync(struct process *process, const struct wire_record *record, uint64_t now_ns)
{
	struct jvm *jvm = process->jvm;
	struct wire_resync resync;
	const int err = wire_decode_resync(record, &resync);

	if (err)
		return err;
	if (record->kind == WIRE_RESYNC_BEGIN) {
		jvm->state = JVM_RESYNCING;
		jvm->is_resyncing = true;
		jvm->resync_epoch = resync.epoch;
		code_map_resync_begin(process->code, host_time(process, resync.time_ns, now_ns));
		return 0;
	}
	if (!jvm->is_resyncing || jvm->resync_epoch != resync.epoch)
		return -EPROTO; /* the end of another one proves nothing of this one */
	jvm->is_resyncing = false;
	if (code_map_resync_end(process->code, resync.complete) > 0)
		map_writer_mark(&process->map, NULL, now_ns);
	if (resync.complete) {
		jvm->state = JVM_CURRENT;
		jvm->resyncs++;
	}
	return 0;
}

static int apply_hello(struct process *process, const struct wire_record *record)
{
	struct wire_hello hello;
	const int err = wire_decode_hello(record, &hello);

	if (err)
		return err;
	process->jvm->has_hello = true;
	return process_set_hello(process, &hello);
}

static int apply_loss(struct process *process, const struct wire_record *record)
{
	struct wire_loss loss;
	const int err = wire_decode_loss(record, &loss);

	if (!err)
		memcpy(process->jvm->lost, loss.count, sizeof(process->jvm->lost));
	return err;
}

static int apply_bye(struct process *process, const struct wire_record *record)
{
	struct wire_bye bye;
	const int err = wire_decode_bye(record, &bye);

	if (!err)
		process->jvm->state = JVM_ENDED;
	return err;
}

static int apply_thread(struct process *process, const struct wire_record *record)
{
	struct wire_thread thread;
	const int err = wire_decode_thread(record, &thread);
	const char *name;

	if (err)
		return err;
	name = java_str(process, thread.name);
	return name ? process_set_thread_name(process, (pid_t)thread.tid, name) : 0;
}

void code_events_apply(struct process *process, const struct wire_record *record, uint64_t now_ns)
{
	int err = 0;

	if (!process->jvm->has_hello && record->kind != WIRE_HELLO) {
		process->jvm->bad_records++;
		return;
	}
	switch (record->kind) {
	case WIRE_HELLO:
		err = apply_hello(process, record);
		break;
	case WIRE_RESYNC_BEGIN:
	case WIRE_RESYNC_END:
		err = apply_resync(process, record, now_ns);
		break;
	case WIRE_METHOD_LOAD:
		err = apply_load(process, record, now_ns);
		break;
	case WIRE_METHOD_UNLOAD:
		err = apply_unload(process, record, now_ns);
		break;
	case WIRE_STUB:
		err = apply_stub(process, record, now_ns);
		break;
	case WIRE_LOSS:
		err = apply_loss(process, record);
		break;
	case WIRE_BYE:
		err = apply_bye(process, record);
		break;
	case WIRE_THREAD:
		err = apply_thread(process, record);
		break;
	default:
		process->jvm->unknown_records++;
		break;
	}
	if (err)
		process->jvm->bad_records++;
	process_compact_names(process, now_ns); /* no name is borrowed any more */
}
