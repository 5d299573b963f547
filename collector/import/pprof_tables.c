// SPDX-License-Identifier: Apache-2.0
/*
 * The tables of a pprof profile, see pprof_tables.h. nanopb takes the message apart and calls back
 * for each item. Items refer to each other by number; the numbers are checked when all items have
 * been read:
 *
 *   location -> mapping, address, lines;  line -> function;  function, mapping -> texts
 *
 * No item refers back, so there are no cycles. A location without lines has no name: it is called
 * by its file and its address there.
 */
#include "import/pprof_tables.h"

#include "base/array.h"
#include "profile/frame_text.h"
#include "pprof.pb.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct text {
	const unsigned char *data;
	size_t len;
};

struct location {
	uint64_t mapping_id;
	uint64_t address;
	uint32_t first_line; /* of lines; once names are given, also of frames */
	uint32_t line_count;
	uint32_t first_frame;
};

static bool fail(struct pprof_tables *tables, int err, const char *reason)
{
	if (!tables->err) {
		tables->err = err;
		tables->reason = reason;
	}
	return false;
}

static bool read_bytes(pb_istream_t *stream, pb_byte_t *buf, size_t count)
{
	struct pprof_cursor *const cursor = stream->state;

	memcpy(buf, cursor->at, count); /* nanopb asks for no more than bytes_left */
	cursor->at += count;
	return true;
}

pb_istream_t pprof_stream(struct pprof_cursor *cursor, const unsigned char *data, size_t len)
{
	cursor->at = data;
	return (pb_istream_t){
		.callback = read_bytes,
		.state = cursor,
		.bytes_left = len,
	};
}

static bool append(struct pprof_tables *tables, struct pprof_array *array, const void *item,
		   size_t item_bytes)
{
	if (array->count == PPROF_TABLES_MAX_ITEMS)
		return fail(tables, -EFBIG, "more than 16,777,216 texts, functions or locations");
	if (array_reserve_u32(&array->items, &array->size, array->count + 1, item_bytes) < 0)
		return fail(tables, -ENOMEM, "out of memory");
	memcpy((char *)array->items + array->count++ * item_bytes, item, item_bytes);
	return true;
}

/* Maps id to the number of the item appended last. */
static bool put_id(struct pprof_tables *tables, struct map64 *map, uint64_t id, uint32_t count)
{
	if (id == 0 || map64_find(map, id))
		return fail(tables, -EINVAL, "an ID is 0 or there twice");
	if (map64_put(map, id, (void *)(uintptr_t)count) < 0)
		return fail(tables, -ENOMEM, "out of memory");
	return true;
}

/* If the field's wire type is a number, nanopb calls with a stream over a copy of its own. */
static bool take_text(pb_istream_t *stream, const pb_field_t *field, void **arg)
{
	struct pprof_tables *const tables = *arg;
	const struct text text = {tables->cursor.at, stream->bytes_left};

	(void)field;
	if (stream->state != &tables->cursor)
		return fail(tables, -EINVAL, "a text is a number: no pprof profile");
	return append(tables, &tables->texts, &text, sizeof(text)) &&
	       pb_read(stream, NULL, stream->bytes_left);
}

static bool take_type(pb_istream_t *stream, const pb_field_t *field, void **arg)
{
	struct pprof_tables *const tables = *arg;
	pprof_ValueType type = pprof_ValueType_init_zero;

	(void)field;
	return pb_decode(stream, pprof_ValueType_fields, &type) &&
	       append(tables, &tables->types, &type, sizeof(type));
}

static bool take_mapping(pb_istream_t *stream, const pb_field_t *field, void **arg)
{
	struct pprof_tables *const tables = *arg;
	pprof_Mapping mapping = pprof_Mapping_init_zero;

	(void)field;
	return pb_decode(stream, pprof_Mapping_fields, &mapping) &&
	       append(tables, &tables->mappings, &mapping, sizeof(mapping)) &&
	       put_id(tables, &tables->mapping_ids, mapping.id, tables->mappings.count);
}

