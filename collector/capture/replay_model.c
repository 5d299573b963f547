// SPDX-License-Identifier: Apache-2.0
/* Builds processes from a capture's records, see replay_model.h. */
#include "capture/replay_model.h"

#include "shared/wire.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

void replay_model_init(struct replay_model *model, const struct replay_facts *facts)
{
	*model = (struct replay_model){.facts = facts};
}

/* ---- processes ---- */

struct process *replay_model_find(const struct replay_model *model, uint32_t number)
{
	return number ? map64_find(&model->processes, number) : NULL;
}

/*
 * Whether the hello's bytes are known. A hello that is applied again would make all that is known
 * of interpreted methods void.
 */
static bool is_known_hello(struct replay_model *model, uint32_t number, const uint8_t *data,
			   size_t len)
{
	const uint8_t *const last = map64_find(&model->hellos, number);

	/* A hello has its own length in its bytes. */
	if (last && (size_t)(model->facts->bytes + model->facts->len - last) >= len &&
	    memcmp(last, data, len) == 0)
		return true;
	(void)map64_put(&model->hellos, number, (void *)(uintptr_t)data);
	return false;
}

/* Reads the only record in the bytes. */
static int read_wire(const uint8_t *data, size_t len, struct wire_record *ret)
{
	struct wire_reader reader = {.data = data, .len = len};

	return wire_reader_next(&reader, ret) == 1 ? 0 : -EINVAL;
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
	/* No hello: the hello was too large, or had not come yet. */
	if (len == 0 || is_known_hello(model, number, data, len))
		return 0;
	if (read_wire(data, len, &record) < 0 || record.kind != WIRE_HELLO ||
	    wire_decode_hello(&record, &hello) < 0)
		return -EINVAL;
	return process_set_hello(process, &hello);
}

/* Makes the process's JVM known from here on. A store of the model answers for its code. */
static int add_jvm(struct replay_model *model, struct process *process, uint32_t number,
		   struct capture_cursor *cursor)
{
	const uint64_t mounting_pc = capture_get(cursor);
	struct replay_code *code = map64_find(&model->codes, number);
	int err = process_add_jvm(process);

	if (!err && !code) {
		err = replay_code_new(process, &code);
		if (!err && map64_put(&model->codes, number, code) < 0) {
			replay_code_free(code);
			err = -ENOMEM;
		}
	}
	if (!err)
		err = set_hello(model, number, process, cursor);
	if (err)
		return err;
	process->jvm->state = JVM_CURRENT;
	process->jvm->mounting_pc = mounting_pc;
	return 0;
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
	const uint32_t number = (uint32_t)capture_get_up_to(&cursor, CAPTURE_MAX_PROCESSES);
	const pid_t pid = (pid_t)capture_get_up_to(&cursor, CAPTURE_MAX_PIDS);
	const uint64_t start_ticks = capture_get(&cursor);
	struct capture_cursor names = cursor;
	char skipped[CAPTURE_MAX_TEXT], image[CONTAINER_IMAGE_BYTES] = "";
	struct process *process;
	bool has_jvm, is_outside = false;
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
	if (!err && !cursor.failed && cursor.at < cursor.end) /* writers before have no image */
		capture_get_text(&cursor, image, sizeof(image));
	if (!err && !cursor.failed && cursor.at < cursor.end) /* nor did they say how it was read */
		is_outside = capture_get_bool(&cursor);
	if (err || cursor.failed)
		return err ? err : -EINVAL;
	if (process->jvm)
		process->jvm->is_outside = is_outside;
	/* Names are set after the hello, because the hello also sets names. */
	capture_get_text(&names, process->comm, sizeof(process->comm));
	capture_get_text(&names, process->container_id, sizeof(process->container_id));
	capture_get_text(&names, process->pod_uid, sizeof(process->pod_uid));
	capture_get_text(&names, process->workload.container, sizeof(process->workload.container));
	capture_get_text(&names, process->workload.pod, sizeof(process->workload.pod));
	capture_get_text(&names, process->workload.name_space,
			 sizeof(process->workload.name_space));
	if (image[0])
		label_set_add(&process->workload.labels, WORKLOAD_IMAGE, image);
	return names.failed ? -EINVAL : 0;
}

static int apply_mappings(struct replay_model *model, struct capture_cursor cursor)
{
	struct process *const process = replay_model_find(
		model, (uint32_t)capture_get_up_to(&cursor, CAPTURE_MAX_PROCESSES));
	const uint64_t n = capture_get_up_to(&cursor, ADDRESS_SPACE_MAX);
	char path[CAPTURE_MAX_TEXT];
	uint64_t last_end = 0;

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
		/* They rise, as the writer's do: others would have to be sorted in. */
		err = cursor.failed || mapping.start < last_end
			      ? -EINVAL
			      : address_space_add(&process->space, &mapping);
		last_end = mapping.end;
		if (err)
			return err;
	}
	return 0;
}

static int apply_thread(struct replay_model *model, struct capture_cursor cursor)
{
	struct process *const process = replay_model_find(
		model, (uint32_t)capture_get_up_to(&cursor, CAPTURE_MAX_PROCESSES));
	const pid_t tid = (pid_t)capture_get_up_to(&cursor, CAPTURE_MAX_PIDS);
	char name[CAPTURE_MAX_TEXT], cut[CAPTURE_MAX_TEXT] = "";

	capture_get_text(&cursor, name, sizeof(name));
	if (!cursor.failed && cursor.at < cursor.end)
		capture_get_text(&cursor, cut, sizeof(cut));
	if (!process || cursor.failed)
		return -EINVAL;
	return process_set_thread(process, tid, name, cut[0] ? cut : NULL);
}

static int apply_code(struct replay_model *model, struct capture_cursor cursor)
{
	const uint32_t number = (uint32_t)capture_get_up_to(&cursor, CAPTURE_MAX_PROCESSES);
	struct process *const process = replay_model_find(model, number);
	struct replay_code *const code = map64_find(&model->codes, number);
	struct replay_code_fact fact = {.is_foreign = capture_get_bool(&cursor)};
	const uint8_t *data;
	size_t len;

	fact.birth_ns = capture_get(&cursor);
	fact.death_ns = capture_get(&cursor);
	data = capture_get_data(&cursor, WIRE_MESSAGE_MAX_BYTES, &len);
	if (cursor.failed || !process || read_wire(data, len, &fact.record) < 0 ||
	    model->n_code++ == CAPTURE_MAX_CODE)
		return -EINVAL;
	if (fact.is_foreign)
		return replay_code_add_foreign(process, &fact);
	return code ? replay_code_add(code, &fact) : -EINVAL;
}

int replay_model_apply(struct replay_model *model, const struct replay_item *item)
{
	switch (item->kind) {
	case CAPTURE_PROCESS:
		return apply_process(model, item->fields);
	case CAPTURE_MAPPINGS:
		return apply_mappings(model, item->fields);
	case CAPTURE_CODE:
		return apply_code(model, item->fields);
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

	/* The codes are freed first, because their tables refer to methods of the processes. */
	while (map64_next(&model->codes, &pos, &key, &value))
		replay_code_free(value);
	pos = 0;
	while (map64_next(&model->processes, &pos, &key, &value))
		process_free(value);
	map64_fini(&model->codes);
	map64_fini(&model->processes);
	map64_fini(&model->hellos);
}
