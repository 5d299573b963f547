// SPDX-License-Identifier: Apache-2.0
/* Applies an agent's records to the agent's process, see code_events.h. */
#include "process/code_events.h"

#include "base/log.h"
#include "code/java_text.h"
#include "process/code_inlines.h"

#include <errno.h>
#include <string.h>

/*
 * Turns an agent's time into the host's. Agents use their own clock, which a time namespace may
 * have moved. A time in the future is replaced by now, because such a range would outlive all later
 * events at its address.
 */
static uint64_t host_time(const struct process *process, uint64_t time_ns, uint64_t now_ns)
{
	const uint64_t host = time_ns - (uint64_t)process->clock_offset_ns;

	return host < now_ns ? host : now_ns;
}

/*
 * A range in a resync existed before, and its time is that of the resync's record. perf finds code
 * by time alone, and the true birth is not known, so perf gets the time at which the resync began.
 */
static void tell_range(struct process *process, const struct code_range *range, bool is_resync,
		       uint64_t now_ns)
{
	const struct code_listener *const listener = process->listener;
	const struct jvm *const jvm = process->jvm;
	struct code_event event = {
		.news = CODE_ADDED, .now_ns = now_ns, .range = range, .begin_ns = range->birth_ns};

	if (is_resync && jvm->is_resyncing && jvm->resync_ns < event.begin_ns)
		event.begin_ns = jvm->resync_ns;
	if (listener)
		listener->hear(listener->arg, process, &event);
}

/*
 * Notes HotSpot's method enterSpecial, which HotSpot generates when it first mounts a virtual
 * thread.
 */
static void note_mounting(struct jvm *jvm, const struct code_range *range)
{
	if (range->kind == CODE_NATIVE_WRAPPER && range->frame.complete > 0 && range->class_name &&
	    range->name && strcmp(range->name, "enterSpecial") == 0 &&
	    strcmp(range->class_name, "jdk/internal/vm/Continuation") == 0)
		jvm->mounting_pc = range->addr + range->frame.complete;
}

static void add_range(struct process *process, struct code_range *range, bool is_resync,
		      uint64_t now_ns)
{
	const struct code_listener *const listener = process->listener;
	int n;

	range->dump_index = listener ? listener->number(listener->arg) : 0;
	note_mounting(process->jvm, range);
	n = code_map_add(process->code, range, is_resync);

	if (n < 0)
		process->jvm->bad_records++;
	if (n > 0)
		tell_range(process, range, is_resync, now_ns);
}

static enum code_kind load_kind(uint8_t kind)
{
	switch (kind) {
	case WIRE_CODE_NATIVE_WRAPPER:
		return CODE_NATIVE_WRAPPER;
	case WIRE_CODE_OSR:
		return CODE_OSR;
	default:
		return CODE_JAVA;
	}
}

static bool is_sound(const struct wire_frame *said, uint32_t code_size)
{
	return said->size <= CODE_FRAME_MAX_BYTES && said->size % 8 == 0 &&
	       said->complete <= code_size && said->entry <= code_size;
}

/*
 * Checks the frame facts, because the unwinder trusts them. Broken facts are counted. Without the
 * frame's size the other facts are of no use.
 */
static struct code_frame take_frame(struct process *process, const struct wire_frame *said,
				    uint32_t code_size, bool is_broken)
{
	if (is_broken || !is_sound(said, code_size)) {
		process->jvm->lost_frames++;
		return (struct code_frame){0};
	}
	if (said->size == 0)
		return (struct code_frame){0};
	return (struct code_frame){
		.size = said->size, .complete = said->complete, .entry = said->entry};
}

/* Whether code of the class is Truffle's, whose functions have their names in the JVM's memory. */
static bool is_of_truffle(const char *class_name)
{
	static const char target[] = "OptimizedCallTarget";
	const size_t len = class_name ? strlen(class_name) : 0;

	return len >= sizeof(target) &&
	       strcmp(class_name + len - (sizeof(target) - 1), target) == 0;
}

/* The living range that the load repeats, if it has the name of a function of another language. */
static const struct code_range *find_guest(const struct process *process,
					   const struct wire_method_load *load)
{
	const struct code_range *const known = code_map_living(process->code, load->addr);

	return known && known->is_read && known->kind != CODE_STUB && !known->class_name &&
			       known->size == load->size
		       ? known
		       : NULL;
}