static bool take_function(pb_istream_t *stream, const pb_field_t *field, void **arg)
{
	struct pprof_tables *const tables = *arg;
	pprof_Function function = pprof_Function_init_zero;

	(void)field;
	return pb_decode(stream, pprof_Function_fields, &function) &&
	       append(tables, &tables->functions, &function, sizeof(function)) &&
	       put_id(tables, &tables->function_ids, function.id, tables->functions.count);
}

static bool take_line(pb_istream_t *stream, const pb_field_t *field, void **arg)
{
	struct pprof_tables *const tables = *arg;
	pprof_Line line = pprof_Line_init_zero;

	(void)field;
	return pb_decode(stream, pprof_Line_fields, &line) &&
	       append(tables, &tables->lines, &line, sizeof(line));
}

static bool take_location(pb_istream_t *stream, const pb_field_t *field, void **arg)
{
	struct pprof_tables *const tables = *arg;
	struct location location = {.first_line = tables->lines.count};
	pprof_Location message = {.line = {.funcs.decode = take_line, .arg = tables}};

	(void)field;
	if (!pb_decode_ex(stream, pprof_Location_fields, &message, PB_DECODE_NOINIT))
		return false;
	location.mapping_id = message.mapping_id;
	location.address = message.address;
	location.line_count = tables->lines.count - location.first_line;
	return append(tables, &tables->locations, &location, sizeof(location)) &&
	       put_id(tables, &tables->location_ids, message.id, tables->locations.count);
}

static bool read_tables(struct pprof_tables *tables, const unsigned char *data, size_t len)
{
	pb_istream_t stream = pprof_stream(&tables->cursor, data, len);
	pprof_Profile profile = {
		.sample_type = {.funcs.decode = take_type, .arg = tables},
		.mapping = {.funcs.decode = take_mapping, .arg = tables},
		.location = {.funcs.decode = take_location, .arg = tables},
		.function = {.funcs.decode = take_function, .arg = tables},
		.string_table = {.funcs.decode = take_text, .arg = tables},
	};

	if (!pb_decode_ex(&stream, pprof_Profile_fields, &profile, PB_DECODE_NOINIT))
		return fail(tables, -EINVAL, "no pprof profile, or one that is cut or damaged");
	tables->default_type = profile.default_sample_type;
	tables->start_unix_ns = profile.time_nanos > 0 ? profile.time_nanos : 0;
	tables->duration_ns = profile.duration_nanos > 0 ? profile.duration_nanos : 0;
	tables->period = profile.period;
	tables->period_type = profile.period_type.type;
	tables->period_unit = profile.period_type.unit;
	return true;
}

const char *pprof_tables_text(struct pprof_tables *tables, int64_t number)
{
	const struct text *text;
	const char *kept;

	if (number < 0 || number >= tables->texts.count) {
		fail(tables, -EINVAL, "a text's number is out of range");
		return NULL;
	}
	text = (const struct text *)tables->texts.items + number;
	if (text->len > PPROF_TABLES_MAX_NAME) {
		fail(tables, -EFBIG, "a name is longer than 65,536 bytes");
		return NULL;
	}
	kept = intern_add(&tables->names, (const char *)text->data, text->len);
	if (!kept)
		fail(tables, -ENOMEM, "out of memory");
	return kept;
}

/* Finds the kinds of samples that the types of values are. */
static bool find_kinds(struct pprof_tables *tables)
{
	const pprof_ValueType *const values = (const pprof_ValueType *)tables->types.items;
	const char *const default_type = pprof_tables_text(tables, tables->default_type);
	struct pprof_type types[PPROF_KINDS_MAX];
	int err;

	for (uint32_t i = 0; i < tables->types.count && i < PPROF_KINDS_MAX; i++) {
		types[i].name = pprof_tables_text(tables, values[i].type);
		types[i].unit = pprof_tables_text(tables, values[i].unit);
	}
	if (tables->err)
		return false;
	tables->value_count = tables->types.count;
	err = pprof_kinds_init(&tables->kinds, types, tables->types.count, default_type);
	return err < 0 ? fail(tables, err, tables->kinds.reason) : true;
}

