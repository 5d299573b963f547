// SPDX-License-Identifier: Apache-2.0
/*
 * Makes one METHOD_LOAD record, from the JVM's answers to the buffer. The strings of the record
 * name its method the first time; they are empty once the method has an ID.
 */
#include "naming.h"

#define SHORTENED_BYTES 1000

void naming_init(struct naming *naming)
{
	pthread_mutex_init(&naming->lock, NULL);
}

void naming_open(struct naming *naming, struct naming_memory *memory, size_t buffer_bytes)
{
	const size_t wanted = buffer_bytes / 4;

	pthread_mutex_lock(&naming->lock);
	naming->memory = memory;
	naming->section_bytes = wanted < INLINE_TABLE_MAX_BYTES ? wanted : INLINE_TABLE_MAX_BYTES;
	pthread_mutex_unlock(&naming->lock);
}

void naming_close(struct naming *naming)
{
	naming_open(naming, NULL, 0);
}

void naming_shorten(struct wire_str *s)
{
	if (s->len > SHORTENED_BYTES)
		s->len = SHORTENED_BYTES;
}

static void set_names(struct wire_method_load *load, const struct method_text *text,
		      enum naming_form form)
{
	load->class_sig = wire_str_from(text->class_sig);
	load->method = wire_str_from(text->name);
	load->method_sig = wire_str_from(text->sig);
	load->source_file = wire_str_from(text->source_file);
	if (form != NAMING_CUT)
		return;
	naming_shorten(&load->class_sig);
	naming_shorten(&load->method);
	naming_shorten(&load->method_sig);
	naming_shorten(&load->source_file);
}

/* One record that is being made, while the lock is held. */
struct attempt {
	struct naming *naming;
	const struct loaded_code *code;
	enum naming_form form;
	struct wire_method_load load;
	struct method_text text;
	bool failed;
};

static bool add_table(struct attempt *attempt)
{
	struct naming *naming = attempt->naming;
	struct inline_table table = {
		.reader = &naming->reader,
		.ids = &naming->memory->ids,
		.memory = &naming->memory->table,
		.max_bytes = naming->section_bytes,
		.self = &attempt->text,
	};

	if (!inline_table_encode(&table, attempt->code))
		return false;
	attempt->load.sections = naming->memory->table.section;
	attempt->load.sections_len = table.len;
	attempt->failed = table.failed;
	return true;
}

static enum recorder_result run(struct attempt *attempt, struct recorder *recorder, uint16_t flags)
{
	struct method_ids *ids = &attempt->naming->memory->ids;
	enum recorder_result result = RECORDER_TOO_LARGE;

	if (attempt->form != NAMING_FULL)
		attempt->failed = !method_text_read(&attempt->naming->reader, attempt->code->method,
						    &attempt->text);
	if (attempt->form != NAMING_FULL || add_table(attempt)) {
		set_names(&attempt->load, &attempt->text, attempt->form);
		result = recorder_add_load(recorder, flags, &attempt->load);
	}
	if (result == RECORDER_ADDED)
		method_ids_keep(ids);
	else
		method_ids_take_back(ids);
	method_text_free(&attempt->naming->reader, &attempt->text);
	return result;
}

enum recorder_result naming_add_load(struct naming *naming, struct recorder *recorder,
				     uint16_t flags, const struct loaded_code *code,
				     enum naming_form form)
{
	struct attempt attempt = {
		.naming = naming,
		.code = code,
		.form = form,
		.load = {.addr = (uintptr_t)code->addr,
			 .size = code->size,
			 .level = code->level,
			 .code_kind = code->kind,
			 .frame = code->frame},
	};
	enum recorder_result result = RECORDER_OFF;

	pthread_mutex_lock(&naming->lock);
	if (naming->memory)
		result = run(&attempt, recorder, flags);
	pthread_mutex_unlock(&naming->lock);
	if (attempt.failed && result == RECORDER_ADDED)
		recorder_count_loss(recorder, WIRE_LOSS_JVMTI, 1);
	return result;
}
