// SPDX-License-Identifier: Apache-2.0
/*
 * The body of POST /v1development/profiles: an ExportProfilesServiceRequest of ../proto/otlp.proto,
 * gzipped.
 *
 *   resource    the labels as attributes, by OpenTelemetry's names where there is one
 *   profile     one: one type of values, the samples, time, duration and period; and the quality
 *               line as attributes, which servers make no label of
 *   dictionary  entry 0 of each table has no fields. Texts, functions, locations and stacks are
 *               written when the first sample needs them, and only their numbers are kept; fields
 *               of a message may be in any order
 *   location    a frame with machine code of its own and, before it, the frames inlined into it.
 *               profile.frame.type says jvm, native or kernel
 *   mapping     a module, with the attribute process.executable.build_id.gnu
 *
 * Times are values of one kind; a stack has one sample. There are no addresses, because the tree
 * has none. A thread pool is a label.
 *
 * One file, because each table is written in the middle of what needs it.
 */
#include "push/push_message.h"

#include "base/cleanup.h"
#include "base/intern.h"
#include "base/map64.h"
#include "encode/compressor.h"
#include "encode/text.h"
#include "push/proto_out.h"
#include "render/source.h"
#include "render/tuples.h"

#include "otlp.pb.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct otlp_writer {
	const struct profile *profile;
	struct bytes dictionary, entry, inner, text, samples;
	struct intern texts;
	struct map64 numbers; /* address of a text -> its number */
	uint32_t text_count;
	struct tuples attributes; /* key, text */
	struct tuples mappings;	  /* name, build ID */
	struct tuples functions;  /* name, kind, file, mapping */
	struct tuples locations;  /* function, line, 1 + the location it is inlined into or 0 */
	uint32_t *location_of;	  /* node -> location */
	struct bytes packed;
	bool failed;
};

/* ---- tables: the number 0 stands for nothing ---- */

static uint32_t number_of_text(struct otlp_writer *writer, const char *text)
{
	const char *kept;
	uintptr_t number;

	if (!text || !text[0])
		return 0;
	writer->text.len = 0;
	text_clean(&writer->text, text, UTF8_REPLACEMENT);
	kept = intern_add_str(&writer->texts, bytes_text(&writer->text));
	number = kept ? (uintptr_t)map64_find(&writer->numbers, (uint64_t)(uintptr_t)kept) : 0;
	if (number)
		return (uint32_t)number;
	number = ++writer->text_count;
	proto_put_text(&writer->dictionary, otlp_ProfilesDictionary_string_table_tag,
		       bytes_text(&writer->text));
	if (!kept || map64_put(&writer->numbers, (uint64_t)(uintptr_t)kept, (void *)number) < 0 ||
	    writer->text.failed)
		writer->failed = true;
	return (uint32_t)number;
}

/* The number of a tuple, counted from 1; *ret_is_new: its entry is to be written. */
static uint32_t number_of(struct otlp_writer *writer, struct tuples *tuples, struct tuple tuple,
			  bool *ret_is_new)
{
	const uint32_t before = tuples->count;
	const uint32_t number = tuples_add(tuples, tuple);

	*ret_is_new = number == before;
	if (number == TUPLES_NONE) {
		writer->failed = true;
		*ret_is_new = false;
		return 0;
	}
	return number + 1;
}

/* Lists of numbers are packed, also those of one number. */
static void put_index(struct otlp_writer *writer, uint32_t field, uint32_t number)
{
	if (number == 0)
		return;
	bytes_add_varint(&writer->packed, number);
	proto_put_message(&writer->entry, field, &writer->packed);
}

static void put_entry(struct otlp_writer *writer, uint32_t table)
{
	proto_put_message(&writer->dictionary, table, &writer->entry);
}