/* Finds how much processor time there is between two samples. */
static bool find_period(struct pprof_tables *tables)
{
	struct pprof_type type;

	if (tables->period <= 0)
		return true;
	type.name = pprof_tables_text(tables, tables->period_type);
	type.unit = pprof_tables_text(tables, tables->period_unit);
	if (tables->err)
		return false;
	tables->cpu_period_ns = pprof_kinds_cpu_ns(&type, (uint64_t)tables->period);
	return true;
}

static bool has_suffix(const char *text, const char *suffix)
{
	const size_t len = strlen(text);
	const size_t suffix_len = strlen(suffix);

	return len >= suffix_len && strcmp(text + len - suffix_len, suffix) == 0;
}

/* The name decides only if no module says that the code is of a file. */
static enum frame_kind kind_of_module(const char *module, const char *name)
{
	if (!module)
		return frame_text_kind(name);
	if (strncmp(module, "[kernel", strlen("[kernel")) == 0 ||
	    strncmp(module, "vmlinux", strlen("vmlinux")) == 0 || has_suffix(module, ".ko"))
		return FRAME_KERNEL;
	return strcmp(module, "libjvm.so") == 0 ? FRAME_JVM : FRAME_NATIVE;
}

/* Files written by fgcollect have a system name of the form name_[kind]. */
static enum frame_kind kind_of_system_name(const char *name, const char *system)
{
	const size_t len = strlen(name);
	const size_t system_len = strlen(system);
	char word[16];

	if (system_len < len + 4 || strncmp(system, name, len) != 0 ||
	    strncmp(system + len, "_[", 2) != 0 || system[system_len - 1] != ']' ||
	    system_len - len - 3 >= sizeof(word))
		return FRAME_KINDS;
	snprintf(word, sizeof(word), "%.*s", (int)(system_len - len - 3), system + len + 2);
	return frame_kind_of_word(word);
}

/*
 * The module of a location in the form that frames have: a file's name without its directory.
 * Generated code has no module.
 */
static bool find_module(struct pprof_tables *tables, const struct location *location,
			const pprof_Mapping **ret_mapping, struct frame *ret)
{
	const uintptr_t number = (uintptr_t)map64_find(&tables->mapping_ids, location->mapping_id);
	const pprof_Mapping *mapping;
	const char *path, *slash, *build_id;

	*ret_mapping = NULL;
	if (location->mapping_id == 0)
		return true;
	if (!number)
		return fail(tables, -EINVAL, "a location's mapping is not there");
	mapping = (const pprof_Mapping *)tables->mappings.items + number - 1;
	path = pprof_tables_text(tables, mapping->filename);
	build_id = pprof_tables_text(tables, mapping->build_id);
	if (!path || !build_id)
		return false;
	slash = strrchr(path, '/');
	*ret_mapping = mapping;
	path = slash && slash[1] ? slash + 1 : path;
	if (*path == '\0' || strcmp(path, "[jit]") == 0)
		return true;
	ret->module = path;
	ret->build_id = *build_id ? build_id : NULL;
	return true;
}

static bool name_line(struct pprof_tables *tables, const pprof_Line *line, bool is_inlined,
		      struct frame *frame)
{
	const uintptr_t number = (uintptr_t)map64_find(&tables->function_ids, line->function_id);
	const pprof_Function *function;
	const char *name, *system, *file;
	enum frame_kind kind;

	if (!number)
		return fail(tables, -EINVAL, "a line's function is not there");
	function = (const pprof_Function *)tables->functions.items + number - 1;
	name = pprof_tables_text(tables, function->name);
	system = pprof_tables_text(tables, function->system_name);
	file = pprof_tables_text(tables, function->filename);
	if (!name || !system || !file)
		return false;
	kind = kind_of_system_name(name, system);
	frame->name = *name ? name : *system ? system : "?";
	frame->file = *file ? file : NULL;
	frame->line = line->line > 0 && line->line <= UINT32_MAX ? (uint32_t)line->line : 0;
	frame->kind = kind < FRAME_KINDS ? kind : kind_of_module(frame->module, frame->name);
	if (kind == FRAME_KINDS && is_inlined && frame->kind != FRAME_KERNEL)
		frame->kind = frame->kind == FRAME_JAVA ? FRAME_INLINED : FRAME_NATIVE_INLINED;
	return true;
}

