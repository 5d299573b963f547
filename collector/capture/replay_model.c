// SPDX-License-Identifier: Apache-2.0
/* Builds processes from a capture's records, see replay_model.h. */
#include "capture/replay_model.h"

#include "maps/foreign_map.h"
#include "process/code_inlines.h"
#include "shared/wire.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define MAX_NUMBER (1u << 24)

/* ---- code ---- */

/* The one record in these bytes. */
static int read_wire(const uint8_t *data, size_t len, struct wire_record *ret)
{
	struct wire_reader reader = {.data = data, .len = len};

	return wire_reader_next(&reader, ret) == 1 ? 0 : -EINVAL;
}

static enum code_kind kind_of(uint8_t kind)
{
	if (kind == WIRE_CODE_NATIVE_WRAPPER)
		return CODE_NATIVE_WRAPPER;
	return kind == WIRE_CODE_OSR ? CODE_OSR : CODE_JAVA;
}

static struct code_frame frame_of(const struct wire_frame *said)
{
	return (struct code_frame){
		.size = said->size, .complete = said->complete, .entry = said->entry};
}

static int decode_load(struct process *process, const struct wire_record *record,
		       struct code_range *ret)
{
	struct wire_method_load load;
	struct code_method names;
	struct inline_table *inlines;

	if (wire_decode_method_load(record, &load) < 0 ||
	    !code_range_is_valid(load.addr, load.size) || load.frame.size > CODE_FRAME_MAX_BYTES)
		return -EINVAL;
	inlines = code_inlines_read(process, &load, &names);
	*ret = (struct code_range){
		.addr = load.addr,
		.size = load.size,
		.kind = (uint8_t)kind_of(load.code_kind),
		.level = load.level,
		.frame = frame_of(&load.frame),
		.class_name = names.class_name,
		.name = names.name,
		.signature = names.signature,
		.source_file = names.source_file,
		.inlines = inlines,
	};
	return 0;
}

static int decode_stub(struct process *process, const struct wire_record *record,
		       struct code_range *ret)
{
	struct wire_stub stub;

	if (wire_decode_stub(record, &stub) < 0 || !code_range_is_valid(stub.addr, stub.size) ||
	    stub.frame.size > CODE_FRAME_MAX_BYTES)
		return -EINVAL;
	*ret = (struct code_range){
		.addr = stub.addr,
		.size = stub.size,
		.kind = CODE_STUB,
		.level = CODE_LEVEL_UNKNOWN,
		.frame = frame_of(&stub.frame),
		.name = process_name(process, stub.name.data, stub.name.len),
	};
	return ret->name ? 0 : -EINVAL;
}

static int decode(struct process *process, const struct replay_code *code, struct code_range *ret)
{
	struct wire_record record;
	int err = read_wire(code->record, code->len, &record);

	if (!err)
		err = record.kind == WIRE_METHOD_LOAD ? decode_load(process, &record, ret)
						      : decode_stub(process, &record, ret);
	ret->birth_ns = code->birth_ns;
	return err;
}

static int add_foreign(struct process *process, const struct replay_code *code)
{
	struct foreign_map **const map = &process->foreign.map;
	char name[CAPTURE_MAX_TEXT];
	struct wire_record record;
	struct wire_stub stub;
	struct code_range range;

	if (read_wire(code->record, code->len, &record) < 0 ||
	    wire_decode_stub(&record, &stub) < 0 || stub.name.len >= sizeof(name) ||
	    !code_range_is_valid(stub.addr, stub.size))
		return -EINVAL;
	if (!*map && foreign_map_new(map) < 0)
		return -ENOMEM;
	memcpy(name, stub.name.data, stub.name.len);
	name[stub.name.len] = '\0';
	range = (struct code_range){
		.addr = stub.addr, .size = stub.size, .birth_ns = code->birth_ns, .name = name};
	return foreign_map_add(*map, &range) == -ENOMEM ? -ENOMEM : 0;
}

/* The end of a code range, which is told when all ranges born before it are in the map. */
struct death {
	uint64_t addr, time_ns;
};

static int compare_deaths(const void *left, const void *right)
{
	const struct death *a = left, *b = right;

	return (a->time_ns > b->time_ns) - (a->time_ns < b->time_ns);
}

/* The facts of a number; they lie one behind the other. */
static size_t find_codes(const struct replay_facts *facts, uint32_t number,
			 const struct replay_code **ret)
{
	size_t low = 0, high = facts->n_codes, n = 0;

	while (low < high) {
		const size_t middle = low + (high - low) / 2;

		if (facts->codes[middle].process < number)
			low = middle + 1;
		else
			high = middle;
	}
	*ret = &facts->codes[low];
	while (low + n < facts->n_codes && facts->codes[low + n].process == number)
		n++;
	return n;
}