/* An attribute that has a text. */
static uint32_t number_of_attribute(struct otlp_writer *writer, const char *key, const char *text)
{
	const uint32_t key_number = number_of_text(writer, key);
	bool is_new;
	const uint32_t number =
		number_of(writer, &writer->attributes,
			  (struct tuple){{key_number, number_of_text(writer, text)}}, &is_new);

	if (is_new) {
		writer->text.len = 0;
		text_clean(&writer->text, text, UTF8_REPLACEMENT);
		proto_put_text(&writer->inner, otlp_AnyValue_string_value_tag,
			       bytes_text(&writer->text));
		proto_put_number(&writer->entry, otlp_KeyValueAndUnit_key_strindex_tag, key_number);
		proto_put_message(&writer->entry, otlp_KeyValueAndUnit_value_tag, &writer->inner);
		put_entry(writer, otlp_ProfilesDictionary_attribute_table_tag);
	}
	return number;
}

/* An attribute that is a number has an entry of its own. */
static uint32_t add_number_attribute(struct otlp_writer *writer, const char *key, uint64_t value)
{
	const uint32_t key_number = number_of_text(writer, key);
	bool is_new;
	const uint32_t number = number_of(
		writer, &writer->attributes,
		(struct tuple){{key_number, UINT32_MAX, (uint32_t)value, (uint32_t)(value >> 32)}},
		&is_new);

	if (is_new) {
		/* 0 is written too: a value without a field would be no value. */
		bytes_add_char(&writer->inner, (char)(otlp_AnyValue_int_value_tag << 3));
		bytes_add_varint(&writer->inner, value);
		proto_put_number(&writer->entry, otlp_KeyValueAndUnit_key_strindex_tag, key_number);
		proto_put_message(&writer->entry, otlp_KeyValueAndUnit_value_tag, &writer->inner);
		put_entry(writer, otlp_ProfilesDictionary_attribute_table_tag);
	}
	return number;
}

static bool is_generated(uint8_t kind)
{
	return kind == FRAME_STUB || frame_kind_is_java((enum frame_kind)kind);
}

static uint32_t mapping_of(struct otlp_writer *writer, const struct profile_node *node)
{
	const char *const name = node->module		    ? node->module
				 : is_generated(node->kind) ? "[jit]"
							    : NULL;
	const char *const build_id = profile_build_id(node->module);
	uint32_t number, file, attribute = 0;
	bool is_new;

	if (!name)
		return 0;
	file = number_of_text(writer, name);
	if (build_id)
		attribute =
			number_of_attribute(writer, "process.executable.build_id.gnu", build_id);
	number = number_of(writer, &writer->mappings, (struct tuple){{file, attribute}}, &is_new);
	if (is_new) {
		proto_put_number(&writer->entry, otlp_Mapping_filename_strindex_tag, file);
		put_index(writer, otlp_Mapping_attribute_indices_tag, attribute);
		put_entry(writer, otlp_ProfilesDictionary_mapping_table_tag);
	}
	return number;
}

static uint32_t number_of_file(struct otlp_writer *writer, const struct profile_node *node)
{
	_cleanup_(bytes_fini) struct bytes path = {0};

	if (!node->file)
		return 0;
	source_path(&path, node);
	writer->failed |= path.failed;
	return number_of_text(writer, bytes_text(&path));
}

static uint32_t number_of_system_name(struct otlp_writer *writer, const struct profile_node *node)
{
	_cleanup_(bytes_fini) struct bytes name = {0};
	const char *const word = frame_kind_word((enum frame_kind)node->kind);

	bytes_add(&name, node->name, strlen(node->name));
	bytes_add(&name, "_[", 2);
	bytes_add(&name, word, strlen(word));
	bytes_add_char(&name, ']');
	writer->failed |= name.failed;
	return number_of_text(writer, bytes_text(&name));
}

static uint32_t function_of(struct otlp_writer *writer, const struct profile_node *node,
			    uint32_t mapping)
{
	const uint32_t name = number_of_text(writer, node->name);
	const uint32_t file = number_of_file(writer, node);
	bool is_new;
	const uint32_t number =
		number_of(writer, &writer->functions,
			  (struct tuple){{name, node->kind, file, mapping}}, &is_new);

	if (is_new) {
		const uint32_t system = number_of_system_name(writer, node);

		proto_put_number(&writer->entry, otlp_Function_name_strindex_tag, name);
		proto_put_number(&writer->entry, otlp_Function_system_name_strindex_tag, system);
		proto_put_number(&writer->entry, otlp_Function_filename_strindex_tag, file);
		put_entry(writer, otlp_ProfilesDictionary_function_table_tag);
	}
	return number;
}