/* Code of Truffle's that is told of again keeps its function's name; other code has its own. */
static void name_guest(struct process *process, const struct wire_method_load *load,
		       struct code_method *names)
{
	const struct code_range *guest;

	if (!is_of_truffle(names->class_name))
		return;
	process->jvm->has_guests = true;
	guest = find_guest(process, load);
	if (guest)
		*names = (struct code_method){.name = guest->name};
}

static int apply_load(struct process *process, const struct wire_record *record, bool is_read,
		      uint64_t now_ns)
{
	struct wire_method_load load;
	const int err = wire_decode_method_load(record, &load);
	struct inline_table *inlines;
	struct code_method names;

	if (err)
		return err;
	if (!code_range_is_valid(load.addr, load.size))
		return -EINVAL; /* checked before the names are kept */
	inlines = code_inlines_read(process, &load, &names);
	if (!is_read)
		name_guest(process, &load, &names);
	struct code_range range = {
		.addr = load.addr,
		.size = load.size,
		.kind = load_kind(load.code_kind),
		.level = load.level,
		.is_read = is_read,
		.frame = take_frame(process, &load.frame, load.size, load.frame_is_broken),
		.birth_ns = host_time(process, load.time_ns, now_ns),
		.class_name = names.class_name,
		.name = names.name,
		.signature = names.signature,
		.source_file = names.source_file,
		.inlines = inlines,
	};
	add_range(process, &range, record->flags & WIRE_FLAG_RESYNC, now_ns);
	return 0;
}

static const char *stub_name(struct process *process, struct wire_str said)
{
	static const char unnamed[] = "[unnamed stub]";

	return said.len > 0 ? process_name(process, said.data, said.len)
			    : process_name(process, unnamed, sizeof(unnamed) - 1);
}

/*
 * When all code is asked for, HotSpot from JDK 21 on also reports a stub that a compiler thread is
 * generating: from its start to address 0, cut to 32 bits. Such a range of up to 4 GiB would
 * replace all code and libraries behind the start. When the stub is complete and can run, HotSpot
 * reports it again with its true size.
 */
static bool is_incomplete(const struct wire_stub *stub)
{
	return stub->size > 0 && (uint32_t)(stub->addr + stub->size) == 0;
}

static int apply_stub(struct process *process, const struct wire_record *record, bool is_read,
		      uint64_t now_ns)
{
	struct wire_stub stub;
	const int err = wire_decode_stub(record, &stub);
	struct code_range range;

	if (err)
		return err;
	if (is_incomplete(&stub))
		return 0;
	if (!code_range_is_valid(stub.addr, stub.size))
		return -EINVAL;
	range = (struct code_range){
		.addr = stub.addr,
		.size = stub.size,
		.kind = CODE_STUB,
		.level = CODE_LEVEL_UNKNOWN,
		.is_read = is_read,
		.frame = take_frame(process, &stub.frame, stub.size, stub.frame_is_broken),
		.birth_ns = host_time(process, stub.time_ns, now_ns),
		.name = stub_name(process, stub.name),
	};
	add_range(process, &range, record->flags & WIRE_FLAG_RESYNC, now_ns);
	return 0;
}

static int apply_unload(struct process *process, const struct wire_record *record, uint64_t now_ns)
{
	struct wire_method_unload unload;
	const int err = wire_decode_method_unload(record, &unload);

	/* The map keeps the line of an unloaded method until its addresses are used again. */
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
		jvm->resync_ns = host_time(process, resync.time_ns, now_ns);
		code_map_resync_begin(process->code, jvm->resync_ns);
		return 0;
	}
	if (!jvm->is_resyncing || jvm->resync_epoch != resync.epoch)
		return -EPROTO; /* the end of another resync proves nothing about this one */
	jvm->is_resyncing = false;
	if (code_map_resync_end(process->code, resync.complete) > 0)
		process_tell(process, CODE_CHANGED, now_ns);
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
	process->jvm->loaded_ns = hello.loaded_ns;
	process->jvm->probes = (struct wire_probes){0};
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