static bool name_address(struct pprof_tables *tables, const struct location *location,
			 const pprof_Mapping *mapping, struct frame *frame)
{
	const bool is_inside = mapping && location->address >= mapping->memory_start;
	const uint64_t address =
		is_inside ? location->address - mapping->memory_start + mapping->file_offset
			  : location->address;
	char name[300];

	snprintf(name, sizeof(name), "%.256s+0x%" PRIx64,
		 frame->module ? frame->module : "[unknown]", address);
	frame->name = intern_add_str(&tables->names, name);
	frame->kind = FRAME_UNKNOWN;
	return frame->name || fail(tables, -ENOMEM, "out of memory");
}

static bool name_location(struct pprof_tables *tables, struct location *location, uint32_t *frames)
{
	const pprof_Line *const lines = (const pprof_Line *)tables->lines.items;
	const pprof_Mapping *mapping;
	struct frame base = {0};

	location->first_frame = *frames;
	if (!find_module(tables, location, &mapping, &base))
		return false;
	if (location->line_count == 0) {
		struct frame *const frame = &tables->frames[(*frames)++];

		*frame = base;
		return name_address(tables, location, mapping, frame);
	}
	for (uint32_t i = 0; i < location->line_count; i++) {
		struct frame *const frame = &tables->frames[(*frames)++];

		*frame = base;
		if (!name_line(tables, &lines[location->first_line + i],
			       i + 1 < location->line_count, frame))
			return false;
	}
	return true;
}

static bool name_locations(struct pprof_tables *tables)
{
	struct location *const locations = tables->locations.items;
	/* One frame for each line, and one for each location without lines. */
	const size_t room = (size_t)tables->lines.count + tables->locations.count;
	uint32_t frames = 0;

	tables->frames = malloc((room ? room : 1) * sizeof(*tables->frames));
	if (!tables->frames)
		return fail(tables, -ENOMEM, "out of memory");
	for (uint32_t i = 0; i < tables->locations.count; i++) {
		if (!name_location(tables, &locations[i], &frames))
			return false;
	}
	return true;
}

static bool check_texts(struct pprof_tables *tables)
{
	if (tables->texts.count == 0 || ((const struct text *)tables->texts.items)->len > 0)
		return fail(tables, -EINVAL,
			    "the first text is not empty, so this is no pprof profile");
	return true;
}

int pprof_tables_init(struct pprof_tables *tables, const unsigned char *data, size_t len)
{
	*tables = (struct pprof_tables){0};
	if (!read_tables(tables, data, len) || !check_texts(tables) || !find_kinds(tables) ||
	    !find_period(tables) || !name_locations(tables))
		return tables->err;
	return 0;
}

void pprof_tables_fini(struct pprof_tables *tables)
{
	free(tables->texts.items);
	free(tables->types.items);
	free(tables->mappings.items);
	free(tables->functions.items);
	free(tables->locations.items);
	free(tables->lines.items);
	map64_fini(&tables->mapping_ids);
	map64_fini(&tables->function_ids);
	map64_fini(&tables->location_ids);
	intern_fini(&tables->names);
	free(tables->frames);
}

int pprof_tables_find(const struct pprof_tables *tables, uint64_t location_id,
		      struct pprof_frames *ret)
{
	const uintptr_t number = (uintptr_t)map64_find(&tables->location_ids, location_id);
	const struct location *location;

	if (!number)
		return -EINVAL;
	location = (const struct location *)tables->locations.items + number - 1;
	ret->frames = &tables->frames[location->first_frame];
	ret->count = location->line_count ? location->line_count : 1;
	return 0;
}