static bool is_part_of_parent(const struct otlp_writer *writer, const struct profile_node *node)
{
	return frame_kind_is_inlined((enum frame_kind)node->kind) && node->parent != PROFILE_ROOT &&
	       writer->profile->nodes[node->parent].kind != FRAME_LABEL;
}

/* By OpenTelemetry's words; NULL: the frame is no code. */
static const char *frame_type(uint8_t kind)
{
	if (kind == FRAME_LABEL || kind == FRAME_UNKNOWN || kind == FRAME_WAIT ||
	    kind == FRAME_CLASS)
		return NULL;
	if (kind == FRAME_KERNEL)
		return "kernel";
	return is_generated(kind) ? "jvm" : "native";
}

static void put_lines(struct otlp_writer *writer, uint32_t id)
{
	for (;; id = writer->profile->nodes[id].parent) {
		const struct profile_node *const node = &writer->profile->nodes[id];
		const struct tuple *const at =
			&writer->locations.items[writer->location_of[id] - 1];

		proto_put_number(&writer->inner, otlp_Line_function_index_tag, at->v[0]);
		proto_put_number(&writer->inner, otlp_Line_line_tag, node->line);
		proto_put_message(&writer->entry, otlp_Location_lines_tag, &writer->inner);
		if (!is_part_of_parent(writer, node))
			return;
	}
}

/* Parents have smaller numbers than children, so that the location of a parent is known. */
static void add_location(struct otlp_writer *writer, uint32_t id)
{
	const struct profile_node *const node = &writer->profile->nodes[id];
	const bool is_inlined = is_part_of_parent(writer, node);
	const uint32_t mapping = mapping_of(writer, node);
	const uint32_t function = function_of(writer, node, mapping);
	const char *const type = frame_type(node->kind);
	const uint32_t attribute =
		type ? number_of_attribute(writer, "profile.frame.type", type) : 0;
	bool is_new;

	writer->location_of[id] = number_of(
		writer, &writer->locations,
		(struct tuple){{function, node->line,
				is_inlined ? writer->location_of[node->parent] + 1 : 0, mapping}},
		&is_new);
	if (!is_new)
		return;
	proto_put_number(&writer->entry, otlp_Location_mapping_index_tag, mapping);
	put_lines(writer, id);
	put_index(writer, otlp_Location_attribute_indices_tag, attribute);
	put_entry(writer, otlp_ProfilesDictionary_location_table_tag);
}

/* Inlined frames share the location of the frame that they are inlined into. */
static void add_stack(struct otlp_writer *writer, uint32_t leaf)
{
	for (uint32_t id = leaf; id != PROFILE_ROOT;) {
		bytes_add_varint(&writer->packed, writer->location_of[id]);
		while (is_part_of_parent(writer, &writer->profile->nodes[id]))
			id = writer->profile->nodes[id].parent;
		id = writer->profile->nodes[id].parent;
	}
	proto_put_message(&writer->entry, otlp_Stack_location_indices_tag, &writer->packed);
	put_entry(writer, otlp_ProfilesDictionary_stack_table_tag);
}

/* ---- the profile ---- */

static void add_sample(struct otlp_writer *writer, uint32_t stack, uint64_t value)
{
	bytes_add_varint(&writer->packed, value < INT64_MAX ? value : INT64_MAX);
	proto_put_number(&writer->inner, otlp_Sample_stack_index_tag, stack);
	proto_put_message(&writer->inner, otlp_Sample_values_tag, &writer->packed);
	proto_put_message(&writer->samples, otlp_Profile_samples_tag, &writer->inner);
}

static void add_samples(struct otlp_writer *writer, uint64_t factor)
{
	uint32_t stack = 0;

	for (uint32_t id = 1; id < writer->profile->count && !writer->failed; id++) {
		const uint64_t self = writer->profile->nodes[id].self;
		uint64_t value;

		add_location(writer, id);
		if (self == 0)
			continue;
		if (__builtin_mul_overflow(self, factor, &value))
			value = INT64_MAX;
		add_stack(writer, id);
		add_sample(writer, ++stack, value);
	}
}