static void bury(struct code_map *map, struct death *deaths, size_t n, size_t *at, uint64_t now_ns)
{
	for (; *at < n && deaths[*at].time_ns <= now_ns; ++*at)
		code_map_remove(map, deaths[*at].addr, deaths[*at].time_ns);
}

static int add_codes(struct process *process, const struct replay_code *codes, size_t n)
{
	struct death *deaths = calloc(n + 1, sizeof(*deaths));
	size_t n_deaths = 0, buried = 0;
	struct code_range range;
	int err = deaths ? 0 : -ENOMEM;

	for (size_t i = 0; !err && i < n; i++) {
		if (codes[i].is_foreign || codes[i].death_ns == 0)
			continue;
		err = decode(process, &codes[i], &range);
		if (err)
			break;
		inline_table_free(range.inlines);
		deaths[n_deaths++] =
			(struct death){.addr = range.addr, .time_ns = codes[i].death_ns};
	}
	if (n_deaths > 0)
		qsort(deaths, n_deaths, sizeof(*deaths), compare_deaths);
	for (size_t i = 0; !err && i < n; i++) {
		if (codes[i].is_foreign) {
			err = add_foreign(process, &codes[i]);
			continue;
		}
		bury(process->code, deaths, n_deaths, &buried, codes[i].birth_ns);
		err = decode(process, &codes[i], &range);
		if (!err && code_map_add(process->code, &range, false) == -ENOMEM)
			err = -ENOMEM;
	}
	if (!err)
		bury(process->code, deaths, n_deaths, &buried, UINT64_MAX);
	free(deaths);
	return err;
}

/* ---- processes ---- */

struct process *replay_model_find(const struct replay_model *model, uint32_t number)
{
	return number ? map64_find(&model->processes, number) : NULL;
}

/*
 * A hello that is taken makes all that is known of interpreted methods void, so one with equal
 * bytes is not taken again.
 */
static bool is_known_hello(struct replay_model *model, uint32_t number, const uint8_t *data,
			   size_t len)
{
	const uint8_t *const last = map64_find(&model->hellos, number);

	/* A hello says its own length. */
	if (last && (size_t)(model->facts->bytes + model->facts->len - last) >= len &&
	    memcmp(last, data, len) == 0)
		return true;
	(void)map64_put(&model->hellos, number, (void *)(uintptr_t)data);
	return false;
}

static int set_hello(struct replay_model *model, uint32_t number, struct process *process,
		     struct capture_cursor *cursor)
{
	struct wire_record record;
	struct wire_hello hello;
	size_t len;
	const uint8_t *data = capture_get_data(cursor, WIRE_MESSAGE_MAX_BYTES, &len);

	if (cursor->failed)
		return -EINVAL;
	/* None: it was too large, or has not come yet. */
	if (len == 0 || is_known_hello(model, number, data, len))
		return 0;
	if (read_wire(data, len, &record) < 0 || record.kind != WIRE_HELLO ||
	    wire_decode_hello(&record, &hello) < 0)
		return -EINVAL;
	return process_set_hello(process, &hello);
}

/* The process's JVM is known from here on. */
static int add_jvm(struct replay_model *model, struct process *process, uint32_t number,
		   struct capture_cursor *cursor)
{
	const bool is_new = !process->jvm || !process->jvm->has_hello;
	const uint64_t mounting_pc = capture_get(cursor);
	const struct replay_code *codes;
	const size_t n = find_codes(model->facts, number, &codes);
	int err = process_add_jvm(process);

	if (!err)
		err = set_hello(model, number, process, cursor);
	if (err)
		return err;
	process->jvm->state = JVM_CURRENT;
	process->jvm->mounting_pc = mounting_pc;
	process->jvm->has_hello = true;
	return is_new ? add_codes(process, codes, n) : 0;
}

/* A process without an agent has code of its perf map alone. */
static int add_foreign_codes(const struct replay_model *model, struct process *process,
			     uint32_t number)
{
	const struct replay_code *codes;
	const size_t n = find_codes(model->facts, number, &codes);
	int err = 0;

	for (size_t i = 0; !err && i < n; i++) {
		if (codes[i].is_foreign)
			err = add_foreign(process, &codes[i]);
	}
	return err;
}

static int find_or_add(struct replay_model *model, uint32_t number, pid_t pid, uint64_t start_ticks,
		       struct process **ret)
{
	int err;