static int apply_probes(struct process *process, const struct wire_record *record)
{
	return wire_decode_probes(record, &process->jvm->probes);
}

static int apply_bye(struct process *process, const struct wire_record *record)
{
	struct wire_bye bye;
	const int err = wire_decode_bye(record, &bye);

	if (!err)
		process->jvm->state = JVM_ENDED;
	return err;
}

static int apply_thread(struct process *process, const struct wire_record *record, uint64_t now_ns)
{
	struct wire_thread thread;
	const int err = wire_decode_thread(record, &thread);
	const char *name;

	if (err)
		return err;
	name = process_name(process, thread.name.data, thread.name.len);
	return name ? process_set_thread_name(process, (pid_t)thread.tid, name,
					      host_time(process, thread.time_ns, now_ns))
		    : 0;
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
		err = apply_load(process, record, false, now_ns);
		break;
	case WIRE_METHOD_UNLOAD:
		err = apply_unload(process, record, now_ns);
		break;
	case WIRE_STUB:
		err = apply_stub(process, record, false, now_ns);
		break;
	case WIRE_LOSS:
		err = apply_loss(process, record);
		break;
	case WIRE_PROBES:
		err = apply_probes(process, record);
		break;
	case WIRE_BYE:
		err = apply_bye(process, record);
		break;
	case WIRE_THREAD:
		err = apply_thread(process, record, now_ns);
		break;
	default:
		process->jvm->unknown_records++;
		break;
	}
	if (err)
		process->jvm->bad_records++;
	process_compact_names(process, now_ns); /* no name is borrowed here any more */
}

/* ---- beside an agent ---- */

/*
 * Whether what was read takes the place of what is known. Code that was born after the reading saw
 * the place has replaced what was there.
 */
static bool is_newer(const struct process *process, uint64_t addr, uint32_t size, uint64_t read_ns)
{
	return code_range_is_valid(addr, size) &&
	       code_map_last_birth(process->code, addr, size) < read_ns;
}

static bool apply_load_beside(struct process *process, const struct wire_record *record,
			      uint64_t now_ns)
{
	const struct code_range *known;
	struct wire_method_load load;

	if (wire_decode_method_load(record, &load) < 0)
		return false;
	known = code_map_living(process->code, load.addr);
	if (known && known->size == load.size) {
		const char *const name =
			load.class_sig.len == 0 && load.method.len > 0
				? process_name(process, load.method.data, load.method.len)
				: NULL;

		if (name && known->kind != CODE_STUB && is_of_truffle(known->class_name)) {
			code_map_name_living(process->code, load.addr, name);
			process_tell(process, CODE_CHANGED, now_ns);
			return true;
		}
		return false;
	}
	return is_newer(process, load.addr, load.size, host_time(process, load.time_ns, now_ns)) &&
	       apply_load(process, record, true, now_ns) == 0;
}

/* Stubs have no events of their end: what is known of a place is right. */
static bool apply_stub_beside(struct process *process, const struct wire_record *record,
			      uint64_t now_ns)
{
	struct wire_stub stub;

	return wire_decode_stub(record, &stub) == 0 && is_newer(process, stub.addr, stub.size, 1) &&
	       apply_stub(process, record, true, now_ns) == 0;
}

static bool apply_unload_beside(struct process *process, const struct wire_record *record,
				uint64_t now_ns)
{
	const struct code_range *known;
	struct wire_method_unload unload;

	if (wire_decode_method_unload(record, &unload) < 0)
		return false;
	known = code_map_living(process->code, unload.addr);
	return known && known->is_read && apply_unload(process, record, now_ns) == 0;
}

bool code_events_apply_beside(struct process *process, const struct wire_record *record,
			      uint64_t now_ns)
{
	bool is_changed = false;

	if (record->kind == WIRE_METHOD_LOAD)
		is_changed = apply_load_beside(process, record, now_ns);
	else if (record->kind == WIRE_STUB)
		is_changed = apply_stub_beside(process, record, now_ns);
	else if (record->kind == WIRE_METHOD_UNLOAD)
		is_changed = apply_unload_beside(process, record, now_ns);
	process_compact_names(process, now_ns);
	return is_changed;
}