static void put_type(struct otlp_writer *writer, struct bytes *out, uint32_t field,
		     const char *type, const char *unit)
{
	const uint32_t type_number = number_of_text(writer, type);
	const uint32_t unit_number = number_of_text(writer, unit);

	proto_put_number(&writer->inner, otlp_ValueType_type_strindex_tag, type_number);
	proto_put_number(&writer->inner, otlp_ValueType_unit_strindex_tag, unit_number);
	proto_put_message(out, field, &writer->inner);
}

static uint64_t truncated_of(const struct profile_quality *quality)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < PROFILE_REASONS; i++)
		sum += quality->truncated_samples[i];
	return sum;
}

static void put_quality(struct otlp_writer *writer, struct bytes *out,
			const struct profile_quality *quality)
{
	const struct {
		const char *key;
		uint64_t value;
	} numbers[] = {
		{"fgcollect.quality.weight", quality->samples},
		{"fgcollect.quality.unnamed", quality->unnamed_samples},
		{"fgcollect.quality.not_rooted", quality->unrooted_samples},
		{"fgcollect.quality.truncated", truncated_of(quality)},
		{"fgcollect.quality.lost_samples", quality->lost_samples},
		{"fgcollect.quality.overflow", quality->overflow_samples},
	};

	for (size_t i = 0; i < sizeof(numbers) / sizeof(*numbers); i++)
		bytes_add_varint(&writer->packed,
				 add_number_attribute(writer, numbers[i].key, numbers[i].value));
	proto_put_message(out, otlp_Profile_attribute_indices_tag, &writer->packed);
}

static void put_profile(struct otlp_writer *writer, const struct push_message *message,
			struct bytes *scope)
{
	_cleanup_(bytes_fini) struct bytes profile = {0};
	const struct push_kind *const kind = message->kind;
	const struct profile_info *const info = message->info;
	unsigned char id[16];

	push_random_id(id);
	put_type(writer, &profile, otlp_Profile_sample_type_tag, push_kind_type(kind),
		 push_kind_unit(kind));
	add_samples(writer, push_kind_factor(kind));
	bytes_add(&profile, writer->samples.data, writer->samples.len);
	proto_put_fixed64(&profile, otlp_Profile_time_unix_nano_tag, info->start_unix_ns);
	proto_put_number(&profile, otlp_Profile_duration_nano_tag, info->duration_ns);
	if (kind->otlp_period_type) {
		put_type(writer, &profile, otlp_Profile_period_type_tag, kind->otlp_period_type,
			 kind->period_unit);
		proto_put_number(&profile, otlp_Profile_period_tag,
				 push_kind_period(kind, info->hz));
	}
	proto_put_bytes(&profile, otlp_Profile_profile_id_tag, id, sizeof(id));
	put_quality(writer, &profile, &info->quality);
	proto_put_message(scope, otlp_ScopeProfiles_profiles_tag, &profile);
}

/* ---- the resource ---- */

static const char *attribute_name(const struct push_labels *labels, const char *label)
{
	static const struct {
		const char *label, *name;
	} names[] = {
		{"service_name", "service.name"},  {"namespace", "k8s.namespace.name"},
		{"pod", "k8s.pod.name"},	   {"node", "host.name"},
		{"image", "container.image.name"}, {"version", "service.version"},
		{PUSH_THREAD, "thread.name"},
	};

	if (strcmp(label, "container") == 0)
		return push_labels_find(labels, "pod") ? "k8s.container.name" : "container.name";
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (strcmp(label, names[i].label) == 0)
			return names[i].name;
	return label;
}

static void put_resource(struct otlp_writer *writer, const struct push_labels *labels,
			 struct bytes *out)
{
	_cleanup_(bytes_fini) struct bytes resource = {0};

	for (size_t i = 0; i < labels->count; i++) {
		proto_put_text(&writer->inner, otlp_AnyValue_string_value_tag,
			       labels->items[i].value);
		proto_put_text(&writer->entry, otlp_KeyValue_key_tag,
			       attribute_name(labels, labels->items[i].name));
		proto_put_message(&writer->entry, otlp_KeyValue_value_tag, &writer->inner);
		proto_put_message(&resource, otlp_Resource_attributes_tag, &writer->entry);
	}
	proto_put_message(out, otlp_ResourceProfiles_resource_tag, &resource);
}