	*ret = replay_model_find(model, number);
	if (*ret)
		return (*ret)->pid == pid ? 0 : -EINVAL;
	err = process_new_replayed(pid, start_ticks, ret);
	if (!err && map64_put(&model->processes, number, *ret) < 0) {
		process_free(*ret);
		err = -ENOMEM;
	}
	return err;
}

static int apply_process(struct replay_model *model, struct capture_cursor cursor)
{
	const uint32_t number = (uint32_t)capture_get_up_to(&cursor, MAX_NUMBER);
	const pid_t pid = (pid_t)capture_get_up_to(&cursor, CAPTURE_MAX_PIDS);
	const uint64_t start_ticks = capture_get(&cursor);
	const bool is_new = !replay_model_find(model, number);
	struct capture_cursor names = cursor;
	char skipped[CAPTURE_MAX_TEXT];
	struct process *process;
	bool has_jvm;
	int err;

	if (cursor.failed || number == 0)
		return -EINVAL;
	err = find_or_add(model, number, pid, start_ticks, &process);
	if (err)
		return err;
	for (int i = 0; i < 6; i++)
		capture_get_text(&cursor, skipped, sizeof(skipped));
	has_jvm = capture_get_bool(&cursor);
	if (has_jvm)
		err = add_jvm(model, process, number, &cursor);
	else if (is_new)
		err = add_foreign_codes(model, process, number);
	if (err || cursor.failed)
		return err ? err : -EINVAL;
	/* Behind the hello, of which names are made, too. */
	capture_get_text(&names, process->comm, sizeof(process->comm));
	capture_get_text(&names, process->container_id, sizeof(process->container_id));
	capture_get_text(&names, process->pod_uid, sizeof(process->pod_uid));
	capture_get_text(&names, process->workload.container, sizeof(process->workload.container));
	capture_get_text(&names, process->workload.pod, sizeof(process->workload.pod));
	capture_get_text(&names, process->workload.name_space,
			 sizeof(process->workload.name_space));
	return names.failed ? -EINVAL : 0;
}

static int apply_mappings(struct replay_model *model, struct capture_cursor cursor)
{
	struct process *const process =
		replay_model_find(model, (uint32_t)capture_get_up_to(&cursor, MAX_NUMBER));
	const uint64_t n = capture_get_up_to(&cursor, ADDRESS_SPACE_MAX);
	char path[CAPTURE_MAX_TEXT];

	if (!process || cursor.failed)
		return -EINVAL;
	address_space_fini(&process->space);
	for (uint64_t i = 0; i < n; i++) {
		struct mapping mapping = {.start = capture_get(&cursor), .path = path};
		int err;

		mapping.end = mapping.start + capture_get(&cursor);
		mapping.file_off = capture_get(&cursor);
		mapping.dev_major = (uint32_t)capture_get_up_to(&cursor, UINT32_MAX);
		mapping.dev_minor = (uint32_t)capture_get_up_to(&cursor, UINT32_MAX);
		mapping.inode = capture_get(&cursor);
		mapping.is_deleted = capture_get_bool(&cursor);
		capture_get_text(&cursor, path, sizeof(path));
		err = cursor.failed ? -EINVAL : address_space_add(&process->space, &mapping);
		if (err)
			return err;
	}
	return 0;
}

static int apply_thread(struct replay_model *model, struct capture_cursor cursor)
{
	struct process *const process =
		replay_model_find(model, (uint32_t)capture_get_up_to(&cursor, MAX_NUMBER));
	const pid_t tid = (pid_t)capture_get_up_to(&cursor, CAPTURE_MAX_PIDS);
	char name[CAPTURE_MAX_TEXT];

	capture_get_text(&cursor, name, sizeof(name));
	if (!process || cursor.failed)
		return -EINVAL;
	return process_set_thread(process, tid, name);
}

int replay_model_apply(struct replay_model *model, const struct replay_item *item)
{
	switch (item->kind) {
	case CAPTURE_PROCESS:
		return apply_process(model, item->fields);
	case CAPTURE_MAPPINGS:
		return apply_mappings(model, item->fields);
	case CAPTURE_THREAD:
		return apply_thread(model, item->fields);
	default:
		return 0;
	}
}

void replay_model_fini(struct replay_model *model)
{
	size_t pos = 0;
	uint64_t key;
	void *value;

	while (map64_next(&model->processes, &pos, &key, &value))
		process_free(value);
	map64_fini(&model->processes);
	map64_fini(&model->hellos);
}