static void put_scope(struct otlp_writer *writer, struct bytes *scope)
{
	proto_put_text(&writer->inner, otlp_InstrumentationScope_name_tag, "fgcollect");
	proto_put_text(&writer->inner, otlp_InstrumentationScope_version_tag, FG_VERSION);
	proto_put_message(scope, otlp_ScopeProfiles_scope_tag, &writer->inner);
}

static void begin_dictionary(struct otlp_writer *writer)
{
	static const uint32_t tables[] = {
		otlp_ProfilesDictionary_mapping_table_tag,
		otlp_ProfilesDictionary_location_table_tag,
		otlp_ProfilesDictionary_function_table_tag,
		otlp_ProfilesDictionary_link_table_tag,
		otlp_ProfilesDictionary_string_table_tag,
		otlp_ProfilesDictionary_attribute_table_tag,
		otlp_ProfilesDictionary_stack_table_tag,
	};

	for (size_t i = 0; i < sizeof(tables) / sizeof(*tables); i++)
		proto_put_bytes(&writer->dictionary, tables[i], NULL, 0);
}

static void make_request(struct otlp_writer *writer, const struct push_message *message,
			 struct bytes *request)
{
	_cleanup_(bytes_fini) struct bytes scope = {0}, resource = {0};

	begin_dictionary(writer);
	put_scope(writer, &scope);
	put_profile(writer, message, &scope);
	put_resource(writer, message->labels, &resource);
	proto_put_message(&resource, otlp_ResourceProfiles_scope_profiles_tag, &scope);
	proto_put_message(request, otlp_ExportProfilesServiceRequest_resource_profiles_tag,
			  &resource);
	proto_put_message(request, otlp_ExportProfilesServiceRequest_dictionary_tag,
			  &writer->dictionary);
	if (writer->failed || writer->samples.failed)
		request->failed = true;
}

static int compress_to(const struct bytes *plain, struct bytes *ret)
{
	_cleanup_free_ char *packed = NULL;
	_cleanup_free_ struct compressor *compressor = malloc(sizeof(*compressor));
	size_t len = 0;
	FILE *const stream = open_memstream(&packed, &len);
	int err = compressor && stream ? compressor_init(compressor, COMPRESSION_GZIP, stream)
				       : -ENOMEM;

	if (!err) {
		compressor_add(compressor, plain->data, plain->len);
		err = compressor_finish(compressor);
		compressor_fini(compressor);
	}
	if (stream && fclose(stream) != 0 && !err)
		err = -ENOMEM;
	if (!err)
		bytes_add(ret, packed, len);
	return err ? err : ret->failed ? -ENOMEM : 0;
}

static void otlp_writer_fini(struct otlp_writer *writer)
{
	struct bytes *const buffers[] = {&writer->dictionary, &writer->entry,	&writer->inner,
					 &writer->text,	      &writer->samples, &writer->packed};

	for (size_t i = 0; i < sizeof(buffers) / sizeof(*buffers); i++)
		bytes_fini(buffers[i]);
	intern_fini(&writer->texts);
	map64_fini(&writer->numbers);
	tuples_fini(&writer->attributes);
	tuples_fini(&writer->mappings);
	tuples_fini(&writer->functions);
	tuples_fini(&writer->locations);
	free(writer->location_of);
}

int push_otlp_encode(const struct push_message *message, struct bytes *ret,
		     uint64_t *ret_plain_bytes)
{
	_cleanup_(otlp_writer_fini) struct otlp_writer writer = {.profile = message->profile};
	_cleanup_(bytes_fini) struct bytes request = {0};

	writer.location_of = calloc(message->profile->count + 1, sizeof(*writer.location_of));
	if (!writer.location_of)
		return -ENOMEM;
	make_request(&writer, message, &request);
	*ret_plain_bytes = request.len;
	return request.failed ? -ENOMEM : compress_to(&request, ret);
}
